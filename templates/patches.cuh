// A block's tile for temporal blocking in 3D: rows of patches, a patch a thread, that walk z with a
// halo for all their steps. Where each thread stands, what of its patch a boundary keeps, how
// planes come from memory and go there, and how rows of a patch meet those beside it.
//
//        tile   [ halo | output points | halo ]      x: lanes_x patches a row, 1/lanes_x of a warp
//        patch  lane_x × lane_y points                y: one row of patches below the other

// In shared memory: a ring of planes from memory, two planes of each level but the last, and a row
// of each patch that is on its way to memory.
struct tile {
    static constexpr int pack = plan::lane_x * sizeof(Real) > 16 ? int(16 / sizeof(Real))
                                                                 : plan::lane_x;
    static constexpr int packs = plan::lane_x / pack;
    static constexpr int lanes = plan::lanes; // that a row has
    static constexpr int width = lanes * plan::lane_x;
    static constexpr int patches = plan::threads / lanes; // one below the other
    static constexpr int height = patches * plan::lane_y;
    static constexpr int plane = width * height;
    static constexpr int halo_y = plan::time * plan::low_y, halo_z = plan::time * plan::low_z;
    // Rows of a patch that a level's plane stores: those that neighbours read, or all.
    static constexpr bool all_rows = !plan::keep || plan::low_y + plan::high_y >= plan::lane_y;
    static constexpr int stored = all_rows ? plan::lane_y : plan::low_y + plan::high_y;
    static constexpr int level_plane = width * patches * stored;
    static constexpr int levels = plan::ring * plane; // where they begin, in elements
    static constexpr int scratch = levels + 2 * (plan::time - 1) * level_plane;
    static constexpr int elements = scratch + width * patches;

    static __device__ constexpr bool stores(int row) {
        return all_rows || row < plan::high_y || row >= plan::lane_y - plan::low_y;
    }
    static __device__ constexpr int slot(int row) {
        return all_rows || row < plan::high_y ? row : row - (plan::lane_y - stored);
    }

    static_assert(plan::lane_x % pack == 0 && plan::threads % lanes == 0, "whole packs and rows");
    static_assert(warp_size % lanes == 0 && plan::threads % warp_size == 0, "whole rows of warps");
    static_assert(plan::lane_x * plan::lane_y <= 32, "a bit for each point");
    static_assert(plan::low_x <= plan::lane_x && plan::high_x <= plan::lane_x, "one lane beside");
    static_assert(plan::low_y <= plan::lane_y && plan::high_y <= plan::lane_y, "one patch beside");
    static_assert(plan::halo_x >= plan::time * plan::low_x &&
                      plan::halo_x + plan::tile_x + plan::time * plan::high_x <= width &&
                      halo_y + plan::tile_y + plan::time * plan::high_y <= height,
                  "a halo for all steps");
};
using Packed = Pack<Real, tile::pack>;

// The rows of a patch and those above and below it that its points read, the lanes' beside too.
constexpr int rows = plan::low_y + plan::lane_y + plan::high_y;
constexpr int columns = plan::low_x + plan::lane_x + plan::high_x;
using Rows = Real[rows][columns];
using Patch = Real[plan::lane_y][plan::lane_x];

// ---- boundaries -----------------------------------------------------------------------------

// The cells from `first` on that a side of the grid keeps, in a grid of this size: the outermost
// inside for `fixed`, the next outside for a value. What lies beyond them does not matter.
struct Kept {
    Index first;
    int count;
    __device__ constexpr bool has(Index i) const {
        return i >= first && i < first + count;
    }
};
template <int axis, int side> __device__ constexpr Kept kept_by(Index size, int reach) {
    constexpr Boundary kind = Edge<axis, side>::kind;
    const bool inside = kind == Boundary::fixed;
    return {side == 0 ? (inside ? 0 : -reach) : (inside ? size - reach : size),
            kind == Boundary::periodic ? 0 : reach};
}
template <int axis> __device__ constexpr bool keeps_at(Index i, Index size, int low, int high) {
    return kept_by<axis, 0>(size, low).has(i) || kept_by<axis, 1>(size, high).has(i);
}

