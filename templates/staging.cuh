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

// Loads `planes` planes of one array's box, the first at z, into `to`; p is the tile's first point.
template <int array>
__device__ __forceinline__ void load_planes(const Arguments &a, bool inner, const Point &p, Index z,
                                            int planes, Real *to) {
    using Box = Staged<array>;
    for (int i = thread_in_block(); i < Box::plane * planes; i += plan::threads) {
        const int plane = i / Box::plane, in_plane = i % Box::plane;
        const Index x = p.x - Array<array>::low_x + in_plane % Box::width;
        const Index y = p.y - Array<array>::low_y + in_plane / Box::width;
        if (inner || needed(a, x, y, z + plane))
            to[i] = fetch<array>(a, inner, x, y, z + plane);
    }
}

// A tap that only its own cell reads comes straight from global memory.
template <int array>
__device__ __forceinline__ Real fetch_own(const Arguments &a, const Point &p) {
    const Grid &grid = a.grid[Array<array>::grid];
    return grid.data[offset(grid, p.x, p.y, p.z)];
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

// Whether point p of the tile is to be made at all.
__device__ __forceinline__ bool wanted(const Arguments &a, bool inner, const Place &place,
                                       const Point &origin) {
    return place.in_tile() &&
           (inner || (origin.x + place.x < a.end[0] && origin.y + place.y < a.end[1]));
}

// Every staged array's plane at z with its halo, as the `slot`-th plane of the array's place.
template <int array = 0>
__device__ __forceinline__ void load_plane(const Arguments &a, bool inner, const Point &origin,
                                           Index z, int slot, Real *shared) {
    if constexpr (array < plan::arrays) {
        if constexpr (Array<array>::staged)
            load_planes<array>(a, inner, origin, z, 1,
                               shared + Array<array>::shared + slot * Staged<array>::plane);
        load_plane<array + 1>(a, inner, origin, z, slot, shared);
    }
}
