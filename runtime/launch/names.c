/* Arrays and parameters of a launch by name. Takes: the caller's arguments. Makes: the same in the
   kernel's order. Nothing is allocated unless a name is refused. */
#include <string.h>

#include "base/text.h"
#include "runtime/launch/launch.h"

/* What a kernel has by name. */
typedef struct named {
    const char *kind; /* "array" */
    int count;
    const char *(*name)(const program *, int index);
} named;

static const char *array_name(const program *p, int index) {
    return p->arrays[index].name;
}

static const char *parameter_name(const program *p, int index) {
    return p->parameters[index].name;
}

/* `wrong`: "is given twice". */
static bool refuse(job *j, const program *p, const named *n, const char *name, const char *wrong) {
    if (j == NULL)
        return false;
    text known = text_new(j);
    for (int i = 0; i < n->count; i++)
        text_printf(&known, "%s%s", i > 0 ? ", " : "", n->name(p, i));
    return context_refuse(j, "'%s': the %s '%s' %s; '%s' has %s", p->name, n->kind, name, wrong,
                          p->name, n->count > 0 ? known.data : "none");
}

/* Notes at places[i] that the caller's number `at` is the kernel's number i. */
static bool place(job *j, const program *p, const named *n, const char *name, int at, int *places) {
    if (name == NULL)
        return context_refuse(j, "'%s': %s %d of the call has no name", p->name, n->kind, at);
    for (int i = 0; i < n->count; i++)
        if (strcmp(n->name(p, i), name) == 0) {
            if (places[i] >= 0)
                return refuse(j, p, n, name, "is given twice");
            places[i] = at;
            return true;
        }
    return refuse(j, p, n, name, "is unknown");
}

/* The elements from a component to the next of an array that holds them all, one behind the other;
   −1 where the strides leave no such order, or are out of range. */
static int64_t component_step(const program *p, const sg_grid *g) {
    enum { MOST_BYTES = 256 }; /* of a cell, all components together */
    int64_t step = 1;
    for (int axis = 0; axis < p->dims; axis++) {
        const int64_t stride = g->stride[axis] != 0 ? g->stride[axis] : step, size = g->size[axis];
        if (size < 0 || stride < step ||
            (size > 0 && stride > LAUNCH_MOST_BYTES / MOST_BYTES / size))
            return -1;
        step = stride * size;
    }
    return step;
}

/* Spreads the caller's array number `at`, of all components of a field, over the kernel's arrays of
   each; *found says whether the kernel has them. */
static bool place_components(job *j, const program *p, const named *n, const sg_array *whole,
                             int at, launch_names *out, bool *found) {
    *found = false;
    for (int i = 0; i < p->array_count && whole->name != NULL; i++) {
        const int number = component_number(p->arrays[i].name, whole->name);
        if (number == 0)
            continue;
        *found = true;
        if (out->places[i] >= 0)
            return refuse(j, p, n, p->arrays[i].name, "is given twice");
        const int64_t step = component_step(p, &whole->grid);
        if (step < 0)
            return context_refuse(j,
                                  "'%s': '%s' has components: its strides must grow from axis to "
                                  "axis, and its extents be in range",
                                  p->name, whole->name);
        out->places[i] = at;
        out->grids[i] = whole->grid;
        if (whole->grid.data != NULL)
            out->grids[i].data = (unsigned char *)whole->grid.data +
                                 (size_t)((number - 1) * step) * p->arrays[i].element_bytes;
    }
    return true;
}

static bool place_arrays(job *j, const program *p, sg_arguments *a, launch_names *out) {
    const named n = {"array", p->array_count, array_name};
    if (a->grids != NULL || a->grid_count != 0)
        return context_refuse(j, "'%s': give grids or arrays, not both", p->name);
    memset(out->places, -1, sizeof out->places);
    for (int i = 0; i < a->array_count; i++) {
        bool found;
        if (!place_components(j, p, &n, &a->arrays[i], i, out, &found) ||
            (!found && !place(j, p, &n, a->arrays[i].name, i, out->places)))
            return false;
        for (int k = 0; k < p->array_count && !found; k++)
            if (out->places[k] == i)
                out->grids[k] = a->arrays[i].grid;
    }
    for (int i = 0; i < p->array_count; i++)
        if (out->places[i] < 0)
            return refuse(j, p, &n, p->arrays[i].name, "is missing");
    a->grids = out->grids;
    a->grid_count = p->array_count;
    return true;
}

static bool place_values(job *j, const program *p, sg_arguments *a, launch_names *out) {
    const named n = {"parameter", p->parameter_count, parameter_name};
    int places[LAUNCH_PARAMETERS];
    if (a->parameters != NULL)
        return context_refuse(j, "'%s': give parameters or values, not both", p->name);
    memset(places, -1, sizeof places);
    for (int i = 0; i < a->value_count; i++)
        if (!place(j, p, &n, a->values[i].name, i, places))
            return false;
    for (int i = 0; i < p->parameter_count; i++) {
        if (places[i] < 0 && !p->parameters[i].has_value)
            return refuse(j, p, &n, p->parameters[i].name, "has no value");
        out->parameters[i] = places[i] < 0 ? p->parameters[i].value : a->values[places[i]].value;
    }
    a->parameters = out->parameters;
    a->parameter_count = p->parameter_count;
    return true;
}

bool names_read(job *j, const program *p, sg_arguments *a, launch_names *out) {
    for (int i = 0; i < p->array_count; i++)
        out->places[i] = i;
    return (a->arrays == NULL || place_arrays(j, p, a, out)) &&
           (a->values == NULL || place_values(j, p, a, out));
}

void names_final(const program *p, const launch *l, const int *final, int *out) {
    for (int i = 0; i < p->array_count; i++)
        out[l->places[i]] = l->places[final[i]];
}
