// Sums of runs of equal keys over the threads of a block, and over blocks. Keys ascend from thread
// to thread and from block to block, so that a run is where neighbours are equal. Sums are made in
// an order that the entries' places alone decide: every run of a kernel gives the same bits.
//
//     thread   0   1   2   3   4   5
//     key      3   3   4   7   7   7
//     sum      a   b   c   d   e   f
//     result   a  a+b  c   d  d+e d+e+f

template <class Key> struct Segments {
    static constexpr int warps = plan::threads / 32;
    Real sum[plan::threads], warp_sum[32];
    Key key[plan::threads], warp_key[32];

    static __device__ __forceinline__ void scan_warp(Key key, Real &sum, int lane) {
#pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            const Key other = shuffle_up(key, step);
            const Real before = shuffle_up(sum, step);
            if (lane >= step && other == key)
                sum += before;
        }
    }

    // Leaves every thread's key and result in `key` and `sum`. All threads of the block call it.
    __device__ __forceinline__ void scan(Key mine, Real part) {
        const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
        scan_warp(mine, part, lane);
        if (lane == 31) {
            warp_key[warp] = mine;
            warp_sum[warp] = part;
        }
        __syncthreads(); // the last of each warp are there for the first warp
        if (warp == 0) {
            // behind the last warp comes what no key equals
            const Key last = lane < warps ? warp_key[lane] : static_cast<Key>(-1);
            Real total = lane < warps ? warp_sum[lane] : Real(0);
            scan_warp(last, total, lane);
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

// What a block leaves of the row that goes on in the next one: carry_row and, for each right-hand
// side, carry_sum. A row of −1 carries nothing.
__device__ __forceinline__ void leave_carry(const Arguments &a, Index row, int vector, Real sum) {
    static_cast<Index *>(a.carry_row)[blockIdx.x] = row;
    static_cast<Real *>(a.carry_sum)[static_cast<Index>(vector) * gridDim.x + blockIdx.x] = sum;
}

// Launched behind the blocks that leave `count` carries, with a warp for each: the first of those
// of one row adds them all to y.
__device__ __forceinline__ void add_carries(const Arguments &a, Index count) {
    const Index *const rows = static_cast<const Index *>(a.carry_row);
    const Real *const sums = static_cast<const Real *>(a.carry_sum);
    const Index carry = thread_index() / 32;
    const int lane = threadIdx.x % 32;
    const Index row = carry < count ? load(rows + carry) : -1;
    if (row < 0 || (carry > 0 && load(rows + carry - 1) == row))
        return; // the whole warp
    for (int v = 0; v < plan::vectors; ++v) {
        Real sum = 0;
        for (Index k = carry + lane; k < count && load(rows + k) == row; k += 32)
            sum += load(sums + v * count + k);
#pragma unroll
        for (int step = 16; step > 0; step /= 2)
            sum += shuffle_xor(sum, step);
        if (lane == 0)
            add_sum(a, row, v, sum);
    }
}
