/* What steps and exchanges take, by a model (docs/scaling.md): how often to exchange, and what to
   hide. */
#include "runtime/team/team.h"

/* Launches of slabs and the order of streams, by which a hidden exchange lengthens a step. */
static const double order_seconds = 5e-6, launch_seconds = 4e-6;

/* Measured between two H200s; a network of 400 Gb/s a GPU and host memory are guessed. */
static const team_link links[] = {
    [SG_LINK_STORES] = {8e-6, 300e9, true, false},
    [SG_LINK_NCCL] = {25e-6, 150e9, true, true},
    [SG_LINK_NETWORK] = {35e-6, 45e9, true, true},
    [SG_LINK_HOST] = {60e-6, 10e9, false, false},
};

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double smaller(double a, double b) {
    return a < b ? a : b;
}

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
    double best = hides ? larger(order_seconds, exchange - step) : exchange;
    if (l->hides_apart && !hidden_can(p)) {
        const double apart = cost_of_slabs(step, 3 * layer, slabs * hidden_launches(p));
        best = smaller(best, apart + larger(exchange - step, 0));
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
            f->interior_seconds + cost_of_slabs(whole, share, slabs) + larger(exchange - whole, 0);
    else if (f->hidden)
        f->seconds = larger(whole + order_seconds, exchange) / depth;
}
