/* Contexts: opening and closing them, how public calls run, and the names of statuses. */
#include "runtime/launch/context.h"

#include <assert.h>
#include <string.h>

#include "base/random.h"
#include "runtime/compile/compilers.h"
#include "runtime/stencilgen.h"
#include "runtime/store/results.h"

#define SAME(status, fault) static_assert((int)(status) == (int)(fault), "a status is a fault")
SAME(SG_OK, FAULT_NONE);
SAME(SG_ERROR_CHECK, FAULT_CHECK);
SAME(SG_ERROR_USAGE, FAULT_USAGE);
SAME(SG_ERROR_SPEC, FAULT_SPEC);
SAME(SG_ERROR_PLAN, FAULT_PLAN);
SAME(SG_ERROR_DATA, FAULT_DATA);
SAME(SG_ERROR_IO, FAULT_IO);
SAME(SG_ERROR_DEVICE, FAULT_DEVICE);
SAME(SG_ERROR_COMPILER, FAULT_COMPILER);
SAME(SG_ERROR_MEMORY, FAULT_MEMORY);

const char *sg_error(const sg_context *context) {
    if (context == NULL)
        return texts_no_memory;
    return texts_find(&((sg_context *)context)->texts, SLOT_ERROR); /* a lock is no content */
}

const char *context_keep(job *j, sg_context *c, const char *text) {
    const char *copy = texts_keep(&c->texts, SLOT_RESULT, text);
    if (copy == NULL)
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
    return copy;
}

void *context_keep_bytes(job *j, sg_context *c, const void *bytes, size_t size) {
    void *copy = texts_keep_bytes(&c->texts, SLOT_LIST, bytes, size);
    if (copy == NULL)
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
    return copy;
}

sg_status context_run(sg_context *c, void (*body)(job *, void *), void *argument, job **keep) {
    job *j;
    fault f = job_run(&c->memory, body, argument, &j);
    if (f != FAULT_NONE &&
        texts_keep(&c->texts, SLOT_ERROR, j != NULL ? job_error(j) : texts_no_memory) == NULL)
        f = FAULT_MEMORY;
    if (f == FAULT_NONE && keep != NULL)
        *keep = j;
    else
        job_end(j);
    return (sg_status)f;
}

sg_status context_make(sg_context *c, void (*body)(job *, void *), void *argument) {
    job *of_the_object;
    const sg_status status = context_run(c, body, argument, &of_the_object);
    if (status == SG_OK)
        context_hold(c);
    return status;
}

void context_unmake(sg_context *c, job *j) {
    job_end(j);
    context_release(c);
}

void context_must(job *j, const sg_context *c, sg_status status) {
    if (status != SG_OK)
        job_fail(j, (fault)status, NULL, 0, "%s", job_error_inside(sg_error(c)));
}

bool context_refuse(job *j, const char *format, ...) {
    if (j == NULL)
        return false;
    va_list arguments;
    va_start(arguments, format);
    job_vfail(j, FAULT_USAGE, NULL, 0, format, arguments);
}

/* ---- option and result structs --------------------------------------------------------------- */

bool context_read(job *j, void *out, size_t size, const void *caller, const char *name) {
    memset(out, 0, size);
    if (caller == NULL)
        return true;
    size_t given;
    memcpy(&given, caller, sizeof given);
    if (given < sizeof given)
        return context_refuse(j, "struct_size of %s is %zu; set it to sizeof(%s)", name, given,
                              name);
    const unsigned char *bytes = caller;
    for (size_t i = size; i < given; i++)
        if (bytes[i] != 0)
            return context_refuse(j,
                                  "%s has a member set that this version of the library (%s) does "
                                  "not know",
                                  name, SG_VERSION);
    memcpy(out, caller, given < size ? given : size);
    return true;
}

size_t context_expect(job *j, const void *caller, const char *name) {
    size_t given = 0;
    if (caller == NULL)
        job_fail(j, FAULT_USAGE, NULL, 0, "there is no %s to write to", name);
    memcpy(&given, caller, sizeof given);
    if (given < sizeof given)
        job_fail(j, FAULT_USAGE, NULL, 0, "struct_size of %s is %zu; set it to sizeof(%s)", name,
                 given, name);
    return given;
}

void context_write(job *j, void *caller, const void *from, size_t size, const char *name) {
    const size_t given = context_expect(j, caller, name);
    const size_t known = given < size ? given : size;
    memcpy((char *)caller + sizeof given, (const char *)from + sizeof given, known - sizeof given);
}

/* ---- opening --------------------------------------------------------------------------------- */

typedef struct opening {
    sg_context *context;
    const sg_options *options;
    const device_ops *const *kinds;
    int count;
} opening;

