// What differs between GPUs and the host: shared memory, and operations whose meaning must be
// the same everywhere. Everything above this file is written once for all architectures.

#if defined(SG_CPU)
static inline unsigned char *shared_bytes() {
    return sg_cpu_shared();
}
#else
extern __shared__ __align__(128) unsigned char dynamic_shared[];
__device__ __forceinline__ unsigned char *shared_bytes() {
    return dynamic_shared;
}
#endif

using Index = long long; // grids and offsets may exceed 2^31 elements

template <class T> constexpr bool is_whole = static_cast<T>(0.5f) == T(0);
template <class T> constexpr bool is_signed = static_cast<T>(-1) < T(0);

// Unlike fmin and fmax, these give NaN when either operand is NaN.
template <class T> __device__ __forceinline__ T minimum(T a, T b) {
    if constexpr (is_whole<T>)
        return b < a ? b : a;
    else
        return a < b || a != a ? a : b;
}
template <class T> __device__ __forceinline__ T maximum(T a, T b) {
    if constexpr (is_whole<T>)
        return a < b ? b : a;
    else
        return a > b || a != a ? a : b;
}

// The infinite number above all others. Written as products, of which no compiler warns.
template <class T> __device__ __forceinline__ T infinity() {
    T huge = T(1e38);
    for (int i = 0; i < 4; ++i)
        huge *= huge;
    return huge;
}

template <int bytes> struct WordOf { using type = unsigned; };
template <> struct WordOf<8> { using type = unsigned long long; };

// Whole numbers wrap, as unsigned ones do by the language: compilers take it that signed ones never
// pass their limits, and that a square is not negative.
template <class T> __device__ __forceinline__ T wrapping_add(T a, T b) {
    using Word = typename WordOf<sizeof(T)>::type;
    return static_cast<T>(static_cast<Word>(a) + static_cast<Word>(b));
}
template <class T> __device__ __forceinline__ T wrapping_subtract(T a, T b) {
    using Word = typename WordOf<sizeof(T)>::type;
    return static_cast<T>(static_cast<Word>(a) - static_cast<Word>(b));
}
template <class T> __device__ __forceinline__ T wrapping_multiply(T a, T b) {
    using Word = typename WordOf<sizeof(T)>::type;
    return static_cast<T>(static_cast<Word>(a) * static_cast<Word>(b));
}
template <class T> __device__ __forceinline__ T wrapping_negate(T a) {
    return wrapping_subtract(T(0), a);
}

// The absolute value of a whole number; of the least one itself.
template <class T> __device__ __forceinline__ T magnitude(T a) {
    if constexpr (is_signed<T>)
        return a < 0 ? wrapping_negate(a) : a;
    else
        return a;
}

// Of a function whose results must be the same bits wherever it is called. On the host the order of
// the operands, which the compiler chooses at each place, decides which of two NaNs is the result.
#if defined(SG_CPU)
#define SAME_BITS __noinline__
#else
#define SAME_BITS __forceinline__
#endif

// Elements that cross the memory bus together: one load or store instruction of up to 16 bytes.
template <class T, int count> struct alignas(sizeof(T) * count) Pack { T element[count]; };

// Reads memory that nothing writes while the kernel runs, which leaves the order of such reads to
// the compiler and takes the read-only path of the first-level cache.
template <class T> __device__ __forceinline__ T load(const T *from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "one load instruction");
#if defined(SG_CPU)
    return *from;
#else
    T to;
    if constexpr (sizeof(T) == 16)
        *reinterpret_cast<uint4 *>(&to) = __ldg(reinterpret_cast<const uint4 *>(from));
    else if constexpr (sizeof(T) == 8)
        *reinterpret_cast<uint2 *>(&to) = __ldg(reinterpret_cast<const uint2 *>(from));
    else
        *reinterpret_cast<unsigned *>(&to) = __ldg(reinterpret_cast<const unsigned *>(from));
    return to;
#endif
}

// Hides how an offset was computed, so that what is added to it later stays an addition: the
// compiler would otherwise multiply coordinates and strides anew for every tap.
__device__ __forceinline__ Index opaque(Index offset) {
#if !defined(SG_CPU)
    asm("" : "+l"(offset));
#endif
    return offset;
}

// ---- within a warp --------------------------------------------------------------------------
//
// A warp is 32 consecutive threads of a block. Every lane that has not ended takes part in each of
// these, and all in the same order. What is read of a lane that takes no part is undefined: blocks
// whose threads are no multiple of 32 have a last warp with fewer.

constexpr int warp_size = 32;
constexpr unsigned all_lanes = 0xFFFFFFFFu;

// Of the calling thread, in a block of one axis.
__device__ __forceinline__ int lane() {
    return static_cast<int>(threadIdx.x % warp_size);
}
__device__ __forceinline__ int warp() {
    return static_cast<int>(threadIdx.x / warp_size);
}

// Orders what the lanes wrote to shared and global memory before what they read after.
__device__ __forceinline__ void warp_barrier() {
    __syncwarp(all_lanes);
}

// Applies a shuffle of 4-byte words to a value of up to four.
template <class T, class Shuffle>
__device__ __forceinline__ T shuffle_words(const T &value, Shuffle shuffle) {
    static_assert(sizeof(T) % 4 == 0 && sizeof(T) <= 16, "one to four words");
#if defined(SG_CPU)
    return shuffle(value); // at once: the lanes need not take turns for each word
#else
    struct {
        unsigned word[sizeof(T) / 4];
    } words;
    memcpy(&words, &value, sizeof value);
#pragma unroll
    for (unsigned k = 0; k < sizeof(T) / 4; ++k)
        words.word[k] = shuffle(words.word[k]);
    T result;
    memcpy(&result, &words, sizeof result);
    return result;
#endif
}

