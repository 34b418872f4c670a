/* Explanations: what each method or algorithm would do with a spec.
   Takes: a spec, options. Makes: sg_explain; a plan for every method or its refusal, beside the
   textbook's count. Needs: gen/plan and gen/source; no device is used but for its facts.
   Textbook: D. Kirk, W. Hwu, I. El Hajj, Programming Massively Parallel Processors, chapter on
   stencils, which counts only loads, for a cubic input tile of width T. */
#include <math.h>
#include <string.h>

#include "gen/model/family.h"
#include "gen/stencil/method.h"
#include "gen/stencil/schedule.h"
#include "gen/stencil/stencil.h"
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

/* ---- one plan ------------------------------------------------------------------------------ */

typedef struct attempt {
    const build_request *request;
    schedule wanted;
    const plan *plan;
    job *job;
} attempt;

static void make_plan(job *j, void *argument) {
    attempt *a = argument;
    const build_request *r = a->request;
    a->plan = plan_make(j, r->subject->model, &a->wanted, r->gpu, r->size, build_wanted(r).steps);
}

static void end_attempt(void *argument) {
    attempt *a = argument;
    job_end(a->job);
    a->job = NULL;
}

/* Plans in a job of its own, so that a refusal is an answer. The attempt lives in `j`; it is ended
   with end_attempt after its results have been copied. */
static attempt *try_plan(job *j, const build_request *r, const schedule *constraints, int wanted) {
    attempt *a = job_alloc(j, sizeof *a);
    a->request = r;
    a->wanted = *constraints;
    a->wanted.method = wanted;
    job_defer(j, end_attempt, a);
    const fault f = job_run(job_allocator(j), make_plan, a, &a->job);
    if (f != FAULT_NONE && f != FAULT_PLAN)
        job_fail(j, f, NULL, 0, "%s", a->job != NULL ? job_error_text(a->job) : "out of memory");
    if (f == FAULT_PLAN)
        a->plan = NULL;
    return a;
}

static void done_with(job *j, attempt *a) {
    job_keep(j, a);
    end_attempt(a);
}

static const char *keep(job *j, const char *text) {
    return job_copy(j, text, strlen(text));
}

/* ---- the textbook's count ------------------------------------------------------------------ */

static int arrays_read(const model *m) {
    int count = 0;
    for (int i = 0; i < m->array_count; i++)
        count += m->arrays[i].used;
    return count > 0 ? count : 1;
}

/* Tiles are widened where the shape would leave nothing of the textbook's. */
static void write_textbook(const model *m, const method *method, sg_method_row *row) {
    const double operations = model_textbook_operations(m);
    const double bytes = (double)dtype_words[m->dtype].bytes;
    if (m->nonlinear)
        return;
    if (method->textbook_tile == 0) {
        row->textbook_operations_per_byte = operations / (fmax(m->points, 1) * bytes);
        row->textbook_limit = row->textbook_operations_per_byte;
        return;
    }
    int width = method->textbook_tile;
    while (width <= 2 * m->radius)
        width *= 2;
    const double part = pow((double)(width - 2 * m->radius) / width, m->dims);
    row->textbook_tile = width;
    row->textbook_limit = operations / (bytes * arrays_read(m));
    row->textbook_operations_per_byte = row->textbook_limit * part;
}

/* ---- rows ---------------------------------------------------------------------------------- */

static void write_plan(job *j, const model *m, const plan *p, sg_method_row *row) {
    const plan_estimate *e = &p->estimate;
    text line = text_new(j);
    schedule_print(&p->schedule, m->dims, &line);
    row->plan = line.data;
    row->loads_bytes_per_point = e->loads_per_point * (double)dtype_words[m->dtype].bytes;
    if (row->loads_bytes_per_point > 0)
        row->operations_per_byte = model_textbook_operations(m) / row->loads_bytes_per_point;
    row->shared_bytes = p->shared_bytes;
    row->threads = p->block[0] * p->block[1] * p->block[2];
    row->registers = e->registers;
    const int steps = p->schedule.time; /* that a launch makes */
    row->estimated_seconds = e->seconds / (steps > 1 ? steps : 1);
    row->bound = keep(j, e->bound);
}

