// bulk: planes of the arrays in shared memory, and what they add to the sums of a thread's points.
#pragma once

// ---- what a thread reads of a plane -----------------------------------------------------------

#if !defined(PLAN_SHIFTED) // else bulk_lines.cuh has it
// Row y of an array, 0 being the thread's first, as far as any of the thread's points asks for it.
template <int array, int y> struct Line {
    using Asked = Asks<array, y>;
    static constexpr bool any = Asked::first <= Asked::last;
    static constexpr int before = any ? packs_for<Asked::low> : 0;
    static constexpr int packs = any ? before + 1 + packs_for<Asked::high> : 1;
    Real element[packs * plan::vector];

    // `own`: the thread's first point in the plane.
    __device__ __forceinline__ void read(const Cell *own) {
        if constexpr (any) {
            using Wide = Pack<Cell, plan::vector>;
            constexpr int first = y * Box<array>::width - before * plan::vector;
            const Wide *const from = reinterpret_cast<const Wide *>(own + first);
#if defined(PLAN_NARROW)
            read_pack<0>(from);
#else
#pragma unroll
            for (int k = 0; k < packs; ++k) {
                const Wide pack = from[k];
#pragma unroll
                for (int i = 0; i < plan::vector; ++i)
                    element[k * plan::vector + i] = pack.element[i];
            }
#endif
        }
    }
#if PLAN_IMAGES && !PLAN_FLAT
#if defined(PLAN_ENDS)
    // `slot`: the plane; `first_y`: the row of its box with the thread's first point.
    __device__ __forceinline__ void read_near_edge(const Cell *own, const NearEdge &at,
                                                   const Cell *slot, int first_y) {
        const RowNearEdge<array, y, Asked> row = {at, first_y};
#else
    __device__ __forceinline__ void read_near_edge(const Cell *own, const NearEdge &at) {
        const RowNearEdge<array, y, Asked> row = {at};
#endif
        if constexpr (any) {
#if defined(PLAN_ENDS)
            const int stands_for = row.stands_for();
            const Cell *const from = own + stands_for * Box<array>::width;
#pragma unroll
            for (int k = 0; k < packs; ++k) {
                const int distance = (k - before) * plan::vector;
                const Pack<Cell, plan::vector> pack =
                    *reinterpret_cast<const Pack<Cell, plan::vector> *>(
                        row.find(distance, from + distance, slot, first_y + stands_for));
#pragma unroll
                for (int i = 0; i < plan::vector; ++i)
                    element[k * plan::vector + i] = pack.element[i];
            }
#else
            read(own + (row.stands_for() - y) * Box<array>::width);
#endif
            Real value = 0;
            if (row.is_given(value))
#pragma unroll
                for (int i = 0; i < packs * plan::vector; ++i)
                    element[i] = value;
            row.template end<before * plan::vector>(element);
        }
    }
#endif
#if defined(PLAN_NARROW)
    // Of a pack of which the points ask for two cells at most, only the word of these is read.
    template <int k, class Wide> __device__ __forceinline__ void read_pack(const Wide *from) {
        if constexpr (k < packs) {
            constexpr int first = before * plan::vector - Asked::low - k * plan::vector;
            constexpr int last = (before + 1) * plan::vector + Asked::high - 1 - k * plan::vector;
            constexpr int first_word = (first > 0 ? first : 0) / 2;
            constexpr int last_word = (last < plan::vector - 1 ? last : plan::vector - 1) / 2;
            constexpr int count = first_word == last_word ? 2 : plan::vector;
            constexpr int begin = count == 2 ? 2 * first_word : 0;
            const Pack<Real, count> cells = read_shared(
                reinterpret_cast<const Pack<Cell, count> *>(from[k].element + begin));
#pragma unroll
            for (int i = 0; i < count; ++i)
                element[k * plan::vector + begin + i] = cells.element[i];
            read_pack<k + 1>(from);
        }
    }
#endif
    template <int i, int dx> __device__ __forceinline__ Real at() const {
        return element[before * plan::vector + i + dx];
    }
};
#endif

// Where a thread reads planes: its first column.
#if defined(PLAN_SHIFTED)
using Columns = Spread;
#else
using Columns = int;
#endif
// Its first point in row j of its own, which begin with row y of the tile: of an array's plane, from the
// array's first cell on.
template <int array>
__device__ __forceinline__ int first_point(int plane, const Columns &x, int y, int j) {
    using B = Box<array>;
#if !defined(PLAN_SHIFTED)
    return B::shared + plane * B::slot + (y + j + B::A::low_y) * B::width + B::before + x;
#elif PLAN_FLAT
    return B::shared + B::row(plane) + x.template cell<array>(0, 0);
#else
    return B::shared + plane * B::slot + x.template cell<array>(y, j);
#endif
}

// Row y of all arrays that sums read.
template <int array, int y> struct Lines {
    Line<array, y> line;
    Lines<array + 1, y> rest;
#if defined(PLAN_SHIFTED)
    __device__ __forceinline__ void read(const Cell *shared, int plane, const Spread &x,
                                         int first_y) {
        line.read(shared, first_point<array>(plane, x, first_y, y), x);
        rest.read(shared, plane, x, first_y);
    }
#else
    __device__ __forceinline__ void read(const Cell *shared, int plane, int x, int first_y) {
        line.read(shared + first_point<array>(plane, x, first_y, 0));
        rest.read(shared, plane, x, first_y);
    }
#if PLAN_IMAGES && !PLAN_FLAT
    __device__ __forceinline__ void read(const Cell *shared, int plane, const NearEdge &at,
                                         int first_y) {
        using B = Box<array>;
        const Cell *const slot = shared + B::shared + plane * B::slot;
        const int row = first_y + B::A::low_y;
#if defined(PLAN_ENDS)
        line.read_near_edge(slot + row * B::width + B::before + at.x, at, slot, row);
#else
        line.read_near_edge(slot + row * B::width + B::before + at.x, at);
#endif
        rest.read(shared, plane, at, first_y);
    }
#endif
#endif
    template <int of, int i, int dx> __device__ __forceinline__ Real at() const {
        if constexpr (of == array)
            return line.template at<i, dx>();
        else
            return rest.template at<of, i, dx>();
    }
};
template <int y> struct Lines<plan::summed, y> {
    template <class X>
    __device__ __forceinline__ void read(const Cell *, int, const X &, int) {
    }
    template <int, int, int> __device__ Real at() const; // never called
};

// Blocks begin at multiples of `lane_y` of the whole grid, so that a point's row of a thread, and
// with it the order of its sum, does not depend on the box. So the first `inner_first[1]` rows of the
// first block lie before the box. Cells of 16 bits are added in one order in all of a thread's rows.
#if defined(PLAN_NARROW)
constexpr bool leads = false;
#else
constexpr bool leads = plan::lane_y > 1;
#endif
__device__ __forceinline__ bool is_before(const Arguments &a, Index y) {
    return leads && y < a.begin[1] + a.inner_first[1];
}

// A point of row j, of which row y of the plane is dy away.
template <int y, int j, int i> struct AtRow {
    const Lines<0, y> &lines;
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        static_assert(dz == 0 && j + dy == y, "sums are added row by row");
        return lines.template at<array, i, dx>();
    }
};

