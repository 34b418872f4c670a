/* What steps and exchanges take: by a model (docs/scaling.md), which says how often to exchange and
   what to hide; and as they were timed on GPUs' streams. */
#include "runtime/team/team.h"

#include <math.h>

/* Launches of slabs and the order of streams, by which a hidden exchange lengthens a step. */
static const double order_seconds = 5e-6, launch_seconds = 4e-6;

/* Measured between two H200s; a network of 400 Gb/s a GPU and host memory are guessed. */
static const team_link links[] = {
    [SG_LINK_STORES] = {8e-6, 300e9, true, false},
    [SG_LINK_NCCL] = {25e-6, 150e9, true, true},
    [SG_LINK_NETWORK] = {35e-6, 45e9, true, true},
    [SG_LINK_HOST] = {60e-6, 10e9, false, false},
};

const team_link *model_link(sg_link link) {
    return &links[link];
}

const team_link *model_link_of(const sg_team *t) {
    static const team_link threads = {20e-6, 5e9, false, false};
    return t->stores != NULL                      ? &links[SG_LINK_STORES]
           : t->nccl != NULL                      ? &links[SG_LINK_NCCL]
           : t->context->device->ops->host_memory ? &threads
                                                  : &links[SG_LINK_HOST];
}

double model_rate_of(const sg_team *t) {
    static const double rate_of_host = 5e9;
    const device_facts *facts = t->context->device->ops->facts(t->context->device);
    return facts->memory_rate > 0 ? 0.9 * facts->memory_rate : rate_of_host;
}

double model_rate(const program *p, const sg_team_part *part, double seconds) {
    double points = 1;
    for (int axis = 0; axis < p->dims; axis++)
        points *= (double)part->global[axis] / part->ranks[axis];
    return points * p->grid.bytes_per_point / seconds;
}

/* Of slabs that are made apart, by so many launches. */
static double cost_of_slabs(double whole, double share, int launches) {
    return order_seconds + launches * launch_seconds + share * whole;
}

static double cell_bytes(const program *p) {
    size_t most = 0;
    for (int i = 0; i < p->array_count; i++)
        if (p->arrays[i].written && program_grid_bytes(p, i) > most)
            most = program_grid_bytes(p, i);
    return (double)most;
}

/* What a step takes longer, as a share, if ghost cells add so much to a part: blocks that were to
   fill a GPU just so make another wave. 1 % costs nothing that shows; 9 % took 19 % (256³ on two
   H200s, 11 launches between exchanges). */
static double more_waves(double wider) {
    return wider > 0.01 ? 0.2 : 0;
}

/* Fewer exchanges of wider ghost cells compute more: with k launches a step takes latency / k, on
   average (k − 1) / 2 more layers of cells at each cut, and perhaps another wave of blocks. A step
   whose exchange is hidden takes some time too, as it has more launches, and waits for what is
   longer than the step. */
int parts_launches(const team_link *l, double rate, const program *p, const sg_team_part *part) {
    enum { MOST = 16 };
    double points = 1, layer = 0, bytes = 0;
    int64_t most = MOST;
    int slabs = 0;
    for (int axis = 0; axis < p->dims; axis++)
        points *= (double)part->global[axis] / part->ranks[axis];
    for (int axis = 0; axis < p->dims; axis++) {
        const int ranks = part->ranks[axis];
        const double cells = (double)part->global[axis] / ranks;
        const int64_t reach = p->grid.low[axis] + p->grid.high[axis];
        const int sides = ranks == 1 ? 0 : ranks == 2 && !p->grid.periodic[axis] ? 1 : 2;
        slabs += reach > 0 ? sides : 0;
        layer += sides * (double)reach / 2 / cells;
        bytes += sides * (double)reach / 2 * points / cells * cell_bytes(p);
        if (sides > 0 && reach > 0 && (int64_t)cells / (4 * reach) < most)
            most = (int64_t)cells / (4 * reach);
    }
    const double step = points * p->grid.bytes_per_point / rate;
    const bool hides = l->hides_in_place && hidden_can(p);
    const double exchange = l->latency + bytes / l->rate;
    double best = hides ? fmax(order_seconds, exchange - step) : exchange;
    if (l->hides_apart && !hidden_can(p)) {
        const double apart = cost_of_slabs(step, 3 * layer, slabs * hidden_launches(p));
        best = fmin(best, apart + fmax(exchange - step, 0));
    }
    int chosen = 1;
    for (int k = 2; k <= most; k++) {
        const double cost =
            l->latency / k + bytes / l->rate + step * (layer * (k - 1) / 2 + more_waves(k * layer));
        if (cost < best)
            best = cost, chosen = k;
    }
    return chosen;
}

