#pragma once

// How launches overlap.
//
// One that may begin early (base/program.h) does so once every block of the launch before it has
// said `next_may_begin`, or has ended. In it `await_launch_before` waits until all blocks of that
// have ended, and what they wrote is seen. Elsewhere launches run one after another, and neither
// does anything.

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
