/* Checks of lists: one launch on data that the family draws, judged by the family. */
#include "runtime/check/check.h"

#include <string.h>

#include "runtime/check/guard.h"
#include "runtime/launch/launch.h"
#include "runtime/matrix/matrix.h"

enum { RANDOM_KIND = 0 }; /* of a family's data */

/* The family; refuses a kernel that was loaded from a file. */
static const family *need_family(job *j, const sg_kernel *k) {
    const program *p = k->program;
    if (k->subject == NULL)
        context_refuse(j, "'%s' was loaded from a file, so there is no spec to draw data for",
                       p->name);
    return k->subject->family;
}

/* Rounded as the kernel gets them; NULL for NULL. */
static double *take_parameters(job *j, const sg_kernel *k, const double *given) {
    const program *p = k->program;
    double *parameters = job_array(j, (size_t)p->parameter_count + 1, sizeof *parameters);
    for (int i = 0; given != NULL && i < p->parameter_count; i++)
        kernel_parameter(j, k, i, given[i], &parameters[i]);
    return given != NULL ? parameters : NULL;
}

void lists_draw(job *j, const sg_kernel *k, check_data *kept, const int64_t size[3],
                const double *given, uint64_t seed, family_call *out) {
    const program *p = k->program;
    const family *f = need_family(j, k);
    given = take_parameters(j, k, given);
    if (kept != NULL && f->lists.alike)
        check_data_draw(kept, j, k, size, given, seed, out);
    else
        f->lists.draw(j, k->subject, p, size, RANDOM_KIND, given, seed, out);
    out->parameters = take_parameters(j, k, out->parameters);
}

static void free_uploaded(void *matrix) {
    sg_device_matrix_free(matrix);
}

/* The arrays of a product, downloaded as sg_matrix_upload made them. */
static const packed_matrix *fetch_arrays(job *j, const sg_kernel *k, const sg_matrix *from) {
    device *d = context_device(j, k->context);
    sg_device_matrix *a = device_matrix_upload(j, from, k);
    job_defer(j, free_uploaded, a);
    packed_matrix *out = job_alloc(j, sizeof *out);
    out->rows = a->rows;
    out->columns = a->columns;
    for (int i = 0; i < a->array_count; i++) {
        const int64_t elements = a->arrays[i].extent[0] * a->arrays[i].extent[1];
        packed_array *to = &out->arrays[out->array_count++];
        *to = (packed_array){.name = a->arrays[i].name,
                             .extent = {a->arrays[i].extent[0], a->arrays[i].extent[1]}};
        const size_t bytes = (size_t)elements * k->program->arrays[i].element_bytes;
        to->data = job_alloc(j, bytes + 1);
        if (bytes > 0)
            d->ops->download(d, j, to->data, a->arrays[i].data, bytes);
    }
    job_keep(j, a);
    sg_device_matrix_free(a);
    return out;
}

static void draw_product(job *j, const sg_kernel *k, const sg_matrix *m, const double *given,
                         uint64_t seed, family_call *out) {
    const family *f = need_family(j, k);
    if (f->kind != PROGRAM_PRODUCT)
        context_refuse(j, "'%s' multiplies with no matrix", k->program->name);
    given = take_parameters(j, k, given);
    f->lists.draw_given(j, k->subject, k->program, fetch_arrays(j, k, m), given, seed, out);
    out->parameters = take_parameters(j, k, out->parameters);
}

/* Counts bytes that were written between two temporaries. */
static int64_t verify_gaps(const guarded *g, const launch *l, text *first) {
    const program *p = g->kernel->program;
    const unsigned char *cells = g->temporary > 0 ? g->arrays[g->count - 1].cells : NULL;
    int64_t wrong = 0;
    size_t at = 0;
    for (int i = 0; cells != NULL && i < p->lists.temporary_count; i++) {
        const size_t end = at + l->temporaries[i].bytes;
        at = (end + PROGRAM_ALIGNMENT - 1) / PROGRAM_ALIGNMENT * PROGRAM_ALIGNMENT;
        for (size_t b = end; b < at; b++)
            if (cells[b] != POISON_BYTE) {
                if (wrong++ == 0 && first->length == 0)
                    text_printf(first,
                                "the temporary memory '%s' was written %zu byte%s after its end",
                                p->lists.temporaries[i].name, b - end + 1, b == end ? "" : "s");
            }
    }
    return wrong;
}

static void judge(job *j, const guarded *g, const check_given *given, const family_call *before,
                  family_verdict *out) {
    const program *p = g->kernel->program;
    const family *f = g->kernel->subject->family;
    family_call after = {before->sizes, before->parameters,
                         job_array(j, (size_t)p->array_count, sizeof *after.arrays)};
    for (int i = 0; i < p->array_count; i++)
        after.arrays[i] = p->arrays[i].written ? g->arrays[i].cells : NULL;
    if (given->matrix != NULL) {
        f->lists.judge_given(j, g->kernel->subject, p, matrix_settled(j, given->matrix), before,
                             &after, out);
        return;
    }
    check_data *kept = f->lists.alike ? given->kept : NULL;
    if (kept != NULL && check_data_known(kept, p, &after, out))
        return;
    f->lists.judge(j, g->kernel->subject, p, before, &after, out);
    if (kept != NULL)
        check_data_learn(kept, p, &after, out);
}

void check_lists(job *j, const sg_kernel *k, const check_given *given,
                 const sg_check_options *options, sg_check_result *r, const char **first) {
    const program *p = k->program;
    int64_t size[PROGRAM_AXES], unused;
    family_call before;
    kernel_size(j, k, options->size, size, &unused);
    memcpy(r->size, size, sizeof size);
    if (given->matrix != NULL)
        draw_product(j, k, given->matrix, options->parameters, r->seed, &before);
    else
        lists_draw(j, k, given->kept, size, options->parameters, r->seed, &before);

    /* The call's extents say how much temporary memory it needs. */
    sg_grid grids[LAUNCH_ARRAYS] = {0};
    launch l;
    size_t temporary;
    for (int i = 0; i < p->array_count; i++)
        for (int axis = 0; axis < PROGRAM_AXES; axis++)
            grids[i].size[axis] = lists_extent(&p->arrays[i].lists.extent[axis], before.sizes);
    lists_measure(j, p, grids, &l, &temporary);

    guarded *g = job_alloc(j, sizeof *g);
    guarded_open_lists(j, k, before.sizes, before.arrays, temporary, g);
    job_defer(j, guarded_close, g);
    const sg_arguments arguments = guarded_arguments(g, before.parameters, grids);
    launch_once(j, k, &arguments, NULL);
    g->device->ops->synchronize(g->device, j, NULL);
    guarded_fetch(j, g, NULL);

    text spoiled = text_new(j);
    int64_t wrong = guarded_verify(j, g, &spoiled);
    wrong += verify_gaps(g, &l, &spoiled);
    family_verdict v = {0};
    judge(j, g, given, &before, &v);
    *first = v.first_wrong[0] != '\0' ? job_string(j, v.first_wrong) : spoiled.data;
    r->points = lists_extent(&p->lists.points, before.sizes);
    r->judged = v.judged;
    r->wrong = v.wrong + wrong;
    r->undecidable = v.undecidable;
    r->greatest_error = v.greatest_error;
    r->of_bound = v.of_bound;
    check_unjudged(j, k, &v.unjudged, r);
    job_keep(j, g);
    guarded_close(g);
}
