/* NVRTC, and what ptxas reports of registers and memory. The declarations are ours: no CUDA
   header is needed. */
#include "runtime/compile/compilers.h"

#include <assert.h>
#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/text.h"
#include "runtime/device/loader.h"
#include "runtime/files/paths.h"

typedef int nvrtc_code; /* nvrtcResult */
typedef struct program_handle *nvrtc_program;

/* Member, symbol, result and arguments of each function used. */
#define NVRTC_FUNCTIONS(F)                                                                         \
    F(version, nvrtcVersion, nvrtc_code, (int *, int *))                                           \
    F(error_string, nvrtcGetErrorString, const char *, (nvrtc_code))                               \
    F(arch_count, nvrtcGetNumSupportedArchs, nvrtc_code, (int *))                                  \
    F(archs, nvrtcGetSupportedArchs, nvrtc_code, (int *))                                          \
    F(create, nvrtcCreateProgram, nvrtc_code,                                                      \
      (nvrtc_program *, const char *, const char *, int, const char *const *,                      \
       const char *const *))                                                                       \
    F(destroy, nvrtcDestroyProgram, nvrtc_code, (nvrtc_program *))                                 \
    F(compile, nvrtcCompileProgram, nvrtc_code, (nvrtc_program, int, const char *const *))         \
    F(ptx_size, nvrtcGetPTXSize, nvrtc_code, (nvrtc_program, size_t *))                            \
    F(ptx, nvrtcGetPTX, nvrtc_code, (nvrtc_program, char *))                                       \
    F(cubin_size, nvrtcGetCUBINSize, nvrtc_code, (nvrtc_program, size_t *))                        \
    F(cubin, nvrtcGetCUBIN, nvrtc_code, (nvrtc_program, char *))                                   \
    F(log_size, nvrtcGetProgramLogSize, nvrtc_code, (nvrtc_program, size_t *))                     \
    F(log, nvrtcGetProgramLog, nvrtc_code, (nvrtc_program, char *))

struct nvrtc {
#define MEMBER(member, symbol, result, arguments) result(*member) arguments;
    NVRTC_FUNCTIONS(MEMBER)
#undef MEMBER
    job *memory; /* of this struct and its texts */
    library library;
    const char *file; /* its identity, or NULL */
    const char *version_text;
    bool has_minimal;
    int *supported; /* architectures: 75, 80, … */
    int supported_count;
};

static const char *const names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                    "libnvrtc.so", NULL};

#define SYMBOL(member, symbol, result, arguments) #symbol,
static const char *const symbols[] = {NVRTC_FUNCTIONS(SYMBOL) NULL};
#undef SYMBOL

static const library_wanted wanted = {
    .title = "NVRTC",
    .variable = "SG_NVRTC",
    .names = names,
    .symbols = symbols,
    .toolkit = true,
    .cure = "install the CUDA toolkit, run ./setup.sh, or set SG_NVRTC to the path of libnvrtc.so",
};

/* ---- opening --------------------------------------------------------------------------------- */

typedef struct opening {
    const char *path, *why;
    nvrtc *result;
} opening;

static void ask_version(job *j, nvrtc *n) {
    int major = 0, minor = 0;
    n->version(&major, &minor);
    n->version_text = job_print(j, "NVRTC %d.%d", major, minor);
    n->has_minimal = major >= 13;
    /* NVRTC opens its second library by its bare name when it first compiles. */
    library_preload_beside(j, &n->library,
                           job_print(j, "libnvrtc-builtins.so.%d.%d", major, minor));
    int count = 0;
    if (n->arch_count(&count) == 0 && count > 0) {
        n->supported = job_array(j, (size_t)count, sizeof *n->supported);
        if (n->archs(n->supported) == 0)
            n->supported_count = count;
    }
}

