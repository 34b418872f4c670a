#pragma once
#include "memory.cuh"

// Writes memory that is read much later or never: the caches evict it first.
template <class T> __device__ __forceinline__ void store_once(T *to, const T &from) {
    if constexpr (sizeof(T) == 16)
        __stcs(reinterpret_cast<uint4 *>(to), reinterpret_cast<const uint4 &>(from));
    else
        __stcs(to, from);
}

// Stores a pack that is read much later or never: the caches evict it first.
template <class T, int count>
__device__ __forceinline__ void store_pack_once(Pack<T, count> *to, const Pack<T, count> &from) {
    using Bits = typename BitsOf<sizeof(from)>::type;
    __stcs(reinterpret_cast<Bits *>(to), reinterpret_cast<const Bits &>(from));
}

// Brings a line into the second-level cache, for a load that comes later.
template <class T> __device__ __forceinline__ void fetch(const T *from) { asm volatile("prefetch.global.L2 [%0];" ::"l"(from)); }

// The same of a line that others read again before long: the cache evicts it last.
template <class T> __device__ __forceinline__ void fetch_kept(const T *from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(from));
#else
    fetch(from);
#endif
}

// `first`, moved by count times so many bytes in one instruction.
template <class T> __device__ __forceinline__ T *multiply_add(int count, int bytes, T *first) {
    T *to;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(to) : "r"(count), "r"(bytes), "l"(first));
    return to;
}

// Whether all lanes of a warp say so, of those that have not ended. A host's threads answer for
// themselves.
__device__ __forceinline__ bool lanes_agree(bool vote) {
    return __all_sync(__activemask(), vote) != 0;
}
