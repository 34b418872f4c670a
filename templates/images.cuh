// Images: cells beyond an edge that have the values of cells inside after every step (`clamp`,
// `mirror`). Levels that are partial sums meet them in two ways:
//
// - Across the walk: whoever sees such a cell next to one of the grid's own sees the cell inside as
//   well. So it is copied in registers, before the row is used (copy_columns).
// - Along the walk: a row that stands for others adds to the sums of those that see these, too
//   (add_images).
//
// Where a side is mirrored, the shape reaches as far inwards as outwards, and all images are in the
// grid: others have other kernels.

// How far the shape reaches over a side, and whether images lie there.
template <int axis, int side>
constexpr int beyond_side = side == 0 ? (axis == 0   ? plan::low_x
                                         : axis == 1 ? plan::low_y
                                                     : plan::low_z)
                                      : (axis == 0   ? plan::high_x
                                         : axis == 1 ? plan::high_y
                                                     : plan::high_z);
template <int axis, int side> constexpr bool mirrors =
    beyond_side<axis, side> > 0 && Edge<axis, side>::kind == Boundary::mirror;
template <int axis, int side> constexpr bool copies =
    mirrors<axis, side> || (beyond_side<axis, side> > 0 &&
                            Edge<axis, side>::kind == Boundary::clamp);

// ---- across the walk --------------------------------------------------------------------------

// A thread's `lane` points of a row (or column) and the `low` and `high` ones next to them that it sees.
// The places in that where an edge's own cell may be, so that the thread has a point inside and sees
// one beyond: a bit each, where the cell is number `position` of the tile, and of any position.
template <int side>
__device__ constexpr unsigned any_place(int lane, int low, int high) {
    const int first = side == 0 ? 1 : low, end = low + lane + (side == 0 ? 0 : high - 1);
    static_assert(sizeof(unsigned) == 4, "a bit for each place");
    return end > first ? (~0u >> (32 - (end - first))) << first : 0;
}
template <int side>
__device__ constexpr unsigned places_of(int position, int lane, int low, int high) {
    unsigned bits = 0;
    for (int at = position % lane + low - lane; at < low + lane + high; at += lane)
        if (at >= 0)
            bits |= 1u << at;
    return bits & any_place<side>(lane, low, high);
}
// The bit of the edge's own cell, `at` from the first that the thread sees; 0: it is none of them.
__device__ __forceinline__ unsigned place_bit(Index at) {
    return at >= 0 && at < 32 ? 1u << at : 0;
}

// Copies the cells beyond a side, where the edge's own cell is at `here`, one of `places`.
template <int side, unsigned places, int count>
__device__ __forceinline__ void copy_columns(Real (&row)[count], unsigned here) {
#pragma unroll
    for (int e = 0; e < count; ++e)
#pragma unroll
        for (int k = 1; k <= beyond_side<0, side>; ++k) {
            const int to = side == 0 ? e - k : e + k;
            const int image = !mirrors<0, side> ? e : side == 0 ? e + k : e - k;
            if ((places >> e & 1) && to >= 0 && to < count && image >= 0 && image < count)
                row[to] = (here >> e & 1) ? row[image] : row[to];
        }
}

// ---- along the walk ---------------------------------------------------------------------------

// What the row adds that it stands for: `shift` sums lie between the sum of a row that sees the image
// and the one that would gain as much by the row itself.
template <int shift, int depth, class At>
__device__ __forceinline__ void add_image(const At &at, const Arguments &a, Real (&sum)[1][depth]) {
    Real moved[1][depth];
#pragma unroll
    for (int k = 0; k < depth; ++k)
        moved[0][k] = k >= shift && k < depth + shift ? sum[0][k - shift] : Real(0);
    add_plane(at, a, moved);
#pragma unroll
    for (int k = 0; k < depth; ++k)
        if (k + shift >= 0 && k + shift < depth)
            sum[0][k] = moved[0][k + shift];
}
template <int side, int k, int depth, class At>
__device__ __forceinline__ void add_images_of(const At &at, const Arguments &a, Index inwards,
                                              Real (&sum)[1][depth]) {
    if constexpr (copies<2, side> && k <= beyond_side<2, side>) {
        constexpr int apart = mirrors<2, side> ? 2 * k : k;
        if (inwards == (mirrors<2, side> ? k : 0))
            add_image<side == 0 ? apart : -apart>(at, a, sum);
        add_images_of<side, k + 1>(at, a, inwards, sum);
    }
}

// Whether row `i` needs the function below: it is the first one, stands for others, or lies behind the last.
template <int axis> __device__ __forceinline__ bool has_images(Index i, Index size) {
    constexpr int first = mirrors<axis, 0> ? beyond_side<axis, 0> : 0;
    constexpr int last = mirrors<axis, 1> ? beyond_side<axis, 1> : 0;
    return (copies<axis, 0> && i >= 0 && i <= first) || (copies<axis, 1> && i >= size - 1 - last);
}

// What a row (or plane) adds to the sums: itself; itself and what stands for rows beyond; before the first row
// of the grid, the level before alone, with which a wave's sums begin; nothing behind the last one.
enum class Adds { itself, images_too, level_before, nothing };

// What row `i` of the grid adds to the sums: for itself, if it lies inside, and for the rows beyond
// that it stands for, as `of_image` reads it. The first row finds sums of rows that are none, unless sums
// have begun before it.
template <bool begun, int depth, class At, class OfImage>
__device__ __forceinline__ void add_row_and_images(const At &at, const OfImage &of_image,
                                                   const Arguments &a, Index i, Real (&sum)[1][depth]) {
    Real before[1][depth];
#pragma unroll
    for (int k = 0; k < depth; ++k) {
        if (!begun && copies<2, 0> && i == 0)
            sum[0][k] = 0;
        before[0][k] = sum[0][k];
    }
    add_plane(at, a, sum);
    add_images_of<0, 1>(of_image, a, i, sum);
    add_images_of<1, 1>(of_image, a, a.size[2] - 1 - i, sum);
#pragma unroll
    for (int k = 0; k < depth; ++k)
        if (copies<2, 1> && i >= a.size[2])
            sum[0][k] = before[0][k];
}
