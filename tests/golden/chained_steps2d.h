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
    Grid grid[6]; // what a launch reads and writes
    Real parameter[1]; // r
    long long origin[3], global[3]; // of cell (0, 0, 0) in the whole grid, and its sizes
    long long step; // the first that this launch makes
};
static_assert(sizeof(Arguments) == 312, "the host packs 312 bytes");

#include "numbers.cuh"

#define STENCIL_KERNEL waves_1
#define PLAN_QUICK 0 // quotients and roots of several points ask one question
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 0
#define PLAN_CLAMPS 1
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 0
#define PLAN_HAS_Z 1

struct plan {
    static constexpr int tile_x = 56, tile_y = 1, tile_z = 1;
    static constexpr int threads_x = 32, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 23; // to leave registers for, a multiprocessor
    static constexpr int arrays = 3, outputs = 3;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = false; // some side
    static constexpr int low_x = 2, low_y = 0, low_z = 4;
    static constexpr int high_x = 2, high_y = 0, high_z = 2;
    static constexpr int walk = 16, vector = 1, points = 2, ahead = 3;
    static constexpr int width = 64, height = 1, halo_x = 2, halo_y = 0;
    static constexpr int before = 4, behind = 2, turns = 2; // planes around those that are stored
    static constexpr int stages = 4, sources = 8;
    static constexpr int strip = 56; // columns that a warp stores
    static constexpr bool ring_x = false;
    static constexpr bool ring_y = false;
    static constexpr bool ring_z = false;
};

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { // p
    static constexpr int grid = 0;
    static constexpr int low_x = 2, high_x = 2, low_y = 0, high_y = 0, low_z = 4, high_z = 2;
};
template <> struct Array<1> { // u
    static constexpr int grid = 2;
    static constexpr int low_x = 2, high_x = 1, low_y = 0, high_y = 0, low_z = 3, high_z = 1;
};
template <> struct Array<2> { // v
    static constexpr int grid = 4;
    static constexpr int low_x = 2, high_x = 1, low_y = 0, high_y = 0, low_z = 3, high_z = 1;
};
template <int output> struct Output;
template <> struct Output<0> { static constexpr int grid = 1, current = 0; }; // p.next
template <> struct Output<1> { static constexpr int grid = 3, current = 2; }; // u.next
template <> struct Output<2> { static constexpr int grid = 5, current = 4; }; // v.next

enum class Boundary { fixed, zero, constant, clamp, mirror, periodic };
template <Boundary rule> struct Side {
    static constexpr Boundary kind = rule;
    static __device__ __forceinline__ Real beyond() {
        return 0;
    }
};
// Below (0) and above (1) the grid along each of the kernel's axes.
template <int axis, int side> struct Edge;
template <> struct Edge<0, 0> : Side<Boundary::clamp> {};
template <> struct Edge<0, 1> : Side<Boundary::clamp> {};
template <> struct Edge<1, 0> : Side<Boundary::clamp> {};
template <> struct Edge<1, 1> : Side<Boundary::clamp> {};
template <> struct Edge<2, 0> : Side<Boundary::clamp> {};
template <> struct Edge<2, 1> : Side<Boundary::clamp> {};

