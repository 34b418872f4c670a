/* Several steps: which way each launch of a program takes, and the arrays' rotation in between.
   Takes: checked arguments and a number of steps. Makes: sg_run. */
#include "runtime/launch/launch.h"

#include <string.h>

typedef struct steps {
    const sg_kernel *kernel;
    launch *launch;
    int64_t count, done;
    void *stream;
    int *final;
} steps;

/* ---- cells that no step writes --------------------------------------------------------------- */

/* Copies the cells, not what lies between them: runs of cells as long as both arrays have them, as
   rows along the next axis, and along the one after it too where the distances allow. Strides below
   zero leave rows of one run each. */
static void copy_cells(job *j, const steps *s, const launch_grid *from, const launch_grid *to) {
    const launch *l = s->launch;
    device *d = s->kernel->context->device;
    const int64_t element = s->kernel->program->element_bytes;
    int64_t run = 1, count[3] = {1, 1, 1};
    int axis = 0;
    for (; axis < PROGRAM_AXES; axis++) {
        if (l->size[axis] != 1 && (from->stride[axis] != run || to->stride[axis] != run))
            break;
        run *= l->size[axis];
    }
    device_copy c = {.bytes = (size_t)(run * element), .rows = 1};
    for (int a = axis; a < PROGRAM_AXES; a++)
        count[a] = l->size[a];
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
            d->ops->copy(d, j, &c, s->stream);
        }
}

/* Cells that no step writes must be in the buffer about to be written, unless it has been in use as
   the current one before. There are as many buffers as time levels with the one written. */
static void keep_cells(job *j, const steps *s) {
    const launch *l = s->launch;
    const program *p = s->kernel->program;
    for (int i = 0; !l->whole && i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        if (a->written && a->grid.reads >= 0 && s->done < (a->grid.previous >= 0 ? 2 : 1))
            copy_cells(j, s, &l->grids[a->grid.reads], &l->grids[i]);
    }
}

static void rotate(const program *p, launch *l, int *final) {
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        if (!a->written || a->grid.reads < 0)
            continue;
        const launch_grid written = l->grids[i];
        const int written_final = final[i];
        const int oldest = a->grid.previous >= 0 ? a->grid.previous : a->grid.reads;
        l->grids[i] = l->grids[oldest];
        final[i] = final[oldest];
        l->grids[oldest] = l->grids[a->grid.reads];
        final[oldest] = final[a->grid.reads];
        l->grids[a->grid.reads] = written;
        final[a->grid.reads] = written_final;
    }
}

/* ---- ways ------------------------------------------------------------------------------------ */

/* Some of the steps that are left, in one launch. */
typedef struct leap {
    int way;
    int64_t steps;
    int64_t turns; /* how often the arrays rotate meanwhile */
    bool together; /* with words between blocks */
} leap;

/* Blocks of a launch that updates all of a grid; INT32_MAX where they are more than one may have.
 */
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
    return steps_together(k, size) ? program_exchange_bytes(k->program, size)
                                   : layers_bytes(j, k->program, size);
}

/* The longest way that the grid can take and that does not go too far. A cooperative one goes as
   far as it is told, in one launch where blocks can exchange words. */
static leap choose(const steps *s, bool together) {
    const program *p = s->kernel->program;
    const int64_t left = s->count - s->done;
    for (int way = 0; p->grid.ways && way < program_own_launches(p) - 1; way++) {
        const program_launch *w = &p->launches[way];
        if (!s->launch->whole || !program_way_fits(w, s->launch->size))
            continue;
        if (w->grid.cooperative && together && way == 0 && left > w->grid.steps) {
            const int64_t most = left < INT32_MAX ? left : INT32_MAX;
            return (leap){way, most, (most - 1) / w->grid.steps + 1, true};
        }
        if (w->grid.steps <= left || (w->grid.cooperative && left > 1))
            return (leap){way, w->grid.steps < left ? w->grid.steps : left, 1, false};
    }
    return (leap){p->grid.ways ? program_own_launches(p) - 1 : 0, 1, 1, false};
}

static fault send(const steps *s, const leap *by, int *code) {
    device *d = s->kernel->context->device;
    fault f = FAULT_NONE;
    if (!s->kernel->program->grid.ways)
        return launch_send(s->kernel, s->launch, s->stream, code);
    if (by->together)
        f = d->ops->fill_async(d, s->launch->exchange, 0,
                               program_exchange_bytes(s->kernel->program, s->launch->size),
                               s->stream, code);
    if (f == FAULT_NONE)
        f = launch_send_way(s->kernel, s->launch, by->way, by->together, s->stream, code);
    return f;
}

void steps_make(job *j, const sg_kernel *k, launch *l, int64_t count, void *stream,
                int final[LAUNCH_ARRAYS]) {
    steps s = {.kernel = k, .launch = l, .count = l->empty ? 0 : count, .stream = stream};
    const bool together = l->exchange != NULL && steps_together(k, l->size);
    for (int i = 0; i < k->program->array_count; i++)
        final[i] = i;
    while (s.done < s.count) {
        const leap by = choose(&s, together);
        int code = 0;
        keep_cells(j, &s);
        l->steps = (int32_t)by.steps;
        if (send(&s, &by, &code) != FAULT_NONE)
            launch_fail(j, k, code);
        /* Where there are ways, two arrays swap. */
        for (int64_t turn = 0; turn < (k->program->grid.ways ? by.turns % 2 : 1); turn++)
            rotate(k->program, l, final);
        s.done += by.steps;
    }
}

/* ---- sg_run ---------------------------------------------------------------------------------- */

void steps_allow(job *j, const program *p, int64_t count) {
    if (count < 0)
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
    launch_check(j, r->kernel, r->arguments, true, &l);
    steps_make(j, r->kernel, &l, r->count, r->stream, final);
    if (r->final != NULL)
        memcpy(r->final, final, sizeof *final * (size_t)p->array_count);
}

sg_status sg_run(const sg_kernel *kernel, const sg_arguments *arguments, int64_t count,
                 sg_stream stream, int *final) {
    if (kernel == NULL)
        return SG_ERROR_USAGE;
    running r = {kernel, arguments, count, stream, final};
    return context_run(kernel->context, run, &r, NULL);
}
