// coarsened: a block walks the last axis and keeps in shared memory the planes that its shape
// spans, in a ring; each step loads the plane furthest ahead over the one no longer needed.
//
//        z+1   [ tile with halo ]   loaded in this step
//        z     [ tile with halo ]   the points made in this step
//        z-1   [ tile with halo ]   its slot takes z+2 in the next step
#include "common.cuh"
#include "plan.h"
#include "grid.cuh"
#include "staging.cuh"

constexpr int planes = plan::walk_low + 1 + plan::walk_high;

// The ring's slot of the plane `ahead` of the oldest one held, which lies in slot `oldest`.
__device__ __forceinline__ int slot(int oldest, int ahead) {
    const int sum = oldest + ahead;
    return sum < planes ? sum : sum - planes;
}

struct AtRing {
    const Arguments &a;
    const Real *shared;
    const Point &p;
    int x, y; // in the tile
    int oldest;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        using Box = Staged<array>;
        if constexpr (Array<array>::staged)
            return shared[Array<array>::shared + slot(oldest, plan::walk_low + dz) * Box::plane +
                          Box::at(x + dx, y + dy)];
        else
            return fetch_own<array>(a, p);
    }
};

extern "C" __global__ void
    __launch_bounds__(plan::threads)
        STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    Real *const shared = reinterpret_cast<Real *>(shared_bytes());
    const Point origin = block_origin(arguments, plan::tile_x, plan::tile_y, plan::walk);
    const bool inner = block_inside(arguments, origin, plan::tile_x, plan::tile_y, plan::walk);

    for (int k = 0; k < planes - 1; ++k)
        load_plane(arguments, inner, origin, origin.z - plan::walk_low + k, k, shared);

    int oldest = 0;
    for (int step = 0; step < plan::walk && origin.z + step < arguments.end[2]; ++step) {
        const Index z = origin.z + step;
        load_plane(arguments, inner, origin, z + plan::walk_high, slot(oldest, planes - 1), shared);
        __syncthreads(); // the plane ahead is complete
        for (int y = threadIdx.y; y < plan::tile_y; y += plan::threads_y)
            for (int x = threadIdx.x; x < plan::tile_x; x += plan::threads_x) {
                const Point p = {origin.x + x, origin.y + y, z};
                if (!inner && (p.x >= arguments.end[0] || p.y >= arguments.end[1]))
                    continue;
                Real out[plan::outputs];
                update_point(AtRing{arguments, shared, p, x, y, oldest}, arguments, out);
                finish(arguments, inner, p, out);
            }
        __syncthreads(); // all have read the oldest plane, which the next step overwrites
        oldest = slot(oldest, 1);
    }
}
