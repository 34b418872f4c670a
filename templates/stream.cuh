#if !PLAN_PACKS
// When rows cannot be packed, the lanes of a warp interleave their points along x.
constexpr int warp_lanes = plan::threads_x % 32 == 0 ? 32 : plan::threads_x;
static_assert(plan::low_x <= warp_lanes && plan::high_x <= warp_lanes,
              "only the first and the last of a thread's points reach over the grid's ends");
#endif
constexpr int row_points = plan::vector; // of a thread
constexpr unsigned all_points = (1u << plan::vector) - 1; // of a thread's row, a bit each
using Points = Pack<Real, plan::vector>;           // of a thread's row
using Results = Real[plan::vector][plan::outputs]; // of these

#if defined(PLAN_SHORT)
// Whether rules are applied until they lead into the grid, which is shorter than the shape.
template <int axis, int side>
constexpr bool folds =
    Edge<axis, side>::kind == Boundary::mirror || Edge<axis, side>::kind == Boundary::periodic;
template <int axis> constexpr bool folds_often = axis > 0 && folds<axis, 0> && folds<axis, 1>;
#endif

// The cell inside the grid to read in place of cell i.
template <int axis> __device__ __forceinline__ int inside(int i, int size) {
    if constexpr (!plan::wraps)
        return min(max(i, 0), size - 1);
    constexpr Boundary below = Edge<axis, 0>::kind, above = Edge<axis, 1>::kind;
#if defined(PLAN_SHORT)
    if constexpr (folds_often<axis>)
        while (i < 0 || i >= size)
            i = size == 1                     ? 0
                : i < 0                       ? (below == Boundary::periodic ? i + size : -i)
                : above == Boundary::periodic ? i - size
                                              : 2 * (size - 1) - i;
#endif
    const int up = below == Boundary::periodic ? (i < 0 ? i + size : i)
                   : below == Boundary::mirror ? (i < 0 ? -i : i)
                                               : max(i, 0);
    return above == Boundary::periodic ? (i >= size ? i - size : up)
           : above == Boundary::mirror ? (i >= size ? 2 * (size - 1) - i : up)
                                       : min(up, size - 1);
}

#if defined(PLAN_OWN_EDGES)
// Whether the boundary gives the value of an array's cells at i.
template <int axis, int array>
__device__ __forceinline__ bool outside(int i, const Arguments &a, Real &value) {
    using Below = Edge<axis, 0, array>;
    using Above = Edge<axis, 1, array>;
    if ((Below::kind == Boundary::zero || Below::kind == Boundary::constant) && i < 0) {
        value = Below::beyond(a);
        return true;
    }
    if ((Above::kind == Boundary::zero || Above::kind == Boundary::constant) &&
        i >= int(a.size[axis])) {
        value = Above::beyond(a);
        return true;
    }
    return false;
}
#else
template <int axis, int side>
constexpr bool gives_value =
    Edge<axis, side>::kind == Boundary::zero || Edge<axis, side>::kind == Boundary::constant;

// Whether the boundary gives the value of the cells at i.
template <int axis> __device__ __forceinline__ bool outside(int i, int size, Real &value) {
    if (gives_value<axis, 0> && i < 0) {
        value = Edge<axis, 0>::beyond();
        return true;
    }
    if (gives_value<axis, 1> && i >= size) {
        value = Edge<axis, 1>::beyond();
        return true;
    }
    return false;
}
#endif

#if PLAN_FLAT
__device__ __forceinline__ Point first_point(const Arguments &a) {
    int block = blockIdx.x;
#if defined(PLAN_AWAITS)
    await_with(block);
#endif
#if defined(PLAN_WAVE)
    return {a.begin[0] + Index(block) * plan::tile_x, a.begin[1],
            a.begin[2] + Index(walk_in_turn(blockIdx.z, gridDim.z, gridDim.x)) * plan::walk};
#else
    return {a.begin[0] + Index(block) * plan::tile_x, a.begin[1],
            a.begin[2] + Index(blockIdx.z) * plan::walk};
#endif
}
#else
// The first point of a block. Blocks run in the order of their numbers. A slab of rows goes through
// all planes before the next slab begins, so that the planes that two of its blocks share are still
// in the second-level cache.
__device__ __forceinline__ Point first_point(const Arguments &a) {
    const unsigned rows = gridDim.y;
    const float points = float(a.size[0]) * (plan::tile_y * plan::walk);
    const float wanted = float(plan::slab) / points;
    const unsigned most = wanted < 1 ? 1 : wanted < rows ? unsigned(wanted) : rows;
    const unsigned all = most * gridDim.z;
    const unsigned place = blockIdx.y + rows * blockIdx.z; // among all rows of blocks
    const unsigned slab = place / all, within = place - slab * all;
    const unsigned height = min(most, rows - slab * most), plane = within / height;
    const Index row = slab * most + (within - plane * height);
    int block = blockIdx.x;
#if defined(PLAN_AWAITS)
    await_with(block);
#endif
    return {a.begin[0] + Index(block) * plan::tile_x, a.begin[1] + row * plan::tile_y,
            a.begin[2] + Index(plane) * plan::walk};
}
#endif

