// A block's box: its tile and the halo of all steps, where that lies in the grid, and how it is loaded.

// The box in shared memory: the tile and its halo.
struct Box {
    static constexpr int width = plan::halo_low_x + plan::tile_x + plan::halo_high_x;
    static constexpr int height = plan::halo_low_y + plan::tile_y + plan::halo_high_y;
    static constexpr int depth = plan::halo_low_z + plan::tile_z + plan::halo_high_z;
    static constexpr int plane = width * height, cells = plane * depth;
    static __device__ __forceinline__ int at(int x, int y, int z) {
        return z * plane + y * width + x;
    }
};

// The output that makes an array's next values, −1 where none does, and the other way round.
template <int array, int output = 0> __device__ __forceinline__ constexpr int output_of() {
    if constexpr (output == plan::outputs)
        return -1;
    else if constexpr (Output<output>::current == Array<array>::grid)
        return output;
    else
        return output_of<array, output + 1>();
}
template <int output, int array = 0> __device__ __forceinline__ constexpr int array_of() {
    if constexpr (array == plan::arrays)
        return -1;
    else if constexpr (Array<array>::grid == Output<output>::current)
        return array;
    else
        return array_of<output, array + 1>();
}

// ---- where a block lies ---------------------------------------------------------------------

// Cells of the box along an axis.
struct Range {
    int begin, end;
    __device__ __forceinline__ bool has(int i) const {
        return i >= begin && i < end;
    }
};

template <int axis> struct Axis {
    static constexpr int tile = axis == 0 ? plan::tile_x : axis == 1 ? plan::tile_y : plan::tile_z;
    static constexpr int low = axis == 0 ? plan::low_x : axis == 1 ? plan::low_y : plan::low_z;
    static constexpr int high = axis == 0 ? plan::high_x : axis == 1 ? plan::high_y : plan::high_z;
    static constexpr int halo = axis == 0   ? plan::halo_low_x
                                : axis == 1 ? plan::halo_low_y
                                            : plan::halo_low_z;
    static constexpr int extent = axis == 0   ? Box::width
                                  : axis == 1 ? Box::height
                                              : Box::depth;
    static constexpr Boundary below = Edge<axis, 0>::kind, above = Edge<axis, 1>::kind;
    static constexpr bool periodic = below == Boundary::periodic;
    static constexpr bool fixed = below == Boundary::fixed || above == Boundary::fixed;
    // Whether cells beyond the grid, as far as the shape reaches, have the values of other cells.
    static constexpr bool copied_below =
        low > 0 && (below == Boundary::clamp || below == Boundary::mirror);
    static constexpr bool copied_above =
        high > 0 && (above == Boundary::clamp || above == Boundary::mirror);
    static constexpr bool copied = copied_below || copied_above;
    // How far below and above it a cell asks for others, where mirrors count both ways.
    static constexpr bool mirrored = below == Boundary::mirror || above == Boundary::mirror;
    static constexpr int asks_low = mirrored && high > low ? high : low;
    static constexpr int asks_high = mirrored && low > high ? low : high;
    static constexpr int never = 255; // a level

    Index first;  // the cell of the grid where the box begins
    Range grid;   // the grid's
    Range change; // those that steps change
    Range own;    // the tile's

    __device__ __forceinline__ void place(const Arguments &a, int block) {
        first = a.begin[axis] + Index(block) * tile - halo;
        const Index size = a.size[axis] - first;
        grid.begin = first < -extent ? extent : static_cast<int>(first < 0 ? -first : 0);
        grid.end = size < 2 * extent ? static_cast<int>(size) : 2 * extent;
        const Index end = a.end[axis] - first;
        own = {halo, end < halo + tile ? static_cast<int>(end) : halo + tile};
        change = grid;
        if constexpr (periodic)
            change = {0, extent};
        if constexpr (below == Boundary::fixed)
            change.begin = first < low ? static_cast<int>(low - first) : 0;
        if constexpr (above == Boundary::fixed)
            change.end = size - high < change.end ? static_cast<int>(size - high) : change.end;
    }
    // Whether steps change a cell of the tile along this axis.
    __device__ __forceinline__ bool moves() const {
        return change.begin < own.end && change.end > own.begin;
    }
    // The quotient, rounded up; where nothing is asked for, so that no step makes the cell.
    template <int asks> static __device__ __forceinline__ int steps_to(int distance) {
        if constexpr (asks == 0)
            return never;
        else
            return (distance + asks - 1) / asks;
    }
    // The cells of the tile that no neighbouring block may ask for.
    __device__ __forceinline__ Range kept() const {
        return {own.begin + halo, own.end - halo};
    }
    __device__ __forceinline__ bool is_asked(int i) const {
        return halo > 0 && !kept().has(i);
    }
    // The cells of the halo, those below the tile first.
    __device__ __forceinline__ int beside(int i) const {
        return i < halo ? i : own.end + i - halo;
    }
    // How many steps of the round, at least, come after the last one that makes this cell.
    __device__ __forceinline__ int level(int i) const {
        return i < own.begin   ? steps_to<asks_low>(own.begin - i)
               : i >= own.end ? steps_to<asks_high>(i - own.end + 1)
                              : 0;
    }
    // The cells that at most so many steps come after.
    __device__ __forceinline__ Range within(int steps) const {
        return {own.begin - asks_low * steps, own.end + asks_high * steps};
    }
    // The level, if the shape reached as far below as above.
    __device__ __forceinline__ int distance(int i) const {
        constexpr int asks = low < high ? high : low;
        return i < own.begin   ? steps_to<asks>(own.begin - i)
               : i >= own.end ? steps_to<asks>(i - own.end + 1)
                              : 0;
    }
    // The cell of the grid.
    __device__ __forceinline__ Index cell(const Arguments &a, int i) const {
        Index at = first + i;
        Real value;
        if constexpr (periodic)
            resolve<axis>(at, a.size[axis], value);
        return at;
    }
    // Whether a rule gives what lies beyond a side its value.
    __device__ __forceinline__ bool gives(int i, Real &value) const {
#if PLAN_GIVES
        if ((below == Boundary::zero || below == Boundary::constant) && i < grid.begin) {
            value = Edge<axis, 0>::beyond();
            return true;
        }
        if ((above == Boundary::zero || above == Boundary::constant) && i >= grid.end) {
            value = Edge<axis, 1>::beyond();
            return true;
        }
#endif
        return false;
    }
#if PLAN_CLAMPS || PLAN_MIRRORS
    // Cells beyond a side that have the values of others; whether all have that of the outermost; and
    // that one's place in the box.
    template <int side> static __device__ constexpr int reach() {
        return side == 0 ? (copied_below ? low : 0) : copied_above ? high : 0;
    }
    template <int side> static __device__ constexpr bool clamps() {
        return (side == 0 ? below : above) == Boundary::clamp;
    }
    template <int side> __device__ __forceinline__ int edge() const {
        return side == 0 ? grid.begin : grid.end - 1;
    }
    // Whether a mirror leads out of the grid again.
    static __device__ __forceinline__ bool is_short(const Arguments &a) {
        constexpr int most = low < high ? high : low;
        return copied && mirrored && a.size[axis] <= most;
    }
    // Whether a cell is beyond a side where it has the value of another, and as near as taps reach.
    __device__ __forceinline__ bool is_copied(int i) const {
        return (copied_below && i < grid.begin && i >= grid.begin - low) ||
               (copied_above && i >= grid.end && i < grid.end + high);
    }
    // That other one; else the cell itself.
    __device__ __forceinline__ int original(const Arguments &a, int i) const {
        if (!is_copied(i))
            return i;
        const int nearest = i < grid.begin ? grid.begin : grid.end - 1;
        const bool clamps = (i < grid.begin ? below : above) == Boundary::clamp;
        const int at = clamps ? nearest : 2 * nearest - i;
        if (grid.has(at))
            return at;
        Index cell = first + i; // of a grid shorter than the shape
        Real value;
        resolve<axis>(cell, a.size[axis], value);
        return static_cast<int>(cell - first);
    }
#endif
};

