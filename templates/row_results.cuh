// What rows are made into, and cells of rows that stay as they are.
#pragma once
#include "grid.cuh"

using Cell = Stored<Array<0>>;

// The results of a run.
struct Results {
    alignas(64) Cell of[plan::outputs][plan::run];
};

template <int output = 0>
__device__ __forceinline__ void put_result(Results &results, Index i, const Outputs &out) {
    if constexpr (output < plan::outputs) {
        results.of[output][i] = out[output];
        put_result<output + 1>(results, i, out);
    }
}

template <int output = 0>
__device__ __forceinline__ void store_results(const Arguments &a, const Point &first,
                                              const Results &results, int begin, int count,
                                              bool past) {
    if constexpr (output < plan::outputs) {
        const Grid &to = a.grid[Output<output>::grid];
        store_row(to.data + offset(to, first.x, first.y, first.z), results.of[output] + begin,
                  count, past);
        store_results<output + 1>(a, first, results, begin, count, past);
    }
}

// Cells of a row that the boundary keeps.
__device__ __forceinline__ void keep_row(const Arguments &a, Index x, Index end, Index y, Index z) {
    for (; x < end; ++x)
        keep(a, {x, y, z});
}

__device__ __forceinline__ Index least(Index a, Index b) {
    return a < b ? a : b;
}
__device__ __forceinline__ Index most(Index a, Index b) {
    return a < b ? b : a;
}

__device__ __forceinline__ int smaller(int a, int b) {
    return a < b ? a : b;
}
__device__ __forceinline__ int larger(int a, int b) {
    return a < b ? b : a;
}
