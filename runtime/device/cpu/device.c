/* The cpu device: the host's compiler makes shared objects, whose blocks are spread over a pool
   of threads. */
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/workers.h"
#include "runtime/compile/compilers.h"
#include "runtime/device/cpu/block.h"
#include "runtime/device/cpu/fiber.h"
#include "runtime/device/device.h"

/* dlopen and dlclose as ThreadSanitizer must see them: the loader puts a library where a closed
   one was, and it orders the two by a lock of its own. */
#if defined(SG_FIBER_TSAN)
#include <sanitizer/tsan_interface.h>
static char cpu_library_order; /* for its address */
#endif

static inline void *cpu_library_open(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
#if defined(SG_FIBER_TSAN)
    __tsan_acquire(&cpu_library_order);
#endif
    return library;
}

static inline void cpu_library_close(void *library) {
#if defined(SG_FIBER_TSAN)
    __tsan_release(&cpu_library_order);
#endif
    dlclose(library);
}

typedef struct cpu_device {
    device base;
    job *own; /* holds this struct and all that lives as long */
    device_facts facts;
    compiler *compiler;
    workers *workers;
    pthread_mutex_t lock; /* guards what follows: launches take turns, loads may enlarge it */
    cpu_blocks **blocks;  /* one for each worker */
    cpu_blocks **spare;   /* room for as many, while larger ones are made */
    int threads;          /* what they serve */
    size_t shared_bytes;
} cpu_device;

struct module {
    allocator memory;
    void *library;
    const sg_cpu_module_table *table;
    int count;
    program_launch launches[]; /* without their names */
};

enum {
    CODE_SHAPE = 1,       /* of launch: a grid that indices cannot count */
    CHUNKS_A_WORKER = 32, /* small enough to even out, large enough not to count */
};

/* ---- opening --------------------------------------------------------------------------------- */

typedef struct opening {
    workers *workers;
    cpu_device *made;
} opening;

static int64_t system_value(int name, int64_t unit) {
    const long value = sysconf(name);
    return value > 0 ? value * unit : 0;
}

/* What the kernels' compiler is told by -march=native. */
static int vector_bytes(void) {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx") ? 32 : 16;
#else
    return 16;
#endif
}

static void make_device(job *own, void *argument) {
    opening *o = argument;
    cpu_device *d = job_alloc(own, sizeof *d);
    const int cores = workers_count(o->workers);
    d->base.ops = &device_cpu;
    d->own = own;
    d->workers = o->workers;
    d->blocks = job_array(own, (size_t)cores, sizeof *d->blocks);
    d->spare = job_array(own, (size_t)cores, sizeof *d->spare);
    d->facts = (device_facts){
        .device = "cpu",
        .name = job_print(own, "cpu, %d core%s", cores, cores == 1 ? "" : "s"),
        .arch = "cpu",
        .multiprocessors = cores,
    };
#if defined(_SC_PHYS_PAGES)
    d->facts.memory = system_value(_SC_PHYS_PAGES, system_value(_SC_PAGESIZE, 1));
#endif
#if defined(_SC_LEVEL2_CACHE_SIZE)
    d->facts.l2_cache = system_value(_SC_LEVEL2_CACHE_SIZE, 1);
    d->facts.l3_cache = system_value(_SC_LEVEL3_CACHE_SIZE, 1);
#endif
    d->facts.vector_bytes = vector_bytes();
    d->compiler = host_compiler(own);
    pthread_mutex_init(&d->lock, NULL); /* last: nothing to undo */
    o->made = d;
}

static device *open_cpu(job *j, const device_options *options, const char **why) {
    (void)why;
    opening o = {.workers = workers_open(job_allocator(j), options->threads)};
    if (o.workers == NULL)
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory, or of threads, for the cpu device");
    job *own;
    const fault failed = job_run(job_allocator(j), make_device, &o, &own);
    if (failed != FAULT_NONE) { /* of memory: there is no other way */
        job_end(own);
        workers_close(o.workers);
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
    }
    host_compiler_place(o.made->compiler)->cache = options->cache;
    return &o.made->base;
}

static void free_blocks(const cpu_device *d, cpu_blocks **blocks) {
    for (int i = 0; i < workers_count(d->workers); i++)
        cpu_blocks_free(blocks[i]);
}

static void close_cpu(device *base) {
    cpu_device *d = (cpu_device *)base;
    free_blocks(d, d->blocks);
    free_blocks(d, d->spare);
    workers_close(d->workers);
    d->compiler->ops->close(d->compiler);
    pthread_mutex_destroy(&d->lock);
    job_end(d->own);
}