struct Cell3 {
    int x, y, z;
};

struct Place {
    Axis<0> x;
    Axis<1> y;
    Axis<2> z;
    static constexpr bool copied = Axis<0>::copied || Axis<1>::copied || Axis<2>::copied;
    static constexpr bool fixed = Axis<0>::fixed || Axis<1>::fixed || Axis<2>::fixed;

    __device__ __forceinline__ bool changes(const Cell3 &c) const {
        return x.change.has(c.x) && y.change.has(c.y) && z.change.has(c.z);
    }
    __device__ __forceinline__ bool owns(const Cell3 &c) const {
        return x.own.has(c.x) && y.own.has(c.y) && z.own.has(c.z);
    }
    // Where every tap lies on an axis, a step goes along one of them; else along all.
    static __device__ __forceinline__ int join(int x, int y, int z) {
        if constexpr (plan::star)
            return x + y + z;
        const int xy = x < y ? y : x;
        return xy < z ? z : xy;
    }
    __device__ __forceinline__ int distance(const Cell3 &c) const {
        return join(x.distance(c.x), y.distance(c.y), z.distance(c.z));
    }
#if PLAN_CLAMPS || PLAN_MIRRORS
    // Whether the box holds cells that are copied.
    __device__ __forceinline__ bool has_copied() const {
        return copied && (x.grid.begin > 0 || x.grid.end < Box::width || y.grid.begin > 0 ||
                          y.grid.end < Box::height || z.grid.begin > 0 || z.grid.end < Box::depth);
    }
#endif
    // The cell whose value a cell has, and the same along x and y alone.
    __device__ __forceinline__ Cell3 original(const Arguments &a, const Cell3 &c) const {
#if PLAN_CLAMPS || PLAN_MIRRORS
        return {x.original(a, c.x), y.original(a, c.y), z.original(a, c.z)};
#else
        return c;
#endif
    }
    __device__ __forceinline__ Cell3 original_column(const Arguments &a, const Cell3 &c) const {
        const Cell3 of = original(a, c);
        return {of.x, of.y, c.z};
    }
};

