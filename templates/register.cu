// register: a block walks the last axis with one plane in shared memory. Neighbours along the walk
// stay in the registers of the thread whose point they are above or below; neighbours in the plane
// come from shared memory.
//
//        z+1      |r|          column of one point: registers
//        z     [ s s C s s ]   the plane with its halo: shared memory; C is in both
//        z-1      |r|
//
// Serves shapes whose taps all lie in the column or in the plane; sums.cu serves linear updates of
// any other shape.
#include "common.cuh"
#include "plan.h"
#include "grid.cuh"
#include "staging.cuh"

constexpr int depth = plan::walk_low + 1 + plan::walk_high;
template <int array> constexpr bool has_column = Array<array>::staged;
template <int array>
constexpr bool has_plane = Array<array>::low_x + Array<array>::high_x + Array<array>::low_y +
                               Array<array>::high_y > 0;

// The columns of all arrays at the thread's points: value[c][walk_low + dz].
template <int array> struct Columns {
    Real value[Place::count][depth];
    Columns<array + 1> rest;
    template <int wanted> __device__ __forceinline__ auto &of() {
        if constexpr (wanted == array)
            return *this;
        else
            return rest.template of<wanted>();
    }
    template <int wanted> __device__ __forceinline__ const auto &of() const {
        if constexpr (wanted == array)
            return *this;
        else
            return rest.template of<wanted>();
    }
};
template <> struct Columns<plan::arrays> {};

struct AtColumn {
    const Arguments &a;
    const Columns<0> &held;
    const Real *shared;
    const Point &p;
    int c;
    Place place;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        if constexpr (!has_column<array>)
            return fetch_own<array>(a, p);
        else if constexpr (dx == 0 && dy == 0)
            return held.template of<array>().value[c][plan::walk_low + dz];
        else
            return shared[Array<array>::shared + Staged<array>::at(place.x + dx, place.y + dy)];
    }
};

// Reads the columns' entries for z + ahead.
template <int array = 0>
__device__ __forceinline__ void read_ahead(const Arguments &a, bool inner, const Point &origin,
                                           Index z, int ahead, Columns<0> &held) {
    if constexpr (array < plan::arrays) {
        if constexpr (has_column<array>) {
            auto &column = held.template of<array>();
#pragma unroll
            for (int c = 0; c < Place::count; ++c) {
                const Place place(c);
                if (wanted(a, inner, place, origin))
                    column.value[c][plan::walk_low + ahead] = fetch<array>(
                        a, inner, origin.x + place.x, origin.y + place.y, z + ahead);
            }
        }
        read_ahead<array + 1>(a, inner, origin, z, ahead, held);
    }
}

// The i-th cell of the halo of an array's plane, in tile coordinates: first the rows above and
// below the tile, whole, then what stands left and right of it.
template <int array> struct Halo {
    static constexpr int rows = Array<array>::low_y + Array<array>::high_y;
    static constexpr int sides = Array<array>::low_x + Array<array>::high_x;
    static constexpr int cells = rows * Staged<array>::width + sides * plan::tile_y;
    int x, y;
    __device__ __forceinline__ explicit Halo(int i) {
        if (i < rows * Staged<array>::width) {
            const int row = i / Staged<array>::width;
            x = i % Staged<array>::width - Array<array>::low_x;
            y = row < Array<array>::low_y ? row - Array<array>::low_y
                                          : row - Array<array>::low_y + plan::tile_y;
        } else {
            constexpr int divisor = sides > 0 ? sides : 1;
            const int rest = i - rows * Staged<array>::width, side = rest % divisor;
            x = side < Array<array>::low_x ? side - Array<array>::low_x
                                           : side - Array<array>::low_x + plan::tile_x;
            y = rest / divisor;
        }
    }
};

// Fills the planes at z: the tile from the columns, the halo from global memory.
template <int array = 0>
__device__ __forceinline__ void fill_planes(const Arguments &a, bool inner, const Point &origin,
                                            Index z, const Columns<0> &held, Real *shared) {
    if constexpr (array < plan::arrays) {
        if constexpr (has_plane<array>) {
            Real *plane = shared + Array<array>::shared;
#pragma unroll
            for (int c = 0; c < Place::count; ++c) {
                const Place place(c);
                if (wanted(a, inner, place, origin))
                    plane[Staged<array>::at(place.x, place.y)] =
                        held.template of<array>().value[c][plan::walk_low];
            }
            // A tile that the box cuts short needs cells beyond the box that no column holds.
            if (inner) {
                for (int i = thread_in_block(); i < Halo<array>::cells; i += plan::threads) {
                    const Halo<array> h(i);
                    plane[Staged<array>::at(h.x, h.y)] =
                        fetch<array>(a, true, origin.x + h.x, origin.y + h.y, z);
                }
            } else {
                for (int i = thread_in_block(); i < Staged<array>::plane; i += plan::threads) {
                    const int x = i % Staged<array>::width - Array<array>::low_x;
                    const int y = i / Staged<array>::width - Array<array>::low_y;
                    const bool own = x >= 0 && x < plan::tile_x && y >= 0 && y < plan::tile_y &&
                                     origin.x + x < a.end[0] && origin.y + y < a.end[1];
                    if (!own && needed(a, origin.x + x, origin.y + y, z))
                        plane[i] = fetch<array>(a, false, origin.x + x, origin.y + y, z);
                }
            }
        }
        fill_planes<array + 1>(a, inner, origin, z, held, shared);
    }
}

template <int array = 0> __device__ __forceinline__ void shift(Columns<0> &held) {
    if constexpr (array < plan::arrays) {
        if constexpr (has_column<array>) {
            auto &column = held.template of<array>();
#pragma unroll
            for (int c = 0; c < Place::count; ++c)
#pragma unroll
                for (int k = 0; k + 1 < depth; ++k)
                    column.value[c][k] = column.value[c][k + 1];
        }
        shift<array + 1>(held);
    }
}

__device__ __forceinline__ void walk_columns(const Arguments &a, bool inner, const Point &origin,
                                             Real *shared) {
    Columns<0> held;
#pragma unroll
    for (int ahead = -plan::walk_low; ahead < plan::walk_high; ++ahead)
        read_ahead(a, inner, origin, origin.z, ahead, held);

    for (int step = 0; step < plan::walk && origin.z + step < a.end[2]; ++step) {
        const Index z = origin.z + step;
        read_ahead(a, inner, origin, z, plan::walk_high, held);
        if (step > 0)
            __syncthreads(); // all have read the plane before
        fill_planes(a, inner, origin, z, held, shared);
        __syncthreads(); // the plane is complete
#pragma unroll
        for (int c = 0; c < Place::count; ++c) {
            const Place place(c);
            if (!wanted(a, inner, place, origin))
                continue;
            const Point p = {origin.x + place.x, origin.y + place.y, z};
            Real out[plan::outputs];
            update_point(AtColumn{a, held, shared, p, c, place}, a, out);
            finish(a, inner, p, out);
        }
        shift(held);
    }
}

extern "C" __global__ void
    __launch_bounds__(plan::threads)
        STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    Real *const shared = reinterpret_cast<Real *>(shared_bytes());
    const Point origin = block_origin(arguments, plan::tile_x, plan::tile_y, plan::walk);
    const bool inner = block_inside(arguments, origin, plan::tile_x, plan::tile_y, plan::walk);
    walk_columns(arguments, inner, origin, shared);
}
