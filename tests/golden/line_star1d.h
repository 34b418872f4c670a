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

#define STENCIL_KERNEL star1d2_kernel
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 1
#define PLAN_CLAMPS 0
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 0
#define PLAN_HAS_Z 0

struct plan {
    static constexpr int tile_x = 320, tile_y = 1, tile_z = 1;
    static constexpr int threads_x = 128, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 9; // to leave registers for, a multiprocessor
    static constexpr int arrays = 1, outputs = 1;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = true; // some side
    static constexpr int low_x = 2, low_y = 0, low_z = 0;
    static constexpr int high_x = 2, high_y = 0, high_z = 0;
    static constexpr int time = 16;
    static constexpr int lane_x = 12, halo_low_x = 32;
    static constexpr bool images = false; // some cells beyond a side are images of others
};

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { // u
    static constexpr int grid = 0;
    static constexpr int low_x = 2, high_x = 2, low_y = 0, high_y = 0, low_z = 0, high_z = 0;
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
template <> struct Edge<0, 0> : Side<Boundary::zero> {};
template <> struct Edge<0, 1> : Side<Boundary::zero> {};
template <> struct Edge<1, 0> : Side<Boundary::clamp> {};
template <> struct Edge<1, 1> : Side<Boundary::clamp> {};
template <> struct Edge<2, 0> : Side<Boundary::clamp> {};
template <> struct Edge<2, 1> : Side<Boundary::clamp> {};

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[1]) {
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real u_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_xm2 = at.template tap<0, -2, 0, 0>();
    const Real u_xp2 = at.template tap<0, 2, 0, 0>();
    const Real t1 = fmaf(0.09375f, u_xm2, fmaf(-0.29375f, u_xp1, fmaf(0.178125f, u_xm1, 0.0625f * u_c)));
    out[0] = fmaf(0.209375f, u_xp2, t1);
}
#define STENCIL_KERNEL star1d2_step
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_LINE 1 // the grid has one axis
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 1
#define PLAN_CLAMPS 0
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 0
#define PLAN_HAS_Z 0

struct plan {
    static constexpr int tile_x = 512, tile_y = 1, tile_z = 1;
    static constexpr int threads_x = 128, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 16; // to leave registers for, a multiprocessor
    static constexpr int arrays = 1, outputs = 1;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = true; // some side
    static constexpr int low_x = 2, low_y = 0, low_z = 0;
    static constexpr int high_x = 2, high_y = 0, high_z = 0;
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
template <> struct Edge<0, 0> : Side<Boundary::zero> {};
template <> struct Edge<0, 1> : Side<Boundary::zero> {};
template <> struct Edge<1, 0> : Side<Boundary::clamp> {};
template <> struct Edge<1, 1> : Side<Boundary::clamp> {};
template <> struct Edge<2, 0> : Side<Boundary::clamp> {};
template <> struct Edge<2, 1> : Side<Boundary::clamp> {};

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[1]) {
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real u_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_xm2 = at.template tap<0, -2, 0, 0>();
    const Real u_xp2 = at.template tap<0, 2, 0, 0>();
    const Real t1 = fmaf(0.09375f, u_xm2, fmaf(-0.29375f, u_xp1, fmaf(0.178125f, u_xm1, 0.0625f * u_c)));
    out[0] = fmaf(0.209375f, u_xp2, t1);
}
