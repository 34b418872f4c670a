// line: temporal blocking in 1D. Each warp holds a stretch of x in registers, lane_x consecutive
// points a lane, makes `time` steps there and writes the points that are still right:
//
//        h h h h [t t t t t t t t t t t t] h h h h     h: `time` times the shape's reach
//
// A step asks the two neighbouring lanes for what the shape reaches of theirs, one shuffle an
// element; all else stays in registers. The two ends of the stretch go wrong by the reach a step.
// Points go from one array of registers to another and back, ascending and then descending, so that
// a new value can take the register of the one that nobody reads any more.
//
// Stretches near the ends of the grid also hold the cells outside of it: they keep their values
// (or follow the rules) through all steps, as do the cells that a fixed boundary keeps. Those next to
// a clamped or mirrored end are copied after each step, through shared memory.
#include "arch/memory.cuh"
#include "arch/shared.cuh"
#include "arch/async.cuh"
#include "arch/warps.cuh"
#include "plan.h"
#include "grid.cuh"
#include "images.cuh"

constexpr int points = plan::lane_x; // of a lane
constexpr int width = warp_size * points;
constexpr int pack = 16 / static_cast<int>(sizeof(Real));
using Chunk = Pack<Real, pack>; // a lane's chunks lie an odd number apart: no bank conflicts
constexpr int chunks = points / pack;
static_assert(points % pack == 0 && chunks % 2 == 1, "lanes read shared memory without conflicts");

constexpr int low = plan::low_x, high = plan::high_x;
static_assert(plan::halo_low_x + plan::tile_x <= width, "a warp holds its tile and the halo before");
static_assert(low <= points && high <= points, "neighbouring lanes have all that taps reach");

// What the taps of a lane's points reach of the lanes below and above.
struct Neighbours {
    Real below[low > 0 ? low : 1], above[high > 0 ? high : 1];
    __device__ __forceinline__ explicit Neighbours(const Real (&own)[points]) {
#pragma unroll
        for (int i = 0; i < low; ++i)
            below[i] = shuffle_up(own[points - low + i], 1);
#pragma unroll
        for (int i = 0; i < high; ++i)
            above[i] = shuffle_down(own[i], 1);
    }
};

template <int point> struct AtLine {
    const Real (&own)[points];
    const Neighbours &others;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        constexpr int at = point + dx;
        if constexpr (at < 0)
            return others.below[at + low];
        else if constexpr (at >= points)
            return others.above[at - points];
        else
            return own[at];
    }
};

// Between shared memory, where the stretch lies as in the grid, and the lanes' registers.
__device__ __forceinline__ void take(const Real *shared, Real (&value)[points]) {
    const Chunk *const from = reinterpret_cast<const Chunk *>(shared) + lane() * chunks;
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
        const Chunk chunk = from[c];
#pragma unroll
        for (int i = 0; i < pack; ++i)
            value[c * pack + i] = chunk.element[i];
    }
}
__device__ __forceinline__ void give(const Real (&value)[points], Real *shared) {
    Chunk *const to = reinterpret_cast<Chunk *>(shared) + lane() * chunks;
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
        Chunk chunk;
#pragma unroll
        for (int i = 0; i < pack; ++i)
            chunk.element[i] = value[c * pack + i];
        to[c] = chunk;
    }
}

// The cells that no step changes, by their place in the lane's points; in a stretch that has none,
// nothing.
template <bool edge> struct Keeper;
template <> struct Keeper<false> {
    __device__ __forceinline__ Keeper<false> again() const {
        return {};
    }
    __device__ __forceinline__ Real choose(int, Real, Real after) const {
        return after;
    }
    __device__ __forceinline__ void copy_images(const Arguments &, Real (&)[points]) const {
    }
};
template <> struct Keeper<true> {
    static constexpr int words = (points + 31) / 32;
    unsigned kept[words]; // a bit for each point
    Index first;          // of the stretch
    Real *shared;         // room for it

    // Points from `begin` to before `end` change.
    __device__ __forceinline__ void place(Index begin, Index end) {
#pragma unroll
        for (int w = 0; w < words; ++w)
            kept[w] = 0;
#pragma unroll
        for (int i = 0; i < points; ++i)
            kept[i / 32] |= i < begin || i >= end ? 1u << i % 32 : 0;
    }
    // For the next step, which looks at the bits anew: answers kept for all points would take more
    // registers than there are.
    __device__ __forceinline__ Keeper<true> again() const {
        Keeper<true> keeper = *this;
#pragma unroll
        for (int w = 0; w < words; ++w)
            keeper.kept[w] = static_cast<unsigned>(opaque(static_cast<int>(kept[w])));
        return keeper;
    }
    __device__ __forceinline__ Real choose(int i, Real before, Real after) const {
        return kept[i / 32] >> i % 32 & 1 ? before : after;
    }

    // After a step, cells next to a clamped or mirrored end take the values of those inside that they
    // are images of.
    __device__ __forceinline__ void copy_images(const Arguments &a, Real (&value)[points]) const {
        give(value, shared);
        warp_barrier(); // all points of the stretch are there
        for (int i = lane(); i < low + high; i += warp_size) {
            const Index there = i < low ? -1 - i : a.size[0] + (i - low);
            if (!(i < low ? copies<0, 0> : copies<0, 1>) || !in_stretch(there))
                continue;
            Index inside = there;
            Real value_there = 0; // of a grid so short that the image lies beyond the other end
            if (!resolve<0>(inside, a.size[0], value_there))
                shared[there - first] = value_there;
            else if (in_stretch(inside))
                shared[there - first] = shared[inside - first];
        }
        warp_barrier(); // and so are the images
        take(shared, value);
        warp_barrier(); // all have read them
    }
    __device__ __forceinline__ bool in_stretch(Index x) const {
        return x >= first && x < first + width;
    }
};

