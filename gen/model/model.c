/* Facts of a model: operations and bytes a point; its shape, boundary and conditions in words.
   Takes: a model. Makes: numbers and phrases. */
#include "gen/model/model.h"

#include <string.h>

dtype model_storage(const model *m, int field) {
    const dtype own = m->fields[field].storage;
    return dtype_is_narrow(own) ? own : m->dtype;
}

size_t model_cell_bytes(const model *m) {
    size_t most = 0;
    for (int f = 0; f < m->field_count; f++) {
        const size_t bytes = dtype_words[model_storage(m, f)].bytes;
        most = bytes > most ? bytes : most;
    }
    return most;
}

int model_grids(const model *m, int field) {
    int count = 0;
    for (const model_field *f = m->fields; f < m->fields + field; f++)
        count += (f->use != USE_OUT) * f->levels + (f->use != USE_IN);
    return count;
}

bool model_is_narrow(const model *m) {
    bool some = false;
    for (int f = 0; f < m->field_count; f++)
        some |= dtype_is_narrow(m->fields[f].storage);
    return some;
}

bool model_all_fixed(const model *m) {
    bool all = true;
    for (int axis = 0; axis < m->dims; axis++) {
        all &= m->low[axis] == 0 || m->sides[axis][0].kind == BOUNDARY_FIXED;
        all &= m->high[axis] == 0 || m->sides[axis][1].kind == BOUNDARY_FIXED;
    }
    return all;
}

bool model_keeps(const model *m) {
    for (int axis = 0; axis < m->dims; axis++)
        if ((m->sides[axis][0].kind == BOUNDARY_FIXED && m->low[axis] > 0) ||
            (m->sides[axis][1].kind == BOUNDARY_FIXED && m->high[axis] > 0))
            return true;
    return false;
}

void model_roots(const model *m, expr_id roots[MAX_FIELDS]) {
    for (int o = 0; o < m->output_count; o++)
        roots[o] = m->outputs[o].value;
}

model *model_attached(const model *m, int index) {
    const int monitor = index - (m->injected != NULL);
    if (monitor < 0)
        return m->injected;
    return monitor < m->monitor_count ? m->monitors[monitor].map : NULL;
}

int model_array_of(const model *m, int field, bool previous) {
    for (int i = 0; i < m->array_count; i++)
        if (m->arrays[i].field == field && m->arrays[i].previous == previous)
            return i;
    return -1;
}

static bool taps(job *j, const model *m, const expr_id *roots, int count, int array) {
    const bool *live = expr_live(m->pool, j, roots, count);
    for (int i = 0; i < m->pool->count; i++)
        if (live[i] && expr_get(m->pool, i)->op == EXPR_TAP && expr_get(m->pool, i)->index == array)
            return true;
    return false;
}

bool model_writes_in_place(job *j, const model *m, int output, bool previous) {
    const int array = model_array_of(m, m->outputs[output].field, previous);
    expr_id roots[MAX_FIELDS];
    if (array < 0)
        return true;
    if (m->chain != NULL) /* blocks make cells of others again */
        return false;
    for (int axis = 0; axis < AXES; axis++)
        if (m->arrays[array].low[axis] > 0 || m->arrays[array].high[axis] > 0)
            return false;
    model_roots(m, roots);
    return taps(j, m, &roots[output], 1, array) || !taps(j, m, roots, m->output_count, array);
}

const double *model_rounded(job *j, const model *m, const double *parameters) {
    double *rounded = job_array(j, (size_t)m->parameter_count + 1, sizeof *rounded);
    for (int i = 0; i < m->parameter_count; i++)
        rounded[i] = dtype_round(m->dtype, parameters[i]);
    return rounded;
}

double model_textbook_operations(const model *m) {
    return m->nonlinear ? 0 : m->textbook_multiplications + m->textbook_additions;
}

double model_bytes_per_point(const model *m) {
    size_t bytes = 0;
    for (int i = 0; i < m->output_count; i++)
        bytes += dtype_words[model_storage(m, m->outputs[i].field)].bytes;
    for (int i = 0; i < m->array_count; i++)
        if (m->arrays[i].used)
            bytes += dtype_words[model_storage(m, m->arrays[i].field)].bytes;
    return (double)bytes;
}

double model_grid_points(const model *m, const int64_t size[AXES]) {
    double points = 1;
    for (int axis = 0; axis < m->dims; axis++)
        points *= (double)size[axis];
    return points;
}

static void add_count(text *out, int count, const char *noun) {
    text_add(out, text_count(out->job, count, noun));
}

