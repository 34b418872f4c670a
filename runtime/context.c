/* Contexts: opening and closing a device, and one error for each thread.
   Takes: options. Makes: sg_open, sg_close, sg_error, sg_device, and how public calls run. */
#include "runtime/context.h"
#include "runtime/nvrtc.h"

#include <assert.h>
#include <string.h>

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

struct context_error {
    context_error *next;
    pthread_t thread;
    job *job; /* the failed one; NULL where there was no memory for it */
};

static const char no_memory[] = "error: out of memory";

/* ---- errors ------------------------------------------------------------------------------- */

static context_error *find_error(context_error *list) {
    const pthread_t self = pthread_self();
    while (list != NULL && !pthread_equal(list->thread, self))
        list = list->next;
    return list;
}

/* Keeps a failed job, whose error the thread may ask for, in place of the one before. */
static void remember(sg_context *c, job *failed) {
    pthread_mutex_lock(&c->errors_lock);
    context_error *e = find_error(c->errors);
    if (e == NULL) {
        e = allocator_libc.resize(allocator_libc.user, NULL, 0, sizeof *e);
        if (e != NULL) {
            *e = (context_error){.next = c->errors, .thread = pthread_self()};
            c->errors = e;
        }
    }
    if (e != NULL) {
        job *const before = e->job;
        e->job = failed;
        failed = before;
    } else {
        atomic_store(&c->starved, true);
    }
    pthread_mutex_unlock(&c->errors_lock);
    job_end(failed);
}

const char *sg_error(const sg_context *context) {
    if (context == NULL)
        return no_memory;
    sg_context *c = (sg_context *)context; /* a lock is not part of what const promises */
    pthread_mutex_lock(&c->errors_lock);
    const context_error *e = find_error(c->errors);
    const char *text = e == NULL && !atomic_load(&c->starved) ? "" : no_memory;
    if (e != NULL && e->job != NULL)
        text = job_error(e->job);
    pthread_mutex_unlock(&c->errors_lock);
    return text;
}

sg_status context_run(sg_context *c, void (*body)(job *, void *), void *argument, job **keep) {
    job *j;
    const fault f = job_run(&allocator_libc, body, argument, &j);
    if (f != FAULT_NONE)
        remember(c, j);
    else if (keep != NULL)
        *keep = j;
    else
        job_end(j);
    return (sg_status)f;
}

bool context_refuse(job *j, const char *format, ...) {
    if (j == NULL)
        return false;
    va_list arguments;
    va_start(arguments, format);
    job_vfail(j, FAULT_USAGE, NULL, 0, format, arguments);
}

/* ---- option and result structs ------------------------------------------------------------- */

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

void context_write(job *j, void *caller, const void *from, size_t size, const char *name) {
    size_t given = 0;
    if (caller == NULL)
        job_fail(j, FAULT_USAGE, NULL, 0, "there is no %s to write to", name);
    memcpy(&given, caller, sizeof given);
    if (given < sizeof given)
        job_fail(j, FAULT_USAGE, NULL, 0, "struct_size of %s is %zu; set it to sizeof(%s)", name,
                 given, name);
    const size_t known = given < size ? given : size;
    memcpy((char *)caller + sizeof given, (const char *)from + sizeof given, known - sizeof given);
}

/* ---- opening ------------------------------------------------------------------------------- */

typedef struct opening {
    sg_context *context;
    const sg_options *options;
    const device_ops *const *kinds;
    int count;
} opening;

static void make_context(job *j, void *argument) {
    opening *o = argument;
    sg_context *c = job_alloc(j, sizeof *c);
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->errors_lock, NULL);
    c->job = j;
    o->context = c;
}

/* The device called `name`, or the first there is; *why gathers what stands against each. */
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
        job_fail(j, FAULT_USAGE, NULL, 0, "device index %d is negative", options.device_index);
    c->threads = options.threads;
    const device_options wanted = {.index = options.device_index,
                                   .threads = options.threads,
                                   .nvrtc = c->nvrtc,
                                   .cuda_context = options.cuda_context};
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

/* It outlives a failed opening: a context without a device still compiles with NVRTC. */
static void make_compiler(job *j, void *argument) {
    const opening *o = argument;
    sg_options options;
    context_read(j, &options, sizeof options, o->options, "sg_options");
    o->context->nvrtc = nvrtc_compiler(j, options.nvrtc); /* last: nothing to undo */
}

sg_status context_open(sg_context **out, const sg_options *options, const device_ops *const *kinds,
                       int count) {
    if (out == NULL)
        return SG_ERROR_USAGE;
    *out = NULL;
    opening o = {.options = options, .kinds = kinds, .count = count};
    job *own;
    if (job_run(&allocator_libc, make_context, &o, &own) != FAULT_NONE) {
        job_end(own);
        return SG_ERROR_MEMORY;
    }
    *out = o.context;
    const sg_status status = context_run(o.context, make_compiler, &o, &o.context->strings);
    return status != SG_OK ? status : context_run(o.context, open_device, &o, NULL);
}

sg_status sg_open(sg_context **out, const sg_options *options) {
    const device_ops *const kinds[] = {&device_cuda, &device_cpu};
    return context_open(out, options, kinds, (int)(sizeof kinds / sizeof *kinds));
}

void sg_close(sg_context *c) {
    if (c == NULL)
        return;
    workers_close(c->workers);
    if (c->device != NULL)
        c->device->ops->close(c->device);
    if (c->nvrtc != NULL)
        c->nvrtc->ops->close(c->nvrtc);
    while (c->errors != NULL) {
        context_error *e = c->errors;
        c->errors = e->next;
        job_end(e->job);
        allocator_libc.resize(allocator_libc.user, e, sizeof *e, 0);
    }
    pthread_mutex_destroy(&c->lock);
    pthread_mutex_destroy(&c->errors_lock);
    job_end(c->strings);
    job_end(c->job);
}

/* ---- what a context holds ------------------------------------------------------------------ */

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
        c->workers = workers_open(c->threads);
    workers *w = c->workers;
    pthread_mutex_unlock(&c->lock);
    if (w == NULL)
        job_fail(j, FAULT_MEMORY, NULL, 0, "cannot start threads to check with");
    return w;
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
                                 .driver = f->driver};
    context_write(j, q->out, &info, sizeof info, "sg_device_info");
}

sg_status sg_device(sg_context *c, sg_device_info *out) {
    device_query q = {c, out};
    return c == NULL ? SG_ERROR_USAGE : context_run(c, query_device, &q, NULL);
}
