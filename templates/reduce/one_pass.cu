// one-pass: a list of any length in one launch. Each block reduces its share and publishes the result
// with the launch's tag. The last block by number waits for all of them and joins them in the order
// of the blocks. Shares and order depend on the length alone, so every run gives the same bits.
//
//     blocks     0 1 2 3 0 1 2 3 0 1 …        (0 0 0 1 1 1 … where the order counts)
//     partials   tag p0 | tag p1 | tag p2     block 3 waits for these and joins its own
//
// The last block erases each result that it reads, so a replay with the same tag finds none.
#include "arch/compilers.cuh"
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "arch/launches.cuh"
#include "arch/warps.cuh"
#include "arch/cooperation.cuh"
#include "arch/marked_words.cuh"
#include "arch/cluster.cuh"
#include "plan.h"
#include "element.cuh"
#include "block.cuh"
#include "share.cuh"

#if defined(PATTERN_CLUSTER_0)
#define PATTERN_CLUSTERS CLUSTERS_OF(PATTERN_CLUSTER_0)
constexpr int cluster = has_clusters ? PATTERN_CLUSTER_0 : 1;
#else
#define PATTERN_CLUSTERS
constexpr int cluster = 1;
#endif

#if !PLAN_EACH_ALONE
constexpr int words = sizeof(Item) > 8 ? 2 : 1; // of an item

#if defined(PATTERN_CLUSTER_0)
struct Shared {
    alignas(16) Item place[warps];
    Mailbox mailbox; // of the first block of a cluster, and all its blocks' results:
    unsigned long long results[cluster][words];
};
static_assert(sizeof(Shared) <= plan::shared_bytes, "the host gives as much shared memory");
#endif

__device__ __forceinline__ void to_words(const Item &item, unsigned long long (&value)[words]) {
    value[words - 1] = 0;
    memcpy(value, &item, sizeof item);
}
__device__ __forceinline__ Item from_words(const unsigned long long (&value)[words]) {
    Item item;
    memcpy(&item, value, sizeof item);
    return item;
}

__device__ __forceinline__ void publish_item(MarkedWord *to, unsigned long long tag,
                                             const Item &item) {
    unsigned long long value[words];
    to_words(item, value);
#pragma unroll
    for (int w = 0; w < words; ++w)
        publish(to + w, tag, value[w]);
}
#else
constexpr int words = 1; // of an item

__device__ __forceinline__ void publish_item(MarkedWord *to, unsigned long long tag,
                                             const Item &item) {
    publish(to, tag, item);
}
#endif

// Joins the results of the blocks before the last one, whose own thread 0 has.
#if PLAN_EACH_ALONE
__device__ __forceinline__ Item join_all(const Arguments &arguments, Item own, int last,
                                         Item *place) {
    const int block = static_cast<int>(threadIdx.x); // the one that the thread waits for
    Item others = none();
    if (block < last) {
        MarkedWord *const at = static_cast<MarkedWord *>(arguments.partials) + block;
        MarkedWord seen = look_at(at);
        for (; seen.mark != arguments.tag; seen = look_at(at))
            wait_a_moment();
        erase(at);
        memcpy(&others, &seen.value, sizeof others);
    }
    __syncthreads(); // the places of the warps are free again
    return combine(arguments, reduce_block(arguments, others, place), own);
}
#else
constexpr int most_partials = plan::blocks / cluster - 1; // that the last block waits for
// So many of them a lane of the first warp takes alone; of more all threads take their part.
constexpr int of_a_lane = 4 / words;

// What a thread waits for: `run` partials in all, in the order of the blocks where the order counts, else
// side by side with those of its neighbours.
struct Part {
    int rank, group, run, last;
    __device__ __forceinline__ bool has(int n) const {
        return n < run && number(n) < last;
    }
    __device__ __forceinline__ int number(int n) const {
        return plan::ordered != 0 ? rank * run + n : n * group + rank;
    }
};

