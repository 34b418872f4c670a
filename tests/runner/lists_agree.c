/* The property agreement of lists.h. */
#include <stdio.h>
#include <string.h>

#include "tests/runner/lists.h"

typedef struct agreeing {
    const options *options;
    sg_context *context;
    const test_case *test;
    const place *place;
    report *report;
    list_scene first; /* of the first algorithm */
    const program *program;
} agreeing;

static bool is_whole(const program_array *a) {
    return dtype_find(a->dtype) != DTYPE_COUNT && dtype_find(a->dtype) >= DTYPE_REALS;
}

static int find_array(const program *p, const char *name) {
    for (int i = 0; i < p->array_count; i++)
        if (strcmp(p->arrays[i].name, name) == 0)
            return i;
    return -1;
}

/* Arrays that both have: those that are read are the same, or nothing could be said; those that are
   written are the same where nothing is rounded. */
static void compare(agreeing *a, list_scene *s) {
    const program *p = s->subject->program;
    if (p->kind == PROGRAM_PRODUCT)
        return; /* formats have arrays of their own, may get a smaller matrix, and all is rounded */
    for (int i = 0; i < p->array_count && s->wrong.length == 0; i++) {
        const program_array *array = &p->arrays[i];
        const int other = find_array(a->program, array->name);
        if (other < 0 || (array->written && !is_whole(array)))
            continue;
        const list_image *m = &s->images[i], *n = &a->first.images[other];
        if (m->inner != n->inner || memcmp(m->after + m->origin, n->after + n->origin, m->inner))
            text_printf(&s->wrong, "%s: %s of the first algorithm", array->name,
                        array->written ? "other bits than those" : "other data than those");
    }
}

/* Returns whether it has been run. */
static bool run_one(job *j, agreeing *a, const char *schedule, list_scene *s, test_subject *k) {
    test_case *t = job_alloc(j, sizeof *t);
    *t = *a->test;
    t->schedule = schedule;
    t->name = job_print(j, "%s: %s", t->name, schedule != NULL ? schedule : "auto");
    if (!subject_build(j, a->options, a->context, t, 1, false, a->report, k))
        return false;
    list_scene_open(j, k, k->subject, a->place, a->options->data_seed, s);
    list_scene_run(j, s);
    if (a->program != NULL)
        compare(a, s);
    report_cells(a->report, s->verdict.judged, s->verdict.undecidable);
    if (s->wrong.length > 0)
        report_fail(a->report, t->name, s->wrong.data);
    else
        report_pass(a->report, t->name);
    job_keep(j, s);
    list_scene_close(s);
    subject_release(k);
    return true;
}

void lists_agree(job *j, const options *o, sg_context *c, const test_case *t, report *r) {
    const subject *s = subject_load(j, o, t);
    family_request request = {.schedule = t->schedule, .gpu = gpu_find("sm_90")};
    family_explanation e;
    model_default_size(s->family->dims(s), true, request.size);
    s->family->explain(j, s, &request, &e);
    for (int p = 0; p < t->place_count; p++) {
        agreeing a = {.options = o, .context = c, .test = t, .place = &t->places[p], .report = r};
        for (int i = -1; i < e.row_count; i++) {
            list_scene *now = job_alloc(j, sizeof *now);
            test_subject *k = job_alloc(j, sizeof *k);
            if (i >= 0 && e.rows[i].plan == NULL)
                continue;
            if (run_one(j, &a, i < 0 ? t->schedule : e.rows[i].plan, now, k) && a.program == NULL) {
                a.first = *now;
                a.program = k->program;
            }
        }
    }
}
