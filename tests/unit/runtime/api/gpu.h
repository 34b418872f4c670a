/* The stand-in for the CUDA driver, for tests of the library's calls: a context on "cuda" that is
   opened from now on has its GPU. Needs: FAKE_CUDA, its path. */
#ifndef SG_TESTS_RUNTIME_API_GPU_H
#define SG_TESTS_RUNTIME_API_GPU_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "tests/unit/fake/cuda.h"

static inline fake_cuda_state *take_gpu(void) {
    void *handle = dlopen(FAKE_CUDA, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(handle);
    fake_cuda_function *find;
    void *address = dlsym(handle, "fake_cuda");
    memcpy(&find, &address, sizeof address);
    *find() = (fake_cuda_state){.device_count = 1};
    setenv("SG_CUDA_DRIVER", FAKE_CUDA, 1);
    return find();
}

#endif
