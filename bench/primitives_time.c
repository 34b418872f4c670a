/* The times of a line: its entrants in turns, sample by sample, and with them copies of as many
   bytes by every way there is. Before each sample the device has other work, so that what the host
   takes to launch does not count: the same graph or call once more, or the overwriting of the L2.
 */
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
    int way;          /* of the copy */
    int calls;
    void *copy_graphs[COPY_WAYS];
    size_t
        copied; /* bytes that a call's copy reads: half of the line's, or all it has memory for */
} sampling;

static void once(void *argument) {
    sampling *s = argument;
    if (s->entrant != NULL)
        entrant_call(s->bench, s->line, s->entrant);
    else
        s->copied =
            copies_put(s->bench->copies, copy_ways[s->way].by, (size_t)(s->line->bytes / 2) + 1);
}

static void several(void *argument) {
    const sampling *s = argument;
    for (int i = 0; i < s->calls; i++)
        once(argument);
}

static void *graph_of(const sampling *s) {
    return s->entrant != NULL ? s->entrant->graph : s->copy_graphs[s->way];
}

static void replay(void *argument) {
    const sampling *s = argument;
    bench_replay(s->bench->device, graph_of(s));
}

/* Seconds a call. With graphs, a copy that has none is called on the stream. */
static double sample(sampling *s, timing t) {
    bench_device *d = s->bench->device;
    if (t == TIMING_FLUSHED) {
        bench_fill(d, s->bench->flush.data, 0x11, s->bench->flush.bytes);
        return bench_time(d, once, s);
    }
    if (t == TIMING_GRAPH && graph_of(s) != NULL) {
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
    for (s->way = 0; s->way < COPY_WAYS; s->way++)
        if (copy_ways[s->way].graph)
            s->copy_graphs[s->way] = bench_capture(s->bench->device, several, s);
}

static void keep(figure *f, double *times, int count) {
    f->seconds = median(times, count);
    f->fastest = times[0];
    f->slowest = times[count - 1];
    f->repeats = count;
    f->timed = true;
}

static bool entrant_takes_part(const entrant *e, timing t) {
    return e->state == STATE_RIGHT && (t != TIMING_GRAPH || e->graph != NULL);
}

static bool copy_takes_part(const sampling *s, int way, timing t) {
    return !copy_ways[way].graph || (t == TIMING_GRAPH && s->copy_graphs[way] != NULL);
}

/* The fastest copy of the line's own size, or of the size that is several times the L2. */
static void keep_copy(sampling *s, timing t, double *times, int repeats) {
    line *l = s->line;
    double best;
    int fastest = copies_fastest(s->bench->copies, &best);
    for (int way = 0; way < COPY_WAYS; way++) {
        if (!copy_takes_part(s, way, t))
            continue;
        const double seconds = median(times + way * repeats, repeats);
        const double rate = 2 * (double)s->copied / (seconds > 0 ? seconds : 1e-9);
        if (rate > best) {
            best = rate;
            fastest = way;
        }
    }
    l->copy[t] = l->bytes / best;
    l->copied_by[t] = copy_word(fastest);
}

/* The copies are the last of them. */
static void take(sampling *s, timing t, int repeats) {
    line *l = s->line;
    const int count = l->count + COPY_WAYS;
    double *times = must_have(malloc((size_t)(count * repeats) * sizeof *times));
    for (int r = -WARM_UP; r < repeats; r++)
        for (int i = 0; i < count; i++) {
            s->entrant = i < l->count ? &l->entrants[i] : NULL;
            s->way = i - l->count;
            if (s->entrant != NULL ? !entrant_takes_part(s->entrant, t)
                                   : !copy_takes_part(s, s->way, t))
                continue;
            const double seconds = sample(s, t);
            if (r >= 0)
                times[i * repeats + r] = seconds;
        }
    for (int i = 0; i < l->count; i++)
        if (entrant_takes_part(&l->entrants[i], t))
            keep(&l->entrants[i].figures[t], times + i * repeats, repeats);
    keep_copy(s, t, times + l->count * repeats, repeats);
    free(times);
}

static bool has_graphs(const sampling *s) {
    for (int way = 0; way < COPY_WAYS; way++)
        if (s->copy_graphs[way] != NULL)
            return true;
    return false;
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
        if (timed(b, l->part, (timing)t) && (t != TIMING_GRAPH || has_graphs(&s)))
            take(&s, (timing)t, repeats);
    for (int way = 0; way < COPY_WAYS; way++)
        bench_forget(b->device, s.copy_graphs[way]);
    l->clock = bench_clock_now(b->device);
}
