/* Programs, sources and builds of patterns. Takes: a pattern and what its family says of launches
   and templates. Makes: the argument struct, plan.h, the whole file, and the build. */
#include "gen/lists/pattern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "gen/source/emit.h"
#include "gen/source/file.h"

int pattern_dims(const subject *s) {
    (void)s;
    return 1;
}

program *pattern_program(job *j, const pattern *p, program_kind kind, const gpu *t) {
    const model *m = p->functions;
    program *out = job_alloc(j, sizeof *out);
    out->kind = kind;
    out->name = m->name;
    out->target = t->arch;
    out->dims = 1;
    out->element_bytes = dtype_words[m->dtype].bytes;
    out->parameter_count = m->parameter_count;
    out->parameters = job_array(j, (size_t)m->parameter_count, sizeof *out->parameters);
    out->arrays = job_array(j, PATTERN_ARRAYS, sizeof *out->arrays);
    out->launches = job_array(j, PATTERN_LAUNCHES, sizeof *out->launches);
    out->lists.sizes = job_array(j, PATTERN_SIZES, sizeof *out->lists.sizes);
    out->lists.temporaries = job_array(j, PATTERN_TEMPORARIES, sizeof *out->lists.temporaries);
    for (int i = 0; i < m->parameter_count; i++)
        out->parameters[i] =
            (program_parameter){m->parameters[i].name, dtype_words[m->dtype].name,
                                m->parameters[i].has_value, m->parameters[i].value};
    return out;
}

static const char *c_name(const char *name) {
    return dtype_words[dtype_find(name)].c_name;
}

program_array *pattern_array(program *p, const char *name, dtype type, program_extent extent) {
    assert(p->array_count < PATTERN_ARRAYS);
    program_array *a = &p->arrays[p->array_count++];
    *a = (program_array){.name = name,
                         .dtype = dtype_words[type].name,
                         .element_bytes = dtype_words[type].bytes,
                         .lists.same_as = -1,
                         .lists.extent = {extent, extent_of(-1, 1), extent_of(-1, 1)}};
    return a;
}

void pattern_size(program *p, const char *name, int array, int axis) {
    assert(p->lists.size_count < PATTERN_SIZES);
    p->lists.sizes[p->lists.size_count++] = (program_size){name, array, axis};
}

void pattern_temporary(program *p, program_temporary t) {
    assert(p->lists.temporary_count < PATTERN_TEMPORARIES);
    p->lists.temporaries[p->lists.temporary_count++] = t;
}

program_launch *pattern_launch(job *j, program *p, const char *suffix, program_extent items,
                               int per_block, int threads, bool barriers) {
    assert(p->launch_count < PATTERN_LAUNCHES);
    program_launch *l = &p->launches[p->launch_count++];
    *l = (program_launch){.entry = job_print(j, "%s_%s", p->name, suffix),
                          .per_block = {per_block, 1, 1},
                          .block = {threads, 1, 1},
                          .barriers = barriers};
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        l->lists.blocks[axis].items = axis == 0 ? items : extent_of(-1, 1);
    return l;
}

/* ---- plan.h -------------------------------------------------------------------------------- */

/* A parameter converts to its value, so that it is read as an element of a plain array would be. */
static void write_arguments(text *t, const program *p) {
    if (p->parameter_count > 0)
        text_add(t, "struct alignas(8) Parameter {\n"
                    "    Real value;\n"
                    "    __device__ __forceinline__ operator Real() const {\n"
                    "        return value;\n    }\n};\n");
    text_add(t, "struct Arguments {\n");
    for (int i = 0; i < p->lists.size_count; i++)
        text_printf(t, "    long long %s;\n", p->lists.sizes[i].name);
    for (int i = 0; i < p->array_count; i++)
        text_printf(t, "    %s%s *%s;\n", p->arrays[i].written ? "" : "const ",
                    c_name(p->arrays[i].dtype), p->arrays[i].name);
    for (int i = 0; i < p->lists.temporary_count; i++)
        text_printf(t, "    void *%s;\n", p->lists.temporaries[i].name);
    if (p->parameter_count > 0)
        text_printf(t, "    Parameter parameter[%d];", p->parameter_count);
    else
        text_add(t, "    long long parameter; // none");
    for (int i = 0; i < p->parameter_count; i++)
        text_printf(t, "%s %s", i > 0 ? "," : " //", p->parameters[i].name);
    if (p->lists.tagged)
        text_add(t, "\n    unsigned long long tag;");
    text_printf(t,
                "\n};\nstatic_assert(sizeof(Arguments) == %zu, \"the host packs %zu bytes\");\n\n",
                program_arguments_bytes(p), program_arguments_bytes(p));
}

