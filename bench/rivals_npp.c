/* NPP's filters as rivals: any weights in one call; a row and then a column where the weights are
   the product of a line with itself. NPP takes weights in reverse order, in device memory. */
#include <cuda_runtime.h>
#include <nppi_filtering_functions.h>
#include <stdio.h>
#include <stdlib.h>

#include "rivals.h"

const char npp_name[] = "NPP";

typedef struct state {
    rival_image image;
    Npp32f *weights, *line, *between; /* device memory; the last two: NULL if there is one pass */
    NppStreamContext context;
} state;

static Npp32f *reversed(const float *from, int count) {
    Npp32f *to = NULL, *host = malloc((size_t)count * sizeof *host);
    if (host == NULL)
        return NULL;
    for (int i = 0; i < count; i++)
        host[i] = from[count - 1 - i];
    if (cudaMalloc((void **)&to, (size_t)count * sizeof *to) != cudaSuccess ||
        cudaMemcpy(to, host, (size_t)count * sizeof *to, cudaMemcpyHostToDevice) != cudaSuccess) {
        cudaFree(to);
        to = NULL;
    }
    free(host);
    return to;
}

static void describe(NppStreamContext *c) {
    int device = 0, shared = 0;
    cudaGetDevice(&device);
    c->nCudaDeviceId = device;
    cudaDeviceGetAttribute(&c->nMultiProcessorCount, cudaDevAttrMultiProcessorCount, device);
    cudaDeviceGetAttribute(&c->nMaxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor,
                           device);
    cudaDeviceGetAttribute(&c->nMaxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock, device);
    cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlock, device);
    c->nSharedMemPerBlock = (size_t)shared;
    cudaDeviceGetAttribute(&c->nCudaDevAttrComputeCapabilityMajor,
                           cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&c->nCudaDevAttrComputeCapabilityMinor,
                           cudaDevAttrComputeCapabilityMinor, device);
}

static int one_pass(void *argument, void *stream) {
    state *s = argument;
    const rival_image *i = &s->image;
    const NppiSize size = {(int)i->width, (int)i->height}, filter = {i->n, i->n};
    const NppiPoint origin = {0, 0}, middle = {i->n / 2, i->n / 2};
    const int step = (int)(i->width * (int64_t)sizeof(float));
    s->context.hStream = stream;
    return nppiFilterBorder_32f_C1R_Ctx(i->input, step, size, origin, i->output, step, size,
                                        s->weights, filter, middle, NPP_BORDER_REPLICATE,
                                        s->context);
}

static int two_passes(void *argument, void *stream) {
    state *s = argument;
    const rival_image *i = &s->image;
    const NppiSize size = {(int)i->width, (int)i->height};
    const NppiPoint origin = {0, 0};
    const int step = (int)(i->width * (int64_t)sizeof(float));
    s->context.hStream = stream;
    const NppStatus status =
        nppiFilterRowBorder_32f_C1R_Ctx(i->input, step, size, origin, s->between, step, size,
                                        s->line, i->n, i->n / 2, NPP_BORDER_REPLICATE, s->context);
    if (status != NPP_SUCCESS)
        return status;
    return nppiFilterColumnBorder_32f_C1R_Ctx(s->between, step, size, origin, i->output, step, size,
                                              s->line, i->n, i->n / 2, NPP_BORDER_REPLICATE,
                                              s->context);
}

static void end(void *argument) {
    state *s = argument;
    cudaFree(s->weights);
    cudaFree(s->line);
    cudaFree(s->between);
    free(s);
}

static state *begin(const rival_image *i) {
    state *s = calloc(1, sizeof *s);
    if (s == NULL) {
        fprintf(stderr, "primitives: out of memory\n");
        exit(4);
    }
    s->image = *i;
    describe(&s->context);
    return s;
}

int npp_rivals(const rival_image *i, rival *out) {
    const size_t bytes = (size_t)(i->width * i->height) * sizeof(float);
    int count = 0;
    state *one = begin(i);
    one->weights = reversed(i->weights, i->n * i->n);
    if (one->weights != NULL)
        out[count++] = (rival){"NPP FilterBorder", one_pass, end, one};
    else
        end(one);
    if (i->line == NULL)
        return count;
    state *two = begin(i);
    two->line = reversed(i->line, i->n);
    if (two->line != NULL && cudaMalloc((void **)&two->between, bytes) == cudaSuccess)
        out[count++] = (rival){"NPP FilterRowBorder, FilterColumnBorder", two_passes, end, two};
    else
        end(two);
    return count;
}
