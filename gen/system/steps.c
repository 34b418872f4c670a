/* Several steps of a system in one launch, as a chain of all their stages. Takes: a system and a
   request, which may ask for them. Makes: the arrangement, with the one of single steps. */
#include "gen/stencil/method.h"
#include "gen/stencil/schedule.h"
#include "gen/system/launches.h"

#include <math.h>

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
