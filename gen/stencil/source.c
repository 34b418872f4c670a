/* Lays the template and its includes into one file under a header that says what made it.
   Takes: a model and a plan. Makes: the program, text and launch facts. */
#include "gen/stencil/source.h"
#include "gen/source/file.h"
#include "gen/stencil/method.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- arguments --------------------------------------------------------------------------- */

int source_read_grid(const model *m, int array) {
    return model_grids(m, m->arrays[array].field) + m->arrays[array].previous;
}

int source_write_grid(const model *m, int field) {
    const model_field *f = &m->fields[field];
    assert(f->use != USE_IN);
    return model_grids(m, field) + (f->use == USE_INOUT) * f->levels;
}

void source_list_arrays(job *j, const model *m, program *p) {
    p->array_count = model_grids(m, m->field_count);
    p->arrays = job_array(j, (size_t)p->array_count, sizeof *p->arrays);
    for (int i = 0; i < m->array_count; i++) {
        const model_array *from = &m->arrays[i];
        const char *field = m->fields[from->field].name;
        program_array *a = &p->arrays[source_read_grid(m, i)];
        *a = (program_array){.grid.field = field, .grid.reads = -1, .grid.previous = -1};
        a->name = from->previous ? job_print(j, "%s.prev", field) : field;
        a->dtype = dtype_words[model_storage(m, from->field)].name;
        memcpy(a->grid.low, from->low, sizeof a->grid.low);
        memcpy(a->grid.high, from->high, sizeof a->grid.high);
    }
    for (int i = 0; i < m->output_count; i++) {
        const model_field *f = &m->fields[m->outputs[i].field];
        const bool both = f->use == USE_INOUT;
        const int written = source_write_grid(m, m->outputs[i].field);
        p->arrays[written] = (program_array){
            .name = both ? job_print(j, "%s.next", f->name) : f->name,
            .dtype = dtype_words[model_storage(m, m->outputs[i].field)].name,
            .grid.field = f->name,
            .written = true,
            .grid.reads = both ? written - f->levels : -1,
            .grid.previous = both && f->levels == 2 ? written - 1 : -1,
        };
    }
    for (int i = 0; i < p->array_count; i++)
        p->arrays[i].element_bytes = dtype_words[dtype_find(p->arrays[i].dtype)].bytes;
    p->parameter_count = m->parameter_count;
    p->parameters = job_array(j, (size_t)m->parameter_count, sizeof *p->parameters);
    for (int i = 0; i < m->parameter_count; i++)
        p->parameters[i] = (program_parameter){m->parameters[i].name, dtype_words[m->dtype].name,
                                               m->parameters[i].has_value, m->parameters[i].value};
}

/* The boxes that bulk copies fetch, of each array that taps read. */
static void describe_maps(const plan *p, program_launch *l) {
    for (int i = 0; i < p->array_count; i++) {
        program_map *map = &l->grid.maps[i];
        map->grid = p->is_pass ? p->from : source_read_grid(p->facts->model, p->arrays[i].array);
        if (p->form->box(p, &p->arrays[i], map->box))
            l->grid.map_count = i + 1;
    }
    const int boxes = l->grid.map_count;
    for (int i = 0; i < boxes && p->form->box_more != NULL; i++) {
        program_map more = {.grid = l->grid.maps[i].grid};
        for (int which = 0; p->form->box_more(p, &p->arrays[i], which, more.box); which++)
            l->grid.maps[l->grid.map_count++] = more;
    }
}

/* The same of a spare whose rows begin anywhere: for each array a map of each row of a pack's
   length. */
static void describe_rows(const plan *p, program_launch *l) {
    const int every = p->schedule.vector;
    const program_launch whole = *l;
    for (int i = 0; i < p->array_count; i++) {
        program_map map = {.grid = whole.grid.maps[i].grid, .every = every};
        if (!p->form->rows_of_pack(p, &p->arrays[i], map.box))
            return;
        for (; map.first < every; map.first++)
            l->grid.maps[i * every + map.first] = map;
    }
    l->grid.map_count = p->array_count * every;
}

