/* Checks and completes the arguments of a launch: sizes, strides, box, parameters. Nothing is
   allocated. */
#include <string.h>

#include "runtime/launch/launch.h"

static const char axis_letters[] = "xyz";

bool launch_read(job *j, const sg_kernel *k, const sg_arguments *given, launch_names *names,
                 sg_arguments *out) {
    const program *p = k->program;
    if (given == NULL)
        return context_refuse(j, "'%s' needs arguments", p->name);
    if (!context_read(j, out, sizeof *out, given, "sg_arguments") || !names_read(j, p, out, names))
        return false;
    if (out->grid_count != p->array_count || out->grids == NULL)
        return context_refuse(j, "'%s' takes %d grid%s, not %d", p->name, p->array_count,
                              p->array_count == 1 ? "" : "s",
                              out->grids == NULL ? 0 : out->grid_count);
    return true;
}

/* The size of the grid, the same for all arrays; sets `empty` where an axis has no cells. */
static bool check_size(job *j, const program *p, const sg_grid *grids, launch *out) {
    for (int i = 0; i < p->array_count; i++)
        for (int axis = 0; axis < PROGRAM_AXES; axis++) {
            int64_t size = grids[i].size[axis];
            const char letter = axis_letters[axis];
            if (size < 0)
                return context_refuse(j, "'%s': size %lld along %c is negative", p->arrays[i].name,
                                      (long long)size, letter);
            if (size > LAUNCH_MOST_BYTES)
                return context_refuse(j, "'%s': its extent along %c is out of range",
                                      p->arrays[i].name, letter);
            if (axis >= p->dims && size > 1)
                return context_refuse(j, "'%s': size %lld along %c, but '%s' has %d dimension%s",
                                      p->arrays[i].name, (long long)size, letter, p->name, p->dims,
                                      p->dims == 1 ? "" : "s");
            if (axis >= p->dims)
                size = 1;
            if (i > 0 && size != out->size[axis])
                return context_refuse(j, "'%s' has size %lld along %c, but '%s' has %lld",
                                      p->arrays[i].name, (long long)size, letter, p->arrays[0].name,
                                      (long long)out->size[axis]);
            out->size[axis] = size;
            out->empty = out->empty || size == 0;
        }
    return true;
}

/* If part of the box is given, an end of 0 is a forgotten axis: no cell would be updated,
   without a word. */
static bool check_end(job *j, const launch *out, const char *name, int axis) {
    if (out->end[axis] != 0 || out->size[axis] == 0)
        return true;
    return context_refuse(j,
                          "the box of '%s' has no end along %c: give end[%d] too, %lld where it is "
                          "that of the grid",
                          name, axis_letters[axis], axis, (long long)out->size[axis]);
}

static bool check_box(job *j, const program *p, const sg_arguments *a, launch *out) {
    bool given = false;
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        given = given || a->begin[axis] != 0 || a->end[axis] != 0;
    out->whole = true;
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        const bool used = axis < p->dims;
        const int64_t begin = a->begin[axis], end = a->end[axis];
        if (begin < 0 || begin > out->size[axis] || end < 0 || end > out->size[axis])
            return context_refuse(j,
                                  "the box from %lld to %lld along %c is not inside the grid, "
                                  "which has %lld cell%s there",
                                  (long long)begin, (long long)end, axis_letters[axis],
                                  (long long)out->size[axis], out->size[axis] == 1 ? "" : "s");
        out->begin[axis] = given && used ? begin : 0;
        out->end[axis] = given && used ? end : out->size[axis];
        out->empty = out->empty || out->end[axis] <= out->begin[axis];
        out->whole = out->whole && out->begin[axis] == 0 && out->end[axis] == out->size[axis];
    }
    for (int axis = 0; axis < p->dims; axis++)
        if (!check_end(j, out, p->name, axis))
            return false;
    return true;
}

static int64_t magnitude(int64_t a) {
    return a < 0 ? -a : a;
}

static bool complete_strides(job *j, const program *p, int which, const sg_grid *g, launch *out) {
    const char *name = p->arrays[which].name;
    int64_t dense = 1, *stride = out->grids[which].stride;
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        const int64_t given = g->stride[axis];
        if (axis == 0 && given != 0 && given != 1)
            return context_refuse(j, "'%s': the stride along x is %lld; it must be 1", name,
                                  (long long)given);
        if (given == INT64_MIN || given > LAUNCH_MOST_BYTES || given < -LAUNCH_MOST_BYTES)
            return context_refuse(j, "'%s': a stride of %lld elements is out of range", name,
                                  (long long)given);
        stride[axis] = given != 0 ? given : dense;
        if (out->size[axis] > LAUNCH_MOST_BYTES / magnitude(stride[axis]))
            return context_refuse(j, "'%s': its extent along %c is out of range", name,
                                  axis_letters[axis]);
        dense = magnitude(stride[axis]) * out->size[axis];
    }
    return true;
}

