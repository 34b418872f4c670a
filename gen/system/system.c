/* The row of systems in the table of families, and what a request makes of one: single steps, or
   several in a launch. Takes: a subject and a request. Makes: a build, and a row of `explain` for
   each launch. */
#include "gen/system/system.h"

#include "gen/stencil/method.h"
#include "gen/stencil/source.h"
#include "gen/system/launches.h"

#include <math.h>
#include <string.h>

const system_model *system_of(const subject *s) {
    return s->model;
}

const model *system_whole(const subject *s) {
    return system_of(s)->whole;
}

int system_dims(const subject *s) {
    return system_whole(s)->dims;
}

void system_print_subject(const subject *s, model_detail detail, text *out) {
    system_print(system_of(s), detail, out);
}

void system_print_wanted(job *j, const subject *s, const char *line, text *out) {
    system_print_constraints(j, system_of(s), line, out);
}

static const char *line_of(job *j, const arrangement *a) {
    text line = text_new(j);
    system_print_plans(a, &line);
    return line.data;
}

const char *system_plan(job *j, const subject *s, const family_request *r) {
    return line_of(j, system_arrange(j, system_of(s), r));
}

/* ---- work ------------------------------------------------------------------------------------ */

static void add_count(expr_count *sum, const expr_count *more, int times) {
    sum->multiplications += times * more->multiplications;
    sum->additions += times * more->additions;
    sum->others += times * more->others;
}

/* Of a step, as emitted. */
static expr_count count_emitted(const arrangement *a) {
    expr_count sum = {0, 0, 0};
    if (a->single != NULL)
        a = a->single;
    for (int i = 0; i < a->count; i++) {
        const expr_count one = plan_emitted(a->plans[i]);
        add_count(&sum, &one, a->stages[i].times);
    }
    return sum;
}

static double total(const expr_count *c) {
    return c->multiplications + c->additions + c->others;
}

static int count_taps(const system_model *s) {
    int taps = 0;
    for (int k = 0; k < s->stage_count; k++)
        taps += s->stages[k].model->points;
    return taps;
}

/* By the textbook, where it counts all stages. */
static double textbook(const system_model *s) {
    double sum = 0;
    for (int k = 0; k < s->stage_count; k++) {
        if (s->stages[k].model->nonlinear)
            return 0;
        sum += s->stages[k].times * model_textbook_operations(s->stages[k].model);
    }
    return sum;
}

static int count_launches(const system_stage *stages, int count) {
    int launches = 0;
    for (int k = 0; k < count; k++)
        launches += stages[k].times;
    return launches;
}

/* "3 launches a step, at least 40 bytes a point" */
static const char *reason_of(job *j, const arrangement *a) {
    const system_model *s = a->system;
    const int steps = a->steps;
    if (a->single != NULL)
        a = a->single;
    const int launches = count_launches(a->stages, a->count),
              apart = count_launches(s->stages, s->stage_count);
    const double bytes = system_bytes_per_point(a->stages, a->count),
                 before = system_bytes_per_point(s->stages, s->stage_count);
    text t = text_new(j);
    if (steps > 1)
        text_printf(&t, "%d steps a launch; single steps: ", steps);
    text_printf(&t, "%d launch%s a step, at least ", launches, launches == 1 ? "" : "es");
    text_number(&t, bytes, 15);
    text_add(&t, " bytes a point");
    if (apart > launches) {
        text_printf(&t, "; a launch for each stage would be %d and ", apart);
        text_number(&t, before, 15);
        text_add(&t, " bytes");
    }
    for (int i = 1; i < a->count; i++)
        if (a->apart[a->stages[i].first] != NULL)
            text_printf(&t, "; stages %d and %d stay apart: %s", a->stages[i].first,
                        a->stages[i].first + 1, a->apart[a->stages[i].first]);
    return t.data;
}

family_build *system_build(job *j, const subject *subject, const family_request *r) {
    const system_model *s = system_of(subject);
    const arrangement *a = system_arrange(j, s, r);
    const expr_count emitted = count_emitted(a);
    text shape = text_new(j), boundary = text_new(j), printed = text_new(j);
    system_describe(s, &shape);
    system_describe_boundary(s, &boundary);
    system_print(s, MODEL_ALL, &printed);
    family_build *b = job_alloc(j, sizeof *b);
    *b = (family_build){
        .program = system_source(j, a),
        .header = system_source_header(j, a),
        .shape = shape.data,
        .model = printed.data,
        .plan = line_of(j, a),
        .reason = reason_of(j, a),
        .boundary = boundary.data,
        .points = count_taps(s),
        .radius = s->whole->radius,
        .textbook_operations = textbook(s),
        .emitted_operations = total(&emitted),
    };
    return b;
}

