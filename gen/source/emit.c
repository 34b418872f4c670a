/* Writes expressions: taps and shared parts get a name and a line of their own, the rest is nested
   where it fits on a line. Operands come before users in the pool, so nothing recurses. */
#include "gen/source/emit.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NESTED = 76, LONG_OPERAND = 24 };

/* How tightly an expression's text binds; operands that bind less get parentheses. */
typedef enum level { LEVEL_COMPARE, LEVEL_SUM, LEVEL_PRODUCT, LEVEL_PRIMARY } level;

typedef struct part {
    const char *shown;
    size_t length;
    level level;
} part;

typedef struct writer {
    text *out;
    job *job;
    const emitter *e;
    const expr_pool *pool;
    const int *uses;
    bool *varies; /* by node: it is not the same for all points */
    part *parts;  /* by node */
    int named;    /* t1 … */
} writer;

/* CUDA spellings: an operator between its operands, or a function by dtype. */
typedef struct spelling {
    const char *infix; /* NULL: a function */
    level level;
    const char *function[DTYPE_WIDE + 1]; /* the last: of whole numbers */
} spelling;

static const spelling spellings[EXPR_OP_COUNT] = {
    [EXPR_ADD] = {" + ", LEVEL_SUM, {NULL, NULL, "wrapping_add"}},
    [EXPR_SUBTRACT] = {" - ", LEVEL_SUM, {NULL, NULL, "wrapping_subtract"}},
    [EXPR_MULTIPLY] = {" * ", LEVEL_PRODUCT, {NULL, NULL, "wrapping_multiply"}},
    [EXPR_DIVIDE] = {" / ", LEVEL_PRODUCT, {NULL}},
    [EXPR_NEGATE] = {NULL, LEVEL_PRODUCT, {NULL, NULL, "wrapping_negate"}},
    [EXPR_LT] = {" < ", LEVEL_COMPARE, {NULL}},
    [EXPR_LE] = {" <= ", LEVEL_COMPARE, {NULL}},
    [EXPR_GT] = {" > ", LEVEL_COMPARE, {NULL}},
    [EXPR_GE] = {" >= ", LEVEL_COMPARE, {NULL}},
    [EXPR_EQ] = {" == ", LEVEL_COMPARE, {NULL}},
    [EXPR_NE] = {" != ", LEVEL_COMPARE, {NULL}},
    [EXPR_ALL] = {" && ", LEVEL_COMPARE, {NULL}},
    [EXPR_ANY] = {" || ", LEVEL_COMPARE, {NULL}},
    [EXPR_MIN] = {NULL, LEVEL_PRIMARY, {"minimum", "minimum", "minimum"}},
    [EXPR_MAX] = {NULL, LEVEL_PRIMARY, {"maximum", "maximum", "maximum"}},
    [EXPR_ABS] = {NULL, LEVEL_PRIMARY, {"fabsf", "fabs", "magnitude"}},
    [EXPR_SQRT] = {NULL, LEVEL_PRIMARY, {"sqrtf", "sqrt"}},
    [EXPR_EXP] = {NULL, LEVEL_PRIMARY, {"expf", "exp"}},
    [EXPR_LOG] = {NULL, LEVEL_PRIMARY, {"logf", "log"}},
    [EXPR_SIN] = {NULL, LEVEL_PRIMARY, {"sinf", "sin"}},
    [EXPR_COS] = {NULL, LEVEL_PRIMARY, {"cosf", "cos"}},
    [EXPR_TANH] = {NULL, LEVEL_PRIMARY, {"tanhf", "tanh"}},
    [EXPR_POW] = {NULL, LEVEL_PRIMARY, {"powf", "pow"}},
    [EXPR_FLOOR] = {NULL, LEVEL_PRIMARY, {"floorf", "floor"}},
};

void emit_constant(text *out, dtype type, double value) {
    switch (type) {
    case DTYPE_FLOAT:
        text_float(out, (float)value);
        text_add(out, "f");
        break;
    case DTYPE_INT32: /* the least of all is no literal of its type */
        text_printf(out, value == INT32_MIN ? "(%d - 1)" : "%d", (int)value + (value == INT32_MIN));
        break;
    case DTYPE_INT64:
        text_printf(out, value == -0x1p63 ? "(%lldLL - 1)" : "%lldLL",
                    (long long)value + (value == -0x1p63));
        break;
    case DTYPE_UINT32:
        text_printf(out, "%uu", (unsigned)value);
        break;
    default:
        text_double(out, value);
        break;
    }
}