struct Thread {
#if PLAN_PACKS
    static constexpr int apart = 1; // from a point of x to the next
#else
    static constexpr int apart = warp_lanes; // from a point of x to the next
    int share;      // from the first point to the first of the warp's cells that the thread fetches
    unsigned makes; // points that no other thread makes, a bit each
#endif
#if PLAN_FLAT
    static constexpr int y = 0;
    int x, z, steps; // the first point; planes that lie in the box
#else
    int x, y, z;                                        // the first point
    int steps, rows;                                    // planes and rows that lie in the box
    int row[plan::low_y + plan::lane_y + plan::high_y]; // y of each row to read
#endif
#if PLAN_MASKS
    unsigned sides; // columns below the first point and above the last that lie outside, a bit each
#if PLAN_GIVES
    unsigned gone; // the same of `row`, where the boundary gives zeros there
#endif
#else
    // From the first point to the cells below it, and to those above the last point.
    int before[plan::low_x > 0 ? plan::low_x : 1], after[plan::high_x > 0 ? plan::high_x : 1];
#endif
#if PLAN_KEEPS
    unsigned stay[plan::lane_y]; // points of a row that a fixed boundary keeps, a bit each
#endif
#if defined(PLAN_INTERIOR)
    unsigned interior; // rows whose points, of all lanes, lie away from the edges of x and y: a bit each
#endif

    // False where the thread has no point.
    __device__ __forceinline__ bool place(const Arguments &a) {
        const int end_x = int(a.end[0]), size_x = int(a.size[0]);
#if PLAN_FLAT
        int block = blockIdx.x;
#if defined(PLAN_AWAITS)
        await_with(block);
#endif
        x = int(a.begin[0]) + block * plan::tile_x;
#if defined(PLAN_WAVE)
        z = int(a.begin[2]) + int(walk_in_turn(blockIdx.z, gridDim.z, gridDim.x)) * plan::walk;
#else
        z = int(a.begin[2]) + int(blockIdx.z) * plan::walk;
#endif
#else
        const Point origin = first_point(a);
        x = int(origin.x);
        y = int(origin.y) + int(threadIdx.y) * plan::lane_y;
        z = int(origin.z);
#endif
#if PLAN_PACKS
        x += int(threadIdx.x) * plan::vector;
#else
        const int lane = threadIdx.x % warp_lanes;
        x += (int(threadIdx.x) - lane) * plan::vector;
#endif
        steps = min(plan::walk, int(a.end[2]) - z);
#if PLAN_FLAT
        if (x >= end_x)
            return false;
#else
        const int end_y = int(a.end[1]), size_y = int(a.size[1]);
        if (x >= end_x || y >= end_y)
            return false;
        rows = min(plan::lane_y, end_y - y);
#pragma unroll
        for (int j = 0; j < plan::low_y + plan::lane_y + plan::high_y; ++j)
            row[j] = opaque(inside<1>(y + j - plan::low_y, size_y));
#endif
#if !PLAN_PACKS
        const int first = x; // another warp makes what lies below
        x = min(x, end_x - plan::vector * apart) + lane;
        share = lane * (plan::vector - 1);
        makes = 0;
#pragma unroll
        for (int i = 0; i < plan::vector; ++i)
            makes |= unsigned(x + i * apart >= first) << i;
#endif
#if PLAN_MASKS
        sides = 0;
#pragma unroll
        for (int d = 0; d < plan::low_x; ++d)
            sides |= unsigned(x <= d) << d;
#pragma unroll
        for (int d = 0; d < plan::high_x; ++d)
            sides |= unsigned(x + (plan::vector - 1) * apart + 1 + d >= size_x) << (plan::low_x + d);
        sides = opaque(sides);
#if PLAN_GIVES
        gone = 0;
#if !PLAN_FLAT
        [[maybe_unused]] Real zero;
#pragma unroll
        for (int j = 0; j < plan::low_y + plan::lane_y + plan::high_y; ++j)
            gone |= unsigned(outside<1>(y + j - plan::low_y, size_y, zero)) << j;
        gone = opaque(gone);
#endif
#endif
#else
#pragma unroll
        for (int d = 0; d < plan::low_x; ++d)
            before[d] = opaque(inside<0>(x - 1 - d, size_x) - x);
#pragma unroll
        for (int d = 0; d < plan::high_x; ++d)
            after[d] = opaque(inside<0>(x + (plan::vector - 1) * apart + 1 + d, size_x) - x);
#endif
#if PLAN_KEEPS
        unsigned keeps_x = 0;
#pragma unroll
        for (int i = 0; i < plan::vector; ++i)
            keeps_x |= unsigned(keeps<0>(x + i * apart, size_x, plan::low_x, plan::high_x)) << i;
#if PLAN_FLAT
        stay[0] = opaque(keeps_x);
#else
#pragma unroll
        for (int j = 0; j < plan::lane_y; ++j)
            stay[j] =
                opaque(keeps<1>(y + j, size_y, plan::low_y, plan::high_y) ? all_points : keeps_x);
#endif
#endif
#if defined(PLAN_INTERIOR)
        bool along_x = true;
#pragma unroll
        for (int i = 0; i < plan::vector; ++i)
            along_x = along_x && interior_along<0>(a, x + i * apart);
        interior = 0;
#pragma unroll
        for (int j = 0; j < plan::lane_y; ++j)
            interior |= unsigned(lanes_agree(along_x && interior_along<1>(a, y + j))) << j;
        interior = opaque(interior);
#endif
        return true;
    }

