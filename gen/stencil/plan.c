/* The planner: tries every candidate that meets the constraints and takes the cheapest.
   Takes: a model, constraints, a target, a size. Makes: a plan with its reason. */
#include "gen/stencil/search.h"

/* What a method is tried with where the constraints leave it open. Lists end with 0. */
/* From one launch to the next of many, where the grid is so small that it shows. */
#define LAUNCH_SECONDS 2e-6

enum { MOST_VALUES = 8, MOST_TILES = 12 };

typedef struct choices {
    method method;
    int dims;
    int tiles[MOST_TILES][AXES];
    int coarsen[MOST_VALUES]; /* along the walked axis */
    int vectors[MOST_VALUES];
} choices;

static const choices table[] = {
    {METHOD_NAIVE, 1, {{256}, {512}, {1024}, {2048}}, {0}, {1, 2, 4}},
    {METHOD_NAIVE,
     2,
     {{32, 8}, {64, 4}, {128, 2}, {128, 4}, {128, 8}, {256, 1}, {256, 2}, {256, 4}, {512, 2}},
     {0},
     {1, 2, 4}},
    {METHOD_NAIVE,
     3,
     {{32, 4, 4},
      {64, 4, 1},
      {64, 2, 2},
      {64, 4, 2},
      {64, 4, 4},
      {128, 2, 1},
      {128, 4, 1},
      {8, 8, 8}},
     {0},
     {1, 2, 4}},
    {METHOD_TILED, 1, {{256}, {512}, {1024}, {2048}}, {0}, {1}},
    {METHOD_TILED, 2, {{32, 8}, {32, 32}, {64, 8}, {64, 16}, {128, 8}}, {0}, {1}},
    {METHOD_TILED, 3, {{32, 4, 4}, {32, 8, 2}, {32, 8, 4}, {16, 8, 8}, {8, 8, 8}}, {0}, {1}},
    {METHOD_COARSENED, 1, {{128}, {256}, {512}}, {2, 4, 8}, {1}},
    {METHOD_COARSENED, 2, {{64}, {128}, {256}, {512}}, {8, 16, 32, 64}, {1}},
    {METHOD_COARSENED, 3, {{32, 8}, {32, 16}, {32, 32}, {64, 8}}, {8, 16, 32, 64}, {1}},
    {METHOD_CONSTANT, 1, {{256}, {512}, {1024}}, {0}, {1}},
    {METHOD_CONSTANT, 2, {{32, 8}, {64, 4}, {128, 2}, {128, 4}, {256, 1}}, {0}, {1}},
    {METHOD_CONSTANT, 3, {{32, 4, 4}, {64, 4, 1}, {64, 2, 2}, {128, 2, 1}, {8, 8, 8}}, {0}, {1}},
    {METHOD_CACHED_HALO, 1, {{256}, {512}, {1024}}, {0}, {1}},
    {METHOD_CACHED_HALO, 2, {{32, 8}, {32, 32}, {64, 8}, {64, 16}, {128, 8}}, {0}, {1}},
    {METHOD_CACHED_HALO, 3, {{32, 4, 4}, {32, 8, 2}, {32, 8, 4}, {16, 8, 8}, {8, 8, 8}}, {0}, {1}},
    {METHOD_REGISTER, 1, {{128}, {256}, {512}}, {2, 4, 8}, {1}},
    {METHOD_REGISTER, 2, {{64}, {128}, {256}, {512}}, {8, 16, 32, 64}, {1}},
    {METHOD_REGISTER, 3, {{32, 4}, {32, 8}, {32, 16}, {32, 32}, {64, 8}}, {8, 16, 32, 64}, {1}},
    {METHOD_STREAMED, 1, {{512}}, {0}, {1}}, /* refused */
    {METHOD_STREAMED, 2, {{128}, {256}, {512}, {1024}}, {3, 4, 5, 6, 8}, {1, 2, 4}},
    {METHOD_STREAMED,
     3,
     {{64, 4}, {64, 8}, {128, 4}, {128, 8}, {256, 4}, {256, 8}},
     {4, 6, 8, 64},
     {1, 2, 4}},
};

