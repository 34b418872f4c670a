// bulk in 3D: threads near an edge find images among the cells that they read. A walk asks for a plane
// inside instead of one beyond the edge; threads read the row that another stands for, and then have all
// cells that those beyond the row's ends stand for.
#pragma once

#if PLAN_IMAGES && !PLAN_FLAT
// A thread whose warp reads images: how far its first point is from the edges, as far as that matters.
// Registers are dear, so a byte has each. Below 0 the point lies outside, as may others of its rows.
struct NearEdge {
    enum Side { left, right, below, above };
    unsigned distances;
    int x; // the thread's first point, as others count it
    bool across; // whether rows stand for others
    const Arguments &a;
    Index z; // of the plane

    static __device__ __forceinline__ unsigned byte(Index cells) {
        return unsigned(int(min(max(cells, Index(-64)), Index(127)))) & 0xff;
    }
    template <Side side> __device__ __forceinline__ int distance() const {
        return int(distances << (24 - 8 * side)) >> 24;
    }
    // `p`: the first point, in the first plane that is read.
    __device__ __forceinline__ NearEdge(const Arguments &a, const Point &p, int x)
        : distances(byte(p.x) | byte(a.size[0] - 1 - p.x) << 8 | byte(p.y) << 16 |
                    byte(a.size[1] - 1 - p.y) << 24),
          x(x), across(!lanes_agree(distance<below>() >= plan::low_y &&
                                    distance<above>() >= plan::lane_y - 1 + plan::high_y)),
          a(a), z(p.z) {
    }
    __device__ __forceinline__ bool matters() const {
        return across || !lanes_agree(distance<left>() >= plan::low_x &&
                                      distance<right>() >= plan::vector - 1 + plan::high_x);
    }
};
__device__ __forceinline__ void advance(NearEdge &at) { ++at.z; }
__device__ __forceinline__ void advance(int) {
}

// Row y of an array, 0 being the thread's first.
template <int array, int y, class Asked> struct RowNearEdge {
    using A = Array<array>;
    const NearEdge &at;
#if defined(PLAN_ENDS)
    const int own; // the thread's first row, as the box counts them
#endif

    static constexpr bool has_given_rows = has_given_planes<array> ||
                                           kind_of<array, 1, 0>() == Boundary::constant ||
                                           kind_of<array, 1, 1>() == Boundary::constant;
    // Whether a side gives the cells beyond it: zeros, if they may be something else by now.
    static __device__ constexpr bool gives(Boundary kind, bool has_given) {
        return kind == Boundary::constant || (kind == Boundary::zero && has_given);
    }
    static __device__ constexpr bool copies(Boundary kind) {
        return kind == Boundary::clamp || kind == Boundary::mirror;
    }
    template <int axis, int side> __device__ __forceinline__ Real beyond() const {
        return beyond_of<array, axis, side>(at.a);
    }
    // The row that this one stands for.
    __device__ __forceinline__ int stands_for() const {
        constexpr Boundary low = kind_of<array, 1, 0>(), high = kind_of<array, 1, 1>();
        if (at.across) {
            const int before = at.distance<NearEdge::below>(), after = at.distance<NearEdge::above>();
            if (copies(low) && y < -before && y >= -before - A::low_y)
                return low == Boundary::clamp ? -before : -2 * before - y;
            if (copies(high) && y > after && y <= after + A::high_y)
                return high == Boundary::clamp ? after : 2 * after - y;
#if defined(PLAN_ENDS)
            using B = Box<array>;
            if (low == Boundary::periodic && y < -before && y >= -before - A::low_y)
                return B::height + B::rows + before + y - own;
            if (high == Boundary::periodic && y > after && y <= after + A::high_y)
                return B::height + B::rows + y - after - 1 - own;
#endif
        }
        return y;
    }
#if defined(PLAN_ENDS)
    // Where the pack lies that begins `distance` cells from the thread's first point, in row `row` of
    // the box, if that is at the grid's other end; else `from`. `slot`: where the box begins.
    __device__ __forceinline__ const Cell *find(int distance, const Cell *from, const Cell *slot,
                                                int row) const {
        using B = Box<array>;
        constexpr bool low = kind_of<array, 0, 0>() == Boundary::periodic;
        constexpr bool high = kind_of<array, 0, 1>() == Boundary::periodic;
        const int before = at.distance<NearEdge::left>(), after = at.distance<NearEdge::right>();
        const bool left = low && distance < 0 && before + distance < 0;
        const bool right = high && distance > 0 && after >= 0 && distance > after;
        const int beyond = row - B::height; // which of the rows from the other end
        if ((!left && !right) || (B::corner == 0 && beyond >= 0))
            return from;
        const int place = beyond < 0         ? row * B::columns
                          : beyond < B::rows ? B::side + beyond * B::columns
                                             : B::side + B::corner + (beyond - B::rows) * B::columns;
        return slot + B::ends + place +
               (left ? B::columns + before + distance
                     : B::side + 2 * B::corner + distance - after - 1);
    }
#endif
    // Whether the row's cells have one value: that of a side of y, or else of z.
    __device__ __forceinline__ bool is_given(Real &value) const {
        constexpr Boundary low = kind_of<array, 1, 0>(), high = kind_of<array, 1, 1>();
        if (gives(low, has_given_planes<array>) && y < -at.distance<NearEdge::below>()) {
            value = beyond<1, 0>();
            return true;
        }
        if (gives(high, has_given_planes<array>) && y > at.distance<NearEdge::above>()) {
            value = beyond<1, 1>();
            return true;
        }
        Index z = at.z;
        return has_given_planes<array> && !resolve_of<2, array>(at.a, z, value);
    }
    // The cells beyond the row's ends, where the thread's first point is element `own`. Rows are
    // whole packs.
    template <int own, int count>
    __device__ __forceinline__ void end(Real (&element)[count]) const {
        constexpr Boundary low = kind_of<array, 0, 0>(), high = kind_of<array, 0, 1>();
        constexpr bool low_gives = gives(low, has_given_rows), high_gives = gives(high, has_given_rows);
        const int before = at.distance<NearEdge::left>(), after = at.distance<NearEdge::right>();
        if constexpr (low_gives || copies(low))
#pragma unroll
            for (int b = 0; b < Asked::low; b += plan::vector)
#pragma unroll
                for (int k = 1; k <= Asked::low - b; ++k)
                    if (before == b)
                        element[own - b - k] = low_gives                ? beyond<0, 0>()
                                               : low == Boundary::clamp ? element[own - b]
                                                                        : element[own - b + k];
        if constexpr (high_gives || copies(high))
#pragma unroll
            for (int b = plan::vector - 1; b < plan::vector - 1 + Asked::high; b += plan::vector)
#pragma unroll
                for (int k = 1; k <= plan::vector - 1 + Asked::high - b; ++k)
                    if (after == b)
                        element[own + b + k] = high_gives                ? beyond<0, 1>()
                                               : high == Boundary::clamp ? element[own + b]
                                                                         : element[own + b - k];
    }
};
#endif
