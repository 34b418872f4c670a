/* A spec with sources and receivers, its arrays with gaps between rows, and the same in plain
   float64 loops. */
#ifndef TESTS_SCENE_H
#define TESTS_SCENE_H

#include <math.h>

#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

enum { MOST_CELLS = 4096, MOST_POINTS = 64, MOST_STEPS = 12, GAP = 3, SETS = 5 };

/* By name: two that inject, then receivers of a field that is inout, in and out. */
enum { SET_EDDY, SET_SHOT, SET_REC, SET_REC_IN, SET_REC_OUT };
enum { ARRAY_C, ARRAY_U, ARRAY_PREV, ARRAY_NEXT, ARRAY_W, ARRAYS };

typedef struct scene {
    int dims;
    bool wide; /* double */
    int64_t size[3];
    int64_t count; /* points of each set */
    uint64_t seed;
    double positions[SETS][MOST_POINTS * 3];
    double series[SETS]
                 [MOST_STEPS * MOST_POINTS]; /* those that are read, as the dtype holds them */
    double c[MOST_CELLS], u[MOST_CELLS], prev[MOST_CELLS], w[MOST_CELLS]; /* dense */
    double traces[SETS][MOST_STEPS * MOST_POINTS];

    sg_kernel *kernel;
    sg_points sets[SETS];
    unsigned char samples[SETS][8 * MOST_STEPS * MOST_POINTS]; /* in the dtype */
    sg_grid grids[ARRAYS];
    sg_arguments arguments;
} scene;

static inline double draw(scene *s) { /* [0, 1), of 20 bits */
    s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(s->seed >> 44) / (1 << 20);
}

static inline size_t element_of(const scene *s) {
    return s->wide ? sizeof(double) : sizeof(float);
}

static inline void store(const scene *s, void *to, int64_t at, double value) {
    if (s->wide)
        ((double *)to)[at] = value;
    else
        ((float *)to)[at] = (float)value;
}

static inline double fetch_one(const scene *s, const void *from, int64_t at) {
    return s->wide ? ((const double *)from)[at] : (double)((const float *)from)[at];
}

/* Neighbours along each axis, so that what is injected travels. */
static inline sg_kernel *build_scene(const scene *s, const char *schedule) {
    static const char *const sums[] = {
        "f.u(-1) + f.u(1)", "f.u(-1, 0) + f.u(1, 0) + f.u(0, -1) + f.u(0, 1)",
        "f.u(-1, 0, 0) + f.u(1, 0, 0) + f.u(0, -1, 0) + f.u(0, 1, 0) + f.u(0, 0, -1) + "
        "f.u(0, 0, 1)"};
    static const char *const centres[] = {"0", "0, 0", "0, 0, 0"};
    const char *at = centres[s->dims - 1];
    char text[2048];
    snprintf(
        text, sizeof text,
        "return stencil { name = \"scene\", dtype = \"%s\", boundary = \"zero\",\n"
        "fields = { c = \"in\", u = { use = \"inout\", levels = 2 }, w = \"out\" },\n"
        "parameters = { k = 0.25, only_here = 0.5 },\n"
        "update = function(f, p) return { u = 0.5 * f.u(%s) + 0.125 * (%s) -\n"
        "  p.k * f.u.prev(%s) + 0.0625 * f.c(%s), w = 2 * f.u(%s) } end,\n"
        "points = {\n"
        "  shot = { field = \"u\", inject = function(s, f, p)\n"
        "    return s * p.only_here + f.c(%s) * f.u(%s) end },\n"
        "  eddy = { field = \"u\", inject = function(s, f) return s - f.u.prev(%s) end },\n"
        "  rec = { field = \"u\", sample = true }, rec_in = { field = \"c\", sample = true },\n"
        "  rec_out = { field = \"w\", sample = true } } }",
        s->wide ? "double" : "float", at, sums[s->dims - 1], at, at, at, at, at, at);
    return build(text, schedule);
}

/* ---- positions ------------------------------------------------------------------------------- */