/* ---- explain --------------------------------------------------------------------------------- */

static void write_row(job *j, const system_stage *stage, const plan *p, int steps,
                      family_row *row) {
    const model *m = stage->model;
    text line = text_new(j), note = text_new(j);
    schedule of = p->schedule;
    of.time = larger(of.time, steps);
    schedule_print(&of, m->dims, &line);
    if (steps > 1)
        text_printf(&note, "%d steps, for which ", steps);
    if (stage->times > 1)
        text_printf(&note, "%d times, each ", stage->times);
    text_number(&note, model_bytes_per_point(m), 15);
    text_add(&note, " bytes a point");
    const double loads = p->estimate.loads_per_point * (double)dtype_words[m->dtype].bytes;
    *row = (family_row){
        .name = stage->first == stage->last
                    ? job_print(j, "stage %d", stage->first + 1)
                    : job_print(j, "stages %d-%d", stage->first + 1, stage->last + 1),
        .plan = line.data,
        .note = note.data,
        .chosen = true,
        .loads_bytes_per_point = loads,
        .operations_per_byte = loads > 0 ? model_textbook_operations(m) / loads : 0,
        .shared_bytes = p->shared_bytes,
        .threads = plan_threads(p),
        .registers = p->estimate.registers,
        .seconds = stage->times * p->estimate.seconds / larger(steps, 1),
        .bound = p->estimate.bound,
    };
}

void system_explain(job *j, const subject *subject, const family_request *r,
                    family_explanation *e) {
    const system_model *s = system_of(subject);
    const arrangement *a = system_arrange(j, s, r);
    const expr_count emitted = count_emitted(a);
    text shape = text_new(j), boundary = text_new(j);
    system_describe(s, &shape);
    system_describe_boundary(s, &boundary);
    *e = (family_explanation){
        .shape = shape.data,
        .boundary = boundary.data,
        .reason = reason_of(j, a),
        .points = count_taps(s),
        .textbook_operations = textbook(s),
        .emitted_operations = total(&emitted),
        .multiplications = emitted.multiplications,
        .additions = emitted.additions,
        .others = emitted.others,
        .bytes_per_point = system_bytes_per_point(a->stages, a->count) / larger(a->steps, 1),
    };
    e->memory = source_describe_memory(j, system_describe_program(j, a));
    e->rows = job_array(j, (size_t)a->count, sizeof *e->rows);
    for (int i = 0; i < a->count; i++)
        write_row(j, &a->stages[i], a->plans[i], a->steps, &e->rows[e->row_count++]);
}

/* ---- several steps of a system in one launch, as a chain of all their stages ----------------- */

/* The most steps of a system that a launch makes unless it is told to make more, and the share of a
   single step's time below which they are worth it. */
enum { MOST_STEPS = 8 };
static const double PAYS = 0.9;

/* Those that a line asks for, of all stages together; 0: it does not say. */
static int asked_steps(job *j, const system_model *system, const char *line) {
    schedule wanted = {.method = 0};
    if (line == NULL)
        return 0;
    if (arranging_has_parts(line)) {
        part parts[SYSTEM_STAGES];
        if (arranging_read_parts(j, line, parts) != 1 || parts[0].last != system->stage_count - 1)
            return 0;
        line = parts[0].schedule;
    }
    schedule_parse(j, line, "schedule", &wanted);
    return wanted.time;
}

/* The constraints of the launch, without its time. */
static const char *line_of_launch(job *j, const system_model *system, const char *line) {
    if (line == NULL)
        return NULL;
    if (arranging_has_parts(line)) {
        part parts[SYSTEM_STAGES];
        arranging_read_parts(j, line, parts);
        line = parts[0].schedule;
    }
    schedule wanted = {.method = 0};
    text out = text_new(j);
    schedule_parse(j, line, "schedule", &wanted);
    wanted.time = 0;
    schedule_print(&wanted, system->whole->dims, &out);
    return out.data;
}

/* A single step must be one launch without buffers, whose arrays a launch of several steps has
   too. */
