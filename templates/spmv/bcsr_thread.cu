// bcsr, a thread a row: csr of small dense blocks, whose size the compiler knows, so that one
// column index serves several entries.
//
//     2 × 2     offset  0   2 3        block row 0: [a b | e f]   at columns 0 and 2 of blocks
//               column  0 2 1                       [c d | g h]
//               value   a b c d e f g h …           0 where there is no entry
//
// The thread's row of a block, and what it meets of x, are packs of up to 16 bytes wherever both
// arrays begin at such a place. `items` blocks are on their way at once.
//
// Blocks of a row stand by column, so a product may take several `passes`, each over a part of every
// row, as ell does (ell.cuh).
#include "arch/memory.cuh"
#include "arch/streaming.cuh"
#include "arch/cache_hints.cuh"
#include "plan.h"
#include "spmv.cuh"

// The most bytes of a load that divide a row of so many.
#if defined(PLAN_NARROW)
template <int bytes>
constexpr int pack_of = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : 2;
#else
template <int bytes> constexpr int pack_of = bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : 4;
#endif

// A row of a block, or what it meets of x, in packs.
template <class T, bool packed> struct Line {
    static constexpr int size = sizeof(T);
    static constexpr int bytes = packed ? pack_of<plan::block_columns * size> : size;
    static constexpr int wide = bytes > size ? bytes / size : 1;
    Pack<T, wide> pack[plan::block_columns / wide];

    static __device__ __forceinline__ bool may_begin_at(const T *place) {
        return reinterpret_cast<unsigned long long>(place) % sizeof(Pack<T, wide>) == 0;
    }
    __device__ __forceinline__ void read_matrix(const T *from) {
#pragma unroll
        for (int p = 0; p < plan::block_columns / wide; ++p)
            pack[p] = load_matrix<plan::cache>(reinterpret_cast<const Pack<T, wide> *>(from) + p);
    }
    __device__ __forceinline__ void read_x(const T *from) {
#pragma unroll
        for (int p = 0; p < plan::block_columns / wide; ++p)
            pack[p] = load_of_x<plan::cache>(reinterpret_cast<const Pack<T, wide> *>(from) + p);
    }
    // So many elements; the others are 0.
    __device__ __forceinline__ void read_first(const T *from, Index count) {
#pragma unroll
        for (int c = 0; c < plan::block_columns; ++c)
            pack[c / wide].element[c % wide] = c < count ? load(from + c) : T(0);
    }
    __device__ __forceinline__ T operator[](int c) const {
        return pack[c / wide].element[c % wide];
    }
};

template <bool packed, int pass>
__device__ __forceinline__ void multiply(const Arguments &a, Index row) {
    const Index block_row = row / plan::block_rows, within = row % plan::block_rows;
    const Index begin = load(a.offset + block_row), blocks = load(a.offset + block_row + 1) - begin;
    const Index end = begin + blocks * (pass + 1) / plan::passes;
    Sums sums;
    for (Index k = begin + blocks * pass / plan::passes; k < end; k += plan::items) {
        Index first[plan::items]; // columns
#if defined(PLAN_NARROW)
        Line<StoredValue, packed> value[plan::items];
#else
        Line<Value, packed> value[plan::items];
#endif
#pragma unroll
        for (int i = 0; i < plan::items; ++i)
            if (k + i < end) {
                first[i] = static_cast<Index>(load_matrix<plan::cache>(a.column + k + i)) *
                           plan::block_columns;
                value[i].read_matrix(a.value + ((k + i) * plan::block_rows + within) * plan::block_columns);
            }
#pragma unroll
        for (int v = 0; v < plan::vectors; ++v) {
            const Real *const from = a.x + v * a.columns;
            Line<Real, packed> x[plan::items];
#pragma unroll
            for (int i = 0; i < plan::items; ++i)
                if (k + i < end) {
                    if (first[i] + plan::block_columns <= a.columns)
                        x[i].read_x(from + first[i]);
                    else // the last block reaches over the edge
                        x[i].read_first(from + first[i], a.columns - first[i]);
                }
#pragma unroll
            for (int i = 0; i < plan::items; ++i)
                if (k + i < end)
#pragma unroll
                    for (int c = 0; c < plan::block_columns; ++c)
                        if (value[i][c] != 0) // else no entry, and x may hold a NaN there
                            sums.of[v] += static_cast<Real>(value[i][c]) * x[i][c];
        }
    }
    if (pass == 0)
        sums.store(a, row);
    else
        sums.add_to(a, row);
}

template <int pass> __device__ __forceinline__ void bcsr_row(const Arguments &a) {
    const Index row = thread_index();
    if (row >= a.rows)
        return;
#if defined(PLAN_NARROW)
    bool packed =
        Line<StoredValue, true>::may_begin_at(a.value) && Line<Real, true>::may_begin_at(a.x);
#else
    bool packed = Line<Value, true>::may_begin_at(a.value) && Line<Real, true>::may_begin_at(a.x);
#endif
    if (plan::vectors > 1) // the others begin so many columns further on
        packed = packed && Line<Real, true>::may_begin_at(a.x + a.columns);
    if (packed)
        multiply<true, pass>(a, row);
    else
        multiply<false, pass>(a, row);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    bcsr_row<0>(a);
}
#if defined(PATTERN_KERNEL_1)
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    bcsr_row<1>(a);
}
#endif
#if defined(PATTERN_KERNEL_2)
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_2(const __grid_constant__ Arguments a) {
    bcsr_row<2>(a);
}
#endif
#if defined(PATTERN_KERNEL_3)
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_3(const __grid_constant__ Arguments a) {
    bcsr_row<3>(a);
}
#endif