/* A third each of random places, of exact cells with the last one, and of one crowded cell. */
static inline void place_points(scene *s, int set) {
    for (int64_t i = 0; i < s->count; i++)
        for (int axis = 0; axis < s->dims; axis++) {
            const double last = (double)(s->size[axis] - 1);
            double x = draw(s) * last;
            if (i % 3 == 1)
                x = i == 1 ? last : floor(draw(s) * (last + 1));
            if (i % 3 == 2)
                x = fmin(floor(last / 2) + draw(s) * 0.75, last);
            s->positions[set][i * s->dims + axis] = x;
        }
}

/* ---- the arrays ------------------------------------------------------------------------------ */

static inline int64_t cells_of(const scene *s) {
    return s->size[0] * s->size[1] * s->size[2];
}

static inline int64_t padded_cells(const scene *s) {
    return (s->size[0] + GAP) * s->size[1] * s->size[2];
}

/* Dense values to memory with gaps, which hold a value that nothing may touch. */
static inline void *bring(const scene *s, const double *values) {
    const size_t bytes = (size_t)padded_cells(s) * element_of(s);
    void *memory = NULL, *host = malloc(bytes);
    for (int64_t i = 0, cell = 0; i < padded_cells(s); i++)
        store(s, host, i, i % (s->size[0] + GAP) < s->size[0] ? values[cell++] : 777);
    expect_ok(sg_alloc(context, bytes, &memory));
    expect_ok(sg_upload(context, memory, host, bytes));
    free(host);
    return memory;
}

/* Memory with gaps to dense values; the gaps are as they were. */
static inline void fetch_cells(const scene *s, int array, double *values) {
    const size_t bytes = (size_t)padded_cells(s) * element_of(s);
    void *host = malloc(bytes);
    expect_ok(sg_download(context, host, s->grids[array].data, bytes));
    for (int64_t i = 0, cell = 0; i < padded_cells(s); i++)
        if (i % (s->size[0] + GAP) < s->size[0])
            values[cell++] = fetch_one(s, host, i);
        else
            assert_true(fetch_one(s, host, i) == 777);
    free(host);
}

static inline void begin_scene(scene *s, int dims, bool wide, const int64_t size[3], int64_t count,
                               uint64_t seed) {
    static const char *const names[SETS] = {"eddy", "shot", "rec", "rec_in", "rec_out"};
    memset(s, 0, sizeof *s);
    s->dims = dims;
    s->wide = wide;
    s->count = count;
    s->seed = seed;
    memcpy(s->size, size, sizeof s->size);
    double *const fields[] = {s->c, s->u, s->prev};
    float narrow;
    for (int f = 0; f < 3; f++)
        for (int64_t i = 0; i < cells_of(s); i++)
            fields[f][i] = 2 * draw(s) - 1;
    for (int set = 0; set < SETS; set++) {
        place_points(s, set);
        for (int64_t i = 0; i < MOST_STEPS * MOST_POINTS; i++) {
            s->series[set][i] = 2 * draw(s) - 1;
            narrow = (float)s->series[set][i];
            s->series[set][i] = wide ? s->series[set][i] : (double)narrow;
            store(s, s->samples[set], i, set <= SET_SHOT ? s->series[set][i] : 555);
        }
        s->sets[set] = (sg_points){.struct_size = sizeof s->sets[set],
                                   .name = names[set],
                                   .count = count,
                                   .positions = s->positions[set]};
        if (set <= SET_SHOT)
            s->sets[set].series = s->samples[set];
        else
            s->sets[set].traces = s->samples[set];
    }
    s->kernel = build_scene(s, NULL);
    const double *from[ARRAYS] = {s->c, s->u, s->prev, s->w, s->w};
    for (int a = 0; a < ARRAYS; a++) {
        s->grids[a] = (sg_grid){.size = {size[0], size[1], size[2]},
                                .stride = {1, size[0] + GAP, (size[0] + GAP) * size[1]}};
        s->grids[a].data = bring(s, from[a]);
    }
    s->arguments =
        (sg_arguments){.struct_size = sizeof s->arguments, .grids = s->grids, .grid_count = ARRAYS};
}

static inline void end_scene(scene *s) {
    for (int a = 0; a < ARRAYS; a++)
        sg_free(context, s->grids[a].data);
    sg_release(s->kernel);
}

/* Permutes the grids as the run left them. */
static inline void follow(scene *s, const int final[ARRAYS]) {
    sg_grid before[ARRAYS];
    memcpy(before, s->grids, sizeof before);
    for (int a = 0; a < ARRAYS; a++)
        s->grids[a] = before[final[a]];
}

