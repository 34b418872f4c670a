/* CUDA for the cpu device. Takes: an emitted CUDA file, compiled behind this header by the host's
   C++ compiler. Makes: a shared object whose kernels the device runs a block at a time.
   The first part is what both sides know, in C; the rest is for the emitted file alone. It includes
   nothing, so that no name of the host's headers can meet one of the file. */
#ifndef SG_RUNTIME_DEVICE_CPU_CUDA_H
#define SG_RUNTIME_DEVICE_CPU_CUDA_H

typedef struct sg_cpu_index {
    unsigned x, y, z;
} sg_cpu_index;

/* Where threads wait for each other: at a barrier all of a block, at the others those of a warp. */
typedef enum sg_cpu_meeting {
    SG_CPU_BARRIER,
    SG_CPU_SYNCWARP,
    SG_CPU_SHUFFLE,
    SG_CPU_VOTE,
    SG_CPU_MASK, /* a warp operation for some lanes only, which there is none of */
} sg_cpu_meeting;

enum { SG_CPU_LANES = 32 };

/* What the lanes of a warp leave for each other. Each says in which phase it did. */
typedef struct sg_cpu_letters {
    unsigned long long phase[SG_CPU_LANES];
    unsigned long long word[SG_CPU_LANES][2];
    unsigned long long votes_phase;
    unsigned votes;
} sg_cpu_letters;

/* A grid, and the box of it that a bulk copy fetches; strides in bytes. */
typedef struct sg_cpu_map {
    const unsigned char *data;
    long long size[3], stride[3];
    int box[3];
} sg_cpu_map;

/* Where in a grid a worker is. A kernel reads its indices here; when it meets others it saves
   `thread`, because the other threads of its block use the same place. */
typedef struct sg_cpu_place {
    sg_cpu_index thread, block, block_size, grid_size;
    unsigned char *shared;
    long long cache_bytes; /* of all caches that the workers have */
    void (*meet)(struct sg_cpu_place *, sg_cpu_meeting);
    void (*give_way)(void);    /* lets other threads of the system run */
    unsigned long long phase;  /* from 1; one more whenever all lanes of a warp have met */
    sg_cpu_letters letters[2]; /* of even and odd phases: while the last lanes read those of one,
                                  the first may write those of the next */
} sg_cpu_place;

/* What the shared object exports under the name sg_cpu_module. The device sets `here` after
   loading. Kernel i, in the order of the program's launches, runs one thread of a block where the
   program has barriers, else all threads of a block. */
typedef struct sg_cpu_module_table {
    sg_cpu_place *(*here)(void); /* the calling worker's */
    int count;
    void (*const *kernels)(const void *arguments);
} sg_cpu_module_table;

#if defined(__cplusplus)

#define SG_CPU 1

extern "C" __attribute__((visibility("default"))) sg_cpu_module_table sg_cpu_module;

/* A worker's place stays the same for as long as any function runs: a compiler may keep it. */
__attribute__((const, noinline, unused)) static sg_cpu_place *sg_cpu_here() {
    return sg_cpu_module.here();
}

/* ---- the language ---------------------------------------------------------------------------- */

#define __global__ __attribute__((always_inline)) inline
#define __device__
#define __host__
#define __constant__
#define __forceinline__ __attribute__((always_inline)) inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__

#define threadIdx (sg_cpu_here()->thread)
#define blockIdx (sg_cpu_here()->block)
#define blockDim (sg_cpu_here()->block_size)
#define gridDim (sg_cpu_here()->grid_size)

/* ---- within a block -------------------------------------------------------------------------- */

/* Dynamic shared memory, aligned to 128 bytes, all bytes 0xFF when a block begins: a float or
   double that is read before it is written is NaN. */
__forceinline__ unsigned char *sg_cpu_shared() {
    return sg_cpu_here()->shared;
}

__forceinline__ void sg_cpu_meet(sg_cpu_meeting where) {
    sg_cpu_place *const place = sg_cpu_here();
    const sg_cpu_index mine = place->thread;
    place->meet(place, where);
    place->thread = mine;
}

__forceinline__ void __syncthreads() {
    sg_cpu_meet(SG_CPU_BARRIER);
}

/* ---- within a warp ---------------------------------------------------------------------------

   A warp is 32 consecutive threads of a block, x fastest; the last may be shorter. Every lane that
   has not ended takes part in every operation of its warp, in the same order, and the mask names
   all 32. What is read of a lane that takes no part is all bytes 0xFF, and its vote counts as 0. */

inline unsigned sg_cpu_lane() {
    const sg_cpu_place *const place = sg_cpu_here();
    const sg_cpu_index at = place->thread, size = place->block_size;
    return ((at.z * size.y + at.y) * size.x + at.x) % SG_CPU_LANES;
}

inline void sg_cpu_check_mask(unsigned mask) {
    if (mask != 0xFFFFFFFFu)
        sg_cpu_meet(SG_CPU_MASK);
}

inline void __syncwarp(unsigned mask = 0xFFFFFFFFu) {
    sg_cpu_check_mask(mask);
    sg_cpu_meet(SG_CPU_SYNCWARP);
}

