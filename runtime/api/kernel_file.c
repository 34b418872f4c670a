/* Kernel files to bytes and back; the program that is read is checked in kernel_reader.c. */
#include "runtime/api/kernel_file.h"

#include <string.h>

#include "runtime/api/kernel_reader.h"

const sealed_kind kernel_file_kind = {
    .magic = {'s', 'g', 'k', 'e', 'r', 'n', 'e', 'l'},
    .version = 7,
    .title = "a kernel file of stencilgen",
};

/* ---- writing ------------------------------------------------------------------------------- */

static void put_ints(text *t, const int *values) {
    for (int k = 0; k < PROGRAM_AXES; k++)
        record_put_int(t, values[k]);
}

static void put_extent(text *t, const program_extent *e) {
    record_put_int(t, e->size[0]);
    record_put_int(t, e->size[1]);
    record_put_int(t, e->plus);
}

static void put_arrays(text *t, const program *p) {
    record_put_int(t, p->array_count);
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        record_put_text(t, a->name);
        record_put_text(t, a->dtype); /* says how large an element is */
        record_put_int(t, a->written);
        if (program_is_grid(p)) {
            record_put_text(t, a->grid.field);
            record_put_int(t, a->grid.reads);
            record_put_int(t, a->grid.previous);
            put_ints(t, a->grid.low);
            put_ints(t, a->grid.high);
        } else {
            for (int k = 0; k < PROGRAM_AXES; k++)
                put_extent(t, &a->lists.extent[k]);
            record_put_int(t, a->lists.updated);
            record_put_int(t, a->lists.same_as);
        }
    }
}

static void put_parameters(text *t, const program *p) {
    record_put_int(t, p->parameter_count);
    for (int i = 0; i < p->parameter_count; i++) {
        record_put_text(t, p->parameters[i].name);
        record_put_text(t, p->parameters[i].dtype);
        record_put_int(t, p->parameters[i].has_value);
        record_put_double(t, p->parameters[i].value);
    }
}

static void put_needs(text *t, const program_needs *n) {
    record_put_int(t, n->multiple);
    record_put_int(t, n->width);
    record_put_int(t, n->rows);
    put_ints(t, n->low);
    put_ints(t, n->high);
}

static void put_grid_launch(text *t, const program_launch *l) {
    put_ints(t, l->grid.axes);
    put_ints(t, l->grid.low);
    put_ints(t, l->grid.high);
    record_put_int(t, l->grid.vector);
    record_put_int(t, l->grid.steps);
    for (int k = 0; k < PROGRAM_AXES; k++)
        record_put_int(t, l->grid.least[k]);
    record_put_int(t, l->grid.cooperative);
    record_put_int(t, l->grid.spare);
    if (l->grid.spare > 0)
        put_needs(t, &l->grid.needs);
}

static void put_lists_launch(text *t, const program_launch *l) {
    for (int k = 0; k < PROGRAM_AXES; k++) {
        const program_block_rule *rule = &l->lists.blocks[k];
        put_extent(t, &rule->items);
        record_put_int(t, rule->least);
        record_put_int(t, rule->most);
        record_put_int(t, rule->alone);
        record_put_int(t, rule->cluster);
    }
    record_put_int(t, l->lists.resident);
    record_put_int(t, l->lists.early);
}

static void put_launches(text *t, const program *p) {
    record_put_int(t, p->launch_count);
    if (program_is_grid(p)) {
        record_put_int(t, p->grid.ways);
        record_put_int(t, p->grid.spare_count);
    }
    for (int i = 0; i < p->launch_count; i++) {
        const program_launch *l = &p->launches[i];
        record_put_text(t, l->entry);
        put_ints(t, l->per_block);
        put_ints(t, l->block);
        record_put_int(t, (int64_t)l->shared_bytes);
        record_put_int(t, l->barriers);
        if (program_is_grid(p))
            put_grid_launch(t, l);
        else
            put_lists_launch(t, l);
    }
}

