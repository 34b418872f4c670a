/* The content of kernel files. One function for each struct writes it and reads it back, so the two
   cannot differ. The checksum of the sealed file finds damage; what is checked here keeps counts
   and indexes within the arrays that they are used for. */
#include "runtime/api/build.h"

#include "base/dtype.h"
#include "matrix/format.h"
#include "runtime/launch/launch.h"

enum {
    MOST_LAUNCHES = 64,
    MOST_CALLS = 2048,
    MOST_THREADS = 1024,
    MOST_NUMBER = 1 << 30,
    MOST_EVERY = 16
};

const sealed_kind kernel_file_kind = {
    .magic = {'s', 'g', 'k', 'e', 'r', 'n', 'e', 'l'},
    .version = 11,
    .title = "a kernel file of stencilgen",
};

static void code_axes(coder *c, int *axes, int least, int most) {
    for (int k = 0; k < PROGRAM_AXES; k++)
        code_int(c, &axes[k], least, most);
}

static void code_extent(coder *c, const program *p, program_extent *e) {
    code_int(c, &e->size[0], -1, p->lists.size_count - 1);
    code_int(c, &e->size[1], -1, p->lists.size_count - 1);
    code_long(c, &e->plus);
}

/* The table's own name, which lives as long as the program runs. */
static dtype code_dtype(coder *c, const char **name) {
    code_words(c, name);
    const dtype type = dtype_find(*name);
    if (c->out != NULL)
        return type;
    c->in.bad |= type == DTYPE_COUNT;
    *name = dtype_words[c->in.bad ? DTYPE_FLOAT : type].name;
    return c->in.bad ? DTYPE_FLOAT : type;
}

static void code_array(coder *c, const program *p, program_array *a) {
    code_words(c, &a->name);
    const dtype type = code_dtype(c, &a->dtype);
    if (c->out == NULL)
        a->element_bytes = dtype_words[type].bytes;
    code_bool(c, &a->written);
    if (program_is_grid(p)) {
        code_words(c, &a->grid.field);
        code_int(c, &a->grid.reads, -1, p->array_count - 1);
        code_int(c, &a->grid.previous, -1, p->array_count - 1);
        code_bool(c, &a->grid.in_place);
        code_axes(c, a->grid.low, 0, MOST_NUMBER);
        code_axes(c, a->grid.high, 0, MOST_NUMBER);
        return;
    }
    for (int k = 0; k < PROGRAM_AXES; k++)
        code_extent(c, p, &a->lists.extent[k]);
    code_bool(c, &a->lists.updated);
    code_int(c, &a->lists.same_as, -1, p->array_count - 1);
}

static void code_arrays(coder *c, program *p) {
    p->arrays = code_list(c, p->arrays, &p->array_count, LAUNCH_ARRAYS, sizeof *p->arrays);
    for (int i = 0; i < p->array_count; i++)
        code_array(c, p, &p->arrays[i]);
    p->parameters =
        code_list(c, p->parameters, &p->parameter_count, LAUNCH_PARAMETERS, sizeof *p->parameters);
    for (int i = 0; i < p->parameter_count; i++) {
        code_words(c, &p->parameters[i].name);
        code_dtype(c, &p->parameters[i].dtype);
        code_bool(c, &p->parameters[i].has_value);
        code_double(c, &p->parameters[i].value);
    }
}

static void code_needs(coder *c, program_needs *n) {
    code_int(c, &n->multiple, 1, MOST_NUMBER);
    code_int(c, &n->cells, 1, MOST_NUMBER);
    code_long(c, &n->width);
    code_bool(c, &n->rows);
    code_axes(c, n->low, -1, MOST_NUMBER);
    code_axes(c, n->high, -1, MOST_NUMBER);
}

