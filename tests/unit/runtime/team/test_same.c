/* A team makes what one rank makes, byte for byte: every boundary, 1D to 3D, several fields and
   levels, stars and boxes, odd sizes, parts of one plane, with one step a launch and with several,
   with ghost cells for one launch and for more. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/team/same.h"

#define STAR(dims, radius, boundary, more)                                                         \
    "return stencil { name = 's', shape = star(" #dims ", " #radius "), coefficients = "           \
    "identity() + 0.05 * laplacian { dims = " #dims ", accuracy = 2 * " #radius                    \
    " }, dtype = '" more "', "                                                                     \
    "boundary = " boundary " }"

#define HALF "float', storage = 'half"
#define BFLOAT16 "float', storage = 'bfloat16"

static void boundaries(void **unused) {
    static const char *const all[] = {
        STAR(2, 1, "'fixed'", "float"),
        STAR(2, 1, "'zero'", "float"),
        STAR(2, 1, "constant(2)", "float"),
        STAR(2, 1, "'clamp'", "float"),
        STAR(2, 1, "'mirror'", "float"),
        STAR(2, 1, "'periodic'", "float"),
        STAR(2, 1, "{ x = 'periodic', y = { 'fixed', 'clamp' } }", "double"),
    };
    (void)unused;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        compare(&(problem){all[i], "naive", {37, 23, 1}, 7, {2, 3, 1}, 0});
        compare(&(problem){all[i], "naive", {5, 4, 1}, 3, {5, 4, 1}, 0}); /* parts of one cell */
        if (i % 2 == 0)
            compare(&(problem){all[i], "streamed", {67, 41, 1}, 5, {1, 2, 1}, 2});
    }
}

/* Parts begin at any row of a thread, and their rows may be no packs where those of the grid are.
 */
static void bulk(void **unused) {
    static const char scaled[] =
        "return stencil { name = 'w', fields = { u = { use = 'inout', levels = 2 }, c = 'in' }, "
        "boundary = 'zero', update = function(f) return 2 * f.u(0,0,0) - f.u.prev(0,0,0) + "
        "f.c(0,0,0) ^ 2 / 8 * apply(laplacian { dims = 3, accuracy = 4 }, f.u) end }";
    static const char layer[] = /* places are those of the whole grid */
        "return stencil { name = 'l', boundary = 'zero', update = function(u, p, at) "
        "local rim = min(at.x, min(at.y, at.ny - 1 - at.y), min(at.z, at.nz - 1 - at.z)) "
        "return (where(lt(rim, 3), rim / 8, 3/8) + at.x / 256) * "
        "(u(0,0,0) + apply(laplacian { dims = 3 }, u) / 8) end }";
    static const char two[] = "bulk tile=64x8 coarsen=z8,y2 vec=4",
                      flat[] = "bulk tile=128 coarsen=y16 vec=4";
    (void)unused;
    compare(&(problem){STAR(3, 2, "'zero'", "float"), two, {64, 22, 12}, 2, {1, 2, 1}, 1});
    compare(&(problem){STAR(3, 2, "'fixed'", "float"), two, {64, 22, 13}, 2, {3, 1, 2}, 1});
    compare(&(problem){STAR(3, 1, "'fixed'", "double"),
                       "bulk tile=32x8 coarsen=z8,y2 vec=2",
                       {18, 15, 9},
                       3,
                       {2, 3, 2},
                       2});
    compare(&(problem){STAR(3, 2, "'zero'", HALF), NULL, {64, 22, 12}, 2, {2, 2, 1}, 1});
    compare(&(problem){scaled, two, {64, 22, 12}, 3, {3, 2, 1}, 1});
    compare(&(problem){layer, two, {64, 22, 12}, 3, {3, 2, 2}, 1});
    compare(&(problem){STAR(2, 3, "'fixed'", "float"), flat, {64, 41, 1}, 3, {3, 2, 1}, 1});
    /* beyond edges that are those of the whole grid alone */
    compare(&(problem){STAR(3, 2, "'clamp'", "float"), two, {64, 22, 12}, 2, {2, 2, 1}, 1});
    compare(&(problem){STAR(3, 3, "'mirror'", "float"), two, {64, 22, 13}, 2, {2, 1, 2}, 1});
    compare(&(problem){
        STAR(3, 2, "{ x = 'clamp', y = { constant(0.5), 'mirror' }, z = 'periodic' }", "float"),
        two,
        {64, 25, 12},
        2,
        {1, 3, 2},
        1});
    compare(&(problem){STAR(2, 3, "'clamp'", "float"), flat, {64, 41, 1}, 3, {3, 2, 1}, 1});
    compare(&(problem){STAR(2, 2, "'periodic'", "float"), flat, {64, 41, 1}, 3, {2, 2, 1}, 1});
}

