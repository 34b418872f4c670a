/* Lays the template and its includes into one file under a header that says what made it.
   Takes: a model and a plan. Makes: the program, text and launch facts. */
#include "gen/source_internal.h"
#include "gen/source_text.h"

#include <assert.h>
#include <string.h>

/* ---- arguments --------------------------------------------------------------------------- */

/* The order of the grids: for each field its current values, its previous ones, its new ones, as
   far as it has them. Returns how many there are before `field`, or after all fields. */
static int grids_before(const model *m, int field) {
    int count = 0;
    for (int f = 0; f < field; f++)
        count += (m->fields[f].use != USE_OUT) * m->fields[f].levels + (m->fields[f].use != USE_IN);
    return count;
}

int source_read_grid(const model *m, int array) {
    return grids_before(m, m->arrays[array].field) + m->arrays[array].previous;
}

int source_write_grid(const model *m, int field) {
    const model_field *f = &m->fields[field];
    assert(f->use != USE_IN);
    return grids_before(m, field) + (f->use == USE_INOUT) * f->levels;
}

static void list_arrays(job *j, const model *m, program *p) {
    p->array_count = grids_before(m, m->field_count);
    p->arrays = job_array(j, (size_t)p->array_count, sizeof *p->arrays);
    for (int i = 0; i < m->array_count; i++) {
        const model_array *from = &m->arrays[i];
        const char *field = m->fields[from->field].name;
        program_array *a = &p->arrays[source_read_grid(m, i)];
        *a = (program_array){.field = field, .reads = -1, .previous = -1, .same_as = -1};
        a->name = from->previous ? job_print(j, "%s.prev", field) : field;
        memcpy(a->low, from->low, sizeof a->low);
        memcpy(a->high, from->high, sizeof a->high);
    }
    for (int i = 0; i < m->output_count; i++) {
        const model_field *f = &m->fields[m->outputs[i].field];
        const bool both = f->use == USE_INOUT;
        const int written = source_write_grid(m, m->outputs[i].field);
        p->arrays[written] = (program_array){
            .name = both ? job_print(j, "%s.next", f->name) : f->name,
            .field = f->name,
            .written = true,
            .reads = both ? written - f->levels : -1,
            .previous = both && f->levels == 2 ? written - 1 : -1,
            .same_as = -1,
        };
    }
    for (int i = 0; i < p->array_count; i++) {
        p->arrays[i].dtype = dtype_words[m->dtype].name;
        p->arrays[i].element_bytes = dtype_words[m->dtype].bytes;
    }
    p->parameter_count = m->parameter_count;
    p->parameters = job_array(j, (size_t)m->parameter_count, sizeof *p->parameters);
    for (int i = 0; i < m->parameter_count; i++)
        p->parameters[i] = (program_parameter){m->parameters[i].name, dtype_words[m->dtype].name,
                                               m->parameters[i].has_value, m->parameters[i].value};
}

static void describe_launch(const plan *p, program_launch *l) {
    l->shared_bytes = p->shared_bytes;
    l->barriers = plan_templates[p->template_id].barriers;
    l->vector = p->schedule.vector;
    l->steps = 1;
    for (int k = 0; k < AXES; k++) {
        l->axes[k] = p->axes[k];
        l->per_block[k] = p->per_block[k];
        l->block[k] = p->block[k];
        l->low[k] = p->low[k];
        l->high[k] = p->high[k];
    }
    /* Whole packs are read, so a thread may reach further than its shape. */
    const int vector = p->schedule.vector;
    l->low[0] = (l->low[0] + vector - 1) / vector * vector;
    l->high[0] = (l->high[0] + vector - 1) / vector * vector;
}

/* The grid that a pass leaves to the next reaches as far as all passes after it do. */
static void describe_layers(job *j, const plan *p, program *out) {
    out->layer_count = p->pass_count - 1;
    out->layers = job_array(j, (size_t)out->layer_count, sizeof *out->layers);
    for (int i = 0; i < out->layer_count; i++) {
        program_layer *t = &out->layers[i];
        *t = (program_layer){.name = p->pass[i]->facts->model->fields[1].name};
        for (int later = i + 1; later < p->pass_count; later++)
            for (int axis = 0; axis < AXES; axis++) {
                t->low[axis] += p->pass[later]->facts->model->low[axis];
                t->high[axis] += p->pass[later]->facts->model->high[axis];
            }
    }
}

