#pragma once

// A block's warps are launched with the same number of registers. Groups of four that need few keep `kept`
// of theirs, and the others of the block take over the rest. Code for whole families of GPUs has no such
// instruction: nvcc needs -arch=sm_90a.
template <int kept> __device__ __forceinline__ void hand_registers_over() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kept));
#endif
}
template <int count> __device__ __forceinline__ void take_registers_over() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(count));
#endif
}
