// A block's tile of a cascade: where it lies, what its threads load, and the rules of the grid's edges.

constexpr int element = sizeof(Real);
constexpr int pack = 16 / element < plan::lane_x ? 16 / element : plan::lane_x;
constexpr int packs = plan::lane_x / pack; // of a row of the patch
constexpr int width = plan::lanes * plan::lane_x;
constexpr int height = plan::threads / plan::lanes * plan::lane_y;
constexpr int plane = width * height;
constexpr int window = plan::window, lag = plan::lag, ahead = plan::ahead;
static_assert(plan::lane_x % pack == 0, "a row of the patch is whole packs");
static_assert(plan::low_x <= plan::lane_x && plan::high_x <= plan::lane_x,
              "neighbouring lanes have all that taps reach");
using Packed = Pack<Real, pack>;
using Patch = Real[plan::lane_y][plan::lane_x];
// What a thread sees of a row beside its own points: as far as taps read, and as far inwards from a mirror.
constexpr int seen_low = mirrors<0, 1> && plan::high_x > plan::low_x ? plan::high_x : plan::low_x;
constexpr int seen_high = mirrors<0, 0> && plan::low_x > plan::high_x ? plan::low_x : plan::high_x;

// ---- edges ----------------------------------------------------------------------------------

template <int axis, int side> constexpr bool gives = // cells beyond have one value
    Edge<axis, side>::kind == Boundary::zero || Edge<axis, side>::kind == Boundary::constant;

// Of a patch's columns (or rows), a bit each: those that a fixed side keeps; those beyond a side
// that gives a value, or repeats other cells; and those that are loaded from elsewhere.
struct Marks {
    unsigned kept = 0, below = 0, above = 0, copied = 0, moved = 0;
    template <int axis>
    __device__ __forceinline__ void set(int bit, Index i, Index size, int low, int high, int shift) {
        if (i >= 0 && i < size && keeps<axis>(i, size, low, high))
            kept |= 1u << bit;
        if (gives<axis, 0> && i < 0)
            below |= 1u << bit;
        if (gives<axis, 1> && i >= size)
            above |= 1u << bit;
        if ((copies<axis, 0> && i < 0) || (copies<axis, 1> && i >= size))
            copied |= 1u << bit;
        else if (shift != 0)
            moved |= 1u << bit;
    }
};

// How far from a cell the one lies whose value it has. A mirror shows cells far outside beyond the
// other side, which gives a value: no step needs those, and they are loaded from inside.
template <int axis> __device__ __forceinline__ int shift_of(Index i, Index size) {
    Index there = i;
    Real value;
    if (!resolve<axis>(there, size, value))
        there = there == i ? i : min(max(there, Index(0)), size - 1);
    return static_cast<int>(there - i);
}

// ---- shared memory --------------------------------------------------------------------------

// Planes of the arrays and of the levels, then how far from a column and from a row of the tile the cells lie
// whose values it has.
__device__ __forceinline__ Real *shared_at(int place) {
    return reinterpret_cast<Real *>(shared_bytes()) + place;
}
__device__ __forceinline__ int *shifts_x() {
    return reinterpret_cast<int *>(shared_at(plan::tables));
}
__device__ __forceinline__ int *shifts_y() {
    return shifts_x() + width;
}

// The planes of a ring; `newest` is where its newest one lies.
template <int slots> __device__ __forceinline__ int plane_back(int newest, int back) {
    const int at = newest - back * plane;
    return at < 0 ? at + slots * plane : at;
}
template <int slots> __device__ __forceinline__ int next_plane(int newest) {
    return newest + plane == slots * plane ? 0 : newest + plane;
}

// ---- where a block lies ---------------------------------------------------------------------

struct Block {
    Index x, y;          // of the tile's first cell, halo included
    Index begin, size_z; // the first plane that is loaded; the grid's
    int first, end;      // the planes that are stored, from `begin` on
    int loaded;          // planes, from `begin` on
    int inner, inner_end; // planes for which no end of the walk has rules, likewise
    bool rim, packed;    // whether the tile meets an edge of x or y, and rows are whole packs
    int column, row;     // of the tile, where the patch begins
    unsigned stored;     // a bit for each point of the patch
    Marks marks_x, marks_y;
    unsigned first_column, last_column; // a bit where the thread sees the grid's first or last cell of a row

