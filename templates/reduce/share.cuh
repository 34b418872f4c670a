// What threads read of the input. Elements cross the memory bus in packs of 16 bytes. Which thread
// takes which element depends on indices alone; an input that does not begin at a multiple of 16
// bytes is read by single elements, and gives the same bits.
constexpr int pack = 16 / static_cast<int>(sizeof(Real));
constexpr int packs = plan::items / pack; // of a thread, in flight at once
#if PLAN_INPUTS == 2
struct Elements {
    Pack<Real, pack> x, y;
};
#else
using Elements = Pack<Real, pack>;
#endif

template <class A> __device__ __forceinline__ bool is_aligned(const A &arguments) {
#if PLAN_INPUTS == 2
    if (reinterpret_cast<unsigned long long>(arguments.second) % 16 != 0)
        return false;
#endif
    return reinterpret_cast<unsigned long long>(arguments.input) % 16 == 0;
}

template <bool aligned> __device__ __forceinline__ Pack<Real, pack> read_pack(const Stored<Input> *from) {
    if constexpr (aligned)
        return load_behind(reinterpret_cast<const Pack<Stored<Input>, pack> *>(from));
    Pack<Real, pack> to;
#pragma unroll
    for (int k = 0; k < pack; ++k)
        to.element[k] = load_behind(from + k);
    return to;
}
template <bool aligned, class A>
__device__ __forceinline__ Elements read_elements(const A &arguments, Index number) {
#if PLAN_INPUTS == 2
    return {read_pack<aligned>(arguments.input + number * pack),
            read_pack<aligned>(arguments.second + number * pack)};
#elif defined(PLAN_CELL)
    return read_pack<aligned>(arguments.input + number * pack);
#else
    const Real *const from = arguments.input + number * pack;
    if constexpr (aligned)
        return load_behind(reinterpret_cast<const Elements *>(from));
    Elements to;
#pragma unroll
    for (int k = 0; k < pack; ++k)
        to.element[k] = load_behind(from + k);
    return to;
#endif
}

// Element k of a pack as an item.
__device__ __forceinline__ Item item_of(const Arguments &arguments, const Elements &from,
                                        [[maybe_unused]] Index number, int k) {
#if PLAN_INPUTS == 2
    return as_item(element(arguments, from.x.element[k], from.y.element[k]), number * pack + k);
#elif PLAN_PLACES
    return as_item(element(arguments, from.element[k]), number * pack + k);
#else
    return element(arguments, from.element[k]);
#endif
}

// The sums of a pack's places into one.
__device__ __forceinline__ Item join_halves(const Arguments &arguments, Item (&sum)[pack]) {
#pragma unroll
    for (int half = pack / 2; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < half; ++k)
            sum[k] = combine(arguments, sum[k], sum[k + half]);
    return sum[0];
}

// Where the order counts: first … end − 1, of which each warp takes consecutive runs, a step after
// another. The result is lane 0's.
//
//     |  run of t0  |  run of t1  | … | run of t31 |  run of t0  | …
template <bool aligned>
__device__ __forceinline__ Item join_runs(const Arguments &arguments, Index first, Index end,
                                          Index rank, Index width) {
    constexpr Index step = warp_size * plan::items;
    const Index group_warps = width / warp_size;
    const Index steps = (end - first + step * group_warps - 1) / (step * group_warps);
    const Index begin = first + rank / warp_size * steps * step;
    const Index stop = begin + steps * step < end ? begin + steps * step : end;
    Item total = none();
    for (Index base = begin; base < stop; base += step) { // the same steps for all lanes
        const Index mine = base + lane() * plan::items;
        Item sum = none();
        if (mine + plan::items <= stop && mine % pack == 0) {
#pragma unroll
            for (int i = 0; i < packs; ++i) {
                const Elements from = read_elements<aligned>(arguments, mine / pack + i);
#pragma unroll
                for (int k = 0; k < pack; ++k)
                    sum = combine(arguments, sum, item_of(arguments, from, mine / pack + i, k));
            }
        } else {
            for (Index i = mine; i < mine + plan::items && i < stop; ++i)
                sum = combine(arguments, sum, item_at(arguments, i));
        }
        total = combine(arguments, total, reduce_warp(arguments, sum));
    }
    return lane() == 0 ? total : none();
}
