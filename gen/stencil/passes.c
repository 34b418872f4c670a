/* Plans of several passes, as passes.h says. */
#include "gen/stencil/passes.h"
#include "gen/model/limits.h"

#include <string.h>

/* What a later pass reads, and the one before it writes: "pass_1", "pass_2". */
static const char *between(job *j, int pass) {
    return job_print(j, "pass_%d", pass);
}

passes *passes_new(job *j, const plan_facts *whole) {
    const model *m = whole->model;
    passes *p = job_alloc(j, sizeof *p);
    p->whole = whole;
    p->separable = m->separable != NULL ? m->separable : separable_new(j, m);
    const int count = p->separable->count;
    for (int k = 0; k < count; k++) {
        const char *from = k == 0 ? m->fields[0].name : between(j, k);
        const char *to = k + 1 == count ? m->fields[1].name : between(j, k + 1);
        p->facts[k] = plan_facts_new(j, separable_pass(j, m, p->separable, k, from, to));
    }
    return p;
}

/* One after the other: times and traffic add up. */
static void add_estimate(plan_estimate *sum, const plan_estimate *e, double *longest) {
    sum->seconds += e->seconds;
    sum->bytes_per_point += e->bytes_per_point;
    sum->loads_per_point += e->loads_per_point;
    sum->shared_per_point += e->shared_per_point;
    sum->instructions_per_point += e->instructions_per_point;
    sum->registers = larger(sum->registers, e->registers);
    if (sum->blocks_resident == 0 || e->blocks_resident < sum->blocks_resident)
        sum->blocks_resident = e->blocks_resident;
    if (e->seconds > *longest) {
        *longest = e->seconds;
        sum->bound = e->bound;
    }
}

plan *passes_fit(job *j, const passes *p, const schedule *s, const gpu *t, const int64_t size[AXES],
                 const char **refusal) {
    const int count = p->separable->count;
    *refusal = NULL;
    if (count == 0)
        *refusal = job_print(j, "passes=%d: %s", s->passes, p->separable->why);
    else if (count != s->passes)
        *refusal = job_print(j, "passes=%d: this filter has %d, one an axis", s->passes, count);
    if (*refusal != NULL)
        return NULL;
    plan *out = job_alloc(j, sizeof *out);
    plan_estimate sum = {.seconds = 0};
    double longest = 0;
    for (int k = 0; k < count; k++) {
        plan *one = plan_fit(j, p->facts[k], s, t, refusal);
        if (one == NULL)
            return NULL;
        plan_cost(one, size);
        add_estimate(&sum, &one->estimate, &longest);
        if (k == 0)
            *out = *one;
        one->is_pass = true;
        one->from = k == 0 ? 0 : k + 1; /* image, result, pass_1, … */
        one->to = k + 1 == count ? 1 : k + 2;
        out->pass[k] = one;
        out->shared_bytes =
            one->shared_bytes > out->shared_bytes ? one->shared_bytes : out->shared_bytes;
    }
    out->is_pass = false;
    out->facts = p->whole;
    out->schedule = *s;
    out->pass_count = count;
    out->estimate = sum;
    return out;
}

expr_count plan_emitted(const plan *p) {
    expr_count sum = p->facts->emitted;
    for (int k = 0; k < p->pass_count; k++) {
        const expr_count one = p->pass[k]->facts->emitted;
        if (k == 0)
            sum = (expr_count){0, 0, 0};
        sum.additions += one.additions;
        sum.multiplications += one.multiplications;
        sum.others += one.others;
    }
    return sum;
}