static program *describe(job *j, const model *m, const plan *p) {
    program *out = job_alloc(j, sizeof *out);
    out->name = m->name;
    out->target = p->target->arch;
    out->dims = m->dims;
    out->element_bytes = dtype_words[m->dtype].bytes;
    out->bytes_per_point = model_bytes_per_point(m);
    list_arrays(j, m, out);
    if (p->pass_count > 0)
        describe_layers(j, p, out);
    out->launch_count = p->pass_count > 0 ? p->pass_count : 1;
    out->launches = job_array(j, (size_t)out->launch_count, sizeof *out->launches);
    for (int i = 0; i < out->launch_count; i++) {
        const bool pass = p->pass_count > 0;
        describe_launch(pass ? p->pass[i] : p, &out->launches[i]);
        out->launches[i].entry =
            pass ? job_print(j, "%s_pass_%d", m->name, i + 1) : job_print(j, "%s_kernel", m->name);
    }
    const size_t parameters = out->parameter_count > 0 ? (size_t)out->parameter_count : 1;
    const size_t grids = (size_t)program_grid_count(out);
    const size_t bytes =
        PROGRAM_OFFSET_GRIDS + PROGRAM_GRID_BYTES * grids + parameters * out->element_bytes;
    out->arguments_bytes = (bytes + 7) / 8 * 8;
    return out;
}

/* ---- text -------------------------------------------------------------------------------- */

/* The blocks along an axis that no edge concerns; without this all take the slower way. */
static void write_inner_blocks(text *t, const program_launch *l, int k, const char *extent) {
    text_printf(t, "//     a.inner_first[%d] = %d, a.inner_end[%d] = ", k,
                (l->low[k] + l->per_block[k] - 1) / l->per_block[k], k);
    if (l->high[k] == 0)
        text_add(t, extent);
    else
        text_printf(t, l->per_block[k] == 1 ? "%s - %d" : "(%s - %d)", extent, l->high[k]);
    if (l->per_block[k] > 1)
        text_printf(t, " / %d", l->per_block[k]);
    text_add(t, ";\n");
}

static void write_launch_notes(text *t, const program *program) {
    const program_launch *l = program->launches;
    text_add(t, "// CUDA takes at most 65535 blocks along y and along z.\n");
    for (int i = 0; i < program->array_count; i++) {
        const program_array *a = &program->arrays[i];
        if (a->reads < 0)
            continue;
        text_printf(t, "// For the next step %s takes the place of %s", a->name,
                    program->arrays[a->reads].name);
        if (a->previous >= 0)
            text_printf(t, ", and that the place of %s", program->arrays[a->previous].name);
        text_add(t, ".\n");
    }
    if (l->vector > 1)
        text_printf(t,
                    "// Set a.aligned = 1 where nx and all addresses are multiples of %d "
                    "elements.\n",
                    l->vector);
}

