// How planes come to a tile of patches where no box brings them: the lanes of each warp copy its own rows.
// No box does where the tile goes on at the other side of the grid, or where rows are no packs.
//
//     packs      each lane the rows of its patch
//     elements   the rows of the warp one after the other, every 32nd element of a row
//
// Only the warp and its neighbours have read what is overwritten.
template <bool some> struct OwnRows {
    static constexpr bool packs = PLAN_BOXES;
    static constexpr int count = packs ? plan::lane_y : Walk::rows_across * plan::lane_y;
    static constexpr int parts = packs ? 1 : Walk::parts; // of a row
    static constexpr int pack = packs ? tile::pack : 1;
    using Copied = Pack<Real, pack>;

    const Real *from[plan::carried]; // of each array, the first row's first part in the next plane
    Index next[plan::carried];       // where that lies along z, if z wraps
    Index apart[parts];              // how far the parts lie from the first
    int place;                       // in a plane of the ring, in bytes
    // A bit for each part and row: whether it lies in the grid. What does not is zeros, as in boxes.
    unsigned inside;
    unsigned turned; // for each row: whether it is the first behind the grid's last one

    __device__ __forceinline__ void begin(const Walk &w) {
        const int column = packs ? w.column() * plan::lane_x : lane();
        const int row = packs ? w.patch() * plan::lane_y : warp() * count;
        place = (row * tile::width + column) * element;
        Real unused;
        Index first_x = 0, first_y = 0, before = 0;
        inside = turned = 0;
#pragma unroll
        for (int k = 0; k < parts; ++k) {
            Index x = w.origin.x + column + k * warp_size;
            if (find<0>(x, w.a.size[0], unused))
                inside |= 1u << k;
            first_x = k == 0 ? x : first_x;
            apart[k] = x - first_x;
        }
#pragma unroll
        for (int r = 0; r < count; ++r) {
            Index y = w.origin.y + row + r;
            if (find<1>(y, w.a.size[1], unused))
                inside |= 1u << (parts + r);
            if (r > 0 && y <= before)
                turned |= 1u << r;
            first_y = r == 0 ? y : first_y;
            before = y;
        }
        begin_array<0>(w, first_x, first_y, w.origin.z);
        if constexpr (plan::carried > 1)
            begin_array<plan::carried - 1>(w, first_x, first_y, w.origin.z + plan::high_z);
    }
    template <int array>
    __device__ __forceinline__ void begin_array(const Walk &w, Index x, Index y, Index z) {
        Real unused;
        if constexpr (wraps<2>)
            find<2>(z, w.a.size[2], unused);
        next[array] = z;
        const Grid &grid = w.a.grid[Array<array>::grid];
        from[array] = grid.data + offset(grid, x, y, z);
    }

    // Begins to copy the rows of the next plane, of that number.
    template <int array> __device__ __forceinline__ void copy(const Walk &w, int plane, int to) {
        const Grid &grid = w.a.grid[Array<array>::grid];
        const Index z = w.origin.z + plane;
        const bool there = wraps<2> || (z >= 0 && z < w.a.size[2]);
        const unsigned bits = there ? pinned(inside) : 0, back = pinned(turned);
        const Real *row = from[array];
#pragma unroll
        for (int r = 0; r < count; ++r) {
            if (wraps<1> && (back >> r & 1))
                row -= w.a.size[1] * grid.stride_y;
#pragma unroll
            for (int k = 0; k < parts; ++k)
                if (packs || tile::width % warp_size == 0 || lane() + k * warp_size < tile::width)
                    copy_or_clear_async(
                        reinterpret_cast<Copied *>(
                            shared_at(place + to + (r * tile::width + k * warp_size) * element)),
                        reinterpret_cast<const Copied *>(row + apart[k]),
                        (bits >> (parts + r) & 1) && (bits >> k & 1));
            row += grid.stride_y;
        }
        from[array] += grid.stride_z;
        if (wraps<2> && ++next[array] == w.a.size[2]) {
            next[array] = 0;
            from[array] -= w.a.size[2] * grid.stride_z;
        }
    }
};

// Where boxes bring all planes. Members that nobody uses would take registers.
template <> struct OwnRows<false> {
    __device__ __forceinline__ void begin(const Walk &) {
    }
    template <int array> __device__ __forceinline__ void copy(const Walk &, int, int) {
    }
};
