/* Checks: one update of random data, judged by the reference.
   Takes: a kernel. Makes: sg_check. Rows are cut into segments, which the context's threads judge;
   on a large grid only the shell and a random sample of them. Needs: gen/reference. */
#include <math.h>
#include <string.h>

#include "gen/model/family.h"
#include "runtime/check/lists.h"
#include "runtime/check/sides.h"
#include "runtime/check/steps.h"
#include "runtime/launch/random.h"
#include "runtime/launch/steps.h"

enum { SEGMENT = 1024, SAMPLED_SEGMENT = 128 };
#define MOST_POINTS (INT64_C(1) << 28)

/* What one thread has found. */
typedef struct tally {
    int64_t judged, wrong, undecidable;
    double error, largest, of_bound;
    int64_t first; /* cell of the first wrong value, and which output; −1 */
    int first_output;
    double actual, expected;
    bool kept; /* the cell should not have changed */
    void *scratch;
    double *values, *bounds;
    bool *keeps;
    char apart[64]; /* threads write to lines of their own */
} tally;

typedef struct judgement {
    guarded *guarded;
    const reference *reference;
    reference_array arrays[2 * MAX_FIELDS]; /* of the model */
    int outputs;
    int written[MAX_FIELDS]; /* of each output: the program's array */
    double largest;          /* of the dtype */
    int segment;             /* cells in one */
    int64_t segments;        /* how many a row has */
    int64_t depth[AXES];     /* of the shell; all cells are judged where `all` is set */
    bool all;
    uint64_t seed;
    double share; /* of the segments outside the shell that are judged */
    int tally_count;
    tally *tallies;
} judgement;

/* ---- one cell ------------------------------------------------------------------------------ */

static bool is_poison(const void *element, size_t size) {
    const unsigned char *bytes = element;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != POISON_BYTE)
            return false;
    return true;
}

/* A cell that keeps its value: bit for bit the current one, or never written where there is none.
 */
static bool kept_is_right(const judgement *g, int output, int64_t cell) {
    const guarded *d = g->guarded;
    const int array = g->written[output], reads = d->kernel->program->arrays[array].reads;
    const unsigned char *now = d->arrays[array].cells + (size_t)cell * d->element;
    if (reads < 0)
        return is_poison(now, d->element);
    return memcmp(now, d->arrays[reads].cells + (size_t)cell * d->element, d->element) == 0;
}

static bool value_is_right(const judgement *g, tally *t, double actual, double expected,
                           double bound) {
    if (isnan(expected))
        return isnan(actual);
    if (isinf(expected) || fabs(expected) - bound > g->largest)
        return isinf(actual) && (actual > 0) == (expected > 0);
    if (isinf(actual) && fabs(expected) + bound > g->largest)
        return (actual > 0) == (expected > 0);
    if (isnan(actual)) {
        t->of_bound = INFINITY;
        return false;
    }
    const double error = fabs(actual - expected);
    const double of_bound = error == 0 ? 0 : error / bound;
    if (fabs(expected) > t->largest)
        t->largest = fabs(expected);
    if (error > t->error)
        t->error = error;
    if (of_bound > t->of_bound)
        t->of_bound = of_bound;
    return error <= bound;
}

static void note_wrong(tally *t, int64_t cell, int output, double actual, double expected,
                       bool kept) {
    t->wrong++;
    if (t->first >= 0 && (t->first < cell || (t->first == cell && t->first_output < output)))
        return;
    t->first = cell;
    t->first_output = output;
    t->actual = actual;
    t->expected = expected;
    t->kept = kept;
}

static void judge_cells(const judgement *g, tally *t, int64_t x0, int64_t row, int count) {
    const guarded *d = g->guarded;
    const int64_t y = row % d->size[1], z = row / d->size[1];
    reference_row(g->reference, g->arrays, d->size, x0, y, z, count, t->scratch, t->values,
                  t->bounds, t->keeps);
    t->judged += count;
    for (int o = 0; o < g->outputs; o++)
        for (int i = 0; i < count; i++) {
            const int64_t cell = row * d->size[0] + x0 + i;
            const double actual = guarded_value(d, d->arrays[g->written[o]].cells, cell);
            const double expected = t->values[o * count + i], bound = t->bounds[o * count + i];
            bool right = true;
            if (t->keeps[i])
                right = kept_is_right(g, o, cell);
            else if (isinf(bound) || isnan(bound))
                t->undecidable++;
            else
                right = value_is_right(g, t, actual, expected, bound);
            if (!right)
                note_wrong(t, cell, o, actual, expected, t->keeps[i]);
        }
}

