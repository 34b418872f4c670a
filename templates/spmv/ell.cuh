// ell: as many places for every row as the longest one needs; the k-th of all rows stand together,
// so that the threads of a warp, a row each, read neighbours.
//
//     column  k=0 [1 0 2 4]     row 0: (1, a) (4, b)
//             k=1 [4 2 − −]     row 1: (0, c) (2, d) (3, e)
//             k=2 [− 3 − −]     − is column −1: no entry
__device__ __forceinline__ void ell_row(const Arguments &a) {
    const Index row = thread_index();
    if (row >= a.rows)
        return;
    Sums sums;
    for (Index at = row, k = 0; k < a.width; ++k, at += a.rows) {
        const Integer column = load(a.column + at);
        if (column >= 0)
            sums.add(a, load(a.value + at), column);
    }
    sums.store(a, row);
}
