// runs: for processors. Blocks are single threads, which draw tiles from a counter until there are no
// more. A thread joins its tile, waits for what comes before it, publishes what comes before the
// next tile, and goes over the tile once more, which a cache of its core still holds:
//
//     tile       0         1         2         the sum of a tile needs no other; a prefix needs the
//     join       ─────     ─────     ─────     one before it alone, and is known long before the
//     prefix          p0 ────→ p1 ────→ p2     next tile is joined
//     scan            ─────     ─────  ─────
//
// In its tile the thread scans several runs side by side, since each operation waits for the one
// before it. Tiles and runs depend on the length alone, so results have the same bits every time.
#include "arch/memory.cuh"
#include "arch/rows.cuh"
#include "numbers.cuh"
#include "arch/cooperation.cuh"
#include "plan.h"
#include "items.cuh"
#include "lanes.cuh"

constexpr int chains = 8; // runs of a tile
constexpr int part = 128; // elements of a run between two stores

// The runs of a tile, `share` elements each, after what comes before them.
template <class Cell>
__device__ __noinline__ void scan_chains(const Arguments &of, Cell *output, Index first,
                                         Index share, const Real (&before)[chains], bool past) {
    const Arguments arguments = of;
    alignas(64) Cell made[chains][part];
    Real now[chains];
    UNROLLED
    for (int c = 0; c < chains; ++c)
        now[c] = before[c];
    for (Index i = first; i < first + share; i += part) {
        const int count = static_cast<int>(least(part, first + share - i));
        for (int k = 0; k < count; ++k) {
            UNROLLED
            for (int c = 0; c < chains; ++c) {
                const Real next = combine(arguments, now[c], item_at(arguments, i + c * share + k));
                made[c][k] = plan::exclusive ? now[c] : next;
                now[c] = next;
            }
        }
        for (int c = 0; c < chains; ++c)
            store_row(output + i + c * share, made[c], count, past);
    }
}

// Elements first … end − 1, one by one.
template <class Cell>
__device__ __forceinline__ void scan_few(const Arguments &arguments, Cell *output, Index first,
                                         Index end, Real before) {
    for (Index i = first; i < end; ++i) {
        const Real next = combine(arguments, before, item_at(arguments, i));
        output[i] = plan::exclusive ? before : next;
        before = next;
    }
}

// What comes before a tile.
__device__ __forceinline__ Real await_prefix(const Arguments &arguments, Index tile) {
    if (tile == 0)
        return initial(arguments);
    const unsigned long long *known = static_cast<unsigned long long *>(arguments.published) + tile;
    while (load_acquire(known) == 0)
        wait_a_moment();
    return load_relaxed(static_cast<const Real *>(arguments.values) + tile - 1);
}
__device__ __forceinline__ void publish_prefix(const Arguments &arguments, Index tile, Real value) {
    store_relaxed(static_cast<Real *>(arguments.values) + tile, value);
    store_release(static_cast<unsigned long long *>(arguments.published) + tile + 1, 1ull);
}

__device__ __forceinline__ void scan_tile(const Arguments &arguments, Index tile, bool past) {
    const Index first = tile * plan::run, end = least(first + plan::run, arguments.count);
    const Index share = (end - first) / chains, rest = first + chains * share;
    Real sum[chains], before[chains];
    for (int c = 0; c < chains; ++c)
        sum[c] = join_run<Inputs>(arguments, first + c * share, first + (c + 1) * share);
    const Real last = join_few<Inputs>(arguments, rest, end);
    Real prefix = await_prefix(arguments, tile);
    for (int c = 0; c < chains; ++c) {
        before[c] = prefix;
        prefix = combine(arguments, prefix, sum[c]);
    }
    publish_prefix(arguments, tile, combine(arguments, prefix, last));
    scan_chains(arguments, arguments.output, first, share, before, past);
    scan_few(arguments, arguments.output, rest, end, prefix);
}

extern "C" __global__ void __launch_bounds__(plan::threads)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    const Index tiles = (arguments.count - 1) / plan::run + 1;
    const bool past = past_caches(2 * arguments.count * Index(sizeof(*arguments.output)));
    unsigned long long *const counter = static_cast<unsigned long long *>(arguments.published);
    for (;;) {
        const Index tile = static_cast<Index>(atomic_add(counter, 1ull));
        if (tile >= tiles)
            return;
        scan_tile(arguments, tile, past);
    }
}