static void put_layers(text *t, const program *p) {
    record_put_int(t, p->grid.layer_count);
    for (int i = 0; i < p->grid.layer_count; i++) {
        record_put_text(t, p->grid.layers[i].name);
        put_ints(t, p->grid.layers[i].low);
        put_ints(t, p->grid.layers[i].high);
    }
}

static void put_lists(text *t, const program *p) {
    record_put_int(t, p->lists.size_count);
    for (int i = 0; i < p->lists.size_count; i++) {
        record_put_text(t, p->lists.sizes[i].name);
        record_put_int(t, p->lists.sizes[i].array);
        record_put_int(t, p->lists.sizes[i].axis);
    }
    record_put_int(t, p->lists.temporary_count);
    for (int i = 0; i < p->lists.temporary_count; i++) {
        const program_temporary *a = &p->lists.temporaries[i];
        record_put_text(t, a->name);
        put_extent(t, &a->items);
        record_put_int(t, a->per);
        record_put_int(t, a->bytes);
        record_put_int(t, a->fixed);
        record_put_int(t, a->fill);
    }
    record_put_int(t, p->lists.tagged);
    put_extent(t, &p->lists.points);
}

static void put_product(text *t, const program_product *p) {
    for (int i = 0; i < PROGRAM_STORAGE; i++)
        record_put_int(t, p->storage[i]);
    record_put_int(t, p->diagonal_count);
    for (int i = 0; i < p->diagonal_count; i++) {
        record_put_int(t, p->diagonals[i].offset);
        record_put_double(t, p->diagonals[i].value);
    }
}

/* The name, the source and the target are among the texts. */
static void put_program(text *t, const program *p) {
    record_put_int(t, p->kind);
    record_put_int(t, p->dims);
    record_put_int(t, (int64_t)p->element_bytes);
    if (program_is_grid(p))
        put_layers(t, p);
    else
        put_lists(t, p);
    if (p->kind == PROGRAM_PRODUCT)
        put_product(t, p->lists.product);
    put_arrays(t, p);
    if (program_is_grid(p))
        record_put_double(t, p->grid.bytes_per_point);
    put_parameters(t, p);
    put_launches(t, p);
    record_put_int(t, (int64_t)p->arguments_bytes);
    record_put_int(t, (int64_t)p->arch_begin);
    record_put_int(t, (int64_t)p->arch_end);
    if (program_own_launches(p) < p->launch_count) {
        record_put_text(t, p->grid.spare_source);
        record_put_int(t, (int64_t)p->grid.spare_arch_begin);
        record_put_int(t, (int64_t)p->grid.spare_arch_end);
    }
}

/* What the program and the binary say too is not said again. */
static void put_info(text *t, const sg_kernel_info *info) {
    record_put_int(t, info->points);
    record_put_int(t, info->radius);
    record_put_double(t, info->textbook_operations);
    record_put_double(t, info->emitted_operations);
    record_put_int(t, info->threads);
    record_put_int(t, (int64_t)info->shared_bytes);
    record_put_int(t, info->registers);
    record_put_int(t, info->local_bytes);
    record_put_int(t, info->blocks_resident);
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        record_put_int(t, info->size[axis]);
    record_put_double(t, info->occupancy);
}

static void put_binary(text *t, const binary *b) {
    record_put_int(t, b->kind);
    record_put_bytes(t, b->data.data, b->data.size);
    record_put_int(t, b->registers);
    record_put_int(t, b->shared_bytes);
    record_put_int(t, b->local_bytes);
    record_put_double(t, b->seconds);
    record_put_text(t, b->compiler);
}

blob kernel_file_write(job *j, const kernel_file *f) {
    text t = text_new(j);
    for (int i = 0; i <= SG_TEXT_FAMILY; i++)
        record_put_text(&t, f->texts[i]);
    put_program(&t, f->program);
    put_info(&t, &f->info);
    put_binary(&t, &f->binary);
    record_put_text(&t, f->machine);
    return (blob){t.data, t.length};
}

/* ---- reading ------------------------------------------------------------------------------ */