static void code_grid_launch(coder *c, const program *p, program_launch *l) {
    code_axes(c, l->grid.axes, -1, p->dims - 1);
    code_axes(c, l->grid.low, 0, MOST_NUMBER);
    code_axes(c, l->grid.high, 0, MOST_NUMBER);
    code_int(c, &l->grid.vector, 1, MOST_NUMBER);
    code_int(c, &l->grid.lane, 1, MOST_NUMBER);
    code_int(c, &l->grid.steps, 1, MOST_NUMBER);
    for (int k = 0; k < PROGRAM_AXES; k++)
        code_long(c, &l->grid.least[k]);
    code_bool(c, &l->grid.cooperative);
    code_int(c, &l->grid.spare, 0, p->launch_count - 1);
    if (l->grid.spare > 0)
        code_needs(c, &l->grid.needs);
    code_int(c, &l->grid.map_count, 0, p->grid.map_count);
    for (int i = 0; i < l->grid.map_count && !c->in.bad; i++) {
        code_int(c, &l->grid.maps[i].grid, 0, LAUNCH_ARRAYS - 1);
        code_axes(c, l->grid.maps[i].box, 1, MOST_NUMBER);
        code_int(c, &l->grid.maps[i].every, 0, MOST_EVERY);
        code_int(c, &l->grid.maps[i].first, 0, MOST_EVERY);
        c->in.bad |= l->grid.spare == 0 && l->grid.maps[i].every == 0;
        c->in.bad |= l->grid.maps[i].first > 0 && l->grid.maps[i].first >= l->grid.maps[i].every;
    }
}

static void code_lists_launch(coder *c, const program *p, program_launch *l) {
    for (int k = 0; k < PROGRAM_AXES; k++) {
        program_block_rule *rule = &l->lists.blocks[k];
        code_extent(c, p, &rule->items);
        code_bool(c, &rule->least);
        code_long(c, &rule->most);
        code_long(c, &rule->alone);
        code_int(c, &rule->cluster, 0, MOST_THREADS);
    }
    code_bool(c, &l->lists.resident);
}

static void code_launches(coder *c, program *p) {
    p->launches = code_list(c, p->launches, &p->launch_count, MOST_LAUNCHES, sizeof *p->launches);
    c->in.bad |= p->launch_count < 1;
    for (int i = 0; i < p->launch_count; i++) {
        program_launch *l = &p->launches[i];
        code_words(c, &l->entry);
        code_axes(c, l->per_block, 1, MOST_NUMBER);
        code_axes(c, l->block, 1, MOST_THREADS);
        code_size(c, &l->shared_bytes, MOST_NUMBER);
        code_bool(c, &l->barriers);
        code_bool(c, &l->abreast);
        code_bool(c, &l->early);
        if (program_is_grid(p))
            code_grid_launch(c, p, l);
        else
            code_lists_launch(c, p, l);
    }
}

static void code_grid(coder *c, program *p) {
    code_double(c, &p->grid.bytes_per_point);
    code_axes(c, p->grid.low, 0, MOST_NUMBER);
    code_axes(c, p->grid.high, 0, MOST_NUMBER);
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        code_bool(c, &p->grid.periodic[axis]);
    code_axes(c, p->grid.turned, 0, MOST_NUMBER);
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        code_bool(c, &p->grid.uncut[axis]);
    code_bool(c, &p->grid.corners);
    code_bool(c, &p->grid.positions);
    p->grid.layers = code_list(c, p->grid.layers, &p->grid.layer_count, LAUNCH_TEMPORARIES,
                               sizeof *p->grid.layers);
    for (int i = 0; i < p->grid.layer_count; i++) {
        code_words(c, &p->grid.layers[i].name);
        code_axes(c, p->grid.layers[i].low, 0, MOST_NUMBER);
        code_axes(c, p->grid.layers[i].high, 0, MOST_NUMBER);
    }
    code_bool(c, &p->grid.ways);
    code_int(c, &p->grid.map_count, 0, PROGRAM_MOST_MAPS);
    code_int(c, &p->grid.spare_count, 0, MOST_LAUNCHES / 2);
    const char *spare = p->grid.spare_source != NULL ? p->grid.spare_source : "";
    code_words(c, &spare);
    p->grid.spare_source = spare[0] != '\0' ? spare : NULL;
    code_size(c, &p->grid.spare_arch_begin, INT32_MAX);
    code_size(c, &p->grid.spare_arch_end, INT32_MAX);
}

