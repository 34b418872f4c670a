/* sg_check. Lists: one launch on data that the family draws, judged by the family. Grids: an update
   of random data is compared with the reference. Of a large grid only some pieces are judged
   (check.h, guard.h); the others must not have a NaN that the spec does not make. */
#include "runtime/check/check.h"

#include <string.h>

#include "base/random.h"
#include "gen/model/family.h"
#include "runtime/check/guard.h"
#include "runtime/launch/launch.h"
#include "runtime/matrix/matrix.h"

/* ---- lists ----------------------------------------------------------------------------------- */

enum { RANDOM_KIND = 0 }; /* of a family's data */

/* The family; refuses a kernel that was loaded from a file. */
static const family *need_family(job *j, const sg_kernel *k) {
    const program *p = k->program;
    if (k->subject == NULL)
        context_refuse(j, "'%s' was loaded from a file, so there is no spec to draw data for",
                       p->name);
    return k->subject->family;
}

/* Rounded as the kernel gets them; NULL for NULL. */
static double *take_parameters(job *j, const sg_kernel *k, const double *given) {
    const program *p = k->program;
    double *parameters = job_array(j, (size_t)p->parameter_count + 1, sizeof *parameters);
    for (int i = 0; given != NULL && i < p->parameter_count; i++)
        kernel_parameter(j, k, i, given[i], &parameters[i]);
    return given != NULL ? parameters : NULL;
}

void lists_draw(job *j, const sg_kernel *k, check_data *kept, const int64_t size[3],
                const double *given, uint64_t seed, family_call *out) {
    const program *p = k->program;
    const family *f = need_family(j, k);
    given = take_parameters(j, k, given);
    if (kept != NULL && f->lists.alike)
        check_data_draw(kept, j, k, size, given, seed, out);
    else
        f->lists.draw(j, k->subject, p, size, RANDOM_KIND, given, seed, out);
    out->parameters = take_parameters(j, k, out->parameters);
}

static void free_uploaded(void *matrix) {
    sg_device_matrix_free(matrix);
}

/* The arrays of a product, downloaded as sg_matrix_upload made them. */
static const packed_matrix *fetch_arrays(job *j, const sg_kernel *k, const sg_matrix *from) {
    device *d = context_device(j, k->context);
    sg_device_matrix *a = device_matrix_upload(j, from, k);
    job_defer(j, free_uploaded, a);
    packed_matrix *out = job_alloc(j, sizeof *out);
    out->rows = a->rows;
    out->columns = a->columns;
    for (int i = 0; i < a->array_count; i++) {
        const int64_t elements = a->arrays[i].extent[0] * a->arrays[i].extent[1];
        packed_array *to = &out->arrays[out->array_count++];
        *to = (packed_array){.name = a->arrays[i].name,
                             .extent = {a->arrays[i].extent[0], a->arrays[i].extent[1]}};
        const size_t bytes = (size_t)elements * k->program->arrays[i].element_bytes;
        to->data = job_alloc(j, bytes + 1);
        if (bytes > 0)
            d->ops->download(d, j, to->data, a->arrays[i].data, bytes);
    }
    job_undo(j, a);
    return out;
}

static void draw_product(job *j, const sg_kernel *k, const sg_matrix *m, const double *given,
                         uint64_t seed, family_call *out) {
    const family *f = need_family(j, k);
    if (f->kind != PROGRAM_PRODUCT)
        context_refuse(j, "'%s' multiplies with no matrix", k->program->name);
    given = take_parameters(j, k, given);
    f->lists.draw_given(j, k->subject, k->program, fetch_arrays(j, k, m), given, seed, out);
    out->parameters = take_parameters(j, k, out->parameters);
}

