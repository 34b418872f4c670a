// streamed: one step at the speed of a copy. Each thread walks the last axis with `vector` points
// of x in `lane_y` rows. The cells along the walk stay in registers. The neighbouring rows, which
// other threads own, and the neighbours along x come through the caches.
//
//        z+1   [a b c d]         loaded in this step, the only time that it comes from memory
//        z     [a b c d]         the points made in this step: in registers since the step before
//        z-1   [a b c d]
#include "arch/memory.cuh"
#include "arch/quotients.cuh"
#include "arch/registers.cuh"
#include "arch/streaming.cuh"

#include "plan.h"

#include "grid.cuh"

#include "cursors.cuh"
#include "taps.cuh"

#include "point.cuh"

#include "arch/launches.cuh"
#include "walk_order.cuh"
#include "stream.cuh"
#include "stream_any.cuh"

#include "lines.cuh"

#if defined(PLAN_INTERIOR)
template <int j, int i = 0>
__device__ __forceinline__ void find_row(const HeldLines &lines, const Arguments &a,
                                         Places (&places)[plan::vector]) {
    if constexpr (i < plan::vector) {
        places[i] = find_places(AtLine<j, i>{lines}, a);
        find_row<j, i + 1>(lines, a, places);
    }
}
#endif

#include "carried_walk.cuh"

#if !defined(PLAN_CARRIED)
#if PLAN_QUICK
#if defined(PLAN_INTERIOR)
template <int j, int i = 0, class Numbers>
__device__ __forceinline__ void update_row_by(Numbers &numbers, const HeldLines &lines,
                                              const Arguments &a, bool interior,
                                              const Places (&places)[plan::vector], Results &out) {
    if constexpr (i < plan::vector) {
        const By<Numbers, AtLine<j, i>> at = {{lines}, numbers};
        update_placed(at, a, interior, places[i], out[i]);
        update_row_by<j, i + 1>(numbers, lines, a, interior, places, out);
    }
}
#else
template <int j, int i = 0, class Numbers>
__device__ __forceinline__ void update_row_by(Numbers &numbers, const HeldLines &lines,
                                              const Arguments &a, Results &out) {
    if constexpr (i < plan::vector) {
        const By<Numbers, AtLine<j, i>> at = {{lines}, numbers};
        update_point(at, a, out[i]);
        update_row_by<j, i + 1>(numbers, lines, a, out);
    }
}
#endif
template <int j, class... Rest>
__device__ __forceinline__ void update_row(const HeldLines &lines, const Arguments &a,
                                           Rest &&...rest) {
    Quick quick;
    update_row_by<j>(quick, lines, a, rest...);
    if (quick.odd) {
        Exact exact;
        update_row_by<j>(exact, lines, a, rest...);
    }
}
#else
#if defined(PLAN_INTERIOR)
template <int j, int i = 0>
__device__ __forceinline__ void update_row(const HeldLines &lines, const Arguments &a, bool interior,
                                           const Places (&places)[plan::vector], Results &out) {
    if constexpr (i < plan::vector) {
        update_placed(AtLine<j, i>{lines}, a, interior, places[i], out[i]);
        update_row<j, i + 1>(lines, a, interior, places, out);
    }
}
#else
template <int j, int i = 0>
__device__ __forceinline__ void update_row(const HeldLines &lines, const Arguments &a, Results &out) {
    if constexpr (i < plan::vector) {
        update_point(AtLine<j, i>{lines}, a, out[i]);
        update_row<j, i + 1>(lines, a, out);
    }
}
#endif
#endif

#if defined(PLAN_INTERIOR)
// Whether conditions on the place have one answer for all of row j's points in plane z: `inside` is
// known for all that a thread makes together.
template <int j>
__device__ __forceinline__ bool is_interior(const Arguments &a, const Thread &thread, int z) {
    return (thread.interior >> j & 1) != 0 && interior_along<2>(a, z);
}
#endif