// Which of a patch's columns (rows) one side keeps, a bit each, where the tile's first output point
// is the grid's first, its last one the grid's last.
template <int axis, int side>
__device__ constexpr unsigned aligned_bits(int halo, int output, int lane, int reach) {
    const Kept kept = kept_by<axis, side>(output, reach);
    unsigned bits = 0;
    for (int i = 0; i < kept.count; ++i)
        bits |= 1u << (halo + int(kept.first) + i) % lane;
    return bits;
}

// What a warp must see to in its patches. All but the last say where kept cells can lie.
enum class Care { none, left, right, rows, all };

template <Care care> struct Where {
    static constexpr unsigned left =
        aligned_bits<0, 0>(plan::halo_x, plan::tile_x, plan::lane_x, plan::low_x);
    static constexpr unsigned right =
        aligned_bits<0, 1>(plan::halo_x, plan::tile_x, plan::lane_x, plan::high_x);
    static constexpr unsigned columns = care == Care::left    ? left
                                        : care == Care::right ? right
                                        : care == Care::all   ? ~0u
                                                              : 0;
    static constexpr unsigned rows =
        care == Care::rows
            ? aligned_bits<1, 0>(tile::halo_y, plan::tile_y, plan::lane_y, plan::low_y) |
                  aligned_bits<1, 1>(tile::halo_y, plan::tile_y, plan::lane_y, plan::high_y)
        : care == Care::all ? ~0u
                            : 0;
};

// Whether a cell of the grid stands at i, where it is. Else what a boundary says, or what lies
// behind cells that `fixed` keeps and shall not matter.
template <int axis> __device__ __forceinline__ bool find(Index &i, Index size, Real &value) {
    if (i >= 0 && i < size)
        return true;
    const Boundary kind = i < 0 ? Edge<axis, 0>::kind : Edge<axis, 1>::kind;
    if (kind != Boundary::fixed)
        return resolve<axis>(i, size, value);
    value = 0;
    return false;
}
constexpr bool wraps_y =
    Edge<1, 0>::kind == Boundary::periodic || Edge<1, 1>::kind == Boundary::periodic;

// ---- where a block stands -------------------------------------------------------------------

// The output points that block `i` of `count` has along an axis. The last one ends where the grid
// does, and stores what those before it have not.
struct Span {
    Index origin, first, end;
    __device__ __forceinline__ Span(int i, int count, int output, Index size) {
        first = Index(i) * output;
        origin = i > 0 && i == count - 1 ? size - output : first;
        end = min(first + output, size);
    }
};

struct Walk {
    const Arguments &a;
    Real *shared;
    Point origin;                            // of the tile, halo included, in its first plane
    int made, loaded;                        // planes
    int own, above, below;                   // the patch's rows in the ring, in elements, ...
    int own_level, above_level, below_level; // ... and in the levels' planes
    unsigned kept_x, kept_y;                 // a bit for each column and row of the patch
    int store_x, store_x_end, store_y, store_y_end; // what of the tile is stored
    bool whole_packs;                               // the tile's packs are those of the grid's rows
    const Real *from; // the next plane, where the thread begins to copy, ...
    int copy_to;      // ... and where to in a plane of the ring
    unsigned inside;  // a bit for each of its copies: whether a cell of the grid is copied
    bool all_inside;  // ... of the block
    Real *to;         // the tile's plane that the last level completes next

