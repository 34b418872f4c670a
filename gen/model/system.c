/* The calls of a step: versions of fields, and the arrays and buffers that hold them.
   Takes: a system and its stages. Makes: what each launch reads and writes. */
#include "gen/model/system.h"

#include <assert.h>
#include <string.h>

/* The arrays of a model in the order of a program's: for each field its current values, its
   previous ones, its new ones, as far as it has them. */
typedef enum system_role { ROLE_CURRENT, ROLE_PREVIOUS, ROLE_NEXT } system_role;
typedef struct system_grid {
    int field;
    system_role role;
} system_grid;

static int system_grids(const model *m, system_grid out[SYSTEM_GRIDS]) {
    int count = 0;
    for (int f = 0; f < m->field_count; f++) {
        const model_field *field = &m->fields[f];
        if (field->use != USE_OUT)
            out[count++] = (system_grid){f, ROLE_CURRENT};
        if (field->use != USE_OUT && field->levels == 2)
            out[count++] = (system_grid){f, ROLE_PREVIOUS};
        if (field->use != USE_IN)
            out[count++] = (system_grid){f, ROLE_NEXT};
    }
    return count;
}

double system_bytes_per_point(const system_stage *stages, int count) {
    double bytes = 0;
    for (int s = 0; s < count; s++)
        bytes += stages[s].times * model_bytes_per_point(stages[s].model);
    return bytes;
}

/* ---- versions of fields ---------------------------------------------------------------------- */

/* A field during a step. A field of `whole` has arrays; a scratch field, or one that several
   launches write, has buffers. */
typedef struct version {
    const char *name;
    int array[3]; /* of `whole`, by role; −1 */
    bool scratch;
    int left;    /* writes to another place that are still to come in this step */
    int writers; /* stages that write it */
    int now;     /* where its newest values are; −1: nowhere */
    int buffer[2];
} version;

typedef struct stepping {
    job *job;
    const system_model *system;
    const system_stage *stages;
    int stage_count;
    version fields[MAX_FIELDS];
    int field_count, array_count;
    bool *stays[SYSTEM_STAGES]; /* of each output: new values may go where the newest are */
    system_step *step;
} stepping;

static version *find(stepping *s, const char *name) {
    for (int i = 0; i < s->field_count; i++)
        if (strcmp(s->fields[i].name, name) == 0)
            return &s->fields[i];
    assert(false);
    return NULL;
}

static version *add(stepping *s, const char *name) {
    version *v = &s->fields[s->field_count++];
    *v = (version){.name = name, .array = {-1, -1, -1}, .now = -1, .buffer = {-1, -1}};
    return v;
}

static void list_fields(stepping *s) {
    const model *whole = s->system->whole;
    system_grid grids[SYSTEM_GRIDS];
    for (int f = 0; f < whole->field_count; f++)
        add(s, whole->fields[f].name);
    for (int i = 0; i < s->system->scratch_count; i++)
        add(s, s->system->scratch[i])->scratch = true;
    s->array_count = system_grids(whole, grids);
    for (int g = 0; g < s->array_count; g++)
        s->fields[grids[g].field].array[grids[g].role] = g;
    for (int f = 0; f < s->field_count; f++)
        s->fields[f].now = s->fields[f].array[ROLE_CURRENT];
}

/* The first write of a step leaves the current values as they are. */
static void count_writes(stepping *s) {
    for (int k = 0; k < s->stage_count; k++) {
        const model *m = s->stages[k].model;
        s->stays[k] = job_array(s->job, (size_t)m->output_count, sizeof *s->stays[k]);
        for (int o = 0; o < m->output_count; o++) {
            version *v = find(s, m->fields[m->outputs[o].field].name);
            s->stays[k][o] = model_writes_in_place(s->job, m, o, false);
            v->left += s->stays[k][o] ? v->left == 0 : s->stages[k].times;
            v->writers++;
        }
    }
}

static int buffer_of(stepping *s, version *v, int which) {
    system_step *step = s->step;
    if (v->buffer[which] < 0) {
        v->buffer[which] = s->array_count + step->buffer_count;
        step->buffers[step->buffer_count++] =
            v->scratch && which == 0 ? v->name : job_print(s->job, "%s.%d", v->name, which + 1);
    }
    return v->buffer[which];
}

/* Where a launch writes the field. A scratch field that the launch does not read stays where it is:
   what the boundary keeps there has its newest values. */
static int place_of(stepping *s, version *v, bool reads, bool in_place) {
    if (in_place && v->now >= 0 && v->now != v->array[ROLE_CURRENT])
        return v->now;
    if (!v->scratch)
        return v->left % 2 == 1 || v->array[ROLE_CURRENT] < 0 ? v->array[ROLE_NEXT]
                                                              : buffer_of(s, v, 0);
    if (v->now >= 0 && !reads)
        return v->now;
    return buffer_of(s, v, v->now >= 0 && v->now == v->buffer[0]);
}

