#pragma once

// Before a loop over a row, of which no turn needs another: where a processor runs this text, its
// compiler makes vectors of it.
#define FOR_A_ROW

// Before a loop of a few turns, each of which is written out.
#define UNROLLED _Pragma("unroll")

// Whether arrays of so many bytes in all do not stay in the caches of a processor from one launch
// to the next. A GPU's stores are the same either way.
__device__ __forceinline__ bool past_caches(Index) { return false; }

// Writes a part of a row.
template <class T> __device__ __forceinline__ void store_row(T *to, const T *row, int count, bool) {
    for (int i = 0; i < count; ++i)
        to[i] = row[i];
}
