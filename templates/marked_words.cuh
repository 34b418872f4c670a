#pragma once
#include "cooperation.cuh"

// Words between blocks in memory that nobody has prepared.
//
// Temporary memory holds anything when a launch begins. A value is published with a mark of the
// launch beside it, and a reader takes it when it finds the mark: no memory is set before the
// launch, and no fence orders value and mark, because both are one access of 16 bytes.
//
//     | mark | value |       a value of 16 bytes takes two of these, each with the mark
//
// The mark follows from the tag, which no other launch has, so that what lay there before passes
// for a value of this launch with a chance of 2^-62. A launch that is replayed (a CUDA graph) has
// the same tag again, and between two replays anything may happen to any part of the memory, also
// nothing. Therefore either a word is erased by whoever was the last to need it, and has seen it
// there itself, in the launch that wrote it; or its mark is made from the tag and the moment of the
// launch (mark_of, this_moment), which one block tells the others by words of the first kind.
//
// From sm_70 on a load or store of the type b128 is a single access (PTX ISA 8.3, which CUDA 12.3
// is the first to have; vectors of two words are not: the memory consistency model takes each
// element for itself). Else the value is stored before the mark, by release and acquire.

#if !defined(SG_CPU) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1203
#define SG_WIDE_WORDS
#endif

struct alignas(16) MarkedWord {
    unsigned long long mark, value;
};

// Never the tag itself. For one tag no two moments have the same; for two tags a chance of 2^-64.
__device__ __forceinline__ unsigned long long mark_of(unsigned long long tag,
                                                      unsigned long long moment) {
    return tag + (moment + 1) * 0x9E3779B97F4A7C15ull;
}

// Another number in each of the launches that follow one another: the cycles that a multiprocessor has
// counted, which never are fewer than before (PTX ISA, %clock64), beside the number of that
// multiprocessor, so that it does not matter on which of them a launch asks. 2^54 cycles are more
// than three months. On the host a count of the questions.
__device__ __forceinline__ unsigned long long this_moment() {
#if defined(SG_CPU)
    static unsigned long long moments;
    return __atomic_fetch_add(&moments, 1ull, __ATOMIC_RELAXED);
#else
    unsigned multiprocessor;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    return static_cast<unsigned long long>(clock64()) * 1024 + multiprocessor;
#endif
}

__device__ __forceinline__ void publish(MarkedWord *to, const MarkedWord &word) {
#if defined(SG_WIDE_WORDS)
    asm volatile("{\n\t.reg .b128 word;\n\t"
                 "mov.b128 word, {%1, %2};\n\t"
                 "st.relaxed.gpu.global.b128 [%0], word;\n\t}" ::"l"(__cvta_generic_to_global(to)),
                 "l"(word.mark), "l"(word.value)
                 : "memory");
#else
    store_relaxed(&to->value, word.value);
    store_release(&to->mark, word.mark);
#endif
}

// What is there: the value counts only if the mark is the one that is waited for.
__device__ __forceinline__ MarkedWord look_at(const MarkedWord *from) {
    MarkedWord word;
#if defined(SG_WIDE_WORDS)
    asm volatile("{\n\t.reg .b128 word;\n\t"
                 "ld.relaxed.gpu.global.b128 word, [%2];\n\t"
                 "mov.b128 {%0, %1}, word;\n\t}"
                 : "=l"(word.mark), "=l"(word.value)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
#else
    word.mark = load_acquire(&from->mark);
    word.value = load_relaxed(&from->value);
#endif
    return word;
}

// No launch takes what is there for its own, as no tag is 0. Once nobody waits for it any more. By an
// access as wide as the one that it follows: two that overlap in part are a race by the memory model.
__device__ __forceinline__ void erase(MarkedWord *at) {
#if defined(SG_WIDE_WORDS)
    publish(at, {0, 0});
#else
    store_relaxed(&at->mark, 0ull);
#endif
}
