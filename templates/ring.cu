// ring: one step of a linear update whose shape reaches far. A block walks the last axis. Each
// plane of its tile comes once, by copies that run during the arithmetic, to a ring of planes in
// shared memory; there it adds what it gives to the points around it, whose sums the registers hold
// until they are complete.
//
//      grid --> [z+5] [z+4] [z+3]                on their way, each to a slot of the ring
//
//               h h  h h h h h h h h  h h
//               h h [a b c d|a b c d] h h  z+2   arrived: each thread reads the rows around its own
//               h h [a b c d|a b c d] h h        by packs; h: the halo, to whole packs along x
//               h h  h h h h h h h h  h h
//
//      sums of  z+4, z+3, z+2, z+1, z            of the thread's `vector` by `lane_y` points; each
//                               |                gains, and those of z are complete:
//                               +--> grid
#include "arch/memory.cuh"
#include "arch/shared.cuh"

#include "arch/async.cuh"
#include "arch/streaming.cuh"

#include "plan.h"

#include "grid.cuh"

#include "blocks.cuh"

#include "row_sums.cuh"

template <int elements> constexpr int packs_for = (elements + plan::vector - 1) / plan::vector;

// ---- planes in shared memory ------------------------------------------------------------------

// Of one array: the tile with what the shape reaches of it around.
template <int array> struct Box {
    using A = Array<array>;
    static constexpr int before = packs_for<A::low_x> * plan::vector;
    static constexpr int width = before + plan::tile_x + packs_for<A::high_x> * plan::vector;
    static constexpr int height = A::low_y + plan::tile_y + A::high_y;
    static constexpr int cells = width * height;
};

// Calls body(x, y, to) for each piece of `count` elements that the thread brings: where it lies,
// from the box's first cell, and its place.
template <int array, int count, class Body>
__device__ __forceinline__ void for_pieces(Real *box, const Body &body) {
    constexpr int across = Box<array>::width / count, pieces = across * Box<array>::height;
    const int thread = int(threadIdx.y * plan::threads_x + threadIdx.x);
#pragma unroll 4
    for (int first = 0; first < pieces; first += plan::threads) {
        const int i = first + thread;
        if (first + plan::threads <= pieces || i < pieces)
            body(i % across * count, i / across, box + i * count);
    }
}

// Begins to copy the plane at z, all of which lies inside the grid.
template <int array, int count>
__device__ __forceinline__ void copy_inner(const Arguments &a, const Point &corner, Index z,
                                           Real *box) {
    const Grid &grid = a.grid[Array<array>::grid];
    const Real *const from = grid.data + offset(grid, corner.x, corner.y, z);
    for_pieces<array, count>(box, [&](int x, int y, Real *to) {
        copy_async<count>(SharedAt<Real>(to), from + offset(grid, x, y, 0));
    });
}

template <int count> __device__ __forceinline__ void fill(Real *to, Real value) {
#pragma unroll
    for (int i = 0; i < count; ++i)
        to[i] = value;
}

// The same of any plane, by the rules: those of x come before those of y, and these before those of
// z, as everywhere. What nothing needs is left as it is.
template <int array, int count>
__device__ __forceinline__ void copy_edge(const Arguments &a, const Point &corner, Index z,
                                          Real *box) {
    const Grid &grid = a.grid[Array<array>::grid];
    Index plane = z;
    Real plane_value = 0;
    const bool in_plane = resolve<2>(plane, a.size[2], plane_value);
    for_pieces<array, count>(box, [&](int x_in_box, int y_in_box, Real *to) {
        const Index x = corner.x + x_in_box, y = corner.y + y_in_box;
        if (!needed(a, x, y, z))
            return;
        if (x < 0 || x + count > a.size[0]) {
            for (int i = 0; i < count; ++i)
                to[i] = read_anywhere<array>(a, x + i, y, z);
            return;
        }
        Index row = y;
        Real value = 0;
        if (!resolve<1>(row, a.size[1], value))
            fill<count>(to, value);
        else if (!in_plane)
            fill<count>(to, plane_value);
        else
            copy_async<count>(SharedAt<Real>(to), grid.data + offset(grid, x, row, plane));
    });
}

