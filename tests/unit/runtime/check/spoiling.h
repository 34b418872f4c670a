/* What tests of checks share: a cpu device that can leave a launch out, or spoil what it leaves
   behind, and a context on it. Takes: `damage` and `spread`, which a test sets. */
#ifndef TESTS_UNIT_CHECK_SPOILING_H
#define TESTS_UNIT_CHECK_SPOILING_H

#include "tests/unit/runtime/api/api.h"

#include "runtime/launch/context.h"

/* What goes wrong after a launch, or instead of it. */
static struct damage {
    bool no_launch;
    int array;      /* its place among the arguments; −1: nothing is spoilt */
    int64_t offset; /* in floats from cell (0,0,0) */
    float value;
} damage;

/* All cells are spoilt that lie along an axis at damage.offset modulo the period; 0: one is. */
static struct spread { int axis, period; } spread;

static inline void spoil_all(float *cells, const void *arguments) {
    int64_t size[3];
    memcpy(size, arguments, sizeof size);
    for (int64_t c = 0; c < size[0] * size[1] * size[2]; c++) {
        const int64_t at[] = {c % size[0], c / size[0] % size[1], c / size[0] / size[1]};
        if (at[spread.axis] % spread.period == damage.offset)
            cells[c] = damage.value;
    }
}

static fault spoiling_launch(device *d, const module *m, int launch, const int64_t grid[3],
                             const void *arguments, size_t bytes, void *stream, int *code) {
    fault f = FAULT_NONE;
    if (!damage.no_launch)
        f = device_cpu.launch(d, m, launch, grid, arguments, bytes, stream, code);
    if (f == FAULT_NONE && damage.array >= 0) {
        float *cells;
        memcpy(&cells,
               (const char *)arguments + PROGRAM_OFFSET_GRIDS + PROGRAM_GRID_BYTES * damage.array,
               sizeof cells);
        if (spread.period > 0)
            spoil_all(cells, arguments);
        else
            cells[damage.offset] = damage.value;
    }
    return f;
}

static device_ops spoiling_ops;

static device *spoiling_open(job *j, const device_options *options, const char **why) {
    device *d = device_cpu.open(j, options, why);
    if (d != NULL)
        d->ops = &spoiling_ops;
    return d;
}

static int open_spoiling(void **state) {
    (void)state;
    const sg_options options = {.struct_size = sizeof options, .device = "cpu", .threads = 3};
    const device_ops *const kinds[] = {&spoiling_ops};
    spoiling_ops = device_cpu;
    spoiling_ops.open = spoiling_open;
    spoiling_ops.launch = spoiling_launch;
    if (context_open(&context, &options, kinds, 1) != SG_OK)
        print_error("%s\n", sg_error(context));
    return 0;
}

static int no_damage(void **state) {
    (void)state;
    damage = (struct damage){.array = -1};
    spread = (struct spread){0};
    return 0;
}

/* A test that begins without damage. */
#define undamaged(test) cmocka_unit_test_setup(test, no_damage)

#endif
