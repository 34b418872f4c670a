#pragma once

// Makes a kernel's threads need `count` registers and a few more, so that no more blocks than that
// leaves room for are resident. `never`: what no launch makes true, and compilers do not know.
template <int count, class T> __device__ __forceinline__ void need_registers(bool never, T *memory) {
    if (never) {
        volatile unsigned *const words = reinterpret_cast<volatile unsigned *>(memory);
        unsigned held[count];
#pragma unroll
        for (int i = 0; i < count; ++i)
            held[i] = words[i];
#pragma unroll
        for (int i = 0; i < count; ++i)
            words[i] = held[i];
    }
}
