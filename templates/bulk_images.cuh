// bulk: images, which are cells beyond an edge that have the value of a cell inside, or one of their own.
// Copies bring zeros there, or cells of other rows:
//
//      copied      0 0 0 0 0 0 0       images     a a a b c d e      a row beyond the edge stands
//                  0 0|a b c d e                  a a|a b c d e      for one inside: here both axes
//                  0 0|f g h i j                  f f|f g h i j      are clamped
//
// In 2D, where a tile comes at once, threads put images there before any is read. In 3D a walk asks for a
// plane inside instead of one beyond the edge. Where rows begin anywhere, threads put images into each plane;
// else those near an edge find them (bulk_near_edge.cuh).
#pragma once

#if PLAN_IMAGES
template <int axis, int array>
__device__ __forceinline__ bool resolve_of(const Arguments &a, Index &i, Real &value) {
#if defined(PLAN_OWN_EDGES)
    return resolve<axis, array>(i, a, value);
#else
    return resolve<axis>(i, a.size[axis], value);
#endif
}
template <int array, int axis, int side> __device__ constexpr Boundary kind_of() {
#if defined(PLAN_OWN_EDGES)
    return Edge<axis, side, array>::kind;
#else
    return Edge<axis, side>::kind;
#endif
}
#endif

#if PLAN_IMAGES && !PLAN_FLAT
// The plane that a walk asks for instead of one beyond the edge; −1: of zeros.
template <int array> __device__ __forceinline__ Index asked_plane(const Arguments &a, Index z) {
    [[maybe_unused]] Real value = 0;
    if constexpr (array < plan::summed)
        return resolve_of<2, array>(a, z, value) ? z : -1;
    else
        return z;
}

// Whether planes beyond the edge have one value, which the boundary gives; whether some of those from
// `first` on do, in some array.
template <int array> constexpr bool has_given_planes =
    kind_of<array, 2, 0>() == Boundary::constant || kind_of<array, 2, 1>() == Boundary::constant;
template <int array = 0>
__device__ __forceinline__ bool reaches_given(const Arguments &a, Index first, Index end) {
    if constexpr (array < plan::summed)
        return (has_given_planes<array> && (first < 0 || end > a.size[2])) ||
               reaches_given<array + 1>(a, first, end);
    else
        return false;
}
#endif

// ---- put where they are read --------------------------------------------------------------------

#if PLAN_IMAGES && (PLAN_FLAT || defined(PLAN_SHIFTED))
#include "arch/async.cuh"

// Those that a block reads of an array, or in 3D of a plane of it, which all have numbers.
template <int array> struct Images {
    using A = Array<array>;
    using B = Box<array>;
    static constexpr int along = PLAN_FLAT ? 2 : 1; // the axis of the rows
    static constexpr int low = PLAN_FLAT ? A::low_z : A::low_y, high = PLAN_FLAT ? A::high_z : A::high_y;
#if defined(PLAN_SHIFTED)
    static constexpr int rows = B::rows;
    static constexpr int together = 1; // cells that are put at once: rows begin anywhere in a pack
#else
    static constexpr int rows = plan::planes;
    static constexpr int together = plan::vector;
#endif
    static constexpr int before = (A::low_x + together - 1) / together;
    static constexpr int packs =
        before + plan::tile_x / together + (A::high_x + together - 1) / together;

    const Index size_x, size;       // of the grid
    const Index first_x, first_row; // of the tile; of what lies in shared memory
    const int left, right;          // columns beyond the edges
    const int below, above;         // rows
    const int ends;                 // cells of a pack in which rows end
    const int cells, count;         // the first are cells, the others packs
#if defined(PLAN_SHIFTED)
    const unsigned lead, stride; // where the first row begins, and how far on the next ones do
#endif

    template <int axis, int side>
    static __device__ __forceinline__ int reach(Index cells, int most) {
        constexpr Boundary kind = kind_of<array, axis, side>();
#if defined(PLAN_SHIFTED)
        // Else the row before lies there, or those of other planes.
        constexpr bool has_zeros = axis == 0 ? side != 0 : PLAN_FLAT != 0;
#else
        constexpr bool has_zeros = true;
#endif
        return kind == Boundary::fixed || (kind == Boundary::zero && has_zeros)
                   ? 0
                   : int(min(max(cells, Index(0)), Index(most)));
    }
    // `z`: in 3D, the plane.
    __device__ __forceinline__ Images(const Arguments &a, const Point &origin,
                                      [[maybe_unused]] Index z = 0)
        : size_x(a.size[0]), size(a.size[along]), first_x(origin.x),
          first_row(PLAN_FLAT ? origin.z - plan::low_z : origin.y - A::low_y),
          left(reach<0, 0>(A::low_x - first_x, A::low_x)),
          right(reach<0, 1>(first_x + plan::tile_x + A::high_x - size_x, A::high_x)),
          below(reach<along, 0>(-first_row, low)),
          above(reach<along, 1>(first_row + rows - size, high)), ends(int(size_x % together)),
          cells((left + right) * rows + (below + above) * ends),
          count(cells + (below + above) * packs)
#if defined(PLAN_SHIFTED)
          ,
          lead(first_place<array>(a) + unsigned(PLAN_FLAT ? offset(a.grid[A::grid], first_x, 0, first_row)
                                                          : offset(a.grid[A::grid], first_x, first_row, z))),
          stride(unsigned(PLAN_FLAT ? a.grid[A::grid].stride_z : a.grid[A::grid].stride_y))
#endif
    {
    }

    // Number i: its first cell's column in the tile, its row in shared memory, and its place in the
    // grid. False: nobody reads it.
    __device__ __forceinline__ bool find(int i, int &column, int &row, Index &x, Index &y) const {
        if (i < (left + right) * rows) { // left and right of the rows
            const int c = i % (left + right);
            x = c < left ? c - left : size_x + (c - left);
            y = first_row + i / (left + right);
        } else { // rows beyond the edges
            const bool is_cell = i < cells;
            const int each = is_cell ? ends : packs;
            const int k = is_cell ? i - (left + right) * rows : i - cells;
            x = is_cell ? size_x - ends + k % each : first_x + (k % each - before) * together;
            y = k / each < below ? k / each - below : size + (k / each - below);
            if (x < 0 || x + (is_cell ? 1 : together) > size_x)
                return false;
        }
        const Index from_tile = x - first_x;
        column = int(from_tile);
        row = int(y - first_row);
        return from_tile >= -before * together && from_tile < plan::tile_x + A::high_x && y >= -low &&
               y < size + high;
    }
    // Where that lies, from the array's first cell in shared memory on.
    __device__ __forceinline__ int place(int column, int row) const {
#if defined(PLAN_SHIFTED)
        return B::row(row) + int((lead + unsigned(row) * stride) % plan::vector) + B::before + column;
#else
        return row * B::width + B::before + column;
#endif
    }
};

