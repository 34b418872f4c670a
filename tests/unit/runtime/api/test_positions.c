/* Positions against a plain loop, to the bit: every boundary, 1D to 3D, every method of one step, a
   grid that is the whole and a part of a larger one, boxes, several steps, one cell. The updates
   are exact in float on whole numbers, so nothing may differ. */
#include "tests/unit/draw.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/saved.h"

enum { MOST = 6000, GUARD = 64, STEPS = 3 };

static sg_context *context;

/* `at` as the kernel has it. */
typedef struct place {
    int64_t size[3], origin[3], global[3], step;
    int64_t begin[3], end[3];
} place;

typedef struct problem {
    int dims, boundary;
    const char *method, *dtype;
} problem;

enum { FIXED, ZERO, CONSTANT, CLAMP, MIRROR, PERIODIC, BOUNDARIES };
static const char *const boundaries[] = {"'fixed'", "'zero'",   "constant(3)",
                                         "'clamp'", "'mirror'", "'periodic'"};

static const char *const updates[] = {
    "u(0) + where(lt(at.x, 5), u(1), -u(0)) + at.x + at.nx - 2 * at.step",
    "u(0,0) + where(lt(at.x, 5), u(1,0), at.ny) - where(ge(at.y, at.ny - 2), u(0,-1), at.y) "
    "+ at.x * at.y - at.step",
    "u(0,0,0) + where(lt(at.x, 5), u(1,0,0), at.ny) - where(ge(at.y, at.ny - 2), u(0,-1,0), at.y) "
    "+ where(eq(at.z, 1), u(0,0,1), 3 * at.z - at.nz) + at.x - at.step",
};

/* A cell of the grid by the rules of a boundary. */
static double read_cell(const problem *p, const place *w, const double *u, int64_t x, int64_t y,
                        int64_t z) {
    int64_t at[3] = {x, y, z};
    for (int axis = 0; axis < 3; axis++) {
        const int64_t n = w->size[axis];
        if (at[axis] >= 0 && at[axis] < n)
            continue;
        if (p->boundary == ZERO || p->boundary == CONSTANT)
            return p->boundary == ZERO ? 0 : 3;
        if (p->boundary == PERIODIC)
            at[axis] = (at[axis] + n) % n;
        else if (p->boundary == MIRROR && n > 1)
            at[axis] = at[axis] < 0 ? 1 : n - 2;
        else
            at[axis] = at[axis] < 0 ? 0 : n - 1;
    }
    return u[(at[2] * w->size[1] + at[1]) * w->size[0] + at[0]];
}

static double updated(const problem *p, const place *w, const double *u, const int64_t i[3]) {
    int64_t at[3];
    const int64_t *n = w->global;
    for (int axis = 0; axis < 3; axis++) {
        at[axis] = w->origin[axis] + i[axis];
        if (p->boundary == PERIODIC)
            at[axis] = (at[axis] + n[axis]) % n[axis];
    }
    const double x = (double)at[0], y = (double)at[1], z = (double)at[2], step = (double)w->step;
    const double own = read_cell(p, w, u, i[0], i[1], i[2]);
    const double east = read_cell(p, w, u, i[0] + 1, i[1], i[2]);
    if (p->dims == 1)
        return own + (x < 5 ? east : -own) + x + (double)n[0] - 2 * step;
    const double south = read_cell(p, w, u, i[0], i[1] - 1, i[2]);
    const double both = own + (x < 5 ? east : (double)n[1]) - (at[1] >= n[1] - 2 ? south : y);
    if (p->dims == 2)
        return both + x * y - step;
    const double above = read_cell(p, w, u, i[0], i[1], i[2] + 1);
    return both + (at[2] == 1 ? above : 3 * z - (double)n[2]) + x - step;
}

static bool is_kept(const problem *p, const place *w, const int64_t i[3]) {
    return p->boundary == FIXED && (i[0] + 1 >= w->size[0] || (p->dims > 1 && i[1] < 1) ||
                                    (p->dims > 2 && i[2] + 1 >= w->size[2]));
}