// Waits for partials n … n + count − 1 of the part, of which there is one at least, and joins them to
// `mine` in order. All are asked for at once, and all again as long as one was not there: an answer
// takes as long as all of them. In place of those that are not the part's it looks at its first
// again, which no other thread erases.
template <int count>
__device__ __forceinline__ Item await_partials(const Arguments &arguments, Item mine,
                                               const Part &part, int n) {
    MarkedWord *const partials = static_cast<MarkedWord *>(arguments.partials);
    MarkedWord *at[count];
#pragma unroll
    for (int i = 0; i < count; ++i)
        at[i] = partials + part.number(part.has(n + i) ? n + i : n) * words;
    MarkedWord seen[count][words];
    for (;;) {
#pragma unroll
        for (int i = 0; i < count; ++i)
#pragma unroll
            for (int w = 0; w < words; ++w)
                seen[i][w] = look_at(at[i] + w);
        bool all = true;
#pragma unroll
        for (int i = 0; i < count; ++i)
#pragma unroll
            for (int w = 0; w < words; ++w)
                all = all && seen[i][w].mark == arguments.tag;
        if (all)
            break;
        wait_a_moment();
    }
#pragma unroll
    for (int i = 0; i < count; ++i) {
        if (!part.has(n + i))
            continue;
        unsigned long long value[words];
#pragma unroll
        for (int w = 0; w < words; ++w) {
            erase(at[i] + w);
            value[w] = seen[i][w].value;
        }
        mine = combine(arguments, mine, from_words(value));
    }
    return mine;
}

// Those of the first `group` threads for all partials.
template <int group, bool one = false>
__device__ __forceinline__ Item await_all(const Arguments &arguments, int last) {
    constexpr int most = most_partials > group && !one ? (most_partials - 1) / group + 1 : 1;
    constexpr int count = most < of_a_lane ? most : of_a_lane;
    const int run = one ? 1 : (last - 1) / group + 1;
    const Part part = {static_cast<int>(threadIdx.x), group, run, last};
    Item others = none();
    for (int n = 0; n < (count < most ? run : 1) && part.has(n); n += count)
        others = await_partials<count>(arguments, others, part, n);
    return others;
}

// The first warp does it alone where the blocks are few: then no barrier follows the last result.
__device__ __forceinline__ Item join_all(const Arguments &arguments, Item own, int last,
                                         Item *place) {
    Item others;
    if (most_partials <= of_a_lane * warp_size || last <= of_a_lane * warp_size) {
        if (warp() != 0)
            return own;
        others = last <= warp_size ? await_all<warp_size, true>(arguments, last)
                                   : await_all<warp_size>(arguments, last);
        others = reduce_warp(arguments, others);
    } else {
        others = await_all<plan::threads>(arguments, last);
        __syncthreads(); // the places of the warps are free again
        others = reduce_block(arguments, others, place);
    }
    return combine(arguments, others, own);
}
#endif

#if defined(PATTERN_CLUSTER_0)
// The results of a cluster's blocks, of which thread 0 has its own; thread 0 of the first block gets all.
__device__ __forceinline__ Item gather_cluster(const Arguments &arguments, Item own,
                                               Shared &shared) {
    const int thread = static_cast<int>(threadIdx.x);
    const int rank = static_cast<int>(blockIdx.x) % cluster;
    cluster_begun();
    if (thread == 0) {
        unsigned long long value[words];
        to_words(own, value);
#pragma unroll
        for (int w = 0; w < words; ++w)
            send_to_first(&shared.results[rank][w], &shared.mailbox, value[w]);
    }
    if (rank != 0 || thread >= warp_size)
        return own;
    Item mine = none(); // of the first warp's lanes one a block, in order
    if (thread < cluster) {
        await_mailbox(&shared.mailbox);
        mine = from_words(shared.results[thread]);
    }
    return reduce_warp<cluster>(arguments, mine);
}
#endif

// Of a whole list, where the order does not count: the packs go to the threads of all blocks in turn.
//
//     |  pack  |  pack  |  pack  | … | tail |
//        t0       t1       t2
template <bool aligned>
__device__ __forceinline__ Item join_packs(const Arguments &arguments, Index rank, Index width) {
    const Index high = arguments.count / pack; // whole packs
    Item sum[pack];
#pragma unroll
    for (int k = 0; k < pack; ++k)
        sum[k] = none();
    if (high * pack + rank < arguments.count)
        sum[1] = item_at(arguments, high * pack + rank);
    Index p = rank;
    for (; p + packs * width < high; p += packs * width) {
        Elements from[packs];
#pragma unroll
        for (int i = 0; i < packs; ++i)
            from[i] = read_elements<aligned>(arguments, p + i * width);
#pragma unroll
        for (int k = 0; k < pack; ++k)
#pragma unroll
            for (int i = 0; i < packs; ++i)
                sum[k] = combine(arguments, sum[k], item_of(arguments, from[i], p + i * width, k));
    }
    // The last round, also where it is a full one: all of it is in flight before any is joined.
    const Index most = packs * width; // threads of all blocks are below 2^26, packs below 32
    const int step = static_cast<int>(width);
    const int left = static_cast<int>(high - p < most ? high - p : most);
    Elements from[packs];
#pragma unroll
    for (int i = 0; i < packs; ++i)
        if (i * step < left)
            from[i] = read_elements<aligned>(arguments, p + i * step);
#pragma unroll
    for (int i = 0; i < packs; ++i)
        if (i * step < left) {
            one_by_one();
#pragma unroll
            for (int k = 0; k < pack; ++k)
                sum[k] = combine(arguments, sum[k], item_of(arguments, from[i], p + i * step, k));
        }
    return join_halves(arguments, sum);
}

