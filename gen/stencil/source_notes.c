/* How to launch a kernel from a file of one's own, for the head of its file. Takes: its program.
   Makes: comments. */
#include "gen/stencil/source_internal.h"

static const char *const extents[] = {"nx", "ny", "nz"};

/* The blocks along an axis that no edge concerns; without this all take the slower way. */
static void write_inner_blocks(text *t, const program_launch *l, int k, const char *extent) {
    text_printf(t, ", a.inner_first[%d] = %d, a.inner_end[%d] = ", k,
                (l->grid.low[k] + l->per_block[k] - 1) / l->per_block[k], k);
    if (l->grid.high[k] == 0)
        text_add(t, extent);
    else
        text_printf(t, l->per_block[k] == 1 ? "%s - %d" : "(%s - %d)", extent, l->grid.high[k]);
    if (l->per_block[k] > 1)
        text_printf(t, " / %d", l->per_block[k]);
}

static void write_launch_call(text *t, const program_launch *l) {
    if (l->grid.steps > 1)
        text_printf(t, "//     a.steps = %d;\n", l->grid.steps);
    if (l->shared_bytes > 48 * 1024)
        text_printf(t,
                    "//     cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, "
                    "%zu);\n",
                    l->entry, l->shared_bytes);
    text_add(t, "//     dim3 blocks(");
    for (int k = 0; k < AXES; k++) {
        text_add(t, k > 0 ? ", " : "");
        if (l->grid.axes[k] < 0)
            text_add(t, "1");
        else if (l->per_block[k] == 1)
            text_add(t, extents[l->grid.axes[k]]);
        else
            text_printf(t, "(%s + %d) / %d", extents[l->grid.axes[k]], l->per_block[k] - 1,
                        l->per_block[k]);
    }
    text_printf(t, ");\n//     %s<<<blocks, dim3(%d, %d, %d), %zu>>>(a);\n", l->entry, l->block[0],
                l->block[1], l->block[2], l->shared_bytes);
}

void source_write_extents(text *t, int dims) {
    text_add(t, "(");
    for (int axis = dims - 1; axis >= 0; axis--)
        text_printf(t, "%s%s", extents[axis], axis > 0 ? ", " : "");
    text_add(t, ")");
}

void source_write_launch_of(text *t, const program *program, const program_launch *l, bool one_way,
                            const int *arrays) {
    for (int k = 0; k < AXES; k++) {
        const char *extent = l->grid.axes[k] < 0 ? "1" : extents[l->grid.axes[k]];
        text_printf(t, "//     a.size[%d] = a.end[%d] = %s", k, k, extent);
        if (program->grid.positions)
            text_printf(t, ", a.global[%d] = %s", k, extent);
        if (!one_way)
            write_inner_blocks(t, l, k, extent);
        text_add(t, ";\n");
    }
    for (int i = 0; i < program->array_count; i++) {
        const program_array *a = &program->arrays[i];
        text_printf(t, "//     a.grid[%d] = {array_%d, %s, %s}; // %s, %s\n", i,
                    arrays != NULL ? arrays[i] : i, l->grid.axes[1] == 1 ? "nx" : "0",
                    l->grid.axes[2] == 2   ? "nx * ny"
                    : l->grid.axes[2] == 1 ? "nx"
                                           : "0",
                    a->name, a->written ? "written" : "read");
    }
    for (int i = 0; i < program->parameter_count; i++)
        text_printf(t, "%sa.parameter[%d] = %s%s", i % 4 == 0 ? "//     " : " ", i,
                    program->parameters[i].name,
                    i + 1 == program->parameter_count ? ";\n"
                    : i % 4 == 3                      ? ",\n"
                                                      : ",");
    write_launch_call(t, l);
}

void source_write_launch_example(text *t, const model *m, const program *program,
                                 const program_launch *l, bool one_way) {
    text_add(t, "// To launch it from a file that nvcc compiles and that includes this one, for "
                "dense arrays of\n// shape ");
    source_write_extents(t, m->dims);
    text_add(t, " in device memory:\n//     Arguments a = {};\n");
    source_write_launch_of(t, program, l, one_way, NULL);
}

void source_write_rotation(text *t, const program *program) {
    const char *before = "// For the next step ";
    for (int i = 0; i < program->array_count; i++) {
        const program_array *a = &program->arrays[i];
        if (a->grid.reads < 0)
            continue;
        text_printf(t, "%s%s takes the place of %s", before, a->name,
                    program->arrays[a->grid.reads].name);
        if (a->grid.previous >= 0)
            text_printf(t, ", and that the place of %s", program->arrays[a->grid.previous].name);
        before = ", ";
    }
    text_add(t, before[0] == ',' ? ".\n" : "");
    if (program->grid.positions)
        text_add(t, "// a.origin is where the grid's first cell lies in the whole grid, a.step the "
                    "number of the step.\n");
}

void source_write_pack_note(text *t, const program_launch *l) {
    if (l->grid.spare > 0)
        text_printf(
            t, "// It is for rows of packs: nx and all addresses are multiples of %d elements%s.\n",
            l->grid.vector,
            l->grid.needs.width > 0 ? ", and no axis is shorter than the shape" : "");
    else if (l->grid.vector > 1)
        text_printf(
            t, "// Set a.aligned = 1 where nx and all addresses are multiples of %d elements.\n",
            l->grid.vector);
}

void source_write_launch_notes(text *t, const program *program, const program_launch *l) {
    text_add(t, "// CUDA takes at most 65535 blocks along y and along z.\n");
    source_write_rotation(t, program);
    source_write_pack_note(t, l);
}
