// What all kernels of y = alpha·A·x + beta·y share: a thread's sums, one for each right-hand side,
// and how they go to y. plan.h says what A is: `Value`, the dtype of its elements, and `Integer`,
// that of its indices. A sum is made in `Real`, the dtype of x and y; alpha(a) and beta(a) are
// Reals.

// The block's place among the threads along x.
__device__ __forceinline__ Index thread_index() {
    return static_cast<Index>(blockIdx.x) * plan::threads + threadIdx.x;
}

// For each right-hand side x is as long as A is wide, and y as long as A is high.
__device__ __forceinline__ Real x_at(const Arguments &a, Index column, int vector) {
    return load(a.x + vector * a.columns + column);
}

// The same, by a schedule's number `cache`: how a matrix that is read once goes through the caches, and
// whether x is to stay there: 1 as it comes, 2 and 3 the matrix leaves first, 4 and 5 x stays as well.
template <int cache, class T> __device__ __forceinline__ T load_matrix(const T *from) {
    constexpr Cached ways[] = {Cached::as_it_comes, Cached::as_it_comes, Cached::once, Cached::past,
                               Cached::once, Cached::past};
    return load_as<ways[cache]>(from);
}
template <int cache, class T> __device__ __forceinline__ T load_of_x(const T *from) {
    return load_as<(cache >= 4 ? Cached::stay : Cached::as_it_comes)>(from);
}
template <int cache>
__device__ __forceinline__ Real load_x(const Arguments &a, Index column, int vector) {
    return load_of_x<cache>(a.x + vector * a.columns + column);
}

// With beta = 0 what y holds counts for nothing, not even a NaN.
__device__ __forceinline__ void store_sum(const Arguments &a, Index row, int vector, Real sum) {
    Real *const y = a.y + vector * a.rows + row;
    const Real product = alpha(a) * sum, factor = beta(a);
    const Real result = factor == 0 ? product : product + factor * *y;
    store_once(y, result);
}

// Adds to a row that has been stored before.
__device__ __forceinline__ void add_sum(const Arguments &a, Index row, int vector, Real sum) {
    a.y[vector * a.rows + row] += alpha(a) * sum;
}

// The sums of one row.
struct Sums {
    Real of[plan::vectors];

    __device__ __forceinline__ Sums() {
#pragma unroll
        for (int v = 0; v < plan::vectors; ++v)
            of[v] = 0;
    }
    __device__ __forceinline__ void add(const Arguments &a, Value value, Index column) {
#pragma unroll
        for (int v = 0; v < plan::vectors; ++v)
            of[v] += static_cast<Real>(value) * x_at(a, column, v);
    }
    __device__ __forceinline__ void store(const Arguments &a, Index row) const {
#pragma unroll
        for (int v = 0; v < plan::vectors; ++v)
            store_sum(a, row, v, of[v]);
    }
    // To a row that has been stored before.
    __device__ __forceinline__ void add_to(const Arguments &a, Index row) const {
#pragma unroll
        for (int v = 0; v < plan::vectors; ++v)
            add_sum(a, row, v, of[v]);
    }
};
