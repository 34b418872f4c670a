/* Candidates of stencils and convolutions: what the planner compares.
   Takes: the constraints of the spec, of `tune` and of the caller. Makes: complete schedules with
   their estimates. */
#include "gen/space_build.h"

#include <string.h>

/* A number of schedules, and which of a schedule's. */
static const struct {
    const char *name;
    size_t offset;
} numbers[] = {
    {"tile.x", offsetof(schedule, tile)},
    {"tile.y", offsetof(schedule, tile) + sizeof(int)},
    {"tile.z", offsetof(schedule, tile) + 2 * sizeof(int)},
    {"coarsen.x", offsetof(schedule, coarsen)},
    {"coarsen.y", offsetof(schedule, coarsen) + sizeof(int)},
    {"coarsen.z", offsetof(schedule, coarsen) + 2 * sizeof(int)},
    {"vector", offsetof(schedule, vector)},
    {"time", offsetof(schedule, time)},
    {"passes", offsetof(schedule, passes)},
    {"lane.x", offsetof(schedule, lane)},
    {"lane.y", offsetof(schedule, lane) + sizeof(int)},
    {"stages", offsetof(schedule, stages)},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static int number(const schedule *s, int which) {
    int value;
    memcpy(&value, (const char *)s + numbers[which].offset, sizeof value);
    return value;
}

/* A block's extent of 1 and none at all are the same. */
static bool agree(int given, int value) {
    return given == 0 || value == 0 || given == value;
}

bool space_agrees_stencil(const space_builder *b, const char *value) {
    const schedule *given = stencil_wanted(b->job, b->subject, b->request->schedule);
    schedule tried = {.method = METHOD_AUTO};
    schedule_parse(b->job, value, "tune", &tried);
    bool all = agree((int)given->method, (int)tried.method);
    for (int i = 0; i < NUMBERS; i++)
        all = all && agree(number(given, i), number(&tried, i));
    return all;
}

static const char *print(const space_builder *b, const schedule *s) {
    const model *m = b->subject->model;
    text line = text_new(b->job);
    schedule_print(s, m->dims, &line);
    return line.data;
}

static void add(void *user, int which, const plan *p, double seconds) {
    space_builder *b = user;
    space_candidate c = {.plan = print(b, &p->schedule),
                         .estimate = seconds,
                         .threads = plan_threads(p),
                         .shared_bytes = p->shared_bytes};
    c.values[0] = (int)p->schedule.method;
    for (int i = 0; i < NUMBERS; i++)
        c.values[1 + i] = number(&p->schedule, i);
    space_add(b, which, &c);
}

static void refuse(void *user, int which, method m, const char *why) {
    space_builder *b = user;
    space_refuse(b, which, job_print(b->job, "method %s: %s", method_words[m].name, why));
}

void space_fill_stencil(space_builder *b) {
    job *j = b->job;
    const family_request *r = b->request;
    const int64_t steps = r->steps > 1 ? r->steps : 1;
    const char **words = job_array(j, METHOD_COUNT, sizeof *words);
    for (int m = 0; m < METHOD_COUNT; m++)
        words[m] = method_words[m].name;
    space_axis_add(b->space, "method", words, METHOD_COUNT);
    for (int i = 0; i < NUMBERS; i++)
        space_axis_add(b->space, numbers[i].name, NULL, 0);
    const schedule *given = stencil_wanted(j, b->subject, r->schedule);
    schedule *wanted = job_array(j, (size_t)b->combinations, sizeof *wanted);
    for (int i = 0; i < b->combinations; i++) {
        wanted[i] = *given;
        schedule_parse(j, space_combination(b, i), "tune", &wanted[i]);
    }
    plan_visit(j, b->subject->model, wanted, b->combinations, r->target, r->size, steps,
               &(plan_visitor){.user = b, .candidate = add, .refused = refuse});
    b->space->usual =
        print(b, &plan_make(j, b->subject->model, given, r->target, r->size, steps)->schedule);
}
