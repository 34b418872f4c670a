/* The generated plan.h: what a template must know, as C++ constants and functions.
   Takes: a model, a plan and where its grids stand. Makes: text. */
#include "gen/stencil/method.h"
#include "gen/stencil/source.h"

#include <string.h>

static const char *truth(bool is) {
    return is ? "true" : "false";
}

/* never reached: nothing reaches there */
static const model_side nothing = {.kind = BOUNDARY_CLAMP};

static const model_side *side_of(const model *m, const plan *p, int k, int side) {
    return p->axes[k] < 0 ? &nothing : &m->sides[p->axes[k]][side];
}

/* What reads of one of the kernel's arrays find there. */
static const model_side *side_of_array(const model *m, const plan *p, int array, int k, int side) {
    const int field = m->arrays[p->arrays[array].array].field;
    return p->axes[k] < 0 ? &nothing : model_side_of(m, field, p->axes[k], side);
}

/* Whether arrays have rules of their own, or arguments the values beyond a side. */
static bool has_own_edges(const model *m) {
    return model_has_own_sides(m) || model_has_given_sides(m);
}

/* Which rules a side has. Bit: the kind. */
static unsigned kinds_of(const model *m, const plan *p, int k, int side) {
    unsigned kinds = 1u << side_of(m, p, k, side)->kind;
    for (int i = 0; i < p->array_count && has_own_edges(m); i++)
        kinds |= 1u << side_of_array(m, p, i, k, side)->kind;
    return kinds;
}

static void write_boundary_facts(text *t, const model *m, const plan *p) {
    bool all_fixed = true, wraps = false, gives_values = false;
    for (int k = 0; k < AXES; k++)
        for (int side = 0; side < 2; side++) {
            const unsigned kinds = kinds_of(m, p, k, side);
            const int reach = side == 0 ? p->low[k] : p->high[k];
            all_fixed &= reach == 0 || (kinds & 1u << BOUNDARY_FIXED) != 0;
            wraps |= (kinds & (1u << BOUNDARY_MIRROR | 1u << BOUNDARY_PERIODIC)) != 0;
            gives_values |= (kinds & (1u << BOUNDARY_ZERO | 1u << BOUNDARY_CONSTANT)) != 0;
        }
    text_printf(
        t,
        "    static constexpr bool all_fixed = %s; // every side that the shape reaches over\n"
        "    static constexpr bool wraps = %s, gives_values = %s; // some side\n",
        truth(all_fixed), truth(wraps), truth(gives_values));
}

/* Which rules the boundary has, for the preprocessor. */
static void write_rules(text *t, const model *m, const plan *p) {
    bool has[BOUNDARY_COUNT] = {false}, keeps = false;
    for (int k = 0; k < AXES; k++)
        for (int side = 0; side < 2 && p->axes[k] >= 0; side++) {
            const unsigned kinds = kinds_of(m, p, k, side);
            for (int kind = 0; kind < BOUNDARY_COUNT; kind++)
                has[kind] |= (kinds >> kind & 1) != 0;
            keeps |=
                (kinds & 1u << BOUNDARY_FIXED) != 0 && (side == 0 ? p->low[k] : p->high[k]) > 0;
        }
    text_printf(t, "#define PLAN_KEEPS %d // a side that the shape reaches over is fixed\n", keeps);
    text_printf(t,
                "#define PLAN_GIVES %d\n#define PLAN_CLAMPS %d\n#define PLAN_MIRRORS %d\n"
                "#define PLAN_WRAPS %d\n",
                has[BOUNDARY_ZERO] || has[BOUNDARY_CONSTANT],
                has[BOUNDARY_FIXED] || has[BOUNDARY_CLAMP], has[BOUNDARY_MIRROR],
                has[BOUNDARY_PERIODIC]);
    text_printf(t, "#define PLAN_HAS_Y %d\n#define PLAN_HAS_Z %d\n", p->axes[1] >= 0,
                p->axes[2] >= 0);
}

