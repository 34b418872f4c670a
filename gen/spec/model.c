/* The beginning and the end of a model, and its end once more with constants.
   Takes: the table that a spec passes, and outputs in the load's pool. Makes: an empty model; a
   finished one, whose own pool has what its outputs need and nothing else; and the value that
   stands for it. */
#include "gen/spec/state.h"

#include "gen/model/system.h"

#include <math.h>
#include <string.h>

/* ---- the beginning --------------------------------------------------------------------------- */

static bool overflows(dtype type, double value) {
    if (type == DTYPE_FLOAT)
        return (float)value - (float)value != 0;
    return !(value >= dtype_words[type].least && value <= dtype_words[type].largest);
}

void spec_check_range(lua_State *L, dtype type, const char *what, double value) {
    if (overflows(type, value))
        spec_fail(L, "%s %s overflows %s", what, spec_number_text(spec_of(L)->job, value),
                  dtype_words[type].name);
    if (type >= DTYPE_REALS && value != floor(value))
        spec_fail(L, "%s %s is not whole, as %s is", what, spec_number_text(spec_of(L)->job, value),
                  dtype_words[type].name);
}

model *spec_begin(lua_State *L, const char *function, const spec_key *keys, int dtypes) {
    spec_state *s = spec_of(L);
    if (s->update != NULL)
        spec_fail(L, "%s cannot be called inside %s", function, s->update->name);
    spec_check_count(L, function, 1);
    if (!lua_istable(L, 1))
        spec_fail_expected(L, function, NULL,
                           job_print(s->job, "a table: %s { name = ... }", function), 1);
    if (s->model_count == SPEC_MAX_STENCILS)
        spec_fail(L, "the file makes more than %d specs", SPEC_MAX_STENCILS);
    spec_check_keys(L, 1, function, keys);
    model *m = spec_array(L, 1, sizeof *m);
    s->model_count++;
    s->mark = s->pool->count;
    m->file = s->path;
    m->line = spec_current_line(L);
    spec_get(L, 1, "name");
    const char *name = spec_name(L, -1, "name");
    m->name = job_string(s->job, name);
    lua_pop(L, 1);
    m->dtype = spec_get_dtype(L, 1, "dtype", dtypes, DTYPE_FLOAT);
    return m;
}

