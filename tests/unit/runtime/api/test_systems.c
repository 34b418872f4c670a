/* Systems on the cpu device: random ones against an evaluation of this test's own, and stages that
   share a launch against the same stages apart, byte for byte. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"
#include "tests/unit/runtime/api/random_system.h"

enum { STEPS = 3, ARRAYS = 12, GUARD = 64 };
#define UNTOUCHED (-7.5)

/* ---- running --------------------------------------------------------------------------------- */

typedef struct run {
    sg_kernel *kernel;
    int count, final[ARRAYS];
    int64_t steps;
    size_t element, bytes;
    unsigned char *cells[ARRAYS]; /* of an array, guard bytes behind it */
    bool in_place;                /* arrays that may share memory do */
    int shared;
} run;

static void put(unsigned char *to, size_t element, int64_t i, double value) {
    const float single = (float)value;
    memcpy(to + (size_t)i * element, element == 4 ? (const void *)&single : &value, element);
}

static double get(const unsigned char *from, size_t element, int64_t i) {
    float single;
    double value;
    memcpy(element == 4 ? (void *)&single : &value, from + (size_t)i * element, element);
    return element == 4 ? (double)single : value;
}

static sg_array_info array_of(const sg_kernel *k, int i) {
    sg_array_info info = {.struct_size = sizeof info};
    expect_ok(sg_kernel_array(k, i, &info));
    return info;
}

static int field_named(const char *name) {
    int f = 0;
    while (strcmp(rs_names[f], name) != 0)
        f++;
    return f;
}

