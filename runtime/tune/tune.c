/* sg_tune: which candidates are tried, and what becomes of their results. */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "runtime/api/build.h"
#include "runtime/cache/cache.h"
#include "runtime/check/check.h"
#include "runtime/tune/search.h"
#include "runtime/tune/sweep.h"
#include "runtime/tune/trial.h"

enum { USUAL_EVALUATIONS = 40, BETWEEN_DRIFTS = 8 };
#define WORTH_SAYING 0.05 /* drift */
#define USUAL_LIMIT 120.0 /* seconds for a trial in a worker */

static void release(void *argument) {
    sweep *s = argument;
    for (int i = 0; i < s->trial_count; i++)
        trial_end(&s->trials[i]);
    s->trial_count = 0;
    trial_end(&s->fixed);
    worker_close(s->worker);
    check_data_close(s->setting.kept);
    sweep_leave(s);
}

/* ---- before ---------------------------------------------------------------------------------- */

static void refuse_time(job *j, const char *name, double seconds) {
    if (seconds >= 0)
        return;
    text value = text_new(j);
    text_number(&value, seconds, 6);
    context_refuse(j, "%s of sg_tune_options is %s; it must be 0 (the default) or more seconds",
                   name, value.data);
}

static void read_options(job *j, sweep *s) {
    sg_tune_options *o = &s->options;
    context_read(j, o, sizeof *o, s->given, "sg_tune_options");
    if (o->evaluations < 0)
        context_refuse(j,
                       "evaluations of sg_tune_options is %d; it must be 0 (the default) or more",
                       o->evaluations);
    refuse_time(j, "budget", o->budget);
    refuse_time(j, "limit", o->limit);
    if ((int)o->search < 0 || (int)o->search >= SEARCH_KINDS)
        context_refuse(j, "search of sg_tune_options is %d; it must be one of sg_search",
                       (int)o->search);
    o->seed = o->seed != 0 ? o->seed : 1;
}

static void find_space(job *j, sweep *s) {
    static const search_kind kinds[] = {[SG_SEARCH_GUIDED] = SEARCH_GUIDED,
                                        [SG_SEARCH_EXHAUSTIVE] = SEARCH_EXHAUSTIVE,
                                        [SG_SEARCH_RANDOM] = SEARCH_RANDOM};
    build_request *r = &s->request;
    const sg_tune_options *o = &s->options;
    const family_request wanted = build_wanted(r);
    s->space = space_make(j, r->subject, &wanted);
    s->search = search_new(j, kinds[o->search], search_candidates_of(j, s->space), o->seed);
    const int all = s->space->count + (s->space->usual_index < 0); /* which is tried besides */
    s->built = job_array(j, (size_t)s->space->count, sizeof *s->built);
    s->done = job_array(j, (size_t)all, sizeof *s->done);
    s->has = job_array(j, (size_t)s->space->count + 1, sizeof *s->has);
    s->most = o->evaluations > 0                                   ? o->evaluations
              : o->budget > 0 || o->search == SG_SEARCH_EXHAUSTIVE ? all
                                                                   : USUAL_EVALUATIONS;
    s->most = s->most < all ? s->most : all;
}

/* A worker has its own. */
static void open_own(job *j, sweep *s) {
    const device *d = s->request.context->device;
    s->setting.sensors = sensors_open(j, d->ops->facts(d)->bus);
    s->setting.kept = check_data_new(j);
}

static void find_setting(job *j, sweep *s) {
    const build_request *r = &s->request;
    const sg_tune_options *o = &s->options;
    s->setting = (trial_setting){.context = r->context,
                                 .path = r->path,
                                 .build = r->options,
                                 .parameters = s->options.parameters};
    s->setting.build.struct_size = sizeof s->setting.build;
    s->setting.build.source_only = 0;
    memcpy(s->setting.build.size, r->size, sizeof r->size);
    if (o->worker != NULL && !r->context->given.lent)
        s->worker = worker_new(j, o->worker, o->limit > 0 ? o->limit : USUAL_LIMIT, &s->setting);
    else
        open_own(j, s);
}

/* ---- trials ---------------------------------------------------------------------------------- */

