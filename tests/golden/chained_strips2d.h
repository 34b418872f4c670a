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
};
static_assert(sizeof(Arguments) == 256, "the host packs 256 bytes");

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
    static constexpr int tile_x = 112, tile_y = 1, tile_z = 1;
    static constexpr int threads_x = 64, threads_y = 1, threads_z = 1;
    static constexpr int threads = threads_x * threads_y * threads_z;
    static constexpr int blocks = 14; // to leave registers for, a multiprocessor
    static constexpr int arrays = 3, outputs = 3;
    static constexpr bool all_fixed = false; // every side that the shape reaches over
    static constexpr bool wraps = false, gives_values = false; // some side
    static constexpr int low_x = 1, low_y = 0, low_z = 2;
    static constexpr int high_x = 1, high_y = 0, high_z = 1;
    static constexpr int walk = 16, vector = 1, points = 2, ahead = 3;
    static constexpr int width = 64, height = 1, halo_x = 2, halo_y = 0;
    static constexpr int before = 2, behind = 1, turns = 1; // planes around those that are stored
    static constexpr int stages = 2, sources = 5;
    static constexpr int strip = 56; // columns that a warp stores
    static constexpr bool ring_x = false;
    static constexpr bool ring_y = false;
    static constexpr bool ring_z = false;
};

// The arrays that taps read.
template <int array> struct Array;
template <> struct Array<0> { // p
    static constexpr int grid = 0;
    static constexpr int low_x = 1, high_x = 1, low_y = 0, high_y = 0, low_z = 2, high_z = 1;
};
template <> struct Array<1> { // u
    static constexpr int grid = 2;
    static constexpr int low_x = 1, high_x = 0, low_y = 0, high_y = 0, low_z = 1, high_z = 0;
};
template <> struct Array<2> { // v
    static constexpr int grid = 4;
    static constexpr int low_x = 1, high_x = 0, low_y = 0, high_y = 0, low_z = 1, high_z = 0;
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

// low, high: neighbours of a lane's columns that stages read, first so many turns after the row
// is the newest: widened; -1: none.
// The rows of a source that a thread keeps: the arrays, and then what stages make; lag: how many
// turns after the row that arrives.
template <int source> struct Ring;
template <> struct Ring<0> { static constexpr int depth = 3, low = 0, high = 1, widened = 1, lag = 0; };
template <> struct Ring<1> { static constexpr int depth = 1, low = 0, high = 0, widened = -1, lag = 1; };
template <> struct Ring<2> { static constexpr int depth = 1, low = 0, high = 0, widened = -1, lag = 1; };
template <> struct Ring<3> { static constexpr int depth = 1, low = 1, high = 0, widened = 0, lag = 1; };
template <> struct Ring<4> { static constexpr int depth = 2, low = 0, high = 0, widened = -1, lag = 1; };
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
// The source of a stage's array.
template <int stage, int array> constexpr int source_of = 0;
template <> constexpr int source_of<0, 0> = 0; // p
template <> constexpr int source_of<0, 1> = 1; // u
template <> constexpr int source_of<0, 2> = 2; // v
template <> constexpr int source_of<1, 0> = 0; // p
template <> constexpr int source_of<1, 1> = 3; // u
template <> constexpr int source_of<1, 2> = 4; // v
// What becomes of a stage's result: the source that it makes, the output that is stored, and the
// source of what a fixed boundary keeps; -1: none.
template <int stage, int result> struct Result;
template <> struct Result<0, 0> { static constexpr int makes = 3, output = 1, old = 1; };
template <> struct Result<0, 1> { static constexpr int makes = 4, output = 2, old = 2; };
template <> struct Result<1, 0> { static constexpr int makes = -1, output = 0, old = 0; };
// A stage: the columns and planes that it makes, what a fixed boundary keeps, and a point's update.
template <int stage> struct Stage;
template <> struct Stage<0> {
    static constexpr int lag = 1, results = 2;
    static constexpr int first_x = 1, end_x = 114; // of the tile with its halo
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
template <> struct Stage<1> {
    static constexpr int lag = 1, results = 1;
    static constexpr int first_x = 2, end_x = 114; // of the tile with its halo
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

