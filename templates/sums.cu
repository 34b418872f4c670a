// sums: the register method for linear updates whose shape leaves the column and the plane of its
// point, such as a box. A block walks the last axis; each plane, once in shared memory, adds what it
// gives to the points around it, and the registers hold the sums of the planes not yet finished.
//
//        z+1   sum |r|         each of these gains the plane's taps at dz = -1, 0, 1;
//        z     sum |r|   <--   [ plane at z with its halo: shared memory ]
//        z-1   sum |r|         this one is then complete
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "plan.h"
#include "grid.cuh"
#include "edge_cursors.cuh"
#include "blocks.cuh"
#include "staging.cuh"

constexpr int depth = plan::walk_low + 1 + plan::walk_high;

struct AtPlane {
    const Real *shared;
    Place place;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        static_assert(dz == 0, "sums are added plane by plane");
        return shared[Array<array>::shared + Staged<array>::at(place.x + dx, place.y + dy)];
    }
};

// sum[c][o][k] gathers output o of the point k - walk_high planes from the current one: the plane at
// z gives its taps (dx, dy, dz) to the points at z - dz.
using Sums = Real[Place::count][plan::outputs][depth];

__device__ __forceinline__ void shift(Sums &sum) {
#pragma unroll
    for (int c = 0; c < Place::count; ++c)
#pragma unroll
        for (int o = 0; o < plan::outputs; ++o) {
#pragma unroll
            for (int k = 0; k + 1 < depth; ++k)
                sum[c][o][k] = sum[c][o][k + 1];
            sum[c][o][depth - 1] = 0;
        }
}

template <bool inner>
__device__ __forceinline__ void walk(const Arguments &a, const Point &origin, Real *shared) {
    Planes<inner> ahead;
    ahead.place(a, origin, origin.z - plan::walk_low);
    Targets<inner> targets;
    targets.place(a, origin);
    Sums sum = {};
    const int made = inner ? plan::walk : int(min(Index(plan::walk), a.end[2] - origin.z));
    for (int step = -plan::walk_low; step < made + plan::walk_high; ++step) {
        ahead.load(a, 0, shared);
        __syncthreads(); // the plane is complete
        const bool done = step >= plan::walk_high; // the sums of a point that is to be made
#pragma unroll
        for (int c = 0; c < Place::count; ++c) {
            const Place place(c);
            if (!wanted<inner>(a, place, origin))
                continue;
            add_plane(AtPlane{shared, place}, a, sum[c]);
            if (!done)
                continue;
            Outputs out;
#pragma unroll
            for (int o = 0; o < plan::outputs; ++o)
                out[o] = sum[c][o][0];
            finish_sums(a, out);
            targets.point[c].put(a, out);
        }
        shift(sum);
        if (done)
            targets.advance(a);
        __syncthreads(); // all have read the plane, which the next step overwrites
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
