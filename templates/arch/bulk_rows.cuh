#pragma once
#include "async.cuh"

// Slots of shared memory that one warp fills and reads. One of its lanes asks for rows of memory,
// whose addresses and bytes are multiples of 16, and the copies complete the slot's mbarrier.
template <int slots> struct RowSlots {
    unsigned filled;
    static constexpr int bytes = 8 * slots; // of the mbarriers

    __device__ __forceinline__ explicit RowSlots(void *words_of_8_bytes)
        : filled(static_cast<unsigned>(__cvta_generic_to_shared(words_of_8_bytes))) {}
    // By one thread of the block, before a barrier of all.
    __device__ __forceinline__ void begin() const {
        for (int i = 0; i < slots; ++i)
            asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(filled + 8 * i));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    // By one lane: so many bytes will come; a row of them.
    __device__ __forceinline__ void expect(int slot, int bytes) const {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(filled + 8 * slot),
                     "r"(bytes)
                     : "memory");
    }
    // The same where lanes fill a part of the slot.
    __device__ __forceinline__ void expect_more(int slot, int bytes) const {
        asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(filled +
                                                                                      8 * slot),
                     "r"(bytes)
                     : "memory");
    }
    template <class T>
    __device__ __forceinline__ void copy(int slot, SharedAt<T> to, const T *from,
                                         int elements) const {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], %2, [%3];" ::"r"(to.at),
                     "l"(from), "r"(elements * static_cast<int>(sizeof(T))), "r"(filled + 8 * slot)
                     : "memory");
    }
    // By all lanes, instead: what they wrote and copies that they began fill the slot.
    __device__ __forceinline__ void will_be_filled(int slot) const {
        asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(filled + 8 * slot)
                     : "memory");
        __syncwarp();
        if (threadIdx.x % 32 == 0)
            asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(filled + 8 * slot)
                         : "memory");
    }
    // By all lanes: until the slot is full. `odd`: it was full an odd number of times before.
    __device__ __forceinline__ void await(int slot, int odd) const {
        asm volatile("{\n\t.reg .pred done;\n"
                     "again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n\t"
                     "@!done bra again;\n\t}" ::"r"(filled + 8 * slot),
                     "r"(odd)
                     : "memory");
    }
};

// Rows from shared memory to memory, by one lane; addresses and bytes are multiples of 16. Lanes say
// that they have written, before a barrier of those and the one that asks.
__device__ __forceinline__ void row_is_written() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
template <class T>
__device__ __forceinline__ void store_row_async(T *to, SharedAt<T> from, int elements) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(from.at), "r"(elements * static_cast<int>(sizeof(T)))
                 : "memory");
}
__device__ __forceinline__ void row_stores_commit() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
// Until shared memory has been read; until all is in memory.
__device__ __forceinline__ void row_stores_read() {
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}
__device__ __forceinline__ void row_stores_wait() {
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
