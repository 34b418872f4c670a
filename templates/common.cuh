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

// The infinite number above all others. Written as products, of which no compiler warns.
template <class T> __device__ __forceinline__ T infinity() {
    T huge = T(1e38);
    for (int i = 0; i < 4; ++i)
        huge *= huge;
    return huge;
}

// The absolute value of a whole number.
template <class T> __device__ __forceinline__ T magnitude(T a) {
    return a < 0 ? -a : a;
}

// Elements that cross the memory bus together: one load or store instruction of up to 16 bytes.
template <class T, int count> struct alignas(sizeof(T) * count) Pack { T element[count]; };

// Reads memory that nothing writes while the kernel runs, which leaves the order of such reads to
// the compiler and takes the read-only path of the first-level cache.
template <class T> __device__ __forceinline__ T load(const T *from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "one load instruction");
#if defined(SG_CPU)
    return *from;
#else
    T to;
    if constexpr (sizeof(T) == 16)
        *reinterpret_cast<uint4 *>(&to) = __ldg(reinterpret_cast<const uint4 *>(from));
    else if constexpr (sizeof(T) == 8)
        *reinterpret_cast<uint2 *>(&to) = __ldg(reinterpret_cast<const uint2 *>(from));
    else
        *reinterpret_cast<unsigned *>(&to) = __ldg(reinterpret_cast<const unsigned *>(from));
    return to;
#endif
}

// Hides how an offset was computed, so that what is added to it later stays an addition: the
// compiler would otherwise multiply coordinates and strides anew for every tap.
__device__ __forceinline__ Index opaque(Index offset) {
#if !defined(SG_CPU)
    asm("" : "+l"(offset));
#endif
    return offset;
}
