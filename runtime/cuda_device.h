/* Shared by the two halves of the cuda device: its struct, and entering and leaving its context. */
#ifndef SG_RUNTIME_CUDA_DEVICE_H
#define SG_RUNTIME_CUDA_DEVICE_H

#include <stdatomic.h>

#include "runtime/cuda_driver.h"
#include "runtime/device.h"
#include "runtime/nvrtc.h"

typedef struct cuda {
    device base;
    cuda_driver driver;
    cu_context context;
    cu_device number;
    device_facts facts;
    job *own;                /* the memory of this struct and its texts */
    allocator memory;        /* for modules, which come and go */
    const char *nvrtc_given; /* the caller's path or NULL */
    _Atomic(nvrtc *) nvrtc;  /* opened by the first compilation */
} cuda;

/* Makes the device's context current, until cuda_leave; every call of the driver lies between the
   two, and nothing in between may fail the job. */
static inline cu_result cuda_enter(cuda *d) {
    return d->driver.context_push(d->context);
}

static inline void cuda_leave(cuda *d) {
    cu_context ours;
    (void)d->driver.context_pop(&ours); /* what cuda_enter pushed */
}

/* Fails the job where the code is an error. */
void cuda_must(const cuda *, job *, cu_result code, const char *doing);

/* The functions of device_ops that deal with binaries: cuda_kernel.c. */
blob cuda_compile(device *, job *, const program *);
module *cuda_load(device *, job *, const program *, blob);
void cuda_unload(device *, module *);
function_facts cuda_function(device *, job *, const module *, int launch);
fault cuda_launch(device *, const module *, int launch, const int64_t grid[3],
                  const void *arguments, size_t bytes, void *stream, int *code);

#endif
