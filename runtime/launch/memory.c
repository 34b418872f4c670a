/* Device memory for callers, arrays of 16 bits on the host, and work on a stream, followed without
   waiting. Marks: points that it reaches. Captures: device memory brought to the host while later
   work runs. */
#include "base/dtype.h"
#include "runtime/launch/context.h"

typedef struct transfer {
    sg_context *context;
    void *to;
    const void *from;
    size_t bytes;
    bool up; /* to the device */
    void *stream;
} transfer;

static void do_alloc(job *j, void *argument) {
    transfer *t = argument;
    device *d = context_device(j, t->context);
    t->to = d->ops->alloc(d, j, t->bytes > 0 ? t->bytes : 1);
}

sg_status sg_alloc(sg_context *c, size_t bytes, void **out) {
    if (c == NULL || out == NULL)
        return SG_ERROR_USAGE;
    transfer t = {.context = c, .bytes = bytes};
    const sg_status status = context_run(c, do_alloc, &t, NULL);
    if (status == SG_OK)
        *out = t.to;
    return status;
}

void sg_free(sg_context *c, void *memory) {
    if (c != NULL && c->device != NULL && memory != NULL)
        c->device->ops->free(c->device, memory);
}

static void do_move(job *j, void *argument) {
    const transfer *t = argument;
    device *d = context_device(j, t->context);
    if (t->bytes == 0)
        return;
    if (t->to == NULL || t->from == NULL)
        context_refuse(j, "cannot copy %zu bytes %s NULL", t->bytes, t->to == NULL ? "to" : "from");
    (t->up ? d->ops->upload : d->ops->download)(d, j, t->to, t->from, t->bytes);
}

static void do_synchronize(job *j, void *argument) {
    const transfer *t = argument;
    device *d = context_device(j, t->context);
    d->ops->synchronize(d, j, t->stream);
}

sg_status sg_upload(sg_context *c, void *to, const void *from, size_t bytes) {
    transfer t = {.context = c, .to = to, .from = from, .bytes = bytes, .up = true};
    return c == NULL ? SG_ERROR_USAGE : context_run(c, do_move, &t, NULL);
}

sg_status sg_download(sg_context *c, void *to, const void *from, size_t bytes) {
    transfer t = {.context = c, .to = to, .from = from, .bytes = bytes};
    return c == NULL ? SG_ERROR_USAGE : context_run(c, do_move, &t, NULL);
}

sg_status sg_synchronize(sg_context *c, sg_stream stream) {
    transfer t = {.context = c, .stream = stream};
    return c == NULL ? SG_ERROR_USAGE : context_run(c, do_synchronize, &t, NULL);
}

/* ---- arrays of 16 bits ----------------------------------------------------------------------- */

static void narrow(dtype type, uint16_t *to, const float *from, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = dtype_narrow(type, (double)from[i]);
}

static void widen(dtype type, float *to, const uint16_t *from, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = (float)dtype_widen(type, from[i]);
}

void sg_to_half(uint16_t *to, const float *from, size_t count) {
    narrow(DTYPE_HALF, to, from, count);
}

void sg_from_half(float *to, const uint16_t *from, size_t count) {
    widen(DTYPE_HALF, to, from, count);
}

void sg_to_bfloat16(uint16_t *to, const float *from, size_t count) {
    narrow(DTYPE_BFLOAT16, to, from, count);
}

void sg_from_bfloat16(float *to, const uint16_t *from, size_t count) {
    widen(DTYPE_BFLOAT16, to, from, count);
}

/* ---- marks ----------------------------------------------------------------------------------- */

struct sg_mark {
    sg_context *context; /* held */
    job *job;            /* holds the mark */
    void *point;         /* the device's */
};

typedef struct marking {
    sg_context *context;
    void *stream;
    sg_mark **out;
} marking;

static void make(job *j, void *argument) {
    const marking *m = argument;
    device *d = context_device(j, m->context);
    sg_mark *mark = job_alloc(j, sizeof *mark);
    *mark = (sg_mark){.context = m->context, .job = j, .point = d->ops->mark(d, j, m->stream)};
    *m->out = mark;
}

sg_status sg_mark_stream(sg_context *c, sg_stream stream, sg_mark **out) {
    return c == NULL || out == NULL ? SG_ERROR_USAGE
                                    : context_make(c, make, &(marking){c, stream, out});
}

typedef struct asking {
    const sg_mark *mark;
    int *passed;
} asking;

static void ask(job *j, void *argument) {
    const asking *a = argument;
    device *d = a->mark->context->device;
    *a->passed = d->ops->passed(d, j, a->mark->point);
}

