#define STENCIL_KERNEL box3d1_kernel
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 0
#define PLAN_MIRRORS 1
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 1
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 32, tile_y = 8, tile_z = 1;
    static constexpr int threads_x = 32, threads_y = 8, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 6; // to leave registers for, a multiprocessor
    static constexpr int arrays = 1, outputs = 1;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = true, gives_values = false; // some side
    static constexpr int low_x = 1, low_y = 1, low_z = 1;
    static constexpr int high_x = 1, high_y = 1, high_z = 1;
    static constexpr int walk = 16, walk_low = 1, walk_high = 1;
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
template <> struct Array<0> { // u
    static constexpr int grid = 0;
    static constexpr int low_x = 1, high_x = 1, low_y = 1, high_y = 1, low_z = 1, high_z = 1;
    static constexpr bool staged = true; // in shared memory ...
    static constexpr int shared = 0;     // ... from this element on
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
template <> struct Edge<0, 0> : Side<Boundary::mirror> {};
template <> struct Edge<0, 1> : Side<Boundary::mirror> {};
template <> struct Edge<1, 0> : Side<Boundary::mirror> {};
template <> struct Edge<1, 1> : Side<Boundary::mirror> {};
template <> struct Edge<2, 0> : Side<Boundary::mirror> {};
template <> struct Edge<2, 1> : Side<Boundary::mirror> {};

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
    sum[0][0] = fmaf(0.046296295f, u_xm1ym1, sum[0][0]);
    sum[0][0] = fmaf(0.067708336f, u_ym1, sum[0][0]);
    sum[0][0] = fmaf(-0.030671297f, u_xp1ym1, sum[0][0]);
    sum[0][0] = fmaf(0.052083332f, u_xm1, sum[0][0]);
    sum[0][0] = fmaf(0.015046297f, u_c, sum[0][0]);
    sum[0][0] = fmaf(-0.036458332f, u_xp1, sum[0][0]);
    sum[0][0] = fmaf(0.05787037f, u_xm1yp1, sum[0][0]);
    sum[0][0] = fmaf(0.020833334f, u_yp1, sum[0][0]);
    sum[0][0] = fmaf(-0.04224537f, u_xp1yp1, sum[0][0]);
    sum[0][1] = fmaf(0.028935185f, u_xm1ym1, sum[0][1]);
    sum[0][1] = fmaf(0.050347224f, u_ym1, sum[0][1]);
    sum[0][1] = fmaf(-0.013310186f, u_xp1ym1, sum[0][1]);
    sum[0][1] = fmaf(0.034722224f, u_xm1, sum[0][1]);
    sum[0][1] = fmaf(0.056134257f, u_c, sum[0][1]);
    sum[0][1] = fmaf(-0.019097222f, u_xp1, sum[0][1]);
    sum[0][1] = fmaf(0.040509257f, u_xm1yp1, sum[0][1]);
    sum[0][1] = fmaf(0.061921295f, u_yp1, sum[0][1]);
    sum[0][1] = fmaf(-0.02488426f, u_xp1yp1, sum[0][1]);
    sum[0][2] = fmaf(0.011574074f, u_xm1ym1, sum[0][2]);
    sum[0][2] = fmaf(0.032986112f, u_ym1, sum[0][2]);
    sum[0][2] = fmaf(-0.05439815f, u_xp1ym1, sum[0][2]);
    sum[0][2] = fmaf(0.017361112f, u_xm1, sum[0][2]);
    sum[0][2] = fmaf(0.03877315f, u_c, sum[0][2]);
    sum[0][2] = fmaf(-0.060185187f, u_xp1, sum[0][2]);
    sum[0][2] = fmaf(0.023148147f, u_xm1yp1, sum[0][2]);
    sum[0][2] = fmaf(0.044560187f, u_yp1, sum[0][2]);
    sum[0][2] = fmaf(-0.065972224f, u_xp1yp1, sum[0][2]);
}

// What does not depend on any tap.
__device__ __forceinline__ void finish_sums([[maybe_unused]] const Arguments &arguments,
                                            [[maybe_unused]] Real (&out)[1]) {
}