static bool is_one_launch(job *j, const arrangement *a) {
    if (a->count != 1 || a->stages[0].times != 1)
        return false;
    const system_step *step = system_step_new(j, a->system, a->stages, a->count);
    return step->call_count == 1 && step->buffer_count == 0;
}

static arrangement *arrange_steps(job *j, const arrangement *single, const family_request *r,
                                  int steps, const char **why) {
    const system_model *system = single->system;
    arrangement *out = arrangement_new(j, system);
    arranging a = {j, system, r, NULL, out, false};
    system_stage stage;
    *why = "a step takes several launches";
    if (!is_one_launch(j, single) ||
        !system_chain(j, system, 0, system->stage_count - 1, steps, &stage, why))
        return NULL;
    arranging_add(&a, &stage, line_of_launch(j, system, r->schedule));
    out->steps = steps;
    out->single = single;
    out->seconds /= steps;
    return out;
}

/* Several steps a launch, tried in a job of its own. */
typedef struct steps_attempt {
    const arrangement *single;
    const family_request *request;
    int steps;
    double seconds; /* a step, or INFINITY */
} steps_attempt;

static void try_steps(job *j, void *argument) {
    steps_attempt *t = argument;
    const char *why;
    const arrangement *made = arrange_steps(j, t->single, t->request, t->steps, &why);
    if (made != NULL)
        t->seconds = made->seconds;
}

static double seconds_of_steps(job *j, const arrangement *single, const family_request *r,
                               int steps) {
    steps_attempt t = {single, r, steps, INFINITY};
    fault f;
    job_inner_end(j, job_inner(j, try_steps, &t, &f));
    return t.seconds;
}

/* How many steps pay, of a run of several, in strips of warps, which alone are fast enough. 1:
   single steps are as fast. */
static int choose_steps(job *j, const arrangement *single, const family_request *r) {
    int best = 1;
    double least = PAYS * single->seconds;
    for (int steps = 2; steps <= MOST_STEPS && steps <= r->steps; steps++) {
        const double seconds = seconds_of_steps(j, single, r, steps);
        if (seconds < least) {
            least = seconds;
            best = steps;
        }
    }
    return best;
}

/* Runs of several steps on a GPU, of 2D systems of which nothing is asked. */
static arrangement *arrange_freely(job *j, const system_model *system, const family_request *r) {
    arrangement *single = arrange_single(j, system, r, false), *rest;
    const char *why;
    family_request own = *r;
    if (r->schedule != NULL || r->gpu->processor != NULL || r->steps < 2 ||
        system->whole->dims != 2 || !system->fuse || !is_one_launch(j, single))
        return single;
    own.schedule = "chained vec=1 lane=2";
    const int steps = choose_steps(j, single, &own);
    if (steps == 1)
        return single;
    rest = arrange_single(j, system, r, true);
    return is_one_launch(j, rest) ? arrange_steps(j, rest, &own, steps, &why) : single;
}

/* The single steps of a run that several steps a launch do not divide: the planner's own if that is
   one launch, else a chain too. */
static arrangement *arrange_rest(job *j, const system_model *system, const family_request *r) {
    family_request own = *r;
    own.schedule = NULL;
    arrangement *single = arrange_single(j, system, &own, true);
    if (is_one_launch(j, single) || system->stage_count == 1)
        return single;
    if (is_one_launch(j, arrange_single(j, system, &own, false))) {
        own.schedule = job_print(j, "1-%d: time=1", system->stage_count);
        return arrange_single(j, system, &own, true);
    }
    schedule wanted = {.method = 0}, chain = {.method = 0};
    text line = text_new(j);
    schedule_parse(j, line_of_launch(j, system, r->schedule), "schedule", &wanted);
    chain.method = wanted.method;
    chain.vector = wanted.vector;
    text_printf(&line, "1-%d: ", system->stage_count);
    schedule_print(&chain, system->whole->dims, &line);
    own.schedule = line.data;
    return arrange_single(j, system, &own, true);
}

arrangement *system_arrange(job *j, const system_model *system, const family_request *r) {
    const int asked = asked_steps(j, system, r->schedule);
    const char *why;
    if (asked <= 1)
        return arrange_freely(j, system, r);
    arrangement *made = arrange_steps(j, arrange_rest(j, system, r), r, asked, &why);
    if (made == NULL)
        job_fail(j, FAULT_PLAN, system->stages[0].model->file, system->stages[0].model->line,
                 "%d steps cannot share a launch: %s", asked, why);
    return made;
}
