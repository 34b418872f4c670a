// csr to stencil: of each row by bits which of the diagonals it has; equal patterns of 32 rows found
// by a hash table; patterns numbered in the order in which they first appear; then all arrays.
//
//     number  groups of 32 rows, the table's slots less 1 (slots are a power of two, twice the
//             positions or more)
//     out     group[groups] pattern[32, P] row[R] offset[R + 1] column[t] value[t]
//     work    bits[32, positions]: of groups that deviate
//             state[positions]
//             others[positions]: entries of rows with other entries, where there is such a row
//             slot[groups]: of groups that deviate, where in the table their pattern is
//             table[slots]: the first position with a pattern; all bits set before: free
//             place[3, positions]: a pattern's number; rows and entries that are stored before
//     totals  rows stored, their entries, patterns, whole rows; and the longest row that is stored
//
// Groups without entries have patterns that come behind all others, as the host numbers them: that of
// the last group at position `groups`, where it has none, and that of any other at `groups` + 1.
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "arch/warps.cuh"
#include "arch/cooperation.cuh"
#include "plan.h"
#include "convert.cuh"

constexpr unsigned other = 1u << 31, free_slot = 0xffffffffu;

// A position's state: rows stored, whole rows, and what the group is.
constexpr unsigned rows_mask = 63, deviates = 1u << 16, is_empty = 1u << 17, is_first = 1u << 18;
constexpr int whole_shift = 8;

struct Work {
    unsigned *bits, *state, *slot, *table;
    Integer *others;
    Index *place;
    Index groups, positions;

    __device__ __forceinline__ explicit Work(const Arguments &a)
        : bits(static_cast<unsigned *>(a.work[0])), state(static_cast<unsigned *>(a.work[1])),
          slot(static_cast<unsigned *>(a.work[3])), table(static_cast<unsigned *>(a.work[4])),
          others(static_cast<Integer *>(a.work[2])), place(static_cast<Index *>(a.work[5])),
          groups(a.number[0]), positions(a.number[0] + 2) {
    }
    // Where a group's pattern stands in the order of numbers.
    __device__ __forceinline__ Index position(Index group, unsigned its_state) const {
        return (its_state & is_empty) == 0 ? group : group == groups - 1 ? groups : groups + 1;
    }
};

// ---- rows ------------------------------------------------------------------------------------

// Entries and diagonals ascend alike. Of a row with all diagonals every entry is read at once,
// without waiting for the one before.
__device__ __forceinline__ unsigned bits_of(const Arguments &a, Index row, Index begin, Index end) {
    const int diagonals = static_cast<int>(a.diagonals);
    if (end - begin > diagonals)
        return other; // columns are different
    if (end - begin == diagonals) {
        bool same = true;
#pragma unroll 4
        for (int d = 0; d < diagonals; ++d)
            same &= (load(a.column + begin + d) - row == a.diagonal_offset[d]) &
                    (load(a.value + begin + d) == static_cast<Word>(a.diagonal_value[d]));
        return same ? (1u << diagonals) - 1 : other;
    }
    unsigned bits = 0;
    int d = 0;
    for (Index entry = begin; entry < end; ++entry, ++d) {
        const Index offset = load(a.column + entry) - row;
        while (d < diagonals && a.diagonal_offset[d] < offset)
            ++d;
        if (d == diagonals || a.diagonal_offset[d] != offset ||
            load(a.value + entry) != static_cast<Word>(a.diagonal_value[d]))
            return other;
        bits |= 1u << d;
    }
    return bits;
}

// Sums and maxima over a warp, in all lanes.
__device__ __forceinline__ Index warp_sum(Index of) {
#pragma unroll
    for (int away = warp_lanes / 2; away > 0; away /= 2)
        of += shuffle_xor(of, away);
    return of;
}
__device__ __forceinline__ Index warp_most(Index of) {
#pragma unroll
    for (int away = warp_lanes / 2; away > 0; away /= 2)
        of = maximum(of, shuffle_xor(of, away));
    return of;
}

