/* A CUDA program with a context of its own from the driver API, in which stencilgen works. The
   program's memory and stream belong to that context. stencilgen's calls need no current context
   and change none. A bump on a ring moves by one cell a step, which is exact. Needs: cuda.h and
   libcuda, a GPU. Without a GPU the program says so and exits with 77. */
#include <cuda.h>

#include "example.h"

enum { CELLS = 1000, STEPS = 2345, SKIPPED = 77 };

static const char spec[] = "return stencil {\n"
                           "  name         = 'shift',\n"
                           "  shape        = points { { -1 } },\n"
                           "  coefficients = { 1 },\n"
                           "  boundary     = 'periodic',\n"
                           "}\n";

typedef struct program {
    CUcontext own;
    CUstream stream;
    CUdeviceptr memory[2];
    sg_context *context;
    sg_kernel *kernel;
    int right;
} program;

/* Like TRY, for the driver's calls: says what failed, and ends the function. */
#define CUDA(call)                                                                                 \
    do {                                                                                           \
        const CUresult code_ = (call);                                                             \
        if (code_ != CUDA_SUCCESS) {                                                               \
            say(#call, code_);                                                                     \
            return SG_ERROR_DEVICE;                                                                \
        }                                                                                          \
    } while (0)

static void say(const char *call, CUresult code) {
    const char *text = NULL;
    cuGetErrorString(code, &text);
    fprintf(stderr, "embed_driver: %s: %s\n", call, text != NULL ? text : "unknown error");
}

static sg_status make_context(program *p) {
    CUdevice device;
    CUDA(cuDeviceGet(&device, 0));
#if CUDA_VERSION >= 13000
    CUDA(cuCtxCreate(&p->own, NULL, 0, device));
#else
    CUDA(cuCtxCreate(&p->own, 0, device));
#endif
    CUDA(cuStreamCreate(&p->stream, CU_STREAM_NON_BLOCKING));
    for (int i = 0; i < 2; i++)
        CUDA(cuMemAlloc(&p->memory[i], CELLS * sizeof(float)));
    return SG_OK;
}

/* Runs with no current context, as in a thread that does not use CUDA. */
static sg_status shift(program *p, int final[2]) {
    const sg_options options = {
        .struct_size = sizeof options, .device = "cuda", .cuda_context = p->own};
    TRY(sg_open(&p->context, &options));
    const sg_build_options build = {.struct_size = sizeof build, .text = spec, .size = {CELLS}};
    TRY(sg_build(p->context, "shift.lua", &build, &p->kernel));
    const sg_grid grids[2] = {{.data = (void *)(uintptr_t)p->memory[0], .size = {CELLS}},
                              {.data = (void *)(uintptr_t)p->memory[1], .size = {CELLS}}};
    const sg_arguments arguments = {
        .struct_size = sizeof arguments, .grids = grids, .grid_count = 2};
    return sg_run(p->kernel, &arguments, STEPS, (sg_stream)p->stream, final);
}

static sg_status compute(program *p) {
    float u[CELLS], moved[CELLS];
    CUcontext current;
    int final[2];
    for (int i = 0; i < CELLS; i++)
        u[i] = i < 100 ? (float)(i * (100 - i)) : 0;
    TRY(make_context(p));
    CUDA(cuMemcpyHtoDAsync(p->memory[0], u, sizeof u, p->stream));
    CUDA(cuCtxPopCurrent(&current));
    const sg_status status = shift(p, final);
    CUDA(cuCtxGetCurrent(&current));
    CUDA(cuCtxPushCurrent(p->own));
    TRY(status);
    CUDA(cuMemcpyDtoHAsync(moved, p->memory[final[0]], sizeof moved, p->stream));
    CUDA(cuStreamSynchronize(p->stream));
    p->right = current == NULL;
    for (int i = 0; i < CELLS; i++)
        p->right = p->right && moved[(i + STEPS) % CELLS] == u[i];
    puts(p->right ? "moved by one cell a step, in the program's own context" : "WRONG");
    return SG_OK;
}

int main(void) {
    program p = {.right = 0};
    int gpus = 0;
    CUresult code = cuInit(0);
    if (code == CUDA_SUCCESS)
        code = cuDeviceGetCount(&gpus);
    if (code != CUDA_SUCCESS || gpus == 0) {
        say("no GPU", code);
        return SKIPPED;
    }
    const sg_status status = compute(&p);
    const int result = conclude("embed_driver", p.context, status, p.right);
    sg_release(p.kernel);
    sg_close(p.context); /* before the CUDA context that the library works in */
    for (int i = 0; i < 2; i++)
        if (p.memory[i] != 0)
            cuMemFree(p.memory[i]);
    if (p.stream != NULL)
        cuStreamDestroy(p.stream);
    if (p.own != NULL)
        cuCtxDestroy(p.own);
    return result;
}
