#include "numbers.cuh"

#define STENCIL_KERNEL sponge_kernel
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_FLAT 0 // there is no axis y
#define PLAN_SCALED 1 // sums are scaled by what their point reads
#define PLAN_IMAGES 0 // cells beyond an edge are not zeros
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 1
#define PLAN_CLAMPS 0
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 1
#define PLAN_HAS_Z 1
#define PLAN_POSITIONS 1 // the update asks where its point lies
#include "arch/bulk.cuh"

struct plan {
    static constexpr int tile_x = 64, tile_y = 16, tile_z = 1;
    static constexpr int threads_x = 160, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 7; // to leave registers for, a multiprocessor
    static constexpr int arrays = 1, outputs = 1;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = true; // some side
    static constexpr int low_x = 1, low_y = 1, low_z = 1;
    static constexpr int high_x = 1, high_y = 1, high_z = 1;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 4;
    static constexpr int summed = 1; // arrays that sums read, before the others
    static constexpr int walk = 32; // planes that a block makes
    static constexpr int lane_y = 2, row_points = 4; // rows of a thread, and points of one
    static constexpr int completes_y = 0; // the row that completes a sum, from its own
    static constexpr int readers = 128; // threads that make points
    static constexpr int barriers = 6912; // where they lie in shared memory
    static constexpr int line_bytes = 128; // of memory, at which rows begin
    static constexpr int ring = 3; // planes in shared memory
    static constexpr int wave = 924; // blocks that run at a time
    static constexpr int pace_waves = 4, pace_groups = 17; // of planes
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
    long long origin[3], global[3]; // of cell (0, 0, 0) in the whole grid, and its sizes
    long long step; // the first that this launch makes
    TensorMap map[1]; // of what bulk copies bring
};
static_assert(sizeof(Arguments) == 384, "the host packs 384 bytes");

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
template <> struct Edge<0, 0> : Side<Boundary::zero> {};
template <> struct Edge<0, 1> : Side<Boundary::zero> {};
template <> struct Edge<1, 0> : Side<Boundary::zero> {};
template <> struct Edge<1, 1> : Side<Boundary::zero> {};
template <> struct Edge<2, 0> : Side<Boundary::zero> {};
template <> struct Edge<2, 1> : Side<Boundary::zero> {};

// What the thread's points read of row y of an array's plane, 0 being the first of theirs: nothing where
// `last` is before `first`, else so far below and above.
template <int array, int y> struct Asks;
template <> struct Asks<0, -1> { static constexpr int first = 0, last = 0, low = 0, high = 0; };
template <> struct Asks<0, 0> { static constexpr int first = 0, last = 0, low = 1, high = 1; };
template <> struct Asks<0, 1> { static constexpr int first = 0, last = 0, low = 1, high = 1; };
template <> struct Asks<0, 2> { static constexpr int first = 0, last = 0, low = 0, high = 0; };

// What the plane at hand adds to the points around it: sum[output][k] belongs to the point
// k - 1 planes away. The last of an output's sums is 0 before.
// Row by row: dy rows from the point.
template <int dy> struct InRow {};
template <class At>
__device__ __forceinline__ void add_row(InRow<-1>, [[maybe_unused]] const At &at,
                                          [[maybe_unused]] const Arguments &arguments,
                                          Real (&sum)[1][3]) {
    const Real u_ym1 = at.template tap<0, 0, -1, 0>();
    sum[0][1] = fmaf(0.125f, u_ym1, sum[0][1]);
}

template <class At>
__device__ __forceinline__ void add_row(InRow<0>, [[maybe_unused]] const At &at,
                                          [[maybe_unused]] const Arguments &arguments,
                                          Real (&sum)[1][3]) {
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real u_xm1 = at.template tap<0, -1, 0, 0>();
    const Real u_xp1 = at.template tap<0, 1, 0, 0>();
    sum[0][0] = fmaf(0.125f, u_c, sum[0][0]);
    sum[0][1] = fmaf(0.125f, u_xm1 + u_xp1, sum[0][1]);
    sum[0][1] = fmaf(0.25f, u_c, sum[0][1]);
    sum[0][2] = fmaf(0.125f, u_c, sum[0][2]);
}

template <class At>
__device__ __forceinline__ void add_row(InRow<1>, [[maybe_unused]] const At &at,
                                          [[maybe_unused]] const Arguments &arguments,
                                          Real (&sum)[1][3]) {
    const Real u_yp1 = at.template tap<0, 0, 1, 0>();
    sum[0][1] = fmaf(0.125f, u_yp1, sum[0][1]);
}