/* What steps of a walk share has the same bits where a part, or a walk, begins. */
static void carried(void **unused) {
    static const char flux[] =
        "return stencil { name = 'c', boundary = 'clamp', update = function(u) "
        "local function f(a, b) local l, r = a / (2 + abs(b)), b / (3 + abs(a)) "
        "return (l + 1/2) * (r + l * 3) - (a - b) * (l + a * r) end "
        "return u(0,0) + (f(u(0,-1), u(0,0)) - f(u(0,0), u(0,1)) + u(1,0) * u(-1,0)) / 64 end }";
    (void)unused;
    compare(&(problem){flux, "streamed tile=64 coarsen=y5 vec=4", {64, 43, 1}, 4, {1, 3, 1}, 1});
    compare(&(problem){flux, "streamed tile=64 coarsen=y8 vec=2", {66, 29, 1}, 3, {2, 2, 1}, 2});
    static const char neighbours[] =
        "return stencil { name = 'b', boundary = 'mirror', update = function(u) "
        "local function mu(x, y) local a = u(x, y) return a ^ 3 - a - (u(x + 1, y) + u(x - 1, y) "
        "+ u(x, y + 1) - 3 * a) / 4 end return u(0,0) + (mu(1, 0) + mu(-1, 0) + mu(0, 1) + "
        "mu(0, -1) - 4 * mu(0, 0)) / 64 end }";
    compare(
        &(problem){neighbours, "streamed tile=64 coarsen=y5 vec=4", {72, 43, 1}, 3, {3, 3, 1}, 2});
}

static void shapes(void **unused) {
    (void)unused;
    compare(&(problem){STAR(1, 3, "'mirror'", "float"), "naive", {101, 1, 1}, 5, {4, 1, 1}, 0});
    compare(&(problem){STAR(1, 4, "'periodic'", "double"), NULL, {977, 1, 1}, 4, {3, 1, 1}, 2});
    compare(&(problem){STAR(3, 2, "'fixed'", "float"), NULL, {33, 17, 19}, 3, {1, 2, 2}, 0});
    compare(&(problem){STAR(3, 4, "'clamp'", "double"), "naive", {21, 16, 16}, 2, {2, 2, 2}, 0});
    compare(
        &(problem){STAR(3, 1, "'periodic'", "float"), "register", {35, 9, 13}, 6, {1, 2, 3}, 3});
    static const char box[] =
        "return stencil { name = 'b', shape = box(3, 1), boundary = 'periodic', dtype = 'float', "
        "coefficients = { 1/27, 2/27, 1/27, 1/27, 1/27, 1/27, 1/27, 1/27, 1/27, 1/27, 1/27, 1/27, "
        "1/27, -1/27, 1/27, 1/27, 1/27, 3/27, 1/27, 1/27, 1/27, 1/27, 1/27, 1/27, 1/27, 1/27, "
        "1/27 } }";
    compare(&(problem){box, "naive", {13, 12, 11}, 3, {2, 2, 2}, 0});
    compare(&(problem){box, NULL, {29, 12, 17}, 4, {1, 1, 3}, 2});
    static const char lopsided[] =
        "return stencil { name = 'l', shape = points { {0,0}, {-2,0}, {1,3} }, boundary = 'clamp', "
        "coefficients = { 0.5, 0.25, 0.25 } }";
    compare(&(problem){lopsided, "naive", {23, 29, 1}, 5, {3, 2, 1}, 0});
    compare(&(problem){lopsided, "naive", {23, 29, 1}, 5, {2, 2, 1}, 2});
    static const char upwind[] =
        "return stencil { name = 'o', shape = points { {0,0}, {-1,0}, {0,-2} }, boundary = "
        "'periodic', coefficients = { 0.5, 0.25, 0.25 } }";
    compare(&(problem){upwind, "naive", {23, 29, 1}, 5, {3, 2, 1}, 0});
    compare(&(problem){upwind, "naive", {23, 29, 1}, 5, {2, 3, 1}, 2});
}

