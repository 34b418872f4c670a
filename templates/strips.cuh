// Strips of a 2D grid: what a block of the pipeline works on, where the edges lie in it, and its rows
// on their way between the grid, shared memory and the registers of a warp, across which a row lies.

constexpr int points = plan::lane_x; // of a row, a thread
constexpr int width = warp_size * points;
constexpr int levels = plan::time / plan::stages; // of a stage
constexpr int halo = plan::time * plan::low_x;    // columns loaded before the first that is stored
constexpr int below = plan::walk_high, above = plan::walk_low;
constexpr int held = below + above; // sums of a point between two rows
constexpr int input_slots = plan::input_slots;
constexpr int rows = plan::rows; // between two barriers
#if defined(PLAN_SHIFTED)
constexpr int spare = 16 / sizeof(Real); // elements: a row of memory begins anywhere in a pack
#else
constexpr int spare = 0;
#endif
constexpr int slot_row = width + spare; // in shared memory, before the first stage
constexpr int loaded_size = plan::carried * rows * slot_row;
static_assert(points >= plan::low_x && points >= plan::high_x, "the next lane has the neighbours");
static_assert(width >= plan::tile_x + halo + plan::time * plan::high_x, "the strip with its halo");

// ---- edges ----------------------------------------------------------------------------------

template <int axis>
constexpr bool endless = Edge<axis, 0>::kind == Boundary::periodic;
template <int axis, int side>
constexpr bool inside = Edge<axis, side>::kind == Boundary::fixed; // kept cells are the grid's own

// The lane whose point p is kept in a strip at the low or the high edge of x; −1: none.
__device__ constexpr int kept_lane(int first, int count, int p) {
    for (int i = first; i < first + count; ++i)
        if (i % points == p)
            return i / points;
    return -1;
}
__device__ constexpr int kept_low(int p) {
    return kept_lane(halo - (inside<0, 0> ? 0 : plan::low_x),
                     (plan::images && copies<0, 0>) ? 0 : plan::low_x, p);
}
__device__ constexpr int kept_high(int p) {
    return kept_lane(halo + plan::tile_x - (inside<0, 1> ? plan::high_x : 0),
                     (plan::images && copies<0, 1>) ? 0 : plan::high_x, p);
}
// Where in what a lane sees of a row the grid's first and last cell may be.
constexpr unsigned places_low = places_of<0>(halo, points, plan::low_x, plan::high_x);
constexpr unsigned places_high =
    places_of<1>(halo + plan::tile_x - 1, points, plan::low_x, plan::high_x);
static_assert(!plan::images || plan::low_x + points + plan::high_x <= 32,
              "a bit for each place");

// What a block works on. It lies in shared memory, since few turns need it.
struct Strip {
    Index x;                  // of the first column that is loaded
    int size;                 // columns that are stored, from x + halo on
    bool low, high;           // at which edge of x it lies
    bool outside;             // of the grid, with some of its columns
    int wrap_to, wrap_from;   // of a grid without ends: columns before and from which lie beyond it
    bool wide;                // rows can be loaded and stored as packs
    Index y0, y1;             // the rows that are stored
    Index begin;              // the first row of the first turn
    Index kept_to, kept_from; // rows before and from which all are kept, or stand for others
};

// What a thread knows of its strip: its lane, the same in strips at the low and the high edge of x and
// else -1; and where in what it sees of a row the grid's first and last cell is, a bit.
struct Place {
    int lane, low_lane, high_lane;
    unsigned first_cell, last_cell;
};

// Whether rows can be loaded and stored as packs.
__device__ __forceinline__ bool in_packs(const Arguments &a) {
    return a.aligned && a.size[0] % plan::vector == 0;
}

// Strips are spread evenly, so that the last one ends with the grid and no other comes near that
// edge: program_launch.least sees to it.
__device__ __forceinline__ Index strip_begin(const Arguments &a, Index i) {
    if (endless<0>)
        return i * plan::tile_x;
    const Index last = (a.size[0] - 1) / plan::tile_x;
    const Index begin = last == 0 ? 0 : i * (a.size[0] - plan::tile_x) / last;
    return in_packs(a) ? begin / plan::vector * plan::vector : begin;
}

// The first row of a block's walk. Where there are more blocks than run at once, those that start
// first walk furthest, and the last ones little, so that all end at about the same time: parts fall
// from 1.95 to 0.05 of their mean.
__device__ __forceinline__ Index walk_begin(const Arguments &a, Index i) {
    const Index parts = gridDim.z, all = a.end[2] - a.begin[2];
    if (Index(gridDim.x) * parts <= plan::wave || parts * plan::walk < all)
        return min(a.begin[2] + i * plan::walk, a.end[2]);
    constexpr Index one = 1 << 20;
    const Index part = i * one / parts, share = part * (39 * one - 19 * part) / 20 / one;
    return a.begin[2] + all * share / one;
}

