/* Memory of the cuda device, and of other GPUs: of this process by peer access, of others by
   handles of allocations. And streams: waiting for their work, marks on it, and their order. */
#include <string.h>
#include <unistd.h>

#include "runtime/device/cuda/device.h"

_Static_assert(sizeof(cu_ipc_handle) == DEVICE_HANDLE, "a place holds a handle");

static void must_move(const cuda *d, job *j, cu_result code, size_t bytes, const char *where) {
    if (code != CU_OK)
        job_fail(j, FAULT_DEVICE, NULL, 0, "%s: copying %zu bytes %s failed: %s", d->facts.name,
                 bytes, where, cuda_error(&d->driver, j, code));
}

static cu_pointer address(const void *memory) {
    return (cu_pointer)(uintptr_t)memory;
}

void *cuda_alloc(device *base, job *j, size_t bytes) {
    cuda *d = (cuda *)base;
    cu_pointer memory = 0;
    size_t unused = 0, total = 0;
    cu_result code, asked;
    CUDA_CALL(code, d, d->driver.memory_alloc(&memory, bytes > 0 ? bytes : 1));
    if (code != CU_OK) {
        CUDA_CALL(asked, d, d->driver.memory_info(&unused, &total));
        (void)asked;
        job_fail(j, FAULT_DEVICE, NULL, 0,
                 "%s: allocating %zu bytes failed, %zu of %zu are free: %s", d->facts.name, bytes,
                 unused, total, cuda_error(&d->driver, j, code));
    }
    return (void *)(uintptr_t)memory;
}

void cuda_free(device *base, void *memory) {
    cuda *d = (cuda *)base;
    if (memory != NULL)
        CUDA_TRY(d, d->driver.memory_free(address(memory)));
}

void cuda_upload(device *base, job *j, void *to, const void *from, size_t bytes) {
    cuda *d = (cuda *)base;
    cu_result code = CU_OK;
    if (bytes > 0)
        CUDA_CALL(code, d, d->driver.upload(address(to), from, bytes));
    must_move(d, j, code, bytes, "to the GPU");
}

void cuda_download(device *base, job *j, void *to, const void *from, size_t bytes) {
    cuda *d = (cuda *)base;
    cu_result code = CU_OK;
    if (bytes > 0)
        CUDA_CALL(code, d, d->driver.download(to, address(from), bytes));
    must_move(d, j, code, bytes, "from the GPU");
}

/* The driver pins it. */
void *cuda_host_alloc(device *base, job *j, size_t bytes) {
    cuda *d = (cuda *)base;
    void *memory = NULL;
    cu_result code;
    CUDA_CALL(code, d, d->driver.host_alloc(&memory, bytes, 0));
    if (code != CU_OK)
        job_fail(j, FAULT_MEMORY, NULL, 0, "%zu bytes of host memory cannot be pinned: %s", bytes,
                 cuda_error(&d->driver, j, code));
    return memory;
}

void cuda_host_free(device *base, void *memory) {
    cuda *d = (cuda *)base;
    if (memory != NULL)
        CUDA_TRY(d, d->driver.host_free(memory));
}

void cuda_download_async(device *base, job *j, void *to, const void *from, size_t bytes,
                         void *stream) {
    cuda *d = (cuda *)base;
    cu_result code;
    CUDA_CALL(code, d, d->driver.download_async(to, address(from), bytes, stream));
    must_move(d, j, code, bytes, "from the GPU");
}

static cu_result copy_row(cuda *d, const device_copy *c, size_t row, void *stream) {
    return d->driver.copy(address(c->to) + row * c->to_pitch,
                          address(c->from) + row * c->from_pitch, c->bytes, stream);
}

/* Some pitches the driver does not take, or not beyond a limit: then rows are copied one at a
   time. */
static cu_result copy_rows(cuda *d, const device_copy *c, void *stream) {
    const cu_copy_rows whole = {.srcMemoryType = CU_MEMORY_DEVICE,
                                .srcDevice = address(c->from),
                                .srcPitch = c->from_pitch,
                                .dstMemoryType = CU_MEMORY_DEVICE,
                                .dstDevice = address(c->to),
                                .dstPitch = c->to_pitch,
                                .WidthInBytes = c->bytes,
                                .Height = c->rows};
    cu_result code = d->driver.copy_rows(&whole, stream);
    if (code != CU_INVALID_VALUE)
        return code;
    code = CU_OK;
    for (size_t row = 0; code == CU_OK && row < c->rows; row++)
        code = copy_row(d, c, row, stream);
    return code;
}

