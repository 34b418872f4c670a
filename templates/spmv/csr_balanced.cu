// csr, balanced: the ends of rows and the entries are merged into one list, of which every thread
// gets the same number of items, however long the rows are (D. Merrill, M. Garland, Merge-Based
// Parallel Sparse Matrix-Vector Multiplication, PPoPP 2016).
//
//              entries 0 1 2 3 4 5          the path goes right over an entry, which is added to
//     ends  2 (row 0)  → → ↓                the sum, and down over the end of a row, whose sum is
//           5 (row 1)      → → → ↓          done; a row without entries is one step down
//           5 (row 2)            ↓
//           6 (row 3)            → ↓
//
// A block stages its piece of the path in shared memory: where rows end and the products of its
// entries, in that order in one array with the rows' sums behind them. A row that a thread or a
// block begins and another ends is put together from its parts: threads by Segments, blocks by a
// second launch.
#include "common.cuh"
#include "cooperation.cuh"
#include "plan.h"
#include "spmv.cuh"
#include "segments.cuh"

constexpr int tile = plan::threads * plan::items; // items of a block

struct Tile {
    Real sum[tile]; // products of the entries, then sums of the rows
    Segments<int> segments;
    Index path[2]; // the rows that end before the tile, and before the next one
    int end[tile]; // where each row ends, counted from the tile's first entry
};
static_assert(sizeof(Tile) <= plan::shared, "the host reserves too little shared memory");

// How many of `rows` ends stand among the first `diagonal` items. end_of(r) ascends.
template <class Count, class End>
__device__ __forceinline__ Count rows_before(Count diagonal, Count rows, Count entries,
                                             End end_of) {
    Count low = diagonal > entries ? diagonal - entries : 0;
    Count high = diagonal < rows ? diagonal : rows;
    while (low < high) {
        const Count middle = low + (high - low) / 2;
        if (end_of(middle) <= diagonal - 1 - middle)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// A thread's items: sums of the rows that end there go to shared memory. The rest is of the row
// returned, which another thread or block ends.
__device__ __forceinline__ int walk(Tile &t, int row, int entry, int rows, int entries,
                                    Real &rest) {
    rest = 0;
#pragma unroll
    for (int k = 0; k < plan::items; ++k) {
        if (row < rows && t.end[row] <= entry) {
            t.sum[entries + row++] = rest;
            rest = 0;
        } else if (entry < entries) {
            rest += t.sum[entry++];
        }
    }
    return row;
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    Tile &t = *reinterpret_cast<Tile *>(shared_bytes());
    const int thread = threadIdx.x;
    const Index total = a.rows + a.entries;
    const Index begin = static_cast<Index>(blockIdx.x) * tile;
    const Index end = begin + tile < total ? begin + tile : total;
    if (thread < 2)
        t.path[thread] =
            rows_before<Index>(thread == 0 ? begin : end, a.rows, a.entries,
                               [&](Index r) -> Index { return load(a.offset + r + 1); });
    __syncthreads(); // all threads read the path
    const Index first_row = t.path[0], first_entry = begin - first_row;
    const int rows = static_cast<int>(t.path[1] - first_row);
    const int entries = static_cast<int>(end - begin) - rows;
    for (int i = thread; i < rows; i += plan::threads)
        t.end[i] = static_cast<int>(load(a.offset + first_row + i + 1) - first_entry);
    __syncthreads(); // and where rows end

    const int diagonal = min(thread * plan::items, rows + entries);
    const int row = rows_before<int>(diagonal, rows, entries, [&](int r) { return t.end[r]; });
    const bool carries = entries > (rows > 0 ? t.end[rows - 1] : 0);
    for (int v = 0; v < plan::vectors; ++v) {
        for (int i = thread; i < entries; i += plan::threads)
            t.sum[i] = static_cast<Real>(load(a.value + first_entry + i)) *
                       x_at(a, load(a.column + first_entry + i), v);
        __syncthreads(); // threads walk over products that others made
        Real rest;
        const int last = walk(t, row, diagonal - row, rows, entries, rest);
        t.segments.scan(last, rest);
        if (thread > 0 && last > row && t.segments.key[thread - 1] == row)
            t.sum[entries + row] += t.segments.sum[thread - 1];
        if (thread == plan::threads - 1)
            leave_carry(a, carries ? first_row + rows : -1, v, t.segments.sum[thread]);
        __syncthreads(); // sums are complete; what the next vector's products replace is read
        for (int i = thread; i < rows; i += plan::threads)
            store_sum(a, first_row + i, v, t.sum[entries + i]);
    }
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    add_carries(a, (a.rows + a.entries + tile - 1) / tile);
}