static const device_facts *facts(const device *base) {
    return &((const cpu_device *)base)->facts;
}

workers *cpu_workers(device *base) {
    return ((cpu_device *)base)->workers;
}

/* ---- loading --------------------------------------------------------------------------------- */

static compiler *compiler_of(device *base) {
    return ((cpu_device *)base)->compiler;
}

static void unload_module(void *what) {
    module *m = what;
    if (m->library != NULL)
        cpu_library_close(m->library);
    const allocator memory = m->memory;
    memory.resize(memory.user, m, sizeof *m + (size_t)m->count * sizeof m->launches[0], 0);
}

static module *new_module(job *j, const program *p) {
    const allocator *memory = job_allocator(j);
    const size_t size = sizeof(module) + (size_t)p->launch_count * sizeof(program_launch);
    module *m = memory->resize(memory->user, NULL, 0, size);
    if (m == NULL)
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
    memset(m, 0, size);
    m->memory = *memory;
    m->count = p->launch_count;
    for (int i = 0; i < m->count; i++) {
        m->launches[i] = p->launches[i];
        m->launches[i].entry = NULL;
    }
    job_defer(j, unload_module, m);
    return m;
}

static void open_library(job *j, module *m, blob b, scratch_place *place) {
    scratch *s = scratch_open(j, place);
    scratch_write(j, s, SCRATCH_OBJECT, &(scratch_piece){b.data, b.size}, 1);
    m->library = cpu_library_open(scratch_at(j, s, SCRATCH_OBJECT));
    if (m->library == NULL)
        job_fail(j, FAULT_DEVICE, NULL, 0,
                 "the compiled kernel cannot be loaded: %s (where programs may not run from the "
                 "temporary folder, TMPDIR names another)",
                 dlerror());
    scratch_close(j, s);
    sg_cpu_module_table *table = dlsym(m->library, "sg_cpu_module");
    if (table == NULL || table->count != m->count)
        job_fail(j, FAULT_DEVICE, NULL, 0, "the compiled kernel is of another program");
    table->here = cpu_blocks_here;
    m->table = table;
}

/* Makes larger states for the workers. If there is no memory for all of them, the old ones stay,
   which other modules use. */
static bool enlarge(cpu_device *d, int threads, size_t shared_bytes) {
    const int count = workers_count(d->workers);
    for (int i = 0; i < count; i++) {
        d->spare[i] = cpu_blocks_new(threads, shared_bytes, count);
        if (d->spare[i] == NULL) {
            free_blocks(d, d->spare);
            memset(d->spare, 0, (size_t)count * sizeof *d->spare);
            return false;
        }
    }
    free_blocks(d, d->blocks);
    memcpy(d->blocks, d->spare, (size_t)count * sizeof *d->blocks);
    memset(d->spare, 0, (size_t)count * sizeof *d->spare);
    d->threads = threads;
    d->shared_bytes = shared_bytes;
    return true;
}

/* Makes the workers' states large enough for the module, so that launches allocate nothing. */
static bool reserve(cpu_device *d, const module *m) {
    int threads = 0;
    size_t shared_bytes = 0;
    for (int i = 0; i < m->count; i++) {
        const program_launch *l = &m->launches[i];
        const int count = l->barriers ? l->block[0] * l->block[1] * l->block[2] : 0;
        threads = count > threads ? count : threads;
        shared_bytes = l->shared_bytes > shared_bytes ? l->shared_bytes : shared_bytes;
    }
    bool done = true;
    pthread_mutex_lock(&d->lock);
    if (threads > d->threads || shared_bytes > d->shared_bytes || d->blocks[0] == NULL)
        done = enlarge(d, threads > d->threads ? threads : d->threads,
                       shared_bytes > d->shared_bytes ? shared_bytes : d->shared_bytes);
    pthread_mutex_unlock(&d->lock);
    return done;
}

static module *load(device *base, job *j, const program *p, blob b) {
    module *m = new_module(j, p);
    open_library(j, m, b, host_compiler_place(((cpu_device *)base)->compiler));
    if (!reserve((cpu_device *)base, m))
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory for the stacks of the cpu device");
    job_keep(j, m);
    return m;
}

static void unload(device *base, module *m) {
    (void)base;
    unload_module(m);
}

static function_facts function(device *base, job *j, const module *m, int launch) {
    (void)base;
    (void)j;
    (void)m;
    (void)launch;
    return (function_facts){
        .registers = -1, .local_bytes = -1, .blocks_resident = -1, .occupancy = -1};
}

/* ---- launching ------------------------------------------------------------------------------- */

typedef struct sweep {
    cpu_device *device;
    cpu_launch launch;
    int64_t blocks, chunk;
} sweep;

