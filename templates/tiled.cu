// tiled: a block stages its tile with the halo in shared memory, then every thread makes its
// points from there.
//
//        h h h h h h
//        h t t t t h      t: the tile's points, one or more a thread
//        h t t t t h      h: the halo, as far as the shape reaches
//        h h h h h h
#include "common.cuh"
#include "plan.h"
#include "grid.cuh"
#include "staging.cuh"

struct AtTile {
    const Arguments &a;
    const Real *shared;
    const Point &p;
    int x, y, z; // in the tile
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        using Box = Staged<array>;
        if constexpr (Array<array>::staged)
            return shared[Array<array>::shared + (z + dz + Array<array>::low_z) * Box::plane +
                          Box::at(x + dx, y + dy)];
        else
            return fetch_own<array>(a, p);
    }
};

template <int array = 0>
__device__ __forceinline__ void load_tile(const Arguments &a, bool inner, const Point &origin,
                                          Real *shared) {
    if constexpr (array < plan::arrays) {
        if constexpr (Array<array>::staged)
            load_planes<array>(a, inner, origin, origin.z - Array<array>::low_z,
                               plan::tile_z + Array<array>::low_z + Array<array>::high_z,
                               shared + Array<array>::shared);
        load_tile<array + 1>(a, inner, origin, shared);
    }
}

extern "C" __global__ void
    __launch_bounds__(plan::threads)
        STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    Real *const shared = reinterpret_cast<Real *>(shared_bytes());
    const Point origin = block_origin(arguments, plan::tile_x, plan::tile_y, plan::tile_z);
    const bool inner =
        block_inside(arguments, origin, plan::tile_x, plan::tile_y, plan::tile_z);
    load_tile(arguments, inner, origin, shared);
    __syncthreads(); // the tile is complete before anyone reads a neighbour
    for (int z = threadIdx.z; z < plan::tile_z; z += plan::threads_z)
        for (int y = threadIdx.y; y < plan::tile_y; y += plan::threads_y)
            for (int x = threadIdx.x; x < plan::tile_x; x += plan::threads_x) {
                const Point p = {origin.x + x, origin.y + y, origin.z + z};
                if (!inner && (p.x >= arguments.end[0] || p.y >= arguments.end[1] ||
                               p.z >= arguments.end[2]))
                    continue;
                Real out[plan::outputs];
                update_point(AtTile{arguments, shared, p, x, y, z}, arguments, out);
                finish(arguments, inner, p, out);
            }
}