// All of a list that the threads of all blocks take at once, which is short: indices of 32 bits, and no
// more before the first load than it needs. The same operations in the same order as join_packs.
__device__ __forceinline__ Item join_at_once(const Arguments &arguments, unsigned rank,
                                             unsigned width) {
    const unsigned count = static_cast<unsigned>(arguments.count), high = count / pack;
    Elements from[packs];
    Item sum[pack];
#pragma unroll
    for (int i = 0; i < packs; ++i)
        if (rank + i * width < high)
            from[i] = read_elements<true>(arguments, rank + i * width);
#pragma unroll
    for (int k = 0; k < pack; ++k)
        sum[k] = none();
    if (high * pack + rank < count)
        sum[1] = item_at(arguments, high * pack + rank);
#pragma unroll
    for (int i = 0; i < packs; ++i)
        if (rank + i * width < high) {
            one_by_one();
#pragma unroll
            for (int k = 0; k < pack; ++k)
                sum[k] =
                    combine(arguments, sum[k], item_of(arguments, from[i], rank + i * width, k));
        }
    return join_halves(arguments, sum);
}

extern "C" __global__ void PATTERN_CLUSTERS __launch_bounds__(plan::threads, plan::resident)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    await_launch_before();
#if defined(PATTERN_CLUSTER_0)
    Shared &shared = *reinterpret_cast<Shared *>(shared_bytes());
    Item *const place = shared.place;
    const bool alone = arguments.count <= plan::threads * plan::share;
    const bool together = cluster > 1 && !alone;
    if (alone && blockIdx.x > 0)
        return;
    if (together) {
        if (threadIdx.x == 0 && blockIdx.x % cluster == 0)
            open_mailbox(&shared.mailbox, sizeof shared.results);
        cluster_begin();
    }
    const unsigned width = (alone ? 1 : gridDim.x) * plan::threads;
#else
    Item *const place = reinterpret_cast<Item *>(shared_bytes());
    const unsigned width = gridDim.x * plan::threads;
#endif
    const unsigned rank = blockIdx.x * plan::threads + threadIdx.x;
#if PLAN_ORDERED
    Item total = is_aligned(arguments)
                     ? join_runs<true>(arguments, 0, arguments.count, rank, width)
                     : join_runs<false>(arguments, 0, arguments.count, rank, width);
#elif PLAN_AT_ONCE
    const bool aligned = is_aligned(arguments);
    Item total = __builtin_expect(aligned && arguments.count <= Index(width * plan::items), true)
                     ? join_at_once(arguments, rank, width)
                 : aligned ? join_packs<true>(arguments, rank, width)
                           : join_packs<false>(arguments, rank, width);
#else
    Item total = is_aligned(arguments) ? join_packs<true>(arguments, rank, width)
                                       : join_packs<false>(arguments, rank, width);
#endif
    total = reduce_block(arguments, total, place);
#if defined(PATTERN_CLUSTER_0)
    if (together) {
        total = gather_cluster(arguments, total, shared);
        if (blockIdx.x % cluster != 0) // the first block of a cluster goes on
            return;
    }
    const int block = static_cast<int>(blockIdx.x) / cluster;
    const int last = alone ? 0 : static_cast<int>(gridDim.x) / cluster - 1;
#else
    const int block = static_cast<int>(blockIdx.x), last = static_cast<int>(gridDim.x) - 1;
#endif
    if (block != last) {
        if (threadIdx.x == 0)
            publish_item(static_cast<MarkedWord *>(arguments.partials) + block * words,
                         arguments.tag, total);
        return;
    }
    if (last > 0)
        total = join_all(arguments, total, last, place);
    if (threadIdx.x == 0)
#if PLAN_PLACES
        store_item(arguments, 0, total);
#else
        *arguments.result = total;
#endif
}