// The value of lane `from`, from 0 to 31.
struct ShuffleFrom {
    int from;
    template <class Word> __device__ __forceinline__ Word operator()(Word word) const {
        return __shfl_sync(all_lanes, word, from);
    }
};
template <class T> __device__ __forceinline__ T shuffle(const T &value, int from) {
    return shuffle_words(value, ShuffleFrom{from});
}

// That of the lane so many below, or the own where there is none.
struct ShuffleUp {
    unsigned distance;
    template <class Word> __device__ __forceinline__ Word operator()(Word word) const {
        return __shfl_up_sync(all_lanes, word, distance);
    }
};
template <class T> __device__ __forceinline__ T shuffle_up(const T &value, unsigned distance) {
    return shuffle_words(value, ShuffleUp{distance});
}

// That of the lane so many above, or the own where there is none.
struct ShuffleDown {
    unsigned distance;
    template <class Word> __device__ __forceinline__ Word operator()(Word word) const {
        return __shfl_down_sync(all_lanes, word, distance);
    }
};
template <class T> __device__ __forceinline__ T shuffle_down(const T &value, unsigned distance) {
    return shuffle_words(value, ShuffleDown{distance});
}

// That of the lane whose number differs in these bits.
struct ShuffleXor {
    int bits;
    template <class Word> __device__ __forceinline__ Word operator()(Word word) const {
        return __shfl_xor_sync(all_lanes, word, bits);
    }
};
template <class T> __device__ __forceinline__ T shuffle_xor(const T &value, int bits) {
    return shuffle_words(value, ShuffleXor{bits});
}

// A bit for each lane: whether it says true. Those that take no part say false.
__device__ __forceinline__ unsigned ballot_lanes(bool vote) {
    return __ballot_sync(all_lanes, vote);
}
__device__ __forceinline__ bool any_lane(bool vote) {
    return __any_sync(all_lanes, vote) != 0;
}
__device__ __forceinline__ bool every_lane(bool vote) {
    return __all_sync(all_lanes, vote) != 0;
}

// ---- between blocks -------------------------------------------------------------------------
//
// Blocks may begin in any order. One may wait for what another publishes only where that has taken
// its place in line earlier, by a lower number from a counter in global memory; and it calls
// `backoff` while it waits.
//
// Words that blocks publish have 4 or 8 bytes: no load of 16 is sure to be one access everywhere.
// What a block has done before store_release is seen by one that has read that value with
// load_acquire. The relaxed ones are single accesses too, but order nothing.

template <class T>
constexpr bool is_word = (sizeof(T) == 4 || sizeof(T) == 8) && alignof(T) == sizeof(T);

template <class To, class From> __device__ __forceinline__ To same_bits(const From &from) {
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}

template <class T> __device__ __forceinline__ T load_acquire(const T *from) {
    static_assert(is_word<T>, "one access");
#if defined(SG_CPU)
    T to;
    __atomic_load(from, &to, __ATOMIC_ACQUIRE);
    return to;
#else
    typename WordOf<sizeof(T)>::type word;
    if constexpr (sizeof(T) == 8)
        asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
    else
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
    return same_bits<T>(word);
#endif
}

template <class T> __device__ __forceinline__ T load_relaxed(const T *from) {
    static_assert(is_word<T>, "one access");
#if defined(SG_CPU)
    T to;
    __atomic_load(from, &to, __ATOMIC_RELAXED);
    return to;
#else
    typename WordOf<sizeof(T)>::type word;
    if constexpr (sizeof(T) == 8)
        asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
    else
        asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
    return same_bits<T>(word);
#endif
}

template <class T> __device__ __forceinline__ void store_release(T *to, const T &value) {
    static_assert(is_word<T>, "one access");
#if defined(SG_CPU)
    T from = value;
    __atomic_store(to, &from, __ATOMIC_RELEASE);
#else
    const auto word = same_bits<typename WordOf<sizeof(T)>::type>(value);
    if constexpr (sizeof(T) == 8)
        asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
    else
        asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
#endif
}

template <class T> __device__ __forceinline__ void store_relaxed(T *to, const T &value) {
    static_assert(is_word<T>, "one access");
#if defined(SG_CPU)
    T from = value;
    __atomic_store(to, &from, __ATOMIC_RELAXED);
#else
    const auto word = same_bits<typename WordOf<sizeof(T)>::type>(value);
    if constexpr (sizeof(T) == 8)
        asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
    else
        asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
#endif
}

// Adds where other threads add as well; gives the value before. Orders nothing.
template <class T> __device__ __forceinline__ T atomic_add(T *at, T value) {
    if constexpr (is_whole<T> && sizeof(T) == 8)
        return static_cast<T>(atomicAdd(reinterpret_cast<unsigned long long *>(at),
                                        static_cast<unsigned long long>(value)));
    else
        return atomicAdd(at, value);
}

// Writes `after` if the word's bits are those of `before`; gives what was there. Orders nothing.
template <class T>
__device__ __forceinline__ T compare_and_swap(T *at, const T &before, const T &after) {
    static_assert(is_word<T>, "one access");
#if defined(SG_CPU)
    T seen = before, next = after;
    __atomic_compare_exchange(at, &seen, &next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return seen;
#else
    using Word = typename WordOf<sizeof(T)>::type;
    return same_bits<T>(
        atomicCAS(reinterpret_cast<Word *>(at), same_bits<Word>(before), same_bits<Word>(after)));
#endif
}

// Gives others a chance to run.
__device__ __forceinline__ void backoff() {
    __nanosleep(40);
}