template <class T> inline T sg_cpu_shuffle(T value, unsigned from) {
    static_assert(sizeof(T) <= sizeof(sg_cpu_letters::word[0]), "a letter holds 16 bytes");
    sg_cpu_place *const place = sg_cpu_here();
    const unsigned long long phase = place->phase;
    sg_cpu_letters *const letters = &place->letters[phase % 2];
    const unsigned lane = sg_cpu_lane();
    letters->phase[lane] = phase;
    __builtin_memcpy(letters->word[lane], &value, sizeof value);
    sg_cpu_meet(SG_CPU_SHUFFLE);
    if (letters->phase[from] == phase)
        __builtin_memcpy(&value, letters->word[from], sizeof value);
    else
        __builtin_memset(&value, 0xFF, sizeof value);
    return value;
}

/* As CUDA has them, but for values of up to 16 bytes: a width, which is a power of two, cuts the
   warp into parts; a lane from beyond the own part gives the own value. */
template <class T> inline T __shfl_sync(unsigned mask, T value, int from, int width = 32) {
    const unsigned inside = static_cast<unsigned>(width) - 1;
    sg_cpu_check_mask(mask);
    return sg_cpu_shuffle(value,
                          (sg_cpu_lane() & ~inside) | (static_cast<unsigned>(from) & inside));
}
template <class T> inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned inside = static_cast<unsigned>(width) - 1, lane = sg_cpu_lane();
    sg_cpu_check_mask(mask);
    return sg_cpu_shuffle(value, (lane & inside) < delta ? lane : lane - delta);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned inside = static_cast<unsigned>(width) - 1, lane = sg_cpu_lane();
    sg_cpu_check_mask(mask);
    return sg_cpu_shuffle(value, delta > inside - (lane & inside) ? lane : lane + delta);
}
template <class T> inline T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
    const unsigned lane = sg_cpu_lane(), last = lane | (static_cast<unsigned>(width) - 1);
    const unsigned from = lane ^ static_cast<unsigned>(bits);
    sg_cpu_check_mask(mask);
    return sg_cpu_shuffle(value, from > last ? lane : from);
}

inline unsigned sg_cpu_vote(unsigned mask, bool vote) {
    sg_cpu_check_mask(mask);
    sg_cpu_place *const place = sg_cpu_here();
    sg_cpu_letters *const letters = &place->letters[place->phase % 2];
    if (letters->votes_phase != place->phase)
        letters->votes = 0;
    letters->votes_phase = place->phase;
    letters->votes |= static_cast<unsigned>(vote) << sg_cpu_lane();
    sg_cpu_meet(SG_CPU_VOTE);
    return letters->votes;
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
    return sg_cpu_vote(mask, predicate != 0);
}
inline int __any_sync(unsigned mask, int predicate) {
    return sg_cpu_vote(mask, predicate != 0) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
    return sg_cpu_vote(mask, predicate == 0) == 0;
}

/* ---- between blocks --------------------------------------------------------------------------

   A block may wait for what another does that has taken its place in line earlier: one that has
   drawn a lower number from a counter in global memory. Such a block has begun, on a worker of its
   own or before on the same, and a worker ends a block before it begins another. While it waits,
   it gives way. A thread must not wait so for another of its own block. */

/* Atomic operations are relaxed, as CUDA's are, and give the value before. */
#define SG_CPU_FETCH(name, type, builtin)                                                          \
    inline type name(type *at, type value) {                                                       \
        return builtin(at, value, __ATOMIC_RELAXED);                                               \
    }
#define SG_CPU_UPDATE(name, type, expression)                                                      \
    inline type name(type *at, type value) {                                                       \
        type before, after;                                                                        \
        __atomic_load(at, &before, __ATOMIC_RELAXED);                                              \
        do                                                                                         \
            after = (expression);                                                                  \
        while (!__atomic_compare_exchange(at, &before, &after, true, __ATOMIC_RELAXED,             \
                                          __ATOMIC_RELAXED));                                      \
        return before;                                                                             \
    }
#define SG_CPU_EXCHANGE(type)                                                                      \
    inline type atomicExch(type *at, type value) {                                                 \
        type before;                                                                               \
        __atomic_exchange(at, &value, &before, __ATOMIC_RELAXED);                                  \
        return before;                                                                             \
    }
#define SG_CPU_ATOMIC_EXTREMES(type)                                                               \
    SG_CPU_UPDATE(atomicMin, type, before < value ? before : value)                                \
    SG_CPU_UPDATE(atomicMax, type, before > value ? before : value)
#define SG_CPU_WORD(type)                                                                          \
    SG_CPU_FETCH(atomicAdd, type, __atomic_fetch_add)                                              \
    SG_CPU_FETCH(atomicAnd, type, __atomic_fetch_and)                                              \
    SG_CPU_FETCH(atomicOr, type, __atomic_fetch_or)                                                \
    SG_CPU_FETCH(atomicXor, type, __atomic_fetch_xor)                                              \
    SG_CPU_EXCHANGE(type)                                                                          \
    inline type atomicCAS(type *at, type before, type after) {                                     \
        __atomic_compare_exchange(at, &before, &after, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED); \
        return before;                                                                             \
    }

