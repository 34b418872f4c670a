/* Kernel files of small specs, whose binary is made up. Takes: the text of a spec, a schedule.
   Makes: the content of a kernel file, as saving its kernel would. */
#ifndef TESTS_KERNEL_FILES_H
#define TESTS_KERNEL_FILES_H

#include <string.h>

#include "gen/spec/spec.h"
#include "matrix/format.h"
#include "runtime/api/build.h"
#include "tests/unit/runtime/api/specs.h"
#include "tests/unit/runtime/launch/lists_call.h"

static const char fake_code[] = "\177ELF\0 code";

/* `brief`: without a source worth compiling. */
static inline kernel_file *file_of(job *j, const char *spec_text, const char *schedule_text,
                                   binary_kind kind, bool brief) {
    const subject *s = spec_load(j, "test.lua", spec_text, NULL)->subjects[0];
    const model *m = s->expressions;
    family_request request = {
        .schedule = schedule_text, .gpu = gpu_find("sm_90"), .size = {40, 30, 20}, .steps = 1};
    for (int axis = m->dims; axis < AXES; axis++)
        request.size[axis] = 1;
    const family_build *b = s->family->build(j, s, &request);
    program *made = job_alloc(j, sizeof *made);
    *made = *b->program;
    const program_launch *l = &made->launches[program_main_launch(made)];
    if (brief) {
        made->source = "// source\n";
        made->arch_begin = 3;
        made->arch_end = 9;
        made->grid.spare_source = made->grid.spare_count > 0 ? "// spare\n" : NULL;
        made->grid.spare_arch_begin = made->grid.spare_arch_end = 0;
    }
    kernel_file *f = job_alloc(j, sizeof *f);
    *f = (kernel_file){.program = made,
                       .texts = {made->name, "a shape", "a model\n", "a plan", "a reason",
                                 made->source, dtype_words[m->dtype].name, "fixed", made->target,
                                 "stencil"},
                       .machine = kind == BINARY_HOST ? "this machine" : ""};
    f->binary = (binary){.kind = kind,
                         .data = {fake_code, sizeof fake_code},
                         .registers = 40,
                         .shared_bytes = 1024,
                         .local_bytes = -1,
                         .seconds = 0.25,
                         .compiler = "a compiler"};
    f->info = (sg_kernel_info){.struct_size = sizeof f->info,
                               .dims = made->dims,
                               .points = b->points,
                               .radius = b->radius,
                               .element_size = made->element_bytes,
                               .arrays = made->array_count,
                               .parameters = made->parameter_count,
                               .textbook_operations = 13,
                               .emitted_operations = 8,
                               .bytes_per_point = made->grid.bytes_per_point,
                               .threads = l->block[0] * l->block[1] * l->block[2],
                               .shared_bytes = l->shared_bytes,
                               .registers = 32,
                               .local_bytes = 16,
                               .blocks_resident = 8,
                               .compile_seconds = 0.25,
                               .compiler = f->binary.compiler,
                               .occupancy = 0.5,
                               .steps = 1,
                               .origin = SG_FROM_FILE};
    memcpy(f->info.size, request.size, sizeof request.size);
    return f;
}

/* What tests and seeds of the fuzzer are made of. */
typedef struct file_case {
    const char *name, *spec, *schedule;
    binary_kind kind;
} file_case;

static const file_case file_cases[] = {
    {"heat7", HEAT7, "coarsened tile=32x8 coarsen=z4", BINARY_CUBIN},
    {"blur", BLUR2, "naive", BINARY_HOST},
    {"wave", WAVE2, "register", BINARY_CUBIN},
    {"slope", SLOPE1, "naive", BINARY_HOST},
    {"shift", SHIFT2, "naive tile=32x4 vec=4", BINARY_CUBIN},
    {"filter", FILTER2, "naive tile=32x4", BINARY_CUBIN},
    {"relax", RELAX1, "1: naive | 2: naive", BINARY_HOST},
};
enum { FILE_CASES = sizeof file_cases / sizeof *file_cases };

/* One more, of lists, which has no spec. */
static inline kernel_file *file_of_lists(job *j) {
    join *made = join_lists(job_alloc(j, sizeof *made));
    kernel_file *f = job_alloc(j, sizeof *f);
    made->program.source = "// source\n";
    made->program.lists.tagged = true;
    made->program.arguments_bytes += 8;
    made->launches[0].lists.resident = true;
    made->launches[1].early = true;
    made->launches[1].lists.blocks[0].alone = 100;
    made->launches[1].lists.blocks[0].most = 16;
    made->launches[1].lists.blocks[0].cluster = 4;
    static const diagonal diagonals[] = {{-7, 0.5}, {0, -1}};
    program_product *product = job_alloc(j, sizeof *product);
    *product = (program_product){.diagonals = diagonals, .diagonal_count = 2};
    product->storage[STORAGE_FORMAT] = FORMAT_STENCIL;
    product->storage[STORAGE_INDEX_BYTES] = 8;
    product->storage[STORAGE_VALUE_BYTES] = 4;
    product->storage[STORAGE_PACKET] = 64;
    made->program.kind = PROGRAM_PRODUCT;
    made->program.lists.product = product;
    *f = (kernel_file){.program = &made->program,
                       .texts = {"join", "lists", "a model\n", "a plan", "a reason", "// source\n",
                                 "int64", "", "sm_90", "join"},
                       .machine = ""};
    f->binary = (binary){.kind = BINARY_CUBIN,
                         .data = {fake_code, sizeof fake_code},
                         .registers = 40,
                         .compiler = "a compiler"};
    f->info = (sg_kernel_info){.kind = SG_KIND_PRODUCT,
                               .struct_size = sizeof f->info,
                               .dims = 1,
                               .element_size = 8,
                               .arrays = JOIN_ARRAYS,
                               .parameters = 2,
                               .threads = 8,
                               .steps = 1,
                               .compiler = f->binary.compiler,
                               .size = {1000, 1, 1},
                               .origin = SG_FROM_FILE};
    return f;
}

#endif
