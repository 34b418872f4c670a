// Sums of runs of equal keys over the threads of a block, and over blocks. Keys ascend from thread
// to thread and from block to block, so that a run is where neighbours are equal. Sums are made in
// an order that the entries' places alone decide: every run of a kernel gives the same bits.
//
//     thread   0   1   2   3   4   5
//     key      3   3   4   7   7   7
//     sum      a   b   c   d   e   f
//     result   a  a+b  c   d  d+e d+e+f

// Of the lanes of a warp: every lane's result.
template <class Key> __device__ __forceinline__ void scan_lanes(Key key, Real &sum) {
#pragma unroll
    for (int step = 1; step < warp_size; step *= 2) {
        const Key other = shuffle_up(key, step);
        const Real before = shuffle_up(sum, step);
        if (lane() >= step && other == key)
            sum += before;
    }
}

// Of the threads of a block.
template <class Key> struct Segments {
    static constexpr int warps = plan::threads / 32;
    Real sum[plan::threads], warp_sum[32];
    Key key[plan::threads], warp_key[32];

    // Leaves every thread's key and result in `key` and `sum`. All threads of the block call it.
    __device__ __forceinline__ void scan(Key mine, Real part) {
        const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
        scan_lanes(mine, part);
        if (lane == 31) {
            warp_key[warp] = mine;
            warp_sum[warp] = part;
        }
        __syncthreads(); // the last of each warp are there for the first warp
        if (warp == 0) {
            // behind the last warp comes what no key equals
            const Key last = lane < warps ? warp_key[lane] : static_cast<Key>(-1);
            Real total = lane < warps ? warp_sum[lane] : Real(0);
            scan_lanes(last, total);
            if (lane < warps)
                warp_sum[lane] = total;
        }
        __syncthreads(); // and for the others, summed over warps
        if (warp > 0 && warp_key[warp - 1] == mine)
            part += warp_sum[warp - 1];
        key[thread] = mine;
        sum[thread] = part;
        __syncthreads(); // neighbours read both
    }
};

// What number `at` of `count` blocks, or warps, leaves of the row that goes on in the next one:
// carry_row and, for each right-hand side, carry_sum. A row of −1 carries nothing.
__device__ __forceinline__ void leave_carry(const Arguments &a, Index at, Index count, Index row,
                                            int vector, Real sum) {
    static_cast<Index *>(a.carry_row)[at] = row;
    static_cast<Real *>(a.carry_sum)[vector * count + at] = sum;
}

// Launched behind those that leave `count` carries, with a thread for each: a warp adds to y what
// there is for each row whose first carry is among its 32, in the order of the carries. Only the last
// of these rows may have more beyond them, which all lanes then add up. It begins early: what it
// reads is there when it has waited.
__device__ __forceinline__ void add_carries(const Arguments &a, Index count) {
    await_launch_before();
    const Index *const rows = static_cast<const Index *>(a.carry_row);
    const Real *const sums = static_cast<const Real *>(a.carry_sum);
    const Index carry = thread_index(), behind = carry - lane() + warp_size;
    if (behind - warp_size >= count)
        return; // the whole warp
    const Index row = carry < count ? load_behind(rows + carry) : -1;
    const Index before = carry > 0 && carry < count ? load_behind(rows + carry - 1) : -1;
    const Index next = shuffle_down(row, 1);
    const Index last = shuffle(row, warp_size - 1);
    const unsigned firsts = ballot_lanes(row >= 0 && row != before);
    // A row's first carry is here if there is one at or below this lane: all between are the row's.
    const unsigned below = firsts & (all_lanes >> (warp_size - 1 - lane()));
    const Index first = shuffle(row, 31 - __clz(below | 1));
    const bool begun = below != 0 && first == row;
    const bool goes_on = shuffle(begun ? 1 : 0, warp_size - 1) != 0 && last >= 0;
    for (int v = 0; v < plan::vectors; ++v) {
        Real sum = row >= 0 ? load_behind(sums + v * count + carry) : Real(0);
        scan_lanes(row, sum);
        Real more = 0;
        if (goes_on) {
            for (Index k = behind + lane(); k < count && load_behind(rows + k) == last;
                 k += warp_size)
                more += load_behind(sums + v * count + k);
#pragma unroll
            for (int step = warp_size / 2; step > 0; step /= 2)
                more += shuffle_xor(more, step);
        }
        if (row >= 0 && begun && (lane() == warp_size - 1 || next != row))
            add_sum(a, row, v, lane() == warp_size - 1 ? sum + more : sum);
    }
}

// The first number from `low` on of which `before` does not hold; it holds of none behind it. Each
// `part` of the warp's lanes looks for one of its own. `askers` of them ask at a time, so that fewer
// questions follow one another.
template <int part, int askers, class Number, class Before>
__device__ __forceinline__ Number first_not(Number low, Number high, const Before &before) {
    const int asker = lane() % part;
    while (ballot_lanes(low < high) != 0) {
        // Each asks for one number `step` behind the one before; all that say yes come first.
        const Number step = (high - low + askers) / (askers + 1);
        const Number at = low + (asker + 1) * step - 1;
        const bool yes = asker < askers && low < high && at < high && before(at);
        const unsigned said = ballot_lanes(yes) >> (lane() - asker);
        const int count = __popc(said & (all_lanes >> (warp_size - part)));
        if (count < askers && low < high)
            high = min(high, low + (count + 1) * step - 1);
        low += count * step;
    }
    return low;
}