int spec_end(lua_State *L, int family, model *expressions, void *family_model) {
    spec_state *s = spec_of(L);
    expr_pool_truncate(s->pool, s->mark);
    subject *made = job_alloc(s->job, sizeof *made);
    *made = (subject){.family = &families[family],
                      .name = expressions->name,
                      .file = expressions->file,
                      .line = expressions->line,
                      .dtype = expressions->dtype,
                      .expressions = expressions,
                      .model = family_model};
    spec_value *value = lua_newuserdatauv(L, sizeof *value, 0);
    value->subject = made;
    luaL_setmetatable(L, SPEC_SPEC);
    return 1;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void collect(lua_State *L, model *m, const char *name) {
    if (model_parameter_named(m, name) >= 0)
        return;
    if (m->declared) {
        const char *known[MAX_PARAMETERS];
        for (int k = 0; k < m->parameter_count; k++)
            known[k] = m->parameters[k].name;
        lua_pushstring(L, name);
        spec_fail_unknown(L, "parameter", "", -1, known, (size_t)m->parameter_count);
    }
    if (m->parameter_count == MAX_PARAMETERS)
        spec_fail(L, "the spec uses more than %d parameters", MAX_PARAMETERS);
    m->parameters[m->parameter_count++] = (model_parameter){.name = name};
}

void spec_collect_sides(lua_State *L, model *m, const model *of) {
    for (int axis = 0; axis < of->dims; axis++)
        for (int side = 0; side < 2; side++) {
            if (of->sides[axis][side].parameter != NULL)
                collect(L, m, of->sides[axis][side].parameter);
            for (int f = 0; f < of->field_count; f++)
                if (model_side_of(of, f, axis, side)->parameter != NULL)
                    collect(L, m, model_side_of(of, f, axis, side)->parameter);
        }
    spec_sort_parameters(m);
}

/* The declared parameters and those that live nodes and sides use, sorted. */
void spec_collect_parameters(lua_State *L, model *m, const bool *live) {
    const spec_state *s = spec_of(L);
    for (int i = 0; i < s->pool->count; i++) {
        const expr_node *n = expr_get(s->pool, i);
        if (live[i] && n->op == EXPR_PARAMETER)
            collect(L, m, s->names[n->index]);
    }
    spec_collect_sides(L, m, m);
}

/* The same node in the model's pool; `copies` has those of earlier nodes, `arrays` is as for
   spec_finish_stage. */
static expr_id copy_node(lua_State *L, model *m, const expr_node *n, const expr_id *copies,
                         const int *arrays) {
    expr_id operand[3] = {EXPR_NONE, EXPR_NONE, EXPR_NONE};
    switch (n->op) {
    case EXPR_CONSTANT:
        spec_check_range(L, m->dtype,
                         m->shape == SHAPE_UPDATE        ? "constant"
                         : m->shape == SHAPE_CONVOLUTION ? "weight"
                                                         : "coefficient",
                         n->value);
        return expr_constant(m->pool, n->value);
    case EXPR_PARAMETER:
        return expr_parameter(m->pool, model_parameter_named(m, spec_of(L)->names[n->index]));
    case EXPR_TAP: {
        const int array = arrays != NULL ? arrays[n->index] : n->index;
        m->arrays[array].used = true;
        m->points += m->shape == SHAPE_UPDATE;
        return expr_tap(m->pool, array, n->d);
    }
    case EXPR_POSITION:
        m->positions |= 1u << n->index;
        return expr_position(m->pool, (position)n->index);
    default:
        for (int i = 0; i < expr_words[n->op].operands; i++)
            operand[i] = copies[n->operand[i]];
        return expr_make(m->pool, n->op, operand[0], operand[1], operand[2]);
    }
}

/* Whether some output holds a tap elsewhere than in a weighted sum. */
static bool is_nonlinear(job *j, const model *m, const expr_id *roots) {
    const expr_pool *pool = m->pool;
    const bool *live = expr_live(pool, j, roots, m->output_count);
    bool *taps = job_array(j, (size_t)pool->count, sizeof *taps); /* below the node */
    for (expr_id id = 0; id < pool->count; id++) {
        const expr_node *n = expr_get(pool, id);
        int with_taps = 0;
        for (int i = 0; i < expr_words[n->op].operands; i++)
            with_taps += taps[n->operand[i]];
        taps[id] = expr_varies(n) || with_taps > 0;
        const bool sum = n->op == EXPR_ADD || n->op == EXPR_SUBTRACT || n->op == EXPR_NEGATE;
        const bool scaled = (n->op == EXPR_MULTIPLY && with_taps == 1) ||
                            (n->op == EXPR_DIVIDE && !taps[n->operand[1]]);
        if (live[id] && with_taps > 0 && !sum && !scaled)
            return true;
    }
    return false;
}

static void count_operations(job *j, model *m) {
    m->textbook_multiplications = m->points;
    m->textbook_additions = m->points - 1;
    if (m->shape != SHAPE_UPDATE)
        return;
    expr_id roots[MAX_FIELDS];
    model_roots(m, roots);
    const expr_count count = expr_count_written_out(m->pool, j, roots, m->output_count);
    m->textbook_multiplications = count.multiplications;
    m->textbook_additions = count.additions + count.others;
    m->nonlinear = m->dims > 0 && is_nonlinear(j, m, roots);
}

void spec_collect_attached(lua_State *L, model *m) {
    const spec_state *s = spec_of(L);
    expr_id roots[MAX_FIELDS];
    model *f;
    for (int i = 0; (f = model_attached(m, i)) != NULL; i++) {
        model_roots(f, roots);
        spec_charge_memory(L, (size_t)s->pool->count * sizeof(bool));
        spec_collect_parameters(L, m, expr_live(s->pool, s->job, roots, f->output_count));
    }
}

/* The attached models have the parameters of the whole model, which has theirs too. */
static void finish_attached(lua_State *L, model *m) {
    expr_id roots[MAX_FIELDS];
    model *f;
    spec_collect_attached(L, m);
    for (int i = 0; (f = model_attached(m, i)) != NULL; i++) {
        memcpy(f->parameters, m->parameters, sizeof f->parameters);
        f->parameter_count = m->parameter_count;
        f->declared = true;
        model_roots(f, roots);
        spec_finish_model(L, f, roots);
    }
}

void spec_finish_model(lua_State *L, model *m, const expr_id outputs[MAX_FIELDS]) {
    spec_finish_stage(L, m, outputs, NULL);
}

void spec_finish_stage(lua_State *L, model *m, const expr_id outputs[MAX_FIELDS],
                       const int *arrays) {
    const spec_state *s = spec_of(L);
    const int count = s->pool->count;
    spec_charge_memory(L, (size_t)count * (sizeof(bool) + sizeof(expr_id)));
    const bool *live = expr_live(s->pool, s->job, outputs, m->output_count);
    expr_id *copies = job_array(s->job, (size_t)count + 1, sizeof *copies);
    spec_collect_parameters(L, m, live);
    finish_attached(L, m);
    m->pool = expr_pool_new(s->job);
    for (int i = 0; i < count; i++)
        copies[i] = live[i] ? copy_node(L, m, expr_get(s->pool, i), copies, arrays) : EXPR_NONE;
    for (int i = 0; i < m->output_count; i++)
        m->outputs[i].value = outputs[i] == EXPR_NONE ? EXPR_NONE : copies[outputs[i]];
    /* The pool grew by doubling and left its smaller versions in the job, whose blocks double
       too. */
    spec_charge_memory(L, 4 * (size_t)m->pool->capacity * (sizeof(expr_node) + sizeof(expr_id)) +
                              (size_t)m->pool->count * sizeof(expr_count));
    count_operations(s->job, m);
    if (m->shape == SHAPE_CONVOLUTION)
        m->separable = separable_new(s->job, m);
    model_set_radius(m);
}

/* ---- constants ------------------------------------------------------------------------------- */

static int find(const spec_constants *c, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(c->list[i].name, name) == 0)
            return i;
    return -1;
}

