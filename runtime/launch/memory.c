/* Device memory for callers. Takes: a context. Makes: sg_alloc, sg_free, sg_upload, sg_download
   and sg_synchronize. */
#include "runtime/launch/context.h"

typedef struct transfer {
    sg_context *context;
    void *to;
    const void *from;
    size_t bytes;
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

static void need_ends(job *j, const transfer *t) {
    if (t->bytes > 0 && (t->to == NULL || t->from == NULL))
        context_refuse(j, "cannot copy %zu bytes %s NULL", t->bytes, t->to == NULL ? "to" : "from");
}

static void do_upload(job *j, void *argument) {
    const transfer *t = argument;
    device *d = context_device(j, t->context);
    need_ends(j, t);
    if (t->bytes > 0)
        d->ops->upload(d, j, t->to, t->from, t->bytes);
}

static void do_download(job *j, void *argument) {
    const transfer *t = argument;
    device *d = context_device(j, t->context);
    need_ends(j, t);
    if (t->bytes > 0)
        d->ops->download(d, j, t->to, t->from, t->bytes);
}

static void do_synchronize(job *j, void *argument) {
    const transfer *t = argument;
    device *d = context_device(j, t->context);
    d->ops->synchronize(d, j, t->stream);
}

sg_status sg_upload(sg_context *c, void *to, const void *from, size_t bytes) {
    transfer t = {.context = c, .to = to, .from = from, .bytes = bytes};
    return c == NULL ? SG_ERROR_USAGE : context_run(c, do_upload, &t, NULL);
}

sg_status sg_download(sg_context *c, void *to, const void *from, size_t bytes) {
    transfer t = {.context = c, .to = to, .from = from, .bytes = bytes};
    return c == NULL ? SG_ERROR_USAGE : context_run(c, do_download, &t, NULL);
}

sg_status sg_synchronize(sg_context *c, sg_stream stream) {
    transfer t = {.context = c, .stream = stream};
    return c == NULL ? SG_ERROR_USAGE : context_run(c, do_synchronize, &t, NULL);
}
