#pragma once
#include "cooperation.cuh"

// What blocks publish in memory that nobody prepares. A value counts only with the mark that is waited for, never 0:
// both are one access, or the value is stored first.
struct alignas(16) MarkedWord { unsigned long long mark, value; };

// A mark of this moment, by a multiprocessor's cycles and number: another one in each launch with the same tag.
__device__ __forceinline__ unsigned long long new_mark(unsigned long long tag) {
    unsigned multiprocessor;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    return tag + (clock64() * 1024ull + multiprocessor + 1) * 0x9E3779B97F4A7C15ull;
}

template <class T> __device__ __forceinline__ void publish(MarkedWord *to, unsigned long long mark, const T &value) {
    unsigned long long bits = 0;
    memcpy(&bits, &value, sizeof value);
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1203 // the type b128
    asm volatile("{ .reg .b128 w; mov.b128 w, {%1, %2}; st.relaxed.gpu.global.b128 [%0], w; }"
                 ::"l"(__cvta_generic_to_global(to)), "l"(mark), "l"(bits) : "memory");
#else
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(&to->value), "l"(bits) : "memory");
    asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(&to->mark), "l"(mark) : "memory");
#endif
}

__device__ __forceinline__ MarkedWord look_at(const MarkedWord *from) {
    MarkedWord word;
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1203 // the type b128
    asm volatile("{ .reg .b128 w; ld.relaxed.gpu.global.b128 w, [%2]; mov.b128 {%0, %1}, w; }"
                 : "=l"(word.mark), "=l"(word.value) : "l"(__cvta_generic_to_global(from)) : "memory");
#else
    asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(word.mark) : "l"(&from->mark) : "memory");
    asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word.value) : "l"(&from->value) : "memory");
#endif
    return word;
}

__device__ __forceinline__ void erase(MarkedWord *at) { publish(at, 0, 0); }