/* After arrays and launches, to which calls refer. */
static void code_calls(coder *c, program *p) {
    p->grid.calls =
        code_list(c, p->grid.calls, &p->grid.call_count, MOST_CALLS, sizeof *p->grid.calls);
    code_int(c, &p->grid.call_grids, 0, LAUNCH_ARRAYS);
    for (int i = 0; i < p->grid.call_count; i++) {
        program_call *call = &p->grid.calls[i];
        code_int(c, &call->launch, -1, program_own_launches(p) - 1);
        code_bool(c, &call->once);
        code_axes(c, call->low, 0, MOST_NUMBER);
        code_axes(c, call->high, 0, MOST_NUMBER);
        int *grids =
            code_list(c, (int *)call->grids, &call->count, p->grid.call_grids, sizeof *call->grids);
        const bool fills = call->launch < 0;
        c->in.bad |= fills && call->count != 1;
        for (int g = 0; g < call->count; g++)
            code_int(c, &grids[g], fills ? p->array_count : 0,
                     p->array_count + p->grid.layer_count - 1);
        if (c->out == NULL)
            call->grids = grids;
        c->in.bad |= p->grid.ways && call->launch != i;
    }
    c->in.bad |=
        p->grid.ways && p->grid.call_count > 0 && p->grid.call_count != program_own_launches(p);
}

static void code_product(coder *c, program_product *m) {
    for (int i = 0; i < PROGRAM_STORAGE; i++)
        code_int(c, &m->storage[i], 0, i == STORAGE_FORMAT ? FORMAT_COUNT - 1 : MOST_NUMBER);
    diagonal *list = code_list(c, (diagonal *)m->diagonals, &m->diagonal_count, MOST_DIAGONALS,
                               sizeof *m->diagonals);
    for (int i = 0; i < m->diagonal_count; i++) {
        code_long(c, &list[i].offset);
        code_double(c, &list[i].value);
    }
    if (c->out == NULL)
        m->diagonals = list;
}

static void code_lists(coder *c, program *p) {
    p->lists.sizes =
        code_list(c, p->lists.sizes, &p->lists.size_count, LAUNCH_SIZES, sizeof *p->lists.sizes);
    for (int i = 0; i < p->lists.size_count; i++) {
        code_words(c, &p->lists.sizes[i].name);
        code_int(c, &p->lists.sizes[i].array, 0, LAUNCH_ARRAYS - 1);
        code_int(c, &p->lists.sizes[i].axis, 0, PROGRAM_AXES - 1);
    }
    p->lists.temporaries = code_list(c, p->lists.temporaries, &p->lists.temporary_count,
                                     LAUNCH_TEMPORARIES, sizeof *p->lists.temporaries);
    for (int i = 0; i < p->lists.temporary_count; i++) {
        program_temporary *t = &p->lists.temporaries[i];
        code_words(c, &t->name);
        code_extent(c, p, &t->items);
        code_long(c, &t->per);
        code_long(c, &t->bytes);
        code_long(c, &t->fixed);
        code_int(c, &t->fill, -1, 255);
    }
    code_bool(c, &p->lists.tagged);
    code_extent(c, p, &p->lists.points);
    if (p->kind != PROGRAM_PRODUCT)
        return;
    if (c->out == NULL)
        p->lists.product = job_alloc(c->job, sizeof *p->lists.product);
    code_product(c, p->lists.product);
}