static void set(writer *w, expr_id id, const char *shown, level level) {
    w->parts[id] = (part){shown, strlen(shown), level};
}

/* u_c, u_xm1, u_xp1ym2; with several arrays u_0_xm1, so that no two fields' names can meet. */
static const char *tap_name(writer *w, const expr_node *n) {
    const model *m = w->e->model;
    text name = text_new(w->job);
    const char *field = m->fields[m->arrays[n->index].field].name;
    text_printf(&name, "%.*s_", (int)strcspn(field, "["), field);
    if (m->array_count > 1)
        text_printf(&name, "%d_", w->e->kernel_arrays[n->index]);
    bool centre = true;
    for (int axis = 0; axis < AXES; axis++)
        if (n->d[axis] != 0) {
            text_printf(&name, "%c%c%d", axis_names[axis], n->d[axis] < 0 ? 'm' : 'p',
                        n->d[axis] < 0 ? -n->d[axis] : n->d[axis]);
            centre = false;
        }
    if (centre)
        text_add(&name, "c");
    return name.data;
}

/* The kernel's axis of a grid's. */
static int kernel_axis(const emitter *e, int of) {
    int axis = 0;
    while (e->axes[axis] != of)
        axis++;
    return axis;
}

/* at_x, at_xm1 */
static const char *position_name(job *j, int which, int added) {
    const char *word = position_words[which].name;
    return added == 0 ? job_print(j, "at_%s", word)
                      : job_print(j, "at_%s%c%d", word, added < 0 ? 'm' : 'p', abs(added));
}

/* Positions are whole numbers until they are converted, so that none is rounded twice. */
static void write_position(writer *w, expr_id id) {
    const int which = expr_get(w->pool, id)->index, of = position_axis(which);
    const int added = expr_get(w->pool, id)->d[0];
    const char *name = position_name(w->job, which, added);
    const char *plus =
        added == 0 ? "" : job_print(w->job, added < 0 ? " - %d" : " + %d", abs(added));
    const int axis = which == POSITION_STEP ? 0 : kernel_axis(w->e, of); /* the kernel's */
    text_printf(w->out, "    const Real %s = static_cast<Real>(", name);
    if (which == POSITION_STEP)
        text_printf(w->out, "arguments.step%s);\n", w->e->steps ? " + at.steps()" : "");
    else if (which >= POSITION_REST)
        text_printf(w->out,
                    "arguments.global[%d] - 1 - arguments.origin[%d] - at.template index<%d>()%s);"
                    "\n",
                    axis, axis, axis, plus);
    else if (which >= POSITION_NX)
        text_printf(w->out, "arguments.global[%d]);\n", axis);
    else if (w->e->model->sides[of][0].kind == BOUNDARY_PERIODIC)
        text_printf(w->out,
                    "wrapped(arguments.origin[%d] + at.template index<%d>()%s, "
                    "arguments.global[%d]));\n",
                    axis, axis, plus, axis);
    else
        text_printf(w->out, "arguments.origin[%d] + at.template index<%d>()%s);\n", axis, axis,
                    plus);
    set(w, id, name, LEVEL_PRIMARY);
}

static void write_leaf(writer *w, expr_id id) {
    const expr_node *n = expr_get(w->pool, id);
    const model *m = w->e->model;
    if (n->op == EXPR_CONSTANT) {
        text shown = text_new(w->job);
        emit_constant(&shown, m->dtype, n->value);
        set(w, id, shown.data, n->value < 0 ? LEVEL_PRODUCT : LEVEL_PRIMARY);
        return;
    }
    if (n->op == EXPR_PARAMETER) {
        const char *name = job_print(w->job, "%s_value", m->parameters[n->index].name);
        text_printf(w->out, "    const Real %s = arguments.parameter[%d];\n", name, n->index);
        set(w, id, name, LEVEL_PRIMARY);
        return;
    }
    if (n->op == EXPR_POSITION) {
        write_position(w, id);
        return;
    }
    if (w->e->axes == NULL) { /* an operand of a function */
        set(w, id, m->fields[m->arrays[n->index].field].name, LEVEL_PRIMARY);
        return;
    }
    const char *name = tap_name(w, n);
    int d[AXES];
    for (int k = 0; k < AXES; k++)
        d[k] = w->e->axes[k] < 0 ? 0 : n->d[w->e->axes[k]];
    text_printf(w->out, "    const Real %s = at.template tap<%d, %d, %d, %d>();\n", name,
                w->e->kernel_arrays[n->index], d[0], d[1], d[2]);
    set(w, id, name, LEVEL_PRIMARY);
}

