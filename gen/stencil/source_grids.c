/* The grids of plan.h: what their cells are, and the arguments that hold them.
   Takes: a model and a program's arrays. Makes: text. */
#include "gen/stencil/source.h"

const char *source_grid_name(const program *p, int grid) {
    if (grid >= p->array_count + p->grid.layer_count)
        return "exchange";
    return grid < p->array_count ? p->arrays[grid].name
                                 : p->grid.layers[grid - p->array_count].name;
}

/* What the cells of a grid of the arguments are. The words that blocks exchange are no cells, and
   never make grids mixed. */
static dtype cells_of(const model *m, const program *p, int grid) {
    if (grid >= p->array_count + p->grid.layer_count)
        grid = 0;
    return grid < p->array_count ? dtype_find(p->arrays[grid].dtype) : m->dtype;
}

const char *source_cell_name(const model *m, const program *p, int grid) {
    const dtype cells = cells_of(m, p, grid);
    return dtype_is_narrow(cells) ? dtype_words[cells].c_name : "Real";
}

bool source_is_mixed(const model *m, const program *p) {
    bool some = false;
    for (int i = 1; i < program_grid_count(p); i++)
        some |= cells_of(m, p, i) != cells_of(m, p, 0);
    return some;
}

void source_write_narrow(text *t, const model *m, const program *p) {
    bool some[DTYPE_COUNT] = {false};
    for (int i = 0; i < p->array_count; i++)
        some[cells_of(m, p, i)] = true;
    if (!some[DTYPE_HALF] && !some[DTYPE_BFLOAT16])
        return;
    text_add(t, some[DTYPE_HALF] ? "#include \"arch/half.cuh\"\n" : "");
    text_add(t, some[DTYPE_BFLOAT16] ? "#include \"arch/bfloat16.cuh\"\n" : "");
    text_add(t, "#define PLAN_NARROW 1 // cells are converted when they are loaded and stored\n");
    if (source_is_mixed(m, p))
        text_add(t, "#define PLAN_MIXED 1 // and not all are alike\n");
    else
        text_printf(t, "#define PLAN_CELL %s\n", source_cell_name(m, p, 0));
}

/* The struct of a grid with such cells. */
static void write_grid(text *t, const char *name, const char *cell) {
    text_printf(t,
                "%s {\n    %s *data; // cell (0, 0, 0)\n"
                "    long long stride_y, stride_z; // in elements; cells of a row are neighbours\n"
                "};\n",
                name, cell);
}

/* Grids whose cells are not all alike: their number is a type, which says what the cells are. */
static void write_mixed_grids(text *t, const model *m, const program *p) {
    const int grids = program_grid_count(p);
    write_grid(t, "template <class Cell> struct GridWith", "Cell");
    text_add(t, "// The number of a grid of the arguments, and what its cells are.\n"
                "template <int grid> struct At;\n");
    for (int i = 0; i < grids; i++)
        text_printf(t,
                    "template <> struct At<%d> { // %s\n    using Cell = %s;\n"
                    "    __device__ constexpr operator int() const {\n        return %d;\n    }\n"
                    "};\n",
                    i, source_grid_name(p, i), source_cell_name(m, p, i), i);
    text_add(t, "struct Grids {\n");
    for (int i = 0; i < grids; i++)
        text_printf(t, "    GridWith<%s> grid_%d; // %s\n", source_cell_name(m, p, i), i,
                    source_grid_name(p, i));
    for (int i = 0; i < grids; i++)
        text_printf(
            t,
            "    __device__ __forceinline__ const GridWith<%s> &operator[](At<%d>) const {\n"
            "        return grid_%d;\n    }\n",
            source_cell_name(m, p, i), i, i);
    text_add(t, "};\n");
}

/* The members of the arguments. */
static void write_members(text *t, const model *m, const char *grids, int maps, size_t bytes) {
    text_add(t, "struct Arguments {\n"
                "    long long size[3], begin[3], end[3]; // the grid, and the box to update\n"
                "    int inner_first[3], inner_end[3]; // the blocks that no edge concerns\n"
                "    int aligned; // whether every row starts at a multiple of a pack\n"
                "    int steps; // of time that this launch makes\n");
    text_printf(t, "    %s\n", grids);
    text_printf(t, "    Real parameter[%d];", m->parameter_count > 0 ? m->parameter_count : 1);
    for (int i = 0; i < m->parameter_count; i++)
        text_printf(t, "%s %s", i > 0 ? "," : " //", m->parameters[i].name);
    if (m->positions != 0)
        text_add(t, "\n    long long origin[3], global[3]; // of cell (0, 0, 0) in the whole grid, "
                    "and its sizes\n"
                    "    long long step; // the first that this launch makes");
    if (maps > 0)
        text_printf(t, "\n    TensorMap map[%d]; // of what bulk copies bring", maps);
    text_printf(t,
                "\n};\nstatic_assert(sizeof(Arguments) == %zu, \"the host packs %zu bytes\");\n\n",
                bytes, bytes);
}

void source_write_arguments_of(text *t, const model *m, int grids, const char *about, int maps,
                               size_t bytes) {
    text_printf(t, "using Real = %s;\n\n", dtype_words[m->dtype].c_name);
    const dtype cells = model_storage(m, 0); /* of all fields of a system */
    write_grid(t, "struct Grid", dtype_is_narrow(cells) ? dtype_words[cells].c_name : "Real");
    write_members(t, m, job_print(t->job, "Grid grid[%d]; // %s", grids, about), maps, bytes);
}

void source_write_arguments(text *t, const model *m, const program *program) {
    const int grids = program_grid_count(program);
    const bool mixed = source_is_mixed(m, program);
    text names = text_new(t->job);
    for (int i = 0; i < grids; i++)
        text_printf(&names, "%s%s", i > 0 ? ", " : "", source_grid_name(program, i));
    text_printf(t, "using Real = %s;\n\n", dtype_words[m->dtype].c_name);
    if (mixed)
        write_mixed_grids(t, m, program);
    else
        write_grid(t, "struct Grid", source_cell_name(m, program, 0));
    const char *array = mixed ? "Grids grid;" : job_print(t->job, "Grid grid[%d];", grids);
    write_members(t, m, job_print(t->job, "%s // %s", array, names.data), program->grid.map_count,
                  program->arguments_bytes);
}
