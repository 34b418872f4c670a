/* Marks: points that the work on a stream reaches, asked for without waiting. */
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