/* One step of the box; cells outside of it keep their values. */
static void step_plainly(const problem *p, const place *w, const double *u, double *out) {
    int64_t i[3], cell = 0;
    for (i[2] = 0; i[2] < w->size[2]; i[2]++)
        for (i[1] = 0; i[1] < w->size[1]; i[1]++)
            for (i[0] = 0; i[0] < w->size[0]; i[0]++, cell++) {
                bool inside = !is_kept(p, w, i);
                for (int axis = 0; axis < 3; axis++)
                    inside = inside && i[axis] >= w->begin[axis] && i[axis] < w->end[axis];
                out[cell] = inside ? updated(p, w, u, i) : u[cell];
            }
}

static sg_kernel *build_problem(const problem *p) {
    char text[1000];
    snprintf(text, sizeof text,
             "return stencil { name = 'placed', dims = %d, dtype = '%s', boundary = %s,\n"
             "  update = function(u, p, at) return %s end }",
             p->dims, p->dtype, boundaries[p->boundary], updates[p->dims - 1]);
    return build_on(context, text, p->method);
}

typedef struct memory {
    double wide[2][MOST + 2 * GUARD];
    float narrow[2][MOST + 2 * GUARD];
} memory;

/* Runs the steps and compares every cell, and the guards around the arrays. */
static void compare(const problem *p, const sg_kernel *k, const place *given, int steps) {
    static memory m;
    static double u[2][MOST];
    place w = *given;
    const bool narrow = strcmp(p->dtype, "float") == 0;
    const int64_t cells = w.size[0] * w.size[1] * w.size[2];
    assert_in_range(cells, 1, MOST);
    for (int i = 0; i < 2; i++)
        for (int64_t c = 0; c < MOST + 2 * GUARD; c++)
            m.wide[i][c] = m.narrow[i][c] = 1e30f;
    for (int64_t c = 0; c < cells; c++) {
        u[0][c] = (double)((c * 7919 + 13) % 17 - 8);
        m.wide[0][GUARD + c] = u[0][c];
        m.narrow[0][GUARD + c] = (float)u[0][c];
    }
    sg_grid grids[2];
    int final[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        grids[i] = (sg_grid){.data = narrow ? (void *)&m.narrow[i][GUARD] : &m.wide[i][GUARD],
                             .size = {w.size[0], w.size[1], w.size[2]}};
    sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = 2, .step = w.step};
    memcpy(a.begin, w.begin, sizeof a.begin);
    memcpy(a.end, w.end, sizeof a.end);
    memcpy(a.origin, w.origin, sizeof a.origin);
    memcpy(a.global, w.global, sizeof a.global);
    if (memcmp(w.global, w.size, sizeof w.size) == 0 && w.step == 0)
        a = (sg_arguments){.struct_size = sizeof a, .grids = grids, .grid_count = 2};
    expect_ok(context, sg_run(k, &a, steps, NULL, final));
    for (int step = 0; step < steps; step++, w.step++)
        step_plainly(p, &w, u[step % 2], u[1 - step % 2]);
    const int last = final[0];
    for (int64_t c = -GUARD; c < cells + GUARD; c++) {
        const double expected = c < 0 || c >= cells ? (double)1e30f : u[steps % 2][c];
        const double is = narrow ? (double)m.narrow[last][GUARD + c] : m.wide[last][GUARD + c];
        if (is != expected)
            fail_msg("%dD %s %s %s, size %dx%dx%d: cell %d is %g, not %g", p->dims, p->method,
                     boundaries[p->boundary], p->dtype, (int)w.size[0], (int)w.size[1],
                     (int)w.size[2], (int)c, is, expected);
    }
}

static place whole(int dims, int64_t nx, int64_t ny, int64_t nz) {
    place w = {.size = {nx, dims > 1 ? ny : 1, dims > 2 ? nz : 1}};
    memcpy(w.global, w.size, sizeof w.global);
    memcpy(w.end, w.size, sizeof w.end);
    return w;
}

