// csr to bcsr: a lane a row. The lanes of a row of blocks walk their rows side by side, from one block
// that any of them has an entry in to the next; once to count the blocks, once to write them.
//
//     lane 0   0 1 | 4 6 | . .        columns by blocks of 2: all agree on the least block that is
//     lane 1   . . | 5   | 8 9        still to come, 0, 4/2, 8/2, and write a row of it each
//
//     number  rows and columns of a block, at most plan::lanes of the former, a power of two
//     out     offset[block rows + 1] column[blocks] value[rows · columns, blocks]
//     work    count[block rows]
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "convert.cuh"

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

// A lane's row: where it is, and in which block.
struct Walk {
    static constexpr Integer none = -1;
    const Arguments &a;
    Integer at = 0, end = 0, block = none;

    __device__ __forceinline__ Walk(const Arguments &given, Index line, int lane) : a(given) {
        const Index row = line * a.number[0] + lane;
        if (lane < a.number[0] && row < a.rows) {
            at = load(a.offset + row);
            end = load(a.offset + row + 1);
        }
        find();
    }
    __device__ __forceinline__ void find() {
        block = at < end ? load(a.column + at) / static_cast<Integer>(a.number[1]) : none;
    }
    // Whether the row has every place of its block: columns ascend, so the last one tells.
    __device__ __forceinline__ bool is_dense() const {
        const Index columns = a.number[1];
        return at + columns <= end && load(a.column + at + columns - 1) == (block + Index(1)) * columns - 1;
    }
    // The first block that any row is in, or none; the same in all lanes of the rows.
    __device__ __forceinline__ Integer next() const {
        using Unsigned = typename WordOf<sizeof(Integer)>::type; // of which none is the greatest
        auto least = static_cast<Unsigned>(block);
#pragma unroll
        for (int away = plan::lanes / 2; away > 0; away /= 2) {
            const Unsigned other = shuffle_xor(least, away);
            least = other < least ? other : least;
        }
        return static_cast<Integer>(least);
    }
};

// All lanes of a warp come along until the last has seen its rows' end.
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    const Index line = global_thread() / plan::lanes;
    const int lane = threadIdx.x % plan::lanes;
    Walk walk(a, line, lane);
    Integer count = 0;
    for (;;) {
        const Integer least = walk.next();
        if (__any_sync(all_lanes, least != Walk::none) == 0)
            break;
        count += least != Walk::none;
        while (walk.block == least && least != Walk::none) {
            walk.at += walk.is_dense() ? static_cast<Integer>(a.number[1]) : 1;
            walk.find();
        }
    }
    if (lane == 0 && line < block_rows(a))
        static_cast<Integer *>(a.work[0])[line] = count;
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    sum_tile<BlockRows>(a);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_2(const __grid_constant__ Arguments a) {
    scan_tiles<BlockRows>(a);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_3(const __grid_constant__ Arguments a) {
    for_sums<BlockRows>(a, StoreOffset{static_cast<Integer *>(a.out[0])});
}

// A row of a block, from the entries that the row has there, packs of elements at a time: as many as
// one store takes and a row is a multiple of. Lanes write neighbours.
__device__ __forceinline__ void store_row(Walk &walk, Index first, bool mine, Word *to) {
    const bool dense = mine && walk.is_dense(); // so that no load waits for one before
    for (int c = 0; c < walk.a.number[1]; c += plan::pack) {
        Pack<Word, plan::pack> pack;
#pragma unroll
        for (int i = 0; i < plan::pack; ++i) {
            const bool there = dense || (mine && walk.at < walk.end &&
                                         load(walk.a.column + walk.at) == first + c + i);
            pack.element[i] = there ? load(walk.a.value + walk.at) : Word(0);
            walk.at += there;
        }
        *reinterpret_cast<Pack<Word, plan::pack> *>(to + c) = pack;
    }
    if (mine)
        walk.find();
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_4(const __grid_constant__ Arguments a) {
    const Index line = global_thread() / plan::lanes;
    const int lane = threadIdx.x % plan::lanes;
    Walk walk(a, line, lane);
    Index at = line < block_rows(a) ? static_cast<const Integer *>(a.out[0])[line] : 0;
    for (;; ++at) {
        const Integer least = walk.next();
        if (__any_sync(all_lanes, least != Walk::none) == 0)
            break;
        if (least == Walk::none)
            continue;
        if (lane == 0)
            static_cast<Integer *>(a.out[1])[at] = least;
        if (lane < a.number[0])
            store_row(walk, static_cast<Index>(least) * a.number[1], walk.block == least,
                      static_cast<Word *>(a.out[2]) + (at * a.number[0] + lane) * a.number[1]);
    }
}
