/* What ranks say to each other besides halos: all of it small, in host memory. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/hash.h"
#include "runtime/team/team.h"

void transport_abandon(const sg_transport *t, const char *why) {
    char text[SG_WHY];
    if (t->abandon == NULL)
        return;
    snprintf(text, sizeof text, "rank %d: %.*s", t->rank, SG_WHY - 24, job_error_inside(why));
    t->abandon(t->user, text);
}

void team_abandon(sg_team *t, const char *why) {
    if (t->broken[0] != '\0')
        return;
    snprintf(t->broken, sizeof t->broken, "%s", why);
    transport_abandon(&t->transport, why);
    nccl_abort(t->nccl);
}

static void need_whole(job *j, const sg_team *t) {
    if (t->broken[0] != '\0')
        job_fail(j, FAULT_DEVICE, NULL, 0, "the team has failed before: %s", t->broken);
}

void team_exchange(job *j, sg_team *t, const sg_message *sends, int send_count,
                   const sg_message *receives, int receive_count) {
    char why[SG_WHY] = "";
    need_whole(j, t);
    if (send_count + receive_count == 0 ||
        t->transport.exchange(t->transport.user, sends, send_count, receives, receive_count,
                              t->seconds, why) == 0)
        return;
    why[SG_WHY - 1] = '\0';
    snprintf(t->broken, sizeof t->broken, "%s", why);
    if (t->transport.abandon != NULL) /* ranks that wait for this one alone hear of the cause */
        t->transport.abandon(t->transport.user, why);
    nccl_abort(t->nccl);
    job_fail(j, FAULT_DEVICE, NULL, 0, "%s", why);
}

void team_gather(job *j, sg_team *t, const void *mine, size_t bytes, void *all) {
    const int rank = t->transport.rank, ranks = t->transport.ranks;
    unsigned char *turned = job_array(j, (size_t)ranks, bytes); /* [i] is of rank + i */
    memcpy(turned, mine, bytes);
    for (int have = 1; have < ranks; have *= 2) {
        const size_t count = (size_t)(have < ranks - have ? have : ranks - have);
        const sg_message send = {(rank - have + ranks) % ranks, turned, count * bytes};
        const sg_message receive = {(rank + have) % ranks, turned + (size_t)have * bytes,
                                    count * bytes};
        team_exchange(j, t, &send, 1, &receive, 1);
    }
    for (int i = 0; i < ranks; i++)
        memcpy((unsigned char *)all + (size_t)((rank + i) % ranks) * bytes,
               turned + (size_t)i * bytes, bytes);
}

/* How a rank's share of a collective call went. */
typedef struct verdict {
    int32_t fault;
    char text[SG_WHY];
} verdict;

/* The first failure of all ranks; a rank that failed itself says so in its own words. */
static void agree(job *j, sg_team *t, const verdict *mine, job *own) {
    const int ranks = t->transport.ranks;
    verdict *all = job_array(j, (size_t)ranks, sizeof *all);
    if (ranks > 1)
        team_gather(j, t, mine, sizeof *mine, all);
    if (mine->fault != FAULT_NONE && own != NULL)
        job_fail_as(j, own);
    if (mine->fault != FAULT_NONE)
        job_fail(j, (fault)mine->fault, NULL, 0, "%s", mine->text);
    for (int i = 0; i < ranks; i++)
        if (all[i].fault != FAULT_NONE) {
            all[i].text[SG_WHY - 1] = '\0';
            job_fail(j, (fault)all[i].fault, NULL, 0, "rank %d: %s", i, all[i].text);
        }
}

void team_together(job *j, sg_team *t, void (*body)(job *, void *), void *argument) {
    job *own = NULL;
    verdict mine = {.fault = FAULT_NONE};
    need_whole(j, t);
    mine.fault = (int32_t)job_run(job_allocator(j), body, argument, &own);
    if (mine.fault != FAULT_NONE)
        snprintf(mine.text, sizeof mine.text, "%s",
                 own != NULL ? job_error_inside(job_error(own)) : "out of memory");
    if (mine.fault == FAULT_NONE)
        job_end(own);
    agree(j, t, &mine, mine.fault == FAULT_NONE ? NULL : own);
}

typedef struct call {
    sg_team *team;
    void (*body)(job *, void *);
    void *argument;
} call;

static void make_call(job *j, void *argument) {
    const call *c = argument;
    need_whole(j, c->team);
    c->body(j, c->argument);
}

sg_status team_run(sg_team *t, void (*body)(job *, void *), void *argument) {
    if (t == NULL)
        return SG_ERROR_USAGE;
    call c = {t, body, argument};
    return context_run(t->context, make_call, &c, NULL);
}

