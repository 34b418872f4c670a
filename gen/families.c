/* The table of families, and stencils as one of them. */
#include "gen/model/family.h"

#include "gen/lists/draw.h"
#include "gen/lists/merge/merge.h"
#include "gen/lists/reduce/reduce.h"
#include "gen/lists/scan/scan.h"
#include "gen/stencil/source.h"
#include "gen/lists/spmv/spmv.h"

const family families[FAMILY_COUNT] = {
    [FAMILY_STENCIL] = {.name = "stencil",
                        .summary = "a grid updated from the neighbours of each point",
                        .dims = stencil_dims,
                        .print = stencil_print,
                        .build = stencil_build},
    [FAMILY_REDUCE] = {.name = "reduce",
                       .summary = "a list to one element",
                       .dims = reduce_dims,
                       .print = reduce_print,
                       .build = reduce_build,
                       .explain = reduce_explain,
                       .kinds = draw_kinds,
                       .alike = true,
                       .draw = reduce_draw,
                       .judge = reduce_judge},
    [FAMILY_SCAN] = {.name = "scan",
                     .summary = "a list to its prefix sums",
                     .dims = scan_dims,
                     .print = scan_print,
                     .build = scan_build,
                     .explain = scan_explain,
                     .kinds = draw_kinds,
                     .alike = true,
                     .draw = scan_draw,
                     .judge = scan_judge},
    [FAMILY_MERGE] = {.name = "merge",
                      .summary = "two sorted lists to one",
                      .dims = merge_dims,
                      .print = merge_print,
                      .build = merge_build,
                      .explain = merge_explain,
                      .kinds = draw_kinds,
                      .alike = true,
                      .draw = merge_draw,
                      .judge = merge_judge},
    [FAMILY_SPMV] = {.name = "spmv",
                     .summary = "a sparse matrix times a vector",
                     .dims = spmv_dims,
                     .print = spmv_print,
                     .build = spmv_build,
                     .explain = spmv_explain,
                     .kinds = spmv_kinds,
                     .draw = spmv_draw,
                     .judge = spmv_judge,
                     .draw_given = spmv_draw_given,
                     .judge_given = spmv_judge_given},
};

int64_t family_elements(const program *p, int array, const int64_t *sizes) {
    int64_t elements = 1;
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        elements *= program_extent_of(&p->arrays[array].extent[axis], sizes);
    return elements;
}

/* ---- stencils ------------------------------------------------------------------------------ */

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
    const plan *p = plan_make(j, m, stencil_wanted(j, s, r->schedule), r->target, r->size,
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
        .boundary = boundary.data,
        .points = m->points,
        .radius = m->radius,
        .textbook_operations = model_textbook_operations(m),
        .emitted_operations = emitted.multiplications + emitted.additions + emitted.others,
    };
    return b;
}
