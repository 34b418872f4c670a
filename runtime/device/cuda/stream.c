/* Streams of the cuda device: waiting for their work, marks on it, and their order. */
#include "runtime/device/cuda/device.h"

/* ---- waiting --------------------------------------------------------------------------------- */

void cuda_synchronize(device *base, job *j, void *stream) {
    cuda *d = (cuda *)base;
    cu_result code;
    CUDA_CALL(code, d, d->driver.stream_synchronize(stream));
    cuda_must(d, j, code, "waiting for the GPU");
}

void cuda_destroy_event(cuda *d, cu_event event) {
    bool pushed;
    if (event == NULL || cuda_enter(d, &pushed) != CU_OK)
        return;
    (void)d->driver.event_destroy(event);
    cuda_leave(d, pushed);
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
    cu_result code;
    CUDA_CALL(code, d, d->driver.event_elapsed(&milliseconds, from, to));
    cuda_must(d, j, code, "timing a stream");
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
    cu_result code;
    CUDA_CALL(code, d, create_stream(d, &stream));
    cuda_must(d, j, code, "making a stream");
    return stream;
}

void cuda_stream_close(device *base, void *stream) {
    cuda *d = (cuda *)base;
    bool pushed;
    if (stream != NULL && cuda_enter(d, &pushed) == CU_OK) {
        (void)d->driver.stream_destroy(stream);
        cuda_leave(d, pushed);
    }
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
    cu_result code;
    CUDA_CALL(code, d, order(d, before, after));
    cuda_must(d, j, code, "ordering streams");
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
