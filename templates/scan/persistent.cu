// persistent: look-back (Merrill, Garland: Single-pass Parallel Prefix Scan with Decoupled Look-back, NVIDIA
// NVR-2016-002) by as many blocks as the device runs at once. While a block scans one tile, its next ones are
// copied into shared memory:
//
//     stage 0   loads 0 | scan 0, look back, store 0 | loads 2 ………………………| scan 2 …
//     stage 1           | loads 1 …………………………………| scan 1, look back, store | loads 3 …
//
// Block b scans tile b, and then those so many blocks further on. Nobody waits for ever: all blocks are
// resident, and a tile waits only for lower tiles, so the lowest that is not done waits for nobody.
#include "arch/compilers.cuh"
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "numbers.cuh"
#include "arch/launches.cuh"
#include "arch/streaming.cuh"
#include "arch/async.cuh"
#include "arch/warps.cuh"
#include "arch/cooperation.cuh"
#include "arch/marked_words.cuh"
#include "plan.h"
#include "tile.cuh"
#include "board.cuh"
#include "staged.cuh"

static_assert(!early || plan::stages > 1, "two tiles are in shared memory");

// The output may be the input: a block has read its tile before it writes any of it.
extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    PATTERN_KERNEL_0(const __grid_constant__ Arguments arguments) {
    await_launch_before();
    constexpr int stages = plan::stages, unread = early ? stages - 2 : stages - 1;
    Shared &shared = *reinterpret_cast<Shared *>(shared_bytes());
    const Tile tiles = (arguments.count - 1) / tile + 1, blocks = gridDim.x;
#if PLAN_DRAW > 1
    // A block draws the number of its next tile from a counter when it has a stage free, so that a
    // slow block gets fewer tiles.
    const bool drawn = tiles > warp_size && tiles > stages * blocks;
#endif

    Tile mine[stages]; // the tile of the next step, and those whose elements are on their way
#pragma unroll
    for (int s = 0; s < stages; ++s) {
        mine[s] = blockIdx.x + s * blocks;
        if (s == stages - 1)
            break;
        if (mine[s] < tiles)
            begin_loads(arguments, shared.part(s), part_of(mine[s]));
        copies_commit(); // a group for every stage, which is empty where there is no more to load
    }
    Board board = {static_cast<MarkedWord *>(arguments.published), static_cast<GroupWords *>(arguments.groups),
                   arguments.tag, tiles <= warp_size ? tiles : 0};
    if (warp() == 0 && board.few == 0)
        board.open();
    Items item;
    // Reads the thread's items and publishes the tile's sum, `all`. Gives what comes before the items in the tile.
    const auto sum_up = [&](int stage, Tile which, Real &all) {
        warp_barrier(); // the warp's elements are there before a lane reads what others loaded
        read_items(arguments, shared.part(stage), part_of(which), item);
        const Real inside = before_thread(arguments, shared.sums, item, all);
        if (warp() == 0 && arguments.count > tile) // alone a tile has nobody to tell
            board.put_tile(which, all);
        return inside;
    };
#if PLAN_AHEAD > 1
    // A block that looks back at once waits for the slowest of all. So it sums up its next tile first,
    // and what others need of that one is published long before they ask:
    //     publish 0, publish 1, look back 0, store 0, publish 2, look back 1, store 1, …
    Real next_all = identity(), next_inside = identity();
    if (mine[0] < tiles) {
        copies_wait<unread>();
        next_inside = sum_up(0, mine[0], next_all);
        __syncthreads(); // all have read the sums of its warps before any writes those of the next
    }
#endif
    for (int stage = 0; mine[0] < tiles;) {
        const int behind = stage == 0 ? stages - 1 : stage - 1, beyond = stage == stages - 1 ? 0 : stage + 1;
        const Tile newest = mine[stages - 1];
        if (newest < tiles)
            begin_loads(arguments, shared.part(behind), part_of(newest));
        copies_commit();
        copies_wait<unread>();
#if PLAN_AHEAD > 1
        const Tile second = mine[1];
        const Real all = next_all, inside = next_inside;
        if (second < tiles)
            next_inside = sum_up(beyond, second, next_all);
        else
            __syncthreads(); // as in sum_up: all threads are done with the tile before
#else
        Real all;
        const Real inside = sum_up(stage, mine[0], all);
#endif
#if PLAN_DRAW > 1
        if (drawn && newest < tiles && threadIdx.x == plan::threads - 1)
            shared.newest = atomic_add(board.ticket(), 1);
#endif
        if (warp() == 0) { // alone a tile has nobody to ask
            const Real before = tiles == 1 ? initial(arguments) : look_back(arguments, board, mine[0], all);
            if (lane() == 0)
                shared.before = before;
        }
        __syncthreads(); // what comes before is there, and all have read the sums of the warps
#if PLAN_AHEAD > 1 || defined(PLAN_CELL) // else registers hold them as numbers of 32 bits
        read_items(arguments, shared.part(stage), part_of(mine[0]), item);
#endif
        Real running = combine(arguments, shared.before, inside);
#pragma unroll
        for (int k = 0; k < plan::items; ++k) {
            const Real next = combine(arguments, running, item[k]);
            item[k] = plan::exclusive ? running : next;
            running = next;
        }
        store_items(arguments, shared.part(stage), part_of(mine[0]), item);
        warp_barrier(); // all lanes have read the results before the stage's next elements come
#if PLAN_AHEAD > 1
        if (warp() == 0 && second < tiles && board.is_last(second)) { // its group's sum is early, too
            const int place = second % warp_size;
            bool known = lane() >= place;
            Real value = lane() == place ? next_all : identity();
            MarkedWord *const mate = board.word_of(known ? second : second - place + lane(), place);
            const Real sum = scan_group(arguments, board, known, value, mate);
            if (lane() == warp_size - 1)
                publish(&board.groups[second / warp_size].sum, board.mark, sum);
        }
#endif
        stage = beyond;
        for (int s = 1; s < stages; ++s)
            mine[s - 1] = mine[s];
#if PLAN_DRAW > 1
        mine[stages - 1] = drawn && newest < tiles ? shared.newest : newest + blocks;
#else
        mine[stages - 1] = newest + blocks;
#endif
    }
}
