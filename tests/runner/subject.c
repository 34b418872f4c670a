/* Building of subject.h. */
#include "tests/runner/subject.h"

#include <string.h>

#include "base/random.h"
#include "gen/families.h"
#include "gen/lists/draw.h"
#include "gen/spec/spec.h"
#include "gen/stencil/plan.h"

const char *subject_path(job *j, const options *o, const test_case *t) {
    return t->path == NULL ? NULL : job_print(j, "%s/%s", o->root, t->path);
}

const subject *subject_load(job *j, const options *o, const test_case *t) {
    const char *path = subject_path(j, o, t);
    const spec *s = spec_load(j, path != NULL ? path : "case", t->spec, NULL);
    if (t->index >= s->count)
        job_fail(j, FAULT_USAGE, NULL, 0, "the spec has %d models, not %d", s->count, t->index + 1);
    return s->subjects[t->index];
}

static family_request request_of(const test_case *t, const subject *s, const char *arch,
                                 const int64_t *size) {
    family_request r = {.schedule = t->schedule, .gpu = gpu_find(arch != NULL ? arch : "sm_90")};
    if (size != NULL)
        memcpy(r.size, size, sizeof r.size);
    else
        model_default_size(s->family->dims(s), true, r.size);
    return r;
}

const family_build *subject_generate(job *j, const test_case *t, const subject *s, const char *arch,
                                     const int64_t *size) {
    const family_request r = request_of(t, s, arch, size);
    return s->family->build(j, s, &r);
}

static bool refusal_is_allowed(const test_case *t, const char *error) {
    for (int i = 0; i < t->refusal_count; i++)
        if (strstr(error, t->refusals[i]) != NULL)
            return true;
    return false;
}

typedef struct planning {
    const options *options;
    const test_case *test;
} planning;

static void make_plan(job *j, void *argument) {
    const planning *p = argument;
    const subject *s = subject_load(j, p->options, p->test);
    family_request r = request_of(p->test, s, p->test->arch, NULL);
    r.untold = true;
    s->family->plan(j, s, &r);
}

bool subject_is_refused(const options *o, const test_case *t) {
    planning p = {o, t};
    job *own;
    const fault f = job_run(&allocator_libc, make_plan, &p, &own);
    const bool refused = f == FAULT_PLAN && refusal_is_allowed(t, job_error(own));
    job_end(own);
    return refused;
}

/* What a failed build means for the case. */
static void report_error(job *j, const test_case *t, sg_status status, const char *error,
                         report *r) {
    if (t->expect != NULL && strstr(error, t->expect) != NULL)
        report_pass(r, t->name);
    else if (t->expect != NULL)
        report_fail(r, t->name, job_print(j, "expected the error '%s', got: %s", t->expect, error));
    else if (status == SG_ERROR_PLAN && refusal_is_allowed(t, error))
        report_refusal(r, t->name, error);
    else
        report_fail(r, t->name, job_print(j, "it is not built: %s", error));
}

static void set_parameters(test_subject *s, uint64_t seed) {
    const model *m = s->model;
    for (int i = 0; i < m->parameter_count; i++) {
        double v = m->parameters[i].has_value ? m->parameters[i].value
                                              : 0.25 + 0.5 * random_unit(seed, (uint64_t)i);
        for (int k = 0; k < s->test->parameter_count; k++)
            if (strcmp(s->test->parameters[k].name, m->parameters[i].name) == 0)
                v = s->test->parameters[k].number;
        s->parameters[i] = m->dtype == DTYPE_FLOAT ? (double)(float)v : v;
    }
}

static void find_facts(job *j, test_subject *s) {
    kernel_facts *f = &s->facts;
    f->name = s->test->name;
    if (s->test->compiled) /* a system's plan is of several launches */
        return;
    schedule plan = {0};
    schedule_parse(j, sg_kernel_text(s->kernel, SG_TEXT_PLAN), "plan", &plan);
    f->dims = s->model->dims;
    f->points = s->model->points;
    for (int axis = 0; axis < AXES; axis++) {
        f->low[axis] = s->model->low[axis];
        f->high[axis] = s->model->high[axis];
        f->block[axis] = (int64_t)(plan.tile[axis] > 0 ? plan.tile[axis] : 1) *
                         (plan.coarsen[axis] > 0 ? plan.coarsen[axis] : 1);
    }
}

