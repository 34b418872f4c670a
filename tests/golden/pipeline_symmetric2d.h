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

#define STENCIL_KERNEL blur_kernel
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_BULK 1 // bulk copies bring rows and take them
#include "arch/bulk_rows.cuh"
#define PLAN_KEEPS 1 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 1
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 0
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 368, tile_y = 1, tile_z = 1;
    static constexpr int threads_x = 32, threads_y = 1, threads_z = 2;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 6; // to leave registers for, a multiprocessor
    static constexpr int arrays = 1, outputs = 1;
    static constexpr bool all_fixed = true; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = false; // some side
    static constexpr int low_x = 1, low_y = 0, low_z = 1;
    static constexpr int high_x = 1, high_y = 0, high_z = 1;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 4;
    static constexpr int time = 8;
    static constexpr int stages = 2, lane_x = 12;
    static constexpr int rows = 2, input_slots = 3;
    static constexpr int strip_bytes = 128, barriers = 104; // where they lie, before the end
    static constexpr int walk = 64, walk_low = 1, walk_high = 1;
    static constexpr int wave = 792; // blocks that run at once
    static constexpr int carried = 1; // rows from step to step: of so many levels
    static constexpr int at_once = 1; // rows whose steps are made together
    static constexpr bool images = false; // some cells beyond a side are images of others
};

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { // u
    static constexpr int grid = 0;
    static constexpr int low_x = 1, high_x = 1, low_y = 0, high_y = 0, low_z = 1, high_z = 1;
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
template <> struct Edge<0, 0> : Side<Boundary::fixed> {};
template <> struct Edge<0, 1> : Side<Boundary::fixed> {};
template <> struct Edge<1, 0> : Side<Boundary::clamp> {};
template <> struct Edge<1, 1> : Side<Boundary::clamp> {};
template <> struct Edge<2, 0> : Side<Boundary::fixed> {};
template <> struct Edge<2, 1> : Side<Boundary::fixed> {};

// What the plane at hand adds to the points around it: sum[output][k] belongs to the point
// k - 1 planes away. The last of an output's sums is 0 before.
template <class At>
__device__ __forceinline__ void add_plane([[maybe_unused]] const At &at,
                                          [[maybe_unused]] const Arguments &arguments,
                                          Real (&sum)[1][3]) {
    const Real u_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real u_xp1 = at.template tap<0, 1, 0, 0>();
    const Real t1 = u_xm1 + u_xp1;
    Real gain_0_2 = 0.0625f * t1;
    gain_0_2 = fmaf(0.125f, u_c, gain_0_2);
    sum[0][0] += gain_0_2;
    sum[0][1] = fmaf(0.125f, t1, sum[0][1]);
    sum[0][1] = fmaf(0.25f, u_c, sum[0][1]);
    sum[0][2] += gain_0_2;
}

// What does not depend on any tap.
__device__ __forceinline__ void finish_sums([[maybe_unused]] const Arguments &arguments,
                                            [[maybe_unused]] Real (&out)[1]) {
}
#define STENCIL_KERNEL blur_step
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_LINE 0 // the grid has one axis
#define PLAN_KEEPS 1 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 1
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 1
#define PLAN_HAS_Z 0

struct plan {
    static constexpr int tile_x = 128, tile_y = 4, tile_z = 1;
    static constexpr int threads_x = 32, threads_y = 4, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 10; // to leave registers for, a multiprocessor
    static constexpr int arrays = 1, outputs = 1;
    static constexpr bool all_fixed = true; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = false; // some side
    static constexpr int low_x = 1, low_y = 1, low_z = 0;
    static constexpr int high_x = 1, high_y = 1, high_z = 0;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 4;
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
template <> struct Edge<0, 0> : Side<Boundary::fixed> {};
template <> struct Edge<0, 1> : Side<Boundary::fixed> {};
template <> struct Edge<1, 0> : Side<Boundary::fixed> {};
template <> struct Edge<1, 1> : Side<Boundary::fixed> {};
template <> struct Edge<2, 0> : Side<Boundary::clamp> {};
template <> struct Edge<2, 1> : Side<Boundary::clamp> {};

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[1]) {
    const Real u_xm1ym1 = at.template tap<0, -1, -1, 0>();
    const Real u_ym1 = at.template tap<0, 0, -1, 0>();
    const Real u_xp1ym1 = at.template tap<0, 1, -1, 0>();
    const Real u_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real u_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_xm1yp1 = at.template tap<0, -1, 1, 0>();
    const Real u_yp1 = at.template tap<0, 0, 1, 0>();
    const Real u_xp1yp1 = at.template tap<0, 1, 1, 0>();
    const Real t1 = u_ym1 + u_xm1 + u_xp1 + u_yp1;
    const Real t2 = 0.0625f * (u_xm1ym1 + u_xp1ym1 + u_xm1yp1 + u_xp1yp1);
    out[0] = fmaf(0.25f, u_c, fmaf(0.125f, t1, t2));
}