/* PLAN_NAME, for the preprocessor. */
static void write_macro(text *t, const pattern_constant *c) {
    text_add(t, "#define PLAN_");
    for (const char *letter = c->name; *letter != '\0'; letter++)
        text_printf(t, "%c", *letter >= 'a' && *letter <= 'z' ? *letter - 'a' + 'A' : *letter);
    text_printf(t, " %lld\n", (long long)c->value);
}

/* As many on a line as it takes, of one type. */
static void write_constants(text *t, const pattern_source *s) {
    enum { COLUMNS = 99 };
    const char *last = "";
    size_t begin = 0;
    text_add(t, "struct plan {");
    for (int i = 0; i < s->constant_count; i++) {
        const pattern_constant *c = &s->constants[i];
        const char *type = c->value == (int)c->value ? "int" : "long long";
        const char *value = job_print(t->job, "%s = %lld", c->name, (long long)c->value);
        if (strcmp(type, last) == 0 && t->length - begin + strlen(value) + 3 <= COLUMNS) {
            text_printf(t, ", %s", value);
        } else {
            text_add(t, i > 0 ? ";\n" : "\n");
            begin = t->length;
            text_printf(t, "    static constexpr %s %s", type, value);
        }
        last = type;
    }
    text_add(t, s->constant_count > 0 ? ";\n};\n\n" : "\n};\n\n");
}

static void write_plan(text *t, const pattern *pattern, const pattern_source *s) {
    const program *p = s->program;
    if (dtype_is_narrow(pattern->storage))
        text_printf(t, "#include \"arch/%s.cuh\"\n\n#define PLAN_CELL %s\n",
                    dtype_words[pattern->storage].name, dtype_words[pattern->storage].c_name);
    if (dtype_is_narrow(s->narrow))
        text_printf(t, "#include \"arch/%s.cuh\"\n\n#define PLAN_NARROW 1\n",
                    dtype_words[s->narrow].name);
    text_printf(t, "using Real = %s;\n\n", dtype_words[pattern->functions->dtype].c_name);
    for (int i = 0; i < p->launch_count; i++)
        text_printf(t, "#define PATTERN_KERNEL_%d %s\n", i, p->launches[i].entry);
    for (int i = 0; i < p->launch_count; i++)
        if (p->launches[i].lists.blocks[0].cluster > 1)
            text_printf(t, "#define PATTERN_CLUSTER_%d %d\n", i,
                        p->launches[i].lists.blocks[0].cluster);
    for (int i = 0; i < s->constant_count; i++)
        write_macro(t, &s->constants[i]);
    text_add(t, "\n");
    write_arguments(t, p);
    write_constants(t, s);
    text_add(t, s->code != NULL ? s->code : "");
}

void pattern_write_function(text *t, const pattern *p, int function, const char *result,
                            const char *name) {
    const model *m = p->functions;
    const emitter e = {.model = m};
    const char *target = "return";
    const expr_id root = m->outputs[function].value;
    assert(root != EXPR_NONE);
    text_printf(t, "__device__ __forceinline__ %s %s([[maybe_unused]] const Arguments &arguments",
                result, name);
    for (int i = 0; i < m->array_count; i++)
        text_printf(t, ", [[maybe_unused]] Real %s", m->fields[m->arrays[i].field].name);
    text_add(t, ") {\n");
    emit_statements(t, &e, &root, &target, 1);
    text_add(t, "}\n");
}

