/* Checks of systems: the reference makes whole steps, a stage after the other, in float64 and with
   the rounding bounds of what came before, and all cells are judged at the end.
   Takes: a system and the kernel's arrays. Makes: for each written array values and bounds. */
#include <math.h>
#include <string.h>

#include "gen/model/family.h"
#include "gen/model/system.h"
#include "runtime/check/check.h"
#include "runtime/check/guard.h"

enum { PIECE = 1024 };

/* Of a cell of an out field that the boundary leaves alone. */
#define LEFT_ALONE (-1.0)

/* The values of a field at some moment: on the host as the kernel has them, or a pair of grids. */
typedef struct moment {
    const void *cells; /* NULL: these are pairs */
    double *values, *bounds;
} moment;

typedef struct march_field {
    const char *name;
    moment now, previous, start; /* start: when the step began */
    bool rotates, kept_alone;    /* it has two levels; it is out */
} march_field;

enum { PAIRS = 4 * MAX_FIELDS };

struct system_march {
    guarded *guarded;
    const system_model *system;
    const reference *references[SYSTEM_STAGES];
    march_field fields[2 * MAX_FIELDS];
    int field_count;
    allocator memory;
    double *pairs[PAIRS]; /* each a grid of values and one of bounds */
    bool taken[PAIRS];
    reference_place place; /* of the step */
    void **scratch;        /* of a worker, for each stage: counts of conditions, then results */
    size_t scratch_bytes[SYSTEM_STAGES], offset[SYSTEM_STAGES], worker_bytes;
    /* The stage that is being made. */
    int stage;
    reference_array arrays[2 * MAX_FIELDS];
    moment results[MAX_FIELDS];
    march_field *outputs[MAX_FIELDS];
};

static int64_t cells_of(const system_march *s) {
    return s->guarded->points;
}

static size_t pair_bytes(const system_march *s) {
    return 2 * (size_t)cells_of(s) * sizeof(double);
}

static march_field *find(system_march *s, const char *name) {
    for (int i = 0; i < s->field_count; i++)
        if (strcmp(s->fields[i].name, name) == 0)
            return &s->fields[i];
    return NULL;
}

void system_march_close(void *argument) {
    system_march *s = argument;
    for (int i = 0; i < PAIRS; i++) {
        guarded_memory_free(&s->memory, s->pairs[i], pair_bytes(s));
        s->pairs[i] = NULL;
    }
}

/* ---- grids ----------------------------------------------------------------------------------- */

static moment take_pair(job *j, system_march *s) {
    int i = 0;
    while (s->taken[i])
        i++;
    if (s->pairs[i] == NULL)
        s->pairs[i] = guarded_memory(j, pair_bytes(s));
    s->taken[i] = true;
    return (moment){NULL, s->pairs[i], s->pairs[i] + cells_of(s)};
}

static void let_go(system_march *s, moment *m) {
    for (int i = 0; m->values != NULL && i < PAIRS; i++)
        if (s->pairs[i] == m->values)
            s->taken[i] = false;
    *m = (moment){NULL, NULL, NULL};
}

static bool same(const moment *a, const moment *b) {
    return a->cells == b->cells && a->values == b->values;
}

static reference_array array_of(const system_march *s, const moment *m) {
    const int64_t *size = s->guarded->size;
    return (reference_array){.data = m->cells != NULL ? m->cells : (const void *)m->values,
                             .stride = {1, size[0], size[0] * size[1]},
                             .bounds = m->cells != NULL ? NULL : m->bounds};
}

/* ---- one stage ------------------------------------------------------------------------------- */

/* A cell that the boundary keeps, of a field that has no values in the stage's model. */
static void keep(const march_field *f, moment *to, int64_t at) {
    to->values[at] = f->now.values != NULL ? f->now.values[at] : 0;
    to->bounds[at] = f->kept_alone ? LEFT_ALONE : f->now.values != NULL ? f->now.bounds[at] : 0;
}

static void make_piece(void *argument, int64_t piece, int worker) {
    system_march *s = argument;
    const model *m = s->system->stages[s->stage].model;
    const int64_t *size = s->guarded->size, along = (size[0] + PIECE - 1) / PIECE;
    const int64_t row = piece / along, x = piece % along * PIECE, at = row * size[0] + x;
    const int count = (int)(size[0] - x < PIECE ? size[0] - x : PIECE);
    char *scratch = (char *)s->scratch[worker] + s->offset[s->stage];
    double *values = (double *)(void *)(scratch + s->scratch_bytes[s->stage]);
    double *bounds = values + MAX_FIELDS * PIECE;
    bool kept[PIECE];
    reference_row(s->references[s->stage], s->arrays, size, &s->place, x, row % size[1],
                  row / size[1], count, scratch, values, bounds, kept);
    for (int o = 0; o < m->output_count; o++) {
        moment *to = &s->results[o];
        memcpy(to->values + at, values + (size_t)o * (size_t)count, (size_t)count * sizeof *values);
        memcpy(to->bounds + at, bounds + (size_t)o * (size_t)count, (size_t)count * sizeof *bounds);
        for (int i = 0; i < count && m->fields[m->outputs[o].field].use == USE_OUT; i++)
            if (kept[i])
                keep(s->outputs[o], to, at + i);
    }
}

