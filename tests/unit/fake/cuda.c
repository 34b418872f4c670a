/* The driver's functions as the cuda device calls them: memory is the host's, launches are
   recorded, and any function fails when a test wants it to. Built as a shared library. */
#include "tests/unit/fake/cuda.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/device/cuda/driver.h"

#define EXPORT __attribute__((visibility("default")))

enum { NOT_FOUND = 500, INVALID_CONTEXT = 201, INVALID_VALUE = 1 };

static fake_cuda_state state;
static char primary; /* its address is the primary context */
static char code_object;
static char entry_name[64];

EXPORT fake_cuda_state *fake_cuda(void);
EXPORT fake_cuda_state *fake_cuda(void) {
    return &state;
}

EXPORT void *fake_cuda_primary(void);
EXPORT void *fake_cuda_primary(void) {
    return &primary;
}

static cu_result outcome(const char *symbol) {
    if (state.fail == NULL || strcmp(state.fail, symbol) != 0)
        return CU_OK;
    return state.good_calls-- > 0 ? CU_OK : state.code;
}

static cu_result in_context(const char *symbol) {
    const void *ours = state.adopted != NULL ? state.adopted : &primary;
    if (state.depth == 0 || state.stack[state.depth - 1] != ours) {
        state.homeless++;
        return INVALID_CONTEXT;
    }
    return outcome(symbol);
}

/* What was put on streams, in order. */
static void note(const char *what, const void *stream) {
    if (state.order.count < FAKE_ORDER)
        state.order.what[state.order.count] = what, state.order.stream[state.order.count] = stream;
    state.order.count++;
}