/* ---- the file ------------------------------------------------------------------------------ */

static void write_extent(text *t, const program *p, const program_extent *e) {
    bool first = true;
    for (int i = 0; i < 2; i++)
        if (e->size[i] >= 0) {
            text_printf(t, "%s%s", first ? "" : " + ", p->lists.sizes[e->size[i]].name);
            first = false;
        }
    if (first)
        text_printf(t, "%lld", (long long)e->plus);
    else if (e->plus != 0)
        text_printf(t, " %c %lld", e->plus < 0 ? '-' : '+',
                    (long long)(e->plus < 0 ? -e->plus : e->plus));
}

static bool is_one(const program_extent *e) {
    return e->size[0] < 0 && e->size[1] < 0 && e->plus == 1;
}

/* "with the sizes a.rows, a.columns, a.entries"; then the parameters. */
static void write_numbers(text *t, const program *p) {
    text_printf(t, " with the size%s", p->lists.size_count > 1 ? "s" : "");
    for (int i = 0; i < p->lists.size_count; i++)
        text_printf(t, "%s a.%s", i > 0 ? "," : "", p->lists.sizes[i].name);
    text_add(t, ":\n");
    for (int i = 0; i < p->parameter_count; i++)
        text_printf(t, "//     a.parameter[%d].value: %s\n", i, p->parameters[i].name);
}

static void write_arrays(text *t, const program *p) {
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        text_printf(t, "//     a.%s: %s[", a->name, c_name(a->dtype));
        for (int axis = PROGRAM_AXES - 1; axis >= 0; axis--)
            if (axis == 0 || !is_one(&a->lists.extent[axis])) {
                write_extent(t, p, &a->lists.extent[axis]);
                text_add(t, axis > 0 ? "][" : "]");
            }
        text_printf(t, ", %s\n", a->lists.updated ? "updated" : a->written ? "written" : "read");
    }
    for (int i = 0; i < p->lists.temporary_count; i++) {
        const program_temporary *m = &p->lists.temporaries[i];
        text_printf(t, "//     a.%s: ", m->name);
        if (m->fixed != 0 || m->bytes == 0)
            text_printf(t, "%lld%s", (long long)m->fixed, m->bytes != 0 ? " + " : "");
        if (m->bytes != 0) {
            text_printf(t, "%lld * ceil((", (long long)m->bytes);
            write_extent(t, p, &m->items);
            text_printf(t, ") / %lld)", (long long)m->per);
        }
        text_add(t, " bytes to work in");
        if (m->fill >= 0)
            text_printf(t, ", every one set to %d", m->fill);
        text_add(t, "\n");
    }
    if (p->lists.tagged)
        text_add(t,
                 "//     a.tag: a number for this launch alone, drawn from 64 bits, and never 0\n");
}

static void write_blocks(text *t, const program *p, const program_launch *l, int axis) {
    const program_block_rule *rule = &l->lists.blocks[axis];
    if (is_one(&rule->items)) {
        text_add(t, "1");
        return;
    }
    const int cluster = rule->cluster > 1 ? rule->cluster : 1;
    if (rule->alone > 0) {
        write_extent(t, p, &rule->items);
        text_printf(t, " <= %lld ? %d : ", (long long)rule->alone, cluster);
    }
    if (rule->most > 0)
        text_printf(t, "min(%lld, ", (long long)rule->most);
    if (rule->least)
        text_printf(t, "max(%d, ", cluster);
    if (cluster > 1)
        text_printf(t, "%d * ", cluster);
    text_add(t, "ceil((");
    write_extent(t, p, &rule->items);
    text_printf(t, ") / %d)%s%s", cluster * l->per_block[axis], rule->least ? ")" : "",
                rule->most > 0 ? ")" : "");
}