    __device__ __forceinline__ explicit Walk(const Arguments &arguments)
        : a(arguments), shared(reinterpret_cast<Real *>(shared_bytes())) {
        const Span x(blockIdx.x, gridDim.x, plan::tile_x, a.size[0]);
        const Span y(blockIdx.y, gridDim.y, plan::tile_y, a.size[1]);
        const Index walk = (a.size[2] + gridDim.z - 1) / gridDim.z;
        const Index z = min(Index(blockIdx.z) * walk, a.size[2]);
        origin = {x.origin - plan::halo_x, y.origin - tile::halo_y, z - tile::halo_z};
        made = int(min(walk, a.size[2] - z));
        loaded = made + plan::time * (plan::low_z + plan::high_z);
        store_x = int(x.first - origin.x);
        store_x_end = int(x.end - origin.x);
        store_y = int(y.first - origin.y);
        store_y_end = int(y.end - origin.y);
        whole_packs = a.aligned && a.size[0] % tile::pack == 0 && plan::halo_x % tile::pack == 0 &&
                      plan::tile_x % tile::pack == 0;
        all_inside = origin.x >= 0 && origin.x + tile::width <= a.size[0] && origin.y >= 0 &&
                     origin.y + tile::height <= a.size[1];
        place_patch();
        if (packed())
            place_copies<tile::pack>();
        else
            place_copies<1>();
    }

    static __device__ __forceinline__ int column() {
        return int(threadIdx.x) % tile::lanes;
    }
    static __device__ __forceinline__ int patch() {
        return int(threadIdx.x) / tile::lanes;
    }

    __device__ __forceinline__ void place_patch() {
        const int ring_row = tile::width * plan::lane_y, level_row = tile::width * tile::stored;
        own = patch() * ring_row + column() * tile::pack;
        own_level = tile::levels + patch() * level_row + column() * tile::pack;
        const int up = patch() > 0 ? 1 : 0, down = patch() + 1 < tile::patches ? 1 : 0;
        above = own - up * ring_row;
        above_level = own_level - up * level_row;
        below = own + down * ring_row;
        below_level = own_level + down * level_row;
        kept_x = kept_y = 0;
#pragma unroll
        for (int e = 0; e < plan::lane_x; ++e)
            if (keeps_at<0>(origin.x + column() * plan::lane_x + e, a.size[0], plan::low_x,
                            plan::high_x))
                kept_x |= 1u << e;
#pragma unroll
        for (int r = 0; r < plan::lane_y; ++r)
            if (keeps_at<1>(origin.y + patch() * plan::lane_y + r, a.size[1], plan::low_y,
                            plan::high_y))
                kept_y |= 1u << r;
        const Grid &grid = a.grid[Output<0>::grid];
        to = grid.data + offset(grid, origin.x, origin.y, origin.z + tile::halo_z);
    }

    // What the calling warp must see to between the first and the last planes.
    __device__ __forceinline__ Care care() const {
        if (!any_lane((kept_x | kept_y) != 0))
            return Care::none;
        if (!any_lane((kept_x & ~Where<Care::left>::columns) != 0 || kept_y != 0))
            return Care::left;
        if (!any_lane((kept_x & ~Where<Care::right>::columns) != 0 || kept_y != 0))
            return Care::right;
        if (!any_lane(kept_x != 0 || (kept_y & ~Where<Care::rows>::rows) != 0))
            return Care::rows;
        return Care::all;
    }

    // ---- from memory to the ring ----

    // Of element x of a row: packs of a lane lie `lanes` packs apart.
    static __device__ __forceinline__ int place_in_row(int x) {
        const int e = x % plan::lane_x;
        return (e / tile::pack * tile::lanes + x / plan::lane_x) * tile::pack + e % tile::pack;
    }

    // How the threads share a plane's elements, `count` a copy. Some may have nothing to do.
    template <int count> struct Copies {
        static constexpr int across = tile::width / count; // copies of a row
        static constexpr int row_step = plan::threads / across;
        static constexpr int rounds = (tile::height + row_step - 1) / row_step;
        static constexpr bool even = plan::threads % across == 0 && tile::height % row_step == 0;
        static_assert(row_step > 0 && rounds <= 32, "a bit for each");
        static __device__ __forceinline__ int x() {
            return int(threadIdx.x) % across * count;
        }
        static __device__ __forceinline__ int y() {
            return int(threadIdx.x) / across;
        }
        static __device__ __forceinline__ bool in_tile(int round) {
            return even || (y() < row_step && y() + round * row_step < tile::height);
        }
    };

