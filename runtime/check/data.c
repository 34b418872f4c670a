/* As check_data.h says. One call is for checks and one for timings. */
#include "runtime/check/check.h"

#include <string.h>

#include "base/random.h"
#include "runtime/launch/launch.h"

/* Of marches as many as a space has numbers of fused steps; each takes up to 64 MiB a field. */
enum { CALLS = 2, MARCHES = 6 };

typedef struct kept_call {
    job *job;         /* of what was drawn; NULL: nothing was */
    const char *what; /* it is */
    family_call call;
    job *right_job; /* of outputs that were exactly right, by the program's arrays; NULL: none */
    void **right;
    family_verdict verdict;
} kept_call;

typedef struct kept_march {
    digest what;
    check_steps steps; /* its grids alone; NULL: there are none */
    reference_array arrays[2 * MAX_FIELDS];
} kept_march;

struct check_data {
    uint64_t seed;
    kept_call calls[CALLS];
    int last; /* of them */
    kept_march marches[MARCHES];
    int next; /* of them, to be replaced */
};

check_data *check_data_new(job *j) {
    check_data *k = job_alloc(j, sizeof *k);
    k->seed = random_fresh();
    return k;
}

static void forget(kept_call *c) {
    job_end(c->job);
    job_end(c->right_job);
    *c = (kept_call){0};
}

void check_data_close(check_data *k) {
    for (int i = 0; k != NULL && i < CALLS; i++)
        forget(&k->calls[i]);
    for (int i = 0; k != NULL && i < MARCHES; i++)
        check_steps_close(&k->marches[i].steps);
}

uint64_t check_data_seed(const check_data *k) {
    return k->seed;
}

/* ---- drawing ------------------------------------------------------------------------------- */

/* All that a draw depends on, as text. */
static const char *describe(job *j, const sg_kernel *k, const int64_t size[3], const double *given,
                            uint64_t seed) {
    const program *p = k->program;
    text t = text_new(j);
    k->subject->family->print(k->subject, MODEL_ALL, &t);
    text_printf(&t, "\n%lld %lld %lld %llu", (long long)size[0], (long long)size[1],
                (long long)size[2], (unsigned long long)seed);
    for (int i = 0; i < p->array_count; i++)
        text_printf(&t, " %s %s", p->arrays[i].name, p->arrays[i].dtype);
    for (int i = 0; given != NULL && i < p->parameter_count; i++)
        text_printf(&t, " %a", given[i]);
    return t.data;
}

typedef struct drawing {
    const sg_kernel *kernel;
    const int64_t *size;
    const double *given;
    uint64_t seed;
    const char *what;
    kept_call *to;
} drawing;

static void draw(job *j, void *argument) {
    enum { RANDOM_KIND = 0 };
    drawing *d = argument;
    const subject *s = d->kernel->subject;
    d->to->what = job_copy(j, d->what, strlen(d->what));
    s->family->lists.draw(j, s, d->kernel->program, d->size, RANDOM_KIND, d->given, d->seed,
                          &d->to->call);
}

void check_data_draw(check_data *l, job *j, const sg_kernel *k, const int64_t size[3],
                     const double *given, uint64_t seed, family_call *out) {
    const char *what = describe(j, k, size, given, seed);
    int at = 0;
    while (at < CALLS && (l->calls[at].job == NULL || strcmp(l->calls[at].what, what) != 0))
        at++;
    if (at == CALLS) {
        at = (l->last + 1) % CALLS;
        kept_call *c = &l->calls[at];
        forget(c);
        drawing d = {k, size, given, seed, what, c};
        job *drawn;
        if (job_run(job_allocator(j), draw, &d, &drawn) != FAULT_NONE) {
            *c = (kept_call){0};
            job_fail_as(j, drawn);
        }
        c->job = drawn;
    }
    l->last = at;
    *out = l->calls[at].call;
}

/* ---- verdicts ------------------------------------------------------------------------------ */

static size_t bytes_of(const program *p, int array, const family_call *call) {
    return (size_t)lists_elements(&p->arrays[array], call->sizes) * p->arrays[array].element_bytes;
}