#define PLAN_WAVE 3036 // blocks that run at a time; their walks take turns
// low, high: neighbours of a lane's columns that stages read, first so many turns after the row
// is the newest: widened; -1: none.
// The rows of a source that a thread keeps: the arrays, and then what stages make; lag: how many
// turns after the row that arrives.
template <int source> struct Ring;
template <> struct Ring<0> { static constexpr int depth = 3, low = 0, high = 1, widened = 1, lag = 0; };
template <> struct Ring<1> { static constexpr int depth = 1, low = 0, high = 0, widened = -1, lag = 1; };
template <> struct Ring<2> { static constexpr int depth = 1, low = 0, high = 0, widened = -1, lag = 1; };
template <> struct Ring<3> { static constexpr int depth = 2, low = 1, high = 0, widened = 0, lag = 1; };
template <> struct Ring<4> { static constexpr int depth = 2, low = 0, high = 0, widened = -1, lag = 1; };
template <> struct Ring<5> { static constexpr int depth = 3, low = 0, high = 1, widened = 1, lag = 1; };
template <> struct Ring<6> { static constexpr int depth = 1, low = 1, high = 0, widened = 0, lag = 2; };
template <> struct Ring<7> { static constexpr int depth = 2, low = 0, high = 0, widened = -1, lag = 2; };
// What readers of a source find beyond an end.
template <int source, int axis, int side> struct Rule {
    static constexpr Boundary kind = Boundary::fixed; // nothing: nobody reads there
    static __device__ __forceinline__ Real beyond(const Arguments &) {
        return 0;
    }
};
template <> struct Rule<0, 0, 1> {
    static constexpr Boundary kind = Boundary::zero;
    static __device__ __forceinline__ Real beyond(const Arguments &a) {
        return 0.0f;
    }
};
template <> struct Rule<0, 2, 1> {
    static constexpr Boundary kind = Boundary::clamp;
    static __device__ __forceinline__ Real beyond(const Arguments &a) {
        return 0.0f;
    }
};
template <> struct Rule<3, 0, 0> {
    static constexpr Boundary kind = Boundary::zero;
    static __device__ __forceinline__ Real beyond(const Arguments &a) {
        return 0.0f;
    }
};
template <> struct Rule<5, 0, 1> {
    static constexpr Boundary kind = Boundary::zero;
    static __device__ __forceinline__ Real beyond(const Arguments &a) {
        return 0.0f;
    }
};
template <> struct Rule<5, 2, 1> {
    static constexpr Boundary kind = Boundary::clamp;
    static __device__ __forceinline__ Real beyond(const Arguments &a) {
        return 0.0f;
    }
};
template <> struct Rule<6, 0, 0> {
    static constexpr Boundary kind = Boundary::zero;
    static __device__ __forceinline__ Real beyond(const Arguments &a) {
        return 0.0f;
    }
};
// The source of a stage's array.
template <int stage, int array> constexpr int source_of = 0;
template <> constexpr int source_of<0, 0> = 0; // p
template <> constexpr int source_of<0, 1> = 1; // u
template <> constexpr int source_of<0, 2> = 2; // v
template <> constexpr int source_of<1, 0> = 0; // p
template <> constexpr int source_of<1, 1> = 3; // u
template <> constexpr int source_of<1, 2> = 4; // v
template <> constexpr int source_of<2, 0> = 5; // p
template <> constexpr int source_of<2, 1> = 3; // u
template <> constexpr int source_of<2, 2> = 4; // v
template <> constexpr int source_of<3, 0> = 5; // p
template <> constexpr int source_of<3, 1> = 6; // u
template <> constexpr int source_of<3, 2> = 7; // v
// What becomes of a stage's result: the source that it makes, the output that is stored, and the
// source of what a fixed boundary keeps; -1: none.
template <int stage, int result> struct Result;
template <> struct Result<0, 0> { static constexpr int makes = 3, output = -1, old = 1; };
template <> struct Result<0, 1> { static constexpr int makes = 4, output = -1, old = 2; };
template <> struct Result<1, 0> { static constexpr int makes = 5, output = -1, old = 0; };
template <> struct Result<2, 0> { static constexpr int makes = 6, output = 1, old = 3; };
template <> struct Result<2, 1> { static constexpr int makes = 7, output = 2, old = 4; };
template <> struct Result<3, 0> { static constexpr int makes = -1, output = 0, old = 5; };
// A stage: the columns and planes that it makes, what a fixed boundary keeps, and a point's update.
template <int stage> struct Stage;
template <> struct Stage<0> {
    static constexpr int lag = 1, results = 2;
    static constexpr int first_x = 0, end_x = 59; // of the tile with its halo
    static constexpr int first_y = 0, end_y = 1; // of the tile with its halo
    static constexpr int before = 3, behind = 1; // planes
    static constexpr int low_z = 1, high_z = 1;  // that it reads
    static constexpr int keeps_low_x = 0, keeps_high_x = 0;
    static constexpr int keeps_low_y = 0, keeps_high_y = 0;
    static constexpr int keeps_low_z = 1, keeps_high_z = 0;
    template <class At, class From>
    static __device__ __forceinline__ void update(const At &at, const From &arguments, Real (&out)[2]) {
    const Real u_1_c = at.template tap<1, 0, 0, 0>();
    const Real r_value = arguments.parameter[0];
    const Real p_0_xp1 = at.template tap<0, 1, 0, 0>();
    const Real p_0_c = at.template tap<0, 0, 0, 0>();
    const Real v_2_c = at.template tap<2, 0, 0, 0>();
    const Real p_0_yp1 = at.template tap<0, 0, 0, 1>();
    const Real p_0_ym1 = at.template tap<0, 0, 0, -1>();
    out[0] = fmaf(-r_value, p_0_xp1 - p_0_c, u_1_c);
    out[1] = fmaf(-r_value, p_0_yp1 - p_0_ym1, v_2_c);
    }
};
template <> struct Stage<1> {
    static constexpr int lag = 1, results = 1;
    static constexpr int first_x = 1, end_x = 59; // of the tile with its halo
    static constexpr int first_y = 0, end_y = 1; // of the tile with its halo
    static constexpr int before = 2, behind = 1; // planes
    static constexpr int low_z = 1, high_z = 0;  // that it reads
    static constexpr int keeps_low_x = 0, keeps_high_x = 0;
    static constexpr int keeps_low_y = 0, keeps_high_y = 0;
    static constexpr int keeps_low_z = 1, keeps_high_z = 0;
    template <class At, class From>
    static __device__ __forceinline__ void update(const At &at, const From &arguments, Real (&out)[1]) {
    const Real u_1_c = at.template tap<1, 0, 0, 0>();
    const Real r_value = arguments.parameter[0];
    const Real p_0_c = at.template tap<0, 0, 0, 0>();
    const Real v_2_c = at.template tap<2, 0, 0, 0>();
    const Real u_1_xm1 = at.template tap<1, -1, 0, 0>();
    const Real v_2_ym1 = at.template tap<2, 0, 0, -1>();
    out[0] = fmaf(-r_value, u_1_c - u_1_xm1 + v_2_c - v_2_ym1, p_0_c);
    }
};
template <> struct Stage<2> {
    static constexpr int lag = 2, results = 2;
    static constexpr int first_x = 1, end_x = 58; // of the tile with its halo
    static constexpr int first_y = 0, end_y = 1; // of the tile with its halo
    static constexpr int before = 1, behind = 0; // planes
    static constexpr int low_z = 1, high_z = 1;  // that it reads
    static constexpr int keeps_low_x = 0, keeps_high_x = 0;
    static constexpr int keeps_low_y = 0, keeps_high_y = 0;
    static constexpr int keeps_low_z = 1, keeps_high_z = 0;
    template <class At, class From>
    static __device__ __forceinline__ void update(const At &at, const From &arguments, Real (&out)[2]) {
    const Real u_1_c = at.template tap<1, 0, 0, 0>();
    const Real r_value = arguments.parameter[0];
    const Real p_0_xp1 = at.template tap<0, 1, 0, 0>();
    const Real p_0_c = at.template tap<0, 0, 0, 0>();
    const Real v_2_c = at.template tap<2, 0, 0, 0>();
    const Real p_0_yp1 = at.template tap<0, 0, 0, 1>();
    const Real p_0_ym1 = at.template tap<0, 0, 0, -1>();
    out[0] = fmaf(-r_value, p_0_xp1 - p_0_c, u_1_c);
    out[1] = fmaf(-r_value, p_0_yp1 - p_0_ym1, v_2_c);
    }
};
template <> struct Stage<3> {
    static constexpr int lag = 2, results = 1;
    static constexpr int first_x = 2, end_x = 58; // of the tile with its halo
    static constexpr int first_y = 0, end_y = 1; // of the tile with its halo
    static constexpr int before = 0, behind = 0; // planes
    static constexpr int low_z = 1, high_z = 0;  // that it reads
    static constexpr int keeps_low_x = 0, keeps_high_x = 0;
    static constexpr int keeps_low_y = 0, keeps_high_y = 0;
    static constexpr int keeps_low_z = 1, keeps_high_z = 0;
    template <class At, class From>
    static __device__ __forceinline__ void update(const At &at, const From &arguments, Real (&out)[1]) {
    const Real u_1_c = at.template tap<1, 0, 0, 0>();
    const Real r_value = arguments.parameter[0];
    const Real p_0_c = at.template tap<0, 0, 0, 0>();
    const Real v_2_c = at.template tap<2, 0, 0, 0>();
    const Real u_1_xm1 = at.template tap<1, -1, 0, 0>();
    const Real v_2_ym1 = at.template tap<2, 0, 0, -1>();
    out[0] = fmaf(-r_value, u_1_c - u_1_xm1 + v_2_c - v_2_ym1, p_0_c);
    }
};

