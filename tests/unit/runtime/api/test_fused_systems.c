/* Stages of systems that share a launch, and steps that do, against the same stages apart, byte for
   byte. A run has half of the systems, which is drawn. */
#include "tests/unit/draw.h"
#include "tests/unit/runtime/api/system_run.h"

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

/* Those that follow each other differ in all that a seed decides. */
static bool chosen(uint64_t seed) {
    return getenv("SYSTEMS") != NULL || drawn(seed / 4, 2);
}

/* Grids with strips that no end of x or y concerns, with rows of packs and without. */
static void widen(random_system *s, uint64_t seed) {
    s->size[0] = (seed % 4 != 0 ? 160 : 141) + (int64_t)(seed / 4 % 5) * 4;
    s->size[1] = 60;
}

static void compare_systems(uint64_t seed, bool own, way how) {
    static random_system s;
    const int enough = wanted(how < COLUMNS ? 2 : 1); /* these take long to compile */
    int compared = 0;
    for (const uint64_t first = seed; compared < enough; seed++) {
        if (!chosen(seed))
            continue;
        rs_make_system(&s, seed, seed % 2 == 0 ? "float" : "double", own);
        if (how == STRIPS && s.dims == 2 && seed % 4 != 3)
            widen(&s, seed);
        start(&s);
        if (s.stage_count > 1)
            compared += compare_groupings(&s, seed, GROUPINGS, how);
        assert_true(seed - first < 2000 + 200 * (uint64_t)enough);
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
        "tile: it is smaller", "cannot share a launch",   "mirrored ends",
        "the halo of",         "as far as a warp",        "too many rows",
        "is never read",       "of shared memory a block"}; /* of this machine's caches, on the cpu
                                                               device */
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
    for (uint64_t seed = 32000; compared < wanted(2); seed++) {
        assert_true(seed < 36000 + 800 * (uint64_t)wanted(2));
        if (!chosen(seed))
            continue;
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(fused_stages_leave_the_same_bytes),
    cmocka_unit_test(fused_stages_of_fields_with_own_boundaries),
    cmocka_unit_test(chains_leave_the_same_bytes),
    cmocka_unit_test(chains_of_columns_leave_the_same_bytes),
    cmocka_unit_test(chains_of_strips_leave_the_same_bytes),
    cmocka_unit_test(several_steps_a_launch_leave_the_same_bytes),
};

TEST_GROUP(fused_systems, open_cpu, close_context)
