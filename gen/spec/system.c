/* system { ... }: several fields, and the stages that update them in each step.
   Takes: the table that a spec passes. Makes: a model of what callers have, a model for each stage,
   and the value that stands for them. */
#include "gen/spec/state.h"

#include "gen/model/system.h"

#include <string.h>

const spec_key spec_system_keys[] = {
    {"name", "an identifier; names the kernels and the file"},
    {"dims", "1, 2 or 3; where no stage reads a field by offsets"},
    {"fields", "the arrays: { u = \"inout\", c = \"in\", e = \"out\", lap = \"scratch\" }"},
    {"parameters", "the parameters and their default values: { k = 0.05 }"},
    {"dtype", "\"float\" (the default) or \"double\""},
    {"storage", "\"half\" or \"bfloat16\": all fields hold 16 bits; the dtype by default"},
    {"boundary", "what is outside of the grid, for stages that do not say; \"fixed\" by default"},
    {"stages", "what a step does, in this order: a list of tables"},
    {"points",
     "places where values are added or recorded: { rec = { field = \"u\", sample = true } }"},
    {"monitors", "reductions over the grid: { r = { op = \"max\", map = ... } }"},
    {"schedule", "constraints on how all stages walk the grid; what is left out is chosen"},
    {"fuse", "false: every stage has launches of its own; true by default"},
    {NULL, NULL},
};

static const spec_key spec_stage_keys[] = {
    {"update", "a function that returns the fields that the stage writes: { u = expression }"},
    {"boundary", "what is outside of the grid for this stage; the system's by default"},
    {"times", "how often a step repeats the stage; 1 by default"},
    {"schedule", "constraints on how this stage walks the grid; it then has its own launches"},
    {NULL, NULL},
};

/* What a stage's function did, with fields and arrays numbered as in `all`. */
typedef struct stage_reading {
    int line; /* of its function */
    int times;
    bool alone;
    expr_id outputs[MAX_FIELDS];
    int low[2 * MAX_FIELDS][AXES], high[2 * MAX_FIELDS][AXES];
    bool reads[2 * MAX_FIELDS]; /* arrays, in what it returned */
    model *model;
} stage_reading;

typedef struct system_reading {
    model *all; /* of all fields; scratch ones are inout */
    bool scratch[MAX_FIELDS], unwritten[MAX_FIELDS];
    int dims, least_dims, position_dims;
    stage_reading *stages;
    int count, calls;
} system_reading;

/* An error of a stage as a whole, at its function. */
static noreturn void fail_stage(lua_State *L, const stage_reading *stage, const char *text) {
    const spec_state *s = spec_of(L);
    job_fail(s->job, FAULT_SPEC, s->path, stage->line, "%s", text);
}

static int output_of(const model *m, int field) {
    for (int o = 0; o < m->output_count; o++)
        if (m->outputs[o].field == field)
            return o;
    return -1;
}

static bool writes(const system_reading *r, const stage_reading *stage, int field) {
    const int output = output_of(r->all, field);
    return output >= 0 && stage->outputs[output] != EXPR_NONE;
}

static bool reads(const system_reading *r, const stage_reading *stage, int field) {
    for (int i = 0; i < r->all->array_count; i++)
        if (r->all->arrays[i].field == field && stage->reads[i])
            return true;
    return false;
}

/* ---- one stage's table ----------------------------------------------------------------------- */

static void find_reads(lua_State *L, const system_reading *r, stage_reading *stage) {
    const spec_state *s = spec_of(L);
    spec_charge_memory(L, (size_t)s->pool->count);
    const bool *live = expr_live(s->pool, s->job, stage->outputs, r->all->output_count);
    for (int i = 0; i < s->pool->count; i++)
        if (live[i] && expr_get(s->pool, i)->op == EXPR_TAP)
            stage->reads[expr_get(s->pool, i)->index] = true;
}

