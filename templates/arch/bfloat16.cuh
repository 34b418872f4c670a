#pragma once
#include "narrow.cuh"

// The upper half of a float.
struct Bfloat16Format {
    static __device__ __forceinline__ unsigned short narrowed(float number) {
#if __CUDA_ARCH__ >= 800
        unsigned short bits;
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(number));
        return bits;
#else
        const unsigned word = __float_as_uint(number);
        const unsigned rounded = (word + 0x7fff + (word >> 16 & 1)) >> 16;
        return number != number ? 0x7fff : static_cast<unsigned short>(rounded);
#endif
    }
    static __device__ __forceinline__ float widened(unsigned short bits) {
        return __uint_as_float(static_cast<unsigned>(bits) << 16);
    }
    // The numbers of a word of two; the word of two numbers.
    static __device__ __forceinline__ float low_of(unsigned word) {
        return __uint_as_float(word << 16);
    }
    static __device__ __forceinline__ float high_of(unsigned word) {
        return __uint_as_float(word & 0xffff0000u);
    }
    static __device__ __forceinline__ unsigned both(float low, float high) {
#if __CUDA_ARCH__ >= 800
        unsigned word;
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
        return word;
#else
        return narrowed(low) | unsigned(narrowed(high)) << 16;
#endif
    }
};
using Bfloat16 = Narrow<Bfloat16Format>;