static noreturn void fail_unknown(job *j, const model *m, const char *name) {
    const char *known[MAX_PARAMETERS];
    text list = text_new(j);
    for (int i = 0; i < m->parameter_count; i++) {
        known[i] = m->parameters[i].name;
        text_printf(&list, "%s%s", i > 0 ? ", " : "", known[i]);
    }
    const char *shown = spec_clean(j, name, strlen(name));
    const char *nearest =
        strlen(name) <= MAX_NAME ? text_nearest(name, known, (size_t)m->parameter_count) : NULL;
    if (m->parameter_count == 0)
        job_fail(j, FAULT_USAGE, NULL, 0, "constant '%s': '%s' has no parameters", shown, m->name);
    if (nearest == NULL)
        job_fail(j, FAULT_USAGE, NULL, 0, "constant '%s' is no parameter of '%s'; known: %s", shown,
                 m->name, list.data);
    job_fail(j, FAULT_USAGE, NULL, 0, "constant '%s' is no parameter of '%s'; did you mean '%s'?",
             shown, m->name, nearest);
}

static void check(job *j, const model *m, const spec_constants *c) {
    for (int i = 0; i < c->count; i++) {
        const spec_assignment *given = &c->list[i];
        bool known = false;
        if (given->name == NULL)
            job_fail(j, FAULT_USAGE, NULL, 0, "constant %d of %d has no name", i + 1, c->count);
        for (int k = 0; k < m->parameter_count && !known; k++)
            known = strcmp(given->name, m->parameters[k].name) == 0;
        if (!known)
            fail_unknown(j, m, given->name);
        if (find(c, i, given->name) >= 0)
            job_fail(j, FAULT_USAGE, NULL, 0, "constant '%s' is given twice", given->name);
        if (!isfinite(given->value))
            job_fail(j, FAULT_USAGE, NULL, 0, "constant '%s' is %s", given->name,
                     isnan(given->value) ? "not a number (NaN)" : "infinite");
        if (overflows(m->dtype, given->value))
            job_fail(j, FAULT_USAGE, NULL, 0, "constant '%s': %s overflows %s", given->name,
                     spec_number_text(j, given->value), dtype_words[m->dtype].name);
    }
}

/* "k = 0, q = 1" */
static const char *list_values(job *j, const spec_constants *c) {
    text t = text_new(j);
    for (int i = 0; i < c->count; i++)
        text_printf(&t, "%s%s = %s", i > 0 ? ", " : "", c->list[i].name,
                    spec_number_text(j, c->list[i].value));
    return t.data;
}

