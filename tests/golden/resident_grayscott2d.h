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
    Grid grid[5]; // u, u.next, v, v.next, exchange
    Real parameter[4]; // Du, Dv, F, k
};
static_assert(sizeof(Arguments) == 240, "the host packs 240 bytes");

#define STENCIL_KERNEL grayscott2d_kernel
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 0
#define PLAN_MIRRORS 1
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 0
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 24, tile_y = 1, tile_z = 16;
    static constexpr int threads_x = 320, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 2; // to leave registers for, a multiprocessor
    static constexpr int arrays = 2, outputs = 2;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = true, gives_values = false; // some side
    static constexpr int low_x = 1, low_y = 0, low_z = 1;
    static constexpr int high_x = 1, high_y = 0, high_z = 1;
    static constexpr int time = 3, boxes = 2; // of an array that changes
    static constexpr int halo_low_x = 3, halo_low_y = 0, halo_low_z = 3;
    static constexpr int halo_high_x = 3, halo_high_y = 0, halo_high_z = 3;
    static constexpr int walk = 2, words = 4; // words: the last grid
    static constexpr int messages = 2; // of a cell
    static constexpr bool star = true; // every tap lies on an axis
};

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { // u
    static constexpr int grid = 0;
    static constexpr int low_x = 1, high_x = 1, low_y = 0, high_y = 0, low_z = 1, high_z = 1;
    static constexpr bool staged = true; // in shared memory ...
    static constexpr int shared = 0;     // ... from this element on
};
template <> struct Array<1> { // v
    static constexpr int grid = 2;
    static constexpr int low_x = 1, high_x = 1, low_y = 0, high_y = 0, low_z = 1, high_z = 1;
    static constexpr bool staged = true; // in shared memory ...
    static constexpr int shared = 1320;     // ... from this element on
};
template <int output> struct Output;
template <> struct Output<0> { static constexpr int grid = 1, current = 0; }; // u.next
template <> struct Output<1> { static constexpr int grid = 3, current = 2; }; // v.next

enum class Boundary { fixed, zero, constant, clamp, mirror, periodic };
template <Boundary rule> struct Side {
    static constexpr Boundary kind = rule;
    static __device__ __forceinline__ Real beyond() {
        return 0;
    }
};
// Below (0) and above (1) the grid along each of the kernel's axes.
template <int axis, int side> struct Edge;
template <> struct Edge<0, 0> : Side<Boundary::mirror> {};
template <> struct Edge<0, 1> : Side<Boundary::mirror> {};
template <> struct Edge<1, 0> : Side<Boundary::clamp> {};
template <> struct Edge<1, 1> : Side<Boundary::clamp> {};
template <> struct Edge<2, 0> : Side<Boundary::mirror> {};
template <> struct Edge<2, 1> : Side<Boundary::mirror> {};

// Of an array with a previous level, the one with the newest level; else -1.
template <int array> struct Previous;
template <> struct Previous<0> { static constexpr int of = -1; };
template <> struct Previous<1> { static constexpr int of = -1; };
// Of an output with two levels, where the older one goes: a grid, and the place of its messages; else -1.
template <int output> struct Second;
template <> struct Second<0> { static constexpr int grid = -1, message = -1; };
template <> struct Second<1> { static constexpr int grid = -1, message = -1; };

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[2]) {
    const Real u_0_c = at.template tap<0, 0, 0, 0>();
    const Real v_1_c = at.template tap<1, 0, 0, 0>();
    const Real t1 = u_0_c * (v_1_c * v_1_c);
    const Real Du_value = arguments.parameter[0];
    const Real u_0_ym1 = at.template tap<0, 0, 0, -1>();
    const Real u_0_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_0_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_0_yp1 = at.template tap<0, 0, 0, 1>();
    const Real F_value = arguments.parameter[2];
    const Real Dv_value = arguments.parameter[1];
    const Real v_1_ym1 = at.template tap<1, 0, 0, -1>();
    const Real v_1_xm1 = at.template tap<1, -1, 0, 0>();
    const Real v_1_xp1 = at.template tap<1, 1, 0, 0>();
    const Real v_1_yp1 = at.template tap<1, 0, 0, 1>();
    const Real k_value = arguments.parameter[3];
    const Real t2 = fmaf(Du_value, fmaf(-4.0f, u_0_c, u_0_ym1 + u_0_xm1 + u_0_xp1 + u_0_yp1), u_0_c - t1);
    const Real t3 = fmaf(Dv_value, fmaf(-4.0f, v_1_c, v_1_ym1 + v_1_xm1 + v_1_xp1 + v_1_yp1), v_1_c + t1);
    out[0] = fmaf(F_value, 1.0f - u_0_c, t2);
    out[1] = fmaf(-(F_value + k_value), v_1_c, t3);
}
#define STENCIL_KERNEL grayscott2d_step
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_QUICK 0 // quotients and roots of several points ask one question
#define PLAN_WIDE_SIDES 0 // what lies next to packs comes by packs
#define PLAN_MASKS 0 // what lies outside is a bit each, and not loaded
#define PLAN_HOLDS_KEPT 0 // what a fixed boundary keeps
#define PLAN_SOME_POINTS 0 // of a row alone may be stored
#define PLAN_HELD_SIDES 0 // for planes that are still to come
#define PLAN_COMPUTED 0 // results, before it is asked whether their row is stored
#define PLAN_WAVE 792 // blocks that run at a time; their walks take turns
#define PLAN_FLAT 1 // there is no axis y
#define PLAN_NEEDS 0 // registers, so that blocks do not crowd each other
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 0
#define PLAN_MIRRORS 1
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 0
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 512, tile_y = 1, tile_z = 1;
    static constexpr int threads_x = 128, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 6; // to leave registers for, a multiprocessor
    static constexpr int arrays = 2, outputs = 2;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = true, gives_values = false; // some side
    static constexpr int low_x = 1, low_y = 0, low_z = 1;
    static constexpr int high_x = 1, high_y = 0, high_z = 1;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 4;
    static constexpr int lane_y = 1, walk = 6, ahead = 2, fetched = 1;
    static constexpr int slab = 4000000; // points that are walked through together
    static constexpr bool flat = true; // as PLAN_FLAT
};

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { static constexpr int grid = 0; }; // u
template <> struct Array<1> { static constexpr int grid = 2; }; // v
template <int output> struct Output;
template <> struct Output<0> { static constexpr int grid = 1, current = 0; }; // u.next
template <> struct Output<1> { static constexpr int grid = 3, current = 2; }; // v.next

