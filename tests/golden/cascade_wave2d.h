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
    Grid grid[5]; // c, u, u.prev, u.next, u.last
    Real parameter[1]; // r
};
static_assert(sizeof(Arguments) == 232, "the host packs 232 bytes");

#define STENCIL_KERNEL wave2d_kernel
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 1
#define PLAN_CLAMPS 0
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 0
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 112, tile_y = 1, tile_z = 1;
    static constexpr int threads_x = 32, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 12; // to leave registers for, a multiprocessor
    static constexpr int arrays = 3, outputs = 1;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = true; // some side
    static constexpr int low_x = 2, low_y = 0, low_z = 2;
    static constexpr int high_x = 2, high_y = 0, high_z = 2;
    static constexpr int time = 4, vector = 4;
    static constexpr int lane_x = 4, lane_y = 1, lanes = 32;
    static constexpr int halo_x = 8, halo_y = 0, walk = 64;
    static constexpr int below_z = 2, above_z = 2; // that a step takes of the walk
    static constexpr int lag = 2, window = 5, ahead = 3, rows = 7;
    static constexpr int tables = 2816; // a place in shared memory
};

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { // c
    static constexpr int grid = 0;
    static constexpr int low_x = 0, high_x = 0, low_y = 0, high_y = 0, low_z = 0, high_z = 0;
};
template <> struct Array<1> { // u
    static constexpr int grid = 1;
    static constexpr int low_x = 2, high_x = 2, low_y = 0, high_y = 0, low_z = 2, high_z = 2;
};
template <> struct Array<2> { // u.prev
    static constexpr int grid = 2;
    static constexpr int low_x = 0, high_x = 0, low_y = 0, high_y = 0, low_z = 0, high_z = 0;
};
template <int output> struct Output;
template <> struct Output<0> { static constexpr int grid = 3, current = 1; }; // u.next

enum class Boundary { fixed, zero, constant, clamp, mirror, periodic };
template <Boundary rule> struct Side {
    static constexpr Boundary kind = rule;
    static __device__ __forceinline__ Real beyond() {
        return 0;
    }
};
// Below (0) and above (1) the grid along each of the kernel's axes.
template <int axis, int side> struct Edge;
template <> struct Edge<0, 0> : Side<Boundary::zero> {};
template <> struct Edge<0, 1> : Side<Boundary::zero> {};
template <> struct Edge<1, 0> : Side<Boundary::clamp> {};
template <> struct Edge<1, 1> : Side<Boundary::clamp> {};
template <> struct Edge<2, 0> : Side<Boundary::zero> {};
template <> struct Edge<2, 1> : Side<Boundary::zero> {};

// The rows of x that a point's taps read.
template <int row> struct Row;
template <> struct Row<0> { static constexpr int array = 1, dy = 0, dz = 0, low = 2, high = 2; };
template <> struct Row<1> { static constexpr int array = 2, dy = 0, dz = 0, low = 0, high = 0; };
template <> struct Row<2> { static constexpr int array = 0, dy = 0, dz = 0, low = 0, high = 0; };
template <> struct Row<3> { static constexpr int array = 1, dy = 0, dz = -2, low = 0, high = 0; };
template <> struct Row<4> { static constexpr int array = 1, dy = 0, dz = -1, low = 0, high = 0; };
template <> struct Row<5> { static constexpr int array = 1, dy = 0, dz = 1, low = 0, high = 0; };
template <> struct Row<6> { static constexpr int array = 1, dy = 0, dz = 2, low = 0, high = 0; };
// The ring of an array, and the output that makes its values; still: none does.
template <int array> struct Source;
template <> struct Source<0> {
    static constexpr int output = 0, previous = 0, place = 0, slots = 12;
    static constexpr bool still = true;
};
template <> struct Source<1> {
    static constexpr int output = 0, previous = 0, place = 1536, slots = 4;
    static constexpr bool still = false;
};
template <> struct Source<2> {
    static constexpr int output = 0, previous = 1, place = 2048, slots = 6;
    static constexpr bool still = false;
};
// What levels put into shared memory; second: the grid that takes the last but one.
template <int output> struct Level;
template <> struct Level<0> {
    static constexpr int array = 1, place = 2816, slots = 0, back = 0, images = 0, second = 4;
};

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[1]) {
    const Real u_1_c = at.template tap<1, 0, 0, 0>();
    const Real u_2_c = at.template tap<2, 0, 0, 0>();
    const Real r_value = arguments.parameter[0];
    const Real c_0_c = at.template tap<0, 0, 0, 0>();
    const Real t1 = r_value * c_0_c;
    const Real u_1_ym2 = at.template tap<1, 0, 0, -2>();
    const Real u_1_ym1 = at.template tap<1, 0, 0, -1>();
    const Real u_1_xm2 = at.template tap<1, -2, 0, 0>();
    const Real u_1_xm1 = at.template tap<1, -1, 0, 0>();
    const Real u_1_xp1 = at.template tap<1, 1, 0, 0>();
    const Real u_1_xp2 = at.template tap<1, 2, 0, 0>();
    const Real u_1_yp1 = at.template tap<1, 0, 0, 1>();
    const Real u_1_yp2 = at.template tap<1, 0, 0, 2>();
    const Real t2 = u_1_ym2 + u_1_xm2 + u_1_xp2 + u_1_yp2;
    const Real t3 = 1.3333334f * (u_1_ym1 + u_1_xm1 + u_1_xp1 + u_1_yp1);
    const Real t4 = fmaf(-(t1 * t1), fmaf(-5.0f, u_1_c, fmaf(-0.083333336f, t2, t3)), u_2_c);
    out[0] = fmaf(2.0f, u_1_c, -t4);
}
#define STENCIL_KERNEL wave2d_step
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_QUICK 0 // quotients and roots of several points ask one question
#define PLAN_WIDE_SIDES 0 // what lies next to packs comes by packs
#define PLAN_MASKS 1 // what lies outside is a bit each, and not loaded
#define PLAN_SHARED_SIDES 0 // of rows, which points of others read
#define PLAN_AROUND 0 // walks begin before their points
#define PLAN_HOLDS_KEPT 0 // what a fixed boundary keeps
#define PLAN_SOME_POINTS 0 // of a row alone may be stored
#define PLAN_HELD_SIDES 0 // for planes that are still to come
#define PLAN_COMPUTED 0 // results, before it is asked whether their row is stored
#define PLAN_FLAT 1 // there is no axis y
#define PLAN_NEEDS 0 // registers, so that blocks do not crowd each other
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 1
#define PLAN_CLAMPS 0
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 0
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 512, tile_y = 1, tile_z = 1;
    static constexpr int threads_x = 128, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 5; // to leave registers for, a multiprocessor
    static constexpr int arrays = 3, outputs = 1;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = true; // some side
    static constexpr int low_x = 2, low_y = 0, low_z = 2;
    static constexpr int high_x = 2, high_y = 0, high_z = 2;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 4;
    static constexpr int lane_y = 1, walk = 6, ahead = 2, fetched = 1;
    static constexpr int slab = 4000000; // points that are walked through together
    static constexpr bool flat = true; // as PLAN_FLAT
};

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { static constexpr int grid = 0; }; // c
template <> struct Array<1> { static constexpr int grid = 1; }; // u
template <> struct Array<2> { static constexpr int grid = 2; }; // u.prev
template <int output> struct Output;
template <> struct Output<0> { static constexpr int grid = 3, current = 1; }; // u.next