// A stage takes what the one before made in the turn before.
constexpr int lag = rows + levels * below; // rows that it is behind that one

__device__ __forceinline__ Strip strip_of(const Arguments &a, int stages) {
    Strip s;
    const Index number = a.begin[0] / plan::tile_x + blockIdx.x;
    const bool last = (number + 1) * plan::tile_x >= a.size[0];
    const Index begin = strip_begin(a, number);
    s.low = !endless<0> && number == 0;
    s.high = !endless<0> && last;
    s.x = begin - halo;
    s.size = static_cast<int>((last ? a.size[0] : strip_begin(a, number + 1)) - begin);
    s.outside = s.x < 0 || s.x + width > a.size[0];
    s.wrap_to = static_cast<int>(max(-s.x, Index(0)));
    s.wrap_from = static_cast<int>(min(a.size[0] - s.x, Index(width)));
    s.wide = in_packs(a);
    s.y0 = walk_begin(a, blockIdx.z);
    s.y1 = walk_begin(a, blockIdx.z + 1);
    s.begin = s.y0 - stages * levels * above;
    if (!endless<2>)
        s.begin = max(s.begin, Index(inside<2, 0> || (plan::images && copies<2, 0> && plan::carried == 1)
                                         ? 0
                                         : -above));
    // A turn stores `rows` rows, from y0 on. What comes before the first that matters may be anything.
    s.begin -= (rows - (s.y0 - s.begin + (stages - 1) * lag + levels * below) % rows) % rows;
    constexpr Index far = Index(1) << 60;
    s.kept_to = endless<2> ? -far : inside<2, 0> ? above : 0;
    s.kept_from = endless<2> ? far : a.size[2] - (inside<2, 1> ? below : 0);
    if (plan::images && copies<2, 0>)
        s.kept_to = 1 - below + (mirrors<2, 0> ? above : 0);
    if (plan::images && copies<2, 1>)
        s.kept_from = a.size[2] - 1 - (mirrors<2, 1> ? below : 0);
    return s;
}

// ---- the walk ---------------------------------------------------------------------------------

// In each turn a stage takes `rows` rows that the one before made in the turn before.
struct Walk {
    int number;
    bool first, last;
    int turn;
    int easy, easy_end; // turns whose loads find memory wherever they reach
    int store;          // the first turn that stores rows
    const Stored<Array<0>> *from[plan::carried]; // the next rows to be loaded
    Stored<Output<0>> *to[plan::carried];        // the next rows to be stored
    SharedAt<Real> in, out;                      // rings; of the first stage the one that is loaded
#if defined(PLAN_NARROW)
    SharedAt<Stored<Array<0>>> loaded; // that one
#endif
    int slot; // of the ring that is loaded
#if defined(PLAN_BULK)
    RowSlots<input_slots> slots;
    int odd;         // whether its slots were full an odd number of times
    Index left, all; // rows that the strip still stores, and of all
    int stored;      // their points
#endif
};

// The first turn that takes no row less than so many after the first of all.
__device__ __forceinline__ int turn_of(Index row) {
    constexpr Index most = 1 << 30;
    return row <= 0 ? 0 : static_cast<int>(min((row + rows - 1) / rows, most));
}
__device__ __forceinline__ bool is_easy(const Walk &g, int turn) {
    return turn >= g.easy && turn < g.easy_end;
}

// A wave leaves its last level but one, too. Its rows come earlier than those of the last.
constexpr int earlier = plan::carried > 1 ? (below + rows - 1) / rows : 0; // turns

// ---- rows between stages ----------------------------------------------------------------------

// A thread's points lie side by side in shared memory. Packs as wide as that allows.
constexpr int pack_bytes = points * sizeof(Real) % 16 == 0 ? 16 : points * sizeof(Real) % 8 == 0 ? 8 : 4;
constexpr int lane_pack = pack_bytes / sizeof(Real) > 0 ? pack_bytes / sizeof(Real) : 1;

__device__ __forceinline__ void take(SharedAt<Real> row, Real (&value)[points]) {
#pragma unroll
    for (int i = 0; i < points; i += lane_pack) {
        const Pack<Real, lane_pack> pack = (row + i).template read<lane_pack>();
#pragma unroll
        for (int e = 0; e < lane_pack; ++e)
            value[i + e] = pack.element[e];
    }
}
#if defined(PLAN_NARROW)
// The same of a row as memory has it.
__device__ __forceinline__ void take(SharedAt<Stored<Array<0>>> row, Real (&value)[points]) {
    constexpr int count = points % 8 == 0 ? 8 : points % 4 == 0 ? 4 : points % 2 == 0 ? 2 : 1;
#pragma unroll
    for (int i = 0; i < points; i += count) {
        const Pack<Real, count> pack = read_narrow<count>(row + i);
#pragma unroll
        for (int e = 0; e < count; ++e)
            value[i + e] = pack.element[e];
    }
}
#endif
__device__ __forceinline__ void hand_on(SharedAt<Real> row, const Real (&value)[points]) {
#pragma unroll
    for (int i = 0; i < points; i += lane_pack) {
        Pack<Real, lane_pack> pack;
#pragma unroll
        for (int e = 0; e < lane_pack; ++e)
            pack.element[e] = value[i + e];
        (row + i).write(pack);
    }
}

