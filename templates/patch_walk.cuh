// A block's walk along z over a tile of patches: what its threads load, exchange and store.

struct Walk {
    const Arguments &a;
    Point origin;        // of the tile, halo included, in its first plane
    int loaded;          // planes, from `origin` on
    Places ring, levels; // the patch's rows
    unsigned stored;  // of what the thread puts to memory, a bit for each pack, or see put_elements
    // Of each array, the next plane, where the thread begins to copy, ...
    const Stored<Array<0>> *from[plan::carried];
    int copy_to;      // ... and where to in a plane of the ring
    unsigned inside;  // a bit for each of its copies: whether a cell of the grid is copied
    // The next plane that is complete, where the thread puts what is stored; likewise of a wave's
    // level before the last.
    Stored<Output<0>> *to[plan::carried];

    __device__ __forceinline__ explicit Walk(const Arguments &arguments)
        : a(arguments), ring(0, tile::width * plan::lane_y * element, patch(), column()),
          levels(tile::levels * element, tile::width * tile::stored * element, patch(), column()) {
#if defined(PLAN_NARROW)
        ring.count_cells();
#endif
        const TileIndex tile_index(a);
        const Span x(tile_index.x, plan::tile_x, a.size[0]),
            y(tile_index.y, plan::tile_y, a.size[1]);
        const Index planes = a.end[2] - a.begin[2], walks = TileIndex::count(planes, plan::walk);
        // About as long as each other, but for one launch of several.
        const Index walk = walks == gridDim.z ? (planes - 1) / walks + 1 : plan::walk;
        const Index z = min(a.begin[2] + tile_index.z * walk, a.end[2]);
        origin = {x.origin - plan::halo_x, y.origin - tile::halo_y, z - tile::halo_z};
        loaded = int(min(walk, a.end[2] - z)) + plan::time * (plan::low_z + plan::high_z);
        if (whole_packs())
            place_packs(x, y);
        else
            place_elements(x, y);
#if !PLAN_APART
        if (packed())
            place_copies<tile::pack>();
        else
            place_copies<1>();
#endif
    }

    static __device__ __forceinline__ int column() {
        return int(threadIdx.x) % tile::lanes;
    }
    static __device__ __forceinline__ int patch() {
        return int(threadIdx.x) / tile::lanes;
    }
    // Whether the tile's packs are those of the grid's rows.
    __device__ __forceinline__ bool whole_packs() const {
#if defined(PLAN_PACKS)
        return plan::packs;
#else
        return a.aligned && a.size[0] % tile::pack == 0 && plan::halo_x % tile::pack == 0 &&
               plan::tile_x % tile::pack == 0;
#endif
    }
    __device__ __forceinline__ bool packed() const {
        return plan::copy_packs && whole_packs();
    }

    // The patch's columns and rows that a boundary keeps, a bit each.
    __device__ __forceinline__ unsigned kept_columns() const {
        unsigned bits = 0;
#pragma unroll
        for (int e = 0; e < plan::lane_x; ++e)
            if (keeps_at<0>(origin.x + column() * plan::lane_x + e, a.size[0], plan::low_x,
                            plan::high_x))
                bits |= 1u << e;
        return bits;
    }
    __device__ __forceinline__ unsigned kept_rows() const {
        unsigned bits = 0;
#pragma unroll
        for (int r = 0; r < plan::lane_y; ++r)
            if (keeps_at<1>(origin.y + patch() * plan::lane_y + r, a.size[1], plan::low_y,
                            plan::high_y))
                bits |= 1u << r;
        return bits;
    }

    // Where in what the thread sees of a row, or of a column, cells have images.
    __device__ __forceinline__ void place_images(KeptBits &bits) const {
        const Index x = origin.x + column() * plan::lane_x - plan::low_x;
        const Index y = origin.y + patch() * plan::lane_y - plan::low_y;
        bits.first_column = copies<0, 0> ? place_bit(-x) : 0;
        bits.last_column = copies<0, 1> ? place_bit(a.size[0] - 1 - x) : 0;
        bits.first_row = copies<1, 0> ? place_bit(-y) : 0;
        bits.last_row = copies<1, 1> ? place_bit(a.size[1] - 1 - y) : 0;
    }

