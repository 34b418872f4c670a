#pragma once
#include "arch/launches.cuh"
#include "grid.cuh"

// Whether all points of this block are to be updated, and all its reads lie inside the grid.
__device__ __forceinline__ bool block_inside(const Arguments &a) {
    const int x = blockIdx.x, y = blockIdx.y, z = blockIdx.z;
    return x >= a.inner_first[0] && x < a.inner_end[0] && y >= a.inner_first[1] &&
           y < a.inner_end[1] && z >= a.inner_first[2] && z < a.inner_end[2];
}

// Nothing beyond the box's end and the shape's reach is ever used.
__device__ __forceinline__ bool needed(const Arguments &a, Index x, Index y, Index z) {
    return x < a.end[0] + plan::high_x && y < a.end[1] + plan::high_y &&
           z < a.end[2] + plan::high_z;
}

// The first point of this block, given the points a block makes along each axis.
__device__ __forceinline__ Point block_origin(const Arguments &a, int x, int y, int z) {
    int block = blockIdx.x;
#if defined(PLAN_AWAITS)
    await_with(block);
#endif
    return {a.begin[0] + Index(block) * x, a.begin[1] + Index(blockIdx.y) * y,
            a.begin[2] + Index(blockIdx.z) * z};
}

// Calls body(x, y, z) for each of the thread's points (or packs, or what else) of a block of these
// extents: once, without a loop, where there is a thread for each.
template <int extent, int threads, class Body>
__device__ __forceinline__ void for_axis(int thread, const Body &body) {
    if constexpr (extent == threads) {
        body(thread);
    } else {
        for (int i = thread; i < extent; i += threads)
            body(i);
    }
}
template <int extent_x, int extent_y, int extent_z, class Body>
__device__ __forceinline__ void for_points(const Body &body) {
    for_axis<extent_z, plan::threads_z>(threadIdx.z, [&](int z) {
        for_axis<extent_y, plan::threads_y>(threadIdx.y, [&](int y) {
            for_axis<extent_x, plan::threads_x>(threadIdx.x, [&](int x) { body(x, y, z); });
        });
    });
}
