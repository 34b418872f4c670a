#pragma once

// Writes memory that is not read before much else is: the caches let go of it first.
template <class T> __device__ __forceinline__ void store_once(T *to, const T &from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "one store instruction");
    if constexpr (sizeof(T) == 16)
        __stcs(reinterpret_cast<uint4 *>(to), *reinterpret_cast<const uint4 *>(&from));
    else if constexpr (sizeof(T) == 8)
        __stcs(reinterpret_cast<uint2 *>(to), *reinterpret_cast<const uint2 *>(&from));
    else
        __stcs(reinterpret_cast<unsigned *>(to), *reinterpret_cast<const unsigned *>(&from));
}

// Asks for what will be loaded later, so that it comes from the second-level cache by then.
template <class T> __device__ __forceinline__ void fetch(const T *from) {
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
}

// `count` times so many bytes further on, by one instruction.
template <class T> __device__ __forceinline__ T *multiply_add(int count, int bytes, T *first) {
    T *to;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(to) : "r"(count), "r"(bytes), "l"(first));
    return to;
}
