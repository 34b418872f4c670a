// packs: the naive method with `vector` neighbouring points of x a thread. Taps are elements of packs, and
// compilers load a pack once for all of the thread's points.
//
//        vector = 4:   . . [a b c d] . .     the points, and the neighbouring packs that taps reach
#include "arch/memory.cuh"
#include "plan.h"
#include "grid.cuh"
#include "blocks.cuh"
#include "taps.cuh"

// Taps of point number `number` from p on. The packs of `count` elements that they reach lie inside the grid.
template <int count> struct AtPacks {
    const Arguments &a;
    const Point &p;
    int number;
#if defined(PLAN_POSITIONS)
    template <int axis> __device__ __forceinline__ Index index() const {
        return coordinate<axis>(p) + (axis == 0 ? number : 0);
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        const GridOf<Array<array>> &grid = a.grid[Array<array>::grid];
        const auto *const row = opaque_address(grid.data + offset(grid, p.x, p.y, p.z)) + offset(grid, 0, dy, dz);
#if PLAN_PACKS
        const int i = number + dx, begin = i & -count; // of its pack
        return load_pack(reinterpret_cast<const Pack<Stored<Array<array>>, count> *>(row + begin)).element[i - begin];
#else
        return load(row + number + dx);
#endif
    }
};

template <int output = 0, int count>
__device__ __forceinline__ void put(const Arguments &a, const Point &p, const Real (&out)[count][plan::outputs]) {
    if constexpr (output < plan::outputs) {
        const GridOf<Output<output>> &grid = a.grid[Output<output>::grid];
        Stored<Output<output>> *const to = grid.data + opaque_offset(offset(grid, p.x, p.y, p.z));
        Pack<Real, count> pack;
#pragma unroll
        for (int i = 0; i < count; ++i)
            pack.element[i] = out[i][output];
#if !PLAN_PACKS
#pragma unroll
        for (int i = 0; i < count; ++i)
            to[i] = pack.element[i];
#elif defined(PLAN_NARROW)
        store_narrowed(to, pack);
#else
        *reinterpret_cast<Pack<Real, count> *>(to) = pack;
#endif
        put<output + 1>(a, p, out);
    }
}

// So many points whose shapes lie inside the grid, from p on in x.
template <int count> __device__ __forceinline__ void update_inner(const Arguments &a, const Point &p) {
    Real out[count][plan::outputs];
#if defined(PLAN_INTERIOR)
    bool interior = interior_along<1>(a, p.y) && interior_along<2>(a, p.z);
#pragma unroll
    for (int i = 0; i < count; ++i)
        interior = interior && interior_along<0>(a, p.x + i);
    if (interior) { // no condition is asked: compilers see that this way has none
#pragma unroll
        for (int i = 0; i < count; ++i)
            update_placed(AtPacks<count>{a, p, i}, a, true, Places(), out[i]);
    } else {
        Places places[count];
#pragma unroll
        for (int i = 0; i < count; ++i)
            places[i] = find_places(AtPacks<count>{a, p, i}, a);
#pragma unroll
        for (int i = 0; i < count; ++i)
            update_placed(AtPacks<count>{a, p, i}, a, false, places[i], out[i]);
    }
#else
#pragma unroll
    for (int i = 0; i < count; ++i)
        update_point(AtPacks<count>{a, p, i}, a, out[i]);
#endif
    put(a, p, out);
}

// Any point. Not inlined: few threads come here, and the code would swell all others.
__device__ __noinline__ void update_anywhere(const Arguments &a, Index x, Index y, Index z) {
    const Point p = {x, y, z};
#if PLAN_KEEPS
    if (plan::all_fixed ? !shape_inside(a, p, p) : kept(a, p))
        return keep(a, p);
#endif
    if (plan::all_fixed || shape_inside(a, p, p))
        return update_inner<1>(a, p);
    if constexpr (!plan::all_fixed) {
        Real out[1][plan::outputs];
        update_point(AtEdge{a, p}, a, out[0]);
        put(a, p, out);
    }
}

// Of the thread's points, from p on. Whole packs are loaded, which may reach further than the shape.
__device__ __forceinline__ bool packs_inside(const Arguments &a, const Point &p) {
    constexpr int high = (plan::high_x + plan::vector - 1) / plan::vector * plan::vector;
    return p.x + plan::vector <= a.end[0] && p.x + plan::vector + high <= a.size[0] &&
           shape_inside(a, p, {p.x + plan::vector - 1, p.y, p.z});
}

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments a) {
#if PLAN_LINE
    // Blocks and threads of a line have no other axes, and begin sooner for it.
    int block = blockIdx.x;
#if defined(PLAN_AWAITS)
    await_with(block);
#endif
    const Point origin = {a.begin[0] + Index(block) * plan::tile_x, 0, 0};
    const bool inner =
        block >= a.inner_first[0] && block < a.inner_end[0];
#else
    const Point origin = block_origin(a, plan::tile_x, plan::tile_y, plan::tile_z);
    const bool inner = block_inside(a);
#endif
    const auto update = [&](int x, int y, int z) {
        const Point p = {origin.x + x * plan::vector, origin.y + y, origin.z + z};
        if (inner || (in_box(a, p) && packs_inside(a, p)))
            update_inner<plan::vector>(a, p);
        else if (in_box(a, p))
            for (int i = 0; i < plan::vector && p.x + i < a.end[0]; ++i)
                update_anywhere(a, p.x + i, p.y, p.z);
    };
#if PLAN_LINE
    for_axis<plan::tile_x / plan::vector, plan::threads_x>(threadIdx.x,
                                                           [&](int x) { update(x, 0, 0); });
#else
    if constexpr (plan::tile_x / plan::vector == plan::threads_x &&
                  plan::tile_y == plan::threads_y && plan::tile_z == plan::threads_z)
        update(threadIdx.x, threadIdx.y, threadIdx.z);
    else
        for_points<plan::tile_x / plan::vector, plan::tile_y, plan::tile_z>(update);
#endif
}