static const char fused_names[DTYPE_WIDE][5] = {"fmaf", "fma"};

/* Gives a node a line and a name of its own. */
static void name_part(writer *w, expr_id id) {
    const bool truth = expr_words[expr_get(w->pool, id)->op].gives_truth;
    const char *name = job_print(w->job, "t%d", ++w->named);
    text_printf(w->out, "    const %s %s = %s;\n", truth ? "bool" : "Real", name,
                w->parts[id].shown);
    set(w, id, name, LEVEL_PRIMARY);
}

/* Operands that make a long text get lines of their own. */
static void shorten(writer *w, const expr_id *operands, int count) {
    size_t length = 0;
    for (int k = 0; k < count; k++)
        length += w->parts[operands[k]].length;
    for (int k = 0; k < count && length > LONGEST_NESTED; k++)
        if (w->parts[operands[k]].length > LONG_OPERAND)
            name_part(w, operands[k]);
}

static const char *operand(writer *w, expr_id id, level least) {
    const part *p = &w->parts[id];
    return p->level >= least ? p->shown : job_print(w->job, "(%s)", p->shown);
}

/* NULL where an operator says it. Unsigned numbers wrap by themselves. */
static const char *function_of(const spelling *s, dtype type) {
    if (type == DTYPE_UINT32 && (s->infix != NULL || s->level == LEVEL_PRODUCT))
        return NULL;
    return s->function[type < DTYPE_WIDE ? type : DTYPE_WIDE];
}

/* A sum with one of its products. */
static void write_fused(writer *w, expr_id id, int product) {
    const expr_node *n = expr_get(w->pool, id);
    const expr_id *factors = expr_get(w->pool, n->operand[product])->operand;
    const expr_id operands[3] = {factors[0], factors[1], n->operand[1 - product]};
    shorten(w, operands, 3);
    const bool minus = n->op == EXPR_SUBTRACT;
    const char *first = w->parts[operands[0]].shown, *last = w->parts[operands[2]].shown;
    if (minus && product == 1)
        first = job_print(w->job, "-%s", operand(w, operands[0], LEVEL_PRIMARY));
    if (minus && product == 0)
        last = job_print(w->job, "-%s", operand(w, operands[2], LEVEL_PRIMARY));
    set(w, id,
        job_print(w->job, "%s(%s, %s, %s)", fused_names[w->e->model->dtype], first,
                  w->parts[operands[1]].shown, last),
        LEVEL_PRIMARY);
    if (w->uses[id] > 1)
        name_part(w, id);
}

/* A quotient that another point of the row may have made. */
static void write_shared(writer *w, expr_id id) {
    const emit_shared *s = w->e->shared;
    const char *name = job_print(w->job, "t%d", ++w->named);
    const char *place =
        job_print(w->job, "at.numbers.row.%s%d[i + %d]", s->name, s->row[id], s->place[id]);
    if (s->again[id] == INT_MAX)
        text_printf(w->out, "    const Real %s = %s = %s;\n", name, place, w->parts[id].shown);
    else
        text_printf(w->out,
                    "    if constexpr (i < %d)\n        %s = %s;\n    const Real %s = %s;\n",
                    s->again[id], place, w->parts[id].shown, name, place);
    set(w, id, name, LEVEL_PRIMARY);
}

/* The same, made by `at`. */
static void write_quotient(writer *w, expr_id id) {
    const expr_node *n = expr_get(w->pool, id);
    const char *const a = w->parts[n->operand[0]].shown;
    const char *shown;
    if (n->op == EXPR_SQRT)
        shown = job_print(w->job, "at.root(%s)", a);
    else if (emit_is_reciprocal(w->pool, n))
        shown = job_print(w->job, "at.reciprocal(%s)", w->parts[n->operand[1]].shown);
    else
        shown = job_print(w->job, "at.quotient(%s, %s)", a, w->parts[n->operand[1]].shown);
    set(w, id, shown, LEVEL_PRIMARY);
    if (w->e->shared != NULL && w->e->shared->row[id] >= 0)
        write_shared(w, id);
    else if (w->uses[id] > 1)
        name_part(w, id);
}