#define STENCIL_KERNEL waves_2
#define PLAN_PACKS 1 // as plan::packs, for the preprocessor
#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended
#define PLAN_QUICK 0 // quotients and roots of several points ask one question
#define PLAN_WIDE_SIDES 0 // what lies next to packs comes by packs
#define PLAN_MASKS 1 // what lies outside is a bit each, and not loaded
#define PLAN_SHARED_SIDES 0 // of rows, which points of others read
#define PLAN_AROUND 0 // walks begin before their points
#define PLAN_HOLDS_KEPT 0 // what a fixed boundary keeps
#define PLAN_SOME_POINTS 0 // of a row alone may be stored
#define PLAN_HELD_SIDES 0 // for planes that are still to come
#define PLAN_COMPUTED 0 // results, before it is asked whether their row is stored
#define PLAN_FLAT 1 // there is no axis y
#define PLAN_NEEDS 0 // registers, so that blocks do not crowd each other
#define PLAN_KEEPS 0 // a side that the shape reaches over is fixed
#define PLAN_GIVES 1
#define PLAN_CLAMPS 1
#define PLAN_MIRRORS 0
#define PLAN_WRAPS 0
#define PLAN_HAS_Y 0
#define PLAN_HAS_Z 1
#define PLAN_POSITIONS 1 // the update asks where its point lies

