/* The mode run: each case is built once and run in all its places, judged by the reference. Those
   that are kept as golden files are like others, and run with --full or by name. */
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "tests/runner/huge.h"
#include "tests/runner/lists.h"
#include "tests/runner/scene.h"

typedef struct running {
    const options *options;
    const case_list *list;
    report *report;
    sg_context *context;
} running;

typedef struct run_one {
    const running *r;
    const test_subject *subject;
    int index; /* of the place */
    const char *name;
} run_one;

static uint64_t hash_name(const char *name) {
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *name != '\0'; name++)
        h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return h;
}

static place find_place(job *j, const test_subject *s, int index) {
    const test_case *t = s->test;
    if (t->matrix == NULL)
        return t->places[index];
    return cases_place(j, t->matrix, t->chosen + index * matrix_place_width(t->matrix), &s->facts);
}

static void run_place(job *j, void *argument) {
    run_one *one = argument;
    const running *r = one->r;
    report_begin(one->name);
    const place p = find_place(j, one->subject, one->index);
    const uint64_t seed = random_stream(r->options->data_seed, hash_name(one->name));
    scene *const s = job_alloc(j, sizeof *s); /* not on the stack, which a failure unwinds */
    if (one->subject->program != NULL) {
        lists_run(j, r->options, one->subject, &p, seed, one->name, r->report);
        return;
    }
    if (one->subject->test->huge) {
        const char *skipped = NULL;
        const char *wrong = huge_run(j, one->subject, &p, seed, r->options->huge, &skipped);
        if (skipped != NULL)
            report_skip(r->report, one->name, skipped);
        else if (wrong != NULL)
            report_fail(r->report, one->name, wrong);
        else
            report_pass(r->report, one->name);
        return;
    }
    scene_open(j, one->subject, &p, seed, s);
    scene_run(j, s);
    report_cells(r->report, s->judged, s->undecidable);
    if (s->wrong.length > 0)
        report_fail(r->report, one->name,
                    job_print(j, "%s\n    plan: %s", s->wrong.data,
                              sg_kernel_text(one->subject->kernel, SG_TEXT_PLAN)));
    else
        report_pass(r->report, one->name);
    job_keep(j, s);
    scene_close(s);
}

static void run_places(job *j, const running *r, const test_subject *s) {
    for (int i = 0; i < s->test->place_count; i++) {
        run_one one = {r, s, i, case_place_name(j, s->test, i)};
        job *own;
        if (job_run(&allocator_libc, run_place, &one, &own) != FAULT_NONE)
            report_fail(r->report, one.name, job_error(own));
        job_end(own);
        report_begin(s->test->name);
    }
}

typedef struct build_one {
    const running *r;
    const test_case *test;
} build_one;

static void run_case(job *j, void *argument) {
    const build_one *b = argument;
    const running *r = b->r;
    test_subject s;
    const uint64_t seed = random_stream(r->options->data_seed, hash_name(b->test->name));
    if (!subject_build(j, r->options, r->context, b->test, seed, false, r->report, &s))
        return;
    run_places(j, r, &s);
    subject_release(&s);
}

/* A GPU runs what was built for its own architecture; the cpu device runs all. */
static bool is_for_another(const running *r, const test_case *t) {
    sg_device_info d = {.struct_size = sizeof d};
    sg_device(r->context, &d);
    return t->arch != NULL && strcmp(d.device, "cpu") != 0 && strcmp(d.arch, t->arch) != 0;
}

static void run_index(void *argument, int i) {
    const running *r = argument;
    build_one b = {r, &r->list->cases[i]};
    const bool like_others = b.test->golden && r->options->selection == SELECT_PAIRWISE &&
                             r->options->only == NULL && r->options->filter == NULL;
    if (b.test->property != NULL || b.test->compiled || like_others)
        return;
    report_begin(b.test->name);
    if (is_for_another(r, b.test)) {
        report_skip(r->report, b.test->name, "it is built for another architecture");
        return;
    }
    job *own;
    if (job_run(&allocator_libc, run_case, &b, &own) != FAULT_NONE)
        report_fail(r->report, b.test->name, job_error(own));
    job_end(own);
}

enum { MANY = 1000000 };

void mode_run(job *j, const options *o, const case_list *list, report *r) {
    (void)j;
    running running = {o, list, r, runner_context(o, r)};
    if (running.context == NULL)
        return;
    run_parallel(o->threads, list->count, run_index, &running);
    sg_close(running.context);
    /* Of one place much may be undecidable: the bound of an update that is not linear grows with
       its random data, step by step. */
    if (r->cells > MANY && 10 * r->undecidable > r->cells)
        report_fail(r, "all cases", "the reference cannot judge a tenth of all cells");
    printf("%lld cells judged, %lld of them undecidable; %ld kernels refused, as their cases "
           "allow\n",
           (long long)r->cells, (long long)r->undecidable, r->refused);
}