    __device__ __forceinline__ explicit Block(const Arguments &a) {
        column = static_cast<int>(threadIdx.x) % plan::lanes * plan::lane_x;
        row = static_cast<int>(threadIdx.x) / plan::lanes * plan::lane_y;
        x = a.begin[0] + Index(blockIdx.x) * plan::tile_x - plan::halo_x;
        y = a.begin[1] + Index(blockIdx.y) * plan::tile_y - plan::halo_y;
        const Index z = a.begin[2] + Index(blockIdx.z) * plan::walk;
        size_z = a.size[2];
        begin = z - plan::time * plan::below_z;
        if (Edge<2, 0>::kind != Boundary::periodic)
            begin = max(begin, -Index(plan::below_z));
        first = static_cast<int>(z - begin);
        end = static_cast<int>(min(z + plan::walk, a.end[2]) - begin);
        loaded = end + plan::time * plan::above_z;
        if (Edge<2, 1>::kind != Boundary::periodic)
            loaded = static_cast<int>(min(Index(loaded), size_z + plan::above_z - begin));
        const Index most = 1 << 30;
        inner = static_cast<int>(max(lag + plan::low_z + 1 - begin, -most));
        inner_end = static_cast<int>(min(size_z - plan::high_z - begin, most));
        rim = x < plan::low_x || x + width + plan::high_x > a.size[0] ||
              (height > 1 && (y < plan::low_y || y + height + plan::high_y > a.size[1]));
        packed = a.aligned && plan::vector == pack;
        stored = 0;
#pragma unroll
        for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
            for (int e = 0; e < plan::lane_x; ++e)
                if (stores(column + e, plan::halo_x, plan::tile_x) && x + column + e < a.size[0] &&
                    stores(row + r, plan::halo_y, plan::tile_y) && y + row + r < a.size[1])
                    stored |= 1u << (r * plan::lane_x + e);
    }
    static __device__ __forceinline__ bool stores(int i, int halo, int tile) {
        return i >= halo && i < halo + tile;
    }

    // Of a block at an edge.
    __device__ __forceinline__ void mark(const Arguments &a) {
        for (int i = threadIdx.x; i < width; i += plan::threads)
            shifts_x()[i] = shift_of<0>(x + i, a.size[0]);
        for (int i = threadIdx.x; i < height; i += plan::threads)
            shifts_y()[i] = shift_of<1>(y + i, a.size[1]);
        __syncthreads(); // the shifts are there
#pragma unroll
        for (int e = 0; e < plan::lane_x; ++e)
            marks_x.set<0>(e, x + column + e, a.size[0], plan::low_x, plan::high_x,
                           shifts_x()[column + e]);
#pragma unroll
        for (int r = 0; r < plan::lane_y; ++r)
            marks_y.set<1>(r, y + row + r, a.size[1], plan::low_y, plan::high_y,
                           shifts_y()[row + r]);
        const Index seen = x + column - seen_low;
        first_column = place_bit(-seen);
        last_column = place_bit(a.size[0] - 1 - seen);
    }
    // Whether an end of the walk has rules for a plane, so far from `begin`.
    __device__ __forceinline__ bool at_end(int plane) const {
        return (Edge<2, 0>::kind != Boundary::periodic && plane < inner) ||
               (Edge<2, 1>::kind != Boundary::periodic && plane >= inner_end);
    }
    // Where in a plane the patch lies, or the row so far from its first one. Rows beyond the tile
    // may be any.
    __device__ __forceinline__ int own() const {
        return row * width + column;
    }
    __device__ __forceinline__ int beside(int dy) const {
        return min(max(row + dy, 0), height - 1) * width + column;
    }
    // The same at an edge: a row beyond it may stand for one inside.
    __device__ __forceinline__ int beside_edge(int dy, Index size) const {
        int at = min(max(row + dy, 0), height - 1);
        if ((copies<1, 0> && y + at < 0) || (copies<1, 1> && y + at >= size))
            at = min(max(at + shifts_y()[at], 0), height - 1);
        return at * width + column;
    }
};

