/* Stencils and convolutions as a family: from a model to its program, and what each method would do
   with it. Takes: a subject and a request. Makes: a build; a row of `explain` for each method.
   Textbook: D. Kirk, W. Hwu, I. El Hajj, Programming Massively Parallel Processors, chapter on
   stencils, which counts only loads, for a cubic input tile of width T. */
#include "gen/stencil/method.h"
#include "gen/stencil/source.h"
#include <math.h>
#include <string.h>

const model *stencil_model(const subject *s) {
    return s->model;
}

int stencil_dims(const subject *s) {
    return ((const model *)s->model)->dims;
}

void stencil_print(const subject *s, model_detail detail, text *out) {
    model_print(s->model, detail, out);
}

schedule *stencil_wanted(job *j, const subject *s, const char *line) {
    const model *m = s->model;
    schedule *wanted = job_alloc(j, sizeof *wanted);
    *wanted = m->schedule;
    if (line != NULL)
        schedule_parse(j, line, "schedule", wanted);
    return wanted;
}

void stencil_print_wanted(job *j, const subject *s, const char *line, text *out) {
    schedule_print(stencil_wanted(j, s, line), stencil_dims(s), out);
}

void stencil_check_schedule(job *j, const family *f, const char *line) {
    (void)f;
    schedule s = {.method = 0};
    schedule_parse(j, line, "the plan", &s);
}

static const plan *make_plan(job *j, const subject *s, const family_request *r) {
    return plan_make(j, s->model, stencil_wanted(j, s, r->schedule), r->gpu, r->size,
                     r->steps > 1 ? r->steps : 1);
}

static const char *line_of(job *j, const plan *p) {
    text line = text_new(j);
    schedule_print(&p->schedule, p->facts->model->dims, &line);
    return line.data;
}

const char *stencil_plan(job *j, const subject *s, const family_request *r) {
    return line_of(j, make_plan(j, s, r));
}

family_build *stencil_build(job *j, const subject *s, const family_request *r) {
    const model *m = s->model;
    const plan *p = make_plan(j, s, r);
    const expr_count emitted = plan_emitted(p);
    text shape = text_new(j), boundary = text_new(j), printed = text_new(j);
    model_describe(m, &shape);
    model_describe_boundary(m, &boundary);
    model_print(m, MODEL_ALL, &printed);
    family_build *b = job_alloc(j, sizeof *b);
    *b = (family_build){
        .program = source_make(j, m, p),
        .header = source_plan_header(j, m, p),
        .shape = shape.data,
        .model = printed.data,
        .plan = line_of(j, p),
        .reason = p->reason,
        .board = p->board,
        .boundary = boundary.data,
        .points = m->points,
        .radius = m->radius,
        .textbook_operations = model_textbook_operations(m),
        .emitted_operations = emitted.multiplications + emitted.additions + emitted.others,
    };
    return b;
}

/* ---- explain: one plan ---------------------------------------------------------------------- */

typedef struct attempt {
    const model *model;
    const family_request *request;
    schedule wanted;
    const plan *plan; /* NULL: it was refused */
} attempt;

static void plan_alone(job *j, void *argument) {
    attempt *a = argument;
    const family_request *r = a->request;
    a->plan = plan_make(j, a->model, &a->wanted, r->gpu, r->size, r->steps > 1 ? r->steps : 1);
}

/* In a job of its own, so that a refusal is an answer. */
static job *try_plan(job *j, const model *m, const family_request *r, const schedule *constraints,
                     int wanted, attempt *out) {
    fault f;
    *out = (attempt){.model = m, .request = r, .wanted = *constraints};
    out->wanted.method = wanted;
    job *own = job_inner(j, plan_alone, out, &f);
    if (f != FAULT_NONE && f != FAULT_PLAN)
        job_fail(j, f, NULL, 0, "%s", job_error_text(own));
    return own;
}

/* ---- the textbook's count ------------------------------------------------------------------ */

static int arrays_read(const model *m) {
    int count = 0;
    for (int i = 0; i < m->array_count; i++)
        count += m->arrays[i].used;
    return count > 0 ? count : 1;
}

/* The textbook's tile is widened where the shape would leave nothing of it. */
static void write_textbook(const model *m, const method *method, family_row *row) {
    const double operations = model_textbook_operations(m);
    const double bytes = (double)model_cell_bytes(m);
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

static void write_plan(job *j, const model *m, const plan *p, family_row *row) {
    const plan_estimate *e = &p->estimate;
    row->plan = line_of(j, p);
    row->loads_bytes_per_point = e->loads_per_point * (double)model_cell_bytes(m);
    if (row->loads_bytes_per_point > 0)
        row->operations_per_byte = model_textbook_operations(m) / row->loads_bytes_per_point;
    row->shared_bytes = p->shared_bytes;
    row->threads = plan_threads(p);
    row->registers = e->registers;
    const int steps = p->schedule.time; /* that a launch makes */
    row->seconds = e->seconds / (steps > 1 ? steps : 1);
    row->bound = job_string(j, e->bound);
}

static void write_row(job *j, const model *m, const family_request *r, const schedule *wanted,
                      int method, family_row *row) {
    attempt a;
    job *own = try_plan(j, m, r, wanted, method, &a);
    row->name = methods[method]->name;
    row->bound = "";
    write_textbook(m, methods[method], row);
    if (a.plan != NULL)
        write_plan(j, m, a.plan, row);
    else
        row->refusal = job_string(j, job_error_text(own));
    job_inner_end(j, own);
}

static void write_rows(job *j, const subject *s, const family_request *r, family_explanation *e) {
    const model *m = s->model;
    const schedule *wanted = stencil_wanted(j, s, r->schedule);
    e->rows = job_array(j, METHODS, sizeof *e->rows);
    for (int method = 1; method < METHODS; method++)
        write_row(j, m, r, wanted, method, &e->rows[e->row_count++]);
    attempt a;
    job *own = try_plan(j, m, r, wanted, wanted->method, &a);
    e->reason = job_string(j, a.plan != NULL ? a.plan->reason : job_error_text(own));
    for (int i = 0; i < e->row_count && a.plan != NULL; i++)
        e->rows[i].chosen = strcmp(e->rows[i].name, plan_method(a.plan)->name) == 0;
    if (a.plan != NULL)
        e->memory = source_memory(j, m, a.plan);
    job_inner_end(j, own);
}

void stencil_explain(job *j, const subject *s, const family_request *r, family_explanation *e) {
    const model *m = s->model;
    const expr_count emitted = plan_facts_new(j, m)->emitted;
    text shape = text_new(j), boundary = text_new(j);
    model_describe(m, &shape);
    model_describe_boundary(m, &boundary);
    *e = (family_explanation){
        .shape = shape.data,
        .boundary = boundary.data,
        .points = m->points,
        .textbook_operations = model_textbook_operations(m),
        .emitted_operations = emitted.multiplications + emitted.additions + emitted.others,
        .multiplications = emitted.multiplications,
        .additions = emitted.additions,
        .others = emitted.others,
        .bytes_per_point = model_bytes_per_point(m),
    };
    write_rows(j, s, r, e);
}
