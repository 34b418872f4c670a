#define STENCIL_KERNEL given3d_kernel
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_KEEPS 1 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 1
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 1
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 32, tile_y = 4, tile_z = 2;
    static constexpr int threads_x = 32, threads_y = 4, threads_z = 2;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 6; // to leave registers for, a multiprocessor
    static constexpr int arrays = 1, outputs = 1;
    static constexpr bool all_fixed = true; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = false; // some side
    static constexpr int low_x = 1, low_y = 1, low_z = 1;
    static constexpr int high_x = 1, high_y = 1, high_z = 1;
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
    Real parameter[2]; // k, source
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

// The weights, run by run.
static __constant__ Real weights[1] = {};
// A run of neighbouring taps: the offset of the first, and their weights.
struct Run {
    int dx, dy, dz, first, count;
};
static __constant__ Run runs[1] = {};
// The runs of an output that read an array.
template <int output, int array> struct Runs {
    static constexpr int first = 0, end = 0;
};

// What the weights leave: taps whose weights are parameters, and terms without any.
template <class At>
__device__ __forceinline__ void add_others([[maybe_unused]] const At &at,
                                           [[maybe_unused]] const Arguments &arguments,
                                           [[maybe_unused]] Real (&out)[1]) {
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real k_value = arguments.parameter[0];
    const Real u_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_yp1 = at.template tap<0, 0, 1, 0>();
    const Real u_ym1 = at.template tap<0, 0, -1, 0>();
    const Real u_zp1 = at.template tap<0, 0, 0, 1>();
    const Real u_zm1 = at.template tap<0, 0, 0, -1>();
    const Real source_value = arguments.parameter[1];
    const Real t1 = fmaf(-k_value, 6.0f, 1.0f);
    const Real t2 = k_value * (u_zm1 + u_ym1 + u_xm1 + u_xp1 + u_yp1 + u_zp1);
    out[0] += fmaf(t1, u_c, t2) + source_value;
}
