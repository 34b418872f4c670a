// A run of elements that one thread joins, in loops over a row of lanes of which compilers make
// vectors. For processors. An element is `item_at(arguments, i)`, and nothing is `none()`.
//
//     the order does not count     x0 x1 x2 x3 | x4 x5 x6 x7 | x8 x9     4 lanes: lane 0 joins
//                                                                        x0, x4 and x8
//     it counts                    x0 x1 x2 | x3 x4 x5 | x6 x7 x8 | x9   lane 0 joins x0, x1, x2
//
// Then the upper half of the lanes is joined to the lower one, again and again; where the order
// counts, and where items have places, the lanes are joined one after the other.

constexpr int lanes = plan::ordered ? 8 : (plan::places ? 1024 : 2048) / int(sizeof(Real));
constexpr Index few = 32; // elements that are joined one by one

__device__ __forceinline__ Index least(Index a, Index b) {
    return a < b ? a : b;
}

// Elements of the input. Another type of this kind may say what else is joined.
struct Inputs {
    template <class A> static __device__ __forceinline__ Item at(const A &arguments, Index i) {
        return item_at(arguments, i);
    }
};

template <class From>
__device__ __forceinline__ Item join_few(const Arguments &arguments, Index first, Index end) {
    Item sum = none();
    for (Index i = first; i < end; ++i)
        sum = combine(arguments, sum, From::at(arguments, i));
    return sum;
}

#if PLAN_PLACES
// Values and the rows that they were in lie apart, as wide as each other.
template <int bytes> struct RowOf { using type = int; };
template <> struct RowOf<8> { using type = long long; };
using Row = typename RowOf<sizeof(Real)>::type;

struct Lanes {
    alignas(64) Real value[lanes];
    alignas(64) Row row[lanes];
};

// Elements first … first + count − 1, of one row. A lane's rows come in their order, so of equals
// the one that is there stays. Not inlined: compilers make vectors of a loop that stands alone.
__device__ __noinline__ void join_row(const Arguments &of, Lanes &to, Index first, Index count,
                                      Row row) {
    const Arguments arguments = of;
    FOR_A_ROW
    for (Index k = 0; k < count; ++k) {
        const Real value = item_at(arguments, first + k).value, best = to.value[k];
        const bool further = plan::least ? value < best : value > best;
        const bool better = further | (is_nan(value) & !is_nan(best));
        to.value[k] = better ? value : best;
        to.row[k] = better ? row : to.row[k];
    }
}

template <class> // Inputs alone
__device__ __forceinline__ Item join_run(const Arguments &arguments, Index first, Index end) {
    const Index count = least(end - first, lanes);
    Lanes of;
    for (Index k = 0; k < count; ++k) {
        of.value[k] = item_at(arguments, first + k).value;
        of.row[k] = 0;
    }
    Row row = 1;
    for (Index i = first + lanes; i < end; i += lanes)
        join_row(arguments, of, i, least(end - i, lanes), row++);
    Item sum = none();
    for (Index k = 0; k < count; ++k)
        sum = combine(arguments, sum, as_item(of.value[k], first + Index(of.row[k]) * lanes + k));
    return sum;
}
#elif PLAN_ORDERED
template <class From>
__device__ __forceinline__ Item join_run(const Arguments &arguments, Index first, Index end) {
    const Index share = (end - first) / lanes;
    Item of[lanes];
    for (int k = 0; k < lanes; ++k)
        of[k] = none();
    for (Index i = 0; i < share; ++i)
#pragma unroll
        for (int k = 0; k < lanes; ++k)
            of[k] = combine(arguments, of[k], From::at(arguments, first + k * share + i));
    Item sum = none();
    for (int k = 0; k < lanes; ++k)
        sum = combine(arguments, sum, of[k]);
    return combine(arguments, sum, join_few<From>(arguments, first + lanes * share, end));
}
#else
// Not inlined: compilers make vectors of a loop that stands alone.
template <class From>
__device__ __noinline__ void join_row(const Arguments &of, Item *to, Index first, Index count) {
    const Arguments arguments = of;
    FOR_A_ROW
    for (Index k = 0; k < count; ++k)
        to[k] = combine(arguments, to[k], From::at(arguments, first + k));
}
__device__ __noinline__ void join_half(const Arguments &of, Item *to, Index half, Index count) {
    const Arguments arguments = of;
    FOR_A_ROW
    for (Index k = 0; k < count; ++k)
        to[k] = combine(arguments, to[k], to[half + k]);
}

template <class From>
__device__ __forceinline__ Item join_run(const Arguments &arguments, Index first, Index end) {
    alignas(64) Item of[lanes];
    Index used = least(end - first, lanes);
    of[0] = none(); // also where there are no elements
    for (Index k = 1; k < used; ++k)
        of[k] = none();
    for (Index i = first; i < end; i += lanes)
        join_row<From>(arguments, of, i, least(end - i, lanes));
    for (Index half; used > 1; used = half) {
        half = (used + 1) / 2;
        join_half(arguments, of, half, used - half);
    }
    return of[0];
}
#endif