static void open_body(job *j, void *argument) {
    opening *o = argument;
    nvrtc *n = job_alloc(j, sizeof *n);
    if (!library_open(j, &wanted, o->path, &n->library, &o->why))
        return;
    /* A function's address is copied byte by byte: C has no cast from an object's. */
    void *address;
#define LOOK_UP(member, symbol, result, arguments)                                                 \
    address = library_symbol(&n->library, #symbol);                                                \
    memcpy(&n->member, &address, sizeof address);
    NVRTC_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    /* If its file was replaced after it was opened, its identity is unknown. */
    if (!file_was_replaced(j, n->library.path))
        n->file = file_identity(j, n->library.path);
    ask_version(j, n);
    o->result = n;
}

nvrtc *nvrtc_open(job *j, const char *path, const char **why) {
    opening o = {.path = path};
    job *memory = NULL;
    const fault failed = job_run(job_allocator(j), open_body, &o, &memory);
    if (failed != FAULT_NONE) {
        job_end(memory); /* nothing but memory can be short while looking for a file */
        job_fail(j, failed, NULL, 0, "out of memory while looking for NVRTC");
    }
    if (o.result == NULL) {
        *why = job_string(j, o.why);
        job_end(memory);
        return NULL;
    }
    o.result->memory = memory;
    return o.result;
}

void nvrtc_close(nvrtc *n) {
    if (n != NULL)
        job_end(n->memory);
}

const char *nvrtc_path(const nvrtc *n) {
    return n->library.path;
}

const char *nvrtc_version(const nvrtc *n) {
    return n->version_text;
}

const char *nvrtc_reason(const nvrtc *n) {
    return n->library.reason;
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* One compilation, which owns an NVRTC program even if the job fails. */
typedef struct compilation {
    nvrtc *nvrtc;
    job *job;
    nvrtc_program program;
} compilation;

static void destroy_program(void *argument) {
    compilation *c = argument;
    c->nvrtc->destroy(&c->program);
}

static void must(compilation *c, nvrtc_code code, const char *doing) {
    if (code != 0)
        job_fail(c->job, FAULT_COMPILER, NULL, 0, "%s failed while %s: %s (%d)",
                 c->nvrtc->version_text, doing, c->nvrtc->error_string(code), code);
}

/* "sm_90", "sm_90a" or "sm_100f": its number, where this NVRTC knows it. */
static void check_arch(nvrtc *n, job *j, const char *arch) {
    char *end = NULL;
    long number = 0;
    if (strncmp(arch, "sm_", 3) == 0 && isdigit((unsigned char)arch[3]))
        number = strtol(arch + 3, &end, 10);
    if (end != NULL && (*end == 'a' || *end == 'f'))
        end++;
    bool known = n->supported_count == 0; /* it cannot say, so it is asked to try */
    for (int i = 0; i < n->supported_count; i++)
        known |= n->supported[i] == number;
    if (end != NULL && *end == '\0' && known)
        return;
    text list = text_new(j);
    for (int i = 0; i < n->supported_count; i++)
        text_printf(&list, "%ssm_%d", i > 0 ? ", " : "", n->supported[i]);
    job_fail(j, FAULT_COMPILER, NULL, 0,
             "%s cannot compile for \"%s\"; the architectures it knows are %s", n->version_text,
             arch, list.data);
}

static const char *read_log(compilation *c) {
    size_t size = 0;
    must(c, c->nvrtc->log_size(c->program, &size), "asking for its log");
    char *log = job_alloc(c->job, size + 1);
    if (size > 0)
        must(c, c->nvrtc->log(c->program, log), "asking for its log");
    return log;
}

/* The greatest number before `unit` anywhere in the assembler's report ("Used 40 registers",
   "400 bytes stack frame"); `none` if there is no such number. */
static int greatest(const char *report, const char *unit, int none) {
    int most = none;
    for (const char *at = strstr(report, unit); at != NULL; at = strstr(at + 1, unit)) {
        const char *digit = at;
        while (digit > report && isdigit((unsigned char)digit[-1]))
            digit--;
        const long value = digit < at ? strtol(digit, NULL, 10) : -1;
        if (value > most && value <= 1 << 30)
            most = (int)value;
    }
    return most;
}

/* The assembler's report (-v) has had the same words in every release since 11, unlike the
   layout of a cubin. Of several kernels the greatest number counts. */
static void read_report(binary *r, const char *log) {
    r->registers = greatest(log, " registers", -1);
    const int absent = r->registers < 0 ? -1 : 0; /* without shared memory the report omits it */
    r->shared_bytes = greatest(log, " bytes smem", absent);
    r->local_bytes = greatest(log, " bytes stack frame", absent);
}

static blob read_binary(compilation *c, bool ptx) {
    nvrtc *n = c->nvrtc;
    size_t size = 0;
    must(c, (ptx ? n->ptx_size : n->cubin_size)(c->program, &size), "asking for the binary's size");
    char *data = job_alloc(c->job, size + 1);
    must(c, (ptx ? n->ptx : n->cubin)(c->program, data), "handing out the binary");
    return (blob){.data = data, .size = ptx && size > 0 ? size - 1 : size};
}

/* The log begins with "file(line): error: …", as readers expect. */
static noreturn void fail_with_log(compilation *c, nvrtc_code code, const char *arch) {
    const char *log = read_log(c);
    job_fail(c->job, FAULT_COMPILER, NULL, 0, "%s (%s) failed for %s: %s (%d)\n%s",
             c->nvrtc->version_text, c->nvrtc->library.path, arch, c->nvrtc->error_string(code),
             code, log);
}

/* The options that do not depend on the architecture. */
static const char *const fixed_options[] = {
    [BINARY_CUBIN] = "--ptxas-options=-v",
    [BINARY_PTX] = NULL,
};
static const char standard[] = "--std=c++17";

/* Sources of grids say themselves where a product and a sum are one instruction, so that a point
   has the same bits whichever way it is computed. */
static const char no_contraction[] = "--fmad=false";

/* NVRTC leaves out declarations that no source uses, such as textures: the binary is the same, and
   comes 10 ms sooner. Not every NVRTC before 13 has this option. */
static const char minimal[] = "--minimal";

/* All Hopper GPUs run what is made for sm_90a, which has instructions that sm_90 has not. */
static const char hopper[] = "sm_90", hopper_alone[] = "sm_90a";

/* Compiles for `arch`. */
static nvrtc_code try_source(compilation *c, const program *p, const char *source, const char *arch,
                             binary_kind kind) {
    nvrtc *n = c->nvrtc;
    job *j = c->job;
    const char *options[5] = {standard};
    int count = 1;
    options[count++] =
        job_print(j, "--gpu-architecture=%s_%s", kind == BINARY_PTX ? "compute" : "sm", arch + 3);
    if (fixed_options[kind] != NULL)
        options[count++] = fixed_options[kind];
    if (program_is_grid(p))
        options[count++] = no_contraction;
    if (n->has_minimal)
        options[count++] = minimal;
    const char *file = job_print(j, "%s.cu", p->name);
    must(c, n->create(&c->program, source, file, 0, NULL, NULL), "taking the source");
    job_defer(j, destroy_program, c);
    return n->compile(c->program, count, options);
}

/* One source of a program. Threads that take registers over (templates/arch/handing.cuh) may need
   more than there are, and are compiled without: so they spill. */
static binary compile_source(nvrtc *n, job *j, const program *p, const char *source,
                             const char *arch, binary_kind kind) {
    const bool ptx = kind == BINARY_PTX, alone = !ptx && strcmp(arch, hopper) == 0;
    compilation *c = job_alloc(j, sizeof *c);
    *c = (compilation){.nvrtc = n, .job = j};
    const double start = clock_seconds();
    nvrtc_code code = try_source(c, p, source, alone ? hopper_alone : arch, kind);
    if (code != 0 && alone) {
        job_undo(j, c);
        code = try_source(c, p, source, arch, kind);
    }
    if (code != 0)
        fail_with_log(c, code, arch);
    binary r = {.kind = kind, .registers = -1, .shared_bytes = -1, .local_bytes = -1};
    r.data = read_binary(c, ptx);
    r.seconds = clock_seconds() - start;
    r.compiler = job_string(j, n->version_text);
    if (!ptx)
        read_report(&r, read_log(c));
    job_undo(j, c);
    return r;
}

/* The spares are compiled by another thread at the same time. */
typedef struct meanwhile {
    nvrtc *nvrtc;
    allocator memory;
    const program *program;
    const char *arch;
    pthread_t thread;
    bool started, joined;
    job *own; /* holds the binary, or the error */
    fault failed;
    binary made;
} meanwhile;

static void compile_spares(job *j, void *argument) {
    meanwhile *m = argument;
    m->made = compile_source(m->nvrtc, j, m->program, m->program->grid.spare_source, m->arch,
                             BINARY_CUBIN);
}

static void *run_meanwhile(void *argument) {
    meanwhile *m = argument;
    m->failed = job_run(&m->memory, compile_spares, m, &m->own);
    return NULL;
}

static void join_meanwhile(meanwhile *m) {
    if (m->started && !m->joined)
        pthread_join(m->thread, NULL);
    m->joined = true;
}

static void end_meanwhile(void *argument) {
    meanwhile *m = argument;
    join_meanwhile(m);
    job_end(m->own);
}

/* Without a thread, one after the other. */
static binary compile_with(nvrtc *n, job *j, const program *p, const char *arch, binary_kind kind) {
    check_arch(n, j, arch);
    if (program_spare_source(p) == NULL || kind != BINARY_CUBIN)
        return compile_source(n, j, p, p->source, arch, kind);
    meanwhile *m = job_alloc(j, sizeof *m);
    *m = (meanwhile){.nvrtc = n, .memory = *job_allocator(j), .program = p, .arch = arch};
    const double start = clock_seconds();
    m->started = pthread_create(&m->thread, NULL, run_meanwhile, m) == 0;
    job_defer(j, end_meanwhile, m);
    binary r = compile_source(n, j, p, p->source, arch, kind);
    if (!m->started)
        run_meanwhile(m);
    join_meanwhile(m);
    if (m->failed != FAULT_NONE)
        job_fail(j, m->failed, NULL, 0, "%s",
                 m->own != NULL ? job_error_text(m->own) : "out of memory");
    r.data = binary_pair(j, r.data, m->made.data);
    r.seconds = clock_seconds() - start;
    job_keep(j, m);
    job_end(m->own);
    return r;
}

/* ---- the compiler ---------------------------------------------------------------------------- */

typedef struct nvrtc_maker {
    compiler base;
    const char *path;     /* the caller's or NULL */
    pthread_mutex_t lock; /* guards what follows */
    nvrtc *open;          /* NULL until the first compilation */
} nvrtc_maker;

static void unlock(void *lock) {
    pthread_mutex_unlock(lock);
}

/* The first thread opens it while others wait. If it is not found, the next thread searches
   again. */
static nvrtc *opened(nvrtc_maker *m, job *j) {
    const char *why = NULL;
    pthread_mutex_lock(&m->lock);
    job_defer(j, unlock, &m->lock);
    if (m->open == NULL)
        m->open = nvrtc_open(j, m->path, &why);
    nvrtc *n = m->open;
    job_undo(j, &m->lock);
    if (n == NULL)
        job_fail(j, FAULT_COMPILER, NULL, 0, "%s", why);
    return n;
}

/* Of the open library, whatever became of its file; else of the one that would be opened. */
static const char *identity(compiler *base, job *j, binary_kind kind) {
    nvrtc_maker *m = (nvrtc_maker *)base;
    assert(kind == BINARY_CUBIN || kind == BINARY_PTX);
    pthread_mutex_lock(&m->lock);
    const nvrtc *n = m->open;
    pthread_mutex_unlock(&m->lock);
    library found;
    const char *file = NULL;
    if (n != NULL)
        file = n->file;
    else if (library_find(j, &wanted, m->path, loader_conf, &found))
        file = file_identity(j, found.path);
    if (file == NULL)
        return NULL;
    return job_print(j, "NVRTC %s; %s %s, from 13 on %s", file, standard,
                     fixed_options[kind] != NULL ? fixed_options[kind] : "", minimal);
}

static binary compile(compiler *base, job *j, const program *p, const char *arch,
                      binary_kind kind) {
    assert(kind == BINARY_CUBIN || kind == BINARY_PTX);
    return compile_with(opened((nvrtc_maker *)base, j), j, p, arch, kind);
}

static void close_maker(compiler *base) {
    nvrtc_maker *m = (nvrtc_maker *)base;
    nvrtc_close(m->open);
    pthread_mutex_destroy(&m->lock);
}

compiler *nvrtc_compiler(job *j, const char *path) {
    static const compiler_ops ops = {identity, compile, close_maker};
    nvrtc_maker *m = job_alloc(j, sizeof *m);
    m->path = job_string(j, path);
    m->base.ops = &ops;
    pthread_mutex_init(&m->lock, NULL);
    return &m->base;
}