#if defined(PLAN_INTERIOR)
// `inside`: no condition on the place need be asked.
template <bool inside, int j = 0>
#else
template <int j = 0>
#endif
__device__ __forceinline__ void make_rows(const HeldLines &lines, const Arguments &a,
                                          const Thread &thread, const Stores &stores, int z) {
    if constexpr (j < plan::lane_y) {
        Results out;
#if defined(PLAN_INTERIOR)
#if defined(PLAN_JOINED)
        const bool interior = inside || is_interior<j>(a, thread, z);
        Places places[plan::vector];
        if (!interior)
            find_row<j>(lines, a, places);
        update_row<j>(lines, a, interior, places, out);
#else
        // Two ways instead of a branch at each condition: compilers see that one has none.
        if (inside || is_interior<j>(a, thread, z)) {
            constexpr Places places[plan::vector] = {};
            update_row<j>(lines, a, true, places, out);
        } else {
            Places places[plan::vector];
            find_row<j>(lines, a, places);
            update_row<j>(lines, a, false, places, out);
        }
#endif
#else
        update_row<j>(lines, a, out);
#endif
#if PLAN_HOLDS_KEPT
        stores.put(a, thread, j, z, thread.stays(a, j, z), out, HeldRow<j>{lines});
#else
        stores.put(a, thread, j, z, thread.stays(a, j, z), out);
#endif
#if defined(PLAN_INTERIOR)
        make_rows<inside, j + 1>(lines, a, thread, stores, z);
#else
        make_rows<j + 1>(lines, a, thread, stores, z);
#endif
    }
}

#if defined(PLAN_TOGETHER)
template <bool inside>
__device__ __forceinline__ void make_step(HeldLines &lines, const Arguments &a,
                                          const Thread &thread, Stores &stores, int z, int end) {
    lines.arrive(a, thread, z, end);
#if defined(PLAN_INTERIOR)
    make_rows<inside>(lines, a, thread, stores, z);
#else
    make_rows(lines, a, thread, stores, z);
#endif
    lines.advance();
    stores.advance(a);
}

// Whether that many steps from z on can be made at once, without a question where points lie.
template <int j = 0>
__device__ __forceinline__ bool is_together(const Arguments &a, const Thread &thread, int z) {
#if defined(PLAN_INTERIOR)
    bool all = true;
    if constexpr (j < plan::lane_y) {
#pragma unroll
        for (int k = 0; k < PLAN_TOGETHER; ++k)
            all = all && is_interior<j>(a, thread, z + k);
        return all && is_together<j + 1>(a, thread, z);
    }
#endif
    return true;
}
#endif

#endif

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments a) {
#if !PLAN_PACKS
    if (!fits(a, warp_lanes * plan::vector)) {
        update_small<ByPoint>(a);
        return;
    }
#endif
#if PLAN_NEEDS > 0
    if (a.steps < 0) // in no launch, which compilers do not know
#if defined(PLAN_MIXED)
        need_registers<PLAN_NEEDS>(reinterpret_cast<volatile unsigned *>(a.grid[At<0>()].data));
#else
        need_registers<PLAN_NEEDS>(reinterpret_cast<volatile unsigned *>(a.grid[0].data));
#endif
#endif
#if defined(PLAN_CARRIED)
    walk_carrying(a);
#else
    Thread thread;
    if (!thread.place(a))
        return;
    HeldLines lines;
    const int end = thread.z + thread.steps;
    lines.begin(a, thread, thread.z, end);
    Stores stores;
    stores.begin(a, thread);
#if defined(PLAN_TOGETHER)
#pragma unroll 1
    for (int step = 0; step < plan::walk && step < thread.steps;) {
        const int z = thread.z + step;
        if (step + PLAN_TOGETHER <= thread.steps && is_together(a, thread, z)) {
            // What the rows of these steps have in common is computed once.
#pragma unroll
            for (int k = 0; k < PLAN_TOGETHER; ++k)
                make_step<true>(lines, a, thread, stores, z + k, end);
            step += PLAN_TOGETHER;
        } else {
            make_step<false>(lines, a, thread, stores, z, end);
            ++step;
        }
    }
#else
#pragma unroll 1
    for (int step = 0; step < plan::walk && step < thread.steps; ++step) {
        lines.arrive(a, thread, thread.z + step, end);
#if defined(PLAN_INTERIOR)
        make_rows<false>(lines, a, thread, stores, thread.z + step);
#else
        make_rows(lines, a, thread, stores, thread.z + step);
#endif
        lines.advance();
        stores.advance(a);
    }
#endif
#endif
}
