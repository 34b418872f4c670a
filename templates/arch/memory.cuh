#pragma once

using Index = long long; // grids and offsets may exceed 2^31 elements

// Elements that cross the memory bus together: one load or store instruction of up to 16 bytes.
template <class T, int count> struct alignas(sizeof(T) * count) Pack { T element[count]; };

// Reads memory that nothing writes while the kernel runs: compilers may move such reads, which take
// the read-only path of the first-level cache.
template <class T> __device__ __forceinline__ T load(const T *from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "one load instruction");
    T to;
    if constexpr (sizeof(T) == 16)
        *reinterpret_cast<uint4 *>(&to) = __ldg(reinterpret_cast<const uint4 *>(from));
    else if constexpr (sizeof(T) == 8)
        *reinterpret_cast<uint2 *>(&to) = __ldg(reinterpret_cast<const uint2 *>(from));
    else
        *reinterpret_cast<unsigned *>(&to) = __ldg(reinterpret_cast<const unsigned *>(from));
    return to;
}

// Hides how a number was computed, so that the compiler does not compute it anew at every use.
template <class T> __device__ __forceinline__ T opaque(T number) {
    if constexpr (sizeof(T) == 8)
        asm("" : "+l"(number));
    else
        asm("" : "+r"(number));
    return number;
}

// The same, and tests of it stay where they are: hoisted out of a loop, each would keep a register.
template <class T> __device__ __forceinline__ T pinned(T number) {
    static_assert(sizeof(T) == 4, "one register");
    asm volatile("" : "+r"(number));
    return number;
}