static void write_launch_example(text *t, const model *m, const program *program) {
    static const char *const extents[] = {"nx", "ny", "nz"};
    const program_launch *l = program->launches;
    text_add(t, "// To launch it from a file that nvcc compiles and that includes this one, for "
                "dense arrays of\n// shape (");
    for (int axis = m->dims - 1; axis >= 0; axis--)
        text_printf(t, "%s%s", extents[axis], axis > 0 ? ", " : "");
    text_add(t, ") in device memory:\n//     Arguments a = {};\n");
    for (int k = 0; k < AXES; k++) {
        const char *extent = l->axes[k] < 0 ? "1" : extents[l->axes[k]];
        text_printf(t, "//     a.size[%d] = a.end[%d] = %s;\n", k, k, extent);
        write_inner_blocks(t, l, k, extent);
    }
    for (int i = 0; i < program->array_count; i++) {
        const program_array *a = &program->arrays[i];
        text_printf(t, "//     a.grid[%d] = {array_%d, %s, %s}; // %s, %s\n", i, i,
                    l->axes[1] == 1 ? "nx" : "0",
                    l->axes[2] == 2   ? "nx * ny"
                    : l->axes[2] == 1 ? "nx"
                                      : "0",
                    a->name, a->written ? "written" : "read");
    }
    for (int i = 0; i < program->parameter_count; i++)
        text_printf(t, "//     a.parameter[%d] = %s;\n", i, program->parameters[i].name);
    if (l->shared_bytes > 48 * 1024)
        text_printf(t,
                    "//     cudaFuncSetAttribute(%s, cudaFuncAttributeMaxDynamicSharedMemorySize, "
                    "%zu);\n",
                    l->entry, l->shared_bytes);
    text_add(t, "//     dim3 blocks(");
    for (int k = 0; k < AXES; k++) {
        text_add(t, k > 0 ? ", " : "");
        if (l->axes[k] < 0)
            text_add(t, "1");
        else if (l->per_block[k] == 1)
            text_add(t, extents[l->axes[k]]);
        else
            text_printf(t, "(%s + %d) / %d", extents[l->axes[k]], l->per_block[k] - 1,
                        l->per_block[k]);
    }
    text_printf(t, ");\n//     %s<<<blocks, dim3(%d, %d, %d), %zu>>>(a);\n", l->entry, l->block[0],
                l->block[1], l->block[2], l->shared_bytes);
    write_launch_notes(t, program);
}

static void write_header(text *t, const model *m, const plan *p, const program *program) {
    const expr_count emitted = plan_emitted(p);
    text_printf(t,
                "// %s: a CUDA kernel made by %s from a spec; change the spec, not this file.\n"
                "//\n",
                m->name, "stencilgen " SG_GENERATOR_VERSION);
    text model_text = text_new(t->job), plan_line = text_new(t->job), work = text_new(t->job);
    model_print(m, &model_text);
    source_comment(t, "spec", model_text.data);
    schedule_print(&p->schedule, m->dims, &plan_line);
    source_comment(t, "plan", plan_line.data);
    source_comment(t, "target", p->target->arch);
    text_number(&work, model_textbook_operations(m), 15);
    text_add(&work, " operations a point by the textbook, ");
    text_number(&work, emitted.additions + emitted.multiplications + emitted.others, 15);
    text_add(&work, " as written here; at least ");
    text_number(&work, program->bytes_per_point, 15);
    text_add(&work, " bytes of device memory a point");
    source_comment(t, "work", work.data);
    text_add(t, "//\n");
    if (p->pass_count > 0)
        source_write_pass_notes(t, m, program);
    else
        write_launch_example(t, m, program);
    text_add(t, "\n");
}

/* Each pass has a namespace of its own, so that what templates define does not meet. */
static void lay_passes(text *t, const model *m, const plan *p, const program *program) {
    text shared = text_new(t->job);
    source_write_arguments(&shared, m, program);
    for (int k = 0; k < p->pass_count; k++) {
        text header = text_new(t->job);
        source_write_pass(&header, p, k, program);
        if (k == 0)
            source_lay(t, "passes.cuh", shared.data);
        text_printf(t, "\n// ---- pass %d of %d ----\n\nnamespace pass_%d {\n", k + 1,
                    p->pass_count, k + 1);
        source_lay_more(t, plan_templates[p->pass[k]->template_id].file, header.data);
        text_printf(t, "} // namespace pass_%d\nusing pass_%d::%s;\n", k + 1, k + 1,
                    program->launches[k].entry);
    }
}

const char *source_plan_header(job *j, const model *m, const plan *p) {
    const program *program = describe(j, m, p);
    text t = text_new(j);
    if (p->pass_count == 0)
        source_write_plan(&t, p, program);
    else
        source_write_arguments(&t, m, program);
    for (int k = 0; k < p->pass_count; k++)
        source_write_pass(&t, p, k, program);
    return t.data;
}

program *source_make(job *j, const model *m, const plan *p) {
    program *out = describe(j, m, p);
    text t = text_new(j);
    write_header(&t, m, p, out);
    if (p->pass_count > 0) {
        lay_passes(&t, m, p, out);
    } else {
        text header = text_new(j);
        source_write_plan(&header, p, out);
        source_lay(&t, plan_templates[p->template_id].file, header.data);
    }
    out->source = t.data;
    return out;
}
