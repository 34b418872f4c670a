#pragma once
#include "cooperation.cuh"

// A word that blocks publish with a mark, never 0, in memory that nobody prepares. The value counts only
// with the mark that is waited for: both are one access, or the value is stored first.
struct alignas(16) MarkedWord { unsigned long long mark, value; };

// A mark for this moment, from a multiprocessor's cycles and its number: another one in each of the
// launches that follow one another with one tag, and never the tag.
__device__ __forceinline__ unsigned long long new_mark(unsigned long long tag) {
    unsigned multiprocessor;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    return tag + (clock64() * 1024ull + multiprocessor + 1) * 0x9E3779B97F4A7C15ull;
}

__device__ __forceinline__ void publish(MarkedWord *to, const MarkedWord &word) {
#if __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1203 // the type b128
    asm volatile("{ .reg .b128 w; mov.b128 w, {%1, %2}; st.relaxed.gpu.global.b128 [%0], w; }"
                 ::"l"(__cvta_generic_to_global(to)), "l"(word.mark), "l"(word.value) : "memory");
#else
    asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(&to->value), "l"(word.value) : "memory");
    asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(&to->mark), "l"(word.mark) : "memory");
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

__device__ __forceinline__ void erase(MarkedWord *at) { publish(at, {0, 0}); }
