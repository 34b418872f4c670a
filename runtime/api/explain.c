/* Explanations, for callers: what each method or algorithm would do with a spec.
   Takes: a spec, options. Makes: sg_explanation. Needs: the spec's family, which explains itself;
   no device is used but for its facts. */
#include <string.h>

#include "gen/model/family.h"
#include "runtime/api/build.h"
#include "runtime/api/tuned.h"

typedef struct explaining {
    build_request request;
    sg_explanation *explanation;
} explaining;

/* The public struct comes first, so that a pointer to it is one to the whole. */
typedef struct explanation {
    sg_explanation shown;
    job *job;
} explanation;

static const sg_method_row *copy_rows(job *j, const family_explanation *from) {
    sg_method_row *rows = job_array(j, (size_t)from->row_count, sizeof *rows);
    for (int i = 0; i < from->row_count; i++) {
        const family_row *r = &from->rows[i];
        rows[i] = (sg_method_row){
            .method = r->name,
            .plan = r->plan,
            .refusal = r->refusal,
            .chosen = r->chosen,
            .textbook_tile = r->textbook_tile,
            .textbook_operations_per_byte = r->textbook_operations_per_byte,
            .textbook_limit = r->textbook_limit,
            .loads_bytes_per_point = r->loads_bytes_per_point,
            .operations_per_byte = r->operations_per_byte,
            .shared_bytes = r->shared_bytes,
            .threads = r->threads,
            .registers = r->registers,
            .estimated_seconds = r->seconds,
            .bound = r->bound,
            .note = r->note,
        };
    }
    return rows;
}

static void write_explanation(job *j, const build_request *r, sg_explanation *e) {
    const subject *s = r->subject;
    const family_request wanted = build_wanted(r);
    family_explanation x;
    s->family->explain(j, s, &wanted, &x);
    *e = (sg_explanation){
        .struct_size = sizeof *e,
        .name = s->name,
        .shape = x.shape,
        .dtype = dtype_words[s->dtype].name,
        .boundary = x.boundary,
        .reason = x.reason,
        .points = x.points,
        .textbook_operations = x.textbook_operations,
        .emitted_operations = x.emitted_operations,
        .emitted_multiplications = x.multiplications,
        .emitted_additions = x.additions,
        .emitted_others = x.others,
        .bytes_per_point = x.bytes_per_point,
        .arch = r->gpu->arch,
        .row_count = x.row_count,
        .rows = copy_rows(j, &x),
        .gpu = r->gpu->name,
    };
}

static void explain(job *j, void *argument) {
    explaining *x = argument;
    build_request *r = &x->request;
    build_read(j, r);
    explanation *whole = job_alloc(j, sizeof *whole);
    whole->job = j;
    write_explanation(j, r, &whole->shown);
    memcpy(whole->shown.size, r->size, sizeof whole->shown.size);
    const char *found;
    whole->shown.tuned = tuned_plan(j, r, &found);
    whole->shown.found = whole->shown.tuned != NULL ? found : "";
    x->explanation = &whole->shown;
}

sg_status sg_explain(sg_context *context, const char *spec_path, const sg_build_options *options,
                     sg_explanation **out) {
    if (context == NULL || out == NULL)
        return SG_ERROR_USAGE;
    explaining x = {.request = {.context = context, .path = spec_path, .given = options}};
    job *kept;
    const sg_status status = context_run(context, explain, &x, &kept);
    if (status == SG_OK)
        *out = x.explanation;
    return status;
}

void sg_explanation_free(sg_explanation *e) {
    if (e != NULL)
        job_end(((explanation *)e)->job);
}
