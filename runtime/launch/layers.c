/* Layers: grids of temporary memory between the launches of a program, and what a launch sees as
   its grid. */
#include "runtime/launch/launch.h"

#include <string.h>

/* Cells of a layer along each axis; x with what fills its rows. Those of calls are whole grids. */
static void find_extents(const program *p, const launch *l, int layer, int64_t extent[3]) {
    const program_layer *a = &p->grid.layers[layer];
    const int64_t step = PROGRAM_PITCH / (int64_t)program_layer_bytes(p);
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        extent[axis] = p->grid.call_count > 0
                           ? l->size[axis]
                           : l->end[axis] - l->begin[axis] + a->low[axis] + a->high[axis];
    extent[0] = (extent[0] + step - 1) / step * step;
}

bool layers_measure(job *j, const program *p, launch *out, size_t *bytes) {
    *bytes = 0;
    for (int i = 0; i < p->grid.layer_count; i++) {
        int64_t extent[3] = {0, 0, 0}, room = LAUNCH_MOST_BYTES / (int64_t)program_layer_bytes(p);
        if (!out->empty)
            find_extents(p, out, i, extent);
        for (int axis = 0; axis < PROGRAM_AXES && !out->empty; axis++) {
            room /= extent[axis];
            if (room == 0)
                return context_refuse(j, "'%s': its temporary memory is out of range", p->name);
        }
        const size_t cells = (size_t)(extent[0] * extent[1] * extent[2]);
        out->temporaries[i].bytes = cells * program_layer_bytes(p);
        *bytes += (out->temporaries[i].bytes + PROGRAM_ALIGNMENT - 1) / PROGRAM_ALIGNMENT *
                  PROGRAM_ALIGNMENT;
        if (*bytes > (size_t)LAUNCH_MOST_BYTES)
            return context_refuse(j, "'%s': its temporary memory is out of range", p->name);
    }
    return true;
}

size_t layers_bytes(job *j, const program *p, const int64_t size[3]) {
    launch whole = {.empty = false};
    size_t bytes;
    memcpy(whole.size, size, sizeof whole.size);
    memcpy(whole.end, size, sizeof whole.end);
    layers_measure(j, p, &whole, &bytes);
    return bytes;
}

/* Moves the cell (0, 0, 0) of a grid by so many cells, in its own or another's memory. */
static void move(size_t element, launch_grid *g, const int64_t by[3]) {
    uint64_t cells = 0; /* modulo 2^64: the stride of an axis of one cell may be anything */
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        cells += (uint64_t)by[axis] * (uint64_t)g->stride[axis];
    g->data = (unsigned char *)((uintptr_t)g->data + (uintptr_t)(cells * element));
}

/* The layer, of which the first cell is at `first` of the view's grid. */
static void view_layer(const program *p, const launch *l, int layer, const int64_t first[3],
                       launch_grid *out) {
    int64_t extent[3];
    find_extents(p, l, layer, extent);
    *out = (launch_grid){.data = l->temporaries[layer].data,
                         .stride = {1, extent[0], extent[0] * extent[1]}};
    const int64_t back[3] = {-first[0], -first[1], -first[2]};
    move(program_layer_bytes(p), out, back);
}

void layers_seconds(const program *p, launch *l) {
    static const int64_t origin[3] = {0, 0, 0};
    for (int i = 0, layer = 0; i < p->array_count; i++)
        if (p->arrays[i].written && p->arrays[i].grid.previous >= 0)
            view_layer(p, l, layer++, origin, &l->second[i]);
}

/* Of ways: the caller's grid, and the layers that levels are left in. */
static void view_way(const program *p, const launch *l, layer_view *out) {
    memcpy(out->size, l->size, sizeof out->size);
    memcpy(out->begin, l->begin, sizeof out->begin);
    memcpy(out->end, l->end, sizeof out->end);
    memcpy(out->first, l->origin, sizeof out->first);
    memcpy(out->grids, l->grids, (size_t)p->array_count * sizeof *out->grids);
    out->count = p->array_count;
    for (int i = 0; i < p->array_count && p->grid.layer_count > 0; i++)
        if (p->arrays[i].written && p->arrays[i].grid.previous >= 0)
            out->grids[out->count++] = l->seconds ? l->second[i] : (launch_grid){.data = NULL};
}

void layers_view(const program *p, const launch *l, int which, layer_view *out) {
    if (p->grid.ways) {
        view_way(p, l, out);
        return;
    }
    static const program_layer none = {.name = ""};
    const bool first = which == 0,
               last = which + 1 == program_own_launches(p) || p->grid.layer_count == 0;
    const program_layer *in =
        first || p->grid.layer_count == 0 ? &none : &p->grid.layers[which - 1];
    const program_layer *to = last ? &none : &p->grid.layers[which];
    const bool within = in != &none;
    int64_t origin[3]; /* of the view, in the caller's grid */
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        origin[axis] = within ? l->begin[axis] - in->low[axis] : 0;
        out->first[axis] = l->origin[axis] + origin[axis];
        out->begin[axis] = l->begin[axis] - to->low[axis] - origin[axis];
        out->end[axis] = l->end[axis] + to->high[axis] - origin[axis];
        out->size[axis] = within ? l->end[axis] + in->high[axis] - origin[axis] : l->size[axis];
    }
    out->count = p->array_count + p->grid.layer_count;
    for (int i = 0; i < p->array_count; i++) {
        const bool touched = p->grid.layer_count == 0 || (p->arrays[i].written ? last : first);
        out->grids[i] = touched ? l->grids[i] : (launch_grid){.data = NULL};
        if (touched && within)
            move(program_grid_bytes(p, i), &out->grids[i], origin);
    }
    for (int i = 0; i < p->grid.layer_count; i++) {
        launch_grid *g = &out->grids[p->array_count + i];
        *g = (launch_grid){.data = NULL};
        if (i == which - 1)
            view_layer(p, l, i, (const int64_t[3]){0, 0, 0}, g);
        else if (i == which)
            view_layer(p, l, i, out->begin, g);
    }
}

void layers_view_call(const program *p, const launch *l, const program_call *c, layer_view *out) {
    static const int64_t origin[3] = {0, 0, 0};
    for (int axis = 0; axis < PROGRAM_AXES; axis++) { /* the box ends where the grid does, or before
                                                         cells of other parts */
        out->size[axis] = l->size[axis];
        out->first[axis] = l->origin[axis];
        const int64_t below = l->begin[axis] > 0 ? c->low[axis] : 0;
        const int64_t above = l->end[axis] < l->size[axis] ? c->high[axis] : 0;
        const int64_t end = l->end[axis] + above;
        out->begin[axis] = l->begin[axis] > below ? l->begin[axis] - below : 0;
        out->end[axis] = end < l->size[axis] ? end : l->size[axis];
    }
    out->count = p->grid.call_grids;
    for (int i = 0; i < out->count; i++) {
        out->grids[i] = (launch_grid){.data = NULL};
        if (i < c->count && c->grids[i] < p->array_count)
            out->grids[i] = l->grids[c->grids[i]];
        else if (i < c->count)
            view_layer(p, l, c->grids[i] - p->array_count, origin, &out->grids[i]);
    }
}
