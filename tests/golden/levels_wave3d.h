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
    Grid grid[4]; // u, u.prev, u.next, u.last
    Real parameter[1];
};
static_assert(sizeof(Arguments) == 208, "the host packs 208 bytes");

#define STENCIL_KERNEL wave_kernel
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_APART 0 // warps wait for the warps next to them, not for a block
#define PLAN_BOXES 0 // bulk copies bring planes of several steps
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 1
#define PLAN_CLAMPS 0
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 1
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 28, tile_y = 12, tile_z = 1;
    static constexpr int threads_x = 128, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 7; // to leave registers for, a multiprocessor
    static constexpr int arrays = 2, outputs = 1;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = true; // some side
    static constexpr int low_x = 1, low_y = 1, low_z = 1;
    static constexpr int high_x = 1, high_y = 1, high_z = 1;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 2;
    static constexpr int time = 2;
    static constexpr int lane_x = 2, lane_y = 2, lanes = 16;
    static constexpr int ring = 4, halo_x = 2, walk = 16;
    static constexpr bool keep = false, corners = false, copy_packs = true;
    static constexpr bool each_warp = true; // else a whole block sees to its sides of y
    static constexpr int carried = 2; // levels that a step reads
    static constexpr bool images = false; // some cells beyond a side are images of others
    static constexpr int second = 3; // the grid of the last level but one
};

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { // u
    static constexpr int grid = 0;
    static constexpr int low_x = 1, high_x = 1, low_y = 1, high_y = 1, low_z = 1, high_z = 1;
};
template <> struct Array<1> { // u.prev
    static constexpr int grid = 1;
    static constexpr int low_x = 0, high_x = 0, low_y = 0, high_y = 0, low_z = 0, high_z = 0;
};
template <int output> struct Output;
template <> struct Output<0> { static constexpr int grid = 2, current = 0; }; // u.next

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
template <> struct Edge<1, 0> : Side<Boundary::zero> {};
template <> struct Edge<1, 1> : Side<Boundary::zero> {};
template <> struct Edge<2, 0> : Side<Boundary::zero> {};
template <> struct Edge<2, 1> : Side<Boundary::zero> {};

// What the plane at hand adds to the points around it: sum[output][k] belongs to the point
// k - 1 planes away. The last of an output's sums is 0 before.
template <class At>
__device__ __forceinline__ void add_plane([[maybe_unused]] const At &at,
                                          [[maybe_unused]] const Arguments &arguments,
                                          Real (&sum)[1][3]) {
    const Real u_0_c = at.template tap<0, 0, 0, 0>();
    const Real u_1_c = at.template tap<1, 0, 0, 0>();
    const Real u_0_ym1 = at.template tap<0, 0, -1, 0>();
    const Real u_0_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_0_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_0_yp1 = at.template tap<0, 0, 1, 0>();
    sum[0][0] = fmaf(0.0625f, u_0_c, sum[0][0]);
    sum[0][1] = fmaf(0.0625f, u_0_ym1 + (u_0_xm1 + u_0_xp1) + u_0_yp1, sum[0][1]);
    sum[0][1] = fmaf(1.625f, u_0_c, sum[0][1]);
    sum[0][2] = fmaf(0.0625f, u_0_c, sum[0][2]);
    sum[0][2] -= u_1_c;
}

// What does not depend on any tap.
__device__ __forceinline__ void finish_sums([[maybe_unused]] const Arguments &arguments,
                                            [[maybe_unused]] Real (&out)[1]) {
}
#define STENCIL_KERNEL wave_step
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
#define PLAN_COMPUTED 1 // results, before it is asked whether their row is stored
#define PLAN_FLAT 0 // there is no axis y
#define PLAN_NEEDS 78 // registers, so that blocks do not crowd each other
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 1
#define PLAN_CLAMPS 0
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 1
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 256, tile_y = 8, tile_z = 1;
    static constexpr int threads_x = 64, threads_y = 4, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 2; // to leave registers for, a multiprocessor
    static constexpr int arrays = 2, outputs = 1;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = true; // some side
    static constexpr int low_x = 1, low_y = 1, low_z = 1;
    static constexpr int high_x = 1, high_y = 1, high_z = 1;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 4;
    static constexpr int lane_y = 2, walk = 6, ahead = 2, fetched = 2;
    static constexpr int slab = 4000000; // points that are walked through together
    static constexpr bool flat = false; // as PLAN_FLAT
};

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { static constexpr int grid = 0; }; // u
template <> struct Array<1> { static constexpr int grid = 1; }; // u.prev
template <int output> struct Output;
template <> struct Output<0> { static constexpr int grid = 2, current = 0; }; // u.next

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
template <> struct Edge<1, 0> : Side<Boundary::zero> {};
template <> struct Edge<1, 1> : Side<Boundary::zero> {};
template <> struct Edge<2, 0> : Side<Boundary::zero> {};
template <> struct Edge<2, 1> : Side<Boundary::zero> {};

// The lines of y (0: the thread's first row) that a thread reads: the first and last plane; in how
// many planes the shape reaches along x, the last of these, and how far.
template <int array, int y> struct Asks;
template <> struct Asks<0, -1> { static constexpr int first = 0, last = 0, sides = 0, plane = 0, low = 0, high = 0; };
template <> struct Asks<0, 0> { static constexpr int first = -1, last = 1, sides = 1, plane = 0, low = 1, high = 1; };
template <> struct Asks<0, 1> { static constexpr int first = -1, last = 1, sides = 1, plane = 0, low = 1, high = 1; };
template <> struct Asks<0, 2> { static constexpr int first = 0, last = 0, sides = 0, plane = 0, low = 0, high = 0; };
template <> struct Asks<1, 0> { static constexpr int first = 0, last = 0, sides = 0, plane = 0, low = 0, high = 0; };
template <> struct Asks<1, 1> { static constexpr int first = 0, last = 0, sides = 0, plane = 0, low = 0, high = 0; };
template <int array, int y> struct HeldLine;
template <class... Each> struct LinesOf;
using HeldLines = LinesOf<HeldLine<0, -1>, HeldLine<0, 0>, HeldLine<0, 1>, HeldLine<0, 2>, HeldLine<1, 0>, HeldLine<1, 1>>;

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[1]) {
    const Real u_0_c = at.template tap<0, 0, 0, 0>();
    const Real u_1_c = at.template tap<1, 0, 0, 0>();
    const Real u_0_zm1 = at.template tap<0, 0, 0, -1>();
    const Real u_0_ym1 = at.template tap<0, 0, -1, 0>();
    const Real u_0_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_0_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_0_yp1 = at.template tap<0, 0, 1, 0>();
    const Real u_0_zp1 = at.template tap<0, 0, 0, 1>();
    const Real t1 = fmaf(-6.0f, u_0_c, u_0_zm1 + u_0_ym1 + u_0_xm1 + u_0_xp1 + u_0_yp1 + u_0_zp1);
    out[0] = fmaf(2.0f, u_0_c, -(u_1_c - t1 / 16.0f));
}