    __device__ __forceinline__ bool packed() const {
        return plan::copy_packs && whole_packs;
    }

    template <int count> __device__ __forceinline__ void place_copies() {
        using C = Copies<count>;
        const Grid &grid = a.grid[Array<0>::grid];
        copy_to = C::y() * tile::width + place_in_row(C::x());
        Index x = origin.x + C::x();
        Real value = 0;
        const bool in_row = find<0>(x, a.size[0], value); // rows of packs: all of it or nothing
        from = grid.data + offset(grid, x, origin.y + C::y(), origin.z);
        inside = 0;
#pragma unroll 1
        for (int k = 0; k < C::rounds && C::in_tile(k); ++k) {
            Index y = origin.y + C::y() + k * C::row_step;
            Real v = value;
            if (in_row && find<1>(y, a.size[1], v)) {
                inside |= 1u << k;
                continue;
            }
            for (int slot = 0; slot < plan::ring; ++slot) // which nothing overwrites
                for (int e = 0; e < count; ++e)
                    shared[slot * tile::plane + copy_to + k * C::row_step * tile::width + e] = v;
        }
    }

    // Begins to copy the plane to a slot of the ring, if the walk needs it.
    __device__ __forceinline__ void load_plane(int plane, int slot) {
        if (plane < loaded) {
            Real *const to_shared = shared + slot * tile::plane + copy_to;
            if (packed())
                load_plane_by<tile::pack>(origin.z + plane, to_shared);
            else
                load_plane_by<1>(origin.z + plane, to_shared);
            from += a.grid[Array<0>::grid].stride_z;
        }
        copies_commit();
    }
    template <int count>
    __device__ __forceinline__ void load_plane_by(Index z, Real *to_shared) const {
        const bool in_grid = z >= 0 && z < a.size[2];
        if (in_grid && all_inside && Copies<count>::even)
            copy_plane<count, true>(to_shared);
        else if (in_grid && !wraps_y)
            copy_plane<count, false>(to_shared);
        else
            copy_edge<count>(z, to_shared);
    }
    template <int count, bool all>
    __device__ __forceinline__ void copy_plane(Real *to_shared) const {
        using C = Copies<count>;
        using Copied = Pack<Real, count>;
        const Real *row = from;
#pragma unroll
        for (int k = 0; k < C::rounds; ++k) {
            if (all || (inside >> k & 1))
                copy_async(reinterpret_cast<Copied *>(to_shared + k * C::row_step * tile::width),
                           reinterpret_cast<const Copied *>(row));
            row += C::row_step * a.grid[Array<0>::grid].stride_y;
        }
    }
    // A plane outside of the grid, or rows of which some lie on its other side.
    template <int count> __device__ __forceinline__ void copy_edge(Index z, Real *to_shared) const {
        using C = Copies<count>;
        using Copied = Pack<Real, count>;
        const Grid &grid = a.grid[Array<0>::grid];
        const Index first = origin.y + C::y();
        Index there = z;
        Real value = 0;
        const bool cells = find<2>(there, a.size[2], value);
        const Real *const plane = from + (there - z) * grid.stride_z;
#pragma unroll 1
        for (int k = 0; k < C::rounds; ++k) {
            if (!(inside >> k & 1))
                continue;
            Real *const to_row = to_shared + k * C::row_step * tile::width;
            Index y = first + k * C::row_step;
            Real unused;
            find<1>(y, a.size[1], unused);
            if (cells)
                copy_async(reinterpret_cast<Copied *>(to_row),
                           reinterpret_cast<const Copied *>(plane + (y - first) * grid.stride_y));
            else
                for (int e = 0; e < count; ++e)
                    to_row[e] = value;
        }
    }

