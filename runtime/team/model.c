/* What steps and exchanges take, by a model (docs/scaling.md): how often to exchange, and what to
   hide. */
#include "runtime/team/team.h"

/* What an exchange costs: seconds, and bytes a second. Measured between two H200s, and guessed for
   what depends on a network (docs/scaling.md). */
typedef struct link {
    double latency, rate;
} link;

static link link_of(const sg_team *t) {
    static const link stores = {8e-6, 300e9}, nccl = {25e-6, 150e9}, host = {60e-6, 10e9},
                      threads = {20e-6, 5e9};
    return t->stores != NULL                      ? stores
           : t->nccl != NULL                      ? nccl
           : t->context->device->ops->host_memory ? threads
                                                  : host;
}

static double rate_of(const sg_team *t) {
    static const double rate_of_host = 5e9;
    const device_facts *facts = t->context->device->ops->facts(t->context->device);
    return facts->memory_rate > 0 ? 0.9 * facts->memory_rate : rate_of_host;
}

/* Fewer exchanges of wider ghost cells compute more: with k launches a step takes latency / k, and
   on average (k − 1) / 2 more layers of cells at each cut. A step whose exchange is hidden takes
   some time too, as it has more launches. */
int parts_launches(const sg_team *t, const program *p, const int64_t global[3],
                   const int ranks[3]) {
    enum { MOST = 16 };
    static const double hidden = 5e-6;
    const double rate = rate_of(t);
    const link l = link_of(t);
    double points = 1, layer = 0, bytes = 0;
    int64_t most = MOST;
    for (int axis = 0; axis < p->dims; axis++)
        points *= (double)global[axis] / ranks[axis];
    for (int axis = 0; axis < p->dims; axis++) {
        const double cells = (double)global[axis] / ranks[axis];
        const int64_t reach = p->grid.low[axis] + p->grid.high[axis];
        const int sides = ranks[axis] == 1                              ? 0
                          : ranks[axis] == 2 && !p->grid.periodic[axis] ? 1
                                                                        : 2;
        layer += sides * (double)reach / 2 / cells;
        bytes += sides * (double)reach / 2 * points / cells * (double)p->element_bytes;
        if (sides > 0 && reach > 0 && (int64_t)cells / (4 * reach) < most)
            most = (int64_t)cells / (4 * reach);
    }
    const double step = points * p->grid.bytes_per_point / rate;
    const bool hides = (t->stores != NULL || t->nccl != NULL) && p->grid.layer_count == 0;
    double best = hides ? hidden : l.latency + bytes / l.rate;
    int chosen = 1;
    for (int k = 2; k <= most && k * layer <= 0.01; k++) {
        const double cost = l.latency / k + bytes / l.rate + step * layer * (k - 1) / 2;
        if (cost < best)
            best = cost, chosen = k;
    }
    return chosen;
}

/* Launches of several steps take about half the time a step of single ones. */
bool model_hides(const sg_team *t, const program *p, int64_t steps, int64_t cells,
                 int64_t slab_cells, int slabs, int64_t bytes) {
    static const double launch = 4e-6, order = 5e-6, fused = 0.5;
    const link l = link_of(t);
    const double cell = fused * (double)steps * p->grid.bytes_per_point / rate_of(t);
    const double exchange = l.latency + (double)bytes / l.rate;
    const double whole = launch + (double)cells * cell;
    const double extra = order + slabs * launch + (double)slab_cells * cell;
    return extra < (exchange < whole ? exchange : whole);
}
