/* What the second-level cache keeps from one launch to the next. Takes: a plan, a size. Makes: the
   share of what is read. */
#include "gen/stencil/plan.h"

#include <math.h>

/* A launch moves all of its arrays between a write and the read of it in the next launch. Shares of
   the cache that hold them all, and none: 7 points in float, H200 (60 MB), ask memory for nothing
   at 128x128x128 and 2048x2048 (17 and 34 MB), and for everything at 192x192x192 (57 MB). */
double plan_in_cache(const plan *p, const int64_t size[AXES]) {
    static const double all = 0.6, none = 0.9;
    const model *m = p->facts->model;
    double bytes = model_bytes_per_point(m);
    for (int axis = 0; axis < m->dims; axis++)
        bytes *= (double)size[axis];
    return fmin(fmax((none - bytes / p->gpu->l2_bytes) / (none - all), 0), 1);
}