// `count` cells at once, from the tile if they lie there, as in 3D all do.
template <int count, int array>
__device__ __forceinline__ void put_image(const Arguments &a, const Images<array> &images, Cell *box,
                                          int place, Index x, Index y) {
    using A = Array<array>;
    using Cells = Pack<Cell, count>;
    constexpr int along = Images<array>::along;
    Real value = 0;
    if (resolve_of<0, array>(a, x, value) && resolve_of<along, array>(a, y, value)) {
        const Index column = x - images.first_x, row = y - images.first_row;
        const bool has_row = row >= 0 && row < images.rows;
        if (!PLAN_FLAT || (has_row && column >= -A::low_x && column + count <= plan::tile_x + A::high_x)) {
            *reinterpret_cast<Cells *>(box + place) = *reinterpret_cast<const Cells *>(
                box + images.place(int(column), int(row)));
        } else {
            const Grid &grid = a.grid[A::grid];
            copy_async<count>(SharedAt<Cell>(box + place), grid.data + offset(grid, x, 0, y));
        }
    } else {
#pragma unroll
        for (int i = 0; i < count; ++i)
            box[place + i] = value;
    }
}
// By all threads that make points, when the copies have arrived. `box`: where the array's cells lie.
template <int array>
__device__ __forceinline__ void put_images_of(const Arguments &a, const Images<array> &images, Cell *box) {
    constexpr int threads = PLAN_FLAT ? plan::threads : plan::readers;
    int column, row;
    Index x, y;
    for (int i = threadIdx.x; i < images.count; i += threads)
        if (images.find(i, column, row, x, y)) {
            const int place = images.place(column, row);
            if (i < images.cells)
                put_image<1>(a, images, box, place, x, y);
            else
                put_image<Images<array>::together>(a, images, box, place, x, y);
        }
}
#endif

#if PLAN_IMAGES && PLAN_FLAT
// `any`: some array has images.
template <int array = 0>
__device__ __forceinline__ void put_images(const Arguments &a, Cell *shared, const Point &origin,
                                           bool any = false) {
    if constexpr (array < plan::summed) {
        const Images<array> images(a, origin);
        put_images_of(a, images, shared + Box<array>::shared);
        put_images<array + 1>(a, shared, origin, any || images.count > 0);
    } else if (any) {
        copies_commit();
        copies_wait<0>();
        __syncthreads();
    }
}
#endif

#if PLAN_IMAGES && !PLAN_FLAT && defined(PLAN_SHIFTED)
// Whether planes of the block have images of cells in them.
template <int array = 0>
__device__ __forceinline__ bool has_images(const Arguments &a, const Point &origin) {
    if constexpr (array < plan::summed)
        return Images<array>(a, origin).count > 0 || has_images<array + 1>(a, origin);
    else
        return false;
}

// A plane beyond the edge which the boundary gives, and what it gives beyond others.
template <int array>
__device__ __forceinline__ void put_given(const Arguments &a, const Images<array> &images, Cell *box,
                                          Index plane) {
    constexpr int wide = Images<array>::before + plan::tile_x + Array<array>::high_x;
    for (int i = threadIdx.x; i < wide * images.rows; i += plan::readers) {
        const int column = i % wide - images.before, row = i / wide;
        Index x = images.first_x + column, y = images.first_row + row, z = plane;
        Real value = 0;
        if (resolve_of<0, array>(a, x, value) && resolve_of<1, array>(a, y, value))
            resolve_of<2, array>(a, z, value);
        box[images.place(column, row)] = value;
    }
}
// Of plane z, which lies in `slot`.
template <int array = 0>
__device__ __forceinline__ void put_images(const Arguments &a, Cell *shared, int slot,
                                           const Point &origin, Index z) {
    if constexpr (array < plan::summed) {
        using B = Box<array>;
        const Index plane = asked_plane<array>(a, z);
        const Images<array> images(a, origin, plane);
        Cell *const box = shared + B::shared + slot * B::slot;
        if (has_given_planes<array> && plane < 0)
            put_given(a, images, box, z);
        else
            put_images_of(a, images, box);
        put_images<array + 1>(a, shared, slot, origin, z);
    }
}
#endif
