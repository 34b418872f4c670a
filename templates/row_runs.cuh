// The rows that a run of points reads: each row of the shape, by the point below which it lies.
#pragma once
#include "row_results.cuh"

#if defined(PLAN_OWN_EDGES)
// What the boundary gives beyond the grid along y and z: a cell for each row of the shape, as
// arrays have values of their own. Ghosts makes rows of it.
struct Beyond {
    mutable Cell of[plan::rows > 0 ? plan::rows : 1];
    __device__ __forceinline__ void fill() {
    }
    // Where a row of the shape begins, by the rules of y and z. `given`: it is a cell of the above.
    template <int row>
    __device__ __forceinline__ const Cell *find(const Arguments &a, const Point &first,
                                                bool &given) const {
        using Of = Row<row>;
        Index y = first.y + Of::dy, z = first.z + Of::dz;
        given = false;
        if constexpr (!plan::all_fixed) {
            Real value = 0;
            given = !resolve<1, Of::array>(y, a, value) || !resolve<2, Of::array>(z, a, value);
            of[row] = Cell(value);
            if (given)
                return of + row;
        }
        const Grid &grid = a.grid[Array<Of::array>::grid];
        return grid.data + offset(grid, first.x, y, z);
    }
};
#else
// Rows of what the boundary gives beyond the grid along y and z, as long as a run and its reach.
struct Beyond {
#if PLAN_GIVES
    static constexpr int cells = plan::low_x + plan::run + plan::high_x;
    Cell of[4][cells];
    template <int axis, int side = 0> __device__ __forceinline__ void fill_axis() {
        for (int i = 0; i < cells; ++i)
            of[2 * (axis - 1) + side][i] = Edge<axis, side>::beyond();
        if constexpr (side == 0)
            fill_axis<axis, 1>();
    }
#endif
    __device__ __forceinline__ void fill() {
#if PLAN_GIVES
        fill_axis<1>();
        fill_axis<2>();
#endif
    }
    // The cell (x, y, z), by the rules of y and z. `given`: it lies in a row of the above.
    template <int array>
    __device__ __forceinline__ const Cell *find(const Arguments &a, Index x, Index y, Index z,
                                                bool &given) const {
        given = false;
        if constexpr (!plan::all_fixed) {
            Real value = 0;
            const bool inside = resolve<1>(y, a.size[1], value) && resolve<2>(z, a.size[2], value);
#if PLAN_GIVES
            if (!inside) {
                given = true;
                return of[y < 0 ? 0 : y >= a.size[1] ? 1 : z < 0 ? 2 : 3] + plan::low_x;
            }
#endif
            (void)inside;
        }
        const Grid &grid = a.grid[Array<array>::grid];
        return grid.data + offset(grid, x, y, z);
    }
};
#endif

struct RowRun {
    static constexpr int rows = plan::rows > 0 ? plan::rows : 1;
    const Cell *at[rows]; // the first point of the run in each row
    bool given[rows];     // by the boundary along y or z
    template <int row = 0>
    __device__ __forceinline__ void place(const Arguments &a, const Point &first,
                                          const Beyond &beyond) {
        if constexpr (row < plan::rows) {
#if defined(PLAN_OWN_EDGES)
            at[row] = beyond.find<row>(a, first, given[row]);
#else
            using Of = Row<row>;
            at[row] =
                beyond.find<Of::array>(a, first.x, first.y + Of::dy, first.z + Of::dz, given[row]);
#endif
            place<row + 1>(a, first, beyond);
        }
    }
};

template <int array, int dy, int dz, int row = 0>
__device__ __forceinline__ constexpr int row_number() {
    if constexpr (Row<row>::array == array && Row<row>::dy == dy && Row<row>::dz == dz)
        return row;
    else
        return row_number<array, dy, dz, row + 1>();
}

struct AtRun {
    const RowRun &run;
    const Point &first;
    Index i; // the point, from the first; as wide as addresses, for it may then not wrap
#if defined(PLAN_POSITIONS)
    template <int axis> __device__ __forceinline__ Index index() const {
        return coordinate<axis>(first) + (axis == 0 ? i : 0);
    }
#endif
    template <int array, int dx, int dy, int dz> __device__ __forceinline__ Real tap() const {
        return run.at[row_number<array, dy, dz>()][i + dx]; // global memory, or a copy of a thread
    }
};

// Copies of rows near an end of x, with what lies beyond it.
struct Ghosts {
    static constexpr int points = 16;
    Cell of[RowRun::rows][plan::low_x + points + plan::high_x];

    template <int row = 0>
    __device__ __forceinline__ void fill(const Arguments &a, const Point &first, int count,
                                         RowRun &run) {
        if constexpr (row < plan::rows) {
            using Of = Row<row>;
#if defined(PLAN_OWN_EDGES)
            if (Of::low + Of::high > 0 || run.given[row]) {
                for (int i = -Of::low; i < count + Of::high; ++i) {
                    Index x = first.x + i;
                    Real value = 0; // of a rule of x
                    const bool inside = resolve<0, Of::array>(x, a, value);
                    of[row][plan::low_x + i] =
                        inside ? run.at[row][run.given[row] ? 0 : x - first.x] : Cell(value);
                }
#else
            if constexpr (Of::low + Of::high > 0) {
                for (int i = -Of::low; i < count + Of::high; ++i) {
                    Index x = first.x + i;
                    Real value = 0; // of a rule of x
                    of[row][plan::low_x + i] = resolve<0>(x, a.size[0], value)
                                                   ? run.at[row][run.given[row] ? 0 : x - first.x]
                                                   : Cell(value);
                }
#endif
                run.at[row] = of[row] + plan::low_x;
            }
            fill<row + 1>(a, first, count, run);
        }
    }
};
