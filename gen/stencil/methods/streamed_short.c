/* Grids shorter than the shape. Takes: a plan of the method streamed, and the size that it is for.
   Makes: whether its kernel follows rules until they lead into the grid. */
#include "gen/stencil/methods/streamed.h"

static bool folds(const model *m, int axis, int side) {
    const int kind = m->sides[axis][side].kind;
    return kind == BOUNDARY_MIRROR || kind == BOUNDARY_PERIODIC;
}

/* Whether one rule leads into the grid from wherever the shape reaches along an axis, as is_long in
   templates/stream_any.cuh asks. */
static bool is_long_along(const plan *p, const int64_t size[AXES], int k) {
    const int axis = p->axes[k], more = k == 1 ? p->streamed.lane_y - 1 : 0;
    return axis < 0 || (!folds(p->facts->model, axis, 0) && !folds(p->facts->model, axis, 1)) ||
           (p->low[k] < size[axis] && p->high[k] + more < size[axis]);
}

bool streamed_is_long(const plan *p, const int64_t size[AXES]) {
    const model *m = p->facts->model;
    const bool own = model_has_own_sides(m) || model_has_given_sides(m);
    bool is = is_long_along(p, size, 0);
    for (int k = 1; k < AXES; k++)
        is = is && (is_long_along(p, size, k) ||
                    (!own && folds(m, p->axes[k], 0) && folds(m, p->axes[k], 1)));
    return is;
}

void streamed_plan_short(plan *p, const int64_t size[AXES]) {
    p->streamed.folds =
        streamed_is_long(p, size) && !(is_long_along(p, size, 1) && is_long_along(p, size, 2));
}