/* Of lists: their dimensions, and the most that a block takes along each axis. */
static void find_list_facts(job *j, test_subject *s) {
    kernel_facts *f = &s->facts;
    f->name = s->test->name;
    test_case planned = *s->test;
    if (family_plans_processors(s->subject->family)) /* the library may have done so */
        planned.schedule = sg_kernel_text(s->kernel, SG_TEXT_PLAN);
    s->program = subject_generate(j, &planned, s->subject, sg_kernel_text(s->kernel, SG_TEXT_ARCH),
                                  s->info.size)
                     ->program;
    if (strcmp(s->program->source, sg_kernel_text(s->kernel, SG_TEXT_SOURCE)) != 0)
        job_fail(j, FAULT_USAGE, NULL, 0, "another source than the library's has been made");
    f->dims = s->subject->family->dims(s->subject);
    for (int axis = 0; axis < AXES; axis++)
        for (int i = 0; i < s->program->launch_count; i++)
            if (s->program->launches[i].per_block[axis] > f->block[axis])
                f->block[axis] = s->program->launches[i].per_block[axis];
}

static int find_array(const test_subject *s, const char *field, bool written, bool previous) {
    for (int i = 0; i < s->array_count; i++) {
        const sg_array_info *a = &s->arrays[i];
        if (strcmp(a->field, field) == 0 && (a->role == SG_WRITE) == written &&
            (written || (strcmp(a->name, field) != 0) == previous))
            return i;
    }
    return -1;
}

static void connect(test_subject *s) {
    const model *m = s->model;
    for (int i = 0; i < m->array_count; i++)
        s->reads[i] =
            find_array(s, m->fields[m->arrays[i].field].name, false, m->arrays[i].previous);
    for (int o = 0; o < m->output_count; o++)
        s->written[o] = find_array(s, m->fields[m->outputs[o].field].name, true, false);
}

void subject_judge_by(job *j, test_subject *s, const model *m) {
    s->model = m;
    s->reference = reference_new(j, m, s->parameters);
    reach_arrays(j, m, s->parameters, s->samples);
}

bool subject_build(job *j, const options *o, sg_context *c, const test_case *t, uint64_t seed,
                   bool source_only, report *r, test_subject *s) {
    *s = (test_subject){.test = t, .context = c};
    const sg_build_options b = {.struct_size = sizeof b,
                                .text = t->spec,
                                .index = t->index,
                                .schedule = t->schedule,
                                .arch = t->arch,
                                .size = {t->plan_size[0], t->plan_size[1], t->plan_size[2]},
                                .source_only = source_only,
                                .steps = t->plan_steps};
    const sg_status status = sg_build(c, subject_path(j, o, t), &b, &s->kernel);
    if (status != SG_OK) {
        report_error(j, t, status, sg_error(c), r);
        return false;
    }
    job_defer(j, (void (*)(void *))sg_release, s->kernel);
    if (t->expect != NULL) {
        report_fail(r, t->name, job_print(j, "it is built, without the error '%s'", t->expect));
        subject_release(s);
        return false;
    }
    s->info.struct_size = sizeof s->info;
    sg_kernel_facts(s->kernel, &s->info);
    s->array_count = s->info.arrays;
    for (int i = 0; i < s->array_count; i++) {
        s->arrays[i].struct_size = sizeof s->arrays[i];
        sg_kernel_array(s->kernel, i, &s->arrays[i]);
    }
    s->subject = subject_load(j, o, t);
    s->model = s->subject->expressions;
    if (s->subject->family->kind != PROGRAM_GRID) {
        find_list_facts(j, s);
    } else {
        set_parameters(s, seed);
        find_facts(j, s);
        connect(s);
        subject_judge_by(j, s, s->model);
    }
    job_keep(j, s->kernel);
    return true;
}

void subject_release(test_subject *s) {
    sg_release(s->kernel);
    s->kernel = NULL;
}