static void fields(void **unused) {
    static const char wave[] =
        "return stencil { name = 'w', fields = { u = { use = 'inout', levels = 2 }, c = 'in' }, "
        "boundary = { x = 'mirror', y = 'periodic' }, parameters = { k = 0.1 }, "
        "update = function(f, p) return 2 * f.u(0,0) - f.u.prev(0,0) + p.k * f.c(0,0) * "
        "(f.u(1,0) + f.u(-1,0) + f.u(0,1) + f.u(0,-1) - 4 * f.u(0,0)) end }";
    static const char two[] =
        "return stencil { name = 't', fields = { u = 'inout', v = 'inout', w = 'out' }, "
        "boundary = 'periodic', update = function(f) return { "
        "u = f.u(0,0) + 0.1 * (f.v(1,0) - f.u(-1,1)), v = 0.5 * f.v(0,0) * f.u(0,0), "
        "w = f.u(0,0) * f.v(0,-1) } end }";
    (void)unused;
    compare(&(problem){wave, "naive", {31, 22, 1}, 6, {2, 2, 1}, 0});
    compare(&(problem){wave, "naive", {31, 22, 1}, 7, {2, 2, 1}, 3});
    compare(&(problem){wave, NULL, {64, 22, 1}, 7, {1, 3, 1}, 1});
    compare(&(problem){two, "naive", {18, 15, 1}, 4, {3, 2, 1}, 0});
    compare(&(problem){two, "naive", {18, 15, 1}, 4, {3, 2, 1}, 2});
}

static void several_steps(void **unused) {
    (void)unused;
    compare(
        &(problem){STAR(1, 1, "'fixed'", "float"), "temporal", {20000, 1, 1}, 70, {3, 1, 1}, 0});
    compare(
        &(problem){STAR(1, 2, "'periodic'", "double"), "temporal", {9001, 1, 1}, 40, {2, 1, 1}, 0});
    compare(
        &(problem){STAR(2, 1, "'fixed'", "float"), "temporal", {259, 131, 1}, 20, {1, 2, 1}, 0});
    compare(
        &(problem){STAR(2, 1, "'periodic'", "float"), "temporal", {520, 131, 1}, 20, {2, 2, 1}, 0});
    compare(&(problem){STAR(3, 1, "'fixed'", "float"), "temporal", {67, 45, 41}, 9, {1, 1, 2}, 0});
    compare(&(problem){STAR(3, 1, "'zero'", "double"), "temporal", {67, 45, 41}, 9, {1, 2, 2}, 0});
    compare(&(problem){STAR(2, 1, "'clamp'", "float"), "resident", {61, 47, 1}, 13, {2, 2, 1}, 0});
    compare(&(problem){STAR(3, 1, "'zero'", "float"), "resident", {31, 27, 20}, 7, {1, 1, 2}, 2});
}

/* Launches of several steps leave the older level in memory of their own, and exchanges find it in
   its array. Partial sums are added in another order than single steps have. */
static void several_steps_of_levels(void **unused) {
    static const char wave[] =
        "return stencil { name = 'w', fields = { u = { use = 'inout', levels = 2 } }, boundary = "
        "'periodic', update = function(f) return 0.3 * f.u(0,0) + 0.21 * f.u(1,1) + 0.13 * "
        "f.u(-1,1) + 0.11 * f.u(0,1) + 0.17 * f.u(1,-1) - 0.19 * f.u.prev(0,0) end }";
    static const char two[] =
        "return stencil { name = 't', fields = { u = { use = 'inout', levels = 2 }, v = 'inout' }, "
        "boundary = { x = 'zero', y = { 'fixed', 'clamp' } }, update = function(f) return { "
        "u = 0.3 * f.u(0,0) + 0.2 * f.v(1,1) + 0.1 * f.u(0,-1) - 0.2 * f.u.prev(-1,0), "
        "v = 0.4 * f.u(0,1) + 0.3 * f.v(0,0) - 0.1 * f.u.prev(0,0) } end }";
    (void)unused;
    compare(&(problem){wave, "temporal time=3", {259, 61, 1}, 7, {1, 3, 1}, 0});
    compare(&(problem){wave, "temporal time=3", {259, 61, 1}, 6, {1, 2, 1}, 0});
    compare(&(problem){two, "temporal time=3", {259, 61, 1}, 7, {2, 2, 1}, 0});
    compare(&(problem){wave, "resident tile=16x8 time=3", {61, 47, 1}, 13, {2, 2, 1}, 0});
    setenv("SG_TEAM_HIDE", "all", 1);
    compare(&(problem){wave, "temporal time=3", {259, 61, 1}, 7, {1, 3, 1}, 0});
    compare(&(problem){two, "temporal time=3", {259, 61, 1}, 8, {1, 2, 1}, 0});
    unsetenv("SG_TEAM_HIDE");
}

