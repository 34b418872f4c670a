// one-pass: a list of any length in one launch. Each block reduces its share and publishes the result
// with the launch's tag beside it; the last block by number waits for all of them and joins them in
// the order of the blocks. Shares and order depend on the length alone: every run gives the same
// bits. A single block has nobody to wait for.
//
//     blocks     0 1 2 3 0 1 2 3 0 1 …        packs to the threads of all blocks in turn,
//                0 0 0 1 1 1 2 2 2 …          or consecutive shares where the order counts
//     partials   tag p0 | tag p1 | tag p2     block 3 waits for these and joins its own
//
// No memory is set before the launch, and what is published is erased as it is read: words of this
// tag exist only while the launch runs, whatever was in the memory before, and also where a CUDA
// graph launches with the same tag again.
//
// The one block that waits has the highest number. All others end without waiting for anybody; so
// they get their turn, in whatever order blocks begin, as soon as the device has room for one block
// beside the one that waits. Launches that run at the same time have one such block each; those
// cannot fill the device between them as long as blocks begin in the order of their numbers, as
// they do on all GPUs known, because then all others have begun when the one that waits begins. The
// cpu device hands out blocks in that order.
//
// Blocks may come in clusters. Those of one send their results to the shared memory of the first,
// which goes on alone, as a single block would. What one block can take at once it takes alone.
#include "common.cuh"
#include "cooperation.cuh"
#include "cluster.cuh"
#include "plan.h"
#include "element.cuh"
#include "block.cuh"
#include "share.cuh"

#if defined(PATTERN_CLUSTER_0)
#define CLUSTERS SG_CLUSTERS_OF(PATTERN_CLUSTER_0)
constexpr bool clustered = true;
constexpr int cluster = has_clusters ? PATTERN_CLUSTER_0 : 1;
#else
#define CLUSTERS
constexpr bool clustered = false;
constexpr int cluster = 1;
#endif

constexpr int words = sizeof(Item) > 8 ? 2 : 1; // of an item
static_assert(sizeof(Item) <= 8 * words, "an item fits into its words");

struct Shared {
    Item place[warps];
    Item own; // of the last block, where the order counts
    Mailbox mailbox; // of the first block of a cluster, and all its blocks' results:
    unsigned long long results[cluster][words];
};
static_assert(sizeof(Shared) <= plan::shared_bytes, "the host gives as much shared memory");

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
        publish(to + w, {tag, value[w]});
}

// Waits for the partials first … end − 1 and joins them to `mine` in order. Several are asked for
// at once, because each answer takes as long as all of them; those that were not there yet, again.
__device__ __forceinline__ Item join_partials(const Arguments &arguments, Item mine, int first,
                                              int end) {
    constexpr int most = (plan::blocks - 1) / plan::threads + 1; // of a thread
    constexpr int at_once = most < 4 ? most : 4;
    MarkedWord *const partials = static_cast<MarkedWord *>(arguments.partials);
    for (int base = first; base < end; base += at_once) {
        MarkedWord word[at_once][words];
#pragma unroll
        for (int i = 0; i < at_once; ++i)
#pragma unroll
            for (int w = 0; w < words; ++w)
                if (base + i < end)
                    word[i][w] = look_at(partials + (base + i) * words + w);
#pragma unroll
        for (int i = 0; i < at_once; ++i) {
            if (base + i >= end)
                break;
            unsigned long long value[words];
#pragma unroll
            for (int w = 0; w < words; ++w) {
                MarkedWord *const at = partials + (base + i) * words + w;
                while (word[i][w].mark != arguments.tag) {
                    wait_a_moment();
                    word[i][w] = look_at(at);
                }
                erase(at);
                value[w] = word[i][w].value;
            }
            mine = join(arguments, mine, from_words(value));
        }
    }
    return mine;
}

// All that the last block has to do with the partials; its threads' own items are `mine`. Where the
// operator commutes they join partials to their own items, and one tree serves both. Thread 0 has
// the result.
__device__ __forceinline__ Item join_all(const Arguments &arguments, Item mine, int last,
                                         Shared &shared) {
    const int thread = static_cast<int>(threadIdx.x);
    const int run = (plan::ordered != 0 ? last : last - 1) / plan::threads + 1;
    const int first = thread * run, end = first + run < last ? first + run : last;
    if constexpr (plan::ordered != 0) {
        const Item own = reduce_block(arguments, mine, shared.place);
        if (thread == 0)
            shared.own = own;
        __syncthreads(); // it is there; and the places of the warps are free again
        mine = join_partials(arguments, Kind::none(), first, end);
        if (first <= last && last < first + run)
            mine = join(arguments, mine, shared.own);
    } else {
        mine = join_partials(arguments, mine, first, end);
    }
    return reduce_block(arguments, mine, shared.place);
}

// The results of a cluster's blocks, one for each thread from the first on, in order; the first
// block has them.
__device__ __forceinline__ Item gather_cluster(const Arguments &arguments, Item mine,
                                               Shared &shared) {
    const int thread = static_cast<int>(threadIdx.x);
    const int rank = static_cast<int>(blockIdx.x) % cluster;
    const Item total = reduce_block(arguments, mine, shared.place);
    cluster_begun();
    if (thread == 0) {
        unsigned long long value[words];
        to_words(total, value);
#pragma unroll
        for (int w = 0; w < words; ++w)
            send_to_first(&shared.results[rank][w], &shared.mailbox, value[w]);
    }
    if (rank != 0 || thread >= cluster)
        return Kind::none();
    await_mailbox(&shared.mailbox);
    return from_words(shared.results[thread]);
}

__device__ __forceinline__ Item join_elements(const Arguments &arguments, Index rank, Index width) {
    return is_aligned(arguments)
               ? join_share<true, true>(arguments, 0, arguments.count, rank, width)
               : join_share<false, true>(arguments, 0, arguments.count, rank, width);
}

extern "C" __global__ void CLUSTERS __launch_bounds__(plan::threads, plan::resident)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    Shared &shared = *reinterpret_cast<Shared *>(shared_bytes());
    const bool alone = clustered && arguments.count <= plan::threads * plan::share;
    const bool together = cluster > 1 && !alone;
    if (alone && blockIdx.x > 0)
        return;
    if (together) {
        if (threadIdx.x == 0 && blockIdx.x % cluster == 0)
            open_mailbox(&shared.mailbox, sizeof shared.results);
        cluster_begin();
    }
    const Index width = alone ? plan::threads : static_cast<Index>(gridDim.x) * plan::threads;
    const Index rank = static_cast<Index>(blockIdx.x) * plan::threads + threadIdx.x;
    Item mine = join_elements(arguments, rank, width);
    if (together) {
        mine = gather_cluster(arguments, mine, shared);
        if (blockIdx.x % cluster != 0)
            return;
    }
    // A block that is left is a cluster's first, if there are clusters, with items in its first warp.
    const int block = static_cast<int>(blockIdx.x) / cluster;
    const int last = alone ? 0 : static_cast<int>(gridDim.x) / cluster - 1;
    Item total;
    if (block == last && last > 0) {
        if (together)
            __syncthreads(); // the places of the warps are free again
        total = join_all(arguments, mine, last, shared);
    } else {
        total = together ? reduce_warp<cluster>(arguments, mine)
                         : reduce_block(arguments, mine, shared.place);
    }
    if (threadIdx.x == 0) {
        if (block == last)
            Kind::store(arguments, 0, total);
        else
            publish_item(static_cast<MarkedWord *>(arguments.partials) + block * words,
                         arguments.tag, total);
    }
}
