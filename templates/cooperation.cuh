#pragma once
#include "common.cuh"
#include "numbers.cuh"

// How blocks work together.
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
