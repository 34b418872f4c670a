#include "gen/points/points.h"

#include "gen/source/emit.h"
#include "gen/source/file.h"

static void list_arrays(job *j, const model *m, program *p) {
    p->arrays = job_array(j, (size_t)(m->array_count + m->field_count), sizeof *p->arrays);
    for (int i = 0; i < m->array_count; i++) {
        const char *field = m->fields[m->arrays[i].field].name;
        p->arrays[p->array_count++].name =
            m->arrays[i].previous ? job_print(j, "%s.prev", field) : field;
    }
    for (int i = 0; i < m->field_count; i++)
        if (m->fields[i].use == USE_OUT)
            p->arrays[p->array_count++].name = m->fields[i].name;
}

static void add_launch(job *j, program *p, const char *what) {
    p->launches[p->launch_count++] = (program_launch){.entry = job_print(j, "%s_%s", p->name, what),
                                                      .early = true,
                                                      .per_block = {POINTS_THREADS, 1, 1},
                                                      .block = {POINTS_THREADS, 1, 1}};
}

/* Which field an array of the program is: as list_arrays lists them. */
static int field_of(const model *m, int array) {
    int field = -1;
    for (int out = m->array_count; array >= m->array_count && out <= array; out++)
        while (m->fields[++field].use != USE_OUT)
            continue;
    return array < m->array_count ? m->arrays[array].field : field;
}

/* Macros and conversions where some cells have 16 bits; and, behind them, what cells the arrays
   have. */
static void write_narrow(text *t, const model *m) {
    bool some[DTYPE_COUNT] = {false};
    for (int f = 0; f < m->field_count; f++)
        some[model_storage(m, f)] = true;
    text_add(t, some[DTYPE_HALF] ? "#include \"arch/half.cuh\"\n" : "");
    text_add(t, some[DTYPE_BFLOAT16] ? "#include \"arch/bfloat16.cuh\"\n" : "");
    text_add(t, "#define PLAN_NARROW 1 // cells are converted when they are loaded and stored\n");
}

static void write_cells(text *t, const model *m, const program *p) {
    text_add(t, "template <int field> struct CellsOf;\n");
    for (int i = 0; i < p->array_count; i++) {
        const dtype cells = model_storage(m, field_of(m, i));
        text_printf(t, "template <> struct CellsOf<%d> { using type = %s; }; // %s\n", i,
                    dtype_is_narrow(cells) ? dtype_words[cells].c_name : "Real", p->arrays[i].name);
    }
    text_add(t, "\n");
}

static void write_arguments(text *t, const model *m, const program *p) {
    text_printf(t,
                "struct Field {\n"
                "    %s *data;\n",
                model_is_narrow(m) ? "void" : "Real");
    text_add(t, "    long long stride_y, stride_z;\n"
                "};\n"
                "struct Arguments {\n"
                "    long long count, points;\n"
                "    const long long *base;\n"
                "    const Real *weight;\n"
                "    const long long *begin, *entry;\n"
                "    Real *row;\n"
                "    int set, target;\n");
    text_printf(t, "    Field field[%d]; //", p->array_count);
    for (int i = 0; i < p->array_count; i++)
        text_printf(t, "%s%s", i > 0 ? ", " : " ", p->arrays[i].name);
    text_printf(t, "\n    Real parameter[%d]; //", m->parameter_count > 0 ? m->parameter_count : 1);
    for (int i = 0; i < m->parameter_count; i++)
        text_printf(t, "%s%s", i > 0 ? ", " : " ", m->parameters[i].name);
    text_printf(
        t, "%s\n};\nstatic_assert(sizeof(Arguments) == %zu, \"the host packs %zu bytes\");\n\n",
        m->parameter_count > 0 ? "" : " none", p->arguments_bytes, p->arguments_bytes);
}