static void write_operation(writer *w, expr_id id) {
    const expr_node *n = expr_get(w->pool, id);
    const int operands = expr_words[n->op].operands,
              product = emit_product_in(w->e->model, w->uses, n);
    if (product >= 0) {
        write_fused(w, id, product);
        return;
    }
    shorten(w, n->operand, operands);
    if (w->e->quick && emit_is_quotient(w->pool, id, w->varies, w->e->names != NULL)) {
        write_quotient(w, id);
        return;
    }
    const spelling *s = &spellings[n->op];
    const expr_id a = n->operand[0], b = n->operand[1], c = n->operand[2];
    const char *shown;
    const char *function = function_of(s, w->e->model->dtype);
    if (function != NULL) {
        shown = operands == 1 ? job_print(w->job, "%s(%s)", function, w->parts[a].shown)
                              : job_print(w->job, "%s(%s, %s)", function, w->parts[a].shown,
                                          w->parts[b].shown);
        set(w, id, shown, LEVEL_PRIMARY);
    } else if (n->op == EXPR_NEGATE || n->op == EXPR_NOT) {
        shown =
            job_print(w->job, "%s%s", n->op == EXPR_NOT ? "!" : "-", operand(w, a, LEVEL_PRIMARY));
        set(w, id, shown, LEVEL_PRODUCT);
    } else if (n->op == EXPR_WHERE) {
        shown = job_print(w->job, "(%s ? %s : %s)", operand(w, a, LEVEL_PRODUCT),
                          operand(w, b, LEVEL_SUM), operand(w, c, LEVEL_SUM));
        set(w, id, shown, LEVEL_PRIMARY);
    } else if (n->op == EXPR_FMA) {
        shown = job_print(w->job, "%s(%s, %s, %s)", fused_names[w->e->model->dtype],
                          w->parts[a].shown, w->parts[b].shown, w->parts[c].shown);
        set(w, id, shown, LEVEL_PRIMARY);
    } else {
        assert(s->infix != NULL);
        /* The right operand binds more tightly, so that the written order is the tree's. */
        const level left = s->level == LEVEL_COMPARE ? LEVEL_SUM : s->level;
        shown = job_print(w->job, "%s%s%s", operand(w, a, left), s->infix,
                          operand(w, b, left + 1 > LEVEL_PRIMARY ? LEVEL_PRIMARY : left + 1));
        set(w, id, shown, s->level);
    }
    if (w->uses[id] > 1)
        name_part(w, id);
}

static void write_node(writer *w, expr_id id) {
    if (expr_words[expr_get(w->pool, id)->op].operands == 0)
        write_leaf(w, id);
    else
        write_operation(w, id);
}

static void add_indented(text *out, const char *lines) {
    for (const char *end; (end = strchr(lines, '\n')) != NULL; lines = end + 1)
        text_printf(out, "    %.*s\n", (int)(end - lines), lines);
}

/* A node that selects by the place: the side that is taken in the interior, and elsewhere what it
   says, with all that is computed for it alone. Each operation is the same as without an interior,
   and so is each bit. */
static void write_selection(writer *w, expr_id id, const bool *inside) {
    const expr_node *n = expr_get(w->pool, id);
    const char *name = job_print(w->job, "t%d", ++w->named);
    bool *needed = job_array(w->job, (size_t)w->pool->count, sizeof *needed);
    text *const out = w->out;
    text block = text_new(w->job);
    text_printf(out, "    Real %s = %s;\n    if (!interior) {\n", name,
                w->parts[w->e->interior->side[id]].shown);
    for (int k = 0; k < 3; k++)
        needed[n->operand[k]] = true;
    for (expr_id i = id; i-- > 0;)
        for (int k = 0;
             needed[i] && !inside[i] && k < expr_words[expr_get(w->pool, i)->op].operands; k++)
            needed[expr_get(w->pool, i)->operand[k]] = true;
    w->out = &block;
    for (expr_id i = 0; i < id; i++)
        if (needed[i] && !inside[i])
            write_node(w, i);
    text_printf(w->out, "    %s = %s ? %s : %s;\n", name, operand(w, n->operand[0], LEVEL_PRODUCT),
                operand(w, n->operand[1], LEVEL_SUM), operand(w, n->operand[2], LEVEL_SUM));
    add_indented(out, block.data);
    w->out = out;
    text_add(out, "    }\n");
    set(w, id, name, LEVEL_PRIMARY);
}

