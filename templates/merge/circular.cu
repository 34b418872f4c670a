// circular: as tiled, but the tiles are circular buffers, and only what a round has consumed is
// loaded anew, behind what is left (Hwu, Kirk, El Hajj: Programming Massively Parallel Processors,
// 4th ed., section 12.7). Every element is loaded once.
//
//     round 1   [ c c c c r r ]      consumed, rest
//     round 2   [ n n n n r r ]      new; the tile now begins at the first r and goes on at the
//                         ^          first n
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "merge.cuh"

constexpr int tile = plan::threads * plan::items;

struct Shared {
    Real a[tile], b[tile];
    Index ranks[2]; // co-ranks of the block's first output and of the one after its last
};
static_assert(sizeof(Shared) <= plan::shared_bytes, "the host counts the same bytes");

// The part of a list that is in shared memory, and how far it has been loaded.
struct Ring {
    Real *data;
    int begin;          // place of the first element that is left
    int count;          // elements that are left
    Index first;        // which one of the list the first is
    Index loaded, last; // the next one to load, and the end of the part
    __device__ __forceinline__ Real operator()(int i) const {
        const int at = begin + i;
        return data[at < tile ? at : at - tile];
    }
    // Loads as many as there is room for.
    __device__ __forceinline__ void fill(const Real *list) {
        const int more = static_cast<int>(minimum<Index>(tile - count, last - loaded));
        for (int i = static_cast<int>(threadIdx.x); i < more; i += plan::threads) {
            const int at = begin + count + i;
            data[at < tile ? at : at - tile] = list[loaded + i];
        }
        loaded += more;
        count += more;
    }
    __device__ __forceinline__ void consume(int consumed) {
        begin = begin + consumed < tile ? begin + consumed : begin + consumed - tile;
        first += consumed;
        count -= consumed;
    }
};

extern "C" __global__ void
    __launch_bounds__(plan::threads) PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    Shared &shared = *reinterpret_cast<Shared *>(shared_bytes());
    const int thread = static_cast<int>(threadIdx.x);
    const Index count = arguments.a_count + arguments.b_count;
    const Index begin = static_cast<Index>(blockIdx.x) * tile * plan::rounds;
    const Index end = minimum<Index>(begin + tile * plan::rounds, count);
    if (thread < 2)
        shared.ranks[thread] = co_rank_of(arguments, thread == 0 ? begin : end);
    __syncthreads(); // the block knows its parts
    const Parts parts(begin, shared.ranks[0], end, shared.ranks[1]);
    Ring a = {shared.a, 0, 0, parts.a_begin, parts.a_begin, parts.a_end};
    Ring b = {shared.b, 0, 0, parts.b_begin, parts.b_begin, parts.b_end};

    for (Index at = begin; at < end; at += tile) {
        a.fill(arguments.a);
        b.fill(arguments.b);
        __syncthreads(); // both buffers are full before anyone searches in them

        const int outputs = static_cast<int>(minimum<Index>(tile, end - at));
        const int first = minimum(thread * plan::items, outputs);
        const int mine = minimum(plan::items, outputs - first);
        const int i = co_rank(arguments, first, a, a.count, b, b.count);
        merge_some<plan::items>(arguments, a, i, a.count, b, first - i, b.count, mine,
                                [&](int k, Real key, bool from_a, int where) {
                                    put_output(arguments, at + first + k, key, from_a,
                                               (from_a ? a.first : b.first) + where);
                                });
        const int consumed = co_rank(arguments, outputs, a, a.count, b, b.count);
        __syncthreads(); // everyone has done with what is consumed before it is loaded over
        a.consume(consumed);
        b.consume(outputs - consumed);
    }
}
