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
