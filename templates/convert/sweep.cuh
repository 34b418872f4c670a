// Visits every entry of A with its row, however long rows are: a warp has a stretch of entries, reads
// them side by side, and knows where 33 rows begin, a lane each.
//
//     stretch        |e e e e … 32 lanes|e e e …|        entries, wherever rows end
//     rows' begins   b0   b1 b2         b3               lane i holds b_i; a lane finds its entry's
//                                                        row by halving, with shuffles

constexpr Index sweep_stretch = 1024; // entries of a warp

// The row of an entry: the last one that begins at or before it.
__device__ __forceinline__ Index row_of(const Arguments &a, Index entry) {
    Index low = 0, high = a.rows - 1;
    while (low < high) {
        const Index middle = low + (high - low + 1) / 2;
        if (load(a.offset + middle) <= entry)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// Calls to(row, entry). All lanes of a warp come along; the entries of one call are neighbours.
template <class To> __device__ __forceinline__ void for_entries(const Arguments &a, const To &to) {
    const int lane = threadIdx.x % warp_lanes;
    const Index begin = global_thread() / warp_lanes * sweep_stretch;
    const Index end = begin + sweep_stretch < a.entries ? begin + sweep_stretch : a.entries;
    Index window = 0, last = 0, mine = 0; // first of 32 rows, where they end, where this lane's begins
    for (Index first = begin; first < end; first += warp_lanes) {
        const Index entry = first + lane < end ? first + lane : end - 1;
        const Index furthest = first + warp_lanes < end ? first + warp_lanes : end;
        bool done = false;
        for (Index from = first; from < furthest;) { // of each window that these entries are in
            if (from >= last) {
                window = row_of(a, from);
                const Index row = window + lane < a.rows ? window + lane : a.rows;
                mine = load(a.offset + row);
                last = load(a.offset + (window + warp_lanes < a.rows ? window + warp_lanes : a.rows));
            }
            int place = 0;
#pragma unroll
            for (int away = warp_lanes / 2; away > 0; away /= 2)
                place += __shfl_sync(all_lanes, mine, place + away) <= entry ? away : 0;
            if (!done && entry >= from && entry < last && first + lane < end) {
                done = true;
                to(window + place, entry);
            }
            from = last < furthest ? last : furthest;
        }
    }
}