bool model_hides(const team_link *l, double whole, double share, int slabs, double bytes) {
    const double exchange = l->latency + bytes / l->rate;
    return l->hides_apart &&
           cost_of_slabs(whole, share, slabs) < (exchange < whole ? exchange : whole);
}

/* The share of more work in steps of launches between which there is no exchange: more layers than
   the own cells, on average, and more waves. */
static double extra_work(const sg_team_part *part) {
    double layer = 0;
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        layer += (double)(part->low[axis] + part->high[axis]) /
                 (double)(part->end[axis] - part->begin[axis]);
    return part->launches == 1
               ? 0
               : layer / part->launches * (part->launches - 1) / 2 + more_waves(layer);
}

void model_forecast(const team_link *l, const run *r, int64_t cells, double step,
                    sg_team_forecast *f) {
    const sg_team_part *part = &r->part;
    const double depth = (double)r->depth, whole = step * (double)part->steps;
    const double exchange = f->messages > 0 ? l->latency + (double)f->bytes / l->rate : 0;
    const double size = (double)part->size[0] * (double)part->size[1] * (double)part->size[2];
    const double share = (double)cells / size;
    const int slabs = r->slab_count * hidden_launches(r->kernel->program);
    const bool apart = hidden_apart(r);
    f->latency = l->latency;
    f->rate = l->rate;
    f->exchange_seconds = exchange / depth;
    f->interior_seconds = step * (1 + (part->steps == 1 ? extra_work(part) : 0));
    f->seconds = f->interior_seconds + f->exchange_seconds;
    if (f->messages == 0)
        return;
    const leap by = steps_choose(r->kernel->program, part->global, part->steps, false, true);
    f->hidden = apart ? model_hides(l, whole, share, slabs, (double)f->bytes)
                      : l->hides_in_place && hidden_in_place(r, &by);
    if (f->hidden && apart)
        f->seconds =
            f->interior_seconds + cost_of_slabs(whole, share, slabs) + fmax(exchange - whole, 0);
    else if (f->hidden)
        f->seconds = fmax(whole + order_seconds, exchange) / depth;
}

/* ---- times of exchanges ---------------------------------------------------------------------- */

/* How long exchanges take, and how much of that is not hidden, in teams that were opened with
   `timed`. Marks on streams cost some microseconds, so the first exchanges are timed and then one
   of EACH, which stands for those before it. Exchanges that are hidden and those that are not count
   apart. */
enum { FIRST = 4, EACH = 16, PENDING = 64 };

typedef struct kind {
    int64_t seen, marked; /* exchanges so far; those for which one was marked */
    int64_t told;         /* of these, those whose times are known */
    double seconds, waited;
    double last, last_waited; /* of the latest one */
} kind;

typedef struct timed {
    void *meanwhile;   /* the end of the work that hides it; NULL: none does */
    void *begin, *end; /* end: NULL: the exchange failed */
    int64_t weight;    /* it stands for so many */
} timed;

struct times {
    kind kinds[2]; /* of exchanges that are not hidden, and of those that are */
    timed pending[PENDING];
    int count;
    bool hides, open;
    void *meanwhile;
};

