/* The part of the CUDA driver's interface that is used here, declared anew so that the build needs
   no CUDA header. Takes: libcuda.so.1. Makes: a table of its functions.
   tests/unit/runtime/device/cuda/test_abi.c compares every type and number with cuda.h where that
   is installed. */
#ifndef SG_RUNTIME_DEVICE_CUDA_DRIVER_H
#define SG_RUNTIME_DEVICE_CUDA_DRIVER_H

#include <stdint.h>

#include "runtime/device/loader.h"

#ifndef SG_CUDA_TYPES /* the comparison with cuda.h puts its types here */
typedef int cu_result;
typedef int cu_device;
typedef unsigned long long cu_pointer;
typedef struct cu_context_object *cu_context;
typedef struct cu_module_object *cu_module;
typedef struct cu_function_object *cu_function;
typedef struct cu_stream_object *cu_stream;
typedef struct cu_event_object *cu_event;
typedef int cu_device_attribute;
typedef int cu_function_attribute;
typedef int cu_pointer_attribute;
typedef int cu_jit_option;
typedef int cu_memory_type;
typedef struct cu_array_object *cu_array;
typedef int cu_map_type;
typedef int cu_map_interleave;
typedef int cu_map_swizzle;
typedef int cu_map_fetch;
typedef int cu_map_fill;
typedef struct cu_map {
    _Alignas(64) unsigned long long opaque[16];
} cu_map;
typedef struct cu_ipc_handle {
    char reserved[64];
} cu_ipc_handle;

/* A copy of rows (CUDA_MEMCPY2D). Offsets, arrays and host addresses are of no use here and 0. */
typedef struct cu_copy_rows {
    size_t srcXInBytes, srcY;
    cu_memory_type srcMemoryType;
    const void *srcHost;
    cu_pointer srcDevice;
    cu_array srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    cu_memory_type dstMemoryType;
    void *dstHost;
    cu_pointer dstDevice;
    cu_array dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} cu_copy_rows;

/* What is special about a launch (CUlaunchAttribute), and a launch (CUlaunchConfig). */
typedef struct cu_launch_attribute {
    int id;
    char pad[4];
    union {
        char pad[64];
        int programmaticStreamSerializationAllowed;
    } value;
} cu_launch_attribute;
typedef struct cu_launch {
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    cu_stream hStream;
    cu_launch_attribute *attrs;
    unsigned numAttrs;
} cu_launch;
#endif

enum {
    CU_OK = 0,
    CU_INVALID_VALUE = 1,
    CU_NO_DEVICE = 100,

    CU_DEVICE_CLOCK = 13, /* kHz */
    CU_DEVICE_MULTIPROCESSORS = 16,
    CU_DEVICE_PCI_BUS = 33,
    CU_DEVICE_PCI_DEVICE = 34,
    CU_DEVICE_PCI_DOMAIN = 50,
    CU_DEVICE_MEMORY_CLOCK = 36, /* kHz */
    CU_DEVICE_MEMORY_BITS = 37,  /* that move at each edge of that clock */
    CU_DEVICE_L2_CACHE_SIZE = 38,
    CU_DEVICE_THREADS_PER_MULTIPROCESSOR = 39,
    CU_DEVICE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_CAPABILITY_MINOR = 76,
    CU_DEVICE_COOPERATIVE_LAUNCH = 95,

    CU_FUNCTION_LOCAL_BYTES = 3,
    CU_FUNCTION_REGISTERS = 4,
    CU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES = 8,
    CU_FUNCTION_SHARED_CARVEOUT = 9, /* percent of what shared memory and the L1 share */

    CU_JIT_OPTION_ERROR_LOG = 5,
    CU_JIT_OPTION_ERROR_LOG_BYTES = 6,

    CU_LAUNCH_SERIALIZATION = 6, /* by the programs of the launches (programmatic) */

    CU_MEMORY_DEVICE = 2,

