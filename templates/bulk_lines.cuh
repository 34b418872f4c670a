// bulk, where rows begin anywhere: copies of a grid that is seen as one row of all its cells, so that
// they may begin at any of them; and stores of packs, made of the points of two lanes.
//
//      memory   | . a b c | d e f g | h . . . |     a row, and the packs of 16 bytes that it lies in
//      lanes        a b c   d|e f g   h|            0 and 1 of a warp, each with its points; lane 1
//                                                   stores the pack d e f g; a b c and h go alone
#pragma once
#include "row_shift.cuh"

// Asks for a box of every array from `array` to `end`, row by row: for the rows `first`, `first` + `by` …
// of it, of `planes` planes from z on. What lies outside of the grid along y and z is asked for before
// its first cell, where all is zeros; what lies beside the ends of x is another row's.
template <int array, int end, class Filling>
__device__ __forceinline__ void ask_rows(const Arguments &a, const Filling &slots, Cell *shared,
                                         const Point &origin, Index z, int planes, int first,
                                         int by) {
    if constexpr (array < end) {
        using B = Box<array>;
        const Grid &grid = a.grid[B::A::grid];
        const int lead = line_lead(grid.data) - B::before;
        for (int r = first; r < B::height * planes; r += by) {
            const Index row = origin.y - B::A::low_y + (PLAN_FLAT ? 0 : r);
            const Index plane = z + (PLAN_FLAT ? r : 0);
            const bool inside = row >= 0 && row < a.size[1] && plane >= 0 && plane < a.size[2];
            slots.template copy<(array < plan::summed)>(
                shared + B::A::shared + slots.slot() * B::slot + r * B::width, a.map[array],
                inside ? lead + int(offset(grid, origin.x, row, plane)) : -B::copied, 0, 0);
        }
        ask_rows<array + 1, end>(a, slots, shared, origin, z, planes, first, by);
    }
}

// Of a lane that stores whole packs of its row (`whole`): 1 where the lane before does so in the same
// row (`follows`), and 2 where the next one follows on it.
__device__ __forceinline__ unsigned links_of(bool whole, bool follows) {
    const int linked = shuffle_up(static_cast<int>(whole), 1) & int(whole && follows && lane() > 0);
    return unsigned(linked) + (lane() + 1 < warp_size ? 2u : 0u) * unsigned(shuffle_down(linked, 1));
}

// A row's points, by all lanes of a warp: a pack of the last ones of the lane before and the own first
// ones, and what no pack takes, cell by cell. `points`: a bit for each that is stored.
template <int output>
__device__ __forceinline__ void store_linked(Cell *row, unsigned points, unsigned links,
                                             const Results &out) {
    constexpr int n = plan::vector;
    constexpr unsigned all = (1u << n) - 1;
    const int place = place_in_pack(row);
    Cell cell[2 * n - 1];
#pragma unroll
    for (int i = 0; i < n; ++i) {
        if (i + 1 < n)
            cell[i] = shuffle_up(out[i + 1][output], 1);
        cell[n - 1 + i] = out[i][output];
    }
    shift_down<n>(cell, n - 1 - place);
    const bool packed = place == 0 ? points == all : (links & 1) != 0;
    if (packed) {
        Pack<Cell, n> pack;
#pragma unroll
        for (int i = 0; i < n; ++i)
            pack.element[i] = cell[i];
        store_pack_once(reinterpret_cast<Pack<Cell, n> *>(row - place), pack);
    }
    const unsigned head = all >> place; // the points of the pack
    const unsigned alone =
        points & ~((packed ? head : 0) | ((links & 2) != 0 ? all & ~head : 0));
    if (alone != 0) {
#pragma unroll
        for (int i = 0; i < n; ++i)
            if ((alone >> i & 1) != 0)
                row[i] = out[i][output];
    }
}
