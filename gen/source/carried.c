/* What a step along the walk computes and the step before has computed already: of the flux through
   a face, the cells on both sides. Takes: rewritten expressions of a model. Makes: them as nodes
   that are computed as they stand, and which of these a walk carries from step to step. */
#include "gen/source/emit.h"

#include <string.h>

typedef struct search {
    job *job;
    expr_pool *pool;
    int axis, nodes; /* of the expressions, before moved ones were added */
    const bool *live;
    expr_id *moved; /* of each node: it one step later; EXPR_NONE */
    int *operations;
    bool *met;
    carried *found;
} search;

static expr_id copy_leaf(void *user, const expr_node *n) {
    expr_pool *pool = user;
    return n->op == EXPR_CONSTANT    ? expr_constant(pool, n->value)
           : n->op == EXPR_PARAMETER ? expr_parameter(pool, n->index)
                                     : expr_tap(pool, n->index, n->d);
}

/* Signs are free. A product with a sum is one operation. */
static bool is_operation(expr_op op) {
    return expr_words[op].operands > 0 && op != EXPR_NEGATE;
}

/* Each live node one step later, where the expressions have that node, too. */
static void move(search *s) {
    for (expr_id id = 0; id < s->nodes; id++) {
        const expr_node n = *expr_get(s->pool, id); /* a copy: the pool may move while it grows */
        const int operands = expr_words[n.op].operands;
        expr_id of[3] = {EXPR_NONE, EXPR_NONE, EXPR_NONE};
        bool can = s->live[id];
        for (int k = 0; k < operands; k++) {
            of[k] = s->moved[n.operand[k]];
            can &= of[k] != EXPR_NONE;
        }
        if (!can)
            continue;
        s->moved[id] = id;
        if (n.op == EXPR_TAP) {
            int d[AXES];
            memcpy(d, n.d, sizeof d);
            d[s->axis]++;
            s->moved[id] = expr_tap(s->pool, n.index, d);
        } else if (operands > 0) {
            s->moved[id] = expr_make(s->pool, n.op, of[0], of[1], of[2]);
        }
    }
}

/* Operations of which a node is made, each as often as it is read. */
static void count_operations(search *s) {
    enum { MOST = 1 << 20 };
    for (expr_id id = 0; id < s->nodes; id++) {
        const expr_node *n = expr_get(s->pool, id);
        int sum = is_operation(n->op);
        for (int k = 0; k < expr_words[n->op].operands; k++)
            sum += s->operations[n->operand[k]];
        s->operations[id] = sum < MOST ? sum : MOST;
    }
}

/* Fewer operations are not worth the registers. */
static bool is_carried(const search *s, expr_id id) {
    enum { LEAST = 2 };
    const expr_id from = s->moved[id];
    const expr_op op = expr_get(s->pool, id)->op;
    return from != EXPR_NONE && from != id && from < s->nodes && s->live[from] &&
           !expr_words[op].gives_truth && op != EXPR_NEGATE &&
           (s->operations[id] >= LEAST || op == EXPR_DIVIDE || op == EXPR_SQRT);
}

/* Notes what is carried of all that these nodes are made of; and what that is made of, one step
   earlier, is computed like the rest. False where it is too much. */
static bool collect(search *s, const expr_id *roots, int count) {
    expr_id *open = job_array(s->job, (size_t)s->nodes + 1, sizeof *open);
    int waiting = 0;
    for (int i = 0; i < count; i++)
        if (!s->met[roots[i]]) {
            s->met[roots[i]] = true;
            open[waiting++] = roots[i];
        }
    while (waiting > 0) {
        const expr_id id = open[--waiting];
        const expr_node *n = expr_get(s->pool, id);
        expr_id next[3];
        int operands = expr_words[n->op].operands;
        memcpy(next, n->operand, sizeof next);
        if (is_carried(s, id)) {
            carried *c = s->found;
            if (c->count == MOST_CARRIED)
                return false;
            c->names[id] = job_print(s->job, "carried.value%d", c->count);
            c->value[c->count] = id;
            c->from[c->count++] = next[0] = s->moved[id];
            operands = 1;
        }
        for (int k = 0; k < operands; k++)
            if (!s->met[next[k]]) {
                s->met[next[k]] = true;
                open[waiting++] = next[k];
            }
    }
    return true;
}