/* Every search begins with the plan that builds take, because gains are compared with it. */
static int choose(sweep *s, int *out) {
    const int left = s->most - s->count;
    const int threads = workers_count(context_workers(s->job, s->request.context));
    int wanted = search_at_once(s->search, threads < SWEEP_AT_ONCE ? threads : SWEEP_AT_ONCE);
    wanted = wanted < left ? wanted : left;
    const bool guided = s->options.search == SG_SEARCH_GUIDED; /* which begins with it */
    if (s->usual < 0 && (s->space->usual_index < 0 || !guided)) {
        out[0] = s->space->usual_index;
        return 1;
    }
    return search_ask(s->search, wanted, out);
}

/* A guided search chooses few candidates at a time. Compilers are slow compared with timings, so
   idle threads build what is most promising after those; in recorded sweeps two thirds of it
   were asked for soon. The cache keeps them. */
static int choose_ahead(sweep *s, int *chosen, int count) {
    const int threads = workers_count(context_workers(s->job, s->request.context));
    const int room = (threads < SWEEP_BUILT ? threads : SWEEP_BUILT) - count;
    const int left = s->most - s->count - count;
    bool waits = false;
    int all = count, more[SWEEP_BUILT], asked = 0;
    for (int i = 0; i < count; i++)
        waits = waits || chosen[i] < 0 || !s->built[chosen[i]];
    if (s->options.search == SG_SEARCH_GUIDED && waits && room > 0 && left > 0 &&
        cache_reason(s->request.context->cache)[0] != '\0')
        asked = search_ask(s->search, room < left ? room : left, more);
    for (int i = 0; i < asked; i++) {
        search_return(s->search, more[i]);
        if (!s->built[more[i]])
            chosen[all++] = more[i];
    }
    for (int i = 0; i < all; i++)
        if (chosen[i] >= 0)
            s->built[chosen[i]] = true;
    return all;
}

static void need_memory(job *j, bool ok) {
    if (!ok)
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
}

static void build_all(job *j, sweep *s, const int *chosen, int count) {
    const double steps = s->setting.build.steps > 1 ? (double)s->setting.build.steps : 1;
    const bool gpu = strcmp(s->place.device.kind, "cpu") != 0; /* of which the model is */
    for (int i = 0; i < count; i++) {
        const space_candidate c = sweep_candidate(s, chosen[i]);
        s->trials[i] = (trial){.candidate = chosen[i], .plan = c.plan};
        s->trials[i].result.estimate = gpu && c.estimate > 0 ? steps * c.estimate : NAN;
    }
    sweep_build(j, s, count);
}

/* After a failed launch the device may not work any more. */
static void look_after(job *j, sweep *s, const result *r) {
    if ((r->state == RESULT_FAILED || r->state == RESULT_HUNG) && s->fixed.kernel != NULL &&
        isnan(sweep_time_fixed(j, s)))
        job_fail(j, FAULT_DEVICE, NULL, 0,
                 "after %s (%s) the device does not run a kernel any more that it ran before; the "
                 "sweep goes on when it is begun again",
                 r->plan, r->reason);
}

/* A GPU may serve one process alone. */
static void go_without_worker(job *j, sweep *s, const char *why) {
    logger_say(&s->request.context->logger, j, SG_LOG_WARNING,
               "trials are made in this process, where nothing ends one that does not end: %s",
               why);
    worker_close(s->worker);
    s->worker = NULL;
    open_own(j, s);
}

/* Every result is stored at once. */
static void measure(job *j, sweep *s, trial *t, int evaluation) {
    result *r = &t->result;
    const char *why;
    if (s->worker == NULL) {
        need_memory(j, trial_measure(&s->setting, t, true));
    } else if (!worker_measure(j, s->worker, t, &why)) {
        go_without_worker(j, s, why);
        need_memory(j, trial_measure(&s->setting, t, true));
    }
    r->driver = s->request.context->device->ops->facts(s->request.context->device)->driver;
    r->sweep = evaluation > 0 ? s->id : 0;
    r->evaluation = evaluation;
    if (s->results != NULL) {
        results_store(j, s->results, &s->place, r);
        atomic_fetch_add(&s->request.context->sweeps, 1);
    }
}

