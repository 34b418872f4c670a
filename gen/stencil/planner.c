/* The planner: it compares the candidates of every method that meet the constraints, and takes the
   cheapest. Takes: a model, constraints, a GPU, a size. Makes: a plan with its reason. */
#include "gen/stencil/search.h"

/* From one of many launches to the next; it counts where the grid is small. */
static double launch_seconds(const gpu *g) {
    return program_may_begin_early(g->arch) ? 1e-6 : 2e-6;
}

/* Seconds of the steps that whole launches leave. Some are made together, by shorter launches, and
   the others one by one. Those of pipelines leave out warps and walk as far. By 15 figures of an
   H200 in double and float they take 0.5 to 0.8 of a launch with up to half of its steps, and 0.9
   to 1 with more. */
static double seconds_of_rest(const search *s, const plan *p, int rest) {
    const int time = p->schedule.time;
    const form *f = p->form;
    const int together = f->fewer == NULL ? 0 : f->together != NULL ? f->together(p, rest) : rest;
    const bool pipeline = f->together != NULL;
    const double least = pipeline ? 0.45 : 0.25, each = pipeline ? 0.6 : 0.75;
    const double shorter =
        together == 0 ? 0 : p->estimate.seconds * (least + each * together / time);
    return shorter + (rest - together) * s->single->estimate.seconds;
}

/* Seconds a step, where as many steps are made as are planned for, whole launches first. */
static double seconds_a_step(const search *s, const plan *p) {
    const int time = p->schedule.time;
    if (time <= 1) /* each step is a launch of its own */
        return p->estimate.seconds + (s->steps > 1 ? launch_seconds(s->gpu) : 0);
    if (s->steps <= time || s->steps >= 64 * (int64_t)time)
        return p->estimate.seconds / time;
    const double rest = seconds_of_rest(s, p, (int)(s->steps % time));
    return ((double)(s->steps / time) * p->estimate.seconds + rest) / (double)s->steps;
}

/* Whether the grid planned for is large enough for the plan's launches. */
static bool serves(const search *s, const plan *p) {
    bool enough = true;
    for (int k = 0; k < AXES; k++)
        enough = enough && (p->axes[k] < 0 || s->size[p->axes[k]] >= p->least[k]);
    return enough;
}

static bool is_better(const search *s, const plan *p, const plan *than) {
    if (than == NULL || serves(s, p) != serves(s, than))
        return than == NULL || serves(s, p);
    return seconds_a_step(s, p) < seconds_a_step(s, than);
}

static void visit(search *s, const plan *p) {
    const plan_visitor *v = s->visitor;
    if (!serves(s, p))
        search_refuse(s, "the grid is smaller than a launch of several steps needs");
    else if (s->steps > 1 && p->schedule.time > s->steps)
        search_refuse(s, "a run has fewer steps");
    else
        v->candidate(v->user, s->which, p, seconds_a_step(s, p));
}

/* Whether each point is computed by itself, by the update as it is written: plans that do so leave
   the same bytes, whatever their method and size. Partial sums are added in another order. */
static bool makes_points(const plan *p) {
    return p->pass_count == 0 && !p->form->sums && !p->form->constant;
}

void search_keep(search *s, plan *p) {
    if (s->by_points && !makes_points(p)) {
        search_refuse(s, "it adds in another order than the update as it is written");
        job_drop(s->job, p, sizeof *p);
        return;
    }
    if (p->pass_count == 0)
        p->estimate.seconds *= plan_measured_factor(s->measured, p);
    const bool better = is_better(s, p, s->best);
    if (better)
        s->best = p;
    if (s->visitor != NULL)
        visit(s, p);
    else if (!better)
        job_drop(s->job, p, sizeof *p);
}

void search_refuse(search *s, const char *refusal) {
    if (s->refusal == NULL)
        s->refusal = refusal;
}

