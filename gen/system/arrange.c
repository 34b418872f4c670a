/* Which launches make a step, and how each walks the grid. Takes: a system and a request. Makes:
   the stages that share a launch, and a plan for each launch; and the line that says so. */
#include "gen/stencil/method.h"
#include "gen/system/launches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The most stages of a launch. */
enum { MOST_FUSED = 8 };

/* ---- lines of schedules ---------------------------------------------------------------------- */

static noreturn void refuse_line(job *j, const char *what, const char *line) {
    job_fail(
        j, FAULT_USAGE, NULL, 0,
        "the schedule '%s' %s; a system's is one for all launches, or such as '1: naive | 2-3: "
        "tiled tile=32x8', where every stage comes once, in order",
        line, what);
}

bool arranging_has_parts(const char *line) {
    return strchr(line, ':') != NULL;
}

/* A number of a stage at *at, which then stands behind it; −1: there is none. */
static int read_number(const char **at) {
    char *end;
    if (**at < '1' || **at > '9')
        return -1;
    const long n = strtol(*at, &end, 10);
    *at = end;
    return n > SYSTEM_STAGES ? -1 : (int)n - 1;
}

static const char *skip_blanks(const char *at) {
    return at + strspn(at, " \t");
}

int arranging_read_parts(job *j, const char *line, part out[SYSTEM_STAGES]) {
    int count = 0, next = 0;
    for (const char *at = line; *at != '\0';) {
        at = skip_blanks(at);
        part p = {.first = read_number(&at)};
        p.last = *at == '-' ? (at++, read_number(&at)) : p.first;
        at = skip_blanks(at);
        if (p.first != next || p.last < p.first || *at != ':')
            refuse_line(j, "names no stage, or one out of order", line);
        next = p.last + 1;
        at = skip_blanks(at + 1);
        size_t length = strcspn(at, "|");
        p.schedule = job_print(j, "%.*s", (int)length, at);
        out[count++] = p;
        at += length;
        if (*at == '|' && *skip_blanks(++at) == '\0')
            refuse_line(j, "ends with '|'", line);
    }
    return count;
}

void system_check_schedule(job *j, const family *f, const char *line) {
    (void)f;
    part parts[SYSTEM_STAGES] = {{.schedule = line}};
    const int count = arranging_has_parts(line) ? arranging_read_parts(j, line, parts) : 1;
    for (int i = 0; i < count; i++) {
        schedule s = {.method = 0};
        schedule_parse(j, parts[i].schedule, "the plan", &s);
    }
}

static void add_part(text *t, const system_stage *s, const schedule *of) {
    text line = text_new(t->job);
    schedule_print(of, s->model->dims, &line);
    text_printf(t, "%s%s: %s", t->length > 0 ? " | " : "", system_stage_name(t->job, s), line.data);
}

void system_print_plans(const arrangement *a, text *out) {
    for (int i = 0; i < a->count; i++) {
        schedule of = a->plans[i]->schedule;
        of.time = larger(of.time, a->steps);
        add_part(out, &a->stages[i], &of);
    }
}

/* ---- launches -------------------------------------------------------------------------------- */

/* The constraints of a launch: its stage's own, and then those of a line. */
static schedule wanted_of(job *j, const system_stage *stage, const char *line) {
    schedule wanted = stage->model->schedule;
    if (line != NULL && *line != '\0')
        schedule_parse(j, line, "schedule", &wanted);
    return wanted;
}

void system_print_constraints(job *j, const system_model *system, const char *line, text *out) {
    if (line != NULL && arranging_has_parts(line)) {
        text_add(out, line);
        return;
    }
    for (int k = 0; k < system->stage_count; k++) {
        const schedule wanted = wanted_of(j, &system->stages[k], line);
        add_part(out, &system->stages[k], &wanted);
    }
}

static const plan *plan_stage(const arranging *a, const system_stage *stage, const char *line) {
    const schedule wanted = wanted_of(a->job, stage, line);
    const int64_t *size = a->request->size;
    const plan *p = a->rest ? plan_make_rest(a->job, stage->model, &wanted, a->request->gpu, size)
                            : plan_make(a->job, stage->model, &wanted, a->request->gpu, size, 1);
    if (p->single != NULL || p->pass_count > 0)
        job_fail(a->job, FAULT_PLAN, stage->model->file, stage->model->line,
                 "method %s: a stage of a system makes one step a launch; leave time out",
                 plan_method(p)->name);
    return p;
}