static void write_row(job *j, const build_request *r, const schedule *wanted, int method,
                      sg_method_row *row) {
    const model *model = r->subject->model;
    attempt *a = try_plan(j, r, wanted, method);
    row->method = methods[method]->name;
    row->bound = "";
    write_textbook(model, methods[method], row);
    if (a->plan != NULL)
        write_plan(j, model, a->plan, row);
    else
        row->refusal = keep(j, job_error_text(a->job));
    done_with(j, a);
}

static void write_rows(job *j, const build_request *r, sg_explanation *e) {
    const schedule *wanted = stencil_wanted(j, r->subject, r->options.schedule);
    sg_method_row *rows = job_array(j, METHODS, sizeof *rows);
    for (int m = 1; m < METHODS; m++)
        write_row(j, r, wanted, m, &rows[e->row_count++]);
    attempt *a = try_plan(j, r, wanted, wanted->method);
    e->reason = keep(j, a->plan != NULL ? a->plan->reason : job_error_text(a->job));
    for (int i = 0; i < e->row_count && a->plan != NULL; i++)
        rows[i].chosen = strcmp(rows[i].method, plan_method(a->plan)->name) == 0;
    done_with(j, a);
    e->rows = rows;
}

/* ---- the other families -------------------------------------------------------------------- */

static void write_family_rows(job *j, const build_request *r, sg_explanation *e) {
    const family_request wanted = build_wanted(r);
    family_row *from;
    e->row_count = r->subject->family->explain(j, r->subject, &wanted, &e->reason, &from);
    sg_method_row *rows = job_array(j, (size_t)e->row_count, sizeof *rows);
    for (int i = 0; i < e->row_count; i++)
        rows[i] = (sg_method_row){.method = from[i].name,
                                  .plan = from[i].plan,
                                  .refusal = from[i].refusal,
                                  .chosen = from[i].chosen,
                                  .shared_bytes = from[i].shared_bytes,
                                  .threads = from[i].threads,
                                  .bound = "",
                                  .note = from[i].note};
    e->rows = rows;
}

static void explain_family(job *j, const build_request *r, sg_explanation *e) {
    const subject *s = r->subject;
    const family_request wanted = build_wanted(r);
    const family_build *made = s->family->build(j, s, &wanted);
    *e = (sg_explanation){
        .struct_size = sizeof *e,
        .name = s->name,
        .shape = made->shape,
        .dtype = dtype_words[s->dtype].name,
        .boundary = made->boundary,
        .points = made->points,
        .textbook_operations = made->textbook_operations,
        .emitted_operations = made->emitted_operations,
        .bytes_per_point = made->program->bytes_per_point,
        .arch = r->gpu->arch,
        .gpu = r->gpu->name,
    };
    write_family_rows(j, r, e);
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void explain_stencil(job *j, const build_request *r, sg_explanation *e) {
    const model *m = r->subject->model;
    const expr_count emitted = plan_facts_new(j, m)->emitted;
    text shape = text_new(j), boundary = text_new(j);
    model_describe(m, &shape);
    model_describe_boundary(m, &boundary);
    *e = (sg_explanation){
        .struct_size = sizeof *e,
        .name = m->name,
        .shape = shape.data,
        .dtype = dtype_words[m->dtype].name,
        .boundary = boundary.data,
        .points = m->points,
        .textbook_operations = model_textbook_operations(m),
        .emitted_operations = emitted.multiplications + emitted.additions + emitted.others,
        .emitted_multiplications = emitted.multiplications,
        .emitted_additions = emitted.additions,
        .emitted_others = emitted.others,
        .bytes_per_point = model_bytes_per_point(m),
        .arch = r->gpu->arch,
        .gpu = r->gpu->name,
    };
    write_rows(j, r, e);
}

static void explain(job *j, void *argument) {
    explaining *x = argument;
    build_request *r = &x->request;
    build_read(j, r);
    explanation *whole = job_alloc(j, sizeof *whole);
    whole->job = j;
    if (r->subject->family->explain != NULL)
        explain_family(j, r, &whole->shown);
    else
        explain_stencil(j, r, &whole->shown);
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
