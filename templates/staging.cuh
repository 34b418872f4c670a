// Shared memory for methods that stage a tile with its halo: every array that neighbours read has
// a box of its own there.

// One staged array's box: the tile's points and the halo its taps reach.
template <int array> struct Staged {
    static constexpr int width = plan::tile_x + Array<array>::low_x + Array<array>::high_x;
    static constexpr int height = plan::tile_y + Array<array>::low_y + Array<array>::high_y;
    static constexpr int plane = width * height;

    // Index in the array's box of a point of the tile, in the box's first plane.
    static __device__ __forceinline__ int at(int x, int y) {
        return (y + Array<array>::low_y) * width + x + Array<array>::low_x;
    }
};

__device__ __forceinline__ int thread_in_block() {
    return (threadIdx.z * plan::threads_y + threadIdx.y) * plan::threads_x + threadIdx.x;
}

// A tap that only its own cell reads comes straight from global memory.
template <int array>
__device__ __forceinline__ Real read_own(const Arguments &a, const Point &p) {
    Cell<array, true> cell;
    cell.place(a, p.x, p.y, p.z);
    return cell.read(a);
}

// ---- walking the last axis ------------------------------------------------------------------

// In the tile, the c-th of a thread's points in a plane.
struct Place {
    static constexpr int across = (plan::tile_x + plan::threads_x - 1) / plan::threads_x;
    static constexpr int count = across * ((plan::tile_y + plan::threads_y - 1) / plan::threads_y);
    int x, y;
    __device__ __forceinline__ explicit Place(int c)
        : x(threadIdx.x + c % across * plan::threads_x),
          y(threadIdx.y + c / across * plan::threads_y) {
    }
    __device__ __forceinline__ bool in_tile() const {
        return (plan::tile_x % plan::threads_x == 0 || x < plan::tile_x) &&
               (plan::tile_y % plan::threads_y == 0 || y < plan::tile_y);
    }
};

// Whether this point of the tile is to be made at all.
template <bool inner>
__device__ __forceinline__ bool wanted(const Arguments &a, const Place &place,
                                       const Point &origin) {
    return place.in_tile() &&
           (inner || (origin.x + place.x < a.end[0] && origin.y + place.y < a.end[1]));
}

// Where the thread's points go, walking with them.
template <bool inner> struct Targets {
    Target<inner> point[Place::count];
    __device__ __forceinline__ void place(const Arguments &a, const Point &origin) {
#pragma unroll
        for (int c = 0; c < Place::count; ++c)
            point[c].place(a, origin.x + Place(c).x, origin.y + Place(c).y, origin.z);
    }
    __device__ __forceinline__ void advance(const Arguments &a) {
#pragma unroll
        for (int c = 0; c < Place::count; ++c)
            point[c].advance(a);
    }
};

// The cells of every staged array's plane, halo included, that this thread loads.
template <bool inner, int array = 0> struct Planes {
    static constexpr int rounds = (Staged<array>::plane + plan::threads - 1) / plan::threads;
    Cell<array, inner> cell[rounds];
    Planes<inner, array + 1> rest;

    static __device__ __forceinline__ int index(int k) {
        return thread_in_block() + k * plan::threads;
    }

    // At plane z of the tile that begins at origin.
    __device__ __forceinline__ void place(const Arguments &a, const Point &origin, Index z) {
        if constexpr (Array<array>::staged) {
#pragma unroll
            for (int k = 0; k < rounds; ++k)
                cell[k].place(a, origin.x - Array<array>::low_x + index(k) % Staged<array>::width,
                              origin.y - Array<array>::low_y + index(k) / Staged<array>::width, z);
        }
        rest.place(a, origin, z);
    }

    // Loads the plane as the `slot`-th of the array's place and moves on to the next.
    __device__ __forceinline__ void load(const Arguments &a, int slot, Real *shared) {
        if constexpr (Array<array>::staged) {
            Real *const plane = shared + Array<array>::shared + slot * Staged<array>::plane;
            Real held[rounds];
#pragma unroll
            for (int k = 0; k < rounds; ++k) {
                if (index(k) < Staged<array>::plane)
                    held[k] = cell[k].read(a);
                cell[k].advance(a);
            }
#pragma unroll
            for (int k = 0; k < rounds; ++k)
                if (index(k) < Staged<array>::plane)
                    plane[index(k)] = held[k];
        }
        rest.load(a, slot, shared);
    }
};
template <bool inner> struct Planes<inner, plan::arrays> {
    __device__ __forceinline__ void place(const Arguments &, const Point &, Index) {
    }
    __device__ __forceinline__ void load(const Arguments &, int, Real *) {
    }
};
