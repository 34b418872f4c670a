/* Compares many steps of a kernel with as many of the naive method, on random data of a modest
   size. sg_check has compared the naive method with the reference. Both round, and the difference
   is bounded by what rounding may do. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stencils.h"

typedef struct trial {
    bench *bench;
    const row *row;
    size_t count, bytes;
    void *device[2], *host;
    bool uses_temporary; /* the kernel that ran last, where it was given some */
} trial;

static double at(const trial *t, const void *data, size_t i) {
    return t->row->wide ? ((const double *)data)[i] : (double)((const float *)data)[i];
}

static void draw(const trial *t) {
    uint32_t random = 1;
    for (size_t i = 0; i < t->count; i++) {
        random = random * 1664525u + 1013904223u;
        const double value = (double)(random >> 8) / (1 << 23) - 1;
        if (t->row->wide)
            ((double *)t->host)[i] = value;
        else
            ((float *)t->host)[i] = (float)value;
    }
}

/* The grid after the steps, on the heap; NULL if a call failed. With temporary memory a kernel
   may make all steps in one launch; without, the kernel needs several. */
static void *run(trial *t, sg_kernel *kernel, const int64_t size[AXES], int64_t steps,
                 bool temporary) {
    sg_context *c = t->bench->context;
    sg_grid grids[2] = {{.data = t->device[0]}, {.data = t->device[1]}};
    sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = 2};
    int final[2];
    for (int i = 0; i < 2; i++)
        memcpy(grids[i].size, size, sizeof grids[i].size);
    void *result = must_have(malloc(t->bytes));
    sg_status status = sg_temporary_bytes(kernel, &a, &a.temporary_bytes);
    if (!temporary)
        a.temporary_bytes = 0;
    if (status == SG_OK && a.temporary_bytes > 0)
        status = sg_alloc(c, a.temporary_bytes, &a.temporary);
    t->uses_temporary = a.temporary != NULL;
    if (status == SG_OK)
        status = sg_upload(c, t->device[0], t->host, t->bytes);
    if (status == SG_OK)
        status = sg_run(kernel, &a, steps, NULL, final);
    if (status == SG_OK)
        status = sg_download(c, result, t->device[final[0]], t->bytes);
    sg_free(c, a.temporary);
    if (status == SG_OK)
        return result;
    free(result);
    return NULL;
}

static sg_kernel *build_naive(const trial *t, const int64_t size[AXES]) {
    const options *of = &t->bench->options;
    char *text = shape_spec(t->row->shape, t->row->wide, of->weights, of->boundary);
    sg_build_options o = {.struct_size = sizeof o, .text = text, .schedule = "naive vec=1"};
    sg_kernel *kernel = NULL;
    memcpy(o.size, size, sizeof o.size);
    sg_build(t->bench->context, "stencils.lua", &o, &kernel);
    free(text);
    return kernel;
}

/* Values begin within [-1, 1]. A step multiplies them, and every error so far, by at most `growth`,
   and rounds about as often as the shape has points. */
static double bound(const trial *t, int64_t steps) {
    const double unit = ldexp(1, t->row->wide ? -53 : -24);
    const double growth = shape_growth(t->row->shape, t->bench->options.weights);
    return 2 * (double)steps * (t->row->shape->points + 2) * unit * pow(growth, (double)steps);
}

static void compare(const trial *t, row *r, const void *got, const void *wanted, int64_t steps) {
    const double allowed = bound(t, steps);
    for (size_t i = 0; i < t->count; i++) {
        const double x = at(t, got, i), y = at(t, wanted, i);
        if (fabs(x - y) <= allowed) /* false also for NaN */
            continue;
        char text[160];
        snprintf(text, sizeof text, "after %lld steps, cell %zu: %g instead of %g",
                 (long long)steps, i, x, y);
        row_fail(r, ROW_WRONG, text);
        return;
    }
    r->state = ROW_RIGHT;
}

/* Checks the kernel with and without temporary memory, if it can use some. */
static void try_ways(trial *t, row *r, sg_kernel *naive, const int64_t size[AXES], int64_t steps) {
    void *wanted = run(t, naive, size, steps, false);
    for (int way = 0; way < 2 && wanted != NULL && (way == 0 || t->uses_temporary); way++) {
        void *got = run(t, r->kernel, size, steps, way == 0);
        if (got != NULL)
            compare(t, r, got, wanted, steps);
        else
            row_fail(r, ROW_FAILED, sg_error(t->bench->context));
        free(got);
        if (r->state != ROW_RIGHT)
            break;
    }
    if (wanted == NULL)
        row_fail(r, ROW_FAILED, sg_error(t->bench->context));
    free(wanted);
}

void rows_check_steps(bench *b, row *r, const int64_t size[AXES], int64_t steps) {
    trial t = {.bench = b, .row = r, .count = (size_t)(size[0] * size[1] * size[2])};
    t.bytes = t.count * r->info.element_size;
    t.host = must_have(malloc(t.bytes));
    draw(&t);
    sg_kernel *naive = build_naive(&t, size);
    if (naive != NULL && sg_alloc(b->context, t.bytes, &t.device[0]) == SG_OK &&
        sg_alloc(b->context, t.bytes, &t.device[1]) == SG_OK)
        try_ways(&t, r, naive, size, steps);
    else
        row_fail(r, ROW_FAILED, sg_error(b->context));
    free(t.host);
    sg_release(naive);
    for (int i = 0; i < 2; i++)
        sg_free(b->context, t.device[i]);
}
