/* The cuda device's struct, and entering and leaving its context. */
#ifndef SG_RUNTIME_DEVICE_CUDA_DEVICE_H
#define SG_RUNTIME_DEVICE_CUDA_DEVICE_H

#include "runtime/device/cuda/driver.h"
#include "runtime/device/device.h"

typedef struct cuda {
    device base;
    cuda_driver driver;
    cu_context context;
    bool adopted; /* it is the caller's */
    cu_device number;
    int threads_per_multiprocessor;
    int cooperative; /* the GPU has cooperative launches */
    device_facts facts;
    job *own;         /* holds this struct */
    allocator memory; /* of modules, which come and go */
    compiler *nvrtc;  /* the opener's */
} cuda;

/* Makes the device's context current until cuda_leave. Every driver call lies between the two,
   and nothing there may fail the job. If the context is current already, as in a program that
   uses the CUDA runtime, this is one quick call instead of two slower ones. */
static inline cu_result cuda_enter(cuda *d, bool *pushed) {
    cu_context current = NULL;
    *pushed = d->driver.context_current(&current) != CU_OK || current != d->context;
    return *pushed ? d->driver.context_push(d->context) : CU_OK;
}

static inline void cuda_leave(cuda *d, bool pushed) {
    cu_context ours;
    if (pushed)
        (void)d->driver.context_pop(&ours);
}

/* The result of one driver call in the device's context. */
#define CUDA_CALL(code, d, call)                                                                   \
    do {                                                                                           \
        bool pushed;                                                                               \
        code = cuda_enter(d, &pushed);                                                             \
        if (code == CU_OK) {                                                                       \
            code = (call);                                                                         \
            cuda_leave(d, pushed);                                                                 \
        }                                                                                          \
    } while (0)

/* Fails the job where the code is an error. */
void cuda_must(const cuda *, job *, cu_result code, const char *doing);
#define CUDA_MUST(d, j, call, doing)                                                               \
    do {                                                                                           \
        cu_result result;                                                                          \
        CUDA_CALL(result, d, call);                                                                \
        cuda_must(d, j, result, doing);                                                            \
    } while (0)

/* Whatever comes of it. */
#define CUDA_TRY(d, call)                                                                          \
    do {                                                                                           \
        cu_result result;                                                                          \
        CUDA_CALL(result, d, call);                                                                \
        (void)result;                                                                              \
    } while (0)

/* The functions of device_ops for binaries (kernel.c). */
module *cuda_load(device *, job *, const program *, blob);
void cuda_unload(device *, module *);
function_facts cuda_function(device *, job *, const module *, int launch);
fault cuda_launch(device *, const module *, int launch, const int64_t grid[3],
                  const void *arguments, size_t bytes, void *stream, int *code);
fault cuda_launch_together(device *, const module *, int launch, const int64_t grid[3],
                           const void *arguments, size_t bytes, void *stream, int *code);
int64_t cuda_together(device *, const module *, int launch);
bool cuda_map(device *, const device_map *, void *to);
int64_t cuda_resident(device *, const module *, int launch);

/* For streams (memory.c). */
void cuda_synchronize(device *base, job *j, void *stream);
void *cuda_mark(device *base, job *j, void *stream);
bool cuda_passed(device *base, job *j, void *mark);
void cuda_unmark(device *base, void *mark);
void *cuda_tick(device *base, job *j, void *stream);
double cuda_between(device *base, job *j, void *from, void *to);
bool cuda_idle(device *base, job *j, void *stream);
void *cuda_stream_open(device *base, job *j);
void cuda_stream_close(device *base, void *stream);
void cuda_order(device *base, job *j, void *before, void *after);
void cuda_within(device *base, job *j, void (*body)(void *), void *argument);
void cuda_destroy_event(cuda *d, cu_event event);

/* For memory, and that of other GPUs (memory.c). */
void *cuda_alloc(device *base, job *j, size_t bytes);
void cuda_free(device *base, void *memory);
void cuda_upload(device *base, job *j, void *to, const void *from, size_t bytes);
void cuda_download(device *base, job *j, void *to, const void *from, size_t bytes);
void *cuda_host_alloc(device *base, job *j, size_t bytes);
void cuda_host_free(device *base, void *memory);
void cuda_download_async(device *base, job *j, void *to, const void *from, size_t bytes,
                         void *stream);
void cuda_copy(device *base, job *j, const device_copy *c, void *stream);
void cuda_fill(device *base, job *j, void *to, int byte, size_t bytes);
fault cuda_fill_async(device *base, void *to, int byte, size_t bytes, void *stream, int *code);
uint64_t cuda_memory_number(device *, const void *memory);
device_place cuda_peer_place(device *, const void *memory);
bool cuda_peer_open(device *, const device_place *, void **base);
void cuda_peer_close(device *, const device_place *, void *base);

#endif
