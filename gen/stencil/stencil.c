/* A stencil from its model to its program. */
#include "gen/stencil/stencil.h"

#include "gen/stencil/schedule.h"
#include "gen/stencil/source.h"

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

family_build *stencil_build(job *j, const subject *s, const family_request *r) {
    const model *m = s->model;
    const plan *p = plan_make(j, m, stencil_wanted(j, s, r->schedule), r->gpu, r->size,
                              r->steps > 1 ? r->steps : 1);
    const expr_count emitted = plan_emitted(p);
    text shape = text_new(j), boundary = text_new(j), printed = text_new(j), line = text_new(j);
    model_describe(m, &shape);
    model_describe_boundary(m, &boundary);
    model_print(m, MODEL_ALL, &printed);
    schedule_print(&p->schedule, m->dims, &line);
    family_build *b = job_alloc(j, sizeof *b);
    *b = (family_build){
        .program = source_make(j, m, p),
        .header = source_plan_header(j, m, p),
        .shape = shape.data,
        .model = printed.data,
        .plan = line.data,
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
