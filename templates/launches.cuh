#pragma once
#include "common.cuh"

// How launches overlap.
//
// One that may begin early (base/program.h) does so once every block of the launch before it has
// said `next_may_begin`, or has ended. In it `await_launch_before` waits until all blocks of that
// have ended, and what they wrote is seen. Elsewhere launches run one after another, and neither
// does anything.
//
// The first launch of a program that may begin early touches no global memory before it has waited,
// for it does not know what the one before it wrote. Its blocks end after that, so that what
// follows finds the same as if it had not begun early. It does not say `next_may_begin`: the
// blocks of the next would take the room that its own need, and one that follows it, and
// looks at memory before it waits, may count on all before it having ended.
//
// What is read after waiting is not read by `load`, whose memory nothing writes while the kernel
// runs: the compiler moves such reads to before a wait (seen with NVRTC 13.0). load_behind stays
// behind it.

#if !defined(SG_CPU) && __CUDA_ARCH__ >= 900
#define SG_EARLY_LAUNCHES
#endif

__device__ __forceinline__ void next_may_begin() {
#if defined(SG_EARLY_LAUNCHES)
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
__device__ __forceinline__ void await_launch_before() {
#if defined(SG_EARLY_LAUNCHES)
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <class T> __device__ __forceinline__ T load_behind(const T *from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "one load instruction");
#if defined(SG_CPU)
    return *from;
#else
    unsigned word[sizeof(T) / 4];
    const auto at = __cvta_generic_to_global(from);
    if constexpr (sizeof(T) == 16)
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                     : "l"(at));
    else if constexpr (sizeof(T) == 8)
        asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "l"(at));
    else
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(word[0]) : "l"(at));
    T to;
    memcpy(&to, word, sizeof to);
    return to;
#endif
}
