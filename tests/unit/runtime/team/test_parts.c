/* Which parts a grid is divided into, and which are refused; and shorter launches, where parts are
   too thin for long ones. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/team/heat.h"
#include "tests/unit/runtime/team/ranks.h"

static sg_context *context;

static const char heat3[] = "return stencil { name = 'heat3', shape = star(3, 1), dtype = 'float', "
                            "coefficients = identity() + 0.05 * laplacian { dims = 3, accuracy = 2 "
                            "}, boundary = 'periodic' }";

/* A mirror turns reads of cells below the first ones back to cells above them. */
static const char leaning[] =
    "return stencil { name = 'leaning', boundary = 'mirror', dims = 2, update = function(u) "
    "return 0.5 * u(0,0) + 0.25 * u(-2,0) end }";
static const char watched[] =
    "return system { name = 'watched', boundary = 'mirror', fields = { u = 'inout', v = 'inout' }, "
    "stages = { { update = function(f) return { u = f.v(-2,0) / 2 } end },\n"
    "{ update = function(f) return { v = f.u(2,0) / 2 } end } } }";

/* ---- parts ----------------------------------------------------------------------------------- */

typedef struct division {
    const char *spec;
    int64_t global[3];
    int ranks[3], launches; /* given */
    sg_kernel *kernel;
    sg_team_part parts[MOST_RANKS];
} division;

static void divide(rank *r) {
    division *d = r->user;
    sg_team_part part = {.struct_size = sizeof part, .launches = d->launches};
    memcpy(part.global, d->global, sizeof part.global);
    memcpy(part.ranks, d->ranks, sizeof part.ranks);
    if (good(r, sg_team_arrange(r->team, d->kernel, &part)))
        d->parts[r->transport.rank] = part;
}

static void divide_among(division *d, rank *ranks, int count) {
    const sg_build_options how = options_of(d->spec, d->global[0], d->global[1], d->global[2]);
    if (sg_build(context, "test.lua", &how, &d->kernel) != SG_OK)
        fail_msg("%s", sg_error(context));
    run_ranks(context, ranks, count, 30, d, divide);
    sg_release(d->kernel);
}

/* Parts are contiguous, differ by one cell at most, and hold every cell once. */
static void check_parts(const division *d, int count) {
    int64_t cells = 0;
    for (int i = 0; i < count; i++) {
        const sg_team_part *p = &d->parts[i];
        int64_t own = 1;
        for (int axis = 0; axis < 3; axis++) {
            const int64_t length = p->end[axis] - p->begin[axis];
            const int64_t least = p->global[axis] / p->ranks[axis];
            assert_true(length == least || length == least + 1);
            assert_int_equal(p->size[axis], p->low[axis] + length + p->high[axis]);
            if (p->place[axis] == 0)
                assert_int_equal(p->begin[axis], 0);
            if (p->place[axis] == p->ranks[axis] - 1)
                assert_int_equal(p->end[axis], p->global[axis]);
            own *= length;
        }
        assert_int_equal((p->place[2] * p->ranks[1] + p->place[1]) * p->ranks[0] + p->place[0], i);
        cells += own;
        for (int k = 0; k < i; k++) { /* parts do not overlap */
            bool apart = false;
            for (int axis = 0; axis < 3; axis++)
                apart = apart || p->begin[axis] >= d->parts[k].end[axis] ||
                        p->end[axis] <= d->parts[k].begin[axis];
            assert_true(apart);
        }
    }
    assert_int_equal(cells, (d->global[0] > 0 ? d->global[0] : 1) *
                                (d->global[1] > 0 ? d->global[1] : 1) *
                                (d->global[2] > 0 ? d->global[2] : 1));
}

static void parts(void **unused) {
    static const struct {
        const char *spec;
        int64_t global[3];
        int count, chosen[3];
    } cases[] = {
        {wide, {103, 0, 0}, 7, {7, 1, 1}},
        {heat, {100, 100, 0}, 4, {1, 4, 1}},  /* x is dear to cut */
        {heat, {1000, 11, 0}, 12, {0}},       /* and is, where there is no other way */
        {heat3, {64, 64, 64}, 2, {1, 1, 2}},  /* z first */
        {heat3, {64, 64, 64}, 8, {1, 2, 4}},  /* then y */
        {heat3, {64, 64, 64}, 16, {1, 4, 4}}, /* x last */
        {heat3, {64, 64, 2}, 4, {0}},         /* z has too few planes for four */
        {heat3, {3, 5, 7}, 30, {0}},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rank ranks[MOST_RANKS];
        division d = {.spec = cases[i].spec, .launches = 1};
        memcpy(d.global, cases[i].global, sizeof d.global);
        divide_among(&d, ranks, cases[i].count);
        expect_good(ranks, cases[i].count);
        check_parts(&d, cases[i].count);
        const int *chosen = d.parts[0].ranks;
        if (cases[i].chosen[0] > 0 && memcmp(chosen, cases[i].chosen, sizeof cases[i].chosen) != 0)
            fail_msg("case %zu: %dx%dx%d was chosen", i, chosen[0], chosen[1], chosen[2]);
    }
}

