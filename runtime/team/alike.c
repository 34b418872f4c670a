/* What all ranks must give alike to a run: the kernel, the part, the steps and the parameters. It
   is compared before the first step: in messages that go anyway where the host takes part in an
   exchange, else once for values that are new. */
#include <string.h>

#include "base/hash.h"
#include "runtime/team/team.h"

static uint64_t add_text(uint64_t sum, const char *text) {
    return text != NULL ? checksum_of(text, strlen(text), sum) : sum;
}

/* Kernels of the same name and plan, but of other specs, are found when they are built. */
alike alike_of(const run *r) {
    const sg_kernel *k = r->kernel;
    const sg_team_part *p = &r->part;
    const int64_t shape[] = {p->global[0], p->global[1], p->global[2], p->ranks[0],
                             p->ranks[1],  p->ranks[2],  p->launches,  p->steps};
    return (alike){
        .kernel = add_text(add_text(1, k->program->name), k->texts[SG_TEXT_PLAN]),
        .part = checksum_of(shape, sizeof shape, 1),
        .parameters = checksum_of(r->launch.parameters,
                                  (size_t)k->program->parameter_count * sizeof(double), 1),
        .points = r->points != NULL,
        .count = r->count,
        .step = r->launch.step,
    };
}

void alike_compare(job *j, const sg_kernel *k, int rank, const alike *mine, int other,
                   const alike *theirs) {
    const char *what = mine->kernel != theirs->kernel           ? "kernels"
                       : mine->part != theirs->part             ? "parts"
                       : mine->parameters != theirs->parameters ? "values of parameters"
                       : mine->points != theirs->points         ? "runs, with points and without"
                                                                : NULL;
    const int first = rank < other ? rank : other, last = rank < other ? other : rank;
    const alike *a = rank < other ? mine : theirs, *b = rank < other ? theirs : mine;
    const char *name = k->program->name;
    if (what != NULL)
        job_fail(j, FAULT_USAGE, NULL, 0, "'%s': ranks %d and %d were given different %s", name,
                 first, last, what);
    if (a->count != b->count)
        job_fail(j, FAULT_USAGE, NULL, 0,
                 "'%s': ranks %d and %d were given different steps to make: %lld and %lld", name,
                 first, last, (long long)a->count, (long long)b->count);
    if (a->step != b->step)
        job_fail(j, FAULT_USAGE, NULL, 0,
                 "'%s': ranks %d and %d were given different first steps: %lld and %lld", name,
                 first, last, (long long)a->step, (long long)b->step);
}

/* A run that goes on where the last one of its kernel ended is no other. */
static bool is_known(sg_team *t, const alike *given) {
    for (int i = 0; i < t->known_count; i++) {
        alike *a = &t->known[i];
        const bool same = a->kernel == given->kernel && a->part == given->part &&
                          a->parameters == given->parameters && a->points == given->points &&
                          a->count == given->count;
        if (same && (given->step == a->step || given->step == a->step + a->count)) {
            a->step = given->step;
            return true;
        }
    }
    return false;
}

void alike_agree(job *j, run *r) {
    sg_team *t = r->team;
    const int ranks = t->transport.ranks, room = (int)(sizeof t->known / sizeof *t->known);
    const alike mine = alike_of(r);
    if (ranks == 1 || is_known(t, &mine))
        return;
    alike *all = job_array(j, (size_t)ranks, sizeof *all);
    team_gather(j, t, &mine, sizeof mine, all);
    for (int i = 1; i < ranks; i++)
        alike_compare(j, r->kernel, 0, &all[0], i, &all[i]);
    t->known[t->known_next++ % room] = mine;
    t->known_count += t->known_count < room;
}