/* *refusal is the first refusal of the method, where none of its candidates fits. */
static void try_method(search *s, int m, const char **refusal) {
    const plan *before = s->best;
    s->refusal = NULL;
    s->method = m;
    *refusal = NULL;
    methods[m]->candidates(s);
    if (s->best == before)
        *refusal = s->refusal != NULL ? s->refusal
                                      : "its launches make more steps than the run has, unless "
                                        "time says how many";
}

static void explain_gpu(const plan *p, text *t) {
    const plan_estimate *e = &p->estimate;
    text_printf(t, "bound by %s: ", e->bound);
    text_number(t, e->instructions_per_point, 3);
    text_add(t, " instructions, ");
    text_number(t, e->bytes_per_point, 3);
    text_add(t, " bytes of device memory and ");
    text_number(t, e->shared_per_point, 3);
    text_printf(t,
                " accesses to shared memory a point; about %d registers a thread, %s of %s a "
                "multiprocessor",
                e->registers, text_count(t->job, e->blocks_resident, "block"),
                text_count(t->job, plan_threads(p), "thread"));
}

static void explain_processor(const plan *p, text *t) {
    const plan_estimate *e = &p->estimate;
    text_printf(t, "%s, bound by %s: ", gpu_processor_words(t->job, p->gpu), e->bound);
    text_number(t, e->instructions_per_point, 3);
    text_add(t, " instructions and ");
    text_number(t, e->bytes_per_point, 3);
    text_add(t, " bytes of memory a point");
}

static const char *explain_choice(search *s, const char *runner_up, double factor) {
    text t = text_new(s->job);
    if (s->gpu->processor != NULL)
        explain_processor(s->best, &t);
    else
        explain_gpu(s->best, &t);
    if (s->tried.count > 1)
        text_printf(&t, "; the best of %d candidates by the model", s->tried.count);
    if (s->tried.count > 1 && plan_measured_count(s->measured) > 0)
        text_printf(&t, " and %s",
                    text_count(s->job, plan_measured_count(s->measured), "measurement"));
    if (runner_up != NULL) {
        text_printf(&t, ", %s expected to take ", runner_up);
        text_number(&t, factor, 3);
        text_add(&t, " times as long");
    }
    return t.data;
}

/* Several steps a launch are considered where a run has several, or where the constraints ask for
   them. */
static bool wants_fused(const search *s) {
    const schedule *w = s->wanted;
    return methods[w->method]->fused || (w->method == 0 && w->time != 1 && s->steps > 1) ||
           w->time > 1 || w->lane[0] > 1 || w->lane[1] > 1 || w->stages > 1;
}

/* Whether a method is for what is planned for. On a processor the others are still made where they
   are asked for, and where the constraints leave nothing else. */
static bool suits(const search *s, int m) {
    return methods[m]->serial == (s->gpu->processor != NULL) || s->wanted->method == m;
}

/* The best plan of each method that suits, or of each of the others; the best of all. */
static plan *try_those(search *s, bool suited, plan *best[METHODS], text *reasons) {
    plan *winner = NULL;
    for (int m = 1; m < METHODS; m++) {
        const char *refusal;
        if (suits(s, m) != suited || (methods[m]->fused && !wants_fused(s)))
            continue;
        s->best = NULL;
        try_method(s, m, &refusal);
        best[m] = s->best;
        if (s->best == NULL)
            text_printf(reasons, "%smethod %s: %s", reasons->length > 0 ? "; " : "",
                        methods[m]->name, refusal);
        else if (is_better(s, s->best, winner))
            winner = s->best;
    }
    return winner;
}

/* The best plan of every method, and of all. */
static plan *try_all(search *s) {
    plan *best[METHODS] = {NULL};
    text reasons = text_new(s->job);
    plan *winner = try_those(s, true, best, &reasons);
    if (winner == NULL)
        winner = try_those(s, false, best, &reasons);
    if (winner == NULL)
        job_fail(s->job, FAULT_PLAN, s->facts->model->file, s->facts->model->line,
                 "no method serves: %s", reasons.data);
    const plan *second = NULL;
    for (int m = 1; m < METHODS; m++)
        if (best[m] != NULL && best[m] != winner &&
            (second == NULL || seconds_a_step(s, best[m]) < seconds_a_step(s, second)))
            second = best[m];
    s->best = winner;
    winner->reason = second == NULL
                         ? explain_choice(s, NULL, 0)
                         : explain_choice(s, plan_method(second)->name,
                                          seconds_a_step(s, second) / seconds_a_step(s, winner));
    return winner;
}

