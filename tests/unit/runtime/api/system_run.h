/* Runs of random systems on the cpu device. */
#ifndef SG_TESTS_UNIT_RUNTIME_API_SYSTEM_RUN_H
#define SG_TESTS_UNIT_RUNTIME_API_SYSTEM_RUN_H

#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"
#include "tests/unit/runtime/api/random_system.h"

enum { STEPS = 3, ARRAYS = 12, GUARD = 64 };
#define UNTOUCHED (-7.5)

typedef struct run {
    sg_kernel *kernel;
    int count, final[ARRAYS];
    int64_t steps;
    size_t element, bytes;
    unsigned char *cells[ARRAYS]; /* of an array, guard bytes behind it */
    bool in_place;                /* arrays that may share memory do */
    int shared;
} run;

static inline void put(unsigned char *to, size_t element, int64_t i, double value) {
    const float single = (float)value;
    memcpy(to + (size_t)i * element, element == 4 ? (const void *)&single : &value, element);
}

static inline double get(const unsigned char *from, size_t element, int64_t i) {
    float single;
    double value;
    memcpy(element == 4 ? (void *)&single : &value, from + (size_t)i * element, element);
    return element == 4 ? (double)single : value;
}

static inline sg_array_info array_of(const sg_kernel *k, int i) {
    sg_array_info info = {.struct_size = sizeof info};
    expect_ok(sg_kernel_array(k, i, &info));
    return info;
}

static inline int field_named(const char *name) {
    int f = 0;
    while (strcmp(rs_names[f], name) != 0)
        f++;
    return f;
}

static inline void fill(run *r, const random_system *s, const int64_t cells) {
    for (int i = 0; i < r->count; i++) {
        const sg_array_info info = array_of(r->kernel, i);
        const int field = field_named(info.field);
        const bool previous = strstr(info.name, ".prev") != NULL;
        r->cells[i] = malloc(r->bytes + GUARD);
        memset(r->cells[i], 0xab, r->bytes + GUARD);
        for (int64_t c = 0; c < cells; c++)
            put(r->cells[i], r->element, c,
                info.role == SG_WRITE ? UNTOUCHED
                : previous            ? s->previous[c]
                                      : s->now[field][c]);
    }
    for (int i = 0; r->in_place && i < r->count; i++) {
        const int other = array_of(r->kernel, i).same_as;
        if (other < 0)
            continue;
        free(r->cells[i]);
        r->cells[i] = r->cells[other];
        r->shared++;
    }
}

/* Makes the steps by sg_run, or one by sg_launch. The memory of the cpu device is the host's. */
static inline void make_steps(run *r, const random_system *s, int64_t steps) {
    sg_grid grids[ARRAYS];
    for (int i = 0; i < r->count; i++) {
        grids[i] = (sg_grid){.data = r->cells[i]};
        memcpy(grids[i].size, s->size, sizeof grids[i].size);
        r->final[i] = i;
    }
    sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = r->count};
    size_t needed;
    expect_ok(sg_temporary_bytes(r->kernel, &a, &needed));
    unsigned char *temporary = NULL;
    if (needed > 0) {
        expect_ok(sg_alloc(context, needed + GUARD, (void **)&temporary));
        memset(temporary, 0xff, needed + GUARD);
        a.temporary = temporary;
        a.temporary_bytes = needed;
    }
    if (steps == 1)
        expect_ok(sg_launch(r->kernel, &a, NULL));
    else
        expect_ok(sg_run(r->kernel, &a, steps, NULL, r->final));
    expect_ok(sg_synchronize(context, NULL));
    for (size_t i = 0; needed > 0 && i < GUARD; i++)
        assert_int_equal(temporary[needed + i], 0xff);
    sg_free(context, temporary);
    for (int i = 0; i < r->count; i++)
        for (size_t at = 0; at < GUARD; at++)
            assert_int_equal(r->cells[i][r->bytes + at], 0xab);
}

static inline run run_as(const random_system *s, sg_kernel *k, int64_t steps, bool in_place) {
    run r = {.kernel = k, .steps = steps, .in_place = in_place};
    sg_kernel_info info = {.struct_size = sizeof info};
    expect_ok(sg_kernel_facts(k, &info));
    const int64_t cells = s->size[0] * s->size[1] * s->size[2];
    assert_int_equal(info.kind, SG_KIND_GRID);
    r.count = info.arrays;
    r.element = info.element_size;
    r.bytes = (size_t)cells * r.element;
    assert_in_range(r.count, 1, ARRAYS);
    fill(&r, s, cells);
    make_steps(&r, s, steps);
    return r;
}

static inline run run_system(const random_system *s, sg_kernel *k, int64_t steps) {
    return run_as(s, k, steps, false);
}

static inline void free_cells(run *r) {
    for (int i = 0; i < r->count; i++)
        if (!r->in_place || array_of(r->kernel, i).same_as < 0)
            free(r->cells[i]);
}

static inline void end_run(run *r) {
    free_cells(r);
    sg_release(r->kernel);
}

/* The memory with what the array was last written. */
static inline const unsigned char *written(const run *r, int i) {
    const sg_array_info info = array_of(r->kernel, i);
    return r->cells[info.reads >= 0 && r->steps > 1 ? r->final[info.reads] : r->final[i]];
}

static inline void start(random_system *s) {
    const int64_t cells = s->size[0] * s->size[1] * s->size[2];
    for (int f = 0; f < RS_FIELDS; f++)
        for (int64_t c = 0; c < cells; c++)
            s->now[f][c] = rs_uses[f] == RS_OUT ? UNTOUCHED : (rs_below(s, 2049) - 1024) / 1024.0;
    for (int64_t c = 0; c < cells; c++)
        s->previous[c] = (rs_below(s, 2049) - 1024) / 1024.0;
}

/* As many as a caller asks for by SYSTEMS, or a few. */
static inline int wanted(int few) {
    const char *asked = getenv("SYSTEMS");
#if defined(SG_SANITIZE)
    few = few / 8 + 1;
#endif
    return asked != NULL ? atoi(asked) : few;
}

#endif