    // Points of row j in plane z that a fixed boundary keeps, a bit each.
    __device__ __forceinline__ unsigned stays([[maybe_unused]] const Arguments &a, int j, int z) const {
#if PLAN_KEEPS
        return keeps<2>(z, int(a.size[2]), plan::low_z, plan::high_z) ? all_points : stay[j];
#else
        return 0;
#endif
    }

    // The cell of the first point, moved to that row and plane inside the grid.
    template <int grid>
    __device__ __forceinline__ Stored<At<grid>> *cell(const Arguments &a, int at_y, int at_z) const {
#if defined(PLAN_MIXED)
        const GridOf<At<grid>> &g = a.grid[At<grid>()];
#else
        const Grid &g = a.grid[grid];
#endif
        const Index plane_bytes = opaque(g.stride_z * Index(sizeof(Stored<At<grid>>)));
#if defined(PLAN_PASS)
        char *const plane = reinterpret_cast<char *>(g.data + x) + at_z * plane_bytes;
#else
        char *const plane = reinterpret_cast<char *>(g.data + x) + unsigned(at_z) * plane_bytes;
#endif
        if constexpr (plan::flat)
            return reinterpret_cast<Stored<At<grid>> *>(plane);
        Stored<At<grid>> *const row = reinterpret_cast<Stored<At<grid>> *>(plane);
        return multiply_add(at_y, int(g.stride_y) * int(sizeof(Stored<At<grid>>)), row);
    }
};

