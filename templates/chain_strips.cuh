// Where a warp of the method chained stands with its strip of columns, and the rows that its lanes keep.
constexpr int points = plan::points; // of a lane
constexpr int columns = warp_size * points;

// ---- where a warp stands ----------------------------------------------------------------------

// Rows are counted from the first that arrives.
struct Strip {
    Index x, begin;         // its first column, halo included, and its first row
    int zero, size;         // the grid's first row, and its end
    int first, end, behind; // the rows that are stored, and the end of those that are loaded
    int stored_end;         // of the columns that are stored
    bool inside;            // no end of the grid concerns it
    bool packed;            // a lane's columns may be loaded and stored together ..
    int row_bytes;          // .. and then, from a row to the next
};

template <int stage = 0> __device__ constexpr int most_kept(int axis) {
    if constexpr (stage < plan::stages) {
        using S = Stage<stage>;
        const int low = axis == 0 ? S::keeps_low_x : S::keeps_low_z;
        const int high = axis == 0 ? S::keeps_high_x : S::keeps_high_z;
        const int own = low > high ? low : high, others = most_kept<stage + 1>(axis);
        return own > others ? own : others;
    } else {
        return 0;
    }
}

constexpr int grids = sizeof(Arguments::grid) / sizeof(Grid);

// Whether rows begin with whole packs, and lie equally far apart in all arrays.
template <int grid = 0> __device__ __forceinline__ bool has_packs(const Arguments &a) {
    if constexpr (grid < grids) {
        const auto address = reinterpret_cast<unsigned long long>(a.grid[grid].data);
        return address % (points * sizeof(Real)) == 0 &&
               a.grid[grid].stride_z == a.grid[0].stride_z && has_packs<grid + 1>(a);
    } else {
        const Index stride = a.grid[0].stride_z;
        return stride % points == 0 && stride < (1 << 28);
    }
}

__device__ __forceinline__ Strip place_strip(const Arguments &a, Index number) {
    constexpr Index far = 1 << 30;
    constexpr int kept_x = most_kept(0), kept_z = most_kept(2);
    Strip s;
    // Walks at an end of the grid take longer, so the last ones begin first.
#if defined(PLAN_WAVE)
    const int walk = int(walk_in_turn(blockIdx.z, gridDim.z, gridDim.x)),
              place = walk == 0 ? int(gridDim.z) - 1 : walk - 1;
#else
    const int place = blockIdx.z == 0 ? int(gridDim.z) - 1 : int(blockIdx.z) - 1;
#endif
    const Index z = a.begin[2] + Index(place) * plan::walk, end = min(z + plan::walk, a.end[2]);
    const Index size = a.size[2];
    s.x = a.begin[0] + number * plan::strip - plan::halo_x;
    s.begin = plan::ring_z ? z - plan::before : max(z - plan::before, Index(0));
    s.zero = int(max(-s.begin, -far));
    s.size = int(min(size - s.begin, far));
    s.first = int(z - s.begin);
    s.end = int(end - s.begin);
    s.behind = s.end + plan::behind;
    s.stored_end = int(min(a.end[0] - s.x, Index(plan::halo_x + plan::strip)));
    s.inside = s.x >= kept_x && s.x + columns + kept_x <= a.size[0] && z - plan::before >= kept_z &&
               end + plan::behind + kept_z <= size;
    s.row_bytes = int(a.grid[0].stride_z) * int(sizeof(Real));
    s.packed = s.x % points == 0 && s.stored_end % points == 0 && has_packs(a);
    return s;
}

// A lane's columns. Where no end of the grid concerns a strip, x says it all.
struct Column {
    int at;                         // the first one's place in the strip
    Index x[points];                // the cells that they stand for
    int from[points];               // the column of the strip where their values are made
    Index place;                    // of the first one in row 0: bytes from an array's first cell
    bool below[points], above[points]; // the grid
};
__device__ __forceinline__ Column place_columns(const Arguments &a, const Strip &s) {
    Column c;
    c.at = lane() * points;
#pragma unroll
    for (int k = 0; k < points; ++k) {
        const Index x = s.x + c.at + k;
        c.x[k] = s.inside ? x : cell_for<0>(x, a.size[0]);
        c.below[k] = x < 0;
        c.above[k] = x >= a.size[0];
        c.from[k] = plan::ring_x ? c.at + k : int(max(min(c.x[k] - s.x, Index(columns - 1)), Index(0)));
    }
    c.place = (s.begin * a.grid[0].stride_z + c.x[0]) * Index(sizeof(Real));
    return c;
}

// Where a lane's columns of a row lie in an array, if rows lie equally far apart in all of them. The way
// from an array's first cell is the same in all, so it is computed and kept once.
template <class T>
__device__ __forceinline__ Pack<Real, points> *pack_of(T *data, const Strip &s, const Column &c, int row) {
    const auto way = multiply_add(row, s.row_bytes, reinterpret_cast<char *>(c.place));
    return reinterpret_cast<Pack<Real, points> *>(reinterpret_cast<unsigned long long>(data) +
                                                  reinterpret_cast<unsigned long long>(way));
}

// ---- rows -------------------------------------------------------------------------------------

