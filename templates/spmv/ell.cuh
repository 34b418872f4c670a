// ell: as many places for every row as the longest one needs; the k-th of all rows stand together,
// so that the threads of a warp, a row each, read neighbours.
//
//     column  k=0 [1 0 2 4]     row 0: (1, a) (4, b)
//             k=1 [4 2 − −]     row 1: (0, c) (2, d) (3, e)
//             k=2 [− 3 − −]     − is column −1: no entry, and none of the row behind it
//
// The entries of a row stand by column: what all rows have first lies in the first columns of a
// matrix whose rows reach all over it. So a product may take several `passes`, each over a part of
// the places, in order that the part of x that is read at a time is small enough for the caches.
template <int batch, int cache, int passes, int pass>
__device__ __forceinline__ void ell_row(const Arguments &a) {
    const Index row = thread_index();
    if (row >= a.rows)
        return;
    Sums sums;
    const Index end = a.width * (pass + 1) / passes;
    for (Index k = a.width * pass / passes; k < end; k += batch)
        if (add_places<batch, cache>(a, k * a.rows + row, a.rows, end - k, sums) < 0)
            break;
    if (pass == 0)
        sums.store(a, row);
    else
        sums.add_to(a, row);
}
