// The tile of a block of patches, and where its patches lie in shared memory.

// The tile of a block: how many come before it along x and y, and how many walks of the launch along
// z. Tiles at the edges of x and y come first, since they take longest, and the last blocks of a
// launch do not.
struct TileIndex {
    Index x, y, z;

    static __device__ __forceinline__ Index count(Index size, int output) {
        return (size - 1) / output + 1;
    }
    __device__ __forceinline__ explicit TileIndex(const Arguments &a) {
        const int nx = gridDim.x, ny = gridDim.y, nz = gridDim.z;
        const bool whole =
            nx == count(a.size[0], plan::tile_x) && ny == count(a.size[1], plan::tile_y);
        if (!whole || nx < 3 || ny < 3) { // one launch of several, or no tile is inside
            x = a.begin[0] / plan::tile_x + blockIdx.x;
            y = a.begin[1] / plan::tile_y + blockIdx.y;
            z = blockIdx.z;
            return;
        }
        const int inner = (nx - 2) * (ny - 2), rim = nx * ny - inner;
        const int block = blockIdx.x + nx * (blockIdx.y + ny * blockIdx.z);
        const int i = block < rim * nz ? block : block - rim * nz;
        if (block >= rim * nz) {
            x = 1 + i % (nx - 2);
            y = 1 + i / (nx - 2) % (ny - 2);
            z = i / inner;
        } else {
            const int k = i % rim, side = k - 2 * nx; // first and last row, then the other sides
            x = side < 0 ? k % nx : side % 2 == 0 ? 0 : nx - 1;
            y = side >= 0 ? 1 + side / 2 : k < nx ? 0 : ny - 1;
            z = i / rim;
        }
    }
};

// The output points of a tile along an axis. The last one ends where the grid does, and stores what
// those before it have not.
struct Span {
    Index origin, first, end;
    __device__ __forceinline__ Span(Index i, int output, Index size) {
        first = i * output;
        origin = i > 0 && first + output > size ? size - output : first;
        end = min(first + output, size);
    }
};

// Of a plane, in the ring.
__device__ __forceinline__ int slot_of(int plane) {
    return int(unsigned(plane) % unsigned(plan::ring));
}

// Places in shared memory are bytes from here on.
__device__ __forceinline__ Real *shared_at(int bytes) {
    return reinterpret_cast<Real *>(shared_bytes() + bytes);
}
constexpr int element = sizeof(Real);
#if defined(PLAN_NARROW)
constexpr int cell_element = sizeof(Stored<Array<0>>);
__device__ __forceinline__ Stored<Array<0>> *cells_at(int bytes) {
    return reinterpret_cast<Stored<Array<0>> *>(shared_bytes() + bytes);
}
#endif

// The rows of a patch, and the nearest rows of its neighbours.
struct Places {
    int own, above, below;
    __device__ __forceinline__ Places(int first, int row_bytes, int patch, int column) {
        own = first + patch * row_bytes + column * int(sizeof(Packed));
        above = patch > 0 ? own - row_bytes : own;
        below = patch + 1 < tile::patches ? own + row_bytes : own;
    }
#if defined(PLAN_NARROW)
    // Of rows as memory has them.
    __device__ __forceinline__ void count_cells() {
        constexpr int smaller = element / cell_element;
        own /= smaller;
        above /= smaller;
        below /= smaller;
    }
#endif
};
