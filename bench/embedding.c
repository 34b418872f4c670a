/* What the library costs a program that embeds it: building a kernel by a compiler, from the cache
   on disk and from memory, and launching one; where there is a GPU also the driver's own launch.
   Takes: a spec file, and cuda or cpu. Makes: a table of medians in microseconds. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <stencilgen.h>

enum { SAMPLES = 101, LAUNCHES = 64, EDGE = 16, MOST_GRIDS = 8, ARGUMENT_BYTES = 4096 };

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
    sg_context *c = NULL;
    const sg_status status = sg_open(&c, &options);
    must(c, status);
    return c;
}

/* Every build has a context of its own, so that nothing is in memory. */
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
            fprintf(stderr, "%s changed a moment ago; wait two seconds and run this again\n",
                    s->spec);
            exit(1);
        }
        sg_release(k);
    }
    report("build, in memory", samples, SAMPLES);
    sg_release(first);
    sg_close(c);
}

/* ---- launching ----------------------------------------------------------------------------- */

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
        fprintf(stderr, "the driver returned error %d\n", code);
        exit(1);
    }
}

typedef struct scene {
    sg_context *context;
    sg_kernel *kernel;
    sg_kernel_info info;
    sg_grid grids[MOST_GRIDS];
} scene;

static void open_scene(scene *s, sg_context *c, const char *spec) {
    *s = (scene){.context = c, .info = {.struct_size = sizeof s->info}};
    must(c, sg_build(c, spec, NULL, &s->kernel));
    must(c, sg_kernel_facts(s->kernel, &s->info));
    size_t bytes = s->info.element_size;
    for (int axis = 0; axis < s->info.dims; axis++)
        bytes *= EDGE;
    for (int i = 0; i < s->info.arrays && i < MOST_GRIDS; i++) {
        must(c, sg_alloc(c, bytes, &s->grids[i].data));
        for (int axis = 0; axis < s->info.dims; axis++)
            s->grids[i].size[axis] = EDGE;
    }
}

static void close_scene(scene *s) {
    for (int i = 0; i < MOST_GRIDS; i++)
        sg_free(s->context, s->grids[i].data);
    sg_release(s->kernel);
}

/* A batch fits the queue of the GPU, so that no launch waits for room. */
static void time_launches(const scene *s, const char *what) {
    const sg_arguments arguments = {
        .struct_size = sizeof arguments, .grids = s->grids, .grid_count = s->info.arrays};
    double samples[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        must(s->context, sg_synchronize(s->context, NULL));
        const double begin = now();
        for (int l = 0; l < LAUNCHES; l++)
            must(s->context, sg_launch(s->kernel, &arguments, NULL));
        samples[i] = (now() - begin) / LAUNCHES;
    }
    must(s->context, sg_synchronize(s->context, NULL));
    report(what, samples, SAMPLES);
}

/* The name of the kernel, which its source defines as a macro. */
static const char *entry_of(const scene *s) {
    static char name[256];
    const char *line = strstr(sg_kernel_text(s->kernel, SG_TEXT_SOURCE), "#define STENCIL_KERNEL ");
    if (line == NULL || sscanf(line, "#define STENCIL_KERNEL %255s", name) != 1) {
        fprintf(stderr, "the source names no kernel\n");
        exit(1);
    }
    return name;
}

/* Launches the same kernel by the driver's own call. All arguments are zero: a grid without points.
   The primary context stays current from here on, as in a program that uses the CUDA runtime. */
static void time_driver(const scene *s) {
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context, *module, *function;
    double samples[SAMPLES];
    static unsigned char argument[ARGUMENT_BYTES];
    void *arguments[] = {argument};
    sg_binary cubin = {.struct_size = sizeof cubin};
    if (library == NULL)
        exit(1);
    must(s->context, sg_kernel_binary(s->kernel, SG_BINARY_CUBIN, &cubin));
    const launch_kernel launch = (launch_kernel)symbol(library, "cuLaunchKernel");
    cuda_must(((with_number)symbol(library, "cuDevicePrimaryCtxRetain"))(&context, 0));
    cuda_must(((with_context)symbol(library, "cuCtxSetCurrent"))(context));
    cuda_must(((load_data)symbol(library, "cuModuleLoadData"))(&module, cubin.data));
    cuda_must(
        ((get_function)symbol(library, "cuModuleGetFunction"))(&function, module, entry_of(s)));
    for (int i = 0; i < SAMPLES; i++) {
        must(s->context, sg_synchronize(s->context, NULL));
        const double begin = now();
        for (int l = 0; l < LAUNCHES; l++)
            cuda_must(launch(function, 1, 1, 1, (unsigned)s->info.threads, 1, 1,
                             (unsigned)s->info.shared_bytes, NULL, arguments, NULL));
        samples[i] = (now() - begin) / LAUNCHES;
    }
    must(s->context, sg_synchronize(s->context, NULL));
    report("launch, the driver's own call", samples, SAMPLES);
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
    scene launched;
    open_scene(&launched, c, s.spec);
    time_launches(&launched, "launch");
    if (strcmp(s.device, "cuda") == 0) {
        time_driver(&launched);
        time_launches(&launched, "launch, the GPU's context is current");
    }
    close_scene(&launched);
    sg_close(c);
    return 0;
}
