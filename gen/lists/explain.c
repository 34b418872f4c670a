/* What each algorithm of a pattern would do with a spec.
   Takes: a subject and a request. Makes: a row for each, by building it in a job of its own, so
   that a refusal is an answer. */
#include "gen/lists/pattern.h"

#include <string.h>

typedef struct attempt {
    const subject *subject;
    family_request request;
    const family_build *made;
    job *job;
} attempt;

static void build(job *j, void *argument) {
    attempt *a = argument;
    a->made = a->subject->family->build(j, a->subject, &a->request);
}

static void end_attempt(void *argument) {
    job_end(((attempt *)argument)->job);
}

static const char *keep(job *j, const char *text) {
    return job_copy(j, text, strlen(text));
}

void pattern_try(job *j, const subject *s, const family_request *r, const char *line,
                 family_row *row) {
    attempt *a = job_alloc(j, sizeof *a);
    a->subject = s;
    a->request = *r;
    a->request.schedule = line;
    a->request.untold = true;
    row->bound = "";
    job_defer(j, end_attempt, a);
    const fault f = job_run(job_allocator(j), build, a, &a->job);
    if (f != FAULT_NONE && f != FAULT_PLAN)
        job_fail(j, f, NULL, 0, "%s", a->job != NULL ? job_error_text(a->job) : "out of memory");
    if (f == FAULT_PLAN) {
        row->refusal = keep(j, job_error_text(a->job));
    } else {
        const program *p = a->made->program;
        const program_launch *l = &p->launches[program_main_launch(p)];
        row->plan = keep(j, a->made->plan);
        row->shared_bytes = l->shared_bytes;
        row->blocks = program_blocks(l, 0, a->request.size);
        row->threads = l->block[0] * l->block[1] * l->block[2];
    }
    job_keep(j, a);
    end_attempt(a);
}

void pattern_print_wanted(job *j, const subject *s, const char *line, text *out) {
    const pattern *p = s->model;
    pattern_schedule wanted = p->wanted;
    pattern_schedule_parse(j, p->words, line, "schedule", &wanted);
    pattern_schedule_print(p->words, &wanted, out);
}

const char *pattern_plan(job *j, const subject *s, const family_request *r) {
    family_request plain = *r;
    plain.untold = true;
    return s->family->build(j, s, &plain)->plan;
}

const family_build *pattern_explain_build(job *j, const subject *s, const family_request *r,
                                          family_explanation *out) {
    const family_build *made = s->family->build(j, s, r);
    *out = (family_explanation){.shape = made->shape,
                                .boundary = made->boundary,
                                .reason = made->reason,
                                .points = made->points,
                                .textbook_operations = made->textbook_operations,
                                .emitted_operations = made->emitted_operations,
                                .bytes_per_point = made->program->bytes_per_point};
    return made;
}

void pattern_explain(job *j, const subject *s, const family_request *r, const char *const *notes,
                     family_explanation *out) {
    const pattern *p = s->model;
    const pattern_words *w = p->words;
    const family_build *chosen = pattern_explain_build(j, s, r, out);
    pattern_schedule plan = {0};
    pattern_schedule_parse(j, w, chosen->plan, "plan", &plan);
    out->rows = job_array(j, (size_t)w->algorithm_count, sizeof *out->rows);
    for (int i = 1; i < w->algorithm_count; i++) {
        family_row *row = &out->rows[out->row_count++];
        row->name = w->algorithms[i].name;
        row->note = notes[i];
        row->chosen = plan.algorithm == i;
        pattern_try(j, s, r, row->name, row);
    }
}
