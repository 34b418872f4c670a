// csr, for processors: a block is one thread, which takes neighbouring rows one after the other. Row r
// goes to the block that has r + offset[r] of all rows and entries, so blocks have about as much to
// do, however long the rows are:
//
//     row              0   1 2 3      4        a row is not cut; blocks next to a long one have
//     r + offset[r]    0   4 5 8     12        fewer rows or none
//     block            0     1        2
#include "arch/memory.cuh"
#include "arch/streaming.cuh"
#include "plan.h"
#include "spmv.cuh"

// The first row from this place on.
__device__ __forceinline__ Index row_from(const Arguments &a, Index place) {
    Index low = 0, high = a.rows;
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (middle + load(a.offset + middle) < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Several sums of one row at a time, since each addition waits for the one before it.
constexpr int chains = plan::vectors < 4 ? 4 : 1;

__device__ __forceinline__ void make_row(const Arguments &a, Index row, Index first, Index end) {
    Sums sums[chains];
    Index k = first;
    for (; k + chains <= end; k += chains)
#pragma unroll
        for (int c = 0; c < chains; ++c)
            sums[c].add(a, load(a.value + k + c), load(a.column + k + c));
    for (; k < end; ++k)
        sums[0].add(a, load(a.value + k), load(a.column + k));
#pragma unroll
    for (int v = 0; v < plan::vectors; ++v) {
        Real sum = sums[0].of[v];
#pragma unroll
        for (int c = 1; c < chains; ++c)
            sum += sums[c].of[v];
        store_sum(a, row, v, sum);
    }
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    const Arguments a = arguments;
    constexpr Index share = plan::run * Index(1024);
    const Index begin = row_from(a, blockIdx.x * share);
    const Index last = row_from(a, (blockIdx.x + 1) * share);
    Index from = begin < last ? load(a.offset + begin) : 0;
    for (Index row = begin; row < last; ++row) {
        const Index end = load(a.offset + row + 1);
        make_row(a, row, from, end);
        from = end;
    }
}
