/* Kernels of our own copy grids of ROW floats a row: specs of one point, whose weight is 1. */
#include "copies.h"

#include <stdint.h>
#include <stdlib.h>

#include "common.h"

enum { ROW = 4096, ROW_BYTES = ROW * 4, STAGE = 1 << 24, WARM_UP = 2, SAMPLES = 9 };

const copy_way copy_ways[COPY_WAYS] = {{COPY_DRIVER, false},  {COPY_STREAMED, false},
                                       {COPY_NAIVE, false},   {COPY_DRIVER, true},
                                       {COPY_STREAMED, true}, {COPY_NAIVE, true}};

static const char spec[] = "return stencil { name = 'copy', shape = points { {0, 0} }, "
                           "coefficients = { 1 }, dtype = 'float', boundary = 'zero' }";
static const char *const schedules_of[COPIERS] = {[COPY_STREAMED] =
                                                      "streamed tile=1024 coarsen=y4 vec=4",
                                                  [COPY_NAIVE] = "naive tile=1024x1 vec=4"};

struct copies {
    sg_context *context;
    bench_device *device;
    sg_kernel *kernels[COPIERS];
    void *from, *to;
    size_t bytes;
    void *graphs[COPY_WAYS];
    double rates[COPY_WAYS]; /* 0: the device has no such way */
    int fastest;
};

const char *copy_word(int way) {
    static const char *const words[COPY_WAYS] = {
        "driver",        "streamed kernel",        "naive kernel",
        "driver, graph", "streamed kernel, graph", "naive kernel, graph"};
    return words[way];
}

static void must(const copies *c, sg_status status) {
    if (status == SG_OK)
        return;
    fprintf(stderr, "%s: a copy: %s\n", bench_program, sg_error(c->context));
    exit(4);
}

/* ---- memory and kernels ---------------------------------------------------------------------- */

/* Random bytes: memory of zeros moves faster on some devices. */
static void fill(copies *c) {
    unsigned char *stage = must_have(malloc(STAGE));
    uint32_t random = 1;
    for (size_t i = 0; i < STAGE; i++) {
        random = random * 1664525u + 1013904223u;
        stage[i] = (unsigned char)(random >> 24);
    }
    for (size_t at = 0; at < c->bytes; at += STAGE)
        must(c, sg_upload(c->context, (char *)c->from + at, stage,
                          c->bytes - at < STAGE ? c->bytes - at : STAGE));
    free(stage);
}

static void build(copies *c, copy_by by) {
    const sg_build_options o = {.struct_size = sizeof o,
                                .text = spec,
                                .schedule = schedules_of[by],
                                .size = {ROW, (int64_t)(c->bytes / ROW_BYTES), 1}};
    must(c, sg_build(c->context, "copy.lua", &o, &c->kernels[by]));
}

size_t copies_put(copies *c, copy_by by, size_t bytes) {
    size_t rows = (bytes + ROW_BYTES - 1) / ROW_BYTES;
    rows = rows < 1 ? 1 : rows > c->bytes / ROW_BYTES ? c->bytes / ROW_BYTES : rows;
    if (by == COPY_DRIVER) {
        bench_copy(c->device, c->to, c->from, rows * ROW_BYTES);
        return rows * ROW_BYTES;
    }
    const sg_grid grids[2] = {{.data = c->from, .size = {ROW, (int64_t)rows}},
                              {.data = c->to, .size = {ROW, (int64_t)rows}}};
    const sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = 2};
    must(c, sg_launch(c->kernels[by], &a, bench_stream(c->device)));
    return rows * ROW_BYTES;
}

/* ---- times ----------------------------------------------------------------------------------- */

typedef struct work {
    copies *copies;
    int way;
} work;

static void put_all(void *argument) {
    const work *w = argument;
    copies_put(w->copies, copy_ways[w->way].by, w->copies->bytes);
}

static void replay(void *argument) {
    const work *w = argument;
    bench_replay(w->copies->device, w->copies->graphs[w->way]);
}

/* Bytes a second. */
static double time_once(copies *c, int way) {
    work w = {.copies = c, .way = way};
    bench_wait(c->device);
    const double seconds = bench_time(c->device, copy_ways[way].graph ? replay : put_all, &w);
    return 2 * (double)c->bytes / (seconds > 0 ? seconds : 1e-9);
}

static double time_way(copies *c, int way) {
    double rates[SAMPLES];
    work w = {.copies = c, .way = way};
    if (copy_ways[way].graph && (c->graphs[way] = bench_capture(c->device, put_all, &w)) == NULL)
        return 0;
    for (int i = -WARM_UP; i < SAMPLES; i++)
        rates[i < 0 ? 0 : i] = time_once(c, way);
    return median(rates, SAMPLES);
}

copies *copies_open(sg_context *context, bench_device *device, size_t bytes) {
    copies *c = must_have(calloc(1, sizeof *c));
    *c = (copies){.context = context, .device = device, .bytes = bytes / ROW_BYTES * ROW_BYTES};
    must(c, sg_alloc(context, c->bytes, &c->from));
    must(c, sg_alloc(context, c->bytes, &c->to));
    fill(c);
    for (int by = COPY_DRIVER + 1; by < COPIERS; by++)
        build(c, (copy_by)by);
    for (int way = 0; way < COPY_WAYS; way++) {
        c->rates[way] = time_way(c, way);
        if (c->rates[way] > c->rates[c->fastest])
            c->fastest = way;
    }
    return c;
}

void copies_close(copies *c) {
    for (int way = 0; way < COPY_WAYS; way++)
        bench_forget(c->device, c->graphs[way]);
    for (int by = 0; by < COPIERS; by++)
        sg_release(c->kernels[by]);
    sg_free(c->context, c->from);
    sg_free(c->context, c->to);
    free(c);
}

int copies_fastest(const copies *c, double *rate) {
    *rate = c->rates[c->fastest];
    return c->fastest;
}

double copies_again(copies *c) {
    return time_once(c, c->fastest);
}

/* ---- reports --------------------------------------------------------------------------------- */

void copies_print(const copies *c) {
    printf("copies of %zu MB, GB/s:", c->bytes >> 20);
    const char *between = " ";
    for (int way = 0; way < COPY_WAYS; way++)
        if (c->rates[way] > 0) {
            printf("%s%s %.0f", between, copy_word(way), c->rates[way] * 1e-9);
            between = "; ";
        }
    printf("\n");
}

void copies_json(const copies *c, FILE *out) {
    const char *between = "";
    fputs("\"copies\": [", out);
    for (int way = 0; way < COPY_WAYS; way++)
        if (c->rates[way] > 0) {
            fprintf(out, "%s{", between);
            json_text(out, "by", copy_word(way));
            json_number(out, "copy_bytes", c->rates[way], true);
            fprintf(out, "\"bytes\": %zu}", c->bytes);
            between = ", ";
        }
    fputs("], ", out);
}