struct plan {
    static constexpr int tile_x = 256, tile_y = 1, tile_z = 1;
    static constexpr int threads_x = 128, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 8; // to leave registers for, a multiprocessor
    static constexpr int arrays = 3, outputs = 3;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = true; // some side
    static constexpr int low_x = 1, low_y = 0, low_z = 2;
    static constexpr int high_x = 1, high_y = 0, high_z = 1;
    static constexpr bool packs = true; // rows are loaded and stored as packs
    static constexpr int vector = 2;
    static constexpr int lane_y = 1, walk = 4, ahead = 2, fetched = 1;
    static constexpr int slab = 4000000; // points that are walked through together
    static constexpr bool flat = true; // as PLAN_FLAT
};

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { static constexpr int grid = 0; }; // p
template <> struct Array<1> { static constexpr int grid = 2; }; // u
template <> struct Array<2> { static constexpr int grid = 4; }; // v
template <int output> struct Output;
template <> struct Output<0> { static constexpr int grid = 1, current = 0; }; // p.next
template <> struct Output<1> { static constexpr int grid = 3, current = 2; }; // u.next
template <> struct Output<2> { static constexpr int grid = 5, current = 4; }; // v.next

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
template <> struct Edge<2, 0> : Side<Boundary::zero> {};
template <> struct Edge<2, 1> : Side<Boundary::clamp> {};

// The lines of y (0: the thread's first row) that a thread reads: the first and last plane; in how
// many planes the shape reaches along x, the last of these, and how far.
template <int array, int y> struct Asks;
template <> struct Asks<0, 0> { static constexpr int first = -2, last = 1, sides = 1, plane = 0, low = 1, high = 1; };
template <> struct Asks<1, 0> { static constexpr int first = 0, last = 0, sides = 1, plane = 0, low = 1, high = 0; };
template <> struct Asks<2, 0> { static constexpr int first = -1, last = 0, sides = 0, plane = 0, low = 0, high = 0; };
template <int array, int y> struct HeldLine;
template <class... Each> struct LinesOf;
using HeldLines = LinesOf<HeldLine<0, 0>, HeldLine<1, 0>, HeldLine<2, 0>>;

#define PLAN_INTERIOR 1 // kernels may ask once for several points where they lie
// Whether conditions on the place have one answer at cell i of an axis, as they have away from the edges.
template <int axis>
__device__ __forceinline__ bool interior_along(const Arguments &arguments, long long i) {
    if constexpr (axis == 0) {
        const long long place = arguments.origin[0] + i;
        return place >= 1 && arguments.global[0] <= 8388608;
    }
    if constexpr (axis == 2) {
        const long long place = arguments.origin[2] + i;
        return place >= 2 && arguments.global[2] <= 8388608;
    }
    return true;
}