void cuda_copy(device *base, job *j, const device_copy *c, void *stream) {
    cuda *d = (cuda *)base;
    cu_result code;
    if (c->bytes == 0 || c->rows == 0)
        return;
    CUDA_CALL(code, d, c->rows == 1 ? copy_row(d, c, 0, stream) : copy_rows(d, c, stream));
    must_move(d, j, code, c->bytes * c->rows, "within the GPU");
}

void cuda_fill(device *base, job *j, void *to, int byte, size_t bytes) {
    cuda *d = (cuda *)base;
    if (bytes > 0)
        CUDA_MUST(d, j, d->driver.fill(address(to), (unsigned char)byte, bytes), "filling memory");
}

fault cuda_fill_async(device *base, void *to, int byte, size_t bytes, void *stream, int *code) {
    cuda *d = (cuda *)base;
    bool pushed;
    *code = bytes > 0 ? cuda_enter(d, &pushed) : CU_OK;
    if (*code == CU_OK && bytes > 0) {
        *code = d->driver.fill_async(address(to), (unsigned char)byte, bytes, stream);
        cuda_leave(d, pushed);
    }
    return *code == CU_OK ? FAULT_NONE : FAULT_DEVICE;
}

/* ---- other GPUs ------------------------------------------------------------------------------ */

uint64_t cuda_memory_number(device *base, const void *memory) {
    cuda *d = (cuda *)base;
    unsigned long long number = 0;
    cu_result code;
    CUDA_CALL(code, d,
              d->driver.pointer_fact(&number, CU_POINTER_BUFFER_ID, (cu_pointer)(uintptr_t)memory));
    return code == CU_OK ? number : 0;
}

device_place cuda_peer_place(device *base, const void *memory) {
    cuda *d = (cuda *)base;
    const cu_pointer at = (cu_pointer)(uintptr_t)memory;
    device_place p = {.process = getpid(),
                      .address = at,
                      .context = (uint64_t)(uintptr_t)d->context,
                      .device = d->number};
    cu_pointer begin = at;
    size_t bytes = 0;
    cu_ipc_handle handle;
    cu_result code;
    CUDA_CALL(code, d, d->driver.memory_range(&begin, &bytes, at));
    p.offset = code == CU_OK ? at - begin : 0;
    if (code == CU_OK)
        CUDA_CALL(code, d, d->driver.ipc_get(&handle, begin));
    p.exported = code == CU_OK;
    if (p.exported)
        memcpy(p.handle, &handle, sizeof handle);
    return p;
}

/* The other context's memory becomes part of this one's. */
static bool enable(cuda *d, const device_place *p) {
    int can = 0;
    cu_result code;
    if ((uint64_t)(uintptr_t)d->context == p->context)
        return true;
    CUDA_CALL(code, d, d->driver.peer_can(&can, d->number, p->device));
    if (code != CU_OK || !can)
        return false;
    CUDA_CALL(code, d, d->driver.peer_enable((cu_context)(uintptr_t)p->context, 0));
    return code == CU_OK || code == CU_PEER_ENABLED_ALREADY;
}

bool cuda_peer_open(device *base, const device_place *p, void **out) {
    cuda *d = (cuda *)base;
    if (p->process == getpid()) {
        *out = (void *)(uintptr_t)(p->address - p->offset);
        return enable(d, p);
    }
    cu_pointer there = 0;
    cu_ipc_handle handle;
    cu_result code;
    if (!p->exported)
        return false;
    memcpy(&handle, p->handle, sizeof handle);
    CUDA_CALL(code, d, d->driver.ipc_open(&there, handle, CU_IPC_ENABLE_PEERS));
    *out = (void *)(uintptr_t)there;
    return code == CU_OK;
}

void cuda_peer_close(device *base, const device_place *p, void *opened) {
    cuda *d = (cuda *)base;
    if (p->process != getpid())
        CUDA_TRY(d, d->driver.ipc_close((cu_pointer)(uintptr_t)opened));
}