/* The planes before a walk's first and after its last add to sums that nobody takes: the more of
   them the shape reaches, the longer walks pay. */
static const choices long_walks = {
    METHOD_STREAMED, 2, {{128}, {256}, {512}}, {12, 16, 32, 48, 64, 96, 128}, {4}};

static bool is_fused(method m) {
    return m == METHOD_TEMPORAL || m == METHOD_RESIDENT;
}

/* Seconds of the steps that whole launches leave: pipelines leave out warps, 3D makes single ones,
   and the others are told how many, by halves. */
static double seconds_of_rest(const search *s, const plan *p, int rest) {
    const int time = p->schedule.time;
    int together = p->template_id == TEMPLATE_LEVELS ? 0 : rest;
    if (p->template_id == TEMPLATE_PIPELINE)
        together -= rest % (time / p->schedule.stages);
    const double shorter =
        together == 0 ? 0 : p->estimate.seconds * (1 + 3.0 * together / time) / 4;
    return shorter + (rest - together) * s->single->estimate.seconds;
}

/* Seconds a step, where as many are made as are planned for: whole launches first. */
static double seconds_a_step(const search *s, const plan *p) {
    const int time = p->schedule.time;
    if (time <= 1) /* each is a launch of its own */
        return p->estimate.seconds + (s->steps > 1 ? LAUNCH_SECONDS : 0);
    if (s->steps <= time || s->steps >= 64 * (int64_t)time)
        return p->estimate.seconds / time;
    const double rest = seconds_of_rest(s, p, (int)(s->steps % time));
    return ((double)(s->steps / time) * p->estimate.seconds + rest) / (double)s->steps;
}

/* Whether a grid of the size planned for is large enough for its launches. */
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

void search_keep(search *s, plan *p) {
    if (p->pass_count == 0)
        p->estimate.seconds *= plan_measured_factor(s->measured, p, s->size);
    if (is_better(s, p, s->best))
        s->best = p;
    if (s->visitor != NULL)
        visit(s, p);
}

bool search_is_new(search *s, const schedule *candidate) {
    return schedule_set_add(s->job, &s->tried, candidate);
}

void search_refuse(search *s, const char *refusal) {
    if (s->refusal == NULL)
        s->refusal = refusal;
}

static void try_schedule(search *s, const schedule *candidate) {
    if (!search_is_new(s, candidate))
        return;
    const char *refusal;
    plan *p;
    if (candidate->passes > 1) {
        p = passes_fit(s->job, s->passes, candidate, s->target, s->size, &refusal);
    } else {
        p = plan_fit(s->job, s->facts, candidate, s->target, &refusal);
        if (p != NULL)
            plan_cost(s->facts, p, s->size);
    }
    if (p == NULL)
        search_refuse(s, refusal);
    else
        search_keep(s, p);
}

/* A filter that is not separable has no passes to speak of. */
static void try_passes(search *s, schedule *candidate) {
    const int wanted = s->wanted->passes, all = s->passes->separable->count;
    if (wanted <= 1) {
        candidate->passes = all > 0;
        try_schedule(s, candidate);
    }
    candidate->passes = wanted > 0 ? wanted : all;
    if (candidate->passes > 1)
        try_schedule(s, candidate);
}

/* One combination for a tile; `rows` is the coarsening along y. */
static void try_choice(search *s, const choices *c, const int tile[AXES], int vector, int coarsen,
                       int rows) {
    const int walk = plan_walk_axis(c->method, c->dims);
    schedule candidate = *s->wanted;
    candidate.method = c->method;
    for (int axis = 0; axis < AXES; axis++) {
        const bool applies = axis < c->dims && (axis != walk || c->dims == 1);
        if (applies && candidate.tile[axis] == 0)
            candidate.tile[axis] = tile[axis];
        else if (!applies && candidate.tile[axis] == 1)
            candidate.tile[axis] = 0;
        if (axis != walk && candidate.coarsen[axis] == 1)
            candidate.coarsen[axis] = 0;
    }
    if (rows > 1 && s->wanted->coarsen[1] == 0)
        candidate.coarsen[1] = rows;
    if (walk >= 0 && candidate.coarsen[walk] == 0)
        candidate.coarsen[walk] = coarsen;
    if (candidate.vector == 0)
        candidate.vector = vector;
    if (candidate.time == 0)
        candidate.time = 1;
    try_passes(s, &candidate);
}

