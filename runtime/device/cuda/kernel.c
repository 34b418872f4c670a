/* Cubins on the cuda device: loading them, their kernels' facts, and launches. */
#include <assert.h>
#include <string.h>

#include "runtime/device/cuda/device.h"

typedef struct kernel {
    cu_function function;
    unsigned block[3];
    unsigned shared_bytes;
    int registers, local_bytes;
    int64_t together; /* resident blocks of a cooperative launch; 0: it is none */
    int64_t resident; /* resident blocks, if the launch needs to know */
    bool early;       /* it may begin before the launch ahead of it has ended */
    int64_t most; /* blocks of such a launch that wait for each other; 0: none do, or it cannot be
                     launched cooperatively */
} kernel;

struct module {
    cuda *device;
    cu_module handle, spare; /* of the program's own kernels, and of its spares or NULL */
    size_t bytes;            /* of this struct */
    size_t arguments_bytes;
    int count;
    kernel kernels[];
};

enum {
    LINK_LOG_BYTES = 16 * 1024,     /* the driver cuts longer ones */
    PLAIN_SHARED_BYTES = 48 * 1024, /* beyond it a kernel must ask */
    EARLY_DRIVER = 12030,           /* the first whose graphs hold launches that begin early */
};

static void unload_module(void *argument) {
    module *m = argument;
    cuda *d = m->device;
    bool pushed;
    if (m->handle != NULL && cuda_enter(d, &pushed) == CU_OK) {
        (void)d->driver.module_unload(m->handle);
        if (m->spare != NULL)
            (void)d->driver.module_unload(m->spare);
        cuda_leave(d, pushed);
    }
    d->memory.resize(d->memory.user, m, m->bytes, 0);
}

static module *new_module(cuda *d, job *j, const program *p) {
    const size_t bytes = sizeof(module) + (size_t)p->launch_count * sizeof(kernel);
    module *m = d->memory.resize(d->memory.user, NULL, 0, bytes);
    if (m == NULL)
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
    memset(m, 0, bytes);
    m->device = d;
    m->bytes = bytes;
    m->arguments_bytes = p->arguments_bytes;
    m->count = p->launch_count;
    return m;
}

static cu_result load_image(cuda *d, cu_module *out, blob binary, char *log) {
    cu_jit_option options[] = {CU_JIT_OPTION_ERROR_LOG, CU_JIT_OPTION_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)LINK_LOG_BYTES};
    cu_result code;
    CUDA_CALL(code, d, d->driver.module_load(out, binary.data, 2, options, values));
    return code;
}

/* The most shared memory of all launches of a kernel, because what a kernel asks for holds for
   all of them. */
static int most_shared_bytes(const program *p, const char *entry) {
    size_t most = 0;
    for (int i = 0; i < p->launch_count; i++)
        if (strcmp(p->launches[i].entry, entry) == 0 && p->launches[i].shared_bytes > most)
            most = p->launches[i].shared_bytes;
    return (int)most;
}

/* The blocks that are resident on the whole device. */
static cu_result count_blocks(cuda *d, const kernel *k, int64_t *out) {
    const int threads = (int)(k->block[0] * k->block[1] * k->block[2]);
    int blocks = 0;
    const cu_result code = d->driver.occupancy(&blocks, k->function, threads, k->shared_bytes);
    *out = (int64_t)blocks * d->facts.multiprocessors;
    return code;
}

