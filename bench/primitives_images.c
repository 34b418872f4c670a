/* Convolutions: filters that cannot be factored, and products of a line with itself. Weights and
   pixels are small whole numbers. Their sums are exact in a float, except for what passes divide
   by. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "primitives.h"

enum { SEED = 13, FILTERS = 5, MOST = 15, SIDES = 2, EVERY = 13, UNIT = 128 };
#define ROUNDING 0x1p-22 /* of the sum of the weights: below half a unit */

static const char *const filter_words[FILTERS] = {"3x3", "5x5", "7x7", "11x11", "15x15"};
static const int filter_sizes[FILTERS] = {3, 5, 7, 11, MOST};
static const int64_t sides[SIDES] = {4096, 8192};
/* Weights from the middle of a line outwards. */
static const int falling[MOST / 2 + 1] = {16, 12, 9, 6, 4, 3, 2, 1};

typedef struct picture {
    const line *line;
    int n;
    float weights[MOST * MOST], row[MOST];
    double sum;
    float *input;
    const float *output;
    int64_t wrong; /* a wrong place, any of them, or -1 */
} picture;

static int filter_size(const line *l) {
    int f = 0;
    while (strcmp(filter_words[f], l->data) != 0)
        f++;
    return filter_sizes[f];
}

/* The whole numbers to n*n, no two alike, or products of the line. */
static void make_weights(const line *l, picture *p) {
    const int n = p->n = filter_size(l);
    const bool separable = strcmp(l->kind, "separable") == 0;
    for (int i = 0; i < n; i++)
        p->row[i] = (float)falling[abs(i - n / 2)];
    for (int i = 0; i < n * n; i++) {
        const int mixed = 1 + i * 8 % (n * n); /* 8 and n have no common factor */
        p->weights[i] = separable ? p->row[i / n] * p->row[i % n] : (float)mixed;
        p->sum += (double)p->weights[i];
    }
}

static float pixel(int64_t at) {
    return (float)drawn_odd(SEED, at) / UNIT;
}

static void fill(void *argument, int64_t begin, int64_t end) {
    const picture *p = argument;
    for (int64_t i = begin; i < end; i++)
        p->input[i] = pixel(i);
}

static void open_picture(bench *b, line *l) {
    const size_t bytes = (size_t)(l->size[0] * l->size[1]) * sizeof(float);
    picture *p = must_have(calloc(1, sizeof *p));
    p->line = l;
    make_weights(l, p);
    p->input = host_memory(b, HOST_A, bytes);
    in_parallel(b, l->size[0] * l->size[1], 1 << 14, fill, p);
    l->inputs[0] = array_new(b, bytes);
    array_upload(b, l->inputs[0], p->input);
    l->outputs[0] = array_new(b, bytes);
    l->own = p;
}

static void close_picture(bench *b, line *l) {
    (void)b;
    free(l->own);
}

/* ---- judging --------------------------------------------------------------------------------- */

static int64_t clamp(int64_t at, int64_t size) {
    return at < 0 ? 0 : at >= size ? size - 1 : at;
}

static double wanted_at(const picture *p, int64_t x, int64_t y) {
    const int64_t width = p->line->size[0], height = p->line->size[1];
    const int n = p->n, reach = n / 2;
    double sum = 0;
    for (int j = 0; j < n; j++) {
        const float *row = p->input + clamp(y + j - reach, height) * width;
        const float *w = p->weights + j * n;
        if (x >= reach && x + reach < width)
            for (int i = 0; i < n; i++)
                sum += (double)(w[i] * row[x + i - reach]);
        else
            for (int i = 0; i < n; i++)
                sum += (double)(w[i] * row[clamp(x + i - reach, width)]);
    }
    return sum;
}

/* Judges all rows near the two edges along y, and every 13th row. No tile is a multiple of 13, so
   every row of every tile has its turn. */
static void judge_rows(void *argument, int64_t begin, int64_t end) {
    picture *p = argument;
    const int64_t width = p->line->size[0], height = p->line->size[1];
    for (int64_t y = begin; y < end; y++) {
        if (y % EVERY != 0 && y > 2 * p->n && y < height - 2 * p->n)
            continue;
        for (int64_t x = 0; x < width; x++) {
            const double difference = fabs((double)p->output[y * width + x] - wanted_at(p, x, y));
            if (difference <= ROUNDING * p->sum) /* false also for NaN */
                continue;
            __atomic_store_n(&p->wrong, y * width + x, __ATOMIC_RELAXED);
            return;
        }
    }
}

