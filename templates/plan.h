// An example of the plan that stencilgen writes, so that editors index the templates and nvcc
// compiles them as they stand: a 3D star of radius 1 over two arrays. The generator's own plan.h
// takes its place and defines as much of this as its template asks for.

#define STENCIL_KERNEL example_kernel
#define PLAN_PACKS 1       // as plan::packs, for the preprocessor
#define PLAN_SOME_POINTS 0 // of a row alone may be stored
#define PLAN_WIDE_SIDES 0  // sides are loaded by packs where the shape reaches far
#define PLAN_MASKS 0       // what lies outside is a bit each, and not loaded
#define PLAN_HOLDS_KEPT 0  // what a fixed boundary keeps
#define PLAN_HELD_SIDES 0  // sides are held for planes that are still to come
#define PLAN_FLAT 0        // there is no axis y
#define PLAN_COMPUTED 1    // results, before it is asked whether their row is stored
#define PLAN_AWAITS 1      // the launch may begin before the one ahead has ended
#define PLAN_SCALED 0      // sums are scaled by what their point reads
#define PLAN_IMAGES 1      // cells beyond an edge are not zeros
#define PLAN_ENDS 1        // planes come with cells from the grid's other end
#define PLAN_QUICK 0       // quotients and roots of several points ask one question
#define PLAN_POSITIONS 1   // the update asks where its point lies
#define PLAN_KEEPS 1       // a side that the shape reaches over is fixed; which rules there are:
#define PLAN_GIVES 1
#define PLAN_CLAMPS 1
#define PLAN_MIRRORS 1
#define PLAN_WRAPS 1
#define PLAN_HAS_Y 1
#define PLAN_HAS_Z 1
#define PLAN_APART 1 // warps wait for the warps next to them, not for a block
#define PLAN_BOXES 1 // bulk copies bring planes of several steps

#include "arch/bulk.cuh"

using Real = float;

struct plan {
    static constexpr int tile_x = 32, tile_y = 8, tile_z = 1;
    static constexpr int threads_x = 32, threads_y = 8, threads_z = 1, threads = 256;
    static constexpr int blocks = 4;
    static constexpr int walk = 16;
    static constexpr int vector = 1;
    static constexpr bool packs = true;     // rows are loaded and stored as packs
    static constexpr bool all_fixed = true; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = false; // some side
    static constexpr int time = 4, lane_x = 20, stages = 4, carried = 1, second = 2;
    static constexpr bool each_warp = true;
    static constexpr int input_slots = 3, strip_bytes = 128, wave = 264, at_once = 2;
    static constexpr bool images = true; // some cells beyond a side are images of others
    static constexpr int words = 2, boxes = 2, messages = 1;
    static constexpr bool star = true;
    static constexpr int ahead = 2, fetched = 1, slab = 1 << 21;
    static constexpr bool flat = false;
    static constexpr int halo_low_x = 4, halo_low_y = 4, halo_low_z = 4;
    static constexpr int halo_high_x = 4, halo_high_y = 4, halo_high_z = 4;
    static constexpr int arrays = 2, summed = 2, outputs = 1, rows = 6;
    static constexpr int low_x = 1, low_y = 1, low_z = 1;
    static constexpr int high_x = 1, high_y = 1, high_z = 1;
    static constexpr int walk_low = 1, walk_high = 1;
    static constexpr int results = 1000, result_pitch = 600;
    static constexpr int run = 512;
    static constexpr int lane_y = 1, lanes = 8, ring = 3, halo_x = 4;
    static constexpr int readers = 224, barriers = 104, completes_y = 1, line_bytes = 128,
                         planes = 18, groups = 1;
    static constexpr int pace_waves = 4, pace_groups = 9;
    static constexpr bool keep = false, corners = false, copy_packs = true;
    static constexpr int halo_y = 4, below_z = 1, above_z = 1, lag = 1, window = 3;
    static constexpr int tables = 206000;
    static constexpr int points = 2, width = 40, height = 10, before = 1, behind = 1, turns = 3;
    static constexpr int sources = 3, exchanges = 2, strip = 56;
    static constexpr bool ring_x = false, ring_y = false, ring_z = false;
    static constexpr bool ends_x = true, ends_y = true;
};

