// Rows on their way between the grid and the first and last rings of a pipeline, loaded and stored by
// the lanes of a warp.

#if !defined(PLAN_BULK)
template <int count> constexpr int packs = width / count;                      // of a row
template <int count> constexpr int turns_of = (packs<count> + warp_size - 1) / warp_size; // of a warp
template <int count> __device__ __forceinline__ bool has(int lane, int k) {
    return packs<count> % warp_size == 0 || lane + k * warp_size < packs<count>;
}

// Fills a slot of the first ring, `count` elements at a time. `find(i)`: where element i lies.
template <int count, class Find>
__device__ __forceinline__ void load_packs(int lane, SharedAt<Stored<Array<0>>> slot, const Find &find) {
    const SharedAt<Stored<Array<0>>> to = slot + lane * count;
#if defined(PLAN_NARROW)
    if constexpr (count == 1) { // there are no copies of 16 bits, so several loads are on their way at once
        constexpr int together = 8;
#pragma unroll
        for (int first = 0; first < turns_of<1>; first += together) {
            Stored<Array<0>> cell[together];
#pragma unroll
            for (int k = first; k < first + together; ++k)
                if (k < turns_of<1> && has<1>(lane, k))
                    cell[k - first] = *find(lane + k * warp_size);
#pragma unroll
            for (int k = first; k < first + together; ++k)
                if (k < turns_of<1> && has<1>(lane, k))
                    (to + k * warp_size).write(cell[k - first]);
        }
        return;
    }
#endif
#pragma unroll
    for (int k = 0; k < turns_of<count>; ++k)
        if (has<count>(lane, k))
            copy_async<count>(to + k * warp_size * count, find((lane + k * warp_size) * count));
}

// From the strip's first column on. What lies outside of the grid may be anything: here it is the memory
// of the rows before and after.
template <int count>
__device__ __forceinline__ void load_row(const Stored<Array<0>> *row, int lane, SharedAt<Stored<Array<0>>> slot) {
    load_packs<count>(lane, slot, [row](int i) { return row + i; });
}

// The same in a grid without ends, at least as wide as the strip.
template <int count>
__device__ __forceinline__ void load_wrapped(const Stored<Array<0>> *row, const Strip &s, Index size, int lane,
                                             SharedAt<Stored<Array<0>>> slot) {
    load_packs<count>(lane, slot, [row, &s, size](int i) {
        return row + (i + (i < s.wrap_to ? size : 0) - (i >= s.wrap_from ? size : 0));
    });
}

template <int count>
__device__ __forceinline__ void store_row(Stored<Output<0>> *row, int size, int lane, SharedAt<Real> slot) {
    Pack<Real, count> pack[turns_of<count>];
#pragma unroll
    for (int k = 0; k < turns_of<count>; ++k)
        if (has<count>(lane, k))
            pack[k] = (slot + (lane + k * warp_size) * count).template read<count>();
    const int first = lane * count - halo;
#pragma unroll
    for (int k = 0; k < turns_of<count>; ++k)
        if (static_cast<unsigned>(first + k * warp_size * count) < static_cast<unsigned>(size))
#if defined(PLAN_NARROW)
            store_narrowed(row + (lane + k * warp_size) * count, pack[k]);
#else
            *reinterpret_cast<Pack<Real, count> *>(row + (lane + k * warp_size) * count) = pack[k];
#endif
}

// Rows of an array; the rows of a wave's level before are `above` rows further on.
template <int array>
__device__ __forceinline__ void load_rows(const Arguments &a, const Strip &s, Walk &g, int turn,
                                          SharedAt<Stored<Array<0>>> slot) {
    const Index stride = a.grid[Array<array>::grid].stride_z;
    const bool easy = is_easy(g, turn);
    const Stored<Array<0>> *&from = g.from[array];
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        const Index y = s.begin + Index(turn) * rows + r + array * above;
        const Stored<Array<0>> *row = from;
        bool found = easy;
        if (endless<2> && !easy) {
            row = a.grid[Array<array>::grid].data + wrapped_near(y, a.size[2]) * stride + s.x;
            found = !s.outside || (endless<0> && a.size[0] >= width);
        }
        if (!found)
            load_carefully<array>(a, s, y, lane(), slot + r * width);
        else if (endless<0> && s.outside && s.wide)
            load_wrapped<plan::vector>(row, s, a.size[0], lane(), slot + r * width);
        else if (endless<0> && s.outside)
            load_wrapped<1>(row, s, a.size[0], lane(), slot + r * width);
        else if (s.wide)
            load_row<plan::vector>(row, lane(), slot + r * width);
        else
            load_row<1>(row, lane(), slot + r * width);
        from += stride;
    }
}
// Begins to load the rows of a turn. `plain`: it is easy.
template <bool plain>
__device__ __forceinline__ void load_turn(const Arguments &a, const Strip &s, Walk &g, int turn,
                                          int slot) {
    constexpr int slot_size = plan::carried * rows * width;
#if defined(PLAN_NARROW)
    const SharedAt<Stored<Array<0>>> to = g.loaded + slot * slot_size;
#else
    const SharedAt<Real> to = g.in + slot * slot_size;
#endif
    load_rows<0>(a, s, g, turn, to);
    if constexpr (plan::carried > 1)
        load_rows<plan::carried - 1>(a, s, g, turn, to + rows * width);
    copies_commit();
}
// Until the rows of this turn are there.
__device__ __forceinline__ void await_rows(Walk &) {
    copies_wait<input_slots - 2>();
    warp_barrier();
}

// Row `first` of those that are stored, and those behind it; those before the first are none.
template <int grid>
__device__ __forceinline__ void store_rows(const Arguments &a, const Strip &s,
                                           Stored<Output<0>> *&to, Index first,
                                           SharedAt<Real> made) {
    const Index left = s.y1 - s.y0 - first;
#pragma unroll
    for (int r = 0; r < rows; ++r) {
        if (r < left && (plan::carried == 1 || first + r >= 0)) {
            if (s.wide)
                store_row<plan::vector>(to, s.size, lane(), made + r * width);
            else
                store_row<1>(to, s.size, lane(), made + r * width);
        }
        to += a.grid[grid].stride_z;
    }
}
// From the first turn that stores.
__device__ __forceinline__ void store_turn(const Arguments &a, const Strip &s, Walk &g,
                                           SharedAt<Real> made) {
    const Index first = Index(g.turn - g.store) * rows;
    if (plan::carried == 1 || first >= 0)
        store_rows<Output<0>::grid>(a, s, g.to[0], first, made);
    if constexpr (plan::carried > 1)
        store_rows<plan::second>(a, s, g.to[plan::carried - 1], first + below,
                                 made + rows * width);
}
#endif
