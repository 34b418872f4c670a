// csr, balanced: the ends of rows and the entries are merged into one list, of which every warp
// gets the same number of items, however long the rows are (D. Merrill, M. Garland, Merge-Based
// Parallel Sparse Matrix-Vector Multiplication, PPoPP 2016).
//
//              entries 0 1 2 3 4 5          the path goes right over an entry, which is added to
//     ends  2 (row 0)  → → ↓                the sum, and down over the end of a row, whose sum is
//           5 (row 1)      → → → ↓          done; a row without entries is one step down
//           5 (row 2)            ↓
//           6 (row 3)            → ↓
//
// A warp takes `run` tiles of the path, one behind the other, and waits for no other: it searches
// where its first one begins, and finds the ends of the others as it reads where rows end. A tile in
// shared memory: the products of its entries, in that order in one array with the rows' sums behind
// them; each lane walks over the same number of items. A row that a lane begins and another ends is
// put together by shuffles, one that a warp begins and another ends by a second launch.
//
// What bounds it is how many entries of x, each in a line of its own, a multiprocessor gets from the
// second-level cache. So all columns and values of a tile are on their way at once, then all of x,
// and shared memory is kept small: what it takes, the first-level cache has not, which needs a line
// for each entry of x that is on its way.
#include "common.cuh"
#include "shared.cuh"
#include "streaming.cuh"
#include "cache_hints.cuh"
#include "warps.cuh"
#include "plan.h"
#include "spmv.cuh"
#include "segments.cuh"

constexpr int tile = warp_size * plan::items; // items of a warp at a time
constexpr int searching = 3;                  // lanes that look for the beginning
constexpr int most_asked = 4;                 // times 32 ends of rows at once

struct Tile {
    Index number, count; // of the share, and of all
    Real sum[tile]; // products of the entries, then sums of the rows
    Real carry[plan::vectors];
    unsigned short end[tile]; // where each row ends, counted from the tile's first entry
};
static_assert(sizeof(Tile) * (plan::threads / warp_size) <= plan::shared,
              "the host reserves too little shared memory");

// How many ends of rows stand among the first `diagonal` items. By all lanes: a few ask at a time, so
// that fewer questions follow one another; each takes of what bounds the kernel.
__device__ __forceinline__ Index rows_before(const Arguments &a, Index diagonal) {
    Index low = diagonal > a.entries ? diagonal - a.entries : 0;
    Index high = diagonal < a.rows ? diagonal : a.rows;
    while (low < high) {
        // Each asks for one row `step` behind the one before; all that say yes come first.
        const Index step = (high - low + searching) / (searching + 1);
        const Index row = low + (lane() + 1) * step - 1;
        const bool before =
            lane() < searching && row < high && load(a.offset + row + 1) + row < diagonal;
        const int count = __popc(ballot_lanes(before));
        if (count < searching) {
            const Index first_not = low + (count + 1) * step - 1;
            high = first_not < high ? first_not : high;
        }
        low += count * step;
    }
    return low;
}

