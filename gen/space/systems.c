/* Candidates of systems. Takes: groupings of the stages into launches, and what the planner
   compares for each launch. Makes: whole lines of plans. Launches take their time one after the
   other, so what is good for one is good with any plan of the others: there are all combinations
   of the few best plans of each launch, and the other plans of a launch with the best of the
   others. */
#include "gen/space/space.h"
#include "gen/stencil/method.h"
#include "gen/system/system.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Combinations of a grouping; other plans of a launch. */
enum { MOST_COMBINATIONS = 300, MOST_OTHERS = 40 };

/* Axes: how many launches there are; and of the launches that begin with the first stages. */
enum { AXES_OF_LAUNCH = 3, AXES_LAUNCHES = (SPACE_AXES - 1) / AXES_OF_LAUNCH };

/* A plan of one launch. */
typedef struct option {
    const char *line; /* "2-3: naive tile=128x1" */
    double seconds;   /* a step */
    int method, threads, walk;
    size_t shared_bytes;
    bool leads; /* the best of its method */
} option;

typedef struct launch_options {
    option *list;
    int count, few; /* so many are combined */
    const system_stage *stage;
    job *job;
} launch_options;

static void keep_option(void *user, int which, const plan *p, double seconds) {
    launch_options *l = user;
    (void)which;
    if (p->single != NULL || p->pass_count > 0)
        return;
    const arrangement one = {.stages = (system_stage *)l->stage, .plans = &p, .count = 1};
    text line = text_new(l->job);
    system_print_plans(&one, &line);
    int walk = 1;
    for (int k = 0; k < AXES; k++)
        walk *= p->schedule.coarsen[k] > 1 ? p->schedule.coarsen[k] : 1;
    l->list = job_grow(l->job, l->list, (size_t)l->count, sizeof *l->list);
    l->list[l->count++] = (option){.line = line.data,
                                   .seconds = l->stage->times * (seconds + SYSTEM_LAUNCH_SECONDS),
                                   .method = p->schedule.method,
                                   .threads = plan_threads(p),
                                   .walk = walk,
                                   .shared_bytes = p->shared_bytes};
}

static void ignore_refusal(void *user, int which, int method, const char *why) {
    (void)user, (void)which, (void)method, (void)why;
}

static int compare_options(const void *a, const void *b) {
    const option *x = a, *y = b;
    if (x->leads != y->leads)
        return x->leads ? -1 : 1;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    return strcmp(x->line, y->line);
}

/* The best of each method first, then by their seconds. */
static void sort_options(launch_options *l) {
    bool seen[METHODS] = {false};
    if (l->count == 0)
        return;
    qsort(l->list, (size_t)l->count, sizeof *l->list, compare_options);
    for (int i = 0; i < l->count; i++) {
        l->list[i].leads = !seen[l->list[i].method];
        seen[l->list[i].method] = true;
    }
    qsort(l->list, (size_t)l->count, sizeof *l->list, compare_options);
}

static void find_options(space_builder *b, const arrangement *a, launch_options *out) {
    const family_request *r = b->request;
    for (int i = 0; i < a->count; i++) {
        out[i] = (launch_options){.stage = &a->stages[i], .job = b->job};
        const plan_visitor visitor = {&out[i], keep_option, ignore_refusal};
        plan_visit(b->job, a->stages[i].model, &a->wanted[i], 1, r->gpu, r->size, 1, &visitor);
        sort_options(&out[i]);
        const int few = (int)floor(pow(MOST_COMBINATIONS, 1.0 / a->count) + 1e-9);
        out[i].few = few < 1 ? 1 : few;
        out[i].few = out[i].few < out[i].count ? out[i].few : out[i].count;
    }
}

static void add_candidate(space_builder *b, const launch_options *l, int launches,
                          const int *chosen) {
    text line = text_new(b->job);
    space_candidate c = {.values = {launches}};
    for (int i = 0; i < launches; i++) {
        const option *o = &l[i].list[chosen[i]];
        const int first = l[i].stage->first;
        text_printf(&line, "%s%s", i > 0 ? " | " : "", o->line);
        c.estimate += o->seconds;
        c.threads = o->threads > c.threads ? o->threads : c.threads;
        c.shared_bytes = o->shared_bytes > c.shared_bytes ? o->shared_bytes : c.shared_bytes;
        if (first >= AXES_LAUNCHES)
            continue;
        int *values = &c.values[1 + AXES_OF_LAUNCH * first];
        values[0] = o->method;
        values[1] = o->threads;
        values[2] = o->walk;
    }
    c.plan = line.data;
    space_add(b, 0, &c);
}

static void add_combinations(space_builder *b, const launch_options *l, int launches) {
    int chosen[SYSTEM_STAGES] = {0};
    for (int turned = 0; turned >= 0;) {
        add_candidate(b, l, launches, chosen);
        for (turned = launches - 1; turned >= 0 && ++chosen[turned] == l[turned].few; turned--)
            chosen[turned] = 0;
    }
    for (int i = 0; i < launches; i++) {
        for (int o = l[i].few; o < l[i].count && o < l[i].few + MOST_OTHERS; o++) {
            chosen[i] = o;
            add_candidate(b, l, launches, chosen);
        }
        chosen[i] = 0;
    }
}

static void name_axes(job *j, space *s) {
    static const char *const names[AXES_OF_LAUNCH] = {"method", "threads", "walk"};
    const char **words = job_array(j, METHODS, sizeof *words);
    for (int m = 0; m < METHODS; m++)
        words[m] = methods[m]->name;
    space_axis_add(s, "launches", NULL, 0);
    for (int i = 0; i < AXES_LAUNCHES; i++)
        for (int k = 0; k < AXES_OF_LAUNCH; k++)
            space_axis_add(s, job_print(j, "%s.%d", names[k], i + 1), k == 0 ? words : NULL,
                           k == 0 ? METHODS : 0);
}

/* Whether a grouping has the launches of this plan, and constraints that agree with each. */
static bool allows(const arrangement *wanted, const arrangement *tried) {
    bool all = wanted->count == tried->count;
    for (int i = 0; i < tried->count && all; i++)
        all = wanted->stages[i].last == tried->stages[i].last &&
              space_schedules_agree(&wanted->wanted[i], &tried->plans[i]->schedule);
    return all;
}

/* A line that contradicts the constraints of the spec makes another plan than its own. */
bool space_agrees_system(const space_builder *b, const char *value) {
    const system_model *system = system_of(b->subject);
    family_request r = *b->request;
    if (r.schedule == NULL)
        return true;
    arrangement *groupings[SYSTEM_GROUPINGS];
    const int count = system_groupings(b->job, system, &r, groupings);
    r.schedule = value;
    const arrangement *tried = system_arrange(b->job, system, &r);
    bool some = false;
    for (int g = 0; g < count; g++)
        some |= allows(groupings[g], tried);
    return some;
}

void space_fill_system(space_builder *b) {
    const subject *s = b->subject;
    arrangement *groupings[SYSTEM_GROUPINGS];
    const int count = system_groupings(b->job, system_of(s), b->request, groupings);
    launch_options *l = job_array(b->job, SYSTEM_STAGES, sizeof *l);
    name_axes(b->job, b->space);
    b->space->usual = s->family->plan(b->job, s, b->request);
    for (int g = 0; g < count; g++) {
        bool all = true;
        find_options(b, groupings[g], l);
        for (int i = 0; i < groupings[g]->count; i++)
            all = all && l[i].count > 0;
        if (all)
            add_combinations(b, l, groupings[g]->count);
    }
}
