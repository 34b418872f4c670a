// What all conversions of matrices share: the kernels' argument, and sums of counts.
//
// A is given as csr in device memory, sorted and sound (look.cu sees to that), and becomes the arrays
// of another format (matrix/format.h), to the bit what the host's conversion makes. A conversion
// counts first, adds the counts up, and the host reads how long the arrays are; then it writes. So
// each place has one writer, no result depends on the order in which blocks run, and no block waits
// for another. Values are moved and compared as bits: `Word` is as wide as one of them.

constexpr int warp_lanes = 32;

// The host's struct convert_arguments (gen/lists/spmv/spmv.h). What number, out and work hold is the
// template's: out are the format's arrays in their order, work is temporary.
struct Arguments {
    Index rows, columns, entries;
    const Integer *offset, *column; // offset[rows + 1], column[entries], value[entries]
    const Word *value;
    Index number[4];
    void *out[6];
    void *work[6];
    Index *totals;    // of all items, a word for each counter
    Index *tile_sums; // of the items before a tile
    Index diagonals;  // of stencil
    Index diagonal_offset[31];
    unsigned long long diagonal_value[31]; // its bits
};
static_assert(sizeof(Arguments) == plan::arguments_bytes, "the host packs as many bytes");

__device__ __forceinline__ Index global_thread() {
    return static_cast<Index>(blockIdx.x) * plan::threads + threadIdx.x;
}

// ---- sums of counts --------------------------------------------------------------------------
//
// Three kernels: the sum of each tile of items; the sums of the tiles before each, by one block; and
// the template's own, which gets for each item the sums of all items before it. `Items` says what is
// counted:
//
//     static constexpr int counters;
//     Index count(const Arguments &);                      how many items
//     Counts<counters> of(const Arguments &, Index item);

constexpr int scan_items = 4;                             // of a thread, one behind the other
constexpr Index scan_tile = scan_items * plan::threads;   // of a block
constexpr int scan_warps = plan::threads / warp_lanes;    // whose sums meet in shared memory

template <int counters> struct Counts {
    Index at[counters];

    __device__ __forceinline__ void add(const Counts &other) {
#pragma unroll
        for (int k = 0; k < counters; ++k)
            at[k] += other.at[k];
    }
};

// The sums of the threads before this one, and of the block.
template <int counters>
__device__ __forceinline__ Counts<counters> sums_before(const Counts<counters> &mine,
                                                        Counts<counters> &total) {
    auto *const of_warps = reinterpret_cast<Counts<counters> *>(shared_bytes());
    const int lane = threadIdx.x % warp_lanes, warp = threadIdx.x / warp_lanes;
    Counts<counters> sum = mine, before = {};
#pragma unroll
    for (int k = 0; k < counters; ++k)
#pragma unroll
        for (int away = 1; away < warp_lanes; away *= 2) {
            const Index other = shuffle_up(sum.at[k], away);
            sum.at[k] += lane >= away ? other : 0;
        }
    if (lane == warp_lanes - 1)
        of_warps[warp] = sum;
    __syncthreads(); // the warps' sums are there
    total = {};
    for (int w = 0; w < scan_warps; ++w) {
        if (w == warp)
            before = total;
        total.add(of_warps[w]);
    }
#pragma unroll
    for (int k = 0; k < counters; ++k)
        before.at[k] += sum.at[k] - mine.at[k];
    __syncthreads(); // the next call may write them
    return before;
}

template <class Items> __device__ __forceinline__ void sum_tile(const Arguments &a) {
    const Index first = blockIdx.x * scan_tile + threadIdx.x * scan_items, end = Items::count(a);
    Counts<Items::counters> sum = {}, total;
    for (Index i = first; i < first + scan_items && i < end; ++i)
        sum.add(Items::of(a, i));
    sums_before(sum, total);
    if (threadIdx.x == 0)
        reinterpret_cast<Counts<Items::counters> *>(a.tile_sums)[blockIdx.x] = total;
}

// One block.
template <class Items> __device__ __forceinline__ void scan_tiles(const Arguments &a) {
    auto *const sums = reinterpret_cast<Counts<Items::counters> *>(a.tile_sums);
    const Index tiles = (Items::count(a) + scan_tile - 1) / scan_tile;
    Counts<Items::counters> carry = {};
    for (Index first = 0; first < tiles; first += plan::threads) {
        const Index tile = first + threadIdx.x;
        Counts<Items::counters> mine = {}, total;
        if (tile < tiles)
            mine = sums[tile];
        Counts<Items::counters> before = sums_before(mine, total);
        before.add(carry);
        if (tile < tiles)
            sums[tile] = before;
        carry.add(total);
    }
    if (threadIdx.x == 0)
        *reinterpret_cast<Counts<Items::counters> *>(a.totals) = carry;
}

// Calls to(item, its counts, the sums before it) for each of the thread's items.
template <class Items, class To>
__device__ __forceinline__ void for_sums(const Arguments &a, const To &to) {
    const Index first = blockIdx.x * scan_tile + threadIdx.x * scan_items, end = Items::count(a);
    Counts<Items::counters> of[scan_items] = {}, sum = {}, total;
#pragma unroll
    for (int i = 0; i < scan_items; ++i)
        if (first + i < end) {
            of[i] = Items::of(a, first + i);
            sum.add(of[i]);
        }
    Counts<Items::counters> before = sums_before(sum, total);
    before.add(reinterpret_cast<const Counts<Items::counters> *>(a.tile_sums)[blockIdx.x]);
#pragma unroll
    for (int i = 0; i < scan_items; ++i)
        if (first + i < end) {
            to(first + i, of[i], before);
            before.add(of[i]);
        }
}

// For for_sums: where each item begins, of one counter.
struct StoreOffset {
    Integer *offset;
    __device__ __forceinline__ void operator()(Index item, const Counts<1> &,
                                               const Counts<1> &before) const {
        offset[item] = static_cast<Integer>(before.at[0]);
    }
};
