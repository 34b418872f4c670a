#pragma once
#include "bulk.cuh"

// A ring of planes that bulk copies bring, and warps that wait for the warps next to them alone. A
// warp's turns have numbers from 0 on, and so have planes; all warps read every plane.
//
//     arrived   a barrier a slot of the ring: the copy completes it, or the copies of all threads
//     left      a barrier a slot: each warp, when it has read the plane
//     made      two barriers a warp, in turns: it has stored what its neighbours read
//
// A warp is at most one turn ahead of its neighbours, so two barriers are enough. All lanes arrive,
// each for its own loads and stores; race detectors do not follow one lane that arrives for its warp.
// All lanes wait: a warp whose lanes may part keeps what is the same for all of them in a register of
// each.
template <int slots, int warps> struct PlaneSlots {
    unsigned at;
    int number; // of the warp

    static constexpr int words = 2 * slots + 2 * warps; // of 8 bytes
    static constexpr int threads = 32 * warps;

    // By all threads of the block, before anything else; ends with a barrier. `by_threads`: they copy
    // planes, each of them a part.
    __device__ __forceinline__ PlaneSlots(void *words_of_8_bytes, bool by_threads)
        : at(static_cast<unsigned>(__cvta_generic_to_shared(words_of_8_bytes))),
          number(__shfl_sync(0xFFFFFFFFu, int(threadIdx.x) / 32, 0)) {
        if (threadIdx.x == 0) {
            for (int i = 0; i < words; ++i)
                asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at + 8 * i),
                             "r"(i < slots       ? (by_threads ? threads : 1)
                                 : i < 2 * slots ? threads
                                                 : 32));
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
        __syncthreads(); // nobody waits for what is not initialised
    }
    __device__ __forceinline__ unsigned arrived(int plane) const {
        return at + 8 * (unsigned(plane) % slots);
    }
    __device__ __forceinline__ unsigned left(int plane) const {
        return at + 8 * (slots + unsigned(plane) % slots);
    }
    __device__ __forceinline__ unsigned made(int warp, int turn) const {
        return at + 8 * (2 * slots + 2 * warp + (turn & 1));
    }
    static __device__ __forceinline__ void wait(unsigned barrier, int parity) {
        unsigned done;
        do {
            asm volatile("{\n\t.reg .pred done;\n\t"
                         "mbarrier.try_wait.parity.shared.b64 done, [%1], %2;\n\t"
                         "selp.u32 %0, 1, 0, done;\n\t}"
                         : "=r"(done)
                         : "r"(barrier), "r"(parity)
                         : "memory");
        } while (!__all_sync(0xFFFFFFFFu, done != 0));
    }
    // By the lanes of a warp together, as all below.
    static __device__ __forceinline__ void arrive(unsigned barrier) {
        __syncwarp(); // what lanes stored for each other is there, too
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
    }

    // Begins to ask for a plane, whose boxes have so many bytes, when the one before in its slot has been
    // read. One warp of the block does, and of it the thread to which this says true copies the boxes.
    __device__ __forceinline__ bool begin(int plane, int bytes) const {
        if (number != plane % warps)
            return false;
        if (plane >= slots)
            wait(left(plane), (unsigned(plane) / slots - 1) & 1);
        if (threadIdx.x % 32 != 0)
            return false;
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(arrived(plane)),
                     "r"(bytes)
                     : "memory");
        return true;
    }
    // By that thread: one of the plane's boxes.
    __device__ __forceinline__ void copy(int plane, void *to, const TensorMap &map, int x, int y,
                                         int z) const {
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
                     " [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(
                         static_cast<unsigned>(__cvta_generic_to_shared(to))),
                     "l"(&map), "r"(x), "r"(y), "r"(z), "r"(arrived(plane))
                     : "memory");
    }
    // By every thread: its asynchronous copies so far complete its part of the plane.
    __device__ __forceinline__ void sent(int plane) const {
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(arrived(plane)) : "memory");
    }
    __device__ __forceinline__ void await_plane(int plane) const {
        wait(arrived(plane), unsigned(plane) / slots & 1);
    }
    __device__ __forceinline__ void leave(int plane) const {
        arrive(left(plane));
    }

    // What the neighbouring warps stored in a turn can be read; what this one stored.
    __device__ __forceinline__ void await_neighbours(int turn) const {
        if (turn < 0)
            return;
        if (number > 0)
            wait(made(number - 1, turn), turn >> 1 & 1);
        if (number + 1 < warps)
            wait(made(number + 1, turn), turn >> 1 & 1);
    }
    __device__ __forceinline__ void end_turn(int turn) const {
        arrive(made(number, turn));
    }
};
