// Formats whose rows have places for entries, used or not: what ell, hyb and sell share.

// `batch` places of a row, `apart` places from one to the next, whose columns and values are all on
// their way at once, and then their entries of x. Where the row has fewer than that `left`, or the
// matrix no entry (column −1), what stands there counts for nothing. Column of the last place.
template <int batch, int cache>
__device__ __forceinline__ Integer add_places(const Arguments &a, Index at, Index apart, Index left,
                                              Sums &sums) {
    Integer column[batch];
    Value value[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k) {
        column[k] = -1;
        value[k] = 0;
        if (k < left) {
            column[k] = load_matrix<cache>(a.column + at + k * apart);
            value[k] = load_matrix<cache>(a.value + at + k * apart);
        }
    }
#pragma unroll
    for (int v = 0; v < plan::vectors; ++v) {
        Real x[batch];
#pragma unroll
        for (int k = 0; k < batch; ++k)
            x[k] = column[k] >= 0 ? load_x<cache>(a, column[k], v) : Real(0);
#pragma unroll
        for (int k = 0; k < batch; ++k)
            if (column[k] >= 0)
                sums.of[v] += static_cast<Real>(value[k]) * x[k];
    }
    return column[batch - 1];
}