// ---- results ----------------------------------------------------------------------------------

template <int y, int j = 0, int i = 0>
__device__ __forceinline__ void add_line(const Lines<0, y> &lines, const Arguments &a, Sums &sum) {
    constexpr bool reaches = y - j >= -plan::low_y && y - j <= plan::high_y;
    if constexpr (i < row_points && reaches) {
        add_row(InRow<y - j>(), AtRow<y, j, i>{lines}, a, sum[j][i]);
        add_line<y, j, i + 1>(lines, a, sum);
    } else if constexpr (j + 1 < plan::lane_y) {
        add_line<y, j + 1>(lines, a, sum);
    }
}
// The rows of a plane in the order in which they are added: those that complete sums come last, so
// that new ones can take their registers.
template <int n> __device__ constexpr int row_at() {
#if defined(PLAN_NARROW)
    constexpr int first = -plan::low_y; // sums stay until all rows have been added
#else
    constexpr int first = plan::lane_y + plan::completes_y;
#endif
    return (first + n + plan::low_y) % (plan::low_y + plan::lane_y + plan::high_y) - plan::low_y;
}
// All rows of the plane, one after the other, so that few are in registers at a time. Complete sums
// leave for `done` at once.
template <int n = 0, class X, class Done>
__device__ __forceinline__ void add(const Cell *shared, int plane, const X &x, int first_y,
                                    const Arguments &a, Sums &sum, const Done &done) {
    constexpr int lines = plan::low_y + plan::lane_y + plan::high_y;
    if constexpr (n < lines) {
        constexpr int y = row_at<n>();
        Lines<0, y> line;
        line.read(shared, plane, x, first_y);
        add_line<y>(line, a, sum);
        constexpr int j = y - plan::completes_y;
        if constexpr (j >= 0 && j < plan::lane_y)
            done.row(j, sum);
        add<n + 1>(shared, plane, x, first_y, a, sum, done);
    }
}

