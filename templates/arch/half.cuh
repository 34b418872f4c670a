#pragma once
#include "narrow.cuh"

// IEEE 754 binary16.
struct HalfFormat {
    static __device__ __forceinline__ unsigned short narrowed(float number) {
        unsigned short bits;
        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(number));
        return bits;
    }
    static __device__ __forceinline__ float widened(unsigned short bits) {
        float number;
        asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"(bits));
        return number;
    }
    // The numbers of a word of two; the word of two numbers.
    static __device__ __forceinline__ float low_of(unsigned word) {
        float number;
        asm("{\n\t.reg .b16 low, high;\n\tmov.b32 {low, high}, %1;\n\tcvt.f32.f16 %0, low;\n\t}"
            : "=f"(number)
            : "r"(word));
        return number;
    }
    static __device__ __forceinline__ float high_of(unsigned word) {
        float number;
        asm("{\n\t.reg .b16 low, high;\n\tmov.b32 {low, high}, %1;\n\tcvt.f32.f16 %0, high;\n\t}"
            : "=f"(number)
            : "r"(word));
        return number;
    }
    static __device__ __forceinline__ unsigned both(float low, float high) {
#if __CUDA_ARCH__ >= 800
        unsigned word;
        asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
        return word;
#else
        return narrowed(low) | unsigned(narrowed(high)) << 16;
#endif
    }
};
using Half = Narrow<HalfFormat>;
