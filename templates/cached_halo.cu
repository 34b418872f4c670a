// cached-halo: a block stages its tile in shared memory, but not the halo: neighbours in the tile
// come from there, those beyond it through the caches, which hold them because they are other
// blocks' tiles (PMPP, chapter 7). Tile and block are alike, so that staging is one load a point.
//
//        . . . . . .
//        . t t t t .      t: in shared memory
//        . t t t t .      .: through the caches
//        . . . . . .
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "plan.h"
#include "grid.cuh"
#include "edge_cursors.cuh"
#include "blocks.cuh"

// Where a point of the tile lies in a staged array's place.
__device__ __forceinline__ int in_place(int x, int y, int z) {
    return (z * plan::tile_y + y) * plan::tile_x + x;
}

template <int d, int extent> __device__ __forceinline__ bool in_tile(int i) {
    return d == 0 || (d < 0 ? i + d >= 0 : i + d < extent);
}

// Not inlined: near the edges every tap might come here, and the code would swell all others.
template <int array>
__device__ __noinline__ Real read_beyond(const Arguments &a, Index x, Index y, Index z) {
    return read_anywhere<array>(a, x, y, z);
}

template <bool inner> struct AtTile {
    const Arguments &a;
    const Real *shared;
    Cells<true> cells; // the point's own; neighbours only where `inner` promises that they exist
    Point p;
    int x, y, z; // in the tile
#if defined(PLAN_POSITIONS)
    template <int axis> __device__ __forceinline__ Index index() const {
        return coordinate<axis>(p);
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        if constexpr (Array<array>::staged) {
            if (in_tile<dx, plan::tile_x>(x) && in_tile<dy, plan::tile_y>(y) &&
                in_tile<dz, plan::tile_z>(z))
                return shared[Array<array>::shared + in_place(x + dx, y + dy, z + dz)];
            if constexpr (!inner)
                return read_beyond<array>(a, p.x + dx, p.y + dy, p.z + dz);
        }
        return cells.template of<array>().read(a, dx, dy, dz);
    }
};

// Stages a point of the tile of every array that neighbours read, by the rules where it lies outside
// the grid.
template <bool inner, int array = 0>
__device__ __forceinline__ void stage(const Arguments &a, const Point &p, int place, Real *shared) {
    if constexpr (array < plan::arrays) {
        if constexpr (Array<array>::staged) {
            Real *const to = shared + Array<array>::shared + place;
            if constexpr (inner) {
                const GridOf<Array<array>> &grid = a.grid[Array<array>::grid];
                *to = load(grid.data + offset(grid, p.x, p.y, p.z));
            } else if (needed(a, p.x, p.y, p.z)) {
                *to = read_anywhere<array>(a, p.x, p.y, p.z);
            }
        }
        stage<inner, array + 1>(a, p, place, shared);
    }
}

template <bool inner>
__device__ __forceinline__ void make_tile(const Arguments &a, const Point &origin, Real *shared) {
    for_points<plan::tile_x, plan::tile_y, plan::tile_z>([&](int x, int y, int z) {
        stage<inner>(a, {origin.x + x, origin.y + y, origin.z + z}, in_place(x, y, z), shared);
    });
    __syncthreads(); // the tile is complete before anyone reads a neighbour
    for_points<plan::tile_x, plan::tile_y, plan::tile_z>([&](int x, int y, int z) {
        const Point p = {origin.x + x, origin.y + y, origin.z + z};
        if (!inner && !in_box(a, p))
            return;
        AtTile<inner> at = {a, shared, {}, p, x, y, z};
        at.cells.place(a, p.x, p.y, p.z);
        Outputs out;
        update_point(at, a, out);
        Target<inner> target;
        target.place(a, p.x, p.y, p.z);
        target.put(a, out);
    });
}

extern "C" __global__ void
    __launch_bounds__(plan::threads, plan::blocks)
        STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    Real *const shared = reinterpret_cast<Real *>(shared_bytes());
    const Point origin = block_origin(arguments, plan::tile_x, plan::tile_y, plan::tile_z);
    if (block_inside(arguments))
        make_tile<true>(arguments, origin, shared);
    else
        make_tile<false>(arguments, origin, shared);
}