/* The bytes from the lowest to the highest cell. */
static bool find_span(job *j, const program *p, int which, launch *out) {
    launch_grid *g = &out->grids[which];
    const char *name = p->arrays[which].name;
    const int64_t element = (int64_t)program_grid_bytes(p, which);
    int64_t below = 0, above = 0;
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        const int64_t reach = (out->size[axis] - 1) * magnitude(g->stride[axis]);
        if (reach > LAUNCH_MOST_BYTES / element / PROGRAM_AXES)
            return context_refuse(j, "'%s': its extent along %c is out of range", name,
                                  axis_letters[axis]);
        *(g->stride[axis] < 0 ? &below : &above) += reach * element;
    }
    above += element;
    const uintptr_t at = (uintptr_t)g->data;
    if (at % (uintptr_t)element != 0)
        return context_refuse(j, "'%s': its address is not a multiple of its element's %lld bytes",
                              name, (long long)element);
    if (at < (uint64_t)below || UINTPTR_MAX - at < (uint64_t)above)
        return context_refuse(j, "'%s': its strides lead out of the address space", name);
    g->low = at - (uintptr_t)below;
    g->high = at + (uintptr_t)above;
    return true;
}

/* Whether no two cells of an array share memory: from the smallest stride up, each axis must
   step over all that the axes before it span. */
static bool cells_are_distinct(const launch *l, const launch_grid *g) {
    bool done[PROGRAM_AXES] = {false};
    int64_t span = 0;
    for (int round = 0; round < PROGRAM_AXES; round++) {
        int next = -1;
        for (int axis = 0; axis < PROGRAM_AXES; axis++)
            if (!done[axis] &&
                (next < 0 || magnitude(g->stride[axis]) < magnitude(g->stride[next])))
                next = axis;
        done[next] = true;
        if (l->size[next] > 1 && magnitude(g->stride[next]) <= span)
            return false;
        span += (l->size[next] - 1) * magnitude(g->stride[next]);
    }
    return true;
}

/* Whether a launch, or one of several whose arrays swap roles, writes the array. */
static bool is_written(const program *p, int which, launch_use use) {
    if (p->arrays[which].written)
        return true;
    for (int i = 0; use == USE_STEPS && i < p->array_count; i++)
        if (p->arrays[i].written &&
            (p->arrays[i].grid.reads == which || p->arrays[i].grid.previous == which))
            return true;
    return false;
}

/* New values in the place of the oldest. Where steps update a box, cells round it are copied from
   the current level first, which a previous level would not survive. */
static bool is_in_place(const program *p, launch_use use, const launch *l, int next, int oldest) {
    const program_array *a = &p->arrays[next];
    return a->written && a->grid.in_place && program_oldest(a) == oldest &&
           (l->whole || use == USE_LAUNCH || a->grid.previous < 0) &&
           l->grids[next].data == l->grids[oldest].data &&
           memcmp(l->grids[next].stride, l->grids[oldest].stride, sizeof l->grids[next].stride) ==
               0;
}

static bool check_written(job *j, const program *p, launch_use use, const launch *l) {
    for (int w = 0; w < p->array_count; w++) {
        if (!is_written(p, w, use))
            continue;
        if (!cells_are_distinct(l, &l->grids[w]))
            return context_refuse(j, "'%s' is written, but its strides make cells share memory",
                                  p->arrays[w].name);
        for (int i = 0; i < p->array_count; i++)
            if (i != w && !is_in_place(p, use, l, w, i) && !is_in_place(p, use, l, i, w) &&
                l->grids[i].low < l->grids[w].high && l->grids[w].low < l->grids[i].high)
                return context_refuse(j, "'%s' is written and overlaps '%s' in memory",
                                      p->arrays[w].name, p->arrays[i].name);
    }
    return true;
}

static bool check_parameters(job *j, const sg_kernel *k, const sg_arguments *a, launch *out) {
    const program *p = k->program;
    if (a->parameters != NULL && a->parameter_count != p->parameter_count)
        return context_refuse(j, "'%s' takes %d parameter%s, not %d", p->name, p->parameter_count,
                              p->parameter_count == 1 ? "" : "s", a->parameter_count);
    for (int i = 0; i < p->parameter_count; i++) {
        const program_parameter *about = &p->parameters[i];
        if (a->parameters == NULL && !about->has_value)
            return context_refuse(j, "'%s' needs a value for its parameter '%s'", p->name,
                                  about->name);
        const double value = a->parameters != NULL ? a->parameters[i] : about->value;
        if (!kernel_parameter(j, k, i, value, &out->parameters[i]))
            return false;
    }
    return true;
}

