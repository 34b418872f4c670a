// Points between the cells of a grid: a field is sampled there, or values are added to the cells
// round them. A point has weights along each axis, of the cell below it and of the next one, and the
// weight of a corner is their product: multilinear interpolation, and its transpose.
//
//         x        x + 1
//     y   +----------+     weight[0] along x: 1 - t of x, t of x + 1
//         |    *     |     a corner of weight 0 is not touched, and so need not exist
//     y+1 +----------+
//
// A cell gets its contributions from one thread, by ascending numbers of points, so that the result
// is the same on every run. plan.h supplies `injected(at, arguments)`.
// These launches are short, so what they wait for is all that counts: they begin early, read the tables
// before they wait for the step, and then all cells at once.
#include "arch/launches.cuh"
#include "arch/memory.cuh"
#include "numbers.cuh"
#include "plan.h"

constexpr int corners = 1 << plan::dims;

__device__ __forceinline__ Real corner_weight(const Arguments &a, Index point, int corner) {
    Real product = 1;
#pragma unroll
    for (int axis = 0; axis < plan::dims; ++axis)
        product *= load_ahead(a.weight + (2 * axis + (corner >> axis & 1)) * a.points + point);
    return product;
}

#if defined(PLAN_NARROW)
template <int field>
__device__ __forceinline__ typename CellsOf<field>::type *cell_of(const Arguments &a,
                                                                  const Index (&cell)[3]) {
    const Field &f = a.field[field];
    return static_cast<typename CellsOf<field>::type *>(f.data) + cell[0] + cell[1] * f.stride_y +
           cell[2] * f.stride_z;
}

// Of any field.
template <int field = 0>
__device__ __forceinline__ Real read_cell(const Arguments &a, int which, const Index (&cell)[3]) {
    if constexpr (field + 1 < plan::fields)
        if (which != field)
            return read_cell<field + 1>(a, which, cell);
    return *cell_of<field>(a, cell);
}
template <int field = 0>
__device__ __forceinline__ void add_to_cell(const Arguments &a, int which, const Index (&cell)[3],
                                            Real more) {
    if constexpr (field + 1 < plan::fields)
        if (which != field) {
            add_to_cell<field + 1>(a, which, cell, more);
            return;
        }
    const Real now = *cell_of<field>(a, cell);
    *cell_of<field>(a, cell) = now + more;
}
#else
__device__ __forceinline__ Real *cell_of(const Field &field, const Index (&cell)[3]) {
    return field.data + cell[0] + cell[1] * field.stride_y + cell[2] * field.stride_z;
}
#endif

__device__ __forceinline__ void find_cell(const Arguments &a, Index point, int corner,
                                          Index (&cell)[3]) {
#pragma unroll
    for (int axis = 0; axis < plan::dims; ++axis)
        cell[axis] = load_ahead(a.base + axis * a.points + point) + (corner >> axis & 1);
}

// A thread a point.
extern "C" __global__ void __launch_bounds__(plan::threads)
    POINTS_SAMPLE(const __grid_constant__ Arguments a) {
    const Index point = static_cast<Index>(blockIdx.x) * plan::threads + threadIdx.x;
    if (point >= a.count)
        return;
    Real weight[corners], value[corners];
    Index below[3] = {0, 0, 0};
    find_cell(a, point, 0, below);
#pragma unroll
    for (int corner = 0; corner < corners; ++corner)
        weight[corner] = corner_weight(a, point, corner);
    await_launch_before();
#pragma unroll
    for (int corner = 0; corner < corners; ++corner) {
        const bool touched = weight[corner] != 0;
        Index cell[3] = {0, 0, 0};
#pragma unroll
        for (int axis = 0; axis < plan::dims; ++axis)
            cell[axis] = below[axis] + (touched ? corner >> axis & 1 : 0);
#if defined(PLAN_NARROW)
        value[corner] = read_cell(a, a.target, cell);
#else
        value[corner] = *cell_of(a.field[a.target], cell);
#endif
    }
    Real sum = 0;
#pragma unroll
    for (int corner = 0; corner < corners; ++corner)
        if (weight[corner] != 0)
            sum = fma(weight[corner], value[corner], sum);
    a.row[point] = sum;
}

#if PLAN_INJECTS
// What an injected value is made of: the cell's values at the centre, and the sample.
struct Cell {
    const Arguments &arguments;
    const Index (&cell)[3];
    Real sample;

    template <int array, int, int, int> __device__ __forceinline__ Real tap() const {
        if constexpr (array == plan::arrays)
            return sample;
        else
#if defined(PLAN_NARROW)
            return *cell_of<array>(arguments, cell);
#else
            return *cell_of(arguments.field[array], cell);
#endif
    }
};

// A thread a cell that some point touches. Entries are a point's number and a corner.
extern "C" __global__ void __launch_bounds__(plan::threads)
    POINTS_INJECT(const __grid_constant__ Arguments a) {
    const Index item = static_cast<Index>(blockIdx.x) * plan::threads + threadIdx.x;
    if (item >= a.count)
        return;
    const Index begin = load_ahead(a.begin + item), end = load_ahead(a.begin + item + 1);
    const Index first = load_ahead(a.entry + begin);
    Index cell[3] = {0, 0, 0};
    find_cell(a, first / corners, static_cast<int>(first % corners), cell);
    Real weight = corner_weight(a, first / corners, static_cast<int>(first % corners));
    Real sample = load_ahead(a.row + first / corners);
    await_launch_before();
    Real sum = 0;
    for (Index i = begin;;) {
        const Cell at{a, cell, sample};
        sum = fma(weight, injected(at, a), sum);
        if (++i == end)
            break;
        const Index entry = load_ahead(a.entry + i), point = entry / corners;
        weight = corner_weight(a, point, static_cast<int>(entry % corners));
        sample = load_ahead(a.row + point);
    }
#if defined(PLAN_NARROW)
    add_to_cell(a, a.target, cell, sum);
#else
    *cell_of(a.field[a.target], cell) += sum;
#endif
}
#endif