static void given_grids(void **unused) {
    rank ranks[12];
    (void)unused;
    division d = {.spec = heat3, .global = {13, 9, 10}, .ranks = {3, 2, 2}, .launches = 2};
    divide_among(&d, ranks, 12);
    expect_good(ranks, 12);
    check_parts(&d, 12);
    for (int i = 0; i < 12; i++)
        for (int axis = 0; axis < 3;
             axis++) { /* periodic: ghost cells on both sides, for 2 steps */
            assert_int_equal(d.parts[i].low[axis], 2);
            assert_int_equal(d.parts[i].high[axis], 2);
        }
    d = (division){.spec = heat, .global = {13, 9, 0}, .ranks = {3, 2, 0}, .launches = 1};
    divide_among(&d, ranks, 6);
    expect_good(ranks, 6);
    check_parts(&d, 6);
    assert_int_equal(d.parts[0].low[0], 0); /* the whole grid ends there */
    assert_int_equal(d.parts[0].high[0], 1);
    assert_int_equal(d.parts[5].low[1], 1);
    assert_int_equal(d.parts[5].high[1], 0);
    d.ranks[0] = 4;
    divide_among(&d, ranks, 6);
    expect_all(ranks, 6, SG_ERROR_USAGE, "is not one of 6 ranks");
    d = (division){.spec = wide, .global = {50, 0, 0}, .ranks = {2, 3, 1}};
    divide_among(&d, ranks, 6);
    expect_all(ranks, 6, SG_ERROR_USAGE, "has 1 dimension");
    d = (division){.spec = wide, .global = {50, 0, 0}, .launches = -1};
    divide_among(&d, ranks, 2);
    expect_all(ranks, 2, SG_ERROR_USAGE, "launches between two exchanges");
}

/* What is refused names what works, and that does work. */
static void too_thin(void **unused) {
    static const division cases[] = {
        {.spec = wide, .global = {20, 0, 0}, .ranks = {6, 0, 0}, .launches = 1}, /* radius 4 */
        {.spec = wide, .global = {20, 0, 0}, .ranks = {0, 0, 0}, .launches = 1},
        {.spec = wide, .global = {20, 0, 0}, .ranks = {6, 0, 0}, .launches = 3},
        {.spec = heat, .global = {30, 2, 0}, .ranks = {1, 6, 0}, .launches = 1},
        {.spec = heat3, .global = {8, 8, 4}, .ranks = {1, 1, 6}, .launches = 1},
        {.spec = heat3, .global = {8, 8, 4}, .ranks = {1, 2, 3}, .launches = 4},
        {.spec = leaning, .global = {17, 40, 0}, .ranks = {6, 1, 0}, .launches = 1},
        {.spec = watched, .global = {17, 40, 0}, .ranks = {6, 1, 0}, .launches = 1},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        rank ranks[6];
        division d = cases[i];
        int given[3] = {1, 1, 1}, count = 6;
        divide_among(&d, ranks, 6);
        expect_all(ranks, 6, SG_ERROR_PLAN, "ghost cells of its neighbours");
        const char *named = strrchr(ranks[0].error, '(');
        assert_non_null(named);
        assert_true(sscanf(named, "(%dx%dx%d", &given[0], &given[1], &given[2]) >= 1);
        memcpy(d.ranks, given, sizeof given);
        count = given[0] * given[1] * given[2];
        assert_true(count <= 6);
        divide_among(&d, ranks, count);
        expect_good(ranks, count);
        check_parts(&d, count);
    }
}

/* A monitor's reads turn back further than those of the steps. */
static void thin_for_monitors(void **unused) {
    static const char spec[] =
        "return stencil { name = 'm', boundary = 'mirror', update = function(u) return 0.5 * u(0) "
        "+ "
        "0.25 * u(-1) end, monitors = { a = { op = 'sum', map = function(u) return u(-2) end } } }";
    rank ranks[5];
    (void)unused;
    division d = {.spec = spec, .global = {10, 0, 0}, .ranks = {5, 0, 0}, .launches = 1};
    divide_among(&d, ranks, 5);
    expect_all(ranks, 5, SG_ERROR_PLAN, "2 cells along x, and what a monitor reads needs 3");
    d = (division){.spec = spec, .global = {15, 0, 0}, .ranks = {5, 0, 0}, .launches = 1};
    divide_among(&d, ranks, 5);
    expect_good(ranks, 5);
    check_parts(&d, 5);
}

