/* Schedules of the method resident made into plans: a block's box in shared memory, and its columns
   of points. Takes: a plan with its schedule. Makes: the rest of it, but for its cost; or a
   refusal. */
#include "gen/model/limits.h"
#include "gen/stencil/plan.h"

enum {
    LEAST_WALK = 2, /* points of a column, which has the rows between them in common */
    MOST_WALK = 8,
    FEW_THREADS = 768, /* more are taken only where columns would be longer than that */
};

static const char *check_model(const model *m) {
    bool read = false;
    for (int i = 0; i < m->field_count; i++)
        if (m->fields[i].levels > 1)
            return "it makes several steps of fields that keep no previous level";
    for (int o = 0; o < m->output_count; o++)
        read |= m->fields[m->outputs[o].field].use == USE_INOUT;
    return read ? NULL : "no field is read and written, so that there is nothing to make steps of";
}

static const char *check_schedule(const schedule *s) {
    if (s->time < 2)
        return "it makes at least two steps a round";
    if (s->stages > 1 || s->lane[0] > 1 || s->lane[1] > 1)
        return "it has no lane and no stages; the method temporal has";
    if (s->vector > 1)
        return "it loads single elements; the method naive takes vec";
    return NULL;
}

/* Elements of shared memory: a box of each array, two of those that change. Columns at a box's ends
   read a little before and behind it. */
static int64_t resident_shared(plan *p) {
    const model *m = p->facts->model;
    int64_t box = 1, elements = 0;
    for (int k = 0; k < AXES; k++)
        box *= p->tile[k] + p->fused.round_halo[k] * (int64_t)2;
    for (int i = 0; i < p->array_count; i++) {
        plan_array *a = &p->arrays[i];
        a->staged = true;
        a->shared = elements < INT32_MAX ? (int)elements : 0;
        elements += box * (m->fields[m->arrays[a->array].field].use == USE_INOUT ? 2 : 1);
    }
    return elements + p->low[0] + p->high[0];
}

static int quotient_up(int n, int by) {
    return (n + by - 1) / by;
}

/* Columns of a box: whole rows along x, else what steps can make. */
static int count_columns(const plan *p, int walk) {
    const int *halo = p->fused.round_halo;
    const int height = p->tile[1] + 2 * halo[1] - p->low[1] - p->high[1];
    const int depth = p->tile[2] + 2 * halo[2] - p->low[2] - p->high[2];
    return (p->tile[0] + 2 * halo[0]) * height * quotient_up(depth, walk);
}

/* A thread a column, as short as there are threads for; else each thread makes several. */
static void lay_columns(plan *p) {
    const model *m = p->facts->model;
    const int words = (int)dtype_words[m->dtype].bytes / 4;
    const int taps = p->facts->all_taps < 40 ? p->facts->all_taps : 40;
    const int need = 48 + words * (taps + 2 * LEAST_WALK) * m->output_count;
    p->estimate.registers = need < 128 ? need : 128;
    int most = REGISTERS_PER_MULTIPROCESSOR / p->estimate.registers / WARP * WARP;
    most = most < MAX_THREADS ? most : MAX_THREADS;
    p->walk = LEAST_WALK;
    while (p->walk < MOST_WALK &&
           count_columns(p, p->walk) > (most < FEW_THREADS ? most : FEW_THREADS))
        p->walk++;
    const int columns = count_columns(p, p->walk);
    p->block[0] = quotient_up(quotient_up(columns, quotient_up(columns, most)), WARP) * WARP;
}

const char *plan_fit_resident(job *j, plan *p) {
    const model *m = p->facts->model;
    const schedule *s = &p->schedule;
    const char *refusal = check_model(m);
    if (refusal == NULL)
        refusal = check_schedule(s);
    if (refusal != NULL)
        return refusal;
    for (int k = 0; k < AXES; k++) {
        const int reach = p->low[k] > p->high[k] ? p->low[k] : p->high[k];
        p->fused.round_halo[k] = s->time * reach; /* the same below and above: see the template */
        p->tile[k] = p->per_block[k] = p->axes[k] < 0 ? 1 : s->tile[p->axes[k]];
    }
    const int64_t bytes = resident_shared(p) * (int64_t)dtype_words[m->dtype].bytes;
    if (bytes > p->target->shared_per_block)
        return job_print(j, "it needs %lld bytes of shared memory a block, and %s has %d",
                         (long long)bytes, p->target->arch, p->target->shared_per_block);
    p->shared_bytes = (size_t)bytes;
    lay_columns(p);
    p->blocks = plan_resident(p);
    return NULL;
}
