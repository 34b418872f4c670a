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
// A warp takes a share, `run` tiles long, and waits for no other: it searches where the share begins
// and ends. Within it go tiles of entries, each from a multiple of a tile's length on, of which what
// lies outside of the share counts for nothing; a tile has with it the rows that end in it, some or
// many. In shared memory stand marks, where rows end. Each lane has `items` entries one behind the
// other, and adds up what ends with it; what it begins and another lane ends is put together by
// shuffles, and what a warp begins and another ends by a second launch.
//
// What bounds it is how many entries of x, each in a line of its own, a multiprocessor gets from the
// second-level cache. So all columns and values of a tile are on their way at once, then all of x,
// and shared memory, which takes the way of x, is used little: a row's sum goes there once, and once
// the marks. They are bytes, so that no two rows write to the same place.
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
constexpr int half = warp_size / 2;
constexpr int searching = 3;                  // lanes that look for each end
constexpr int words = (plan::items + 3) / 4;  // of a lane's marks

struct Tile {
    Real sum[tile]; // products of the entries, then sums of the rows
    Real carry[plan::vectors];
    unsigned mark[warp_size * words]; // a byte an entry: 1 where a row ends with it
};
static_assert(sizeof(Tile) * (plan::threads / warp_size) <= plan::shared,
              "the host reserves too little shared memory");

// A number of rows, and a little more, in as few bits as the matrix has.
template <int bytes> struct Counted {
    using type = unsigned;
};
template <> struct Counted<8> {
    using type = unsigned long long;
};
using Count = Counted<sizeof(Integer)>::type;

// How many ends of rows stand among the first `diagonal` items; each half of the warp asks for one
// diagonal.
__device__ __forceinline__ Count rows_before(const Arguments &a, Index diagonal) {
    const Index low = diagonal > a.entries ? diagonal - a.entries : 0;
    return first_not<half, searching>(static_cast<Count>(low), static_cast<Count>(min(diagonal, a.rows)),
                                [&](Count row) {
                                    return static_cast<Index>(load(a.offset + row + 1)) +
                                               static_cast<Index>(row) <
                                           diagonal;
                                });
}

// Which of a tile's entries is the lane's k-th as they are read: neighbours by neighbours.
__device__ __forceinline__ int read_place(int k) {
    return k * warp_size + lane();
}
// Where in `sum` the sum of a row stands that ends with such an entry: lanes, of which each has
// `items` of them, write to neighbours.
__device__ __forceinline__ int sum_place(int entry) {
    return entry % plan::items * warp_size + entry / plan::items;
}

// A row that ends in the tile: a lane's own.
struct Row {
    bool ends;
    int last; // entry of the tile; −1: the share has none of the row's entries
};

// A warp's share, and how far it is. Entries are counted from `origin` on, a multiple of a tile, and
// rows from the share's first one on.
struct Share {
    Index first_row;
    Integer origin;
    const Integer *ends; // of the rows
    int rows, stop;      // how many rows; where the entries end
    int row, begin;      // the next row, and where it begins, or the share does
    Integer end;         // of the row that is so many further on as the lane has lanes before it

    // Asks for the ends of rows from `from` on, one a lane.
    __device__ __forceinline__ void ask(int from) {
        end = 0;
        if (from + lane() < rows)
            end = load(ends + from + lane());
    }
    // The lane's own of the rows from `from` on, which have been asked for. `count` of them end among
    // the tile's first `high` entries; `begins` is where the first of them begins, and then the one
    // behind them.
    __device__ __forceinline__ Row take(int from, int first, int high, int &begins,
                                        int &count) const {
        const int at = static_cast<int>(end - origin);
        const int before = shuffle_up(at, 1);
        Row mine;
        mine.ends = from + lane() < rows && at - first <= high;
        mine.last = mine.ends && at > (lane() == 0 ? begins : before) ? at - first - 1 : -1;
        count = __popc(ballot_lanes(mine.ends));
        const int behind = shuffle(at, count > 0 ? count - 1 : 0);
        begins = count > 0 ? behind : begins;
        return mine;
    }
};

// Marks the entries of the tile at `first` with which rows end. How many rows do; `mine`: the lane's own
// of the first of them; `begins`: where the row behind them begins. It has been asked for the first.
__device__ __forceinline__ int mark_rows(Tile &t, Share &share, int first, int high, Row &mine,
                                         int &begins) {
    unsigned char *const marks = reinterpret_cast<unsigned char *>(t.mark);
    begins = share.begin;
    for (int found = 0;;) {
        int count;
        const Row row = share.take(share.row + found, first, high, begins, count);
        if (row.last >= 0)
            marks[row.last / plan::items * (words * 4) + row.last % plan::items] = 1;
        if (found == 0)
            mine = row;
        found += count;
        if (count < warp_size)
            return found;
        share.ask(share.row + found);
    }
}

