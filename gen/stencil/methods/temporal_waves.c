/* Waves by the partial sums of temporal in 2D and 3D: updates of one field with two levels, of
   which the older one is read at the point alone. Takes: a model. Makes: whether it is such a wave;
   the model whose sums are kept. templates/pipeline.cu and levels.cu say how a sum begins. */
#include "gen/stencil/methods/temporal.h"

/* The rows (or planes) of the older level that a step needs are there where the shape reaches as
   far above as below, and where no sum takes in images before its first row. */
bool temporal_is_wave(const plan_facts *f) {
    const model *m = f->model;
    const int walked = m->dims - 1;
    if (m->dims < 2 || m->field_count != 1 || m->fields[0].levels != 2 || m->array_count != 2 ||
        !m->arrays[0].used || !m->arrays[1].used || model_is_narrow(m) ||
        m->low[walked] != m->high[walked])
        return false;
    for (int axis = 0; axis < m->dims; axis++)
        if (m->arrays[1].low[axis] != 0 || m->arrays[1].high[axis] != 0)
            return false;
    for (int side = 0; side < 2; side++)
        if (m->sides[walked][side].kind == BOUNDARY_CLAMP ||
            m->sides[walked][side].kind == BOUNDARY_MIRROR)
            return false;
    return true;
}

/* The older level's tap is moved to the row or plane that adds first to a sum. */
const model *temporal_wave_sums(job *j, const plan *p) {
    const model *m = p->facts->model;
    const expr_id root = m->outputs[0].value;
    int place[AXES] = {0};
    place[m->dims - 1] = -m->low[m->dims - 1];
    const expr_id moved = expr_tap(m->pool, 1, place);
    expr_id *to = job_array(j, (size_t)root + 1, sizeof *to);
    for (expr_id id = 0; id <= root; id++) {
        const expr_node *n = expr_get(m->pool, id);
        to[id] = n->op == EXPR_TAP && n->index == 1 ? moved : EXPR_NONE;
    }
    model *out = job_alloc(j, sizeof *out);
    *out = *m;
    out->outputs[0].value = expr_replaced(m->pool, root, to);
    return out;
}
