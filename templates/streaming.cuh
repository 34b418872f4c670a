#pragma once

// For kernels that go through memory once: what the caches are told, and addresses.

// Writes memory that is not read before much else is: the caches let go of it first.
template <class T> __device__ __forceinline__ void store_once(T *to, const T &from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "one store instruction");
#if defined(SG_CPU)
    *to = from;
#else
    if constexpr (sizeof(T) == 16)
        __stcs(reinterpret_cast<uint4 *>(to), *reinterpret_cast<const uint4 *>(&from));
    else if constexpr (sizeof(T) == 8)
        __stcs(reinterpret_cast<uint2 *>(to), *reinterpret_cast<const uint2 *>(&from));
    else
        __stcs(reinterpret_cast<unsigned *>(to), *reinterpret_cast<const unsigned *>(&from));
#endif
}

// Asks for what will be loaded later, so that it comes from the second-level cache by then.
template <class T> __device__ __forceinline__ void fetch([[maybe_unused]] const T *from) {
#if !defined(SG_CPU)
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
#endif
}

// `count` times so many bytes further on: one multiply-add of 32 bits by 32, which compilers make
// three of where they hoist the extension of its factors.
template <class T> __device__ __forceinline__ T *multiply_add(int count, int bytes, T *first) {
#if defined(SG_CPU)
    return first + static_cast<Index>(count) * (bytes / int(sizeof(T)));
#else
    T *to;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(to) : "r"(count), "r"(bytes), "l"(first));
    return to;
#endif
}
