/* sg_save and sg_load: a kernel file has a binary for one kind of device, and needs no Lua,
   NVRTC or compiler to become a kernel again. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/api/build.h"
#include "runtime/compile/compilers.h"
#include "runtime/launch/context.h"

/* Names of devices, by the binaries they load. */
static const char *const device_words[BINARY_KINDS] = {
    [BINARY_CUBIN] = "cuda", [BINARY_PTX] = "", [BINARY_HOST] = "cpu"};

/* Another version may mean something else by the same content. */
static digest version_key(void) {
    const blob piece = digest_piece("stencilgen " SG_VERSION);
    return digest_of(&piece, 1);
}

typedef struct saving {
    sg_kernel *kernel;
    const char *path, *device;
    compiler *opened; /* for this file only; NULL: the context's is used */
} saving;

static void close_compiler(void *what) {
    const saving *s = what;
    if (s->opened != NULL)
        s->opened->ops->close(s->opened);
}

static binary_kind find_kind(job *j, const saving *s) {
    binary_kind own;
    if (s->device == NULL) {
        context_compiler(j, s->kernel->context, &own);
        return own;
    }
    for (binary_kind kind = 0; kind < BINARY_KINDS; kind++)
        if (device_words[kind][0] != '\0' && strcmp(s->device, device_words[kind]) == 0)
            return kind;
    job_fail(j, FAULT_USAGE, NULL, 0,
             "a kernel cannot be saved for the device '%s'; known are cuda and cpu", s->device);
}

static compiler *find_compiler(job *j, saving *s, binary_kind kind) {
    if (kind == BINARY_CUBIN)
        return s->kernel->context->nvrtc;
    s->opened = host_compiler(j);
    return s->opened;
}

static binary find_binary(job *j, saving *s, binary_kind kind) {
    const sg_kernel *k = s->kernel;
    if (k->loaded != NULL && k->loaded->binary.kind == kind)
        return k->loaded->binary;
    return compile_program(j, k->context, find_compiler(j, s, kind), k->program, kind, NULL);
}

static const char *find_machine(job *j, binary_kind kind) {
    const char *machine = kind == BINARY_HOST ? host_machine(j) : "";
    if (machine == NULL)
        job_fail(j, FAULT_DEVICE, NULL, 0,
                 "the system does not tell what processor this is, so that no kernel can be saved "
                 "for it");
    return machine;
}

static void save(job *j, void *argument) {
    saving *s = argument;
    const sg_kernel *k = s->kernel;
    if (s->path == NULL)
        context_refuse(j, "no path was given to save '%s' to", k->program->name);
    if (k->points != NULL)
        context_refuse(j, "'%s' has points, which a kernel file cannot hold", k->program->name);
    const binary_kind kind = find_kind(j, s);
    job_defer(j, close_compiler, s);
    kernel_file f = {.program = k->program,
                     .info = k->info,
                     .binary = find_binary(j, s, kind),
                     .machine = find_machine(j, kind)};
    memcpy(f.texts, k->texts, sizeof f.texts);
    const digest key = version_key();
    const char *why =
        sealed_write(j, AT_FDCWD, s->path, &kernel_file_kind, &key, kernel_file_write(j, &f));
    if (why != NULL)
        job_fail(j, FAULT_IO, NULL, 0, "%s", why);
    job_undo(j, s);
}

sg_status sg_save(sg_kernel *kernel, const char *path, const char *device) {
    if (kernel == NULL)
        return SG_ERROR_USAGE;
    saving s = {.kernel = kernel, .path = path, .device = device};
    return context_run(kernel->context, save, &s, NULL);
}

typedef struct loading {
    sg_context *context;
    const char *path;
    int file;
    sg_kernel *kernel;
} loading;

static void close_file(void *what) {
    close(((const loading *)what)->file);
}

static noreturn void fail(job *j, const loading *l, fault f, const char *why) {
    job_fail(j, f, l->path, 0, "the kernel cannot be loaded: %s", why);
}

/* O_NONBLOCK: a pipe must not make it wait for a writer. */
static size_t open_file(job *j, loading *l) {
    struct stat facts;
    l->file = open(l->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (l->file < 0)
        fail(j, l, FAULT_IO, strerror(errno));
    job_defer(j, close_file, l);
    if (fstat(l->file, &facts) != 0)
        fail(j, l, FAULT_IO, strerror(errno));
    if (!S_ISREG(facts.st_mode))
        fail(j, l, FAULT_IO, "it is no regular file");
    return (size_t)facts.st_size;
}

static blob read_payload(job *j, loading *l) {
    const digest key = version_key();
    digest found;
    const char *why;
    const size_t size = open_file(j, l);
    const blob payload = sealed_read(j, l->file, size, &kernel_file_kind, NULL, &found, &why);
    job_undo(j, l);
    if (why == NULL && !digest_equal(&key, &found))
        why = "it was saved by another version of stencilgen than " SG_VERSION;
    if (why != NULL)
        fail(j, l, FAULT_DATA, why);
    return payload;
}

/* Code runs on a GPU of the same generation that is not older. "sm_90" is 9.0, "sm_120" is 12.0. */
static bool arch_runs(const char *code, const char *gpu) {
    const int made = atoi(code + 3), own = atoi(gpu + 3);
    return made / 10 == own / 10 && made % 10 <= own % 10;
}

static void check_device(job *j, const loading *l, const kernel_file *f) {
    device *d = context_device(j, l->context);
    const device_facts *facts = d->ops->facts(d);
    if (d->ops->binary != f->binary.kind)
        fail(j, l, FAULT_DATA,
             job_print(j, "it was saved for the device %s, and this context's is %s",
                       device_words[f->binary.kind], d->ops->name));
    if (f->binary.kind == BINARY_CUBIN) {
        if (!arch_runs(f->program->target, facts->arch))
            fail(j, l, FAULT_DATA,
                 job_print(j, "it was compiled for %s, and the GPU is an %s", f->program->target,
                           facts->arch));
        return;
    }
    const char *here = host_machine(j);
    if (here == NULL || strcmp(here, f->machine) != 0)
        fail(j, l, FAULT_DATA, "it was compiled for another processor than this machine's");
}

static sg_kernel *make_kernel(job *j, const loading *l, const kernel_file *f) {
    sg_kernel *k = job_alloc(j, sizeof *k);
    k->context = l->context;
    k->job = j;
    k->program = f->program;
    k->info = f->info;
    memcpy(k->texts, f->texts, sizeof f->texts);
    return k;
}

static void load(job *j, void *argument) {
    loading *l = argument;
    kernel_file f;
    const char *why;
    if (l->path == NULL)
        context_refuse(j, "no path was given to load a kernel from");
    const blob payload = read_payload(j, l);
    if (!kernel_file_read(j, payload, &f, &why))
        fail(j, l, FAULT_DATA, why);
    check_device(j, l, &f);
    sg_kernel *k = make_kernel(j, l, &f);
    const digest key = digest_of(&payload, 1);
    kernel_take(j, k, modules_hold_binary(j, l->context, k->program, &f.binary, &key));
    pthread_mutex_init(&k->lock, NULL); /* last: a load that fails has nothing to undo */
    l->kernel = k;
}

sg_status sg_load(sg_context *context, const char *path, sg_kernel **out) {
    if (context == NULL || out == NULL)
        return SG_ERROR_USAGE;
    loading l = {.context = context, .path = path};
    job *kept;
    const sg_status status = context_run(context, load, &l, &kept);
    if (status == SG_OK)
        *out = kernels_add(context, l.kernel);
    return status;
}
