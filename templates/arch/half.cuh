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
};
using Half = Narrow<HalfFormat>;
