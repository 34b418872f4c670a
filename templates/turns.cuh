// The turns of a block that walks with patches through planes: who brings the ring's planes, and who
// waits for whom. A plane is read in its own turn and `behind` - 1 turns after.

#if PLAN_BOXES
#include "arch/neighbours.cuh"

// Boxes bring planes, and a warp waits for the planes and the warps next to it alone. Where a tile
// goes on at the other side of the grid, each thread copies its patch: those who read what was in its
// place have made the turn before.
template <int behind> struct Turns {
    PlaneSlots<plan::ring, plan::threads / warp_size> planes;

    __device__ __forceinline__ explicit Turns(Walk &w)
        : planes(shared_at(tile::elements * element), w.crosses) {
        for (int plane = 0; plane < plan::ring; ++plane)
            ask(w, plane);
    }
    __device__ __forceinline__ void ask(Walk &w, int plane) const {
        if (plane >= w.loaded)
            return;
        const int to = plane % plan::ring * tile::plane * element;
        if (w.crosses) {
            w.copy_patch<0>(to);
            if constexpr (plan::carried > 1)
                w.copy_patch<plan::carried - 1>(to + tile::older * element);
            planes.sent(plane);
        } else if (planes.begin(plane, plan::carried * tile::plane * element)) {
            copy_box<0>(w, plane, plane, to);
            if constexpr (plan::carried > 1) // as load_plane
                copy_box<plan::carried - 1>(w, plane, plane + plan::high_z,
                                            to + tile::older * element);
        }
    }
    template <int array>
    __device__ __forceinline__ void copy_box(const Walk &w, int plane, int number, int to) const {
        Index z = w.origin.z + number;
        if constexpr (wraps<2>)
            w.find_plane(z);
        planes.copy(plane, shared_at(to), w.a.map[array], int(w.origin.x), int(w.origin.y), int(z));
    }
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
    __device__ __forceinline__ void end(Walk &w, int turn) const {
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
    __device__ __forceinline__ void end(const Walk &, int) const {
    }
};
#endif
