// Copies from global to shared memory that run beside the arithmetic: the thread goes on, and waits
// for its own copies later. Where the hardware has none (before sm_80, and the host) they are plain
// ones, done at once.

#if !defined(SG_CPU) && __CUDA_ARCH__ >= 800
#define SG_ASYNC_COPIES
#endif

// One element (or Pack) of 4, 8 or 16 bytes, each address aligned to that.
template <class T> __device__ __forceinline__ void copy_async(T *shared, const T *from) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "one copy instruction");
#if defined(SG_ASYNC_COPIES)
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
    if constexpr (sizeof(T) == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from),
                     "n"(static_cast<int>(sizeof(T)))
                     : "memory");
#else
    *shared = load(from);
#endif
}

// Ends a group of the thread's copies, which may be empty.
__device__ __forceinline__ void copies_commit() {
#if defined(SG_ASYNC_COPIES)
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

// Waits until at most the `newest` latest groups of the thread are under way. Other threads see the
// copied elements after the next barrier.
template <int newest> __device__ __forceinline__ void copies_wait() {
#if defined(SG_ASYNC_COPIES)
    asm volatile("cp.async.wait_group %0;" ::"n"(newest) : "memory");
#endif
}
