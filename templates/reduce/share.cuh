// A group's share of the input into an item for each thread of the group. Elements cross the memory
// bus in packs of 16 bytes. Which thread takes which element depends on indices alone; an input
// that begins at no multiple of 16 bytes is read by single elements, and gives the same bits.
//
//     commutes    | head |  pack  |  pack  |  pack  | … | tail |     packs to threads in turn
//                           t0       t1       t2
//     else        |  run of t0  |  run of t1  | … | run of t31 |     each warp has consecutive
//                                                                    runs, a step after another

constexpr int pack = 16 / static_cast<int>(sizeof(Real));
constexpr int packs = plan::items / pack; // that a thread has on their way at once
using RealPack = Pack<Real, pack>;

struct ItemPack {
    RealPack x, y;
};

template <class A> __device__ __forceinline__ bool is_aligned(const A &arguments) {
    auto bits = reinterpret_cast<unsigned long long>(arguments.input);
    if constexpr (plan::inputs == 2)
        bits |= reinterpret_cast<unsigned long long>(arguments.second);
    return bits % 16 == 0;
}

template <bool aligned> __device__ __forceinline__ void read_pack(const Real *from, RealPack &to) {
    if constexpr (aligned) {
        to = load_behind(reinterpret_cast<const RealPack *>(from));
    } else {
#pragma unroll
        for (int k = 0; k < pack; ++k)
            to.element[k] = load_behind(from + k);
    }
}
template <bool aligned, class A>
__device__ __forceinline__ void read_packs(const A &arguments, Index number, ItemPack &to) {
    read_pack<aligned>(arguments.input + number * pack, to.x);
    if constexpr (plan::inputs == 2)
        read_pack<aligned>(arguments.second + number * pack, to.y);
    else
        to.y = to.x;
}

// Element k of a pack as an item.
__device__ __forceinline__ Item item_of(const Arguments &arguments, const ItemPack &from,
                                        Index number, int k) {
    return Kind::of(element(arguments, from.x.element[k], from.y.element[k]), number * pack + k);
}

// The sums of a pack's places into one.
__device__ __forceinline__ Item join_halves(const Arguments &arguments, Item (&sum)[pack]) {
#pragma unroll
    for (int half = pack / 2; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < half; ++k)
            sum[k] = join(arguments, sum[k], sum[k + half]);
    return sum[0];
}

// What is left of a thread's packs from p on, at most `packs` of them, each `width` packs after the one
// before: all are on their way before the first is waited for, and one test more than each costs
// where a list is not much longer.
template <bool aligned>
__device__ __forceinline__ void join_last_packs(const Arguments &arguments, Index p, Index high,
                                                Index width, Item (&sum)[pack]) {
    const Index most = packs * width; // threads of all blocks are below 2^26, packs below 32
    const int step = static_cast<int>(width);
    const int left = static_cast<int>(high - p < most ? high - p : most);
    ItemPack from[packs];
#pragma unroll
    for (int i = 0; i < packs; ++i)
        if (i * step < left)
            read_packs<aligned>(arguments, p + i * step, from[i]);
#pragma unroll
    for (int i = 0; i < packs; ++i)
        if (i * step < left) {
            one_by_one();
#pragma unroll
            for (int k = 0; k < pack; ++k)
                sum[k] = join(arguments, sum[k], item_of(arguments, from[i], p + i * step, k));
        }
}

