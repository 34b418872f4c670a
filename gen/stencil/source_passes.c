/* How to launch a filter in passes, for the head of its file. Takes: its program. Makes: comments.
 */
#include "gen/stencil/source_internal.h"

static const char *const extents[] = {"nx", "ny", "nz"};

/* "ny + 14" */
static const char *longer(job *j, const char *extent, int by) {
    return by == 0 ? extent : job_print(j, "%s + %d", extent, by);
}

/* How far the update of a pass reaches beyond the image, below and above. */
static const program_layer *grown(const program *p, int pass) {
    static const program_layer none = {.name = ""};
    return pass >= 0 && pass < p->grid.layer_count ? &p->grid.layers[pass] : &none;
}

static void write_axis(text *t, const program *p, int pass, int k) {
    const program_launch *l = &p->launches[pass];
    const int axis = l->grid.axes[k];
    if (axis < 0) {
        text_printf(t, "//     a.size[%d] = a.end[%d] = 1;\n", k, k);
        return;
    }
    const program_layer *in = grown(p, pass - 1), *out = grown(p, pass);
    const char *n = extents[axis];
    text_printf(t, "//     a.size[%d] = %s; a.begin[%d] = %d; a.end[%d] = %s;\n", k,
                longer(t->job, n, in->low[axis] + in->high[axis]), k,
                in->low[axis] - out->low[axis], k,
                longer(t->job, n, in->low[axis] + out->high[axis]));
}

/* An array or a layer as the pass sees it: strides, and what lies before its cell (0, 0, 0). */
static void write_grid(text *t, const model *m, const program *p, int pass, int grid) {
    const program_launch *l = &p->launches[pass];
    const program_layer *in = grown(p, pass - 1);
    const bool array = grid < p->array_count;
    const program_layer *own = array ? grown(p, -1) : &p->grid.layers[grid - p->array_count];
    const char *x = longer(t->job, "nx", own->low[0] + own->high[0]);
    const char *y = longer(t->job, "ny", own->low[1] + own->high[1]);
    const char *row = job_print(t->job, "(%s)", x), *plane = job_print(t->job, "(%s) * (%s)", x, y);
    text shift = text_new(t->job);
    for (int axis = 0; axis < m->dims; axis++)
        if (own->low[axis] != in->low[axis])
            text_printf(&shift, " %c %d%s%s", own->low[axis] > in->low[axis] ? '+' : '-',
                        own->low[axis] > in->low[axis] ? own->low[axis] - in->low[axis]
                                                       : in->low[axis] - own->low[axis],
                        axis > 0 ? " * " : "",
                        axis == 0   ? ""
                        : axis == 1 ? row
                                    : plane);
    text_printf(t, "//     a.grid[%d] = {%s%s, %s, %s};\n", grid,
                array ? p->arrays[grid].name : p->grid.layers[grid - p->array_count].name,
                shift.data, l->grid.axes[1] == 1 ? row : "0",
                l->grid.axes[2] == 2   ? plane
                : l->grid.axes[2] == 1 ? row
                                       : "0");
}

static void write_pass(text *t, const model *m, const program *p, int pass) {
    const program_launch *l = &p->launches[pass];
    const bool first = pass == 0, last = pass + 1 == program_own_launches(p);
    text_printf(t, "//     // pass %d\n", pass + 1);
    for (int k = 0; k < AXES; k++)
        write_axis(t, p, pass, k);
    for (int i = 0; i < p->array_count; i++)
        if (p->arrays[i].written ? last : first)
            write_grid(t, m, p, pass, i);
    for (int i = 0; i < p->grid.layer_count; i++)
        if (i == pass || i == pass - 1)
            write_grid(t, m, p, pass, p->array_count + i);
    if (l->shared_bytes > 48 * 1024)
        text_printf(t,
                    "//     cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, "
                    "%zu);\n",
                    l->entry, l->shared_bytes);
    text_printf(t, "//     %s<<<dim3(", l->entry);
    for (int k = 0; k < AXES; k++)
        text_printf(t, "%s(a.end[%d] - a.begin[%d] + %d) / %d", k > 0 ? ", " : "", k, k,
                    l->per_block[k] - 1, l->per_block[k]);
    text_printf(t, "), dim3(%d, %d, %d), %zu>>>(a);\n", l->block[0], l->block[1], l->block[2],
                l->shared_bytes);
}

void source_write_pass_notes(text *t, const model *m, const program *p) {
    text_add(t, "// To launch it from a file that nvcc compiles and that includes this one, for "
                "dense arrays of\n// shape (");
    for (int axis = m->dims - 1; axis >= 0; axis--)
        text_printf(t, "%s%s", extents[axis], axis > 0 ? ", " : "");
    text_add(t, ") in device memory, and between the passes");
    for (int i = 0; i < p->grid.layer_count; i++) {
        const program_layer *own = &p->grid.layers[i];
        text_printf(t, "%s\n// %s of shape (", i > 0 ? " and" : "", own->name);
        for (int axis = m->dims - 1; axis >= 0; axis--)
            text_printf(t, "%s%s", longer(t->job, extents[axis], own->low[axis] + own->high[axis]),
                        axis > 0 ? ", " : "");
        text_add(t, ")");
    }
    text_add(t, ":\n//     Arguments a = {}; // inner_first and inner_end would make it faster\n");
    for (int pass = 0; pass < program_own_launches(p); pass++)
        write_pass(t, m, p, pass);
    text_add(t, "// CUDA takes at most 65535 blocks along y and along z.\n");
}