static system_call *add_call(stepping *s, int stage, int count) {
    system_call *c = &s->step->calls[s->step->call_count++];
    *c = (system_call){.stage = stage, .count = count};
    c->grids = job_array(s->job, (size_t)count, sizeof *c->grids);
    return c;
}

/* Before the first launch of a step that writes a scratch field and leaves out cells. Where it is
   the only one to write that buffer, those cells stay 0 for a whole run. */
static void clear(stepping *s, const model *m) {
    for (int o = 0; o < m->output_count && model_keeps(m); o++) {
        version *v = find(s, m->fields[m->outputs[o].field].name);
        if (!v->scratch || v->now >= 0)
            continue;
        const int buffer = buffer_of(s, v, 0);
        system_call *c = add_call(s, -1, 1);
        c->grids[0] = buffer;
        c->once = v->writers == 1;
    }
}

static void call(stepping *s, int stage) {
    const model *m = s->stages[stage].model;
    system_grid grids[SYSTEM_GRIDS];
    const int count = system_grids(m, grids);
    clear(s, m);
    system_call *c = add_call(s, stage, count);
    int *to = c->grids, output = 0;
    for (int g = 0; g < count; g++) {
        version *v = find(s, m->fields[grids[g].field].name);
        const bool reads = g > 0 && grids[g - 1].field == grids[g].field;
        to[g] = grids[g].role == ROLE_CURRENT    ? v->now
                : grids[g].role == ROLE_PREVIOUS ? v->array[ROLE_PREVIOUS]
                                                 : place_of(s, v, reads, s->stays[stage][output++]);
        assert(to[g] >= 0);
    }
    for (int g = 0; g < count; g++)
        if (grids[g].role == ROLE_NEXT) {
            version *v = find(s, m->fields[grids[g].field].name);
            v->left -= v->now != to[g];
            v->now = to[g];
        }
}

/* ---- reach ----------------------------------------------------------------------------------- */

static void include(system_reach *to, const system_reach *from, const int low[AXES],
                    const int high[AXES]) {
    for (int axis = 0; axis < AXES; axis++) {
        const int below = from->low[axis] + low[axis], above = from->high[axis] + high[axis];
        if (below > to->low[axis])
            to->low[axis] = below;
        if (above > to->high[axis])
            to->high[axis] = above;
    }
}

/* What a call makes by what later calls read, and what it reads itself. Cells that a boundary keeps
   are what they were before: in the grid that is written, or in the one that is copied from. */
static void reach_of_call(const stepping *s, system_call *c, system_reach *needs) {
    static const int none[AXES];
    const model *m = s->stages[c->stage].model;
    const bool keeps = model_keeps(m);
    system_grid grids[SYSTEM_GRIDS];
    system_reach made = {{0}, {0}};
    const int count = system_grids(m, grids);
    for (int g = 0; g < count; g++)
        if (grids[g].role == ROLE_NEXT)
            include(&made, &needs[c->grids[g]], none, none);
    for (int g = 0; g < count; g++)
        if (grids[g].role == ROLE_NEXT && (!keeps || m->fields[grids[g].field].use == USE_INOUT))
            needs[c->grids[g]] = (system_reach){{0}, {0}};
    for (int g = 0; g < count; g++) {
        const int array = model_array_of(m, grids[g].field, grids[g].role == ROLE_PREVIOUS);
        if (grids[g].role != ROLE_NEXT)
            include(&needs[c->grids[g]], &made, array < 0 ? none : m->arrays[array].low,
                    array < 0 ? none : m->arrays[array].high);
    }
    include(&s->step->reach, &made, m->low, m->high);
    memcpy(c->low, made.low, sizeof c->low);
    memcpy(c->high, made.high, sizeof c->high);
}

/* From the last call to the first. */
static void find_reach(stepping *s) {
    static const int none[AXES];
    system_step *step = s->step;
    system_reach *needs =
        job_array(s->job, (size_t)(s->array_count + step->buffer_count), sizeof *needs);
    for (int i = step->call_count; i-- > 0;)
        if (step->calls[i].stage < 0)
            needs[step->calls[i].grids[0]] = (system_reach){{0}, {0}};
        else
            reach_of_call(s, &step->calls[i], needs);
    step->arrays = needs;
    for (int a = 0; a < s->array_count; a++)
        include(&step->reach, &needs[a], none, none);
}

/* ---- one array for two levels ---------------------------------------------------------------- */

/* Whether no call reads the array's cells after they may have been written as those of `next`. */
static bool can_share(const stepping *s, int next, int oldest, bool previous) {
    bool written = false;
    for (int i = 0; i < s->step->call_count; i++) {
        const system_call *c = &s->step->calls[i];
        int reads = -1, writes = -1, output = -1;
        for (int g = 0; g < c->count; g++) {
            if (c->grids[g] == oldest)
                reads = g;
            if (c->grids[g] == next)
                writes = g;
        }
        if (c->stage < 0 || (reads < 0 && writes < 0))
            continue;
        const model *m = s->stages[c->stage].model;
        system_grid grids[SYSTEM_GRIDS];
        system_grids(m, grids);
        for (int o = 0; writes >= 0 && o < m->output_count; o++)
            if (m->outputs[o].field == grids[writes].field && grids[writes].role == ROLE_NEXT)
                output = o;
        if (reads >= 0 &&
            (written || (output >= 0 && !model_writes_in_place(s->job, m, output, previous))))
            return false;
        written |= output >= 0;
    }
    return true;
}

