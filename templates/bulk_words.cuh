// bulk, where rows begin anywhere, of cells of 16 bits. Two cells are a word of memory, but a thread's two
// points may be the second cell of one word and the first of the next:
//
//      words       | . a | b c | d e | f . |
//      lanes             0 0   1 1   2 2           reads: two words, of which it takes the middle
//                          ^ b, c: lane 0 stores   stores: its second cell and the next lane's first
//
// As rows of the tile begin, so do all threads' points of them.
#pragma once

#if defined(PLAN_NARROW) && defined(PLAN_SHIFTED)
// Cells that begin `shift` bits behind those at `from`, as numbers.
template <int cells>
__device__ __forceinline__ void read_words(const Cell *from, unsigned shift, Real (&to)[cells]) {
    using Word = Pack<Cell, 2>;
    unsigned words[cells / 2 + 1];
#pragma unroll
    for (int k = 0; k <= cells / 2; ++k)
        memcpy(&words[k], reinterpret_cast<const Word *>(from) + k, sizeof words[k]);
#pragma unroll
    for (int k = 0; k < cells / 2; ++k) {
        const unsigned two = unsigned(((unsigned long long)words[k + 1] << 32 | words[k]) >> shift);
        Word word;
        memcpy(&word, &two, sizeof word);
        const Pack<Real, 2> numbers = widened(word);
        to[2 * k] = numbers.element[0];
        to[2 * k + 1] = numbers.element[1];
    }
}

// Stores a row of a warp, from the thread's first point on.
template <int output, class Row>
__device__ __forceinline__ void put_words(Cell *row, const Row &out) {
    constexpr int count = row_points / 2, group = adjacent / 2; // words; those that lie side by side
    unsigned words[count];
#pragma unroll
    for (int k = 0; k < count; ++k) {
        const Pack<Real, 2> numbers = {{out[2 * k][output], out[2 * k + 1][output]}};
        const auto cells = narrowed<Cell>(numbers);
        memcpy(&words[k], &cells, sizeof words[k]);
    }
    const bool is_even = (reinterpret_cast<unsigned long long>(row) & 2) == 0;
    const bool is_first = lane() == 0, is_last = lane() + 1 == warp_size;
    if (is_even) {
#pragma unroll
        for (int k = 0; k < count; ++k)
            store_word(row + column_of(2 * k), words[k]);
        return;
    }
#pragma unroll
    for (int k = 0; k < count; ++k) {
        const bool ends = (k + 1) % group == 0; // the next lane has the next word, or the first one has
        const int its = ends ? k + 1 - group : k + 1, after = k + 1 < count ? k + 1 : its;
        unsigned next = ends && is_first ? words[after] : words[its];
        if (ends)
            next = shuffle(next, (lane() + 1) % warp_size);
        Cell *const to = row + column_of(2 * k) + 1;
        if (k + 1 < count || !is_last)
            store_word(to, words[k] >> 16 | next << 16);
        else
            *to = out[2 * k + 1][output];
    }
    if (is_first)
        *row = out[0][output];
}
#endif
