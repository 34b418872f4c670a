/* Recorded sweeps: how long schedules took that bench/stencils and bench/primitives measured.
   Takes: a text; each sweep is a line `sweep …` with what was measured, and a line for each
   schedule: its seconds, the planner's estimate (0: none), the schedule. The first schedule is the
   usual one. Makes: candidates as a search takes them. bench/sweeps.awk makes the text of reports.
   */
#ifndef BENCH_SWEEPS_H
#define BENCH_SWEEPS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/tune/search.h"

enum { SWEEP_NAME = 80, SWEEP_WORD = 40 };

typedef struct sweep {
    char name[SWEEP_NAME]; /* "one-step 3d7 float 512x512x512 1" */
    search_candidates candidates;
    double *seconds;
    double best;
} sweep;

typedef struct sweep_axes {
    char names[SEARCH_AXES][SWEEP_WORD];
    bool named[SEARCH_AXES];
    int count;
    char words[64][SWEEP_WORD]; /* values of axes without numbers */
    int word_count;
} sweep_axes;

static inline int sweep_axis(sweep_axes *a, const char *name, char which, bool named) {
    char full[SWEEP_WORD];
    snprintf(full, sizeof full, which != 0 ? "%.30s.%c" : "%.30s", name, which);
    for (int i = 0; i < a->count; i++)
        if (strcmp(a->names[i], full) == 0)
            return i;
    if (a->count == SEARCH_AXES)
        exit(3);
    strcpy(a->names[a->count], full);
    a->named[a->count] = named;
    return a->count++;
}

static inline int sweep_word(sweep_axes *a, const char *word) {
    for (int i = 0; i < a->word_count; i++)
        if (strcmp(a->words[i], word) == 0)
            return i + 1;
    snprintf(a->words[a->word_count], SWEEP_WORD, "%s", word);
    return ++a->word_count;
}

/* tile=32x8 has numbers along x and y; coarsen=z6,y2 names its axes; a word alone is a method. */
static inline void sweep_read_word(sweep_axes *a, char *word, int *values) {
    char *at = strchr(word, '=');
    if (at == NULL) {
        values[sweep_axis(a, "method", 0, true)] = sweep_word(a, word);
        return;
    }
    *at++ = '\0';
    for (char axis = 'x'; *at != '\0'; axis++) {
        const bool letter = *at >= 'x' && *at <= 'z';
        const char named = letter ? *at++ : axis;
        char *end;
        const long value = strtol(at, &end, 10);
        const bool several = letter || *end == 'x' || axis > 'x';
        const bool by_axis = several || strcmp(word, "tile") == 0 || strcmp(word, "lane") == 0;
        if (end != at)
            values[sweep_axis(a, word, by_axis ? named : 0, false)] = (int)value;
        at = *end != '\0' ? end + 1 : end;
    }
}

/* Reads the next sweep of the text, and returns where it ends; NULL if there is no more. Its memory
   is the caller's to free, with sweep_free. */
static inline const char *sweep_read(const char *text, sweep *out) {
    static const char head[] = "sweep ";
    sweep_axes axes = {.count = 0};
    int count = 0, most = 0;
    text = strstr(text, head);
    if (text == NULL)
        return NULL;
    text += strlen(head);
    memset(out, 0, sizeof *out);
    const int length = (int)strcspn(text, "\n");
    snprintf(out->name, sizeof out->name, "%.*s", length, text);
    text += length;
    const char *end = strstr(text, head);
    for (const char *at = text; *at != '\0' && at != end; at++)
        most += *at == '\n';
    int *values = calloc((size_t)most * SEARCH_AXES, sizeof *values);
    double *estimates = calloc((size_t)most, sizeof *estimates);
    out->seconds = calloc((size_t)most, sizeof *out->seconds);
    bool *named = calloc(SEARCH_AXES, sizeof *named);
    bool any = false;
    for (const char *at = text + 1; at < text + strlen(text) && at != end; at++) {
        char line[256];
        int begin = 0;
        snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
        at += strcspn(at, "\n");
        if (sscanf(line, "%lf %lf %n", &out->seconds[count], &estimates[count], &begin) < 2)
            continue;
        any = any || estimates[count] > 0;
        for (char *word = strtok(line + begin, " "); word != NULL; word = strtok(NULL, " "))
            sweep_read_word(&axes, word, values + (size_t)count * SEARCH_AXES);
        if (count == 0 || out->seconds[count] < out->best)
            out->best = out->seconds[count];
        count++;
    }
    memcpy(named, axes.named, sizeof axes.named);
    if (!any) {
        free(estimates);
        estimates = NULL;
    }
    out->candidates = (search_candidates){count, SEARCH_AXES, values, named, estimates, 0};
    return end != NULL ? end : text + strlen(text);
}

static inline void sweep_free(sweep *s) {
    free((void *)s->candidates.values);
    free((void *)s->candidates.named);
    free((void *)s->candidates.estimates);
    free(s->seconds);
}

/* The time of the fastest of the first `evaluations` over the time of the best. The search may ask
   for at most `ahead` candidates at once. */
typedef struct sweep_play {
    const sweep *sweep;
    search_kind kind;
    uint64_t seed;
    int evaluations, ahead;
    double reached; /* out */
    int needed;     /* out: the first evaluation within 3 % of the best */
} sweep_play;

static inline void sweep_play_body(job *j, void *argument) {
    sweep_play *p = argument;
    search *s = search_new(j, p->kind, &p->sweep->candidates, p->seed);
    double least = 0;
    int asked[16];
    p->needed = 0;
    for (int told = 0; told < p->evaluations;) {
        int count = search_at_once(s, p->ahead);
        count = p->evaluations - told < count ? p->evaluations - told : count;
        count = search_ask(s, count, asked);
        if (count == 0)
            break;
        for (int i = 0; i < count; i++) {
            const double seconds = p->sweep->seconds[asked[i]];
            search_tell(s, asked[i], seconds);
            least = told == 0 || seconds < least ? seconds : least;
            told++;
            if (p->needed == 0 && least <= 1.03 * p->sweep->best)
                p->needed = told;
        }
    }
    p->reached = least / p->sweep->best;
}

static inline void sweep_replay(sweep_play *p) {
    job *j;
    job_run(&allocator_libc, sweep_play_body, p, &j);
    job_end(j);
}

#endif
