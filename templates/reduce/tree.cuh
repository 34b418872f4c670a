// A block's tree in shared memory. Threads that work are always the first ones. Where the operator
// commutes, strides halve and the threads of a warp meet different banks; else neighbours meet, at
// doubling strides, which keeps the order but makes threads share banks:
//
//     commutes   stride 2   02 13         keeps the order   stride 1   01 23    thread t takes
//                stride 1   0213                            stride 2   0123     2·stride·t

// Thread 0's result is the block's.
__device__ __forceinline__ Item reduce_tree(const Arguments &arguments, Item mine) {
    Item *const row = reinterpret_cast<Item *>(shared_bytes());
    const int thread = static_cast<int>(threadIdx.x);
    row[thread] = mine;
    if constexpr (plan::ordered != 0) {
        for (int stride = 1; stride < plan::threads; stride *= 2) {
            __syncthreads(); // the results of the stride before are there
            const int i = 2 * stride * thread;
            if (i < plan::threads)
                row[i] = combine(arguments, row[i], row[i + stride]);
        }
    } else {
        for (int stride = plan::threads / 2; stride > 0; stride /= 2) {
            __syncthreads(); // the results of the stride before are there
            if (thread < stride)
                row[thread] = combine(arguments, row[thread], row[thread + stride]);
        }
    }
    return row[0]; // of thread 0, which wrote it itself
}
