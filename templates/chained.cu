// chained: stages of a system, one after the other in one pass. A block walks the last axis with a tile
// of rows (2D) or planes (3D) and a halo for all stages. In each turn a plane of every array arrives,
// and each stage makes the plane that lies its lag behind:
//
//      grid --> [ring of planes] --> stage 0 --> [ring] --> stage 1 ... --> grid
//               copied ahead         n - lag 0              n - lag 1
//
// All rings lie in shared memory. A stage reads what other threads made in turns before this one, so one
// barrier a turn is enough. The tile's rim is made by neighbouring blocks too, as far as later stages
// read it.
//
// Edges: a column beyond an end of x or y repeats another one, where its thread makes the same as that
// one's, or it gets the rule's value. A plane beyond an end of the walk is found when it is read.
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "arch/async.cuh"
#include "plan.h"
#include "grid.cuh"

constexpr int width = plan::width, height = plan::height, plane = width * height;
constexpr int packs = plane / plan::vector; // of a plane
static_assert(width % plan::vector == 0, "rows of the tile are packs");

__device__ __forceinline__ Real *shared_at(int place) {
    return reinterpret_cast<Real *>(shared_bytes()) + place;
}

// ---- rings ----------------------------------------------------------------------------------

// Where the newest plane of each ring lies, which is `lag` behind the one that arrives.
struct Newest {
    int at[plan::sources];
};
template <int source> __device__ __forceinline__ int plane_back(const Newest &newest, int back) {
    const int at = newest.at[source] - back * plane;
    return Ring<source>::place + (at < 0 ? at + Ring<source>::slots * plane : at);
}
template <int source> __device__ __forceinline__ int plane_ahead(const Newest &newest) {
    constexpr int all = Ring<source>::slots * plane;
    const int at = newest.at[source] + plan::ahead * plane;
    return Ring<source>::place + (at >= all ? at - all : at);
}
template <int source = 0> __device__ __forceinline__ void advance(Newest &newest) {
    if constexpr (source < plan::sources) {
        const int at = newest.at[source] + plane;
        newest.at[source] = at == Ring<source>::slots * plane ? 0 : at;
        advance<source + 1>(newest);
    }
}

// ---- where a block lies ---------------------------------------------------------------------

template <int axis> constexpr bool is_ring = axis == 0   ? plan::ring_x
                                             : axis == 1 ? plan::ring_y
                                                         : plan::ring_z;

// Whether some source repeats cells of the end as a mirror does.
template <int axis, int side, int source = 0> __device__ constexpr bool has_mirror() {
    if constexpr (source < plan::sources)
        return Rule<source, axis, side>::kind == Boundary::mirror ||
               has_mirror<axis, side, source + 1>();
    else
        return false;
}

// The cell inside the grid whose values a cell has.
template <int axis> __device__ __forceinline__ Index cell_for(Index i, Index size) {
    if constexpr (is_ring<axis>) {
        while (i < 0)
            i += size;
        while (i >= size)
            i -= size;
        return i;
    }
    for (int turn = 0; turn < 64 && (i < 0 || i >= size); ++turn) {
        if (i < 0)
            i = has_mirror<axis, 0>() && size > 1 ? -i : 0;
        else
            i = has_mirror<axis, 1>() && size > 1 ? 2 * (size - 1) - i : size - 1;
    }
    return i < 0 ? 0 : i >= size ? size - 1 : i;
}

struct Block {
    Index x, y;           // of the tile's first cell, halo included
    Index begin, z, end;  // the plane that arrives first; those that are stored
    Index size_z;
    bool rim, packed;     // whether the tile meets an end of x or y, and its rows are packs
};

// A column of the tile.
struct Column {
    int at;                // its place in a plane
    int from_x, from_y;    // the column where its values are made
    bool image;            // which is another one
    Index x, y;            // the cell that it stands for
    bool stored;
    unsigned made, kept;   // stages that make it, and whose fixed boundaries keep it: a bit each
    bool beyond[2][2];     // whether it lies below or above the grid along x and y
};

template <int stage = 0>
__device__ __forceinline__ void mark_stages(const Arguments &a, int x, int y, Column &c) {
    if constexpr (stage < plan::stages) {
        using S = Stage<stage>;
        if (x >= S::first_x && x < S::end_x && y >= S::first_y && y < S::end_y)
            c.made |= 1u << stage;
        if ((S::keeps_low_x > 0 && c.x < S::keeps_low_x) ||
            (S::keeps_high_x > 0 && c.x >= a.size[0] - S::keeps_high_x) ||
            (S::keeps_low_y > 0 && c.y < S::keeps_low_y) ||
            (S::keeps_high_y > 0 && c.y >= a.size[1] - S::keeps_high_y))
            c.kept |= 1u << stage;
        mark_stages<stage + 1>(a, x, y, c);
    }
}

