/* A matrix in the format of a kernel, in device memory. Takes: a kernel, and what
   runtime/matrix/upload.c makes. Makes: sg_conversion_facts and sg_device_matrix_free. */
#include "runtime/matrix/device_matrix.h"

storage device_matrix_storage(job *j, const sg_kernel *k) {
    if (k->program->kind != PROGRAM_PRODUCT)
        context_refuse(j, "'%s' multiplies with no matrix: it is of the family %s",
                       k->program->name, sg_kernel_text(k, SG_TEXT_FAMILY));
    const program_product *product = k->program->lists.product;
    const int *s = product->storage;
    return (storage){
        .format = (format)s[STORAGE_FORMAT],
        .index_bytes = (size_t)s[STORAGE_INDEX_BYTES],
        .value_bytes = (size_t)s[STORAGE_VALUE_BYTES],
        .slice = s[STORAGE_SLICE],
        .sigma = s[STORAGE_SIGMA],
        .block_rows = s[STORAGE_BLOCK_ROWS],
        .block_cols = s[STORAGE_BLOCK_COLS],
        .packet = s[STORAGE_PACKET],
        .diagonals = product->diagonals,
        .diagonal_count = product->diagonal_count,
    };
}

void sg_device_matrix_free(sg_device_matrix *m) {
    if (m == NULL)
        return;
    sg_context *c = m->context;
    for (int i = 0; i < m->array_count; i++)
        if (!m->arrays[i].lent)
            c->device->ops->free(c->device, m->arrays[i].data);
    for (size_t i = 0; i < sizeof m->blocks / sizeof *m->blocks; i++)
        c->device->ops->free(c->device, m->blocks[i]);
    job_end(m->job);
    context_release(c);
}

typedef struct telling {
    const sg_device_matrix *matrix;
    sg_conversion_info *out;
} telling;

static void tell(job *j, void *argument) {
    const telling *t = argument;
    context_write(j, t->out, &t->matrix->info, sizeof t->matrix->info, "sg_conversion_info");
}

sg_status sg_conversion_facts(const sg_device_matrix *m, sg_conversion_info *out) {
    telling t = {m, out};
    return m == NULL || out == NULL ? SG_ERROR_USAGE : context_run(m->context, tell, &t, NULL);
}
