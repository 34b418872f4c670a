/* What a team makes, compared with one rank byte for byte. Takes: a spec, a schedule, a size, steps
   and a process grid. */
#ifndef SG_TESTS_TEAM_SAME_H
#define SG_TESTS_TEAM_SAME_H

#include "base/dtype.h"
#include "tests/unit/draw.h"
#include "tests/unit/runtime/team/ranks.h"
#include "tests/unit/scratch_folder.h"

enum { MOST_ARRAYS = 12, CELLS = 40000 };

typedef struct problem {
    const char *spec, *schedule;
    int64_t size[3], steps;
    int ranks[3], launches;
} problem;

typedef struct shared {
    const problem *problem;
    sg_kernel *kernel;
    sg_kernel_info info;
    sg_array_info array[MOST_ARRAYS];
    unsigned char *before[MOST_ARRAYS], *after[MOST_ARRAYS]; /* of the whole grid */
    int final[MOST_ARRAYS];
} shared;

static sg_context *context;

static int64_t points_of(const int64_t size[3]) {
    return size[0] * size[1] * size[2];
}

/* Copies a box between the whole grid and a part's array. */
static void copy_part(const shared *s, const sg_team_part *p, int array, unsigned char *whole,
                      unsigned char *part, int to_part) {
    const size_t element = s->array[array].element_size;
    const int64_t *global = s->problem->size;
    for (int64_t z = p->begin[2]; z < p->end[2]; z++)
        for (int64_t y = p->begin[1]; y < p->end[1]; y++) {
            const int64_t local =
                ((z - p->begin[2] + p->low[2]) * p->size[1] + y - p->begin[1] + p->low[1]) *
                    p->size[0] +
                p->low[0];
            unsigned char *a =
                whole + (size_t)((z * global[1] + y) * global[0] + p->begin[0]) * element;
            unsigned char *b = part + (size_t)local * element;
            memcpy(to_part ? b : a, to_part ? a : b, (size_t)(p->end[0] - p->begin[0]) * element);
        }
}

static sg_arguments arguments_of(const shared *s, sg_grid *grids, unsigned char **data,
                                 const int64_t size[3]) {
    static const double parameters[] = {0.0625, 0.5, 0.25, 0.125};
    for (int i = 0; i < s->info.arrays; i++)
        grids[i] = (sg_grid){.data = data[i], .size = {size[0], size[1], size[2]}};
    return (sg_arguments){.struct_size = sizeof(sg_arguments),
                          .grids = grids,
                          .grid_count = s->info.arrays,
                          .parameters = s->info.parameters > 0 ? parameters : NULL,
                          .parameter_count = s->info.parameters};
}

static void take_part(rank *r) {
    shared *s = r->user;
    sg_team_part part = {.struct_size = sizeof part, .launches = s->problem->launches};
    memcpy(part.global, s->problem->size, sizeof part.global);
    memcpy(part.ranks, s->problem->ranks, sizeof part.ranks);
    if (!good(r, sg_team_arrange(r->team, s->kernel, &part)))
        return;
    unsigned char *data[MOST_ARRAYS];
    sg_grid grids[MOST_ARRAYS];
    int final[MOST_ARRAYS];
    for (int i = 0; i < s->info.arrays; i++) {
        const size_t bytes = (size_t)points_of(part.size) * s->array[i].element_size;
        data[i] = aligned_alloc(64, (bytes + 63) / 64 * 64);
        memset(data[i], 0xff, bytes); /* NaN, also in ghost cells */
        copy_part(s, &part, i, s->before[i], data[i], 1);
    }
    sg_arguments a = arguments_of(s, grids, data, part.size);
    sg_status status = sg_temporary_bytes(s->kernel, &a, &a.temporary_bytes);
    a.temporary = malloc(a.temporary_bytes + 1);
    void *aligned = NULL;
    if (a.temporary_bytes > 0) {
        free(a.temporary);
        assert_int_equal(posix_memalign(&aligned, 256, a.temporary_bytes), 0);
        a.temporary = aligned;
    }
    if (good(r, status) &&
        good(r, sg_team_run(r->team, s->kernel, &part, &a, s->problem->steps, NULL, final)))
        for (int i = 0; i < s->info.arrays; i++)
            copy_part(s, &part, i, s->after[i], data[final[i]], 0);
    free(a.temporary);
    for (int i = 0; i < s->info.arrays; i++)
        free(data[i]);
}

static void fill(unsigned char *to, int64_t count, const sg_array_info *array, unsigned seed) {
    for (int64_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        dtype_store(dtype_find(array->dtype), to + (size_t)i * array->element_size,
                    (double)(seed >> 8) / (1 << 23) - 1);
    }
}