static void evaluate(job *j, sweep *s, trial *t) {
    result *r = &t->result;
    const double begin = clock_seconds();
    measure(j, s, t, s->count + 1);
    if (r->state == RESULT_RIGHT && s->again_seconds == 0) /* as a first guess */
        s->again_seconds = clock_seconds() - begin - r->check_seconds;
    sweep_add(s, t->candidate, r, false);
    look_after(j, s, r);
    if (r->state == RESULT_RIGHT && s->fixed.kernel == NULL) {
        s->fixed = *t;
        s->fixed_seconds = r->median;
        *t = (trial){.plan = t->plan};
    } else if (s->count % BETWEEN_DRIFTS == 0) {
        sweep_time_fixed(j, s);
    }
    sweep_report(s, 0, &s->done[s->count - 1]);
}

/* False: nothing is left to try. A signal that ends the command may have ended a compiler too,
   so nothing that was built counts once the caller has asked to stop. */
static bool make_trials(job *j, sweep *s) {
    int chosen[SWEEP_BUILT];
    const int count = choose(s, chosen), all = choose_ahead(s, chosen, count);
    if (count == 0 || !sweep_report(s, count, NULL))
        return false;
    build_all(j, s, chosen, all);
    for (int i = 0; i < all; i++) {
        if (i < count && !sweep_is_over(s) && sweep_report(s, 0, NULL))
            evaluate(j, s, &s->trials[i]);
        trial_end(&s->trials[i]);
    }
    s->trial_count = 0;
    return true;
}

/* ---- besides the sweep ----------------------------------------------------------------------- */

typedef struct planning {
    const build_request *request;
    const char *plan;
} planning;

static void plan_freely(job *j, void *argument) {
    planning *p = argument;
    family_request wanted = build_wanted(p->request);
    wanted.schedule = NULL;
    p->plan = p->request->subject->family->plan(j, p->request->subject, &wanted);
}

static bool is_known(job *j, const sweep *s, const char *plan) {
    const result_rows rows = results_list(j, s->results, &(result_filter){.place = &s->place});
    for (size_t i = 0; i < rows.count; i++)
        if (strcmp(rows.list[i].result.plan, plan) == 0)
            return true;
    return false;
}

/* A caller's schedule may leave only slow plans, and their fastest must not replace the model's
   choice in builds without that schedule. So that choice is measured and stored too, once. A
   schedule of the spec itself applies to all builds. */
