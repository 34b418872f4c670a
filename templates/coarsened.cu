// coarsened: a block walks the last axis and keeps in shared memory the planes that its shape
// spans, in a ring; each step loads the plane furthest ahead over the one no longer needed.
//
//        z+1   [ tile with halo ]   loaded in this step
//        z     [ tile with halo ]   the points made in this step
//        z-1   [ tile with halo ]   its slot takes z+2 in the next step
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "plan.h"
#include "grid.cuh"
#include "edge_cursors.cuh"
#include "blocks.cuh"
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
#if defined(PLAN_POSITIONS)
    template <int axis> __device__ __forceinline__ Index index() const {
        return coordinate<axis>(p);
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        using Box = Staged<array>;
        if constexpr (Array<array>::staged)
            return shared[Array<array>::shared + slot(oldest, plan::walk_low + dz) * Box::plane +
                          Box::at(x + dx, y + dy)];
        else
            return read_own<array>(a, p);
    }
};

template <bool inner>
__device__ __forceinline__ void walk(const Arguments &a, const Point &origin, Real *shared) {
    Planes<inner> ahead;
    ahead.place(a, origin, origin.z - plan::walk_low);
    Targets<inner> targets;
    targets.place(a, origin);
    for (int k = 0; k < planes - 1; ++k)
        ahead.load(a, k, shared);

    int oldest = 0;
    for (int step = 0; step < plan::walk; ++step) {
        const Index z = origin.z + step;
        if (!inner && z >= a.end[2])
            break;
        ahead.load(a, slot(oldest, planes - 1), shared);
        __syncthreads(); // the plane ahead is complete
#pragma unroll
        for (int c = 0; c < Place::count; ++c) {
            const Place place(c);
            if (!wanted<inner>(a, place, origin))
                continue;
            const Point p = {origin.x + place.x, origin.y + place.y, z};
            Outputs out;
            update_point(AtRing{a, shared, p, place.x, place.y, oldest}, a, out);
            targets.point[c].put(a, out);
        }
        __syncthreads(); // all have read the oldest plane, which the next step overwrites
        targets.advance(a);
        oldest = slot(oldest, 1);
    }
}

extern "C" __global__ void
    __launch_bounds__(plan::threads, plan::blocks)
        STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    Real *const shared = reinterpret_cast<Real *>(shared_bytes());
    const Point origin = block_origin(arguments, plan::tile_x, plan::tile_y, plan::walk);
    if (block_inside(arguments))
        walk<true>(arguments, origin, shared);
    else
        walk<false>(arguments, origin, shared);
}
