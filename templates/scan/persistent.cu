// persistent: look-back (Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back,
// NVIDIA NVR-2016-002) by blocks that stay. There are as many as the device runs at once; block b
// scans the tiles b, b + blocks, b + 2·blocks, …, and while it works at one the elements of its next
// ones are on their way into shared memory, so that memory does not idle while blocks wait:
//
//     stage 0   loads 0 | scan 0, look back, store 0 | loads 2 ………………………| scan 2 …
//     stage 1           | loads 1 …………………………………| scan 1, look back, store | loads 3 …
//
// Tiles look back by groups of 32. A tile publishes its sum; the last of a group adds up the group
// and publishes that sum, and then the prefix, the sum of everything up to the group's end:
//
//     group     0                  1                  2
//     tile      0 1 2 …  31        32 33 …  63        64 65 66
//     published s s s …            s  s  …            s  s  –
//                      S P                 S –
//                        └────────────→────┴──────────→  before 66: P0 ∘ S1 ∘ (s64 ∘ s65)
//
// So a tile reads 32 words of its group and those of the 32 groups before it, all at once. It takes
// the nearest known prefix, joins the sums of the groups behind that one after another, and then
// those of its own group's tiles by a tree whose shape does not change. A prefix that is published
// was made by the same operations; results are the same bits on every run.
//
// Memory that blocks share is prepared by nobody: see cooperation.cuh. A block waits only for tiles
// of lower numbers, and has published its own lower ones before it waits: of the tiles that are not
// published, the block of the lowest waits for nobody, so all come to an end as long as all blocks
// are resident. A block of a launch with a block for every tile waits only for blocks of lower
// numbers, which have begun before it.
#include "common.cuh"
#include "cooperation.cuh"
#include "async.cuh"
#include "plan.h"
#include "tile.cuh"

// ---- what tiles publish ------------------------------------------------------------------------

struct alignas(32) GroupWords {
    MarkedWord sum, prefix;
};

struct Board {
    unsigned long long *epoch;
    MarkedWord *tiles; // of the last tile of a group it is not used
    GroupWords *groups;
    unsigned long long before, mark;

    // The loads of the epoch and of the first elements are under way together.
    __device__ __forceinline__ explicit Board(const Arguments &arguments)
        : epoch(static_cast<unsigned long long *>(arguments.published)),
          tiles(static_cast<MarkedWord *>(arguments.published) + 1),
          groups(static_cast<GroupWords *>(arguments.groups)),
          before(warp() == 0 ? load_relaxed(epoch) : 0),
          mark(mark_of(arguments.tag + launch_number(), before)) {
    }
    __device__ __forceinline__ void put(MarkedWord *to, Real value) const {
        MarkedWord word = {mark, 0};
        memcpy(&word.value, &value, sizeof value);
        publish(to, word);
    }
    // Whether the word is there; else leaves `value`.
    __device__ __forceinline__ bool take(const MarkedWord &word, Real &value) const {
        if (word.mark == mark)
            memcpy(&value, &word.value, sizeof value);
        return word.mark == mark;
    }
    // Of a replay with the same tag the mark is another one. Whoever calls this knows what all other
    // blocks have published, with marks that they made of the epoch that they had read.
    __device__ __forceinline__ void end() const {
        store_relaxed(epoch, before + 1);
    }
};

// ---- looking back ------------------------------------------------------------------------------

// A step from one prefix to the next: the same operations wherever it stands. Of a function of the
// spec the compiler might contract others at each place.
#if defined(PATTERN_OWN_OPERATOR)
__device__ __noinline__
#else
__device__ SAME_BITS
#endif
    Real
    chain(const Arguments &arguments, Real before, Real value) {
    return combine(arguments, before, value);
}

// What a lane has seen of a group.
struct Seen {
    Real value; // the prefix, or else the sum
    bool prefix, any;
    __device__ __forceinline__ void look(const Board &board, const GroupWords *group) {
        const MarkedWord sum = look_at(&group->sum), all = look_at(&group->prefix);
        any = board.take(sum, value);
        prefix = board.take(all, value);
        any = any || prefix;
    }
};

