/* A matrix in the format of a kernel, in device memory. Takes: a matrix of the host and a kernel.
   Makes: sg_matrix_upload and sg_device_matrix_free. */
#include "runtime/device_matrix.h"

#include <string.h>

#include "runtime/matrix.h"

storage device_matrix_storage(job *j, const sg_kernel *k) {
    const int *s = k->program->storage;
    if (s[STORAGE_FORMAT] == FORMAT_AUTO)
        context_refuse(j, "'%s' multiplies with no matrix: it is of the family %s",
                       k->program->name, sg_kernel_text(k, SG_TEXT_FAMILY));
    return (storage){
        .format = (format)s[STORAGE_FORMAT],
        .index_bytes = (size_t)s[STORAGE_INDEX_BYTES],
        .value_bytes = (size_t)s[STORAGE_VALUE_BYTES],
        .slice = s[STORAGE_SLICE],
        .sigma = s[STORAGE_SIGMA],
        .block_rows = s[STORAGE_BLOCK_ROWS],
        .block_cols = s[STORAGE_BLOCK_COLS],
        .packet = s[STORAGE_PACKET],
        .diagonals = k->program->diagonals,
        .diagonal_count = k->program->diagonal_count,
    };
}

typedef struct uploading {
    const sg_matrix *from;
    const sg_kernel *kernel;
    sg_device_matrix *to;
} uploading;

static void begin(job *j, void *argument) {
    uploading *u = argument;
    u->to = job_alloc(j, sizeof *u->to);
    u->to->context = u->kernel->context;
    u->to->job = j;
}

static size_t bytes_of(const packed_matrix *p, int array) {
    const packed_array *a = &p->arrays[array];
    const size_t element = a->kind == PACKED_INDEX   ? p->storage.index_bytes
                           : a->kind == PACKED_VALUE ? p->storage.value_bytes
                                                     : sizeof(uint32_t);
    return (size_t)(a->extent[0] * a->extent[1]) * element;
}

/* Array by array, so that what is on the device already can be freed by the caller. */
static void copy_arrays(job *j, const packed_matrix *p, device *d, sg_device_matrix *to) {
    for (int i = 0; i < p->array_count; i++) {
        const packed_array *a = &p->arrays[i];
        const size_t bytes = bytes_of(p, i);
        to->arrays[i].name = a->name;
        to->arrays[i].data = d->ops->alloc(d, j, bytes > 0 ? bytes : 1);
        to->array_count++;
        memcpy(to->arrays[i].extent, a->extent, sizeof a->extent);
        if (bytes > 0)
            d->ops->upload(d, j, to->arrays[i].data, a->data, bytes);
    }
}

static void upload(job *j, void *argument) {
    const uploading *u = argument;
    const storage wanted = device_matrix_storage(j, u->kernel);
    if (u->from->context != u->kernel->context)
        context_refuse(j, "the matrix and '%s' are of different contexts",
                       u->kernel->program->name);
    device *d = context_device(j, u->kernel->context);
    const matrix *m = matrix_settled(j, u->from);
    packed_matrix p;
    format_measure(j, m, &wanted, &p);
    const char *refusal = format_refusal(j, m, &p, FORMAT_LIMIT);
    if (refusal != NULL)
        job_fail(j, FAULT_PLAN, NULL, 0, "%s", refusal);
    format_fill(j, m, &p);
    memcpy(u->to->storage, u->kernel->program->storage, sizeof u->to->storage);
    for (int i = 0; i < p.storage.diagonal_count; i++)
        u->to->diagonals[i] = p.storage.diagonals[i];
    u->to->diagonal_count = p.storage.diagonal_count;
    u->to->rows = m->rows;
    u->to->columns = m->columns;
    copy_arrays(j, &p, d, u->to);
    format_free(j, &p);
}

sg_status sg_matrix_upload(const sg_matrix *m, const sg_kernel *k, sg_device_matrix **out) {
    if (m == NULL || k == NULL || out == NULL)
        return SG_ERROR_USAGE;
    uploading u = {.from = m, .kernel = k};
    job *kept;
    sg_status status = context_run(k->context, begin, &u, &kept);
    if (status != SG_OK)
        return status;
    context_hold(k->context);
    status = context_run(k->context, upload, &u, NULL);
    if (status == SG_OK)
        *out = u.to;
    else
        sg_device_matrix_free(u.to);
    return status;
}

void sg_device_matrix_free(sg_device_matrix *m) {
    if (m == NULL)
        return;
    sg_context *c = m->context;
    for (int i = 0; i < m->array_count; i++)
        c->device->ops->free(c->device, m->arrays[i].data);
    job_end(m->job);
    context_release(c);
}
