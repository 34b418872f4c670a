// Rows on their way between the grid and the first and last rings of a pipeline, by copies
// that one lane asks for: the warp does not wait for them, and keeps no addresses of its own.

#if defined(PLAN_BULK)
#if defined(PLAN_SHIFTED)
// A row of a strip, to a slot, with what lies before and after it in packs of 16 bytes.
__device__ __forceinline__ void ask_row(const Walk &g, int slot, SharedAt<Real> to, const Real *row) {
    g.slots.copy(slot, to, row - place_in_pack(row), slot_row);
}
// A row of a grid without ends that begins or ends in the strip: its own whole packs by a bulk copy,
// and by lanes the cells before and after them, as far as the stored columns reach.
__device__ __forceinline__ void ask_split(const Walk &g, int slot, SharedAt<Real> to,
                                          const Real *row, const Strip &s, Index size) {
    const int place = place_in_pack(row);
    to = to + place;
    const int first = s.wrap_to + (2 * spare - place - s.wrap_to % spare) % spare;
    const int last = max(s.wrap_from - (place + s.wrap_from) % spare, first);
    if (lane() == 0 && last > first) {
        g.slots.expect_more(slot, (last - first) * static_cast<int>(sizeof(Real)));
        g.slots.copy(slot, to + first, row + first, last - first);
    }
    const int left = s.size + (width - plan::tile_x) - (last - first);
#pragma unroll 1
    for (int k = lane(); k < left; k += warp_size) {
        const int i = k < first ? k : k + (last - first);
        copy_async<1>(to + i, row + i + (i < s.wrap_to ? size : 0) - (i >= s.wrap_from ? size : 0));
    }
}
// A row that all lanes bring, one cell after the other.
__device__ __forceinline__ void bring_row(const Real *row, SharedAt<Real> to) {
    const SharedAt<Real> own = to + lane();
    row += lane();
#pragma unroll
    for (int k = 0; k < points; ++k)
        copy_async<1>(own + k * warp_size, row + k * warp_size);
}
__device__ __forceinline__ int place_of(const Real *row) { return place_in_pack(row); }
#else
__device__ __forceinline__ int place_of(const Real *) { return 0; }
// A row of a strip, to a slot. What lies outside of the grid may be anything: here it is the memory
// of the rows before and after.
__device__ __forceinline__ void ask_row(const Walk &g, int slot, SharedAt<Real> to, const Real *row) {
    g.slots.copy(slot, to, row, width);
}
// The same in a grid without ends, at least as wide as the strip, that begins or ends in it.
__device__ __forceinline__ void ask_split(const Walk &g, int slot, SharedAt<Real> to,
                                          const Real *row, const Strip &s, Index size) {
    const bool begins = s.wrap_to > 0;
    const int cut = begins ? s.wrap_to : s.wrap_from;
    row += begins ? size : 0;
    g.slots.copy(slot, to, row, cut);
    g.slots.copy(slot, to + cut, row + (cut - size), width - cut);
}
#endif
// Whether all rows of the strip begin or end in it; and whether lanes bring a part of each then.
__device__ __forceinline__ bool is_split(const Strip &s) { return endless<0> && s.outside; }
constexpr bool split_by_lanes = spare > 0;