// The rows of a source, the newest first: of the lane's columns, and of their neighbours from the turn
// on in which a stage first reads them.
template <int source> struct Rows : Rows<source + 1> {
    Real row[Ring<source>::depth][Ring<source>::low + points + Ring<source>::high];
};
template <> struct Rows<plan::sources> {};
using AllRows = Rows<0>;

template <int source> __device__ __forceinline__ auto &rows_of(AllRows &all) {
    return static_cast<Rows<source> &>(all).row;
}
template <int source> __device__ __forceinline__ const auto &rows_of(const AllRows &all) {
    return static_cast<const Rows<source> &>(all).row;
}

template <class T, int count>
__device__ __forceinline__ void copy_row(T (&to)[count], const T (&from)[count]) {
#pragma unroll
    for (int i = 0; i < count; ++i)
        to[i] = from[i];
}

// Before the walk: what lies below the grid, where a rule gives it.
template <int source = 0> __device__ __forceinline__ void begin_rows(const Arguments &a, AllRows &all) {
    if constexpr (source < plan::sources) {
        constexpr int width = Ring<source>::low + points + Ring<source>::high;
        const Real value = gives<source, 2, 0> ? Rule<source, 2, 0>::beyond(a) : Real(0);
#pragma unroll
        for (int k = 0; k < Ring<source>::depth; ++k)
#pragma unroll
            for (int i = 0; i < width; ++i)
                rows_of<source>(all)[k][i] = value;
        begin_rows<source + 1>(a, all);
    }
}

// The newest rows become older ones, and stay the newest until others take their places.
template <int source = 0> __device__ __forceinline__ void age_rows(AllRows &all) {
    if constexpr (source < plan::sources) {
#pragma unroll
        for (int k = Ring<source>::depth - 1; k > 0; --k)
            copy_row(rows_of<source>(all)[k], rows_of<source>(all)[k - 1]);
        age_rows<source + 1>(all);
    }
}

// Fetches the neighbours of a row from the lanes that have them.
template <int source> __device__ __forceinline__ void widen_row(AllRows &all, int back) {
    constexpr int low = Ring<source>::low, high = Ring<source>::high;
    auto &row = rows_of<source>(all)[back];
#pragma unroll
    for (int i = 1; i <= low; ++i) {
        const int lanes = (i + points - 1) / points;
        row[low - i] = shuffle_up(row[low + lanes * points - i], lanes);
    }
#pragma unroll
    for (int i = 0; i < high; ++i)
        row[low + points + i] = shuffle_down(row[low + i % points], i / points + 1);
}

// The columns beyond an end of x: those that repeat others, and those that a rule gives.
template <int source>
__device__ __forceinline__ void mend_row(const Arguments &a, const Column &c, Real *row) {
    if constexpr (Rule<source, 0, 0>::kind == Boundary::clamp ||
                  Rule<source, 0, 1>::kind == Boundary::clamp) {
        Real made[points];
#pragma unroll
        for (int k = 0; k < points; ++k)
#pragma unroll
            for (int i = 0; i < points; ++i) {
                const Real value = shuffle(row[i], c.from[k] / points);
                if (i == 0 || c.from[k] % points == i)
                    made[k] = value;
            }
#pragma unroll
        for (int k = 0; k < points; ++k)
            row[k] = made[k];
    }
#pragma unroll
    for (int k = 0; k < points; ++k) {
        if (gives<source, 0, 0> && c.below[k])
            row[k] = Rule<source, 0, 0>::beyond(a);
        if (gives<source, 0, 1> && c.above[k])
            row[k] = Rule<source, 0, 1>::beyond(a);
    }
}

__device__ __forceinline__ bool in_grid(const Strip &s, int row) {
    return plan::ring_z || (row >= s.zero && row < s.size);
}

// Paths: away from all ends of the grid, with rows of packs or others; and any.
enum class Path { packs, singles, edges };

// A row arrives, which may lie beyond an end of the walk.
template <int source, Path path>
__device__ __forceinline__ void put_row(const Arguments &a, const Strip &s, const Column &c,
                                        AllRows &all, int row, const Real (&value)[points]) {
    auto &rows = rows_of<source>(all);
    constexpr int low = Ring<source>::low;
    if (path != Path::edges || in_grid(s, row)) {
#pragma unroll
        for (int k = 0; k < points; ++k)
            rows[0][low + k] = value[k];
        if (path == Path::edges)
            mend_row<source>(a, c, rows[0] + low);
    } else if (gives<source, 2, 1> && row >= s.size) {
#pragma unroll
        for (int k = 0; k < points; ++k)
            rows[0][low + k] = Rule<source, 2, 1>::beyond(a);
    }
    if (path == Path::edges && Rule<source, 2, 0>::kind == Boundary::clamp && row == s.zero) {
#pragma unroll
        for (int k = 1; k < Ring<source>::depth; ++k) {
            copy_row(rows[k], rows[0]);
            if (Ring<source>::widened >= 0 && k > Ring<source>::widened)
                widen_row<source>(all, k);
        }
    }
    if constexpr (Ring<source>::widened >= 0)
        widen_row<source>(all, Ring<source>::widened);
}