// Rows that are stored: how many entries they have.
__device__ __forceinline__ void note_others(const Arguments &a, const Work &w, Index group,
                                            Index entries) {
    const Index sum = warp_sum(entries), most = warp_most(entries);
    if (threadIdx.x % warp_lanes != 0)
        return;
    w.others[group] = static_cast<Integer>(sum);
    if (load_relaxed(a.totals + 4) < most)
        atomicMax(a.totals + 4, most);
}

// The two positions behind the groups.
__device__ __forceinline__ void write_empty(const Arguments &a, const Work &w, Index lane) {
    const bool in_last = (w.groups - 1) * warp_lanes + lane < a.rows;
    w.bits[w.groups * warp_lanes + lane] = in_last ? 0 : other;
    w.bits[(w.groups + 1) * warp_lanes + lane] = 0;
    if (lane < 2)
        w.state[w.groups + lane] = 0;
}

// A warp a group.
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments a) {
    const Work w(a);
    const Index row = global_thread(), group = row / warp_lanes, lane = row % warp_lanes;
    if (group >= w.groups)
        return;
    const bool there = row < a.rows;
    const Index begin = there ? load(a.offset + row) : 0, end = there ? load(a.offset + row + 1) : 0;
    const unsigned full = (1u << a.diagonals) - 1;
    const unsigned bits = there ? bits_of(a, row, begin, end) : other;
    const bool stored = there && bits == other, whole = begin < end && bits == full;
    const bool deviating = __any_sync(all_lanes, bits != full) != 0;
    const bool empty = __any_sync(all_lanes, begin < end) == 0;
    const unsigned stored_rows = __popc(ballot_lanes(stored));
    const unsigned whole_rows = __popc(ballot_lanes(whole));
    if (stored_rows != 0)
        note_others(a, w, group, stored ? end - begin : 0);
    if (deviating)
        w.bits[row] = bits;
    if (lane == 0)
        w.state[group] = stored_rows | whole_rows << whole_shift | (deviating ? deviates : 0u) |
                         (empty ? is_empty : 0u);
    if (group == 0)
        write_empty(a, w, lane);
}

// ---- patterns ----------------------------------------------------------------------------------

__device__ __forceinline__ unsigned mixed(unsigned x) { // murmur3's end: A. Appleby
    x = (x ^ x >> 16) * 0x85ebca6bu;
    x = (x ^ x >> 13) * 0xc2b2ae35u;
    return x ^ x >> 16;
}

// A warp a group. A slot that is taken holds a position that has the slot's pattern, for as long as
// the kernel runs, and ever smaller ones: so it is enough to look at any of them, and whoever comes to
// a slot with another pattern goes on to the next. Bits were written by the kernel before.
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_1(const __grid_constant__ Arguments a) {
    const Work w(a);
    const Index group = global_thread() / warp_lanes;
    const int lane = threadIdx.x % warp_lanes;
    if (group >= w.groups)
        return;
    const unsigned state = load(w.state + group);
    if ((state & deviates) == 0)
        return;
    const unsigned position = static_cast<unsigned>(w.position(group, state));
    const unsigned bits = load(w.bits + static_cast<Index>(position) * warp_lanes + lane);
    const unsigned hash = static_cast<unsigned>(
        warp_sum(mixed(bits + 0x9e3779b9u * static_cast<unsigned>(lane + 1))));
    const unsigned last = static_cast<unsigned>(a.number[1]);
    unsigned slot = mixed(hash) & last;
    for (;; slot = (slot + 1) & last) {
        unsigned found = 0;
        if (lane == 0) {
            found = load_relaxed(w.table + slot);
            if (found == free_slot)
                found = atomicCAS(w.table + slot, free_slot, position);
        }
        found = shuffle(found, 0);
        if (found == free_slot)
            break; // it is this group's now
        const unsigned its = load(w.bits + static_cast<Index>(found) * warp_lanes + lane);
        if (__all_sync(all_lanes, its == bits) == 0)
            continue;
        if (lane == 0 && position < found)
            atomicMin(w.table + slot, position);
        break;
    }
    if (lane == 0)
        w.slot[group] = slot;
}