// What such conditions select: here what they do there.
struct Places {
};

template <class At>
__device__ __forceinline__ Places find_places(const At &at, const Arguments &arguments) {
    Places places;
    return places;
}

// One point; taps come from `at`.
template <class At>
__device__ __forceinline__ void update_placed(const At &at, const Arguments &arguments, bool interior, const Places &places, Real (&out)[3]) {
    const Real u_1_c = at.template tap<1, 0, 0, 0>();
    const Real r_value = arguments.parameter[0];
    const Real p_0_xp1 = at.template tap<0, 1, 0, 0>();
    const Real p_0_c = at.template tap<0, 0, 0, 0>();
    const Real t1 = -r_value;
    const Real v_2_c = at.template tap<2, 0, 0, 0>();
    const Real p_0_yp1 = at.template tap<0, 0, 0, 1>();
    const Real p_0_ym1 = at.template tap<0, 0, 0, -1>();
    Real t2 = fmaf(t1, p_0_xp1 - p_0_c, u_1_c);
    if (!interior) {
        const Real at_ym1 = static_cast<Real>(arguments.origin[2] + at.template index<2>() - 1);
        const bool t3 = at_ym1 >= 0.0f;
        t2 = t3 ? fmaf(t1, p_0_xp1 - p_0_c, u_1_c) : u_1_c;
    }
    Real t4 = fmaf(t1, p_0_yp1 - p_0_ym1, v_2_c);
    if (!interior) {
        const Real at_ym1 = static_cast<Real>(arguments.origin[2] + at.template index<2>() - 1);
        const bool t5 = at_ym1 >= 0.0f;
        t4 = t5 ? fmaf(t1, p_0_yp1 - p_0_ym1, v_2_c) : v_2_c;
    }
    const Real u_1_xm1 = at.template tap<1, -1, 0, 0>();
    const Real p_0_xm1 = at.template tap<0, -1, 0, 0>();
    Real t6 = fmaf(t1, p_0_c - p_0_xm1, u_1_xm1);
    if (!interior) {
        const Real at_ym1 = static_cast<Real>(arguments.origin[2] + at.template index<2>() - 1);
        const bool t7 = at_ym1 >= 0.0f;
        t6 = t7 ? fmaf(t1, p_0_c - p_0_xm1, u_1_xm1) : u_1_xm1;
    }
    Real t8 = t6;
    if (!interior) {
        const Real at_xm1 = static_cast<Real>(arguments.origin[0] + at.template index<0>() - 1);
        t8 = (at_xm1 >= 0.0f) ? t6 : 0.0f;
    }
    const Real v_2_ym1 = at.template tap<2, 0, 0, -1>();
    const Real p_0_ym2 = at.template tap<0, 0, 0, -2>();
    Real t9 = fmaf(t1, p_0_c - p_0_ym2, v_2_ym1);
    if (!interior) {
        const Real at_ym2 = static_cast<Real>(arguments.origin[2] + at.template index<2>() - 2);
        t9 = (at_ym2 >= 0.0f) ? fmaf(t1, p_0_c - p_0_ym2, v_2_ym1) : v_2_ym1;
    }
    Real t10 = fmaf(t1, t2 - t8 + t4 - t9, p_0_c);
    if (!interior) {
        const Real at_ym1 = static_cast<Real>(arguments.origin[2] + at.template index<2>() - 1);
        const bool t11 = at_ym1 >= 0.0f;
        t10 = t11 ? fmaf(t1, t2 - t8 + t4 - t9, p_0_c) : p_0_c;
    }
    out[0] = t10;
    out[1] = t2;
    out[2] = t4;
}
template <class At>
__device__ __forceinline__ void update_point(const At &at, const Arguments &arguments, Real (&out)[3]) {
    const bool interior = interior_along<0>(arguments, at.template index<0>()) &&
        interior_along<1>(arguments, at.template index<1>()) &&
        interior_along<2>(arguments, at.template index<2>());
    if (interior)
        update_placed(at, arguments, true, Places(), out);
    else
        update_placed(at, arguments, false, find_places(at, arguments), out);
}