struct Grid {
    Real *data;
    long long stride_y, stride_z;
};
struct Arguments {
    long long size[3], begin[3], end[3];
    int inner_first[3], inner_end[3];
    int aligned, steps;
    Grid grid[3];
    Real parameter[1];
    long long origin[3], global[3], step;
    TensorMap map[2];
};
static_assert(sizeof(Arguments) == 512, "the host packs 512 bytes");

// The cell of an array or an output, and the grid of such cells.
template <class Of> using Stored = Real;
template <class Of> using GridOf = Grid;
template <int grid> struct At;

template <int array> struct Array;
template <> struct Array<0> { // u
    static constexpr int grid = 0;
    static constexpr int low_x = 1, high_x = 1, low_y = 1, high_y = 1, low_z = 1, high_z = 1;
    static constexpr bool staged = true;
    static constexpr int shared = 0;
};
template <> struct Array<1> { // c
    static constexpr int grid = 1;
    static constexpr int low_x = 0, high_x = 0, low_y = 0, high_y = 0, low_z = 0, high_z = 0;
    static constexpr bool staged = false;
    static constexpr int shared = 0;
};
template <int output> struct Output;
template <> struct Output<0> { // u.next
    static constexpr int grid = 2, current = 0;
};
template <int array> struct Previous;
template <> struct Previous<0> { static constexpr int of = -1; };
template <> struct Previous<1> { static constexpr int of = -1; };
template <int output> struct Second;
template <> struct Second<0> { static constexpr int grid = -1, message = -1; };

enum class Boundary { fixed, zero, constant, clamp, mirror, periodic };
template <Boundary rule> struct Side {
    static constexpr Boundary kind = rule;
    static __device__ __forceinline__ Real beyond() {
        return 0;
    }
};
template <int axis, int side> struct Edge : Side<Boundary::fixed> {};

template <int row> struct Row;
template <> struct Row<0> { static constexpr int array = 0, dy = 0, dz = 0, low = 1, high = 1; };
template <> struct Row<1> { static constexpr int array = 0, dy = -1, dz = 0, low = 0, high = 0; };
template <> struct Row<2> { static constexpr int array = 0, dy = 1, dz = 0, low = 0, high = 0; };
template <> struct Row<3> { static constexpr int array = 0, dy = 0, dz = -1, low = 0, high = 0; };
template <> struct Row<4> { static constexpr int array = 0, dy = 0, dz = 1, low = 0, high = 0; };
template <> struct Row<5> { static constexpr int array = 1, dy = 0, dz = 0, low = 0, high = 0; };

// The lines of y (0: the thread's first row) that a thread reads: the first and last plane; in how
// many planes the shape reaches along x, the last of these, and how far.
template <int array, int y> struct Asks {
    static constexpr int first = -1, last = 1, sides = 1, plane = 0, low = 1, high = 1;
};
template <int array, int y> struct HeldLine;
template <class... Each> struct LinesOf;
using HeldLines = LinesOf<HeldLine<0, -1>, HeldLine<0, 0>, HeldLine<0, 1>, HeldLine<1, 0>>;

template <int array> struct Source;
template <> struct Source<0> {
    static constexpr int output = 0, previous = 0, place = 0, slots = 4;
    static constexpr bool still = false;
};
template <> struct Source<1> {
    static constexpr int output = 0, previous = 0, place = 20480, slots = 7;
    static constexpr bool still = true;
};
template <int dx, int dy, int dz> struct Tap { // of a linear update: whether it is read, its weight
    static constexpr bool is = dx * dx + dy * dy + dz * dz <= 1;
    static __device__ __forceinline__ Real weight(const Arguments &) {
        return 0.1f;
    }
};
template <int output> struct Level;
template <> struct Level<0> {
    static constexpr int array = 0, place = 56320, slots = 2, back = 0, images = 0, second = -1;
};

