/* The times: medians of samples, in turns with copies. */
#include <stdlib.h>
#include <string.h>

#include "stencils.h"

enum { LEAST = 7, TINY_SAMPLES = 3, GRAPH_STEPS = 64, STAGE = 1 << 24 };
#define ENOUGH_SECONDS 0.04

/* The arrays of a line of the table. `pristine` is what every sample begins with. */
typedef struct grids {
    size_t bytes; /* of each; 0: none */
    bool wide;
    void *pristine, *data[2];
    sg_grid grids[2];
} grids;

typedef struct sample {
    bench *bench;
    const row *row;
    sg_arguments arguments, back; /* from the first grid to the second, and back */
    sg_grid swapped[2];
    int64_t launches; /* of `send` */
    void *graph;
    sg_status status;
} sample;

static void give_up(const bench *b) {
    fprintf(stderr, "stencils: %s\n", sg_error(b->context));
    exit(4);
}

static void free_grids(bench *b, grids *g) {
    sg_free(b->context, g->pristine);
    for (int i = 0; i < 2; i++)
        sg_free(b->context, g->data[i]);
    *g = (grids){0};
}

/* Random numbers in [-1, 1): a piece from the host, then copies of that piece. The piece's length
   is odd, so that rows do not resemble each other. */
static void fill(bench *b, const grids *g, void *to) {
    const size_t element = g->wide ? 8 : 4, whole = g->bytes / element;
    size_t count = whole < STAGE - 1 ? whole : STAGE - 1;
    void *stage = must_have(malloc(count * element));
    uint64_t random = 1;
    for (size_t i = 0; i < count; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        const double value = (double)(random >> 11) / (double)(INT64_C(1) << 52) - 1;
        if (g->wide)
            ((double *)stage)[i] = value;
        else
            ((float *)stage)[i] = (float)value;
    }
    if (sg_upload(b->context, to, stage, count * element) != SG_OK)
        give_up(b);
    free(stage);
    for (; count < whole; count *= 2)
        bench_copy(b->device, (char *)to + count * element, to,
                   (count < whole - count ? count : whole - count) * element);
}

static void prepare_grids(bench *b, grids *g, const row *r) {
    const size_t bytes = (size_t)(r->size[0] * r->size[1] * r->size[2]) * (r->wide ? 8 : 4);
    if (g->bytes != bytes || g->wide != r->wide) {
        free_grids(b, g);
        g->bytes = bytes;
        g->wide = r->wide;
        if (sg_alloc(b->context, bytes, &g->pristine) != SG_OK ||
            sg_alloc(b->context, bytes, &g->data[0]) != SG_OK ||
            sg_alloc(b->context, bytes, &g->data[1]) != SG_OK)
            give_up(b);
        fill(b, g, g->pristine);
    }
    for (int i = 0; i < 2; i++) {
        g->grids[i] = (sg_grid){.data = g->data[i]};
        memcpy(g->grids[i].size, r->size, sizeof r->size);
    }
}

/* ---- what is timed --------------------------------------------------------------------------- */

/* Launch by launch, as an application does it. */
static void send(void *argument) {
    sample *s = argument;
    for (int64_t i = 0; i < s->launches && s->status == SG_OK; i++)
        s->status = sg_launch(s->row->kernel, i % 2 == 0 ? &s->arguments : &s->back,
                              bench_stream(s->bench->device));
}

static void replay(void *argument) {
    const sample *s = argument;
    for (int64_t i = 0; i < s->row->steps; i += GRAPH_STEPS)
        bench_replay(s->bench->device, s->graph);
}

static void run(void *argument) {
    sample *s = argument;
    s->status =
        sg_run(s->row->kernel, &s->arguments, s->row->steps, bench_stream(s->bench->device), NULL);
}

/* ---- samples --------------------------------------------------------------------------------- */

static double take(sample *s, const grids *g, bench_work work) {
    bench *b = s->bench;
    bench_copy(b->device, g->data[0], g->pristine, g->bytes);
    bench_wait(b->device);
    return bench_time(b->device, work, s);
}

static void take_samples(sample *s, const grids *g, bench_work work, row *r) {
    bench *b = s->bench;
    const int most = (int)b->options.repeats;
    double times[MOST_SAMPLES], copies[MOST_SAMPLES];
    take(s, g, work);
    copies_again(b->copies);
    const double once = take(s, g, work);
    const double enough = ENOUGH_SECONDS / (once > 0 ? once : ENOUGH_SECONDS);
    int count = enough > LEAST ? enough < MOST_SAMPLES ? (int)enough : MOST_SAMPLES : LEAST;
    count = b->options.tiny ? TINY_SAMPLES : count < most ? count : most;
    for (int i = 0; i < count; i++) {
        times[i] = take(s, g, work) / (double)r->steps;
        copies[i] = copies_again(b->copies);
    }
    r->seconds = median(times, count);
    r->fastest = times[0];
    r->slowest = times[count - 1];
    r->copy = median(copies, count);
    r->repeats = count;
    r->clock = bench_clock_now(b->device);
}

static void time_row(bench *b, grids *g, row *r) {
    sample s = {.bench = b, .row = r, .launches = r->steps};
    prepare_grids(b, g, r);
    s.arguments =
        (sg_arguments){.struct_size = sizeof s.arguments, .grids = g->grids, .grid_count = 2};
    if (sg_temporary_bytes(r->kernel, &s.arguments, &s.arguments.temporary_bytes) != SG_OK ||
        (s.arguments.temporary_bytes > 0 &&
         sg_alloc(b->context, s.arguments.temporary_bytes, &s.arguments.temporary) != SG_OK))
        give_up(b);
    s.back = s.arguments;
    s.back.grids = s.swapped;
    s.swapped[0] = g->grids[1];
    s.swapped[1] = g->grids[0];
    if (r->way == WAY_GRAPH) {
        s.launches = GRAPH_STEPS;
        s.graph = bench_capture(b->device, send, &s);
        r->timed = s.graph != NULL;
    } else {
        r->timed = true;
    }
    if (r->timed && s.status == SG_OK)
        take_samples(&s, g, r->way == WAY_GRAPH ? replay : r->way == WAY_RUN ? run : send, r);
    if (s.status != SG_OK) {
        r->timed = false;
        row_fail(r, ROW_FAILED, sg_error(b->context));
    }
    bench_forget(b->device, s.graph);
    sg_free(b->context, s.arguments.temporary);
}

void rows_time(bench *b, void (*done)(const bench *, int first, int end)) {
    grids g = {0};
    for (int first = 0, end; first < b->count; first = end) {
        for (end = first; end < b->count && rows_together(&b->rows[first], &b->rows[end]); end++)
            if (b->rows[end].state == ROW_RIGHT && !time_is_up(b, 1))
                time_row(b, &g, &b->rows[end]);
        done(b, first, end);
    }
    free_grids(b, &g);
}