void source_describe_launch(const plan *p, const program *of, program_launch *l) {
    if (p->form->box != NULL)
        describe_maps(p, l);
    l->shared_bytes = p->shared_bytes;
    l->barriers = p->form->barriers;
    l->early = p->form->awaits && program_may_begin_early(of->target);
    l->grid.vector = p->schedule.vector;
    l->grid.steps = 1;
    l->grid.lane = p->form->lane != NULL ? p->form->lane(p) : 1;
    l->abreast = p->form->abreast != NULL && p->form->abreast(p);
    for (int k = 0; k < AXES; k++) {
        l->grid.axes[k] = p->axes[k];
        l->per_block[k] = p->per_block[k];
        l->block[k] = p->block[k];
        l->grid.low[k] = p->low[k];
        l->grid.high[k] = p->high[k];
    }
    /* Whole packs are read, so a thread may reach further than its shape. */
    const int vector = p->schedule.vector;
    for (int k = 0; k < AXES && plan_method(p)->fused; k++) {
        const plan_fused *f = &p->fused;
        l->grid.low[k] = f->round_halo[k] + (k < LANE_AXES ? f->halo_low[k] : 0);
        l->grid.high[k] = f->round_halo[k] + (k < LANE_AXES ? f->halo_high[k] : 0);
    }
    l->grid.low[0] = (l->grid.low[0] + vector - 1) / vector * vector;
    l->grid.high[0] = (l->grid.high[0] + vector - 1) / vector * vector;
}

/* The grid that a pass leaves to the next reaches as far as all passes after it do. */
static void describe_layers(job *j, const plan *p, program *out) {
    out->grid.layer_count = p->pass_count - 1;
    out->grid.layers = job_array(j, (size_t)out->grid.layer_count, sizeof *out->grid.layers);
    for (int i = 0; i < out->grid.layer_count; i++) {
        program_layer *t = &out->grid.layers[i];
        *t = (program_layer){.name = p->pass[i]->facts->model->fields[1].name};
        for (int later = i + 1; later < p->pass_count; later++)
            for (int axis = 0; axis < AXES; axis++) {
                t->low[axis] += p->pass[later]->facts->model->low[axis];
                t->high[axis] += p->pass[later]->facts->model->high[axis];
            }
    }
}

/* Of a launch of several steps: where fields with two levels leave the older one. */
static void describe_seconds(job *j, const model *m, program *out) {
    out->grid.layers = job_array(j, (size_t)m->output_count, sizeof *out->grid.layers);
    for (int o = 0; o < m->output_count; o++)
        if (m->fields[m->outputs[o].field].levels > 1)
            out->grid.layers[out->grid.layer_count++] = (program_layer){
                .name = job_print(j, "%s.last", m->fields[m->outputs[o].field].name)};
}

static program_needs needs_of(const plan *p) {
    program_needs n = {.multiple = 1, .cells = 1, .low = {-1, -1, -1}, .high = {-1, -1, -1}};
    if (p->form->needs != NULL)
        p->form->needs(p, &n);
    return n;
}

/* The plan of a launch: of a pass, of single steps, or the only one. */
static const plan *plan_of(const plan *p, const program *program, int launch) {
    if (p->pass_count > 0)
        return p->pass[launch];
    return p->single != NULL && launch + 1 == program_own_launches(program) ? p->single : p;
}

/* The plan of the spare of a plan's kernel. */
static const plan *plan_of_spare(job *j, const plan *p) {
    if (p->form->spare == NULL)
        return p;
    plan *spare = job_alloc(j, sizeof *spare);
    *spare = *p;
    p->form->spare(spare);
    return spare;
}

static void describe_spares(job *j, const plan *p, program *out) {
    const int own = out->launch_count;
    for (int i = 0; i < own; i++) {
        const plan *of = plan_of(p, &(program){.launch_count = own}, i);
        if (!plan_has_packs(of))
            continue;
        program_launch *l = &out->launches[i], *spare = &out->launches[out->launch_count];
        const plan *of_spare = plan_of_spare(j, of);
        *spare = *l;
        spare->grid.map_count = 0;
        if (of_spare != of) { /* else the launch may have other threads than its plan (stages) */
            memcpy(spare->block, of_spare->block, sizeof spare->block);
            spare->shared_bytes = of_spare->shared_bytes;
        }
        if (of->form->rows_of_pack != NULL)
            describe_rows(of_spare, spare);
        spare->entry = job_print(j, "%s_any", l->entry);
        l->grid.spare = out->launch_count++;
        l->grid.needs = needs_of(of);
        out->grid.spare_count++;
    }
}