/* A node of the model in the load's pool; `copies` has those of earlier nodes. */
static expr_id substitute(lua_State *L, const model *m, const spec_constants *c, const expr_node *n,
                          const expr_id *copies) {
    const spec_state *s = spec_of(L);
    expr_id operand[3] = {EXPR_NONE, EXPR_NONE, EXPR_NONE};
    switch (n->op) {
    case EXPR_CONSTANT:
        return expr_constant(s->pool, n->value);
    case EXPR_PARAMETER: {
        const char *name = m->parameters[n->index].name;
        const int given = find(c, c->count, name);
        return given < 0 ? spec_parameter(L, name) : expr_constant(s->pool, c->list[given].value);
    }
    case EXPR_TAP:
        return expr_tap(s->pool, n->index, n->d);
    case EXPR_POSITION:
        return expr_position(s->pool, (position)n->index);
    default:
        break;
    }
    for (int i = 0; i < expr_words[n->op].operands; i++)
        operand[i] = copies[n->operand[i]];
    return spec_make(L, n->op, operand[0], operand[1], operand[2]);
}

/* The outputs of a model, or of one that is attached to it, in the load's pool. */
static void substitute_all(lua_State *L, const model *m, const model *of, const spec_constants *c,
                           expr_id outputs[MAX_FIELDS]) {
    const expr_pool *from = of->pool;
    spec_charge_memory(L, (size_t)from->count * sizeof(expr_id));
    expr_id *copies = job_array(spec_of(L)->job, (size_t)from->count, sizeof *copies);
    for (int i = 0; i < from->count; i++)
        copies[i] = substitute(L, m, c, expr_get(from, i), copies);
    for (int i = 0; i < of->output_count; i++)
        outputs[i] = of->outputs[i].value == EXPR_NONE ? EXPR_NONE : copies[of->outputs[i].value];
}

/* Back to before spec_finish_model, which then finds out anew what depends on the expressions. The
   parameters that a spec lists stay; others are those that it still uses. */
static void reset(model *m, const spec_constants *c) {
    int kept = 0;
    if (m->shape == SHAPE_UPDATE)
        m->points = 0;
    m->positions = 0;
    for (int i = 0; i < m->array_count; i++)
        m->arrays[i].used = false;
    for (int i = 0; i < m->parameter_count && m->declared; i++)
        if (find(c, c->count, m->parameters[i].name) < 0)
            m->parameters[kept++] = m->parameters[i];
    m->parameter_count = kept;
}

static void put_attached(lua_State *L, model *m, const spec_constants *c) {
    model *f;
    expr_id outputs[MAX_FIELDS];
    for (int i = 0; (f = model_attached(m, i)) != NULL; i++) {
        substitute_all(L, m, f, c, outputs);
        for (int k = 0; k < f->output_count; k++)
            f->outputs[k].value = outputs[k];
        reset(f, c);
    }
}

static void put_sides(const spec_constants *c, model_side sides[AXES][2]) {
    for (int axis = 0; axis < AXES; axis++)
        for (int side = 0; side < 2; side++) {
            model_side *s = &sides[axis][side];
            const int given = s->parameter == NULL ? -1 : find(c, c->count, s->parameter);
            if (given >= 0)
                *s = (model_side){.kind = BOUNDARY_CONSTANT, .value = c->list[given].value};
        }
}

static void put_all_sides(const spec_constants *c, model *m) {
    model *f;
    put_sides(c, m->sides);
    for (int i = 0; i < m->field_count; i++)
        put_sides(c, m->fields[i].sides);
    for (int i = 0; (f = model_attached(m, i)) != NULL; i++)
        put_all_sides(c, f);
}

static void put_constants(lua_State *L, model *m, const spec_constants *c) {
    spec_state *s = spec_of(L);
    s->line = m->line; /* where errors of the expressions belong, as far as it is known */
    const int mark = s->pool->count;
    expr_id outputs[MAX_FIELDS];
    substitute_all(L, m, m, c, outputs);
    put_attached(L, m, c);
    put_all_sides(c, m);
    if (s->pool->limit != NULL)
        spec_fail(L, "%s", s->pool->limit);
    reset(m, c);
    spec_finish_model(L, m, outputs);
    expr_pool_truncate(s->pool, mark);
}

void spec_put_constants(lua_State *L, const subject *subject, const spec_constants *c) {
    spec_state *s = spec_of(L);
    const family *f = subject->family;
    const system_model *system =
        f->kind == PROGRAM_GRID && f->grid.system != NULL ? f->grid.system(subject) : NULL;
    check(s->job, subject->expressions, c);
    if (c->count == 0)
        return;
    s->given = list_values(s->job, c);
    for (int i = 0; system != NULL && i < system->stage_count; i++)
        put_constants(L, system->stages[i].model, c);
    put_constants(L, subject->expressions, c);
    s->given = NULL;
}