void model_describe(const model *m, text *out) {
    text_printf(out, "%dD ", m->dims);
    switch (m->shape) {
    case SHAPE_STAR:
    case SHAPE_BOX:
        text_printf(out, "%s of radius %d, ", m->shape == SHAPE_STAR ? "star" : "box", m->radius);
        add_count(out, m->points, "point");
        break;
    case SHAPE_POINTS:
        text_add(out, "shape of ");
        add_count(out, m->points, "point");
        text_printf(out, ", radius %d", m->radius);
        break;
    case SHAPE_CONVOLUTION:
        text_add(out, "convolution, ");
        for (int axis = m->dims; axis-- > 0;)
            text_printf(out, axis > 0 ? "%dx" : "%d", m->low[axis] + 1 + m->high[axis]);
        text_add(out, m->points == 1 ? " weight" : " weights");
        break;
    case SHAPE_UPDATE:
        text_add(out, "update of ");
        add_count(out, m->field_count, "field");
        text_add(out, ", ");
        add_count(out, m->points, "tap");
        text_printf(out, ", radius %d", m->radius);
        break;
    }
}

bool model_same_side(const model_side *a, const model_side *b) {
    if (a->kind != b->kind || a->kind != BOUNDARY_CONSTANT)
        return a->kind == b->kind;
    if (a->parameter == NULL || b->parameter == NULL)
        return a->parameter == b->parameter && a->value == b->value;
    return strcmp(a->parameter, b->parameter) == 0;
}

bool model_same_sides(const model *m) {
    bool same = true;
    for (int axis = 0; axis < m->dims; axis++)
        for (int side = 0; side < 2; side++)
            same = same && model_same_side(&m->sides[axis][side], &m->sides[0][0]);
    return same;
}

const model_side *model_side_of(const model *m, int field, int axis, int side) {
    const model_side *whole = &m->sides[axis][side];
    const model_field *f = &m->fields[field];
    return whole->kind != BOUNDARY_FIXED && f->bounded[axis] ? &f->sides[axis][side] : whole;
}

bool model_has_own_sides(const model *m) {
    bool own = false;
    for (int f = 0; f < m->field_count; f++)
        for (int axis = 0; axis < m->dims; axis++)
            own |= m->fields[f].bounded[axis];
    return own;
}

bool model_mirrors(const model *m, int axis) {
    bool mirrors = false;
    for (int side = 0; side < 2; side++) {
        mirrors |= m->sides[axis][side].kind == BOUNDARY_MIRROR;
        for (int f = 0; f < m->field_count; f++)
            mirrors |= model_side_of(m, f, axis, side)->kind == BOUNDARY_MIRROR;
    }
    return mirrors;
}

void model_find_ring(const model *m, int axis, bool *ring, bool *other) {
    for (int side = 0; side < 2; side++) /* one may be fixed, and the other a ring for what reads */
        if ((side == 0 ? m->low : m->high)[axis] > 0)
            *(m->sides[axis][side].kind == BOUNDARY_PERIODIC ? ring : other) = true;
}

void model_find_rings_of_maps(const model *m, int axis, bool *ring, bool *other) {
    for (int i = 0; i < m->monitor_count; i++)
        model_find_ring(m->monitors[i].map, axis, ring, other);
}

bool model_has_given_sides(const model *m) {
    bool given = false;
    for (int axis = 0; axis < m->dims; axis++)
        for (int side = 0; side < 2; side++) {
            given |= m->sides[axis][side].parameter != NULL;
            for (int f = 0; f < m->field_count; f++)
                given |= model_side_of(m, f, axis, side)->parameter != NULL;
        }
    return given;
}

int model_parameter_named(const model *m, const char *name) {
    for (int i = 0; i < m->parameter_count; i++)
        if (strcmp(m->parameters[i].name, name) == 0)
            return i;
    return -1;
}

/* "constant(1.5)" */
static void model_print_side(const model_side *side, text *out) {
    text_add(out, boundary_words[side->kind].name);
    if (side->kind != BOUNDARY_CONSTANT)
        return;
    text_add(out, "(");
    if (side->parameter != NULL)
        text_printf(out, "p.%s", side->parameter);
    else
        text_double(out, side->value);
    text_add(out, ")");
}

static void describe_axis(int axis, const model_side sides[2], text *out) {
    text_printf(out, "%c ", axis_names[axis]);
    model_print_side(&sides[0], out);
    if (model_same_side(&sides[0], &sides[1]))
        return;
    text_add(out, "/");
    model_print_side(&sides[1], out);
}