SG_CPU_WORD(int)
SG_CPU_WORD(unsigned)
SG_CPU_WORD(unsigned long long)
SG_CPU_ATOMIC_EXTREMES(int)
SG_CPU_ATOMIC_EXTREMES(unsigned)
SG_CPU_ATOMIC_EXTREMES(long long) /* CUDA has these two alone */
SG_CPU_ATOMIC_EXTREMES(unsigned long long)
SG_CPU_FETCH(atomicSub, int, __atomic_fetch_sub)
SG_CPU_FETCH(atomicSub, unsigned, __atomic_fetch_sub)
SG_CPU_UPDATE(atomicAdd, float, before + value)
SG_CPU_UPDATE(atomicAdd, double, before + value)
SG_CPU_EXCHANGE(float)

/* ThreadSanitizer knows atomic operations but no fences: one word that all fences change orders
   them for it as well. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SG_CPU_TSAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SG_CPU_TSAN 1
#endif
inline void __threadfence() {
#if defined(SG_CPU_TSAN)
    static int order;
    __atomic_fetch_add(&order, 1, __ATOMIC_SEQ_CST);
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}
/* A block has one worker. */
inline void __threadfence_block() {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}
inline void __nanosleep(unsigned) {
    sg_cpu_here()->give_way();
}

/* ---- mathematics ----------------------------------------------------------------------------- */

#define SG_CPU_FUNCTION_1(name)                                                                    \
    double name(double);                                                                           \
    float name##f(float);
#define SG_CPU_FUNCTION_2(name)                                                                    \
    double name(double, double);                                                                   \
    float name##f(float, float);

extern "C" {
SG_CPU_FUNCTION_1(sqrt)
SG_CPU_FUNCTION_1(exp)
SG_CPU_FUNCTION_1(log)
SG_CPU_FUNCTION_1(sin)
SG_CPU_FUNCTION_1(cos)
SG_CPU_FUNCTION_1(tanh)
SG_CPU_FUNCTION_1(floor)
SG_CPU_FUNCTION_1(fabs)
SG_CPU_FUNCTION_2(pow)
SG_CPU_FUNCTION_2(fmin)
SG_CPU_FUNCTION_2(fmax)
double fma(double, double, double);
float fmaf(float, float, float);
void *memcpy(void *, const void *, decltype(sizeof 0));
}

#define SG_CPU_EXTREMES(type)                                                                      \
    __forceinline__ type min(type a, type b) {                                                     \
        return b < a ? b : a;                                                                      \
    }                                                                                              \
    __forceinline__ type max(type a, type b) {                                                     \
        return a < b ? b : a;                                                                      \
    }
SG_CPU_EXTREMES(int)
SG_CPU_EXTREMES(unsigned)
SG_CPU_EXTREMES(long long)
SG_CPU_EXTREMES(unsigned long long)

/* ---- bits ------------------------------------------------------------------------------------ */

/* __ffs counts from 1, and gives 0 where no bit is set. */
__forceinline__ int __popc(unsigned word) {
    return __builtin_popcount(word);
}
__forceinline__ int __popcll(unsigned long long word) {
    return __builtin_popcountll(word);
}
__forceinline__ int __ffs(int word) {
    return __builtin_ffs(word);
}
__forceinline__ int __ffsll(long long word) {
    return __builtin_ffsll(word);
}
__forceinline__ int __clz(int word) {
    return word == 0 ? 32 : __builtin_clz(static_cast<unsigned>(word));
}
__forceinline__ int __clzll(long long word) {
    return word == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(word));
}

/* ---- what the device appends to the file ----------------------------------------------------- */

/* One thread of a kernel that has barriers, out of that namespace ("name::"): the device switches
 * to another at each. */
#define SG_CPU_THREAD(number, space, kernel)                                                       \
    static void sg_cpu_kernel_##number(const void *arguments) {                                    \
        space kernel(*static_cast<const space Arguments *>(arguments));                            \
    }

/* All threads of a block of a kernel free of barriers. */
#define SG_CPU_BLOCK(number, space, kernel)                                                        \
    static void sg_cpu_kernel_##number(const void *arguments) {                                    \
        sg_cpu_place *const place = sg_cpu_here();                                                 \
        const sg_cpu_index size = place->block_size;                                               \
        for (unsigned z = 0; z < size.z; ++z)                                                      \
            for (unsigned y = 0; y < size.y; ++y)                                                  \
                for (unsigned x = 0; x < size.x; ++x) {                                            \
                    place->thread = {x, y, z};                                                     \
                    space kernel(*static_cast<const space Arguments *>(arguments));                \
                }                                                                                  \
    }

#define SG_CPU_MODULE(...)                                                                         \
    static void (*const sg_cpu_kernels[])(const void *) = {__VA_ARGS__};                           \
    sg_cpu_module_table sg_cpu_module = {                                                          \
        nullptr, sizeof sg_cpu_kernels / sizeof sg_cpu_kernels[0], sg_cpu_kernels};

#endif
#endif