/* injected_k(at, arguments) for each function, and injected, which takes that of arguments.set. */
static void write_functions(text *t, const model *m) {
    static const char before[] = "template <class At>\n"
                                 "__device__ __forceinline__ Real ";
    static const char after[] = "([[maybe_unused]] const At &at, "
                                "[[maybe_unused]] const Arguments &arguments) {\n";
    const model *f = m->injected;
    int arrays[2 * MAX_FIELDS];
    for (int i = 0; i < f->array_count; i++)
        arrays[i] = i;
    const emitter e = {.model = f, .axes = (const int[AXES]){0, 1, 2}, .kernel_arrays = arrays};
    const char *target = "return";
    for (int i = 0; i < f->output_count; i++) {
        text_printf(t, "%sinjected_%d%s", before, i, after);
        emit_statements(t, &e, &f->outputs[i].value, &target, 1);
        text_add(t, "}\n");
    }
    text_printf(t, "%sinjected%s", before, after);
    for (int i = 0; i + 1 < f->output_count; i++)
        text_printf(t, "    if (arguments.set == %d)\n        return injected_%d(at, arguments);\n",
                    i, i);
    text_printf(t, "    return injected_%d(at, arguments);\n}\n", f->output_count - 1);
}

static const char *write_plan(job *j, const model *m, const program *p) {
    text t = text_new(j);
    if (model_is_narrow(m))
        write_narrow(&t, m);
    text_printf(&t, "using Real = %s;\n\n#define POINTS_SAMPLE %s\n", dtype_words[m->dtype].c_name,
                p->launches[POINTS_SAMPLE].entry);
    if (m->injected != NULL)
        text_printf(&t, "#define POINTS_INJECT %s\n", p->launches[POINTS_INJECT].entry);
    text_printf(&t,
                "#define PLAN_INJECTS %d\n\nstruct plan {\n"
                "    static constexpr int threads = %d, dims = %d, arrays = %d;\n",
                m->injected != NULL, POINTS_THREADS, m->dims, m->array_count);
    if (model_is_narrow(m))
        text_printf(&t, "    static constexpr int fields = %d;\n", p->array_count);
    text_add(&t, "};\n\n");
    write_arguments(&t, m, p);
    if (model_is_narrow(m))
        write_cells(&t, m, p);
    if (m->injected != NULL)
        write_functions(&t, m);
    return t.data;
}

static const char *write_head(job *j, const model *m, const program *p) {
    text t = text_new(j);
    text_printf(&t, "// %s: CUDA kernels of its points, made by %s.\n//\n", p->name,
                "stencilgen " SG_GENERATOR_VERSION);
    source_comment(&t, "target", p->target);
    for (int i = 0; i < m->set_count; i++)
        text_printf(&t, "// %-6s %s: %s %s\n", i == 0 ? "sets" : "", m->sets[i].name,
                    m->sets[i].injects < 0 ? "records" : "adds to",
                    m->fields[m->sets[i].field].name);
    text_add(&t, "\n");
    return t.data;
}

program *points_program(job *j, const model *m, const char *target) {
    program *p = job_alloc(j, sizeof *p);
    const size_t element = dtype_words[m->dtype].bytes;
    *p = (program){.kind = PROGRAM_LISTS,
                   .name = m->name,
                   .target = target,
                   .dims = 1,
                   .element_bytes = element,
                   .launches = job_array(j, 2, sizeof *p->launches)};
    list_arrays(j, m, p);
    add_launch(j, p, "sample");
    if (m->injected != NULL)
        add_launch(j, p, "inject");
    const size_t parameters = m->parameter_count > 0 ? (size_t)m->parameter_count : 1;
    p->arguments_bytes = (sizeof(points_arguments) + PROGRAM_GRID_BYTES * (size_t)p->array_count +
                          parameters * element + 7) /
                         8 * 8;
    source_file file = source_begin(j);
    source_lay(&file, "points/points.cu", write_plan(j, m, p), NULL, NULL);
    source_end(&file, write_head(j, m, p), NULL, p);
    return p;
}