static void find_in_place(stepping *s) {
    const model *whole = s->system->whole;
    s->step->in_place = job_array(s->job, (size_t)s->array_count, sizeof *s->step->in_place);
    for (int o = 0; o < whole->output_count; o++) {
        const version *v = &s->fields[whole->outputs[o].field];
        const bool previous = v->array[ROLE_PREVIOUS] >= 0;
        const int oldest = v->array[previous ? ROLE_PREVIOUS : ROLE_CURRENT];
        if (oldest >= 0)
            s->step->in_place[v->array[ROLE_NEXT]] =
                can_share(s, v->array[ROLE_NEXT], oldest, previous);
    }
}

static void find_mixed(stepping *s) {
    for (int axis = 0; axis < s->system->whole->dims; axis++) {
        bool periodic = false, other = false;
        for (int k = 0; k < s->stage_count; k++)
            model_find_ring(s->stages[k].model, axis, &periodic, &other);
        model_find_rings_of_maps(s->system->whole, axis, &periodic, &other);
        s->step->periodic[axis] = periodic;
        s->step->mixed[axis] = periodic && other;
    }
}

system_step *system_step_new(job *j, const system_model *system, const system_stage *stages,
                             int count) {
    system_step *step = job_alloc(j, sizeof *step);
    step->calls = job_array(j, SYSTEM_CALLS + MAX_FIELDS, sizeof *step->calls);
    step->buffers = job_array(j, 2 * MAX_FIELDS, sizeof *step->buffers);
    stepping *s = job_alloc(j, sizeof *s);
    *s = (stepping){
        .job = j, .system = system, .stages = stages, .stage_count = count, .step = step};
    list_fields(s);
    count_writes(s);
    for (int k = 0; k < count; k++)
        for (int i = 0; i < stages[k].times; i++)
            call(s, k);
    find_reach(s);
    find_mixed(s);
    find_in_place(s);
    return step;
}

/* ---- in words -------------------------------------------------------------------------------- */

const char *system_stage_name(job *j, const system_stage *s) {
    return s->first == s->last ? job_print(j, "%d", s->first + 1)
                               : job_print(j, "%d-%d", s->first + 1, s->last + 1);
}

static void print_head(const system_model *s, model_detail detail, text *out) {
    const model *m = s->whole;
    if (detail == MODEL_ALL)
        text_printf(out, "system %s: ", m->name);
    system_describe(s, out);
    text_printf(out, ", %s", dtype_words[m->dtype].name);
    if (model_is_narrow(m))
        text_printf(out, " in %s", dtype_words[model_storage(m, 0)].name);
    text_add(out, "\n");
    for (int f = 0; f < m->field_count; f++)
        text_printf(out, "%s%s %s%s", f == 0 ? "fields " : ", ", m->fields[f].name,
                    use_words[m->fields[f].use], m->fields[f].levels == 2 ? " with 2 levels" : "");
    for (int i = 0; i < s->scratch_count; i++)
        text_printf(out, ", %s scratch", s->scratch[i]);
    text_add(out, "\n");
    model_print_functions(m, detail, out);
}

/* The lines that only a stage's model has: those of its fields and parameters say nothing new. */
void system_print(const system_model *s, model_detail detail, text *out) {
    print_head(s, detail, out);
    for (int k = 0; k < s->stage_count; k++) {
        const system_stage *stage = &s->stages[k];
        text_printf(out, "stage %s", system_stage_name(out->job, stage));
        if (stage->times > 1)
            text_printf(out, ", %d times", stage->times);
        text_add(out, ": ");
        model_print(stage->model, MODEL_MEANING, out);
    }
}

void system_describe(const system_model *s, text *out) {
    int taps = 0;
    for (int k = 0; k < s->stage_count; k++)
        taps += s->stages[k].model->points;
    text_printf(out, "%dD system of %s, %s, radius %d", s->whole->dims,
                text_count(out->job, s->stage_count, "stage"), text_count(out->job, taps, "tap"),
                s->whole->radius);
}

void system_describe_boundary(const system_model *s, text *out) {
    bool same = true;
    for (int k = 1; k < s->stage_count; k++)
        for (int axis = 0; axis < s->whole->dims; axis++)
            for (int side = 0; side < 2; side++)
                same &= model_same_side(&s->stages[k].model->sides[axis][side],
                                        &s->stages[0].model->sides[axis][side]);
    for (int k = 0; k < (same ? 1 : s->stage_count); k++) {
        if (!same)
            text_printf(out, "%sstage %d ", k > 0 ? ", " : "", k + 1);
        model_describe_boundary(s->stages[k].model, out);
    }
}