// Elements first … end − 1, of which the thread with this rank in its group takes its part. `whole`:
// what is left of its packs at the end is on its way at once too, and so is a list that all blocks
// take at once: this is worth its tests and registers where a list is not much more than that.
template <bool aligned, bool whole>
__device__ __forceinline__ Item join_packs(const Arguments &arguments, Index first, Index end,
                                           Index rank, Index width) {
    const Index low = (first + pack - 1) / pack, high = end / pack; // packs that lie inside
    Item sum[pack];
#pragma unroll
    for (int k = 0; k < pack; ++k)
        sum[k] = Kind::none();
    if (low >= high) { // a group has at least a warp, and here there are less than two packs
        if (first + rank < end)
            sum[1] = item_at(arguments, first + rank);
    } else {
        if (first + rank < low * pack)
            sum[0] = item_at(arguments, first + rank);
        if (high * pack + rank < end)
            sum[1] = item_at(arguments, high * pack + rank);
        Index p = low + rank;
        // Of the whole list the last round is left to join_last_packs, also where it is a full one.
        for (; p + (whole ? packs : packs - 1) * width < high; p += packs * width) {
            ItemPack from[packs];
#pragma unroll
            for (int i = 0; i < packs; ++i)
                read_packs<aligned>(arguments, p + i * width, from[i]);
#pragma unroll
            for (int k = 0; k < pack; ++k) {
                Item item = sum[k];
#pragma unroll
                for (int i = 0; i < packs; ++i)
                    item = join(arguments, item, item_of(arguments, from[i], p + i * width, k));
                sum[k] = item;
            }
        }
        if constexpr (whole)
            join_last_packs<aligned>(arguments, p, high, width, sum);
        for (; !whole && p < high; p += width) {
            ItemPack from;
            read_packs<aligned>(arguments, p, from);
#pragma unroll
            for (int k = 0; k < pack; ++k)
                sum[k] = join(arguments, sum[k], item_of(arguments, from, p, k));
        }
    }
    return join_halves(arguments, sum);
}

// All of a list that the threads of all blocks take at once, which is short: indices of 32 bits, and no
// more before the first load than it needs. The same operations in the same order as join_packs has.
__device__ __forceinline__ Item join_at_once(const Arguments &arguments, unsigned rank,
                                             unsigned width) {
    const unsigned count = static_cast<unsigned>(arguments.count), high = count / pack;
    ItemPack from[packs];
    Item sum[pack];
#pragma unroll
    for (int i = 0; i < packs; ++i)
        if (rank + i * width < high)
            read_packs<true>(arguments, rank + i * width, from[i]);
#pragma unroll
    for (int k = 0; k < pack; ++k)
        sum[k] = Kind::none();
    if (high * pack + rank < count)
        sum[1] = item_at(arguments, high * pack + rank);
#pragma unroll
    for (int i = 0; i < packs; ++i)
        if (rank + i * width < high) {
            one_by_one();
#pragma unroll
            for (int k = 0; k < pack; ++k)
                sum[k] =
                    join(arguments, sum[k], item_of(arguments, from[i], rank + i * width, k));
        }
    return join_halves(arguments, sum);
}

// The same in order: of a group's warps each takes consecutive elements, 32 runs at a step. The
// result of a warp is lane 0's; the other lanes give nothing, so that the warps' may be joined as
// those of any threads.
template <bool aligned>
__device__ __forceinline__ Item join_runs(const Arguments &arguments, Index first, Index end,
                                          Index rank, Index width) {
    constexpr Index step = warp_size * plan::items;
    const Index group_warps = width / warp_size;
    const Index steps = (end - first + step * group_warps - 1) / (step * group_warps);
    const Index begin = first + rank / warp_size * steps * step;
    const Index stop = begin + steps * step < end ? begin + steps * step : end;
    Item total = Kind::none();
    for (Index base = begin; base < stop; base += step) { // the same steps for all lanes
        const Index mine = base + lane() * plan::items;
        Item sum = Kind::none();
        if (mine + plan::items <= stop && mine % pack == 0) {
#pragma unroll
            for (int i = 0; i < packs; ++i) {
                ItemPack from;
                read_packs<aligned>(arguments, mine / pack + i, from);
#pragma unroll
                for (int k = 0; k < pack; ++k)
                    sum = join(arguments, sum, item_of(arguments, from, mine / pack + i, k));
            }
        } else {
            for (Index i = mine; i < mine + plan::items && i < stop; ++i)
                sum = join(arguments, sum, item_at(arguments, i));
        }
        total = join(arguments, total, reduce_warp(arguments, sum));
    }
    return lane() == 0 ? total : Kind::none();
}

template <bool aligned, bool whole>
__device__ __forceinline__ Item join_share(const Arguments &arguments, Index first, Index end,
                                           Index rank, Index width) {
    if constexpr (plan::ordered != 0)
        return join_runs<aligned>(arguments, first, end, rank, width);
    else
        return join_packs<aligned, whole>(arguments, first, end, rank, width);
}