static void code_program(coder *c, program *p, const char *const *texts, sg_kind *kind) {
    int which = *kind;
    code_int(c, &which, SG_KIND_GRID, SG_KIND_PRODUCT);
    *kind = (sg_kind)which;
    p->kind = (program_kind)which;
    p->name = texts[SG_TEXT_NAME];
    p->source = texts[SG_TEXT_SOURCE];
    p->target = texts[SG_TEXT_ARCH];
    code_int(c, &p->dims, 1, PROGRAM_AXES);
    code_size(c, &p->element_bytes, sizeof(double));
    if (program_is_grid(p))
        code_grid(c, p);
    else
        code_lists(c, p);
    code_arrays(c, p);
    code_launches(c, p);
    if (program_is_grid(p))
        code_calls(c, p);
    code_size(c, &p->arguments_bytes, LAUNCH_BYTES);
    code_size(c, &p->arch_begin, INT32_MAX);
    code_size(c, &p->arch_end, INT32_MAX);
}

/* What the program and the binary say too is not written again. */
static void code_info(coder *c, sg_kernel_info *info) {
    code_int(c, &info->points, 0, INT32_MAX);
    code_int(c, &info->radius, 0, MOST_NUMBER);
    code_double(c, &info->textbook_operations);
    code_double(c, &info->emitted_operations);
    code_int(c, &info->threads, 1, MOST_THREADS);
    code_size(c, &info->shared_bytes, MOST_NUMBER);
    code_int(c, &info->registers, -1, INT32_MAX);
    code_int(c, &info->local_bytes, -1, INT32_MAX);
    code_int(c, &info->blocks_resident, -1, INT32_MAX);
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        code_long(c, &info->size[axis]);
    code_double(c, &info->occupancy);
}

static void code_binary(coder *c, binary *b) {
    int kind = b->kind;
    code_int(c, &kind, 0, BINARY_KINDS - 1);
    b->kind = (binary_kind)kind;
    code_bytes(c, &b->data);
    code_int(c, &b->registers, -1, INT32_MAX);
    code_int(c, &b->shared_bytes, -1, INT32_MAX);
    code_int(c, &b->local_bytes, -1, INT32_MAX);
    code_double(c, &b->seconds);
    code_words(c, &b->compiler);
}

static void code_file(coder *c, kernel_file *f, program *p) {
    for (int i = 0; i <= SG_TEXT_FAMILY; i++)
        code_words(c, &f->texts[i]);
    code_program(c, p, f->texts, &f->info.kind);
    code_info(c, &f->info);
    code_binary(c, &f->binary);
    code_words(c, &f->machine);
}

blob kernel_file_write(job *j, const kernel_file *f) {
    text t = text_new(j);
    coder c = {.job = j, .out = &t};
    kernel_file copy = *f;
    program p = *f->program;
    code_file(&c, &copy, &p);
    return (blob){t.data, t.length};
}

bool kernel_file_read(job *j, blob payload, kernel_file *out, const char **why) {
    coder c = {.job = j, .in = record_of(payload.data, payload.size)};
    kernel_file f = {0};
    program *p = job_alloc(j, sizeof *p);
    code_file(&c, &f, p);
    if (!record_done(&c.in) || (f.binary.kind != BINARY_CUBIN && f.binary.kind != BINARY_HOST)) {
        *why = "its content makes no sense";
        return false;
    }
    f.program = p;
    f.info.struct_size = sizeof f.info;
    f.info.dims = p->dims;
    f.info.element_size = p->element_bytes;
    f.info.arrays = p->array_count;
    f.info.parameters = p->parameter_count;
    f.info.bytes_per_point = program_bytes_per_point(p);
    f.info.origin = SG_FROM_FILE;
    f.info.steps = program_steps(p);
    f.info.compile_seconds = f.binary.seconds;
    f.info.compiler = f.binary.compiler;
    f.info.found = "";
    *out = f;
    return true;
}
