// Looks at csr that others have made: whether it is what csr has to be, and what it looks like.
//
//     number  the mean length of a row, rounded down
//     work    of the sample: rows[number[1]], and for each of them a count and `most` pairs of an
//             offset from the diagonal and a value's bits
//     totals  the first row that is not sound (all bits set: none); the longest row; the entries less
//             the shortest row; empty rows; the sum of squares of lengths less the mean; bandwidth;
//             1 where the matrix is not symmetric
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "arch/warps.cuh"
#include "arch/cooperation.cuh"
#include "plan.h"
#include "convert.cuh"
#include "sweep.cuh"

using Unsigned = unsigned long long;
enum { bad_row, longest, shortest, empty_rows, squares, bandwidth, asymmetric };

__device__ __forceinline__ Unsigned *total_of(const Arguments &a, int which) {
    return reinterpret_cast<Unsigned *>(a.totals) + which;
}

// As few operations on one address as there are warps with something new to say.
__device__ __forceinline__ void note_most(const Arguments &a, int which, Index mine) {
#pragma unroll
    for (int away = warp_lanes / 2; away > 0; away /= 2)
        mine = maximum(mine, shuffle_xor(mine, away));
    if (threadIdx.x % warp_lanes == 0 && load_relaxed(a.totals + which) < mine)
        atomicMax(a.totals + which, mine);
}
__device__ __forceinline__ void note_sum(const Arguments &a, int which, Index mine) {
#pragma unroll
    for (int away = warp_lanes / 2; away > 0; away /= 2)
        mine += shuffle_xor(mine, away);
    if (threadIdx.x % warp_lanes == 0 && mine != 0)
        atomicAdd(total_of(a, which), static_cast<Unsigned>(mine));
}

// Where rows begin. As many blocks as keep the device busy, each going through the rows.
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    const Index stride = static_cast<Index>(gridDim.x) * plan::threads;
    Index most = 0, least = 0, none = 0, sum = 0;
    for (Index row = global_thread(); row < a.rows; row += stride) {
        const Index begin = load(a.offset + row), end = load(a.offset + row + 1);
        const Index length = end - begin, away = length - a.number[0];
        if (begin < 0 || end < begin || end > a.entries || (row == 0 && begin != 0) ||
            (row == a.rows - 1 && end != a.entries))
            atomicMin(total_of(a, bad_row), static_cast<Unsigned>(row));
        most = maximum(most, length);
        least = maximum(least, a.entries - length);
        none += length == 0;
        sum += away * away;
    }
    note_most(a, longest, most);
    note_most(a, shortest, least);
    note_sum(a, empty_rows, none);
    note_sum(a, squares, sum);
}

// Columns: in the matrix, ascending, none twice.
struct CheckColumn {
    const Arguments &a;
    Index &widest;
    __device__ __forceinline__ void operator()(Index row, Index entry) const {
        const Index column = load(a.column + entry);
        const bool first = entry == load(a.offset + row);
        if (column < 0 || column >= a.columns || (!first && load(a.column + entry - 1) >= column))
            atomicMin(total_of(a, bad_row), static_cast<Unsigned>(row));
        widest = maximum(widest, column > row ? column - row : row - column);
    }
};

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    Index widest = 0;
    for_entries(a, CheckColumn{a, widest});
    note_most(a, bandwidth, widest);
}

// ---- symmetry ----------------------------------------------------------------------------------

template <int bytes> struct RealOf { using type = float; };
template <> struct RealOf<8> { using type = double; };
using Value = RealOf<sizeof(Word)>::type;

// The value at a place; 0 where there is no entry.
__device__ __forceinline__ Value value_at(const Arguments &a, Index row, Index column) {
    Index low = load(a.offset + row), high = load(a.offset + row + 1);
    const Index end = high;
    while (low < high) {
        const Index middle = low + (high - low) / 2;
        if (load(a.column + middle) < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && load(a.column + low) == column ? same_bits<Value>(load(a.value + low))
                                                       : Value(0);
}

struct CheckOther {
    const Arguments &a;
    bool &differs;
    __device__ __forceinline__ void operator()(Index row, Index entry) const {
        const Value mine = same_bits<Value>(load(a.value + entry));
        differs |= !(value_at(a, load(a.column + entry), row) == mine); // a NaN is like nothing
    }
};

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_2(const __grid_constant__ Arguments a) {
    bool differs = false;
    for_entries(a, CheckOther{a, differs});
    note_most(a, asymmetric, differs ? 1 : 0);
}

// ---- a sample ----------------------------------------------------------------------------------

// A thread a row: its finite entries, none where there are more than `most`.
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_3(const __grid_constant__ Arguments a) {
    const Index number = global_thread(), most = a.number[2];
    if (number >= a.number[1])
        return;
    const Index row = static_cast<const Index *>(a.work[0])[number];
    Index *const to = static_cast<Index *>(a.work[1]) + number * (1 + 2 * most);
    const Index end = load(a.offset + row + 1);
    Index count = 0;
    for (Index entry = load(a.offset + row); entry < end; ++entry) {
        const Word bits = load(a.value + entry);
        const Value value = same_bits<Value>(bits);
        if (value - value != 0) // an infinity or a NaN
            continue;
        if (count == most) {
            count = 0;
            break;
        }
        to[1 + 2 * count] = load(a.column + entry) - row;
        to[2 + 2 * count] = static_cast<Index>(bits);
        ++count;
    }
    to[0] = count;
}