static char *judge(bench *b, line *l) {
    picture *p = l->own;
    float *output = array_download(b, l->outputs[0], HOST_RESULT);
    char text[160] = "";
    p->output = output;
    p->wrong = -1;
    in_parallel(b, l->size[1], 16, judge_rows, p);
    if (p->wrong >= 0) {
        const int64_t x = p->wrong % l->size[0], y = p->wrong / l->size[0];
        snprintf(text, sizeof text, "%s %s, pixel (%lld, %lld): %.9g instead of %.9g", l->data,
                 l->kind, (long long)x, (long long)y, (double)output[p->wrong], wanted_at(p, x, y));
    }
    return text[0] != '\0' ? must_have(strdup(text)) : NULL;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static char *spec(const line *l, const entrant *e) {
    char *text = NULL;
    size_t length;
    picture p = {0};
    FILE *out = must_have(open_memstream(&text, &length));
    (void)e;
    make_weights(l, &p);
    fputs("return convolution {\n  name = 'c',\n  dtype = 'float',\n  boundary = 'clamp',\n"
          "  weights = {\n",
          out);
    for (int j = 0; j < p.n; j++) {
        fputs("    { ", out);
        for (int i = 0; i < p.n; i++)
            fprintf(out, "%d, ", (int)p.weights[j * p.n + i]);
        fputs("},\n", out);
    }
    fputs("  },\n}\n", out);
    must_have(fclose(out) == 0 ? text : NULL);
    return text;
}

static void arguments_of(const line *l, const entrant *e, sg_grid grids[2], sg_arguments *a) {
    for (int i = 0; i < 2; i++) {
        grids[i] = (sg_grid){.data = i == 0 ? l->inputs[0].data : l->outputs[0].data};
        memcpy(grids[i].size, l->size, sizeof l->size);
    }
    *a = (sg_arguments){.struct_size = sizeof *a,
                        .grids = grids,
                        .grid_count = 2,
                        .temporary = e->temporary,
                        .temporary_bytes = e->temporary_bytes};
}

static sg_status prepare(bench *b, line *l, entrant *e) {
    sg_grid grids[2];
    sg_arguments a;
    (void)b;
    arguments_of(l, e, grids, &a);
    return sg_temporary_bytes(e->kernel, &a, &e->temporary_bytes);
}

static sg_status call(const line *l, const entrant *e, sg_stream stream) {
    sg_grid grids[2];
    sg_arguments a;
    arguments_of(l, e, grids, &a);
    return sg_launch(e->kernel, &a, stream);
}

static int find_rivals(line *l, rival out[MOST_RIVALS]) {
    const picture *p = l->own;
    const rival_image r = {.width = l->size[0],
                           .height = l->size[1],
                           .n = p->n,
                           .weights = p->weights,
                           .line = strcmp(l->kind, "separable") == 0 ? p->row : NULL,
                           .input = l->inputs[0].data,
                           .output = l->outputs[0].data};
    return bench_rivals.image != NULL ? bench_rivals.image(&r, out) : 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void list_kind(bench *b, const char *kind) {
    for (int f = 0; f < FILTERS; f++)
        for (int s = 0; s < SIDES; s++) {
            const int64_t side = (int64_t)((double)sides[s] / sqrt((double)b->options.scale));
            const double pixels = (double)(side * side);
            const line l = {.part = PART_CONVOLUTION,
                            .kind = kind,
                            .dtype = "float",
                            .data = filter_words[f],
                            .dims = 2,
                            .size = {side, side, 1},
                            .bytes = 2 * sizeof(float) * pixels,
                            .operations = 2.0 * filter_sizes[f] * filter_sizes[f] * pixels};
            if (!line_wanted(b, PART_CONVOLUTION, kind, l.dtype, l.data))
                continue;
            line *added = line_add(b, &l);
            if (b->schedules.count == 0 && strcmp(kind, "separable") == 0) {
                entrant_add(added, "1 pass", "passes=1");
                entrant_add(added, "2 passes", "passes=2");
            }
        }
}

static void list(bench *b) {
    list_kind(b, "general");
    list_kind(b, "separable");
}

const part_functions primitives_convolution = {
    "convolution", list, spec, open_picture, prepare, call, find_rivals, judge, close_picture};
