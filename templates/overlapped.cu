// overlapped: for processors, several steps in one launch. A block is one thread with a box in a
// cache of its core: its tile, and round it a halo of `time` times the shape's reach.
//
//      h h h h h h h h        The first step makes what the second reads, and so on; the last makes
//      the h H H H H H H h        tile. What two blocks both need, both make. A step goes row by
//      row, in a h H t t t t H h        loop without tests, of which a compiler makes vectors. h H
//      t t t t H h h H H H H H H h        An array that changes has two boxes, which are read and
//      written in turn. h h h h h h h h        What no step changes lies in both.
//
// Boxes hold numbers of the arithmetic. Cells of 16 bits are converted when they are loaded, and
// rounded when the tile is stored.
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "arch/rows.cuh"
#include "plan.h"
#include "grid.cuh"
#include "blocks.cuh"
#include "box.cuh"
#include "row_results.cuh"

// Calls body(y, z) for each row of a block's box.
template <class Body>
__device__ __forceinline__ void for_rows(const Range &along_y, const Range &along_z,
                                         const Body &body) {
    for (int z = along_z.begin; z < along_z.end; ++z)
        for (int y = along_y.begin; y < along_y.end; ++y)
            body(y, z);
}

// ---- loading --------------------------------------------------------------------------------

// A row of the box by the rules of the boundary, which are asked for x first.
template <int array>
__device__ __forceinline__ void load_row(const Arguments &a, const Place &p, Real *to, int row_y,
                                         int row_z) {
    Index y = p.y.first + row_y, z = p.z.first + row_z;
    const int begin = smaller(p.x.grid.begin, Box::width), end = smaller(p.x.grid.end, Box::width);
    for (int i = 0; i < begin; ++i)
        to[i] = read_anywhere<array>(a, p.x.first + i, y, z);
    for (int i = end; i < Box::width; ++i)
        to[i] = read_anywhere<array>(a, p.x.first + i, y, z);
    Real value = 0;
    if (!resolve<1>(y, a.size[1], value) || !resolve<2>(z, a.size[2], value)) {
        for (int i = begin; i < end; ++i)
            to[i] = value;
        return;
    }
    const Grid &grid = a.grid[Array<array>::grid];
    const Cell *const from = grid.data + offset(grid, p.x.first, y, z);
    FOR_A_ROW
    for (Index i = begin; i < end; ++i)
        to[i] = load(from + i);
}

// What no step changes, into the second box.
__device__ __forceinline__ void copy_still(const Place &p, Real *box) {
    for_rows({0, Box::height}, {0, Box::depth}, [&](int y, int z) {
        Real *const from = box + Box::at(0, y, z), *const to = from + Box::cells;
        const bool changes = p.y.change.has(y) && p.z.change.has(z);
        for (int i = 0; i < (changes ? smaller(p.x.change.begin, Box::width) : Box::width); ++i)
            to[i] = from[i];
        for (int i = changes ? p.x.change.end : Box::width; i < Box::width; ++i)
            to[i] = from[i];
    });
}

template <int array = 0>
__device__ __forceinline__ void load_boxes(const Arguments &a, const Place &p, Real *shared) {
    if constexpr (array < plan::arrays) {
        Real *const box = shared + Array<array>::shared;
        for_rows({0, Box::height}, {0, Box::depth},
                 [&](int y, int z) { load_row<array>(a, p, box + Box::at(0, y, z), y, z); });
        if constexpr (output_of<array>() >= 0)
            copy_still(p, box);
        load_boxes<array + 1>(a, p, shared);
    }
}

// ---- steps ----------------------------------------------------------------------------------

// What a row's points have in common.
struct BoxRow {
    const Real *still, *moving; // its first cell in boxes that do not change, and in those that do
    Real *next;                 // and in the boxes that the step writes
#if defined(PLAN_POSITIONS)
    Point first;
    long long size[3];
    int made; // steps since the launch began
#endif
};

struct AtBoxRow {
    const BoxRow &row;
    Index i;
#if defined(PLAN_POSITIONS)
    template <int axis> __device__ __forceinline__ Index index() const {
        Index at = coordinate<axis>(row.first) + (axis == 0 ? i : 0);
        if constexpr (Axis<axis>::periodic) { // halos may be wider than the grid
            while (at < 0)
                at += row.size[axis];
            while (at >= row.size[axis])
                at -= row.size[axis];
        }
        return at;
    }
    __device__ __forceinline__ int steps() const {
        return row.made;
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        constexpr Index at = Array<array>::shared + dz * Box::plane + dy * Box::width + dx;
        return (output_of<array>() >= 0 ? row.moving : row.still)[at + i];
    }
};

template <int output = 0>
__device__ __forceinline__ void put_box(const BoxRow &row, Index i, const Outputs &out) {
    if constexpr (output < plan::outputs) {
        if constexpr (array_of<output>() >= 0)
            row.next[Array<array_of<output>()>::shared + i] = out[output];
        put_box<output + 1>(row, i, out);
    }
}

// Points of a row for the next step. Not inlined: compilers make vectors of a loop that stands
// alone.
__device__ __noinline__ void make_between(const Arguments &a, const BoxRow &of, Index from,
                                          Index end) {
    const BoxRow row = of;
    FOR_A_ROW
    for (Index i = from; i < end; ++i) {
        Outputs out;
        update_point(AtBoxRow{row, i}, a, out);
        put_box(row, i, out);
    }
}

