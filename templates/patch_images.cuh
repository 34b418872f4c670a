// Cells beyond the sides of x and y that stand for others (images.cuh), in what a thread sees of a plane:
// they are copied in registers before its sums take them.

template <int side, unsigned places>
__device__ __forceinline__ void copy_rows(Rows &row, unsigned here) {
    if (here == 0)
        return;
#pragma unroll
    for (int r = 0; r < rows; ++r)
#pragma unroll
        for (int k = 1; k <= beyond_side<1, side>; ++k) {
            const int to = side == 0 ? r - k : r + k;
            const int image = !mirrors<1, side> ? r : side == 0 ? r + k : r - k;
            if ((places >> r & 1) && to >= 0 && to < rows && image >= 0 && image < rows) {
#pragma unroll
                for (int e = 0; e < columns; ++e)
                    if (plan::corners || (e >= plan::low_x && e < plan::low_x + plan::lane_x))
                        row[to][e] = (here >> r & 1) ? row[image][e] : row[to][e];
            }
        }
}
template <Care care>
__device__ __forceinline__ void copy_beyond_x(const KeptBits &bits, Rows &row) {
#pragma unroll
    for (int r = 0; r < rows; ++r)
        if (plan::corners || (r >= plan::low_y && r < plan::low_y + plan::lane_y)) {
            if (plan::images && copies<0, 0> && Ends<care>::first_column != 0)
                copy_columns<0, Ends<care>::first_column>(row[r], bits.first_column);
            if (plan::images && copies<0, 1> && Ends<care>::last_column != 0)
                copy_columns<1, Ends<care>::last_column>(row[r], bits.last_column);
        }
}

// Whether rows that warps of this kind see may stand for others.
template <Care care>
constexpr bool has_row_images =
    plan::images && ((copies<1, 0> && Ends<care>::first_row != 0) ||
                     (copies<1, 1> && Ends<care>::last_row != 0));

template <Care care>
__device__ __forceinline__ void copy_beyond_y(const KeptBits &bits, Rows &row) {
    if (plan::images && copies<1, 0> && Ends<care>::first_row != 0)
        copy_rows<0, Ends<care>::first_row>(row, bits.first_row);
    if (plan::images && copies<1, 1> && Ends<care>::last_row != 0)
        copy_rows<1, Ends<care>::last_row>(row, bits.last_row);
}
