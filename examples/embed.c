/* A CUDA program that embeds stencilgen. Memory, stream, events and graph belong to the program,
   from the CUDA runtime API; stencilgen launches its kernel on them. The program makes the same
   steps launch by launch, from a captured graph that is launched many times, and by a loop on the
   host. Needs: cuda_runtime_api.h and libcudart, a GPU. Without a GPU the program says so and exits
   with 77. */
#include <cuda_runtime_api.h>
#include <float.h>
#include <math.h>

#include "example.h"

enum { CAPTURED = 4, SKIPPED = 77 }; /* steps in the graph: even, so that u ends where it began */

static const float k = 0.125f; /* a dt / h²; a power of 2, so that the coefficients are exact */
static const char spec[] = "return stencil {\n"
                           "  name         = 'heat',\n"
                           "  coefficients = identity() + 0.125 * laplacian { dims = 3 },\n"
                           "  dtype        = 'float',\n"
                           "  boundary     = 'fixed',\n"
                           "}\n";

typedef struct program {
    int64_t size[3], steps;
    sg_context *context;
    sg_kernel *kernel;
    cudaStream_t stream;
    cudaEvent_t begin, end;
    cudaGraph_t graph;
    cudaGraphExec_t launchable;
    size_t pitch;    /* bytes from a row to the next; x fastest, rows padded by cudaMallocPitch */
    void *memory[2]; /* u and the next u, nz·ny rows each */
    float *start, *single, *graphed; /* on the host, dense */
    double *host[2];
    int right;
} program;