static void write_launches(text *t, const program *p) {
    for (int i = 0; i < p->launch_count; i++) {
        const program_launch *l = &p->launches[i];
        text_printf(t, "//     %s<<<dim3(", l->entry);
        for (int axis = 0; axis < PROGRAM_AXES; axis++) {
            text_add(t, axis > 0 ? ", " : "");
            write_blocks(t, p, l, axis);
        }
        text_printf(t, "), dim3(%d, %d, %d), %zu>>>(a)", l->block[0], l->block[1], l->block[2],
                    l->shared_bytes);
        if (l->shared_bytes > 48 * 1024)
            text_add(t, ", whose cudaFuncAttributeMaxDynamicSharedMemorySize has been set to it");
        text_printf(t, "%s%s\n",
                    l->lists.resident ? ", with no more blocks than the device runs at a time" : "",
                    l->early ? "; it may begin before the launch ahead of it has ended" : "");
    }
}

static const char *write_source(job *j, const pattern *pattern, const pattern_source *s,
                                const char *line) {
    program *p = s->program;
    const bool serial = pattern_is_serial(pattern->words, s->schedule);
    text t = text_new(j), header = text_new(j);
    text_printf(&t,
                "// %s: CUDA kernels made by %s from a spec; change the spec, not this file.\n//\n",
                p->name, "stencilgen " SG_GENERATOR_VERSION);
    source_comment(&t, "spec", s->spec);
    source_comment(&t, "plan", line);
    source_comment(&t, "target",
                   serial ? job_print(j, "a processor; on a GPU %s", p->target) : p->target);
    source_comment(&t, "work", s->work);
    text_add(&t,
             "//\n// To launch it from a file that nvcc compiles and that includes this one, fill "
             "`Arguments a`");
    write_numbers(&t, p);
    write_arrays(&t, p);
    text_add(&t, "// and launch in this order:\n");
    write_launches(&t, p);
    text_add(&t, "\n");
    source_file file = source_begin(j);
    write_plan(&header, pattern, s);
    source_lay(&file, s->template_file, header.data, NULL, NULL);
    source_end(&file, t.data, NULL, p);
    return header.data;
}

family_build *pattern_build(job *j, const subject *s, const family_request *r,
                            pattern_source *source) {
    const pattern *p = s->model;
    text model = text_new(j), line = text_new(j);
    source->program->arguments_bytes = program_arguments_bytes(source->program);
    pattern_schedule_print(p->words, source->schedule, &line);
    if (source->spec == NULL && !r->untold)
        s->family->print(s, MODEL_ALL, &model);
    if (source->spec == NULL)
        source->spec = model.data;
    family_build *b = job_alloc(j, sizeof *b);
    *b = source->facts;
    b->program = source->program;
    b->header = r->untold ? "" : write_source(j, p, source, line.data);
    b->model = source->spec;
    b->plan = line.data;
    b->boundary = "";
    if (b->emitted_operations == 0)
        b->emitted_operations = b->textbook_operations;
    return b;
}

pattern_schedule pattern_wanted(job *j, const subject *s, const char *line) {
    const pattern *p = s->model;
    pattern_schedule wanted = p->wanted;
    pattern_schedule_parse(j, p->words, line, "schedule", &wanted);
    return wanted;
}

bool pattern_is_serial(const pattern_words *w, const pattern_schedule *s) {
    return (w->serial >> s->algorithm & 1) != 0;
}

const gpu *pattern_board(const pattern_words *w, const pattern_schedule *s, const gpu *g) {
    return g->processor != NULL && !pattern_is_serial(w, s) ? gpu_find(g->arch) : g;
}

noreturn void pattern_refuse(job *j, const subject *s, const pattern_schedule *schedule,
                             const char *format, ...) {
    const pattern *p = s->model;
    text why = text_new(j);
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&why, format, arguments);
    va_end(arguments);
    job_fail(j, FAULT_PLAN, s->file, s->line, "algorithm %s: %s",
             p->words->algorithms[schedule->algorithm].name, why.data);
}

double pattern_log2(double n) {
    double steps = 0;
    for (; n > 1; n /= 2)
        steps++;
    return steps;
}

double pattern_parts(double n, double by) {
    return n <= 0 ? 0 : (double)(int64_t)((n - 1) / by) + 1;
}
