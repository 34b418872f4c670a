#pragma once

// The next launch may begin once every block has said so, or has ended.
__device__ __forceinline__ void next_may_begin() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// Waits for the launch before, if this one began early. Ahead of it nothing is touched that a launch writes.
__device__ __forceinline__ void await_launch_before() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Waits for the launch before. Compilers know no address that follows from x until then, and so load nothing.
#if __CUDA_ARCH__ >= 900
__device__ __forceinline__ void await_with(int &x) { asm volatile("griddepcontrol.wait;" : "+r"(x) : : "memory"); }
#else
__device__ __forceinline__ void await_with(int &) {}
#endif

// A load that stays behind that wait. Compilers move loads of memory that is only read before it.
template <class T> __device__ __forceinline__ T load_behind(const T *from) {
    unsigned word[sizeof(T) / 4];
    const auto at = __cvta_generic_to_global(from);
    if constexpr (sizeof(T) == 16)
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                     : "l"(at));
    else if constexpr (sizeof(T) == 8)
        asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "l"(at));
    else
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(word[0]) : "l"(at));
    T to;
    memcpy(&to, word, sizeof to);
    return to;
}

// Loads what no launch writes. Only such loads may come before that wait.
template <class T> __device__ __forceinline__ T load_ahead(const T *from) {
    const auto at = __cvta_generic_to_global(from);
    T to;
    if constexpr (sizeof(T) == 8) {
        unsigned long long word;
        asm("ld.global.nc.u64 %0, [%1]; // ahead" : "=l"(word) : "l"(at));
        memcpy(&to, &word, sizeof to);
    } else {
        unsigned word;
        asm("ld.global.nc.u32 %0, [%1]; // ahead" : "=r"(word) : "l"(at));
        memcpy(&to, &word, sizeof to);
    }
    return to;
}