// Rows of an array, all of which find memory; the rows of a wave's level before are `above` rows
// further on.
template <int array>
__device__ __forceinline__ void ask_rows(const Arguments &a, const Strip &s, const Walk &g,
                                         bool split, int slot, SharedAt<Real> to) {
    const Index stride = a.grid[Array<array>::grid].stride_z;
    const Real *row = g.from[array];
    if (!split_by_lanes && split && lane() == 0) {
#pragma unroll 1
        for (int r = 0; r < rows; ++r, row += stride)
            ask_split(g, slot, to + r * slot_row, row, s, a.size[0]);
        return;
    }
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        if (split_by_lanes && split)
            ask_split(g, slot, to + r * slot_row, row + r * stride, s, a.size[0]);
        else if (lane() == 0 && !split)
            ask_row(g, slot, to + r * slot_row, row + r * stride);
    }
}
// A row that may lie beyond the ends of the walk, or find none of the memory that lies before and
// after it. `next`: where it would lie if the walk had no ends, which says where it lies in a slot.
template <int array>
__device__ __forceinline__ void find_row(const Arguments &a, const Strip &s, const Walk &g, Index y,
                                         int slot, SharedAt<Real> to, const Real *next) {
    const Grid &grid = a.grid[Array<array>::grid];
    const SharedAt<Real> at = to + place_of(next);
    if (endless<2>)
        y = wrapped_near(y, a.size[2]);
    const Real *row = grid.data + y * grid.stride_z + s.x;
    const bool inside = !s.outside || (endless<0> && a.size[0] >= width);
    if (!inside || y < 0 || y >= a.size[2]) {
        load_carefully<array>(a, s, y, lane(), at);
        return;
    }
#if defined(PLAN_SHIFTED)
    if (!s.outside)
        bring_row(row, at);
    else if (row == next)
        ask_split(g, slot, to, row, s, a.size[0]);
    else
        load_carefully<array>(a, s, y, lane(), at);
#else
    if (lane() == 0) {
        g.slots.expect_more(slot, width * static_cast<int>(sizeof(Real)));
        if (s.outside)
            ask_split(g, slot, at, row, s, a.size[0]);
        else
            ask_row(g, slot, at, row);
    }
#endif
}
template <int array>
__device__ __forceinline__ void find_rows(const Arguments &a, const Strip &s, const Walk &g,
                                          int turn, int slot, SharedAt<Real> to) {
    const Index stride = a.grid[Array<array>::grid].stride_z;
#pragma unroll 1
    for (int r = 0; r < rows; ++r)
        find_row<array>(a, s, g, s.begin + Index(turn) * rows + r + array * above, slot,
                        to + r * slot_row, g.from[array] + r * stride);
}
// Begins to load the rows of a turn. `plain`: it is easy.
template <bool plain>
__device__ __forceinline__ void load_turn(const Arguments &a, const Strip &s, Walk &g, int turn,
                                          int slot) {
    constexpr int last = plan::carried - 1;
    const SharedAt<Real> to = g.in + slot * loaded_size;
    if (!plain && !is_easy(g, turn)) {
        find_rows<0>(a, s, g, turn, slot, to);
        if constexpr (last > 0)
            find_rows<last>(a, s, g, turn, slot, to + rows * slot_row);
        g.slots.will_be_filled(slot);
    } else {
        const bool split = is_split(s);
        if (lane() == 0 && !(split_by_lanes && split))
            g.slots.expect(slot, loaded_size * static_cast<int>(sizeof(Real)));
        ask_rows<0>(a, s, g, split, slot, to);
        if constexpr (last > 0)
            ask_rows<last>(a, s, g, split, slot, to + rows * slot_row);
        if (split_by_lanes && split)
            g.slots.will_be_filled(slot);
    }
    g.from[0] += rows * a.grid[Array<0>::grid].stride_z;
    if constexpr (last > 0)
        g.from[last] += rows * a.grid[Array<last>::grid].stride_z;
}
// Until the rows of this turn are there.
__device__ __forceinline__ void await_rows(Walk &g) {
    g.slots.await(g.slot, g.odd);
    warp_barrier();
    g.odd ^= g.slot + 1 == input_slots;
}

// The rows of a turn that are stored; `ahead` rows before the turn's first were made in it, too.
__device__ __forceinline__ bool is_stored(const Walk &g, int ahead, int r) {
    const Index left = g.left - ahead - r;
    return left > 0 && (plan::carried == 1 || left <= g.all);
}
#if defined(PLAN_SHIFTED)
// Whole packs of a row by a bulk copy, and what is before and after them by lanes.
__device__ __forceinline__ void store_row(Real *to, SharedAt<Real> row, int size) {
    const int place = place_in_pack(to), before = place > 0 ? spare - place : 0;
    const int inner = max(size - before, 0) / spare * spare;
    const SharedAt<Real> made = row + place_in_pack(to - halo);
    if (lane() == 0 && inner > 0)
        store_row_async(to + before, made + before, inner);
    const int i = lane() < before ? lane() : lane() + inner;
    if (i < size && lane() < 2 * spare)
        to[i] = (made + i).template read<1>().element[0];
}
#else
__device__ __forceinline__ void store_row(Real *to, SharedAt<Real> row, int size) {
    if (lane() == 0)
        store_row_async(to, row, size);
}
#endif
template <int grid>
__device__ __forceinline__ void store_rows(const Arguments &a, const Walk &g, int ahead, Real *to,
                                           SharedAt<Real> made) {
#pragma unroll
    for (int r = 0; r < rows; ++r)
        if (is_stored(g, ahead, r))
            store_row(to + halo + r * a.grid[grid].stride_z, made + (r * width + halo), g.stored);
}
// From the first turn that stores.
__device__ __forceinline__ void store_turn(const Arguments &a, const Strip &, Walk &g,
                                           SharedAt<Real> made) {
    if (lane() == 0)
        row_stores_read(); // what the turn before asked for: this turn overwrites it
    store_rows<Output<0>::grid>(a, g, 0, g.to[0], made);
    if constexpr (plan::carried > 1)
        store_rows<plan::second>(a, g, below, g.to[plan::carried - 1], made + rows * width);
    if (lane() == 0)
        row_stores_commit();
    warp_barrier();
    g.to[0] += rows * a.grid[Output<0>::grid].stride_z;
    if constexpr (plan::carried > 1)
        g.to[plan::carried - 1] += rows * a.grid[plan::second].stride_z;
    g.left -= rows;
}
#endif