__device__ __forceinline__ Block place_block(const Arguments &a) {
    Block b;
    b.x = a.begin[0] + Index(blockIdx.x) * plan::tile_x - plan::halo_x;
    b.y = a.begin[1] + Index(blockIdx.y) * plan::tile_y - plan::halo_y;
    b.z = a.begin[2] + Index(blockIdx.z) * plan::walk;
    b.end = min(b.z + plan::walk, a.end[2]);
    b.size_z = a.size[2];
    b.begin = plan::ring_z ? b.z - plan::before : max(b.z - plan::before, Index(0));
    b.rim = b.x < 0 || b.x + width > a.size[0] || b.y < 0 || b.y + height > a.size[1];
    b.packed = a.aligned && b.x % plan::vector == 0;
    return b;
}

__device__ __forceinline__ Column place_column(const Arguments &a, const Block &b, int at) {
    Column c = {};
    const int x = at % width, y = at / width;
    const Index grid_x = b.x + x, grid_y = b.y + y;
    c.at = at;
    c.x = cell_for<0>(grid_x, a.size[0]);
    c.y = cell_for<1>(grid_y, a.size[1]);
    // A ring's cells are made where they are.
    c.from_x = plan::ring_x ? x : int(c.x - b.x);
    c.from_y = plan::ring_y ? y : int(c.y - b.y);
    c.image = c.from_x != x || c.from_y != y;
    c.beyond[0][0] = grid_x < 0;
    c.beyond[0][1] = grid_x >= a.size[0];
    c.beyond[1][0] = grid_y < 0;
    c.beyond[1][1] = grid_y >= a.size[1];
    c.stored = x >= plan::halo_x && x < plan::halo_x + plan::tile_x && grid_x < a.end[0] &&
               y >= plan::halo_y && y < plan::halo_y + plan::tile_y && grid_y < a.end[1];
    if (at < plane)
        mark_stages(a, x, y, c);
    return c;
}

// What a column beyond an end of x or y has of a source, where the rule gives a value.
template <int source, int axis, int side> constexpr bool gives =
    Rule<source, axis, side>::kind == Boundary::zero ||
    Rule<source, axis, side>::kind == Boundary::constant;
template <int source>
__device__ __forceinline__ bool value_beyond(const Arguments &a, const Column &c, Real &value) {
    if (gives<source, 0, 0> && c.beyond[0][0])
        value = Rule<source, 0, 0>::beyond(a);
    else if (gives<source, 0, 1> && c.beyond[0][1])
        value = Rule<source, 0, 1>::beyond(a);
    else if (gives<source, 1, 0> && c.beyond[1][0])
        value = Rule<source, 1, 0>::beyond(a);
    else if (gives<source, 1, 1> && c.beyond[1][1])
        value = Rule<source, 1, 1>::beyond(a);
    else
        return false;
    return true;
}

// ---- what a stage reads ---------------------------------------------------------------------

// Where a stage makes a column: at another one's place, of those that it makes. What lies farther
// beyond an end than it is read may be any.
template <int stage> __device__ __forceinline__ int place_made(const Block &b, const Column &c) {
    using S = Stage<stage>;
    if (!b.rim || !c.image)
        return c.at;
    return min(max(c.from_y, S::first_y), S::end_y - 1) * width +
           min(max(c.from_x, S::first_x), S::end_x - 1);
}

template <int stage, bool edge> struct AtStage {
    const Arguments &a;
    const Column &c;
    const Newest &newest;
    Index z;
    int from;
#if defined(PLAN_POSITIONS)
    template <int axis> __device__ __forceinline__ Index index() const {
        return axis == 0 ? c.x : axis == 1 ? c.y : is_ring<2> ? cell_for<2>(z, a.size[2]) : z;
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return of<source_of<stage, array>, dx, dy, dz>();
    }
    template <int source, int dx, int dy, int dz> __device__ __forceinline__ Real of() const {
        constexpr int back = Stage<stage>::lag - Ring<source>::lag - dz;
        const int at = from + dy * width + dx;
        if constexpr (edge && dz != 0) {
            Index row = z + dz;
            const bool below = row < 0, above = row >= a.size[2];
            if (gives<source, 2, 0> && below)
                return Rule<source, 2, 0>::beyond(a);
            if (gives<source, 2, 1> && above)
                return Rule<source, 2, 1>::beyond(a);
            row = cell_for<2>(row, a.size[2]);
            return *shared_at(plane_back<source>(newest, back + int(z + dz - row)) + at);
        }
        return *shared_at(plane_back<source>(newest, back) + at);
    }
};

// ---- a plane of a stage -----------------------------------------------------------------------

template <int stage, int result, class At, int count>
__device__ __forceinline__ void hand_on(const At &at, const Block &b, bool keeps_plane,
                                        const Real (&out)[count]) {
    if constexpr (result < count) {
        using R = Result<stage, result>;
        Real value = out[result];
        if (keeps_plane || (at.c.kept >> stage & 1)) {
            if constexpr (R::old >= 0)
                value = at.template of<R::old, 0, 0, 0>();
            else
                value = 0;
        }
        if constexpr (R::output >= 0)
            if (at.c.stored && at.z >= b.z && at.z < b.end) {
                const Grid &grid = at.a.grid[Output<R::output>::grid];
                grid.data[offset(grid, at.c.x, at.c.y, at.z)] = value;
            }
        if constexpr (R::makes >= 0) {
            if (b.rim)
                value_beyond<R::makes>(at.a, at.c, value);
            *shared_at(plane_back<R::makes>(at.newest, 0) + at.c.at) = value;
        }
        hand_on<stage, result + 1>(at, b, keeps_plane, out);
    }
}

