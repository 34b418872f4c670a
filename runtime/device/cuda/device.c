/* The cuda device: a GPU through the driver, in the caller's context or in the GPU's primary
   context, which the CUDA runtime and PyTorch use as well. Every function makes the context
   current only for its own calls, so any thread may call it and keeps the context that it had. */
#include <stdint.h>
#include <string.h>

#include "runtime/device/cuda/device.h"

enum { DEVICE_NAME_BYTES = 256 }; /* the driver cuts longer names */

/* ---- errors ---------------------------------------------------------------------------------- */

void cuda_must(const cuda *d, job *j, cu_result code, const char *doing) {
    if (code != CU_OK)
        job_fail(j, FAULT_DEVICE, NULL, 0, "%s: %s failed: %s", d->facts.name, doing,
                 cuda_error(&d->driver, j, code));
}

/* ---- opening --------------------------------------------------------------------------------- */

typedef struct opening {
    const device_options *options;
    const char *why;
    cuda *result;
} opening;

/* The GPU of a context, which is the caller's own. */
static cu_result adopt(cuda *d, void *context) {
    cu_result code;
    d->context = context;
    d->adopted = true;
    CUDA_CALL(code, d, d->driver.context_device(&d->number));
    return code;
}

/* The GPU of the caller's context, else of the wanted index. Returns NULL, or why it cannot be
   used. */
static const char *find_gpu(cuda *d, job *j, const device_options *options) {
    const cuda_driver *driver = &d->driver;
    const int index = options->index;
    int count = 0;
    cu_result code = driver->init(0);
    if (code == CU_OK && options->cuda_context != NULL) {
        code = adopt(d, options->cuda_context);
        return code == CU_OK ? NULL
                             : job_print(j, "the given CUDA context cannot be used: %s",
                                         cuda_error(driver, j, code));
    }
    if (code == CU_OK)
        code = driver->device_count(&count);
    if (code == CU_OK && count == 0)
        code = CU_NO_DEVICE;
    if (code != CU_OK)
        return job_print(j, "no GPU can be used: %s; see whether nvidia-smi lists one",
                         cuda_error(driver, j, code));
    if (index < 0 || index >= count)
        return job_print(j, "there is no GPU %d: the driver counts %d, from 0", index, count);
    code = driver->device_get(&d->number, index);
    if (code != CU_OK)
        return job_print(j, "GPU %d cannot be used: %s", index, cuda_error(driver, j, code));
    return NULL;
}

/* Optional: a driver may not say. */
static const char *ask_bus(const cuda *d, job *j) {
    int domain = 0, bus = 0, device = 0;
    const cuda_driver *driver = &d->driver;
    if (driver->device_attribute(&domain, CU_DEVICE_PCI_DOMAIN, d->number) != CU_OK ||
        driver->device_attribute(&bus, CU_DEVICE_PCI_BUS, d->number) != CU_OK ||
        driver->device_attribute(&device, CU_DEVICE_PCI_DEVICE, d->number) != CU_OK)
        return NULL;
    return job_print(j, "%08x:%02x:%02x.0", (unsigned)domain, (unsigned)bus, (unsigned)device);
}

/* Two edges a clock. If the driver does not say, planners take the usual board's. */
static void ask_rates(cuda *d) {
    const cuda_driver *driver = &d->driver;
    int clock = 0, memory_clock = 0, bits = 0;
    if (driver->device_attribute(&clock, CU_DEVICE_CLOCK, d->number) == CU_OK)
        d->facts.clock = 1e3 * clock;
    if (driver->device_attribute(&memory_clock, CU_DEVICE_MEMORY_CLOCK, d->number) == CU_OK &&
        driver->device_attribute(&bits, CU_DEVICE_MEMORY_BITS, d->number) == CU_OK)
        d->facts.memory_rate = 2e3 * memory_clock * (bits / 8.0);
}