/* Of values that differ by where along x they are read, neighbouring points share all but one. */
static int count_rows(search *s) {
    const carried *c = s->found;
    int rows = 0;
    const int axis = s->axis;
    expr_id *along_y = s->moved;
    s->moved = job_array(s->job, (size_t)s->nodes + 1, sizeof *s->moved);
    memset(s->moved, 0xff, ((size_t)s->nodes + 1) * sizeof *s->moved); /* EXPR_NONE */
    s->axis = 0;
    move(s);
    for (int i = 0; i < c->count; i++) {
        bool first = true;
        for (int k = 0; k < c->count; k++)
            first &= c->value[k] != s->moved[c->value[i]] || k == i;
        rows += first;
    }
    s->moved = along_y;
    s->axis = axis;
    return rows;
}

const carried *carried_find(job *j, const model *m, const expr_id *roots, int axis) {
    if (m->positions != 0 || m->chain != NULL || m->dtype >= DTYPE_REALS || m->dims < 2)
        return NULL;
    model *of = job_alloc(j, sizeof *of);
    carried *c = job_alloc(j, sizeof *c);
    *of = *m;
    of->arranged = true;
    of->pool = expr_pool_new(j);
    of->pool->ordered = true;
    c->model = of;
    const emit_leaves leaves = {of->pool, copy_leaf};
    emit_explicit(j, m, roots, m->output_count, &leaves, of->pool, c->roots);
    search s = {.job = j, .pool = of->pool, .axis = axis, .nodes = of->pool->count, .found = c};
    const size_t nodes = (size_t)s.nodes + 1;
    s.live = c->live = expr_live(of->pool, j, c->roots, m->output_count);
    s.moved = job_array(j, nodes, sizeof *s.moved);
    memset(s.moved, 0xff, nodes * sizeof *s.moved); /* EXPR_NONE */
    s.operations = job_array(j, nodes, sizeof *s.operations);
    s.met = job_array(j, nodes, sizeof *s.met);
    c->names = job_array(j, nodes, sizeof *c->names);
    move(&s);
    count_operations(&s);
    if (!collect(&s, c->roots, m->output_count) || c->count == 0 || of->pool->limit != NULL)
        return NULL;
    c->rows = count_rows(&s);
    expr_pool_truncate(of->pool, s.nodes);
    bool *steady = job_array(j, nodes, sizeof *steady);
    for (expr_id id = 0; id < s.nodes; id++)
        steady[id] = s.met[id] && c->names[id] == NULL;
    c->steady = steady;
    return c;
}

static void write_values(text *out, const carried *c, const emitter *e) {
    const char *targets[MOST_CARRIED];
    text_add(out, "// What a step of the walk has computed for the next one.\nstruct Carried {\n");
    for (int i = 0; i < c->count; i++) {
        text_printf(out, "    Real value%d;\n", i);
        targets[i] = job_print(out->job, "carried.value%d =", i);
    }
    text_add(out, "};\n// Before the first step.\ntemplate <class At>\n"
                  "__device__ __forceinline__ void begin_carried(const At &at, [[maybe_unused]] "
                  "const Arguments &arguments, Carried &carried) {\n");
    emit_statements(out, e, c->value, targets, c->count);
    text_add(out, "}\n");
}

void carried_write(text *out, const carried *c, const emitter *e) {
    emitter of = *e;
    of.model = c->model;
    of.interior = NULL;
    text_add(out, "#define PLAN_CARRIED 1 // steps of the walk share what they compute\n");
    write_values(out, c, &of);
    expr_id roots[MAX_FIELDS + MOST_CARRIED];
    const char *targets[MAX_FIELDS + MOST_CARRIED];
    int count = 0;
    for (int i = 0; i < c->count; i++) {
        roots[count] = c->from[i];
        targets[count++] = job_print(out->job, "next.value%d =", i);
    }
    for (int o = 0; o < c->model->output_count; o++) {
        roots[count] = c->roots[o];
        targets[count++] = job_print(out->job, "out[%d] =", o);
    }
    of.names = c->names;
    text_printf(
        out,
        "// One point, as update_point.\ntemplate <class At>\n"
        "__device__ __forceinline__ void update_carried(const At &at, [[maybe_unused]] const "
        "Arguments &arguments, const Carried &carried, Carried &next, Real (&out)[%d]) {\n",
        c->model->output_count);
    emit_statements(out, &of, roots, targets, count);
    text_add(out, "}\n");
}