/* Counts bytes that were written between two temporaries. */
static int64_t verify_gaps(const guarded *g, const launch *l, text *first) {
    const program *p = g->kernel->program;
    const unsigned char *cells = g->temporary > 0 ? g->arrays[g->count - 1].cells : NULL;
    int64_t wrong = 0;
    size_t at = 0;
    for (int i = 0; cells != NULL && i < p->lists.temporary_count; i++) {
        const size_t end = at + l->temporaries[i].bytes;
        at = (end + PROGRAM_ALIGNMENT - 1) / PROGRAM_ALIGNMENT * PROGRAM_ALIGNMENT;
        for (size_t b = end; b < at; b++)
            if (cells[b] != POISON_BYTE) {
                if (wrong++ == 0 && first->length == 0)
                    text_printf(first,
                                "the temporary memory '%s' was written %zu byte%s after its end",
                                p->lists.temporaries[i].name, b - end + 1, b == end ? "" : "s");
            }
    }
    return wrong;
}

static void judge(job *j, const guarded *g, const check_given *given, const family_call *before,
                  family_verdict *out) {
    const program *p = g->kernel->program;
    const family *f = g->kernel->subject->family;
    family_call after = {before->sizes, before->parameters,
                         job_array(j, (size_t)p->array_count, sizeof *after.arrays)};
    for (int i = 0; i < p->array_count; i++)
        after.arrays[i] = p->arrays[i].written ? g->arrays[i].cells : NULL;
    if (given->matrix != NULL) {
        f->lists.judge_given(j, g->kernel->subject, p, matrix_settled(j, given->matrix), before,
                             &after, out);
        return;
    }
    check_data *kept = f->lists.alike ? given->kept : NULL;
    if (kept != NULL && check_data_known(kept, p, &after, out))
        return;
    f->lists.judge(j, g->kernel->subject, p, before, &after, out);
    if (kept != NULL)
        check_data_learn(kept, p, &after, out);
}

/* With the seed given; *first is the first finding, in the job. */
static void check_lists(job *j, const sg_kernel *k, const check_given *given,
                        const sg_check_options *options, sg_check_result *r, const char **first) {
    const program *p = k->program;
    int64_t size[PROGRAM_AXES], unused;
    family_call before;
    kernel_size(j, k, options->size, size, &unused);
    memcpy(r->size, size, sizeof size);
    if (given->matrix != NULL)
        draw_product(j, k, given->matrix, options->parameters, r->seed, &before);
    else
        lists_draw(j, k, given->kept, size, options->parameters, r->seed, &before);

    /* The call's extents say how much temporary memory it needs. */
    sg_grid grids[LAUNCH_ARRAYS] = {0};
    launch l;
    size_t temporary;
    for (int i = 0; i < p->array_count; i++)
        for (int axis = 0; axis < PROGRAM_AXES; axis++)
            grids[i].size[axis] = lists_extent(&p->arrays[i].lists.extent[axis], before.sizes);
    lists_measure(j, p, grids, &l, &temporary);

    guarded *g = job_alloc(j, sizeof *g);
    guarded_open_lists(j, k, before.sizes, before.arrays, temporary, g);
    job_defer(j, guarded_close, g);
    const sg_arguments arguments = guarded_arguments(g, before.parameters, grids);
    launch_once(j, k, &arguments, NULL);
    g->device->ops->synchronize(g->device, j, NULL);
    guarded_fetch(j, g, NULL);

    text spoiled = text_new(j);
    int64_t wrong = guarded_verify(j, g, &spoiled);
    wrong += verify_gaps(g, &l, &spoiled);
    family_verdict v = {0};
    judge(j, g, given, &before, &v);
    *first = v.first_wrong[0] != '\0' ? job_string(j, v.first_wrong) : spoiled.data;
    r->points = lists_extent(&p->lists.points, before.sizes);
    r->judged = v.judged;
    r->wrong = v.wrong + wrong;
    r->undecidable = v.undecidable;
    r->greatest_error = v.greatest_error;
    r->of_bound = v.of_bound;
    check_unjudged(j, k, &v.unjudged, r);
    job_undo(j, g);
}

/* ---- grids ----------------------------------------------------------------------------------- */

typedef struct check {
    sg_kernel *kernel;
    check_given on;
    const sg_check_options *given;
    guarded guarded;
    check_steps steps;
    judgement judgement;
    sg_check_result result;
    sg_check_result *out;
} check;