void arranging_add(arranging *a, const system_stage *stage, const char *line) {
    arrangement *out = a->out;
    const plan *p = plan_stage(a, stage, line);
    out->stages[out->count] = *stage;
    out->wanted[out->count] = wanted_of(a->job, stage, line);
    out->plans[out->count++] = p;
    out->seconds += stage->times * (p->estimate.seconds + SYSTEM_LAUNCH_SECONDS);
}

/* Whether a line asks for a method that makes stages one after the other (1), for another one (0),
   or for none (−1). */
static int asks_for_chain(const arranging *a, int first, const char *line) {
    const schedule wanted = wanted_of(a->job, &a->system->stages[first], line);
    return wanted.method == 0 ? -1 : methods[wanted.method]->chains;
}

/* ---- what shares a launch -------------------------------------------------------------------- */

/* Stages first … last in one launch, tried in a job of its own: put together in one expression, or
   as a chain. */
typedef struct attempt {
    const arranging *arranging;
    int first, last;
    bool chain;
    const char *line;
    double seconds; /* of the launch, or INFINITY */
    const char *why;
} attempt;

static bool put_together(job *j, const attempt *t, system_stage *out, const char **why) {
    const system_model *s = t->arranging->system;
    return t->chain ? system_chain(j, s, t->first, t->last, 1, out, why)
                    : system_fuse(j, s, t->first, t->last, out, why);
}

/* Whether expressions ask for places that the stages alone do not ask for. */
static bool has_guards(const arranging *a, const attempt *t, const system_stage *fused) {
    unsigned asked = 0;
    for (int k = t->first; k <= t->last; k++)
        asked |= a->system->stages[k].model->positions;
    return (fused->model->positions & ~asked) != 0;
}

static void try_group(job *j, void *argument) {
    attempt *t = argument;
    arranging a = *t->arranging;
    system_stage fused;
    a.job = j;
    if (!put_together(j, t, &fused, &t->why))
        return;
    if (a.request->gpu->processor != NULL && asks_for_chain(&a, t->first, t->line) < 0 &&
        has_guards(&a, t, &fused)) {
        t->why = "at edges, expressions would ask where they are, and rows are no vectors then";
        return;
    }
    t->seconds = plan_stage(&a, &fused, t->line)->estimate.seconds + SYSTEM_LAUNCH_SECONDS;
}

static double attempt_seconds(const arranging *a, int first, int last, bool chain, const char *line,
                              const char **why) {
    attempt t = {.arranging = a,
                 .first = first,
                 .last = last,
                 .chain = chain,
                 .line = line,
                 .seconds = INFINITY};
    fault f;
    job *own = job_inner(a->job, try_group, &t, &f);
    const char *said = f != FAULT_NONE ? job_error_text(own) : t.why;
    *why = job_string(a->job, said);
    job_inner_end(a->job, own);
    return t.seconds;
}

/* The faster of the two ways that the line leaves; *chain says which. */
static double seconds_together(const arranging *a, int first, int last, const char *line,
                               bool *chain, const char **why) {
    const int asked = asks_for_chain(a, first, line);
    const char *other = NULL;
    double best = INFINITY, chained = INFINITY;
    *why = NULL;
    if (asked != 1)
        best = attempt_seconds(a, first, last, false, line, why);
    if (asked != 0 && a->request->gpu->processor == NULL)
        chained = attempt_seconds(a, first, last, true, line, asked == 1 ? why : &other);
    *chain = chained < best || (asked == 1 && chained == INFINITY);
    return fmin(best, chained);
}

/* Stages first … last as one launch, which is their own where that is a single one. */
static void add_group(arranging *a, int first, int last, const char *line) {
    const system_model *s = a->system;
    system_stage fused = s->stages[first];
    const char *why = NULL;
    attempt t = {.arranging = a, .first = first, .last = last, .line = line};
    if (first < last && asks_for_chain(a, first, line) >= 0)
        t.chain = asks_for_chain(a, first, line);
    else if (first < last)
        seconds_together(a, first, last, line, &t.chain, &why);
    if (first < last && !put_together(a->job, &t, &fused, &why))
        job_fail(a->job, FAULT_PLAN, s->stages[first].model->file, s->stages[first].model->line,
                 "stages %d to %d cannot share a launch: %s", first + 1, last + 1, why);
    arranging_add(a, &fused, line);
}

