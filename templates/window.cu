// window: register tiling in 1D. A block stages its stretch of x in shared memory; every thread
// then keeps `walk` consecutive points and the neighbours on both sides in registers, and reads each
// element from shared memory once.
//
//        . . [a b c d] . .     walk = 4: the window of one thread, four results from one reading
//
// Threads read shared memory `walk` elements apart; an element of padding every 32 keeps them in
// different banks.
#include "common.cuh"
#include "plan.h"
#include "grid.cuh"

constexpr int stretch = plan::tile_x * plan::walk; // points a block makes

__device__ __forceinline__ int padded(int i) {
    return i + (i >> 5);
}

template <int array> struct Stretch {
    static constexpr int low = Array<array>::low_x, high = Array<array>::high_x;
    static constexpr int width = low + stretch + high;
};

template <int array = 0>
__device__ __forceinline__ void load_stretch(const Arguments &a, bool inner, Index x0,
                                             Real *shared) {
    if constexpr (array < plan::arrays) {
        using S = Stretch<array>;
        for (int i = threadIdx.x; i < S::width; i += plan::threads_x) {
            const Index x = x0 - S::low + i;
            if (inner || needed(a, x, 0, 0))
                shared[Array<array>::shared + padded(i)] = fetch<array>(a, inner, x, 0, 0);
        }
        load_stretch<array + 1>(a, inner, x0, shared);
    }
}

// The windows of all arrays at the thread's points.
template <int array> struct Windows {
    using S = Stretch<array>;
    Real value[S::low + plan::walk + S::high];
    Windows<array + 1> rest;
    __device__ __forceinline__ void read(const Real *shared, int first) {
#pragma unroll
        for (int i = 0; i < S::low + plan::walk + S::high; ++i)
            value[i] = shared[Array<array>::shared + padded(first + i)];
        rest.read(shared, first);
    }
    template <int wanted> __device__ __forceinline__ Real at(int i) const {
        if constexpr (wanted == array)
            return value[S::low + i];
        else
            return rest.template at<wanted>(i);
    }
};
template <> struct Windows<plan::arrays> {
    __device__ __forceinline__ void read(const Real *, int) {
    }
};

template <int point> struct AtWindow {
    const Windows<0> &windows;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return windows.template at<array>(point + dx);
    }
};

// Results go back through shared memory, so that threads store neighbouring elements.
template <int point = 0>
__device__ __forceinline__ void update_window(const Windows<0> &windows, const Arguments &a,
                                              int first, Real *results) {
    if constexpr (point < plan::walk) {
        Real out[plan::outputs];
        update_point(AtWindow<point>{windows}, a, out);
#pragma unroll
        for (int o = 0; o < plan::outputs; ++o)
            results[o * plan::result_pitch + padded(first + point)] = out[o];
        update_window<point + 1>(windows, a, first, results);
    }
}

extern "C" __global__ void __launch_bounds__(plan::threads_x)
    STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    Real *const shared = reinterpret_cast<Real *>(shared_bytes());
    Real *const results = shared + plan::results;
    const Point origin = block_origin(arguments, stretch, 1, 1);
    const bool inner = block_inside(arguments, origin, stretch, 1, 1);
    load_stretch(arguments, inner, origin.x, shared);
    __syncthreads(); // the stretch is complete
    for (int i = threadIdx.x; i < plan::tile_x; i += plan::threads_x) {
        Windows<0> windows;
        windows.read(shared, i * plan::walk);
        update_window(windows, arguments, i * plan::walk, results);
    }
    __syncthreads(); // the results are complete
    for (int i = threadIdx.x; i < stretch; i += plan::threads_x) {
        const Point p = {origin.x + i, 0, 0};
        if (p.x >= arguments.end[0])
            break;
        Real out[plan::outputs];
#pragma unroll
        for (int o = 0; o < plan::outputs; ++o)
            out[o] = results[o * plan::result_pitch + padded(i)];
        finish(arguments, inner, p, out);
    }
}
