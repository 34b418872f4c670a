// csr to dia: a bit for each diagonal that has an entry; those bits counted and listed; then each row
// writes all of them.
//
//     out     diagonal[D] value[rows, D]
//     work    bits: diagonal d of −(rows − 1) … columns − 1 is bit d + rows − 1; 0 before
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "arch/warps.cuh"
#include "arch/cooperation.cuh"
#include "plan.h"
#include "convert.cuh"
#include "sweep.cuh"

constexpr int word_bits = 32;

struct Words {
    static constexpr int counters = 1;
    __device__ static Index count(const Arguments &a) {
        return (a.rows + a.columns + word_bits - 1) / word_bits;
    }
    __device__ static Counts<1> of(const Arguments &a, Index word) {
        return {{__popc(static_cast<const unsigned *>(a.work[0])[word])}};
    }
};

// Of few diagonals nearly every bit is set already: then it is only read. Another thread may set it
// meanwhile, which costs an operation that changes nothing.
struct MarkDiagonal {
    const Arguments &a;
    __device__ __forceinline__ void operator()(Index row, Index entry) const {
        const Index bit = load(a.column + entry) - row + a.rows - 1;
        unsigned *const word = static_cast<unsigned *>(a.work[0]) + bit / word_bits;
        const unsigned mine = 1u << bit % word_bits;
        if ((load_relaxed(word) & mine) == 0)
            atomicOr(word, mine);
    }
};

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    for_entries(a, MarkDiagonal{a});
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    sum_tile<Words>(a);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_2(const __grid_constant__ Arguments a) {
    scan_tiles<Words>(a);
}

struct ListDiagonals {
    const Arguments &a;
    __device__ __forceinline__ void operator()(Index word, const Counts<1> &,
                                               const Counts<1> &before) const {
        Integer *to = static_cast<Integer *>(a.out[0]) + before.at[0];
        for (unsigned left = static_cast<const unsigned *>(a.work[0])[word]; left != 0;
             left &= left - 1)
            *to++ = static_cast<Integer>(word * word_bits + __ffs(static_cast<int>(left)) - 1 -
                                         (a.rows - 1));
    }
};

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_3(const __grid_constant__ Arguments a) {
    for_sums<Words>(a, ListDiagonals{a});
}

// A thread a row. Diagonals ascend as the row's columns do: the next entry is the next diagonal's, or
// that has none here.
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_4(const __grid_constant__ Arguments a) {
    const auto *const diagonal = static_cast<const Integer *>(a.out[0]);
    const Index row = global_thread(), diagonals = a.totals[0];
    if (row >= a.rows)
        return;
    const Index end = load(a.offset + row + 1);
    Index entry = load(a.offset + row);
    Index next = entry < end ? load(a.column + entry) - row : 0;
    Word *to = static_cast<Word *>(a.out[1]) + row;
    for (Index d = 0; d < diagonals; ++d, to += a.rows) {
        Word value = 0;
        if (entry < end && next == load(diagonal + d)) {
            value = load(a.value + entry);
            ++entry;
            if (entry < end)
                next = load(a.column + entry) - row;
        }
        *to = value;
    }
}
