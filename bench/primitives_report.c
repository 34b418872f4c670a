/* The table as text; a line is printed as soon as it is measured. A line has one row of text where
   one kernel of ours meets rivals, else one for each entrant. */
#include <string.h>

#include "primitives.h"

enum { SIZE_TEXT = 64, NAME = 34 };

static void print_size(const line *l, char out[SIZE_TEXT]) {
    int power = 0;
    while (power < 40 && INT64_C(1) << power < l->size[0])
        power++;
    if (l->dims == 1 && power > 9 && INT64_C(1) << power == l->size[0])
        snprintf(out, SIZE_TEXT, "2^%d", power);
    else if (l->dims == 1)
        snprintf(out, SIZE_TEXT, "%lld", (long long)l->size[0]);
    else if (l->dims == 2)
        snprintf(out, SIZE_TEXT, "%lldx%lld", (long long)l->size[0], (long long)l->size[1]);
    else
        snprintf(out, SIZE_TEXT, "%lld rows, %lld entries", (long long)l->size[0],
                 (long long)l->size[2]);
}

static const char *no_figure(const entrant *e) {
    switch (e->state) {
    case STATE_WRONG:
        return "WRONG";
    case STATE_FAILED:
        return "FAILED";
    case STATE_REFUSED:
        return "-";
    default:
        return "."; /* no time was left */
    }
}

static void print_troubles(const line *l) {
    for (const entrant *e = l->entrants; e < l->entrants + l->count; e++)
        if (e->state == STATE_WRONG || e->state == STATE_FAILED)
            printf("  %s: %s: %s\n", no_figure(e),
                   e->plan != NULL       ? e->plan
                   : e->schedule != NULL ? e->schedule
                                         : e->name,
                   e->error);
}

/* Microseconds, how many times as fast as the best rival, share of a copy. */
static void print_figure(const line *l, const entrant *e, timing t) {
    if (e->state != STATE_RIGHT || !e->figures[t].timed) {
        printf(" %9s %5s %5s", no_figure(e), "", "");
        return;
    }
    printf(" %9.2f", e->figures[t].seconds * 1e6);
    if (line_ratio(l, e, t) > 0)
        printf(" %5.2f", line_ratio(l, e, t));
    else
        printf(" %5s", "");
    printf(" %5.2f", line_of_copy(l, e, t));
}

static bool timing_there(const line *l, timing t) {
    return l->copy[t] > 0;
}

static void print_title(const bench *b, const line *l) {
    static const char *const titles[TIMINGS] = {
        "replayed graphs", "single calls after the L2 was overwritten", "calls on a stream"};
    const char *between = "; ";
    if (l > b->lines && l[-1].part == l->part)
        return;
    printf("\n%s: microseconds, times as fast as the best rival, share of the fastest copy",
           parts[l->part]->word);
    for (int t = 0; t < TIMINGS; t++)
        if (timing_there(l, (timing)t)) {
            printf("%s%s", between, titles[t]);
            between = " | ";
        }
    printf("\n");
}

static void print_more(const bench *b, const line *l, const entrant *e) {
    const double peak = line_of_peak(b, l, e, TIMING_GRAPH);
    if (l->part == PART_CONVOLUTION && peak > 0)
        printf("  peak %.2f", peak);
    if (e->conversion > 0)
        for (int t = 0; t < TIMINGS; t++)
            if (e->figures[t].timed) {
                printf("  conversion %.3g products, %s; upload %.3g",
                       e->conversion / e->figures[t].seconds,
                       e->by_kernels ? "by kernels" : "by the host",
                       e->upload / e->figures[t].seconds);
                break;
            }
    if (e->info.local_bytes > 0)
        printf("  %d local bytes", e->info.local_bytes);
    if (e == l->entrants && line_goal(l) > 1)
        printf("  goal %g", line_goal(l));
    if (e->plan != NULL && e->state == STATE_RIGHT)
        printf("  %s", e->plan);
}

static void print_entrant(const bench *b, const line *l, const entrant *e) {
    for (int t = 0; t < TIMINGS; t++)
        if (timing_there(l, (timing)t))
            print_figure(l, e, (timing)t);
    print_more(b, l, e);
    printf("\n");
}

