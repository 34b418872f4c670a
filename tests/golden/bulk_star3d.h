#define STENCIL_KERNEL star3d2_kernel
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_FLAT 0 // there is no axis y
#define PLAN_SCALED 0 // sums are scaled by what their point reads
#define PLAN_IMAGES 0 // cells beyond an edge are not zeros
#define PLAN_KEEPS 1 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 1
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 1
#define PLAN_HAS_Z 1
#include "arch/bulk.cuh"

struct plan {
    static constexpr int tile_x = 64, tile_y = 16, tile_z = 1;
    static constexpr int threads_x = 160, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 5; // to leave registers for, a multiprocessor
    static constexpr int arrays = 1, outputs = 1;
    static constexpr bool all_fixed = true; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = false; // some side
    static constexpr int low_x = 2, low_y = 2, low_z = 2;
    static constexpr int high_x = 2, high_y = 2, high_z = 2;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 4;
    static constexpr int summed = 1; // arrays that sums read, before the others
    static constexpr int walk = 32; // planes that a block makes
    static constexpr int lane_y = 2, row_points = 4; // rows of a thread, and points of one
    static constexpr int completes_y = 0; // the row that completes a sum, from its own
    static constexpr int readers = 128; // threads that make points
    static constexpr int barriers = 10240; // where they lie in shared memory
    static constexpr int line_bytes = 128; // of memory, at which rows begin
    static constexpr int ring = 4; // planes in shared memory
    static constexpr int wave = 660; // blocks that run at a time
    static constexpr int pace_waves = 4, pace_groups = 18; // of planes
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
    TensorMap map[4]; // of what bulk copies bring
};
static_assert(sizeof(Arguments) == 704, "the host packs 704 bytes");

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { // u
    static constexpr int grid = 0;
    static constexpr int low_x = 2, high_x = 2, low_y = 2, high_y = 2, low_z = 2, high_z = 2;
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
template <> struct Edge<0, 0> : Side<Boundary::fixed> {};
template <> struct Edge<0, 1> : Side<Boundary::fixed> {};
template <> struct Edge<1, 0> : Side<Boundary::fixed> {};
template <> struct Edge<1, 1> : Side<Boundary::fixed> {};
template <> struct Edge<2, 0> : Side<Boundary::fixed> {};
template <> struct Edge<2, 1> : Side<Boundary::fixed> {};

// What the thread's points read of row y of an array's plane, 0 being the first of theirs: nothing where
// `last` is before `first`, else so far below and above.
template <int array, int y> struct Asks;
template <> struct Asks<0, -2> { static constexpr int first = 0, last = 0, low = 0, high = 0; };
template <> struct Asks<0, -1> { static constexpr int first = 0, last = 0, low = 0, high = 0; };
template <> struct Asks<0, 0> { static constexpr int first = 0, last = 0, low = 2, high = 2; };
template <> struct Asks<0, 1> { static constexpr int first = 0, last = 0, low = 2, high = 2; };
template <> struct Asks<0, 2> { static constexpr int first = 0, last = 0, low = 0, high = 0; };
template <> struct Asks<0, 3> { static constexpr int first = 0, last = 0, low = 0, high = 0; };

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
    const Real t1 = fmaf(-0.11298077f, u_xp1, fmaf(0.068509616f, u_xm1, 0.024038462f * u_c));
    const Real t2 = fmaf(-0.125f, u_zm1, fmaf(0.08052885f, u_yp1, fmaf(0.036057692f, u_ym1, t1)));
    const Real t3 = fmaf(-0.13701923f, u_xp2, fmaf(0.09254808f, u_xm2, fmaf(0.048076924f, u_zp1, t2)));
    const Real t4 = fmaf(-0.02764423f, u_zm2, fmaf(0.104567304f, u_yp2, fmaf(0.060096152f, u_ym2, t3)));
    out[0] = fmaf(0.072115384f, u_zp2, t4);
}
// What the plane at hand adds to the points around it: sum[output][k] belongs to the point
// k - 2 planes away. The last of an output's sums is 0 before.
// Row by row: dy rows from the point.
template <int dy> struct InRow {};
template <class At>
__device__ __forceinline__ void add_row(InRow<-2>, [[maybe_unused]] const At &at,
                                          [[maybe_unused]] const Arguments &arguments,
                                          Real (&sum)[1][5]) {
    const Real u_ym2 = at.template tap<0, 0, -2, 0>();
    sum[0][2] = fmaf(0.060096152f, u_ym2, sum[0][2]);
}

template <class At>
__device__ __forceinline__ void add_row(InRow<-1>, [[maybe_unused]] const At &at,
                                          [[maybe_unused]] const Arguments &arguments,
                                          Real (&sum)[1][5]) {
    const Real u_ym1 = at.template tap<0, 0, -1, 0>();
    sum[0][2] = fmaf(0.036057692f, u_ym1, sum[0][2]);
}

template <class At>
__device__ __forceinline__ void add_row(InRow<0>, [[maybe_unused]] const At &at,
                                          [[maybe_unused]] const Arguments &arguments,
                                          Real (&sum)[1][5]) {
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real u_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_xp1 = at.template tap<0, 1, 0, 0>();
    const Real u_xm2 = at.template tap<0, -2, 0, 0>();
    const Real u_xp2 = at.template tap<0, 2, 0, 0>();
    sum[0][0] = fmaf(0.072115384f, u_c, sum[0][0]);
    sum[0][1] = fmaf(0.048076924f, u_c, sum[0][1]);
    sum[0][2] = fmaf(0.09254808f, u_xm2, sum[0][2]);
    sum[0][2] = fmaf(0.068509616f, u_xm1, sum[0][2]);
    sum[0][2] = fmaf(0.024038462f, u_c, sum[0][2]);
    sum[0][2] = fmaf(-0.11298077f, u_xp1, sum[0][2]);
    sum[0][2] = fmaf(-0.13701923f, u_xp2, sum[0][2]);
    sum[0][3] = fmaf(-0.125f, u_c, sum[0][3]);
    sum[0][4] = fmaf(-0.02764423f, u_c, sum[0][4]);
}

template <class At>
__device__ __forceinline__ void add_row(InRow<1>, [[maybe_unused]] const At &at,
                                          [[maybe_unused]] const Arguments &arguments,
                                          Real (&sum)[1][5]) {
    const Real u_yp1 = at.template tap<0, 0, 1, 0>();
    sum[0][2] = fmaf(0.08052885f, u_yp1, sum[0][2]);
}

template <class At>
__device__ __forceinline__ void add_row(InRow<2>, [[maybe_unused]] const At &at,
                                          [[maybe_unused]] const Arguments &arguments,
                                          Real (&sum)[1][5]) {
    const Real u_yp2 = at.template tap<0, 0, 2, 0>();
    sum[0][2] = fmaf(0.104567304f, u_yp2, sum[0][2]);
}

// What does not depend on any tap.
__device__ __forceinline__ void finish_sums([[maybe_unused]] const Arguments &arguments,
                                            [[maybe_unused]] Real (&out)[1]) {
}