sg_status sg_mark_passed(const sg_mark *m, int *passed) {
    return m == NULL || passed == NULL ? SG_ERROR_USAGE
                                       : context_run(m->context, ask, &(asking){m, passed}, NULL);
}

void sg_mark_free(sg_mark *m) {
    if (m == NULL)
        return;
    device *d = m->context->device;
    d->ops->unmark(d, m->point);
    context_unmake(m->context, m->job);
}

/* ---- captures -------------------------------------------------------------------------------- */

/* The stream copies the memory aside within the device, which takes as long as a step, and a stream
   of its own brings it from there to memory that the host has pinned. */
struct sg_capture {
    sg_context *context; /* held */
    job *job;            /* holds the capture */
    size_t bytes;
    unsigned char *memory; /* the host's */
    unsigned char *aside;  /* the device's; NULL: its memory is the host's, or there is no more */
    void *stream;          /* from aside to the host */
};

static void give_back(void *argument) {
    const sg_capture *c = argument;
    device *d = c->context->device;
    if (c->stream != NULL)
        d->ops->stream_close(d, c->stream);
    d->ops->free(d, c->aside);
    d->ops->host_free(d, c->memory);
}

typedef struct opening {
    sg_context *context;
    size_t bytes;
    sg_capture **out;
    void **memory;
} opening;

static void make_aside(job *j, void *argument) {
    sg_capture *c = argument;
    device *d = c->context->device;
    c->stream = d->ops->stream_open(d, j);
    c->aside = d->ops->alloc(d, j, c->bytes);
}

static void open_capture(job *j, void *argument) {
    const opening *o = argument;
    device *d = context_device(j, o->context);
    sg_capture *c = job_alloc(j, sizeof *c);
    *c = (sg_capture){.context = o->context, .job = j, .bytes = o->bytes > 0 ? o->bytes : 1};
    job_defer(j, give_back, c);
    c->memory = d->ops->host_alloc(d, j, c->bytes);
    if (!d->ops->host_memory) {
        job *own;
        (void)job_run(&o->context->memory, make_aside, c, &own); /* it does without */
        job_end(own);
    }
    job_keep(j, c);
    *o->out = c;
    *o->memory = c->memory;
}

sg_status sg_capture_open(sg_context *context, size_t bytes, sg_capture **out, void **memory) {
    return context == NULL || out == NULL || memory == NULL
               ? SG_ERROR_USAGE
               : context_make(context, open_capture, &(opening){context, bytes, out, memory});
}

typedef struct taking {
    sg_capture *capture;
    size_t at, bytes;
    const void *from;
    void *stream;
} taking;

static void take(job *j, void *argument) {
    const taking *t = argument;
    const sg_capture *c = t->capture;
    device *d = c->context->device;
    if (t->at > c->bytes || t->bytes > c->bytes - t->at)
        context_refuse(j, "a capture of %zu bytes has no room for %zu at byte %zu", c->bytes,
                       t->bytes, t->at);
    if (t->bytes == 0)
        return;
    if (t->from == NULL)
        context_refuse(j, "cannot copy %zu bytes from NULL", t->bytes);
    if (c->aside == NULL) {
        d->ops->synchronize(d, j, t->stream);
        d->ops->download(d, j, c->memory + t->at, t->from, t->bytes);
        return;
    }
    d->ops->copy(d, j,
                 &(device_copy){.to = c->aside + t->at,
                                .from = t->from,
                                .bytes = t->bytes,
                                .rows = 1,
                                .to_pitch = t->bytes,
                                .from_pitch = t->bytes},
                 t->stream);
    d->ops->order(d, j, t->stream, c->stream);
    d->ops->download_async(d, j, c->memory + t->at, c->aside + t->at, t->bytes, c->stream);
}

sg_status sg_capture_take(sg_capture *c, size_t at, const void *from, size_t bytes,
                          sg_stream stream) {
    taking t = {.capture = c, .at = at, .bytes = bytes, .from = from, .stream = stream};
    return c == NULL ? SG_ERROR_USAGE : context_run(c->context, take, &t, NULL);
}

static void wait_for(job *j, void *argument) {
    const sg_capture *c = argument;
    device *d = c->context->device;
    if (c->aside != NULL)
        d->ops->synchronize(d, j, c->stream);
}

sg_status sg_capture_wait(sg_capture *c) {
    return c == NULL ? SG_ERROR_USAGE : context_run(c->context, wait_for, c, NULL);
}

void sg_capture_close(sg_capture *c) {
    if (c == NULL)
        return;
    (void)sg_capture_wait(c);
    give_back(c);
    context_unmake(c->context, c->job);
}
