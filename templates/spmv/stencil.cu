// stencil: rows that all have the same few diagonals, each with one value, which are compiled in.
// Nothing of such a row is read. A word for 32 rows says that all of them are so, 0, or which
// pattern has a word a row: a bit for each diagonal that the row has, or bit 31 where it has anything
// else. Those rows stand behind as csr.
//
//     A  4 1 . 1 . . . .      diagonals   −1: 1   0: 4   1: 1   3: 1
//        1 4 1 . 1 . . .      group       [0 1 …]              32 rows each
//        . 1 4 1 . 1 . .      pattern     [1111 … 1111 0111 10…0]: 32 rows of group 1, one that lacks
//        . . 1 4 . . 1 .                  an entry at the grid's edge, one that is in row[]
//        . . . 7 4 1 . 1      row [4]  offset [0 4]  column [3 4 5 7]  value [7 4 1 1]
//
// A warp has `items` groups, one behind the other. Lanes read neighbours, wherever a diagonal begins,
// and what several diagonals read of x comes from the caches but once. A place of x that a row has
// no entry for is not part of its sum, be it a NaN. Entries are added by ascending column.
#include "common.cuh"
#include "cooperation.cuh"
#include "plan.h"
#include "spmv.cuh"

constexpr Index group_rows = 32;
constexpr unsigned all_diagonals = (1u << plan::diagonals) - 1, other = 1u << 31;

// What a row reads of x.
struct Reading {
    const Real *x; // at the row's number
    Real (&value)[plan::diagonals];
    template <int d, long long offset> __device__ __forceinline__ void at(Real) {
        value[d] = load(x + offset);
    }
};

// The sum of a row that has all diagonals.
struct Whole {
    const Real (&value)[plan::diagonals];
    Real sum;
    template <int d, long long> __device__ __forceinline__ void at(Real factor) {
        sum += factor * value[d];
    }
};

// Of one that has those of `bits`, where all that it might read has been read.
struct Part {
    const Real (&value)[plan::diagonals];
    unsigned bits;
    Real sum;
    template <int d, long long> __device__ __forceinline__ void at(Real factor) {
        sum = (bits >> d & 1) != 0 ? sum + factor * value[d] : sum;
    }
};

// The same near an end of x, where what a row lacks may lie outside of it.
struct Careful {
    const Real *x;
    unsigned bits;
    Real sum;
    template <int d, long long offset> __device__ __forceinline__ void at(Real factor) {
        if ((bits >> d & 1) != 0)
            sum += factor * load(x + offset);
    }
};

// The bits of a row, by its group's number.
__device__ __forceinline__ unsigned bits_of(const Arguments &a, unsigned number, Index row) {
    return number == 0 ? all_diagonals
                       : load(a.pattern + (number - 1) * group_rows + row % group_rows);
}

// Some of a warp's rows, or of what their diagonals reach, are not there.
__device__ __forceinline__ void add_at_end(const Arguments &a, Index row, Index end, int vector) {
#pragma unroll 1
    for (; row < end && row < a.rows; row += group_rows) {
        const unsigned bits = bits_of(a, load(a.group + row / group_rows), row);
        if (bits == other)
            continue;
        Careful sum = {a.x + vector * a.columns + row, bits, 0};
        for_diagonals(sum);
        store_sum(a, row, vector, sum.sum);
    }
}

// The rows of a lane of a warp of which all are there, so that x and y can be read before it is known
// which rows have what: one way to memory, and for few warps one more to a pattern. Sums of whole
// rows are made in any case, because a compiler would put off reading what only a branch needs.
struct Inside {
    Real value[plan::items][plan::diagonals], sum[plan::items], before[plan::items];
    unsigned number[plan::items], deviating, others;

    __device__ __forceinline__ void read(const Arguments &a, Index row, const Real *x,
                                         const Real *y) {
        const bool reads_y = beta(a) != 0;
#pragma unroll
        for (int i = 0; i < plan::items; ++i) {
            number[i] = load(a.group + row / group_rows + i);
            Reading reading = {x + i * group_rows, value[i]};
            for_diagonals(reading);
            before[i] = reads_y ? y[i * group_rows] : Real(0);
        }
    }
    __device__ __forceinline__ void add() {
        deviating = others = 0;
#pragma unroll
        for (int i = 0; i < plan::items; ++i) {
            Whole whole = {value[i], 0};
            for_diagonals(whole);
            sum[i] = whole.sum;
            deviating |= number[i];
        }
    }
    __device__ __forceinline__ void add_parts(const Arguments &a, Index row) {
#pragma unroll
        for (int i = 0; i < plan::items; ++i)
            if (number[i] != 0) {
                Part part = {value[i], bits_of(a, number[i], row), 0};
                for_diagonals(part);
                sum[i] = part.sum;
                others |= part.bits == other ? 1u << i : 0;
            }
    }
    // As store_sum does; y is not read before much else is.
    __device__ __forceinline__ void store(const Arguments &a, Real *y) const {
        const Real factor = beta(a);
#pragma unroll
        for (int i = 0; i < plan::items; ++i) {
            const Real product = alpha(a) * sum[i];
            if ((others >> i & 1) == 0)
                store_once(y + i * group_rows, factor == 0 ? product : product + factor * before[i]);
        }
    }
};

__device__ __forceinline__ void add_rows(const Arguments &a, int vector) {
    constexpr Index rows = plan::items * group_rows;
    const Index first = thread_index() / group_rows * rows; // of the warp
    const Index row = first + threadIdx.x % group_rows;
    if (first + rows > a.rows || first + plan::low < 0 || first + rows + plan::high > a.columns)
        return add_at_end(a, row, first + rows, vector);
    Real *const y = a.y + vector * a.rows + row;
    Inside warp;
    warp.read(a, row, a.x + vector * a.columns + row, y);
    warp.add();
    if (warp.deviating != 0) // of all lanes alike
        warp.add_parts(a, row);
    warp.store(a, y);
}

// Rows that have other entries, which nobody else writes: a thread a row, few and short.
__device__ __forceinline__ void add_others(const Arguments &a) {
    const Index threads = static_cast<Index>(gridDim.x) * plan::threads;
#pragma unroll 1
    for (Index i = thread_index(); i < a.others; i += threads) {
        Sums sums;
        const Index end = load(a.offset + i + 1);
#pragma unroll 4
        for (Index k = load(a.offset + i); k < end; ++k)
            sums.add(a, load(a.value + k), load(a.column + k));
        sums.store(a, load(a.row + i));
    }
}

extern "C" __global__ void __launch_bounds__(plan::threads, 1)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
#pragma unroll 1
    for (int vector = 0; vector < plan::vectors; ++vector)
        add_rows(a, vector);
    add_others(a);
}