/* A part of a larger grid, with a ghost cell before its beginning. */
static place part(int dims, int64_t nx, int64_t ny, int64_t nz) {
    place w = whole(dims, nx, ny, nz);
    const int64_t origin[3] = {-1, 2, 3};
    for (int axis = 0; axis < dims; axis++) {
        w.origin[axis] = origin[axis];
        w.global[axis] = w.size[axis] + 4 + axis;
    }
    w.step = 7;
    return w;
}

static place boxed(place w) {
    for (int axis = 0; axis < 3; axis++) {
        w.begin[axis] = w.size[axis] / 3;
        w.end[axis] = w.size[axis] - w.size[axis] / 4;
    }
    return w;
}

static void compare_everywhere(const problem *p) {
    static const int64_t sizes[3][3] = {{1021, 1, 1}, {67, 35, 1}, {35, 11, 9}};
    const int64_t *n = sizes[p->dims - 1];
    const place first = whole(p->dims, n[0], n[1], n[2]), one = whole(p->dims, 1, 1, 1);
    const place second = part(p->dims, n[0], n[1], n[2]), odd = part(p->dims, 3, 5, 2);
    sg_kernel *k = build_problem(p);
    compare(p, k, &first, STEPS);
    compare(p, k, &second, STEPS);
    const place inner = boxed(second);
    compare(p, k, &inner, STEPS);
    compare(p, k, &odd, 1);
    compare(p, k, &one, 1);
    sg_release(k);
}

/* A run has each method for one or two numbers of dimensions, which are drawn. */
static void methods_make_what_a_loop_makes(void **state) {
    static const char *const methods[3][7] = {
        {"naive", "naive vec=2", "tiled", "coarsened", "register", "cached-halo", "auto"},
        {"naive", "naive vec=2", "tiled", "coarsened", "register", "cached-halo", "streamed"},
        {"naive", "streamed vec=2", "tiled", "coarsened", "register", "cached-halo", "streamed"}};
    (void)state;
    for (int dims = 1; dims <= 3; dims++)
        for (int i = 0; i < 7; i++)
            if (drawn((uint64_t)(i / 2 + dims), 2))
                compare_everywhere(&(problem){dims, (i + dims) % BOUNDARIES, methods[dims - 1][i],
                                              i % 2 == 0 ? "float" : "double"});
}

static void boundaries_make_what_a_loop_makes(void **state) {
    (void)state;
    for (int boundary = 0; boundary < BOUNDARIES; boundary++)
        compare_everywhere(&(problem){2 + boundary % 2, boundary, "auto", "float"});
}

/* Whole numbers are rounded once, when they become the compute type. */
static void far_positions_are_rounded_once(void **state) {
    static const int64_t origins[] = {(INT64_C(1) << 24) - 2, (INT64_C(1) << 40) + 1};
    (void)state;
    for (int narrow = 0; narrow < 2; narrow++) {
        char text[400];
        double out[8], in[8] = {0};
        snprintf(text, sizeof text,
                 "return stencil { name = 'far', dims = 1, dtype = '%s', fields = { a = 'out', b = "
                 "'in' },\n"
                 "  update = function(f, p, at) return at.x + 0 * f.b(0) end }",
                 narrow ? "float" : "double");
        sg_kernel *k = build_on(context, text, NULL);
        for (int i = 0; i < 2; i++) {
            const sg_grid grids[] = {{.data = out, .size = {8}}, {.data = in, .size = {8}}};
            const sg_arguments a = {.struct_size = sizeof a,
                                    .grids = grids,
                                    .grid_count = 2,
                                    .origin = {origins[i]},
                                    .global = {origins[i] + 8}};
            expect_ok(context, sg_launch(k, &a, NULL));
            for (int x = 0; x < 8; x++) {
                float single;
                memcpy(&single, (float *)(void *)out + x, sizeof single);
                if (narrow)
                    assert_true(single == (float)(origins[i] + x));
                else
                    assert_true(out[x] == (double)(origins[i] + x));
            }
        }
        sg_release(k);
    }
}