void times_open(sg_team *t) {
    t->times = job_alloc(t->job, sizeof *t->times);
}

static bool is_next(const times *all, bool hidden) {
    const kind *k = &all->kinds[hidden];
    return all->count < PENDING && (k->seen < FIRST || (k->seen + 1) % EACH == 0);
}

void times_hide(job *j, sg_team *t, void *stream) {
    device *d = t->context->device;
    times *all = t->times;
    if (all == NULL)
        return;
    d->ops->unmark(d, all->meanwhile);
    all->meanwhile = NULL;
    all->hides = true;
    if (is_next(all, true))
        all->meanwhile = d->ops->tick(d, j, stream);
}

void times_begin(job *j, sg_team *t, void *stream) {
    device *d = t->context->device;
    times *all = t->times;
    if (all == NULL)
        return;
    const bool marks = is_next(all, all->hides);
    kind *k = &all->kinds[all->hides];
    k->seen++;
    if (marks) {
        timed *e = &all->pending[all->count++];
        *e = (timed){.meanwhile = all->meanwhile, .weight = k->seen - k->marked};
        all->meanwhile = NULL;
        k->marked = k->seen;
        e->begin = d->ops->tick(d, j, stream);
    }
    all->hides = false;
    all->open = marks;
}

static void give_back(device *d, timed *e) {
    d->ops->unmark(d, e->meanwhile);
    d->ops->unmark(d, e->begin);
    d->ops->unmark(d, e->end);
}

static void add(job *j, device *d, kind *k, const timed *e) {
    k->last = k->last_waited = d->ops->between(d, j, e->begin, e->end);
    if (e->meanwhile != NULL) {
        const double after = d->ops->between(d, j, e->meanwhile, e->end);
        k->last_waited = after < 0 ? 0 : after < k->last ? after : k->last;
    }
    k->seconds += (double)e->weight * k->last;
    k->waited += (double)e->weight * k->last_waited;
    k->told += e->weight;
}

/* Adds up what is over. The end of an exchange may come before that of what hides it. */
static void collect(job *j, times *all, device *d) {
    int done = 0;
    for (; done < all->count; done++) {
        timed *e = &all->pending[done];
        if (e->end != NULL && !(d->ops->passed(d, j, e->end) &&
                                (e->meanwhile == NULL || d->ops->passed(d, j, e->meanwhile))))
            break;
        if (e->end != NULL)
            add(j, d, &all->kinds[e->meanwhile != NULL], e);
        give_back(d, e);
    }
    for (int i = done; i < all->count; i++)
        all->pending[i - done] = all->pending[i];
    all->count -= done;
}

void times_end(job *j, sg_team *t, void *stream) {
    device *d = t->context->device;
    times *all = t->times;
    if (all == NULL || !all->open)
        return;
    all->open = false;
    all->pending[all->count - 1].end = d->ops->tick(d, j, stream);
    collect(j, all, d);
}

void times_tell(job *j, const sg_team *t, double *waited, double *hidden) {
    times *all = t->times;
    *waited = t->stores == NULL && t->nccl == NULL ? t->exchange_seconds : -1;
    *hidden = *waited < 0 ? -1 : 0;
    if (all == NULL)
        return;
    collect(j, all, t->context->device);
    *waited = *hidden = 0;
    for (int i = 0; i < 2; i++) {
        const kind *k = &all->kinds[i];
        const double rest = (double)(k->seen - k->told);
        *waited += k->waited + rest * k->last_waited;
        *hidden += k->seconds - k->waited + rest * (k->last - k->last_waited);
    }
}

void times_close(sg_team *t) {
    device *d = t->context->device;
    if (t->times == NULL)
        return;
    for (int i = 0; i < t->times->count; i++)
        give_back(d, &t->times->pending[i]);
    d->ops->unmark(d, t->times->meanwhile);
    t->times = NULL;
}
