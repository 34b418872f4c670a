// What the merges share: where an output begins in the two lists, and how a few are merged.
//
// `before(arguments, x, y)` is the order, and equal keys of a come before those of b. Whatever the
// lists hold, sorted or not, every index below stays inside of them.

// How many of the first `diagonal` outputs come from a: its co-rank (C. Siebert, J. Träff, Perfectly
// load-balanced, optimal, stable, parallel merge, 2013). Where the outputs are a path through the
// grid of a and b, it crosses the diagonal there:
//
//           b0  b1  b2  b3
//      a0    ┐   .   .   /      diagonal 3: one of a, two of b
//      a1    └───┐   /   .
//      a2    .   /   .   .
template <class Position, class A, class B>
__device__ __forceinline__ Position co_rank(const Arguments &arguments, Position diagonal,
                                            const A &a, Position a_count, const B &b,
                                            Position b_count) {
    Position low = diagonal > b_count ? diagonal - b_count : 0;
    Position high = diagonal < a_count ? diagonal : a_count;
    while (low < high) {
        const Position middle = low + (high - low) / 2;
        if (before(arguments, b(diagonal - 1 - middle), a(middle)))
            high = middle;
        else
            low = middle + 1; // a's is among them: it is not after the last of b's
    }
    return low;
}

// Merges `count` outputs from a[i…a_end) and b[j…b_end), which have at least as many together:
// put(k, key, from_a, where it was).
template <int most, class Position, class A, class B, class Put>
__device__ __forceinline__ void merge_some(const Arguments &arguments, const A &a, Position i,
                                           Position a_end, const B &b, Position j, Position b_end,
                                           int count, Put put) {
    Real next_a = i < a_end ? a(i) : Real(0), next_b = j < b_end ? b(j) : Real(0);
#pragma unroll
    for (int k = 0; k < most; ++k) {
        if (k < count) {
            const bool from_a = j >= b_end || (i < a_end && !before(arguments, next_b, next_a));
            if (from_a) {
                put(k, next_a, true, i);
                next_a = ++i < a_end ? a(i) : next_a;
            } else {
                put(k, next_b, false, j);
                next_b = ++j < b_end ? b(j) : next_b;
            }
        }
    }
}

// The parts of a and b that make the outputs from `begin` to `end`, by the co-ranks of both. Lists
// that are not sorted may have co-ranks that decrease; here they do not.
struct Parts {
    Index a_begin, a_end, b_begin, b_end;
    __device__ __forceinline__ Parts(Index begin, Index a_begin, Index end, Index a_end)
        : a_begin(a_begin),
          a_end(a_end < a_begin                 ? a_begin
                : a_end > a_begin + end - begin ? a_begin + end - begin
                                                : a_end),
          b_begin(begin - a_begin), b_end(end - this->a_end) {
    }
};

__device__ __forceinline__ Index co_rank_of(const Arguments &arguments, Index diagonal) {
    return co_rank(
        arguments, diagonal, [&](Index i) { return arguments.a[i]; }, arguments.a_count,
        [&](Index i) { return arguments.b[i]; }, arguments.b_count);
}

// An output and its value, where keys have values.
__device__ __forceinline__ void put_output(const Arguments &arguments, Index at, Real key,
                                           bool from_a, Index where) {
    arguments.output[at] = key;
    if constexpr (plan::values)
        values_of_output(arguments)[at] =
            from_a ? values_of_a(arguments)[where] : values_of_b(arguments)[where];
}

// A co-rank in global memory that `lanes` lanes of a warp search together, each asking about one
// place at a time: so a search has log(lanes + 1) times fewer rounds, each as long as a load from the
// second-level cache or beyond takes. It is at least `low` and at most `room` more, both of which
// `diagonal` bounds. Groups of a warp may have diagonals of their own; all lanes take part.
template <int lanes>
__device__ __forceinline__ Index co_rank_together(const Arguments &arguments, Index diagonal,
                                                  Index low, Index room) {
    constexpr unsigned group = lanes == warp_size ? all_lanes : (1u << lanes % warp_size) - 1;
    const int mine = lane() % lanes, first = lane() - mine;
    while (lanes == 1 ? room > 0 : any_lane(room > 0)) {
        const Index step = static_cast<Index>(static_cast<unsigned long long>(room) / (lanes + 1)) + 1;
        const Index beyond = (mine + 1) * step;
        bool among = false; // are at least low + beyond of the first `diagonal` outputs from a?
        if (beyond <= room)
            among = !before(arguments, load(arguments.b + (diagonal - low - beyond)),
                            load(arguments.a + (low + beyond - 1)));
        const int passed = lanes == 1 ? among : __popc(ballot_lanes(among) >> first & group);
        low += passed * step;
        room = minimum<Index>(step - 1, room - passed * step);
    }
    return low;
}

// The same among all of the lists.
template <int lanes>
__device__ __forceinline__ Index co_rank_together(const Arguments &arguments, Index diagonal) {
    const Index low = maximum<Index>(0, diagonal - arguments.b_count);
    return co_rank_together<lanes>(arguments, diagonal, low,
                                   minimum(diagonal, arguments.a_count) - low);
}

// The same between two diagonals whose co-ranks are known. It begins where a straight path from the
// one to the other would cross, and goes on by steps that grow until they have passed the place, then
// by halves: so all it reads lies close together, and of lists whose keys are spread alike it is
// little. A search by halves from the start reads far apart what no other search reads, each a page
// and a line of its own.
//
// Where the path has a corner, because one list is used up or has many equal keys, the guess may be
// far off. The few searches near it go on by eighths, seven places at once: all others wait for them,
// but what they read besides nobody notices.
__device__ __forceinline__ Index co_rank_between(const Arguments &arguments, Index diagonal,
                                                 Index first, Index first_rank, Index last,
                                                 Index last_rank) {
    constexpr Index line = 32, far = 64 * line; // elements
    const Index most = minimum(diagonal, arguments.a_count);
    Index low = maximum<Index>(0, diagonal - arguments.b_count);
    low = minimum(most, maximum(low, maximum(first_rank, last_rank - (last - diagonal))));
    Index high = minimum(most, minimum(last_rank, first_rank + (diagonal - first)));
    if (low >= high) // so it is too where lists that are not sorted led to nonsense
        return low;
    const auto among = [&](Index at) {
        return !before(arguments, load(arguments.b + (diagonal - 1 - at)), load(arguments.a + at));
    };
    const auto narrow = [&](Index at) {
        const bool more = among(at);
        (more ? low : high) = more ? at + 1 : at;
        return more;
    };
    const Index guess =
        first_rank + (last_rank - first_rank) * (diagonal - first) / (last - first);
    const bool up = narrow(minimum(high - 1, maximum(low, guess)));
    bool passed = false;
    for (Index step = line; !passed && step <= far && step < high - low; step *= 8)
        passed = narrow(up ? low + step : high - 1 - step) != up;
    while (!passed && high - low > line) {
        const Index eighth = (high - low) / 8;
        int full = 0; // eighths that lie before the place
#pragma unroll
        for (int k = 1; k < 8; ++k)
            full += among(low + k * eighth);
        high = full < 7 ? low + (full + 1) * eighth : high;
        low += full > 0 ? full * eighth + 1 : 0;
    }
    while (low < high)
        narrow(low + (high - low) / 2);
    return low;
}