/* The function is on the top of the stack. */
static void run_update(lua_State *L, system_reading *r, stage_reading *stage) {
    spec_update u = {.name = "an update function",
                     .model = r->all,
                     .grid = true,
                     .dims = r->dims,
                     .least_dims = r->least_dims,
                     .position_dims = r->position_dims,
                     .partial = true,
                     .unwritten = r->unwritten};
    lua_Debug about;
    lua_pushvalue(L, -1);
    lua_getinfo(L, ">S", &about);
    stage->line = u.line = about.linedefined;
    for (int o = 0; o < MAX_FIELDS; o++)
        stage->outputs[o] = EXPR_NONE;
    spec_run_update(L, lua_gettop(L), true, &u, stage->outputs);
    r->dims = u.dims;
    r->least_dims = u.least_dims;
    r->position_dims = u.position_dims;
    memcpy(stage->low, u.low, sizeof stage->low);
    memcpy(stage->high, u.high, sizeof stage->high);
    find_reads(L, r, stage);
    for (int f = 0; f < r->all->field_count; f++)
        r->unwritten[f] = r->unwritten[f] && !writes(r, stage, f);
}

/* The stage's table is on the top of the stack. */
static void read_stage(lua_State *L, system_reading *r, stage_reading *stage) {
    job *j = spec_of(L)->job;
    const char *where = job_print(j, "stages[%d]", r->count + 1);
    spec_need(L, LUA_TTABLE, where, NULL, "a table such as { update = function(f, p) ... end }");
    spec_check_keys(L, -1, where, spec_stage_keys);
    stage->times = spec_get_whole(L, -1, where, "times", 1, SYSTEM_TIMES, 1);
    r->calls += stage->times;
    if (r->calls > SYSTEM_CALLS)
        spec_fail(L, "stages: a step would make more than %d launches", SYSTEM_CALLS);
    if (!spec_get(L, -1, "update"))
        spec_fail(L,
                  "%s: update is missing: a function that returns the fields that the stage "
                  "writes",
                  where);
    spec_need(L, LUA_TFUNCTION, where, "update", "a function");
    run_update(L, r, stage);
    lua_pop(L, 1);
}

static void read_stages(lua_State *L, system_reading *r) {
    if (!spec_get(L, 1, "stages"))
        spec_fail(L, "stages are missing: a list such as { { update = function(f, p) ... end } }");
    spec_need(L, LUA_TTABLE, "stages", NULL, "a list of tables");
    const int count = spec_list(L, -1, "stages", SYSTEM_STAGES);
    if (count == 0)
        spec_fail(L, "stages: the list is empty; a system has at least one stage");
    r->stages = spec_array(L, (size_t)count, sizeof *r->stages);
    for (int i = 0; i < count; i++, lua_pop(L, 1)) {
        lua_rawgeti(L, -1, i + 1);
        read_stage(L, r, &r->stages[i]);
        r->count++;
    }
    lua_pop(L, 1);
    r->all->dims = r->dims != 0 ? r->dims : r->least_dims;
    if (r->all->dims == 0)
        spec_fail(L, "no stage reads a field, so the system needs the key dims");
    spec_check_positions(L, r->all->dims, r->position_dims);
}

/* ---- what fits together ---------------------------------------------------------------------- */

static void check_field(lua_State *L, const system_reading *r, int field) {
    const model_field *f = &r->all->fields[field];
    int writers = 0, readers = 0;
    for (int i = 0; i < r->count; i++) {
        const bool written = writes(r, &r->stages[i], field);
        writers += written;
        readers += reads(r, &r->stages[i], field);
        if (written && f->use == USE_OUT && writers > 1)
            fail_stage(L, &r->stages[i],
                       job_print(spec_of(L)->job,
                                 "field '%s' is out, and an earlier stage writes it too: make it "
                                 "inout, or compute it in a scratch field",
                                 f->name));
    }
    if (r->scratch[field] && readers == 0)
        spec_fail(L, "scratch field '%s' is never read: leave it out, or make it out", f->name);
    if (f->use != USE_IN && writers == 0)
        spec_fail(L,
                  "field '%s' is %s, but no stage writes it: return it from a stage, or make it "
                  "in",
                  f->name, use_words[f->use]);
}

/* ---- models ---------------------------------------------------------------------------------- */