static void follow_parts(arranging *a) {
    const system_model *s = a->system;
    part parts[SYSTEM_STAGES];
    const int count = arranging_read_parts(a->job, a->line, parts);
    if (parts[count - 1].last != s->stage_count - 1)
        refuse_line(a->job,
                    job_print(a->job, "does not fit '%s' of %s", s->whole->name,
                              text_count(a->job, s->stage_count, "stage")),
                    a->line);
    for (int i = 0; i < count; i++)
        add_group(a, parts[i].first, parts[i].last, parts[i].schedule);
}

/* ---- groups --------------------------------------------------------------------------------- */

/* By the first stage and how many follow it: seconds of all in one launch; INFINITY: there is none.
 */
typedef struct group_seconds {
    double of[SYSTEM_STAGES][MOST_FUSED];
} group_seconds;

static group_seconds *measure_groups(arranging *a) {
    const system_model *s = a->system;
    group_seconds *g = job_alloc(a->job, sizeof *g);
    for (int last = 0; last < s->stage_count; last++) {
        const system_stage *own = &s->stages[last];
        g->of[last][0] =
            own->times * (plan_stage(a, own, a->line)->estimate.seconds + SYSTEM_LAUNCH_SECONDS);
        for (int more = 1; s->fuse && more < MOST_FUSED && more <= last; more++) {
            const char *why;
            bool chain;
            g->of[last - more][more] =
                seconds_together(a, last - more, last, a->line, &chain, &why);
            if (more == 1)
                a->out->apart[last] = why != NULL ? why : "one launch would take longer";
        }
    }
    return g;
}

/* Launches of consecutive stages, the least in seconds, where each launch costs so much more:
   best[k] is that of the stages before k, whose last group begins at from[k]. */
static void choose_groups(arranging *a, const group_seconds *g, double more) {
    const system_model *s = a->system;
    double best[SYSTEM_STAGES + 1] = {0};
    int from[SYSTEM_STAGES + 1] = {0}, begins[SYSTEM_STAGES], count = 0;
    for (int end = 1; end <= s->stage_count; end++) {
        from[end] = end - 1;
        best[end] = best[end - 1] + g->of[end - 1][0] + more;
        for (int first = end - 2; s->fuse && first >= 0 && first >= end - MOST_FUSED; first--) {
            const double seconds = best[first] + g->of[first][end - 1 - first] + more;
            if (seconds >= best[end])
                continue;
            best[end] = seconds;
            from[end] = first;
        }
    }
    for (int end = s->stage_count; end > 0; end = from[end])
        begins[count++] = from[end];
    for (int i = count; i-- > 0;)
        add_group(a, begins[i], (i > 0 ? begins[i - 1] : s->stage_count) - 1, a->line);
}

arrangement *arrangement_new(job *j, const system_model *system) {
    arrangement *out = job_alloc(j, sizeof *out);
    const size_t most = (size_t)system->stage_count;
    *out = (arrangement){.system = system,
                         .stages = job_array(j, most, sizeof *out->stages),
                         .plans = job_array(j, most, sizeof(plan *)),
                         .wanted = job_array(j, most, sizeof *out->wanted)};
    return out;
}

arrangement *arrange_single(job *j, const system_model *system, const family_request *r,
                            bool rest) {
    arrangement *out = arrangement_new(j, system);
    arranging a = {j, system, r, r->schedule, out, rest};
    if (a.line != NULL && arranging_has_parts(a.line))
        follow_parts(&a);
    else
        choose_groups(&a, measure_groups(&a), 0);
    return out;
}

static bool is_same(const arrangement *a, const arrangement *b) {
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = a->stages[i].last == b->stages[i].last;
    return same;
}

int system_groupings(job *j, const system_model *system, const family_request *r,
                     arrangement *out[SYSTEM_GROUPINGS]) {
    static const double more[SYSTEM_GROUPINGS] = {0, 1, -1}; /* as few launches, as many */
    out[0] = arrangement_new(j, system);
    arranging a = {j, system, r, r->schedule, out[0], false};
    int count = 1;
    if (a.line != NULL && arranging_has_parts(a.line)) {
        follow_parts(&a);
        return count;
    }
    const group_seconds *g = measure_groups(&a);
    for (int i = 0; i < SYSTEM_GROUPINGS; i++) {
        arrangement *made = a.out = i == 0 ? out[0] : arrangement_new(j, system);
        bool is_new = i > 0;
        choose_groups(&a, g, more[i]);
        for (int k = 0; k < count && is_new; k++)
            is_new = !is_same(made, out[k]);
        if (is_new)
            out[count++] = made;
    }
    return count;
}