static void write_constants(text *t, const model *m, const plan *p, bool packs) {
    text_add(t, "struct plan {\n");
    plan_write_triple(t, "tile", p->tile);
    plan_write_triple(t, "threads", p->block);
    text_printf(t, "    static constexpr int threads = threads_x * threads_y * threads_z;\n");
    text_printf(
        t, "    static constexpr int blocks = %d; // to leave registers for, a multiprocessor\n",
        p->blocks);
    text_printf(t, "    static constexpr int arrays = %d, outputs = %d;\n", p->array_count,
                m->output_count);
    write_boundary_facts(t, m, p);
    plan_write_triple(t, "low", p->low); /* how far the shape reaches below and above its point */
    plan_write_triple(t, "high", p->high);
    if (plan_has_packs(p))
        text_printf(t,
                    "    static constexpr bool packs = %s; // rows are loaded and stored as packs\n"
                    "    static constexpr int vector = %d;\n",
                    truth(packs), p->schedule.vector);
    if (p->form->constants != NULL)
        p->form->constants(t, p);
    text_add(t, "};\n\n");
}

/* Of the functions of templates/numbers.cuh, updates call those of two numbers alone. */
static bool asks_for_numbers(job *j, const model *m) {
    expr_id roots[MAX_FIELDS];
    for (int o = 0; o < m->output_count; o++)
        roots[o] = m->outputs[o].value;
    const bool *live = expr_live(m->pool, j, roots, m->output_count);
    for (int i = 0; i < m->pool->count; i++) {
        const expr_op op = expr_get(m->pool, i)->op;
        if (live[i] && (op == EXPR_MIN || op == EXPR_MAX))
            return true;
    }
    return false;
}

/* How far an array is read, and where its box lies in shared memory. */
static void write_reach(text *t, const plan *p, const plan_array *a) {
    text_printf(t,
                "    static constexpr int low_x = %d, high_x = %d, low_y = %d, high_y = %d, "
                "low_z = %d, high_z = %d;\n",
                a->low[0], a->high[0], a->low[1], a->high[1], a->low[2], a->high[2]);
    if (p->form->staged || p->form->places)
        text_printf(t,
                    "    static constexpr bool staged = %s; // in shared memory ...\n"
                    "    static constexpr int shared = %d;     // ... from this element on\n",
                    truth(a->staged), a->shared);
}

/* The grid that an output is written to, and that of its current values or -1. */
static int written_to(const model *m, const plan *p, int output) {
    return p->is_pass ? p->to : source_write_grid(m, m->outputs[output].field);
}

static int current_of(const model *m, const plan *p, const program *program, int output) {
    const int grid = written_to(m, p, output);
    return grid < program->array_count ? program->arrays[grid].grid.reads : -1;
}

static void write_arrays(text *t, const model *m, const plan *p, const program *program) {
    const bool mixed = source_is_mixed(m, program);
    if (mixed) /* here, because it names members of this kernel's structs */
        text_add(t, "template <class Of> using Stored = typename Of::Cell;\n"
                    "template <class Of> using GridOf = GridWith<typename Of::Cell>;\n");
    text_add(t, "// The arrays that taps read.\ntemplate <int array> struct Array;\n");
    for (int i = 0; i < p->array_count; i++) {
        const plan_array *a = &p->arrays[i];
        const int grid = p->is_pass ? p->from : source_read_grid(m, a->array);
        const char *name = source_grid_name(program, grid);
        if (mixed) {
            text_printf(t, "template <> struct Array<%d> { // %s\n", i, name);
            text_printf(t, "    static constexpr At<%d> grid = {};\n    using Cell = %s;\n", grid,
                        source_cell_name(m, program, grid));
            if (!p->form->plain)
                write_reach(t, p, a);
            text_add(t, "};\n");
            continue;
        }
        if (p->form->plain) {
            text_printf(t,
                        "template <> struct Array<%d> { static constexpr int grid = %d; }; // %s\n",
                        i, grid, name);
            continue;
        }
        text_printf(t, "template <> struct Array<%d> { // %s\n", i, name);
        text_printf(t, "    static constexpr int grid = %d;\n", grid);
        write_reach(t, p, a);
        text_add(t, "};\n");
    }
    text_add(t, "template <int output> struct Output;\n");
    for (int o = 0; o < m->output_count; o++) {
        const int grid = written_to(m, p, o), current = current_of(m, p, program, o);
        if (mixed) {
            text_printf(t,
                        "template <> struct Output<%d> { // %s\n"
                        "    static constexpr At<%d> grid = {};\n"
                        "    static constexpr %s current = %s;\n    using Cell = %s;\n};\n",
                        o, source_grid_name(program, grid), grid,
                        current < 0 ? "int" : job_print(t->job, "At<%d>", current),
                        current < 0 ? "-1" : "{}", source_cell_name(m, program, grid));
            continue;
        }
        text_printf(
            t,
            "template <> struct Output<%d> { static constexpr int grid = %d, current = %d; }; "
            "// %s\n",
            o, grid, current, source_grid_name(program, grid));
    }
    text_add(t, "\n");
}

