#pragma once

// The shared memory of a block: as much as the launch gives.
extern __shared__ __align__(128) unsigned char dynamic_shared[];
__device__ __forceinline__ unsigned char *shared_bytes() { return dynamic_shared; }
// The same, where it is found once: compilers find shared_bytes() anew at every use.
__device__ __forceinline__ unsigned char *found_shared() {
    unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(dynamic_shared));
    asm("" : "+r"(at));
    return static_cast<unsigned char *>(__cvta_shared_to_generic(at));
}