/* Adds the field as the stage has it. Its arrays are numbered in `map`, by those of `all`. */
static void add_field(const system_reading *r, const stage_reading *stage, int field, model *m,
                      int *map) {
    const model *all = r->all;
    model_field f = all->fields[field];
    const bool written = writes(r, stage, field), read = reads(r, stage, field);
    if (!written && !read)
        return;
    const bool fresh = f.use == USE_OUT || (r->scratch[field] && !read);
    f.use = !written ? USE_IN : fresh ? USE_OUT : USE_INOUT;
    const int previous = model_array_of(all, field, true);
    f.levels = previous >= 0 && stage->reads[previous] ? 2 : 1;
    for (int level = 0; level < f.levels && f.use != USE_OUT; level++) {
        const int array = model_array_of(all, field, level == 1);
        map[array] = m->array_count;
        m->arrays[m->array_count] = (model_array){.field = m->field_count, .previous = level == 1};
        memcpy(m->arrays[m->array_count].low, stage->low[array], sizeof stage->low[array]);
        memcpy(m->arrays[m->array_count].high, stage->high[array], sizeof stage->high[array]);
        m->array_count++;
    }
    if (written)
        m->outputs[m->output_count++] = (model_output){m->field_count, EXPR_NONE};
    m->fields[m->field_count++] = f;
}

/* Also where a coefficient is 0, as in a stencil. */
static void find_shape(const system_reading *r, const stage_reading *stage, model *m) {
    for (int i = 0; i < r->all->array_count; i++)
        for (int axis = 0; axis < AXES; axis++) {
            m->low[axis] = larger(m->low[axis], stage->low[i][axis]);
            m->high[axis] = larger(m->high[axis], stage->high[i][axis]);
        }
}

static void make_stage(lua_State *L, const system_reading *r, const model *whole,
                       stage_reading *stage) {
    model *m = spec_array(L, 1, sizeof *m);
    int map[2 * MAX_FIELDS];
    expr_id outputs[MAX_FIELDS];
    *m = (model){.name = whole->name,
                 .file = whole->file,
                 .line = stage->line,
                 .dims = whole->dims,
                 .dtype = whole->dtype,
                 .shape = SHAPE_UPDATE,
                 .parameter_count = whole->parameter_count,
                 .declared = true,
                 .schedule = stage->model->schedule};
    memcpy(m->parameters, whole->parameters, sizeof m->parameters);
    memcpy(m->sides, stage->model->sides, sizeof m->sides);
    for (int f = 0; f < r->all->field_count; f++)
        add_field(r, stage, f, m, map);
    find_shape(r, stage, m);
    for (int o = 0, count = 0; o < r->all->output_count; o++)
        if (stage->outputs[o] != EXPR_NONE)
            outputs[count++] = stage->outputs[o];
    spec_of(L)->line = stage->line;
    spec_settle_sides(L, m);
    spec_finish_stage(L, m, outputs, map);
    stage->model = m;
}

/* Boundary and schedule of each stage, in place of those of the system; stage.model holds them for
   now. The dimensions are known. */
static void read_constraints(lua_State *L, system_reading *r) {
    spec_read_boundary(L, 1, r->all, BOUNDARY_FIXED);
    spec_read_schedule(L, 1, r->all);
    spec_get(L, 1, "stages");
    for (int i = 0; i < r->count; i++, lua_pop(L, 1)) {
        stage_reading *stage = &r->stages[i];
        stage->model = spec_array(L, 1, sizeof *stage->model);
        *stage->model = *r->all;
        lua_rawgeti(L, -1, i + 1);
        const int table = lua_gettop(L);
        spec_read_sides(L, table, stage->model);
        stage->alone = spec_get(L, table, "schedule");
        lua_pop(L, 1);
        spec_read_schedule(L, table, stage->model);
    }
    lua_pop(L, 1);
}

/* How far a step reaches is the sum of its stages; it has the positions of them all. */
static void sum_stages(const system_reading *r, model *whole) {
    for (int i = 0; i < r->count; i++)
        whole->positions |= r->stages[i].model->positions;
    for (int i = 0; i < r->count; i++)
        for (int axis = 0; axis < AXES; axis++) {
            whole->low[axis] += r->stages[i].times * r->stages[i].model->low[axis];
            whole->high[axis] += r->stages[i].times * r->stages[i].model->high[axis];
        }
    for (int i = 0; i < whole->array_count; i++) {
        memcpy(whole->arrays[i].low, whole->low, sizeof whole->low);
        memcpy(whole->arrays[i].high, whole->high, sizeof whole->high);
        whole->arrays[i].used = true;
    }
}

