/* The driver's functions that no call of the library stands for (events, copies, graphs), by
   dlopen, so that the program is built without CUDA and runs without a GPU. */
#include "stencils_device.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef uint64_t address; /* CUdeviceptr */

typedef struct driver {
    int (*init)(unsigned);
    int (*retain)(void **, int);
    int (*set_current)(void *);
    int (*stream_create)(void **, unsigned);
    int (*stream_synchronize)(void *);
    int (*event_create)(void **, unsigned);
    int (*event_record)(void *, void *);
    int (*event_synchronize)(void *);
    int (*event_elapsed)(float *, void *, void *);
    int (*copy)(address, address, size_t, void *);
    int (*begin_capture)(void *, int);
    int (*end_capture)(void *, void **);
    int (*instantiate)(void **, void *, unsigned long long);
    int (*graph_launch)(void *, void *);
    int (*graph_destroy)(void *);
    int (*exec_destroy)(void *);
} driver;

struct bench_device {
    sg_context *context;
    bool gpu;
    driver driver;
    void *stream, *begin, *end, *graph;
    void *from, *to;
    size_t copy_bytes;
};

enum { CAPTURE_THREAD_LOCAL = 1, STAGE = 1 << 24 };

static void must(int code, const char *what) {
    if (code == 0)
        return;
    fprintf(stderr, "stencils: %s: the driver says %d\n", what, code);
    exit(4);
}

static void load_driver(driver *d) {
    const struct {
        const char *name;
        void *place;
    } names[] = {{"cuInit", &d->init},
                 {"cuDevicePrimaryCtxRetain", &d->retain},
                 {"cuCtxSetCurrent", &d->set_current},
                 {"cuStreamCreate", &d->stream_create},
                 {"cuStreamSynchronize", &d->stream_synchronize},
                 {"cuEventCreate", &d->event_create},
                 {"cuEventRecord", &d->event_record},
                 {"cuEventSynchronize", &d->event_synchronize},
                 {"cuEventElapsedTime", &d->event_elapsed},
                 {"cuMemcpyDtoDAsync_v2", &d->copy},
                 {"cuStreamBeginCapture_v2", &d->begin_capture},
                 {"cuStreamEndCapture", &d->end_capture},
                 {"cuGraphInstantiateWithFlags", &d->instantiate},
                 {"cuGraphLaunch", &d->graph_launch},
                 {"cuGraphDestroy", &d->graph_destroy},
                 {"cuGraphExecDestroy", &d->exec_destroy}};
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        void *symbol = library != NULL ? dlsym(library, names[i].name) : NULL;
        if (symbol == NULL) {
            fprintf(stderr, "stencils: libcuda.so.1 has no %s\n", names[i].name);
            exit(4);
        }
        memcpy(names[i].place, &symbol, sizeof symbol);
    }
}

/* The primary context, which the library works in too. The stream keeps the order of the default
   one, on which the library's uploads are. */
static void open_gpu(bench_device *d) {
    void *context;
    load_driver(&d->driver);
    must(d->driver.init(0), "cuInit");
    must(d->driver.retain(&context, 0), "cuDevicePrimaryCtxRetain");
    must(d->driver.set_current(context), "cuCtxSetCurrent");
    must(d->driver.stream_create(&d->stream, 0), "cuStreamCreate");
    must(d->driver.event_create(&d->begin, 0), "cuEventCreate");
    must(d->driver.event_create(&d->end, 0), "cuEventCreate");
}

static void *allocate(bench_device *d, size_t bytes) {
    void *memory;
    if (sg_alloc(d->context, bytes, &memory) == SG_OK)
        return memory;
    fprintf(stderr, "stencils: %s\n", sg_error(d->context));
    exit(4);
}

bench_device *bench_open(sg_context *context, bool gpu, size_t copy_bytes) {
    bench_device *d = calloc(1, sizeof *d);
    unsigned char *stage = malloc(STAGE);
    if (d == NULL || stage == NULL)
        exit(4);
    *d = (bench_device){.context = context, .gpu = gpu, .copy_bytes = copy_bytes};
    if (gpu)
        open_gpu(d);
    d->from = allocate(d, copy_bytes);
    d->to = allocate(d, copy_bytes);
    uint32_t random = 1; /* memory of zeros moves faster on some devices */
    for (size_t i = 0; i < STAGE; i++) {
        random = random * 1664525u + 1013904223u;
        stage[i] = (unsigned char)(random >> 24);
    }
    for (size_t at = 0; at < copy_bytes; at += STAGE)
        if (sg_upload(context, (char *)d->from + at, stage,
                      copy_bytes - at < STAGE ? copy_bytes - at : STAGE) != SG_OK)
            must(1, sg_error(context));
    free(stage);
    return d;
}

void bench_close(bench_device *d) {
    sg_free(d->context, d->from);
    sg_free(d->context, d->to);
    if (d->graph != NULL)
        d->driver.exec_destroy(d->graph);
    free(d);
}

sg_stream bench_stream(const bench_device *d) {
    return (sg_stream)d->stream;
}

void bench_copy(bench_device *d, void *to, const void *from, size_t bytes) {
    if (!d->gpu)
        memcpy(to, from, bytes);
    else
        must(d->driver.copy((address)(uintptr_t)to, (address)(uintptr_t)from, bytes, d->stream),
             "cuMemcpyDtoDAsync");
}

static double host_time(bench_work work, void *argument) {
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    work(argument);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec);
}

double bench_time(bench_device *d, bench_work work, void *argument) {
    const driver *o = &d->driver;
    float milliseconds = 0;
    if (!d->gpu)
        return host_time(work, argument);
    must(o->stream_synchronize(d->stream), "cuStreamSynchronize");
    must(o->event_record(d->begin, d->stream), "cuEventRecord");
    work(argument);
    must(o->event_record(d->end, d->stream), "cuEventRecord");
    must(o->event_synchronize(d->end), "a kernel");
    must(o->event_elapsed(&milliseconds, d->begin, d->end), "cuEventElapsedTime");
    return 1e-3 * (double)milliseconds;
}

static void copy_all(void *argument) {
    bench_device *d = argument;
    bench_copy(d, d->to, d->from, d->copy_bytes);
}

double bench_time_copy(bench_device *d) {
    const double seconds = bench_time(d, copy_all, d);
    return 2 * (double)d->copy_bytes / (seconds > 0 ? seconds : 1e-9);
}

bool bench_capture(bench_device *d, bench_work work, void *argument) {
    const driver *o = &d->driver;
    void *graph;
    if (!d->gpu)
        return false;
    if (d->graph != NULL)
        must(o->exec_destroy(d->graph), "cuGraphExecDestroy");
    must(o->begin_capture(d->stream, CAPTURE_THREAD_LOCAL), "cuStreamBeginCapture");
    work(argument);
    must(o->end_capture(d->stream, &graph), "cuStreamEndCapture");
    must(o->instantiate(&d->graph, graph, 0), "cuGraphInstantiate");
    must(o->graph_destroy(graph), "cuGraphDestroy");
    return true;
}

void bench_replay(bench_device *d) {
    must(d->driver.graph_launch(d->graph, d->stream), "cuGraphLaunch");
}