// One step of the lane's points from `made` on, ascending or descending.
template <bool ascending, bool edge, int made = 0>
__device__ __forceinline__ void step(const Real (&from)[points], const Neighbours &others,
                                     Real (&to)[points], const Arguments &a,
                                     const Keeper<edge> &keeper) {
    if constexpr (made < points) {
        constexpr int point = ascending ? made : points - 1 - made;
        Outputs out;
        update_point(AtLine<point>{from, others}, a, out);
        to[point] = keeper.choose(point, from[point], out[0]);
        step<ascending, edge, made + 1>(from, others, to, a, keeper);
    }
}

template <bool ascending, bool edge>
__device__ __forceinline__ void step(const Real (&from)[points], Real (&to)[points],
                                     const Arguments &a, const Keeper<edge> &keeper) {
    step<ascending, edge>(from, Neighbours(from), to, a, keeper.again());
}

template <bool edge>
__device__ __forceinline__ void make_steps(Real (&value)[points], const Arguments &a,
                                           const Keeper<edge> &keeper) {
    Real next[points];
#pragma unroll 1
    for (int pair = a.steps / 2; pair > 0; --pair) {
        step<true>(value, next, a, keeper);
        if (plan::images)
            keeper.copy_images(a, next);
        step<false>(next, value, a, keeper);
        if (plan::images)
            keeper.copy_images(a, value);
    }
    if (a.steps % 2 != 0) {
        step<true>(value, next, a, keeper);
        if (plan::images)
            keeper.copy_images(a, next);
#pragma unroll
        for (int i = 0; i < points; ++i)
            value[i] = next[i];
    }
}

#if defined(PLAN_NARROW)
using Cells = Pack<Stored<Array<0>>, pack>; // a chunk as memory has it
__device__ __forceinline__ void take(const Stored<Array<0>> *shared, Real (&value)[points]) {
    const Cells *const from = reinterpret_cast<const Cells *>(shared) + lane() * chunks;
#pragma unroll
    for (int c = 0; c < chunks; ++c) {
        const Cells chunk = from[c];
#pragma unroll
        for (int i = 0; i < pack; ++i)
            value[c * pack + i] = chunk.element[i];
    }
}
#endif

// Between global and shared memory, `count` consecutive elements (or chunks).
template <int count, class T> __device__ __forceinline__ void load_all(const T *from, T *shared) {
#pragma unroll
    for (int i = 0; i < count; i += warp_size)
        if (count % warp_size == 0 || i + lane() < count)
            copy_one_async(&shared[i + lane()], &from[i + lane()]);
}
template <int count, class T> __device__ __forceinline__ void store_all(const T *shared, T *to) {
#pragma unroll
    for (int i = 0; i < count; i += warp_size)
        if (i + warp_size <= count || i + lane() < count)
            to[i + lane()] = shared[i + lane()];
}
#if defined(PLAN_NARROW)
template <int count>
__device__ __forceinline__ void store_all(const Real *shared, Stored<Output<0>> *to) {
#pragma unroll
    for (int i = 0; i < count; i += warp_size)
        if (i + warp_size <= count || i + lane() < count)
            to[i + lane()] = shared[i + lane()];
}
template <int count>
__device__ __forceinline__ void store_all(const Chunk *shared, Cells *to) {
#pragma unroll
    for (int i = 0; i < count; i += warp_size)
        if (i + warp_size <= count || i + lane() < count)
            store_narrowed(to[i + lane()].element, shared[i + lane()]);
}
#endif

