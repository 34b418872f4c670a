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
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "plan.h"
#include "grid.cuh"
#include "edge_cursors.cuh"
#include "blocks.cuh"
#include "staging.cuh"

constexpr int depth = plan::walk_low + 1 + plan::walk_high;
template <int array> constexpr bool has_column = Array<array>::staged;
template <int array>
constexpr bool has_plane = Array<array>::low_x + Array<array>::high_x + Array<array>::low_y +
                               Array<array>::high_y > 0;

// One array's columns at the thread's points, value[c][walk_low + dz], and the cells ahead that they
// read next; then those of the arrays after it.
template <bool inner, int array = 0> struct Columns {
    Real value[Place::count][depth];
    Cell<array, inner> next[Place::count];
    Columns<inner, array + 1> rest;

    __device__ __forceinline__ void place(const Arguments &a, const Point &origin) {
#pragma unroll
        for (int c = 0; c < Place::count; ++c)
            next[c].place(a, origin.x + Place(c).x, origin.y + Place(c).y,
                          origin.z - plan::walk_low);
        rest.place(a, origin);
    }

    // Reads entry `to` of every column and moves on.
    __device__ __forceinline__ void read(const Arguments &a, const Point &origin, int to) {
#pragma unroll
        for (int c = 0; c < Place::count; ++c) {
            if (has_column<array> && wanted<inner>(a, Place(c), origin))
                value[c][to] = next[c].read(a);
            next[c].advance(a);
        }
        rest.read(a, origin, to);
    }

    __device__ __forceinline__ void shift() {
#pragma unroll
        for (int c = 0; c < Place::count; ++c)
#pragma unroll
            for (int k = 0; k + 1 < depth; ++k)
                value[c][k] = value[c][k + 1];
        rest.shift();
    }

    template <int wanted> __device__ __forceinline__ const auto &of() const {
        if constexpr (wanted == array)
            return *this;
        else
            return rest.template of<wanted>();
    }
};
template <bool inner> struct Columns<inner, plan::arrays> {
    __device__ __forceinline__ void place(const Arguments &, const Point &) {
    }
    __device__ __forceinline__ void read(const Arguments &, const Point &, int) {
    }
    __device__ __forceinline__ void shift() {
    }
};

template <bool inner> struct AtColumn {
    const Arguments &a;
    const Columns<inner> &columns;
    const Real *shared;
    const Point &p;
    int c;
    Place place;
#if defined(PLAN_POSITIONS)
    template <int axis> __device__ __forceinline__ Index index() const {
        return coordinate<axis>(p);
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        if constexpr (!has_column<array>)
            return read_own<array>(a, p);
        else if constexpr (dx == 0 && dy == 0)
            return columns.template of<array>().value[c][plan::walk_low + dz];
        else
            return shared[Array<array>::shared + Staged<array>::at(place.x + dx, place.y + dy)];
    }
};

// The i-th cell of the halo of an array's plane, in tile coordinates: first the rows above and
// below the tile, whole, then what stands left and right of it.
template <int array> struct HaloPlace {
    static constexpr int rows = Array<array>::low_y + Array<array>::high_y;
    static constexpr int sides = Array<array>::low_x + Array<array>::high_x;
    static constexpr int cells = rows * Staged<array>::width + sides * plan::tile_y;
    int x, y;
    __device__ __forceinline__ explicit HaloPlace(int i) {
        if (i < rows * Staged<array>::width) {
            const int row = i / Staged<array>::width;
            x = i % Staged<array>::width - Array<array>::low_x;
            y = row - Array<array>::low_y + (row < Array<array>::low_y ? 0 : plan::tile_y);
        } else {
            constexpr int divisor = sides > 0 ? sides : 1;
            const int rest = i - rows * Staged<array>::width, side = rest % divisor;
            x = side - Array<array>::low_x + (side < Array<array>::low_x ? 0 : plan::tile_x);
            y = rest / divisor;
        }
    }
};

