#pragma once
#include "cursors.cuh"

// Cursors near edges, by the rules.

template <int array> struct Cell<array, false> {
    const Stored<Array<array>> *column; // at z = 0; null where x or y alone decide the value
    Real value;
    Index z;

    __device__ __forceinline__ void place(const Arguments &a, Index x, Index y, Index z_first) {
        z = z_first;
        column = nullptr;
        value = 0;
        // What lies beyond the box's end and the shape's reach is never used.
        if (x >= a.end[0] + plan::high_x || y >= a.end[1] + plan::high_y)
            return;
        if constexpr (plan::all_fixed) {
            if (x < 0 || x >= a.size[0] || y < 0 || y >= a.size[1])
                return;
        } else {
#if defined(PLAN_OWN_EDGES)
            if (!resolve<0, array>(x, a, value) || !resolve<1, array>(y, a, value))
                return;
#else
            if (!resolve<0>(x, a.size[0], value) || !resolve<1>(y, a.size[1], value))
                return;
#endif
        }
        const GridOf<Array<array>> &grid = a.grid[Array<array>::grid];
        column = grid.data + offset(grid, x, y, 0);
    }
    __device__ __forceinline__ Real read(const Arguments &a) const {
        Index inside = z;
        Real outside = 0;
        if (column == nullptr)
            return value;
        if constexpr (plan::all_fixed) {
            if (z < 0 || z >= a.size[2])
                return 0;
        } else {
#if defined(PLAN_OWN_EDGES)
            if (!resolve<2, array>(inside, a, outside))
                return outside;
#else
            if (!resolve<2>(inside, a.size[2], outside))
                return outside;
#endif
        }
        return load(column + inside * a.grid[Array<array>::grid].stride_z);
    }
    __device__ __forceinline__ void advance(const Arguments &) { ++z; }
};

template <> struct Target<false> {
    Target<true> target;
    Point at;
    __device__ __forceinline__ void place(const Arguments &a, Index x, Index y, Index z) {
        at = {x, y, z};
        target.place(a, x, y, z);
    }
    __device__ __forceinline__ void put(const Arguments &a, const Outputs &out) const {
        if (kept(a, at))
            keep(a, at);
        else
            target.put(a, out);
    }
    __device__ __forceinline__ void advance(const Arguments &a) {
        ++at.z;
        target.advance(a);
    }
};
