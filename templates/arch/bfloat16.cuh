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
};
using Bfloat16 = Narrow<Bfloat16Format>;