#if defined(PLAN_NARROW)
template <class Cell> __device__ __forceinline__ Points read_points(const Cell *from) {
    if constexpr (plan::packs)
        return load_pack(reinterpret_cast<const Pack<Cell, plan::vector> *>(from));
#else
__device__ __forceinline__ Points read_points(const Real *from) {
    if constexpr (plan::packs)
        return load_pack(reinterpret_cast<const Points *>(from));
#endif
    Points points;
#pragma unroll
    for (int i = 0; i < plan::vector; ++i)
        points.element[i] = load(from + i * Thread::apart);
    return points;
}

// Where the results of all outputs go, of the thread's first row.
struct Stores {
#if defined(PLAN_MIXED)
    void *to[plan::outputs]; // cells of each output's own type
    template <int output> __device__ __forceinline__ Stored<Output<output>> *of() const {
        return static_cast<Stored<Output<output>> *>(to[output]);
    }
#else
    Stored<Output<0>> *to[plan::outputs];
#endif
#if PLAN_SOME_POINTS
#if defined(PLAN_MIXED)
    template <class Cell>
    static __device__ __forceinline__ void store_points(Cell *to, const Points &points,
                                                        unsigned which) {
#else
    static __device__ __forceinline__ void store_points(Stored<Output<0>> *to, const Points &points,
                                                        unsigned which) {
#endif
#if PLAN_PACKS
        if (which == all_points) {
#if defined(PLAN_NARROW)
            store_narrowed_once(to, points);
#else
            store_pack_once(reinterpret_cast<Points *>(to), points);
#endif
            return;
        }
#endif
#pragma unroll
        for (int i = 0; i < plan::vector; ++i)
            if (which == all_points || (which >> i & 1))
                store_once(to + i * Thread::apart, points.element[i]);
    }
#endif
    template <int output = 0>
    __device__ __forceinline__ void begin(const Arguments &a, const Thread &t) {
        if constexpr (output < plan::outputs) {
#if PLAN_FLAT && !defined(PLAN_MIXED)
            to[output] = t.template cell<Output<output>::grid>(a, t.y, t.z);
#else
            const GridOf<Output<output>> &grid = a.grid[Output<output>::grid];
            to[output] = grid.data + opaque(offset(grid, t.x, t.y, t.z));
#endif
            begin<output + 1>(a, t);
        }
    }
    template <int output = 0> __device__ __forceinline__ void advance(const Arguments &a) {
        if constexpr (output < plan::outputs) {
#if defined(PLAN_MIXED)
            to[output] = of<output>() + a.grid[Output<output>::grid].stride_z;
#else
            to[output] += a.grid[Output<output>::grid].stride_z;
#endif
            advance<output + 1>(a);
        }
    }
    // Row j of plane z, if the box has it. The points in `stay` keep their current value, which `row` has.
#if PLAN_HOLDS_KEPT
    template <int output = 0, class Row>
    __device__ __forceinline__ void put(const Arguments &a, const Thread &t, int j, int z,
                                        unsigned stay, const Results &out, const Row &row) const {
#else
    template <int output = 0>
    __device__ __forceinline__ void put(const Arguments &a, const Thread &t, int j, int z,
                                        unsigned stay, const Results &out) const {
#endif
        if constexpr (output < plan::outputs) {
            const bool made = plan::flat || j < t.rows;
            Points points;
#pragma unroll
            for (int i = 0; i < plan::vector; ++i)
                points.element[i] = out[i][output];
#if PLAN_SOME_POINTS
            unsigned which = all_points;
#if !PLAN_PACKS
            which = t.makes;
#endif
            if constexpr (Output<output>::current < 0)
                which &= ~stay; // it stays in the array
#endif
#if PLAN_HOLDS_KEPT
            const Points &current = row.template of<output>();
#pragma unroll
            for (int i = 0; i < plan::vector; ++i)
                points.element[i] = stay >> i & 1 ? current.element[i] : points.element[i];
#elif PLAN_KEEPS
            if constexpr (Output<output>::current >= 0)
                if (made && stay != 0) {
                    const Points current = read_points(t.template cell<Output<output>::current>(a, t.y + j, z));
#pragma unroll
                    for (int i = 0; i < plan::vector; ++i)
                        points.element[i] = stay >> i & 1 ? current.element[i] : points.element[i];
                }
#endif
#if defined(PLAN_MIXED)
            Stored<Output<output>> *const first =
                of<output>() + j * a.grid[Output<output>::grid].stride_y;
#else
            Stored<Output<0>> *const first = to[output] + j * a.grid[Output<output>::grid].stride_y;
#endif
#if PLAN_COMPUTED
            // Not in the branch: what one row computes hides what the next one waits for.
#pragma unroll
            for (int i = 0; i < plan::vector; ++i)
                points.element[i] = computed(points.element[i]);
#endif
            if (made)
#if PLAN_SOME_POINTS
                store_points(first, points, which);
#elif defined(PLAN_NARROW)
                store_narrowed_once(first, points);
#else
                store_pack_once(reinterpret_cast<Points *>(first), points);
#endif
#if PLAN_HOLDS_KEPT
            put<output + 1>(a, t, j, z, stay, out, row);
#else
            put<output + 1>(a, t, j, z, stay, out);
#endif
        }
    }
};