static void kernels_of_files_have_positions(void **state) {
    (void)state;
    const problem p = {2, PERIODIC, "naive", "double"};
    const place w = part(2, 19, 7, 1);
    sg_kernel *k = build_problem(&p), *loaded;
    char *path = scratch_path("positions.sgk");
    expect_ok(context, sg_save(k, path, NULL));
    sg_release(k);
    expect_ok(context, sg_load(context, path, &loaded));
    free(path);
    compare(&p, loaded, &w, STEPS);
    sg_release(loaded);
}

/* ---- away from the edges --------------------------------------------------------------------- */

#define RIM "min(min(at.x, at.nx - 1 - at.x), min(at.y, at.ny - 1 - at.y))"
#define LAYER(condition)                                                                           \
    "return stencil { name = 'layer', dtype = 'float', boundary = 'clamp',\n"                      \
    "  update = function(u, p, at) local rim = " RIM "\n"                                          \
    "    local damp = where(" condition ", ((6 - rim) / 7) ^ 2, 0)\n"                              \
    "    return (1 - damp) * u(0, 0) + (u(1, 0) - u(0, 1)) / 3 + damp * u(-1, 0) end }"

static sg_kernel *only_its_source(const char *text) {
    const sg_build_options options = {
        .struct_size = sizeof options, .text = text, .schedule = "naive", .source_only = 1};
    sg_kernel *k;
    expect_ok(context, sg_build(context, "test.lua", &options, &k));
    return k;
}

/* Conditions on places are decided within margins, which the source names. */
static void layers_are_skipped_inside(void **state) {
    (void)state;
    static const struct {
        const char *condition, *says[4];
    } cases[] = {
        {"lt(rim, 6)", {">= 6", "< arguments.global[0] - 6", "< arguments.global[1] - 6"}},
        {"le(rim, 5)", {">= 6", "< arguments.global[0] - 6"}},
        {"gt(6 - rim, 0)", {">= 6", "< arguments.global[1] - 6"}},
        {"lt(at.x, 4)", {"arguments.origin[0] + i", "return place >= 4 &&"}},
        {"ge(at.y, at.ny - 3)", {"< arguments.global[1] - 3 &&"}},
        {"gt((6 - rim) / 3, 0)", {">= 6", "< arguments.global[1] - 6"}},
        {"lt(rim * 1.5, 8)", {">= 6", "< arguments.global[1] - 6"}},
        {"gt(2 * (6 - rim), 0)", {">= 6", "< arguments.global[0] - 6"}},
        {"gt((6 - rim) / 3 + (4 - rim) / 2, 0)", {">= 5", "< arguments.global[0] - 5"}},
        {"lt(at.step, 3)", {"arguments.step < 3 ||"}},
        {"any(lt(at.x, 2), eq(at.step, 0))", {">= 2", "arguments.step < 1 ||"}},
        {"any(lt(at.x, 2), invert(lt(at.y, at.ny - 7)))", {">= 2", "< arguments.global[1] - 7"}},
    };
    static const char *const undecided[] = {"lt(at.x, at.y)",    "lt(rim * rim, 36)",
                                            "lt(rim * -1, 9)",   "lt(at.x, at.nx / 2)",
                                            "lt(at.step, at.x)", "eq(at.x + at.y, 5)"};
    char text[1024];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, LAYER("%s"), cases[i].condition);
        sg_kernel *k = only_its_source(text);
        const char *source = sg_kernel_text(k, SG_TEXT_SOURCE);
        for (int n = 0; n < 4 && cases[i].says[n] != NULL; n++)
            if (strstr(source, "interior_along<") == NULL ||
                strstr(source, cases[i].says[n]) == NULL)
                fail_msg("%s: no '%s' in\n%s", cases[i].condition, cases[i].says[n], source);
        sg_release(k);
    }
    for (size_t i = 0; i < sizeof undecided / sizeof *undecided; i++) {
        snprintf(text, sizeof text, LAYER("%s"), undecided[i]);
        sg_kernel *k = only_its_source(text);
        if (strstr(sg_kernel_text(k, SG_TEXT_SOURCE), "interior_along<") != NULL)
            fail_msg("%s is decided", undecided[i]);
        sg_release(k);
    }
}