// The prefix of the group before. Each lane looks at one of the 32 groups before `group`, the last
// one at the nearest; `seen` is what it saw there at first. It need not look further back: if none
// of the 32 has its prefix yet, the lowest of them that has none will have one soon.
__device__ __forceinline__ Real before_group(const Arguments &arguments, const Board &board,
                                             Index group, Seen seen) {
    const Index at = group - warp_size + lane();
    int nearest; // lane of the nearest group whose prefix is known, or −1
    for (;;) {
        nearest = warp_size - 1 - __clz(static_cast<int>(ballot_lanes(seen.prefix)));
        const bool missing = at >= 0 && (nearest < 0 || (lane() > nearest && !seen.any));
        if (!any_lane(missing))
            break;
        backoff();
        if (missing)
            seen.look(board, &board.groups[at]);
    }
    Real before = shuffle(seen.value, nearest);
    for (int l = nearest + 1; l < warp_size; ++l)
        before = chain(arguments, before, shuffle(seen.value, l));
    return before;
}

// What comes before a tile, whose sum is `all`. One warp calls it, once it has that.
__device__ __forceinline__ Real look_back(const Arguments &arguments, const Board &board, Index mine,
                                          Real all) {
    const int place = static_cast<int>(static_cast<unsigned>(mine) % warp_size);
    const bool last = place == warp_size - 1;
    const Index group = mine / warp_size, at = group - warp_size + lane();
    if (lane() == 0 && !last)
        board.put(&board.tiles[mine], all);

    Seen seen = {identity(), false, false};
    if (at >= 0)
        seen.look(board, &board.groups[at]);
    Real value = lane() == place ? all : identity();
    for (bool known = lane() >= place;;) {
        if (!known)
            known = board.take(look_at(&board.tiles[mine - place + lane()]), value);
        if (every_lane(known))
            break;
        backoff();
    }
    // Lane l comes to hold the sum of its tile and those before it in the group.
#pragma unroll
    for (int distance = 1; distance < warp_size; distance *= 2) {
        const Real other = shuffle_up(value, distance);
        if (lane() >= distance)
            value = combine(arguments, other, value);
    }
    const Real sum = shuffle(value, warp_size - 1);
    const Real inside = shuffle(value, place == 0 ? 0 : place - 1);
    if (lane() == 0 && last)
        board.put(&board.groups[group].sum, sum);
    const Real before =
        group == 0 ? initial(arguments) : before_group(arguments, board, group, seen);
    if (lane() == 0 && last)
        board.put(&board.groups[group].prefix, chain(arguments, before, sum));
    return place == 0 ? before : chain(arguments, before, inside);
}

// ---- a tile in shared memory -------------------------------------------------------------------

// Elements travel in packs of 16 bytes. Each warp has its part of the tile: it loads packs that lie
// side by side, reads those of each thread, and back. A place is left out after every 8 packs where a
// thread has an even number of them, so that 8 lanes, which have access at a time, meet all banks.
constexpr int pack = 16 / static_cast<int>(sizeof(Real));
constexpr int packs = plan::items / pack;
static_assert(plan::items % pack == 0, "threads have whole packs");
constexpr int warp_packs = warp_size * packs;
constexpr int skew = packs % 2 == 0 ? 8 : 2 * warp_packs;
constexpr int pitch = warp_packs + warp_packs / skew;
using Packed = Pack<Real, pack>;

__device__ __forceinline__ int place_of(int p) {
    return p + p / skew;
}
__device__ __forceinline__ Real *place_of(Packed *staged, int i) {
    return &staged[place_of(i / pack)].element[i % pack];
}

struct Shared {
    Packed staged[plan::stages][warps][pitch];
    Real sums[warps];
    Real before;
};
static_assert(sizeof(Shared) <= plan::shared_bytes, "the host counts the same bytes");

// What a launch knows of its lists. Lists begin at any element; where one does not begin at a pack
// its elements travel alone.
struct Lists {
    const Real *input;
    Real *output;
    Index count;
    bool packed_input, packed_output;
    __device__ __forceinline__ explicit Lists(const Arguments &arguments)
        : input(arguments.input), output(arguments.output), count(arguments.count),
          packed_input(reinterpret_cast<unsigned long long>(input) % sizeof(Packed) == 0),
          packed_output(reinterpret_cast<unsigned long long>(output) % sizeof(Packed) == 0) {
    }
    // Whether the warp's part of a tile, which begins at element `base`, is complete.
    __device__ __forceinline__ bool whole(Index base) const {
        return base + warp_items <= count;
    }
};

