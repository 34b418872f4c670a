/* sg_check for grids: an update of random data is compared with the reference. The context's
   threads judge the grid in pieces, of a large grid only some (guard.h); the other pieces must
   not have a NaN that the spec does not make. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "gen/model/family.h"
#include "runtime/check/check.h"
#include "runtime/check/guard.h"
#include "runtime/launch/launch.h"

/* By default as many cells are judged as the reference makes in about a second on one core, and
   at least LEAST_POINTS. */
#define MOST_WORK 0x1p29
#define LEAST_POINTS (INT64_C(1) << 16)

/* Pieces that a thread takes at a time: most take less time than taking one does. */
enum { BATCH = 64 };

/* What one thread has found. */
typedef struct tally {
    int64_t judged, wrong, undecidable;
    int64_t odd; /* cells of unjudged pieces with a NaN */
    double error, largest, of_bound;
    int64_t first; /* cell of the first wrong value, and which output; −1 */
    int first_output;
    double actual, expected;
    bool kept; /* the cell should not have changed */
    void *scratch;
    double *values, *bounds;
    bool *keeps;
    char apart[64]; /* each thread writes to its own cache lines */
} tally;

typedef struct judgement {
    guarded *guarded;
    const reference *reference;
    reference_array arrays[2 * MAX_FIELDS]; /* of the model */
    reference_place place;                  /* of the last step */
    int outputs;
    int written[MAX_FIELDS]; /* of each output: the program's array */
    cells cells;
    uint64_t seed;
    double odd_share; /* of the odd pieces, these are judged now; 0: they are counted */
    int tally_count;
    tally *tallies;
    const double *values[MAX_FIELDS], *bounds[MAX_FIELDS]; /* of a system, by output */
} judgement;

/* ---- one cell -------------------------------------------------------------------------------- */

static bool is_poison(const void *element, size_t size) {
    const unsigned char *bytes = element;
    for (size_t i = 0; i < size; i++)
        if (bytes[i] != POISON_BYTE)
            return false;
    return true;
}

/* A cell that keeps its value has exactly the current one, or was never written if there is
   none. */
static bool kept_is_right(const judgement *g, int output, int64_t cell) {
    const guarded *d = g->guarded;
    const int array = g->written[output], reads = d->kernel->program->arrays[array].grid.reads;
    const size_t element = d->arrays[array].element;
    const unsigned char *now = guarded_cell(&d->arrays[array], cell);
    if (reads < 0)
        return is_poison(now, element);
    return memcmp(now, guarded_cell(&d->arrays[reads], cell), element) == 0;
}

