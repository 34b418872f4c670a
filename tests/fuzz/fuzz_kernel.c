/* Kernel files: the first byte says whether the rest is one ('f'), or the content of one that is to
   be sealed first. What can be read says the same when it is written again, and a launch by it
   stays within what it is given. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/fuzz/fuzz.h"

#include <string.h>

#include "runtime/api/kernel_file.h"
#include "runtime/launch/lists.h"

typedef struct input {
    const uint8_t *bytes;
    size_t count;
} input;

enum { RESIDENT = 3 };

/* A device that looks at what it is asked to launch. */
static fault look(device *d, const module *m, int which, const int64_t grid[3],
                  const void *arguments, size_t bytes, void *stream, int *code) {
    (void)d;
    (void)stream;
    unsigned char copy[LAUNCH_BYTES];
    const program *p = ((const sg_kernel *)(const void *)m)->program;
    DEMAND(which < p->launch_count && bytes == p->arguments_bytes);
    for (int k = 0; k < PROGRAM_AXES; k++)
        DEMAND(grid[k] >= 1 && grid[k] <= launch_most_blocks[k]);
    DEMAND(!p->launches[which].resident || (grid[0] <= RESIDENT && grid[1] == 1 && grid[2] == 1));
    memcpy(copy, arguments, bytes);
    *code = 0;
    return FAULT_NONE;
}

static int64_t look_at_resident(device *d, const module *m, int which) {
    (void)d;
    DEMAND(((const sg_kernel *)(const void *)m)->program->launches[which].resident);
    return RESIDENT;
}

enum { TEMPORARY = 1 << 20 }; /* its address, and less than those of arrays */

static fault look_at_fill(device *d, void *to, int byte, size_t bytes, void *stream, int *code) {
    (void)d;
    (void)stream;
    DEMAND((uintptr_t)to >= TEMPORARY && bytes > 0 && byte >= 0 && byte <= 255);
    *code = 0;
    return FAULT_NONE;
}

/* Arrays as long as the program says for some sizes; any of them may be more than there can be. */
static void launch_lists(const sg_kernel *k, const double *parameters) {
    const program *p = k->program;
    int64_t sizes[LAUNCH_SIZES];
    sg_grid grids[LAUNCH_ARRAYS];
    launch l;
    size_t bytes;
    int code;
    for (int i = 0; i < LAUNCH_SIZES; i++)
        sizes[i] = 3 * i;
    for (int i = 0; i < p->array_count; i++) {
        grids[i] = (sg_grid){.data = (void *)(uintptr_t)((size_t)(i + 1) << 40)};
        for (int axis = 0; axis < PROGRAM_AXES; axis++)
            grids[i].size[axis] = lists_extent(&p->arrays[i].extent[axis], sizes);
    }
    if (!lists_measure(NULL, p, grids, &l, &bytes))
        return;
    const sg_arguments arguments = {.struct_size = sizeof arguments,
                                    .grids = grids,
                                    .grid_count = p->array_count,
                                    .parameters = parameters,
                                    .parameter_count = p->parameter_count,
                                    .temporary = (void *)(uintptr_t)TEMPORARY,
                                    .temporary_bytes = bytes};
    if (launch_check(NULL, k, &arguments, false, &l))
        DEMAND(launch_send(k, &l, NULL, &code) == FAULT_NONE);
}

/* A launch by a caller who knows only the facts that the kernel reports. */
static void launch_once_more(const kernel_file *f) {
    static const device_ops ops = {
        .name = "none", .launch = look, .resident = look_at_resident, .fill_async = look_at_fill};
    device fake = {&ops};
    sg_context context = {.device = &fake};
    sg_kernel kernel = {.context = &context, .program = f->program};
    sg_grid grids[LAUNCH_ARRAYS];
    double parameters[LAUNCH_PARAMETERS];
    launch l;
    int code;
    kernel.module = (module *)(void *)&kernel;
    memcpy(kernel.texts, f->texts, sizeof kernel.texts);
    for (int i = 0; i < f->program->array_count; i++)
        grids[i] =
            (sg_grid){.data = (void *)(uintptr_t)((size_t)(i + 1) << 24),
                      .size = {100, f->program->dims > 1 ? 20 : 1, f->program->dims > 2 ? 10 : 1}};
    for (int i = 0; i < LAUNCH_PARAMETERS; i++)
        parameters[i] = i;
    if (f->program->shape == PROGRAM_LISTS) {
        launch_lists(&kernel, parameters);
        return;
    }
    sg_arguments arguments = {.struct_size = sizeof arguments,
                              .grids = grids,
                              .grid_count = f->program->array_count,
                              .parameters = parameters,
                              .parameter_count = f->program->parameter_count,
                              .temporary = (void *)(uintptr_t)((size_t)1 << 50)};
    DEMAND(launch_measure(NULL, f->program, &arguments, &l, &arguments.temporary_bytes));
    DEMAND(launch_check(NULL, &kernel, &arguments, true, &l));
    DEMAND(launch_send(&kernel, &l, NULL, &code) == FAULT_NONE);
}

