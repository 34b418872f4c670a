// packs: the naive method with `vector` neighbouring points of x a thread. Loads and stores move
// packs of that many elements; an element is loaded once for all the thread's points that need it.
//
//        vector = 4:   . . [a b c d] . .     the thread's points, and the neighbouring packs
//                    low ^          ^ high   as far as the shape reaches
#include "arch/memory.cuh"
#include "plan.h"
#include "grid.cuh"
#include "cursors.cuh"
#include "blocks.cuh"
#include "taps.cuh"
#include "point.cuh"

// Taps of the point `point` of the thread's. Compilers load a pack once for all the taps that ask for
// it, because nothing is stored before the last.
template <int point> struct AtPacks {
    const AtInner &at;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        constexpr int i = point + dx;
        const Real *const from = at.cell[array] + offset(at.a.grid[Array<array>::grid], 0, dy, dz);
        if constexpr (plan::packs) {
            constexpr int pack = (i < 0 ? i + 1 - plan::vector : i) / plan::vector;
            const auto *const packs = reinterpret_cast<const Pack<Real, plan::vector> *>(from);
            return load_pack(packs + pack).element[i - pack * plan::vector];
        } else {
            return load(from + i);
        }
    }
};

using Results = Real[plan::vector][plan::outputs];

template <int point = 0>
__device__ __forceinline__ void update_points(const AtInner &at, Results &out) {
    if constexpr (point < plan::vector) {
        update_point(AtPacks<point>{at}, at.a, out[point]);
        update_points<point + 1>(at, out);
    }
}

template <int output = 0>
__device__ __forceinline__ void put_packs(const Arguments &a, const Point &p, const Results &out) {
    if constexpr (output < plan::outputs) {
        const Grid &grid = a.grid[Output<output>::grid];
        Real *const to = grid.data + opaque(offset(grid, p.x, p.y, p.z));
        Pack<Real, plan::vector> pack;
#pragma unroll
        for (int i = 0; i < plan::vector; ++i)
            pack.element[i] = out[i][output];
        if constexpr (plan::packs) {
            *reinterpret_cast<Pack<Real, plan::vector> *>(to) = pack;
        } else {
#pragma unroll
            for (int i = 0; i < plan::vector; ++i)
                to[i] = pack.element[i];
        }
        put_packs<output + 1>(a, p, out);
    }
}

__device__ __forceinline__ void update_packs(const Arguments &a, const Point &p) {
    AtInner at = {a, {}};
    at.place(p);
    Results out;
    update_points(at, out);
    put_packs(a, p, out);
}

// The thread's points, p and the vector - 1 after it in x, where some may lie near an edge.
__device__ __forceinline__ bool packs_inside(const Arguments &a, const Point &p) {
    // Whole packs are loaded, which may reach further than the shape.
    constexpr int reach = (plan::high_x + plan::vector - 1) / plan::vector * plan::vector;
    return p.x + plan::vector <= a.end[0] && p.x + plan::vector + reach <= a.size[0] &&
           shape_inside(a, p, {p.x + plan::vector - 1, p.y, p.z});
}

extern "C" __global__ void
    __launch_bounds__(plan::threads, plan::blocks)
        STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    const Arguments &a = arguments;
    const Point origin = block_origin(a, plan::tile_x, plan::tile_y, plan::tile_z);
    const bool inner = block_inside(a);
    const auto update = [&](int x, int y, int z) {
        const Point p = {origin.x + x * plan::vector, origin.y + y, origin.z + z};
        if (inner || (in_box(a, p) && packs_inside(a, p))) {
            update_packs(a, p);
        } else if (in_box(a, p)) {
            for (int i = 0; i < plan::vector && p.x + i < a.end[0]; ++i)
                update_anywhere(a, p.x + i, p.y, p.z);
        }
    };
    if constexpr (plan::tile_x / plan::vector == plan::threads_x &&
                  plan::tile_y == plan::threads_y && plan::tile_z == plan::threads_z)
        update(threadIdx.x, threadIdx.y, threadIdx.z);
    else
        for_points<plan::tile_x / plan::vector, plan::tile_y, plan::tile_z>(update);
}