static void check_target(reader *r, const char *target) {
    const size_t digits = strncmp(target, "sm_", 3) == 0 ? strspn(target + 3, "0123456789") : 0;
    reader_require(r, digits >= 2 && digits <= 3 && target[3 + digits] == '\0',
                   "the architecture is none");
}

static void get_texts(reader *r, const char **texts) {
    for (int i = 0; i <= SG_TEXT_FAMILY; i++)
        texts[i] =
            i == SG_TEXT_NAME ? reader_name(r, "the kernel's name") : reader_text(r, "a text");
    check_target(r, texts[SG_TEXT_ARCH]);
}

static void get_info(reader *r, const program *p, sg_kernel_info *info) {
    *info = (sg_kernel_info){
        .struct_size = sizeof *info,
        .dims = p->dims,
        .element_size = p->element_bytes,
        .arrays = p->array_count,
        .parameters = p->parameter_count,
        .bytes_per_point = program_bytes_per_point(p),
        .origin = SG_FROM_FILE,
        .steps = program_steps(p),
        .kind = (sg_kind)p->kind,
    };
    info->points = reader_int(r, 0, INT32_MAX, "the number of points");
    info->radius = reader_int(r, 0, MOST_REACH, "the radius");
    info->textbook_operations = reader_double(r, 0, 1e15, "the number of operations");
    info->emitted_operations = reader_double(r, 0, 1e15, "the number of operations");
    info->threads = reader_int(r, 1, MOST_THREADS, "the number of a block's threads");
    info->shared_bytes =
        (size_t)reader_int(r, 0, MOST_SHARED_BYTES, "the shared memory of a block");
    info->registers = reader_int(r, -1, INT32_MAX, "the number of registers");
    info->local_bytes = reader_int(r, -1, INT32_MAX, "the local memory");
    info->blocks_resident = reader_int(r, -1, INT32_MAX, "the number of resident blocks");
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        info->size[axis] = record_int(&r->record);
        reader_require(r, axis < p->dims ? info->size[axis] >= 1 : info->size[axis] == 1,
                       "a size planned for is none");
    }
    info->occupancy = reader_double(r, -1, 1, "the occupancy");
}

static void get_binary(reader *r, binary *b) {
    *b =
        (binary){.kind = (binary_kind)reader_int(r, 0, BINARY_KINDS - 1, "the kind of the binary")};
    reader_require(r, b->kind == BINARY_CUBIN || b->kind == BINARY_HOST,
                   "the binary is of no such kind");
    b->data = record_bytes(&r->record);
    reader_require(r, b->data.size > 0, "there is no binary");
    b->registers = reader_int(r, -1, INT32_MAX, "the number of registers");
    b->shared_bytes = reader_int(r, -1, INT32_MAX, "the shared memory");
    b->local_bytes = reader_int(r, -1, INT32_MAX, "the local memory");
    b->seconds = reader_double(r, 0, 1e15, "the time of compiling");
    b->compiler = reader_text(r, "the compiler");
}

bool kernel_file_read(job *j, blob payload, kernel_file *out, const char **why) {
    reader r = {.job = j, .record = record_of(payload.data, payload.size)};
    kernel_file f = {0};
    get_texts(&r, f.texts);
    f.program = kernel_read_program(&r, f.texts);
    get_info(&r, f.program, &f.info);
    get_binary(&r, &f.binary);
    f.info.compile_seconds = f.binary.seconds;
    f.info.compiler = f.binary.compiler;
    f.info.found = "";
    f.machine = reader_text(&r, "the machine");
    reader_require(&r, (f.binary.kind == BINARY_HOST) == (f.machine[0] != '\0'),
                   "the machine and the binary do not fit");
    reader_require(&r, record_left(&r.record) == 0, "there is more of it than there should be");
    if (r.record.bad) {
        const char *what = r.why != NULL ? r.why : "there is less of it than there should be";
        *why = job_print(j, "its content makes no sense: %s", what);
        return false;
    }
    *out = f;
    return true;
}