void model_describe_boundary(const model *m, text *out) {
    bool more = false;
    if (model_same_sides(m))
        model_print_side(&m->sides[0][0], out);
    for (int axis = 0; axis < m->dims && !model_same_sides(m); axis++) {
        text_add(out, axis == 0 ? "" : ", ");
        describe_axis(axis, m->sides[axis], out);
    }
    for (int f = 0; f < m->field_count; f++) {
        bool named = false;
        for (int axis = 0; axis < m->dims; axis++) {
            if (!m->fields[f].bounded[axis])
                continue;
            text_add(out, named ? ", " : more ? "; " : " (");
            if (!named)
                text_printf(out, "%s: ", m->fields[f].name);
            describe_axis(axis, m->fields[f].sides[axis], out);
            named = more = true;
        }
    }
    text_add(out, more ? ")" : "");
}

/* ---- conditions ------------------------------------------------------------------------------ */

enum { RARE = 100 }; /* one in so many */

/* An `all` or `any` that is the operand of another one is a part of that one. */
static bool *find_parts(job *j, const expr_pool *pool, const bool *live) {
    bool *part = job_array(j, (size_t)pool->count + 1, sizeof *part);
    for (expr_id id = 0; id < pool->count; id++) {
        const expr_node *n = expr_get(pool, id);
        for (int i = 0; live[id] && (n->op == EXPR_ALL || n->op == EXPR_ANY) && i < 2; i++)
            part[n->operand[i]] = true;
    }
    return part;
}

/* Nodes that hold a position and nothing that data decide. */
static bool *find_placed(job *j, const expr_pool *pool) {
    bool *placed = job_array(j, (size_t)pool->count + 1, sizeof *placed);
    bool *taps = job_array(j, (size_t)pool->count + 1, sizeof *taps);
    for (expr_id id = 0; id < pool->count; id++) {
        const expr_node *n = expr_get(pool, id);
        taps[id] = n->op == EXPR_TAP;
        placed[id] = n->op == EXPR_POSITION;
        for (int i = 0; i < expr_words[n->op].operands; i++) {
            taps[id] |= taps[n->operand[i]];
            placed[id] |= placed[n->operand[i]];
        }
    }
    for (expr_id id = 0; id < pool->count; id++)
        placed[id] &= !taps[id];
    return placed;
}

int conditions_find(job *j, const expr_pool *pool, const expr_id *roots, int count,
                    condition **out) {
    const bool *live = expr_live(pool, j, roots, count), *part = find_parts(j, pool, live);
    const bool *placed = find_placed(j, pool);
    int found = 0;
    *out = job_alloc(j, sizeof **out);
    for (expr_id id = 0; id < pool->count; id++) {
        const expr_op op = expr_get(pool, id)->op;
        const bool whole = (op == EXPR_ALL || op == EXPR_ANY) && !part[id];
        if (!live[id] || placed[id] || (!condition_is_comparison(op) && !whole))
            continue;
        *out = job_grow(j, *out, (size_t)found, sizeof **out);
        (*out)[found++] = (condition){.node = id};
    }
    return found;
}

static void add_side(job *j, const model *m, const condition *c, bool truth,
                     condition_sides *sides) {
    const int64_t taken = truth ? c->yes : c->no;
    if (taken >= (c->of + RARE - 1) / RARE)
        return;
    text t = text_new(j);
    model_print_condition(m, c->node, &t);
    sides->list = job_grow(j, sides->list, (size_t)sides->count, sizeof *sides->list);
    sides->list[sides->count++] = (condition_side){t.data, truth, taken, c->of};
}

void conditions_judge(job *j, const model *m, const condition *conditions, int count,
                      condition_sides *sides) {
    for (int i = 0; i < count; i++) {
        add_side(j, m, &conditions[i], true, sides);
        add_side(j, m, &conditions[i], false, sides);
    }
}

condition_sides conditions_copy(job *j, const condition_sides *from) {
    condition_sides out = {job_array(j, (size_t)from->count + 1, sizeof *out.list), from->count};
    for (int i = 0; i < from->count; i++) {
        out.list[i] = from->list[i];
        out.list[i].condition = job_string(j, from->list[i].condition);
    }
    return out;
}

void model_default_size(int dims, bool gpu, int64_t size[AXES]) {
    static const int64_t edge[2][AXES] = {{1 << 20, 1024, 128}, {1 << 26, 8192, 512}};
    for (int axis = 0; axis < AXES; axis++)
        size[axis] = axis < dims ? edge[gpu][dims - 1] : 1;
}

void model_set_radius(model *m) {
    for (int axis = 0; axis < AXES; axis++) {
        m->radius = m->low[axis] > m->radius ? m->low[axis] : m->radius;
        m->radius = m->high[axis] > m->radius ? m->high[axis] : m->radius;
    }
}
