// Entries as a list of rows, columns and values, sorted by row, added to a y that is there: the
// whole of coo, and the rest of hyb and pkt.
//
//     row     [0 0 0 1 | 1 1 1 1 | 1 4 4 6 |     a block: `items` entries a thread
//     column  [1 2 7 0 | 2 3 5 6 | 7 2 3 5 |     row 0 ends within thread 0, row 1 within thread 2,
//     value   [a b c d | e f g h | i j k l |     which gets what 0 and 1 have of it; the last row
//     of
//                t0        t1        t2          a block is carried over to the next
constexpr int tile = plan::threads * plan::items; // entries of a block

struct Tile {
    Real product[tile];
    Segments<Integer> segments;
    Integer row[tile];
};
static_assert(sizeof(Tile) <= plan::shared, "the host reserves too little shared memory");

#if defined(PLAN_NARROW)
__device__ __forceinline__ void add_entries(const Arguments &a, const Integer *rows,
                                            const Integer *columns, const StoredValue *values,
                                            Index entries) {
#else
__device__ __forceinline__ void add_entries(const Arguments &a, const Integer *rows,
                                            const Integer *columns, const Value *values,
                                            Index entries) {
#endif
    Tile &t = *reinterpret_cast<Tile *>(shared_bytes());
    const Index begin = static_cast<Index>(blockIdx.x) * tile;
    const int count = static_cast<int>(entries - begin < tile ? entries - begin : tile);
    for (int i = threadIdx.x; i < count; i += plan::threads) {
        t.row[i] = load(rows + begin + i);
        t.product[i] =
            static_cast<Real>(load(values + begin + i)) * x_at(a, load(columns + begin + i), 0);
    }
    __syncthreads(); // threads walk over products that others made

    const int from = min(static_cast<int>(threadIdx.x) * plan::items, count);
    const int to = min(from + plan::items, count);
    const Integer first = t.row[from < count ? from : count - 1];
    Integer row = first;
    Real sum = 0, lead = 0; // of the row it is at; of its first row, once that has ended
    bool ended = false;
    for (int i = from; i < to; ++i) {
        const Integer next = t.row[i];
        if (next != row) {
            if (ended)
                add_sum(a, row, 0, sum);
            else
                lead = sum;
            ended = true;
            row = next;
            sum = 0;
        }
        sum += t.product[i];
    }
    t.segments.scan(row, sum);
    if (ended) {
        if (threadIdx.x > 0 && t.segments.key[threadIdx.x - 1] == first)
            lead += t.segments.sum[threadIdx.x - 1];
        add_sum(a, first, 0, lead);
    }
    if (from < count && to < count && t.row[to] != row)
        add_sum(a, row, 0, t.segments.sum[threadIdx.x]); // ends with the thread's last entry
    if (threadIdx.x == plan::threads - 1)
        leave_carry(a, blockIdx.x, gridDim.x, row, 0, t.segments.sum[threadIdx.x]);
}

__device__ __forceinline__ void add_entry_carries(const Arguments &a, Index entries) {
    add_carries(a, (entries + tile - 1) / tile);
}
