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
// A plane beyond an end of the walk is found when it is read.
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "arch/async.cuh"
#include "plan.h"
#include "grid.cuh"
#include "chain_edges.cuh"
#include "chain_blocks.cuh"

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

// ---- what a stage reads ---------------------------------------------------------------------

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
