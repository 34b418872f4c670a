// bulk: cells from the grid's other end, where x or y is periodic and a block walks. They come with each plane
// that is copied, to places behind the tile's:
//
//      tile       its rows with their halo, where zeros lie beyond the edge
//      rows       those before the first one of the grid, which are its last ones; those after the last
//      columns    to the left of the tile's rows, and what both rules lead to; the same to the right
//
// Blocks whose tile with its halo lies in the grid ask for none of them.
#pragma once

#if defined(PLAN_ENDS)
// The maps of an array's boxes come after those of all tiles: of columns, of rows, of both.
template <int array> __device__ constexpr int first_of_ends() {
    if constexpr (array == 0) {
        return plan::arrays;
    } else {
        using B = Box<array - 1>;
        return first_of_ends<array - 1>() + (B::columns > 0) + (B::rows > 0) + (B::corner > 0);
    }
}

// Calls visit(place in the slot, cells, map, x, y) for each box that the block asks for.
template <int array, class Visit>
__device__ __forceinline__ void each_end(const Arguments &a, const Point &origin, const Visit &visit) {
    using B = Box<array>;
    using A = Array<array>;
    constexpr int of_columns = first_of_ends<array>(), of_rows = of_columns + (B::columns > 0),
                  of_corners = of_rows + (B::rows > 0);
    const int x = int(origin.x) - B::before, y = int(origin.y) - A::low_y;
    const int last_x = int(a.size[0]) - B::columns, last_y = int(a.size[1]) - B::rows;
    const bool beyond_x[2] = {origin.x < A::low_x, origin.x + plan::tile_x + A::high_x > a.size[0]};
    const bool beyond_y[2] = {origin.y < A::low_y, origin.y + plan::tile_y + A::high_y > a.size[1]};
#pragma unroll
    for (int i = 0; i < 2; ++i) {
        const int columns = B::ends + i * (B::side + 2 * B::corner);
        if (B::rows > 0 && beyond_y[i])
            visit(B::cells + i * B::rows * B::width, B::rows * B::width, of_rows, x,
                  i == 0 ? last_y : 0);
        if (B::columns > 0 && beyond_x[i])
            visit(columns, B::columns * B::height, of_columns, i == 0 ? last_x : 0, y);
#pragma unroll
        for (int j = 0; j < 2; ++j)
            if (B::corner > 0 && beyond_x[i] && beyond_y[j])
                visit(columns + B::side + j * B::corner, B::columns * B::rows, of_corners,
                      i == 0 ? last_x : 0, j == 0 ? last_y : 0);
    }
}

// Bytes of them, of all arrays.
template <int array = 0>
__device__ __forceinline__ int bytes_of_ends(const Arguments &a, const Point &origin) {
    if constexpr (array < plan::summed) {
        int cells = 0;
        each_end<array>(a, origin, [&](int, int count, int, int, int) { cells += count; });
        return cells * int(sizeof(Cell)) + bytes_of_ends<array + 1>(a, origin);
    } else {
        return 0;
    }
}
#endif
