/* From lines to figures. Several threads build all kernels first. Then come the lines one by one:
   data, checks of the entrants, times, and a check of what replays left. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "primitives.h"

enum { MOST_THREADS = 64, FIRST_POISON = 0xFF, SECOND_POISON = 0xA5 };

/* ---- building -------------------------------------------------------------------------------- */

typedef struct work {
    bench *bench;
    line *lines;
    int count, line, entrant; /* the next to be built */
    pthread_mutex_t mutex;
} work;

static void build(bench *b, const line *l, entrant *e) {
    char *text = parts[l->part]->spec(l, e);
    sg_build_options o = {
        .struct_size = sizeof o, .text = text, .schedule = e->schedule, .matrix = l->matrix};
    if (l->part != PART_SPMV)
        memcpy(o.size, l->size, sizeof o.size);
    const sg_status status = sg_build(b->context, "primitives.lua", &o, &e->kernel);
    free(text);
    if (status != SG_OK) {
        entrant_fail(e, status == SG_ERROR_PLAN ? STATE_REFUSED : STATE_FAILED,
                     sg_error(b->context));
        return;
    }
    e->info.struct_size = sizeof e->info;
    sg_kernel_facts(e->kernel, &e->info);
    e->plan = sg_kernel_text(e->kernel, SG_TEXT_PLAN);
}

static entrant *next(work *w, const line **l) {
    entrant *e = NULL;
    pthread_mutex_lock(&w->mutex);
    while (w->line < w->count && e == NULL) {
        *l = &w->lines[w->line];
        if (w->entrant < (*l)->count && ((*l)->part != PART_SPMV || (*l)->matrix != NULL)) {
            e = &(*l)->entrants[w->entrant++];
        } else {
            w->line++;
            w->entrant = 0;
        }
    }
    pthread_mutex_unlock(&w->mutex);
    return e;
}

static void *go(void *argument) {
    work *w = argument;
    const line *l;
    for (entrant *e; !time_is_up(w->bench) && (e = next(w, &l)) != NULL;)
        if (e->ours && e->kernel == NULL && e->state == STATE_WAITS)
            build(w->bench, l, e);
    return NULL;
}

void entrants_build(bench *b, line *lines, int count) {
    pthread_t threads[MOST_THREADS];
    const int wanted = b->options.threads < MOST_THREADS ? (int)b->options.threads : MOST_THREADS;
    work w = {.bench = b, .lines = lines, .count = count, .mutex = PTHREAD_MUTEX_INITIALIZER};
    int started = 0;
    while (started < wanted - 1 && pthread_create(&threads[started], NULL, go, &w) == 0)
        started++;
    go(&w);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* ---- calls and checks ------------------------------------------------------------------------ */

bool entrant_call(bench *b, const line *l, entrant *e) {
    const sg_stream stream = bench_stream(b->device);
    if (!e->ours) {
        char text[64];
        const int code = e->rival.run(e->rival.state, stream);
        if (code == 0)
            return true;
        snprintf(text, sizeof text, "the library returned error %d", code);
        entrant_fail(e, STATE_FAILED, text);
        return false;
    }
    if (parts[l->part]->call(l, e, stream) == SG_OK)
        return true;
    entrant_fail(e, STATE_FAILED, sg_error(b->context));
    return false;
}

static void poison(bench *b, const line *l, int byte) {
    for (int i = 0; i < LINE_OUTPUTS; i++)
        if (l->outputs[i].data != NULL)
            bench_fill(b->device, l->outputs[i].data, byte, l->outputs[i].bytes);
}

static void judge(bench *b, line *l, entrant *e, const char *when) {
    bench_wait(b->device);
    char *said = parts[l->part]->judge(b, l);
    if (said != NULL) {
        char text[256];
        snprintf(text, sizeof text, "%s%s", when, said);
        entrant_fail(e, STATE_WRONG, text);
    } else {
        e->state = STATE_RIGHT;
    }
    free(said);
}

/* Ours run twice in the same temporary memory, which holds anything at first. */
static void check(bench *b, line *l, entrant *e) {
    if (e->temporary != NULL)
        bench_fill(b->device, e->temporary, SECOND_POISON, e->temporary_bytes);
    for (int i = 0; i < 1 + e->ours; i++) {
        poison(b, l, i == 0 ? FIRST_POISON : SECOND_POISON);
        if (entrant_call(b, l, e))
            judge(b, l, e, i == 0 ? "" : "the second time: ");
        if (e->state != STATE_RIGHT)
            return;
    }
}

static void check_after(bench *b, line *l, entrant *e) {
    if (!e->ours || e->state != STATE_RIGHT)
        return;
    poison(b, l, FIRST_POISON);
    if (e->graph != NULL)
        bench_replay(b->device, e->graph);
    else if (!entrant_call(b, l, e))
        return;
    judge(b, l, e, "after the figures were taken: ");
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void prepare(bench *b, line *l, entrant *e) {
    sg_status status = parts[l->part]->prepare(b, l, e);
    if (status == SG_OK && e->temporary_bytes > 0)
        status = sg_alloc(b->context, e->temporary_bytes, &e->temporary);
    if (status != SG_OK)
        entrant_fail(e, status == SG_ERROR_PLAN ? STATE_REFUSED : STATE_FAILED,
                     sg_error(b->context));
    else
        check(b, l, e);
}

static void add_rivals(bench *b, line *l) {
    rival found[MOST_RIVALS];
    const bool gpu = strcmp(b->facts.device, "cuda") == 0;
    const int count = gpu ? parts[l->part]->rivals(l, found) : 0;
    for (int i = 0; i < count; i++) {
        entrant *e = entrant_add(l, found[i].name, NULL);
        e->ours = false;
        e->rival = found[i];
        check(b, l, e);
    }
}

static void close_line(bench *b, line *l) {
    for (entrant *e = l->entrants; e < l->entrants + l->count; e++) {
        bench_forget(b->device, e->graph);
        e->graph = NULL;
        sg_free(b->context, e->temporary);
        e->temporary = NULL;
        sg_device_matrix_free(e->matrix);
        e->matrix = NULL;
        if (!e->ours)
            e->rival.end(e->rival.state);
    }
    parts[l->part]->close(b, l);
    for (int i = 0; i < LINE_INPUTS; i++)
        sg_free(b->context, l->inputs[i].data);
    for (int i = 0; i < LINE_OUTPUTS; i++)
        sg_free(b->context, l->outputs[i].data);
    l->own = NULL;
    l->matrix = NULL;
}

static void run_line(bench *b, line *l) {
    parts[l->part]->open(b, l);
    if (l->part == PART_SPMV)
        entrants_build(b, l, 1);
    for (int i = 0; i < l->count; i++)
        if (l->entrants[i].kernel != NULL && !time_is_up(b))
            prepare(b, l, &l->entrants[i]);
    add_rivals(b, l);
    line_time(b, l);
    for (int i = 0; i < l->count; i++)
        check_after(b, l, &l->entrants[i]);
    close_line(b, l);
}

void lines_run(bench *b, void (*done)(const bench *, const line *)) {
    entrants_build(b, b->lines, b->count);
    for (line *l = b->lines; l < b->lines + b->count; l++) {
        if (!time_is_up(b))
            run_line(b, l);
        done(b, l);
    }
    products_forget(b);
}