static void run_chunk(void *argument, int64_t index, int worker) {
    const sweep *s = argument;
    const int64_t first = index * s->chunk, left = s->blocks - first;
    cpu_blocks_run(s->device->blocks[worker], &s->launch, first, left < s->chunk ? left : s->chunk);
}

/* Each worker takes a block at a time if all are to be at work `together`, else a few. */
static fault run_blocks(cpu_device *d, const module *m, int number, const int64_t grid[3],
                        const void *arguments, bool together, int *code) {
    const program_launch *l = &m->launches[number];
    const int64_t cores = workers_count(d->workers);
    sweep s = {
        .device = d,
        .launch = {.kernel = m->table->kernels[number],
                   .arguments = arguments,
                   .barriers = l->barriers,
                   .block = {(unsigned)l->block[0], (unsigned)l->block[1], (unsigned)l->block[2]},
                   .shared_bytes = l->shared_bytes,
                   .cache_bytes = d->facts.l3_cache + cores * d->facts.l2_cache},
        .blocks = 1,
    };
    for (int i = 0; i < 3; i++) {
        if (grid[i] < 0 || grid[i] > UINT32_MAX ||
            (grid[i] > 0 && s.blocks > INT64_MAX / grid[i])) {
            *code = CODE_SHAPE;
            return FAULT_DEVICE;
        }
        s.blocks *= grid[i];
    }
    s.launch.grid = (sg_cpu_index){(unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2]};
    const int64_t most = cores * CHUNKS_A_WORKER;
    s.chunk = together ? 1 : s.blocks / most + (s.blocks % most != 0);
    pthread_mutex_lock(&d->lock);
    if (s.blocks > 0)
        workers_run(d->workers, (s.blocks - 1) / s.chunk + 1, run_chunk, &s);
    pthread_mutex_unlock(&d->lock);
    *code = 0;
    return FAULT_NONE;
}

static fault launch(device *base, const module *m, int number, const int64_t grid[3],
                    const void *arguments, size_t bytes, void *stream, int *code) {
    (void)bytes;
    (void)stream;
    return run_blocks((cpu_device *)base, m, number, grid, arguments, false, code);
}

static fault launch_together(device *base, const module *m, int number, const int64_t grid[3],
                             const void *arguments, size_t bytes, void *stream, int *code) {
    (void)bytes;
    (void)stream;
    return run_blocks((cpu_device *)base, m, number, grid, arguments, true, code);
}

/* A launch of so many blocks hands out one at a time, so a worker that waits in one delays no
   other. */
static int64_t resident(device *base, const module *m, int number) {
    (void)m;
    (void)number;
    return workers_count(((cpu_device *)base)->workers);
}

static const char *code_name(const device *base, int code) {
    (void)base;
    return code == CODE_SHAPE ? "a grid of more than 4294967295 blocks along an axis" : "no error";
}

/* ---- time ------------------------------------------------------------------------------------ */

static double seconds(device *base, job *j, void (*body)(job *, void *), void *argument) {
    (void)base;
    const double begin = clock_seconds();
    body(j, argument);
    return clock_seconds() - begin;
}

static bool map(device *base, const device_map *m, void *to) {
    (void)base;
    sg_cpu_map out = {.data = m->data};
    for (int axis = 0; axis < 3; axis++) {
        out.size[axis] = m->size[axis];
        out.stride[axis] = m->stride[axis] * (int64_t)m->element_bytes;
        out.box[axis] = m->box[axis];
    }
    _Static_assert(sizeof out <= PROGRAM_MAP_BYTES, "it is what kernels have room for");
    memcpy(to, &out, sizeof out);
    return true;
}

const device_ops device_cpu = {
    .name = "cpu",
    .open = open_cpu,
    .close = close_cpu,
    .facts = facts,
    .binary = BINARY_HOST,
    .compiler = compiler_of,
    .load = load,
    .unload = unload,
    .function = function,
    .launch = launch,
    .launch_together = launch_together,
    .together = resident,
    .map = map,
    .resident = resident,
    .alloc = cpu_alloc,
    .free = cpu_release,
    .upload = cpu_upload,
    .download = cpu_upload,
    .host_alloc = cpu_alloc,
    .host_free = cpu_release,
    .copy = cpu_copy,
    .fill = cpu_fill,
    .fill_async = cpu_fill_async,
    .synchronize = cpu_synchronize,
    .mark = cpu_mark,
    .passed = cpu_passed,
    .unmark = cpu_unmark,
    .order = cpu_order,
    .host_memory = true,
    .time = seconds,
    .code_name = code_name,
};
