/* CUDA for the cpu device. Takes: an emitted CUDA file, compiled behind this header by the host's
   C++ compiler. Makes: a shared object whose kernels the device runs a block at a time.
   The first part is what both sides know, in C; the rest is for the emitted file alone. It includes
   nothing, so that no name of the host's headers can meet one of the file. */
#ifndef SG_RUNTIME_CPU_CUDA_H
#define SG_RUNTIME_CPU_CUDA_H

typedef struct sg_cpu_index {
    unsigned x, y, z;
} sg_cpu_index;

/* Where in a grid a worker is. A kernel reads its indices here; at a barrier it saves `thread`,
   because the other threads of its block use the same place. */
typedef struct sg_cpu_place {
    sg_cpu_index thread, block, block_size, grid_size;
    unsigned char *shared;
    void (*barrier)(struct sg_cpu_place *);
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

__forceinline__ void __syncthreads() {
    sg_cpu_place *const place = sg_cpu_here();
    const sg_cpu_index mine = place->thread;
    place->barrier(place);
    place->thread = mine;
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

/* ---- what the device appends to the file ----------------------------------------------------- */

/* One thread of a kernel that has barriers: the device switches to another at each. */
#define SG_CPU_THREAD(number, kernel)                                                              \
    static void sg_cpu_kernel_##number(const void *arguments) {                                    \
        kernel(*static_cast<const Arguments *>(arguments));                                        \
    }

/* All threads of a block of a kernel free of barriers. */
#define SG_CPU_BLOCK(number, kernel)                                                               \
    static void sg_cpu_kernel_##number(const void *arguments) {                                    \
        sg_cpu_place *const place = sg_cpu_here();                                                 \
        const sg_cpu_index size = place->block_size;                                               \
        for (unsigned z = 0; z < size.z; ++z)                                                      \
            for (unsigned y = 0; y < size.y; ++y)                                                  \
                for (unsigned x = 0; x < size.x; ++x) {                                            \
                    place->thread = {x, y, z};                                                     \
                    kernel(*static_cast<const Arguments *>(arguments));                            \
                }                                                                                  \
    }

#define SG_CPU_MODULE(...)                                                                         \
    static void (*const sg_cpu_kernels[])(const void *) = {__VA_ARGS__};                           \
    sg_cpu_module_table sg_cpu_module = {                                                          \
        nullptr, sizeof sg_cpu_kernels / sizeof sg_cpu_kernels[0], sg_cpu_kernels};

#endif
#endif
