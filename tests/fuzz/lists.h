/* Specs of the families on lists, and systems, for the spec target: what loads is written as a
   source or refused, a plan's line gives the same source again, and checks have data and a verdict
   on whatever a kernel might have made of them. */
#ifndef TESTS_FUZZ_LISTS_H
#define TESTS_FUZZ_LISTS_H

#include <string.h>

#include "gen/lists/pattern.h"
#include "tests/fuzz/fuzz.h"

typedef struct list_input {
    const subject *subject;
    const char *line; /* a schedule */
    const family_build *made;
} list_input;

static family_request request_of(const list_input *in) {
    family_request r = {.schedule = in->line, .gpu = gpu_find("sm_90"), .size = {1 << 20, 1, 1}};
    if (in->subject->family->kind == PROGRAM_GRID)
        model_default_size(in->subject->family->dims(in->subject), true, r.size);
    return r;
}

static void build_list(job *j, void *argument) {
    list_input *in = argument;
    const family_request request = request_of(in);
    in->made = in->subject->family->build(j, in->subject, &request);
}

static void explain_list(job *j, void *argument) {
    const list_input *in = argument;
    const family_request request = request_of(in);
    family_explanation e;
    in->subject->family->explain(j, in->subject, &request, &e);
    DEMAND(e.row_count > 0 && e.reason != NULL);
    for (int i = 0; i < e.row_count; i++)
        DEMAND((e.rows[i].plan == NULL) == (e.rows[i].refusal != NULL));
}

/* Every kind of data, and a verdict on outputs that are all 0. */
static void judge_list(job *j, void *argument) {
    const list_input *in = argument;
    const family *f = in->subject->family;
    const program *p = in->made->program;
    for (int kind = 0; f->lists.kinds[kind] != NULL; kind++) {
        family_call before = {0}, after;
        const int64_t size[AXES] = {33, f->dims(in->subject) > 1 ? 7 : 1, 1};
        f->lists.draw(j, in->subject, p, size, kind, NULL, 5, &before);
        after = before;
        after.arrays = job_array(j, (size_t)p->array_count, sizeof *after.arrays);
        for (int i = 0; i < p->array_count; i++)
            if (p->arrays[i].written) {
                const int64_t elements = program_elements(p, i, before.sizes);
                DEMAND(elements >= 0);
                after.arrays[i] = job_array(j, (size_t)elements + 1, p->arrays[i].element_bytes);
            }
        family_verdict verdict;
        f->lists.judge(j, in->subject, p, &before, &after, &verdict);
        DEMAND(verdict.wrong + verdict.undecidable <= verdict.judged);
        DEMAND(memchr(verdict.first_wrong, '\0', VERDICT_PLACE) != NULL);
        DEMAND((verdict.wrong > 0) == (verdict.first_wrong[0] != '\0'));
    }
}

static void check_list(const subject *s) {
    list_input first = {.subject = s};
    job *j, *other;
    const fault failed = job_run(&allocator_libc, build_list, &first, &j);
    DEMAND(failed == FAULT_NONE || failed == FAULT_PLAN);
    if (failed == FAULT_NONE) {
        list_input second = {.subject = s, .line = first.made->plan};
        DEMAND(job_run(&allocator_libc, build_list, &second, &other) == FAULT_NONE);
        DEMAND(strcmp(first.made->plan, second.made->plan) == 0);
        DEMAND(strcmp(first.made->program->source, second.made->program->source) == 0);
        DEMAND(strstr(first.made->program->source, "(null)") == NULL);
        job_end(other);
        DEMAND(job_run(&allocator_libc, explain_list, &first, &other) == FAULT_NONE);
        job_end(other);
        if (s->family->kind == PROGRAM_GRID)
            return job_end(j);
        DEMAND(job_run(&allocator_libc, judge_list, &first, &other) == FAULT_NONE);
        job_end(other);
    } else {
        const char *why = job_error_text(j);
        DEMAND(why[0] != '\0' && strchr(why, '\n') == NULL && strstr(why, "(null)") == NULL);
    }
    job_end(j);
}

#endif
