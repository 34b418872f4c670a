/* sg_run_watched: steps, and samples of monitors that a function of the caller's is told of. Takes:
   a kernel or its points, monitors, how often. Makes: the steps of sg_run, or fewer. */
#include <string.h>

#include "runtime/launch/launch.h"
#include "runtime/monitors/monitors.h"
#include "runtime/points/points.h"

/* Samples are read so many at a time, so that the device is seldom waited for. */
enum { READ_TOGETHER = 8, MOST_WATCHES = 64 };

typedef struct watching {
    const sg_kernel *kernel;
    sg_point_sets *points; /* NULL: none */
    const sg_watch *given;
    int count;
    const sg_arguments *arguments;
    int64_t steps, *made;
    sg_stream stream;
    int *final;

    sg_watch watches[MOST_WATCHES];
    int waiting[MOST_WATCHES];
    sg_arguments now;
    sg_grid grids[LAUNCH_ARRAYS];
    int order[LAUNCH_ARRAYS];
    bool ends; /* a function said so */
} watching;

static void read_watches(job *j, watching *w) {
    const size_t step = w->count > 0 && w->given != NULL ? w->given->struct_size : 0;
    if (w->count < 0 || w->count > MOST_WATCHES || (w->count > 0 && w->given == NULL))
        context_refuse(j, "sg_run_watched takes 0 to %d watches", MOST_WATCHES);
    for (int i = 0; i < w->count; i++) {
        context_read(j, &w->watches[i], sizeof w->watches[i],
                     (const char *)w->given + step * (size_t)i, "sg_watch");
        if (w->watches[i].monitor == NULL || w->watches[i].seen == NULL || w->watches[i].every < 1)
            context_refuse(j, "watch %d needs a monitor, a function and after how many steps", i);
        /* Else functions would be told of samples that are not their own. */
        if (monitor_waiting(w->watches[i].monitor) > 0)
            context_refuse(j, "samples of the monitor of watch %d wait to be read", i);
        for (int k = 0; k < i; k++)
            if (w->watches[k].monitor == w->watches[i].monitor)
                context_refuse(j, "watches %d and %d have the same monitor: open one for each", k,
                               i);
    }
}

/* Those samples of a monitor that wait, to the caller's function. */
static void tell(job *j, watching *w, int which) {
    const sg_watch *watch = &w->watches[which];
    int64_t steps[READ_TOGETHER];
    double values[READ_TOGETHER];
    int count = 0;
    context_must(j, w->kernel->context,
                 sg_monitor_read(watch->monitor, steps, values, w->waiting[which], &count));
    w->waiting[which] = 0;
    for (int i = 0; i < count; i++)
        w->ends = watch->seen(watch->user, steps[i], values[i]) != 0 || w->ends;
}

static int64_t until_due(const watching *w, int64_t left) {
    for (int i = 0; i < w->count; i++) {
        const int64_t n = w->watches[i].every, next = n - w->now.step % n;
        left = next < left ? next : left;
    }
    return left;
}

static void make_steps(job *j, watching *w, int64_t count) {
    const int arrays = w->kernel->program->array_count;
    int final[LAUNCH_ARRAYS], order[LAUNCH_ARRAYS];
    sg_grid grids[LAUNCH_ARRAYS];
    context_must(j, w->kernel->context,
                 w->points != NULL ? sg_run_points(w->points, &w->now, count, w->stream, final)
                                   : sg_run(w->kernel, &w->now, count, w->stream, final));
    memcpy(grids, w->grids, sizeof grids);
    memcpy(order, w->order, sizeof order);
    for (int i = 0; i < arrays; i++) {
        w->grids[i] = grids[final[i]];
        w->order[i] = order[final[i]];
    }
    w->now.step += count;
}

static void sample(job *j, watching *w) {
    for (int i = 0; i < w->count; i++) {
        if (w->now.step % w->watches[i].every != 0)
            continue;
        context_must(j, w->kernel->context,
                     sg_monitor_sample(w->watches[i].monitor, &w->now, w->stream));
        if (++w->waiting[i] == READ_TOGETHER)
            tell(j, w, i);
    }
}

static void run(job *j, void *argument) {
    watching *w = argument;
    const program *p = w->kernel->program;
    launch_names names;
    launch launch;
    read_watches(j, w);
    steps_allow(j, p, w->steps);
    launch_check(j, w->kernel, w->arguments, w->steps > 1 ? USE_STEPS : USE_STEP, &launch);
    launch_read(j, w->kernel, w->arguments, &names, &w->now);
    memcpy(w->grids, w->now.grids, (size_t)p->array_count * sizeof *w->grids);
    w->now.struct_size = sizeof w->now;
    w->now.arrays = NULL;
    w->now.values = NULL;
    w->now.grids = w->grids;
    w->now.grid_count = p->array_count;
    for (int i = 0; i < p->array_count; i++)
        w->order[i] = i;
    const int64_t first = w->now.step;
    while (w->now.step - first < w->steps && !w->ends) {
        make_steps(j, w, until_due(w, w->steps - (w->now.step - first)));
        sample(j, w);
    }
    for (int i = 0; i < w->count; i++)
        tell(j, w, i);
    if (w->made != NULL)
        *w->made = w->now.step - first;
    if (w->final != NULL)
        names_final(p, &launch, w->order, w->final);
}

sg_status sg_run_watched(const sg_kernel *kernel, sg_point_sets *points, const sg_watch *watches,
                         int count, const sg_arguments *arguments, int64_t steps, sg_stream stream,
                         int *final, int64_t *made) {
    if (kernel == NULL)
        return SG_ERROR_USAGE;
    watching w = {.kernel = kernel,
                  .points = points,
                  .given = watches,
                  .count = count,
                  .arguments = arguments,
                  .steps = steps,
                  .stream = stream,
                  .final = final,
                  .made = made};
    return context_run(kernel->context, run, &w, NULL);
}