allocator context_memory(const sg_options *given) {
    sg_options options;
    if (!context_read(NULL, &options, sizeof options, given, "sg_options") ||
        options.resize == NULL)
        return allocator_libc;
    return (allocator){.resize = options.resize, .user = options.resize_user};
}

static void make_context(job *j, void *argument) {
    opening *o = argument;
    sg_context *c = job_alloc(j, sizeof *c);
    c->job = j;
    c->memory = *job_allocator(j);
    atomic_init(&c->uses, 1);
    atomic_init(&c->tags, 0);
    atomic_init(&c->sweeps, 0);
    c->tag_seed = random_stream(random_fresh(), (uint64_t)(uintptr_t)c);
    pthread_mutex_init(&c->lock, NULL);
    texts_open(&c->texts, &c->memory);
    kernels_open(&c->kernels);
    modules_open(&c->modules);
    o->context = c;
}

/* The device called `name`, or the first available; *why collects what is wrong with each. */
static device *open_kind(job *j, const opening *o, const char *name, const device_options *options,
                         const char **why) {
    bool known = strcmp(name, "auto") == 0;
    *why = NULL;
    for (int i = 0; i < o->count; i++) {
        if (strcmp(name, "auto") != 0 && strcmp(name, o->kinds[i]->name) != 0)
            continue;
        known = true;
        const char *reason = NULL;
        device *d = o->kinds[i]->open(j, options, &reason);
        if (d != NULL)
            return d;
        *why = *why == NULL ? reason : job_print(j, "%s; %s", *why, reason);
    }
    if (!known)
        job_fail(j, FAULT_USAGE, NULL, 0, "unknown device '%s'; there are auto, cuda, cpu and none",
                 name);
    return NULL;
}

static void open_device(job *j, void *argument) {
    const opening *o = argument;
    sg_context *c = o->context;
    sg_options options;
    context_read(j, &options, sizeof options, o->options, "sg_options");
    if (options.threads < 0)
        job_fail(j, FAULT_USAGE, NULL, 0, "%d threads: there must be 0 (one a core) or more",
                 options.threads);
    if (options.device_index < 0)
        job_fail(j, FAULT_USAGE, NULL, 0, "device_index of sg_options is %d, which is negative",
                 options.device_index);
    c->threads = options.threads;
    const device_options wanted = {.index = options.device_index,
                                   .threads = options.threads,
                                   .nvrtc = c->nvrtc,
                                   .cuda_context = options.cuda_context,
                                   .cache = cache_place(c->cache)};
    const char *name = options.device != NULL ? options.device : "auto", *why;
    if (wanted.cuda_context != NULL && strcmp(name, "auto") == 0)
        name = "cuda";
    if (wanted.cuda_context != NULL && strcmp(name, "cuda") != 0)
        job_fail(j, FAULT_USAGE, NULL, 0, "a CUDA context is of no use to the device '%s'", name);
    c->runs_nothing = strcmp(name, "none") == 0;
    if (c->runs_nothing)
        return;
    c->device = open_kind(j, o, name, &wanted, &why);
    if (c->device == NULL)
        job_fail(j, FAULT_DEVICE, NULL, 0, "%s", why != NULL ? why : "there is no device");
}

/* The parts that a context has even if its device cannot be opened. */
static void open_parts(job *j, void *argument) {
    const opening *o = argument;
    sg_context *c = o->context;
    sg_options options;
    context_read(j, &options, sizeof options, o->options, "sg_options");
    c->logger = (logger){.call = options.log, .user = options.log_user};
    cache *cache = cache_open(j, options.cache, options.cache_bytes, &c->logger);
    results *results = results_open(j, options.database, &c->logger); /* nothing to undo yet */
    c->given.nvrtc = options.nvrtc != NULL ? job_print(j, "%s", options.nvrtc) : NULL;
    c->given.cache = options.cache != NULL ? job_print(j, "%s", options.cache) : NULL;
    c->given.cache_bytes = options.cache_bytes;
    c->given.device_index = options.device_index;
    c->given.lent = options.cuda_context != NULL;
    c->nvrtc = nvrtc_compiler(j, options.nvrtc); /* last */
    c->cache = cache;
    c->results = results;
}

sg_status context_open(sg_context **out, const sg_options *options, const device_ops *const *kinds,
                       int count) {
    if (out == NULL)
        return SG_ERROR_USAGE;
    *out = NULL;
    opening o = {.options = options, .kinds = kinds, .count = count};
    const allocator memory = context_memory(options);
    job *own;
    if (job_run(&memory, make_context, &o, &own) != FAULT_NONE) {
        job_end(own);
        return SG_ERROR_MEMORY;
    }
    *out = o.context;
    const sg_status status = context_run(o.context, open_parts, &o, &o.context->parts);
    return status != SG_OK ? status : context_run(o.context, open_device, &o, NULL);
}