/* Asking for attributes makes the driver load the kernel now and not at its first launch. */
static cu_result load_kernel(cuda *d, cu_module from, const program *p, const program_launch *l,
                             kernel *k) {
    const cuda_driver *driver = &d->driver;
    const int shared = most_shared_bytes(p, l->entry);
    for (int axis = 0; axis < 3; axis++)
        k->block[axis] = (unsigned)l->block[axis];
    k->shared_bytes = (unsigned)l->shared_bytes;
    const bool lists = !program_is_grid(p);
    k->early = l->early && d->facts.driver >= EARLY_DRIVER && d->driver.launch_as != NULL;
    bool pushed;
    cu_result code = cuda_enter(d, &pushed);
    if (code != CU_OK)
        return code;
    code = driver->module_function(&k->function, from, l->entry);
    if (code == CU_OK && shared > PLAIN_SHARED_BYTES)
        code = driver->function_set(k->function, CU_FUNCTION_MAX_DYNAMIC_SHARED_BYTES, shared);
    if (code == CU_OK && l->abreast)
        code = driver->function_set(k->function, CU_FUNCTION_SHARED_CARVEOUT, 100);
    if (code == CU_OK)
        code = driver->function_get(&k->registers, CU_FUNCTION_REGISTERS, k->function);
    if (code == CU_OK)
        code = driver->function_get(&k->local_bytes, CU_FUNCTION_LOCAL_BYTES, k->function);
    if (code == CU_OK && !lists && l->grid.cooperative && d->cooperative)
        code = count_blocks(d, k, &k->together);
    if (code == CU_OK && lists && l->lists.resident)
        code = count_blocks(d, k, &k->resident);
    if (lists && d->cooperative && p->lists.tagged) { /* else no block waits for any */
        const int64_t most = l->lists.blocks[0].most;
        k->most = most > 0 && most < k->resident ? most : k->resident;
    }
    cuda_leave(d, pushed);
    return code;
}

module *cuda_load(device *base, job *j, const program *p, blob binary) {
    cuda *d = (cuda *)base;
    char *log = job_alloc(j, LINK_LOG_BYTES + 1);
    module *m = new_module(d, j, p);
    job_defer(j, unload_module, m);
    const blob spare = binary_second(binary);
    const bool spares = program_own_launches(p) < p->launch_count;
    if (spares && spare.size == 0)
        job_fail(j, FAULT_DEVICE, NULL, 0, "the binary of %s has no spares", p->name);
    cu_result code = load_image(d, &m->handle, binary, log);
    if (code == CU_OK && spares)
        code = load_image(d, &m->spare, spare, log);
    if (code != CU_OK)
        job_fail(j, FAULT_DEVICE, NULL, 0, "%s: loading the binary of %s failed: %s%s%s",
                 d->facts.name, p->name, cuda_error(&d->driver, j, code),
                 log[0] != '\0' ? "\n" : "", log);
    for (int i = 0; i < p->launch_count; i++) {
        const program_launch *l = &p->launches[i];
        code = load_kernel(d, i < program_own_launches(p) ? m->handle : m->spare, p, l,
                           &m->kernels[i]);
        if (code != CU_OK)
            job_fail(j, FAULT_DEVICE, NULL, 0,
                     "%s: loading the kernel %s with %zu bytes of shared memory failed: %s",
                     d->facts.name, l->entry, l->shared_bytes, cuda_error(&d->driver, j, code));
    }
    job_keep(j, m);
    return m;
}

void cuda_unload(device *base, module *m) {
    (void)base;
    if (m != NULL)
        unload_module(m);
}

function_facts cuda_function(device *base, job *j, const module *m, int launch) {
    cuda *d = (cuda *)base;
    assert(launch >= 0 && launch < m->count);
    const kernel *k = &m->kernels[launch];
    const int threads = (int)(k->block[0] * k->block[1] * k->block[2]);
    function_facts facts = {.registers = k->registers, .local_bytes = k->local_bytes};
    CUDA_MUST(d, j,
              d->driver.occupancy(&facts.blocks_resident, k->function, threads, k->shared_bytes),
              "asking how many blocks fit a multiprocessor");
    facts.occupancy = (double)facts.blocks_resident * threads / d->threads_per_multiprocessor;
    return facts;
}

/* Programmatic dependent launch: it may begin once all blocks of the launch before it have
   begun, or as that launch says. */
static cu_result launch_early(const cuda *d, const kernel *k, const unsigned blocks[3],
                              void *stream, void **arguments) {
    cu_launch_attribute attribute = {.id = CU_LAUNCH_SERIALIZATION};
    attribute.value.programmaticStreamSerializationAllowed = 1;
    const cu_launch launch = {
        .gridDimX = blocks[0],
        .gridDimY = blocks[1],
        .gridDimZ = blocks[2],
        .blockDimX = k->block[0],
        .blockDimY = k->block[1],
        .blockDimZ = k->block[2],
        .sharedMemBytes = k->shared_bytes,
        .hStream = stream,
        .attrs = &attribute,
        .numAttrs = 1,
    };
    return d->driver.launch_as(&launch, k->function, arguments, NULL);
}