/* The value beyond a side, as the body of Side::beyond. */
static void write_beyond(text *t, const model *m, const model_side *s, const char *arguments) {
    text_printf(t, "\n    static __device__ __forceinline__ Real beyond(%s) {\n        return ",
                s->parameter != NULL   ? "const Arguments &a"
                : arguments[0] != '\0' ? "const Arguments &"
                                       : "");
    if (s->parameter != NULL)
        text_printf(t, "a.parameter[%d]", model_parameter_named(m, s->parameter));
    else
        emit_constant(t, m->dtype, s->value);
    text_add(t, ";\n    }\n");
}

static void write_edge(text *t, const model *m, const model_side *s, const char *arguments) {
    text_printf(t, " : Side<Boundary::%s> {", boundary_words[s->kind].name);
    if (s->kind == BOUNDARY_CONSTANT)
        write_beyond(t, m, s, arguments);
    text_add(t, "};\n");
}

/* The rules of arrays that have not those of the grid. */
static void write_own_edges(text *t, const model *m, const plan *p) {
    for (int i = 0; i < p->array_count; i++)
        for (int k = 0; k < AXES; k++)
            for (int side = 0; side < 2; side++) {
                const model_side *own = side_of_array(m, p, i, k, side);
                if (model_same_side(own, side_of(m, p, k, side)))
                    continue;
                text_printf(t, "template <> struct Edge<%d, %d, %d>", k, side, i);
                write_edge(t, m, own, "a");
            }
}

static void write_boundaries(text *t, const model *m, const plan *p) {
    const bool own = has_own_edges(m);
    text_add(t, "enum class Boundary {");
    for (int b = 0; b < BOUNDARY_COUNT; b++)
        text_printf(t, "%s%s", b > 0 ? ", " : " ", boundary_words[b].name);
    text_printf(t,
                " };\n"
                "template <Boundary rule> struct Side {\n"
                "    static constexpr Boundary kind = rule;\n"
                "    static __device__ __forceinline__ Real beyond(%s) {\n"
                "        return 0;\n    }\n};\n"
                "// Below (0) and above (1) the grid along each of the kernel's axes.\n",
                own ? "const Arguments &" : "");
    text_add(t, own ? "// For reads of an array; without one, for what is written.\n"
                      "template <int axis, int side, int array = -1> struct Edge : Edge<axis, "
                      "side> {};\n"
                    : "template <int axis, int side> struct Edge;\n");
    for (int k = 0; k < AXES; k++)
        for (int side = 0; side < 2; side++) {
            text_printf(t, "template <> struct Edge<%d, %d>", k, side);
            write_edge(t, m, side_of(m, p, k, side), own ? "a" : "");
        }
    if (own)
        write_own_edges(t, m, p);
    text_add(t, "\n");
}

/* Ghost cells beyond a periodic side stand for the cells that they repeat. */
static void write_wrapped(text *t, const model *m) {
    bool wraps = false;
    for (int axis = 0; axis < m->dims; axis++)
        wraps |= (m->positions >> axis & 1) != 0 && m->sides[axis][0].kind == BOUNDARY_PERIODIC;
    bool moved = m->chain != NULL;
    for (int i = 0; i < m->pool->count; i++)
        moved |= expr_get(m->pool, i)->op == EXPR_POSITION && expr_get(m->pool, i)->d[0] != 0;
    if (wraps)
        text_printf(t,
                    "// The cell that a%s cell beyond a periodic side repeats.\n"
                    "__device__ __forceinline__ long long wrapped(long long i, long long size) {\n"
                    "%s}\n",
                    moved ? "" : " ghost",
                    moved ? "    while (i < 0)\n        i += size;\n    while (i >= size)\n"
                            "        i -= size;\n    return i;\n"
                          : "    return i < 0 ? i + size : i >= size ? i - size : i;\n");
}

/* What a kernel calls for a point whose place it has not looked at. */
static void write_asking(text *t, const model *m) {
    text_printf(t,
                "template <class At>\n__device__ __forceinline__ void update_point(const At &at, "
                "const Arguments &arguments, Real (&out)[%d]) {\n"
                "    const bool interior = ",
                m->output_count);
    for (int axis = 0; axis < AXES; axis++)
        text_printf(t, "%sinterior_along<%d>(arguments, at.template index<%d>())%s",
                    axis > 0 ? "        " : "", axis, axis, axis < AXES - 1 ? " &&\n" : ";\n");
    text_add(
        t,
        "    if (interior)\n        update_placed(at, arguments, true, Places(), out);\n    else\n"
        "        update_placed(at, arguments, false, find_places(at, arguments), out);\n}\n");
}