enum class Boundary { fixed, zero, constant, clamp, mirror, periodic };
template <Boundary rule> struct Side {
    static constexpr Boundary kind = rule;
    static __device__ __forceinline__ Real beyond() {
        return 0;
    }
};
// Below (0) and above (1) the grid along each of the kernel's axes.
template <int axis, int side> struct Edge;
template <> struct Edge<0, 0> : Side<Boundary::zero> {};
template <> struct Edge<0, 1> : Side<Boundary::zero> {};
template <> struct Edge<1, 0> : Side<Boundary::clamp> {};
template <> struct Edge<1, 1> : Side<Boundary::clamp> {};
template <> struct Edge<2, 0> : Side<Boundary::zero> {};
template <> struct Edge<2, 1> : Side<Boundary::zero> {};

// The lines of y (0: the thread's first row) that a thread reads: the first and last plane; in how
// many planes the shape reaches along x, the last of these, and how far.
template <int array, int y> struct Asks;
template <> struct Asks<0, 0> { static constexpr int first = 0, last = 0, sides = 0, plane = 0, low = 0, high = 0; };
template <> struct Asks<1, 0> { static constexpr int first = -2, last = 2, sides = 1, plane = 0, low = 2, high = 2; };
template <> struct Asks<2, 0> { static constexpr int first = 0, last = 0, sides = 0, plane = 0, low = 0, high = 0; };
template <int array, int y> struct HeldLine;
template <class... Each> struct LinesOf;
using HeldLines = LinesOf<HeldLine<0, 0>, HeldLine<1, 0>, HeldLine<2, 0>>;

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[1]) {
    const Real u_1_c = at.template tap<1, 0, 0, 0>();
    const Real u_2_c = at.template tap<2, 0, 0, 0>();
    const Real r_value = arguments.parameter[0];
    const Real c_0_c = at.template tap<0, 0, 0, 0>();
    const Real t1 = r_value * c_0_c;
    const Real u_1_ym2 = at.template tap<1, 0, 0, -2>();
    const Real u_1_ym1 = at.template tap<1, 0, 0, -1>();
    const Real u_1_xm2 = at.template tap<1, -2, 0, 0>();
    const Real u_1_xm1 = at.template tap<1, -1, 0, 0>();
    const Real u_1_xp1 = at.template tap<1, 1, 0, 0>();
    const Real u_1_xp2 = at.template tap<1, 2, 0, 0>();
    const Real u_1_yp1 = at.template tap<1, 0, 0, 1>();
    const Real u_1_yp2 = at.template tap<1, 0, 0, 2>();
    const Real t2 = u_1_ym2 + u_1_xm2 + u_1_xp2 + u_1_yp2;
    const Real t3 = 1.3333334f * (u_1_ym1 + u_1_xm1 + u_1_xp1 + u_1_yp1);
    const Real t4 = fmaf(-(t1 * t1), fmaf(-5.0f, u_1_c, fmaf(-0.083333336f, t2, t3)), u_2_c);
    out[0] = fmaf(2.0f, u_1_c, -t4);
}
