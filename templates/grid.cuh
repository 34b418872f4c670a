#pragma once
#include "arch/memory.cuh"

struct Point { Index x, y, z; }; // along the kernel's axes

#if defined(PLAN_POSITIONS)
template <int axis> __device__ __forceinline__ Index coordinate(const Point &p) {
    return axis == 0 ? p.x : axis == 1 ? p.y : p.z;
}
#endif

#if defined(PLAN_MIXED)
template <class Grid>
#endif
__device__ __forceinline__ Index offset(const Grid &grid, Index x, Index y, Index z) {
    return z * grid.stride_z + y * grid.stride_y + x;
}

// Applies the rules of an axis until `i` lies inside. False when a rule gives a value instead. Where
// the boundary is fixed the edge cell is read, and the result is not stored.
#if !defined(PLAN_OWN_EDGES) && !PLAN_GIVES && PLAN_CLAMPS + PLAN_MIRRORS + PLAN_WRAPS == 1
template <int axis> __device__ __forceinline__ bool resolve(Index &i, Index size, Real &) {
    while (i < 0 || i >= size) // all sides have one rule
#if PLAN_CLAMPS
        i = i >= size ? size - 1 : 0;
#elif PLAN_MIRRORS
        i = size == 1 ? 0 : i >= size ? 2 * (size - 1) - i : -i;
#else
        i = i % size < 0 ? i % size + size : i % size;
#endif
    return true;
}
#if !PLAN_HAS_Y && !PLAN_CLAMPS // nothing lies beyond its ends
template <> __device__ __forceinline__ bool resolve<1>(Index &, Index, Real &) { return true; }
#endif
#if !PLAN_HAS_Z && !PLAN_CLAMPS // nothing lies beyond its ends
template <> __device__ __forceinline__ bool resolve<2>(Index &, Index, Real &) { return true; }
#endif
#else
#if defined(PLAN_OWN_EDGES)
template <int axis, int array>
__device__ __forceinline__ bool resolve(Index &i, const Arguments &a, Real &value) {
    const Index size = a.size[axis];
    while (i < 0 || i >= size) {
        const bool high = i >= size;
        const Boundary kind = high ? Edge<axis, 1, array>::kind : Edge<axis, 0, array>::kind;
#else
template <int axis> __device__ __forceinline__ bool resolve(Index &i, Index size, Real &value) {
    while (i < 0 || i >= size) {
        const bool high = i >= size;
        const Boundary kind = high ? Edge<axis, 1>::kind : Edge<axis, 0>::kind;
#endif
#if PLAN_GIVES
        if (kind == Boundary::zero || kind == Boundary::constant) {
#if defined(PLAN_OWN_EDGES)
            value = high ? Edge<axis, 1, array>::beyond(a) : Edge<axis, 0, array>::beyond(a);
#else
            value = high ? Edge<axis, 1>::beyond() : Edge<axis, 0>::beyond();
#endif
            return false;
        }
#endif
#if PLAN_CLAMPS
        if (kind == Boundary::fixed || kind == Boundary::clamp)
            i = high ? size - 1 : 0;
#endif
#if PLAN_MIRRORS
        if (kind == Boundary::mirror)
            i = size == 1 ? 0 : high ? 2 * (size - 1) - i : -i;
#endif
#if PLAN_WRAPS
        if (kind == Boundary::periodic)
            i = i % size < 0 ? i % size + size : i % size;
#endif
    }
    return true;
}
#endif

#if defined(PLAN_HANDED)
#define RARELY_USED __forceinline__ // compilers may find no registers for kernels that call functions
#else
#define RARELY_USED __noinline__ // few taps reach outside, and the code would swell all others
#endif
template <int array>
__device__ RARELY_USED Real read_outside(const Arguments &a, Index x, Index y, Index z) {
    Real value = 0;
#if defined(PLAN_OWN_EDGES)
    if (!resolve<0, array>(x, a, value) || !resolve<1, array>(y, a, value) ||
        !resolve<2, array>(z, a, value))
        return value;
#else
    if (!resolve<0>(x, a.size[0], value) || !resolve<1>(y, a.size[1], value) ||
        !resolve<2>(z, a.size[2], value))
        return value;
#endif
    const GridOf<Array<array>> &grid = a.grid[Array<array>::grid];
    return load(grid.data + offset(grid, x, y, z));
}

// Any cell, by the rules.
template <int array>
__device__ __forceinline__ Real read_anywhere(const Arguments &a, Index x, Index y, Index z) {
    if (x < 0 || x >= a.size[0] || y < 0 || y >= a.size[1] || z < 0 || z >= a.size[2]) {
        if constexpr (plan::all_fixed)
            return 0; // it is not used
        else
            return read_outside<array>(a, x, y, z);
    }
    const GridOf<Array<array>> &grid = a.grid[Array<array>::grid];
    return load(grid.data + offset(grid, x, y, z));
}

// Whether the shape at every point from `first` to `last` lies inside the grid.
__device__ __forceinline__ bool shape_inside(const Arguments &a, const Point &first,
                                             const Point &last) {
    return first.x >= plan::low_x && last.x + plan::high_x < a.size[0] && first.y >= plan::low_y &&
           last.y + plan::high_y < a.size[1] && first.z >= plan::low_z &&
           last.z + plan::high_z < a.size[2];
}

__device__ __forceinline__ bool in_box(const Arguments &a, const Point &p) {
    return p.x < a.end[0] && p.y < a.end[1] && p.z < a.end[2];
}

template <int axis, class Number>
__device__ __forceinline__ bool keeps(Number i, Number size, int low, int high) {
    if constexpr (plan::all_fixed)
        return (low > 0 && i < low) || (high > 0 && i + high >= size);
    return (Edge<axis, 0>::kind == Boundary::fixed && i < low) ||
           (Edge<axis, 1>::kind == Boundary::fixed && i + high >= size);
}

// Whether a fixed boundary keeps this cell's value.
__device__ __forceinline__ bool kept(const Arguments &a, const Point &p) {
    return keeps<0>(p.x, a.size[0], plan::low_x, plan::high_x) ||
           keeps<1>(p.y, a.size[1], plan::low_y, plan::high_y) ||
           keeps<2>(p.z, a.size[2], plan::low_z, plan::high_z);
}

// A kept cell: its current value goes to the next level.
template <int output = 0> __device__ __forceinline__ void keep(const Arguments &a, const Point &p) {
    if constexpr (output < plan::outputs) {
        if constexpr (Output<output>::current >= 0) { // else it stays in its array
            const GridOf<Output<output>> &from = a.grid[Output<output>::current];
            const GridOf<Output<output>> &to = a.grid[Output<output>::grid];
            to.data[offset(to, p.x, p.y, p.z)] = load(from.data + offset(from, p.x, p.y, p.z));
        }
        keep<output + 1>(a, p);
    }
}

using Outputs = Real[plan::outputs];
