/* sg_run: the way that each launch takes, and the rotation of arrays in between. */
#include "runtime/launch/launch.h"

#include <string.h>

typedef struct steps {
    const sg_kernel *kernel;
    launch *launch;
    int64_t count, done;
    void *stream;
    int *final;
} steps;

void launch_copy(job *j, const sg_kernel *k, size_t cell, const int64_t size[3],
                 const launch_grid *from, const launch_grid *to, void *stream) {
    device *d = k->context->device;
    const int64_t element = (int64_t)cell;
    int64_t run = 1, count[3] = {1, 1, 1};
    int axis = 0;
    for (; axis < PROGRAM_AXES; axis++) {
        if (size[axis] != 1 && (from->stride[axis] != run || to->stride[axis] != run))
            break;
        run *= size[axis];
    }
    device_copy c = {.bytes = (size_t)(run * element), .rows = 1};
    for (int a = axis; a < PROGRAM_AXES; a++)
        count[a] = size[a];
    if (axis < PROGRAM_AXES && from->stride[axis] > 0 && to->stride[axis] > 0) {
        c.rows = (size_t)count[axis];
        c.from_pitch = (size_t)(from->stride[axis] * element);
        c.to_pitch = (size_t)(to->stride[axis] * element);
        const int next = axis + 1;
        if (next < PROGRAM_AXES && from->stride[next] == count[axis] * from->stride[axis] &&
            to->stride[next] == count[axis] * to->stride[axis]) {
            c.rows *= (size_t)count[next];
            count[next] = 1;
        }
        count[axis] = 1;
    }
    for (int64_t z = 0; z < count[2]; z++)
        for (int64_t y = 0; y < count[1]; y++) {
            c.from = from->data + (y * from->stride[1] + z * from->stride[2]) * element;
            c.to = to->data + (y * to->stride[1] + z * to->stride[2]) * element;
            d->ops->copy(d, j, &c, stream);
        }
}

/* Cells that no step writes must be in the buffer that is written next, unless it has been the
   current one before. There are as many buffers as time levels, with the written one. */
static void keep_cells(job *j, const steps *s) {
    const launch *l = s->launch;
    const program *p = s->kernel->program;
    for (int i = 0; !l->whole && i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        if (a->written && a->grid.reads >= 0 && l->grids[i].data != l->grids[a->grid.reads].data &&
            s->done < (a->grid.previous >= 0 ? 2 : 1))
            launch_copy(j, s->kernel, program_grid_bytes(p, i), l->size, &l->grids[a->grid.reads],
                        &l->grids[i], s->stream);
    }
}

static void swap(launch_grid *a, int *final_a, launch_grid *b, int *final_b) {
    const launch_grid grid = *a;
    const int place = *final_a;
    *a = *b;
    *final_a = *final_b;
    *b = grid;
    *final_b = place;
}

void steps_rotate(const program *p, launch *l, int *final) {
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        if (!a->written || a->grid.reads < 0)
            continue;
        const int now = a->grid.reads, oldest = program_oldest(a);
        const bool in_place = l->grids[i].data == l->grids[oldest].data;
        swap(&l->grids[i], &final[i], &l->grids[oldest], &final[oldest]);
        swap(&l->grids[oldest], &final[oldest], &l->grids[now], &final[now]);
        if (in_place) { /* in the place of what is the oldest level now */
            l->grids[i] = l->grids[oldest];
            final[i] = final[oldest];
        }
    }
}

enum { IN_LAYER = -1 }; /* as a place in `final` */

/* After a way of several steps that leaves levels in layers. */
static void rotate_both(const program *p, launch *l, int *final, int *second) {
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        if (!a->written || a->grid.reads < 0)
            continue;
        const int now = a->grid.reads, before = a->grid.previous;
        swap(&l->grids[now], &final[now], &l->grids[i], &final[i]);
        if (before >= 0)
            swap(&l->grids[before], &final[before], &l->second[i], &second[i]);
    }
}

/* What is still to be written is the caller's memory; and at the end, what was written is too. */
static void leave_layers(job *j, const steps *s, int *final, int *second, bool end) {
    launch *l = s->launch;
    const program *p = s->kernel->program;
    for (int i = 0; l->seconds && i < p->array_count; i++) {
        const int before = p->arrays[i].written ? p->arrays[i].grid.previous : -1;
        if (before < 0)
            continue;
        if (final[i] == IN_LAYER)
            swap(&l->grids[i], &final[i], &l->second[i], &second[i]);
        if (end && final[before] == IN_LAYER) {
            launch_copy(j, s->kernel, program_grid_bytes(p, i), l->size, &l->grids[before],
                        &l->second[i], s->stream);
            swap(&l->grids[before], &final[before], &l->second[i], &second[i]);
        }
    }
}

/* The older level comes back from its layer, so that all levels are in the caller's arrays. */
void steps_settle(job *j, const sg_kernel *k, launch *l, int *final, void *stream) {
    const steps s = {.kernel = k, .launch = l, .stream = stream};
    int second[LAUNCH_ARRAYS];
    for (int i = 0; i < k->program->array_count; i++)
        second[i] = IN_LAYER;
    rotate_both(k->program, l, final, second);
    leave_layers(j, &s, final, second, true);
}

