// Which cells of a tile of patches a boundary keeps or copies, and what a block must see to because of
// that.

// The cells from `first` on that a side of the grid keeps, in a grid of this size: the outermost
// inside for `fixed`, the next outside for a value. Those next outside are images of others for
// `clamp` and `mirror`. What lies beyond them does not matter.
struct Kept {
    Index first;
    int count;
    __device__ constexpr bool has(Index i) const { return i >= first && i < first + count; }
};
template <int axis, int side> __device__ constexpr Kept kept_by(Index size, int reach) {
    constexpr Boundary kind = Edge<axis, side>::kind;
    const bool inside = kind == Boundary::fixed;
    return {side == 0 ? (inside ? 0 : -reach) : (inside ? size - reach : size),
            kind == Boundary::periodic ? 0 : reach};
}
template <int axis> __device__ constexpr bool keeps_at(Index i, Index size, int low, int high) {
    return (!(plan::images && copies<axis, 0>) && kept_by<axis, 0>(size, low).has(i)) ||
           (!(plan::images && copies<axis, 1>) && kept_by<axis, 1>(size, high).has(i));
}

// Which of a patch's columns (rows) one side keeps, a bit each, where the tile's first output point
// is the grid's first, its last one the grid's last.
template <int axis, int side>
__device__ constexpr unsigned aligned_bits(int halo, int output, int lane, int reach) {
    const Kept kept = kept_by<axis, side>(output, reach);
    unsigned bits = 0;
    for (int i = 0; i < kept.count && !(plan::images && copies<axis, side>); ++i)
        bits |= 1u << (halo + int(kept.first) + i) % lane;
    return bits;
}

// Of the patch, a bit each; and where in what the thread sees of a row, or of a column, the grid's
// first and last cell is.
struct KeptBits {
    unsigned columns, rows;
    unsigned first_column, last_column, first_row, last_row;
};

// What a warp must see to in its patches: nothing; cells that one side of x, or those of x and y, keep or
// copy, where aligned_bits says; or such cells anywhere, and whole planes.
enum class Care { none, left, right, rim, all };

template <Care care> struct Where {
    static constexpr unsigned left =
        aligned_bits<0, 0>(plan::halo_x, plan::tile_x, plan::lane_x, plan::low_x);
    static constexpr unsigned right =
        aligned_bits<0, 1>(plan::halo_x, plan::tile_x, plan::lane_x, plan::high_x);
    static constexpr unsigned columns = care == Care::left    ? left
                                        : care == Care::right ? right
                                        : care == Care::rim   ? left | right
                                        : care == Care::all   ? ~0u
                                                              : 0;
    static constexpr unsigned rows =
        care == Care::rim
            ? aligned_bits<1, 0>(tile::halo_y, plan::tile_y, plan::lane_y, plan::low_y) |
                  aligned_bits<1, 1>(tile::halo_y, plan::tile_y, plan::lane_y, plan::high_y)
        : care == Care::all ? ~0u
                            : 0;
};

// Where in what a thread sees of a row, or of a column, an edge's own cell may be.
template <Care care> struct Ends {
    static constexpr unsigned first_column =
        care == Care::left || care == Care::rim
            ? places_of<0>(plan::halo_x, plan::lane_x, plan::low_x, plan::high_x)
        : care == Care::all ? any_place<0>(plan::lane_x, plan::low_x, plan::high_x)
                            : 0;
    static constexpr unsigned last_column =
        care == Care::right || care == Care::rim
            ? places_of<1>(plan::halo_x + plan::tile_x - 1, plan::lane_x, plan::low_x, plan::high_x)
        : care == Care::all ? any_place<1>(plan::lane_x, plan::low_x, plan::high_x)
                            : 0;
    static constexpr unsigned first_row =
        care == Care::rim   ? places_of<0>(tile::halo_y, plan::lane_y, plan::low_y, plan::high_y)
        : care == Care::all ? any_place<0>(plan::lane_y, plan::low_y, plan::high_y)
                            : 0;
    static constexpr unsigned last_row =
        care == Care::rim  ? places_of<1>(tile::halo_y + plan::tile_y - 1, plan::lane_y,
                                          plan::low_y, plan::high_y)
        : care == Care::all ? any_place<1>(plan::lane_y, plan::low_y, plan::high_y)
                            : 0;
};

// Whether a tile that begins at `origin`, halo included, meets cells that a side keeps, and whether
// it meets none or has them where aligned_bits says.
struct Meeting {
    bool any, aligned;
};
template <int axis, int side>
__device__ __forceinline__ Meeting meet(Index origin, int extent, int halo, int output, int reach,
                                        Index size) {
    const Kept kept = kept_by<axis, side>(size, reach), there = kept_by<axis, side>(output, reach);
    const bool any =
        kept.count > 0 && kept.first < origin + extent && kept.first + kept.count > origin;
    return {any, !any || kept.first - origin == halo + there.first};
}

// Whether a cell of the grid stands at i, where it is. Else what a boundary says, or anything: what lies
// behind cells that `fixed` keeps does not matter, and images are made later.
template <int axis> __device__ __forceinline__ bool find(Index &i, Index size, Real &value) {
    if (i >= 0 && i < size)
        return true;
    const Boundary kind = i < 0 ? Edge<axis, 0>::kind : Edge<axis, 1>::kind;
    if (kind != Boundary::fixed && kind != Boundary::clamp && kind != Boundary::mirror)
        return resolve<axis>(i, size, value);
    value = 0;
    return false;
}
template <int axis> constexpr bool wraps =
    Edge<axis, 0>::kind == Boundary::periodic || Edge<axis, 1>::kind == Boundary::periodic;
