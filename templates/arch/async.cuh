#pragma once
#include "memory.cuh"
#include "shared.cuh"

#if __CUDA_ARCH__ >= 800
#define SG_ASYNC_COPIES
#endif

// A place in shared memory, as an address of 32 bits.
template <class T> struct SharedAt {
    unsigned at;
    __device__ __forceinline__ explicit SharedAt(T *shared)
        : at(static_cast<unsigned>(__cvta_generic_to_shared(shared))) {
        asm volatile("" : "+r"(at));
    }
    __device__ __forceinline__ explicit SharedAt(unsigned place) : at(place) {}
    __device__ __forceinline__ SharedAt operator+(int elements) const {
        return SharedAt(at + elements * static_cast<int>(sizeof(T)));
    }
    template <int count> __device__ __forceinline__ Pack<T, count> read() const {
        Pack<T, count> pack;
        constexpr int bytes = sizeof(pack);
        static_assert(bytes == 4 || bytes == 8 || bytes == 16, "one load instruction");
        if constexpr (bytes == 16) {
            uint4 w;
            asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(w.x), "=r"(w.y), "=r"(w.z), "=r"(w.w)
                         : "r"(at)
                         : "memory");
            memcpy(&pack, &w, bytes);
        } else if constexpr (bytes == 8) {
            unsigned long long w;
            asm volatile("ld.shared.u64 %0, [%1];" : "=l"(w) : "r"(at) : "memory");
            memcpy(&pack, &w, bytes);
        } else {
            unsigned w;
            asm volatile("ld.shared.u32 %0, [%1];" : "=r"(w) : "r"(at) : "memory");
            memcpy(&pack, &w, bytes);
        }
        return pack;
    }
    template <int count> __device__ __forceinline__ void write(const Pack<T, count> &pack) const {
        constexpr int bytes = sizeof(pack);
        static_assert(bytes == 4 || bytes == 8 || bytes == 16, "one store instruction");
        if constexpr (bytes == 16) {
            uint4 w;
            memcpy(&w, &pack, bytes);
            asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(w.x), "r"(w.y),
                         "r"(w.z), "r"(w.w)
                         : "memory");
        } else if constexpr (bytes == 8) {
            unsigned long long w;
            memcpy(&w, &pack, bytes);
            asm volatile("st.shared.u64 [%0], %1;" ::"r"(at), "l"(w) : "memory");
        } else {
            unsigned w;
            memcpy(&w, &pack, bytes);
            asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(w) : "memory");
        }
    }
    __device__ __forceinline__ T read() const { return read<1>().element[0]; }
    __device__ __forceinline__ void write(T value) const {
        Pack<T, 1> pack;
        pack.element[0] = value;
        write<1>(pack);
    }
};

// Places as numbers, for those who compute with them: bytes, of which shared_begin() is where
// shared_bytes() begins.
__device__ __forceinline__ int shared_begin() {
    return static_cast<int>(SharedAt<unsigned char>(shared_bytes()).at);
}
template <class T> __device__ __forceinline__ SharedAt<T> shared_place(int place) {
    return SharedAt<T>(static_cast<unsigned>(place));
}

// Begins to copy `count` elements of 4, 8 or 16 bytes together, each address aligned to that. The
// thread goes on, and waits for its own copies later.
template <int count, class T>
__device__ __forceinline__ void copy_async(SharedAt<T> to, const T *from) {
    constexpr int bytes = count * static_cast<int>(sizeof(T));
    static_assert(bytes == 4 || bytes == 8 || bytes == 16, "one copy instruction");
#if defined(SG_ASYNC_COPIES)
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to.at), "l"(from)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to.at), "l"(from), "n"(bytes)
                     : "memory");
#else
    to.template write<count>(load_pack(reinterpret_cast<const Pack<T, count> *>(from)));
#endif
}

// The same of elements that others read again before long: the second-level cache evicts them last.
template <int count, class T>
__device__ __forceinline__ void copy_async_kept(SharedAt<T> to, const T *from) {
#if defined(SG_ASYNC_COPIES)
    constexpr int bytes = count * static_cast<int>(sizeof(T));
    unsigned long long last;
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(last));
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2;" ::"r"(to.at),
                     "l"(from), "l"(last)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], %2, %3;" ::"r"(to.at),
                     "l"(from), "n"(bytes), "l"(last)
                     : "memory");
#else
    copy_async<count>(to, from);
#endif
}

// Copies one element to a plain address in shared memory.
template <class T> __device__ __forceinline__ void copy_one_async(T *shared, const T *from) {
#if defined(SG_ASYNC_COPIES)
    copy_async<1>(SharedAt<T>(shared), from);
#else
    using Bits = typename BitsOf<sizeof(T)>::type;
    *reinterpret_cast<Bits *>(shared) = __ldg(reinterpret_cast<const Bits *>(from));
#endif
}

// Begins to copy 4, 8 or 16 bytes, or to put zeros there.
template <class T>
__device__ __forceinline__ void copy_or_clear_async(T *shared, const T *from, bool copies) {
#if defined(SG_ASYNC_COPIES)
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    constexpr int bytes = sizeof(T);
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                     "r"(copies ? bytes : 0)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from),
                     "n"(bytes), "r"(copies ? bytes : 0)
                     : "memory");
#else
    *shared = copies ? *from : T{};
#endif
}

// Begins to copy 4, 8 or 16 bytes, which the kernel itself may write later, to shared memory.
template <class T> __device__ __forceinline__ void copy_own_async(T *shared, const T *from) {
#if defined(SG_ASYNC_COPIES)
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    if constexpr (sizeof(T) == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(sizeof(T)) : "memory");
#else
    *shared = *from;
#endif
}

// Ends a group of the thread's copies, which may be empty.
__device__ __forceinline__ void copies_commit() {
#if defined(SG_ASYNC_COPIES)
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until only the `newest` latest groups are in flight. Other threads see copies after the next barrier.
template <int newest> __device__ __forceinline__ void copies_wait() {
#if defined(SG_ASYNC_COPIES)
    asm volatile("cp.async.wait_group %0;" ::"n"(newest) : "memory");
#endif
}