// The same of the last step.
__device__ __noinline__ void make_last(const Arguments &a, const BoxRow &of, Index from, Index end,
                                       Results &results) {
    const BoxRow row = of;
    FOR_A_ROW
    for (Index i = from; i < end; ++i) {
        Outputs out;
        update_point(AtBoxRow{row, i}, a, out);
        put_result(results, i - from, out);
    }
}

// The cells of an axis that a step makes, where `left` steps follow.
template <int axis> __device__ __forceinline__ Range made(const Axis<axis> &of, int left) {
    const int begin = of.own.begin - left * Axis<axis>::asks_low;
    const int end = of.own.end + left * Axis<axis>::asks_high;
    return {larger(of.change.begin, begin), smaller(of.change.end, end)};
}

__device__ __forceinline__ BoxRow box_row(const Arguments &a, const Place &p, Real *shared, int now,
                                          int step, int y, int z) {
    const int at = Box::at(0, y, z);
    BoxRow row;
    row.still = shared + at;
    row.moving = shared + now + at;
    row.next = shared + (Box::cells - now) + at;
#if defined(PLAN_POSITIONS)
    row.first = {p.x.first, p.y.first + y, p.z.first + z};
    for (int axis = 0; axis < 3; ++axis)
        row.size[axis] = a.size[axis];
    row.made = step;
#endif
    return row;
}

__device__ __forceinline__ void make_tile(const Arguments &a, const Place &p, Real *shared, int now,
                                          int step, bool past) {
    const Range x = made(p.x, 0);
    Results results;
    for_rows(made(p.y, 0), made(p.z, 0), [&](int y, int z) {
        const BoxRow row = box_row(a, p, shared, now, step, y, z);
        for (int i = x.begin; i < x.end; i += plan::run) {
            const int end = smaller(i + plan::run, x.end);
            const Point first = {p.x.first + i, p.y.first + y, p.z.first + z};
            make_last(a, row, i, end, results);
            store_results(a, first, results, 0, end - i, past);
        }
    });
}

#if PLAN_CLAMPS || PLAN_MIRRORS
// ---- cells beyond the grid that are copies of others --------------------------------------------

template <int array>
__device__ __forceinline__ void copy_beyond(const Arguments &a, const Place &p, Real *box) {
    if constexpr (Axis<0>::copied)
        for_rows({0, Box::height}, {0, Box::depth}, [&](int y, int z) {
            Real *const row = box + Box::at(0, y, z);
            for (int i = 0; i < Box::width; i = i + 1 == p.x.grid.begin ? p.x.grid.end : i + 1) {
                const int from = p.x.original(a, i);
                if (from != i && from >= 0 && from < Box::width)
                    row[i] = row[from];
            }
        });
    if constexpr (Axis<1>::copied || Axis<2>::copied)
        for_rows({0, Box::height}, {0, Box::depth}, [&](int y, int z) {
            const int from_y = p.y.original(a, y), from_z = p.z.original(a, z);
            if ((from_y == y && from_z == z) || from_y < 0 || from_y >= Box::height || from_z < 0 ||
                from_z >= Box::depth)
                return;
            const Real *const from = box + Box::at(0, from_y, from_z);
            Real *const to = box + Box::at(0, y, z);
            for (int i = 0; i < Box::width; ++i)
                to[i] = from[i];
        });
}

template <int array = 0>
__device__ __forceinline__ void copy_all_beyond(const Arguments &a, const Place &p, Real *boxes) {
    if constexpr (array < plan::arrays) {
        if constexpr (output_of<array>() >= 0)
            copy_beyond<array>(a, p, boxes + Array<array>::shared);
        copy_all_beyond<array + 1>(a, p, boxes);
    }
}
#endif

// ---- the kernel -----------------------------------------------------------------------------

// Cells of the tile that the boundary keeps.
__device__ __forceinline__ void keep_tile(const Arguments &a, const Place &p) {
    for_rows(p.y.own, p.z.own, [&](int row_y, int row_z) {
        const Index x = p.x.first, y = p.y.first + row_y, z = p.z.first + row_z;
        if (p.y.change.has(row_y) && p.z.change.has(row_z)) {
            keep_row(a, x + p.x.own.begin, x + smaller(p.x.change.begin, p.x.own.end), y, z);
            keep_row(a, x + larger(p.x.change.end, p.x.own.begin), x + p.x.own.end, y, z);
        } else {
            keep_row(a, x + p.x.own.begin, x + p.x.own.end, y, z);
        }
    });
}

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments a) {
    Place p;
    p.x.place(a, blockIdx.x);
    p.y.place(a, blockIdx.y);
    p.z.place(a, blockIdx.z);
    Real *const shared = reinterpret_cast<Real *>(shared_bytes());
    const Index cells = a.size[0] * a.size[1] * a.size[2];
    const bool past = past_caches((plan::arrays + plan::outputs) * cells * Index(sizeof(Cell)));
#if PLAN_CLAMPS || PLAN_MIRRORS
    const bool copied = p.has_copied();
#endif
    load_boxes(a, p, shared);
#if PLAN_KEEPS
    keep_tile(a, p);
#endif
    int now = 0;
    for (int step = 0; step + 1 < a.steps; ++step) {
        const int left = a.steps - 1 - step;
        const Range x = made(p.x, left);
        for_rows(made(p.y, left), made(p.z, left), [&](int y, int z) {
            make_between(a, box_row(a, p, shared, now, step, y, z), x.begin, x.end);
        });
        now = Box::cells - now;
#if PLAN_CLAMPS || PLAN_MIRRORS
        if (copied)
            copy_all_beyond(a, p, shared + now);
#endif
    }
    make_tile(a, p, shared, now, a.steps - 1, past);
}
