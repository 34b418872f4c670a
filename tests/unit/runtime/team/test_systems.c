/* Systems on a team: stages that read each other, repeated ones, boundaries of their own, and
   random systems leave the bytes of one rank. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/random_system.h"
#include "tests/unit/runtime/team/same.h"

/* Stages read what others made of cells of other parts, repeated stages too. */
static void systems(void **unused) {
    static const char wave[] =
        "return system { name = 'a', fields = { p = { use = 'inout', levels = 2 }, c = 'in', q = "
        "'inout', lap = 'scratch' }, boundary = %s, fuse = %s, stages = {\n"
        "{ update = function(f) return { lap = f.p(1,0) + f.p(-1,0) + f.p(0,2) + f.p(0,-1) - 4 * "
        "f.p(0,0) } end },\n"
        "{ update = function(f) return { p = 2 * f.p(0,0) - f.p.prev(0,0) + f.c(0,0) * f.lap(0,0) "
        "/ 16 } end },\n"
        "{ times = 3, boundary = %s, update = function(f) return { q = (f.q(1,0) + f.q(0,-1) + "
        "f.p(-1,1)) / 4 } end } } }";
    static const char *const rules[][2] = {
        {"'fixed'", "'mirror'"},
        {"'periodic'", "'periodic'"},
        {"{ x = 'periodic', y = 'fixed' }", "{ x = 'periodic', y = 'zero' }"},
        {"'clamp'", "'fixed'"}};
    static const char staggered[] =
        "return system { name = 'y', boundary = 'periodic', fields = { e = 'inout', h = 'inout', m "
        "= 'out' }, stages = {\n"
        "{ update = function(f, p, at) return { h = f.h(0,0,0) + (f.e(1,0,0) - f.e(0,0,1)) / 8 + "
        "at.x / 64 + at.step } end },\n"
        "{ update = function(f) return { e = f.e(0,0,0) + (f.h(0,0,0) - f.h(-1,0,-1)) / 8 } end "
        "},\n"
        "{ update = function(f) return { m = f.h(0,0,0) * f.e(0,0,0) } end } } }";
    /* A step reads as far on both sides, and each of its stages on one. */
    static const char turned[] =
        "return system { name = 'd', boundary = 'mirror', fields = { u = 'inout', v = 'inout' }, "
        "stages = { { update = function(f) return { u = f.v(-2,0) / 2 + f.u(0,1) / 4 } end },\n"
        "{ update = function(f) return { v = f.u(2,0) / 2 + f.v(0,-1) / 4 } end } } }";
    /* Only the previous level is read beyond the point. */
    static const char late[] =
        "return stencil { name = 'l', fields = { u = { use = 'inout', levels = 2 } }, boundary = "
        "'periodic', update = function(f) return f.u(0,0) / 2 + f.u.prev(1,0) / 4 end }";
    char text[1500];
    (void)unused;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (int fuse = 0; fuse < 2; fuse++) {
            snprintf(text, sizeof text, wave, rules[i][0], fuse ? "true" : "false", rules[i][1]);
            compare(&(problem){text, fuse ? NULL : "naive", {37, 29, 1}, 5, {2, 3, 1}, 1});
            compare(&(problem){text, NULL, {41, 33, 1}, 4, {2, 2, 1}, 2});
        }
    compare(&(problem){turned, "naive", {9, 6, 1}, 4, {3, 2, 1}, 1});
    compare(&(problem){turned, NULL, {12, 9, 1}, 5, {2, 2, 1}, 2});
    compare(&(problem){staggered, NULL, {15, 9, 13}, 4, {2, 2, 3}, 1});
    compare(&(problem){staggered, "naive", {15, 9, 13}, 5, {2, 2, 2}, 3});
    compare(&(problem){late, "naive", {23, 13, 1}, 6, {2, 3, 1}, 1});
}

/* Random systems, or one of them; so many. */
static void compare_random(int enough, bool single) {
    static random_system s;
    const char *asked = getenv("SYSTEMS");
    int compared = 0;
    enough = asked != NULL ? atoi(asked) : enough;
    for (uint64_t seed = 1; compared < enough; seed++) {
        rs_new(&s, seed, seed % 2 == 0 ? "float" : "double");
        problem p = {s.text, seed % 3 == 0 ? NULL : "naive", {0}, 3, {1, 1, 1}, 1};
        p.launches = 1 + (int)(seed % 5 == 0 && !single);
        for (int axis = 0; axis < 3; axis++) {
            p.size[axis] = axis < s.dims ? 12 + s.size[axis] : 1;
            p.ranks[axis] = axis < s.dims ? 1 + (int)((seed + (uint64_t)axis) % 3) : 1;
        }
        compared += p.ranks[0] * p.ranks[1] * p.ranks[2] > 1 && compare_if(&p, true);
        assert_true(seed < 100 + 20 * (uint64_t)enough);
    }
}

static void random_systems(void **unused) {
    (void)unused;
    compare_random(8, false);
}

/* Slabs are made apart, with stages' results of their own, and sent while the part is made. */
static void hidden_systems(void **unused) {
    static const char passes[] =
        "return convolution { name = 'f', weights = {{1, 2, 1}, {2, 4, 2}, {1, 2, 1}}, boundary = "
        "%s }";
    static const char *const rules[] = {"'mirror'", "'periodic'", "'zero'"};
    char text[300];
    setenv("SG_TEAM_HIDE", "all", 1);
    systems(unused);
    compare_random(24, true);
    for (int i = 0; i < 3; i++) {
        snprintf(text, sizeof text, passes, rules[i]);
        compare(&(problem){text, "naive passes=2", {37, 29, 1}, 4, {2, 3, 1}, 1});
    }
    unsetenv("SG_TEAM_HIDE");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(systems),
    cmocka_unit_test(random_systems),
    cmocka_unit_test(hidden_systems),
};

TEST_GROUP(systems, open_context, close_context)
