#define STENCIL_KERNEL star3d1_kernel
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_KEEPS 1 // a side that the shape reaches over is fixed
#define PLAN_GIVES 1
#define PLAN_CLAMPS 1
#define PLAN_MIRRORS 1
#define PLAN_WRAPS 1
#define PLAN_HAS_Y 1
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 7, tile_y = 5, tile_z = 3;
    static constexpr int threads_x = 7, threads_y = 5, threads_z = 3;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 12; // to leave registers for, a multiprocessor
    static constexpr int arrays = 1, outputs = 1;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = true, gives_values = true; // some side
    static constexpr int low_x = 1, low_y = 1, low_z = 1;
    static constexpr int high_x = 1, high_y = 1, high_z = 1;
};

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
template <> struct Edge<0, 0> : Side<Boundary::constant> {
    static __device__ __forceinline__ Real beyond() {
        return 0.75;
    }
};
template <> struct Edge<0, 1> : Side<Boundary::mirror> {};
template <> struct Edge<1, 0> : Side<Boundary::zero> {};
template <> struct Edge<1, 1> : Side<Boundary::fixed> {};
template <> struct Edge<2, 0> : Side<Boundary::periodic> {};
template <> struct Edge<2, 1> : Side<Boundary::periodic> {};

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
    const Real t1 = fma(0.12723214285714285, u_xm1, 0.044642857142857144 * u_c);
    const Real t2 = fma(0.06696428571428571, u_ym1, fma(-0.20982142857142858, u_xp1, t1));
    const Real t3 = fma(-0.23214285714285715, u_zm1, fma(0.14955357142857142, u_yp1, t2));
    out[0] = fma(0.08928571428571429, u_zp1, t3);
}
