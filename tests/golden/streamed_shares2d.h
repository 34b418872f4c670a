#define STENCIL_KERNEL shares_kernel
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_QUICK 1 // quotients and roots of several points ask one question
#define PLAN_WIDE_SIDES 0 // what lies next to packs comes by packs
#define PLAN_MASKS 0 // what lies outside is a bit each, and not loaded
#define PLAN_HOLDS_KEPT 0 // what a fixed boundary keeps
#define PLAN_SOME_POINTS 1 // of a row alone may be stored
#define PLAN_HELD_SIDES 1 // for planes that are still to come
#define PLAN_COMPUTED 0 // results, before it is asked whether their row is stored
#define PLAN_FLAT 1 // there is no axis y
#define PLAN_NEEDS 0 // registers, so that blocks do not crowd each other
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 1
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 0
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 128, tile_y = 1, tile_z = 1;
    static constexpr int threads_x = 32, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 32; // to leave registers for, a multiprocessor
    static constexpr int arrays = 1, outputs = 1;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = false; // some side
    static constexpr int low_x = 0, low_y = 0, low_z = 1;
    static constexpr int high_x = 1, high_y = 0, high_z = 1;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 4;
    static constexpr int lane_y = 1, walk = 8, ahead = 2, fetched = 1;
    static constexpr int slab = 4000000; // points that are walked through together
    static constexpr bool flat = true; // as PLAN_FLAT
};

using Real = float;

struct Grid {
    Real *data; // cell (0, 0, 0)
    long long stride_y, stride_z; // in elements; cells of a row are neighbours
};
struct Arguments {
    long long size[3], begin[3], end[3]; // the grid, and the box to update
    int inner_first[3], inner_end[3]; // the blocks that no edge concerns
    int aligned; // whether every row starts at a multiple of a pack
    int steps; // of time that this launch makes
    Grid grid[2]; // a, q
    Real parameter[1];
};
static_assert(sizeof(Arguments) == 160, "the host packs 160 bytes");

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { static constexpr int grid = 0; }; // a
template <int output> struct Output;
template <> struct Output<0> { static constexpr int grid = 1, current = -1; }; // q

enum class Boundary { fixed, zero, constant, clamp, mirror, periodic };
template <Boundary rule> struct Side {
    static constexpr Boundary kind = rule;
    static __device__ __forceinline__ Real beyond() {
        return 0;
    }
};
// Below (0) and above (1) the grid along each of the kernel's axes.
template <int axis, int side> struct Edge;
template <> struct Edge<0, 0> : Side<Boundary::clamp> {};
template <> struct Edge<0, 1> : Side<Boundary::clamp> {};
template <> struct Edge<1, 0> : Side<Boundary::clamp> {};
template <> struct Edge<1, 1> : Side<Boundary::clamp> {};
template <> struct Edge<2, 0> : Side<Boundary::clamp> {};
template <> struct Edge<2, 1> : Side<Boundary::clamp> {};

// The lines of y (0: the thread's first row) that a thread reads: the first and last plane; in how
// many planes the shape reaches along x, the last of these, and how far.
template <int array, int y> struct Asks;
template <> struct Asks<0, 0> { static constexpr int first = -1, last = 1, sides = 2, plane = 1, low = 0, high = 1; };
template <int array, int y> struct HeldLine;
template <class... Each> struct LinesOf;
using HeldLines = LinesOf<HeldLine<0, 0>>;

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[1]) {
    const Real a_yp1 = at.template tap<0, 0, 0, 1>();
    const Real t1 = at.reciprocal(a_yp1);
    const Real a_xp1yp1 = at.template tap<0, 1, 0, 1>();
    const Real t2 = at.reciprocal(a_xp1yp1);
    const Real a_c = at.template tap<0, 0, 0, 0>();
    const Real t3 = at.reciprocal(a_c);
    const Real t4 = t2 * t2;
    const Real t5 = t1 * t1;
    const Real t6 = t3 * t3;
    const Real a_xp1 = at.template tap<0, 1, 0, 0>();
    const Real t7 = at.reciprocal(a_xp1);
    const Real a_ym1 = at.template tap<0, 0, 0, -1>();
    const Real t8 = at.reciprocal(a_ym1);
    const Real t9 = t7 * t7;
    const Real t10 = t8 * t8;
    const Real t11 = (t3 - t8) * at.reciprocal(3.0f + t9);
    const Real t12 = (t1 - t3) * at.reciprocal(3.0f + t4) * at.root(t5 + t6);
    out[0] = fmaf(-t11, at.root(t6 + t10), t12);
}
#define PLAN_CARRIED 1 // steps of the walk share what they compute
// What a step of the walk has computed for the next one.
struct Carried {
    Real value0;
    Real value1;
    Real value2;
    Real value3;
};
#define PLAN_SHARES 1 // points of a row share quotients
// At [i + d]: of point i, d cells along x from where the first one reads.
struct Shared {
    Real before0[plan::vector + 1];
    Real quotient0[plan::vector + 1];
};
// Before the first step, of point i of a row.
template <int i, class At>
__device__ __forceinline__ void begin_carried(const At &at, [[maybe_unused]] const Arguments &arguments, Carried &carried) {
    const Real a_c = at.template tap<0, 0, 0, 0>();
    if constexpr (i < 1)
        at.numbers.row.before0[i + 0] = at.reciprocal(a_c);
    const Real t1 = at.numbers.row.before0[i + 0];
    const Real t2 = t1 * t1;
    const Real a_xp1 = at.template tap<0, 1, 0, 0>();
    const Real t3 = at.numbers.row.before0[i + 1] = at.reciprocal(a_xp1);
    const Real a_ym1 = at.template tap<0, 0, 0, -1>();
    const Real t4 = at.reciprocal(a_ym1);
    const Real t5 = t3 * t3;
    const Real t6 = t4 * t4;
    carried.value0 = t2;
    carried.value1 = t1;
    carried.value2 = at.root(t2 + t6);
    carried.value3 = (t1 - t4) * at.reciprocal(3.0f + t5);
}
// Point i of a row, as update_point.
template <int i, class At>
__device__ __forceinline__ void update_carried(const At &at, [[maybe_unused]] const Arguments &arguments, const Carried (&carried)[plan::vector], Carried &next, Real (&out)[1]) {
    const Real a_yp1 = at.template tap<0, 0, 0, 1>();
    if constexpr (i < 1)
        at.numbers.row.quotient0[i + 0] = at.reciprocal(a_yp1);
    const Real t1 = at.numbers.row.quotient0[i + 0];
    const Real a_xp1yp1 = at.template tap<0, 1, 0, 1>();
    const Real t2 = at.numbers.row.quotient0[i + 1] = at.reciprocal(a_xp1yp1);
    const Real t3 = t2 * t2;
    const Real t4 = (t1 - carried[i].value1) * at.reciprocal(3.0f + t3);
    const Real t5 = t1 * t1;
    const Real t6 = at.root(t5 + carried[i].value0);
    next.value0 = t5;
    next.value1 = t1;
    next.value2 = t6;
    next.value3 = t4;
    out[0] = fmaf(-carried[i].value3, carried[i].value2, t4 * t6);
}