#if !PLAN_PACKS
// The same for a point of row j alone.
template <int j, int n = 0, class At>
__device__ __forceinline__ void add_rows(const At &at, const Arguments &a,
                                         Real (&sum)[plan::outputs][depth]) {
    constexpr int lines = plan::low_y + plan::lane_y + plan::high_y;
    if constexpr (n < lines) {
        constexpr int dy = row_at<n>() - j;
        if constexpr (dy >= -plan::low_y && dy <= plan::high_y)
            add_row(InRow<dy>(), at, a, sum);
        add_rows<j, n + 1>(at, a, sum);
    }
}
#endif

#if PLAN_SCALED
// A thread's points of a row that is complete, in the arrays that are read at the point alone.
struct OwnPacks {
    static constexpr int arrays = plan::arrays - plan::summed;
    Pack<Cell, row_points> pack[arrays > 0 ? arrays : 1]; // a function of the sum alone has none
    template <int array = plan::summed>
    __device__ __forceinline__ void read(const Cell *shared, int plane, const Columns &x, int y, int j) {
        if constexpr (array < plan::arrays) {
            const Cell *const from = shared + first_point<array>(plane, x, y, j);
            Pack<Cell, row_points> &to = pack[array - plan::summed];
#if defined(PLAN_SHIFTED)
#pragma unroll
            for (int i = 0; i < row_points; ++i)
                to.element[i] = from[column_of(i)];
#else
            to = *reinterpret_cast<const Pack<Cell, row_points> *>(from);
#endif
            read<array + 1>(shared, plane, x, y, j);
        }
    }
};
#if defined(PLAN_PLACED)
// A point's place alone.
struct AtPosition {
    const Point &p;
    template <int axis> __device__ __forceinline__ Index index() const {
        return coordinate<axis>(p);
    }
};
#endif

// Point i of them, and its sum.
struct AtSum {
    const OwnPacks &own;
    int i;
    Real sum;
#if defined(PLAN_PLACED)
    const Point &row; // its first point
    template <int axis> __device__ __forceinline__ Index index() const {
        return coordinate<axis>(row) + (axis == 0 ? i : 0);
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        static_assert(dx == 0 && dy == 0 && dz == 0, "neighbours are in the sum");
        if constexpr (array == plan::arrays)
            return sum;
        else
            return own.pack[array - plan::summed].element[i];
    }
};
#endif

template <class T> using RowOf = T[row_points][plan::outputs];
using Results = RowOf<Real>;

// The kernel's array of a grid; plan::arrays where no tap reads it.
template <int grid, int array = 0> __device__ constexpr int array_of() {
    if constexpr (array < plan::arrays) {
        if constexpr (Array<array>::grid == grid)
            return array;
        else
            return array_of<grid, array + 1>();
    } else {
        return array;
    }
}