/* Parts that are too thin for the longest launch make shorter ones. */
static void thin_parts(void **unused) {
    (void)unused;
    compare(&(problem){STAR(1, 1, "'fixed'", "float"), "temporal", {301, 1, 1}, 70, {7, 1, 1}, 0});
    compare(
        &(problem){STAR(2, 1, "'periodic'", "float"), "temporal", {301, 49, 1}, 21, {1, 6, 1}, 0});
    compare(&(problem){STAR(2, 2, "'zero'", "double"), "temporal", {301, 37, 1}, 11, {1, 4, 1}, 0});
    compare(&(problem){STAR(2, 1, "'clamp'", "float"), "resident", {29, 11, 1}, 13, {2, 5, 1}, 0});
}

/* Mirrors turn reads back into parts that have no ghost cells on that side: as few cells as serve.
 */
static void leaning(void **unused) {
    static const char low[] =
        "return stencil { name = 'l', boundary = 'mirror', fields = { u = 'inout', c = 'in' }, "
        "update = function(f) return 0.5 * f.u(0,0) + 0.25 * f.c(-2,0) + 0.125 * f.u(-1,-1) end }";
    static const char high[] =
        "return stencil { name = 'h', boundary = { x = { 'zero', 'mirror' }, y = 'mirror' }, "
        "update "
        "= function(u) return 0.5 * u(0,0) + 0.25 * u(2,1) + 0.125 * u(1,-1) end }";
    (void)unused;
    compare(&(problem){low, "naive", {9, 4, 1}, 5, {3, 2, 1}, 1});
    compare(&(problem){low, "naive", {18, 8, 1}, 5, {3, 2, 1}, 2});
    compare(&(problem){high, "naive", {9, 3, 1}, 5, {3, 3, 1}, 1});
    compare(&(problem){high, "tiled", {19, 6, 1}, 7, {3, 2, 1}, 3});
    compare(&(problem){high, "temporal time=2", {41, 16, 1}, 7, {2, 2, 1}, 0});
}

/* Steps and launches of which what neighbours need is computed first. */
static void hidden(void **unused) {
    static const char upwind[] =
        "return stencil { name = 'o', shape = points { {0,0}, {-1,0}, {0,-2} }, boundary = "
        "'periodic', coefficients = { 0.5, 0.25, 0.25 } }";
    static const char two[] =
        "return stencil { name = 't', fields = { u = 'inout', v = 'inout', w = 'out' }, "
        "boundary = 'periodic', update = function(f) return { "
        "u = f.u(0,0) + 0.1 * (f.v(1,0) - f.u(-1,1)), v = 0.5 * f.v(0,0) * f.u(0,0), "
        "w = f.u(0,0) * f.v(0,-1) } end }";
    static const char moving[] =
        "return stencil { name = 'm', shape = star(2, 1), boundary = 'fixed', update = "
        "function(u, p, at) return where(lt(at.x + at.y + at.step, at.ny), u(0,0), 0.5 * (u(1,0) + "
        "u(0,-1))) end }";
    (void)unused;
    setenv("SG_TEAM_HIDE", "all", 1);
    compare(&(problem){STAR(2, 1, "'mirror'", "float"), "naive", {37, 23, 1}, 7, {2, 3, 1}, 1});
    compare(&(problem){STAR(3, 2, "'fixed'", "float"), "naive", {17, 19, 23}, 3, {1, 2, 2}, 1});
    compare(&(problem){upwind, "naive", {23, 29, 1}, 5, {3, 2, 1}, 1});
    compare(&(problem){two, "naive", {18, 15, 1}, 4, {3, 2, 1}, 1});
    compare(&(problem){moving, NULL, {33, 41, 1}, 9, {2, 2, 1}, 1});
    compare(&(problem){STAR(2, 1, "'clamp'", "float"), "resident", {61, 47, 1}, 13, {2, 3, 1}, 0});
    compare(&(problem){STAR(3, 1, "'zero'", "float"), "resident", {31, 27, 30}, 15, {1, 1, 3}, 2});
    compare(&(problem){two, "resident", {61, 47, 1}, 13, {2, 2, 1}, 0});
    compare(&(problem){upwind, "resident", {61, 47, 1}, 13, {2, 3, 1}, 0});
    unsetenv("SG_TEAM_HIDE");
}

