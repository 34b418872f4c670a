/* Divisions and roots, behind each of which compilers put a branch. Takes: nodes of a model. Makes:
   which they are, and which of them the points of a row have in common. */
#include "gen/source/emit.h"

#include <limits.h>
#include <math.h>

bool *emit_varying(job *j, const expr_pool *pool) {
    bool *varies = job_array(j, (size_t)pool->count, sizeof *varies);
    for (int i = 0; i < pool->count; i++) {
        const expr_node *n = expr_get(pool, i);
        varies[i] = n->op == EXPR_TAP || n->op == EXPR_POSITION;
        for (int k = 0; k < expr_words[n->op].operands; k++)
            varies[i] |= varies[n->operand[k]];
    }
    return varies;
}

bool emit_is_quotient(const expr_pool *pool, expr_id id, const bool *varies, bool by_constants) {
    const expr_node *n = expr_get(pool, id);
    if (n->op == EXPR_SQRT || n->op != EXPR_DIVIDE)
        return n->op == EXPR_SQRT && varies[id];
    const expr_node *by = expr_get(pool, n->operand[1]);
    int exponent;
    return varies[n->operand[1]] ||
           (by_constants && varies[id] &&
            (by->op != EXPR_CONSTANT || fabs(frexp(by->value, &exponent)) != 0.5));
}

bool emit_is_reciprocal(const expr_pool *pool, const expr_node *division) {
    const expr_node *first = expr_get(pool, division->operand[0]);
    return first->op == EXPR_CONSTANT && first->value == 1;
}

int emit_count_quotients(job *j, const model *m, const bool *live, bool of_two) {
    const expr_pool *pool = m->pool;
    const bool *varies = emit_varying(j, pool);
    int count = 0;
    for (int i = 0; i < pool->count && m->dtype < DTYPE_WIDE; i++) {
        const expr_node *n = expr_get(pool, i);
        if (live[i] && emit_is_quotient(pool, i, varies, of_two))
            count += !of_two || (n->op == EXPR_DIVIDE && !emit_is_reciprocal(pool, n));
    }
    return count;
}

/* ---- what points of a row share -------------------------------------------------------------- */

typedef struct finder {
    expr_translates t;
    const bool *chosen;
    int nodes;
} finder;

/* Whether b is a, moved along x alone. */
static bool is_moved(const finder *f, expr_id a, expr_id b) {
    bool is = f->chosen[b] && f->t.first[a] == f->t.first[b];
    for (int axis = 1; axis < AXES; axis++)
        is = is && f->t.place[a].at[axis] == f->t.place[b].at[axis];
    return is;
}

static int x_of(const finder *f, expr_id id) {
    return f->t.place[id].at[0];
}

/* The copies of `first` get a row, if there are some. */
static void add_row(const finder *f, expr_id first, emit_shared *s) {
    int low = x_of(f, first), high = low;
    for (expr_id b = first; b < f->nodes; b++)
        if (is_moved(f, first, b)) {
            low = x_of(f, b) < low ? x_of(f, b) : low;
            high = x_of(f, b) > high ? x_of(f, b) : high;
        }
    if (low == high)
        return;
    for (expr_id b = first; b < f->nodes; b++) {
        if (!is_moved(f, first, b))
            continue;
        s->row[b] = s->count;
        s->place[b] = x_of(f, b) - low;
        for (expr_id c = first; c < f->nodes; c++)
            if (is_moved(f, first, c) && x_of(f, c) > x_of(f, b) &&
                x_of(f, c) - x_of(f, b) < s->again[b])
                s->again[b] = x_of(f, c) - x_of(f, b);
    }
    s->width[s->count++] = high - low;
}

const emit_shared *emit_find_shared(job *j, const model *m, const bool *live, const char *name) {
    const int nodes = m->pool->count;
    const bool *varies = emit_varying(j, m->pool);
    bool *chosen = job_array(j, (size_t)nodes, sizeof *chosen);
    const finder f = {expr_find_translates(m->pool, j, live), chosen, nodes};
    emit_shared *s = job_alloc(j, sizeof *s);
    s->name = name;
    s->row = job_array(j, (size_t)nodes, sizeof *s->row);
    s->place = job_array(j, (size_t)nodes, sizeof *s->place);
    s->again = job_array(j, (size_t)nodes, sizeof *s->again);
    for (expr_id id = 0; id < nodes; id++) {
        s->row[id] = -1;
        s->again[id] = INT_MAX;
        chosen[id] =
            live[id] && f.t.place[id].moves[0] && emit_is_quotient(m->pool, id, varies, true);
    }
    for (expr_id id = 0; id < nodes && s->count < MOST_SHARED; id++)
        if (chosen[id] && s->row[id] < 0)
            add_row(&f, id, s);
    return s->count > 0 ? s : NULL;
}
