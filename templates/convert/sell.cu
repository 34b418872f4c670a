// csr to sell: the rows of each window of sigma in order of length, the longest first and rows of one
// length as they were; then each slice padded to its first row.
//
//     number  slice, sigma, rows of a block of the first kernel (whole windows)
//     out     offset[slices + 1] row[rows] column[places] value[places]
//     work    width[slices]: entries of each slice's longest row
#include "common.cuh"
#include "cooperation.cuh"
#include "plan.h"
#include "convert.cuh"

struct Slices {
    static constexpr int counters = 1;
    __device__ static Index number(const Arguments &a) {
        return (a.rows + a.number[0] - 1) / a.number[0];
    }
    __device__ static Index count(const Arguments &a) { // one behind the last: where that ends
        return number(a) + 1;
    }
    __device__ static Counts<1> of(const Arguments &a, Index slice) {
        const auto *const width = static_cast<const Integer *>(a.work[0]);
        return {{slice < number(a) ? width[slice] * a.number[0] : 0}};
    }
};

// A row's place in its window is the number of rows that go before it: it is compared with all of
// them, which costs sigma comparisons a row and no barrier, and needs no more than their lengths in
// shared memory.
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    auto *const length = reinterpret_cast<Integer *>(shared_bytes());
    auto *const row = static_cast<Integer *>(a.out[1]);
    auto *const width = static_cast<Integer *>(a.work[0]);
    const int slice = static_cast<int>(a.number[0]), sigma = static_cast<int>(a.number[1]);
    const Index first = blockIdx.x * a.number[2], left = a.rows - first;
    const int count = static_cast<int>(left < a.number[2] ? left : a.number[2]);
    for (int i = threadIdx.x; i < count; i += plan::threads)
        length[i] = load(a.offset + first + i + 1) - load(a.offset + first + i);
    __syncthreads(); // the lengths are there
    for (int i = threadIdx.x; i < count; i += plan::threads) {
        const int window = i / sigma * sigma;
        const int end = window + sigma < count ? window + sigma : count;
        const Integer mine = length[i];
        int place = window;
        for (int k = window; k < end; ++k)
            place += length[k] > mine || (length[k] == mine && k < i);
        row[first + place] = static_cast<Integer>(first + i);
        if (place % slice == 0) // the slice's longest
            width[first / slice + place / slice] = mine;
    }
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    sum_tile<Slices>(a);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_2(const __grid_constant__ Arguments a) {
    scan_tiles<Slices>(a);
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
    for_sums<Slices>(a, StoreOffset{static_cast<Integer *>(a.out[0])});
}

// A thread a place in a slice's order: lanes write neighbours.
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_4(const __grid_constant__ Arguments a) {
    const auto *const offset = static_cast<const Integer *>(a.out[0]);
    const auto *const row = static_cast<const Integer *>(a.out[1]);
    const Index slot = global_thread(), slice = slot / a.number[0];
    if (slice >= Slices::number(a))
        return;
    const Index begin = load(offset + slice), end = load(offset + slice + 1);
    const Index from = slot < a.rows ? load(row + slot) : 0;
    const Integer *column = a.column;
    const Word *value = a.value;
    Index length = 0;
    if (slot < a.rows) {
        const Index entry = load(a.offset + from);
        length = load(a.offset + from + 1) - entry;
        column += entry;
        value += entry;
    }
    Integer *const to = static_cast<Integer *>(a.out[2]);
    Word *const to_value = static_cast<Word *>(a.out[3]);
    Index at = begin + (slot - slice * a.number[0]);
#pragma unroll 4
    for (Index k = 0; at < end; ++k, at += a.number[0]) {
        to[at] = k < length ? load(column + k) : Integer(-1);
        to_value[at] = k < length ? load(value + k) : Word(0);
    }
}