    // Whether the points of the warp, or those of the block, are or see rows that a side of y keeps or copies.
    __device__ __forceinline__ bool meets_rows() const {
        if constexpr (wraps<1>)
            return false;
        constexpr int height = plan::each_warp ? rows_across * plan::lane_y : tile::height;
        constexpr int seen = plan::low_y + height + plan::high_y;
        const Index y = origin.y + (plan::each_warp ? warp() * height : 0) - plan::low_y;
        // By a vote, so that compilers know that all lanes go one way.
        return any_lane(meet<1, 0>(y, seen, 0, plan::tile_y, plan::low_y, a.size[1]).any ||
                        meet<1, 1>(y, seen, 0, plan::tile_y, plan::high_y, a.size[1]).any);
    }
    // What the warp must see to between the first and the last planes.
    __device__ __forceinline__ Care care() const {
        const Meeting left =
            meet<0, 0>(origin.x, tile::width, plan::halo_x, plan::tile_x, plan::low_x, a.size[0]);
        const Meeting right =
            meet<0, 1>(origin.x, tile::width, plan::halo_x, plan::tile_x, plan::high_x, a.size[0]);
        const Meeting up =
            meet<1, 0>(origin.y, tile::height, tile::halo_y, plan::tile_y, plan::low_y, a.size[1]);
        const Meeting down =
            meet<1, 1>(origin.y, tile::height, tile::halo_y, plan::tile_y, plan::high_y, a.size[1]);
        if (!(left.aligned && right.aligned && up.aligned && down.aligned))
            return Care::all;
        if (meets_rows() || (left.any && right.any))
            return Care::rim;
        return left.any ? Care::left : right.any ? Care::right : Care::none;
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
#if defined(PLAN_NARROW)
        static constexpr int bytes = row_step * tile::width * cell_element; // of one to the next
#else
        static constexpr int bytes = row_step * tile::width * element; // of one to the next
#endif
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

    template <int count> __device__ __forceinline__ void place_copies() {
        using C = Copies<count>;
#if defined(PLAN_NARROW)
        copy_to = (C::y() * tile::width + place_in_row(C::x())) * cell_element;
#else
        copy_to = (C::y() * tile::width + place_in_row(C::x())) * element;
#endif
        Index x = origin.x + C::x();
        Real value = 0;
        const bool in_row = find<0>(x, a.size[0], value); // rows of packs: all of it or nothing
        begin_copies<0>(x, origin.y + C::y(), origin.z);
        if constexpr (plan::carried > 1)
            begin_copies<plan::carried - 1>(x, origin.y + C::y(), origin.z + plan::high_z);
        inside = 0;
#pragma unroll 1
        for (int k = 0; k < C::rounds && C::in_tile(k); ++k) {
            Index y = origin.y + C::y() + k * C::row_step;
            Real v = value;
            if (in_row && find<1>(y, a.size[1], v)) {
                inside |= 1u << k;
                continue;
            }
            for (int slot = 0; slot < plan::carried * plan::ring; ++slot) // that nothing overwrites
                for (int e = 0; e < count; ++e)
#if defined(PLAN_NARROW)
                    cells_at(copy_to + slot * tile::plane * element + k * C::bytes)[e] = v;
#else
                    shared_at(copy_to + slot * tile::plane * element + k * C::bytes)[e] = v;
#endif
        }
    }

    template <int array> __device__ __forceinline__ void begin_copies(Index x, Index y, Index z) {
        const Grid &grid = a.grid[Array<array>::grid];
        from[array] = grid.data + offset(grid, x, y, z);
    }

    // Begins to copy the plane to a slot of the ring, in bytes, if the walk needs it. With it comes
    // the plane of a wave's older level that begins to be summed when this one is added.
    __device__ __forceinline__ void load_plane(int plane, int slot) {
        if (plane < loaded) {
            load_array<0>(origin.z + plane, copy_to + slot);
            if constexpr (plan::carried > 1)
                load_array<plan::carried - 1>(origin.z + plane + plan::high_z,
                                              copy_to + slot + tile::older * element);
        }
        copies_commit();
    }
    template <int array> __device__ __forceinline__ void load_array(Index z, int to_shared) {
        if (packed())
            load_plane_by<array, tile::pack>(z, to_shared);
        else
            load_plane_by<array, 1>(z, to_shared);
        from[array] += a.grid[Array<array>::grid].stride_z;
    }
    template <int array, int count>
    __device__ __forceinline__ void load_plane_by(Index z, int to_shared) const {
        using C = Copies<count>;
        using Copied = Pack<Stored<Array<0>>, count>;
        if (wraps<1> || z < 0 || z >= a.size[2]) {
            copy_edge<array, count>(z, to_shared);
            return;
        }
        const unsigned copied = pinned(inside);
        const Stored<Array<0>> *row = from[array];
#pragma unroll
        for (int k = 0; k < C::rounds; ++k) {
            if (copied >> k & 1)
#if defined(PLAN_NARROW)
                copy_one_async(reinterpret_cast<Copied *>(cells_at(to_shared + k * C::bytes)),
                               reinterpret_cast<const Copied *>(row));
#else
                copy_one_async(reinterpret_cast<Copied *>(shared_at(to_shared + k * C::bytes)),
                           reinterpret_cast<const Copied *>(row));
#endif
            row += C::row_step * a.grid[Array<array>::grid].stride_y;
        }
    }
    // A plane outside of the grid, or rows of which some may lie on its other side.
    template <int array, int count>
    __device__ __forceinline__ void copy_edge(Index z, int to_shared) const {
        using C = Copies<count>;
        using Copied = Pack<Stored<Array<0>>, count>;
        const Grid &grid = a.grid[Array<array>::grid];
        Index there = z;
        Real value = 0;
        const bool cells = find<2>(there, a.size[2], value);
        const Stored<Array<0>> *const plane = from[array] + (there - z) * grid.stride_z;
#pragma unroll 1
        for (int k = 0; k < C::rounds; ++k) {
            if (!(inside >> k & 1))
                continue;
#if defined(PLAN_NARROW)
            Stored<Array<0>> *const to_row = cells_at(to_shared + k * C::bytes);
#else
            Real *const to_row = shared_at(to_shared + k * C::bytes);
#endif
            Index rows = k * C::row_step; // from that of the first copy
            if constexpr (wraps<1>) {
                const Index first = origin.y + C::y();
                Real unused;
                rows += first;
                find<1>(rows, a.size[1], unused);
                rows -= first;
            }
            if (cells)
                copy_one_async(reinterpret_cast<Copied *>(to_row),
                           reinterpret_cast<const Copied *>(plane + rows * grid.stride_y));
            else
                for (int e = 0; e < count; ++e)
                    to_row[e] = value;
        }
    }

    // ---- rows of a patch, in shared memory ----

    static __device__ __forceinline__ void read(int from_shared, Real (&row)[columns]) {
#pragma unroll
        for (int k = 0; k < tile::packs; ++k) {
            const Packed p = *reinterpret_cast<const Packed *>(
                shared_at(from_shared + k * tile::lanes * tile::pack * element));
#pragma unroll
            for (int e = 0; e < tile::pack; ++e)
                row[plan::low_x + k * tile::pack + e] = p.element[e];
        }
    }
#if defined(PLAN_NARROW)
    // A row of a plane as memory has it.
    static __device__ __forceinline__ void read_cells(int from_shared, Real (&row)[columns]) {
#pragma unroll
        for (int k = 0; k < tile::packs; ++k) {
            const auto p = read_narrow<tile::pack>(SharedAt<Stored<Array<0>>>(
                cells_at(from_shared + k * tile::lanes * tile::pack * cell_element)));
#pragma unroll
            for (int e = 0; e < tile::pack; ++e)
                row[plan::low_x + k * tile::pack + e] = p.element[e];
        }
    }
#endif
    // Packs so many elements apart.
    template <int step>
    static __device__ __forceinline__ void write(Real *out, const Real (&row)[plan::lane_x]) {
#pragma unroll
        for (int k = 0; k < tile::packs; ++k)
            *reinterpret_cast<Packed *>(out + k * step) = pack_of(row, k);
    }
    static __device__ __forceinline__ Packed pack_of(const Real (&row)[plan::lane_x], int k) {
        Packed p;
#pragma unroll
        for (int e = 0; e < tile::pack; ++e)
            p.element[e] = row[k * tile::pack + e];
        return p;
    }
    // What the neighbouring lanes hold; garbage at the sides of the tile.
    static __device__ __forceinline__ void extend(Real (&row)[columns]) {
#pragma unroll
        for (int d = 0; d < plan::low_x; ++d)
            row[d] = shuffle_up(row[plan::lane_x + d], 1);
#pragma unroll
        for (int d = 0; d < plan::high_x; ++d)
            row[plan::low_x + plan::lane_x + d] = shuffle_down(row[plan::low_x + d], 1);
    }

    // ---- to memory: by packs, where the tile's are those of the grid's rows ----

    template <int grid>
    __device__ __forceinline__ Stored<Output<0>> *first_of(Index x, Index y) const {
        return a.grid[grid].data + offset(a.grid[grid], x, y, origin.z + tile::halo_z);
    }
    __device__ __forceinline__ void begin_stores(Index x, Index y) {
        to[0] = first_of<Output<0>::grid>(x, y);
        if constexpr (plan::carried > 1)
            to[plan::carried - 1] = first_of<plan::second>(x, y);
    }
    __device__ __forceinline__ void place_packs(const Span &span_x, const Span &span_y) {
        const Index x = origin.x + column() * plan::lane_x, y = origin.y + patch() * plan::lane_y;
        begin_stores(x, y);
        stored = 0;
#pragma unroll
        for (int r = 0; r < plan::lane_y; ++r)
#pragma unroll
            for (int k = 0; k < tile::packs; ++k)
                if (x + k * tile::pack >= span_x.first && x + k * tile::pack < span_x.end &&
                    y + r >= span_y.first && y + r < span_y.end)
                    stored |= 1u << (r * tile::packs + k);
    }
    template <int grid>
    __device__ __forceinline__ void put_packs(const Patch &out, Stored<Output<0>> *row) const {
        const unsigned bits = pinned(stored);
#pragma unroll
        for (int r = 0; r < plan::lane_y; ++r) {
#pragma unroll
            for (int k = 0; k < tile::packs; ++k)
                if (bits >> (r * tile::packs + k) & 1)
#if defined(PLAN_NARROW)
                    store_narrowed(row + k * tile::pack, pack_of(out[r], k));
#else
                    reinterpret_cast<Packed *>(row)[k] = pack_of(out[r], k);
#endif
            row += a.grid[grid].stride_y;
        }
    }

    // ---- or, a warp after the other, neighbours by neighbours ----

    static constexpr int rows_across = warp_size / tile::lanes; // patches of a warp
    static constexpr int parts =
        (tile::width + warp_size - 1) / warp_size; // of a row, for 32 lanes

    // The bits of `stored` are those of the lane's elements of a row, then those of the warp's
    // rows.
    __device__ __forceinline__ void place_elements(const Span &span_x, const Span &span_y) {
        static_assert(parts + rows_across * plan::lane_y <= 32, "a bit for each");
        const Index x = origin.x + lane();
        const Index y = origin.y + warp() * rows_across * plan::lane_y;
        begin_stores(x, y);
        stored = 0;
#pragma unroll
        for (int k = 0; k < parts; ++k)
            if (lane() + k * warp_size < tile::width && x + k * warp_size >= span_x.first &&
                x + k * warp_size < span_x.end)
                stored |= 1u << k;
#pragma unroll
        for (int r = 0; r < rows_across * plan::lane_y; ++r)
            if (y + r >= span_y.first && y + r < span_y.end)
                stored |= 1u << (parts + r);
    }
    // The warp lays its rows into shared memory, one of each patch at a time.
    template <int grid>
    __device__ __forceinline__ void put_elements(const Patch &out, Stored<Output<0>> *to) const {
        const unsigned bits = pinned(stored);
        Real *const scratch =
            shared_at((tile::scratch + warp() * rows_across * tile::width) * element);
#pragma unroll
        for (int r = 0; r < plan::lane_y; ++r) {
            warp_barrier(); // all have read the rows before
            write<tile::pack>(scratch + lane() * plan::lane_x, out[r]);
            warp_barrier(); // the rows are complete
#pragma unroll
            for (int p = 0; p < rows_across; ++p) {
                const int y = p * plan::lane_y + r;
                Stored<Output<0>> *const row = to + y * a.grid[grid].stride_y;
#pragma unroll
                for (int k = 0; k < parts; ++k)
                    if ((bits >> k & 1) && (bits >> (parts + y) & 1))
                        row[k * warp_size] = scratch[p * tile::width + lane() + k * warp_size];
            }
        }
    }

    template <int grid>
    __device__ __forceinline__ void put(const Patch &out, Stored<Output<0>> *&to) const {
        if (whole_packs())
            put_packs<grid>(out, to);
        else
            put_elements<grid>(out, to);
        to += a.grid[grid].stride_z;
    }
};
