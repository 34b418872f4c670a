// The turns of a block that walks with patches through planes: who brings the ring's planes, and who
// waits for whom. A plane is read in its own turn and `behind` - 1 turns after.

#if PLAN_APART
#include "arch/neighbours.cuh"
#include "own_rows.cuh"

// A warp waits for the planes and the warps next to it alone. Boxes bring planes, or each warp its own rows.
// Then nobody asks whether a slot is free: the neighbours, which read those rows, have made the turn before.
template <int behind> struct Turns {
    static constexpr bool always_boxes = PLAN_BOXES && !wraps<0> && !wraps<1>;
    bool by_boxes;
    PlaneSlots<plan::ring, plan::threads / warp_size> planes;
    OwnRows<!always_boxes> rows;

    __device__ __forceinline__ explicit Turns(const Walk &w)
        : by_boxes(always_boxes || (PLAN_BOXES && !turns_round(w))),
          planes(shared_at(tile::elements * element), !by_boxes) {
        if (!by_boxes)
            rows.begin(w);
        for (int plane = 0; plane < plan::ring; ++plane)
            ask(w, plane);
    }
    // Whether the tile goes on at the other side of the grid.
    static __device__ __forceinline__ bool turns_round(const Walk &w) {
        return (wraps<0> && (w.origin.x < 0 || w.origin.x + tile::width > w.a.size[0])) ||
               (wraps<1> && (w.origin.y < 0 || w.origin.y + tile::height > w.a.size[1]));
    }
    __device__ __forceinline__ void ask(const Walk &w, int plane) {
        const int to = slot_of(plane) * tile::plane * element;
#if PLAN_BOXES
        if (by_boxes) {
            if (plane >= w.loaded || !planes.begin(plane, plan::carried * tile::plane * element))
                return;
            copy_box<0>(w, plane, plane, to);
            if constexpr (plan::carried > 1) // as load_plane
                copy_box<plan::carried - 1>(w, plane, plane + plan::high_z,
                                            to + tile::older * element);
            return;
        }
#endif
        if (plane >= w.loaded)
            return;
        rows.template copy<0>(w, plane, to);
        if constexpr (plan::carried > 1)
            rows.template copy<plan::carried - 1>(w, plane + plan::high_z,
                                                  to + tile::older * element);
        planes.sent(plane);
    }
#if PLAN_BOXES
    template <int array>
    __device__ __forceinline__ void copy_box(const Walk &w, int plane, int number, int to) const {
        Index z = w.origin.z + number;
        Real unused;
        if constexpr (wraps<2>)
            find<2>(z, w.a.size[2], unused);
        planes.copy(plane, shared_at(to), w.a.map[array], int(w.origin.x), int(w.origin.y), int(z));
    }
#endif
    __device__ __forceinline__ void await_plane(const Walk &w, int turn) const {
        if (turn < w.loaded)
            planes.await_plane(turn);
    }
    // For what the neighbours made in the turn before.
    __device__ __forceinline__ void await_neighbours(int turn) const {
        planes.await_neighbours(turn - 1);
    }
    __device__ __forceinline__ void copy_ahead(Walk &, int, int) const {
    }
    // Of a plane that is read no more.
    __device__ __forceinline__ void leave(int plane) const {
        planes.leave(plane);
    }
    __device__ __forceinline__ void made(int turn) const {
        planes.end_turn(turn);
    }
    // The plane that takes the place of the one that all have left in the turn before, or soon
    // will.
    __device__ __forceinline__ void end(const Walk &w, int turn) {
        if (turn >= behind)
            ask(w, turn - behind + plan::ring);
    }
};
#else
// All threads copy planes, and meet once a turn.
template <int behind> struct Turns {
    static constexpr int ahead = plan::ring - behind;

    __device__ __forceinline__ explicit Turns(Walk &w) {
#pragma unroll 1
        for (int plane = 0; plane < ahead; ++plane)
            w.load_plane(plane, plane * tile::plane * element);
    }
    __device__ __forceinline__ void await_plane(const Walk &, int) const {
        copies_wait<ahead - 1>();
        __syncthreads(); // the plane is there, and what all made in the turn before, who have read
                         // all they need of that turn
    }
    __device__ __forceinline__ void await_neighbours(int) const {
    }
    // To the slot of a plane that is read no more; `slot`: of the turn's own.
    __device__ __forceinline__ void copy_ahead(Walk &w, int turn, int slot) const {
        const int free = slot >= behind ? slot - behind : slot + ahead;
        w.load_plane(turn + ahead, free * tile::plane * element);
    }
    __device__ __forceinline__ void leave(int) const {
    }
    __device__ __forceinline__ void made(int) const {
    }
    __device__ __forceinline__ void end(const Walk &, int) {
    }
};
#endif
