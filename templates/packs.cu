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

// The packs that hold one row's taps of all the thread's points: the element at x0 + dx is
// element[before * vector + dx].
template <int row> struct Window {
    static constexpr int before = (Row<row>::low + plan::vector - 1) / plan::vector;
    static constexpr int after = (Row<row>::high + plan::vector - 1) / plan::vector;
    Real element[(before + 1 + after) * plan::vector];

    __device__ __forceinline__ void read(const Arguments &a, const AtInner &at) {
        const Grid &grid = a.grid[Array<Row<row>::array>::grid];
        const Real *from = at.cell[Row<row>::array] +
                           offset(grid, 0, Row<row>::dy, Row<row>::dz);
        if constexpr (plan::packs) {
            using Wide = Pack<Real, plan::vector>;
#pragma unroll
            for (int k = 0; k < before + 1 + after; ++k) {
                const Wide pack = load_pack(reinterpret_cast<const Wide *>(from) + k - before);
#pragma unroll
                for (int i = 0; i < plan::vector; ++i)
                    element[k * plan::vector + i] = pack.element[i];
            }
        } else {
#pragma unroll
            for (int i = -Row<row>::low; i < plan::vector + Row<row>::high; ++i)
                element[before * plan::vector + i] = load(from + i);
        }
    }
};

// All rows of the shape, one window each.
template <int row> struct Windows {
    Window<row> window;
    Windows<row + 1> rest;
    __device__ __forceinline__ void read(const Arguments &a, const AtInner &at) {
        window.read(a, at);
        rest.read(a, at);
    }
    template <int array, int dy, int dz> __device__ __forceinline__ Real at(int i) const {
        using R = Row<row>;
        if constexpr (R::array == array && R::dy == dy && R::dz == dz)
            return window.element[Window<row>::before * plan::vector + i];
        else
            return rest.template at<array, dy, dz>(i);
    }
};
template <> struct Windows<plan::rows> {
    template <int, int, int> __device__ Real at(int) const; // where nothing is read: never called
    __device__ __forceinline__ void read(const Arguments &, const AtInner &) {
    }
};

template <int point> struct AtWindow {
    const Windows<0> &windows;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return windows.template at<array, dy, dz>(point + dx);
    }
};

using Results = Real[plan::vector][plan::outputs];

template <int point = 0>
__device__ __forceinline__ void update_windows(const Windows<0> &windows, const Arguments &a,
                                               Results &out) {
    if constexpr (point < plan::vector) {
        update_point(AtWindow<point>{windows}, a, out[point]);
        update_windows<point + 1>(windows, a, out);
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
    Windows<0> windows;
    windows.read(a, at);
    Results out;
    update_windows(windows, a, out);
    put_packs(a, p, out);
}

// The thread's points, p and the vector - 1 after it in x, where some may lie near an edge.
__device__ __forceinline__ bool packs_inside(const Arguments &a, const Point &p) {
    // Whole packs are loaded, so a window may reach further than the shape.
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
