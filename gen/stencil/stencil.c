/* A stencil from its model to its program. */
#include "gen/stencil/stencil.h"

#include "gen/stencil/schedule.h"
#include "gen/stencil/source.h"

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