/* ---- which cells --------------------------------------------------------------------------- */

static bool in_shell(const judgement *g, int axis, int64_t at) {
    const int64_t size = g->guarded->size[axis];
    return axis < g->guarded->kernel->program->dims &&
           (at < g->depth[axis] || at >= size - g->depth[axis]);
}

static void judge_segment(void *argument, int64_t index, int worker) {
    const judgement *g = argument;
    const int64_t *size = g->guarded->size;
    tally *t = &g->tallies[worker];
    const int64_t row = index / g->segments, begin = index % g->segments * g->segment;
    const int64_t end = begin + g->segment < size[0] ? begin + g->segment : size[0];
    if (g->all || index == 0 || in_shell(g, 1, row % size[1]) || in_shell(g, 2, row / size[1]) ||
        random_unit(g->seed, (uint64_t)index) < g->share) {
        judge_cells(g, t, begin, row, (int)(end - begin));
        return;
    }
    const int64_t low = g->depth[0] < end ? g->depth[0] : end;
    int64_t high = size[0] - g->depth[0];
    high = high > begin ? high : begin;
    high = high > low ? high : low;
    if (begin < low)
        judge_cells(g, t, begin, row, (int)(low - begin));
    if (high < end)
        judge_cells(g, t, high, row, (int)(end - high));
}

/* Cells nearer to a face than the shell is deep. */
static double shell_cells(const judgement *g) {
    double inner = 1, all = 1;
    for (int axis = 0; axis < g->guarded->kernel->program->dims; axis++) {
        const double size = (double)g->guarded->size[axis];
        const double within = size - 2 * (double)g->depth[axis];
        all *= size;
        inner *= within > 0 ? within : 0;
    }
    return all - inner;
}

/* The shell is as deep as the shape reaches and a tile is wide, unless it alone would be more than
   half of what may be judged. */
static void choose_cells(judgement *g, const model *m, int64_t most) {
    const guarded *d = g->guarded;
    const program_launch *l = &d->kernel->program->launches[0];
    g->all = d->points <= most;
    g->segment = g->all ? SEGMENT : SAMPLED_SEGMENT;
    if (g->all)
        return;
    for (int axis = 0; axis < AXES; axis++)
        g->depth[axis] = m->radius;
    for (int k = 0; k < PROGRAM_AXES; k++)
        if (l->axes[k] >= 0)
            g->depth[l->axes[k]] += l->per_block[k];
    while (shell_cells(g) > (double)most / 2)
        for (int axis = 0; axis < AXES; axis++)
            g->depth[axis] /= 2;
    g->share = ((double)most - shell_cells(g)) / ((double)d->points - shell_cells(g));
}

/* ---- the whole grid ------------------------------------------------------------------------ */

static void open_tallies(job *j, judgement *g) {
    const int64_t row = g->guarded->size[0];
    if (g->segment > row)
        g->segment = (int)row;
    g->segments = (row + g->segment - 1) / g->segment;
    g->tally_count = workers_count(g->guarded->workers);
    g->tallies = job_array(j, (size_t)g->tally_count, sizeof *g->tallies);
    const size_t values = (size_t)g->outputs * (size_t)g->segment;
    for (int i = 0; i < g->tally_count; i++) {
        tally *t = &g->tallies[i];
        t->first = -1;
        t->scratch = job_alloc(j, reference_scratch(g->reference, g->segment));
        t->values = job_alloc(j, 2 * values * sizeof(double) + (size_t)g->segment);
        t->bounds = t->values + values;
        t->keeps = (bool *)(t->bounds + values);
    }
}

static tally add_tallies(const judgement *g) {
    tally sum = {.first = -1};
    for (int i = 0; i < g->tally_count; i++) {
        const tally *t = &g->tallies[i];
        if (t->first >= 0)
            note_wrong(&sum, t->first, t->first_output, t->actual, t->expected, t->kept);
        sum.judged += t->judged;
        sum.undecidable += t->undecidable;
        sum.error = fmax(sum.error, t->error);
        sum.largest = fmax(sum.largest, t->largest);
        sum.of_bound = fmax(sum.of_bound, t->of_bound);
    }
    sum.wrong = 0;
    for (int i = 0; i < g->tally_count; i++)
        sum.wrong += g->tallies[i].wrong;
    return sum;
}

