#pragma once
#include "shared.cuh"

// A grid and a box of it, as bulk copies know them: a CUtensorMap of three axes.
struct alignas(64) TensorMap {
    unsigned long long opaque[16];
};

// Cells from the multiple of 16 bytes before it to a cell.
template <class T> __device__ __forceinline__ int line_lead(const T *data) {
    return int(reinterpret_cast<unsigned long long>(data) % 16 / sizeof(T));
}

// Slots of shared memory that one warp fills and all others read, in turns. `readers`: how many
// warps read. Each slot has two mbarriers: the copies complete the first, the readers the second.
// Where `menders` warps change what arrived before others read it, they complete a third.
template <int slots, int readers, int menders = 0> struct Slots {
    unsigned filled, freed;
    unsigned count = 0; // slots that were passed: one number is one register

    __device__ __forceinline__ int slot() const { return int(count % slots); }
    __device__ __forceinline__ int turn() const { return int(count / slots & 1); }

    // Lanes of a warp that arrive at a barrier. One would do; where slots are mended all do, as
    // compute-sanitizer's racecheck sees no other order of loads and later stores by other warps.
    static constexpr int lanes = menders > 0 ? 32 : 1;
    static constexpr int words = (menders > 0 ? 3 : 2) * slots; // of 8 bytes

    // By all threads of the block, before anything else; ends with a barrier.
    __device__ __forceinline__ void begin(void *words_of_8_bytes) {
        filled = static_cast<unsigned>(__cvta_generic_to_shared(words_of_8_bytes));
        freed = filled + 8 * slots;
        if (threadIdx.x == 0) {
            for (int i = 0; i < slots; ++i) {
                asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(filled + 8 * i));
                asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(freed + 8 * i),
                             "n"(readers * lanes));
                if (menders > 0)
                    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(freed + 8 * (slots + i)),
                                 "n"(menders > 0 ? menders * lanes : 1));
            }
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
        __syncthreads(); // nobody waits for what is not initialised
    }
    __device__ __forceinline__ void next() { ++count; }
    static __device__ __forceinline__ void wait(unsigned barrier, int parity) {
        asm volatile("{\n\t.reg .pred done;\n"
                     "again: mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n\t"
                     "@!done bra again;\n\t}" ::"r"(barrier),
                     "r"(parity)
                     : "memory");
    }

    // By one lane: until nobody reads the slot; how many bytes will come. Others may ask for them.
    __device__ __forceinline__ void await_free() const {
        wait(freed + 8 * slot(), turn() ^ 1);
        if (menders > 0) // their stores come before the copies
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __device__ __forceinline__ void expect(int bytes) const {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(filled + 8 * slot()),
                     "r"(bytes)
                     : "memory");
    }
    // Asks for a box. `shared`: other blocks read parts of it, too, so the second-level cache keeps it
    // longest.
    __device__ __forceinline__ void copy(void *to, const TensorMap &map, int x, int y, int z,
                                         bool shared) const {
        unsigned long long longest, normal;
        asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(longest));
        asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(normal));
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
                     ".L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6;" ::"r"(
                         static_cast<unsigned>(__cvta_generic_to_shared(to))),
                     "l"(&map), "r"(x), "r"(y), "r"(z), "r"(filled + 8 * slot()),
                     "l"(shared ? longest : normal)
                     : "memory");
    }
    // By all lanes of the warp that fills: the slot's copies are on their way.
    __device__ __forceinline__ void sent() const {}

    // The slot so many turns before the one at hand.
    __device__ __forceinline__ int before(int turns) const {
        return int((count + slots - turns) % slots);
    }

    // By all lanes of a warp that mends: the slot is done.
    __device__ __forceinline__ void mended() const { arrive(freed + 8 * (slots + slot())); }
    // By the warps that fill and read, before the first slot: all slots are mended.
    __device__ __forceinline__ void others_mend(bool reads) {
        if (reads)
            filled = freed + 8 * slots;
        asm volatile("" : "+r"(filled)); // else compilers would choose in each plane
    }

    // By all lanes of a warp that reads: until all copies of the slot have arrived; a slot may be
    // filled again.
    __device__ __forceinline__ void await_filled() const { wait(filled + 8 * slot(), turn()); }
    __device__ __forceinline__ void release(int which) const { arrive(freed + 8 * which); }
    static __device__ __forceinline__ void arrive(unsigned barrier) {
        if (lanes == 1)
            __syncwarp(); // all lanes are done
        if (lanes > 1 || threadIdx.x % 32 == 0)
            asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(barrier) : "memory");
    }
};

// Keeps the blocks of a wave at one pace, so that each finds in the L2 what its neighbours fetched
// of the halos they share. A block says when it begins a group of planes, and waits until all have
// begun the second group before. Results do not depend on it: where blocks of the wave do not run
// at the same time, a block gives up waiting. Counts go on from launch to launch. Every block adds
// one to each, so they are equal between launches, also after two that ran at the same time. Blocks
// of a launch of few planes do neither. `waves` may be under way at a time, of `groups` of planes.
template <int waves, int groups> struct Pace {
    unsigned *counts;
    unsigned before; // what they were when the wave began
    int blocks, next; // groups begun
    bool waits;

    static constexpr int planes = 2, behind = 2, looks = 64, few = 16;

    static __device__ __forceinline__ void add(unsigned *count) {
        asm volatile("red.relaxed.gpu.global.add.u32 [%0], 1;" ::"l"(count) : "memory");
    }
    static __device__ __forceinline__ unsigned look(const unsigned *count) {
        unsigned now;
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(count) : "memory");
        return now;
    }
    // `all`: for each wave the counts of groups and of ends. `made`: planes that the launch makes.
    __device__ __forceinline__ void begin(unsigned *all, int block, int grid, int wave, int made) {
        const int number = block / wave;
        next = made < few ? groups + 1 : 0;
        counts = all + number % waves * (groups + 1);
        before = look(counts + groups);
        blocks = min(wave, grid - number * wave);
        waits = blocks > 1;
    }
    __device__ __forceinline__ void plane(int k) {
        if (k % planes != 0 || next > groups)
            return;
        add(counts + next);
        const unsigned *const other = counts + next++ - behind;
        for (int i = 0; waits && next > behind && look(other) - before < unsigned(blocks); ++i)
            waits = i < looks;
    }
    __device__ __forceinline__ void end() {
        for (; next <= groups; ++next)
            add(counts + next);
    }
};
