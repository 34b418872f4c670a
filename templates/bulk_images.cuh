// bulk: images, which are cells beyond an edge that have the value of a cell inside, or one of their own.
// Copies bring zeros there:
//
//      copied      0 0 0 0 0 0 0       images     a a a b c d e      a row beyond the edge stands
//                  0 0|a b c d e                  a a|a b c d e      for one inside: here both axes
//                  0 0|f g h i j                  f f|f g h i j      are clamped
//
// In 2D, where a tile comes at once, threads put images there before any is read. In 3D threads find them
// in what they read (bulk_near_edge.cuh), or, where rows begin anywhere, warps of their own put them there
// (bulk_mending.cuh).
#pragma once

#if PLAN_IMAGES || defined(PLAN_MENDERS)
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

// The value that a side gives to cells beyond it.
template <int array, int axis, int side>
__device__ __forceinline__ Real beyond_of([[maybe_unused]] const Arguments &a) {
#if defined(PLAN_OWN_EDGES)
    return Edge<axis, side, array>::beyond(a);
#else
    return Edge<axis, side>::beyond();
#endif
}

// Whether planes have one value, which the boundary gives; whether some of a walk's have, in some array.
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

// The plane that a walk asks for instead of one beyond the edge; −1: of zeros.
template <int array> __device__ __forceinline__ Index asked_plane(const Arguments &a, Index z) {
#if (PLAN_IMAGES && !PLAN_FLAT) || defined(PLAN_MENDERS)
    [[maybe_unused]] Real value = 0;
    if constexpr (array < plan::summed)
        return resolve_of<2, array>(a, z, value) ? z : -1;
    else
        return z;
#else
    return z;
#endif
}

#if PLAN_IMAGES && PLAN_FLAT
#include "arch/async.cuh"

// Those that a block reads of an array, which all have numbers.
template <int array> struct Images {
    using A = Array<array>;
    using B = Box<array>;
#if defined(PLAN_SHIFTED)
    static constexpr int together = 1; // cells that are put at once: rows begin anywhere in a pack
    const unsigned lead, stride;       // where the first one does, and how far on the next ones do
#else
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

    template <int axis, int side>
    static __device__ __forceinline__ int reach(Index cells, int most) {
        constexpr Boundary kind = kind_of<array, axis, side>();
#if defined(PLAN_SHIFTED)
        constexpr bool has_zeros = axis != 0 || side != 0; // else the row before lies there
#else
        constexpr bool has_zeros = true;
#endif
        return kind == Boundary::fixed || (kind == Boundary::zero && has_zeros)
                   ? 0
                   : int(min(max(cells, Index(0)), Index(most)));
    }
    __device__ __forceinline__ Images(const Arguments &a, const Point &origin)
        :
#if defined(PLAN_SHIFTED)
          lead(first_place<array>(a) +
               unsigned(offset(a.grid[A::grid], origin.x, 0, origin.z - plan::low_z))),
          stride(unsigned(a.grid[A::grid].stride_z)),
#endif
          size_x(a.size[0]), size(a.size[2]), first_x(origin.x), first_row(origin.z - plan::low_z),
          left(reach<0, 0>(A::low_x - first_x, A::low_x)),
          right(reach<0, 1>(first_x + plan::tile_x + A::high_x - size_x, A::high_x)),
          below(reach<2, 0>(-first_row, A::low_z)),
          above(reach<2, 1>(first_row + plan::planes - size, A::high_z)),
          ends(int(size_x % together)), cells((left + right) * plan::planes + (below + above) * ends),
          count(cells + (below + above) * packs) {
    }

    // Number i: its first cell's column in the tile, its row in shared memory, and its place in the
    // grid. False: nobody reads it.
    __device__ __forceinline__ bool find(int i, int &column, int &row, Point &p) const {
        p.y = 0;
        if (i < (left + right) * plan::planes) { // left and right of the rows
            const int c = i % (left + right);
            p.x = c < left ? c - left : size_x + (c - left);
            p.z = first_row + i / (left + right);
        } else { // rows beyond the edges
            const bool is_cell = i < cells;
            const int each = is_cell ? ends : packs;
            const int k = is_cell ? i - (left + right) * plan::planes : i - cells;
            p.x = is_cell ? size_x - ends + k % each : first_x + (k % each - before) * together;
            p.z = k / each < below ? k / each - below : size + (k / each - below);
            if (p.x < 0 || p.x + (is_cell ? 1 : together) > size_x)
                return false;
        }
        const Index from_tile = p.x - first_x;
        column = int(from_tile);
        row = int(p.z - first_row);
        return from_tile >= -before * together && from_tile < plan::tile_x + A::high_x &&
               p.z >= -A::low_z && p.z < size + A::high_z;
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

// `count` cells at once, from the tile if they lie there.
template <int count, int array>
__device__ __forceinline__ void put_image(const Arguments &a, const Images<array> &images, Cell *box,
                                          int place, Point p) {
    using A = Array<array>;
    using Cells = Pack<Cell, count>;
    Real value = 0;
    if (resolve_of<0, array>(a, p.x, value) && resolve_of<2, array>(a, p.z, value)) {
        const Index column = p.x - images.first_x, row = p.z - images.first_row;
        if (column >= -A::low_x && column + count <= plan::tile_x + A::high_x && row >= 0 &&
            row < plan::planes) {
            *reinterpret_cast<Cells *>(box + place) = *reinterpret_cast<const Cells *>(
                box + images.place(int(column), int(row)));
        } else {
            const Grid &grid = a.grid[A::grid];
            copy_async<count>(SharedAt<Cell>(box + place), grid.data + offset(grid, p.x, 0, p.z));
        }
    } else {
#pragma unroll
        for (int i = 0; i < count; ++i)
            box[place + i] = value;
    }
}
// By all threads, when the copies have arrived. `any`: some array has images.
template <int array = 0>
__device__ __forceinline__ void put_images(const Arguments &a, Cell *shared, const Point &origin,
                                           bool any = false) {
    if constexpr (array < plan::summed) {
        const Images<array> images(a, origin);
        Cell *const box = shared + Box<array>::shared;
        int column, row;
        Point p;
        for (int i = threadIdx.x; i < images.count; i += plan::threads)
            if (images.find(i, column, row, p)) {
                const int place = images.place(column, row);
                if (i < images.cells)
                    put_image<1>(a, images, box, place, p);
                else
                    put_image<images.together>(a, images, box, place, p);
            }
        put_images<array + 1>(a, shared, origin, any || images.count > 0);
    } else if (any) {
        copies_commit();
        copies_wait<0>();
        __syncthreads();
    }
}
#endif
