// naive: a thread makes a point and reads its taps from global memory; the caches serve what neighbours share.
#include "arch/memory.cuh"
#include "plan.h"
#include "grid.cuh"
#include "cursors.cuh"
#include "blocks.cuh"
#include "taps.cuh"
#include "point.cuh"

// A point whose shape is not inside. Not inlined: few threads come here, and the code would swell all others.
__device__ __noinline__ void update_edge(const Arguments &a, Index x, Index y, Index z) {
    const Point p = {x, y, z};
#if PLAN_KEEPS
    if (plan::all_fixed || kept(a, p))
        return keep(a, p);
#endif
    if constexpr (!plan::all_fixed) {
        Outputs out;
        update_point(AtEdge{a, p}, a, out);
        put(a, p, out);
    }
}

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments a) {
    const Point origin = block_origin(a, plan::tile_x, plan::tile_y, plan::tile_z);
    const bool inner = block_inside(a);
    const auto update = [&](int x, int y, int z) {
        const Point p = {origin.x + x, origin.y + y, origin.z + z};
        if (inner || (in_box(a, p) && shape_inside(a, p, p)))
            update_inner(a, p);
        else if (in_box(a, p))
            update_edge(a, p.x, p.y, p.z);
    };
    if constexpr (plan::tile_x == plan::threads_x && plan::tile_y == plan::threads_y &&
                  plan::tile_z == plan::threads_z)
        update(threadIdx.x, threadIdx.y, threadIdx.z);
    else
        for_points<plan::tile_x, plan::tile_y, plan::tile_z>(update);
}
