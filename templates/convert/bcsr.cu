// csr to bcsr: a thread walks the rows of a row of blocks side by side, from one block that has an
// entry to the next; once to count them, once to write them.
//
//     number  rows and columns of a block, at most plan::most_rows of the former
//     out     offset[block rows + 1] column[blocks] value[rows · columns, blocks]
//     work    count[block rows]
#include "common.cuh"
#include "cooperation.cuh"
#include "plan.h"
#include "convert.cuh"

constexpr int most_rows = plan::most_rows;

__device__ __forceinline__ Index block_rows(const Arguments &a) {
    return (a.rows + a.number[0] - 1) / a.number[0];
}

struct BlockRows {
    static constexpr int counters = 1;
    __device__ static Index count(const Arguments &a) { // one behind the last: where that ends
        return block_rows(a) + 1;
    }
    __device__ static Counts<1> of(const Arguments &a, Index row) {
        return {{row < block_rows(a) ? static_cast<const Integer *>(a.work[0])[row] : 0}};
    }
};

// Where each row of the row of blocks is, and in which block.
struct Walk {
    static constexpr Integer none = -1;
    const Arguments &a;
    Integer at[most_rows], end[most_rows], block[most_rows];

    __device__ __forceinline__ Walk(const Arguments &given, Index row) : a(given) {
#pragma unroll
        for (int r = 0; r < most_rows; ++r) {
            const Index mine = row * a.number[0] + r;
            const bool there = r < a.number[0] && mine < a.rows;
            at[r] = there ? load(a.offset + mine) : 0;
            end[r] = there ? load(a.offset + mine + 1) : 0;
            find(r);
        }
    }
    __device__ __forceinline__ void find(int r) {
        block[r] = at[r] < end[r] ? load(a.column + at[r]) / static_cast<Integer>(a.number[1]) : none;
    }
    // The first block that any row is in, or none.
    __device__ __forceinline__ Integer next() const {
        Integer least = none;
#pragma unroll
        for (int r = 0; r < most_rows; ++r)
            least = block[r] != none && (least == none || block[r] < least) ? block[r] : least;
        return least;
    }
};

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    const Index row = global_thread();
    if (row >= block_rows(a))
        return;
    Walk walk(a, row);
    Integer count = 0;
    for (Integer least; (least = walk.next()) != Walk::none; ++count) {
#pragma unroll
        for (int r = 0; r < most_rows; ++r)
            while (walk.block[r] == least) {
                ++walk.at[r];
                walk.find(r);
            }
    }
    static_cast<Integer *>(a.work[0])[row] = count;
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    sum_tile<BlockRows>(a);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_2(const __grid_constant__ Arguments a) {
    scan_tiles<BlockRows>(a);
}

struct StoreOffset {
    Integer *offset;
    __device__ __forceinline__ void operator()(Index item, const Counts<1> &,
                                               const Counts<1> &before) const {
        offset[item] = static_cast<Integer>(before.at[0]);
    }
};

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_3(const __grid_constant__ Arguments a) {
    for_sums<BlockRows>(a, StoreOffset{static_cast<Integer *>(a.out[0])});
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_4(const __grid_constant__ Arguments a) {
    const Index row = global_thread();
    if (row >= block_rows(a))
        return;
    Walk walk(a, row);
    const int columns = static_cast<int>(a.number[1]), rows = static_cast<int>(a.number[0]);
    Index at = static_cast<const Integer *>(a.out[0])[row];
    for (Integer least; (least = walk.next()) != Walk::none; ++at) {
        static_cast<Integer *>(a.out[1])[at] = least;
        Word *to = static_cast<Word *>(a.out[2]) + at * rows * columns;
#pragma unroll
        for (int r = 0; r < most_rows; ++r)
            if (r < rows) {
                const Index first = static_cast<Index>(least) * columns;
                for (int c = 0; c < columns; ++c) {
                    Word value = 0;
                    if (walk.block[r] == least && walk.at[r] < walk.end[r] &&
                        load(a.column + walk.at[r]) == first + c)
                        value = load(a.value + walk.at[r]++);
                    *to++ = value;
                }
                if (walk.block[r] == least)
                    walk.find(r);
            }
    }
}
