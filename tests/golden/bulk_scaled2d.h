#define STENCIL_KERNEL wave2d_kernel
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_FLAT 1 // there is no axis y
#define PLAN_SCALED 1 // sums are scaled by what their point reads
#define PLAN_IMAGES 0 // cells beyond an edge are not zeros
#define PLAN_KEEPS 1 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 1
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 0
#define PLAN_HAS_Z 1
#include "arch/bulk.cuh"

struct plan {
    static constexpr int tile_x = 64, tile_y = 1, tile_z = 1;
    static constexpr int threads_x = 64, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 1; // to leave registers for, a multiprocessor
    static constexpr int arrays = 4, outputs = 1;
    static constexpr bool all_fixed = true; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = false; // some side
    static constexpr int low_x = 2, low_y = 0, low_z = 2;
    static constexpr int high_x = 2, high_y = 0, high_z = 2;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 2;
    static constexpr int summed = 1; // arrays that sums read, before the others
    static constexpr int walk = 32; // planes that a block makes
    static constexpr int lane_y = 1, row_points = 2; // rows of a thread, and points of one
    static constexpr int completes_y = 0; // the row that completes a sum, from its own
    static constexpr int readers = 64; // threads that make points
    static constexpr int barriers = 9600; // where they lie in shared memory
    static constexpr int line_bytes = 128; // of memory, at which rows begin
    static constexpr int planes = 36; // that a block reads
    static constexpr int groups = 2; // of threads, which share them
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
    Grid grid[4]; // c, u, u.prev, u.next
    Real parameter[1]; // r
    TensorMap map[4]; // of what bulk copies bring
};
static_assert(sizeof(Arguments) == 768, "the host packs 768 bytes");

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { // u
    static constexpr int grid = 1;
    static constexpr int low_x = 2, high_x = 2, low_y = 0, high_y = 0, low_z = 2, high_z = 2;
    static constexpr bool staged = true; // in shared memory ...
    static constexpr int shared = 0;     // ... from this element on
};
template <> struct Array<1> { // c
    static constexpr int grid = 0;
    static constexpr int low_x = 0, high_x = 0, low_y = 0, high_y = 0, low_z = 0, high_z = 0;
    static constexpr bool staged = true; // in shared memory ...
    static constexpr int shared = 3456;     // ... from this element on
};
template <> struct Array<2> { // u
    static constexpr int grid = 1;
    static constexpr int low_x = 0, high_x = 0, low_y = 0, high_y = 0, low_z = 0, high_z = 0;
    static constexpr bool staged = true; // in shared memory ...
    static constexpr int shared = 5504;     // ... from this element on
};
template <> struct Array<3> { // u.prev
    static constexpr int grid = 2;
    static constexpr int low_x = 0, high_x = 0, low_y = 0, high_y = 0, low_z = 0, high_z = 0;
    static constexpr bool staged = true; // in shared memory ...
    static constexpr int shared = 7552;     // ... from this element on
};
template <int output> struct Output;
template <> struct Output<0> { static constexpr int grid = 3, current = 1; }; // u.next

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

// What the thread's points read of row y of an array's plane, 0 being the first of theirs: nothing where
// `last` is before `first`, else so far below and above.
template <int array, int y> struct Asks;
template <> struct Asks<0, 0> { static constexpr int first = 0, last = 0, low = 2, high = 2; };

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[1]) {
    const Real u_0_c = at.template tap<0, 0, 0, 0>();
    const Real u_3_c = at.template tap<3, 0, 0, 0>();
    const Real r_value = arguments.parameter[0];
    const Real c_1_c = at.template tap<1, 0, 0, 0>();
    const Real t1 = r_value * c_1_c;
    const Real u_0_ym2 = at.template tap<0, 0, 0, -2>();
    const Real u_0_ym1 = at.template tap<0, 0, 0, -1>();
    const Real u_0_xm2 = at.template tap<0, -2, 0, 0>();
    const Real u_0_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_0_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_0_xp2 = at.template tap<0, 2, 0, 0>();
    const Real u_0_yp1 = at.template tap<0, 0, 0, 1>();
    const Real u_0_yp2 = at.template tap<0, 0, 0, 2>();
    const Real t2 = u_0_ym2 + u_0_xm2 + u_0_xp2 + u_0_yp2;
    const Real t3 = 1.3333333333333333 * (u_0_ym1 + u_0_xm1 + u_0_xp1 + u_0_yp1);
    const Real t4 = fma(-(t1 * t1), fma(-5.0, u_0_c, fma(-0.08333333333333333, t2, t3)), u_3_c);
    out[0] = fma(2.0, u_0_c, -t4);
}
// What the plane at hand adds to the points around it: sum[output][k] belongs to the point
// k - 2 planes away. The last of an output's sums is 0 before.
// Row by row: dy rows from the point.
template <int dy> struct InRow {};
template <class At>
__device__ __forceinline__ void add_row(InRow<0>, [[maybe_unused]] const At &at,
                                          [[maybe_unused]] const Arguments &arguments,
                                          Real (&sum)[1][5]) {
    const Real u_0_c = at.template tap<0, 0, 0, 0>();
    const Real u_0_xm2 = at.template tap<0, -2, 0, 0>();
    const Real u_0_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_0_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_0_xp2 = at.template tap<0, 2, 0, 0>();
    sum[0][0] = fma(-0.08333333333333333, u_0_c, sum[0][0]);
    sum[0][1] = fma(1.3333333333333333, u_0_c, sum[0][1]);
    sum[0][2] = fma(-0.08333333333333333, u_0_xm2 + u_0_xp2, sum[0][2]);
    sum[0][2] = fma(1.3333333333333333, u_0_xm1 + u_0_xp1, sum[0][2]);
    sum[0][2] = fma(-5.0, u_0_c, sum[0][2]);
    sum[0][3] = fma(1.3333333333333333, u_0_c, sum[0][3]);
    sum[0][4] = fma(-0.08333333333333333, u_0_c, sum[0][4]);
}

// What the point makes of its sum, tap<4, 0, 0, 0>, by its own values.
template <class At>
__device__ __forceinline__ void finish_sums(const At &at,
                                            [[maybe_unused]] const Arguments &arguments,
                                            Real (&out)[1]) {
    const Real u_2_c = at.template tap<2, 0, 0, 0>();
    const Real u_3_c = at.template tap<3, 0, 0, 0>();
    const Real r_value = arguments.parameter[0];
    const Real c_1_c = at.template tap<1, 0, 0, 0>();
    const Real t1 = r_value * c_1_c;
    const Real sum_4_c = at.template tap<4, 0, 0, 0>();
    out[0] = fma(2.0, u_2_c, -fma(-(t1 * t1), sum_4_c, u_3_c));
}
