/* Judgements: one cell, pieces of a large grid, whole rows. */
#include "runtime/check/check.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "gen/model/family.h"

/* By default as many cells are judged as the reference makes in about a second on one core, and
   at least LEAST_POINTS. */
#define MOST_WORK 0x1p29
#define LEAST_POINTS (INT64_C(1) << 16)

/* Pieces that a thread takes at a time: most take less time than taking one does. */
enum { BATCH = 64 };

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

/* Of an output. `kept`: the cell is to have the bits that it had before. */
static void judge_cell(const judgement *g, tally *t, int o, int64_t cell, double expected,
                       double bound, bool kept) {
    const guarded_array *a = &g->guarded->arrays[g->written[o]];
    const double actual = dtype_value(a->type, guarded_cell(a, cell));
    bool right = true;
    if (kept)
        right = kept_is_right(g, o, cell);
    else if (isinf(bound) || isnan(bound))
        t->undecidable++;
    else
        right = value_is_right(t, dtype_words[a->type].largest, actual, expected, bound);
    if (!right)
        note_wrong(t, cell, o, actual, expected, kept);
}

static void judge_cells(const judgement *g, tally *t, const cells_piece *p) {
    const guarded *d = g->guarded;
    const int64_t stride[AXES] = {1, d->size[0], d->size[0] * d->size[1]};
    const int64_t first = p->at[0] + p->at[1] * stride[1] + p->at[2] * stride[2];
    reference_cells(g->reference, g->arrays, d->size, &g->place, p->at, p->along, p->count,
                    t->scratch, t->values, t->bounds, t->keeps);
    t->judged += p->count;
    for (int o = 0; o < g->outputs; o++)
        for (int i = 0; i < p->count; i++)
            judge_cell(g, t, o, first + i * stride[p->along], t->values[o * p->count + i],
                       t->bounds[o * p->count + i], t->keeps[i]);
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

/* ---- tallies --------------------------------------------------------------------------------- */

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

tally judgement_sum(const judgement *g) {
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

/* ---- grids ----------------------------------------------------------------------------------- */

void judgement_connect(judgement *g, const model *m) {
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

void judge_by_reference(job *j, judgement *g, const model *m, int64_t most_wanted) {
    const program *p = g->guarded->kernel->program;
    const int64_t most = most_points(g, most_wanted);
    cells_choose(&g->cells, p, g->guarded->size, m->radius * program_steps(p), most, g->seed);
    open_tallies(j, g);
    judge(g, most);
}

static void judge_row(void *argument, int64_t row, int worker) {
    const judgement *g = argument;
    const guarded *d = g->guarded;
    tally *t = &g->tallies[worker];
    const int64_t first = row * d->size[0];
    t->judged += d->size[0];
    for (int o = 0; o < g->outputs; o++)
        for (int64_t cell = first; cell < first + d->size[0]; cell++)
            judge_cell(g, t, o, cell, g->values[o][cell], g->bounds[o][cell],
                       system_march_alone(g->bounds[o][cell]));
}

void judge_by_values(job *j, judgement *g) {
    make_tallies(j, g);
    workers_run(g->guarded->workers, g->guarded->size[1] * g->guarded->size[2], judge_row, g);
}