/* Like TRY, for the runtime's calls: says what failed, and ends the function. */
#define CUDA(call)                                                                                 \
    do {                                                                                           \
        const cudaError_t code_ = (call);                                                          \
        if (code_ != cudaSuccess) {                                                                \
            fprintf(stderr, "embed: %s: %s\n", #call, cudaGetErrorString(code_));                  \
            return SG_ERROR_DEVICE;                                                                \
        }                                                                                          \
    } while (0)

static int64_t count(const program *p) {
    return p->size[0] * p->size[1] * p->size[2];
}

/* Queues one step from memory[from] to the other, on the caller's stream. */
static sg_status step(const program *p, int from) {
    sg_grid grids[2];
    for (int i = 0; i < 2; i++) {
        const int64_t row = (int64_t)(p->pitch / sizeof(float)); /* elements, not bytes */
        const sg_grid grid = {.data = p->memory[i ^ from],
                              .size = {p->size[0], p->size[1], p->size[2]},
                              .stride = {1, row, row * p->size[1]}};
        grids[i] = grid;
    }
    const sg_arguments arguments = {
        .struct_size = sizeof arguments, .grids = grids, .grid_count = 2};
    return sg_launch(p->kernel, &arguments, (sg_stream)p->stream);
}

/* All copies are queued on the program's stream as well. That stream is not ordered with the
   default one, which sg_upload and sg_download use. */
static cudaError_t put(const program *p, const float *from) {
    const size_t row = (size_t)p->size[0] * sizeof(float);
    return cudaMemcpy2DAsync(p->memory[0], p->pitch, from, row, row,
                             (size_t)(p->size[1] * p->size[2]), cudaMemcpyHostToDevice, p->stream);
}

static sg_status get(const program *p, float *to, int which) {
    const size_t row = (size_t)p->size[0] * sizeof(float);
    CUDA(cudaMemcpy2DAsync(to, row, p->memory[which], p->pitch, row,
                           (size_t)(p->size[1] * p->size[2]), cudaMemcpyDeviceToHost, p->stream));
    CUDA(cudaStreamSynchronize(p->stream));
    return SG_OK;
}

static sg_status report(const program *p, const char *how) {
    float ms = 0;
    CUDA(cudaEventElapsedTime(&ms, p->begin, p->end));
    printf("%-16s %lld steps, %.3f us each\n", how, (long long)p->steps,
           1e3 * ms / (double)p->steps);
    return SG_OK;
}

static sg_status launch_by_launch(const program *p) {
    CUDA(put(p, p->start));
    CUDA(cudaEventRecord(p->begin, p->stream));
    for (int64_t i = 0; i < p->steps; i++)
        TRY(step(p, (int)(i % 2)));
    CUDA(cudaEventRecord(p->end, p->stream));
    TRY(get(p, p->single, (int)(p->steps % 2)));
    return report(p, "launch by launch");
}

/* A launch allocates nothing and waits for nothing, so a graph may capture it. */
static sg_status by_graph(program *p) {
    CUDA(cudaStreamBeginCapture(p->stream, cudaStreamCaptureModeGlobal));
    sg_status status = SG_OK;
    for (int i = 0; i < CAPTURED && status == SG_OK; i++)
        status = step(p, i % 2);
    CUDA(cudaStreamEndCapture(p->stream, &p->graph)); /* also after a failure */
    TRY(status);
    CUDA(cudaGraphInstantiateWithFlags(&p->launchable, p->graph, 0));
    CUDA(put(p, p->start));
    CUDA(cudaEventRecord(p->begin, p->stream));
    for (int64_t i = 0; i < p->steps; i += CAPTURED)
        CUDA(cudaGraphLaunch(p->launchable, p->stream));
    CUDA(cudaEventRecord(p->end, p->stream));
    TRY(get(p, p->graphed, 0));
    return report(p, "by a graph");
}

static void on_host(program *p) {
    const int64_t nx = p->size[0], ny = p->size[1], nz = p->size[2], plane = nx * ny;
    for (int64_t i = 0; i < count(p); i++)
        p->host[0][i] = p->host[1][i] = p->start[i];
    for (int64_t n = 0; n < p->steps; n++)
        for (int64_t z = 1; z < nz - 1; z++)
            for (int64_t y = 1; y < ny - 1; y++)
                for (int64_t x = 1; x < nx - 1; x++) {
                    const double *u = &p->host[n % 2][z * plane + y * nx + x];
                    p->host[(n + 1) % 2][z * plane + y * nx + x] =
                        u[0] +
                        k * (u[-1] + u[1] + u[-nx] + u[nx] + u[-plane] + u[plane] - 6 * u[0]);
                }
}

/* The graph launches the same kernels in the same order, so every bit is the same. The host's loop
   is in double. A step on the GPU rounds at most 16 times, values of at most 1. The coefficients
   are positive and their sum is 1, so no error grows. */
static void judge(program *p) {
    const double bound = 16 * (double)p->steps * FLT_EPSILON / 2;
    double furthest = 0;
    int close = 1;
    for (int64_t i = 0; i < count(p); i++) {
        const double error = fabs(p->single[i] - p->host[p->steps % 2][i]);
        close = close && error <= bound;
        furthest = fmax(furthest, error);
    }
    const int same = memcmp(p->single, p->graphed, (size_t)count(p) * sizeof(float)) == 0;
    printf("graph and launches: %s; furthest from the host's loop: %.1e, rounding allows %.1e\n",
           same ? "the same bits" : "OTHER BITS", furthest, bound);
    p->right = same && close;
}

static sg_status prepare(program *p) {
    CUDA(cudaStreamCreateWithFlags(&p->stream, cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&p->begin));
    CUDA(cudaEventCreate(&p->end));
    for (int i = 0; i < 2; i++)
        CUDA(cudaMallocPitch(&p->memory[i], &p->pitch, (size_t)p->size[0] * sizeof(float),
                             (size_t)(p->size[1] * p->size[2])));
    const size_t n = (size_t)count(p);
    p->start = (float *)malloc(n * sizeof(float));
    p->single = (float *)malloc(n * sizeof(float));
    p->graphed = (float *)malloc(n * sizeof(float));
    p->host[0] = (double *)malloc(n * sizeof(double));
    p->host[1] = (double *)malloc(n * sizeof(double));
    if (!p->start || !p->single || !p->graphed || !p->host[0] || !p->host[1])
        return SG_ERROR_MEMORY;
    uint32_t random = 1;
    for (size_t i = 0; i < n; i++) {
        random = random * 1664525u + 1013904223u;
        p->start[i] = (float)(random >> 8) / (1 << 24);
    }
    /* The runtime works in the GPU's primary context, and so does stencilgen unless told otherwise.
     */
    const sg_options options = {.struct_size = sizeof options, .device = "cuda"};
    TRY(sg_open(&p->context, &options));
    const sg_build_options build = {
        .struct_size = sizeof build, .text = spec, .size = {p->size[0], p->size[1], p->size[2]}};
    return sg_build(p->context, "heat.lua", &build, &p->kernel);
}

static sg_status compute(program *p) {
    TRY(prepare(p));
    TRY(launch_by_launch(p));
    TRY(by_graph(p));
    on_host(p);
    judge(p);
    return SG_OK;
}

int main(int argc, char **argv) {
    program p = {.size = {100, 60, 40}, .steps = 200};
    const option options[] = {
        {.name = "--size", .numbers = p.size, .count = 3, .least = 1, .most = 4096},
        {.name = "--steps", .numbers = &p.steps, .count = 1, .least = CAPTURED, .most = 1000000}};
    read_options(argc, argv,
                 "usage: embed [--size 100x60x40] [--steps 200]\n"
                 "--steps: rounded up to a multiple of 4",
                 options, 2);
    p.steps = (p.steps + CAPTURED - 1) / CAPTURED * CAPTURED;
    int gpus = 0;
    const cudaError_t code = cudaGetDeviceCount(&gpus);
    if (code != cudaSuccess || gpus == 0) {
        fprintf(stderr, "embed: no GPU: %s\n", cudaGetErrorString(code));
        return SKIPPED;
    }
    const sg_status status = compute(&p);
    const int result = conclude("embed", p.context, status, p.right);
    sg_release(p.kernel);
    sg_close(p.context);
    cudaGraphExecDestroy(p.launchable);
    cudaGraphDestroy(p.graph);
    cudaEventDestroy(p.begin);
    cudaEventDestroy(p.end);
    for (int i = 0; i < 2; i++)
        cudaFree(p.memory[i]);
    cudaStreamDestroy(p.stream);
    free(p.start);
    free(p.single);
    free(p.graphed);
    free(p.host[0]);
    free(p.host[1]);
    return result;
}