static search search_new(job *j, const plan_facts *f, const schedule *wanted, const gpu *t,
                         const int64_t size[AXES], int64_t steps) {
    search s = {.job = j,
                .facts = f,
                .wanted = wanted,
                .gpu = t,
                .size = size,
                .steps = steps,
                .passes = passes_new(j, f),
                .measured = plan_measured_new(j, f, t, size)};
    return s;
}

static plan *search_best(search *s) {
    const schedule *wanted = s->wanted;
    if (wanted->method == 0)
        return try_all(s);
    const char *refusal;
    try_method(s, wanted->method, &refusal);
    if (s->best == NULL)
        job_fail(s->job, FAULT_PLAN, s->facts->model->file, s->facts->model->line, "method %s: %s",
                 methods[wanted->method]->name, refusal);
    s->best->reason = explain_choice(s, NULL, 0);
    return s->best;
}

/* The same, and the board whose rates had a say in it. */
static plan *search_whole(search *s) {
    plan *p = search_best(s);
    if (s->tried.count > 1 && p->pass_count == 0)
        p->board = plan_measured_board(s->measured);
    return p;
}

static const schedule free_step = {.time = 1};

/* A single step under these constraints, of the steps that whole launches leave. The size decides
   which plan is best, and a team's parts have other sizes than the grid: so all those that may be
   chosen leave the same bytes. */
static plan *rest(job *j, const plan_facts *f, const schedule *wanted, const gpu *t,
                  const int64_t size[AXES]) {
    search one = search_new(j, f, wanted, t, size, 1);
    one.by_points = wanted->method == 0;
    return search_best(&one);
}

plan *plan_make_rest(job *j, const model *m, const schedule *wanted, const gpu *t,
                     const int64_t size[AXES]) {
    return rest(j, plan_facts_new(j, m), wanted, t, size);
}

plan *plan_make(job *j, const model *m, const schedule *wanted, const gpu *t,
                const int64_t size[AXES], int64_t steps) {
    const plan_facts *f = plan_facts_new(j, m);
    search s = search_new(j, f, wanted, t, size, steps);
    if (!wants_fused(&s))
        return search_whole(&s);
    s.single = rest(j, f, &free_step, t, size);
    plan *p = search_whole(&s);
    if (plan_method(p)->fused)
        p->single = s.single;
    return p;
}

/* Whether some plan was made. */
static bool visit_those(search *s, bool suited) {
    bool some = false;
    for (int m = 1; m < METHODS; m++) {
        const char *refusal;
        if ((s->wanted->method != 0 && s->wanted->method != m) || suits(s, m) != suited ||
            (methods[m]->fused && !wants_fused(s)))
            continue;
        s->best = NULL;
        try_method(s, m, &refusal);
        some |= s->best != NULL;
        if (s->refusal != NULL)
            s->visitor->refused(s->visitor->user, s->which, m, s->refusal);
    }
    return some;
}

void plan_visit(job *j, const model *m, const schedule *wanted, int count, const gpu *t,
                const int64_t size[AXES], int64_t steps, const plan_visitor *visitor) {
    search s = search_new(j, plan_facts_new(j, m), wanted, t, size, steps);
    s.visitor = visitor;
    for (s.which = 0; s.which < count; s.which++) {
        s.wanted = &wanted[s.which];
        if (wants_fused(&s) && s.single == NULL)
            s.single = rest(j, s.facts, &free_step, t, size);
        if (!visit_those(&s, true))
            visit_those(&s, false);
    }
}
