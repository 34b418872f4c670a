#pragma once

// How the blocks of a cluster work together. What differs between GPUs and the host stands here, as in
// common.cuh, which comes before this file.
//
// From sm_90 on so many blocks may be resident at a time on neighbouring multiprocessors and send
// words to each other's shared memory, where a `Mailbox` counts the bytes that have come: no
// barrier, no fence and no way through the L2.
//
//     first block        open_mailbox    cluster_begin             await_mailbox    its words
//     every block                        cluster_begin  cluster_begun    send_to_first
//
// A block's shared memory is there from its beginning to its end. So nobody sends before all have
// begun, and the first block does not end before all words have come; the others may end at once.
// The cpu device has no clusters: there each block is by itself, and none of this is called.

#if defined(SG_CPU) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900)
[[maybe_unused]] constexpr bool has_clusters = false;
#define SG_CLUSTERS_OF(blocks)
#else
[[maybe_unused]] constexpr bool has_clusters = true;
#define SG_CLUSTERS_OF(blocks) __cluster_dims__(blocks, 1, 1)
#endif
#if !defined(SG_CPU) && __CUDA_ARCH__ >= 900
#define SG_CLUSTER_CODE(...) __VA_ARGS__
#else
#define SG_CLUSTER_CODE(...)
#endif

using Mailbox = unsigned long long; // a barrier in shared memory

// By one thread of the first block, for so many bytes in all.
__device__ __forceinline__ void open_mailbox([[maybe_unused]] Mailbox *box,
                                             [[maybe_unused]] unsigned bytes) {
    SG_CLUSTER_CODE(const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(box));
                    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\t"
                                 "fence.mbarrier_init.release.cluster;\n\t"
                                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at),
                                 "r"(bytes)
                                 : "memory");)
}

// By all threads of all blocks, in this order.
__device__ __forceinline__ void cluster_begin() {
    SG_CLUSTER_CODE(asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");)
}
__device__ __forceinline__ void cluster_begun() {
    SG_CLUSTER_CODE(asm volatile("barrier.cluster.wait.acquire;" ::: "memory");)
}

// A word to where `to` is in the shared memory of the first block.
__device__ __forceinline__ void send_to_first([[maybe_unused]] unsigned long long *to,
                                              [[maybe_unused]] Mailbox *box,
                                              [[maybe_unused]] unsigned long long value) {
    SG_CLUSTER_CODE(const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
                    const unsigned near = static_cast<unsigned>(__cvta_generic_to_shared(box));
                    asm volatile("{\n\t.reg .u32 there, box;\n\t"
                                 "mapa.shared::cluster.u32 there, %0, 0;\n\t"
                                 "mapa.shared::cluster.u32 box, %1, 0;\n\t"
                                 "st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 "
                                 "[there], %2, [box];\n\t}" ::"r"(at),
                                 "r"(near), "l"(value)
                                 : "memory");)
}

// By every thread of the first block that reads what came.
__device__ __forceinline__ void await_mailbox([[maybe_unused]] Mailbox *box) {
    SG_CLUSTER_CODE(const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(box));
                    unsigned complete;
                    do asm volatile("{\n\t.reg .pred complete;\n\t"
                                    "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
                                    "complete, [%1], 0;\n\t"
                                    "selp.u32 %0, 1, 0, complete;\n\t}"
                                    : "=r"(complete)
                                    : "r"(at)
                                    : "memory");
                    while (complete == 0);)
}
