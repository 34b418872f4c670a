// tiled: a block stages its tile with the halo in shared memory, then every thread makes its
// points from there.
//
//        h h h h h h
//        h t t t t h      t: the tile's points, one or more a thread
//        h t t t t h      h: the halo, as far as the shape reaches
//        h h h h h h
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "plan.h"
#include "grid.cuh"
#include "edge_cursors.cuh"
#include "blocks.cuh"
#include "staging.cuh"

struct AtTile {
    const Arguments &a;
    const Real *shared;
    const Point &p;
    int x, y, z; // in the tile
#if defined(PLAN_POSITIONS)
    template <int axis> __device__ __forceinline__ Index index() const {
        return coordinate<axis>(p);
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        using Box = Staged<array>;
        if constexpr (Array<array>::staged)
            return shared[Array<array>::shared + (z + dz + Array<array>::low_z) * Box::plane +
                          Box::at(x + dx, y + dy)];
        else
            return read_own<array>(a, p);
    }
};

// Loads the boxes of all staged arrays.
template <bool inner, int array = 0>
__device__ __forceinline__ void load_tile(const Arguments &a, const Point &origin, Real *shared) {
    if constexpr (array < plan::arrays) {
        using A = Array<array>;
        using Box = Staged<array>;
        if constexpr (A::staged) {
            constexpr int cells = Box::plane * (A::low_z + plan::tile_z + A::high_z);
            constexpr int rounds = (cells + plan::threads - 1) / plan::threads;
            constexpr int batch = rounds < 8 ? rounds : 8; // reads before the first is awaited
            const Point corner = {origin.x - A::low_x, origin.y - A::low_y, origin.z - A::low_z};
            Cell<array, true> first; // the corner's, where it lies inside
            if constexpr (inner)
                first.place(a, corner.x, corner.y, corner.z);
            for (int round = 0; round < rounds; round += batch) {
                Real held[batch];
#pragma unroll
                for (int k = 0; k < batch; ++k) {
                    const int i = thread_in_block() + (round + k) * plan::threads;
                    const int x = i % Box::width, y = i / Box::width % Box::height;
                    const int z = i / Box::plane;
                    if (i >= cells)
                        continue;
                    if constexpr (inner)
                        held[k] = first.read(a, x, y, z);
                    else if (needed(a, corner.x + x, corner.y + y, corner.z + z))
                        held[k] = read_anywhere<array>(a, corner.x + x, corner.y + y, corner.z + z);
                }
#pragma unroll
                for (int k = 0; k < batch; ++k) {
                    const int i = thread_in_block() + (round + k) * plan::threads;
                    if (i < cells)
                        shared[A::shared + i] = held[k];
                }
            }
        }
        load_tile<inner, array + 1>(a, origin, shared);
    }
}

template <bool inner>
__device__ __forceinline__ void make_tile(const Arguments &a, const Point &origin, Real *shared) {
    load_tile<inner>(a, origin, shared);
    __syncthreads(); // the tile is complete before anyone reads a neighbour
    for_points<plan::tile_x, plan::tile_y, plan::tile_z>([&](int x, int y, int z) {
        const Point p = {origin.x + x, origin.y + y, origin.z + z};
        if (!inner && !in_box(a, p))
            return;
        Outputs out;
        update_point(AtTile{a, shared, p, x, y, z}, a, out);
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