/* What callers have: all but the scratch fields. */
static model *make_whole(lua_State *L, const system_reading *r) {
    const model *all = r->all;
    model *m = spec_array(L, 1, sizeof *m);
    *m = *all;
    m->shape = SHAPE_UPDATE;
    m->field_count = m->array_count = m->output_count = 0;
    for (int f = 0; f < all->field_count; f++) {
        if (r->scratch[f])
            continue;
        const model_field *field = &all->fields[f];
        for (int level = 0; level < field->levels && field->use != USE_OUT; level++)
            m->arrays[m->array_count++] =
                (model_array){.field = m->field_count, .previous = level == 1};
        if (field->use != USE_IN)
            m->outputs[m->output_count++] = (model_output){m->field_count, EXPR_NONE};
        m->fields[m->field_count++] = *field;
    }
    if (m->output_count == 0)
        spec_fail(L, "fields: none keeps a result; at least one is \"out\" or \"inout\"");
    return m;
}

/* All stages take all parameters, so that a step is launched with one list of them. */
static void collect_parameters(lua_State *L, const system_reading *r, model *whole) {
    const spec_state *s = spec_of(L);
    for (int i = 0; i < r->count; i++) {
        spec_charge_memory(L, (size_t)s->pool->count);
        spec_collect_parameters(
            L, whole, expr_live(s->pool, s->job, r->stages[i].outputs, r->all->output_count));
        spec_collect_sides(L, whole, r->stages[i].model);
    }
    spec_collect_attached(L, whole);
    whole->declared = true;
}

static void make_models(lua_State *L, system_reading *r, system_model *out) {
    static const expr_id nothing[MAX_FIELDS] = {
        EXPR_NONE, EXPR_NONE, EXPR_NONE, EXPR_NONE, EXPR_NONE, EXPR_NONE, EXPR_NONE, EXPR_NONE,
        EXPR_NONE, EXPR_NONE, EXPR_NONE, EXPR_NONE, EXPR_NONE, EXPR_NONE, EXPR_NONE, EXPR_NONE};
    out->whole = make_whole(L, r);
    spec_read_points(L, 1, true, out->whole);
    spec_read_monitors(L, 1, true, out->whole);
    collect_parameters(L, r, out->whole);
    for (int f = 0; f < r->all->field_count; f++)
        if (r->scratch[f])
            out->scratch[out->scratch_count++] = r->all->fields[f].name;
    out->stage_count = r->count;
    out->stages = spec_array(L, (size_t)r->count, sizeof *out->stages);
    for (int i = 0; i < r->count; i++) {
        make_stage(L, r, out->whole, &r->stages[i]);
        out->stages[i] = (system_stage){.model = r->stages[i].model,
                                        .times = r->stages[i].times,
                                        .first = i,
                                        .last = i,
                                        .alone = r->stages[i].alone};
    }
    sum_stages(r, out->whole);
    spec_finish_model(L, out->whole, nothing);
}

int spec_system(lua_State *L) {
    model *all = spec_begin(L, "system", spec_system_keys, DTYPE_REALS);
    system_reading *r = spec_array(L, 1, sizeof *r);
    system_model *s = spec_array(L, 1, sizeof *s);
    r->all = all;
    r->dims = spec_get_whole(L, 1, NULL, "dims", 1, AXES, 0);
    const dtype storage = spec_get_storage(L, 1, "storage", all->dtype, all->dtype);
    spec_read_system_fields(L, 1, all, storage, r->scratch);
    memcpy(r->unwritten, r->scratch, sizeof r->unwritten);
    all->declared = spec_read_parameters(L, 1, all);
    s->fuse = true;
    if (spec_get(L, 1, "fuse"))
        s->fuse = spec_flag(L, 1, "fuse");
    lua_pop(L, 1);
    read_stages(L, r);
    for (int f = 0; f < all->field_count; f++)
        check_field(L, r, f);
    read_constraints(L, r);
    make_models(L, r, s);
    return spec_end(L, FAMILY_SYSTEM, s->whole, s);
}
