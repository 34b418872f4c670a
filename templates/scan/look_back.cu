// look-back: the whole scan in one pass over memory (Merrill, Garland: Single-pass Parallel Prefix
// Scan with Decoupled Look-back, NVIDIA NVR-2016-002). A block scans its tile, publishes the
// tile's sum, and adds up what blocks before it have published until it meets one that already
// knows the prefix, which is the sum of everything up to its end:
//
//     tile       0       1       2       3       4       5
//     published  prefix  prefix  sum     sum     sum     –       nothing yet
//                        └───────┴───────┴───────┴─────→ before tile 5
//
// Tiles are drawn from a counter, so that a block waits only for blocks that have begun.
#include "arch/compilers.cuh"
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "arch/warps.cuh"
#include "arch/cooperation.cuh"
#include "arch/marked_words.cuh"
#include "plan.h"
#include "tile.cuh"

// ---- what tiles publish ------------------------------------------------------------------------

constexpr unsigned nothing = 0, sum = 1, prefix = 2;

template <class T, bool one_word = sizeof(T) == 4> struct Board;

// Value and status in one word: whoever sees the status sees the value.
template <class T> struct Board<T, true> {
    struct alignas(8) Word {
        T value;
        unsigned status;
    };
    Word *words;
    __device__ __forceinline__ explicit Board(const Arguments &arguments)
        : words(static_cast<Word *>(arguments.published) + 1) {
    }
    __device__ __forceinline__ void publish(Index at, unsigned status, T value) const {
        store_relaxed(&words[at], Word{value, status});
    }
    __device__ __forceinline__ unsigned look(Index at, T &value) const {
        const Word word = load_relaxed(&words[at]);
        value = word.value;
        return word.status;
    }
};

// A status and two places for values, each written once: the value is there before the status
// is released, and whoever has acquired the status reads the value that it speaks of.
template <class T> struct Board<T, false> {
    unsigned long long *statuses;
    T *values;
    template <class A> // Arguments, which has `values` only where this Board is used
    __device__ __forceinline__ explicit Board(const A &arguments)
        : statuses(static_cast<unsigned long long *>(arguments.published) + 1),
          values(static_cast<T *>(arguments.values)) {
    }
    __device__ __forceinline__ void publish(Index at, unsigned status, T value) const {
        store_relaxed(&values[2 * at + status - 1], value);
        store_release(&statuses[at], static_cast<unsigned long long>(status));
    }
    __device__ __forceinline__ unsigned look(Index at, T &value) const {
        const unsigned status = static_cast<unsigned>(load_acquire(&statuses[at]));
        if (status != nothing)
            value = load_relaxed(&values[2 * at + status - 1]);
        return status;
    }
};

// ---- looking back ------------------------------------------------------------------------------

// What comes before a tile; the 32 lanes look at 32 tiles at a time, the last one at the nearest.
// Sums are grouped by which tiles happened to know their prefix.
__device__ __forceinline__ Real look_back(const Arguments &arguments, const Board<Real> &board,
                                          Index mine) {
    Real later = identity();
    for (Index last = mine - 1;; last -= warp_size) {
        const Index at = last - (warp_size - 1) + lane();
        Real value;
        int nearest; // lane of the nearest tile that knows its prefix, or −1
        for (;;) {
            value = identity();
            // Tile 0 never has just a sum, so that nobody adds what would lie before it.
            const unsigned status = at < 0 ? sum : board.look(at, value);
            nearest = warp_size - 1 - __clz(static_cast<int>(ballot_lanes(status == prefix)));
            const unsigned needed = nearest < 0 ? all_lanes : all_lanes << nearest;
            if ((ballot_lanes(status == nothing) & needed) == 0)
                break;
            backoff();
        }
        // Lane l comes to hold the sum of its tile and all later ones of the window.
        for (int distance = 1; distance < warp_size; distance *= 2) {
            const Real other = shuffle_down(value, distance);
            if (lane() + distance < warp_size)
                value = combine(arguments, value, other);
        }
        later = combine(arguments, shuffle(value, nearest < 0 ? 0 : nearest), later);
        if (nearest >= 0)
            return later;
    }
}

