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

// The rows that the taps of all the thread's points read: the element at x0 + dx is
// element[row][low + dx].
struct Rows {
    static constexpr int low = (plan::low_x + plan::vector - 1) / plan::vector * plan::vector;
    static constexpr int high = (plan::high_x + plan::vector - 1) / plan::vector * plan::vector;
    using Wide = Pack<Real, plan::vector>;
    alignas(Wide) Real element[plan::rows > 0 ? plan::rows : 1][low + plan::vector + high];

#if defined(PLAN_POSITIONS)
    Point first; // of the thread's points
#endif

    template <int row = 0> __device__ __forceinline__ void read(const AtInner &at) {
#if defined(PLAN_POSITIONS)
        first = at.point;
#endif
        if constexpr (row < plan::rows) {
            using R = Row<row>;
#if defined(PLAN_NARROW)
            using Cell = Stored<Array<R::array>>;
#endif
#if defined(PLAN_MIXED)
            const Cell *const from =
                at.of<R::array>() + offset(at.a.grid[Array<R::array>::grid], 0, R::dy, R::dz);
#elif defined(PLAN_NARROW)
            const Cell *const from =
                at.cell[R::array] + offset(at.a.grid[Array<R::array>::grid], 0, R::dy, R::dz);
#else
            const Real *const from =
                at.cell[R::array] + offset(at.a.grid[Array<R::array>::grid], 0, R::dy, R::dz);
#endif
#if PLAN_PACKS
#pragma unroll
            for (int i = -low; i < plan::vector + R::high; i += plan::vector)
                if (i + plan::vector > -R::low)
                    *reinterpret_cast<Wide *>(&element[row][low + i]) =
#if defined(PLAN_NARROW)
                        load_pack(reinterpret_cast<const Pack<Cell, plan::vector> *>(from + i));
#else
                        load_pack(reinterpret_cast<const Wide *>(from + i));
#endif
#else
#pragma unroll
            for (int i = -R::low; i < plan::vector + R::high; ++i)
                element[row][low + i] = load(from + i);
#endif
            read<row + 1>(at);
        }
    }
    template <int array, int dy, int dz, int row = 0>
    __device__ __forceinline__ Real at(int i) const {
        if constexpr (Row<row>::array == array && Row<row>::dy == dy && Row<row>::dz == dz)
            return element[row][low + i];
        else
            return at<array, dy, dz, row + 1>(i);
    }
};

template <int point> struct AtRows {
    const Rows &rows;
#if defined(PLAN_POSITIONS)
    template <int axis> __device__ __forceinline__ Index index() const {
        return coordinate<axis>(rows.first) + (axis == 0 ? point : 0);
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return rows.template at<array, dy, dz>(point + dx);
    }
};

using Results = Outputs[plan::vector];
#if defined(PLAN_INTERIOR)
template <int point = 0>
__device__ __forceinline__ void find_pack(const Arguments &a, const Rows &rows,
                                          Places (&places)[plan::vector]) {
    if constexpr (point < plan::vector) {
        places[point] = find_places(AtRows<point>{rows}, a);
        find_pack<point + 1>(a, rows, places);
    }
}

template <int point = 0>
__device__ __forceinline__ void update_pack(const Arguments &a, const Rows &rows, bool interior,
                                            const Places (&places)[plan::vector], Results &out) {
    if constexpr (point < plan::vector) {
        update_placed(AtRows<point>{rows}, a, interior, places[point], out[point]);
        update_pack<point + 1>(a, rows, interior, places, out);
    }
}

__device__ __forceinline__ void update_points(const Arguments &a, const Rows &rows, Results &out) {
    const Point &p = rows.first;
    bool interior = interior_along<1>(a, p.y) && interior_along<2>(a, p.z);
#pragma unroll
    for (int i = 0; i < plan::vector; ++i)
        interior = interior && interior_along<0>(a, p.x + i);
    if (interior) { // no condition is asked: compilers see that this way has none
        constexpr Places places[plan::vector] = {};
        update_pack(a, rows, true, places, out);
    } else {
        Places places[plan::vector];
        find_pack(a, rows, places);
        update_pack(a, rows, false, places, out);
    }
}
#else
template <int point = 0>
__device__ __forceinline__ void update_points(const Arguments &a, const Rows &rows, Results &out) {
    if constexpr (point < plan::vector) {
        update_point(AtRows<point>{rows}, a, out[point]);
        update_points<point + 1>(a, rows, out);
    }
}
#endif

template <int output = 0>
__device__ __forceinline__ void put_packs(const Arguments &a, const Point &p, const Results &out) {
    if constexpr (output < plan::outputs) {
        const GridOf<Output<output>> &grid = a.grid[Output<output>::grid];
        Stored<Output<output>> *const to = grid.data + opaque_offset(offset(grid, p.x, p.y, p.z));
        Pack<Real, plan::vector> pack;
#pragma unroll
        for (int i = 0; i < plan::vector; ++i)
            pack.element[i] = out[i][output];
        if constexpr (plan::packs) {
#if defined(PLAN_NARROW)
            store_narrowed(to, pack);
#else
            *reinterpret_cast<Pack<Real, plan::vector> *>(to) = pack;
#endif
        } else {
#pragma unroll
            for (int i = 0; i < plan::vector; ++i)
                to[i] = pack.element[i];
        }
        put_packs<output + 1>(a, p, out);
    }
}

// The thread's points, p and the vector - 1 after it in x, where some may lie near an edge.
__device__ __forceinline__ bool packs_inside(const Arguments &a, const Point &p) {
    // Whole packs are loaded, which may reach further than the shape.
    return p.x + plan::vector <= a.end[0] && p.x + plan::vector + Rows::high <= a.size[0] &&
           shape_inside(a, p, {p.x + plan::vector - 1, p.y, p.z});
}

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    const Arguments &a = arguments;
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
        if (inner || (in_box(a, p) && packs_inside(a, p))) {
            AtInner at = {a, {}};
            at.place(p);
            Rows rows;
            rows.read(at);
            Results out;
            update_points(a, rows, out);
            put_packs(a, p, out);
        } else if (in_box(a, p)) {
            for (int i = 0; i < plan::vector && p.x + i < a.end[0]; ++i)
                update_anywhere(a, p.x + i, p.y, p.z);
        }
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