static void write_update(text *t, const model *m, const plan_facts *f, const emitter *e) {
    const char *targets[MAX_FIELDS];
    for (int o = 0; o < m->output_count; o++)
        targets[o] = job_print(t->job, "out[%d] =", o);
    emitter all = *e;
    all.interior = interior_find(t->job, m, f->roots, m->output_count);
    if (all.interior != NULL) {
        text_add(
            t,
            "#define PLAN_INTERIOR 1 // kernels may ask once for several points where they lie\n");
        if (!f->two_ways)
            text_add(t, "#define PLAN_JOINED 1 // all that depends on the place is selected, and "
                        "cheap to use\n");
        emit_places(t, e, all.interior);
    }
    text_printf(
        t,
        "// One point; taps come from `at`.\ntemplate <class At>\n__device__ __forceinline__ "
        "void %s(const At &at, const Arguments &arguments,%s Real (&out)[%d]) {\n",
        all.interior != NULL ? "update_placed" : "update_point",
        all.interior != NULL ? " bool interior, const Places &places," : "", m->output_count);
    emit_statements(t, &all, f->roots, targets, m->output_count);
    text_add(t, "}\n");
    if (all.interior != NULL)
        write_asking(t, m);
}

/* Whether an output has no current values elsewhere: what a boundary keeps stays where it is. */
static bool has_only_written(const model *m, const plan *p, const program *program) {
    bool some = false;
    for (int o = 0; o < m->output_count; o++)
        some |= current_of(m, p, program, o) < 0;
    return some;
}

void source_write_kernel(text *t, const plan *p, const program *program, int which, bool of_several,
                         bool packs) {
    const plan_facts *f = p->facts;
    const model *m = f->model;
    const bool quick = p->form->quick != NULL && p->form->quick(p, packs);
    const emitter e = {.model = m,
                       .axes = p->axes,
                       .kernel_arrays = p->kernel_array,
                       .steps = plan_method(p)->fused,
                       .quick = packs && quick}; /* a spare also makes points by themselves */
    if (asks_for_numbers(t->job, m))
        text_add(t, "#include \"numbers.cuh\"\n\n");
    text_printf(t, "#define STENCIL_KERNEL %s\n", program->launches[which].entry);
    if (plan_has_packs(p))
        text_printf(t, "#define PLAN_PACKS %d // as plan::packs, for the preprocessor\n", packs);
    if (program->launches[which].early)
        text_add(t,
                 "#define PLAN_AWAITS 1 // the launch may begin before the one ahead has ended\n");
    if (p->form->quick != NULL)
        text_printf(
            t, "#define PLAN_QUICK %d // quotients and roots of several points ask one question\n",
            quick);
    if (p->form->macros != NULL)
        p->form->macros(t, p, packs, has_only_written(m, p, program));
    write_rules(t, m, p);
    if (m->positions != 0)
        text_add(t, "#define PLAN_POSITIONS 1 // the update asks where its point lies\n");
    if (has_own_edges(m))
        text_add(t, "#define PLAN_OWN_EDGES 1 // arrays have boundaries of their own, or arguments "
                    "their values\n");
    source_write_narrow(t, m, program);
    if (program->grid.map_count > 0)
        text_add(t, "#include \"arch/bulk.cuh\"\n");
    text_add(t, "\n");
    write_constants(t, m, p, packs);
    if (!of_several)
        source_write_arguments(t, m, program);
    write_arrays(t, m, p, program);
    write_boundaries(t, m, p);
    write_wrapped(t, m);
    if (p->form->definitions != NULL)
        p->form->definitions(t, p);
    const bool finishes = p->form->scales && f->scaled != NULL && m->positions != 0;
    if (p->form->points && !finishes) /* source_sums.c asks for places instead */
        write_update(t, m, f, &e);
    if (p->streamed.carries) {
        emitter of_steps = e;
        of_steps.quick = quick;
        carried_write(t, f->carried, &of_steps, packs);
    }
    if (p->form->sums)
        source_write_sums(t, m, p, &e);
    if (p->form->constant)
        source_write_runs(t, m, p, &e);
}