static void check_launch(const program *p, const program_launch *l) {
    int64_t threads = 1;
    const bool grid = p->shape == PROGRAM_GRID;
    DEMAND(l->entry[0] != '\0' && (!grid || (l->axes[0] == 0 && l->vector >= 1)));
    for (int k = 0; k < PROGRAM_AXES; k++) {
        DEMAND(l->axes[k] >= -1 && l->axes[k] < p->dims);
        DEMAND(l->per_block[k] > 0 && l->block[k] > 0 && l->low[k] >= 0 && l->high[k] >= 0);
        threads *= l->block[k];
    }
    DEMAND(threads <= 1024 && l->steps >= 1);
}

static void check_program(const program *p) {
    DEMAND(p->array_count >= 1 && p->array_count <= LAUNCH_ARRAYS);
    DEMAND(p->parameter_count >= 0 && p->parameter_count <= LAUNCH_PARAMETERS);
    DEMAND(p->arguments_bytes <= LAUNCH_BYTES && p->launch_count >= 1);
    DEMAND(p->shape == PROGRAM_LISTS || PROGRAM_OFFSET_GRIDS +
                                                PROGRAM_GRID_BYTES * (size_t)program_grid_count(p) +
                                                p->element_bytes * (size_t)p->parameter_count <=
                                            p->arguments_bytes);
    DEMAND(p->size_count <= LAUNCH_SIZES && p->temporary_count <= LAUNCH_TEMPORARIES);
    DEMAND(8 * (size_t)(p->size_count + p->array_count + p->temporary_count + p->parameter_count +
                        p->tagged) <=
           p->arguments_bytes);
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        DEMAND(a->reads < p->array_count && a->previous < p->array_count);
        DEMAND(a->reads < 0 || (a->written && !p->arrays[a->reads].written));
        DEMAND(a->previous < 0 || (a->reads >= 0 && a->previous != a->reads));
    }
    for (int i = 0; i < p->launch_count; i++)
        check_launch(p, &p->launches[i]);
    const program_launch *last = &p->launches[p->launch_count - 1];
    DEMAND(!p->ways || (p->layer_count == 0 && last->steps == 1 && !last->cooperative));
}

static void read_file(job *j, void *argument) {
    const input *in = argument;
    const bool whole = in->bytes[0] == 'f';
    const blob rest = {in->bytes + 1, in->count - 1};
    const digest key = {{1, 2, 3}};
    const char *why = NULL;
    digest found;
    const blob file = whole ? rest : sealed_bytes(j, &kernel_file_kind, &key, rest);
    const blob payload = sealed_open(j, file, &kernel_file_kind, NULL, &found, &why);
    DEMAND(whole || (why == NULL && payload.size == rest.size && digest_equal(&key, &found)));
    DEMAND(why == NULL || (why[0] != '\0' && payload.data == NULL));
    kernel_file f;
    if (why != NULL)
        return;
    if (!kernel_file_read(j, payload, &f, &why)) {
        DEMAND(why != NULL && why[0] != '\0');
        return;
    }
    check_program(f.program);
    launch_once_more(&f);
    const blob again = kernel_file_write(j, &f);
    DEMAND(again.size == payload.size && memcmp(again.data, payload.data, again.size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    input in = {bytes, count};
    job *j;
    if (count > 0)
        DEMAND(job_run(&allocator_libc, read_file, &in, &j) == FAULT_NONE);
    else
        return 0;
    job_end(j);
    return 0;
}