static void fill(run *r, const random_system *s, const int64_t cells) {
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
static void make_steps(run *r, const random_system *s, int64_t steps) {
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

static run run_as(const random_system *s, sg_kernel *k, int64_t steps, bool in_place) {
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

static run run_system(const random_system *s, sg_kernel *k, int64_t steps) {
    return run_as(s, k, steps, false);
}

static void free_cells(run *r) {
    for (int i = 0; i < r->count; i++)
        if (!r->in_place || array_of(r->kernel, i).same_as < 0)
            free(r->cells[i]);
}

static void end_run(run *r) {
    free_cells(r);
    sg_release(r->kernel);
}

/* The memory with what the array was last written. */
static const unsigned char *written(const run *r, int i) {
    const sg_array_info info = array_of(r->kernel, i);
    return r->cells[info.reads >= 0 && r->steps > 1 ? r->final[info.reads] : r->final[i]];
}

/* ---- random systems -------------------------------------------------------------------------- */

static void start(random_system *s) {
    const int64_t cells = s->size[0] * s->size[1] * s->size[2];
    for (int f = 0; f < RS_FIELDS; f++)
        for (int64_t c = 0; c < cells; c++)
            s->now[f][c] = rs_uses[f] == RS_OUT ? UNTOUCHED : (rs_below(s, 2049) - 1024) / 1024.0;
    for (int64_t c = 0; c < cells; c++)
        s->previous[c] = (rs_below(s, 2049) - 1024) / 1024.0;
}

static void compare(const random_system *expected, const run *r, uint64_t seed) {
    const int64_t cells = expected->size[0] * expected->size[1] * expected->size[2];
    for (int i = 0; i < r->count; i++) {
        const sg_array_info info = array_of(r->kernel, i);
        const int field = field_named(info.field);
        double largest = 1;
        for (int64_t c = 0; c < cells; c++)
            largest = fmax(largest, fabs(expected->now[field][c]));
        for (int64_t c = 0; c < cells && info.role == SG_WRITE; c++) {
            const double got = get(written(r, i), r->element, c), right = expected->now[field][c];
            if (fabs(got - right) > 1e-11 * largest || got != got)
                fail_msg("system %llu: %s at cell %lld: %.17g instead of %.17g\n%s\n%s",
                         (unsigned long long)seed, info.name, (long long)c, got, right,
                         sg_kernel_text(r->kernel, SG_TEXT_PLAN), expected->text);
        }
    }
}

static sg_kernel *build_system(const random_system *s, const char *schedule) {
    const sg_build_options options = {.struct_size = sizeof options,
                                      .text = s->text,
                                      .schedule = schedule,
                                      .size = {s->size[0], s->size[1], s->size[2]}};
    sg_kernel *k = NULL;
    if (sg_build(context, "random.lua", &options, &k) != SG_OK)
        fail_msg("%s\n%s", sg_error(context), s->text);
    return k;
}

/* As many as a caller asks for by SYSTEMS, or a few. */
static int wanted(int few) {
    const char *asked = getenv("SYSTEMS");
#if defined(SG_SANITIZE)
    few = few / 8 + 1;
#endif
    return asked != NULL ? atoi(asked) : few;
}

static void expect_right(const random_system *s, const char *schedule, int64_t steps,
                         uint64_t seed) {
    static random_system expected;
    expected = *s;
    for (int64_t step = 0; step < steps; step++)
        rs_step(&expected);
    run r = run_system(s, build_system(s, schedule), steps);
    compare(&expected, &r, seed);
    end_run(&r);
}

static void random_systems_are_right(void **state) {
    (void)state;
    static random_system s;
    for (int i = 0; i < wanted(6); i++) {
        rs_new(&s, 100 + (uint64_t)i, "double");
        start(&s);
        expect_right(&s, i % 2 == 0 ? "naive" : NULL, i % 3 == 0 ? 1 : STEPS, 100 + (uint64_t)i);
    }
}

/* Boundaries of stages, of fields, and values that are parameters. */
static void fields_have_their_own_boundaries(void **state) {
    (void)state;
    static random_system s;
    static const char *const schedules[] = {"naive", "rows",        NULL,
                                            "tiled", "cached-halo", "coarsened"};
    for (int i = 0; i < wanted(10); i++) {
        rs_make_system(&s, 700 + (uint64_t)i, "double", true);
        start(&s);
        expect_right(&s, schedules[i % 6], i % 4 == 0 ? 1 : STEPS, 700 + (uint64_t)i);
    }
}

/* "1: naive | 2-3: naive": the stages in groups, as the bits of `joined` say. `line`: of groups. */
static void write_groups(const random_system *s, unsigned joined, const char *line, char *out,
                         size_t size) {
    size_t length = 0;
    for (int k = 0; k < s->stage_count;) {
        int last = k;
        while (last + 1 < s->stage_count && (joined >> last & 1) != 0)
            last++;
        length += (size_t)snprintf(out + length, size - length, "%s%d-%d: %s", k > 0 ? " | " : "",
                                   k + 1, last + 1, last > k ? line : "naive");
        k = last + 1;
    }
}

/* NULL where stages cannot share a launch. */
static sg_kernel *build_line(const random_system *s, unsigned joined, const char *groups,
                             bool *small) {
    char line[512];
    write_groups(s, joined, groups, line, sizeof line);
    const sg_build_options options = {
        .struct_size = sizeof options, .text = s->text, .schedule = line};
    sg_kernel *k = NULL;
    *small = false;
    if (sg_build(context, "random.lua", &options, &k) != SG_OK) {
        *small = strstr(sg_error(context), "tile: it is smaller than what") != NULL;
        if (!*small && strstr(sg_error(context), "cannot share a launch") == NULL &&
            strstr(sg_error(context), "mirrored ends ask for planes") == NULL)
            fail_msg("%s\n%s", sg_error(context), s->text);
        return NULL;
    }
    return k;
}

/* A chain's tiles are small, and still at least as large as what its stages reach. Walks of columns
   are long enough for several turns at once. */
typedef enum way { SUBSTITUTED, PLANES, COLUMNS, STRIPS } way;

static const char *const strips[] = {"chained coarsen=y9 vec=1 lane=2",
                                     "chained coarsen=y21 vec=1 lane=4",
                                     "chained coarsen=y5 vec=1 lane=2"};

static sg_kernel *build_joined(const random_system *s, unsigned joined, way how) {
    static const char *const planes[][2] = {
        {"chained tile=4 coarsen=y5", "chained tile=4x4 coarsen=z3"},
        {"chained tile=8 coarsen=y3", "chained tile=8x8 coarsen=z2"},
        {"chained tile=16", "chained tile=16x14"}};
    static const char *const columns[] = {"chained tile=4 coarsen=y5 vec=1",
                                          "chained tile=7 coarsen=y40 vec=1",
                                          "chained tile=16 coarsen=y23 vec=1"};
    bool small = true;
    sg_kernel *k = NULL;
    if (how == SUBSTITUTED)
        return build_line(s, joined, "naive", &small);
    for (int i = 0; i < 3 && small && s->dims > 1; i++) {
        char line[64];
        snprintf(line, sizeof line, "%s vec=%d", planes[i][s->dims - 2],
                 strstr(s->text, "'float'") != NULL ? 4 : 2);
        if (how == PLANES)
            k = build_line(s, joined, line, &small);
        else if (s->dims == 2)
            k = build_line(s, joined, how == COLUMNS ? columns[i] : strips[i], &small);
    }
    return k;
}

/* Groupings of a system that are compared. */
#if defined(SG_SANITIZE)
enum { GROUPINGS = 1 };
#else
enum { GROUPINGS = 2 };
#endif

/* All groupings that are not refused leave the bytes of stages apart. */
static int compare_groupings(const random_system *s, uint64_t seed, int most, way how) {
    int compared = 0;
    run apart = {.kernel = NULL};
    for (unsigned joined = 1u << (s->stage_count - 1); joined-- > 1 && compared < most;) {
        sg_kernel *k = build_joined(s, joined, how);
        if (k == NULL)
            continue;
        if (apart.kernel == NULL)
            apart = run_system(s, build_joined(s, 0, SUBSTITUTED), STEPS);
        run together = run_system(s, k, STEPS);
        for (int i = 0; i < apart.count; i++)
            if (memcmp(written(&apart, i), written(&together, i), apart.bytes) != 0)
                fail_msg("system %llu: %s of '%s' is not as apart\n%s", (unsigned long long)seed,
                         array_of(k, i).name, sg_kernel_text(k, SG_TEXT_PLAN), s->text);
        end_run(&together);
        compared++;
    }
    if (apart.kernel != NULL)
        end_run(&apart);
    return compared;
}

/* Grids with strips that no end of x or y concerns, with rows of packs and without. */
static void widen(random_system *s, uint64_t seed) {
    s->size[0] = (seed % 4 != 0 ? 160 : 141) + (int64_t)(seed / 4 % 5) * 4;
    s->size[1] = 60;
}

static void compare_systems(uint64_t seed, bool own, way how) {
    static random_system s;
    const int enough = wanted(6);
    int compared = 0;
    for (const uint64_t first = seed; compared < enough; seed++) {
        rs_make_system(&s, seed, seed % 2 == 0 ? "float" : "double", own);
        if (how == STRIPS && s.dims == 2 && seed % 4 != 3)
            widen(&s, seed);
        start(&s);
        if (s.stage_count > 1)
            compared += compare_groupings(&s, seed, GROUPINGS, how);
        assert_true(seed - first < 1000 + 100 * (uint64_t)enough);
    }
}

static void fused_stages_leave_the_same_bytes(void **state) {
    (void)state;
    compare_systems(1, false, SUBSTITUTED);
}

static void fused_stages_of_fields_with_own_boundaries(void **state) {
    (void)state;
    compare_systems(4000, true, SUBSTITUTED);
}

static void chains_leave_the_same_bytes(void **state) {
    (void)state;
    compare_systems(8000, false, PLANES);
    compare_systems(12000, true, PLANES);
}

static void chains_of_columns_leave_the_same_bytes(void **state) {
    (void)state;
    compare_systems(16000, false, COLUMNS);
    compare_systems(20000, true, COLUMNS);
}

/* Two or three steps a launch, and what is left of five by single steps. NULL: none can be made. */
static sg_kernel *build_steps(const random_system *s, uint64_t seed) {
    static const char *const flat[] = {"chained tile=24 coarsen=y9",
                                       "chained coarsen=y13 vec=1 lane=1"};
    enum { MADE = 3 };
    const bool single = strstr(s->text, "'float'") != NULL;
    const int which = (int)(seed % MADE), vector = single ? 4 : 2;
    char line[96];
    if (s->dims == 3)
        snprintf(line, sizeof line, "1-%d: chained tile=24x24 coarsen=z5 vec=%d time=2",
                 s->stage_count, vector);
    else if (which == 0)
        snprintf(line, sizeof line, "1-%d: %s vec=%d time=2", s->stage_count, flat[0], vector);
    else
        snprintf(line, sizeof line, "1-%d: %s time=%d", s->stage_count,
                 which == 1 ? flat[1] : strips[0], 2 + (int)(seed / MADE % 2));
    const sg_build_options options = {
        .struct_size = sizeof options, .text = s->text, .schedule = line};
    sg_kernel *k = NULL;
    if (sg_build(context, "random.lua", &options, &k) == SG_OK)
        return k;
    static const char *const known[] = {
        "tile: it is smaller", "cannot share a launch", "mirrored ends", "the halo of",
        "as far as a warp",    "too many rows",         "is never read"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(sg_error(context), known[i]) != NULL)
            return NULL;
    fail_msg("%s\n%s", sg_error(context), s->text);
    return NULL;
}

static void several_steps_a_launch_leave_the_same_bytes(void **state) {
    (void)state;
    enum { MOST = 5 };
    static random_system s;
    int compared = 0;
    for (uint64_t seed = 32000; compared < wanted(6); seed++) {
        assert_true(seed < 34000 + 400 * (uint64_t)wanted(6));
        rs_make_system(&s, seed, seed % 2 == 0 ? "float" : "double", seed % 4 > 1);
        char *levels = strstr(s.text, "levels = 2, ");
        if (s.dims < 2 || strstr(s.text, ".prev") != NULL)
            continue;
        if (levels != NULL) /* fields of two levels make single steps */
            memset(levels, ' ', strlen("levels = 2, "));
        if (s.dims == 2 && seed % 5 != 0)
            widen(&s, seed);
        start(&s);
        sg_kernel *k = build_steps(&s, seed);
        if (k == NULL)
            continue;
        run apart = run_system(&s, build_joined(&s, 0, SUBSTITUTED), MOST);
        run together = run_system(&s, k, MOST);
        for (int i = 0; i < apart.count; i++)
            if (memcmp(written(&apart, i), written(&together, i), apart.bytes) != 0)
                fail_msg("system %llu: %s of '%s' is not as by single steps\n%s",
                         (unsigned long long)seed, array_of(k, i).name,
                         sg_kernel_text(k, SG_TEXT_PLAN), s.text);
        end_run(&apart);
        end_run(&together);
        compared++;
    }
}

static void chains_of_strips_leave_the_same_bytes(void **state) {
    (void)state;
    compare_systems(24000, false, STRIPS);
    compare_systems(28000, true, STRIPS);
}

/* New values in the memory of the oldest level leave the bytes that memory of their own has. */
static void fields_are_written_in_place(void **state) {
    (void)state;
    static random_system s;
    int shared = 0;
    for (uint64_t seed = 500; shared < wanted(6); seed++) {
        rs_new(&s, seed, seed % 2 == 0 ? "float" : "double");
        start(&s);
        sg_kernel *k = build_system(&s, seed % 3 == 0 ? NULL : "naive");
        for (int64_t steps = 1; steps <= STEPS; steps += STEPS - 1) {
            run apart = run_system(&s, k, steps), in_place = run_as(&s, k, steps, true);
            for (int i = 0; i < apart.count; i++)
                if (array_of(k, i).role == SG_WRITE &&
                    memcmp(written(&apart, i), written(&in_place, i), apart.bytes) != 0)
                    fail_msg("system %llu: %s is not as apart\n%s\n%s", (unsigned long long)seed,
                             array_of(k, i).name, sg_kernel_text(k, SG_TEXT_PLAN), s.text);
            shared += in_place.shared;
            free_cells(&apart);
            free_cells(&in_place);
        }
        sg_release(k);
        assert_true(seed < 600 + 20 * (uint64_t)wanted(6));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(fields_are_written_in_place),
    cmocka_unit_test(random_systems_are_right),
    cmocka_unit_test(fields_have_their_own_boundaries),
    cmocka_unit_test(fused_stages_leave_the_same_bytes),
    cmocka_unit_test(fused_stages_of_fields_with_own_boundaries),
    cmocka_unit_test(chains_leave_the_same_bytes),
    cmocka_unit_test(chains_of_columns_leave_the_same_bytes),
    cmocka_unit_test(chains_of_strips_leave_the_same_bytes),
    cmocka_unit_test(several_steps_a_launch_leave_the_same_bytes),
};

TEST_GROUP(systems, open_cpu, close_context)