bool check_data_known(const check_data *l, const program *p, const family_call *after,
                      family_verdict *out) {
    const kept_call *c = &l->calls[l->last];
    bool same = c->right_job != NULL;
    for (int i = 0; same && i < p->array_count; i++)
        if (p->arrays[i].written)
            same = memcmp(c->right[i], after->arrays[i], bytes_of(p, i, after)) == 0;
    if (same)
        *out = c->verdict;
    return same;
}

typedef struct learning {
    const program *program;
    const family_call *after;
    const family_verdict *verdict;
    kept_call *to;
} learning;

static void learn(job *j, void *argument) {
    const learning *l = argument;
    const program *p = l->program;
    l->to->right = job_array(j, (size_t)p->array_count, sizeof *l->to->right);
    for (int i = 0; i < p->array_count; i++)
        if (p->arrays[i].written) {
            const size_t bytes = bytes_of(p, i, l->after);
            l->to->right[i] = job_alloc(j, bytes + 1);
            memcpy(l->to->right[i], l->after->arrays[i], bytes);
        }
    l->to->verdict = *l->verdict;
    l->to->verdict.unjudged = conditions_copy(j, &l->verdict->unjudged);
}

/* Without memory for it the next output is judged as this one was. */
void check_data_learn(check_data *l, const program *p, const family_call *after,
                      const family_verdict *v) {
    kept_call *c = &l->calls[l->last];
    learning what = {p, after, v, c};
    if (c->right_job != NULL || v->wrong > 0 || v->undecidable > 0 || v->greatest_error != 0 ||
        v->of_bound != 0)
        return;
    if (job_run(job_allocator(c->job), learn, &what, &c->right_job) == FAULT_NONE)
        return;
    job_end(c->right_job);
    c->right_job = NULL;
}

/* ---- grids --------------------------------------------------------------------------------- */

digest check_data_march(job *j, const sg_kernel *k, const int64_t size[3], int64_t steps,
                        uint64_t seed, const double *parameters) {
    text t = text_new(j);
    k->subject->family->print(k->subject, MODEL_ALL, &t);
    text_printf(&t, "\n%lld %lld %lld %lld %llu", (long long)size[0], (long long)size[1],
                (long long)size[2], (long long)steps, (unsigned long long)seed);
    for (int i = 0; i < k->program->parameter_count; i++)
        text_printf(&t, " %a", parameters[i]);
    const blob whole = {t.data, t.length};
    return digest_of(&whole, 1);
}

/* Of these fields each step reads what the one before made; others are the check's own arrays. */
static bool is_made(const model *m, int array) {
    return m->fields[m->arrays[array].field].use == USE_INOUT;
}

bool check_data_marched(const check_data *d, const digest *what, const model *m,
                        reference_array *arrays) {
    for (int k = 0; k < MARCHES; k++) {
        const kept_march *known = &d->marches[k];
        if (known->steps.grids == NULL || !digest_equal(&known->what, what))
            continue;
        for (int i = 0; i < m->array_count; i++)
            if (is_made(m, i))
                arrays[i] = known->arrays[i];
        return true;
    }
    return false;
}

/* After a single step the previous level is still an array of the check, which ends with it. */
static bool lies_in(const check_steps *s, const reference_array *a) {
    const uintptr_t begin = (uintptr_t)s->grids, at = (uintptr_t)a->data;
    return at >= begin && at < begin + s->bytes;
}

void check_data_keep_march(check_data *d, const digest *what, const model *m, check_steps *s,
                           const reference_array *arrays) {
    for (int i = 0; i < m->array_count; i++)
        if (is_made(m, i) && !lies_in(s, &arrays[i]))
            return;
    kept_march *to = &d->marches[d->next];
    d->next = (d->next + 1) % MARCHES;
    check_steps_close(&to->steps);
    *to = (kept_march){.what = *what, .steps = {.memory = s->memory}};
    to->steps.grids = s->grids;
    to->steps.bytes = s->bytes;
    memcpy(to->arrays, arrays, (size_t)m->array_count * sizeof *arrays);
    s->grids = NULL;
}
