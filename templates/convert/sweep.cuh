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

// 32 rows of a warp.
struct Window {
    Index first = 0, end = 0, mine = 0; // its first row, the entry behind its last, where this lane's
                                        // row begins

    __device__ __forceinline__ void place(const Arguments &a, Index row) {
        const Index last = a.rows, own = row + threadIdx.x % warp_lanes;
        first = row;
        mine = load(a.offset + (own < last ? own : last));
        end = load(a.offset + (row + warp_lanes < last ? row + warp_lanes : last));
    }
    // To where an entry is that no window before had: mostly the next one, else behind empty rows.
    __device__ __forceinline__ void move(const Arguments &a, Index entry, bool begins) {
        if (!begins)
            place(a, first + warp_lanes);
        if (begins || entry >= end)
            place(a, row_of(a, entry));
    }
    // Of an entry in it; a row in it of any other.
    __device__ __forceinline__ Index row(Index entry) const {
        int place = 0;
#pragma unroll
        for (int away = warp_lanes / 2; away > 0; away /= 2)
            place += shuffle(mine, place + away) <= entry ? away : 0;
        return first + place;
    }
};

// Calls to(row, entry). All lanes of a warp come along; the entries of one call are neighbours.
template <class To> __device__ __forceinline__ void for_entries(const Arguments &a, const To &to) {
    const int lane = threadIdx.x % warp_lanes;
    const Index begin = global_thread() / warp_lanes * sweep_stretch;
    const Index end = begin + sweep_stretch < a.entries ? begin + sweep_stretch : a.entries;
    Window window;
    for (Index first = begin; first < end; first += warp_lanes) {
        const Index entry = first + lane, behind = first + warp_lanes < end ? first + warp_lanes : end;
        for (Index from = first; from < behind;) { // of each window that these entries are in
            if (from >= window.end)
                window.move(a, from, from == begin);
            const Index row = window.row(entry);
            if (entry >= from && entry < window.end && entry < end)
                to(row, entry);
            from = window.end;
        }
    }
}