template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments,
                                             Real (&out)[1]) {
    const Real u_c = at.template tap<0, 0, 0, 0>();
    const Real sum = at.template tap<0, -1, 0, 0>() + at.template tap<0, 1, 0, 0>() +
                     at.template tap<0, 0, -1, 0>() + at.template tap<0, 0, 1, 0>() +
                     at.template tap<0, 0, 0, -1>() + at.template tap<0, 0, 0, 1>();
    out[0] = u_c + at.template tap<1, 0, 0, 0>() * (sum - 6.0f * u_c) * arguments.parameter[0];
}

// Of a chain of stages: where planes lie, what lies beyond ends, and each stage.
template <int source> struct Ring {
    static constexpr int place = source * 4000, slots = 8, depth = 8, lag = source == 2 ? 1 : 0;
    static constexpr int low = 1, high = 1, widened = 0; // neighbours of columns
};
template <int exchange> struct Exchange { static constexpr int source = 2 * exchange, back = 2; };
template <int source, int back> constexpr int exchange_of = source == 0 ? 0 : 1;
template <int source, int axis, int side> struct Rule {
    static constexpr Boundary kind = Boundary::zero;
    static __device__ __forceinline__ Real beyond(const Arguments &) {
        return 0;
    }
};
template <int stage, int array> constexpr int source_of = stage == 0 ? array : 2;
template <int stage, int result> struct Result {
    static constexpr int makes = stage == 0 ? 2 : -1, output = stage == 0 ? -1 : 0, old = 0;
};
template <int stage> struct Stage {
    static constexpr int lag = 1 + 2 * stage, results = 1;
    static constexpr int first_x = 3, end_x = 37, first_y = 1, end_y = 9, before = 1, behind = 1;
    static constexpr int low_z = 1, high_z = 1;
    static constexpr int keeps_low_x = 1, keeps_high_x = 1, keeps_low_y = 0, keeps_high_y = 0;
    static constexpr int keeps_low_z = 0, keeps_high_z = 0;
    template <class At, class From>
    static __device__ __forceinline__ void update(const At &at, const From &arguments,
                                                  Real (&out)[1]) {
        out[0] = at.template tap<0, 0, 0, 0>() +
                 arguments.parameter[0] *
                     (at.template tap<1, 1, 0, 0>() - at.template tap<1, -1, 0, 0>() +
                      at.template tap<1, 0, 0, 1>());
    }
};

template <class At>
__device__ __forceinline__ void add_plane(const At &, const Arguments &, Real (&)[1][3]) {
}
template <int dy> struct InRow {};
template <int dy, class At>
__device__ __forceinline__ void add_row(InRow<dy>, const At &, const Arguments &, Real (&)[1][3]) {
}
__device__ __forceinline__ void finish_sums(const Arguments &, Real (&)[1]) {
}

static __constant__ Real weights[7] = {0.1f, 0.1f, 0.1f, 0.4f, 0.1f, 0.1f, 0.1f};
struct Run {
    int dx, dy, dz, first, count;
};
static __constant__ Run runs[5] = {
    {0, 0, -1, 0, 1}, {0, -1, 0, 1, 1}, {-1, 0, 0, 2, 3}, {0, 1, 0, 5, 1}, {0, 0, 1, 6, 1}};
template <int output, int array> struct Runs { static constexpr int first = 0, end = 0; };
template <> struct Runs<0, 0> { static constexpr int first = 0, end = 5; };
template <class At>
__device__ __forceinline__ void add_others(const At &, const Arguments &, Real (&)[1]) {
}
