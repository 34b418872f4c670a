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
    Grid grid[4]; // u, u.next, v, v.next
    Real parameter[1];
};
static_assert(sizeof(Arguments) == 208, "the host packs 208 bytes");

#define STENCIL_KERNEL pair3d_kernel
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 0
#define PLAN_MIRRORS 1
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 1
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 24, tile_y = 12, tile_z = 1;
    static constexpr int threads_x = 64, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 6; // to leave registers for, a multiprocessor
    static constexpr int arrays = 2, outputs = 2;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = true, gives_values = false; // some side
    static constexpr int low_x = 0, low_y = 1, low_z = 1;
    static constexpr int high_x = 1, high_y = 0, high_z = 1;
    static constexpr int time = 2, vector = 4;
    static constexpr int lane_x = 4, lane_y = 2, lanes = 8;
    static constexpr int halo_x = 4, halo_y = 2, walk = 20;
    static constexpr int below_z = 1, above_z = 1; // that a step takes of the walk
    static constexpr int lag = 1, window = 3, ahead = 2, rows = 4;
    static constexpr int tables = 4608; // a place in shared memory
};

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { // u
    static constexpr int grid = 0;
    static constexpr int low_x = 0, high_x = 0, low_y = 0, high_y = 0, low_z = 1, high_z = 1;
};
template <> struct Array<1> { // v
    static constexpr int grid = 2;
    static constexpr int low_x = 0, high_x = 1, low_y = 1, high_y = 0, low_z = 0, high_z = 0;
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
template <> struct Edge<1, 0> : Side<Boundary::mirror> {};
template <> struct Edge<1, 1> : Side<Boundary::mirror> {};
template <> struct Edge<2, 0> : Side<Boundary::mirror> {};
template <> struct Edge<2, 1> : Side<Boundary::mirror> {};

// The rows of x that a point's taps read.
template <int row> struct Row;
template <> struct Row<0> { static constexpr int array = 0, dy = 0, dz = 1, low = 0, high = 0; };
template <> struct Row<1> { static constexpr int array = 1, dy = 0, dz = 0, low = 0, high = 1; };
template <> struct Row<2> { static constexpr int array = 1, dy = -1, dz = 0, low = 0, high = 0; };
template <> struct Row<3> { static constexpr int array = 0, dy = 0, dz = -1, low = 0, high = 0; };
// The ring of an array, and the output that makes its values; still: none does.
template <int array> struct Source;
template <> struct Source<0> {
    static constexpr int output = 0, previous = 0, place = 0, slots = 3;
    static constexpr bool still = false;
};
template <> struct Source<1> {
    static constexpr int output = 1, previous = 0, place = 1536, slots = 4;
    static constexpr bool still = false;
};
// What levels put into shared memory; second: the grid that takes the last but one.
template <int output> struct Level;
template <> struct Level<0> {
    static constexpr int array = 0, place = 3584, slots = 0, back = 0, images = 0, second = -1;
};
template <> struct Level<1> {
    static constexpr int array = 1, place = 3584, slots = 2, back = 0, images = 0, second = -1;
};

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[2]) {
    const Real u_0_zp1 = at.template tap<0, 0, 0, 1>();
    const Real v_1_xp1 = at.template tap<1, 1, 0, 0>();
    const Real v_1_ym1 = at.template tap<1, 0, -1, 0>();
    const Real u_0_zm1 = at.template tap<0, 0, 0, -1>();
    out[0] = u_0_zp1 / 2.0f + v_1_xp1 / 4.0f;
    out[1] = v_1_ym1 / 2.0f - u_0_zm1 / 4.0f;
}
#define STENCIL_KERNEL pair3d_step
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_QUICK 0 // quotients and roots of several points ask one question
#define PLAN_WIDE_SIDES 0 // what lies next to packs comes by packs
#define PLAN_MASKS 0 // what lies outside is a bit each, and not loaded
#define PLAN_HOLDS_KEPT 0 // what a fixed boundary keeps
#define PLAN_SOME_POINTS 0 // of a row alone may be stored
#define PLAN_HELD_SIDES 0 // for planes that are still to come
#define PLAN_COMPUTED 1 // results, before it is asked whether their row is stored
#define PLAN_FLAT 0 // there is no axis y
#define PLAN_NEEDS 78 // registers, so that blocks do not crowd each other
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 0
#define PLAN_MIRRORS 1
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 1
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 256, tile_y = 8, tile_z = 1;
    static constexpr int threads_x = 64, threads_y = 4, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 2; // to leave registers for, a multiprocessor
    static constexpr int arrays = 2, outputs = 2;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = true, gives_values = false; // some side
    static constexpr int low_x = 0, low_y = 1, low_z = 1;
    static constexpr int high_x = 1, high_y = 0, high_z = 1;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 4;
    static constexpr int lane_y = 2, walk = 4, ahead = 2, fetched = 2;
    static constexpr int slab = 4000000; // points that are walked through together
    static constexpr bool flat = false; // as PLAN_FLAT
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
template <> struct Edge<1, 0> : Side<Boundary::mirror> {};
template <> struct Edge<1, 1> : Side<Boundary::mirror> {};
template <> struct Edge<2, 0> : Side<Boundary::mirror> {};
template <> struct Edge<2, 1> : Side<Boundary::mirror> {};

// The lines of y (0: the thread's first row) that a thread reads: the first and last plane; in how
// many planes the shape reaches along x, the last of these, and how far.
template <int array, int y> struct Asks;
template <> struct Asks<0, 0> { static constexpr int first = -1, last = 1, sides = 0, plane = 0, low = 0, high = 0; };
template <> struct Asks<0, 1> { static constexpr int first = -1, last = 1, sides = 0, plane = 0, low = 0, high = 0; };
template <> struct Asks<1, -1> { static constexpr int first = 0, last = 0, sides = 0, plane = 0, low = 0, high = 0; };
template <> struct Asks<1, 0> { static constexpr int first = 0, last = 0, sides = 1, plane = 0, low = 0, high = 1; };
template <> struct Asks<1, 1> { static constexpr int first = 0, last = 0, sides = 1, plane = 0, low = 0, high = 1; };
template <int array, int y> struct HeldLine;
template <class... Each> struct LinesOf;
using HeldLines = LinesOf<HeldLine<0, 0>, HeldLine<0, 1>, HeldLine<1, -1>, HeldLine<1, 0>, HeldLine<1, 1>>;

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[2]) {
    const Real u_0_zp1 = at.template tap<0, 0, 0, 1>();
    const Real v_1_xp1 = at.template tap<1, 1, 0, 0>();
    const Real v_1_ym1 = at.template tap<1, 0, -1, 0>();
    const Real u_0_zm1 = at.template tap<0, 0, 0, -1>();
    out[0] = u_0_zp1 / 2.0f + v_1_xp1 / 4.0f;
    out[1] = v_1_ym1 / 2.0f - u_0_zm1 / 4.0f;
}