/* Every vector width, every coarsening, for one tile. */
static void try_tile(search *s, const choices *c, const int tile[AXES]) {
    const int most_rows = c->method == METHOD_STREAMED && c->dims == 3 ? 2 : 1;
    for (int v = 0; v < MOST_VALUES && (v == 0 || c->vectors[v] != 0); v++)
        for (int k = 0; k < MOST_VALUES && (k == 0 || c->coarsen[k] != 0); k++)
            for (int rows = 1; rows <= most_rows; rows++)
                try_choice(s, c, tile, c->vectors[v], c->coarsen[k], rows);
}

/* With packs of 16 bytes: they load least. */
static void try_long_walks(search *s) {
    choices c = long_walks;
    c.vectors[0] = 16 / (int)dtype_words[s->facts->model->dtype].bytes;
    for (int t = 0; t < MOST_TILES && c.tiles[t][0] != 0; t++)
        try_tile(s, &c, c.tiles[t]);
}

/* The first refusal of the method in *refusal where none of its candidates fits. */
static void try_method(search *s, method m, const char **refusal) {
    const plan *before = s->best;
    s->refusal = NULL;
    *refusal = NULL;
    if (is_fused(m))
        search_fused(s, m);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].method != m || table[i].dims != s->facts->model->dims)
            continue;
        for (int t = 0; t < MOST_TILES && table[i].tiles[t][0] != 0; t++)
            try_tile(s, &table[i], table[i].tiles[t]);
    }
    if (m == METHOD_STREAMED && plan_walks_long(s->facts))
        try_long_walks(s);
    if (s->best == before && s->refusal != NULL)
        *refusal = s->refusal;
}

static const char *explain_choice(search *s, const char *runner_up, double factor) {
    const plan_estimate *e = &s->best->estimate;
    text t = text_new(s->job);
    text_printf(&t, "bound by %s: ", e->bound);
    text_number(&t, e->instructions_per_point, 3);
    text_add(&t, " instructions, ");
    text_number(&t, e->bytes_per_point, 3);
    text_add(&t, " bytes of device memory and ");
    text_number(&t, e->shared_per_point, 3);
    text_printf(&t,
                " accesses to shared memory a point; about %d registers a thread, %d blocks of "
                "%d threads a multiprocessor",
                e->registers, e->blocks_resident, plan_threads(s->best));
    if (s->tried.count > 1)
        text_printf(&t, "; the best of %d candidates by the model", s->tried.count);
    if (s->tried.count > 1 && plan_measured_count(s->measured) > 0)
        text_printf(&t, " and %d measurements", plan_measured_count(s->measured));
    if (runner_up != NULL) {
        text_printf(&t, ", %s expected to take ", runner_up);
        text_number(&t, factor, 3);
        text_add(&t, " times as long");
    }
    return t.data;
}

/* Several steps a launch are thought of where a run has several, or where the constraints ask. */
static bool wants_fused(const search *s) {
    const schedule *w = s->wanted;
    return is_fused(w->method) || (w->method == METHOD_AUTO && w->time != 1 && s->steps > 1) ||
           w->time > 1 || w->lane[0] > 1 || w->lane[1] > 1 || w->stages > 1;
}