// A stretch that begins at x = first, all of whose cells lie in the grid.
__device__ __forceinline__ void make_inner(const Arguments &a, Index first, Real *shared) {
    const Stored<Array<0>> *const from = a.grid[Array<0>::grid].data + first;
    Stored<Output<0>> *const to = a.grid[Output<0>::grid].data + first + plan::halo_low_x;
#if defined(PLAN_NARROW)
    Stored<Array<0>> *const cells = reinterpret_cast<Stored<Array<0>> *>(shared);
    if (a.aligned)
        load_all<width / pack>(reinterpret_cast<const Cells *>(from),
                               reinterpret_cast<Cells *>(cells));
    else
        load_all<width>(from, cells);
#else
    if (a.aligned)
        load_all<width / pack>(reinterpret_cast<const Chunk *>(from),
                               reinterpret_cast<Chunk *>(shared));
    else
        load_all<width>(from, shared);
#endif
    copies_commit();
    copies_wait<0>();
    warp_barrier();
    Real value[points];
#if defined(PLAN_NARROW)
    take(cells, value);
    warp_barrier(); // results are wider than what was taken
#else
    take(shared, value);
#endif
    make_steps(value, a, Keeper<false>{});
    give(value, shared);
    warp_barrier();
    const Real *const results = shared + plan::halo_low_x;
    if (a.aligned)
        store_all<plan::tile_x / pack>(reinterpret_cast<const Chunk *>(results),
#if defined(PLAN_NARROW)
                                       reinterpret_cast<Cells *>(to));
#else
                                       reinterpret_cast<Chunk *>(to));
#endif
    else
        store_all<plan::tile_x>(results, to);
}

// How many cells at the end of the grid a fixed boundary keeps; or less than none where cells that
// lie beyond it change as others do.
template <int side> __device__ __forceinline__ Index kept_cells() {
    constexpr Boundary kind = Edge<0, side>::kind;
    return kind == Boundary::fixed                            ? (side == 0 ? low : high)
           : kind == Boundary::periodic || (plan::images && copies<0, side>) ? -width
                                                              : 0;
}

// Loads all cells of any stretch, by the rules, as many at once as a lane has chunks.
__device__ __forceinline__ void load_edge(const Arguments &a, Index first, Real *shared) {
    const Stored<Array<0>> *const from = a.grid[Array<0>::grid].data;
#pragma unroll 1
    for (int i = lane(); i < width; i += chunks * warp_size) {
        Real held[chunks];
#pragma unroll
        for (int c = 0; c < chunks; ++c) {
            Index x = first + i + c * warp_size;
            held[c] = 0;
            if (resolve<0>(x, a.size[0], held[c]))
                held[c] = load(from + x);
        }
#pragma unroll
        for (int c = 0; c < chunks; ++c)
            shared[i + c * warp_size] = held[c];
    }
}

// Any stretch.
__device__ __noinline__ void make_edge(const Arguments &a, Index first, Real *shared) {
    const Index size = a.size[0];
    load_edge(a, first, shared);
    warp_barrier();
    Real value[points];
    take(shared, value);
    const Index own = first + lane() * points;
    const Index begin = kept_cells<0>() - own, end = size - kept_cells<1>() - own;
    Keeper<true> keeper;
    keeper.place(begin, end);
    keeper.first = first;
    keeper.shared = shared;
    make_steps(value, a, keeper);
    give(value, shared);
    warp_barrier();
    for (int i = lane(); i < plan::tile_x; i += warp_size)
        if (first + plan::halo_low_x + i < a.end[0])
            a.grid[Output<0>::grid].data[first + plan::halo_low_x + i] =
                shared[plan::halo_low_x + i];
}

extern "C" __global__ void __launch_bounds__(plan::threads, plan::blocks)
    STENCIL_KERNEL(const __grid_constant__ Arguments arguments) {
    constexpr int warps = plan::threads / warp_size;
    Real *const shared = reinterpret_cast<Real *>(shared_bytes()) + warp() * width;
    // The last block is made first: those near the ends take longer than the others. All warps of a
    // block go one way, so that the compiler knows that no lane misses a shuffle.
    const Index block = blockIdx.x == 0 ? gridDim.x - 1 : blockIdx.x - 1;
    const Index origin = arguments.begin[0] + (block * warps + warp()) * plan::tile_x;
    if (block >= arguments.inner_first[0] && block < arguments.inner_end[0])
        make_inner(arguments, origin - plan::halo_low_x, shared);
    else if (origin < arguments.end[0])
        make_edge(arguments, origin - plan::halo_low_x, shared);
}
