/* What the library costs a program that embeds it: building a kernel from a compiler, from the
   cache on disk and from memory, and launching one, beside the driver's own launch where there is a
   GPU. Takes: a spec file, and cuda or cpu. Makes: a table of medians in microseconds. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <stencilgen.h>

enum { SAMPLES = 101, LAUNCHES = 64, EDGE = 16 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void must(sg_context *c, sg_status status) {
    if (status == SG_OK)
        return;
    fprintf(stderr, "%s\n", sg_error(c));
    exit(1);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, double *samples, int count) {
    qsort(samples, (size_t)count, sizeof *samples, ascending);
    printf("%-44s %10.2f %10.2f %10.2f\n", what, samples[count / 2], samples[0],
           samples[count - 1]);
}

typedef struct setting {
    const char *spec, *device, *cache;
} setting;

static sg_context *open_context(const setting *s, const char *cache) {
    const sg_options options = {.struct_size = sizeof options, .device = s->device, .cache = cache};
    sg_context *c;
    must(c, sg_open(&c, &options));
    return c;
}

/* A context of its own for every build, so that nothing is in memory. */
static void time_builds(const setting *s, const char *what, const char *cache, int count) {
    double samples[SAMPLES];
    for (int i = 0; i < count; i++) {
        sg_context *c = open_context(s, cache);
        sg_kernel *k;
        const double begin = now();
        must(c, sg_build(c, s->spec, NULL, &k));
        samples[i] = now() - begin;
        sg_release(k);
        sg_close(c);
    }
    report(what, samples, count);
}

static void time_memory(const setting *s) {
    double samples[SAMPLES];
    sg_context *c = open_context(s, s->cache);
    sg_kernel *first, *k;
    must(c, sg_build(c, s->spec, NULL, &first));
    for (int i = 0; i < SAMPLES; i++) {
        const double begin = now();
        must(c, sg_build(c, s->spec, NULL, &k));
        samples[i] = now() - begin;
        if (k != first) {
            fprintf(stderr, "%s changed a moment ago: wait for two seconds\n", s->spec);
            exit(1);
        }
        sg_release(k);
    }
    report("build, in memory", samples, SAMPLES);
    sg_release(first);
    sg_close(c);
}

/* ---- launching ----------------------------------------------------------------------------- */

/* A kernel of nothing with as large an argument as ours has. */
static const char nothing[] = ".version 6.4\n.target sm_75\n.address_size 64\n"
                              ".visible .entry nothing(.param .align 8 .b8 a[168]) { ret; }\n";

typedef int (*load_data)(void **, const void *);
typedef int (*get_function)(void **, void *, const char *);
typedef int (*launch_kernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                             unsigned, void *, void **, void **);
typedef int (*with_number)(void **, int);
typedef int (*with_context)(void *);

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (found == NULL) {
        fprintf(stderr, "libcuda.so.1 has no %s\n", name);
        exit(1);
    }
    return found;
}

static void cuda_must(int code) {
    if (code != 0) {
        fprintf(stderr, "the driver says %d\n", code);
        exit(1);
    }
}

/* In the primary context, current meanwhile as with a program that uses the CUDA runtime. */
static void time_driver(sg_context *c) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context, *module, *function;
    double samples[SAMPLES];
    unsigned char argument[168] = {0};
    void *arguments[] = {argument};
    if (library == NULL)
        exit(1);
    const launch_kernel launch = (launch_kernel)symbol(library, "cuLaunchKernel");
    cuda_must(((with_number)symbol(library, "cuDevicePrimaryCtxRetain"))(&context, 0));
    cuda_must(((with_context)symbol(library, "cuCtxSetCurrent"))(context));
    cuda_must(((load_data)symbol(library, "cuModuleLoadData"))(&module, nothing));
    cuda_must(((get_function)symbol(library, "cuModuleGetFunction"))(&function, module, "nothing"));
    for (int i = 0; i < SAMPLES; i++) {
        must(c, sg_synchronize(c, NULL));
        const double begin = now();
        for (int l = 0; l < LAUNCHES; l++)
            cuda_must(launch(function, 1, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL));
        samples[i] = (now() - begin) / LAUNCHES;
    }
    must(c, sg_synchronize(c, NULL));
    report("launch, the driver's own of an empty kernel", samples, SAMPLES);
}

static void time_launches(sg_context *c, const setting *s, const char *what) {
    double samples[SAMPLES];
    sg_kernel *k;
    must(c, sg_build(c, s->spec, NULL, &k));
    sg_kernel_info info = {.struct_size = sizeof info};
    must(c, sg_kernel_facts(k, &info));
    sg_grid grids[8] = {{0}};
    size_t bytes = info.element_size;
    for (int axis = 0; axis < info.dims; axis++)
        bytes *= EDGE;
    for (int i = 0; i < info.arrays && i < 8; i++) {
        must(c, sg_alloc(c, bytes, &grids[i].data));
        for (int axis = 0; axis < info.dims; axis++)
            grids[i].size[axis] = EDGE;
    }
    const sg_arguments arguments = {
        .struct_size = sizeof arguments, .grids = grids, .grid_count = info.arrays};
    for (int i = 0; i < SAMPLES; i++) {
        must(c, sg_synchronize(c, NULL));
        const double begin = now();
        for (int l = 0; l < LAUNCHES; l++)
            must(c, sg_launch(k, &arguments, NULL));
        samples[i] = (now() - begin) / LAUNCHES;
    }
    must(c, sg_synchronize(c, NULL));
    report(what, samples, SAMPLES);
    for (int i = 0; i < info.arrays && i < 8; i++)
        sg_free(c, grids[i].data);
    sg_release(k);
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "usage: embedding SPEC.lua cuda|cpu CACHE_FOLDER\n");
        return 2;
    }
    const setting s = {arguments[1], arguments[2], arguments[3]};
    sg_context *c = open_context(&s, s.cache);
    printf("%-44s %10s %10s %10s\n", "microseconds", "median", "least", "most");
    time_builds(&s, "build, compiled", "none", 5);
    time_builds(&s, "build, the first with a cache", s.cache, 1);
    time_builds(&s, "build, from the cache on disk", s.cache, SAMPLES);
    time_memory(&s);
    time_launches(c, &s, "launch");
    if (strcmp(s.device, "cuda") == 0) {
        time_driver(c);
        time_launches(c, &s, "launch, our CUDA context being current");
    }
    sg_close(c);
    return 0;
}