// Of the rows that end within the tile: how many of their ends stand among its first items.
__device__ __forceinline__ int rows_before(const Tile &t, int diagonal, int rows, int entries) {
    int low = max(diagonal - entries, 0), high = min(diagonal, rows);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (t.end[middle] + middle < diagonal)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Where the next rows end, of which each lane gets some; −1: there is no such row. It asks for as many
// as the tile before had, because what nobody needs takes of what bounds the kernel.
struct Ends {
    Integer end[most_asked];
    int asked; // times 32 rows

    __device__ __forceinline__ void ask(const Arguments &a, Index row, int rows) {
        asked = rows / warp_size + 1;
#pragma unroll
        for (int k = 0; k < most_asked; ++k) {
            const Index r = row + k * warp_size + lane();
            end[k] = -1;
            if (k < asked && r < a.rows)
                end[k] = load(a.offset + r + 1);
        }
    }
    // Which rows end within `items` items that begin with the entry `first`: how many. It has been
    // asked for `row`.
    __device__ __forceinline__ int find(const Arguments &a, Tile &t, Index row, Index first,
                                        int items) {
        for (int rows = 0;;) {
#pragma unroll
            for (int k = 0; k < most_asked; ++k)
                if (k < asked) {
                    const Index at = static_cast<Index>(end[k]) - first;
                    const bool within = end[k] >= 0 && at + rows + lane() < items;
                    if (within)
                        t.end[rows + lane()] = static_cast<unsigned short>(at);
                    const int count = __popc(ballot_lanes(within));
                    rows += count;
                    if (count < warp_size)
                        return rows;
                }
            ask(a, row + rows, rows);
        }
    }
};

// A lane's items: sums of the rows that end there go to shared memory. `rest`, what the first row
// has so far, becomes that of the row returned, which another lane ends.
__device__ __forceinline__ int walk(Tile &t, int row, int entry, int rows, int entries,
                                    Real &rest) {
    int end = row < rows ? t.end[row] : tile;
#pragma unroll
    for (int k = 0; k < plan::items; ++k) {
        if (end <= entry) {
            t.sum[entries + row++] = rest;
            rest = 0;
            end = row < rows ? t.end[row] : tile;
        } else if (entry < entries) {
            rest += t.sum[entry++];
        }
    }
    return row;
}

// The sums of a tile's rows, of which the first has `carry` already; returns the next one's.
__device__ __forceinline__ Real add_up(Tile &t, int rows, int entries, Real carry) {
    const int diagonal = min(lane() * plan::items, rows + entries);
    const int row = rows_before(t, diagonal, rows, entries);
    Real rest = lane() == 0 ? carry : Real(0);
    const int last = walk(t, row, diagonal - row, rows, entries, rest);
    scan_lanes(last, rest);
    const Real before = shuffle_up(rest, 1); // of the row with which this lane began
    if (lane() > 0 && last > row)
        t.sum[entries + row] += before;
    warp_barrier(); // sums are complete
    return shuffle(rest, warp_size - 1);
}

// The shares: where the path is cut. They are taken in order; or, where `abreast` > 1 and rows are many
// shares long, the path is first cut into as many pieces as there are rows, and so many pieces are
// worked off side by side. Entries of a row stand by column, so that warps that run together then
// read x in the same places, which come from the first-level cache for all but one of them.
struct Cut {
    Index total, pieces, each, count, share; // items; those of a piece, its shares, their items

    __device__ __forceinline__ Cut(const Arguments &a) {
        total = a.rows + a.entries;
        share = plan::items * warp_size * plan::run;
        pieces = 1;
        each = total;
        count = (total + share - 1) / share;
        const Index abreast = a.rows / plan::abreast * plan::abreast;
        if (plan::abreast > 1 && abreast > 0 && count / abreast > 1) {
            // Pieces and shares a little larger, so that there are no more of them than blocks were
            // launched for; none is empty but for some of the last piece's.
            each = (total + abreast - 1) / abreast;
            share = (each + count / abreast - 1) / (count / abreast);
            count = (each + share - 1) / share;
            pieces = (total + each - 1) / each;
        }
    }
    // The number of the share that the calling warp works off, in the order of the path; −1: none.
    __device__ __forceinline__ Index number() const {
        const Index number = thread_index() / warp_size;
        if (plan::abreast == 1 || pieces == 1)
            return number < count ? number : -1;
        const Index step = number / plan::abreast;
        const Index piece = step / count * plan::abreast + number % plan::abreast;
        return piece < pieces ? piece * count + step % count : -1;
    }
    __device__ __forceinline__ Index begin(Index number) const {
        const Index piece = plan::abreast == 1 || pieces == 1 ? 0 : number / count;
        const Index at = piece * each + min((number - piece * count) * share, each);
        return min(at, total);
    }
};

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    Tile &t = reinterpret_cast<Tile *>(shared_bytes())[warp()];
    const Cut cut(a);
    const Index number = cut.number();
    if (number < 0)
        return; // the whole warp
    const Index begin = cut.begin(number);
    int left = static_cast<int>(cut.begin(number + 1) - begin);
    if (lane() == 0) { // what registers need not hold
        t.number = number;
        t.count = cut.pieces * cut.count;
    }
    Index row = rows_before(a, begin), entry = begin - row;
    bool carries = false; // the row has entries in this share
    if (lane() == 0)
        for (int v = 0; v < plan::vectors; ++v)
            t.carry[v] = 0;
    Ends ends;
    ends.ask(a, row, 0);
#pragma unroll 1
    for (; left > 0; left -= tile) {
        const int items = min(left, tile);
        const int rows = ends.find(a, t, row, entry, items), entries = items - rows;
        Integer column[plan::items];
        Value value[plan::items];
#pragma unroll
        for (int k = 0; k < plan::items; ++k) {
            const int i = k * warp_size + lane();
            column[k] = 0;
            value[k] = 0;
            if (i < entries) {
                column[k] = load_matrix<plan::cache>(a.column + entry + i);
                value[k] = load_matrix<plan::cache>(a.value + entry + i);
            }
        }
        ends.ask(a, row + rows, rows); // the next tile's
        warp_barrier(); // all of these are on their way before any is waited for
#pragma unroll 1
        for (int v = 0; v < plan::vectors; ++v) {
            Real product[plan::items];
#pragma unroll
            for (int k = 0; k < plan::items; ++k)
                product[k] = k * warp_size + lane() < entries
                                 ? load_x<plan::cache>(a, column[k], v)
                                 : Real(0);
#pragma unroll
            for (int k = 0; k < plan::items; ++k)
                if (k * warp_size + lane() < entries)
                    product[k] *= static_cast<Real>(value[k]);
            Real carry = lane() == 0 ? t.carry[v] : Real(0); // the first lane's counts alone
            if (rows == 0) { // of one row
                Real sum = product[0];
#pragma unroll
                for (int k = 1; k < plan::items; ++k)
                    sum += product[k];
#pragma unroll
                for (int step = warp_size / 2; step > 0; step /= 2)
                    sum += shuffle_xor(sum, step);
                carry += sum;
            } else {
#pragma unroll
                for (int k = 0; k < plan::items; ++k)
                    if (k * warp_size + lane() < entries)
                        t.sum[k * warp_size + lane()] = product[k];
                warp_barrier(); // lanes walk over products that others made, and over ends
                carry = add_up(t, rows, entries, carry);
                for (int i = lane(); i < rows; i += warp_size)
                    store_sum(a, row + i, v, t.sum[entries + i]);
            }
            warp_barrier(); // what the next products replace is read
            if (lane() == 0)
                t.carry[v] = carry;
        }
        carries = rows > 0 ? entries > t.end[rows - 1] : carries || entries > 0;
        warp_barrier(); // the last end is read
        row += rows;
        entry += entries;
    }
    if (lane() == 0)
        for (int v = 0; v < plan::vectors; ++v)
            leave_carry(a, t.number, t.count, carries ? row : -1, v, t.carry[v]);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    const Cut cut(a);
    add_carries(a, cut.pieces * cut.count);
}
