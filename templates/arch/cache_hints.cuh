#pragma once
#include "memory.cuh"
#include "numbers.cuh"

// A load with a hint to the caches. `once`: both evict the line first. `past`: the first-level cache
// does not keep it. `stay`: the second-level cache keeps it as long as it can. GPUs before sm_80
// have no such hints.
enum class Cached { as_it_comes = 1, once, past, stay };

template <Cached way, class Word>
__device__ __forceinline__ Word load_word_as(const Word *from, unsigned long long policy) {
    Word to;
    if constexpr (sizeof(Word) == 8 && way == Cached::once)
        asm("ld.global.nc.L1::evict_first.L2::cache_hint.b64 %0, [%1], %2;"
            : "=l"(to)
            : "l"(from), "l"(policy));
    else if constexpr (sizeof(Word) == 8 && way == Cached::past)
        asm("ld.global.nc.L1::no_allocate.L2::cache_hint.b64 %0, [%1], %2;"
            : "=l"(to)
            : "l"(from), "l"(policy));
    else if constexpr (sizeof(Word) == 8)
        asm("ld.global.nc.L2::cache_hint.b64 %0, [%1], %2;" : "=l"(to) : "l"(from), "l"(policy));
    else if constexpr (way == Cached::once)
        asm("ld.global.nc.L1::evict_first.L2::cache_hint.b32 %0, [%1], %2;"
            : "=r"(to)
            : "l"(from), "l"(policy));
    else if constexpr (way == Cached::past)
        asm("ld.global.nc.L1::no_allocate.L2::cache_hint.b32 %0, [%1], %2;"
            : "=r"(to)
            : "l"(from), "l"(policy));
    else
        asm("ld.global.nc.L2::cache_hint.b32 %0, [%1], %2;" : "=r"(to) : "l"(from), "l"(policy));
    return to;
}

template <Cached way>
__device__ __forceinline__ uint4 load_word_as(const uint4 *from, unsigned long long policy) {
    uint4 to;
    if constexpr (way == Cached::once)
        asm("ld.global.nc.L1::evict_first.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
            : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
            : "l"(from), "l"(policy));
    else if constexpr (way == Cached::past)
        asm("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
            : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
            : "l"(from), "l"(policy));
    else
        asm("ld.global.nc.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
            : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
            : "l"(from), "l"(policy));
    return to;
}

template <int bytes> struct LoadedAs { using type = typename WordOf<bytes>::type; };
template <> struct LoadedAs<16> { using type = uint4; };

template <Cached way, class T> __device__ __forceinline__ T load_as(const T *from) {
    using Bits = typename LoadedAs<sizeof(T)>::type;
    const Bits *const at = reinterpret_cast<const Bits *>(from);
#if __CUDA_ARCH__ >= 800
    if constexpr (way != Cached::as_it_comes) {
        unsigned long long policy;
        if constexpr (way == Cached::stay)
            asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
        else
            asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
        const Bits bits = load_word_as<way>(at, policy);
        return reinterpret_cast<const T &>(bits);
    }
#endif
    const Bits bits = __ldg(at);
    return reinterpret_cast<const T &>(bits);
}