static cu_result ask_facts(cuda *d, job *j) {
    const cuda_driver *driver = &d->driver;
    char *name = job_alloc(j, DEVICE_NAME_BYTES);
    int major = 0, minor = 0, l2_cache = 0;
    size_t memory = 0;
    const struct {
        cu_device_attribute attribute;
        int *value;
    } wanted[] = {
        {CU_DEVICE_MULTIPROCESSORS, &d->facts.multiprocessors},
        {CU_DEVICE_L2_CACHE_SIZE, &l2_cache},
        {CU_DEVICE_THREADS_PER_MULTIPROCESSOR, &d->threads_per_multiprocessor},
        {CU_DEVICE_COOPERATIVE_LAUNCH, &d->cooperative},
        {CU_DEVICE_CAPABILITY_MAJOR, &major},
        {CU_DEVICE_CAPABILITY_MINOR, &minor},
    };
    cu_result code = driver->device_name(name, DEVICE_NAME_BYTES, d->number);
    for (size_t i = 0; code == CU_OK && i < sizeof wanted / sizeof *wanted; i++)
        code = driver->device_attribute(wanted[i].value, wanted[i].attribute, d->number);
    if (code == CU_OK)
        code = driver->device_memory(&memory, d->number);
    if (code == CU_OK)
        code = driver->driver_version(&d->facts.driver);
    d->facts.device = device_cuda.name;
    d->facts.name = name;
    d->facts.arch = job_print(j, "sm_%d%d", major, minor);
    d->facts.memory = (int64_t)memory;
    d->facts.l2_cache = l2_cache;
    d->facts.bus = ask_bus(d, j);
    ask_rates(d);
    return code;
}

static void open_body(job *j, void *argument) {
    opening *o = argument;
    cuda *d = job_alloc(j, sizeof *d);
    d->base.ops = &device_cuda;
    d->memory = *job_allocator(j);
    d->nvrtc = o->options->nvrtc;
    if (!cuda_driver_open(j, &d->driver, &o->why))
        return;
    o->why = find_gpu(d, j, o->options);
    if (o->why != NULL)
        return;
    cu_result code = ask_facts(d, j);
    if (code == CU_OK && !d->adopted)
        code = d->driver.context_retain(&d->context,
                                        d->number); /* last, so there is nothing to undo */
    if (code == CU_OK)
        o->result = d;
    else
        o->why = job_print(j, "GPU %d cannot be used: %s", o->options->index,
                           cuda_error(&d->driver, j, code));
}

/* The device outlives the job that opens it, so it has one of its own. */
static device *cuda_open(job *j, const device_options *options, const char **why) {
    opening o = {.options = options};
    job *own = NULL;
    const fault failed = job_run(job_allocator(j), open_body, &o, &own);
    if (failed != FAULT_NONE) {
        job_end(own);
        job_fail(j, failed, NULL, 0, "out of memory while opening the GPU");
    }
    if (o.result == NULL) {
        *why = job_string(j, o.why);
        job_end(own);
        return NULL;
    }
    o.result->own = own;
    return &o.result->base;
}

static void cuda_close(device *base) {
    cuda *d = (cuda *)base;
    if (d == NULL)
        return;
    if (!d->adopted)
        (void)d->driver.context_release(d->number);
    job_end(d->own);
}

static const device_facts *cuda_facts(const device *base) {
    return &((const cuda *)base)->facts;
}

static compiler *cuda_compiler(device *base) {
    return ((cuda *)base)->nvrtc;
}

/* ---- time ------------------------------------------------------------------------------------ */

typedef struct timer {
    cuda *device;
    cu_event start, stop;
} timer;

static void destroy_timer(void *argument) {
    timer *t = argument;
    cuda_destroy_event(t->device, t->start);
    cuda_destroy_event(t->device, t->stop);
}

static cu_result start_timer(timer *t) {
    const cuda_driver *driver = &t->device->driver;
    cu_result code = driver->event_create(&t->start, CU_EVENT_FLAGS_DEFAULT);
    if (code == CU_OK)
        code = driver->event_create(&t->stop, CU_EVENT_FLAGS_DEFAULT);
    return code == CU_OK ? driver->event_record(t->start, NULL) : code;
}

