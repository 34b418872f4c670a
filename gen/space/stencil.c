/* Candidates of stencils and convolutions: what the planner compares.
   Takes: the constraints of the spec, of `tune` and of the caller. Makes: complete schedules with
   their estimates. */
#include "gen/stencil/stencil.h"
#include "gen/space/space.h"
#include "gen/stencil/method.h"
#include "gen/stencil/schedule.h"

#include <assert.h>
#include <string.h>

/* A schedule is so many numbers, of which the method is the first; its keys stand in their order.
 */
enum { NUMBERS = sizeof(schedule) / sizeof(int) };
static_assert((int)NUMBERS <= (int)SPACE_AXES, "each is an axis");

/* A block's extent of 1 is the same as none. */
static bool agree(int given, int value) {
    return given == 0 || value == 0 || given == value;
}

bool space_agrees_stencil(const space_builder *b, const char *value) {
    const schedule *given = stencil_wanted(b->job, b->subject, b->request->schedule);
    schedule tried = {.method = 0};
    schedule_parse(b->job, value, "tune", &tried);
    int one[NUMBERS], other[NUMBERS];
    bool all = true;
    memcpy(one, given, sizeof one);
    memcpy(other, &tried, sizeof other);
    for (int i = 0; i < NUMBERS; i++)
        all = all && agree(one[i], other[i]);
    return all;
}

static const char *print(const space_builder *b, const schedule *s) {
    const model *m = b->subject->model;
    text line = text_new(b->job);
    schedule_print(s, m->dims, &line);
    return line.data;
}

/* ---- what methods do not have --------------------------------------------------------------- */

static bool has_key(int m, int dims, const char *word) {
    const method *of = methods[m];
    for (int k = 0; k < SCHEDULE_KEYS; k++)
        if (strcmp(word, schedule_keys[k].word) == 0)
            return schedule_keys[k].who == SCHEDULE_COARSEN ? of->walk(dims) >= 0
                   : schedule_keys[k].who == 0              ? true
                                               : (of->keys & schedule_keys[k].who) != 0;
    return true;
}

/* The lacking keys of `tune`, by bits. If a single method is asked for, what it lacks is an
   error. */
static unsigned keys_lacking(const space_builder *b, int m) {
    unsigned lacking = 0;
    if (space_has_several(b, "method"))
        for (int k = 0; k < b->tuning->key_count; k++)
            if (!has_key(m, stencil_dims(b->subject), b->tuning->keys[k].name))
                lacking |= 1u << k;
    return lacking;
}

/* ---- candidates ---------------------------------------------------------------------------- */

/* One of the constraints that the planner is shown. */
typedef struct constraint {
    int which; /* combination of `tune` */
    unsigned lacking;
} constraint;

typedef struct filling {
    space_builder *builder;
    schedule *wanted;
    constraint *of; /* each of them */
    int count;
} filling;

static space_builder *turn_to(const filling *f, int which, int m) {
    f->builder->trying = methods[m]->name;
    f->builder->lacking = f->of[which].lacking;
    return f->builder;
}

static void add(void *user, int which, const plan *p, double seconds) {
    const filling *f = user;
    space_builder *b = turn_to(f, which, p->schedule.method);
    space_candidate c = {.plan = print(b, &p->schedule),
                         .estimate = seconds,
                         .threads = plan_threads(p),
                         .shared_bytes = p->shared_bytes};
    memcpy(c.values, &p->schedule, sizeof p->schedule);
    space_add(b, f->of[which].which, &c);
}

static void refuse(void *user, int which, int m, const char *why) {
    const filling *f = user;
    space_builder *b = turn_to(f, which, m);
    space_refuse(b, f->of[which].which, job_print(b->job, "method %s: %s", methods[m]->name, why));
}

/* The constraints of the spec and the caller, and those of each combination of `tune`. */
static void find_constraints(filling *f, const schedule *given) {
    space_builder *b = f->builder;
    f->wanted = job_array(b->job, (size_t)b->combinations, sizeof *f->wanted);
    f->of = job_array(b->job, (size_t)b->combinations, sizeof *f->of);
    for (int i = 0; i < b->combinations; i++) {
        schedule all = *given;
        schedule_parse(b->job, space_combination(b, i, 0), "tune", &all);
        const unsigned lacking = keys_lacking(b, all.method);
        if (!space_is_first(b, i, lacking))
            continue;
        f->wanted[f->count] = *given;
        schedule_parse(b->job, space_combination(b, i, lacking), "tune", &f->wanted[f->count]);
        f->of[f->count++] = (constraint){i, lacking};
    }
}

void space_fill_stencil(space_builder *b) {
    job *j = b->job;
    const family_request *r = b->request;
    const int64_t steps = r->steps > 1 ? r->steps : 1;
    const char **words = job_array(j, METHODS, sizeof *words);
    for (int m = 0; m < METHODS; m++)
        words[m] = methods[m]->name;
    for (const schedule_key *k = schedule_keys; k < schedule_keys + SCHEDULE_KEYS; k++)
        for (int axis = 0; axis < k->axes; axis++)
            space_axis_add(b->space,
                           k->axes > 1 ? job_print(j, "%s.%c", k->word, axis_names[axis]) : k->word,
                           k == schedule_keys ? words : NULL, k == schedule_keys ? METHODS : 0);
    const schedule *given = stencil_wanted(j, b->subject, r->schedule);
    filling f = {.builder = b};
    find_constraints(&f, given);
    plan_visit(j, b->subject->model, f.wanted, f.count, r->gpu, r->size, steps,
               &(plan_visitor){.user = &f, .candidate = add, .refused = refuse});
    b->space->usual =
        print(b, &plan_make(j, b->subject->model, given, r->gpu, r->size, steps)->schedule);
}
