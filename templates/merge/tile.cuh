// How a block merges one tile in shared memory: tile outputs, plan::items of each thread.
//
// A part of a list lies in slots, of which the one of element i has the number i has, but for a
// multiple of 4: so four keys or values of 4 bytes that are one access of 16 in the list are one in
// shared memory too. Values lie in the slots of their keys, in a buffer of their own.
//
//     a          a_begin                a_end       b_begin         b_end
//     slots  [ · |a a a|a a a a|a a a a|a + + ·][· · b b|b b b b|b b b +|+ · · ·]
//
// Of lists that do not end there, so many elements as a thread has outputs are copied beyond each
// part (+): who merges then need not ask whether a part is used up, since the path through a and b
// does not leave the tile; and whatever unsorted lists lead to, it is some of their elements.
//
// Then every thread searches where its outputs begin (co-rank), merges them into registers, and once
// all have done so, the outputs take the slots from 0 on, from where they are stored in order.
//
// Within a tile all numbers are ints, and shared memory goes by place (async.cuh).

constexpr int tile = plan::threads * plan::items;
constexpr int slot_pack = 4; // slots whose keys, if they have 4 bytes, are one access

// Both parts begin up to 3 slots late, and the second at a multiple of 4 behind the first; both may
// have the elements beyond, and copies end with a pack. Of lists that end in the tile, a thread that
// has no outputs left reads no further than that either.
#if defined(PLAN_NARROW)
constexpr int slots = (tile + 2 * plan::items + 4 * slot_pack + 4) / 8 * 8; // 16 bytes of values
#else
constexpr int slots = (tile + 2 * plan::items + 4 * slot_pack) / slot_pack * slot_pack;
#endif
constexpr int key_bytes = static_cast<int>(sizeof(Real));
constexpr int value_bytes = static_cast<int>(sizeof(Value));
constexpr int front = 16; // bytes before slot 0, where a search may look without effect
constexpr int values_at = front + slots * key_bytes;
constexpr int stage_bytes = values_at + (plan::values ? slots * value_bytes : 0);

__device__ __forceinline__ Real key_at(int place) {
    return shared_place<Real>(place).read();
}

// The value in the slot of a key.
__device__ __forceinline__ Value value_at(int stage, int place) {
    if constexpr (value_bytes == key_bytes)
        return shared_place<Value>(place + (values_at - front)).read();
    else
        return shared_place<Value>(stage + values_at +
                                   (place - stage - front) / key_bytes * value_bytes)
            .read();
}

template <class T> __device__ __forceinline__ bool begins_pack(const T *at) {
    return (reinterpret_cast<unsigned long long>(at) & 15) == 0;
}

__device__ __forceinline__ int slot_of(Index element) {
    return static_cast<int>(element) & (slot_pack - 1);
}

// Begins to copy list[begin … begin + count) into slots. `to` is the slot of the element at the
// multiple of 4 at or before `begin`, from which on it copies; `inside` says that the last pack may
// be copied whole, because the list does not end within.
template <class T>
__device__ __forceinline__ void stage_part(SharedAt<T> to, const T *list, Index begin, int count,
                                           bool inside) {
#if defined(PLAN_NARROW) // more than 4 elements do not begin at the same multiple in list and slots
    constexpr int width = sizeof(T) == 2 ? 4 : 16 / static_cast<int>(sizeof(T));
#else
    constexpr int width = 16 / static_cast<int>(sizeof(T));
#endif
    constexpr int rounds = ((tile + plan::items) / width + slot_pack + plan::threads - 1) / plan::threads;
    const int thread = static_cast<int>(threadIdx.x);
    const int early = slot_of(begin), wanted = early + count;
    const T *const from = list + (begin - early);
    int packs = static_cast<int>(static_cast<unsigned>(wanted + (inside ? width - 1 : 0)) / width);
    if (!begins_pack(list))
        packs = 0;
    const T *const my_from = from + thread * width;
    const SharedAt<T> my_to = to + thread * width;
#pragma unroll
    for (int k = 0; k < rounds; ++k)
        if (thread + k * plan::threads < packs)
            copy_async<width>(my_to + k * plan::threads * width,
                              my_from + k * plan::threads * width);
#pragma unroll 1
    for (int i = packs * width + thread; i < wanted; i += plan::threads)
        copy_async<1>(to + i, from + i);
}

// The parts of a tile in shared memory.
struct Tile {
    int stage; // where its buffers begin
    int a, b;  // places of the first keys
    int a_count, b_count;
    bool inner; // both parts have elements beyond
};

// Begins to copy the parts, at most a tile together, into the buffers at the place `stage`.
__device__ __forceinline__ Tile stage_tile(const Arguments &arguments, const Parts &parts,
                                           int stage) {
    constexpr int more = plan::items + slot_pack;
    const int a_count = static_cast<int>(parts.a_end - parts.a_begin);
    const int b_count = static_cast<int>(parts.b_end - parts.b_begin);
    const bool a_inside = parts.a_end + more <= arguments.a_count;
    const bool b_inside = parts.b_end + more <= arguments.b_count;
    const bool inner = a_inside & b_inside;
    const int a_copied = a_count + (inner ? plan::items : 0);
    const int b_copied = b_count + (inner ? plan::items : 0);
    const int a_slot = slot_of(parts.a_begin);
    const int b_pack = (a_slot + a_copied + slot_pack - 1) & -slot_pack;
    const int b_slot = b_pack + slot_of(parts.b_begin);
    const SharedAt<Real> keys = shared_place<Real>(stage + front);
    stage_part(keys, arguments.a, parts.a_begin, a_copied, a_inside);
    stage_part(keys + b_pack, arguments.b, parts.b_begin, b_copied, b_inside);
    if constexpr (plan::values) {
        const SharedAt<Value> values = shared_place<Value>(stage + values_at);
        stage_part(values, values_of_a(arguments), parts.a_begin, a_copied, a_inside);
        stage_part(values + b_pack, values_of_b(arguments), parts.b_begin, b_copied, b_inside);
    }
    return {stage,   stage + front + a_slot * key_bytes, stage + front + b_slot * key_bytes,
            a_count, b_count,                            inner};
}

