/* The driver's functions for which the library has no call (events, copies, graphs). They are found
   by dlopen, so that the program is built without CUDA and runs without a GPU. */
#include "device.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

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
    int (*attribute)(int *, int, int);
    int (*bus)(char *, int, int);
    int (*fill)(address, unsigned char, size_t, void *);
    int (*host_new)(void **, size_t, unsigned);
    int (*host_free)(void *);
    int (*copy)(address, address, size_t, void *);
    int (*begin_capture)(void *, int);
    int (*end_capture)(void *, void **);
    int (*instantiate)(void **, void *, unsigned long long);
    int (*graph_launch)(void *, void *);
    int (*graph_destroy)(void *);
    int (*exec_destroy)(void *);
} driver;

struct bench_device {
    bool gpu;
    driver driver;
    void *stream, *begin, *end;
    void *managed; /* NVML's name of the GPU */
    int (*clock)(void *, int, unsigned *);
};

enum { CAPTURE_THREAD_LOCAL = 1 };
enum { CLOCK_RATE = 13, CLOCK_SM = 1 }; /* CU_DEVICE_ATTRIBUTE_CLOCK_RATE, NVML_CLOCK_SM */

static void must(int code, const char *what) {
    if (code == 0)
        return;
    fprintf(stderr, "%s: %s: the driver returned error %d\n", bench_program, what, code);
    fflush(NULL);
    _Exit(4); /* other threads may be building kernels with what exit would take down */
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
                 {"cuDeviceGetAttribute", &d->attribute},
                 {"cuDeviceGetPCIBusId", &d->bus},
                 {"cuMemsetD8Async", &d->fill},
                 {"cuMemHostAlloc", &d->host_new},
                 {"cuMemFreeHost", &d->host_free},
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
            fprintf(stderr, "%s: libcuda.so.1 has no %s\n", bench_program, names[i].name);
            exit(4);
        }
        memcpy(names[i].place, &symbol, sizeof symbol);
    }
}

/* Works in the primary context, as the library does. The stream waits for the default one, on which
   the library uploads. */
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

/* NVML has its own order of GPUs; the bus address identifies ours. */
static void open_clock(bench_device *d) {
    int (*init)(void), (*find)(const char *, void **);
    char bus[32];
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    void *a = library != NULL ? dlsym(library, "nvmlInit_v2") : NULL;
    void *b = library != NULL ? dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2") : NULL;
    void *c = library != NULL ? dlsym(library, "nvmlDeviceGetClockInfo") : NULL;
    if (a == NULL || b == NULL || c == NULL)
        return;
    memcpy(&init, &a, sizeof a);
    memcpy(&find, &b, sizeof b);
    memcpy(&d->clock, &c, sizeof c);
    if (d->driver.bus(bus, sizeof bus, 0) != 0 || init() != 0 || find(bus, &d->managed) != 0)
        d->clock = NULL;
}

bench_device *bench_open(bool gpu) {
    bench_device *d = must_have(calloc(1, sizeof *d));
    d->gpu = gpu;
    if (gpu) {
        open_gpu(d);
        open_clock(d);
    }
    return d;
}

void bench_close(bench_device *d) {
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

double bench_time(bench_device *d, bench_work work, void *argument) {
    const driver *o = &d->driver;
    float milliseconds = 0;
    if (!d->gpu) {
        const double begin = seconds_now();
        work(argument);
        return seconds_now() - begin;
    }
    must(o->event_record(d->begin, d->stream), "cuEventRecord");
    work(argument);
    must(o->event_record(d->end, d->stream), "cuEventRecord");
    must(o->event_synchronize(d->end), "a kernel");
    must(o->event_elapsed(&milliseconds, d->begin, d->end), "cuEventElapsedTime");
    return 1e-3 * (double)milliseconds;
}

void bench_wait(bench_device *d) {
    if (d->gpu)
        must(d->driver.stream_synchronize(d->stream), "cuStreamSynchronize");
}

void *bench_host_new(bench_device *d, size_t bytes) {
    void *memory = NULL;
    if (d->gpu)
        must(d->driver.host_new(&memory, bytes, 0), "cuMemHostAlloc");
    else
        memory = must_have(malloc(bytes));
    return memory;
}

void bench_host_free(bench_device *d, void *memory) {
    if (!d->gpu)
        free(memory);
    else if (memory != NULL)
        must(d->driver.host_free(memory), "cuMemFreeHost");
}

void bench_fill(bench_device *d, void *to, int byte, size_t bytes) {
    if (!d->gpu)
        memset(to, byte, bytes);
    else if (bytes > 0)
        must(d->driver.fill((address)(uintptr_t)to, (unsigned char)byte, bytes, d->stream),
             "cuMemsetD8Async");
}

void *bench_capture(bench_device *d, bench_work work, void *argument) {
    const driver *o = &d->driver;
    void *graph = NULL, *ready;
    if (!d->gpu)
        return NULL;
    must(o->begin_capture(d->stream, CAPTURE_THREAD_LOCAL), "cuStreamBeginCapture");
    work(argument);
    if (o->end_capture(d->stream, &graph) != 0 || graph == NULL)
        return NULL;
    must(o->instantiate(&ready, graph, 0), "cuGraphInstantiate");
    must(o->graph_destroy(graph), "cuGraphDestroy");
    return ready;
}

void bench_replay(bench_device *d, void *graph) {
    must(d->driver.graph_launch(graph, d->stream), "cuGraphLaunch");
}

void bench_forget(bench_device *d, void *graph) {
    if (graph != NULL)
        must(d->driver.exec_destroy(graph), "cuGraphExecDestroy");
}

/* ---- clocks ---------------------------------------------------------------------------------- */

double bench_clock_highest(const bench_device *d) {
    int kilohertz = 0;
    if (!d->gpu || d->driver.attribute(&kilohertz, CLOCK_RATE, 0) != 0)
        return 0;
    return 1e3 * kilohertz;
}

double bench_clock_now(const bench_device *d) {
    unsigned megahertz = 0;
    if (d->clock == NULL || d->clock(d->managed, CLOCK_SM, &megahertz) != 0)
        return 0;
    return 1e6 * megahertz;
}
