#pragma once
#include "memory.cuh"

// A number that has 16 bits in memory, and is a float for all arithmetic.
template <class Format> struct Narrow {
    unsigned short bits;
    Narrow() = default;
    __device__ __forceinline__ Narrow(float number) : bits(Format::narrowed(number)) {
    }
    __device__ __forceinline__ operator float() const {
        return Format::widened(bits);
    }
};

template <class Format> __device__ __forceinline__ float load(const Narrow<Format> *from) {
    return Format::widened(__ldg(reinterpret_cast<const unsigned short *>(from)));
}
template <class Format, int count>
__device__ __forceinline__ Pack<float, count> load_pack(const Pack<Narrow<Format>, count> *from) {
    using Bits = typename BitsOf<sizeof(*from)>::type;
    const Bits bits = __ldg(reinterpret_cast<const Bits *>(from));
    Pack<Narrow<Format>, count> narrow;
    memcpy(&narrow, &bits, sizeof bits);
    Pack<float, count> pack;
#pragma unroll
    for (int i = 0; i < count; ++i)
        pack.element[i] = narrow.element[i];
    return pack;
}

// Loads that stay behind the wait for the launch before; see launches.cuh.
template <class Format> __device__ __forceinline__ float load_behind(const Narrow<Format> *from) {
    unsigned short bits;
    asm volatile("ld.global.u16 %0, [%1];" : "=h"(bits) : "l"(__cvta_generic_to_global(from)));
    return Format::widened(bits);
}
template <class Format, int count>
__device__ __forceinline__ Pack<float, count> load_behind(const Pack<Narrow<Format>, count> *from) {
    static_assert(sizeof(*from) == 8, "one load instruction");
    unsigned word[2];
    asm volatile("ld.global.v2.u32 {%0, %1}, [%2];"
                 : "=r"(word[0]), "=r"(word[1])
                 : "l"(__cvta_generic_to_global(from)));
    Pack<Narrow<Format>, count> narrow;
    memcpy(&narrow, word, sizeof narrow);
    Pack<float, count> pack;
#pragma unroll
    for (int i = 0; i < count; ++i)
        pack.element[i] = narrow.element[i];
    return pack;
}

// The word of so many numbers.
template <class Cell, int count>
__device__ __forceinline__ typename BitsOf<sizeof(Pack<Cell, count>)>::type
narrowed(const Pack<float, count> &pack) {
    Pack<Cell, count> narrow;
#pragma unroll
    for (int i = 0; i < count; ++i)
        narrow.element[i] = pack.element[i];
    typename BitsOf<sizeof narrow>::type bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits;
}

// Stores a pack where its first number goes.
template <class Cell, int count>
__device__ __forceinline__ void store_narrowed(Cell *to, const Pack<float, count> &pack) {
    const auto bits = narrowed<Cell>(pack);
    *reinterpret_cast<decltype(narrowed<Cell>(pack)) *>(to) = bits;
}

// The same of what is read much later or never: the caches evict it first.
template <class Format> __device__ __forceinline__ void store_once(Narrow<Format> *to, float from) {
    __stcs(reinterpret_cast<unsigned short *>(to), Format::narrowed(from));
}
template <class Cell, int count>
__device__ __forceinline__ void store_narrowed_once(Cell *to, const Pack<float, count> &pack) {
    const auto bits = narrowed<Cell>(pack);
    __stcs(reinterpret_cast<decltype(narrowed<Cell>(pack)) *>(to), bits);
}
