/* Schedules of the method resident made into plans: a block's box in shared memory, and its columns
   of points. Takes: a plan with its schedule. Makes: the rest of it, but for its cost; or a
   refusal. */
#include "gen/plan.h"

enum {
    THREADS = 512,
    WALK = 4,      /* points of a column, which has the rows between them in common */
    MOST_WALK = 32 /* a bit for each */
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
    p->walk = WALK < MOST_WALK ? WALK : MOST_WALK;
    p->block[0] = THREADS;
    const int64_t bytes = resident_shared(p) * (int64_t)dtype_words[m->dtype].bytes;
    if (bytes > p->target->shared_per_block)
        return job_print(j, "it needs %lld bytes of shared memory a block, and %s has %d",
                         (long long)bytes, p->target->arch, p->target->shared_per_block);
    p->shared_bytes = (size_t)bytes;
    const int words = (int)dtype_words[m->dtype].bytes / 4;
    const int taps = p->facts->all_taps < 40 ? p->facts->all_taps : 40;
    const int need = 60 + words * (taps + 2 * p->walk);
    p->estimate.registers = need < 128 ? need : 128; /* all of a block's threads are to have some */
    p->blocks = plan_resident(p);
    return NULL;
}
