// Rows of packs on their way between the grid and the first and last rings of a pipeline, by copies
// that one lane asks for: the warp does not wait for them, and keeps no addresses of its own.

#if defined(PLAN_BULK)
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
// Rows of an array; the rows of a wave's level before are `above` rows further on.
template <int array>
__device__ __forceinline__ void load_rows(const Arguments &a, const Strip &s, Walk &g, int lane,
                                          int turn, bool easy, int slot, SharedAt<Real> to) {
    const Index stride = a.grid[Array<array>::grid].stride_z;
#pragma unroll
    for (int r = 0; r < rows; ++r)
        if (!easy)
            load_carefully<array>(a, s, s.begin + Index(turn) * rows + r + array * above, lane,
                                  to + r * width);
        else if (lane == 0)
            ask_row(g, slot, to + r * width, g.from[array] + r * stride, s, a.size[0]);
    g.from[array] += rows * stride;
}
// Begins to load the rows of a turn. `plain`: it is easy.
template <bool plain>
__device__ __forceinline__ void load_turn(const Arguments &a, const Strip &s, Walk &g, int lane,
                                          int turn, int slot) {
    constexpr int slot_size = plan::carried * rows * width;
    const SharedAt<Real> to = g.in + slot * slot_size;
    const bool easy = plain || is_easy(g, turn);
    if (easy && lane == 0)
        g.slots.expect(slot, slot_size * static_cast<int>(sizeof(Real)));
    load_rows<0>(a, s, g, lane, turn, easy, slot, to);
    if constexpr (plan::carried > 1)
        load_rows<plan::carried - 1>(a, s, g, lane, turn, easy, slot, to + rows * width);
    if (!easy)
        g.slots.is_filled(slot);
}
// Until the rows of this turn are there.
__device__ __forceinline__ void await_rows(Walk &g) {
    g.slots.await(g.slot, g.odd);
    warp_barrier();
    g.odd ^= g.slot + 1 == input_slots;
}

// The rows of a turn that are stored; `ahead` rows before the turn's first were made in it, too.
template <int grid>
__device__ __forceinline__ void store_rows(const Arguments &a, const Walk &g, int ahead, Real *to,
                                           SharedAt<Real> made) {
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const Index left = g.left - ahead - r;
        if (left > 0 && (plan::carried == 1 || left <= g.all))
            store_row_async(to + halo + r * a.grid[grid].stride_z, made + (r * width + halo),
                            g.stored);
    }
}
// From the first turn that stores.
__device__ __forceinline__ void store_turn(const Arguments &a, const Strip &, Walk &g, int lane,
                                           SharedAt<Real> made) {
    if (lane == 0) {
        row_stores_read(); // what the turn before asked for: this turn overwrites it
        store_rows<Output<0>::grid>(a, g, 0, g.to[0], made);
        if constexpr (plan::carried > 1)
            store_rows<plan::second>(a, g, below, g.to[plan::carried - 1], made + rows * width);
        row_stores_commit();
    }
    warp_barrier();
    g.to[0] += rows * a.grid[Output<0>::grid].stride_z;
    if constexpr (plan::carried > 1)
        g.to[plan::carried - 1] += rows * a.grid[plan::second].stride_z;
    g.left -= rows;
}
#endif
