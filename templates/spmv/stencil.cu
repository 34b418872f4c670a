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
// A thread has `items` rows. Lanes read neighbours, wherever a diagonal begins, and what several
// diagonals read of x comes from the caches but once. A place of x that a row has no entry for is not
// part of its sum, be it a NaN. Entries are added by ascending column.
#include "arch/memory.cuh"
#include "arch/streaming.cuh"
#include "arch/cache_hints.cuh"
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

// Of that what a row of `bits` has; the rest may lie outside of x.
struct ReadingPart {
    const Real *x;
    unsigned bits;
    Real (&value)[plan::diagonals];
    template <int d, long long offset> __device__ __forceinline__ void at(Real) {
        value[d] = (bits >> d & 1) != 0 ? load(x + offset) : Real(0);
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

// Of one that has those of `bits`.
struct Part {
    const Real (&value)[plan::diagonals];
    unsigned bits;
    Real sum;
    template <int d, long long> __device__ __forceinline__ void at(Real factor) {
        sum = (bits >> d & 1) != 0 ? sum + factor * value[d] : sum;
    }
};

// The bits of a row, by its group's number.
__device__ __forceinline__ unsigned bits_of(const Arguments &a, unsigned number, Index row) {
    return number == 0 ? all_diagonals
                       : load(a.pattern + (number - 1) * group_rows + row % group_rows);
}

// The rows of a lane, `apart` from one another. All reads of one kind are on their way at once.
struct Rows {
    Real value[plan::items][plan::diagonals], sum[plan::items], before[plan::items];
    unsigned number[plan::items], left_out; // by bits: rows that are not to be stored

    // Where all rows are there, and all that they might read: so x and y are read before it is known
    // which rows have what. Sums of whole rows are made in any case, because a compiler would put
    // off reading what only a branch needs.
    __device__ __forceinline__ void add_inside(const Arguments &a, Index row, const Real *x,
                                               const Real *y) {
        const bool reads_y = beta(a) != 0;
        unsigned deviating = 0;
#pragma unroll
        for (int i = 0; i < plan::items; ++i) {
            number[i] = load(a.group + (row + i * plan::apart) / group_rows);
            Reading reading = {x + i * plan::apart, value[i]};
            for_diagonals(reading);
            before[i] = reads_y ? y[i * plan::apart] : Real(0);
        }
#pragma unroll
        for (int i = 0; i < plan::items; ++i) {
            Whole whole = {value[i], 0};
            for_diagonals(whole);
            sum[i] = whole.sum;
            deviating |= number[i];
        }
        left_out = 0;
        if (deviating != 0) // in all lanes alike
            add_parts(a, row);
    }
    __device__ __forceinline__ void add_parts(const Arguments &a, Index row) {
#pragma unroll
        for (int i = 0; i < plan::items; ++i)
            if (number[i] != 0) {
                Part part = {value[i], bits_of(a, number[i], row), 0};
                for_diagonals(part);
                sum[i] = part.sum;
                left_out |= part.bits == other ? 1u << i : 0;
            }
    }
    // Elsewhere: the numbers, then the bits, then of x and y what is there.
    __device__ __forceinline__ void add_at_end(const Arguments &a, Index row, const Real *x,
                                               const Real *y) {
        const bool reads_y = beta(a) != 0;
        unsigned bits[plan::items];
#pragma unroll
        for (int i = 0; i < plan::items; ++i)
            number[i] = row + i * plan::apart < a.rows
                            ? load(a.group + (row + i * plan::apart) / group_rows)
                            : 0;
#pragma unroll
        for (int i = 0; i < plan::items; ++i)
            bits[i] = row + i * plan::apart < a.rows ? bits_of(a, number[i], row) : other;
        left_out = 0;
#pragma unroll
        for (int i = 0; i < plan::items; ++i) {
            const bool mine = bits[i] != other;
            ReadingPart reading = {x + i * plan::apart, bits[i], value[i]};
            for_diagonals(reading);
            before[i] = reads_y && mine ? y[i * plan::apart] : Real(0);
            left_out |= mine ? 0 : 1u << i;
        }
#pragma unroll
        for (int i = 0; i < plan::items; ++i) {
            Part part = {value[i], bits[i], 0};
            for_diagonals(part);
            sum[i] = part.sum;
        }
    }
    // As store_sum does; y is not read before much else is.
    __device__ __forceinline__ void store(const Arguments &a, Real *y) const {
        const Real factor = beta(a);
#pragma unroll
        for (int i = 0; i < plan::items; ++i) {
            const Real product = alpha(a) * sum[i];
            if ((left_out >> i & 1) == 0)
                store_once(y + i * plan::apart,
                           factor == 0 ? product : product + factor * before[i]);
        }
    }
};

// `first`: of the warp's rows.
__device__ __forceinline__ void add_rows(const Arguments &a, Index first, int vector) {
    constexpr Index reach = (plan::items - 1) * plan::apart + group_rows; // to the end of its last
    const Index row = first + threadIdx.x % group_rows;
    const Real *const x = a.x + vector * a.columns + row;
    Real *const y = a.y + vector * a.rows + row;
    Rows rows;
    if (first + reach <= a.rows && first + plan::low >= 0 &&
        first + reach + plan::high <= a.columns)
        rows.add_inside(a, row, x, y);
    else
        rows.add_at_end(a, row, x, y);
    rows.store(a, y);
}

// Asks the L2 for what the warp that takes these rows will be the first to read.
__device__ __forceinline__ void ask_ahead(const Arguments &a, Index first) {
#pragma unroll
    for (int i = 0; i < plan::items; ++i) {
        const Index at = first + threadIdx.x % group_rows + i * plan::apart + plan::high;
        if (at >= 0 && at < a.columns)
            fetch(a.x + at);
    }
}

// A tile is `items` runs of as many rows as the block has threads, `apart` from one another, where
// that is a run's length or more; else the rows of a warp follow one another. So that rows from one
// line of a grid to the next, or from plane to plane, read what others of the same thread have read:
//
//     rows  [t0 t1 t2 | t3 t4 t5 | … |      block 0: t0, t`apart`, …, then block 1: t1, …
//            t0 t1 t2 | …                   `apart` rows in a line here; tiles fill `items` lines,
//            …                              then the next ones
//
// The host counts blocks as if tiles were full: if `apart` or the number of lines does not suit them
// there are a few more tiles than blocks, which the first blocks take.
__device__ __forceinline__ void add_tiles(const Arguments &a) {
    constexpr unsigned run = plan::apart > group_rows ? plan::threads : plan::threads * plan::items;
    constexpr Index line = plan::apart > group_rows ? plan::apart : run;
    constexpr Index lines = plan::apart > group_rows ? line * plan::items : line;
    constexpr unsigned runs = static_cast<unsigned>((line + run - 1) / run); // of a line
    const unsigned tiles = runs * static_cast<unsigned>((a.rows + lines - 1) / lines);
    const Index warp_at =
        threadIdx.x / group_rows * (run / plan::threads) * group_rows; // of a run
#pragma unroll 1
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const Index at = static_cast<Index>(tile % runs) * run + warp_at; // within the line
        if (plan::ahead > 0 && tile + plan::ahead < tiles)
            ask_ahead(a, (tile + plan::ahead) / runs * lines +
                             static_cast<Index>((tile + plan::ahead) % runs) * run + warp_at);
        if (at >= line)
            continue;
#pragma unroll 1
        for (int vector = 0; vector < plan::vectors; ++vector)
            add_rows(a, tile / runs * lines + at, vector);
    }
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
    add_tiles(a);
    add_others(a);
}
