/* How to launch a kernel from a file of one's own, for the head of its file: one launch, the ways
   of a plan with several steps, the passes of a filter. Takes: its program. Makes: comments. */
#include "gen/stencil/method.h"
#include "gen/stencil/source.h"

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
        text_add(t, "//     // <cuda.h> has these maps, and -lcuda the function that makes them\n"
                    "//     cuuint64_t sizes[3] = {");
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

/* What a launch with a spare asks of a grid. */
static void write_needs(text *t, int vector, bool length) {
    if (vector > 1)
        text_printf(
            t, "// It is for rows of packs: nx and all addresses are multiples of %d elements%s.\n",
            vector, length ? ", and no axis is shorter than the shape" : "");
    else if (length)
        text_add(t, "// It is for grids of which no axis is shorter than the shape.\n");
}

void source_write_pack_note(text *t, const program_launch *l) {
    if (l->grid.spare > 0)
        write_needs(t, l->grid.vector, l->grid.needs.width > 0);
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

/* ---- several steps a launch ------------------------------------------------------------------ */

/* One kernel makes several steps a launch, and one makes single steps. */

/* The next fewer steps after `steps` that a launch of the same kernel may make; 1: none. */
static int fewer_steps(const plan *p, int steps) {
    return p->form->fewer != NULL ? p->form->fewer(p, steps) : 1;
}

int source_count_ways(const plan *p) {
    int count = 1;
    for (int steps = p->schedule.time; steps > 1; steps = fewer_steps(p, steps))
        count++;
    return count;
}

void source_describe_ways(job *j, const plan *p, program *out) {
    out->grid.ways = true;
    int steps = p->schedule.time;
    for (int i = 0; i < out->launch_count; i++) {
        program_launch *l = &out->launches[i];
        const bool last = i + 1 == out->launch_count;
        source_describe_launch(last ? p->single : p, out, l);
        l->entry = job_print(j, last ? "%s_step" : "%s_kernel", out->name);
        if (last)
            break;
        l->grid.steps = steps;
        l->grid.cooperative = p->form->cooperative;
        for (int k = 0; k < AXES; k++)
            l->grid.least[k] = p->least[k];
        if (p->form->shorten != NULL)
            p->form->shorten(p, l);
        steps = fewer_steps(p, steps);
    }
}

/* ---- how to launch them, as comments --------------------------------------------------------- */

static void write_limits(text *t, const program_launch *l) {
    for (int k = 0; k < AXES; k++)
        if (l->grid.axes[k] >= 0 && l->grid.least[k] > 1)
            text_printf(t, "// It needs %s >= %lld.\n", extents[l->grid.axes[k]],
                        (long long)l->grid.least[k]);
}

void source_write_way_notes(text *t, const plan *of, const program *p) {
    const program_launch *first = &p->launches[0],
                         *last = &p->launches[program_own_launches(p) - 1];
    text_printf(t, "// %s makes %d time steps of a whole grid in one launch", first->entry,
                first->grid.steps);
    const char *before = "; with fewer threads along z:";
    if (program_own_launches(p) > 2 && first->block[2] == p->launches[1].block[2])
        before = "; also, as a.steps says:";
    for (int i = 1; i + 1 < program_own_launches(p); i++) {
        text_printf(t, "%s %d", before, p->launches[i].grid.steps);
        if (first->block[2] != p->launches[i].block[2])
            text_printf(t, " (%d)", p->launches[i].block[2]);
        before = ",";
    }
    text_printf(t, ".\n// %s makes one, of any box.\n", last->entry);
    write_limits(t, first);
    source_write_launch_example(t, of->facts->model, p, first, of->form->one_way);
    source_write_launch_notes(t, p, first);
    text_add(t, "//\n");
    source_write_launch_example(t, of->facts->model, p, last, of->single->form->one_way);
    source_write_launch_notes(t, p, last);
}

/* ---- filters in passes ----------------------------------------------------------------------- */

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