/* The best plan of every method, and of all. */
static plan *try_all(search *s) {
    plan *best[METHOD_COUNT] = {NULL};
    plan *winner = NULL;
    text reasons = text_new(s->job);
    for (method m = METHOD_AUTO + 1; m < METHOD_COUNT; m++) {
        const char *refusal;
        if (is_fused(m) && !wants_fused(s))
            continue;
        s->best = NULL;
        try_method(s, m, &refusal);
        best[m] = s->best;
        if (s->best == NULL)
            text_printf(&reasons, "%smethod %s: %s", reasons.length > 0 ? "; " : "",
                        method_words[m].name, refusal);
        else if (is_better(s, s->best, winner))
            winner = s->best;
    }
    if (winner == NULL)
        job_fail(s->job, FAULT_PLAN, s->facts->model->file, s->facts->model->line,
                 "no method serves: %s", reasons.data);
    const plan *second = NULL;
    for (method m = METHOD_AUTO + 1; m < METHOD_COUNT; m++)
        if (best[m] != NULL && best[m] != winner &&
            (second == NULL || seconds_a_step(s, best[m]) < seconds_a_step(s, second)))
            second = best[m];
    s->best = winner;
    winner->reason = second == NULL
                         ? explain_choice(s, NULL, 0)
                         : explain_choice(s, method_words[second->schedule.method].name,
                                          seconds_a_step(s, second) / seconds_a_step(s, winner));
    return winner;
}

static search search_new(job *j, const plan_facts *f, const schedule *wanted, const target *t,
                         const int64_t size[AXES], int64_t steps) {
    search s = {.job = j,
                .facts = f,
                .wanted = wanted,
                .target = t,
                .size = size,
                .steps = steps,
                .passes = passes_new(j, f),
                .measured = plan_measured_new(j, f, t)};
    return s;
}

static plan *search_best(search *s) {
    const schedule *wanted = s->wanted;
    if (wanted->method == METHOD_AUTO)
        return try_all(s);
    const char *refusal;
    try_method(s, wanted->method, &refusal);
    if (s->best == NULL)
        job_fail(s->job, FAULT_PLAN, s->facts->model->file, s->facts->model->line, "method %s: %s",
                 method_words[wanted->method].name, refusal);
    s->best->reason = explain_choice(s, NULL, 0);
    return s->best;
}

plan *plan_make(job *j, const model *m, const schedule *wanted, const target *t,
                const int64_t size[AXES], int64_t steps) {
    const plan_facts *f = plan_facts_new(j, m);
    search s = search_new(j, f, wanted, t, size, steps);
    if (!wants_fused(&s))
        return search_best(&s);
    /* What several steps leave is made one by one, as well as it can be without constraints. */
    const schedule free = {.time = 1};
    search one = search_new(j, f, &free, t, size, 1);
    s.single = search_best(&one);
    plan *p = search_best(&s);
    if (plan_is_fused(p->template_id))
        p->single = s.single;
    return p;
}

void plan_visit(job *j, const model *m, const schedule *wanted, int count, const target *t,
                const int64_t size[AXES], int64_t steps, const plan_visitor *visitor) {
    const schedule free = {.time = 1};
    search s = search_new(j, plan_facts_new(j, m), wanted, t, size, steps);
    search one = search_new(j, s.facts, &free, t, size, 1);
    s.visitor = visitor;
    for (s.which = 0; s.which < count; s.which++) {
        s.wanted = &wanted[s.which];
        const bool fused = wants_fused(&s);
        if (fused && s.single == NULL)
            s.single = search_best(&one);
        for (method m_ = METHOD_AUTO + 1; m_ < METHOD_COUNT; m_++) {
            const char *refusal;
            if ((s.wanted->method != METHOD_AUTO && s.wanted->method != m_) ||
                (is_fused(m_) && !fused))
                continue;
            s.best = NULL;
            try_method(&s, m_, &refusal);
            if (s.refusal != NULL)
                visitor->refused(visitor->user, s.which, m_, s.refusal);
        }
    }
}

void plan_default_size(int dims, bool gpu, int64_t size[AXES]) {
    static const int64_t edge[2][AXES] = {{1 << 20, 1024, 128}, {1 << 26, 8192, 512}};
    for (int axis = 0; axis < AXES; axis++)
        size[axis] = axis < dims ? edge[gpu][dims - 1] : 1;
}
