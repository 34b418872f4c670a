// How threads work together beyond barriers: within a warp, and between blocks. What differs
// between GPUs and the host stands here as in common.cuh, which comes before this file.

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

// All lanes' words of 4 bytes, whole numbers, to one that each lane gets, by one instruction (sm_80)
// in place of five shuffles one after another. How: 1 the sum, 2 the least, 3 the greatest, 4 and,
// 5 or, 6 exclusive or.
#if !defined(SG_CPU) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
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
template <int how, class T> __device__ __forceinline__ T join_lanes(T mine) {
    return mine;
}
#endif

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
// CUDA promises no order in which blocks begin. One may wait for what another publishes where that
// has taken its place in line earlier, by a lower number from a counter in global memory; where all
// blocks are resident (base/program.h); and, as CUB's scans do too, where that has a lower blockIdx,
// because all GPUs known begin blocks in the order of their numbers. It calls `backoff` while it
// waits, or `wait_a_moment`.
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

// Two words of 8 bytes side by side, each of which is an access of its own.
using WordPair = Pack<unsigned long long, 2>;

__device__ __forceinline__ WordPair load_relaxed(const WordPair *from) {
    WordPair to;
#if defined(SG_CPU)
    __atomic_load(&from->element[0], &to.element[0], __ATOMIC_RELAXED);
    __atomic_load(&from->element[1], &to.element[1], __ATOMIC_RELAXED);
#else
    asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];"
                 : "=l"(to.element[0]), "=l"(to.element[1])
                 : "l"(from)
                 : "memory");
#endif
    return to;
}

__device__ __forceinline__ void store_relaxed(WordPair *to, const WordPair &pair) {
#if defined(SG_CPU)
    WordPair from = pair;
    __atomic_store(&to->element[0], &from.element[0], __ATOMIC_RELAXED);
    __atomic_store(&to->element[1], &from.element[1], __ATOMIC_RELAXED);
#else
    asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(pair.element[0]),
                 "l"(pair.element[1])
                 : "memory");
#endif
}

// ---- words between blocks in memory that nobody has prepared ---------------------------------
//
// Temporary memory holds anything when a launch begins. A value is published with a mark of the
// launch beside it, and a reader takes it when it finds the mark: no memory is set before the
// launch, and no fence orders value and mark, because both are one access of 16 bytes.
//
//     | mark | value |       a value of 16 bytes takes two of these, each with the mark
//
// The mark follows from the tag, which no other launch has, so that what lay there before passes
// for a value of this launch with a chance of 2^-62. A launch that is replayed (a CUDA graph) has
// the same tag again, and between two replays anything may happen to any part of the memory, also
// nothing. Therefore either a word is erased by whoever was the last to need it, and has seen it
// there itself, in the launch that wrote it; or its mark is made from the tag and the moment of the
// launch (mark_of, this_moment), which one block tells the others by words of the first kind.
//
// From sm_70 on a load or store of the type b128 is a single access (PTX ISA 8.3, which CUDA 12.3
// is the first to have; vectors of two words are not: the memory consistency model takes each
// element for itself). Else the value is stored before the mark, by release and acquire.

#if !defined(SG_CPU) && __CUDACC_VER_MAJOR__ * 100 + __CUDACC_VER_MINOR__ >= 1203
#define SG_WIDE_WORDS
#endif

struct alignas(16) MarkedWord {
    unsigned long long mark, value;
};

// Never the tag itself. For one tag no two moments have the same; for two tags a chance of 2^-64.
__device__ __forceinline__ unsigned long long mark_of(unsigned long long tag,
                                                      unsigned long long moment) {
    return tag + (moment + 1) * 0x9E3779B97F4A7C15ull;
}

// Another number in each of the launches that follow one another: the cycles that a multiprocessor has
// counted, which never are fewer than before (PTX ISA, %clock64), beside the number of that
// multiprocessor, so that it does not matter on which of them a launch asks. 2^54 cycles are more
// than three months. On the host a count of the questions.
__device__ __forceinline__ unsigned long long this_moment() {
#if defined(SG_CPU)
    static unsigned long long moments;
    return __atomic_fetch_add(&moments, 1ull, __ATOMIC_RELAXED);
#else
    unsigned multiprocessor;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    return static_cast<unsigned long long>(clock64()) * 1024 + multiprocessor;
#endif
}

__device__ __forceinline__ void publish(MarkedWord *to, const MarkedWord &word) {
#if defined(SG_WIDE_WORDS)
    asm volatile("{\n\t.reg .b128 word;\n\t"
                 "mov.b128 word, {%1, %2};\n\t"
                 "st.relaxed.gpu.global.b128 [%0], word;\n\t}" ::"l"(__cvta_generic_to_global(to)),
                 "l"(word.mark), "l"(word.value)
                 : "memory");
#else
    store_relaxed(&to->value, word.value);
    store_release(&to->mark, word.mark);
#endif
}

// What is there: the value counts only if the mark is the one that is waited for.
__device__ __forceinline__ MarkedWord look_at(const MarkedWord *from) {
    MarkedWord word;
#if defined(SG_WIDE_WORDS)
    asm volatile("{\n\t.reg .b128 word;\n\t"
                 "ld.relaxed.gpu.global.b128 word, [%2];\n\t"
                 "mov.b128 {%0, %1}, word;\n\t}"
                 : "=l"(word.mark), "=l"(word.value)
                 : "l"(__cvta_generic_to_global(from))
                 : "memory");
#else
    word.mark = load_acquire(&from->mark);
    word.value = load_relaxed(&from->value);
#endif
    return word;
}

// No launch takes what is there for its own, as no tag is 0. Once nobody waits for it any more. By an
// access as wide as the one that it follows: two that overlap in part are a race by the memory model.
__device__ __forceinline__ void erase(MarkedWord *at) {
#if defined(SG_WIDE_WORDS)
    publish(at, {0, 0});
#else
    store_relaxed(&at->mark, 0ull);
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

// Between two looks at a word that is about to come: the cpu device gives others a chance to run; on
// a GPU the answer to a load takes longer than any pause would be of use.
__device__ __forceinline__ void wait_a_moment() {
#if defined(SG_CPU)
    __nanosleep(40);
#endif
}

// Gives others a chance to run.
__device__ __forceinline__ void backoff() {
    __nanosleep(40);
}
