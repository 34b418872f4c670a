/* The property agreement of lists.h. */
#include <stdio.h>
#include <string.h>

#include "tests/runner/lists.h"

typedef struct agreeing {
    const options *options;
    sg_context *context;
    const test_case *test;
    report *report;
    const program *program; /* of the first algorithm, or NULL: none has been built */
    list_scene **first;     /* what it made, of each place */
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
static void compare(const agreeing *a, const list_scene *first, list_scene *s) {
    const program *p = s->subject->program;
    if (p->kind == PROGRAM_PRODUCT)
        return; /* formats have arrays of their own, may get a smaller matrix, and all is rounded */
    for (int i = 0; i < p->array_count && s->wrong.length == 0; i++) {
        const program_array *array = &p->arrays[i];
        const int other = find_array(a->program, array->name);
        if (other < 0 || (array->written && !is_whole(array)))
            continue;
        const list_image *m = &s->images[i], *n = &first->images[other];
        if (m->inner != n->inner || memcmp(m->after + m->origin, n->after + n->origin, m->inner))
            text_printf(&s->wrong, "%s: %s of the first algorithm", array->name,
                        array->written ? "other bits than those" : "other data than those");
    }
}

static void run_place(job *j, const agreeing *a, const test_subject *k, int place) {
    list_scene *s = job_alloc(j, sizeof *s);
    list_scene_open(j, k, k->subject, &a->test->places[place], a->options->data_seed, s);
    list_scene_run(j, s);
    if (k->program == a->program)
        a->first[place] = s;
    else
        compare(a, a->first[place], s);
    report_cells(a->report, s->verdict.judged, s->verdict.undecidable);
    if (s->wrong.length > 0)
        report_fail(a->report, k->test->name, s->wrong.data);
    else
        report_pass(a->report, k->test->name);
    job_keep(j, s);
    list_scene_close(s);
}

/* Built once, and run in all places. */
static void run_algorithm(job *j, agreeing *a, const char *schedule) {
    test_case *t = job_alloc(j, sizeof *t);
    *t = *a->test;
    t->schedule = schedule;
    t->name = job_print(j, "%s: %s", t->name, schedule != NULL ? schedule : "auto");
    test_subject *k = job_alloc(j, sizeof *k);
    if (!subject_build(j, a->options, a->context, t, 1, false, a->report, k))
        return;
    if (a->program == NULL)
        a->program = k->program;
    for (int p = 0; p < t->place_count; p++)
        run_place(j, a, k, p);
    subject_release(k);
}

void lists_agree(job *j, const options *o, sg_context *c, const test_case *t, report *r) {
    const subject *s = subject_load(j, o, t);
    family_request request = {.schedule = t->schedule, .gpu = gpu_find("sm_90")};
    family_explanation e;
    model_default_size(s->family->dims(s), true, request.size);
    s->family->explain(j, s, &request, &e);
    agreeing a = {.options = o, .context = c, .test = t, .report = r};
    a.first = job_array(j, (size_t)t->place_count, sizeof *a.first);
    run_algorithm(j, &a, t->schedule);
    for (int i = 0; i < e.row_count; i++)
        if (e.rows[i].plan != NULL)
            run_algorithm(j, &a, e.rows[i].plan);
}
