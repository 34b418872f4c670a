#pragma once

// The shared memory of a block: as much as the launch gives.
#if defined(SG_CPU)
static inline unsigned char *shared_bytes() {
    return sg_cpu_shared();
}
#else
extern __shared__ __align__(128) unsigned char dynamic_shared[];
__device__ __forceinline__ unsigned char *shared_bytes() {
    return dynamic_shared;
}
#endif