static void anchor(job *j, sweep *s) {
    const char *schedule = s->request.options.schedule;
    planning p = {.request = &s->request};
    fault f;
    if (s->results == NULL || schedule == NULL || schedule[0] == '\0')
        return;
    job *planned = job_inner(j, plan_freely, &p, &f);
    const char *plan = f == FAULT_NONE ? job_print(j, "%s", p.plan) : s->space->usual;
    job_inner_end(j, planned);
    if (strcmp(plan, s->space->usual) == 0 || is_known(j, s, plan))
        return;
    s->trials[0] = (trial){.plan = plan};
    s->trials[0].result.estimate = NAN;
    sweep_build(j, s, 1);
    if (sweep_report(s, 0, NULL))
        measure(j, s, &s->trials[0], 0);
    if (s->trials[0].result.state == RESULT_WRONG)
        logger_say(&s->request.context->logger, j, SG_LOG_WARNING,
                   "%s gave wrong results, which is a defect of stencilgen: %s", plan,
                   s->trials[0].result.reason);
    trial_end(&s->trials[0]);
    s->trial_count = 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* It may be faster than everything in this sweep, if that was narrow. */
static const char *find_taken(job *j, const sweep *s) {
    build_request free = s->request;
    const char *found, *plan = NULL;
    free.options.schedule = NULL;
    if (s->results != NULL && s->best >= 0)
        plan = tuned_plan(j, &free, &found);
    return plan != NULL ? plan : "";
}

static void conclude(job *j, sweep *s, bool finished) {
    const build_request *r = &s->request;
    sg_tuning *t = &s->out->shown;
    *t = (sg_tuning){.struct_size = sizeof *t,
                     .family = r->subject->family->name,
                     .name = r->subject->name,
                     .arch = r->gpu->arch,
                     .gpu = r->gpu->name,
                     .dims = r->subject->family->dims(r->subject),
                     .steps = s->place.steps,
                     .candidate_count = s->space->count,
                     .evaluation_count = s->count,
                     .evaluations = s->done,
                     .best = s->best,
                     .usual = s->usual,
                     .wrong = s->wrong,
                     .resumed = s->resumed,
                     .finished = finished,
                     .seconds = clock_seconds() - s->begin,
                     .drift = s->drift,
                     .drift_count = s->drift_count,
                     .drifts = s->drifts,
                     .kind = build_kind(r->subject->family),
                     .finalists = s->finalists,
                     .rounds = s->rounds,
                     .taken = find_taken(j, s),
                     .database =
                         s->results != NULL ? job_print(j, "%s", results_path(s->results)) : ""};
    memcpy(t->size, r->size, sizeof t->size);
    if (s->drift > WORTH_SAYING)
        logger_say(&r->context->logger, j, SG_LOG_WARNING,
                   "%s: a kernel that was timed again and again took up to %.0f %% more or less "
                   "than at first; something else is running, or clocks changed",
                   t->name, 100 * s->drift);
}

static void tune(job *j, void *argument) {
    sweep *s = argument;
    sg_context *c = s->request.context;
    s->job = j;
    s->begin = clock_seconds();
    s->best = s->usual = s->owner = -1;
    job_defer(j, release, s);
    s->out = job_alloc(j, sizeof *s->out);
    s->out->job = j;
    read_options(j, s);
    s->request.path = s->path;
    s->request.given = s->options.build;
    build_read(j, &s->request);
    build_judge_matrix(j, &s->request);
    context_device(j, c);
    if (!results_place_of(j, &s->request, &s->place))
        context_refuse(j, "tuning measures: a GPU runs no kernels for %s", s->request.gpu->arch);
    find_space(j, s);
    find_setting(j, s);
    s->results = c->results != NULL && results_path(c->results)[0] != '\0' ? c->results : NULL;
    if (s->results != NULL)
        sweep_resume(j, s);
    sweep_resume_fixed(j, s);
    if (s->count < s->most)
        anchor(j, s);
    while (s->count < s->most && !sweep_is_over(s) && make_trials(j, s))
        ;
    const bool all = s->count >= s->most || !sweep_is_over(s);
    sweep_finals(j, s);
    if (s->finalists == 0 && !s->stopped)
        sweep_time_fixed(j, s);
    const bool finished = all && !s->stopped;
    if (finished && s->results != NULL)
        results_end(j, s->results, s->id);
    conclude(j, s, finished);
    job_undo(j, s);
}

/* The defects of a sweep that is over, as an error. */
static void blame(job *j, void *argument) {
    const sg_tuning *t = argument;
    int first = 0;
    while (strcmp(t->evaluations[first].state, result_state_words[RESULT_WRONG]) != 0)
        first++;
    job_fail(j, FAULT_CHECK, NULL, 0,
             "%d of %s of '%s' gave wrong results, which is a defect of stencilgen; the "
             "first: %s: %s",
             t->wrong, text_count(j, t->evaluation_count, "candidate"), t->name,
             t->evaluations[first].plan, t->evaluations[first].reason);
}

sg_status sg_tune(sg_context *context, const char *spec_path, const sg_tune_options *options,
                  sg_tuning **out) {
    if (context == NULL || out == NULL)
        return SG_ERROR_USAGE;
    sweep s = {.path = spec_path, .given = options, .request = {.context = context}};
    job *kept;
    const sg_status status = context_run(context, tune, &s, &kept);
    if (status != SG_OK)
        return status;
    *out = &s.out->shown;
    return s.wrong > 0 ? context_run(context, blame, *out, NULL) : SG_OK;
}

void sg_tuning_free(sg_tuning *t) {
    if (t != NULL)
        job_end(((tuned *)t)->job);
}