// The same, always grouped as (((initial∘sum 0)∘sum 1)∘sum 2)∘…: every prefix is the one before it
// and the tile's own sum. So is every one that is published, and it makes no difference from which
// of them a block goes on: back to the nearest known one, and forward again in order.
__device__ __forceinline__ Real look_back_in_order(const Arguments &arguments,
                                                   const Board<Real> &board, Index mine) {
    Real before = identity();
    Index next = -1; // the first tile that `before` does not hold
    for (Index last = mine - 1; next < 0; last = last < warp_size ? mine - 1 : last - warp_size) {
        const Index at = last - (warp_size - 1) + lane();
        Real value = identity();
        const unsigned status = at < 0 ? nothing : board.look(at, value);
        const int nearest = warp_size - 1 - __clz(static_cast<int>(ballot_lanes(status == prefix)));
        before = shuffle(value, nearest < 0 ? 0 : nearest);
        if (nearest >= 0)
            next = last - (warp_size - 1) + nearest + 1;
        else if (last < warp_size)
            backoff(); // not even tile 0; from the nearest again
    }
    while (next < mine) {
        const Index at = next + lane();
        Real value;
        int known; // lane of the last tile that knows its prefix, or −1
        for (;;) {
            value = identity();
            const unsigned status = at < mine ? board.look(at, value) : sum;
            known = warp_size - 1 - __clz(static_cast<int>(ballot_lanes(status == prefix)));
            const unsigned needed = known < 0 ? all_lanes : all_lanes << known;
            if ((ballot_lanes(status == nothing) & needed) == 0)
                break;
            backoff();
        }
        for (int l = 0; l < warp_size; ++l) {
            const Real one = shuffle(value, l);
            if (l == known)
                before = one;
            else if (l > known && next + l < mine)
                before = PATTERN_CHAIN(arguments, before, one);
        }
        next += warp_size;
    }
    return before;
}

// ---- a tile ------------------------------------------------------------------------------------

// A warp's elements on their way between memory, where consecutive lanes have consecutive ones,
// and registers, where a thread has consecutive ones. With an even number of items a place is left
// out after every 32, so that the lanes of a step use different banks.
constexpr int pitch = warp_items + (plan::items % 2 == 0 ? plan::items : 0);
__device__ __forceinline__ int place(int i) { return plan::items % 2 == 0 ? i + i / warp_size : i; }

struct Shared {
    Real staged[warps][pitch];
    Real sums[warps];
    Real before;
    Index tile;
};
static_assert(sizeof(Shared) <= plan::shared_bytes, "the host counts the same bytes");

__device__ __forceinline__ void load_items(const Arguments &arguments, Real *staged, Index base,
                                           Items &item) {
#pragma unroll
    for (int k = 0; k < plan::items; ++k) {
        const Index at = base + k * warp_size + lane();
        staged[place(k * warp_size + lane())] =
            at < arguments.count ? prepared(arguments, arguments.input[at]) : identity();
    }
    warp_barrier(); // the warp's elements are there before a lane reads what others loaded
#pragma unroll
    for (int k = 0; k < plan::items; ++k)
        item[k] = staged[place(lane() * plan::items + k)];
}

__device__ __forceinline__ void store_items(const Arguments &arguments, Real *staged, Index base,
                                            const Items &item) {
#pragma unroll
    for (int k = 0; k < plan::items; ++k)
        staged[place(lane() * plan::items + k)] = item[k];
    warp_barrier(); // the warp's results are there before a lane stores what others made
#pragma unroll
    for (int k = 0; k < plan::items; ++k) {
        const Index at = base + k * warp_size + lane();
        if (at < arguments.count)
            arguments.output[at] = staged[place(k * warp_size + lane())];
    }
}

// The output may be the input: a block has read its tile before it writes any of it. And results
// are staged where elements were, which all lanes have read some barriers before.
extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    Shared &shared = *reinterpret_cast<Shared *>(shared_bytes());
    if (threadIdx.x == 0)
        shared.tile = static_cast<Index>(
            atomicAdd(static_cast<unsigned long long *>(arguments.published), 1ull));
    __syncthreads(); // the block knows its tile
    const Index mine = shared.tile, base = mine * tile + warp() * static_cast<Index>(warp_items);

    Items item;
    load_items(arguments, shared.staged[warp()], base, item);
    Real all;
    const Real inside = before_thread(arguments, shared.sums, item, all);

    if (warp() == 0) {
        const Board<Real> board(arguments);
        Real before = initial(arguments);
        if (mine > 0) {
            if (lane() == 0)
                board.publish(mine, sum, all);
            before = plan::in_order ? look_back_in_order(arguments, board, mine)
                                    : look_back(arguments, board, mine);
        }
        if (lane() == 0) {
            board.publish(mine, prefix, PATTERN_CHAIN(arguments, before, all));
            shared.before = before;
        }
    }
    __syncthreads(); // the block knows what comes before it

    Real running = combine(arguments, shared.before, inside);
#pragma unroll
    for (int k = 0; k < plan::items; ++k) {
        const Real next = combine(arguments, running, item[k]);
        item[k] = plan::exclusive ? running : next;
        running = next;
    }
    store_items(arguments, shared.staged[warp()], base, item);
}