/* ---- the plain loops ------------------------------------------------------------------------- */

static inline double cell_or_zero(const scene *s, const double *field, const int64_t at[3]) {
    for (int axis = 0; axis < 3; axis++)
        if (at[axis] < 0 || at[axis] >= s->size[axis])
            return 0;
    return field[at[0] + s->size[0] * (at[1] + s->size[1] * at[2])];
}

static inline void plain_update(scene *s) {
    static double next[MOST_CELLS];
    for (int64_t i = 0; i < cells_of(s); i++) {
        const int64_t at[3] = {i % s->size[0], i / s->size[0] % s->size[1],
                               i / s->size[0] / s->size[1]};
        double sum = 0;
        for (int axis = 0; axis < s->dims; axis++)
            for (int step = -1; step <= 1; step += 2) {
                int64_t there[3] = {at[0], at[1], at[2]};
                there[axis] += step;
                sum += cell_or_zero(s, s->u, there);
            }
        next[i] = 0.5 * s->u[i] + 0.125 * sum - 0.25 * s->prev[i] + 0.0625 * s->c[i];
        s->w[i] = 2 * s->u[i];
    }
    memcpy(s->prev, s->u, sizeof s->prev);
    memcpy(s->u, next, sizeof s->u);
}

/* The weight of a cell for a point: a product of hats. */
static inline double hat(const scene *s, const double *x, int64_t i) {
    const int64_t at[3] = {i % s->size[0], i / s->size[0] % s->size[1],
                           i / s->size[0] / s->size[1]};
    double weight = 1;
    for (int axis = 0; axis < s->dims; axis++)
        weight *= fmax(0, 1 - fabs(x[axis] - (double)at[axis]));
    return weight;
}

static inline void plain_points(scene *s, int64_t step) {
    static double sum[MOST_CELLS];
    for (int set = SET_EDDY; set <= SET_SHOT; set++) {
        memset(sum, 0, sizeof sum);
        for (int64_t p = 0; p < s->count; p++)
            for (int64_t i = 0; i < cells_of(s); i++) {
                const double sample = s->series[set][step * s->count + p];
                const double value =
                    set == SET_SHOT ? sample * 0.5 + s->c[i] * s->u[i] : sample - s->prev[i];
                sum[i] += hat(s, &s->positions[set][p * s->dims], i) * value;
            }
        for (int64_t i = 0; i < cells_of(s); i++)
            s->u[i] += sum[i];
    }
    const double *const fields[SETS] = {
        [SET_REC] = s->u, [SET_REC_IN] = s->c, [SET_REC_OUT] = s->w};
    for (int set = SET_REC; set < SETS; set++)
        for (int64_t p = 0; p < s->count; p++) {
            double value = 0;
            for (int64_t i = 0; i < cells_of(s); i++)
                value += hat(s, &s->positions[set][p * s->dims], i) * fields[set][i];
            s->traces[set][step * s->count + p] = value;
        }
}

typedef struct file {
    unsigned char *samples;
    size_t row;
    int64_t next; /* the step that is asked for next */
    int calls, fails_at;
} file;

static inline int read_file(void *user, int64_t first, int64_t steps, void *to) {
    file *f = user;
    assert_int_equal(first, f->next);
    f->next += steps;
    memcpy(to, f->samples + (size_t)first * f->row, (size_t)steps * f->row);
    return ++f->calls == f->fails_at;
}

static inline int write_file(void *user, int64_t first, int64_t steps, const void *from) {
    file *f = user;
    assert_int_equal(first, f->next);
    f->next += steps;
    memcpy(f->samples + (size_t)first * f->row, from, (size_t)steps * f->row);
    return ++f->calls == f->fails_at;
}

static inline void set_callbacks(scene *s, file files[SETS]) {
    for (int set = 0; set < SETS; set++) {
        files[set] = (file){.samples = s->samples[set], .row = (size_t)s->count * element_of(s)};
        s->sets[set].series = s->sets[set].traces = NULL;
        s->sets[set].user = &files[set];
        if (set <= SET_SHOT)
            s->sets[set].read = read_file;
        else
            s->sets[set].write = write_file;
    }
}

#endif