static fault launch_kernel(device *base, const module *m, int launch, bool together,
                           const int64_t grid[3], const void *arguments, void *stream, int *code) {
    cuda *d = (cuda *)base;
    assert(launch >= 0 && launch < m->count);
    assert(grid[0] <= INT32_MAX && grid[1] <= UINT16_MAX && grid[2] <= UINT16_MAX);
    const kernel *k = &m->kernels[launch];
    const unsigned blocks[] = {(unsigned)grid[0], (unsigned)grid[1], (unsigned)grid[2]};
    void *pointers[] = {(void *)arguments}; /* the driver copies what it points to */
    bool pushed;
    *code = cuda_enter(d, &pushed);
    if (*code == CU_OK) {
        *code = together   ? d->driver.launch_together(k->function, blocks[0], blocks[1], blocks[2],
                                                       k->block[0], k->block[1], k->block[2],
                                                       k->shared_bytes, stream, pointers)
                : k->early ? launch_early(d, k, blocks, stream, pointers)
                           : d->driver.launch(k->function, blocks[0], blocks[1], blocks[2],
                                              k->block[0], k->block[1], k->block[2],
                                              k->shared_bytes, stream, pointers, NULL);
        cuda_leave(d, pushed);
    }
    return *code == CU_OK ? FAULT_NONE : FAULT_DEVICE;
}

/* If resident blocks wait for any other block, something else on the device must not keep some
   of them from starting for ever: that needs a cooperative launch. With fewer blocks it is
   enough that blocks start in the order of their numbers, which they do, and a plain launch is
   faster. */
fault cuda_launch(device *base, const module *m, int launch, const int64_t grid[3],
                  const void *arguments, size_t bytes, void *stream, int *code) {
    const int64_t most = m->kernels[launch].most;
    assert(bytes == m->arguments_bytes);
    (void)bytes;
    return launch_kernel(base, m, launch, most > 0 && grid[0] >= most, grid, arguments, stream,
                         code);
}

fault cuda_launch_together(device *base, const module *m, int launch, const int64_t grid[3],
                           const void *arguments, size_t bytes, void *stream, int *code) {
    assert(bytes == m->arguments_bytes);
    (void)bytes;
    return launch_kernel(base, m, launch, true, grid, arguments, stream, code);
}

int64_t cuda_together(device *base, const module *m, int launch) {
    (void)base;
    assert(launch >= 0 && launch < m->count);
    return m->kernels[launch].together;
}

/* If no block fits, the kernel cannot be launched; a launch of one block makes the driver say
   so. */
int64_t cuda_resident(device *base, const module *m, int launch) {
    (void)base;
    assert(launch >= 0 && launch < m->count);
    const int64_t blocks = m->kernels[launch].resident;
    return blocks > 0 ? blocks : 1;
}

/* Data and strides that are no multiples of 16 bytes, or not positive, are refused by the driver.
 */
bool cuda_map(device *base, const device_map *m, void *to) {
    cuda *d = (cuda *)base;
    uint64_t size[3], strides[2];
    uint32_t box[3];
    static const uint32_t steps[3] = {1, 1, 1};
    if (d->driver.map_tiled == NULL)
        return false;
    for (int axis = 0; axis < 3; axis++) {
        if (m->size[axis] < 1 || (axis > 0 && m->stride[axis] < 1))
            return false;
        size[axis] = (uint64_t)m->size[axis];
        box[axis] = (uint32_t)m->box[axis];
        if (axis > 0)
            strides[axis - 1] = (uint64_t)m->stride[axis] * m->element_bytes;
    }
    const cu_map_type type = m->element_bytes == 8   ? CU_MAP_DOUBLE
                             : m->element_bytes == 4 ? CU_MAP_FLOAT
                                                     : CU_MAP_UINT16;
    cu_result code;
    CUDA_CALL(code, d,
              d->driver.map_tiled(to, type, 3, m->data, size, strides, box, steps, 0, 0,
                                  CU_MAP_FETCH_128, 0));
    return code == CU_OK;
}
