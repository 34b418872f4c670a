/* The data of check.h, and the reference's several steps. */
#include "runtime/check/check.h"

#include <string.h>

#include "base/random.h"
#include "runtime/launch/launch.h"

/* A space has no more than MARCHES numbers of fused steps. Each march takes up to 64 MiB a
   field. */
enum { CALLS = 2 /* one for checks, one for timings */, MARCHES = 6 };

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

/* Everything that drawn data and the reference's steps depend on. */
static const char *describe(job *j, const sg_kernel *k, const int64_t size[3], int64_t steps,
                            const double *given, uint64_t seed) {
    const program *p = k->program;
    text t = text_new(j);
    k->subject->family->print(k->subject, MODEL_ALL, &t);
    text_printf(&t, "\n%lld %lld %lld %lld %llu", (long long)size[0], (long long)size[1],
                (long long)size[2], (long long)steps, (unsigned long long)seed);
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
    d->to->what = job_string(j, d->what);
    s->family->lists.draw(j, s, d->kernel->program, d->size, RANDOM_KIND, d->given, d->seed,
                          &d->to->call);
}

void check_data_draw(check_data *l, job *j, const sg_kernel *k, const int64_t size[3],
                     const double *given, uint64_t seed, family_call *out) {
    const char *what = describe(j, k, size, 0, given, seed);
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

/* If there is no memory for it, the next output is judged again. */
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

digest check_data_march(job *j, const guarded *g, int64_t steps, uint64_t seed,
                        const double *parameters) {
    text t = text_new(j);
    text_add(&t, describe(j, g->kernel, g->size, steps, parameters, seed));
    for (int64_t step = 0; step < steps && model_is_narrow(check_model(g->kernel)); step++)
        text_add(&t, steps_stay(g->kernel->program, g->size, steps, step) ? " stays" : " stored");
    const blob whole = digest_piece(t.data);
    return digest_of(&whole, 1);
}

/* Each step reads these fields as the step before made them; the others are the check's own
   arrays. */
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

void check_data_keep_march(check_data *d, const digest *what, const model *m, check_steps *s,
                           const reference_array *arrays) {
    const uintptr_t begin = (uintptr_t)s->grids;
    /* After a single step the previous level is still an array of the check, which will be freed.
     */
    for (int i = 0; i < m->array_count; i++)
        if (is_made(m, i) && (uintptr_t)arrays[i].data - begin >= s->bytes)
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

/* ---- several steps --------------------------------------------------------------------------- */

/* Cells of the grid of a check of several steps, unless its size is given: the host makes each of
   them as often. */
#define STEPPED_POINTS (INT64_C(1) << 21)

int64_t check_steps_count(job *j, const sg_kernel *k, int64_t wanted) {
    if (wanted != 0)
        steps_allow(j, k->program, wanted);
    return wanted > 0 ? wanted : program_steps(k->program);
}

/* The least extent with which the first way can be taken. */
static int64_t least_size(const program *p, int axis) {
    for (int k = 0; p->grid.ways && k < PROGRAM_AXES; k++)
        if (p->launches[0].grid.axes[k] == axis && p->launches[0].grid.least[k] > 1)
            return p->launches[0].grid.least[k];
    return 1;
}

void check_steps_size(const sg_kernel *k, int64_t steps, int64_t size[3], int64_t *points) {
    while (steps > 1 && *points > STEPPED_POINTS) {
        int longest = -1;
        for (int axis = 0; axis < PROGRAM_AXES; axis++)
            if (size[axis] / 2 >= least_size(k->program, axis) &&
                (longest < 0 || size[axis] > size[longest]))
                longest = axis;
        if (longest < 0 || size[longest] == 1)
            return;
        *points /= size[longest];
        size[longest] /= 2;
        *points *= size[longest];
    }
}

void check_steps_launch(job *j, guarded *g, const double *parameters, int64_t wanted) {
    const sg_kernel *k = g->kernel;
    sg_grid grids[LAUNCH_ARRAYS];
    int final[LAUNCH_ARRAYS];
    const sg_arguments arguments = guarded_arguments(g, parameters, grids);
    launch l;
    if (wanted == 0 && program_has_seconds(k->program)) /* which no sg_launch makes */
        wanted = program_steps(k->program);
    if (wanted > 0) {
        launch_check(j, k, &arguments, USE_STEPS, &l);
        steps_make(j, k, &l, wanted, NULL, final);
    } else {
        launch_once(j, k, &arguments, NULL);
    }
    g->device->ops->synchronize(g->device, j, NULL);
    guarded_fetch(j, g, wanted > 0 ? final : NULL);
}

void check_steps_close(void *argument) {
    check_steps *c = argument;
    guarded_memory_free(&c->memory, c->grids, c->bytes);
    c->grids = NULL;
}

static void make_piece(void *argument, int64_t index, int worker) {
    const check_steps *c = argument;
    reference_steps_piece(&c->march, index, c->scratch[worker]);
}

void check_steps_march(job *j, check_steps *c, const guarded *g, const reference *r,
                       reference_array *arrays, int64_t steps) {
    const model *m = check_model(g->kernel);
    const int64_t begin[AXES] = {0};
    *c = (check_steps){.memory = *job_allocator(j)};
    if (steps > 0) {
        c->bytes = reference_steps_bytes(m, g->points);
        c->grids = guarded_memory(j, c->bytes > 0 ? c->bytes : 1);
        c->bytes = c->bytes > 0 ? c->bytes : 1;
    }
    job_defer(j, check_steps_close, c);
    reference_steps_open(&c->march, r, m, g->size, begin, g->size, arrays, c->grids);
    c->march.place.step = g->step;
    const int count = workers_count(g->workers);
    c->scratch = job_array(j, (size_t)count, sizeof *c->scratch);
    for (int i = 0; i < count; i++)
        c->scratch[i] = job_alloc(j, reference_steps_scratch(&c->march));
    for (int64_t step = 0; step < steps; step++) {
        c->march.place.stays = steps_stay(g->kernel->program, g->size, steps + 1, step);
        workers_run(g->workers, reference_steps_pieces(&c->march), make_piece, c);
        reference_steps_turn(&c->march);
    }
    memcpy(arrays, c->march.arrays, (size_t)m->array_count * sizeof *arrays);
}
