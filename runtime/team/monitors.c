/* Monitors of a team. A sample fills the ghost cells that the map reads, makes the map of the
   rank's own cells, and reduces it; reading combines the ranks' results in their order. */
#include <math.h>
#include <string.h>

#include "base/dtype.h"
#include "runtime/team/team.h"

struct sg_team_monitor {
    job *job;
    sg_team *team;
    sg_context *context;
    const sg_kernel *kernel, *map;
    sg_team_part part;
    sg_monitor *own;
    void *stream;             /* of the last sample */
    int array[LAUNCH_ARRAYS]; /* those of the kernel whose ghost cells the map reads */
    int array_count;
};

/* ---- opening --------------------------------------------------------------------------------- */

static void open_own(job *j, void *argument) {
    sg_team_monitor *m = argument;
    if (m->kernel == NULL || m->map == NULL || m->part.struct_size == 0)
        context_refuse(j, "sg_team_monitor_open needs a kernel, its part and a map");
    context_must(j, m->context, sg_monitor_open(m->kernel, m->map, m->part.size, &m->own));
    const program *p = m->map->program;
    for (int i = 0; i < p->array_count; i++)
        if (!p->arrays[i].written && program_reaches(&p->arrays[i]))
            m->array[m->array_count++] = sg_kernel_find_array(m->kernel, p->arrays[i].name);
}

static void give_back(void *what) {
    sg_monitor_close(((sg_team_monitor *)what)->own);
}

typedef struct opening {
    sg_team_monitor made, **out;
} opening;

static void open_monitor(job *j, void *argument) {
    const opening *o = argument;
    sg_team_monitor *m = job_alloc(j, sizeof *m);
    *m = o->made;
    m->job = j;
    job_defer(j, give_back, m);
    team_together(j, m->team, open_own, m);
    job_keep(j, m);
    *o->out = m;
}

sg_status sg_team_monitor_open(sg_team *team, const sg_kernel *kernel, const sg_kernel *map,
                               const sg_team_part *part, sg_team_monitor **out) {
    if (team == NULL || out == NULL)
        return SG_ERROR_USAGE;
    opening o = {{.team = team, .context = team->context, .kernel = kernel, .map = map}, out};
    if (part != NULL)
        o.made.part = *part;
    return context_make(team->context, open_monitor, &o);
}

void sg_team_monitor_close(sg_team_monitor *m) {
    if (m == NULL)
        return;
    give_back(m);
    context_unmake(m->context, m->job);
}

/* ---- samples --------------------------------------------------------------------------------- */

typedef struct sampling {
    sg_team_monitor *monitor;
    run run;
} sampling;

static void sample_own(job *j, void *argument) {
    const sampling *s = argument;
    const sg_team_monitor *m = s->monitor;
    sg_arguments a = *s->run.arguments;
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        a.origin[axis] = m->part.begin[axis] - m->part.low[axis];
        a.global[axis] = m->part.global[axis];
        a.begin[axis] = m->part.low[axis];
        a.end[axis] = m->part.low[axis] + m->part.end[axis] - m->part.begin[axis];
    }
    context_must(j, m->context, sg_monitor_sample(m->own, &a, s->run.stream));
}

static void sample(job *j, void *argument) {
    sampling *s = argument;
    sg_team_monitor *m = s->monitor;
    run *r = &s->run;
    if (r->arguments == NULL)
        context_refuse(j, "sg_team_monitor_sample needs arguments");
    run_open(j, r, m->map->program->grid.corners);
    halo_prepare(j, &r->halo, m->array, m->array_count);
    halo_show(j, &r->halo, &r->launch);
    halo_exchange(j, &r->halo, &r->launch, m->array, m->array_count, r->final, true, r->stream);
    team_together(j, m->team, sample_own, s);
    m->stream = r->stream;
}

sg_status sg_team_monitor_sample(sg_team_monitor *m, const sg_arguments *arguments,
                                 sg_stream stream) {
    if (m == NULL)
        return SG_ERROR_USAGE;
    sampling s = {m,
                  {.team = m->team,
                   .kernel = m->kernel,
                   .given = &m->part,
                   .arguments = arguments,
                   .stream = stream}};
    return team_run(m->team, sample, &s);
}

/* ---- results --------------------------------------------------------------------------------- */

static double combine(const char *op, double a, double b) {
    if (strcmp(op, "sum") == 0)
        return a + b;
    if (strcmp(op, "product") == 0)
        return a * b;
    if (strcmp(op, "all") == 0)
        return a != 0 && b != 0;
    if (strcmp(op, "any") == 0)
        return a != 0 || b != 0;
    if (isnan(a) || isnan(b))
        return isnan(a) ? a : b;
    return (strcmp(op, "min") == 0) == (b < a) ? b : a;
}

typedef struct reading {
    sg_team_monitor *monitor;
    int64_t *steps;
    double *values;
    int most, *count;
} reading;

static void read_own(job *j, void *argument) {
    const reading *r = argument;
    context_must(j, r->monitor->context,
                 sg_monitor_read(r->monitor->own, r->steps, r->values, r->most, r->count));
}

static void read_samples(job *j, void *argument) {
    const reading *r = argument;
    const sg_team_monitor *m = r->monitor;
    team_settle(j, m->team, m->stream);
    const int ranks = m->team->transport.ranks;
    const dtype type =
        m->map->program->element_bytes == sizeof(double) ? DTYPE_DOUBLE : DTYPE_FLOAT;
    team_together(j, m->team, read_own, argument);
    const size_t count = (size_t)*r->count;
    double *all = job_array(j, (size_t)ranks * count + 1, sizeof *all);
    team_gather(j, m->team, r->values, count * sizeof *all, all);
    for (size_t i = 0; i < count; i++) {
        r->values[i] = all[i];
        for (int rank = 1; rank < ranks; rank++)
            r->values[i] = dtype_round(
                type, combine(m->map->maps_for->op, r->values[i], all[(size_t)rank * count + i]));
    }
}

sg_status sg_team_monitor_read(sg_team_monitor *m, int64_t *steps, double *values, int most,
                               int *count) {
    if (m == NULL)
        return SG_ERROR_USAGE;
    reading r = {m, steps, values, most, count};
    return team_run(m->team, read_samples, &r);
}