/* What one rank makes. */
static void run_alone(shared *s, unsigned char **data) {
    sg_grid grids[MOST_ARRAYS];
    sg_arguments a = arguments_of(s, grids, data, s->problem->size);
    assert_int_equal(sg_temporary_bytes(s->kernel, &a, &a.temporary_bytes), SG_OK);
    assert_int_equal(sg_alloc(context, a.temporary_bytes + 1, &a.temporary), SG_OK);
    if (sg_run(s->kernel, &a, s->problem->steps, NULL, s->final) != SG_OK)
        fail_msg("%s", sg_error(context));
    sg_free(context, a.temporary);
}

/* Whether parts can be so thin, and all axes be cut. */
static bool is_divided(const rank *ranks, int count) {
    for (int i = 0; i < count; i++)
        if (strstr(ranks[i].error, ") work") != NULL)
            return false;
    return true;
}

/* False: the grid cannot be divided so, where that is allowed. */
static bool compare_if(const problem *p, bool may_refuse) {
    shared s = {.problem = p};
    const sg_build_options how = {.struct_size = sizeof how,
                                  .text = p->spec,
                                  .schedule = p->schedule,
                                  .size = {p->size[0], p->size[1], p->size[2]},
                                  .steps = p->steps};
    unsigned char *alone[MOST_ARRAYS];
    rank ranks[MOST_RANKS];
    const sg_status built = sg_build(context, "test.lua", &how, &s.kernel);
    if (may_refuse && built == SG_ERROR_PLAN) /* the schedule is for other specs */
        return false;
    if (built != SG_OK)
        fail_msg("%s: %s", sg_error(context), p->spec);
    s.info.struct_size = sizeof s.info;
    assert_int_equal(sg_kernel_facts(s.kernel, &s.info), SG_OK);
    assert_true(s.info.arrays <= MOST_ARRAYS);
    const int64_t points = points_of(p->size);
    for (int i = 0; i < s.info.arrays; i++) {
        s.array[i].struct_size = sizeof s.array[i];
        assert_int_equal(sg_kernel_array(s.kernel, i, &s.array[i]), SG_OK);
        const size_t bytes = (size_t)points * s.array[i].element_size;
        s.before[i] = malloc(bytes);
        s.after[i] = malloc(bytes);
        alone[i] = aligned_alloc(64, (bytes + 63) / 64 * 64);
        fill(s.before[i], points, &s.array[i], (unsigned)i + 1);
        memcpy(alone[i], s.before[i], bytes);
        memset(s.after[i], 0, bytes);
    }
    run_alone(&s, alone);
    const int count = p->ranks[0] * p->ranks[1] * p->ranks[2];
    run_ranks(context, ranks, count, 0, &s, take_part);
    const bool divided = !may_refuse || is_divided(ranks, count);
    if (divided)
        expect_good(ranks, count);
    for (int i = 0; i < s.info.arrays; i++) {
        const sg_array_info array = s.array[i];
        /* A written array that nobody reads later holds an older step, which only one rank has in
           ghost cells of launches that end together. */
        if (divided &&
            memcmp(alone[s.final[i]], s.after[i], (size_t)points * array.element_size) != 0 &&
            !(array.role == SG_WRITE && array.reads >= 0))
            fail_msg("schedule %s, %dx%dx%d ranks, size %dx%dx%d, %d steps, launches %d: '%s' "
                     "differs: %s",
                     p->schedule, p->ranks[0], p->ranks[1], p->ranks[2], (int)p->size[0],
                     (int)p->size[1], (int)p->size[2], (int)p->steps, p->launches, array.name,
                     p->spec);
        free(s.before[i]), free(s.after[i]);
    }
    for (int i = 0; i < s.info.arrays; i++)
        free(alone[i]);
    sg_release(s.kernel);
    return divided;
}

/* A run has a drawn half of these problems. */
static inline void compare(const problem *p) {
    static uint64_t number;
    if (drawn(number++, 2))
        compare_if(p, false);
}

/* Many problems have the same kernel, which is compiled once. */
static inline int open_context(void **unused) {
    if (scratch_enter(unused) != 0)
        return 1;
    char cache[sizeof scratch_root + sizeof "/cache"];
    snprintf(cache, sizeof cache, "%s/cache", scratch_root);
    const sg_options how = {
        .struct_size = sizeof how, .device = "cpu", .cache = cache, .database = "none"};
    return sg_open(&context, &how) == SG_OK ? 0 : 1;
}

static inline int close_context(void **unused) {
    sg_close(context);
    return scratch_leave(unused);
}

#endif
