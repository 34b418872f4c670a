#define STENCIL_KERNEL heat3d_kernel
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

struct plan {
    static constexpr int tile_x = 64, tile_y = 4, tile_z = 1;
    static constexpr int threads_x = 16, threads_y = 4, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 18; // to leave registers for, a multiprocessor
    static constexpr int arrays = 1, outputs = 1;
    static constexpr bool all_fixed = true; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = false; // some side
    static constexpr int low_x = 2, low_y = 2, low_z = 2;
    static constexpr int high_x = 2, high_y = 2, high_z = 2;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 4;
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
template <> struct Edge<0, 0> : Side<Boundary::fixed> {};
template <> struct Edge<0, 1> : Side<Boundary::fixed> {};
template <> struct Edge<1, 0> : Side<Boundary::fixed> {};
template <> struct Edge<1, 1> : Side<Boundary::fixed> {};
template <> struct Edge<2, 0> : Side<Boundary::fixed> {};
template <> struct Edge<2, 1> : Side<Boundary::fixed> {};

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[1]) {
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real u_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_ym1 = at.template tap<0, 0, -1, 0>();
    const Real u_yp1 = at.template tap<0, 0, 1, 0>();
    const Real u_zm1 = at.template tap<0, 0, 0, -1>();
    const Real u_zp1 = at.template tap<0, 0, 0, 1>();
    const Real u_xm2 = at.template tap<0, -2, 0, 0>();
    const Real u_xp2 = at.template tap<0, 2, 0, 0>();
    const Real u_ym2 = at.template tap<0, 0, -2, 0>();
    const Real u_yp2 = at.template tap<0, 0, 2, 0>();
    const Real u_zm2 = at.template tap<0, 0, 0, -2>();
    const Real u_zp2 = at.template tap<0, 0, 0, 2>();
    const Real t1 = u_xm2 + u_xp2 + u_ym2 + u_yp2 + u_zm2 + u_zp2;
    const Real t2 = fmaf(0.041666668f, u_xm1 + u_xp1 + u_ym1 + u_yp1 + u_zm1 + u_zp1, 0.765625f * u_c);
    out[0] = fmaf(-0.0026041667f, t1, t2);
}