enum { LAYER_X = 41, LAYER_Y = 29 };

static void launch_layer(const char *text, const char *schedule, float *to) {
    float from[LAYER_X * LAYER_Y];
    sg_kernel *k = build_on(context, text, schedule);
    for (int i = 0; i < LAYER_X * LAYER_Y; i++)
        from[i] = (float)((i * 7919) % 1009) / 1009 - 0.5F;
    sg_grid grids[2] = {{.data = from, .size = {LAYER_X, LAYER_Y}},
                        {.data = to, .size = {LAYER_X, LAYER_Y}}};
    const sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = 2};
    expect_ok(context, sg_launch(k, &a, NULL));
    expect_ok(context, sg_synchronize(context, NULL));
    sg_release(k);
}

/* The bits are those of a kernel that asks its conditions everywhere. */
static void skipping_leaves_the_same_bits(void **state) {
    (void)state;
    static const char *const schedules[] = {"naive", "tiled", "coarsened", "streamed",
                                            "cached-halo"};
    for (size_t i = 0; i < sizeof schedules / sizeof *schedules; i++) {
        if (!drawn(i, 2))
            continue;
        float skips[LAYER_X * LAYER_Y], asks[LAYER_X * LAYER_Y];
        launch_layer(LAYER("lt(rim, 6)"), schedules[i], skips);
        launch_layer(LAYER("lt(rim * rim, 36)"), schedules[i], asks);
        assert_memory_equal(skips, asks, sizeof skips);
    }
}

/* A caller that was compiled before positions were there. */
static void an_older_struct_means_defaults(void **state) {
    (void)state;
    const problem p = {1, ZERO, "naive", "double"};
    sg_kernel *k = build_problem(&p);
    double u[4] = {1, 2, 3, 4}, next[4];
    const sg_grid grids[] = {{.data = u, .size = {4}}, {.data = next, .size = {4}}};
    const sg_arguments a = {.struct_size = offsetof(sg_arguments, origin),
                            .grids = grids,
                            .grid_count = 2,
                            .origin = {100},
                            .step = 50};
    expect_ok(context, sg_launch(k, &a, NULL));
    for (int x = 0; x < 4; x++)
        assert_true(next[x] == u[x] + (x < 3 ? u[x + 1] : 0) + x + 4);
    sg_release(k);
}

/* Checks of builds compare several steps, which ask for the step. */
static void checks_know_positions(void **state) {
    (void)state;
    for (int dims = 1; dims <= 3; dims++) {
        const problem p = {dims, dims == 2 ? PERIODIC : CLAMP, "auto", "float"};
        sg_kernel *k = build_problem(&p);
        const sg_check_options how = {.struct_size = sizeof how,
                                      .size = {33, dims > 1 ? 9 : 1, dims > 2 ? 5 : 1},
                                      .steps = 3};
        sg_check_result result = {.struct_size = sizeof result};
        expect_ok(context, sg_check(k, &how, &result));
        assert_int_equal(result.wrong, 0);
        assert_int_equal(result.undecidable, 0);
        sg_release(k);
    }
}

static int open_context(void **state) {
    (void)state;
    context = open_on("cpu");
    return 0;
}

static int close_context(void **state) {
    (void)state;
    sg_close(context);
    return 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(methods_make_what_a_loop_makes),
    cmocka_unit_test(boundaries_make_what_a_loop_makes),
    cmocka_unit_test(far_positions_are_rounded_once),
    TEST(kernels_of_files_have_positions),
    cmocka_unit_test(an_older_struct_means_defaults),
    cmocka_unit_test(checks_know_positions),
    cmocka_unit_test(layers_are_skipped_inside),
    cmocka_unit_test(skipping_leaves_the_same_bits),
};

TEST_GROUP(positions, open_context, close_context)
