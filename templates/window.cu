// window: register tiling in 1D. A block stages its stretch of x in shared memory; every thread
// then keeps `walk` consecutive points and the neighbours on both sides in registers, and reads each
// element from shared memory once.
//
//        . . [a b c d] . .     walk = 4: the window of one thread, four results from one reading
//
// Threads read shared memory `walk` elements apart; an element of padding every 32 keeps them in
// different banks.
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "plan.h"
#include "grid.cuh"
#include "edge_cursors.cuh"
#include "blocks.cuh"

constexpr int stretch = plan::tile_x * plan::walk; // points a block makes

__device__ __forceinline__ int padded(int i) {
    return i + (i >> 5);
}

template <int array> struct Stretch {
    static constexpr int low = Array<array>::low_x, high = Array<array>::high_x;
    static constexpr int width = low + stretch + high;
};

// Loads every array's stretch with its halo.
template <bool inner, int array = 0>
__device__ __forceinline__ void load_stretch(const Arguments &a, const Point &origin,
                                             Real *shared) {
    if constexpr (array < plan::arrays) {
        using S = Stretch<array>;
        constexpr int rounds = (S::width + plan::threads - 1) / plan::threads;
        constexpr int batch = rounds < 8 ? rounds : 8; // reads before the first is awaited
        const Index begin = origin.x - S::low;
        Cell<array, true> first; // where it lies inside
        if constexpr (inner)
            first.place(a, begin, origin.y, origin.z);
        for (int round = 0; round < rounds; round += batch) {
            Real held[batch];
#pragma unroll
            for (int k = 0; k < batch; ++k) {
                const int i = threadIdx.x + (round + k) * plan::threads;
                if (i >= S::width)
                    continue;
                if constexpr (inner)
                    held[k] = first.read(a, i, 0, 0);
                else if (needed(a, begin + i, 0, 0))
                    held[k] = read_anywhere<array>(a, begin + i, 0, 0);
            }
#pragma unroll
            for (int k = 0; k < batch; ++k) {
                const int i = threadIdx.x + (round + k) * plan::threads;
                if (i < S::width)
                    shared[Array<array>::shared + padded(i)] = held[k];
            }
        }
        load_stretch<inner, array + 1>(a, origin, shared);
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
    template <int> __device__ Real at(int) const; // where nothing is read: named, never called
    __device__ __forceinline__ void read(const Real *, int) {
    }
};

template <int point> struct AtWindow {
    const Windows<0> &windows;
#if defined(PLAN_POSITIONS)
    Index x;
    template <int axis> __device__ __forceinline__ Index index() const {
        return axis == 0 ? x : 0;
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return windows.template at<array>(point + dx);
    }
};

// Results go back through shared memory, so that threads store neighbouring elements.
template <int point = 0>
__device__ __forceinline__ void update_window(const Windows<0> &windows, const Arguments &a,
                                              int first, Real *results) {
    if constexpr (point < plan::walk) {
        Outputs out;
#if defined(PLAN_POSITIONS)
        const Index x = block_origin(a, stretch, 1, 1).x + first + point;
        update_point(AtWindow<point>{windows, x}, a, out);
#else
        update_point(AtWindow<point>{windows}, a, out);
#endif
#pragma unroll
        for (int o = 0; o < plan::outputs; ++o)
            results[o * plan::result_pitch + padded(first + point)] = out[o];
        update_window<point + 1>(windows, a, first, results);
    }
}

template <bool inner>
__device__ __forceinline__ void make_stretch(const Arguments &a, const Point &origin,
                                             Real *shared) {
    Real *const results = shared + plan::results;
    load_stretch<inner>(a, origin, shared);
    __syncthreads(); // the stretch is complete
    for (int i = threadIdx.x; i < plan::tile_x; i += plan::threads) {
        Windows<0> windows;
        windows.read(shared, i * plan::walk);
        update_window(windows, a, i * plan::walk, results);
    }
    __syncthreads(); // the results are complete
    for (int i = threadIdx.x; i < stretch; i += plan::threads) {
        if (!inner && origin.x + i >= a.end[0])
            break;
        Outputs out;
#pragma unroll
        for (int o = 0; o < plan::outputs; ++o)
            out[o] = results[o * plan::result_pitch + padded(i)];
        Target<inner> target;
        target.place(a, origin.x + i, origin.y, origin.z);
        target.put(a, out);
    }
}

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    Real *const shared = reinterpret_cast<Real *>(shared_bytes());
    const Point origin = block_origin(arguments, stretch, 1, 1);
    if (block_inside(arguments))
        make_stretch<true>(arguments, origin, shared);
    else
        make_stretch<false>(arguments, origin, shared);
}
