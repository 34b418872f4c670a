#pragma once

// What differs between GPUs and the host, as far as every kernel uses it. All such things stand in the
// headers that templates include before their plan; what comes after that is written once for all
// architectures.

using Index = long long; // grids and offsets may exceed 2^31 elements

// Elements that cross the memory bus together: one load or store instruction of up to 16 bytes.
template <class T, int count> struct alignas(sizeof(T) * count) Pack { T element[count]; };

// Reads memory that nothing writes while the kernel runs, which leaves the order of such reads to
// the compiler and takes the read-only path of the first-level cache.
template <class T> __device__ __forceinline__ T load(const T *from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "one load instruction");
#if defined(SG_CPU)
    return *from;
#else
    T to;
    if constexpr (sizeof(T) == 16)
        *reinterpret_cast<uint4 *>(&to) = __ldg(reinterpret_cast<const uint4 *>(from));
    else if constexpr (sizeof(T) == 8)
        *reinterpret_cast<uint2 *>(&to) = __ldg(reinterpret_cast<const uint2 *>(from));
    else
        *reinterpret_cast<unsigned *>(&to) = __ldg(reinterpret_cast<const unsigned *>(from));
    return to;
#endif
}

// Hides how a number was computed: of an offset, so that what is added to it later stays an
// addition, where the compiler would otherwise multiply coordinates and strides anew for every tap;
// of what is computed once, so that it is not computed anew at every use.
template <class T> __device__ __forceinline__ T opaque(T number) {
#if !defined(SG_CPU)
    if constexpr (sizeof(T) == 8)
        asm("" : "+l"(number));
    else
        asm("" : "+r"(number));
#endif
    return number;
}
__device__ __forceinline__ int opaque(int offset) {
#if !defined(SG_CPU)
    asm("" : "+r"(offset));
#endif
    return offset;
}
