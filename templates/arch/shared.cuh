#pragma once

// The shared memory of a block: as much as the launch gives.
extern __shared__ __align__(128) unsigned char dynamic_shared[];
__device__ __forceinline__ unsigned char *shared_bytes() { return dynamic_shared; }
