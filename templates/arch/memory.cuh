#pragma once

using Index = long long; // grids and offsets may exceed 2^31 elements

// Elements that cross the memory bus together: one load or store instruction of up to 16 bytes.
template <class T, int count> struct alignas(sizeof(T) * count) Pack { T element[count]; };

// A word that one instruction loads or stores, by its bytes.
template <int bytes> struct BitsOf { using type = unsigned; };
template <> struct BitsOf<8> { using type = uint2; };
template <> struct BitsOf<16> { using type = uint4; };

// Loads what nothing writes while the kernel runs; compilers may move such loads.
template <class T> __device__ __forceinline__ T load(const T *from) { return __ldg(from); }

// Loads a pack that nothing writes while the kernel runs.
template <class T, int count>
__device__ __forceinline__ Pack<T, count> load_pack(const Pack<T, count> *from) {
    using Bits = typename BitsOf<sizeof(*from)>::type;
    const Bits bits = __ldg(reinterpret_cast<const Bits *>(from));
    return reinterpret_cast<const Pack<T, count> &>(bits);
}

// Hides how a number was computed, so that the compiler does not compute it anew at every use.
template <class T> __device__ __forceinline__ T opaque(T number) {
    if constexpr (sizeof(T) == 8)
        asm("" : "+l"(number));
    else
        asm("" : "+r"(number));
    return number;
}

// Hides how an offset was computed.
__device__ __forceinline__ Index opaque_offset(Index number) {
    asm("" : "+l"(number));
    return number;
}

// Hides how an address was computed. Only for loads: compilers do not know any more that it is global.
template <class T> __device__ __forceinline__ T *opaque_address(T *address) {
    asm("" : "+l"(address));
    return address;
}

// A number of arithmetic, computed here: compilers move what only a branch uses into it.
__device__ __forceinline__ float computed(float x) { asm volatile("" : "+f"(x)); return x; }
__device__ __forceinline__ double computed(double x) { asm volatile("" : "+d"(x)); return x; }

// Some number, which nobody uses: no instruction makes it.
template <class T> __device__ __forceinline__ T unused();
template <> __device__ __forceinline__ float unused() { float x; asm("" : "=f"(x)); return x; }
template <> __device__ __forceinline__ double unused() { double x; asm("" : "=d"(x)); return x; }

// Hides a number, and tests of it stay where they are: hoisted out of a loop, each would keep a register.
template <class T> __device__ __forceinline__ T pinned(T number) {
    static_assert(sizeof(T) == 4, "one register");
    asm volatile("" : "+r"(number));
    return number;
}