static void make_stage(job *j, system_march *s, int stage) {
    const model *m = s->system->stages[stage].model;
    const int64_t *size = s->guarded->size;
    s->stage = stage;
    for (int i = 0; i < m->array_count; i++) {
        const march_field *f = find(s, m->fields[m->arrays[i].field].name);
        s->arrays[i] = array_of(s, m->arrays[i].previous ? &f->previous : &f->now);
    }
    for (int o = 0; o < m->output_count; o++) {
        s->outputs[o] = find(s, m->fields[m->outputs[o].field].name);
        s->results[o] = take_pair(j, s);
    }
    workers_run(s->guarded->workers, (size[0] + PIECE - 1) / PIECE * size[1] * size[2], make_piece,
                s);
    for (int o = 0; o < m->output_count; o++) {
        march_field *f = s->outputs[o];
        if (!same(&f->now, &f->start))
            let_go(s, &f->now);
        f->now = s->results[o];
    }
}

/* ---- steps ----------------------------------------------------------------------------------- */

static void begin_step(system_march *s) {
    for (int i = 0; i < s->field_count; i++)
        s->fields[i].start = s->fields[i].now;
}

/* What is left of the step before: a scratch field or an out field holds nothing. */
static void end_step(system_march *s, bool last) {
    for (int i = 0; i < s->field_count; i++) {
        march_field *f = &s->fields[i];
        const bool inside =
            f->kept_alone || check_array(s->guarded->kernel->program, f->name, false, false) < 0;
        if (f->rotates) {
            let_go(s, &f->previous);
            f->previous = f->start;
        } else if (!same(&f->start, &f->now)) {
            let_go(s, &f->start);
        }
        if (inside && !last)
            let_go(s, &f->now);
    }
}

static moment cells_at(const guarded *g, const char *field, bool previous) {
    const int at = check_array(g->kernel->program, field, false, previous);
    return (moment){at < 0 ? NULL : g->arrays[at].cells, NULL, NULL};
}

static void add_field(system_march *s, const char *name, const model_field *of) {
    march_field *f = &s->fields[s->field_count++];
    *f = (march_field){.name = name};
    if (of == NULL)
        return;
    f->kept_alone = of->use == USE_OUT;
    f->rotates = of->levels == 2;
    f->now = cells_at(s->guarded, name, false);
    f->previous = f->rotates ? cells_at(s->guarded, name, true) : (moment){NULL, NULL, NULL};
}

static void open_scratch(job *j, system_march *s) {
    const int count = workers_count(s->guarded->workers);
    for (int k = 0; k < s->system->stage_count; k++) {
        const size_t bytes = reference_scratch(s->references[k], PIECE);
        s->offset[k] = s->worker_bytes;
        s->scratch_bytes[k] = (bytes + sizeof(double) - 1) / sizeof(double) * sizeof(double);
        s->worker_bytes += s->scratch_bytes[k] + 2 * MAX_FIELDS * PIECE * sizeof(double);
    }
    s->scratch = job_array(j, (size_t)count, sizeof *s->scratch);
    for (int i = 0; i < count; i++)
        s->scratch[i] = job_alloc(j, s->worker_bytes);
}

system_march *system_march_new(job *j, guarded *g, const system_model *system,
                               const double *parameters, int64_t steps) {
    system_march *s = job_alloc(j, sizeof *s);
    *s = (system_march){.guarded = g, .system = system, .memory = *job_allocator(j)};
    job_defer(j, system_march_close, s);
    for (int f = 0; f < system->whole->field_count; f++)
        add_field(s, system->whole->fields[f].name, &system->whole->fields[f]);
    for (int i = 0; i < system->scratch_count; i++)
        add_field(s, system->scratch[i], NULL);
    for (int k = 0; k < system->stage_count; k++)
        s->references[k] = reference_new(j, system->stages[k].model, parameters);
    open_scratch(j, s);
    memcpy(s->place.global, g->size, sizeof s->place.global);
    for (int64_t step = 0; step < steps; step++) {
        s->place.step = g->step + step;
        begin_step(s);
        for (int k = 0; k < system->stage_count; k++)
            for (int i = 0; i < system->stages[k].times; i++)
                make_stage(j, s, k);
        end_step(s, step + 1 == steps);
    }
    return s;
}

void system_march_expect(system_march *s, const char *field, const double **values,
                         const double **bounds) {
    const march_field *f = find(s, field);
    *values = f->now.values;
    *bounds = f->now.bounds;
}

bool system_march_alone(double bound) {
    return bound == LEFT_ALONE;
}

condition_sides system_march_sides(job *j, const system_march *s) {
    condition_sides out = {NULL, 0};
    for (int k = 0; k < s->system->stage_count; k++) {
        condition *all;
        const int count = reference_conditions(j, s->references[k], &all);
        for (int i = 0; i < workers_count(s->guarded->workers); i++)
            reference_count(s->references[k], (char *)s->scratch[i] + s->offset[k], all);
        conditions_judge(j, s->system->stages[k].model, all, count, &out);
    }
    return out;
}
