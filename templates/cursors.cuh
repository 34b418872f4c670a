#pragma once
#include "grid.cuh"

// A cell that is read and then walks along the last axis. `inner` promises that it lies inside the
// grid all the way; else the rules apply to x and y once, when it is placed, and to z at each reading.
template <int array, bool inner> struct Cell;

template <int array> struct Cell<array, true> {
    const Stored<Array<array>> *at;
    __device__ __forceinline__ void place(const Arguments &a, Index x, Index y, Index z) {
        const GridOf<Array<array>> &grid = a.grid[Array<array>::grid];
        at = grid.data + opaque(offset(grid, x, y, z));
    }
    __device__ __forceinline__ Real read(const Arguments &) const { return load(at); }
    __device__ __forceinline__ Real read(const Arguments &a, int dx, int dy, int dz) const {
        return load(at + offset(a.grid[Array<array>::grid], dx, dy, dz));
    }
    __device__ __forceinline__ void advance(const Arguments &a) {
        at += a.grid[Array<array>::grid].stride_z;
    }
};

// One cell of every array that taps read.
template <bool inner, int array = 0> struct Cells {
    Cell<array, inner> cell;
    Cells<inner, array + 1> rest;
    __device__ __forceinline__ void place(const Arguments &a, Index x, Index y, Index z) {
        cell.place(a, x, y, z);
        rest.place(a, x, y, z);
    }
    template <int wanted> __device__ __forceinline__ const auto &of() const {
        if constexpr (wanted == array)
            return cell;
        else
            return rest.template of<wanted>();
    }
    __device__ __forceinline__ void advance(const Arguments &a) {
        cell.advance(a);
        rest.advance(a);
    }
};
template <bool inner> struct Cells<inner, plan::arrays> {
    template <int> __device__ const Cells &of() const; // where nothing is read: named, never called
    __device__ __forceinline__ void place(const Arguments &, Index, Index, Index) {}
    __device__ __forceinline__ void advance(const Arguments &) {}
};

// Where a point's results go. `inner` promises that no boundary keeps its value.
template <bool inner> struct Target;

#if defined(PLAN_MIXED)
template <> struct Target<true> {
    void *to[plan::outputs]; // cells of each output's own type
    template <int output> __device__ __forceinline__ Stored<Output<output>> *of() const {
        return static_cast<Stored<Output<output>> *>(to[output]);
    }
    template <int output = 0>
    __device__ __forceinline__ void place(const Arguments &a, Index x, Index y, Index z) {
        if constexpr (output < plan::outputs) {
            const GridOf<Output<output>> &grid = a.grid[Output<output>::grid];
            to[output] = grid.data + opaque(offset(grid, x, y, z));
            place<output + 1>(a, x, y, z);
        }
    }
    template <int output = 0>
    __device__ __forceinline__ void put(const Arguments &a, const Outputs &out) const {
        if constexpr (output < plan::outputs) {
            *of<output>() = out[output];
            put<output + 1>(a, out);
        }
    }
    template <int output = 0> __device__ __forceinline__ void advance(const Arguments &a) {
        if constexpr (output < plan::outputs) {
            to[output] = of<output>() + a.grid[Output<output>::grid].stride_z;
            advance<output + 1>(a);
        }
    }
};
#else
template <> struct Target<true> {
    Stored<Output<0>> *to[plan::outputs];
    template <int output = 0>
    __device__ __forceinline__ void place(const Arguments &a, Index x, Index y, Index z) {
        if constexpr (output < plan::outputs) {
            const GridOf<Output<output>> &grid = a.grid[Output<output>::grid];
            to[output] = grid.data + opaque(offset(grid, x, y, z));
            place<output + 1>(a, x, y, z);
        }
    }
    __device__ __forceinline__ void put(const Arguments &, const Outputs &out) const {
#pragma unroll
        for (int o = 0; o < plan::outputs; ++o)
            *to[o] = out[o];
    }
    template <int output = 0> __device__ __forceinline__ void advance(const Arguments &a) {
        if constexpr (output < plan::outputs) {
            to[output] += a.grid[Output<output>::grid].stride_z;
            advance<output + 1>(a);
        }
    }
};
#endif