// Begins to bring the plane at z of every array to a slot of the ring.
template <int array = 0>
__device__ __forceinline__ void bring(const Arguments &a, const Point &origin, Index z,
                                      Real *shared, int slot) {
    if constexpr (array < plan::arrays) {
        if constexpr (Array<array>::staged) {
            using B = Box<array>;
            const Point corner = {origin.x - B::before, origin.y - B::A::low_y, z};
            Real *const box = shared + B::A::shared + slot * B::cells;
            const bool inner = block_inside(a);
            if (inner && a.aligned)
                copy_inner<array, plan::vector>(a, corner, z, box);
            else if (inner)
                copy_inner<array, 1>(a, corner, z, box);
            else if (a.aligned)
                copy_edge<array, plan::vector>(a, corner, z, box);
            else
                copy_edge<array, 1>(a, corner, z, box);
        }
        bring<array + 1>(a, origin, z, shared, slot);
    }
}

// ---- what a thread reads of a plane -----------------------------------------------------------

// Row y of an array, 0 being the thread's first, as far as any of the thread's points asks for it.
template <int array, int y> struct Line {
    using Asked = Asks<array, y>;
    static constexpr bool any = Asked::first <= Asked::last;
    static constexpr int before = any ? packs_for<Asked::low> : 0;
    static constexpr int packs = any ? before + 1 + packs_for<Asked::high> : 1;
    Real element[packs * plan::vector];

    __device__ __forceinline__ void read(const Real *slots) {
        if constexpr (any) {
            using Wide = Pack<Real, plan::vector>;
            using B = Box<array>;
            const int row = int(threadIdx.y) * plan::lane_y + (y + B::A::low_y);
            const int x = int(threadIdx.x) * plan::vector + (B::before - before * plan::vector);
            const Wide *const from = reinterpret_cast<const Wide *>(slots + row * B::width + x);
#pragma unroll
            for (int k = 0; k < packs; ++k) {
                const Wide pack = from[k];
#pragma unroll
                for (int i = 0; i < plan::vector; ++i)
                    element[k * plan::vector + i] = pack.element[i];
            }
        }
    }
};

// All rows of all arrays.
template <int array, int y> struct Lines {
    static constexpr bool last = y + 1 == plan::lane_y + plan::high_y;
    Line<array, y> line;
    Lines<last ? array + 1 : array, last ? -plan::low_y : y + 1> rest;
    __device__ __forceinline__ void read(const Real *shared, int slot) {
        line.read(shared + Array<array>::shared + slot * Box<array>::cells);
        rest.read(shared, slot);
    }
    template <int of, int row> __device__ __forceinline__ Real at(int x) const {
        if constexpr (of == array && row == y)
            return line.element[Line<array, y>::before * plan::vector + x];
        else
            return rest.template at<of, row>(x);
    }
};
template <int y> struct Lines<plan::arrays, y> {
    __device__ __forceinline__ void read(const Real *, int) {
    }
    template <int, int> __device__ Real at(int) const; // where nothing is read: never called
};
using Plane = Lines<0, -plan::low_y>;

template <int j, int i> struct AtPlane {
    const Plane &plane;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        static_assert(dz == 0, "sums are added plane by plane");
        return plane.template at<array, j + dy>(i + dx);
    }
};

// ---- sums -------------------------------------------------------------------------------------

template <int j = 0, int i = 0>
__device__ __forceinline__ void add(const Plane &plane, const Arguments &a, Sums &sum) {
    if constexpr (i < plan::vector) {
        add_plane(AtPlane<j, i>{plane}, a, sum[j][i]);
        add<j, i + 1>(plane, a, sum);
    } else if constexpr (j + 1 < plan::lane_y) {
        add<j + 1>(plane, a, sum);
    }
}