// Bit k: a row ends with the lane's k-th entry.
__device__ __forceinline__ unsigned marks_of_lane(const Tile &t) {
    unsigned bits = 0;
#pragma unroll
    for (int w = 0; w < words; ++w) // the bytes' lowest bits, side by side
        bits |= t.mark[lane() * words + w] * 0x10204080u >> 28 << 4 * w;
    return bits;
}

// The sums of a tile's rows go to their places; `carry`, what the first of them has already, becomes
// what the row behind them has.
__device__ __forceinline__ void add_up(Tile &t, const Real (&product)[plan::items], unsigned bits,
                                       Real &carry) {
    Real rest = 0; // behind the last row that ends with the lane
#pragma unroll
    for (int k = 0; k < plan::items; ++k)
        rest = bits >> k & 1 ? Real(0) : rest + product[k];
    if (lane() == 0 && bits == 0)
        rest += carry;
    // Of the lanes from the last one on with which a row ends: `head`.
    const unsigned heads = (ballot_lanes(bits != 0) | 1) & (all_lanes >> (warp_size - 1 - lane()));
    const int head = 31 - __clz(heads);
#pragma unroll
    for (int step = 1; step < warp_size; step *= 2) {
        const Real before = shuffle_up(rest, step);
        if (lane() - step >= head)
            rest += before;
    }
    const Real before = shuffle_up(rest, 1);
    Real sum = lane() == 0 ? carry : before;
#pragma unroll
    for (int k = 0; k < plan::items; ++k) {
        sum += product[k];
        if (bits >> k & 1) {
            t.sum[k * warp_size + lane()] = sum;
            sum = 0;
        }
    }
    carry = shuffle(rest, warp_size - 1);
}

__device__ __forceinline__ void store_row(const Arguments &a, const Tile &t, Index row, int vector,
                                          const Row &mine) {
    if (mine.ends)
        store_sum(a, row + lane(), vector, mine.last >= 0 ? t.sum[sum_place(mine.last)] : Real(0));
}

// y of the `found` rows that end in the tile.
__device__ __forceinline__ void store_rows(const Arguments &a, const Tile &t, Share share,
                                           int first, int high, int found, const Row &mine,
                                           int vector) {
    const Index row = share.first_row + share.row;
    if (found < warp_size) {
        store_row(a, t, row, vector, mine);
        return;
    }
    for (int at = 0; at < found; at += warp_size) { // once more, as mark_rows has found them
        int count;
        share.ask(share.row + at);
        store_row(a, t, row + at, vector,
                  share.take(share.row + at, first, high, share.begin, count));
    }
}

// The shares: where the path is cut. They are taken in order, the last quarter of the path in shares
// that are `taper` times shorter, so that all end at about the same time; or, where `abreast` > 1 and rows are many
// shares long, the path is first cut into as many pieces as there are rows, and so many pieces are
// worked off side by side. Entries of a row stand by column, so that warps that run together then
// read x in the same places, which come from the first-level cache for all but one of them.
struct Cut {
    Index total, pieces, each, count, share; // items; those of a piece, its shares, their items
    Index whole, rest;                       // shares that are not tapered; items of one that is

