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

bool model_is_narrow(const model *m) {
    bool some = false;
    for (int f = 0; f < m->field_count; f++)
        some |= dtype_is_narrow(m->fields[f].storage);
    return some;
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

static void add_count(text *out, int count, const char *noun) {
    text_printf(out, "%d %s%s", count, noun, count == 1 ? "" : "s");
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
    return a->kind == b->kind && (a->kind != BOUNDARY_CONSTANT || a->value == b->value);
}

bool model_same_sides(const model *m) {
    bool same = true;
    for (int axis = 0; axis < m->dims; axis++)
        for (int side = 0; side < 2; side++)
            same = same && model_same_side(&m->sides[axis][side], &m->sides[0][0]);
    return same;
}

static void describe_side(const model_side *side, text *out) {
    text_add(out, boundary_words[side->kind].name);
    if (side->kind != BOUNDARY_CONSTANT)
        return;
    text_add(out, "(");
    text_double(out, side->value);
    text_add(out, ")");
}

void model_describe_boundary(const model *m, text *out) {
    if (model_same_sides(m)) {
        describe_side(&m->sides[0][0], out);
        return;
    }
    for (int axis = 0; axis < m->dims; axis++) {
        const model_side *sides = m->sides[axis];
        text_printf(out, "%s%c ", axis == 0 ? "" : ", ", axis_names[axis]);
        describe_side(&sides[0], out);
        if (model_same_side(&sides[0], &sides[1]))
            continue;
        text_add(out, "/");
        describe_side(&sides[1], out);
    }
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
        out.list[i].condition =
            job_copy(j, from->list[i].condition, strlen(from->list[i].condition));
    }
    return out;
}

void model_default_size(int dims, bool gpu, int64_t size[AXES]) {
    static const int64_t edge[2][AXES] = {{1 << 20, 1024, 128}, {1 << 26, 8192, 512}};
    for (int axis = 0; axis < AXES; axis++)
        size[axis] = axis < dims ? edge[gpu][dims - 1] : 1;
}