using Results = Real[plan::vector][plan::outputs]; // of one row

template <int output = 0>
__device__ __forceinline__ void put_pack(const Arguments &a, const Point &p, const Results &out) {
    if constexpr (output < plan::outputs) {
        const Grid &grid = a.grid[Output<output>::grid];
        Pack<Real, plan::vector> pack;
#pragma unroll
        for (int i = 0; i < plan::vector; ++i)
            pack.element[i] = out[i][output];
        store_pack_once(
            reinterpret_cast<Pack<Real, plan::vector> *>(grid.data + offset(grid, p.x, p.y, p.z)),
            pack);
        put_pack<output + 1>(a, p, out);
    }
}
template <int output = 0>
__device__ __forceinline__ void put_point(const Arguments &a, const Point &p, const Outputs &out) {
    if constexpr (output < plan::outputs) {
        const Grid &grid = a.grid[Output<output>::grid];
        store_once(grid.data + offset(grid, p.x, p.y, p.z), out[output]);
        put_point<output + 1>(a, p, out);
    }
}

// A row of the thread's points, of which some may lie outside of the box, or be kept.
__device__ __forceinline__ void put_row(const Arguments &a, const Point &p, const Results &out) {
    const Point last = {p.x + plan::vector - 1, p.y, p.z};
    if (p.y >= a.end[1])
        return;
    // What is kept along x lies at the two ends of a row.
    if (a.aligned && last.x < a.end[0] && (block_inside(a) || (!kept(a, p) && !kept(a, last)))) {
        put_pack(a, p, out);
        return;
    }
#pragma unroll
    for (int i = 0; i < plan::vector; ++i) {
        const Point at = {p.x + i, p.y, p.z};
        if (at.x >= a.end[0])
            break;
        if (kept(a, at))
            keep(a, at);
        else
            put_point(a, at, out[i]);
    }
}

__device__ __forceinline__ void put(const Arguments &a, const Point &first, const Sums &sum) {
#pragma unroll
    for (int j = 0; j < plan::lane_y; ++j) {
        Results out;
#pragma unroll
        for (int i = 0; i < plan::vector; ++i) {
#pragma unroll
            for (int o = 0; o < plan::outputs; ++o)
                out[i][o] = sum[j][i][o][0];
            finish_sums(a, out[i]);
        }
        put_row(a, {first.x, first.y + j, first.z}, out);
    }
}

// ---- the walk ---------------------------------------------------------------------------------

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    const Arguments &a = arguments;
    Real *const shared = reinterpret_cast<Real *>(shared_bytes());
    const Point origin = block_origin(a, plan::tile_x, plan::tile_y, plan::walk);
    const Index begin = origin.z - plan::low_z;
    const int planes = int(min(Index(plan::walk), a.end[2] - origin.z)) + depth - 1;
    Point made = {origin.x + int(threadIdx.x) * plan::vector,
                  origin.y + int(threadIdx.y) * plan::lane_y, begin - plan::high_z};
    constexpr int ahead = plan::ring - 1; // planes on their way
    for (int k = 0; k < ahead; ++k) {
        if (k < planes)
            bring(a, origin, begin + k, shared, k);
        copies_commit();
    }
    Sums sum = {};
    int slot = 0, next = ahead; // of the plane at hand, and of the next to be brought
#pragma unroll 1
    for (int step = 0; step < planes; ++step) {
        copies_wait<ahead - 1>();
        __syncthreads(); // all threads' copies of the plane have arrived, and all have read the one
                         // before, whose slot the next copies take
        if (step + ahead < planes)
            bring(a, origin, begin + step + ahead, shared, next);
        copies_commit();
        Plane plane;
        plane.read(shared, slot);
        add(plane, a, sum);
        if (step >= depth - 1) // the sums of a point that is to be made
            put(a, made, sum);
        shift(sum);
        ++made.z;
        next = slot;
        slot = slot + 1 == plan::ring ? 0 : slot + 1;
    }
}
