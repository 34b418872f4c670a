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

/* A map of what bulk copies fetch, as the driver makes it. */
static void write_map(text *t, const program *program, const program_launch *l, int which,
                      const int *arrays) {
    static const char *const words[] = {"UINT16", "FLOAT32", "FLOAT64"};
    const program_map *m = &l->grid.maps[which];
    const size_t bytes = program_grid_bytes(program, m->grid); /* the same of all maps */
    const char *cell = bytes == program->element_bytes ? "sizeof(Real)" : "2";
    if (which == 0) {
        text_add(t, "//     cuuint64_t sizes[3] = {");
        for (int k = 0; k < AXES; k++)
            text_printf(t, "%s%s", k > 0 ? ", " : "",
                        l->grid.axes[k] < 0 ? "1" : extents[l->grid.axes[k]]);
        text_printf(t, "}, strides[2] = {%s * nx, %s * nx%s};\n", cell, cell,
                    l->grid.axes[2] == 2 ? " * ny" : "");
        text_add(t, "//     cuuint32_t steps[3] = {1, 1, 1};\n");
    }
    text_printf(
        t,
        "//     cuuint32_t box_%d[3] = {%d, %d, %d};\n"
        "//     cuTensorMapEncodeTiled((CUtensorMap *)&a.map[%d], "
        "CU_TENSOR_MAP_DATA_TYPE_%s, 3,\n"
        "//         array_%d, sizes, strides, box_%d, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,\n"
        "//         CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_L2_128B,\n"
        "//         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);\n",
        which, m->box[0], m->box[1], m->box[2], which, words[bytes / 4],
        arrays != NULL ? arrays[m->grid] : m->grid, which);
}

/* Whether the launch also writes the level before the newest one (base/program.h, "Ways"). */
static bool leaves_levels(const program *p, const program_launch *l) {
    return program_has_seconds(p) && l->grid.steps > 1;
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
    const int layers = leaves_levels(program, l) ? program->grid.layer_count : 0;
    for (int i = 0; i < program->array_count + layers; i++) {
        const bool array = i < program->array_count;
        text_printf(t, "//     a.grid[%d] = {array_%d, %s, %s}; // %s, %s\n", i,
                    arrays != NULL ? arrays[i] : i, l->grid.axes[1] == 1 ? "nx" : "0",
                    l->grid.axes[2] == 2   ? "nx * ny"
                    : l->grid.axes[2] == 1 ? "nx"
                                           : "0",
                    array ? program->arrays[i].name
                          : program->grid.layers[i - program->array_count].name,
                    array && !program->arrays[i].written ? "read" : "written");
    }
    for (int i = 0; i < program->parameter_count; i++)
        text_printf(t, "%sa.parameter[%d] = %s%s", i % 4 == 0 ? "//     " : " ", i,
                    program->parameters[i].name,
                    i + 1 == program->parameter_count ? ";\n"
                    : i % 4 == 3                      ? ",\n"
                                                      : ",");
    for (int i = 0; i < l->grid.map_count; i++)
        write_map(t, program, l, i, arrays);
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

/* After a launch that leaves two levels. */
static void write_swaps(text *t, const program *p) {
    const char *before = "// For the next steps ";
    for (int i = 0, layer = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        if (a->grid.reads < 0)
            continue;
        text_printf(t, "%s%s and %s swap places", before, p->arrays[a->grid.reads].name, a->name);
        before = ", ";
        if (a->grid.previous >= 0)
            text_printf(t, ", %s and %s too", p->arrays[a->grid.previous].name,
                        p->grid.layers[layer++].name);
    }
    text_add(t, ".\n");
}

void source_write_launch_notes(text *t, const program *program, const program_launch *l) {
    text_add(t, "// CUDA takes at most 65535 blocks along y and along z.\n");
    if (leaves_levels(program, l))
        write_swaps(t, program);
    else
        source_write_rotation(t, program);
    source_write_pack_note(t, l);
}