static void describe(const check *c, const tally *t, text *to) {
    const judgement *g = &c->judgement;
    if (t->first < 0)
        return;
    text_printf(to, "%s at ", c->kernel->program->arrays[g->written[t->first_output]].name);
    guarded_place(g->guarded, t->first, to);
    text_add(to, ": ");
    text_number(to, t->actual, 9);
    if (t->kept && c->kernel->program->arrays[g->written[t->first_output]].grid.reads < 0) {
        text_add(to, " instead of being left alone");
        return;
    }
    text_add(to, " instead of ");
    text_number(to, t->expected, 9);
}

/* Hands the result out, and fails where the kernel is wrong. */
static void conclude(job *j, check *c, const char *first) {
    sg_check_result *r = &c->result;
    const program *p = c->kernel->program;
    if (r->wrong > 0)
        r->first_wrong = context_keep(j, c->kernel->context, first);
    context_write(j, c->out, r, sizeof *r, "sg_check_result");
    if (r->wrong > 0)
        job_fail(
            j, FAULT_CHECK, NULL, 0, "'%s' is wrong in %lld of %lld %s; the first: %s (seed %llu)",
            p->name, (long long)r->wrong, (long long)r->judged,
            !program_is_grid(p) ? "results" : "cells", r->first_wrong, (unsigned long long)r->seed);
}

/* Of all cells that the reference made, those of the steps before the last among them. */
static condition_sides judge_sides(job *j, const check *c) {
    const judgement *g = &c->judgement;
    const check_steps *steps = &c->steps;
    condition_sides out = {NULL, 0};
    condition *all;
    const int count = reference_conditions(j, g->reference, &all);
    for (int i = 0; i < g->tally_count; i++)
        reference_count(g->reference, g->tallies[i].scratch, all);
    for (int i = 0; i < g->tally_count && steps->scratch != NULL; i++)
        reference_count(g->reference, steps->scratch[i], all);
    conditions_judge(j, check_model(c->kernel), all, count, &out);
    return out;
}

static void finish(job *j, check *c, int64_t spoiled, const condition_sides *sides, text *first) {
    const tally sum = judgement_sum(&c->judgement);
    text wrong = text_new(j);
    describe(c, &sum, &wrong);
    sg_check_result *r = &c->result;
    r->judged = sum.judged;
    r->wrong = sum.wrong + spoiled;
    r->undecidable = sum.undecidable;
    r->greatest_error = sum.error == 0 ? 0 : sum.error / sum.largest;
    r->of_bound = sum.of_bound;
    check_unjudged(j, c->kernel, sides, r);
    conclude(j, c, wrong.length > 0 ? wrong.data : first->data);
}

/* All steps but the last, unless a former check of this sweep has made the same. */
static void march(job *j, check *c, const double *parameters) {
    const model *m = check_model(c->kernel);
    judgement *g = &c->judgement;
    check_data *kept = c->result.steps > 1 ? c->on.kept : NULL;
    digest what = {{0}};
    if (kept != NULL)
        what = check_data_march(j, &c->guarded, c->result.steps, c->result.seed, parameters);
    if (kept != NULL && check_data_marched(kept, &what, m, g->arrays))
        return;
    check_steps_march(j, &c->steps, &c->guarded, g->reference, g->arrays, c->result.steps - 1);
    if (kept != NULL)
        check_data_keep_march(kept, &what, m, &c->steps, g->arrays);
}

/* ---- systems --------------------------------------------------------------------------------- */

static void judge_system(job *j, check *c, const struct system_model *system,
                         const double *parameters, int64_t spoiled, text *first) {
    judgement *g = &c->judgement;
    const model *m = check_model(c->kernel);
    system_march *march = system_march_new(j, &c->guarded, system, parameters, c->result.steps);
    for (int o = 0; o < m->output_count; o++)
        system_march_expect(march, m->fields[m->outputs[o].field].name, &g->values[o],
                            &g->bounds[o]);
    judge_by_values(j, g);
    const condition_sides sides = system_march_sides(j, march);
    finish(j, c, spoiled, &sides, first);
    job_undo(j, march);
}

/* ---- a grid ---------------------------------------------------------------------------------- */

