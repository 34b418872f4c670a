/* Work on a stream, followed without waiting. Marks: points that it reaches. Captures: device
   memory brought to the host while later work runs. */
#include "runtime/launch/context.h"

struct sg_mark {
    sg_context *context; /* held */
    job *job;            /* holds the mark */
    void *point;         /* the device's */
};

typedef struct marking {
    sg_context *context;
    void *stream;
    sg_mark *mark;
} marking;

static void make(job *j, void *argument) {
    marking *m = argument;
    device *d = context_device(j, m->context);
    m->mark = job_alloc(j, sizeof *m->mark);
    *m->mark = (sg_mark){.context = m->context, .job = j, .point = d->ops->mark(d, j, m->stream)};
}

sg_status sg_mark_stream(sg_context *c, sg_stream stream, sg_mark **out) {
    marking m = {.context = c, .stream = stream};
    job *kept;
    if (c == NULL || out == NULL)
        return SG_ERROR_USAGE;
    const sg_status status = context_run(c, make, &m, &kept);
    if (status == SG_OK) {
        context_hold(c);
        *out = m.mark;
    }
    return status;
}

typedef struct asking {
    const sg_mark *mark;
    bool passed;
} asking;

static void ask(job *j, void *argument) {
    asking *a = argument;
    device *d = a->mark->context->device;
    a->passed = d->ops->passed(d, j, a->mark->point);
}

sg_status sg_mark_passed(const sg_mark *m, int *passed) {
    asking a = {.mark = m};
    if (m == NULL || passed == NULL)
        return SG_ERROR_USAGE;
    const sg_status status = context_run(m->context, ask, &a, NULL);
    if (status == SG_OK)
        *passed = a.passed;
    return status;
}

void sg_mark_free(sg_mark *m) {
    if (m == NULL)
        return;
    sg_context *c = m->context;
    c->device->ops->unmark(c->device, m->point);
    job_end(m->job);
    context_release(c);
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

typedef struct capturing {
    sg_capture *capture;
    sg_context *context;
    size_t at, bytes;
    const void *from;
    void *stream;
} capturing;

static void give_back(void *argument) {
    const sg_capture *c = argument;
    device *d = c->context->device;
    if (c->stream != NULL)
        d->ops->stream_close(d, c->stream);
    d->ops->free(d, c->aside);
    d->ops->host_free(d, c->memory);
}

static void make_aside(job *j, void *argument) {
    sg_capture *c = argument;
    device *d = c->context->device;
    c->stream = d->ops->stream_open(d, j);
    c->aside = d->ops->alloc(d, j, c->bytes);
}

static void open_capture(job *j, void *argument) {
    capturing *o = argument;
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
    o->capture = c;
}

sg_status sg_capture_open(sg_context *context, size_t bytes, sg_capture **out, void **memory) {
    capturing o = {.context = context, .bytes = bytes};
    job *kept;
    if (context == NULL || out == NULL || memory == NULL)
        return SG_ERROR_USAGE;
    const sg_status status = context_run(context, open_capture, &o, &kept);
    if (status == SG_OK) {
        context_hold(context);
        *out = o.capture;
        *memory = o.capture->memory;
    }
    return status;
}

static void take(job *j, void *argument) {
    const capturing *t = argument;
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
    capturing t = {.capture = c, .at = at, .bytes = bytes, .from = from, .stream = stream};
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
    sg_context *context = c->context;
    (void)sg_capture_wait(c);
    give_back(c);
    job_end(c->job);
    context_release(context);
}