sg_status sg_open(sg_context **out, const sg_options *options) {
    const device_ops *const kinds[] = {&device_cuda, &device_cpu};
    return context_open(out, options, kinds, (int)(sizeof kinds / sizeof *kinds));
}

static void end(sg_context *c) {
    kernels_close(&c->kernels);
    for (int i = 0; i < CONTEXT_CONVERSIONS; i++)
        modules_let_go(c, c->conversions[i]);
    modules_close(&c->modules);
    workers_close(c->workers);
    if (c->device != NULL)
        c->device->ops->close(c->device);
    if (c->nvrtc != NULL)
        c->nvrtc->ops->close(c->nvrtc);
    results_close(c->results);
    texts_close(&c->texts);
    pthread_mutex_destroy(&c->lock);
    job_end(c->plans_job);
    job_end(c->parts);
    job_end(c->job);
}

void context_hold(sg_context *c) {
    atomic_fetch_add(&c->uses, 1);
}

void context_release(sg_context *c) {
    if (atomic_fetch_sub(&c->uses, 1) == 1)
        end(c);
}

void sg_close(sg_context *c) {
    if (c != NULL)
        context_release(c);
}

/* ---- what a context holds -------------------------------------------------------------------- */

device *context_device(job *j, const sg_context *c) {
    if (c->runs_nothing)
        job_fail(j, FAULT_USAGE, NULL, 0,
                 "the context was opened with the device none, which runs nothing");
    if (c->device == NULL)
        job_fail(j, FAULT_USAGE, NULL, 0, "the context has no device, because opening it failed");
    return c->device;
}

compiler *context_compiler(job *j, sg_context *c, binary_kind *kind) {
    *kind = BINARY_CUBIN;
    if (c->runs_nothing)
        return c->nvrtc;
    device *d = context_device(j, c);
    *kind = d->ops->binary;
    return d->ops->compiler(d);
}

workers *context_workers(job *j, sg_context *c) {
    pthread_mutex_lock(&c->lock);
    if (c->workers == NULL)
        c->workers = workers_open(&c->memory, c->threads);
    workers *w = c->workers;
    pthread_mutex_unlock(&c->lock);
    if (w == NULL)
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory, or of threads, to check with");
    return w;
}

/* The generator gives every index a different number, one of which is 0. */
uint64_t context_tag(sg_context *c) {
    uint64_t tag;
    do
        tag =
            random_bits(c->tag_seed, atomic_fetch_add_explicit(&c->tags, 1, memory_order_relaxed));
    while (tag == 0);
    return tag;
}

typedef struct device_query {
    const sg_context *context;
    sg_device_info *out;
} device_query;

static void query_device(job *j, void *argument) {
    const device_query *q = argument;
    static const device_facts nothing = {.device = "none", .name = "no device", .arch = "none"};
    const device *d = q->context->runs_nothing ? NULL : context_device(j, q->context);
    const device_facts *f = d != NULL ? d->ops->facts(d) : &nothing;
    const sg_device_info info = {.device = f->device,
                                 .name = f->name,
                                 .arch = f->arch,
                                 .multiprocessors = f->multiprocessors,
                                 .memory = f->memory,
                                 .l2_cache = f->l2_cache,
                                 .driver = f->driver,
                                 .clock = f->clock,
                                 .memory_rate = f->memory_rate};
    context_write(j, q->out, &info, sizeof info, "sg_device_info");
}

sg_status sg_device(sg_context *c, sg_device_info *out) {
    device_query q = {c, out};
    return c == NULL ? SG_ERROR_USAGE : context_run(c, query_device, &q, NULL);
}

#define NAME(status) [status] = #status
static const char *const names[] = {
    NAME(SG_OK),           NAME(SG_ERROR_CHECK),  NAME(SG_ERROR_USAGE),
    NAME(SG_ERROR_SPEC),   NAME(SG_ERROR_PLAN),   NAME(SG_ERROR_DATA),
    NAME(SG_ERROR_IO),     NAME(SG_ERROR_DEVICE), NAME(SG_ERROR_COMPILER),
    NAME(SG_ERROR_MEMORY),
};

const char *sg_status_name(sg_status status) {
    const unsigned which = (unsigned)status;
    return which < sizeof names / sizeof *names ? names[which] : "an unknown sg_status";
}

const char *sg_version(void) {
    return SG_VERSION;
}