// The cells of the halos of all arrays' planes that this thread reads, and their values.
template <bool inner, int array = 0> struct Halos {
    static constexpr int cells = has_plane<array> ? HaloPlace<array>::cells : 0;
    static constexpr int rounds = (cells + plan::threads - 1) / plan::threads;
    Cell<array, inner> cell[rounds > 0 ? rounds : 1];
    Real value[rounds > 0 ? rounds : 1];
    Halos<inner, array + 1> rest;

    static __device__ __forceinline__ int index(int k) {
        return thread_in_block() + k * plan::threads;
    }
    __device__ __forceinline__ void place(const Arguments &a, const Point &origin) {
#pragma unroll
        for (int k = 0; k < rounds; ++k) {
            const HaloPlace<array> h(index(k));
            cell[k].place(a, origin.x + h.x, origin.y + h.y, origin.z);
        }
        rest.place(a, origin);
    }
    __device__ __forceinline__ void read(const Arguments &a) {
#pragma unroll
        for (int k = 0; k < rounds; ++k) {
            if (index(k) < cells)
                value[k] = cell[k].read(a);
            cell[k].advance(a);
        }
        rest.read(a);
    }

    // Stores the planes: the tile from the columns, the halo as read.
    __device__ __forceinline__ void store(const Arguments &a, const Point &origin, Index z,
                                          const Columns<inner> &columns, Real *shared) const {
        if constexpr (has_plane<array>) {
            Real *const plane = shared + Array<array>::shared;
#pragma unroll
            for (int c = 0; c < Place::count; ++c) {
                const Place place(c);
                if (wanted<inner>(a, place, origin))
                    plane[Staged<array>::at(place.x, place.y)] =
                        columns.template of<array>().value[c][plan::walk_low];
            }
#pragma unroll
            for (int k = 0; k < rounds; ++k) {
                const HaloPlace<array> h(index(k));
                if (index(k) < cells)
                    plane[Staged<array>::at(h.x, h.y)] = value[k];
            }
            if constexpr (!inner)
                complete(a, origin, z, plane);
        }
        rest.store(a, origin, z, columns, shared);
    }

    // Where the box cuts the tile short, neighbours beyond it are in no column.
    static __device__ __forceinline__ void complete(const Arguments &a, const Point &origin,
                                                    Index z, Real *plane) {
        for (int i = thread_in_block(); i < plan::tile_x * plan::tile_y; i += plan::threads) {
            const int x = i % plan::tile_x, y = i / plan::tile_x;
            if (origin.x + x < a.end[0] && origin.y + y < a.end[1])
                continue;
            Cell<array, false> beyond;
            beyond.place(a, origin.x + x, origin.y + y, z);
            plane[Staged<array>::at(x, y)] = beyond.read(a);
        }
    }
};
template <bool inner> struct Halos<inner, plan::arrays> {
    __device__ __forceinline__ void place(const Arguments &, const Point &) {
    }
    __device__ __forceinline__ void read(const Arguments &) {
    }
    __device__ __forceinline__ void store(const Arguments &, const Point &, Index,
                                          const Columns<inner> &, Real *) const {
    }
};

template <bool inner>
__device__ __forceinline__ void walk(const Arguments &a, const Point &origin, Real *shared) {
    Columns<inner> columns;
    columns.place(a, origin);
    Halos<inner> halos;
    halos.place(a, origin);
    Targets<inner> targets;
    targets.place(a, origin);
#pragma unroll
    for (int k = 0; k < depth - 1; ++k)
        columns.read(a, origin, k);

    for (int step = 0; step < plan::walk; ++step) {
        const Index z = origin.z + step;
        if (!inner && z >= a.end[2])
            break;
        halos.read(a);
        columns.read(a, origin, depth - 1);
        if (step > 0)
            __syncthreads(); // all have read the plane before
        halos.store(a, origin, z, columns, shared);
        __syncthreads(); // the plane is complete
#pragma unroll
        for (int c = 0; c < Place::count; ++c) {
            const Place place(c);
            if (!wanted<inner>(a, place, origin))
                continue;
            const Point p = {origin.x + place.x, origin.y + place.y, z};
            Outputs out;
            update_point(AtColumn<inner>{a, columns, shared, p, c, place}, a, out);
            targets.point[c].put(a, out);
        }
        targets.advance(a);
        columns.shift();
    }
}

extern "C" __global__ void
    __launch_bounds__(plan::threads, plan::blocks)
        STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    Real *const shared = reinterpret_cast<Real *>(shared_bytes());
    const Point origin = block_origin(arguments, plan::tile_x, plan::tile_y, plan::walk);
    if (block_inside(arguments))
        walk<true>(arguments, origin, shared);
    else
        walk<false>(arguments, origin, shared);
}