#if defined(PLAN_SHIFTED)
// How far into a pack a row of memory begins; it lies as far into one in shared memory.
__device__ __forceinline__ int place_in_pack(const Real *row) {
    return static_cast<int>(reinterpret_cast<unsigned long long>(row) / sizeof(Real) % spare);
}
// Element i becomes element i + `by`, which is less than a lane's pack: the address has whole packs.
template <int count>
__device__ __forceinline__ void shift(Real (&value)[count], int by) {
#pragma unroll
    for (int bit = 1; bit < lane_pack; bit *= 2)
#pragma unroll
        for (int i = 0; i + bit < count; ++i)
            value[i] = by & bit ? value[i + bit] : value[i];
}
__device__ __forceinline__ void take_shifted(SharedAt<Real> row, int place, Real (&value)[points]) {
    Real all[points + lane_pack];
    row = row + place / lane_pack * lane_pack;
#pragma unroll
    for (int i = 0; i < points + (lane_pack > 1 ? lane_pack : 0); i += lane_pack) {
        const Pack<Real, lane_pack> pack = (row + i).template read<lane_pack>();
#pragma unroll
        for (int e = 0; e < lane_pack; ++e)
            all[i + e] = pack.element[e];
    }
    shift(all, place % lane_pack);
#pragma unroll
    for (int i = 0; i < points; ++i)
        value[i] = all[i];
}
// What would lie beyond the row is left out: it is of the halo, which is at least as wide.
__device__ __forceinline__ void hand_on_shifted(SharedAt<Real> row, int place,
                                                const Real (&value)[points]) {
    constexpr int more = lane_pack - 1; // of the lane before
    Real all[more + points];
#pragma unroll
    for (int i = 0; i < more; ++i)
        all[i] = shuffle_up(value[points - more + i], 1);
#pragma unroll
    for (int i = 0; i < points; ++i)
        all[more + i] = value[i];
    shift(all, more - place % lane_pack);
    const int packs_on = place / lane_pack * lane_pack;
#pragma unroll
    for (int i = 0; i < points; i += lane_pack) {
        Pack<Real, lane_pack> pack;
#pragma unroll
        for (int e = 0; e < lane_pack; ++e)
            pack.element[e] = all[i + e];
        if (i + spare <= points || lane() * points + i + packs_on < width)
            (row + (packs_on + i)).write(pack);
    }
}
#endif

// ---- between the grid and the first and last rings ---------------------------------------------

__device__ __forceinline__ Index wrapped(Index i, Index size) {
    i %= size;
    return i < 0 ? i + size : i;
}
// The same without a division, for what lies hardly further from the grid than it is long.
__device__ __forceinline__ Index wrapped_near(Index i, Index size) {
    while (i < 0)
        i += size;
    while (i >= size)
        i -= size;
    return i;
}

// Fills a slot of the first ring with a row of the strip, also where no memory lies before or after
// the row.
template <int array>
__device__ __forceinline__ void load_carefully(const Arguments &a, const Strip &s, Index y, int lane,
                                            SharedAt<Stored<Array<0>>> slot) {
    const bool beyond = !endless<2> && (y < 0 || y >= a.size[2]);
    const Real value = y < 0 ? Edge<2, 0>::beyond() : Edge<2, 1>::beyond();
    if (endless<2>)
        y = wrapped_near(y, a.size[2]);
    const Grid &grid = a.grid[Array<array>::grid];
#pragma unroll 1
    for (int i = lane; i < width; i += warp_size) {
        Index x = s.x + i;
        if (endless<0> && (x < 0 || x >= a.size[0]))
            x = wrapped(x, a.size[0]);
        if (beyond)
            (slot + i).write(value);
        else if (x >= 0 && x < a.size[0])
            copy_async<1>(slot + i, grid.data + y * grid.stride_z + x);
    }
}

// The virtual cells of zero and constant sides.
__device__ __forceinline__ void set_virtual(const Place &me, Real (&value)[points]) {
#pragma unroll
    for (int p = 0; p < points; ++p) {
        if (!inside<0, 0> && kept_low(p) >= 0 && me.low_lane == kept_low(p))
            value[p] = Edge<0, 0>::beyond();
        if (!inside<0, 1> && kept_high(p) >= 0 && me.high_lane == kept_high(p))
            value[p] = Edge<0, 1>::beyond();
    }
}
