// Where a block of the method chained lies, and its columns: threads of the tile and its halo.
//
// Edges: a column beyond an end of x or y repeats another one, where its thread makes the same as that
// one's, or it gets the rule's value.
constexpr int width = plan::width, height = plan::height, plane = width * height;

struct Block {
    Index x, y;           // of the tile's first cell, halo included
    Index begin, z, end;  // the plane that arrives first; those that are stored
    Index size_z;
    bool rim, packed;     // whether the tile meets an end of x or y, and its rows are packs
};

// A column of the tile.
struct Column {
    int at;                // its place in a plane
    int from_x, from_y;    // the column where its values are made
    bool image;            // which is another one
    Index x, y;            // the cell that it stands for
    bool stored;
    unsigned made, kept;   // stages that make it, and whose fixed boundaries keep it: a bit each
    bool beyond[2][2];     // whether it lies below or above the grid along x and y
};

template <int stage = 0>
__device__ __forceinline__ void mark_stages(const Arguments &a, int x, int y, Column &c) {
    if constexpr (stage < plan::stages) {
        using S = Stage<stage>;
        if (x >= S::first_x && x < S::end_x && y >= S::first_y && y < S::end_y)
            c.made |= 1u << stage;
        if ((S::keeps_low_x > 0 && c.x < S::keeps_low_x) ||
            (S::keeps_high_x > 0 && c.x >= a.size[0] - S::keeps_high_x) ||
            (S::keeps_low_y > 0 && c.y < S::keeps_low_y) ||
            (S::keeps_high_y > 0 && c.y >= a.size[1] - S::keeps_high_y))
            c.kept |= 1u << stage;
        mark_stages<stage + 1>(a, x, y, c);
    }
}

__device__ __forceinline__ Block place_block(const Arguments &a) {
    Block b;
    b.x = a.begin[0] + Index(blockIdx.x) * plan::tile_x - plan::halo_x;
    b.y = a.begin[1] + Index(blockIdx.y) * plan::tile_y - plan::halo_y;
    b.z = a.begin[2] + Index(blockIdx.z) * plan::walk;
    b.end = min(b.z + plan::walk, a.end[2]);
    b.size_z = a.size[2];
    b.begin = plan::ring_z ? b.z - plan::before : max(b.z - plan::before, Index(0));
    b.rim = b.x < 0 || b.x + width > a.size[0] || b.y < 0 || b.y + height > a.size[1];
    b.packed = a.aligned && b.x % plan::vector == 0;
    return b;
}

__device__ __forceinline__ Column place_column(const Arguments &a, const Block &b, int at) {
    Column c = {};
    const int x = at % width, y = at / width;
    const Index grid_x = b.x + x, grid_y = b.y + y;
    c.at = at;
    c.x = cell_for<0>(grid_x, a.size[0]);
    c.y = cell_for<1>(grid_y, a.size[1]);
    // A ring's cells are made where they are.
    c.from_x = plan::ring_x ? x : int(c.x - b.x);
    c.from_y = plan::ring_y ? y : int(c.y - b.y);
    c.image = c.from_x != x || c.from_y != y;
    c.beyond[0][0] = grid_x < 0;
    c.beyond[0][1] = grid_x >= a.size[0];
    c.beyond[1][0] = grid_y < 0;
    c.beyond[1][1] = grid_y >= a.size[1];
    c.stored = x >= plan::halo_x && x < plan::halo_x + plan::tile_x && grid_x < a.end[0] &&
               y >= plan::halo_y && y < plan::halo_y + plan::tile_y && grid_y < a.end[1];
    if (at < plane)
        mark_stages(a, x, y, c);
    return c;
}

// What a column beyond an end of x or y has of a source, where the rule gives a value.
template <int source>
__device__ __forceinline__ bool value_beyond(const Arguments &a, const Column &c, Real &value) {
    if (gives<source, 0, 0> && c.beyond[0][0])
        value = Rule<source, 0, 0>::beyond(a);
    else if (gives<source, 0, 1> && c.beyond[0][1])
        value = Rule<source, 0, 1>::beyond(a);
    else if (gives<source, 1, 0> && c.beyond[1][0])
        value = Rule<source, 1, 0>::beyond(a);
    else if (gives<source, 1, 1> && c.beyond[1][1])
        value = Rule<source, 1, 1>::beyond(a);
    else
        return false;
    return true;
}

// ---- what a stage reads ---------------------------------------------------------------------

// Where a stage makes a column: at another one's place, of those that it makes. What lies farther
// beyond an end than it is read may be any.
template <int stage> __device__ __forceinline__ int place_made(const Block &b, const Column &c) {
    using S = Stage<stage>;
    if (!b.rim || !c.image)
        return c.at;
    return min(max(c.from_y, S::first_y), S::end_y - 1) * width +
           min(max(c.from_x, S::first_x), S::end_x - 1);
}
