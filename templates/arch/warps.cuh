#pragma once

// A warp is 32 consecutive threads of a block. All lanes that have not ended take part in each of these operations.
constexpr int warp_size = 32;
constexpr unsigned all_lanes = 0xFFFFFFFFu;

// Of the calling thread, in a block of one axis.
__device__ __forceinline__ int lane() { return static_cast<int>(threadIdx.x % warp_size); }
__device__ __forceinline__ int warp() { return static_cast<int>(threadIdx.x / warp_size); }

// Orders what the lanes wrote to shared and global memory before what they read after.
__device__ __forceinline__ void warp_barrier() { __syncwarp(all_lanes); }

// The value of lane `at`, from 0 to 31.
template <class T> __device__ __forceinline__ T shuffle(T of, int at) { return __shfl_sync(all_lanes, of, at); }

// The value of the lane so many below; the thread's own where there is none.
template <class T> __device__ __forceinline__ T shuffle_up(T of, int by) { return __shfl_up_sync(all_lanes, of, by); }

// The value of the lane so many above; the thread's own where there is none.
template <class T> __device__ __forceinline__ T shuffle_down(const T &value, unsigned distance) {
    return __shfl_down_sync(all_lanes, value, distance);
}

// The value of the lane whose number differs in these bits.
template <class T> __device__ __forceinline__ T shuffle_xor(const T &value, int bits) {
    return __shfl_xor_sync(all_lanes, value, bits);
}

// All lanes' words of 4 bytes, whole numbers, to one that each lane gets, by one instruction. How:
// 1 the sum, 2 the least, 3 the greatest, 4 and, 5 or, 6 exclusive or.
#if __CUDA_ARCH__ >= 800
constexpr bool can_join_lanes = true;
template <int how, class T> __device__ __forceinline__ T join_lanes(T mine) {
    if constexpr (how == 1)
        return __reduce_add_sync(all_lanes, mine);
    else if constexpr (how == 2)
        return __reduce_min_sync(all_lanes, mine);
    else if constexpr (how == 3)
        return __reduce_max_sync(all_lanes, mine);
    const unsigned word = static_cast<unsigned>(mine);
    if constexpr (how == 4)
        return static_cast<T>(__reduce_and_sync(all_lanes, word));
    else if constexpr (how == 5)
        return static_cast<T>(__reduce_or_sync(all_lanes, word));
    else
        return static_cast<T>(__reduce_xor_sync(all_lanes, word));
}
#else
constexpr bool can_join_lanes = false;
template <int how, class T> __device__ __forceinline__ T join_lanes(T mine) { return mine; }
#endif

// A bit for each lane: whether it says true.
__device__ __forceinline__ unsigned ballot_lanes(bool vote) {
    return __ballot_sync(all_lanes, vote);
}
__device__ __forceinline__ bool any_lane(bool vote) { return __any_sync(all_lanes, vote) != 0; }
__device__ __forceinline__ bool every_lane(bool vote) { return __all_sync(all_lanes, vote) != 0; }