// Begins the loads of a warp's part. The output may be the input, so that these are plain loads.
__device__ __forceinline__ void begin_loads(const Lists &lists, Packed *staged, Index base) {
    const Real *const from = lists.input + base;
    if (lists.packed_input && lists.whole(base)) {
        const Packed *const packed = reinterpret_cast<const Packed *>(from) + lane();
        const SharedAt<Packed> to(&staged[place_of(lane())]);
#pragma unroll
        for (int k = 0; k < packs; ++k)
            copy_own_async(to + k * place_of(warp_size), packed + k * warp_size);
    } else {
        for (int i = lane(); i < warp_items; i += warp_size)
            if (base + i < lists.count)
                copy_own_async(SharedAt<Real>(place_of(staged, i)), from + i);
    }
}

__device__ __forceinline__ void read_items(const Arguments &arguments, const Lists &lists,
                                           const Packed *staged, Index base,
                                           Real (&item)[plan::items]) {
#pragma unroll
    for (int k = 0; k < packs; ++k) {
        const Packed from = staged[place_of(lane() * packs + k)];
#pragma unroll
        for (int e = 0; e < pack; ++e)
            item[k * pack + e] = from.element[e];
    }
    const Index left = lists.count - (base + lane() * plan::items);
    if (lists.whole(base)) {
#pragma unroll
        for (int i = 0; i < plan::items; ++i)
            item[i] = element(arguments, item[i]);
    } else {
#pragma unroll
        for (int i = 0; i < plan::items; ++i)
            item[i] = i < left ? element(arguments, item[i]) : identity();
    }
}

__device__ __forceinline__ void store_items(const Lists &lists, Packed *staged, Index base,
                                            const Real (&item)[plan::items]) {
#pragma unroll
    for (int k = 0; k < packs; ++k) {
        Packed to;
#pragma unroll
        for (int e = 0; e < pack; ++e)
            to.element[e] = item[k * pack + e];
        staged[place_of(lane() * packs + k)] = to;
    }
    warp_barrier(); // the warp's results are there before a lane stores what others made
    Real *const to = lists.output + base;
    if (lists.packed_output && lists.whole(base)) {
        Packed *const packed = reinterpret_cast<Packed *>(to) + lane();
#pragma unroll
        for (int k = 0; k < packs; ++k)
            store_once(packed + k * warp_size, staged[place_of(k * warp_size + lane())]);
    } else {
        for (int i = lane(); i < warp_items; i += warp_size)
            if (base + i < lists.count)
                store_once(to + i, *place_of(staged, i));
    }
}

// ---- the blocks --------------------------------------------------------------------------------

// The output may be the input: tiles are a block's own, and it has read one before it writes any of it.
extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    Shared &shared = *reinterpret_cast<Shared *>(shared_bytes());
    const Board board(arguments);
    const Lists lists(arguments);
    const Index tiles = (arguments.count - 1) / tile + 1, blocks = gridDim.x;
    const Index part = warp() * static_cast<Index>(warp_items);

    // Every stage ends a group of copies, also where there is no more to load.
    Index mine = blockIdx.x, coming = mine;
#pragma unroll
    for (int s = 0; s < plan::stages - 1; ++s, coming += blocks) {
        if (coming < tiles)
            begin_loads(lists, shared.staged[s][warp()], coming * tile + part);
        copies_commit();
    }
    for (int stage = 0; mine < tiles; mine += blocks, coming += blocks) {
        const int behind = stage == 0 ? plan::stages - 1 : stage - 1;
        if (coming < tiles)
            begin_loads(lists, shared.staged[behind][warp()], coming * tile + part);
        copies_commit();
        copies_wait<plan::stages - 1>();
        warp_barrier(); // the warp's elements are there before a lane reads what others loaded
        Packed *const staged = shared.staged[stage][warp()];
        const Index base = mine * tile + part;
        Real item[plan::items], all;
        read_items(arguments, lists, staged, base, item);
        const Real inside = before_thread(arguments, shared.sums, item, all);

        // Alone it has nobody to ask and leaves the board as it is.
        if (warp() == 0) {
            const Real before =
                tiles == 1 ? initial(arguments) : look_back(arguments, board, mine, all);
            if (lane() == 0) {
                shared.before = before;
                if (tiles > 1 && mine == tiles - 1)
                    board.end();
            }
        }
        // The block knows what comes before it. And all have read the sums of its warps before any
        // of them writes those of the next tile.
        __syncthreads();
        Real running = combine(arguments, shared.before, inside);
#pragma unroll
        for (int k = 0; k < plan::items; ++k) {
            const Real next = combine(arguments, running, item[k]);
            item[k] = plan::exclusive ? running : next;
            running = next;
        }
        store_items(lists, staged, base, item);
        warp_barrier(); // all lanes have read the results before the stage's next elements come
        stage = stage == plan::stages - 1 ? 0 : stage + 1;
    }
}