/* ---- public calls ---------------------------------------------------------------------------- */

typedef struct reduction {
    sg_team *team;
    sg_combine how;
    const double *mine;
    int count;
    double *out;
} reduction;

static double combine(sg_combine how, double a, double b) {
    if (how == SG_COMBINE_SUM)
        return a + b;
    if (a != a || b != b)
        return a != a ? a : b; /* NaN stays */
    return (how == SG_COMBINE_MIN) == (b < a) ? b : a;
}

static void reduce(job *j, void *argument) {
    const reduction *r = argument;
    if (r->count < 0 || r->how < SG_COMBINE_SUM || r->how > SG_COMBINE_MAX)
        context_refuse(j, "sg_team_reduce of %d numbers by way %d", r->count, (int)r->how);
    const int ranks = r->team->transport.ranks;
    const size_t count = (size_t)r->count, bytes = count * sizeof *r->mine;
    double *all = job_array(j, (size_t)ranks * count + 1, sizeof *all);
    team_gather(j, r->team, r->mine, bytes, all);
    memcpy(r->out, all, bytes);
    for (size_t i = count; i < (size_t)ranks * count; i++)
        r->out[i % count] = combine(r->how, r->out[i % count], all[i]);
}

sg_status sg_team_reduce(sg_team *team, sg_combine how, const double *mine, int count,
                         double *out) {
    reduction r = {team, how, mine, count, out};
    return team_run(team, reduce, &r);
}

typedef struct agreement {
    sg_team *team;
    const char *trouble;
} agreement;

static void agree_on(job *j, void *argument) {
    const agreement *a = argument;
    verdict mine = {.fault = a->trouble == NULL ? FAULT_NONE : FAULT_DATA};
    if (a->trouble != NULL)
        snprintf(mine.text, sizeof mine.text, "%s", a->trouble);
    agree(j, a->team, &mine, NULL);
}

sg_status sg_team_agree(sg_team *team, const char *trouble) {
    agreement a = {team, trouble};
    return team_run(team, agree_on, &a);
}

typedef struct gathering {
    sg_team *team;
    const void *mine;
    size_t bytes;
    void *all;
} gathering;

static void gather(job *j, void *argument) {
    const gathering *g = argument;
    team_gather(j, g->team, g->mine, g->bytes, g->all);
}

sg_status sg_team_gather(sg_team *team, const void *mine, size_t bytes, void *all) {
    gathering g = {team, mine, bytes, all};
    return team_run(team, gather, &g);
}

typedef struct waiting {
    sg_team *team;
    void *stream;
} waiting;

/* Others' failures are heard between two looks at the stream. */
static void wait(job *j, void *argument) {
    const waiting *w = argument;
    sg_team *t = w->team;
    device *d = t->context->device;
    const double begun = clock_seconds();
    char why[SG_WHY] = "";
    if (t->nccl == NULL && t->stores == NULL) {
        d->ops->synchronize(d, j, w->stream);
        return;
    }
    for (double now = begun; !d->ops->idle(d, j, w->stream); now = clock_seconds()) {
        if (now - begun > t->seconds)
            job_fail(j, FAULT_DEVICE, NULL, 0, "the steps were not done within %g s", t->seconds);
        if (now - begun < 0.002) /* short work is looked at all the time */
            continue;
        if (t->transport.exchange(t->transport.user, NULL, 0, NULL, 0, t->seconds, why) != 0)
            job_fail(j, FAULT_DEVICE, NULL, 0, "%s", why);
        if (t->nccl != NULL)
            nccl_look(j, t->nccl);
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
    if (t->stores != NULL)
        stores_look(j, t->stores);
}

void team_settle(job *j, sg_team *t, void *stream) {
    waiting w = {t, stream};
    job *own = NULL;
    const fault f = job_run(job_allocator(j), wait, &w, &own);
    if (f != FAULT_NONE)
        team_abandon(t, own != NULL ? job_error(own) : "out of memory");
    if (f != FAULT_NONE && own != NULL)
        job_fail_as(j, own);
    if (f != FAULT_NONE)
        job_fail(j, f, NULL, 0, "out of memory");
    job_end(own);
}

static void settle(job *j, void *argument) {
    const waiting *w = argument;
    team_settle(j, w->team, w->stream);
}

sg_status sg_team_wait(sg_team *team, sg_stream stream) {
    waiting w = {team, stream};
    return team_run(team, settle, &w);
}

/* ---- what all ranks give alike --------------------------------------------------------------- */

/* What all ranks must give alike to a run: the kernel, the part, the steps and the parameters. It
   is compared before the first step: in messages that go anyway where the host takes part in an
   exchange, else once for values that are new. */

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