    CU_MAP_UINT16 = 1, /* any cell of 16 bits */
    CU_MAP_FLOAT = 7,
    CU_MAP_DOUBLE = 8,
    CU_MAP_FETCH_128 = 2, /* bytes that the L2 takes from memory at once */

    CU_EVENT_FLAGS_DEFAULT = 0,
    CU_EVENT_WITHOUT_TIME = 2,
    CU_STREAM_INDEPENDENT = 1, /* of the default stream */
    CU_NOT_READY = 600,
    CU_PEER_ENABLED_ALREADY = 704,
    CU_IPC_ENABLE_PEERS = 1,
    CU_POINTER_BUFFER_ID = 7,
};

/* Member, symbol and arguments of each function; every one returns a cu_result. */
#define CUDA_DRIVER_FUNCTIONS(F)                                                                   \
    F(init, cuInit, (unsigned flags))                                                              \
    F(driver_version, cuDriverGetVersion, (int *version))                                          \
    F(error_name, cuGetErrorName, (cu_result, const char **name))                                  \
    F(error_string, cuGetErrorString, (cu_result, const char **text))                              \
    F(device_count, cuDeviceGetCount, (int *count))                                                \
    F(device_get, cuDeviceGet, (cu_device *, int index))                                           \
    F(device_name, cuDeviceGetName, (char *name, int size, cu_device))                             \
    F(device_attribute, cuDeviceGetAttribute, (int *value, cu_device_attribute, cu_device))        \
    F(device_memory, cuDeviceTotalMem_v2, (size_t *, cu_device))                                   \
    F(context_retain, cuDevicePrimaryCtxRetain, (cu_context *, cu_device))                         \
    F(context_release, cuDevicePrimaryCtxRelease_v2, (cu_device))                                  \
    F(context_push, cuCtxPushCurrent_v2, (cu_context))                                             \
    F(context_pop, cuCtxPopCurrent_v2, (cu_context *))                                             \
    F(context_current, cuCtxGetCurrent, (cu_context *))                                            \
    F(context_device, cuCtxGetDevice, (cu_device *))                                               \
    F(module_load, cuModuleLoadDataEx,                                                             \
      (cu_module *, const void *image, unsigned options, cu_jit_option *, void **values))          \
    F(module_unload, cuModuleUnload, (cu_module))                                                  \
    F(module_function, cuModuleGetFunction, (cu_function *, cu_module, const char *name))          \
    F(function_set, cuFuncSetAttribute, (cu_function, cu_function_attribute, int value))           \
    F(function_get, cuFuncGetAttribute, (int *value, cu_function_attribute, cu_function))          \
    F(occupancy, cuOccupancyMaxActiveBlocksPerMultiprocessor,                                      \
      (int *blocks, cu_function, int threads, size_t shared_bytes))                                \
    F(launch, cuLaunchKernel,                                                                      \
      (cu_function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,           \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, cu_stream, void **arguments,     \
       void **extra))                                                                              \
    F(launch_together, cuLaunchCooperativeKernel,                                                  \
      (cu_function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,           \
       unsigned block_y, unsigned block_z, unsigned shared_bytes, cu_stream, void **arguments))    \
    F(memory_alloc, cuMemAlloc_v2, (cu_pointer *, size_t bytes))                                   \
    F(memory_free, cuMemFree_v2, (cu_pointer))                                                     \
    F(memory_info, cuMemGetInfo_v2, (size_t *, size_t *))                                          \
    F(upload, cuMemcpyHtoD_v2, (cu_pointer to, const void *from, size_t bytes))                    \
    F(download, cuMemcpyDtoH_v2, (void *to, cu_pointer from, size_t bytes))                        \
    F(download_async, cuMemcpyDtoHAsync_v2, (void *to, cu_pointer from, size_t bytes, cu_stream))  \
    F(host_alloc, cuMemHostAlloc, (void **, size_t bytes, unsigned flags))                         \
    F(host_free, cuMemFreeHost, (void *))                                                          \
    F(copy, cuMemcpyDtoDAsync_v2, (cu_pointer to, cu_pointer from, size_t bytes, cu_stream))       \
    F(copy_rows, cuMemcpy2DAsync_v2, (const cu_copy_rows *, cu_stream))                            \
    F(fill, cuMemsetD8_v2, (cu_pointer to, unsigned char byte, size_t bytes))                      \
    F(fill_async, cuMemsetD8Async, (cu_pointer to, unsigned char byte, size_t bytes, cu_stream))   \
    F(stream_synchronize, cuStreamSynchronize, (cu_stream))                                        \
    F(stream_query, cuStreamQuery, (cu_stream))                                                    \
    F(stream_wait, cuStreamWaitEvent, (cu_stream, cu_event, unsigned flags))                       \
    F(stream_create, cuStreamCreateWithPriority, (cu_stream *, unsigned flags, int priority))      \
    F(stream_destroy, cuStreamDestroy_v2, (cu_stream))                                             \
    F(stream_priorities, cuCtxGetStreamPriorityRange, (int *least, int *greatest))                 \
    F(peer_can, cuDeviceCanAccessPeer, (int *can, cu_device, cu_device peer))                      \
    F(peer_enable, cuCtxEnablePeerAccess, (cu_context peer, unsigned flags))                       \
    F(memory_range, cuMemGetAddressRange_v2, (cu_pointer *, size_t *, cu_pointer))                 \
    F(pointer_fact, cuPointerGetAttribute, (void *out, cu_pointer_attribute, cu_pointer))          \
    F(ipc_get, cuIpcGetMemHandle, (cu_ipc_handle *, cu_pointer))                                   \
    F(ipc_open, cuIpcOpenMemHandle_v2, (cu_pointer *, cu_ipc_handle, unsigned flags))              \
    F(ipc_close, cuIpcCloseMemHandle, (cu_pointer))                                                \
    F(event_create, cuEventCreate, (cu_event *, unsigned flags))                                   \
    F(event_record, cuEventRecord, (cu_event, cu_stream))                                          \
    F(event_query, cuEventQuery, (cu_event))                                                       \
    F(event_synchronize, cuEventSynchronize, (cu_event))                                           \
    F(event_elapsed, cuEventElapsedTime, (float *milliseconds, cu_event from, cu_event to))        \
    F(event_destroy, cuEventDestroy_v2, (cu_event))

