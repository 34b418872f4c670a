// csr to sell: the rows of each window of sigma in order of length, the longest first and rows of one
// length as they were; then each slice padded to its first row.
//
//     number  slice, sigma, rows of a block of the first kernel (whole windows)
//     out     offset[slices + 1] row[rows] column[places] value[places]
//     work    width[slices]: entries of each slice's longest row
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "arch/warps.cuh"
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

// Shared memory of the kernel that sorts: what sums_before takes, the bits in which lengths differ,
// then for each row of the block its length and its place in two orders, which take turns.
struct Sorting {
    unsigned long long *varying;
    Integer *length;
    unsigned short *order, *next;

    __device__ __forceinline__ explicit Sorting(Index rows) {
        unsigned char *const at = shared_bytes() + sizeof(Counts<1>) * scan_warps;
        varying = reinterpret_cast<unsigned long long *>(at);
        length = reinterpret_cast<Integer *>(at + 2 * sizeof *varying);
        order = reinterpret_cast<unsigned short *>(length + rows);
        next = order + rows;
    }

    // All rows for which `first` holds before all others; else they stay as they are. A thread has
    // neighbours in the order: it counts those of them that go first, and knows from the sums how many
    // go first before its own.
    template <class First> __device__ __forceinline__ void split(int count, const First &first) {
        const int each = (count + plan::threads - 1) / plan::threads;
        const int begin = min(static_cast<int>(threadIdx.x) * each, count);
        const int end = min(begin + each, count);
        Counts<1> mine = {}, total;
        for (int i = begin; i < end; ++i)
            mine.at[0] += first(order[i]) ? 1 : 0;
        int ahead = static_cast<int>(sums_before(mine, total).at[0]);
        for (int i = begin; i < end; ++i) {
            const unsigned short row = order[i];
            const bool goes = first(row);
            next[goes ? ahead : static_cast<int>(total.at[0]) + i - ahead] = row;
            ahead += goes;
        }
        __syncthreads(); // the order is whole
        unsigned short *const before = order;
        order = next;
        next = before;
    }
};

// Bit by bit from the lowest, longer rows go first, and then each window comes together again: sorts
// that keep the order of equals, of which the last decides. Bits that all lengths have in common need
// no pass; rows that are all of one length need none at all.
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    auto *const row = static_cast<Integer *>(a.out[1]);
    auto *const width = static_cast<Integer *>(a.work[0]);
    const int slice = static_cast<int>(a.number[0]), sigma = static_cast<int>(a.number[1]);
    const Index first = blockIdx.x * a.number[2], left = a.rows - first;
    const int count = static_cast<int>(left < a.number[2] ? left : a.number[2]);
    Sorting s(a.number[2]);
    const Integer some = load(a.offset + first + 1) - load(a.offset + first);
    if (threadIdx.x == 0)
        *s.varying = 0;
    __syncthreads(); // it is 0
    unsigned long long varying = 0;
    for (int i = threadIdx.x; i < count; i += plan::threads) {
        const Integer length = load(a.offset + first + i + 1) - load(a.offset + first + i);
        s.length[i] = length;
        s.order[i] = static_cast<unsigned short>(i);
        varying |= static_cast<unsigned long long>(length ^ some);
    }
    if (varying != 0)
        atomicOr(s.varying, varying);
    __syncthreads(); // the lengths are there, and what they differ in
    varying = *s.varying;
    for (unsigned long long bits = varying; bits != 0; bits &= bits - 1) {
        const int bit = __ffsll(static_cast<long long>(bits)) - 1;
        s.split(count, [&](int i) { return (s.length[i] >> bit & 1) != 0; });
    }
    const int windows = varying == 0 ? 0 : (count - 1) / sigma;
    for (int bit = 0; windows >> bit != 0; ++bit)
        s.split(count, [&](int i) { return (i / sigma >> bit & 1) == 0; });
    for (int place = threadIdx.x; place < count; place += plan::threads) {
        const int i = s.order[place];
        row[first + place] = static_cast<Integer>(first + i);
        if (place % slice == 0) // the slice's longest
            width[first / slice + place / slice] = s.length[i];
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
