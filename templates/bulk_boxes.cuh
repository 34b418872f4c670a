// bulk: what lies in shared memory.
#pragma once

// What memory has, here and in shared memory; sums and taps are Real.
#if defined(PLAN_NARROW)
using Cell = Stored<Array<0>>;
#else
using Cell = Real;
#endif

template <int elements> constexpr int packs_for = (elements + plan::vector - 1) / plan::vector;

// So many cells as whole lines of 128 bytes, at which copies of boxes begin.
__device__ constexpr int lines_of(int cells) {
    constexpr int line = 128 / int(sizeof(Cell));
    return (cells + line - 1) / line * line;
}

#if defined(PLAN_SHIFTED)
constexpr int ring = PLAN_SHIFTED; // planes in shared memory
template <int array> __device__ constexpr int first_cell();
#endif

// Of one array in shared memory: a plane of the tile with what the shape reaches of it around.
template <int array> struct Box {
    using A = Array<array>;
    static constexpr int line = plan::line_bytes / int(sizeof(Cell)); // rows begin at multiples
#if defined(PLAN_SHIFTED)
    // Rows lie in whole packs. Row j comes by copy j % vector, whose row j / vector it is.
    static constexpr int before = A::low_x;
    static constexpr int width =
        packs_for<before + plan::tile_x + A::high_x + plan::vector - 1> * plan::vector;
    static constexpr int rows = PLAN_FLAT ? plan::planes : A::low_y + plan::tile_y + A::high_y;
    static constexpr int height = packs_for<rows>; // of a copy
    static constexpr int copied = lines_of(width * height); // its place
    static constexpr int arriving = plan::vector * width * height;
    static constexpr int slot = plan::vector * copied;
    static constexpr int shared = first_cell<array>(); // where its slots begin

    // Where row j begins, from the slot's first cell on.
    static __device__ __forceinline__ constexpr int row(int j) {
        return int(unsigned(j) % plan::vector * copied + unsigned(j) / plan::vector * width);
    }
#else
    static constexpr int low = (A::low_x + line - 1) / line * line, before = low;
    static constexpr int width = low + plan::tile_x + (A::high_x + line - 1) / line * line;
    static constexpr int height = A::low_y + plan::tile_y + A::high_y;
    static constexpr int cells = width * height, arriving = cells;
#if defined(PLAN_ENDS)
    // Behind the tile, on each side: rows and columns from the other end, and cells that are both.
    static constexpr int reach_x = A::low_x > A::high_x ? A::low_x : A::high_x;
    static constexpr int columns = plan::ends_x ? packs_for<reach_x> * plan::vector : 0;
    static constexpr int rows = !plan::ends_y ? 0 : A::low_y > A::high_y ? A::low_y : A::high_y;
    static constexpr int side = lines_of(columns * height);
    static constexpr int corner = plan::corners ? lines_of(columns * rows) : 0;
    static constexpr int ends = lines_of(cells + 2 * rows * width); // where columns begin
    static constexpr int slot = ends + 2 * (side + 2 * corner);
#else
    // From one plane to the next. In 2D they are rows of one copy.
    static constexpr int slot = PLAN_FLAT ? cells : lines_of(cells);
#endif
    static constexpr int shared = A::shared;
#endif
};

#if defined(PLAN_SHIFTED)
// Planes are shorter than those that the plan has room for, so there may be room for more of them.
template <int array> __device__ constexpr int first_cell() {
    if constexpr (array == 0)
        return 0;
    else
        return first_cell<array - 1>() + ring * Box<array - 1>::slot;
}

// Cells that a row of an array begins behind a whole pack with, as far as it is copied.
template <int array> __device__ __forceinline__ unsigned first_place(const Arguments &a) {
    return unsigned(line_lead(a.grid[Array<array>::grid].data) - Box<array>::before);
}
#endif

// A thread's points of a row. Where rows begin anywhere they lie apart, but for cells of 16 bits: two of
// them are a word, and four share what a far shape reads around them.
#if defined(PLAN_SHIFTED)
constexpr int row_points = plan::row_points;
#if defined(PLAN_NARROW)
constexpr int adjacent = plan::adjacent;
#else
constexpr int adjacent = 1;
#endif
#else
constexpr int row_points = plan::vector, adjacent = row_points;
#endif
static_assert(row_points % adjacent == 0, "whole words");
constexpr int across = plan::tile_x / row_points; // threads of a row

// Point i's column, from the thread's first on.
__device__ constexpr int column_of(int i) {
    return i / adjacent * across * adjacent + i % adjacent;
}

// A bit for each member, in one register if they fit.
template <bool wide> struct SetOf { using type = unsigned; };
template <> struct SetOf<true> { using type = unsigned long long; };
