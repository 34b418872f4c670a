/* Which launches make a step, and how each walks the grid. Takes: a system and a request. Makes:
   the stages that share a launch, and a plan for each launch; and the line that says so. */
#include "gen/system/system.h"

#include "gen/stencil/method.h"
#include "gen/stencil/schedule.h"

#include <stdlib.h>
#include <string.h>

/* ---- lines of schedules ---------------------------------------------------------------------- */

/* A part of a line: "2-3: naive tile=128x1". */
typedef struct part {
    int first, last; /* stages, from 0 */
    const char *schedule;
} part;

static noreturn void refuse_line(job *j, const char *what, const char *line) {
    job_fail(
        j, FAULT_USAGE, NULL, 0,
        "the schedule '%s' %s; a system's is one for all launches, or such as '1: naive | 2-3: "
        "tiled tile=32x8', where every stage comes once, in order",
        line, what);
}

static bool has_parts(const char *line) {
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

/* The parts of a line that has some; returns how many. */
static int read_parts(job *j, const char *line, part out[SYSTEM_STAGES]) {
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
    const int count = has_parts(line) ? read_parts(j, line, parts) : 1;
    for (int i = 0; i < count; i++) {
        schedule s = {.method = 0};
        schedule_parse(j, parts[i].schedule, "the plan", &s);
    }
}

static const char *stage_numbers(job *j, const system_stage *s) {
    return s->first == s->last ? job_print(j, "%d", s->first + 1)
                               : job_print(j, "%d-%d", s->first + 1, s->last + 1);
}

static void add_part(text *t, const system_stage *s, const schedule *of) {
    text line = text_new(t->job);
    schedule_print(of, s->model->dims, &line);
    text_printf(t, "%s%s: %s", t->length > 0 ? " | " : "", stage_numbers(t->job, s), line.data);
}

void system_print_plans(const arrangement *a, text *out) {
    for (int i = 0; i < a->count; i++)
        add_part(out, &a->stages[i], &a->plans[i]->schedule);
}

/* ---- launches -------------------------------------------------------------------------------- */

typedef struct arranging {
    job *job;
    const system_model *system;
    const family_request *request;
    const char *line; /* of the request; NULL: none */
    arrangement *out;
} arranging;

/* The constraints of a launch: its stage's own, and then those of a line. */
static schedule wanted_of(job *j, const system_stage *stage, const char *line) {
    schedule wanted = stage->model->schedule;
    if (line != NULL && *line != '\0')
        schedule_parse(j, line, "schedule", &wanted);
    return wanted;
}

void system_print_constraints(job *j, const system_model *system, const char *line, text *out) {
    if (line != NULL && has_parts(line)) {
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
    const plan *p = plan_make(a->job, stage->model, &wanted, a->request->gpu, a->request->size, 1);
    if (p->single != NULL || p->pass_count > 0)
        job_fail(a->job, FAULT_PLAN, stage->model->file, stage->model->line,
                 "method %s: a stage of a system makes one step a launch; leave time out",
                 plan_method(p)->name);
    return p;
}

static void add_launch(arranging *a, const system_stage *stage, const char *line) {
    arrangement *out = a->out;
    const plan *p = plan_stage(a, stage, line);
    out->stages[out->count] = *stage;
    out->plans[out->count++] = p;
    out->seconds += stage->times * p->estimate.seconds;
}

static void follow_parts(arranging *a) {
    const system_model *s = a->system;
    part parts[SYSTEM_STAGES];
    const int count = read_parts(a->job, a->line, parts);
    if (parts[count - 1].last != s->stage_count - 1)
        refuse_line(
            a->job,
            job_print(a->job, "does not fit '%s' of %d stages", s->whole->name, s->stage_count),
            a->line);
    for (int i = 0; i < count; i++) {
        if (parts[i].first != parts[i].last)
            refuse_line(a->job, "makes several stages in one launch", a->line);
        add_launch(a, &s->stages[parts[i].first], parts[i].schedule);
    }
}

arrangement *system_arrange(job *j, const system_model *system, const family_request *r) {
    arrangement *out = job_alloc(j, sizeof *out);
    const size_t most = (size_t)system->stage_count;
    *out = (arrangement){.system = system,
                         .stages = job_array(j, most, sizeof *out->stages),
                         .plans = job_array(j, most, sizeof(plan *))};
    arranging a = {j, system, r, r->schedule, out};
    if (a.line != NULL && has_parts(a.line)) {
        follow_parts(&a);
        return out;
    }
    for (int k = 0; k < system->stage_count; k++)
        add_launch(&a, &system->stages[k], a.line);
    return out;
}