/* The same of those that drivers before CUDA 12.0 do not have: NULL there. */
#define CUDA_DRIVER_LATER_FUNCTIONS(F)                                                             \
    F(launch_as, cuLaunchKernelEx,                                                                 \
      (const cu_launch *, cu_function, void **arguments, void **extra))                            \
    F(map_tiled, cuTensorMapEncodeTiled,                                                           \
      (cu_map *, cu_map_type, uint32_t axes, void *data, const uint64_t *size,                     \
       const uint64_t *strides, const uint32_t *box, const uint32_t *steps, cu_map_interleave,     \
       cu_map_swizzle, cu_map_fetch, cu_map_fill))

typedef struct cuda_driver {
#define CUDA_DRIVER_MEMBER(member, symbol, arguments) cu_result(*member) arguments;
    CUDA_DRIVER_FUNCTIONS(CUDA_DRIVER_MEMBER)
    CUDA_DRIVER_LATER_FUNCTIONS(CUDA_DRIVER_MEMBER)
#undef CUDA_DRIVER_MEMBER
    library library;
} cuda_driver;

/* False, with *why a sentence in the job, where there is no usable driver. The environment variable
   SG_CUDA_DRIVER holds a path, or "none" to do without. */
bool cuda_driver_open(job *, cuda_driver *out, const char **why);

/* "CUDA_ERROR_NO_DEVICE". Valid for ever. */
const char *cuda_error_name(const cuda_driver *, cu_result);

/* "CUDA_ERROR_NO_DEVICE (100: no CUDA-capable device is detected)", in the job. */
const char *cuda_error(const cuda_driver *, job *, cu_result);

#endif