__device__ __forceinline__ Cell3 cell_of(int i) {
    return {i % Box::width, i / Box::width % Box::height, i / Box::plane};
}

// ---- loading --------------------------------------------------------------------------------

// A cell of the box by the rules, or anything where no step needs it.
template <int array>
__device__ __forceinline__ Real read_cell(const Arguments &a, const Place &p, Index corner,
                                          const Cell3 &c) {
#if PLAN_WRAPS
    return read_anywhere<array>(a, p.x.first + c.x, p.y.first + c.y, p.z.first + c.z);
#else
    const Cell3 of = p.original(a, c);
    Real value = 0;
    if (p.x.gives(of.x, value) || p.y.gives(of.y, value) || p.z.gives(of.z, value) ||
        !p.x.grid.has(of.x) || !p.y.grid.has(of.y) || !p.z.grid.has(of.z))
        return value;
    const GridOf<Array<array>> &grid = a.grid[Array<array>::grid];
    return load(grid.data + corner + offset(grid, of.x, of.y, of.z));
#endif
}

// The same of the level before the newest one, where cells that no step changes are as they will be.
template <int array>
__device__ __forceinline__ Real read_level(const Arguments &a, const Place &p, Index corner,
                                           const Cell3 &c) {
    constexpr int newest = Previous<array>::of;
    if constexpr (newest >= 0 && Place::fixed) {
        if (!p.changes(c))
            return read_cell<newest>(
                a, p, offset(a.grid[Array<newest>::grid], p.x.first, p.y.first, p.z.first), c);
    }
    return read_cell<array>(a, p, corner, c);
}

// All cells of the box, by the rules, into all boxes of an array that changes. A previous level comes
// after the newest one, and is put into the last of these.
template <bool inner, int array = 0>
__device__ __forceinline__ void load_box(const Arguments &a, const Place &p, Real *shared) {
    if constexpr (array < plan::arrays) {
        constexpr int rounds = (Box::cells + plan::threads - 1) / plan::threads;
        constexpr int batch = rounds < 8 ? rounds : 8; // reads before the first is awaited
        const Index corner =
            offset(a.grid[Array<array>::grid], p.x.first, p.y.first, p.z.first);
        Real *const to = shared + Array<array>::shared;
#pragma unroll 1
        for (int round = 0; round < rounds; round += batch) {
            Real held[batch];
#pragma unroll
            for (int k = 0; k < batch; ++k) {
                const int i = threadIdx.x + (round + k) * plan::threads;
                const Cell3 c = cell_of(i);
                if (i >= Box::cells)
                    continue;
                const GridOf<Array<array>> &grid = a.grid[Array<array>::grid];
                if constexpr (inner && !(Previous<array>::of >= 0 && Place::fixed))
                    held[k] = load(grid.data + corner + offset(grid, c.x, c.y, c.z));
                else
                    held[k] = read_level<array>(a, p, corner, c);
            }
#pragma unroll
            for (int k = 0; k < batch; ++k) {
                const int i = threadIdx.x + (round + k) * plan::threads;
                if (i >= Box::cells)
                    continue;
                to[i] = held[k];
                if constexpr (output_of<array>() >= 0) {
#pragma unroll
                    for (int box = 1; box < plan::boxes; ++box)
                        to[box * Box::cells + i] = held[k];
                }
            }
        }
        load_box<inner, array + 1>(a, p, shared);
    }
}

// The values that a fixed boundary keeps, into the outputs.
template <int output = 0>
__device__ __forceinline__ void store_kept(const Arguments &a, const Point &p) {
    if constexpr (output < plan::outputs) {
        if constexpr (Output<output>::current >= 0) {
            const GridOf<Output<output>> &from = a.grid[Output<output>::current], &to = a.grid[Output<output>::grid];
            const auto value = load(from.data + offset(from, p.x, p.y, p.z));
            to.data[offset(to, p.x, p.y, p.z)] = value;
            if constexpr (Second<output>::grid >= 0) {
                const GridOf<Output<output>> &second = a.grid[Second<output>::grid];
                second.data[offset(second, p.x, p.y, p.z)] = value;
            }
        }
        store_kept<output + 1>(a, p);
    }
}
__device__ __forceinline__ void store_all_kept(const Arguments &a, const Place &p) {
    for (int i = threadIdx.x; i < Box::cells; i += plan::threads) {
        const Cell3 c = cell_of(i);
        if (p.owns(c) && !p.changes(c))
            store_kept(a, {p.x.first + c.x, p.y.first + c.y, p.z.first + c.z});
    }
}
