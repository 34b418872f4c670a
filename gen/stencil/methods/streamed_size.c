/* What a size asks of a kernel. Takes: a plan of the method streamed, and the size that it is for.
   Makes: whether it follows rules until they lead into the grid, as grids shorter than the shape
   need; and how many of a thread's rows it fetches ahead. */
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

/* Whether the second-level cache has much of all arrays, so that fetching them brings nothing. In
   2D and of systems it was not measured. */
static bool is_cached(const plan *p, const int64_t size[AXES]) {
    return p->axes[1] >= 0 && !p->facts->model->arranged && plan_in_cache(p, size) > 0;
}

/* How many rows are fetched all the same: without a fetch compilers put loads next to what needs
   them, and a step waits several times. H200, single points, rates without a fetch over rates with
   one: of four rows 0.61 to 1.24 (34 figures), of two 1 to 1.29 (19). */
static int fetched_for_order(const plan *p) {
    return p->schedule.vector == 1 && p->streamed.lane_y == 2 && streamed_has_registers(p) ? 0 : 1;
}

void streamed_take_size(plan *p, const int64_t size[AXES]) {
    p->streamed.folds =
        streamed_is_long(p, size) && !(is_long_along(p, size, 1) && is_long_along(p, size, 2));
    p->streamed.fetched = is_cached(p, size) ? fetched_for_order(p) : p->streamed.lane_y;
}
