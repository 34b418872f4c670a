/* As check_sides.h says. Needs: gen/reach, gen/conditions. */
#include <string.h>

#include "gen/lists/draw.h"
#include "gen/model/family.h"
#include "runtime/check/guard.h"
#include "runtime/launch/launch.h"

int check_array(const program *p, const char *field, bool written, bool previous) {
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        const bool current = strcmp(a->name, a->grid.field) == 0;
        if (strcmp(a->grid.field, field) == 0 && a->written == written &&
            (written || current == !previous))
            return i;
    }
    return -1;
}

const model *check_model(const sg_kernel *k) {
    return k->subject->family->grid.model(k->subject);
}

const sample *check_samples(job *j, const sg_kernel *k, const double *parameters) {
    const model *m = check_model(k);
    const program *p = k->program;
    sample by_model[2 * MAX_FIELDS];
    sample *out = job_array(j, (size_t)p->array_count, sizeof *out);
    for (int i = 0; i < p->array_count; i++)
        out[i] = sample_plain;
    reach_arrays(j, m, parameters, by_model);
    for (int i = 0; i < m->array_count; i++) {
        const char *field = m->fields[m->arrays[i].field].name;
        const int at = check_array(p, field, false, m->arrays[i].previous);
        if (at >= 0)
            out[at] = by_model[i];
    }
    return out;
}

/* One block for the thread: the list, then the conditions as text. */
void check_unjudged(job *j, const sg_kernel *k, const condition_sides *sides, sg_check_result *r) {
    if (sides->count == 0)
        return;
    const size_t list = (size_t)sides->count * sizeof(sg_unjudged);
    size_t bytes = list;
    for (int i = 0; i < sides->count; i++)
        bytes += strlen(sides->list[i].condition) + 1;
    char *kept = context_keep_bytes(j, k->context, job_alloc(j, bytes), bytes);
    sg_unjudged *out = (sg_unjudged *)(void *)kept;
    char *at = kept + list;
    for (int i = 0; i < sides->count; i++) {
        const condition_side *s = &sides->list[i];
        const size_t length = strlen(s->condition) + 1;
        out[i] = (sg_unjudged){.condition = memcpy(at, s->condition, length),
                               .side = s->truth,
                               .taken = s->taken,
                               .of = s->of};
        at += length;
    }
    r->unjudged_count = sides->count;
    r->unjudged = out;
}

/* Checks of several steps, as check_steps.h says. Needs: gen/reference_steps. */

/* Cells of the grid of a check of several steps, unless its size is given: the host makes each of
   them as often. */
#define STEPPED_POINTS (INT64_C(1) << 21)

int64_t check_steps_count(job *j, const sg_kernel *k, int64_t wanted) {
    if (wanted != 0)
        steps_allow(j, k->program, wanted);
    return wanted > 0 ? wanted : program_steps(k->program);
}

/* The least extent with which the first way can be taken. */
static int64_t least_size(const program *p, int axis) {
    for (int k = 0; p->grid.ways && k < PROGRAM_AXES; k++)
        if (p->launches[0].grid.axes[k] == axis && p->launches[0].grid.least[k] > 1)
            return p->launches[0].grid.least[k];
    return 1;
}

void check_steps_size(const sg_kernel *k, int64_t steps, int64_t size[3], int64_t *points) {
    while (steps > 1 && *points > STEPPED_POINTS) {
        int longest = -1;
        for (int axis = 0; axis < PROGRAM_AXES; axis++)
            if (size[axis] / 2 >= least_size(k->program, axis) &&
                (longest < 0 || size[axis] > size[longest]))
                longest = axis;
        if (longest < 0 || size[longest] == 1)
            return;
        *points /= size[longest];
        size[longest] /= 2;
        *points *= size[longest];
    }
}

void check_steps_launch(job *j, guarded *g, const double *parameters, int64_t wanted) {
    const sg_kernel *k = g->kernel;
    const program *p = k->program;
    sg_grid grids[LAUNCH_ARRAYS];
    int final[LAUNCH_ARRAYS];
    guarded_grids(g, grids);
    const sg_arguments arguments = {.struct_size = sizeof arguments,
                                    .grids = grids,
                                    .grid_count = p->array_count,
                                    .parameters = parameters,
                                    .parameter_count = p->parameter_count,
                                    .temporary = guarded_temporary(g),
                                    .temporary_bytes = g->temporary};
    launch l;
    if (wanted > 0) {
        launch_check(j, k, &arguments, true, &l);
        steps_make(j, k, &l, wanted, NULL, final);
    } else {
        launch_once(j, k, &arguments, NULL);
    }
    g->device->ops->synchronize(g->device, j, NULL);
    guarded_fetch(j, g, wanted > 0 ? final : NULL);
}

/* ---- the reference's steps ------------------------------------------------------------------- */

void check_steps_close(void *argument) {
    check_steps *c = argument;
    guarded_memory_free(&c->memory, c->grids, c->bytes);
    c->grids = NULL;
}

static void make_piece(void *argument, int64_t index, int worker) {
    const check_steps *c = argument;
    reference_steps_piece(&c->march, index, c->scratch[worker]);
}

void check_steps_march(job *j, check_steps *c, const guarded *g, const reference *r,
                       reference_array *arrays, int64_t steps) {
    const model *m = check_model(g->kernel);
    const int64_t begin[AXES] = {0};
    *c = (check_steps){.memory = *job_allocator(j)};
    if (steps > 0) {
        c->bytes = reference_steps_bytes(m, g->points);
        c->grids = guarded_memory(j, c->bytes > 0 ? c->bytes : 1);
        c->bytes = c->bytes > 0 ? c->bytes : 1;
    }
    job_defer(j, check_steps_close, c);
    reference_steps_open(&c->march, r, m, g->size, begin, g->size, arrays, c->grids);
    const int count = workers_count(g->workers);
    c->scratch = job_array(j, (size_t)count, sizeof *c->scratch);
    for (int i = 0; i < count; i++)
        c->scratch[i] = job_alloc(j, reference_steps_scratch(&c->march));
    for (int64_t step = 0; step < steps; step++) {
        workers_run(g->workers, reference_steps_pieces(&c->march), make_piece, c);
        reference_steps_turn(&c->march);
    }
    memcpy(arrays, c->march.arrays, (size_t)m->array_count * sizeof *arrays);
}
