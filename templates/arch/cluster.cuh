#pragma once

// Blocks of a cluster send words to the shared memory of the first, where a `Mailbox` counts the
// bytes that have come:
//
//     first block        open_mailbox    cluster_begin             await_mailbox    its words
//     every block                        cluster_begin  cluster_begun    send_to_first
//
// Nobody sends before all have begun; the first block ends after all words have come.

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
[[maybe_unused]] constexpr bool has_clusters = true;
#define CLUSTERS_OF(blocks) __cluster_dims__(blocks, 1, 1)
#else
[[maybe_unused]] constexpr bool has_clusters = false;
#define CLUSTERS_OF(blocks)
#endif

using Mailbox = unsigned long long; // a barrier in shared memory

// By one thread of the first block, for so many bytes in all.
__device__ __forceinline__ void open_mailbox([[maybe_unused]] Mailbox *box,
                                             [[maybe_unused]] unsigned bytes) {
#if __CUDA_ARCH__ >= 900
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(box));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\t"
                 "fence.mbarrier_init.release.cluster;\n\t"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at),
                 "r"(bytes)
                 : "memory");
#endif
}

// By all threads of all blocks, in this order.
__device__ __forceinline__ void cluster_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
#endif
}
__device__ __forceinline__ void cluster_begun() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
#endif
}

// A word to where `to` is in the shared memory of the first block.
__device__ __forceinline__ void send_to_first([[maybe_unused]] unsigned long long *to,
                                              [[maybe_unused]] Mailbox *box,
                                              [[maybe_unused]] unsigned long long value) {
#if __CUDA_ARCH__ >= 900
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(to));
    const unsigned near = static_cast<unsigned>(__cvta_generic_to_shared(box));
    asm volatile("{\n\t.reg .u32 there, box;\n\t"
                 "mapa.shared::cluster.u32 there, %0, 0;\n\t"
                 "mapa.shared::cluster.u32 box, %1, 0;\n\t"
                 "st.async.shared::cluster.mbarrier::complete_tx::bytes.u64 "
                 "[there], %2, [box];\n\t}" ::"r"(at),
                 "r"(near), "l"(value)
                 : "memory");
#endif
}

// By every thread of the first block that reads what came.
__device__ __forceinline__ void await_mailbox([[maybe_unused]] Mailbox *box) {
#if __CUDA_ARCH__ >= 900
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(box));
    unsigned complete;
    do
        asm volatile("{\n\t.reg .pred complete;\n\t"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 "
                     "complete, [%1], 0;\n\t"
                     "selp.u32 %0, 1, 0, complete;\n\t}"
                     : "=r"(complete)
                     : "r"(at)
                     : "memory");
    while (complete == 0);
#endif
}
