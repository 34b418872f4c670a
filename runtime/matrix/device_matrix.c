/* sg_matrix_upload and its result. The host packs a matrix and sends the format's arrays, or
   sends CSR that kernels convert on the device. */
#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "matrix/layout.h"
#include "runtime/matrix/matrix.h"

storage device_matrix_storage(job *j, const sg_kernel *k) {
    if (k->program->kind != PROGRAM_PRODUCT)
        context_refuse(j, "'%s' multiplies with no matrix: it is of the family %s",
                       k->program->name, sg_kernel_text(k, SG_TEXT_FAMILY));
    return spmv_storage(k->program->lists.product);
}

void sg_device_matrix_free(sg_device_matrix *m) {
    if (m == NULL)
        return;
    device *d = m->context->device;
    for (int i = 0; i < m->array_count; i++)
        if (!m->arrays[i].lent)
            d->ops->free(d, m->arrays[i].data);
    for (size_t i = 0; i < sizeof m->blocks / sizeof *m->blocks; i++)
        d->ops->free(d, m->blocks[i]);
    context_unmake(m->context, m->job);
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

/* With fewer entries the host converts in less time than kernels are loaded. */
enum { MANY_ENTRIES = 1 << 20 };

typedef struct uploading {
    const sg_matrix *from;
    const sg_kernel *kernel;
    sg_device_matrix *to;
    storage wanted;
    const matrix *matrix; /* the entries */
} uploading;

static void begin(job *j, void *argument) {
    uploading *u = argument;
    u->to = job_alloc(j, sizeof *u->to);
    u->to->context = u->kernel->context;
    u->to->job = j;
}

/* Refuses a format that needs too much, before anything is stored. */
static void need_offer(job *j, const matrix *m, const packed_matrix *p) {
    const char *refusal = format_refusal(j, m, p, FORMAT_LIMIT);
    if (refusal != NULL)
        job_fail(j, FAULT_PLAN, NULL, 0, "%s", refusal);
}

static void describe(sg_device_matrix *to, const sg_kernel *k, const packed_matrix *p) {
    memcpy(to->storage, k->program->lists.product->storage, sizeof to->storage);
    for (int i = 0; i < p->storage.diagonal_count; i++)
        to->diagonals[i] = p->storage.diagonals[i];
    to->diagonal_count = p->storage.diagonal_count;
    to->rows = p->rows;
    to->columns = p->columns;
    to->info.struct_size = sizeof to->info;
    to->info.format = format_words[p->storage.format].name;
    to->info.bytes = p->bytes;
}

static void *describe_array(sg_device_matrix *to, const packed_array *a, void *data) {
    const int i = to->array_count++;
    to->arrays[i].name = a->name;
    to->arrays[i].data = data;
    memcpy(to->arrays[i].extent, a->extent, sizeof a->extent);
    return data;
}

/* ---- by the host ----------------------------------------------------------------------------- */

/* Array by array, so that the caller can free what was uploaded. */
static void copy_arrays(job *j, const packed_matrix *p, device *d, sg_device_matrix *to) {
    for (int i = 0; i < p->array_count; i++) {
        const size_t bytes = (size_t)layout_bytes(p, i);
        void *data = describe_array(to, &p->arrays[i], d->ops->alloc(d, j, bytes > 0 ? bytes : 1));
        if (bytes > 0)
            d->ops->upload(d, j, data, p->arrays[i].data, bytes);
    }
}

static void convert_here(job *j, void *argument) {
    const uploading *u = argument;
    device *d = u->kernel->context->device;
    const double start = clock_seconds();
    packed_matrix p;
    format_measure(j, u->matrix, &u->wanted, &p);
    need_offer(j, u->matrix, &p);
    format_fill(j, u->matrix, &p);
    const double packed = clock_seconds();
    describe(u->to, u->kernel, &p);
    copy_arrays(j, &p, d, u->to);
    d->ops->synchronize(d, j, NULL);
    u->to->info.convert_seconds = packed - start;
    u->to->info.upload_seconds = clock_seconds() - packed;
    format_free(j, &p);
}

/* ---- by the device --------------------------------------------------------------------------- */

typedef struct device_lists {
    device *device;
    void *data[3];
} device_lists;

static void free_lists(void *what) {
    device_lists *l = what;
    for (int i = 0; i < 3; i++)
        l->device->ops->free(l->device, l->data[i]);
    memset(l->data, 0, sizeof l->data);
}

/* csr in the kernel's widths, to be freed by free_lists, also where the job fails. */
static device_lists *send_csr(job *j, const uploading *u) {
    device_lists *l = job_alloc(j, sizeof *l);
    storage as = u->wanted;
    packed_matrix p;
    as.format = FORMAT_CSR;
    format_pack(j, u->matrix, &as, &p);
    l->device = u->kernel->context->device;
    job_defer(j, free_lists, l);
    for (int i = 0; i < 3; i++) {
        const size_t bytes = (size_t)layout_bytes(&p, i);
        l->data[i] = l->device->ops->alloc(l->device, j, bytes > 0 ? bytes : 1);
        if (bytes > 0)
            l->device->ops->upload(l->device, j, l->data[i], p.arrays[i].data, bytes);
    }
    format_free(j, &p);
    l->device->ops->synchronize(l->device, j, NULL);
    return l;
}

static_assert(sizeof(((sg_device_matrix *)NULL)->blocks) == CONVERT_BLOCKS * sizeof(void *),
              "a place for each block");

static void convert_lists(job *j, const uploading *u, const device_csr *csr) {
    sg_device_matrix *to = u->to;
    const double start = clock_seconds();
    conversion *c = convert_measure(j, u->kernel->context, csr, &u->wanted);
    need_offer(j, &(matrix){.rows = csr->rows, .columns = csr->columns, .entries = csr->entries},
               &c->packed);
    convert_fill(j, c);
    to->info.compile_seconds = c->compile_seconds;
    to->info.convert_seconds = clock_seconds() - start - c->compile_seconds;
    to->info.on_device = 1;
    describe(to, u->kernel, &c->packed);
    for (int i = 0; i < c->packed.array_count; i++) {
        to->arrays[i].lent = true;
        describe_array(to, &c->packed.arrays[i], c->packed.arrays[i].data);
    }
    for (int i = 0; i < CONVERT_BLOCKS; i++) {
        to->blocks[i] = c->blocks[i];
        c->blocks[i] = NULL; /* taken over */
    }
    convert_end(j, c);
}

static void convert_there(job *j, void *argument) {
    const uploading *u = argument;
    const double start = clock_seconds();
    device_lists *l = send_csr(j, u);
    const device_csr csr = {u->matrix->rows, u->matrix->columns, u->matrix->entries,
                            l->data[0],      l->data[1],         l->data[2]};
    u->to->info.upload_seconds = clock_seconds() - start;
    convert_lists(j, u, &csr);
    job_undo(j, l);
}

/* ---- what lies there already ----------------------------------------------------------------- */

/* The caller has CSR; kernels make the formats that they know. */
static bool take_there(job *j, const uploading *u) {
    const matrix_there *t = u->from->there;
    const device_csr *csr = &t->csr;
    const storage *s = &u->wanted;
    if (s->index_bytes != t->index_bytes || s->value_bytes != t->value_bytes)
        return false;
    if (convert_serves(s, csr->rows, csr->columns, csr->entries)) {
        convert_lists(j, u, csr);
        return true;
    }
    if (s->format != FORMAT_CSR || csr->entries == 0)
        return false;
    packed_matrix p;
    const matrix *view = matrix_view(j, u->from);
    format_measure(j, view, s, &p);
    need_offer(j, view, &p);
    describe(u->to, u->kernel, &p);
    const void *const data[] = {csr->offset, csr->column, csr->value};
    for (int i = 0; i < p.array_count; i++) {
        u->to->arrays[i].lent = true;
        describe_array(u->to, &p.arrays[i], (void *)data[i]);
    }
    u->to->info.on_device = 1;
    return true;
}

/* ---- either ---------------------------------------------------------------------------------- */

static bool goes_there(const uploading *u) {
    const device *d = u->kernel->context->device;
    const matrix *m = u->matrix;
    return d->ops->binary == BINARY_CUBIN && m->entries >= MANY_ENTRIES &&
           convert_serves(&u->wanted, m->rows, m->columns, m->entries);
}

static void upload(job *j, void *argument) {
    uploading *u = argument;
    u->wanted = device_matrix_storage(j, u->kernel);
    if (u->from->context != u->kernel->context)
        context_refuse(j, "the matrix and '%s' are of different contexts",
                       u->kernel->program->name);
    context_device(j, u->kernel->context);
    if (u->from->there != NULL && take_there(j, u))
        return;
    u->matrix = matrix_settled(j, u->from);
    if (u->from->there == NULL && goes_there(u)) {
        job *own;
        const fault f = job_run(job_allocator(j), convert_there, u, &own);
        /* Without a compiler, or memory for both, the host can still convert. */
        if (f != FAULT_NONE && f != FAULT_COMPILER && f != FAULT_DEVICE)
            job_fail_as(j, own);
        job_end(own);
        if (f == FAULT_NONE)
            return;
    }
    convert_here(j, u);
}

sg_device_matrix *device_matrix_upload(job *j, const sg_matrix *from, const sg_kernel *k) {
    uploading u = {.from = from, .kernel = k};
    job *kept, *work;
    if (job_run(job_allocator(j), begin, &u, &kept) != FAULT_NONE)
        job_fail_as(j, kept);
    context_hold(k->context);
    if (job_run(job_allocator(j), upload, &u, &work) != FAULT_NONE) {
        sg_device_matrix_free(u.to);
        job_fail_as(j, work);
    }
    job_end(work);
    return u.to;
}

static void upload_for_caller(job *j, void *argument) {
    uploading *u = argument;
    u->to = device_matrix_upload(j, u->from, u->kernel);
}

sg_status sg_matrix_upload(const sg_matrix *m, const sg_kernel *k, sg_device_matrix **out) {
    uploading u = {.from = m, .kernel = k};
    if (m == NULL || k == NULL || out == NULL)
        return SG_ERROR_USAGE;
    const sg_status status = context_run(k->context, upload_for_caller, &u, NULL);
    if (status == SG_OK)
        *out = u.to;
    return status;
}