/* Beyond `largest` a value is an infinity. */
static bool value_is_right(tally *t, double largest, double actual, double expected, double bound) {
    if (isnan(expected))
        return isnan(actual);
    if (isinf(expected) || fabs(expected) - bound > largest)
        return isinf(actual) && (actual > 0) == (expected > 0);
    if (isinf(actual) && fabs(expected) + bound > largest)
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

static void judge_cells(const judgement *g, tally *t, const cells_piece *p) {
    const guarded *d = g->guarded;
    const int64_t stride[AXES] = {1, d->size[0], d->size[0] * d->size[1]};
    const int64_t first = p->at[0] + p->at[1] * stride[1] + p->at[2] * stride[2];
    reference_cells(g->reference, g->arrays, d->size, &g->place, p->at, p->along, p->count,
                    t->scratch, t->values, t->bounds, t->keeps);
    t->judged += p->count;
    for (int o = 0; o < g->outputs; o++)
        for (int i = 0; i < p->count; i++) {
            const int64_t cell = first + i * stride[p->along];
            const guarded_array *a = &d->arrays[g->written[o]];
            const double actual = dtype_value(a->type, guarded_cell(a, cell));
            const double expected = t->values[o * p->count + i];
            const double bound = t->bounds[o * p->count + i];
            bool right = true;
            if (t->keeps[i])
                right = kept_is_right(g, o, cell);
            else if (isinf(bound) || isnan(bound))
                t->undecidable++;
            else
                right = value_is_right(t, dtype_words[a->type].largest, actual, expected, bound);
            if (!right)
                note_wrong(t, cell, o, actual, expected, t->keeps[i]);
        }
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static bool floats_have_nan(const float *v, int count) {
    int found = 0;
    for (int i = 0; i < count; i++)
        found |= v[i] != v[i];
    return found != 0;
}

static bool doubles_have_nan(const double *v, int count) {
    int found = 0;
    for (int i = 0; i < count; i++)
        found |= v[i] != v[i];
    return found != 0;
}

static bool narrow_have_nan(dtype type, const uint16_t *v, int count) {
    const int infinite = dtype_narrow(type, INFINITY);
    int found = 0;
    for (int i = 0; i < count; i++)
        found |= (v[i] & 0x7fff) > infinite;
    return found != 0;
}

/* Poison is a NaN, so a cell that was left out is one, and so is the result of reading outside
   of the arrays. `p` lies along x. */
static bool is_odd(const judgement *g, const cells_piece *p) {
    const guarded *d = g->guarded;
    const int64_t first = p->at[0] + d->size[0] * (p->at[1] + d->size[1] * p->at[2]);
    bool odd = false;
    for (int o = 0; o < g->outputs && !odd; o++) {
        const guarded_array *a = &d->arrays[g->written[o]];
        const void *from = guarded_cell(a, first);
        odd = a->type == DTYPE_FLOAT    ? floats_have_nan(from, p->count)
              : a->type == DTYPE_DOUBLE ? doubles_have_nan(from, p->count)
                                        : narrow_have_nan(a->type, from, p->count);
    }
    return odd;
}

/* First the chosen pieces are judged and the odd ones among the others counted; then, with a share
   of these to be judged, so many of them. */
static void judge_batch(void *argument, int64_t batch, int worker) {
    const judgement *g = argument;
    tally *t = &g->tallies[worker];
    const int64_t pieces = cells_pieces(&g->cells), end = (batch + 1) * BATCH;
    const bool again = g->odd_share > 0;
    for (int64_t i = batch * BATCH; i < end && i < pieces; i++) {
        cells_piece p;
        cells_get(&g->cells, i, &p);
        if (p.judged ? !again
                     : again && random_unit(g->seed, (uint64_t)i) < g->odd_share && is_odd(g, &p))
            judge_cells(g, t, &p);
        else if (!again && is_odd(g, &p))
            t->odd += p.count;
    }
}

/* A spec may make NaNs itself, so no more of the odd pieces are judged than of the others. */
static void judge(judgement *g, int64_t most) {
    const int64_t batches = (cells_pieces(&g->cells) + BATCH - 1) / BATCH;
    double odd = 0;
    workers_run(g->guarded->workers, batches, judge_batch, g);
    for (int i = 0; i < g->tally_count; i++)
        odd += (double)g->tallies[i].odd;
    g->odd_share = odd > 0 ? (double)most / odd : 0;
    if (g->odd_share > 0)
        workers_run(g->guarded->workers, batches, judge_batch, g);
}

static int64_t most_points(const judgement *g, int64_t wanted) {
    const double enough = MOST_WORK / reference_work(g->reference, g->guarded->size);
    return wanted > 0 ? wanted : enough > (double)LEAST_POINTS ? (int64_t)enough : LEAST_POINTS;
}

/* ---- the whole grid -------------------------------------------------------------------------- */

static void make_tallies(job *j, judgement *g) {
    g->tally_count = workers_count(g->guarded->workers);
    g->tallies = job_array(j, (size_t)g->tally_count, sizeof *g->tallies);
    for (int i = 0; i < g->tally_count; i++)
        g->tallies[i].first = -1;
}

static void open_tallies(job *j, judgement *g) {
    const int longest = cells_longest(&g->cells);
    make_tallies(j, g);
    const size_t values = (size_t)g->outputs * (size_t)longest;
    for (int i = 0; i < g->tally_count; i++) {
        tally *t = &g->tallies[i];
        t->scratch = job_alloc(j, reference_scratch(g->reference, longest));
        t->values = job_alloc(j, 2 * values * sizeof(double) + (size_t)longest);
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
    const tally sum = add_tallies(&c->judgement);
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
        what = check_data_march(j, c->kernel, c->result.size, c->result.steps, c->result.seed,
                                parameters);
    if (kept != NULL && check_data_marched(kept, &what, m, g->arrays))
        return;
    check_steps_march(j, &c->steps, &c->guarded, g->reference, g->arrays, c->result.steps - 1);
    if (kept != NULL)
        check_data_keep_march(kept, &what, m, &c->steps, g->arrays);
}

/* ---- systems --------------------------------------------------------------------------------- */

static void judge_row(void *argument, int64_t row, int worker) {
    const judgement *g = argument;
    const guarded *d = g->guarded;
    tally *t = &g->tallies[worker];
    const int64_t first = row * d->size[0];
    t->judged += d->size[0];
    for (int o = 0; o < g->outputs; o++)
        for (int64_t cell = first; cell < first + d->size[0]; cell++) {
            const guarded_array *a = &d->arrays[g->written[o]];
            const double actual = dtype_value(a->type, guarded_cell(a, cell));
            const double expected = g->values[o][cell], bound = g->bounds[o][cell];
            const bool alone = system_march_alone(bound);
            bool right = true;
            if (alone)
                right = kept_is_right(g, o, cell);
            else if (isinf(bound) || isnan(bound))
                t->undecidable++;
            else
                right = value_is_right(t, dtype_words[a->type].largest, actual, expected, bound);
            if (!right)
                note_wrong(t, cell, o, actual, expected, alone);
        }
}

static void judge_system(job *j, check *c, const struct system_model *system,
                         const double *parameters, int64_t spoiled, text *first) {
    judgement *g = &c->judgement;
    const model *m = check_model(c->kernel);
    system_march *march = system_march_new(j, &c->guarded, system, parameters, c->result.steps);
    for (int o = 0; o < m->output_count; o++)
        system_march_expect(march, m->fields[m->outputs[o].field].name, &g->values[o],
                            &g->bounds[o]);
    make_tallies(j, g);
    workers_run(c->guarded.workers, c->result.size[1] * c->result.size[2], judge_row, g);
    const condition_sides sides = system_march_sides(j, march);
    finish(j, c, spoiled, &sides, first);
    job_keep(j, march);
    system_march_close(march);
}

/* ---- a grid ---------------------------------------------------------------------------------- */

static void judge_stencil(job *j, check *c, const double *parameters, int64_t most_wanted,
                          int64_t spoiled, text *first) {
    judgement *g = &c->judgement;
    const model *m = check_model(c->kernel);
    g->reference = reference_new(j, m, parameters);
    march(j, c, parameters);
    const int64_t most = most_points(g, most_wanted);
    const program *p = c->kernel->program;
    cells_choose(&g->cells, p, c->result.size, m->radius * program_steps(p), most, g->seed);
    open_tallies(j, g);
    judge(g, most);
    const condition_sides sides = judge_sides(j, c);
    finish(j, c, spoiled, &sides, first);
    if (c->steps.march.model != NULL) { /* it was opened */
        job_keep(j, &c->steps);
        check_steps_close(&c->steps);
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
    connect(&c->judgement, check_model(c->kernel));
    memcpy(c->judgement.place.global, size, sizeof size);
    c->judgement.place.step = c->guarded.step + steps - 1;
    if (system != NULL)
        judge_system(j, c, system, parameters, spoiled, &first);
    else
        judge_stencil(j, c, parameters, options->most_points, spoiled, &first);
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
