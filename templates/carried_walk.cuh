#pragma once

#if defined(PLAN_CARRIED)
// A walk whose steps leave to the next one what both need, such as the flux through the face between
// them. A step that divides by odd numbers (quotients.cuh) ends it, after it has stored what it made:
// another walk begins there, which is exact. So nothing is held for a second way of the same step.

#if PLAN_QUICK
template <int j, int i, class Numbers>
__device__ __forceinline__ By<Numbers, AtLine<j, i>> point_of(const HeldLines &lines, Numbers &numbers) {
    return {{lines}, numbers};
}
#else
struct AsWritten {
    static constexpr bool odd = false;
};
template <int j, int i>
__device__ __forceinline__ AtLine<j, i> point_of(const HeldLines &lines, AsWritten) {
    return {lines};
}
#endif

#if defined(PLAN_SHARES)
template <class Numbers> struct OfRow : Numbers {
    Shared row; // each number is made before it is read
};
#elif PLAN_QUICK
template <class Numbers> using OfRow = Numbers;
#endif

using CarriedRow = Carried[plan::vector];
using CarriedRows = CarriedRow[plan::lane_y];

template <int j = 0, int i = 0, class Numbers>
__device__ __forceinline__ void begin_rows(Numbers &numbers, const HeldLines &lines, const Arguments &a,
                                           CarriedRows &carried) {
    if constexpr (i < plan::vector) {
        begin_carried<i>(point_of<j, i>(lines, numbers), a, carried[j][i]);
        begin_rows<j, i + 1>(numbers, lines, a, carried);
    } else if constexpr (j + 1 < plan::lane_y) {
        begin_rows<j + 1>(numbers, lines, a, carried);
    }
}

template <int j, int i = 0, class Numbers>
__device__ __forceinline__ void update_row(Numbers &numbers, const HeldLines &lines, const Arguments &a,
                                           const CarriedRow &carried, CarriedRow &next, Results &out) {
    if constexpr (i < plan::vector) {
        update_carried<i>(point_of<j, i>(lines, numbers), a, carried, next[i], out[i]);
        update_row<j, i + 1>(numbers, lines, a, carried, next, out);
    }
}

template <int j = 0, class Numbers>
__device__ __forceinline__ void make_rows(Numbers &numbers, const HeldLines &lines, const Arguments &a,
                                          CarriedRows &carried, const Thread &thread,
                                          const Stores &stores, int z) {
    if constexpr (j < plan::lane_y) {
        Results out;
        CarriedRow next;
        update_row<j>(numbers, lines, a, carried[j], next, out);
#pragma unroll
        for (int i = 0; i < plan::vector; ++i)
            carried[j][i] = next[i];
#if PLAN_HOLDS_KEPT
        stores.put(a, thread, j, z, thread.stays(a, j, z), out, HeldRow<j>{lines});
#else
        stores.put(a, thread, j, z, thread.stays(a, j, z), out);
#endif
        make_rows<j + 1>(numbers, lines, a, carried, thread, stores, z);
    }
}

// Returns how many steps it made.
template <class Numbers> __device__ __forceinline__ int walk(const Arguments &a, const Thread &thread) {
    const int end = thread.z + thread.steps;
    Numbers numbers;
    HeldLines lines;
    lines.begin(a, thread, thread.z, end);
    Stores stores;
    stores.begin(a, thread);
    CarriedRows carried;
    lines.arrive(a, thread, thread.z, end);
    begin_rows(numbers, lines, a, carried);
#pragma unroll 1
    for (int step = 0; step < plan::walk; ++step) {
        make_rows(numbers, lines, a, carried, thread, stores, thread.z + step);
        if (numbers.odd)
            return step;
        if (step + 1 >= thread.steps)
            break;
        lines.advance();
        stores.advance(a);
        lines.arrive(a, thread, thread.z + step + 1, end);
    }
    return thread.steps;
}

__device__ __forceinline__ void walk_carrying(const Arguments &a) {
    Thread thread;
    if (!thread.place(a))
        return;
#if PLAN_QUICK
    const int made = walk<OfRow<Quick>>(a, thread);
    if (made < thread.steps) {
        Thread rest; // placed anew, so that the walk before need not hold where it began
        rest.place(a);
        rest.z += made;
        rest.steps -= made;
        walk<OfRow<Exact>>(a, rest);
    }
#else
    walk<AsWritten>(a, thread);
#endif
}
#endif
