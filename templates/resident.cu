// resident: many steps in one launch. A block keeps its tile of every array in shared memory, with a
// halo of `time` times the shape's reach, and makes up to `time` steps there, each on what is still
// right of the halo:
//
//        h h h h h h h h        the first step makes what the second reads, and so on;
//        h H H H H H H h        the last makes the tile
//        h H t t t t H h
//        h H t t t t H h        Where more steps are to be made, all blocks are resident: they hand
//        h H H H H H H h        their tiles to each other, read new halos, and go on. The tile itself
//        h h h h h h h h        never leaves shared memory.
//
// Cells that no step changes (beyond the grid where a side is zero or constant, the outermost inside
// where it is fixed) lie in both of an array's boxes from the beginning; what changes is a range
// along each axis. Cells beyond periodic sides change like any other; those beyond clamp and mirror
// are made again, as the cells whose values they have, or received as those are.
//
// Blocks do not wait for each other as a whole. Every element travels as a message with the number
// of the round in it, and the reader waits until that is the right one: one way through the second-
// level cache, and neither barriers nor fences. Messages of even and odd rounds have places of their
// own. No block can be two rounds ahead of one whose tile lies in its box, since it waits for that one's
// messages, and halos are as wide on both sides: so nothing is overwritten before it has been read.
// A block that keeps all its cells sends nothing, and ends at once.
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "arch/cooperation.cuh"
#include "plan.h"
#include "grid.cuh"
#include "blocks.cuh"
#include "box.cuh"
#include "messages.cuh"
#include "columns.cuh"
#include "halo.cuh"

// Up to `time` steps, of which the first reads what is there.
__device__ __forceinline__ void make_round(const Arguments &a, const Place &p, State &s,
                                           Columns &columns, int steps) {
    for (int left = steps - 1; left >= 0; --left) {
        __syncthreads(); // what this step reads is there
        columns.make(a, p, s, left);
        s.end_step();
    }
}

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments a) {
    Place p;
    p.x.place(a, blockIdx.x);
    p.y.place(a, blockIdx.y);
    p.z.place(a, blockIdx.z);
    // Columns at a box's ends read a little before and behind it.
    State s;
    s.shared = reinterpret_cast<Real *>(found_shared()) + plan::low_x;
    if (block_inside(a)) {
        load_box<true>(a, p, s.shared);
    } else {
        load_box<false>(a, p, s.shared);
        if constexpr (Place::fixed) {
            store_all_kept(a, p);
            // Nobody waits for a block that keeps all its cells; so it must wait for nobody.
            if (!p.x.moves() || !p.y.moves() || !p.z.moves())
                return;
        }
    }
    Columns columns;
    columns.place(a, p);
    Halo halo;
    if (a.steps > plan::time)
        halo.place(a, p);
    unsigned round = 1;
    for (int left = a.steps;; left -= plan::time, ++round) {
        s.begin_round(a, round, left <= plan::time);
        make_round(a, p, s, columns, s.final ? left : plan::time);
        if (s.final)
            return;
        halo.load(a, p, s);
    }
}
