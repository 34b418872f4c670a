/* The table of methods, and what several of them share. */
#include "gen/stencil/method.h"

#include <string.h>

#define DECLARED(name) extern const method method_##name;
METHOD_TABLE(DECLARED)

static const method automatic = {.name = "auto",
                                 .summary = "the fastest of the others by the planner's model",
                                 .walk = method_walks_none};

#define ADDRESS(name) &method_##name,
const method *const methods[METHODS] = {&automatic, METHOD_TABLE(ADDRESS)};

int method_find(const char *name, size_t length) {
    for (int m = 0; m < METHODS; m++)
        if (strlen(methods[m]->name) == length && memcmp(methods[m]->name, name, length) == 0)
            return m;
    return -1;
}

int method_walks_none(int dims) {
    (void)dims;
    return -1;
}

int method_walks_last(int dims) {
    return dims - 1;
}

int fused_fewer_by_halves(const plan *p, int steps) {
    (void)p;
    return steps / 2 > 1 ? steps / 2 : 1;
}

int64_t fused_lay_boxes(plan *p) {
    const model *m = p->facts->model;
    int64_t box = 1, elements = 0;
    for (int k = 0; k < AXES; k++)
        box *= p->tile[k] + p->fused.round_halo[k] * (int64_t)2;
    for (int i = 0; i < p->array_count; i++) {
        plan_array *a = &p->arrays[i];
        a->staged = true;
        a->shared = elements < INT32_MAX ? (int)elements : 0;
        elements += box * (m->fields[m->arrays[a->array].field].use == USE_INOUT ? 2 : 1);
    }
    return elements;
}

const char *fused_refuse_sides(const model *m) {
    if (model_has_own_sides(m))
        return "the cells beyond an end are the same for all fields, and one has a boundary of its "
               "own";
    if (model_has_given_sides(m))
        return "the values of cells beyond a boundary are compiled in, and one is given at launch";
    return NULL;
}

const char *fused_refuse(const model *m) {
    bool read = false;
    if (fused_refuse_sides(m) != NULL)
        return fused_refuse_sides(m);
    for (int i = 0; i < m->field_count; i++)
        if (m->fields[i].levels > 1)
            return "it makes several steps of fields that keep no previous level";
    for (int o = 0; o < m->output_count; o++) {
        const int array = model_array_of(m, m->outputs[o].field, false);
        read |= array >= 0 && m->arrays[array].used;
    }
    return read ? NULL : "no field is both read and written, so there are no steps to make";
}

void plan_write_triple(text *t, const char *name, const int v[AXES]) {
    text_printf(t, "    static constexpr int %s_x = %d, %s_y = %d, %s_z = %d;\n", name, v[0], name,
                v[1], name, v[2]);
}

void plan_write_rows(text *t, const plan *p) {
    const plan_facts *f = p->facts;
    text_add(t, "// The rows of x that a point's taps read.\ntemplate <int row> struct Row;\n");
    for (int r = 0; r < f->row_count; r++)
        text_printf(
            t,
            "template <> struct Row<%d> { static constexpr int array = %d, dy = %d, dz = %d, "
            "low = %d, high = %d; };\n",
            r, p->kernel_array[f->rows[r].array], f->rows[r].dy, f->rows[r].dz, f->rows[r].low,
            f->rows[r].high);
    text_add(t, "\n");
}