static cu_result stop_timer(timer *t, float *milliseconds) {
    const cuda_driver *driver = &t->device->driver;
    cu_result code = driver->event_record(t->stop, NULL);
    if (code == CU_OK)
        code = driver->event_synchronize(t->stop);
    return code == CU_OK ? driver->event_elapsed(milliseconds, t->start, t->stop) : code;
}

static double cuda_time(device *base, job *j, void (*body)(job *, void *), void *argument) {
    cuda *d = (cuda *)base;
    timer *t = job_alloc(j, sizeof *t); /* in the job, because the undo reads it after unwinding */
    t->device = d;
    job_defer(j, destroy_timer, t);
    CUDA_MUST(d, j, start_timer(t), "starting the clock");
    body(j, argument);
    float milliseconds = 0;
    CUDA_MUST(d, j, stop_timer(t, &milliseconds), "running on the GPU");
    job_undo(j, t);
    return (double)milliseconds / 1000;
}

static const char *cuda_code_name(const device *base, int code) {
    return cuda_error_name(&((const cuda *)base)->driver, code);
}

const device_ops device_cuda = {
    .name = "cuda",
    .open = cuda_open,
    .close = cuda_close,
    .facts = cuda_facts,
    .binary = BINARY_CUBIN,
    .compiler = cuda_compiler,
    .load = cuda_load,
    .unload = cuda_unload,
    .function = cuda_function,
    .launch = cuda_launch,
    .launch_together = cuda_launch_together,
    .together = cuda_together,
    .map = cuda_map,
    .resident = cuda_resident,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .upload = cuda_upload,
    .download = cuda_download,
    .host_alloc = cuda_host_alloc,
    .host_free = cuda_host_free,
    .download_async = cuda_download_async,
    .copy = cuda_copy,
    .fill = cuda_fill,
    .fill_async = cuda_fill_async,
    .synchronize = cuda_synchronize,
    .mark = cuda_mark,
    .passed = cuda_passed,
    .unmark = cuda_unmark,
    .tick = cuda_tick,
    .between = cuda_between,
    .idle = cuda_idle,
    .stream_open = cuda_stream_open,
    .stream_close = cuda_stream_close,
    .order = cuda_order,
    .within = cuda_within,
    .memory_number = cuda_memory_number,
    .peer_place = cuda_peer_place,
    .peer_open = cuda_peer_open,
    .peer_close = cuda_peer_close,
    .time = cuda_time,
    .code_name = cuda_code_name,
};

static const char *const names[] = {"libcuda.so.1", NULL};

#define SYMBOL(member, symbol, arguments) #symbol,
static const char *const symbols[] = {CUDA_DRIVER_FUNCTIONS(SYMBOL) NULL};
#undef SYMBOL

static const library_wanted wanted = {
    .title = "the CUDA driver (libcuda.so.1)",
    .variable = "SG_CUDA_DRIVER",
    .names = names,
    .symbols = symbols,
    .toolkit = false,
    .cure = "install NVIDIA's driver to use a GPU",
};

bool cuda_driver_open(job *j, cuda_driver *out, const char **why) {
    if (!library_open(j, &wanted, NULL, &out->library, why))
        return false;
    /* A function's address is copied byte by byte: C has no cast from an object's. */
    void *address;
#define LOOK_UP(member, symbol, arguments)                                                         \
    address = library_symbol(&out->library, #symbol);                                              \
    memcpy(&out->member, &address, sizeof address);
    CUDA_DRIVER_FUNCTIONS(LOOK_UP)
    CUDA_DRIVER_LATER_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    return true;
}

const char *cuda_error_name(const cuda_driver *d, cu_result code) {
    const char *name = NULL;
    if (d->error_name(code, &name) != CU_OK || name == NULL)
        return "a CUDA error without a name";
    return name;
}

const char *cuda_error(const cuda_driver *d, job *j, cu_result code) {
    const char *string = NULL;
    if (d->error_string(code, &string) != CU_OK || string == NULL)
        string = "the driver does not know it";
    return job_print(j, "%s (%d: %s)", cuda_error_name(d, code), code, string);
}