static void connect(judgement *g, const model *m) {
    const guarded *d = g->guarded;
    const program *p = d->kernel->program;
    for (int i = 0; i < m->array_count; i++) {
        const int at =
            check_array(p, m->fields[m->arrays[i].field].name, false, m->arrays[i].previous);
        g->arrays[i] = (reference_array){.data = at < 0 ? NULL : d->arrays[at].cells,
                                         .stride = {1, d->size[0], d->size[0] * d->size[1]}};
    }
    g->outputs = m->output_count;
    for (int o = 0; o < m->output_count; o++)
        g->written[o] = check_array(p, m->fields[m->outputs[o].field].name, true, false);
    g->largest = dtype_words[m->dtype].largest;
}

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
    if (t->kept && c->kernel->program->arrays[g->written[t->first_output]].reads < 0) {
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
        job_fail(j, FAULT_CHECK, NULL, 0,
                 "'%s' is wrong in %lld of %lld %s; the first: %s (seed %llu)", p->name,
                 (long long)r->wrong, (long long)r->judged,
                 p->shape == PROGRAM_LISTS ? "results" : "cells", r->first_wrong,
                 (unsigned long long)r->seed);
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

static void finish(job *j, check *c, int64_t spoiled, text *first) {
    const tally sum = add_tallies(&c->judgement);
    text wrong = text_new(j);
    describe(c, &sum, &wrong);
    sg_check_result *r = &c->result;
    r->judged = sum.judged;
    r->wrong = sum.wrong + spoiled;
    r->undecidable = sum.undecidable;
    r->greatest_error = sum.error == 0 ? 0 : sum.error / sum.largest;
    r->of_bound = sum.of_bound;
    const condition_sides sides = judge_sides(j, c);
    check_unjudged(j, c->kernel, &sides, r);
    conclude(j, c, wrong.length > 0 ? wrong.data : first->data);
}

/* All steps but the last, unless a former check of this sweep has made the same. */
static void march(job *j, check *c, const double *parameters) {
    const model *m = check_model(c->kernel);
    judgement *g = &c->judgement;
    check_data *kept = c->result.steps > 1 ? c->on.kept : NULL;
    digest what = {{0}};
    if (kept != NULL)
        what = check_data_march(j, c->kernel, c->result.size, c->result.steps, c->result.seed,
                                parameters);
    if (kept != NULL && check_data_marched(kept, &what, m, g->arrays))
        return;
    check_steps_march(j, &c->steps, &c->guarded, g->reference, g->arrays, c->result.steps - 1);
    if (kept != NULL)
        check_data_keep_march(kept, &what, m, &c->steps, g->arrays);
}

static void check_grid(job *j, check *c, const sg_check_options *options) {
    const int64_t most = options->most_points > 0 ? options->most_points : MOST_POINTS;
    int64_t size[AXES];
    const int64_t steps = check_steps_count(j, c->kernel, options->steps);
    kernel_size(j, c->kernel, options->size, size, &c->result.points);
    if (options->size[0] == 0 && options->size[1] == 0 && options->size[2] == 0)
        check_steps_size(c->kernel, steps, size, &c->result.points);
    c->result.steps = steps;
    memcpy(c->result.size, size, sizeof size);
    double parameters[LAUNCH_PARAMETERS];
    kernel_parameters(j, c->kernel, options->parameters, c->result.seed, parameters);

    guarded_open(j, c->kernel, size, c->result.points, check_samples(j, c->kernel, parameters),
                 c->result.seed, &c->guarded);
    job_defer(j, guarded_close, &c->guarded);
    check_steps_launch(j, &c->guarded, parameters, options->steps);
    text first = text_new(j);
    const int64_t spoiled = guarded_verify(j, &c->guarded, &first);

    judgement *g = &c->judgement;
    g->guarded = &c->guarded;
    g->seed = random_stream(c->result.seed, UINT64_MAX);
    const model *m = check_model(c->kernel);
    g->reference = reference_new(j, m, parameters);
    connect(g, m);
    march(j, c, parameters);
    choose_cells(g, m, most);
    open_tallies(j, g);
    const int64_t rows = size[1] * size[2];
    workers_run(c->guarded.workers, rows * g->segments, judge_segment, g);
    finish(j, c, spoiled, &first);
    if (c->steps.march.model != NULL) { /* it was opened */
        job_keep(j, &c->steps);
        check_steps_close(&c->steps);
    }
    job_keep(j, &c->guarded);
    guarded_close(&c->guarded);
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
    if (c->kernel->program->shape == PROGRAM_LISTS) {
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