/* Launches of several steps of which the blocks that neighbours need, or that end in ghost cells,
 * come first. */
static void hidden_blocks(void **unused) {
    static const char chain[] =
        "return system { name = 'q', fields = { u = 'inout', v = 'inout' }, stages = { "
        "{ boundary = 'clamp', update = function(f) return { u = f.u(0,0) + 0.1 * (f.v(1,0) - "
        "f.v(0,1)) } end }, { boundary = 'zero', update = function(f) return { v = f.v(0,0) + 0.1 "
        "* (f.u(0,0) - f.u(0,-1)) } end } } }";
    (void)unused;
    setenv("SG_TEAM_HIDE", "all", 1);
    compare(&(problem){STAR(1, 2, "'periodic'", "double"),
                       "temporal tile=64 time=4",
                       {9001, 1, 1},
                       10,
                       {2, 1, 1},
                       0});
    compare(&(problem){STAR(2, 1, "'fixed'", "float"),
                       "temporal tile=314 coarsen=y16 time=3 lane=10",
                       {1203, 231, 1},
                       7,
                       {3, 2, 1},
                       0});
    compare(&(problem){STAR(2, 2, "'periodic'", "double"),
                       "temporal coarsen=y16 time=3",
                       {259, 131, 1},
                       7,
                       {1, 2, 1},
                       0});
    compare(&(problem){STAR(3, 1, "'zero'", "float"),
                       "temporal coarsen=z8 time=2",
                       {67, 45, 61},
                       5,
                       {1, 1, 2},
                       0});
    compare(&(problem){STAR(3, 2, "'mirror'", "float"),
                       "temporal coarsen=z8 time=2",
                       {67, 45, 91},
                       5,
                       {1, 2, 2},
                       0});
    compare(&(problem){
        STAR(2, 1, "'clamp'", HALF), "resident tile=16x8 time=2", {61, 47, 1}, 7, {2, 1, 1}, 0});
    compare(&(problem){STAR(2, 1, "'clamp'", "float"),
                       "overlapped tile=16x8 time=2",
                       {61, 47, 1},
                       7,
                       {2, 1, 1},
                       0});
    compare(&(problem){chain, "chained tile=64 coarsen=y16 time=2", {61, 147, 1}, 7, {1, 3, 1}, 0});
    unsetenv("SG_TEAM_HIDE");
}

/* Positions are those of the whole grid, also in ghost cells that a rank computes itself. */
static void positions(void **unused) {
    static const char *const all[] = {"'fixed'", "'periodic'", "{ x = 'periodic', y = 'clamp' }"};
    (void)unused;
    for (int i = 0; i < 3; i++) {
        char text[600];
        snprintf(
            text, sizeof text,
            "return stencil { name = 'p', boundary = %s, update = function(u, p, at)\n"
            "  local far = where(lt(at.x, at.nx / 2), u(1,0), u(0,-1)) / 4\n"
            "  return u(0,0) / 2 + far + sin(at.x + 3 * at.y) / 8 + at.step / 64 - at.ny / 512 "
            "end }",
            all[i]);
        compare(&(problem){text, "naive", {37, 23, 1}, 7, {2, 3, 1}, 0});
        compare(&(problem){text, "naive", {37, 23, 1}, 7, {3, 2, 1}, 3});
        compare(&(problem){text, "streamed", {67, 41, 1}, 5, {1, 2, 1}, 2});
    }
    static const char deep[] =
        "return stencil { name = 'd', boundary = 'periodic', update = function(u, p, at)\n"
        "  return u(0,0,0) / 2 + u(1,0,0) / 4 + u(0,-1,1) / 8 + (at.z * at.nx + at.x) / 1024 end }";
    compare(&(problem){deep, "naive", {17, 9, 11}, 4, {1, 2, 3}, 2});
    compare(&(problem){deep, "resident", {31, 27, 20}, 7, {1, 1, 2}, 2});
}

