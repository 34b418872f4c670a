#define STENCIL_KERNEL flux_kernel
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_QUICK 0 // quotients and roots of several points ask one question
#define PLAN_WIDE_SIDES 0 // what lies next to packs comes by packs
#define PLAN_MASKS 0 // what lies outside is a bit each, and not loaded
#define PLAN_HOLDS_KEPT 0 // what a fixed boundary keeps
#define PLAN_SOME_POINTS 0 // of a row alone may be stored
#define PLAN_HELD_SIDES 0 // for planes that are still to come
#define PLAN_COMPUTED 0 // results, before it is asked whether their row is stored
#define PLAN_WAVE 4224 // blocks that run at a time; their walks take turns
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
    Grid grid[2]; // u, u.next
    Real parameter[1];
};
static_assert(sizeof(Arguments) == 160, "the host packs 160 bytes");

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { static constexpr int grid = 0; }; // u
template <int output> struct Output;
template <> struct Output<0> { static constexpr int grid = 1, current = 0; }; // u.next

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
template <> struct Asks<0, 0> { static constexpr int first = -1, last = 1, sides = 1, plane = 0, low = 0, high = 1; };
template <int array, int y> struct HeldLine;
template <class... Each> struct LinesOf;
using HeldLines = LinesOf<HeldLine<0, 0>>;

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[1]) {
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real u_ym1 = at.template tap<0, 0, 0, -1>();
    const Real t1 = fabsf(u_c);
    const Real u_yp1 = at.template tap<0, 0, 0, 1>();
    const Real t2 = u_c + (u_ym1 / (2.0f + t1) - u_c / (3.0f + fabsf(u_ym1)));
    const Real t3 = u_c / (2.0f + fabsf(u_yp1)) - u_yp1 / (3.0f + t1);
    const Real u_xp1 = at.template tap<0, 1, 0, 0>();
    out[0] = t2 - t3 + u_xp1 / 8.0f;
}
#define PLAN_CARRIED 1 // steps of the walk share what they compute
// What a step of the walk has computed for the next one.
struct Carried {
    Real value0;
};
// Before the first step, of point i of a row.
template <int i, class At>
__device__ __forceinline__ void begin_carried(const At &at, [[maybe_unused]] const Arguments &arguments, Carried &carried) {
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real u_ym1 = at.template tap<0, 0, 0, -1>();
    carried.value0 = u_ym1 / (2.0f + fabsf(u_c)) - u_c / (3.0f + fabsf(u_ym1));
}
// Point i of a row, as update_point.
template <int i, class At>
__device__ __forceinline__ void update_carried(const At &at, [[maybe_unused]] const Arguments &arguments, const Carried (&carried)[plan::vector], Carried &next, Real (&out)[1]) {
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real t1 = fabsf(u_c);
    const Real u_yp1 = at.template tap<0, 0, 0, 1>();
    const Real t2 = u_c / (2.0f + fabsf(u_yp1)) - u_yp1 / (3.0f + t1);
    const Real u_xp1 = at.template tap<0, 1, 0, 0>();
    next.value0 = t2;
    out[0] = u_c + carried[i].value0 - t2 + u_xp1 / 8.0f;
}