static void describe_shape(const model *m, const plan_facts *f, program *out) {
    out->grid.bytes_per_point = model_bytes_per_point(m);
    memcpy(out->grid.low, m->low, sizeof out->grid.low);
    memcpy(out->grid.high, m->high, sizeof out->grid.high);
    for (int axis = 0; axis < m->dims; axis++) {
        bool ring = false, other = false;
        model_find_ring(m, axis, &ring, &other);
        model_find_rings_of_maps(m, axis, &ring, &other);
        out->grid.periodic[axis] = ring;
        out->grid.uncut[axis] = ring && other;
        /* A part has the ghost cells of the other side, up to which reads may turn back. */
        if (model_mirrors(m, axis))
            out->grid.turned[axis] = 1 + abs(m->low[axis] - m->high[axis]);
    }
    out->grid.positions = m->positions != 0;
    out->grid.corners = f->corners || !f->column_or_plane;
}

/* Launches of several steps, and passes, read more than the points that they write. */
static void find_in_place(job *j, const model *m, const plan *p, program *out) {
    if (p->single != NULL || p->pass_count > 0)
        return;
    for (int o = 0; o < m->output_count; o++) {
        const int field = m->outputs[o].field;
        program_array *a = &out->arrays[source_write_grid(m, field)];
        a->grid.in_place =
            a->grid.reads >= 0 && model_writes_in_place(j, m, o, a->grid.previous >= 0);
    }
}

program *source_describe(job *j, const model *m, const plan *p) {
    program *out = job_alloc(j, sizeof *out);
    out->name = m->name;
    out->target = p->gpu->arch;
    out->dims = m->dims;
    out->element_bytes = dtype_words[m->dtype].bytes;
    describe_shape(m, p->facts, out);
    source_list_arrays(j, m, out);
    find_in_place(j, m, p, out);
    if (p->pass_count > 0)
        describe_layers(j, p, out);
    if (p->single != NULL)
        describe_seconds(j, m, out);
    const bool passes = p->pass_count > 0;
    out->launch_count = passes ? p->pass_count : p->single != NULL ? source_count_ways(p) : 1;
    out->launches = job_array(j, 2 * (size_t)out->launch_count, sizeof *out->launches);
    if (p->single != NULL)
        source_describe_ways(j, p, out);
    for (int i = 0; i < out->launch_count && p->single == NULL; i++) {
        source_describe_launch(passes ? p->pass[i] : p, out, &out->launches[i]);
        out->launches[i].entry = passes ? job_print(j, "%s_pass_%d", m->name, i + 1)
                                        : job_print(j, "%s_kernel", m->name);
    }
    describe_spares(j, p, out);
    for (int i = 0; i < out->launch_count; i++)
        out->grid.map_count = larger(out->grid.map_count, out->launches[i].grid.map_count);
    out->arguments_bytes = program_arguments_bytes(out);
    return out;
}

const char *source_describe_memory(job *j, const program *p) {
    text t = text_new(j), shared = text_new(j);
    double bytes = 0, saved = 0;
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        bytes += (double)program_grid_bytes(p, i);
        if (!a->grid.in_place)
            continue;
        text_printf(&shared, "%s%s has the memory of %s", saved > 0 ? ", " : "", a->name,
                    p->arrays[program_oldest(a)].name);
        saved += (double)program_grid_bytes(p, i);
    }
    text_number(&t, bytes, 15);
    text_printf(&t, " bytes a point in %s", text_count(t.job, p->array_count, "array"));
    if (p->grid.layer_count > 0) {
        text_add(&t, ", ");
        text_number(&t, p->grid.layer_count * (double)program_layer_bytes(p), 15);
        text_printf(&t, " more between launches");
    }
    if (saved > 0) {
        text_add(&t, "; ");
        text_number(&t, saved, 15);
        text_printf(&t, " fewer where %s", shared.data);
    }
    return t.data;
}

const char *source_memory(job *j, const model *m, const plan *p) {
    return source_describe_memory(j, source_describe(j, m, p));
}

/* ---- text -------------------------------------------------------------------------------- */