/* ---- launches that parts are too thin for ---------------------------------------------------- */

typedef struct thinning {
    const char *schedule;
    int64_t y, steps;
    int ranks[3], again[3]; /* given to sg_team_build and to sg_team_arrange */
    sg_team_part part;
} thinning;

static char said[400]; /* the last warning */
static pthread_mutex_t said_lock = PTHREAD_MUTEX_INITIALIZER;

static void hear(void *user, sg_log_level level, const char *text) {
    (void)user;
    pthread_mutex_lock(&said_lock);
    if (level == SG_LOG_WARNING)
        snprintf(said, sizeof said, "%s", text);
    pthread_mutex_unlock(&said_lock);
}

static void build_thin(rank *r) {
    thinning *t = r->user;
    sg_kernel *kernel = NULL;
    const sg_build_options how = {.struct_size = sizeof how,
                                  .text = heat,
                                  .schedule = t->schedule,
                                  .size = {256, t->y},
                                  .steps = t->steps};
    sg_team_part part = {.struct_size = sizeof part, .global = {256, t->y}};
    memcpy(part.ranks, t->again, sizeof part.ranks);
    if (good(r, sg_team_build(r->team, "test.lua", &how, t->ranks, &kernel)) &&
        good(r, sg_team_arrange(r->team, kernel, &part)) && r->transport.rank == 0)
        t->part = part;
    sg_release(kernel);
}

static void fewer_steps(void **unused) {
    rank ranks[4];
    (void)unused;
    said[0] = '\0';
    thinning t = {.schedule = "temporal", .y = 400, .steps = 64, .ranks = {1, 4, 1}};
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_good(ranks, 4);
    const int64_t most = t.part.steps;
    assert_true(most > 3);
    assert_string_equal(said, "");
    t = (thinning){.schedule = "temporal", .y = 12, .steps = 64, .ranks = {1, 4, 1}};
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_good(ranks, 4);
    assert_in_range(t.part.steps, 1, 3);
    assert_int_equal(t.part.high[1], t.part.steps);
    assert_non_null(strstr(said, "parts of 1x4 ranks are too thin"));
    t = (thinning){.schedule = "temporal", .y = 3, .steps = 64, .ranks = {1, 4, 1}};
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_all(ranks, 4, SG_ERROR_PLAN, "(4x1) work"); /* not for one step either */
    t.schedule = NULL;
    memcpy(t.ranks, (int[3]){4, 1, 1}, sizeof t.ranks);
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_good(ranks, 4);
    t = (thinning){
        .y = 4, .steps = 64, .ranks = {1, 4, 1}}; /* one step, if no method is asked for */
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_good(ranks, 4);
    assert_int_equal(t.part.steps, 1);
    t.schedule = "temporal";
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_all(ranks, 4, SG_ERROR_PLAN, "needs ");
}

/* A process grid that sg_team_build has is that of the parts too. */
static void given_once(void **unused) {
    rank ranks[4];
    (void)unused;
    thinning t = {.y = 100, .steps = 1, .ranks = {2, 2, 1}}; /* 1x4 would be chosen */
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_good(ranks, 4);
    assert_memory_equal(t.part.ranks, t.ranks, sizeof t.ranks);
    memcpy(t.again, (int[3]){2, 2, 0}, sizeof t.again);
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_good(ranks, 4);
    memcpy(t.again, (int[3]){1, 4, 1}, sizeof t.again);
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_all(ranks, 4, SG_ERROR_USAGE, "was built for 2x2 ranks, and its part is for 1x4x1");
    t.ranks[0] = t.ranks[1] = t.ranks[2] = 0;
    run_ranks(context, ranks, 4, 30, &t, build_thin);
    expect_good(ranks, 4);
    assert_memory_equal(t.part.ranks, t.again, sizeof t.again);
}

static int open_context(void **unused) {
    const sg_options how = {.struct_size = sizeof how,
                            .device = "cpu",
                            .cache = "none",
                            .database = "none",
                            .log = hear};
    (void)unused;
    return sg_open(&context, &how) == SG_OK ? 0 : 1;
}

static int close_context(void **unused) {
    (void)unused;
    sg_close(context);
    return 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(parts),       cmocka_unit_test(given_grids),
    cmocka_unit_test(too_thin),    cmocka_unit_test(thin_for_monitors),
    cmocka_unit_test(fewer_steps), cmocka_unit_test(given_once),
};

TEST_GROUP(parts, open_context, close_context)
