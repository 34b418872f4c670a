// csr, grouped: a warp takes 32 neighbouring rows, a group. Its entries stand one behind the other,
// so neighbouring lanes load neighbours, whatever the lengths of the rows; products go to shared
// memory, and there every lane adds up its own row's:
//
//     offset   0     2        5 5 6             lane r adds up row r
//     product [a b | c d e |   | f]
//     loaded   0 1   2 3 4       5              by lane
//
// Where a row has more products than `alone` in a tile, all lanes add them up. Rows longer than
// `cut` are left out by their warp. They are cut into pieces, which a launch before takes and which
// one behind adds up.
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "arch/streaming.cuh"
#include "arch/cache_hints.cuh"
#include "arch/launches.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "spmv.cuh"
#include "segments.cuh"

constexpr int tile = warp_size * plan::items; // entries of a warp at a time
constexpr int warps = plan::threads / warp_size;
constexpr int alone = 32; // products that a lane adds up alone

// Where a tile's i-th product stands: a place is free behind every 32, so that lanes whose rows are
// of one length read from different banks.
__device__ __forceinline__ int place(int i) {
    return i + i / warp_size;
}
constexpr int places = tile + plan::items;
static_assert(sizeof(Real) * places * warps <= plan::shared,
              "the host reserves too little shared memory");

// Columns and values of a tile, `items` a lane, all asked for at once, then their products with x:
// those from `low` to `high`, the others are 0.
template <int items> struct Tile {
    Integer column[items];
    Value value[items];
    int low, high;

    __device__ __forceinline__ Tile(const Arguments &a, Index first, int low, int high)
        : low(low), high(high) {
        const Index at = first + lane();
#pragma unroll
        for (int k = 0; k < items; ++k) {
            const int i = k * warp_size + lane();
            column[k] = 0;
            value[k] = 0;
            if (i >= low && i < high) {
                column[k] = load_matrix<plan::cache>(a.column + at + k * warp_size);
                value[k] = load_matrix<plan::cache>(a.value + at + k * warp_size);
            }
        }
    }
    __device__ __forceinline__ void multiply(const Arguments &a, int vector,
                                             Real (&product)[items]) const {
#pragma unroll
        for (int k = 0; k < items; ++k) {
            const int i = k * warp_size + lane();
            product[k] = i >= low && i < high ? load_x<plan::cache>(a, column[k], vector) : Real(0);
        }
#pragma unroll
        for (int k = 0; k < items; ++k)
            if (k * warp_size + lane() >= low && k * warp_size + lane() < high)
                product[k] *= static_cast<Real>(value[k]);
    }
};

__device__ __forceinline__ Real sum_of_lanes(Real sum) {
#pragma unroll
    for (int step = warp_size / 2; step > 0; step /= 2)
        sum += shuffle_xor(sum, step);
    return sum;
}

// ---- rows of a group ----------------------------------------------------------------------------

// What the lane's row has among the products of a tile.
__device__ __forceinline__ Real add_products(const Real *product, int begin, int end) {
    const int count = end - begin;
    Real sum = 0;
    if (count <= alone)
        for (int i = begin; i < end; ++i)
            sum += product[place(i)];
    for (unsigned many = ballot_lanes(count > alone); many != 0; many &= many - 1) {
        const int owner = __ffs(many) - 1;
        const int last = shuffle(end, owner);
        Real part = 0;
        for (int i = shuffle(begin, owner) + lane(); i < last; i += warp_size)
            part += product[place(i)];
        part = sum_of_lanes(part);
        if (lane() == owner)
            sum = part;
    }
    return sum;
}

// The first entry of a tile: the one at `low`, or one before it where a line of memory begins.
__device__ __forceinline__ Integer tile_begin(Integer low) {
    return low & ~static_cast<Integer>(warp_size - 1);
}

// Adds the entries from `low` to before `high`. The lane's row has those from `begin` to `end`.
__device__ __forceinline__ void add_rows(const Arguments &a, Real *product, Integer low,
                                         Integer high, Integer begin, Integer end, Sums &sums) {
    Integer first = tile_begin(low);
    int above = static_cast<int>(low - first);
#pragma unroll 1
    for (Integer left = high - first; left > above; left -= tile) {
        const int below = static_cast<int>(min(left, static_cast<Integer>(tile)));
        const int from = static_cast<int>(max(begin, low) - first);
        const int to = static_cast<int>(min(end - first, static_cast<Integer>(below)));
        const Tile<plan::items> t(a, first, above, below);
#pragma unroll
        for (int v = 0; v < plan::vectors; ++v) {
            Real made[plan::items];
            t.multiply(a, v, made);
#pragma unroll
            for (int k = 0; k < plan::items; ++k)
                product[place(k * warp_size + lane())] = made[k];
            warp_barrier(); // products are there
            sums.of[v] += add_products(product, from, to);
            warp_barrier(); // and read
        }
        first = static_cast<Integer>(static_cast<Index>(first) + tile); // beyond the last it may wrap
        low = first;
        above = 0;
    }
}

