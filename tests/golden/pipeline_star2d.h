using Real = double;

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

#define STENCIL_KERNEL star2d2_kernel
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_BULK 1 // bulk copies bring rows and take them
#include "arch/bulk_rows.cuh"
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 0
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 1
#define PLAN_HAS_Y 0
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 288, tile_y = 1, tile_z = 1;
    static constexpr int threads_x = 32, threads_y = 1, threads_z = 4;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 2; // to leave registers for, a multiprocessor
    static constexpr int arrays = 1, outputs = 1;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = true, gives_values = false; // some side
    static constexpr int low_x = 2, low_y = 0, low_z = 2;
    static constexpr int high_x = 2, high_y = 0, high_z = 2;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 2;
    static constexpr int time = 8;
    static constexpr int stages = 4, lane_x = 10;
    static constexpr int rows = 4, input_slots = 3;
    static constexpr int strip_bytes = 128, barriers = 104; // where they lie, before the end
    static constexpr int walk = 64, walk_low = 2, walk_high = 2;
    static constexpr int wave = 264; // blocks that run at once
    static constexpr int carried = 1; // rows from step to step: of so many levels
    static constexpr int at_once = 4; // rows whose steps are made together
    static constexpr bool images = false; // some cells beyond a side are images of others
};

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { // u
    static constexpr int grid = 0;
    static constexpr int low_x = 2, high_x = 2, low_y = 0, high_y = 0, low_z = 2, high_z = 2;
};
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
template <> struct Edge<0, 0> : Side<Boundary::periodic> {};
template <> struct Edge<0, 1> : Side<Boundary::periodic> {};
template <> struct Edge<1, 0> : Side<Boundary::clamp> {};
template <> struct Edge<1, 1> : Side<Boundary::clamp> {};
template <> struct Edge<2, 0> : Side<Boundary::periodic> {};
template <> struct Edge<2, 1> : Side<Boundary::periodic> {};

// What the plane at hand adds to the points around it: sum[output][k] belongs to the point
// k - 2 planes away. The last of an output's sums is 0 before.
template <class At>
__device__ __forceinline__ void add_plane([[maybe_unused]] const At &at,
                                          [[maybe_unused]] const Arguments &arguments,
                                          Real (&sum)[1][5]) {
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real u_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_xm2 = at.template tap<0, -2, 0, 0>();
    const Real u_xp2 = at.template tap<0, 2, 0, 0>();
    sum[0][0] = fma(-0.19791666666666666, u_c, sum[0][0]);
    sum[0][1] = fma(0.11631944444444445, u_c, sum[0][1]);
    sum[0][2] = fma(-0.18055555555555555, u_xm2, sum[0][2]);
    sum[0][2] = fma(0.09895833333333333, u_xm1, sum[0][2]);
    sum[0][2] = fma(0.034722222222222224, u_c, sum[0][2]);
    sum[0][2] = fma(-0.16319444444444445, u_xp1, sum[0][2]);
    sum[0][2] = fma(0.06944444444444445, u_xp2, sum[0][2]);
    sum[0][3] = fma(0.052083333333333336, u_c, sum[0][3]);
    sum[0][4] = fma(0.13368055555555555, u_c, sum[0][4]);
}

// What does not depend on any tap.
__device__ __forceinline__ void finish_sums([[maybe_unused]] const Arguments &arguments,
                                            [[maybe_unused]] Real (&out)[1]) {
}
#define STENCIL_KERNEL star2d2_step
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_QUICK 0 // quotients and roots of several points ask one question
#define PLAN_WIDE_SIDES 0 // what lies next to packs comes by packs
#define PLAN_MASKS 0 // what lies outside is a bit each, and not loaded
#define PLAN_HOLDS_KEPT 0 // what a fixed boundary keeps
#define PLAN_SOME_POINTS 0 // of a row alone may be stored
#define PLAN_HELD_SIDES 0 // for planes that are still to come
#define PLAN_COMPUTED 0 // results, before it is asked whether their row is stored
#define PLAN_FLAT 1 // there is no axis y
#define PLAN_NEEDS 70 // registers, so that blocks do not crowd each other
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 0
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 1
#define PLAN_HAS_Y 0
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 256, tile_y = 1, tile_z = 1;
    static constexpr int threads_x = 128, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 6; // to leave registers for, a multiprocessor
    static constexpr int arrays = 1, outputs = 1;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = true, gives_values = false; // some side
    static constexpr int low_x = 2, low_y = 0, low_z = 2;
    static constexpr int high_x = 2, high_y = 0, high_z = 2;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 2;
    static constexpr int lane_y = 1, walk = 5, ahead = 2, fetched = 1;
    static constexpr int slab = 2000000; // points that are walked through together
    static constexpr bool flat = true; // as PLAN_FLAT
};

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
template <> struct Edge<0, 0> : Side<Boundary::periodic> {};
template <> struct Edge<0, 1> : Side<Boundary::periodic> {};
template <> struct Edge<1, 0> : Side<Boundary::clamp> {};
template <> struct Edge<1, 1> : Side<Boundary::clamp> {};
template <> struct Edge<2, 0> : Side<Boundary::periodic> {};
template <> struct Edge<2, 1> : Side<Boundary::periodic> {};

// The lines of y (0: the thread's first row) that a thread reads: the first and last plane; in how
// many planes the shape reaches along x, the last of these, and how far.
template <int array, int y> struct Asks;
template <> struct Asks<0, 0> { static constexpr int first = -2, last = 2, sides = 1, plane = 0, low = 2, high = 2; };
template <int array, int y> struct HeldLine;
template <class... Each> struct LinesOf;
using HeldLines = LinesOf<HeldLine<0, 0>>;

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[1]) {
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real u_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_ym1 = at.template tap<0, 0, 0, -1>();
    const Real u_yp1 = at.template tap<0, 0, 0, 1>();
    const Real u_xm2 = at.template tap<0, -2, 0, 0>();
    const Real u_xp2 = at.template tap<0, 2, 0, 0>();
    const Real u_ym2 = at.template tap<0, 0, 0, -2>();
    const Real u_yp2 = at.template tap<0, 0, 0, 2>();
    const Real t1 = fma(0.09895833333333333, u_xm1, 0.034722222222222224 * u_c);
    const Real t2 = fma(0.052083333333333336, u_ym1, fma(-0.16319444444444445, u_xp1, t1));
    const Real t3 = fma(-0.18055555555555555, u_xm2, fma(0.11631944444444445, u_yp1, t2));
    const Real t4 = fma(0.13368055555555555, u_ym2, fma(0.06944444444444445, u_xp2, t3));
    out[0] = fma(-0.19791666666666666, u_yp2, t4);
}