/* Cells of 16 bits, alone and next to floats: messages with cells of several sizes. */
static void narrow(void **unused) {
    static const char mixed[] =
        "return stencil { name = 'm', boundary = 'periodic', fields = { u = { use = 'inout', "
        "storage = 'half' }, v = 'inout', w = { use = 'inout', storage = 'bfloat16', levels = 2 }, "
        "c = { use = 'in', storage = 'half' } }, update = function(f) return { "
        "u = f.u(0,0) / 2 + f.v(1,-1) / 4, v = f.v(0,0) / 2 - f.w(-1,0) / 8 + f.c(0,2) / 8, "
        "w = f.w(0,1) / 2 + f.w.prev(0,-1) / 4 + f.u(1,1) / 8 } end }";
    (void)unused;
    compare(&(problem){STAR(1, 3, "'mirror'", HALF), "naive", {101, 1, 1}, 5, {4, 1, 1}, 0});
    compare(&(problem){STAR(2, 1, "'fixed'", BFLOAT16), "streamed", {67, 41, 1}, 5, {1, 2, 1}, 2});
    compare(&(problem){STAR(2, 1, "'periodic'", HALF), "naive", {37, 23, 1}, 7, {2, 3, 1}, 3});
    compare(&(problem){STAR(3, 2, "'zero'", BFLOAT16), NULL, {33, 17, 19}, 1, {1, 2, 2}, 0});
    compare(&(problem){mixed, "naive", {23, 18, 1}, 5, {2, 3, 1}, 0});
    compare(&(problem){mixed, "naive", {23, 18, 1}, 5, {2, 3, 1}, 2});
    compare(&(problem){STAR(1, 1, "'periodic'", HALF),
                       "temporal time=16 lane=12",
                       {20000, 1, 1},
                       70,
                       {3, 1, 1},
                       0});
    compare(&(problem){
        STAR(2, 1, "'fixed'", BFLOAT16), "temporal time=4", {259, 131, 1}, 22, {1, 2, 1}, 0});
    compare(
        &(problem){STAR(2, 1, "'clamp'", HALF), "resident time=3", {61, 47, 1}, 13, {2, 2, 1}, 0});
    setenv("SG_TEAM_HIDE", "all", 1);
    compare(&(problem){mixed, "naive", {23, 18, 1}, 5, {3, 2, 1}, 1});
    compare(&(problem){
        STAR(2, 1, "'fixed'", BFLOAT16), "temporal time=4", {259, 131, 1}, 22, {1, 3, 1}, 0});
    compare(
        &(problem){STAR(2, 1, "'clamp'", HALF), "resident time=3", {61, 47, 1}, 13, {2, 2, 1}, 0});
    unsetenv("SG_TEAM_HIDE");
}

/* Shorter launches would round more often. */
static void narrow_parts(void **unused) {
    (void)unused;
    assert_true(compare_if(
        &(problem){
            STAR(2, 1, "'clamp'", "float"), "resident time=8", {29, 11, 1}, 13, {2, 2, 1}, 0},
        true));
    assert_false(compare_if(
        &(problem){STAR(2, 1, "'clamp'", HALF), "resident time=8", {29, 11, 1}, 13, {2, 2, 1}, 0},
        true));
}

/* Up to 4x4x4 ranks, of which the process grid is chosen in the last case. */
static void many_ranks(void **unused) {
    (void)unused;
    compare(&(problem){STAR(3, 1, "'periodic'", "float"), "naive", {9, 10, 11}, 3, {4, 4, 4}, 0});
    compare(&(problem){STAR(3, 2, "'fixed'", "float"), "naive", {16, 17, 18}, 2, {4, 4, 4}, 0});
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(boundaries),
    cmocka_unit_test(bulk),
    cmocka_unit_test(carried),
    cmocka_unit_test(shapes),
    cmocka_unit_test(fields),
    cmocka_unit_test(several_steps),
    cmocka_unit_test(many_ranks),
    cmocka_unit_test(thin_parts),
    cmocka_unit_test(leaning),
    cmocka_unit_test(hidden),
    cmocka_unit_test(hidden_blocks),
    cmocka_unit_test(positions),
    cmocka_unit_test(narrow),
    cmocka_unit_test(narrow_parts),
    cmocka_unit_test(several_steps_of_levels),
};

TEST_GROUP(same, open_context, close_context)