// The rows of the warp's group, one a lane. Behind the last row there is nothing.
__device__ __forceinline__ void take_group(const Arguments &a) {
    Real *const product = reinterpret_cast<Real *>(shared_bytes()) + warp() * places;
    const Index row = thread_index();
    const Integer begin = load(a.offset + min(row, a.rows));
    const Integer end = load(a.offset + min(row + 1, a.rows));
    const unsigned apart = plan::cut > 1 ? ballot_lanes(end - begin > plan::cut) : 0;
    Sums sums;
    for (int at = 0; at < warp_size;) { // the rows between those that are left out
        const unsigned ahead = apart >> at;
        const int stop = ahead != 0 ? at + __ffs(ahead) - 1 : warp_size;
        if (stop > at)
            add_rows(a, product, shuffle(begin, at), shuffle(end, stop - 1), begin, end, sums);
        at = stop + 1;
    }
    if (row < a.rows)
        sums.store(a, row);
}

// ---- pieces of long rows ------------------------------------------------------------------------

// Every `cut` entries there is a mark. A row longer than that has one at least, and is cut at its
// marks: the piece of a mark goes to the next one or the row's end, and that of the row's first mark
// has what lies before it. Each quarter of a warp looks for the row of a mark. The warp takes their
// pieces one after the other, with many entries on their way, so that groups need not wait for them.
constexpr int part = 8;
constexpr int piece_items = 16, at_once = warp_size * piece_items;

__device__ __forceinline__ Integer marks_of(const Arguments &a) {
    return static_cast<Integer>((a.entries + plan::cut - 1) / plan::cut);
}

// The sum of a piece, as a carry of its row.
__device__ __forceinline__ void take_piece(const Arguments &a, Integer low, Integer high, Index row,
                                           Index carry, Index carries) {
    Sums sums;
    Index first = tile_begin(low);
    int above = static_cast<int>(low - first);
#pragma unroll 1
    for (Index left = high - first; left > above; left -= at_once) {
        const Tile<piece_items> t(a, first, above,
                                  static_cast<int>(min(left, static_cast<Index>(at_once))));
        first += at_once;
        above = 0;
#pragma unroll
        for (int v = 0; v < plan::vectors; ++v) {
            Real made[piece_items];
            t.multiply(a, v, made);
#pragma unroll
            for (int k = 0; k < piece_items; ++k)
                sums.of[v] += made[k];
        }
    }
#pragma unroll
    for (int v = 0; v < plan::vectors; ++v) {
        const Real sum = sum_of_lanes(sums.of[v]);
        if (lane() == 0)
            leave_carry(a, carry, carries, row, v, sum);
    }
}

__device__ __forceinline__ void take_pieces(const Arguments &a) {
    const Integer marks = marks_of(a);
    const Integer mark = static_cast<Integer>(thread_index() / part);
    const bool is_there = mark < marks;
    if (!any_lane(is_there))
        return; // the whole warp
    const Integer entry = is_there ? mark * plan::cut : 0;
    const Index row = first_not<part, part>(Index(0), a.rows, [&](Index other) {
        return load(a.offset + other + 1) <= entry;
    });
    const Integer begin = load(a.offset + row), end = load(a.offset + row + 1);
    const bool is_cut = is_there && end - begin > plan::cut;
    const Integer low = entry - begin < plan::cut ? begin : entry;
    const Integer high = end - entry < plan::cut ? end : entry + plan::cut;
    if (is_there && !is_cut && lane() % part == 0)
        for (int v = 0; v < plan::vectors; ++v)
            leave_carry(a, mark, marks, -1, v, 0);
    for (unsigned cuts = ballot_lanes(is_cut && lane() % part == 0); cuts != 0; cuts &= cuts - 1) {
        const int from = __ffs(cuts) - 1;
        take_piece(a, shuffle(low, from), shuffle(high, from), shuffle(row, from),
                   shuffle(mark, from), marks);
    }
}

// ---- launches -----------------------------------------------------------------------------------

#if !defined(PATTERN_KERNEL_1)
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    take_group(a);
}
#else
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    next_may_begin(); // groups write none of what pieces do
    take_pieces(a);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    next_may_begin();
    take_group(a);
    if (blockIdx.x == gridDim.x - 1)
        await_launch_before(); // so that the next launch waits for both
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_2(const __grid_constant__ Arguments a) {
    add_carries(a, marks_of(a));
}
#endif
