// naive: a thread makes a point and reads its taps from global memory; the caches serve what
// neighbours share.
#include "common.cuh"
#include "plan.h"
#include "grid.cuh"
#include "point.cuh"

__device__ __forceinline__ void update(const Arguments &a, const Point &p) {
    if (p.x >= a.end[0] || p.y >= a.end[1] || p.z >= a.end[2])
        return;
    if (shape_inside(a, p, p))
        update_one<true>(a, p);
    else
        update_edge(a, p);
}

extern "C" __global__ void
    __launch_bounds__(plan::threads)
        STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    const Point origin = block_origin(arguments, plan::tile_x, plan::tile_y, plan::tile_z);
    // One round where the tile has no more points than the block has threads.
    for (int z = threadIdx.z; z < plan::tile_z; z += plan::threads_z)
        for (int y = threadIdx.y; y < plan::tile_y; y += plan::threads_y)
            for (int x = threadIdx.x; x < plan::tile_x; x += plan::threads_x)
                update(arguments, {origin.x + x, origin.y + y, origin.z + z});
}
