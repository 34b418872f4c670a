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

// How many lanes of a group of so many say yes. All of the warp take part.
template <int lanes> __device__ __forceinline__ int votes_of_group(bool vote) {
    constexpr unsigned group = lanes == warp_size ? all_lanes : (1u << lanes % warp_size) - 1;
    if constexpr (lanes == 1)
        return vote;
    else
        return __popc(ballot_lanes(vote) >> (lane() - lane() % lanes) & group);
}

// A co-rank in global memory that `lanes` lanes of a warp search together, each asking about one
// place at a time, which cut what is left into equal parts: so a search has log(lanes + 1) times
// fewer rounds than one by halves, each as long as a load from the second-level cache or beyond takes,
// but asks about more places in all. It is at least `low` and at most `room` more, both of which
// `diagonal` bounds. Groups of a warp may have diagonals of their own; with several lanes all of the
// warp take part.
template <int lanes>
__device__ __forceinline__ Index co_rank_together(const Arguments &arguments, Index diagonal,
                                                  Index low, Index room) {
    const int mine = lane() % lanes;
    while (lanes == 1 ? room > 0 : any_lane(room > 0)) {
        const Index step = static_cast<Index>(static_cast<unsigned long long>(room) / (lanes + 1)) + 1;
        const Index beyond = (mine + 1) * step;
        bool among = false; // are at least low + beyond of the first `diagonal` outputs from a?
        if (beyond <= room)
            among = !before(arguments, load(arguments.b + (diagonal - low - beyond)),
                            load(arguments.a + (low + beyond - 1)));
        const int passed = votes_of_group<lanes>(among);
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

// Where a co-rank is known to lie: from low to high.
struct Range {
    Index low, high;
};

// What the places around a guess leave of a range about which `lanes` lanes ask at once, half of them
// before it and half behind it, further and further away.
template <int lanes>
__device__ __forceinline__ Range around_guess(const Arguments &arguments, Index diagonal, Range in,
                                              Index guess) {
    constexpr int each_side = lanes / 2, nearest = 32; // elements
    constexpr int grows = each_side <= 2 ? 5 : each_side <= 4 ? 3 : each_side <= 8 ? 2 : 1;
    const auto place = [&](int k) {
        const int away = k < each_side ? each_side - 1 - k : k - each_side;
        const Index elements = static_cast<Index>(nearest) << away * grows;
        return guess + (k < each_side ? -elements : elements);
    };
    const Index mine = place(lane() % lanes);
    bool among = mine < in.low;
    if (mine >= in.low && mine < in.high)
        among = !before(arguments, load(arguments.b + (diagonal - 1 - mine)),
                        load(arguments.a + mine));
    const int passed = votes_of_group<lanes>(among);
    Range left = in;
    if (passed > 0) // of sorted lists the first so many; of others it is a range all the same
        left.low = minimum(in.high, maximum(in.low, place(passed - 1) + 1));
    if (passed < lanes)
        left.high = maximum(left.low, minimum(in.high, place(passed)));
    return left;
}

// The same by one lane: steps that grow until they have passed the place.
template <>
__device__ __forceinline__ Range around_guess<1>(const Arguments &arguments, Index diagonal, Range in,
                                                 Index guess) {
    constexpr Index nearest = 32, furthest = 64 * nearest; // elements
    if (in.low >= in.high)
        return in;
    const auto narrow = [&](Index at) {
        const bool among = !before(arguments, load(arguments.b + (diagonal - 1 - at)),
                                   load(arguments.a + at));
        (among ? in.low : in.high) = among ? at + 1 : at;
        return among;
    };
    const bool up = narrow(minimum(in.high - 1, maximum(in.low, guess)));
    bool passed = false;
    for (Index step = nearest; !passed && step <= furthest && step < in.high - in.low; step *= 8)
        passed = narrow(up ? in.low + step : in.high - 1 - step) != up;
    return in;
}

// The same between two diagonals whose co-ranks are known. It asks first around where a straight path
// from the one to the other would cross: of lists whose keys are spread alike the co-rank is close to
// that, and all that is read lies close together. A search by equal parts from the start reads far
// apart what no other search reads, each a page and a line of its own. It goes on so where the path
// has a corner, because one list is used up or has many equal keys.
template <int lanes>
__device__ __forceinline__ Index co_rank_between(const Arguments &arguments, Index diagonal,
                                                 Index first, Index first_rank, Index last,
                                                 Index last_rank) {
    const Index most = minimum(diagonal, arguments.a_count);
    Range in;
    in.low = maximum<Index>(0, diagonal - arguments.b_count);
    in.low = minimum(most, maximum(in.low, maximum(first_rank, last_rank - (last - diagonal))));
    in.high = minimum(most, minimum(last_rank, first_rank + (diagonal - first)));
    in.high = maximum(in.low, in.high); // lists that are not sorted may have led to nonsense
    const Index guess =
        first_rank + (last_rank - first_rank) * (diagonal - first) / maximum<Index>(last - first, 1);
    in = around_guess<lanes>(arguments, diagonal, in, guess);
    return co_rank_together<lanes>(arguments, diagonal, in.low, in.high - in.low);
}