enum class Boundary { fixed, zero, constant, clamp, mirror, periodic };
template <Boundary rule> struct Side {
    static constexpr Boundary kind = rule;
    static __device__ __forceinline__ Real beyond() {
        return 0;
    }
};
// Below (0) and above (1) the grid along each of the kernel's axes.
template <int axis, int side> struct Edge;
template <> struct Edge<0, 0> : Side<Boundary::mirror> {};
template <> struct Edge<0, 1> : Side<Boundary::mirror> {};
template <> struct Edge<1, 0> : Side<Boundary::clamp> {};
template <> struct Edge<1, 1> : Side<Boundary::clamp> {};
template <> struct Edge<2, 0> : Side<Boundary::mirror> {};
template <> struct Edge<2, 1> : Side<Boundary::mirror> {};

// The lines of y (0: the thread's first row) that a thread reads: the first and last plane; in how
// many planes the shape reaches along x, the last of these, and how far.
template <int array, int y> struct Asks;
template <> struct Asks<0, 0> { static constexpr int first = -1, last = 1, sides = 1, plane = 0, low = 1, high = 1; };
template <> struct Asks<1, 0> { static constexpr int first = -1, last = 1, sides = 1, plane = 0, low = 1, high = 1; };
template <int array, int y> struct HeldLine;
template <class... Each> struct LinesOf;
using HeldLines = LinesOf<HeldLine<0, 0>, HeldLine<1, 0>>;

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[2]) {
    const Real u_0_c = at.template tap<0, 0, 0, 0>();
    const Real v_1_c = at.template tap<1, 0, 0, 0>();
    const Real t1 = u_0_c * (v_1_c * v_1_c);
    const Real Du_value = arguments.parameter[0];
    const Real u_0_ym1 = at.template tap<0, 0, 0, -1>();
    const Real u_0_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_0_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_0_yp1 = at.template tap<0, 0, 0, 1>();
    const Real F_value = arguments.parameter[2];
    const Real Dv_value = arguments.parameter[1];
    const Real v_1_ym1 = at.template tap<1, 0, 0, -1>();
    const Real v_1_xm1 = at.template tap<1, -1, 0, 0>();
    const Real v_1_xp1 = at.template tap<1, 1, 0, 0>();
    const Real v_1_yp1 = at.template tap<1, 0, 0, 1>();
    const Real k_value = arguments.parameter[3];
    const Real t2 = fmaf(Du_value, fmaf(-4.0f, u_0_c, u_0_ym1 + u_0_xm1 + u_0_xp1 + u_0_yp1), u_0_c - t1);
    const Real t3 = fmaf(Dv_value, fmaf(-4.0f, v_1_c, v_1_ym1 + v_1_xm1 + v_1_xp1 + v_1_yp1), v_1_c + t1);
    out[0] = fmaf(F_value, 1.0f - u_0_c, t2);
    out[1] = fmaf(-(F_value + k_value), v_1_c, t3);
}