#define PLAN_PLACED 1 // what a point makes of its sum depends on its place
#define PLAN_INTERIOR 1 // and away from the edges it does not
// Whether conditions on the place have one answer at cell i of an axis, as they have away from the edges.
template <int axis>
__device__ __forceinline__ bool interior_along(const Arguments &arguments, long long i) {
    if constexpr (axis == 0) {
        const long long place = arguments.origin[0] + i;
        return place >= 20 && place < arguments.global[0] - 20 && arguments.global[0] <= 8388608;
    }
    if constexpr (axis == 1) {
        const long long place = arguments.origin[1] + i;
        return place >= 20 && place < arguments.global[1] - 20 && arguments.global[1] <= 8388608;
    }
    if constexpr (axis == 2) {
        const long long place = arguments.origin[2] + i;
        return place < arguments.global[2] - 20 && arguments.global[2] <= 8388608;
    }
    return true;
}

// From and to which cell of the walked axis that holds.
__device__ __forceinline__ void interior_ends(const Arguments &arguments, long long &first, long long &end) {
    first = 0 - arguments.origin[2];
    end = arguments.global[2] - 20 - arguments.origin[2];
    if (arguments.global[2] > 8388608)
        end = first;
}
// What the point makes of its sum there, and elsewhere.
template <class At>
__device__ __forceinline__ void finish_inside(const At &at, [[maybe_unused]] const Arguments &arguments, Real (&out)[1]) {
    const Real sum_1_c = at.template tap<1, 0, 0, 0>();
    out[0] = 1.0f * sum_1_c;
}
// What a point's place along x decides alone.
struct AlongX {
    Real value0;
};
template <class At>
__device__ __forceinline__ AlongX find_along_x([[maybe_unused]] const At &at, [[maybe_unused]] const Arguments &arguments) {
    AlongX found;
    const Real at_x = static_cast<Real>(arguments.origin[0] + at.template index<0>());
    const Real at_nx = static_cast<Real>(arguments.global[0]);
    found.value0 = minimum(at_x, at_nx - 1.0f - at_x);
    return found;
}
// What a point's place along y decides alone.
struct AlongY {
    Real value0;
};
template <class At>
__device__ __forceinline__ AlongY find_along_y([[maybe_unused]] const At &at, [[maybe_unused]] const Arguments &arguments) {
    AlongY found;
    const Real at_y = static_cast<Real>(arguments.origin[1] + at.template index<1>());
    const Real at_ny = static_cast<Real>(arguments.global[1]);
    found.value0 = minimum(at_y, at_ny - 1.0f - at_y);
    return found;
}
// What a point's place along z decides alone.
struct AlongZ {
    Real value0;
};
template <class At>
__device__ __forceinline__ AlongZ find_along_z([[maybe_unused]] const At &at, [[maybe_unused]] const Arguments &arguments) {
    AlongZ found;
    const Real at_nz = static_cast<Real>(arguments.global[2]);
    const Real at_z = static_cast<Real>(arguments.origin[2] + at.template index<2>());
    found.value0 = at_nz - 1.0f - at_z;
    return found;
}
template <class At>
__device__ __forceinline__ void finish_layer(const At &at, [[maybe_unused]] const Arguments &arguments, [[maybe_unused]] const AlongX &along_x, [[maybe_unused]] const AlongY &along_y, [[maybe_unused]] const AlongZ &along_z, Real (&out)[1]) {
    const Real t1 = minimum(minimum(along_x.value0, along_y.value0), along_z.value0);
    const Real sum_1_c = at.template tap<1, 0, 0, 0>();
    out[0] = ((t1 < 2e+01f) ? t1 / 32.0f + 0.375f : 1.0f) * sum_1_c;
}
template <class At>
__device__ __forceinline__ void finish_sums(const At &at, const Arguments &arguments, Real (&out)[1]) {
    if (interior_along<0>(arguments, at.template index<0>()) &&
        interior_along<1>(arguments, at.template index<1>()) &&
        interior_along<2>(arguments, at.template index<2>()))
        finish_inside(at, arguments, out);
    else
        finish_layer(at, arguments, find_along_x(at, arguments), find_along_y(at, arguments), find_along_z(at, arguments), out);
}
