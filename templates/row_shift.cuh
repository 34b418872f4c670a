// Rows that begin anywhere in a pack of 16 bytes, of which registers hold elements of two packs.
#pragma once

// How far into a pack a row begins.
template <class T> __device__ __forceinline__ int place_in_pack(const T *row) {
    return static_cast<int>(static_cast<unsigned>(reinterpret_cast<unsigned long long>(row)) /
                            sizeof(T) % (16 / sizeof(T)));
}
// Element i + `by` becomes element i. `by` is less than `most`, a power of two.
template <int most, class T, int count>
__device__ __forceinline__ void shift_down(T (&value)[count], int by) {
#pragma unroll
    for (int bit = 1; bit < most; bit *= 2)
#pragma unroll
        for (int i = 0; i + bit < count; ++i)
            value[i] = by & bit ? value[i + bit] : value[i];
}
