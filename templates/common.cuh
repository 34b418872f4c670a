// What differs between GPUs and the host: shared memory, and operations whose meaning must be
// the same everywhere. Everything above this file is written once for all architectures.

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

using Index = long long; // grids and offsets may exceed 2^31 elements

// Unlike fmin and fmax, these give NaN when either operand is NaN.
template <class T> __device__ __forceinline__ T minimum(T a, T b) {
    return a < b || a != a ? a : b;
}
template <class T> __device__ __forceinline__ T maximum(T a, T b) {
    return a > b || a != a ? a : b;
}

// Elements that cross the memory bus together: one load or store instruction of up to 16 bytes.
template <class T, int count> struct alignas(sizeof(T) * count) Pack {
    T element[count];
};