static void write_header(text *t, const model *m, const plan *p, const program *program) {
    const expr_count emitted = plan_emitted(p);
    text_printf(t,
                "// %s: a CUDA kernel made by %s from a spec; change the spec, not this file.\n"
                "//\n",
                m->name, "stencilgen " SG_GENERATOR_VERSION);
    text model_text = text_new(t->job), plan_line = text_new(t->job), work = text_new(t->job);
    model_print(m, MODEL_ALL, &model_text);
    source_comment(t, "spec", model_text.data);
    schedule_print(&p->schedule, m->dims, &plan_line);
    source_comment(t, "plan", plan_line.data);
    source_comment(t, "target",
                   p->gpu->processor == NULL
                       ? p->gpu->arch
                       : job_print(t->job, "a processor; on a GPU %s", p->gpu->arch));
    if (!m->nonlinear) {
        text_number(&work, model_textbook_operations(m), 15);
        text_add(&work, " operations a point by the textbook, ");
    }
    text_number(&work, emitted.additions + emitted.multiplications + emitted.others, 15);
    text_add(&work, m->nonlinear ? " operations a point" : "");
    text_add(&work, " as written here; at least ");
    text_number(&work, program->grid.bytes_per_point, 15);
    text_add(&work, " bytes of device memory a point");
    source_comment(t, "work", work.data);
    text_add(t, "//\n");
    if (p->pass_count > 0) {
        source_write_pass_notes(t, m, program);
    } else if (p->single != NULL) {
        source_write_way_notes(t, p, program);
    } else {
        source_write_launch_example(t, m, program, &program->launches[0], p->form->one_way);
        source_write_launch_notes(t, program, &program->launches[0]);
    }
    text_add(t, "\n");
}

void source_lay_kernel(source_file *f, const plan *p, const program *program, int which,
                       const char *space, bool packs) {
    text header = text_new(f->job);
    source_write_kernel(&header, p, program, which, space != NULL, packs);
    source_lay(f, p->form->file, header.data, space, program->launches[which].entry);
}

/* The kernels of the program's own launches, or of its spares, in namespaces where there are
   several. */
static void lay_kernels(source_file *f, const model *m, const plan *p, const program *program,
                        bool spares, text *shared) {
    const int own = program_own_launches(program);
    const bool several = own > 1;
    if (several)
        source_write_arguments(shared, m, program);
    for (int i = 0; i < own; i++) {
        const plan *of = plan_of(p, program, i);
        if (spares)
            of = plan_of_spare(f->job, of);
        const bool same =
            i > 0 && strcmp(program->launches[i].entry, program->launches[i - 1].entry) == 0;
        const char *space = p->pass_count > 0 ? job_print(f->job, "pass_%d", i + 1)
                            : i + 1 < own     ? "many_steps"
                                              : "one_step";
        if (!same && (!spares || program->launches[i].grid.spare > 0))
            source_lay_kernel(f, of, program, spares ? program->launches[i].grid.spare : i,
                              several ? space : NULL, !spares);
    }
}

const char *source_plan_header(job *j, const model *m, const plan *p) {
    const program *program = source_describe(j, m, p);
    text t = text_new(j);
    if (p->pass_count == 0 && p->single == NULL) {
        source_write_kernel(&t, p, program, 0, false, true);
        return t.data;
    }
    source_write_arguments(&t, m, program);
    for (int k = 0; k < p->pass_count; k++)
        source_write_kernel(&t, p->pass[k], program, k, true, true);
    if (p->single != NULL) {
        source_write_kernel(&t, p, program, 0, true, true);
        source_write_kernel(&t, p->single, program, program_own_launches(program) - 1, true, true);
    }
    return t.data;
}

void source_end_spares(source_file *f, const char *also, const char *shared, program *out) {
    program spare = {.target = out->target};
    const char *head = job_print(f->job,
                                 "// %s: what stencilgen " SG_GENERATOR_VERSION
                                 " launches in the place of its kernels where rows cannot be "
                                 "packed,\n// and for %s.\n\n",
                                 out->name, also);
    source_end(f, head, shared, &spare);
    out->grid.spare_source = spare.source;
    out->grid.spare_arch_begin = spare.arch_begin;
    out->grid.spare_arch_end = spare.arch_end;
}

static void make_spares(job *j, const model *m, const plan *p, program *out) {
    source_file file = source_begin(j);
    text shared = text_new(j);
    lay_kernels(&file, m, p, out, true, &shared);
    source_end_spares(&file, "a box or a grid that is small", shared.data, out);
}

program *source_make(job *j, const model *m, const plan *p) {
    program *out = source_describe(j, m, p);
    source_file file = source_begin(j);
    text head = text_new(j), shared = text_new(j);
    write_header(&head, m, p, out);
    lay_kernels(&file, m, p, out, false, &shared);
    source_end(&file, head.data, shared.data, out);
    if (out->grid.spare_count > 0)
        make_spares(j, m, p, out);
    return out;
}
