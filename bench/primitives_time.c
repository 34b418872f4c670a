/* The times of a line: its entrants in turns, sample by sample, and a copy of as many bytes with
   them. Before each sample the device has other work, so that what the host takes to launch does
   not count: the same graph or call once more, or the overwriting of the L2. */
#include <stdlib.h>
#include <string.h>

#include "primitives.h"

enum { MOST_CALLS = 20, WARM_UP = 2, MANY = 41, FEW = 15, TINY_REPEATS = 3 };
#define SAMPLE_SECONDS 300e-6 /* of a graph, or of the calls between two events */
#define CALL_SECONDS 5e-6
#define RATE 2.5e12 /* bytes a second, about */
#define FEW_FROM_BYTES 1e8

typedef struct sampling {
    bench *bench;
    line *line;
    entrant *entrant; /* NULL: the copy */
    int calls;
    void *copy_graph;
    size_t copied; /* bytes of a call's copy: those of the line, or of the buffer */
} sampling;

static void once(void *argument) {
    sampling *s = argument;
    if (s->entrant != NULL)
        entrant_call(s->bench, s->line, s->entrant);
    else
        s->copied = bench_copy_some(s->bench->device, (size_t)(s->line->bytes / 2) + 1);
}

static void several(void *argument) {
    const sampling *s = argument;
    for (int i = 0; i < s->calls; i++)
        once(argument);
}

static void replay(void *argument) {
    const sampling *s = argument;
    bench_replay(s->bench->device, s->entrant != NULL ? s->entrant->graph : s->copy_graph);
}

/* Seconds a call. */
static double sample(sampling *s, timing t) {
    bench_device *d = s->bench->device;
    if (t == TIMING_FLUSHED) {
        bench_fill(d, s->bench->flush.data, 0x11, s->bench->flush.bytes);
        return bench_time(d, once, s);
    }
    if (t == TIMING_GRAPH) {
        replay(s);
        return bench_time(d, replay, s) / s->calls;
    }
    once(s);
    return bench_time(d, several, s) / s->calls;
}

static bool timed(const bench *b, part p, timing t) {
    if (b->options.given_timings)
        return listed(b->options.timings, timing_words[t]);
    if (strcmp(b->facts.device, "cuda") != 0)
        return t != TIMING_GRAPH;
    return t == TIMING_GRAPH || (p != PART_SPMV && p != PART_CONVOLUTION);
}

static void capture(sampling *s) {
    for (int i = 0; i < s->line->count; i++) {
        entrant *e = s->entrant = &s->line->entrants[i];
        if (e->state == STATE_RIGHT)
            e->graph = bench_capture(s->bench->device, several, s);
    }
    s->entrant = NULL;
    s->copy_graph = bench_capture(s->bench->device, several, s);
}

static void keep(figure *f, double *times, int count) {
    f->seconds = median(times, count);
    f->fastest = times[0];
    f->slowest = times[count - 1];
    f->repeats = count;
    f->timed = true;
}

static bool takes_part(const entrant *e, timing t) {
    return e->state == STATE_RIGHT && (t != TIMING_GRAPH || e->graph != NULL);
}

/* The copy is the last of them. */
static void take(sampling *s, timing t, int repeats) {
    line *l = s->line;
    const int count = l->count + 1;
    double *times = must_have(malloc((size_t)(count * repeats) * sizeof *times));
    figure copy;
    for (int r = -WARM_UP; r < repeats; r++)
        for (int i = 0; i < count; i++) {
            s->entrant = i < l->count ? &l->entrants[i] : NULL;
            if (s->entrant != NULL && !takes_part(s->entrant, t))
                continue;
            const double seconds = sample(s, t);
            if (r >= 0)
                times[i * repeats + r] = seconds;
        }
    for (int i = 0; i < l->count; i++)
        if (takes_part(&l->entrants[i], t))
            keep(&l->entrants[i].figures[t], times + i * repeats, repeats);
    keep(&copy, times + l->count * repeats, repeats);
    l->copy[t] = copy.seconds * l->bytes / (2 * (double)s->copied);
    free(times);
}

void line_time(bench *b, line *l) {
    const options *o = &b->options;
    const double guess = CALL_SECONDS + l->bytes / RATE;
    const int calls = o->tiny                               ? 2
                      : guess * MOST_CALLS < SAMPLE_SECONDS ? MOST_CALLS
                      : guess > SAMPLE_SECONDS              ? 1
                                                            : (int)(SAMPLE_SECONDS / guess);
    const int usual = o->tiny ? TINY_REPEATS : l->bytes < FEW_FROM_BYTES ? MANY : FEW;
    const int repeats = o->repeats > 0 ? (int)o->repeats : usual;
    sampling s = {.bench = b, .line = l, .calls = calls};
    if (timed(b, l->part, TIMING_GRAPH))
        capture(&s);
    for (int t = 0; t < TIMINGS; t++)
        if (timed(b, l->part, (timing)t) && (t != TIMING_GRAPH || s.copy_graph != NULL))
            take(&s, (timing)t, repeats);
    bench_forget(b->device, s.copy_graph);
    l->clock = bench_clock_now(b->device);
}