// Where the outputs from a diagonal on begin in both parts.
struct Cursors {
    int a, b;
};

// The co-rank is put together from powers of two, the greatest first; it is at most the length of the
// shorter part. A step that would lead beyond the greatest possible one leads there; from there it
// leads nowhere, whatever is read.
__device__ __forceinline__ Cursors search_tile(const Arguments &arguments, const Tile &t,
                                               int diagonal) {
    constexpr int most = tile / 2;
    const int low = maximum(0, diagonal - t.b_count);
    int a = t.a + low * key_bytes;
    const int a_most = t.a + minimum(diagonal, t.a_count) * key_bytes;
    const int both = t.a + t.b + diagonal * key_bytes; // of every pair of cursors
#pragma unroll
    for (int step = 1 << 14; step > 0; step /= 2)
        if (step <= most) {
            const int next = minimum(a + step * key_bytes, a_most);
            const Real from_a = key_at(next - key_bytes), from_b = key_at(both - next);
            a = before(arguments, from_b, from_a) ? a : next;
        }
    return {a, both - a};
}

// From slot 0 of a buffer on to consecutive elements. With `once` the caches let go of them first: of
// lists that the second-level cache holds, the next call finds its inputs there; of larger ones all of
// it is let go anyway, and memory takes them about a hundredth faster as they come.
template <bool once, class T>
__device__ __forceinline__ void store_outputs(T *to, int buffer, int outputs) {
    constexpr int width = 16 / static_cast<int>(sizeof(T)), bytes = static_cast<int>(sizeof(T));
    constexpr int rounds = (tile / width + plan::threads - 1) / plan::threads;
    const int thread = static_cast<int>(threadIdx.x);
    const int packs =
        begins_pack(to) ? static_cast<int>(static_cast<unsigned>(outputs) / width) : 0;
    const auto my_to = reinterpret_cast<Pack<T, width> *>(to) + thread;
    const int mine = buffer + thread * 16;
#pragma unroll
    for (int k = 0; k < rounds; ++k)
        if (thread + k * plan::threads < packs) {
            const auto pack =
                shared_place<T>(mine + k * plan::threads * 16).template read<width>();
            if constexpr (once)
                store_pack_once(my_to + k * plan::threads, pack);
            else
                my_to[k * plan::threads] = pack;
        }
#pragma unroll 1
    for (int i = packs * width + thread; i < outputs; i += plan::threads)
        to[i] = shared_place<T>(buffer + i * bytes).read();
}

// The outputs of a thread in registers.
struct Outputs {
    Real keys[plan::items];
    Value values[plan::values ? plan::items : 1];
};

// One way for all lanes, whichever list is next: a branch would take both. Where a part may be used
// up (not `inner`) it is not taken from as long as the other has any left; what is made when both are
// is written to slots that are not stored.
template <bool inner>
__device__ __forceinline__ void merge_outputs(const Arguments &arguments, const Tile &t, Cursors at,
                                              Outputs &out) {
    const int a_end = t.a + t.a_count * key_bytes, b_end = t.b + t.b_count * key_bytes;
    Real next_a = key_at(at.a), next_b = key_at(at.b);
#pragma unroll
    for (int k = 0; k < plan::items; ++k) {
        bool from_b = before(arguments, next_b, next_a);
        if constexpr (!inner)
            from_b = (at.b < b_end) & ((at.a >= a_end) | from_b);
        const int from = from_b ? at.b : at.a;
        out.keys[k] = from_b ? next_b : next_a;
        if constexpr (plan::values)
            out.values[k] = value_at(t.stage, from);
        if (k + 1 < plan::items) {
            const Real next = key_at(from + key_bytes);
            next_a = from_b ? next_a : next;
            next_b = from_b ? next : next_b;
            at.a = from_b ? at.a : at.a + key_bytes;
            at.b = from_b ? at.b + key_bytes : at.b;
        }
    }
}

// Merges a tile whose copies everyone sees, into the outputs from `at` on. Of the last tile of a list
// or share some threads have none.
template <bool once>
__device__ __forceinline__ void merge_tile(const Arguments &arguments, const Tile &t, Index at) {
    const int outputs = t.a_count + t.b_count;
    const int first = static_cast<int>(threadIdx.x) * plan::items;
    Outputs mine;
    if (first < outputs) {
        const Cursors begin = search_tile(arguments, t, first);
        if (t.inner) // the same for all threads
            merge_outputs<true>(arguments, t, begin, mine);
        else
            merge_outputs<false>(arguments, t, begin, mine);
    }
    __syncthreads(); // everyone has read what outputs are written over
    if (first < outputs) {
        const SharedAt<Real> my_keys = shared_place<Real>(t.stage + front + first * key_bytes);
#pragma unroll
        for (int k = 0; k < plan::items; ++k)
            (my_keys + k).write(mine.keys[k]);
        if constexpr (plan::values) {
            const auto my_values = shared_place<Value>(t.stage + values_at + first * value_bytes);
#pragma unroll
            for (int k = 0; k < plan::items; ++k)
                (my_values + k).write(mine.values[k]);
        }
    }
    __syncthreads(); // the outputs are complete before anyone stores what others made
    store_outputs<once>(arguments.output + at, t.stage + front, outputs);
    if constexpr (plan::values)
        store_outputs<once>(values_of_output(arguments) + at, t.stage + values_at, outputs);
}