/* How far the choice of `auto` is behind the best of ours, in a sweep or among formats. */
static void print_verdict(const line *l) {
    const entrant *chosen = &l->entrants[0];
    for (int t = 0; t < TIMINGS; t++) {
        const entrant *best = line_best(l, (timing)t, true);
        if (best == NULL || !chosen->figures[t].timed || chosen->state != STATE_RIGHT)
            continue;
        printf("  %s: best %s; auto is %.1f %% behind\n", timing_words[t], best->plan,
               100 * (chosen->figures[t].seconds / best->figures[t].seconds - 1));
    }
}

void report_begin(const bench *b) {
    printf("%s, %s, stencilgen %s", b->facts.name, b->facts.arch, sg_version());
    for (int i = 0; i < RIVAL_LIBRARIES; i++)
        if (bench_rivals.names[i] != NULL)
            printf(", %s", bench_rivals.names[i]);
    printf("; %d lines\n", b->count);
    copies_print(b->copies);
}

void report_line(const bench *b, const line *l) {
    int ours = 0;
    char size[SIZE_TEXT];
    for (int i = 0; i < l->count; i++)
        ours += l->entrants[i].ours;
    print_title(b, l);
    print_size(l, size);
    printf("%-9s %-8s %-9s %-12s", l->kind, l->dtype, l->data, size);
    if (ours == 1)
        print_entrant(b, l, &l->entrants[0]);
    else
        printf("\n");
    for (const entrant *e = l->entrants; e < l->entrants + l->count; e++) {
        if ((ours == 1 && e == l->entrants) || e->state == STATE_REFUSED)
            continue;
        printf("    %-*s", NAME, e->name);
        print_entrant(b, l, e);
    }
    if (ours > 1)
        print_verdict(l);
    print_troubles(l);
    fflush(stdout);
}

/* For a part and way of timing: how many lines of `auto` meet their goal, and the furthest from its
   goal. */
static void print_goals(const bench *b, part p, timing t) {
    int lines = 0, met = 0;
    double worst = 0;
    const line *furthest = NULL;
    char size[SIZE_TEXT];
    for (const line *l = b->lines; l < b->lines + b->count; l++) {
        const double of_goal = line_ratio(l, l->entrants, t) / line_goal(l);
        if (l->part != p || of_goal == 0 || l->entrants[0].state != STATE_RIGHT)
            continue;
        lines++;
        met += of_goal >= 1;
        if (furthest == NULL || of_goal < worst) {
            furthest = l;
            worst = of_goal;
        }
    }
    if (lines == 0)
        return;
    print_size(furthest, size);
    printf("%s, %s: %d of %d meet their goal; the furthest is %s %s %s %s with %.2f of %g\n",
           parts[p]->word, timing_words[t], met, lines, furthest->kind, furthest->dtype,
           furthest->data, size, worst * line_goal(furthest), line_goal(furthest));
}

int report_end(const bench *b) {
    int count[STATE_RIGHT + 1] = {0}, rivals_wrong = 0;
    double copy = 0;
    for (const line *l = b->lines; l < b->lines + b->count; l++) {
        for (const entrant *e = l->entrants; e < l->entrants + l->count; e++) {
            count[e->state] += e->ours;
            rivals_wrong += !e->ours && e->state != STATE_RIGHT;
        }
        for (int t = 0; t < TIMINGS; t++)
            if (l->copy[t] > 0 && l->bytes / l->copy[t] > copy)
                copy = l->bytes / l->copy[t];
    }
    printf("\n");
    for (int p = 0; p < PARTS; p++)
        for (int t = 0; t < TIMINGS; t++)
            print_goals(b, (part)p, (timing)t);
    printf(
        "fastest copy: %.0f GB/s; of ours %d right, %d wrong, %d failed, %d refused, %d left out; "
        "of the rivals %d wrong or failed\n",
        copy * 1e-9, count[STATE_RIGHT], count[STATE_WRONG], count[STATE_FAILED],
        count[STATE_REFUSED], count[STATE_WAITS], rivals_wrong);
    printf("%.1f s\n", seconds_now() - b->begin);
    return count[STATE_WRONG] + count[STATE_FAILED] > 0 ? 1 : 0;
}