// ---- loading --------------------------------------------------------------------------------

// The value of a cell beyond the grid, where a side gives one: the axes' rules, x first.
struct Beyond {
    bool any;
    Real value;
};
__device__ __forceinline__ Beyond beyond(const Block &b, int r, int e, bool z, Real value_z) {
    Beyond out = {false, 0};
    if (z)
        out = {true, value_z};
    if (gives<1, 0> && (b.marks_y.below >> r & 1))
        out = {true, Edge<1, 0>::beyond()};
    if (gives<1, 1> && (b.marks_y.above >> r & 1))
        out = {true, Edge<1, 1>::beyond()};
    if (gives<0, 0> && (b.marks_x.below >> e & 1))
        out = {true, Edge<0, 0>::beyond()};
    if (gives<0, 1> && (b.marks_x.above >> e & 1))
        out = {true, Edge<0, 1>::beyond()};
    return out;
}

// The thread's patch of a plane that lies inside.
template <int count>
__device__ __forceinline__ void load_inside(const Grid &grid, const Real *from, Real *to) {
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
        for (int e = 0; e < plan::lane_x; e += count)
            copy_async<count>(SharedAt<Real>(to + r * width + e), from + r * grid.stride_y + e);
}

// Of any plane, by the rules; `from` would be the patch's own cells. Columns that repeat others are not
// loaded (take_line).
__device__ __forceinline__ void load_edge(const Arguments &a, const Block &b, const Grid &grid,
                                          Index z, const Real *from, Real *to) {
    Index there = z;
    Real value = 0;
    const bool given = !resolve<2>(there, a.size[2], value);
    const unsigned any_x =
        b.marks_x.below | b.marks_x.above | b.marks_x.copied | b.marks_x.moved;
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r) {
        const Index y = height > 1 ? r + shifts_y()[b.row + r] : 0;
        const Real *const row = from + (given ? 0 : there - z) * grid.stride_z + y * grid.stride_y;
        const bool given_row =
            given || ((b.marks_y.below | b.marks_y.above) >> r & 1) != 0;
#pragma unroll
        for (int k = 0; k < packs; ++k) {
            if (b.packed && !given_row && (any_x >> k * pack & ((1u << pack) - 1)) == 0) {
                copy_async<pack>(SharedAt<Real>(to + r * width + k * pack), row + k * pack);
                continue;
            }
#pragma unroll
            for (int e = k * pack; e < (k + 1) * pack; ++e) {
                if (b.marks_x.copied >> e & 1)
                    continue;
                const Beyond cell = beyond(b, r, e, given, value);
                if (cell.any)
                    to[r * width + e] = cell.value;
                else
                    copy_async<1>(SharedAt<Real>(to + r * width + e),
                                  row + e + shifts_x()[b.column + e]);
            }
        }
    }
}

// ---- storing --------------------------------------------------------------------------------

// The thread's patch of a plane.
__device__ __forceinline__ void store_patch(const Grid &grid, const Block &b, Index z,
                                            const Patch &value) {
    Real *const to = grid.data + offset(grid, b.x + b.column, b.y + b.row, z);
#pragma unroll
    for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
        for (int k = 0; k < packs; ++k) {
            constexpr unsigned full = (1u << pack) - 1;
            const unsigned bits = b.stored >> (r * plan::lane_x + k * pack) & full;
            Real *const at = to + r * grid.stride_y + k * pack;
            if (b.packed && bits == full) {
                Packed out;
#pragma unroll
                for (int e = 0; e < pack; ++e)
                    out.element[e] = value[r][k * pack + e];
                *reinterpret_cast<Packed *>(at) = out;
                continue;
            }
#pragma unroll
            for (int e = 0; e < pack; ++e)
                if (bits >> e & 1)
                    at[e] = value[r][k * pack + e];
        }
}