/* The blocks of a launch that updates a whole grid; INT32_MAX: more than one launch may have. */
static int64_t count_blocks(const program_launch *l, const int64_t size[PROGRAM_AXES]) {
    int64_t blocks = 1;
    for (int k = 0; k < PROGRAM_AXES; k++) {
        const int64_t along =
            l->grid.axes[k] < 0 ? 1 : (size[l->grid.axes[k]] - 1) / l->per_block[k] + 1;
        blocks = along > launch_most_blocks[k] || blocks > INT32_MAX / along ? INT32_MAX
                                                                             : blocks * along;
    }
    return blocks;
}

bool steps_together(const sg_kernel *k, const int64_t size[PROGRAM_AXES]) {
    const program_launch *first = &k->program->launches[0];
    device *d = k->context->device;
    return program_has_exchange(k->program) && k->module != NULL && program_way_fits(first, size) &&
           count_blocks(first, size) <= d->ops->together(d, k->module, 0);
}

size_t steps_bytes(job *j, const sg_kernel *k, const int64_t size[PROGRAM_AXES]) {
    return layers_bytes(j, k->program, size) +
           (steps_together(k, size) ? program_exchange_bytes(k->program, size) : 0);
}

leap steps_choose(const program *p, const int64_t size[PROGRAM_AXES], int64_t left, bool together,
                  bool seconds) {
    if (program_has_seconds(p) && !seconds)
        return steps_single(p);
    for (int way = 0; p->grid.ways && way < program_own_launches(p) - 1; way++) {
        const program_launch *w = &p->launches[way];
        if (!program_way_fits(w, size))
            continue;
        if (w->grid.cooperative && together && way == 0 && left > w->grid.steps) {
            const int64_t most = left < INT32_MAX ? left : INT32_MAX;
            return (leap){way, most, true};
        }
        if (w->grid.steps <= left || (w->grid.cooperative && left > 1))
            return (leap){way, w->grid.steps < left ? w->grid.steps : left, false};
    }
    return steps_single(p);
}

leap steps_single(const program *p) {
    return (leap){p->grid.ways ? program_own_launches(p) - 1 : 0, 1, false};
}

bool steps_stay(const program *p, const int64_t size[PROGRAM_AXES], int64_t count, int64_t step) {
    int64_t end = 0; /* of a launch's steps */
    while (end <= step)
        end += steps_choose(p, size, count - end, false, true).steps;
    return end > step + 1;
}

fault steps_send(const sg_kernel *k, launch *l, const leap *by, void *stream, int *code) {
    device *d = k->context->device;
    fault f = FAULT_NONE;
    l->steps = (int32_t)by->steps;
    if (!k->program->grid.ways)
        return launch_send(k, l, stream, code);
    if (by->together)
        f = d->ops->fill_async(d, l->exchange, 0, program_exchange_bytes(k->program, l->size),
                               stream, code);
    return f == FAULT_NONE ? launch_send_way(k, l, by->way, by->together, stream, code) : f;
}

void steps_make(job *j, const sg_kernel *k, launch *l, int64_t count, void *stream,
                int final[LAUNCH_ARRAYS]) {
    steps s = {.kernel = k, .launch = l, .count = l->empty ? 0 : count, .stream = stream};
    int second[LAUNCH_ARRAYS];
    const bool together = l->exchange != NULL && steps_together(k, l->size);
    for (int i = 0; i < k->program->array_count; i++)
        final[i] = i, second[i] = IN_LAYER;
    while (s.done < s.count) {
        const leap by =
            l->whole ? steps_choose(k->program, l->size, count - s.done, together, l->seconds)
                     : steps_single(k->program);
        int code = 0;
        keep_cells(j, &s);
        if (steps_send(k, l, &by, stream, &code) != FAULT_NONE)
            launch_fail(j, k, code);
        l->cleared = true;
        if (program_has_seconds(k->program) && by.steps > 1)
            rotate_both(k->program, l, final, second);
        else
            steps_rotate(k->program, l, final);
        leave_layers(j, &s, final, second, false);
        s.done += by.steps;
        l->step += by.steps;
    }
    leave_layers(j, &s, final, second, true);
}

void steps_allow(job *j, const program *p, int64_t count) {
    if (count < 0 || count > LAUNCH_MOST_BYTES) /* its sum with the first one's number is whole */
        context_refuse(j, "%lld steps cannot be run", (long long)count);
    if (!program_is_grid(p))
        context_refuse(j,
                       "'%s' is no stencil, of which alone several steps are run; sg_launch "
                       "launches it",
                       p->name);
}

typedef struct running {
    const sg_kernel *kernel;
    const sg_arguments *arguments;
    int64_t count;
    void *stream;
    int *final;
} running;

static void run(job *j, void *argument) {
    const running *r = argument;
    const program *p = r->kernel->program;
    launch l;
    int final[LAUNCH_ARRAYS];
    steps_allow(j, p, r->count);
    if (r->kernel->points != NULL)
        context_refuse(j, "'%s' has points: sg_run_points runs it", p->name);
    launch_check(j, r->kernel, r->arguments, r->count > 1 ? USE_STEPS : USE_STEP, &l);
    steps_make(j, r->kernel, &l, r->count, r->stream, final);
    if (r->final != NULL)
        names_final(p, &l, final, r->final);
}

sg_status sg_run(const sg_kernel *kernel, const sg_arguments *arguments, int64_t count,
                 sg_stream stream, int *final) {
    if (kernel == NULL)
        return SG_ERROR_USAGE;
    running r = {kernel, arguments, count, stream, final};
    return context_run(kernel->context, run, &r, NULL);
}