/* As expr_live; what only named nodes are made of is not. */
static bool *unnamed_live(job *j, const expr_pool *pool, const char *const *names,
                          const expr_id *roots, int count) {
    bool *live = job_array(j, (size_t)pool->count + 1, sizeof *live);
    for (int i = 0; i < count; i++)
        live[roots[i]] = true;
    for (expr_id id = pool->count; id-- > 0;)
        for (int k = 0;
             live[id] && names[id] == NULL && k < expr_words[expr_get(pool, id)->op].operands; k++)
            live[expr_get(pool, id)->operand[k]] = true;
    return live;
}

bool emit_has_quotients(job *j, const emitter *e, expr_id root) {
    const expr_pool *pool = e->model->pool;
    const bool *varies = emit_varying(j, pool);
    const bool *live = unnamed_live(j, pool, e->names, &root, 1);
    bool some = false;
    for (int i = 0; i < pool->count; i++)
        some |= live[i] && e->names[i] == NULL && emit_is_quotient(pool, i, varies, true);
    return some;
}

/* Whatever the roots are made of that has lines of its own. */
static writer write_parts(text *out, const emitter *e, const expr_id *roots, int count) {
    const expr_pool *pool = e->model->pool;
    writer w = {.out = out, .job = out->job, .e = e, .pool = pool};
    w.parts = job_array(w.job, (size_t)pool->count, sizeof *w.parts);
    const bool *live = expr_live(pool, w.job, roots, count);
    w.uses = e->uses != NULL ? e->uses : emit_uses(w.job, pool, live, roots, count);
    w.varies = emit_varying(w.job, pool);
    if (e->interior != NULL)
        live = interior_live(w.job, pool, e->interior, roots, count);
    if (e->names != NULL)
        live = unnamed_live(w.job, pool, e->names, roots, count);
    for (int i = 0; i < pool->count; i++)
        if (live[i] && e->names != NULL && e->names[i] != NULL)
            set(&w, i, e->names[i], LEVEL_PRIMARY);
        else if (live[i] && e->inside && e->interior->side[i] != EXPR_NONE)
            w.parts[i] = w.parts[e->interior->side[i]];
        else if (live[i] && e->interior != NULL && e->interior->place[i] > 0)
            set(&w, i, job_print(w.job, "places.place%d", e->interior->place[i]), LEVEL_PRIMARY);
        else if (live[i] && e->interior != NULL && e->interior->side[i] != EXPR_NONE)
            write_selection(&w, i, live);
        else if (live[i])
            write_node(&w, i);
    return w;
}

void emit_statements(text *out, const emitter *e, const expr_id *roots, const char *const *targets,
                     int count) {
    const writer w = write_parts(out, e, roots, count);
    for (int i = 0; i < count; i++)
        text_printf(out, "    %s %s;\n", targets[i], w.parts[roots[i]].shown);
}

void emit_products(text *out, const emitter *e, const emit_product *products, int count) {
    expr_id *roots = job_array(out->job, 2 * (size_t)count, sizeof *roots);
    int root_count = 0;
    for (int i = 0; i < count; i++) {
        if (products[i].named == NULL)
            roots[root_count++] = products[i].value;
        if (products[i].weight != EXPR_NONE)
            roots[root_count++] = products[i].weight;
    }
    writer w = write_parts(out, e, roots, root_count);
    for (int i = 0; i < count; i++) {
        const emit_product *p = &products[i];
        const char *value = p->named != NULL ? p->named : operand(&w, p->value, LEVEL_PRIMARY);
        const char *sign = p->negative ? "-" : "", *real = p->op == EMIT_DECLARE ? "Real " : "";
        const char *weight = p->weighed != NULL       ? p->weighed
                             : p->weight == EXPR_NONE ? NULL
                                                      : operand(&w, p->weight, LEVEL_PRIMARY);
        if (p->op == EMIT_ADD && weight == NULL)
            text_printf(out, "    %s %s= %s;\n", p->target, p->negative ? "-" : "+", value);
        else if (p->op == EMIT_ADD)
            text_printf(out, "    %s = %s(%s%s, %s, %s);\n", p->target,
                        fused_names[e->model->dtype], sign, weight,
                        p->named != NULL ? value : w.parts[p->value].shown, p->target);
        else if (weight == NULL)
            text_printf(out, "    %s%s = %s%s;\n", real, p->target, sign, value);
        else
            text_printf(out, "    %s%s = %s%s * %s;\n", real, p->target, sign, weight, value);
    }
}
