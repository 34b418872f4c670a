#pragma once
#include "memory.cuh"
#include "numbers.cuh"

// Words of 4 or 8 bytes that blocks publish for each other. What a block has done before
// store_release is seen by one that has read that value with load_acquire; the relaxed ones order
// nothing. A block waits only for what runs already (docs/architecture.md).
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
    typename WordOf<sizeof(T)>::type word;
    if constexpr (sizeof(T) == 8)
        asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
    else
        asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
    return same_bits<T>(word);
}

template <class T> __device__ __forceinline__ T load_relaxed(const T *from) {
    static_assert(is_word<T>, "one access");
    typename WordOf<sizeof(T)>::type word;
    if constexpr (sizeof(T) == 8)
        asm volatile("ld.relaxed.gpu.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
    else
        asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(word) : "l"(from) : "memory");
    return same_bits<T>(word);
}

template <class T> __device__ __forceinline__ void store_release(T *to, const T &value) {
    static_assert(is_word<T>, "one access");
    const auto word = same_bits<typename WordOf<sizeof(T)>::type>(value);
    if constexpr (sizeof(T) == 8)
        asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
    else
        asm volatile("st.release.gpu.u32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
}

template <class T> __device__ __forceinline__ void store_relaxed(T *to, const T &value) {
    static_assert(is_word<T>, "one access");
    const auto word = same_bits<typename WordOf<sizeof(T)>::type>(value);
    if constexpr (sizeof(T) == 8)
        asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(to), "l"(word) : "memory");
    else
        asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(to), "r"(word) : "memory");
}

// Two words of 8 bytes side by side, each of which is an access of its own.
using WordPair = Pack<unsigned long long, 2>;

__device__ __forceinline__ WordPair load_relaxed(const WordPair *from) {
    WordPair to;
    asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];"
                 : "=l"(to.element[0]), "=l"(to.element[1])
                 : "l"(from)
                 : "memory");
    return to;
}

__device__ __forceinline__ void store_relaxed(WordPair *to, const WordPair &pair) {
    asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(pair.element[0]),
                 "l"(pair.element[1])
                 : "memory");
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
    using Word = typename WordOf<sizeof(T)>::type;
    return same_bits<T>(
        atomicCAS(reinterpret_cast<Word *>(at), same_bits<Word>(before), same_bits<Word>(after)));
}

// Before threads wait for other blocks, which wait for what all threads of this one publish: those run on.
__device__ __forceinline__ void before_waiting() {}

// Between two looks at a word that is about to come. A load takes longer than a useful pause.
__device__ __forceinline__ void wait_a_moment() {}

// Gives others a chance to run.
__device__ __forceinline__ void backoff() { __nanosleep(40); }