/* Defines the symbol with the very arguments that the library declares for it. */
#define OUTSIDE(symbol, ...)                                                                       \
    EXPORT cu_result symbol(__VA_ARGS__);                                                          \
    EXPORT cu_result symbol(__VA_ARGS__) {                                                         \
        const cu_result result = outcome(#symbol);                                                 \
        if (result != CU_OK)                                                                       \
            return result;
#define INSIDE(symbol, ...)                                                                        \
    EXPORT cu_result symbol(__VA_ARGS__);                                                          \
    EXPORT cu_result symbol(__VA_ARGS__) {                                                         \
        const cu_result result = in_context(#symbol);                                              \
        if (result != CU_OK)                                                                       \
            return result;
#define END                                                                                        \
    return CU_OK;                                                                                  \
    }

/* clang-format off */
OUTSIDE(cuInit, unsigned flags)
    if (flags != 0)
        return INVALID_VALUE;
END

OUTSIDE(cuDriverGetVersion, int *version)
    *version = state.driver != 0 ? state.driver : 13000;
END

OUTSIDE(cuGetErrorName, cu_result code, const char **name)
    *name = code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : code == CU_NO_DEVICE ? "CUDA_ERROR_NO_DEVICE"
          : code == 999 ? "CUDA_ERROR_UNKNOWN" : NULL;
    if (*name == NULL)
        return INVALID_VALUE;
END

OUTSIDE(cuGetErrorString, cu_result code, const char **text)
    *text = code == 2 ? "out of memory" : NULL;
    if (*text == NULL)
        return INVALID_VALUE;
END

OUTSIDE(cuDeviceGetCount, int *count)
    *count = state.device_count;
END

OUTSIDE(cuDeviceGet, cu_device *device, int index)
    *device = index + 40; /* a device's number need not be its index */
END

OUTSIDE(cuDeviceGetName, char *name, int size, cu_device device)
    if (size < 16 || device < 40)
        return INVALID_VALUE;
    strcpy(name, "Fake GPU");
    state.named = device;
END

OUTSIDE(cuDeviceGetAttribute, int *value, cu_device_attribute attribute, cu_device device)
    if (device < 40)
        return INVALID_VALUE;
    switch (attribute) {
    case CU_DEVICE_MULTIPROCESSORS: *value = 132; break;
    case CU_DEVICE_COOPERATIVE_LAUNCH: *value = !state.not_cooperative; break;
    case CU_DEVICE_CLOCK: *value = 1980000; break;
    case CU_DEVICE_MEMORY_CLOCK: *value = state.is_h200 ? 3125000 : 2619000; break;
    case CU_DEVICE_MEMORY_BITS: *value = state.is_h200 ? 6144 : 5120; break;
    case CU_DEVICE_L2_CACHE_SIZE: *value = (state.is_h200 ? 60 : 50) << 20; break;
    case CU_DEVICE_THREADS_PER_MULTIPROCESSOR: *value = 2048; break;
    case CU_DEVICE_CAPABILITY_MAJOR: *value = 9; break;
    case CU_DEVICE_CAPABILITY_MINOR: *value = 0; break;
    default: return INVALID_VALUE;
    }
END

OUTSIDE(cuDeviceTotalMem_v2, size_t *bytes, cu_device device)
    (void)device;
    *bytes = (size_t)80 << 30;
END

OUTSIDE(cuDevicePrimaryCtxRetain, cu_context *context, cu_device device)
    (void)device;
    state.retained++;
    *context = (cu_context)(void *)&primary;
END

OUTSIDE(cuDevicePrimaryCtxRelease_v2, cu_device device)
    (void)device;
    state.retained--;
    state.releases++;
END

OUTSIDE(cuCtxPushCurrent_v2, cu_context context)
    if (state.depth == FAKE_DEPTH)
        return INVALID_VALUE;
    state.pushes++;
    state.stack[state.depth++] = context;
END

OUTSIDE(cuCtxPopCurrent_v2, cu_context *context)
    if (state.depth == 0)
        return INVALID_CONTEXT;
    *context = state.stack[--state.depth];
END

OUTSIDE(cuCtxGetCurrent, cu_context *context)
    *context = state.depth > 0 ? state.stack[state.depth - 1] : NULL;
END

OUTSIDE(cuCtxGetDevice, cu_device *device)
    if (state.depth == 0)
        return INVALID_CONTEXT;
    *device = state.stack[state.depth - 1] == state.adopted ? 41 : 40;
END

EXPORT cu_result cuModuleLoadDataEx(cu_module *, const void *, unsigned, cu_jit_option *, void **);
EXPORT cu_result cuModuleLoadDataEx(cu_module *module, const void *image, unsigned count,
                                    cu_jit_option *options, void **values) {
    (void)image;
    const cu_result result = in_context("cuModuleLoadDataEx");
    if (count != 2 || options[0] != CU_JIT_OPTION_ERROR_LOG ||
        options[1] != CU_JIT_OPTION_ERROR_LOG_BYTES || (size_t)values[1] < 64)
        return INVALID_VALUE;
    if (result != CU_OK) {
        strcpy(values[0], "the fake linker's log");
        return result;
    }
    state.modules++;
    *module = (cu_module)(void *)&code_object;
    return CU_OK;
}

INSIDE(cuModuleUnload, cu_module module)
    if ((void *)module != &code_object)
        return INVALID_VALUE;
    state.modules--;
END

INSIDE(cuModuleGetFunction, cu_function *function, cu_module module, const char *name)
    if ((void *)module != &code_object)
        return INVALID_VALUE;
    if (strcmp(name, "absent") == 0 || strlen(name) >= sizeof entry_name)
        return NOT_FOUND;
    strcpy(entry_name, name);
    *function = (cu_function)(void *)entry_name;
END

INSIDE(cuFuncSetAttribute, cu_function function, cu_function_attribute attribute, int value)
    (void)function;
    if (attribute == CU_FUNCTION_SHARED_CARVEOUT && value == 100)
        state.carved++;
    else if (attribute == CU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES && value <= 227 * 1024)
        state.dynamic_shared = value;
    else
        return INVALID_VALUE;
END

INSIDE(cuFuncGetAttribute, int *value, cu_function_attribute attribute, cu_function function)
    (void)function;
    *value = attribute == CU_FUNCTION_REGISTERS ? 40 : attribute == CU_FUNCTION_LOCAL_BYTES ? 16 : -9;
END

INSIDE(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *blocks, cu_function function, int threads,
       size_t shared_bytes)
    (void)function;
    (void)shared_bytes;
    *blocks = 2048 / threads - 1;
END

static void record_launch(cu_function function, const unsigned grid[3], const unsigned block[3],
                          unsigned shared_bytes, cu_stream stream, void **arguments) {
    state.launch.count++;
    state.launch.entry = (const char *)(void *)function;
    memcpy(state.launch.grid, grid, sizeof state.launch.grid);
    memcpy(state.launch.block, block, sizeof state.launch.block);
    state.launch.shared_bytes = shared_bytes;
    state.launch.stream = stream;
    memcpy(state.launch.arguments, arguments[0], state.arguments_bytes);
}

INSIDE(cuLaunchKernel, cu_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
       cu_stream stream, void **arguments, void **extra)
    if (extra != NULL)
        return INVALID_VALUE;
    const unsigned grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    record_launch(function, grid, block, shared_bytes, stream, arguments);
    note("kernel", stream);
END

INSIDE(cuLaunchCooperativeKernel, cu_function function, unsigned grid_x, unsigned grid_y,
       unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
       unsigned shared_bytes, cu_stream stream, void **arguments)
    const unsigned grid[3] = {grid_x, grid_y, grid_z}, block[3] = {block_x, block_y, block_z};
    record_launch(function, grid, block, shared_bytes, stream, arguments);
    note("kernels together", stream);
END

#ifndef FAKE_CUDA_IS_OLDER
INSIDE(cuLaunchKernelEx, const cu_launch *launch, cu_function function, void **arguments,
       void **extra)
    if (extra != NULL || launch->numAttrs != 1 || launch->attrs->id != CU_LAUNCH_SERIALIZATION ||
        launch->attrs->value.programmaticStreamSerializationAllowed != 1)
        return INVALID_VALUE;
    const unsigned grid[3] = {launch->gridDimX, launch->gridDimY, launch->gridDimZ};
    const unsigned block[3] = {launch->blockDimX, launch->blockDimY, launch->blockDimZ};
    record_launch(function, grid, block, launch->sharedMemBytes, launch->hStream, arguments);
    note("kernel early", launch->hStream);
END
#endif

INSIDE(cuMemAlloc_v2, cu_pointer *memory, size_t bytes)
    if (bytes == 0)
        return INVALID_VALUE;
    *memory = (cu_pointer)(size_t)aligned_alloc(256, (bytes + 255) / 256 * 256); /* as drivers do */
    state.allocations++;
END

INSIDE(cuMemFree_v2, cu_pointer memory)
    free((void *)(size_t)memory);
    state.allocations--;
END

INSIDE(cuMemGetInfo_v2, size_t *unused, size_t *total)
    *unused = 12345;
    *total = 67890;
END

INSIDE(cuMemcpyHtoD_v2, cu_pointer to, const void *from, size_t bytes)
    memcpy((void *)(size_t)to, from, bytes);
END

INSIDE(cuMemcpyDtoH_v2, void *to, cu_pointer from, size_t bytes)
    memcpy(to, (void *)(size_t)from, bytes);
END

/* What a stream brings to the host arrives when it is waited for. */
INSIDE(cuMemcpyDtoHAsync_v2, void *to, cu_pointer from, size_t bytes, cu_stream stream)
    memset(to, 0xee, bytes);
    state.arriving.to = to;
    state.arriving.from = (void *)(size_t)from;
    state.arriving.bytes = bytes;
    note("download", stream);
END

INSIDE(cuMemHostAlloc, void **out, size_t bytes, unsigned flags)
    if (flags != 0)
        return INVALID_VALUE;
    *out = malloc(bytes);
    state.pinned++;
END

INSIDE(cuMemFreeHost, void *memory)
    free(memory);
    state.pinned--;
END

INSIDE(cuMemcpyDtoDAsync_v2, cu_pointer to, cu_pointer from, size_t bytes, cu_stream stream)
    memcpy((void *)(size_t)to, (void *)(size_t)from, bytes);
    state.launch.stream = stream;
    state.copies++;
END

INSIDE(cuMemcpy2DAsync_v2, const cu_copy_rows *c, cu_stream stream)
    if (c->srcMemoryType != CU_MEMORY_DEVICE || c->dstMemoryType != CU_MEMORY_DEVICE ||
        c->srcPitch < c->WidthInBytes || c->dstPitch < c->WidthInBytes)
        return INVALID_VALUE;
    for (size_t row = 0; row < c->Height; row++)
        memcpy((void *)(size_t)(c->dstDevice + row * c->dstPitch),
               (void *)(size_t)(c->srcDevice + row * c->srcPitch), c->WidthInBytes);
    state.launch.stream = stream;
    state.copies_of_rows++;
END

INSIDE(cuMemsetD8_v2, cu_pointer to, unsigned char byte, size_t bytes)
    memset((void *)(size_t)to, byte, bytes);
    state.fills++;
END

INSIDE(cuMemsetD8Async, cu_pointer to, unsigned char byte, size_t bytes, cu_stream stream)
    memset((void *)(size_t)to, byte, bytes);
    state.launch.stream = stream;
    state.fills++;
    note("fill", stream);
END

INSIDE(cuStreamSynchronize, cu_stream stream)
    if (state.arriving.to != NULL)
        memcpy(state.arriving.to, state.arriving.from, state.arriving.bytes);
    state.arriving.to = NULL;
    state.launch.stream = stream;
    state.waits++;
END

INSIDE(cuStreamQuery, cu_stream stream)
    state.launch.stream = stream;
    if (state.busy)
        return 600; /* CUDA_ERROR_NOT_READY */
END

INSIDE(cuStreamWaitEvent, cu_stream stream, cu_event event, unsigned flags)
    if (event == NULL || flags != 0)
        return INVALID_VALUE;
    note("wait", stream);
END

INSIDE(cuCtxGetStreamPriorityRange, int *least, int *greatest)
    *least = 0;
    *greatest = -5;
END

INSIDE(cuStreamCreateWithPriority, cu_stream *stream, unsigned flags, int priority)
    if (flags != 1 || priority != -5)
        return INVALID_VALUE;
    *stream = malloc(1);
    state.streams++;
END

INSIDE(cuStreamDestroy_v2, cu_stream stream)
    free(stream);
    state.streams--;
END

OUTSIDE(cuDeviceCanAccessPeer, int *can, cu_device device, cu_device peer)
    *can = device != peer;
END

INSIDE(cuCtxEnablePeerAccess, cu_context peer, unsigned flags)
    if (peer == NULL || flags != 0)
        return INVALID_VALUE;
END

INSIDE(cuMemGetAddressRange_v2, cu_pointer *begin, size_t *bytes, cu_pointer at)
    *begin = at;
    *bytes = 1;
END

OUTSIDE(cuPointerGetAttribute, void *out, int which, cu_pointer at)
    const unsigned long long number = 1 + (unsigned long long)state.renumbered;
    if (which != 7 || at == 0)
        return INVALID_VALUE;
    memcpy(out, &number, sizeof number);
END

INSIDE(cuIpcGetMemHandle, cu_ipc_handle *handle, cu_pointer at)
    state.exports++;
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &at, sizeof at);
END

INSIDE(cuIpcOpenMemHandle_v2, cu_pointer *out, cu_ipc_handle handle, unsigned flags)
    if (flags != 1)
        return INVALID_VALUE;
    memcpy(out, &handle, sizeof *out);
END

INSIDE(cuIpcCloseMemHandle, cu_pointer at)
    if (at == 0)
        return INVALID_VALUE;
END

INSIDE(cuEventCreate, cu_event *event, unsigned flags)
    if (flags != 0 && flags != 2)
        return INVALID_VALUE;
    *event = malloc(sizeof(float));
    state.events++;
END

INSIDE(cuEventRecord, cu_event event, cu_stream stream)
    if (event == NULL)
        return INVALID_VALUE;
    state.marked = stream;
    *(float *)(void *)event = state.clock + (stream == state.late ? state.late_by : 0);
    state.clock += 12.5f;
    note("record", stream);
END

INSIDE(cuEventQuery, cu_event event)
    if (event == NULL)
        return INVALID_VALUE;
    if (state.busy)
        return 600; /* CUDA_ERROR_NOT_READY */
END

INSIDE(cuEventSynchronize, cu_event event)
    if (event == NULL)
        return INVALID_VALUE;
END

INSIDE(cuEventElapsedTime, float *milliseconds, cu_event from, cu_event to)
    if (from == NULL || to == NULL || from == to)
        return INVALID_VALUE;
    *milliseconds = *(float *)(void *)to - *(float *)(void *)from;
END

INSIDE(cuEventDestroy_v2, cu_event event)
    free(event);
    state.events--;
END
