// Rows on their way between the grid and the first and last rings of a pipeline, by copies
// that one lane asks for: the warp does not wait for them, and keeps no addresses of its own.

#if defined(PLAN_BULK)
#if defined(PLAN_SHIFTED)
// A row of a strip, to a slot, with what lies before and after it in packs of 16 bytes.
__device__ __forceinline__ void ask_row(const Walk &g, int slot, SharedAt<Real> to, const Real *row,
                                        const Strip &, Index) {
    g.slots.copy(slot, to, row - place_in_pack(row), slot_row);
}
// A row of a grid without ends that begins or ends in the strip: its own whole packs by a bulk copy,
// and the cells before and after them by lanes.
__device__ __forceinline__ void ask_wrapped(const Walk &g, int slot, SharedAt<Real> to,
                                            const Real *row, const Strip &s, Index size) {
    const int place = place_in_pack(row);
    to = to + place;
    const int first = s.wrap_to + (2 * spare - place - s.wrap_to % spare) % spare;
    const int last = max(s.wrap_from - (place + s.wrap_from) % spare, first);
    if (lane() == 0 && last > first) {
        g.slots.expect_more(slot, (last - first) * static_cast<int>(sizeof(Real)));
        g.slots.copy(slot, to + first, row + first, last - first);
    }
#pragma unroll 1
    for (int k = lane(); k < width - (last - first); k += warp_size) {
        const int i = k < first ? k : k + (last - first);
        copy_async<1>(to + i, row + i + (i < s.wrap_to ? size : 0) - (i >= s.wrap_from ? size : 0));
    }
}
__device__ __forceinline__ int place_of(const Real *row) { return place_in_pack(row); }
#else
__device__ __forceinline__ int place_of(const Real *) { return 0; }
// A row of a strip, to a slot; in up to three parts where a grid without ends begins or ends in it.
// What lies outside of another grid may be anything: here it is the memory of the rows before and
// after.
__device__ __forceinline__ void ask_row(const Walk &g, int slot, SharedAt<Real> to, const Real *row,
                                        const Strip &s, Index size) {
    if (!endless<0> || !s.beside) {
        g.slots.copy(slot, to, row, width);
        return;
    }
    if (s.wrap_to > 0)
        g.slots.copy(slot, to, row + size, s.wrap_to);
    g.slots.copy(slot, to + s.wrap_to, row + s.wrap_to, s.wrap_from - s.wrap_to);
    if (s.wrap_from < width)
        g.slots.copy(slot, to + s.wrap_from, row + s.wrap_from - size, width - s.wrap_from);
}
#endif
// Rows of an array; the rows of a wave's level before are `above` rows further on.
template <int array>
__device__ __forceinline__ void load_rows(const Arguments &a, const Strip &s, Walk &g, int turn,
                                          bool easy, int slot, SharedAt<Real> to) {
    const Index stride = a.grid[Array<array>::grid].stride_z;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const Real *row = g.from[array] + r * stride;
        if (!easy)
            load_carefully<array>(a, s, s.begin + Index(turn) * rows + r + array * above, lane(),
                                  to + (r * slot_row + place_of(row)));
#if defined(PLAN_SHIFTED)
        else if (endless<0> && s.beside)
            ask_wrapped(g, slot, to + r * slot_row, row, s, a.size[0]);
#endif
        else if (lane() == 0)
            ask_row(g, slot, to + r * slot_row, row, s, a.size[0]);
    }
    g.from[array] += rows * stride;
}
// Begins to load the rows of a turn. `plain`: it is easy.
template <bool plain>
__device__ __forceinline__ void load_turn(const Arguments &a, const Strip &s, Walk &g, int turn,
                                          int slot) {
    const SharedAt<Real> to = g.in + slot * loaded_size;
    const bool easy = plain || is_easy(g, turn), by_lanes = spare > 0 && endless<0> && s.beside;
    if (easy && !by_lanes && lane() == 0)
        g.slots.expect(slot, loaded_size * static_cast<int>(sizeof(Real)));
    load_rows<0>(a, s, g, turn, easy, slot, to);
    if constexpr (plan::carried > 1)
        load_rows<plan::carried - 1>(a, s, g, turn, easy, slot, to + rows * slot_row);
    if (!easy || by_lanes)
        g.slots.will_be_filled(slot);
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