    __device__ __forceinline__ Cut(const Arguments &a) {
        total = a.rows + a.entries;
        share = plan::items * warp_size * plan::run;
        pieces = 1;
        each = total;
        whole = count = (total + share - 1) / share;
        rest = share;
        const Index abreast = a.rows / plan::abreast * plan::abreast;
        if (plan::abreast > 1 && abreast > 0 && count / abreast > 1) {
            // Pieces and shares a little larger, so that there are no more of them than blocks were
            // launched for; none is empty but for some of the last piece's.
            each = (total + abreast - 1) / abreast;
            share = (each + count / abreast - 1) / (count / abreast);
            count = (each + share - 1) / share;
            pieces = (total + each - 1) / each;
        } else if (plan::taper > 1 && count > 8) { // as the host launches blocks for
            whole = (3 * total + 4 * share - 1) / (4 * share); // at least three quarters of the path
            rest = (share + plan::taper - 1) / plan::taper;
            count = whole + (total - whole * share + rest - 1) / rest;
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
        if (plan::abreast == 1 || pieces == 1)
            return min(number < whole ? number * share : whole * share + (number - whole) * rest,
                       total);
        const Index piece = number / count;
        const Index at = piece * each + min((number - piece * count) * share, each);
        return min(at, total);
    }
};

// The calling warp's.
__device__ __forceinline__ Share find_share(const Arguments &a, const Cut &cut, Index number) {
    const Index diagonal = cut.begin(number + lane() / half);
    const Index found = rows_before(a, diagonal), at = diagonal - found;
    const Index row = shuffle(found, 0), begin = shuffle(at, 0);
    const Index origin = static_cast<Count>(begin) / tile * tile;
    Share s;
    s.first_row = row;
    s.origin = static_cast<Integer>(origin);
    s.ends = a.offset + row + 1;
    s.rows = static_cast<int>(shuffle(found, half) - row);
    s.stop = static_cast<int>(shuffle(at, half) - origin);
    s.row = 0;
    s.begin = static_cast<int>(begin - origin);
    s.ask(0);
    return s;
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    Tile &t = reinterpret_cast<Tile *>(shared_bytes())[warp()];
    const Cut cut(a);
    const Index number = cut.number();
    if (number < 0)
        return; // the whole warp
    Share share = find_share(a, cut, number);
    const Integer *const columns = a.column + share.origin;
#if defined(PLAN_NARROW)
    const StoredValue *const values = a.value + share.origin;
#else
    const Value *const values = a.value + share.origin;
#endif
    bool carries = false; // the next row has entries in this share
    if (lane() == 0)
        for (int v = 0; v < plan::vectors; ++v)
            t.carry[v] = 0;
    int low = share.begin; // of the tile's entries, those from `low` to `high` are the share's
#pragma unroll 1
    for (int first = 0;; first += tile) {
        const int high = min(share.stop - first, tile);
        Integer column[plan::items];
        Value value[plan::items];
#pragma unroll
        for (int k = 0; k < plan::items; ++k) {
            const int i = read_place(k);
            column[k] = 0;
            value[k] = 0;
            if (i >= low && i < high) {
                column[k] = load_matrix<plan::cache>(columns + first + i);
                value[k] = load_matrix<plan::cache>(values + first + i);
            }
        }
#pragma unroll
        for (int w = 0; w < words; ++w)
            t.mark[w * warp_size + lane()] = 0;
        warp_barrier(); // marks are cleared
        Row mine;
        int behind; // where the row behind those of the tile begins
        const int ended = mark_rows(t, share, first, high, mine, behind);
        warp_barrier(); // and set
        const unsigned bits = marks_of_lane(t);
#pragma unroll 1
        for (int v = 0; v < plan::vectors; ++v) {
            Real product[plan::items];
#pragma unroll
            for (int k = 0; k < plan::items; ++k) {
                const int i = read_place(k);
                product[k] = i >= low && i < high ? load_x<plan::cache>(a, column[k], v) : Real(0);
            }
#pragma unroll
            for (int k = 0; k < plan::items; ++k)
                if (read_place(k) >= low && read_place(k) < high)
                    product[k] *= static_cast<Real>(value[k]);
            Real carry = t.carry[v];
            if (ended == 0) { // all of one row
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
                    t.sum[read_place(k)] = product[k];
                warp_barrier(); // products are there for those that add them up
#pragma unroll
                for (int k = 0; k < plan::items; ++k)
                    product[k] = t.sum[lane() * plan::items + k];
                warp_barrier(); // and read, so that sums may take their places
                add_up(t, product, bits, carry);
                warp_barrier(); // sums are there
                store_rows(a, t, share, first, high, ended, mine, v);
            }
            warp_barrier(); // the sums, and the old carry, are read
            if (lane() == 0)
                t.carry[v] = carry;
        }
        carries = ended > 0 ? first + high > behind : carries || low < high;
        share.row += ended;
        share.begin = behind;
        if (share.stop - first <= tile)
            break;
        share.ask(share.row); // the next tile's
        low = 0;
        warp_barrier(); // marks are read, and the carry is there
    }
    const Index next = carries ? share.first_row + share.row : -1;
    if (lane() == 0)
        for (int v = 0; v < plan::vectors; ++v)
            leave_carry(a, number, cut.pieces * cut.count, next, v, t.carry[v]);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    const Cut cut(a);
    add_carries(a, cut.pieces * cut.count);
}