// A thread a slot: the first position of each pattern, which gets its number.
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_2(const __grid_constant__ Arguments a) {
    const Work w(a);
    const Index slot = global_thread();
    if (slot <= a.number[1] && w.table[slot] != free_slot)
        w.state[w.table[slot]] |= is_first;
}

struct Positions {
    static constexpr int counters = 4;
    __device__ static Index count(const Arguments &a) {
        return a.number[0] + 2;
    }
    __device__ static Counts<4> of(const Arguments &a, Index position) {
        const Work w(a);
        const unsigned state = w.state[position];
        const Index stored = state & rows_mask;
        return {{stored, stored != 0 ? w.others[position] : Index(0), (state & is_first) != 0,
                 state >> whole_shift & rows_mask}};
    }
};

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_3(const __grid_constant__ Arguments a) {
    sum_tile<Positions>(a);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_4(const __grid_constant__ Arguments a) {
    scan_tiles<Positions>(a);
}

struct StorePlace {
    Index *place;
    __device__ __forceinline__ void operator()(Index position, const Counts<4> &of,
                                               const Counts<4> &before) const {
        Index *const to = place + 3 * position;
        if (of.at[2] != 0)
            to[0] = before.at[2];
        if (of.at[0] != 0) {
            to[1] = before.at[0];
            to[2] = before.at[1];
        }
    }
};

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_5(const __grid_constant__ Arguments a) {
    for_sums<Positions>(a, StorePlace{Work(a).place});
}

// ---- arrays ------------------------------------------------------------------------------------

// The rows of a group that are stored, one after the other by the whole warp.
__device__ __forceinline__ void store_rows(const Arguments &a, const Index *place, Index row,
                                           bool stored) {
    auto *const to_row = static_cast<Integer *>(a.out[2]), *const offset = static_cast<Integer *>(a.out[3]);
    auto *const column = static_cast<Integer *>(a.out[4]);
    auto *const value = static_cast<Word *>(a.out[5]);
    const int lane = threadIdx.x % warp_lanes;
    const Index begin = stored ? load(a.offset + row) : 0, end = stored ? load(a.offset + row + 1) : 0;
    Index at = place[1], entry = place[2];
    for (unsigned left = ballot_lanes(stored); left != 0; left &= left - 1, ++at) {
        const int of = __ffs(static_cast<int>(left)) - 1;
        const Index first = shuffle(begin, of), last = shuffle(end, of);
        if (lane == of) {
            to_row[at] = static_cast<Integer>(row);
            offset[at] = static_cast<Integer>(entry);
        }
        for (Index e = first + lane; e < last; e += warp_lanes) {
            column[entry + e - first] = load(a.column + e);
            value[entry + e - first] = load(a.value + e);
        }
        entry += last - first;
    }
}

// A warp a position.
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_6(const __grid_constant__ Arguments a) {
    const Work w(a);
    auto *const to_group = static_cast<unsigned *>(a.out[0]), *const pattern = static_cast<unsigned *>(a.out[1]);
    const Index position = global_thread() / warp_lanes;
    const int lane = threadIdx.x % warp_lanes;
    if (position >= w.positions)
        return;
    const unsigned state = load(w.state + position);
    if (position < w.groups && lane == 0)
        to_group[position] =
            (state & deviates) == 0
                ? 0
                : static_cast<unsigned>(w.place[3 * static_cast<Index>(w.table[w.slot[position]])] + 1);
    if (position == w.groups && lane == 0) // where the stored rows end
        static_cast<Integer *>(a.out[3])[a.totals[0]] = static_cast<Integer>(a.totals[1]);
    if ((state & (rows_mask | is_first)) == 0)
        return;
    const unsigned bits = load(w.bits + position * warp_lanes + lane);
    if ((state & is_first) != 0)
        pattern[w.place[3 * position] * warp_lanes + lane] = bits;
    if ((state & rows_mask) != 0) {
        const Index row = position * warp_lanes + lane;
        store_rows(a, w.place + 3 * position, row, bits == other && row < a.rows);
    }
}