template <int stage, bool edge>
__device__ __forceinline__ void make_plane(const Arguments &a, const Block &b,
                                           const Column (&columns)[plan::points],
                                           const Newest &newest, Index z) {
    using S = Stage<stage>;
    const bool keeps_plane = (S::keeps_low_z > 0 && z < S::keeps_low_z) ||
                             (S::keeps_high_z > 0 && z >= a.size[2] - S::keeps_high_z);
#pragma unroll
    for (int k = 0; k < plan::points; ++k)
        if (columns[k].made >> stage & 1) {
            const AtStage<stage, edge> at = {a, columns[k], newest, z,
                                             place_made<stage>(b, columns[k])};
            Real out[S::results];
            S::update(at, a, out);
            hand_on<stage, 0>(at, b, keeps_plane, out);
        }
}

template <int stage = 0>
__device__ __forceinline__ void make_stages(const Arguments &a, const Block &b,
                                            const Column (&columns)[plan::points],
                                            const Newest &newest, int turn) {
    if constexpr (stage < plan::stages) {
        using S = Stage<stage>;
        const Index z = b.begin + turn - S::lag;
        const bool inside = plan::ring_z || (z >= 0 && z < b.size_z);
        if (z >= b.z - S::before && z < b.end + S::behind && inside) {
            if (!plan::ring_z && (z < S::low_z || z + S::high_z >= b.size_z))
                make_plane<stage, true>(a, b, columns, newest, z);
            else
                make_plane<stage, false>(a, b, columns, newest, z);
        }
        make_stages<stage + 1>(a, b, columns, newest, turn);
    }
}

// ---- loading --------------------------------------------------------------------------------

template <int array>
__device__ __forceinline__ void load_array(const Arguments &a, const Block &b,
                                           const Column (&columns)[plan::points], Index z,
                                           Real *to) {
    const Grid &grid = a.grid[Array<array>::grid];
    if (!b.rim && b.packed) {
        const Real *const from = grid.data + offset(grid, b.x, b.y, z);
#pragma unroll
        for (int k = 0; k < (packs + plan::threads - 1) / plan::threads; ++k) {
            const int pack = int(threadIdx.x) + k * plan::threads;
            const int x = pack % (width / plan::vector), y = pack / (width / plan::vector);
            if (packs % plan::threads == 0 || pack < packs)
                copy_async<plan::vector>(SharedAt<Real>(to + pack * plan::vector),
                                         from + y * grid.stride_y + x * plan::vector);
        }
        return;
    }
#pragma unroll
    for (int k = 0; k < plan::points; ++k) {
        const Column &c = columns[k];
        Real value;
        if (c.at >= plane)
            continue;
        if (value_beyond<array>(a, c, value))
            to[c.at] = value;
        else
            copy_async<1>(SharedAt<Real>(to + c.at), grid.data + offset(grid, c.x, c.y, z));
    }
}
template <int array = 0>
__device__ __forceinline__ void load_arrays(const Arguments &a, const Block &b,
                                            const Column (&columns)[plan::points],
                                            const Newest &newest, Index z) {
    if constexpr (array < plan::arrays) {
        load_array<array>(a, b, columns, z, shared_at(plane_ahead<array>(newest)));
        load_arrays<array + 1>(a, b, columns, newest, z);
    }
}
// The plane that arrives so many turns later.
__device__ __forceinline__ void load_plane(const Arguments &a, const Block &b,
                                           const Column (&columns)[plan::points],
                                           const Newest &newest, int turn) {
    const Index z = b.begin + turn;
    if (z < b.end + plan::behind && (plan::ring_z || z < b.size_z))
        load_arrays(a, b, columns, newest, plan::ring_z ? cell_for<2>(z, b.size_z) : z);
    copies_commit();
}

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments a) {
    const Block b = place_block(a);
    Column columns[plan::points];
#pragma unroll
    for (int k = 0; k < plan::points; ++k)
        columns[k] = place_column(a, b, int(threadIdx.x) + k * plan::threads);
    Newest newest = {};
    const int turns = int(b.end - b.begin) + plan::turns;
#pragma unroll 1
    for (int turn = -plan::ahead; turn < turns; ++turn) {
        if (turn >= 0) {
            copies_wait<plan::ahead - 1>();
            __syncthreads(); // the newest planes are there, and what is overwritten has been read
        }
        load_plane(a, b, columns, newest, turn + plan::ahead);
        if (turn >= 0)
            make_stages(a, b, columns, newest, turn);
        advance(newest);
    }
}
