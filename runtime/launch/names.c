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

static bool place_arrays(job *j, const program *p, sg_arguments *a, launch_names *out) {
    const named n = {"array", p->array_count, array_name};
    if (a->grids != NULL || a->grid_count != 0)
        return context_refuse(j, "'%s': give grids or arrays, not both", p->name);
    memset(out->places, -1, sizeof out->places);
    for (int i = 0; i < a->array_count; i++)
        if (!place(j, p, &n, a->arrays[i].name, i, out->places))
            return false;
    for (int i = 0; i < p->array_count; i++) {
        if (out->places[i] < 0)
            return refuse(j, p, &n, p->arrays[i].name, "is missing");
        out->grids[i] = a->arrays[out->places[i]].grid;
    }
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
