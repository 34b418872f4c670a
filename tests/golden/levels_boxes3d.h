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
    TensorMap map[1]; // of what bulk copies bring
};
static_assert(sizeof(Arguments) == 320, "the host packs 320 bytes");

#define STENCIL_KERNEL box3d1_kernel
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_APART 1 // warps wait for the warps next to them, not for a block
#define PLAN_BOXES 1 // bulk copies bring planes of several steps
#define PLAN_KEEPS 1 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 1
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 1
#define PLAN_HAS_Z 1
#include "arch/bulk.cuh"

struct plan {
    static constexpr int tile_x = 28, tile_y = 12, tile_z = 1;
    static constexpr int threads_x = 128, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 5; // to leave registers for, a multiprocessor
    static constexpr int arrays = 1, outputs = 1;
    static constexpr bool all_fixed = true; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = false; // some side
    static constexpr int low_x = 1, low_y = 1, low_z = 1;
    static constexpr int high_x = 1, high_y = 1, high_z = 1;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 2;
    static constexpr int time = 2;
    static constexpr int lane_x = 2, lane_y = 2, lanes = 16;
    static constexpr int ring = 4, halo_x = 2, walk = 40;
    static constexpr bool keep = true, corners = true, copy_packs = true;
    static constexpr bool each_warp = false; // else a whole block sees to its sides of y
    static constexpr int carried = 1; // levels that a step reads
    static constexpr bool images = false; // some cells beyond a side are images of others
};

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { // u
    static constexpr int grid = 0;
    static constexpr int low_x = 1, high_x = 1, low_y = 1, high_y = 1, low_z = 1, high_z = 1;
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
template <> struct Edge<1, 0> : Side<Boundary::fixed> {};
template <> struct Edge<1, 1> : Side<Boundary::fixed> {};
template <> struct Edge<2, 0> : Side<Boundary::fixed> {};
template <> struct Edge<2, 1> : Side<Boundary::fixed> {};

// What the plane at hand adds to the points around it: sum[output][k] belongs to the point
// k - 1 planes away. The last of an output's sums is 0 before.
template <class At>
__device__ __forceinline__ void add_plane([[maybe_unused]] const At &at,
                                          [[maybe_unused]] const Arguments &arguments,
                                          Real (&sum)[1][3]) {
    const Real u_xm1ym1 = at.template tap<0, -1, -1, 0>();
    const Real u_ym1 = at.template tap<0, 0, -1, 0>();
    const Real u_xp1ym1 = at.template tap<0, 1, -1, 0>();
    const Real u_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real u_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_xm1yp1 = at.template tap<0, -1, 1, 0>();
    const Real u_yp1 = at.template tap<0, 0, 1, 0>();
    const Real u_xp1yp1 = at.template tap<0, 1, 1, 0>();
    sum[0][0] = fma(0.046296296296296294, u_xm1ym1, sum[0][0]);
    sum[0][0] = fma(0.06770833333333333, u_ym1, sum[0][0]);
    sum[0][0] = fma(-0.030671296296296297, u_xp1ym1, sum[0][0]);
    sum[0][0] = fma(0.052083333333333336, u_xm1, sum[0][0]);
    sum[0][0] = fma(0.015046296296296295, u_c, sum[0][0]);
    sum[0][0] = fma(-0.036458333333333336, u_xp1, sum[0][0]);
    sum[0][0] = fma(0.05787037037037037, u_xm1yp1, sum[0][0]);
    sum[0][0] = fma(0.020833333333333332, u_yp1, sum[0][0]);
    sum[0][0] = fma(-0.04224537037037037, u_xp1yp1, sum[0][0]);
    sum[0][1] = fma(0.028935185185185185, u_xm1ym1, sum[0][1]);
    sum[0][1] = fma(0.050347222222222224, u_ym1, sum[0][1]);
    sum[0][1] = fma(-0.013310185185185185, u_xp1ym1, sum[0][1]);
    sum[0][1] = fma(0.034722222222222224, u_xm1, sum[0][1]);
    sum[0][1] = fma(0.05613425925925926, u_c, sum[0][1]);
    sum[0][1] = fma(-0.019097222222222224, u_xp1, sum[0][1]);
    sum[0][1] = fma(0.04050925925925926, u_xm1yp1, sum[0][1]);
    sum[0][1] = fma(0.061921296296296294, u_yp1, sum[0][1]);
    sum[0][1] = fma(-0.02488425925925926, u_xp1yp1, sum[0][1]);
    sum[0][2] = fma(0.011574074074074073, u_xm1ym1, sum[0][2]);
    sum[0][2] = fma(0.03298611111111111, u_ym1, sum[0][2]);
    sum[0][2] = fma(-0.05439814814814815, u_xp1ym1, sum[0][2]);
    sum[0][2] = fma(0.017361111111111112, u_xm1, sum[0][2]);
    sum[0][2] = fma(0.03877314814814815, u_c, sum[0][2]);
    sum[0][2] = fma(-0.06018518518518518, u_xp1, sum[0][2]);
    sum[0][2] = fma(0.023148148148148147, u_xm1yp1, sum[0][2]);
    sum[0][2] = fma(0.04456018518518518, u_yp1, sum[0][2]);
    sum[0][2] = fma(-0.06597222222222222, u_xp1yp1, sum[0][2]);
}

// What does not depend on any tap.
__device__ __forceinline__ void finish_sums([[maybe_unused]] const Arguments &arguments,
                                            [[maybe_unused]] Real (&out)[1]) {
}
#define STENCIL_KERNEL box3d1_step
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_LINE 0 // the grid has one axis
#define PLAN_KEEPS 1 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 1
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 1
#define PLAN_HAS_Z 1
#include "arch/bulk.cuh"

struct plan {
    static constexpr int tile_x = 64, tile_y = 2, tile_z = 2;
    static constexpr int threads_x = 32, threads_y = 2, threads_z = 2;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 5; // to leave registers for, a multiprocessor
    static constexpr int arrays = 1, outputs = 1;
    static constexpr bool all_fixed = true; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = false; // some side
    static constexpr int low_x = 1, low_y = 1, low_z = 1;
    static constexpr int high_x = 1, high_y = 1, high_z = 1;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 2;
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
template <> struct Edge<2, 0> : Side<Boundary::fixed> {};
template <> struct Edge<2, 1> : Side<Boundary::fixed> {};

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[1]) {
    const Real u_xm1ym1zm1 = at.template tap<0, -1, -1, -1>();
    const Real u_ym1zm1 = at.template tap<0, 0, -1, -1>();
    const Real u_xp1ym1zm1 = at.template tap<0, 1, -1, -1>();
    const Real u_xm1zm1 = at.template tap<0, -1, 0, -1>();
    const Real u_zm1 = at.template tap<0, 0, 0, -1>();
    const Real u_xp1zm1 = at.template tap<0, 1, 0, -1>();
    const Real u_xm1yp1zm1 = at.template tap<0, -1, 1, -1>();
    const Real u_yp1zm1 = at.template tap<0, 0, 1, -1>();
    const Real u_xp1yp1zm1 = at.template tap<0, 1, 1, -1>();
    const Real u_xm1ym1 = at.template tap<0, -1, -1, 0>();
    const Real u_ym1 = at.template tap<0, 0, -1, 0>();
    const Real u_xp1ym1 = at.template tap<0, 1, -1, 0>();
    const Real u_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real u_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_xm1yp1 = at.template tap<0, -1, 1, 0>();
    const Real u_yp1 = at.template tap<0, 0, 1, 0>();
    const Real u_xp1yp1 = at.template tap<0, 1, 1, 0>();
    const Real u_xm1ym1zp1 = at.template tap<0, -1, -1, 1>();
    const Real u_ym1zp1 = at.template tap<0, 0, -1, 1>();
    const Real u_xp1ym1zp1 = at.template tap<0, 1, -1, 1>();
    const Real u_xm1zp1 = at.template tap<0, -1, 0, 1>();
    const Real u_zp1 = at.template tap<0, 0, 0, 1>();
    const Real u_xp1zp1 = at.template tap<0, 1, 0, 1>();
    const Real u_xm1yp1zp1 = at.template tap<0, -1, 1, 1>();
    const Real u_yp1zp1 = at.template tap<0, 0, 1, 1>();
    const Real u_xp1yp1zp1 = at.template tap<0, 1, 1, 1>();
    const Real t1 = fma(0.03298611111111111, u_ym1zm1, 0.011574074074074073 * u_xm1ym1zm1);
    const Real t2 = fma(0.017361111111111112, u_xm1zm1, fma(-0.05439814814814815, u_xp1ym1zm1, t1));
    const Real t3 = fma(-0.06018518518518518, u_xp1zm1, fma(0.03877314814814815, u_zm1, t2));
    const Real t4 = fma(0.04456018518518518, u_yp1zm1, fma(0.023148148148148147, u_xm1yp1zm1, t3));
    const Real t5 = fma(0.028935185185185185, u_xm1ym1, fma(-0.06597222222222222, u_xp1yp1zm1, t4));
    const Real t6 = fma(-0.013310185185185185, u_xp1ym1, fma(0.050347222222222224, u_ym1, t5));
    const Real t7 = fma(0.05613425925925926, u_c, fma(0.034722222222222224, u_xm1, t6));
    const Real t8 = fma(0.04050925925925926, u_xm1yp1, fma(-0.019097222222222224, u_xp1, t7));
    const Real t9 = fma(-0.02488425925925926, u_xp1yp1, fma(0.061921296296296294, u_yp1, t8));
    const Real t10 = fma(0.06770833333333333, u_ym1zp1, fma(0.046296296296296294, u_xm1ym1zp1, t9));
    const Real t11 = fma(0.052083333333333336, u_xm1zp1, fma(-0.030671296296296297, u_xp1ym1zp1, t10));
    const Real t12 = fma(-0.036458333333333336, u_xp1zp1, fma(0.015046296296296295, u_zp1, t11));
    const Real t13 = fma(0.020833333333333332, u_yp1zp1, fma(0.05787037037037037, u_xm1yp1zp1, t12));
    out[0] = fma(-0.04224537037037037, u_xp1yp1zp1, t13);
}