/* Positions, also where the program has none: a mistake in them is one all the same. */
static bool check_positions(job *j, const program *p, const sg_arguments *a, launch *out) {
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        const int64_t origin = a->origin[axis], global = a->global[axis];
        if (origin > LAUNCH_MOST_BYTES || origin < -LAUNCH_MOST_BYTES || global < 0 ||
            global > LAUNCH_MOST_BYTES)
            return context_refuse(j,
                                  "'%s': an origin of %lld in a whole grid of %lld cells along %c "
                                  "is out of range",
                                  p->name, (long long)origin, (long long)global,
                                  axis_letters[axis]);
        out->origin[axis] = origin;
        out->global[axis] = global != 0 ? global : out->size[axis];
    }
    if (a->step < 0 || a->step > LAUNCH_MOST_BYTES)
        return context_refuse(j, "'%s': step %lld is out of range", p->name, (long long)a->step);
    out->step = a->step;
    return true;
}

/* Stages read each other's cells, and those outside of a box are not made. */
static bool check_stages(job *j, const program *p, const launch *l) {
    return p->grid.call_count < 2 || p->grid.ways || l->whole ||
           context_refuse(j, "a step of '%s' updates the whole grid, not a box: it is a system",
                          p->name);
}

/* Whether one launch of sg_launch's steps can do this; sg_run takes shorter ways. */
static bool check_way(job *j, const program *p, const launch *l) {
    const program_launch *way = &p->launches[0];
    const int steps = program_steps(p);
    if (program_has_seconds(p))
        return context_refuse(j,
                              "a launch of '%s' makes %d steps of a field with two levels, whose "
                              "arrays change roles; sg_run makes them, and a kernel built with "
                              "time=1 single ones",
                              p->name, steps);
    if (steps > 1 && !l->whole)
        return context_refuse(j,
                              "a launch of '%s' makes %d steps of the whole grid, not of a box; "
                              "sg_run makes single steps there, and so does a kernel built with "
                              "time=1",
                              p->name, steps);
    for (int k = 0; steps > 1 && k < PROGRAM_AXES; k++)
        if (way->grid.axes[k] >= 0 && l->size[way->grid.axes[k]] < way->grid.least[k])
            return context_refuse(j,
                                  "a launch of '%s' makes %d steps of a grid with at least %lld "
                                  "cells along %c, not %lld; sg_run makes fewer at a time there, "
                                  "or build it with time=1 or for this size",
                                  p->name, steps, (long long)way->grid.least[k],
                                  axis_letters[way->grid.axes[k]],
                                  (long long)l->size[way->grid.axes[k]]);
    return true;
}

bool launch_measure(job *j, const program *p, const sg_arguments *a, launch *out, size_t *bytes) {
    out->empty = false;
    if (!program_is_grid(p))
        return lists_measure(j, p, a->grids, out, bytes);
    return check_size(j, p, a->grids, out) && check_box(j, p, a, out) &&
           layers_measure(j, p, out, bytes);
}

bool launch_check(job *j, const sg_kernel *k, const sg_arguments *given, launch_use use,
                  launch *out) {
    const program *p = k->program;
    sg_arguments a;
    launch_names names;
    size_t needed;
    out->empty = false;
    out->steps = program_steps(p);
    out->exchange = NULL;
    out->cleared = out->seconds = false;
    if (k->module == NULL)
        return context_refuse(j, "'%s' cannot be launched: %s", p->name, k->unlaunchable);
    if (!launch_read(j, k, given, &names, &a))
        return false;
    memcpy(out->places, names.places, sizeof *out->places * (size_t)p->array_count);
    if (!program_is_grid(p))
        return lists_check(j, p, &a, out) && check_parameters(j, k, &a, out);
    if (!launch_measure(j, p, &a, out, &needed) || !check_positions(j, p, &a, out))
        return false;
    if (out->empty)
        return true;
    if (!check_stages(j, p, out) || (use == USE_LAUNCH && !check_way(j, p, out)))
        return false;
    if (program_has_seconds(p)) {
        out->seconds = out->whole && a.temporary != NULL && a.temporary_bytes >= needed;
        needed = out->seconds ? needed : 0; /* single steps need none */
    }
    const size_t words = program_has_exchange(p) ? program_exchange_bytes(p, out->size) : 0;
    if (words > 0 && a.temporary != NULL && a.temporary_bytes >= needed &&
        a.temporary_bytes - needed >= words) {
        out->exchange = (unsigned char *)a.temporary + needed; /* behind the layers */
        needed += words;
    }
    for (int i = 0; i < p->array_count; i++) {
        if (a.grids[i].data == NULL)
            return context_refuse(j, "'%s' has no data", p->arrays[i].name);
        out->grids[i].data = a.grids[i].data;
        if (!complete_strides(j, p, i, &a.grids[i], out) || !find_span(j, p, i, out))
            return false;
    }
    if (!check_written(j, p, use, out) || !check_parameters(j, k, &a, out) ||
        !launch_place(j, p, &a, needed, out))
        return false;
    if (out->seconds)
        layers_seconds(p, out);
    return true;
}