    // ---- rows of a patch, in shared memory ----

    static __device__ __forceinline__ void read(const Real *from_shared, Real (&row)[columns]) {
#pragma unroll
        for (int k = 0; k < tile::packs; ++k) {
            const Packed p =
                *reinterpret_cast<const Packed *>(from_shared + k * tile::lanes * tile::pack);
#pragma unroll
            for (int e = 0; e < tile::pack; ++e)
                row[plan::low_x + k * tile::pack + e] = p.element[e];
        }
    }
    // Packs a `step` of elements apart: tile::pack, or that times the lanes.
    template <int step>
    static __device__ __forceinline__ void write(Real *out, const Real (&row)[plan::lane_x]) {
#pragma unroll
        for (int k = 0; k < tile::packs; ++k) {
            Packed p;
#pragma unroll
            for (int e = 0; e < tile::pack; ++e)
                p.element[e] = row[k * tile::pack + e];
            *reinterpret_cast<Packed *>(out + k * step) = p;
        }
    }
    // What the lanes beside hold. At the tile's sides it is garbage.
    static __device__ __forceinline__ void extend(Real (&row)[columns]) {
#pragma unroll
        for (int d = 0; d < plan::low_x; ++d)
            row[d] = shuffle_up(row[plan::lane_x + d], 1);
#pragma unroll
        for (int d = 0; d < plan::high_x; ++d)
            row[plan::low_x + plan::lane_x + d] = shuffle_down(row[plan::low_x + d], 1);
    }

    // ---- to memory ----

    __device__ __forceinline__ bool stores_at(int x, int y) const {
        return x >= store_x && x < store_x_end && y >= store_y && y < store_y_end;
    }
    __device__ __forceinline__ void put(const Patch &out) const {
        if (whole_packs)
            put_packs(out);
        else
            put_elements(out);
    }
    __device__ __forceinline__ void put_packs(const Patch &out) const {
        const Grid &grid = a.grid[Output<0>::grid];
        const int x = column() * plan::lane_x, y = patch() * plan::lane_y;
        Real *row = to + y * grid.stride_y + x;
#pragma unroll
        for (int r = 0; r < plan::lane_y; ++r) {
#pragma unroll
            for (int k = 0; k < tile::packs; ++k)
                if (stores_at(x + k * tile::pack, y + r)) {
                    Packed p;
#pragma unroll
                    for (int e = 0; e < tile::pack; ++e)
                        p.element[e] = out[r][k * tile::pack + e];
                    reinterpret_cast<Packed *>(row)[k] = p;
                }
            row += grid.stride_y;
        }
    }
    // A warp lays its rows into shared memory, one of each patch at a time, so that neighbours go
    // to memory together.
    __device__ __forceinline__ void put_elements(const Patch &out) const {
        constexpr int of_warp = warp_size / tile::lanes; // patches
        const Grid &grid = a.grid[Output<0>::grid];
        Real *const scratch = shared + tile::scratch + warp() * of_warp * tile::width;
#pragma unroll
        for (int r = 0; r < plan::lane_y; ++r) {
            warp_barrier(); // all have read the rows before
            write<tile::pack>(scratch + lane() * plan::lane_x, out[r]);
            warp_barrier(); // the rows are complete
#pragma unroll
            for (int p = 0; p < of_warp; ++p) {
                const int y = (warp() * of_warp + p) * plan::lane_y + r;
                Real *const row = to + y * grid.stride_y;
#pragma unroll
                for (int k = 0; k < tile::width; k += warp_size) {
                    const int x = k + lane();
                    if ((tile::width % warp_size == 0 || x < tile::width) && stores_at(x, y))
                        row[x] = scratch[p * tile::width + x];
                }
            }
        }
    }
};
