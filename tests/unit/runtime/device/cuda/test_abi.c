/* Our declarations of the driver's functions against cuda.h, where a CUDA toolkit is installed:
   each signature, type and number. The comparison happens while compiling; running it compares the
   names with those that the toolkit's stand-in for libcuda exports. */
#if defined(__has_include)
#if __has_include(<cuda.h>)
#define HAVE_CUDA_H
#endif
#endif

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <setjmp.h>

#include <cmocka.h>

#ifdef HAVE_CUDA_H
#include <assert.h>
#include <cuda.h>

#define SG_CUDA_TYPES
typedef CUresult cu_result;
typedef CUdevice cu_device;
typedef CUdeviceptr cu_pointer;
typedef CUcontext cu_context;
typedef CUmodule cu_module;
typedef CUfunction cu_function;
typedef CUstream cu_stream;
typedef CUevent cu_event;
typedef CUdevice_attribute cu_device_attribute;
typedef CUfunction_attribute cu_function_attribute;
typedef CUpointer_attribute cu_pointer_attribute;
typedef CUjit_option cu_jit_option;
typedef CUmemorytype cu_memory_type;
typedef CUarray cu_array;
typedef CUipcMemHandle cu_ipc_handle;
typedef CUDA_MEMCPY2D cu_copy_rows;
typedef CUlaunchAttribute cu_launch_attribute;
typedef CUlaunchConfig cu_launch;
typedef CUtensorMap cu_map;
typedef CUtensorMapDataType cu_map_type;
typedef CUtensorMapInterleave cu_map_interleave;
typedef CUtensorMapSwizzle cu_map_swizzle;
typedef CUtensorMapL2promotion cu_map_fetch;
typedef CUtensorMapFloatOOBfill cu_map_fill;
#endif

#include "base/program.h"
#include "runtime/device/cuda/driver.h"
#include "tests/unit/group.h"

#ifdef HAVE_CUDA_H
#define SAME_SIGNATURE(member, symbol, arguments)                                                  \
    static_assert(__builtin_types_compatible_p(__typeof__(&symbol),                                \
                                               __typeof__(((cuda_driver *)NULL)->member)),         \
                  #symbol " is declared as cuda.h declares it");
CUDA_DRIVER_FUNCTIONS(SAME_SIGNATURE)
CUDA_DRIVER_LATER_FUNCTIONS(SAME_SIGNATURE)

#define SAME_NUMBER(ours, theirs) static_assert((int)(ours) == (int)(theirs), #theirs)
SAME_NUMBER(CU_OK, CUDA_SUCCESS);
SAME_NUMBER(CU_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
SAME_NUMBER(CU_MEMORY_DEVICE, CU_MEMORYTYPE_DEVICE);
SAME_NUMBER(CU_POINTER_BUFFER_ID, CU_POINTER_ATTRIBUTE_BUFFER_ID);
SAME_NUMBER(CU_LAUNCH_SERIALIZATION, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
SAME_NUMBER(sizeof(CUlaunchAttribute), 72);
SAME_NUMBER(offsetof(CUlaunchAttribute, value), 8);
SAME_NUMBER(offsetof(CUlaunchConfig, hStream), 32);
SAME_NUMBER(offsetof(CUlaunchConfig, numAttrs), 48);
SAME_NUMBER(CU_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
SAME_NUMBER(CU_DEVICE_MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME_NUMBER(CU_DEVICE_L2_CACHE_SIZE, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME_NUMBER(CU_DEVICE_THREADS_PER_MULTIPROCESSOR,
            CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
SAME_NUMBER(CU_DEVICE_CAPABILITY_MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME_NUMBER(CU_DEVICE_CAPABILITY_MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME_NUMBER(CU_DEVICE_COOPERATIVE_LAUNCH, CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
SAME_NUMBER(CU_FUNCTION_LOCAL_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME_NUMBER(CU_FUNCTION_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME_NUMBER(CU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME_NUMBER(CU_MAP_FLOAT, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME_NUMBER(CU_MAP_DOUBLE, CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
SAME_NUMBER(CU_MAP_FETCH_128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
SAME_NUMBER(0, CU_TENSOR_MAP_INTERLEAVE_NONE);
SAME_NUMBER(0, CU_TENSOR_MAP_SWIZZLE_NONE);
SAME_NUMBER(0, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
SAME_NUMBER(sizeof(CUtensorMap), PROGRAM_MAP_BYTES);
SAME_NUMBER(CU_JIT_OPTION_ERROR_LOG, CU_JIT_ERROR_LOG_BUFFER);
SAME_NUMBER(CU_JIT_OPTION_ERROR_LOG_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME_NUMBER(CU_EVENT_FLAGS_DEFAULT, CU_EVENT_DEFAULT);
SAME_NUMBER(CU_EVENT_WITHOUT_TIME, CU_EVENT_DISABLE_TIMING);
SAME_NUMBER(CU_NOT_READY, CUDA_ERROR_NOT_READY);

/* What stands for these types in a build without cuda.h. */
static_assert(sizeof(CUresult) == sizeof(int) && sizeof(CUdevice) == sizeof(int) &&
                  sizeof(CUdevice_attribute) == sizeof(int) &&
                  sizeof(CUfunction_attribute) == sizeof(int) &&
                  sizeof(CUjit_option) == sizeof(int) &&
                  sizeof(CUdeviceptr) == sizeof(unsigned long long),
              "our types have the sizes of cuda.h's");
#endif

static void open_stub(job *j, void *argument) {
    cuda_driver driver;
    const char *why = NULL;
    setenv("SG_CUDA_DRIVER", argument, 1);
    if (!cuda_driver_open(j, &driver, &why))
        job_fail(j, FAULT_DEVICE, NULL, 0, "%s", why);
}

static void check_names(void **unused) {
    (void)unused;
    char stub[] = "/usr/local/cuda/lib64/stubs/libcuda.so";
    if (access(stub, R_OK) != 0)
        skip();
    job *j;
    if (job_run(&allocator_libc, open_stub, stub, &j) != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(check_names)};

TEST_GROUP(abi, NULL, NULL)