/* ---- work on streams ------------------------------------------------------------------------- */

void cuda_synchronize(device *base, job *j, void *stream) {
    cuda *d = (cuda *)base;
    CUDA_MUST(d, j, d->driver.stream_synchronize(stream), "waiting for the GPU");
}

void cuda_destroy_event(cuda *d, cu_event event) {
    if (event != NULL)
        CUDA_TRY(d, d->driver.event_destroy(event));
}

static void *put_event(cuda *d, job *j, void *stream, unsigned flags) {
    cu_event event = NULL;
    cu_result code;
    CUDA_CALL(code, d, d->driver.event_create(&event, flags));
    if (code == CU_OK)
        CUDA_CALL(code, d, d->driver.event_record(event, stream));
    if (code != CU_OK)
        cuda_destroy_event(d, event);
    cuda_must(d, j, code, "marking a stream");
    return event;
}

void *cuda_mark(device *base, job *j, void *stream) {
    return put_event((cuda *)base, j, stream, CU_EVENT_WITHOUT_TIME);
}

void *cuda_tick(device *base, job *j, void *stream) {
    return put_event((cuda *)base, j, stream, CU_EVENT_FLAGS_DEFAULT);
}

double cuda_between(device *base, job *j, void *from, void *to) {
    cuda *d = (cuda *)base;
    float milliseconds = 0;
    CUDA_MUST(d, j, d->driver.event_elapsed(&milliseconds, from, to), "timing a stream");
    return (double)milliseconds / 1e3;
}

bool cuda_passed(device *base, job *j, void *mark) {
    cuda *d = (cuda *)base;
    cu_result code;
    CUDA_CALL(code, d, d->driver.event_query(mark));
    if (code == CU_NOT_READY)
        return false;
    cuda_must(d, j, code, "asking for a mark");
    return true;
}

void cuda_unmark(device *base, void *mark) {
    cuda_destroy_event((cuda *)base, mark);
}

bool cuda_idle(device *base, job *j, void *stream) {
    cuda *d = (cuda *)base;
    cu_result code;
    CUDA_CALL(code, d, d->driver.stream_query(stream));
    if (code != CU_NOT_READY)
        cuda_must(d, j, code, "looking at the GPU's work");
    return code == CU_OK;
}

/* ---- streams --------------------------------------------------------------------------------- */

static cu_result create_stream(cuda *d, cu_stream *out) {
    int least = 0, greatest = 0;
    const cu_result code = d->driver.stream_priorities(&least, &greatest);
    return code != CU_OK ? code : d->driver.stream_create(out, CU_STREAM_INDEPENDENT, greatest);
}

void *cuda_stream_open(device *base, job *j) {
    cuda *d = (cuda *)base;
    cu_stream stream = NULL;
    CUDA_MUST(d, j, create_stream(d, &stream), "making a stream");
    return stream;
}

void cuda_stream_close(device *base, void *stream) {
    cuda *d = (cuda *)base;
    if (stream != NULL)
        CUDA_TRY(d, d->driver.stream_destroy(stream));
}

/* The driver frees the event once the wait for it is over. */
static cu_result order(cuda *d, void *before, void *after) {
    cu_event event = NULL;
    cu_result code = d->driver.event_create(&event, CU_EVENT_WITHOUT_TIME);
    if (code != CU_OK)
        return code;
    code = d->driver.event_record(event, before);
    if (code == CU_OK)
        code = d->driver.stream_wait(after, event, 0);
    (void)d->driver.event_destroy(event);
    return code;
}

void cuda_order(device *base, job *j, void *before, void *after) {
    cuda *d = (cuda *)base;
    CUDA_MUST(d, j, order(d, before, after), "ordering streams");
}

void cuda_within(device *base, job *j, void (*body)(void *), void *argument) {
    cuda *d = (cuda *)base;
    bool pushed;
    const cu_result code = cuda_enter(d, &pushed);
    if (code == CU_OK) {
        body(argument);
        cuda_leave(d, pushed);
    } else if (j != NULL) {
        cuda_must(d, j, code, "entering the context");
    }
}