static void judge_stencil(job *j, check *c, const double *parameters, int64_t most_wanted,
                          int64_t spoiled, text *first) {
    judgement *g = &c->judgement;
    const model *m = check_model(c->kernel);
    g->reference = reference_new(j, m, parameters);
    march(j, c, parameters);
    judge_by_reference(j, g, m, most_wanted);
    const condition_sides sides = judge_sides(j, c);
    finish(j, c, spoiled, &sides, first);
    if (c->steps.march.model != NULL) { /* it was opened */
        job_undo(j, &c->steps);
    }
}

/* An update may do at step 0 what it does at no other: that is one check in four. */
static int64_t first_step(uint64_t seed) {
    const uint64_t bits = random_bits(seed, UINT64_MAX - 1);
    return bits % 4 == 0 ? 0 : (int64_t)(bits / 4 % 1000);
}

static void check_grid(job *j, check *c, const sg_check_options *options) {
    int64_t size[AXES];
    const int64_t steps = check_steps_count(j, c->kernel, options->steps);
    const struct system_model *system = check_system(c->kernel);
    kernel_size(j, c->kernel, options->size, size, &c->result.points);
    if (options->size[0] == 0 && options->size[1] == 0 && options->size[2] == 0)
        check_steps_size(c->kernel, steps + (system != NULL), size, &c->result.points);
    c->result.steps = steps;
    memcpy(c->result.size, size, sizeof size);
    double parameters[LAUNCH_PARAMETERS];
    kernel_parameters(j, c->kernel, options->parameters, c->result.seed, parameters);

    guarded_open(j, c->kernel, size, c->result.points, check_samples(j, c->kernel, parameters),
                 c->result.seed, &c->guarded);
    job_defer(j, guarded_close, &c->guarded);
    c->guarded.step = first_step(c->result.seed);
    check_steps_launch(j, &c->guarded, parameters, options->steps);
    text first = text_new(j);
    const int64_t spoiled = guarded_verify(j, &c->guarded, &first);
    c->judgement.guarded = &c->guarded;
    c->judgement.seed = random_stream(c->result.seed, UINT64_MAX);
    judgement_connect(&c->judgement, check_model(c->kernel));
    memcpy(c->judgement.place.global, size, sizeof size);
    c->judgement.place.step = c->guarded.step + steps - 1;
    if (system != NULL)
        judge_system(j, c, system, parameters, spoiled, &first);
    else
        judge_stencil(j, c, parameters, options->most_points, spoiled, &first);
    job_undo(j, &c->guarded);
}

static void run_check(job *j, void *argument) {
    check *c = argument;
    sg_check_options options;
    context_read(j, &options, sizeof options, c->given, "sg_check_options");
    if (c->kernel->subject == NULL)
        context_refuse(j, "'%s' was loaded from a file, so there is no spec to check it against",
                       c->kernel->program->name);
    context_expect(j, c->out, "sg_check_result"); /* before the work */
    kernel_need_launchable(j, c->kernel);
    if (options.most_points < 0)
        context_refuse(j, "most_points of sg_check_options is negative");
    c->result.seed = options.seed != 0 ? options.seed : random_fresh();
    if (!program_is_grid(c->kernel->program)) {
        const char *first;
        if (options.steps != 0)
            steps_allow(j, c->kernel->program, options.steps);
        c->result.steps = 1;
        check_lists(j, c->kernel, &c->on, &options, &c->result, &first);
        conclude(j, c, first);
    } else {
        check_grid(j, c, &options);
    }
}

sg_status check_kernel(sg_kernel *kernel, const check_given *on, const sg_check_options *options,
                       sg_check_result *out) {
    check c = {
        .kernel = kernel, .on = *on, .given = options, .result = {.first_wrong = ""}, .out = out};
    return context_run(kernel->context, run_check, &c, NULL);
}

sg_status sg_check(sg_kernel *kernel, const sg_check_options *options, sg_check_result *out) {
    return kernel != NULL ? check_kernel(kernel, &(check_given){0}, options, out) : SG_ERROR_USAGE;
}
