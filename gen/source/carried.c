/* What a step along the walk computes and the step before has computed already: of the flux through
   a face, the cells on both sides. Takes: rewritten expressions of a model. Makes: them as nodes
   that are computed as they stand, and which of these a walk carries from step to step: for a point
   itself, and for its neighbours along x that the same thread makes. */
#include "gen/source/emit.h"

#include <string.h>

/* Points along x, between which a thread looks for what it has. */
enum { MOST_APART = 4 };

typedef struct search {
    job *job;
    expr_pool *pool;
    int nodes; /* of the expressions, before moved ones were added */
    const bool *live;
    expr_id *moved;                 /* of each node: it one step later; EXPR_NONE */
    expr_id *along[MOST_APART + 1]; /* the same, so many points further along x */
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

/* Each live node so far along the axis, where the expressions have that node, too. */
static expr_id *move(const search *s, int axis, int by) {
    expr_id *moved = job_array(s->job, (size_t)s->nodes + 1, sizeof *moved);
    for (expr_id id = 0; id < s->nodes; id++) {
        moved[id] = EXPR_NONE;
        const expr_node n = *expr_get(s->pool, id); /* a copy: the pool may move while it grows */
        const int operands = expr_words[n.op].operands;
        expr_id of[3] = {EXPR_NONE, EXPR_NONE, EXPR_NONE};
        bool can = s->live[id];
        for (int k = 0; k < operands; k++) {
            of[k] = moved[n.operand[k]];
            can &= of[k] != EXPR_NONE;
        }
        if (!can)
            continue;
        moved[id] = id;
        if (n.op == EXPR_TAP) {
            int d[AXES];
            memcpy(d, n.d, sizeof d);
            d[axis] += by;
            moved[id] = expr_tap(s->pool, n.index, d);
        } else if (operands > 0) {
            moved[id] = expr_make(s->pool, n.op, of[0], of[1], of[2]);
        }
    }
    return moved;
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

/* What is known of a node of the search before: of which carried one it is a copy along x. */
static carried_neighbour find_neighbour(const search *s, const carried *known, expr_id id) {
    for (int i = 0; known != NULL && i < known->count; i++)
        for (int by = 1; by <= MOST_APART; by++) {
            if (s->along[by][known->value[i]] == id)
                return (carried_neighbour){id, known->value[i], by};
            if (s->along[by][id] == known->value[i])
                return (carried_neighbour){id, known->value[i], -by};
        }
    return (carried_neighbour){EXPR_NONE, 0, 0};
}

/* Visits a node: notes it if it is carried, or a copy along x of one of `known` that is. The
   operands that are computed then take the places of its own; returns how many, −1: too many are
   carried. */
static int visit(search *s, const carried *known, expr_id id, expr_id next[3]) {
    carried *c = s->found;
    const expr_node *n = expr_get(s->pool, id);
    memcpy(next, n->operand, sizeof n->operand);
    if (is_carried(s, id)) {
        if (c->count == MOST_CARRIED)
            return -1;
        c->names[id] = job_print(s->job, "carried[i].value%d", c->count);
        c->value[c->count] = id;
        c->from[c->count++] = next[0] = s->moved[id];
        return 1;
    }
    const carried_neighbour b = find_neighbour(s, known, id);
    if (b.node == EXPR_NONE || c->neighbour_count == MOST_NEIGHBOURS)
        return expr_words[n->op].operands;
    c->names[id] = job_print(s->job, "neighbour%d", c->neighbour_count);
    c->neighbours[c->neighbour_count++] = b;
    next[0] = b.value; /* is carried, too */
    return 1;
}

/* Notes what is carried of all that the roots are made of; and what that is made of, one step
   earlier, is computed like the rest. NULL where it is too much. */
static carried *collect(search *s, const carried *known, const carried *of) {
    carried *c = s->found = job_alloc(s->job, sizeof *c);
    *c = *of;
    c->names = job_array(s->job, (size_t)s->nodes + 1, sizeof *c->names);
    s->met = job_array(s->job, (size_t)s->nodes + 1, sizeof *s->met);
    expr_id *open = job_array(s->job, (size_t)s->nodes + 1, sizeof *open);
    int waiting = 0;
    for (int i = 0; i < c->model->output_count; i++)
        if (!s->met[c->roots[i]]) {
            s->met[c->roots[i]] = true;
            open[waiting++] = c->roots[i];
        }
    while (waiting > 0) {
        expr_id next[3];
        const int operands = visit(s, known, open[--waiting], next);
        if (operands < 0)
            return NULL;
        for (int k = 0; k < operands; k++)
            if (!s->met[next[k]]) {
                s->met[next[k]] = true;
                open[waiting++] = next[k];
            }
    }
    for (int i = 0; i < c->neighbour_count; i++) {
        int value = 0;
        while (c->value[value] != c->neighbours[i].value)
            value++;
        c->neighbours[i].value = value;
    }
    return c;
}

/* Of values that differ by where along x they are read, neighbouring points share all but one. */
static int count_rows(const search *s) {
    const carried *c = s->found;
    int rows = 0;
    for (int i = 0; i < c->count; i++) {
        bool first = true;
        for (int k = 0; k < c->count; k++)
            first &= c->value[k] != s->along[1][c->value[i]] || k == i;
        rows += first;
    }
    return rows;
}

int carried_outside(const carried *c, int value) {
    int before = 0, after = 0;
    for (int i = 0; i < c->neighbour_count; i++) {
        const carried_neighbour *b = &c->neighbours[i];
        if (b->value == value) {
            before = -b->by > before ? -b->by : before;
            after = b->by > after ? b->by : after;
        }
    }
    return before + after;
}

const carried *carried_find(job *j, const model *m, const expr_id *roots, int axis) {
    if (m->positions != 0 || m->chain != NULL || m->dtype >= DTYPE_REALS || m->dims < 2)
        return NULL;
    model *of = job_alloc(j, sizeof *of);
    carried plain = {.model = of};
    *of = *m;
    of->arranged = true;
    of->pool = expr_pool_new(j);
    of->pool->ordered = true;
    const emit_leaves leaves = {of->pool, copy_leaf};
    emit_explicit(j, m, roots, m->output_count, &leaves, of->pool, plain.roots);
    search s = {.job = j, .pool = of->pool, .nodes = of->pool->count};
    const size_t nodes = (size_t)s.nodes + 1;
    s.live = plain.live = expr_live(of->pool, j, plain.roots, m->output_count);
    s.operations = job_array(j, nodes, sizeof *s.operations);
    count_operations(&s);
    s.moved = move(&s, axis, 1);
    const carried *alone = collect(&s, NULL, &plain);
    if (alone == NULL || alone->count == 0)
        return NULL;
    for (int by = 1; by <= MOST_APART; by++)
        s.along[by] = move(&s, 0, by);
    carried *c = collect(&s, alone, &plain);
    if (c == NULL || of->pool->limit != NULL)
        return NULL;
    c->rows = count_rows(&s);
    expr_pool_truncate(of->pool, s.nodes);
    bool *steady = job_array(j, nodes, sizeof *steady);
    for (expr_id id = 0; id < s.nodes; id++)
        steady[id] = s.met[id] && c->names[id] == NULL;
    c->steady = steady;
    return c;
}

/* The values of the points before and after a point. `packs`: those of a thread are neighbours. */
static void write_neighbours(text *out, const carried *c, const emitter *e, bool packs) {
    static const char *const target = "return";
    if (c->neighbour_count > 0)
        text_add(out, "// A point dx further.\n"
                      "template <int dx, class At> struct Neighbour : At {\n"
                      "    template <int array, int x, int y, int z>\n"
                      "    __device__ __forceinline__ Real tap() const {\n"
                      "        return At::template tap<array, x + dx, y, z>();\n    }\n};\n");
    for (int i = 0; i < c->count; i++) {
        if (carried_outside(c, i) == 0)
            continue;
        text_printf(out,
                    "template <int i, int dx, class At>\n"
                    "__device__ __forceinline__ Real neighbour_value%d(const At &point, "
                    "[[maybe_unused]] const Arguments &arguments, [[maybe_unused]] const Carried "
                    "(&carried)[plan::vector]) {\n",
                    i);
        if (packs)
            text_printf(out,
                        "    if constexpr (i + dx >= 0 && i + dx < plan::vector)\n"
                        "        return carried[i + dx].value%d;\n",
                        i);
        text_add(out, "    const Neighbour<dx, At> at = {point};\n");
        emit_statements(out, e, &c->value[i], &target, 1);
        text_add(out, "}\n");
    }
}

static void write_values(text *out, const carried *c) {
    text_add(out, "// What a step of the walk has computed for the next one.\nstruct Carried {\n");
    for (int i = 0; i < c->count; i++)
        text_printf(out, "    Real value%d;\n", i);
    text_add(out, "};\n");
}

static void write_beginning(text *out, const carried *c, const emitter *e) {
    const char *targets[MOST_CARRIED];
    for (int i = 0; i < c->count; i++)
        targets[i] = job_print(out->job, "carried.value%d =", i);
    text_add(out, "// Before the first step, of point i of a row.\ntemplate <int i, class At>\n"
                  "__device__ __forceinline__ void begin_carried(const At &at, [[maybe_unused]] "
                  "const Arguments &arguments, Carried &carried) {\n");
    emit_statements(out, e, c->value, targets, c->count);
    text_add(out, "}\n");
}

/* Rows of quotients that points share, before the first step and in each one. */
static void write_shared(text *out, const emit_shared *const shared[2]) {
    text_add(out, "#define PLAN_SHARES 1 // points of a row share quotients\n"
                  "// At [i + d]: of point i, d cells along x from where the first one "
                  "reads.\nstruct Shared {\n");
    for (int step = 0; step < 2; step++)
        for (int k = 0; shared[step] != NULL && k < shared[step]->count; k++)
            text_printf(out, "    Real %s%d[plan::vector + %d];\n", shared[step]->name, k,
                        shared[step]->width[k]);
    text_add(out, "};\n");
}

void carried_write(text *out, const carried *c, const emitter *e, bool packs) {
    emitter of = *e;
    of.model = c->model;
    of.interior = NULL;
    text_add(out, "#define PLAN_CARRIED 1 // steps of the walk share what they compute\n");
    write_values(out, c);
    const emit_shared *shared[2] = {NULL, NULL};
    if (packs && e->quick) {
        const bool *before = expr_live(c->model->pool, out->job, c->value, c->count);
        shared[0] = emit_find_shared(out->job, c->model, before, "before");
        shared[1] = emit_find_shared(out->job, c->model, c->steady, "quotient");
    }
    if (shared[0] != NULL || shared[1] != NULL)
        write_shared(out, shared);
    write_neighbours(out, c, &of, packs);
    of.shared = shared[0];
    write_beginning(out, c, &of);
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
    of.shared = shared[1];
    text_printf(
        out,
        "// Point i of a row, as update_point.\ntemplate <int i, class At>\n"
        "__device__ __forceinline__ void update_carried(const At &at, [[maybe_unused]] const "
        "Arguments &arguments, const Carried (&carried)[plan::vector], Carried &next, Real "
        "(&out)[%d]) {\n",
        c->model->output_count);
    for (int i = 0; i < c->neighbour_count; i++)
        text_printf(
            out, "    const Real neighbour%d = neighbour_value%d<i, %d>(at, arguments, carried);\n",
            i, c->neighbours[i].value, c->neighbours[i].by);
    emit_statements(out, &of, roots, targets, count);
    text_add(out, "}\n");
}
