/* Kernel files: what comes back is what was written, and what makes no sense is refused, however it
   came to be. With a folder as its argument it writes the fuzzer's seeds there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>

#include "kernel_files.h"
#include "miser.h"
#include "runtime/launch.h"

static void in_job(void (*body)(job *, void *), void *argument) {
    job *j;
    const fault f = job_run(&allocator_libc, body, argument, &j);
    if (f != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
}

enum { LISTS_CASE = FILE_CASES, ALL_CASES };

static kernel_file *file_of_case(job *j, int index, bool brief) {
    if (index == LISTS_CASE)
        return file_of_lists(j);
    const file_case *c = &file_cases[index];
    return file_of(j, c->spec, c->schedule, c->kind, brief);
}

static const char *name_of_case(int index) {
    return index == LISTS_CASE ? "join" : file_cases[index].name;
}

/* ---- there and back ------------------------------------------------------------------------ */

static void expect_same_extents(const program_extent *a, const program_extent *b) {
    assert_memory_equal(a->size, b->size, sizeof a->size);
    assert_true(a->plus == b->plus);
}

static void expect_same_arrays(const program *a, const program *b) {
    assert_int_equal(a->array_count, b->array_count);
    for (int i = 0; i < a->array_count; i++) {
        assert_string_equal(a->arrays[i].name, b->arrays[i].name);
        assert_string_equal(a->arrays[i].field, b->arrays[i].field);
        assert_int_equal(a->arrays[i].written, b->arrays[i].written);
        assert_int_equal(a->arrays[i].reads, b->arrays[i].reads);
        assert_int_equal(a->arrays[i].previous, b->arrays[i].previous);
        assert_memory_equal(a->arrays[i].low, b->arrays[i].low, sizeof a->arrays[i].low);
        assert_memory_equal(a->arrays[i].high, b->arrays[i].high, sizeof a->arrays[i].high);
        assert_string_equal(a->arrays[i].dtype, b->arrays[i].dtype);
        assert_int_equal(a->arrays[i].element_bytes, b->arrays[i].element_bytes);
        assert_int_equal(a->arrays[i].updated, b->arrays[i].updated);
        assert_int_equal(a->arrays[i].same_as, b->arrays[i].same_as);
        for (int k = 0; k < PROGRAM_AXES; k++)
            expect_same_extents(&a->arrays[i].extent[k], &b->arrays[i].extent[k]);
    }
    assert_int_equal(a->parameter_count, b->parameter_count);
    for (int i = 0; i < a->parameter_count; i++) {
        assert_string_equal(a->parameters[i].name, b->parameters[i].name);
        assert_string_equal(a->parameters[i].dtype, b->parameters[i].dtype);
        assert_int_equal(a->parameters[i].has_value, b->parameters[i].has_value);
        assert_true(a->parameters[i].value == b->parameters[i].value);
    }
}

static void expect_same_lists(const program *a, const program *b) {
    assert_int_equal(a->shape, b->shape);
    assert_int_equal(a->size_count, b->size_count);
    for (int i = 0; i < a->size_count; i++) {
        assert_string_equal(a->sizes[i].name, b->sizes[i].name);
        assert_int_equal(a->sizes[i].array, b->sizes[i].array);
        assert_int_equal(a->sizes[i].axis, b->sizes[i].axis);
    }
    assert_int_equal(a->temporary_count, b->temporary_count);
    for (int i = 0; i < a->temporary_count; i++) {
        const program_temporary *x = &a->temporaries[i], *y = &b->temporaries[i];
        assert_string_equal(x->name, y->name);
        expect_same_extents(&x->items, &y->items);
        assert_true(x->per == y->per && x->bytes == y->bytes && x->fixed == y->fixed);
        assert_int_equal(x->fill, y->fill);
    }
    assert_int_equal(a->tagged, b->tagged);
    expect_same_extents(&a->points, &b->points);
    assert_memory_equal(a->storage, b->storage, sizeof a->storage);
    assert_int_equal(a->diagonal_count, b->diagonal_count);
    for (int i = 0; i < a->diagonal_count; i++)
        assert_memory_equal(&a->diagonals[i], &b->diagonals[i], sizeof a->diagonals[i]);
}

static void expect_same_layers(const program *a, const program *b) {
    assert_int_equal(a->layer_count, b->layer_count);
    for (int i = 0; i < a->layer_count; i++) {
        const program_layer *x = &a->layers[i], *y = &b->layers[i];
        assert_string_equal(x->name, y->name);
        assert_memory_equal(x->low, y->low, sizeof x->low);
        assert_memory_equal(x->high, y->high, sizeof x->high);
    }
}

static void expect_same_programs(const program *a, const program *b) {
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->source, b->source);
    assert_string_equal(a->target, b->target);
    assert_int_equal(a->dims, b->dims);
    assert_int_equal(a->element_bytes, b->element_bytes);
    assert_int_equal(a->arguments_bytes, b->arguments_bytes);
    assert_true(a->bytes_per_point == b->bytes_per_point);
    expect_same_arrays(a, b);
    expect_same_lists(a, b);
    expect_same_layers(a, b);
    assert_int_equal(a->launch_count, b->launch_count);
    assert_int_equal(a->ways, b->ways);
    for (int i = 0; i < a->launch_count; i++) {
        const program_launch *x = &a->launches[i], *y = &b->launches[i];
        assert_string_equal(x->entry, y->entry);
        assert_memory_equal(x->axes, y->axes, sizeof x->axes);
        assert_memory_equal(x->per_block, y->per_block, sizeof x->per_block);
        assert_memory_equal(x->block, y->block, sizeof x->block);
        assert_memory_equal(x->low, y->low, sizeof x->low);
        assert_memory_equal(x->high, y->high, sizeof x->high);
        assert_int_equal(x->shared_bytes, y->shared_bytes);
        assert_int_equal(x->barriers, y->barriers);
        assert_int_equal(x->vector, y->vector);
        assert_int_equal(x->steps, y->steps);
        assert_memory_equal(x->least, y->least, sizeof x->least);
        assert_int_equal(x->cooperative, y->cooperative);
        for (int k = 0; k < PROGRAM_AXES; k++) {
            expect_same_extents(&x->blocks[k].items, &y->blocks[k].items);
            assert_int_equal(x->blocks[k].least, y->blocks[k].least);
            assert_true(x->blocks[k].most == y->blocks[k].most);
            assert_true(x->blocks[k].alone == y->blocks[k].alone);
            assert_int_equal(x->blocks[k].cluster, y->blocks[k].cluster);
        }
        assert_int_equal(x->resident, y->resident);
    }
}

static void expect_same_files(const kernel_file *a, const kernel_file *b) {
    expect_same_programs(a->program, b->program);
    sg_kernel_info x = a->info, y = b->info;
    assert_string_equal(x.compiler, y.compiler);
    x.compiler = y.compiler = NULL;
    assert_memory_equal(&x, &y, sizeof x);
    for (int i = 0; i <= SG_TEXT_FAMILY; i++)
        assert_string_equal(a->texts[i], b->texts[i]);
    assert_int_equal(a->binary.kind, b->binary.kind);
    assert_int_equal(a->binary.data.size, b->binary.data.size);
    assert_memory_equal(a->binary.data.data, b->binary.data.data, a->binary.data.size);
    assert_int_equal(a->binary.registers, b->binary.registers);
    assert_int_equal(a->binary.shared_bytes, b->binary.shared_bytes);
    assert_int_equal(a->binary.local_bytes, b->binary.local_bytes);
    assert_true(a->binary.seconds == b->binary.seconds);
    assert_string_equal(a->binary.compiler, b->binary.compiler);
    assert_string_equal(a->machine, b->machine);
}

static void write_and_read(job *j, void *argument) {
    (void)argument;
    for (int i = 0; i < ALL_CASES; i++) {
        const kernel_file *f = file_of_case(j, i, false);
        const blob bytes = kernel_file_write(j, f);
        kernel_file back;
        const char *why = NULL;
        if (!kernel_file_read(j, bytes, &back, &why))
            fail_msg("%s: %s", name_of_case(i), why);
        expect_same_files(f, &back);
    }
}

static void what_is_written_comes_back(void **state) {
    (void)state;
    in_job(write_and_read, NULL);
}

/* ---- bytes that are not whole --------------------------------------------------------------- */

/* Neither may it be read, nor may what it was to be read into change. */
static void expect_unreadable(job *j, blob bytes, const char *says) {
    static const kernel_file untouched = {.machine = "untouched"};
    kernel_file back = untouched;
    const char *why = NULL;
    if (kernel_file_read(j, bytes, &back, &why))
        fail_msg("it is read, but should not be: %s", says);
    assert_memory_equal(&back, &untouched, sizeof back);
    assert_non_null(why);
    if (strstr(why, says) == NULL)
        fail_msg("'%s' does not say '%s'", why, says);
}

static void cut_short(job *j, void *argument) {
    (void)argument;
    const blob bytes = kernel_file_write(j, file_of_case(j, 2, true));
    for (size_t size = 0; size < bytes.size; size++) {
        /* Memory of its own, so that reading beyond it is found. */
        char *part = malloc(size + (size == 0));
        memcpy(part, bytes.data, size);
        expect_unreadable(j, (blob){part, size}, "its content makes no sense: ");
        free(part);
    }
    char *longer = job_alloc(j, bytes.size + 1);
    memcpy(longer, bytes.data, bytes.size);
    expect_unreadable(j, (blob){longer, bytes.size + 1},
                      "its content makes no sense: there is more of it than there should be");
}

static void other_lengths_are_refused(void **state) {
    (void)state;
    in_job(cut_short, NULL);
}

/* What can be read is written again byte for byte. */
static void flip_bytes(job *j, void *argument) {
    const int *index = argument;
    static const unsigned char flips[] = {0x01, 0x80, 0xff};
    const blob bytes = kernel_file_write(j, file_of_case(j, *index, true));
    unsigned char *changed = job_alloc(j, bytes.size);
    int read = 0, refused = 0;
    memcpy(changed, bytes.data, bytes.size);
    for (size_t i = 0; i < 3 * bytes.size; i++) {
        changed[i / 3] ^= flips[i % 3];
        kernel_file back;
        const char *why;
        if (kernel_file_read(j, (blob){changed, bytes.size}, &back, &why)) {
            const blob again = kernel_file_write(j, &back);
            assert_int_equal(again.size, bytes.size);
            assert_memory_equal(again.data, changed, bytes.size);
            read++;
        } else {
            refused++;
        }
        changed[i / 3] ^= flips[i % 3];
    }
    assert_true(read > 100 && refused > 1000);
}

static void changed_bytes_do_no_harm(void **state) {
    (void)state;
    for (int i = 0; i < ALL_CASES; i++)
        in_job(flip_bytes, &i);
}

/* ---- content that makes no sense ------------------------------------------------------------ */

/* Everything of a kernel file that a test may spoil. The wave: c; u, u.prev, u.next. */
typedef struct spoilt {
    kernel_file file;
    program program;
    program_array arrays[LAUNCH_ARRAYS + 1];
    program_parameter parameters[LAUNCH_PARAMETERS + 1];
    program_launch launches[100];
    program_size sizes[LAUNCH_SIZES + 1];
    program_temporary temporaries[LAUNCH_TEMPORARIES + 1];
    program_layer layers[LAUNCH_TEMPORARIES + 1];
} spoilt;

/* One layer, along y. */
static void lay(spoilt *s, const char *name, int low, int high) {
    s->layers[0] = (program_layer){.name = name, .low = {0, low, 0}, .high = {0, high, 0}};
    s->program.layer_count = 1;
}

#define SPOILS                                                                                     \
    SPOIL(s->file.texts[SG_TEXT_NAME] = "", "the kernel's name is no name")                        \
    SPOIL(s->file.texts[SG_TEXT_NAME] = "a b", "the kernel's name is no name")                     \
    SPOIL(s->file.texts[SG_TEXT_NAME] = "1a", "the kernel's name is no name")                      \
    SPOIL(s->file.texts[SG_TEXT_NAME] = NULL, "the kernel's name is missing")                      \
    SPOIL(s->file.texts[SG_TEXT_PLAN] = NULL, "a text is missing")                                 \
    SPOIL(s->file.texts[SG_TEXT_ARCH] = "sm_9", "the architecture is none")                        \
    SPOIL(s->file.texts[SG_TEXT_ARCH] = "sm_90 -v", "the architecture is none")                    \
    SPOIL(s->file.texts[SG_TEXT_ARCH] = "sm_9000", "the architecture is none")                     \
    SPOIL(s->file.texts[SG_TEXT_ARCH] = "xx_90", "the architecture is none")                       \
    SPOIL(s->program.dims = 0, "the number of dimensions is 0")                                    \
    SPOIL(s->program.dims = 4, "the number of dimensions is 4")                                    \
    SPOIL(s->program.element_bytes = 2, "the size of an element is 2")                             \
    SPOIL(s->program.element_bytes = 6, "the size of an element is odd")                           \
    SPOIL(s->program.parameter_count = 3, "the size of the arguments is not that of their parts")  \
    SPOIL(s->program.array_count = 0, "the number of arrays is 0")                                 \
    SPOIL(s->program.array_count = LAUNCH_ARRAYS + 1, "the number of arrays is 65")                \
    SPOIL(s->arrays[1].name = "a\nb", "an array's name is no name")                                \
    SPOIL(s->arrays[1].name = NULL, "an array's name is missing")                                  \
    SPOIL(s->arrays[1].field = "", "a field's name is no name")                                    \
    SPOIL(s->arrays[3].reads = 4, "an array's current one is 4")                                   \
    SPOIL(s->arrays[3].reads = -2, "an array's current one is -2")                                 \
    SPOIL(s->arrays[3].previous = 99, "an array's previous one is 99")                             \
    SPOIL(s->arrays[3].reads = 3, "an array cannot be swapped with the one it names")              \
    SPOIL(s->arrays[3].reads = 0, "an array cannot be swapped with the one it names")              \
    SPOIL(s->arrays[3].reads = 2, "an array cannot be swapped with the one it names")              \
    SPOIL(s->arrays[3].previous = 0, "an array cannot be swapped with the one it names")           \
    SPOIL(s->arrays[3].reads = -1, "an array has no current one, but a previous")                  \
    SPOIL(s->arrays[0].reads = 1, "an array is swapped, but not written")                          \
    SPOIL(s->arrays[3].written = false, "an array is swapped, but not written")                    \
    SPOIL((s->arrays[3].written = false, s->arrays[3].reads = s->arrays[3].previous = -1),         \
          "no array is written")                                                                   \
    SPOIL(s->arrays[1].low[1] = -1, "an array's reach is -1")                                      \
    SPOIL(s->arrays[1].high[2] = INT32_MAX, "an array's reach is 2147483647")                      \
    SPOIL(s->program.layer_count = LAUNCH_TEMPORARIES + 1, "the number of layers is 17")           \
    SPOIL(lay(s, "rows", 0, 0), "there are too few launches for the layers, or too many")          \
    SPOIL(lay(s, "2", 0, 0), "a layer's name is no name")                                          \
    SPOIL(lay(s, "rows", -1, 0), "a layer's reach is -1")                                          \
    SPOIL(lay(s, "rows", 0, 1 << 20), "a layer's reach is 1048576")                                \
    SPOIL(s->program.parameter_count = LAUNCH_PARAMETERS + 1, "the number of parameters is 65")    \
    SPOIL(s->parameters[0].name = "dt dt", "a parameter's name is no name")                        \
    SPOIL(s->parameters[0].value = NAN, "a parameter's default is out of range")                   \
    SPOIL(s->parameters[0].value = -HUGE_VAL, "a parameter's default is out of range")             \
    SPOIL(s->program.launch_count = 0, "the number of launches is 0")                              \
    SPOIL(s->program.launch_count = 65, "the number of launches is 65")                            \
    SPOIL(s->launches[0].entry = NULL, "a kernel's name is missing")                               \
    SPOIL(s->launches[0].entry = "_a", "a kernel's name is no name")                               \
    SPOIL(s->launches[0].axes[2] = 2, "an axis is 2")                                              \
    SPOIL(s->launches[0].axes[1] = -2, "an axis is -2")                                            \
    SPOIL(s->launches[0].axes[2] = -1, "a launch has not each axis once")                          \
    SPOIL(s->launches[0].axes[1] = 1, "a launch has not each axis once")                           \
    SPOIL((s->launches[0].axes[0] = 1, s->launches[0].axes[2] = 0),                                \
          "a launch has another first axis than the grid")                                         \
    SPOIL(s->launches[0].per_block[0] = 0, "the extent of a block is 0")                           \
    SPOIL(s->launches[0].per_block[2] = -4, "the extent of a block is -4")                         \
    SPOIL(s->launches[0].per_block[1] = (1 << 28) + 1, "the extent of a block is 268435457")       \
    SPOIL(s->launches[0].block[0] = 0, "the number of a block's threads along an axis is 0")       \
    SPOIL(s->launches[0].block[1] = 1025, "the number of a block's threads along an axis is 1025") \
    SPOIL((s->launches[0].block[0] = 512, s->launches[0].block[1] = 3),                            \
          "a block has 1536 threads")                                                              \
    SPOIL(s->launches[0].low[0] = -1, "the reach of a block is -1")                                \
    SPOIL(s->launches[0].high[0] = 1 << 20, "the reach of a block is 1048576")                     \
    SPOIL(s->launches[0].shared_bytes = SIZE_MAX, "the shared memory of a block is -1")            \
    SPOIL(s->launches[0].shared_bytes = 1 << 21, "the shared memory of a block is 2097152")        \
    SPOIL(s->launches[0].vector = 0, "the length of a vector is 0")                                \
    SPOIL(s->launches[0].vector = 65, "the length of a vector is 65")                              \
    SPOIL(s->launches[0].steps = 0, "the number of a launch's steps is 0")                         \
    SPOIL(s->launches[0].steps = 2, "a launch makes another number of steps")                      \
    SPOIL(s->launches[0].least[1] = 1, "not every grid can take the last way")                     \
    SPOIL(s->launches[0].least[1] = -1, "the least extent of a grid is -1")                        \
    SPOIL(s->launches[0].cooperative = true, "the last way is cooperative")                        \
    SPOIL(s->program.ways = true, "the program has ways, which it cannot")                         \
    SPOIL(s->program.arguments_bytes += 8, "the size of the arguments is not that of their parts") \
    SPOIL(s->program.arguments_bytes = LAUNCH_BYTES + 8, "the size of the arguments is 4104")      \
    SPOIL(s->program.bytes_per_point = 16.5, "the bytes of a point is out of range")               \
    SPOIL(s->program.bytes_per_point = -1, "the bytes of a point is out of range")                 \
    SPOIL(s->program.bytes_per_point = NAN, "the bytes of a point is out of range")                \
    SPOIL(s->file.info.points = -1, "the number of points is -1")                                  \
    SPOIL(s->file.info.radius = -1, "the radius is -1")                                            \
    SPOIL(s->file.info.textbook_operations = NAN, "the number of operations is out of range")      \
    SPOIL(s->file.info.emitted_operations = -1, "the number of operations is out of range")        \
    SPOIL(s->file.info.threads = 0, "the number of a block's threads is 0")                        \
    SPOIL(s->file.info.shared_bytes = 1 << 21, "the shared memory of a block is 2097152")          \
    SPOIL(s->file.info.registers = -2, "the number of registers is -2")                            \
    SPOIL(s->file.info.local_bytes = -2, "the local memory is -2")                                 \
    SPOIL(s->file.info.blocks_resident = -2, "the number of resident blocks is -2")                \
    SPOIL(s->file.info.size[0] = 0, "a size planned for is none")                                  \
    SPOIL(s->file.info.size[2] = 2, "a size planned for is none")                                  \
    SPOIL(s->file.info.occupancy = 2, "the occupancy is out of range")                             \
    SPOIL(s->file.binary.kind = BINARY_PTX, "the binary is of no such kind")                       \
    SPOIL(s->file.binary.kind = (binary_kind)3, "the kind of the binary is 3")                     \
    SPOIL(s->file.binary.data.size = 0, "there is no binary")                                      \
    SPOIL(s->file.binary.registers = -2, "the number of registers is -2")                          \
    SPOIL(s->file.binary.seconds = INFINITY, "the time of compiling is out of range")              \
    SPOIL(s->file.binary.compiler = NULL, "the compiler is missing")                               \
    SPOIL(s->file.machine = NULL, "the machine is missing")                                        \
    SPOIL(s->file.machine = "here", "the machine and the binary do not fit")                       \
    SPOIL(s->file.binary.kind = BINARY_HOST, "the machine and the binary do not fit")              \
    SPOIL(s->file.texts[SG_TEXT_FAMILY] = NULL, "a text is missing")                               \
    SPOIL(s->program.shape = (program_shape)2, "the program's shape is 2")                         \
    SPOIL(s->arrays[0].dtype = NULL, "an array's type is missing")                                 \
    SPOIL(s->arrays[0].dtype = "half", "an array's type is none")                                  \
    SPOIL(s->arrays[0].dtype = "int64", "an array's type is none")                                 \
    SPOIL(s->parameters[0].dtype = "", "a parameter's type is none")                               \
    SPOIL(s->arrays[0].updated = true, "an array is updated, but not written")                     \
    SPOIL(s->arrays[3].same_as = 1, "an array may be another's memory, but is not written")        \
    SPOIL(s->arrays[3].same_as = 4, "the array that another may be is 4")

/* Of lists: a, b; output, total, next. */
static const diagonal unordered[] = {{0, 1}, {0, 2}}, infinite[] = {{0, 1}, {1, INFINITY}};

#define SPOILS_OF_LISTS                                                                            \
    SPOIL(s->program.size_count = LAUNCH_SIZES + 1, "the number of sizes is 17")                   \
    SPOIL(s->sizes[1].name = "1", "a size's name is no name")                                      \
    SPOIL(s->sizes[1].array = 5, "a size's array is 5")                                            \
    SPOIL(s->sizes[1].array = -1, "a size's array is -1")                                          \
    SPOIL(s->sizes[1].axis = 3, "a size's axis is 3")                                              \
    SPOIL(s->sizes[1].axis = 1, "a size cannot be found by its array")                             \
    SPOIL(s->sizes[1].array = 0, "a size cannot be found by its array")                            \
    SPOIL(s->sizes[0].array = 2, "a size cannot be found by its array")                            \
    SPOIL((s->arrays[0].extent[0].size[1] = 0), "a size cannot be found by its array")             \
    SPOIL(s->program.size_count = 1, "a temporary's extent is 1")                                  \
    SPOIL(s->arrays[2].extent[0].size[0] = 2, "an array's extent is 2")                            \
    SPOIL(s->arrays[2].extent[1].size[0] = -2, "an array's extent is -2")                          \
    SPOIL(s->arrays[2].extent[2].plus = INT64_MAX, "an array's extent is 9223372036854775807")     \
    SPOIL(s->arrays[2].extent[2].plus = -((1 << 30) + 1), "an array's extent is -1073741825")      \
    SPOIL(s->arrays[2].reads = 0, "a list is swapped")                                             \
    SPOIL(s->program.ways = true, "the program has ways, which it cannot")                         \
    SPOIL(s->arrays[0].same_as = 1, "an array may be another's memory, but is not written")        \
    SPOIL(s->arrays[4].same_as = 5, "the array that another may be is 5")                          \
    SPOIL(s->program.temporary_count = LAUNCH_TEMPORARIES + 1, "the number of temporaries is 17")  \
    SPOIL(s->temporaries[0].name = "", "a temporary's name is no name")                            \
    SPOIL(s->temporaries[0].items.size[1] = 2, "a temporary's extent is 2")                        \
    SPOIL(s->temporaries[0].per = 0, "a temporary's share is 0")                                   \
    SPOIL(s->temporaries[0].bytes = -1, "the size of a temporary's item is -1")                    \
    SPOIL(s->temporaries[0].fixed = -1, "the size of a temporary is -1")                           \
    SPOIL(s->temporaries[0].fixed = INT64_C(1) << 40, "the size of a temporary is 1099511627776")  \
    SPOIL(s->temporaries[0].fill = 256, "the content of a temporary is 256")                       \
    SPOIL(s->temporaries[0].fill = -2, "the content of a temporary is -2")                         \
    SPOIL(s->program.points.size[0] = 2, "the number of a call's points is 2")                     \
    SPOIL(s->program.storage[STORAGE_FORMAT] = 99, "the storage of a matrix is 99")                \
    SPOIL(s->program.diagonal_count = 0, "the number of diagonals is 0")                           \
    SPOIL(s->program.storage[STORAGE_FORMAT] = FORMAT_CSR, "the number of diagonals is 2")         \
    SPOIL(s->program.diagonals = unordered, "the diagonals are not in order")                      \
    SPOIL(s->program.diagonals = infinite, "the value of a diagonal is out of range")              \
    SPOIL(s->program.storage[STORAGE_SLICE] = -1, "the storage of a matrix is -1")                 \
    SPOIL(s->program.storage[STORAGE_INDEX_BYTES] = 2, "the width of a matrix's numbers is odd")   \
    SPOIL(s->program.storage[STORAGE_VALUE_BYTES] = 0, "the width of a matrix's numbers is odd")   \
    SPOIL(s->launches[1].axes[0] = 1, "an axis is 1")                                              \
    SPOIL(s->launches[1].per_block[1] = 0, "the extent of a block is 0")                           \
    SPOIL(s->launches[1].blocks[2].items.size[0] = -2, "the number of a launch's items is -2")     \
    SPOIL(s->launches[1].blocks[0].most = -1, "the most blocks of a launch is -1")                 \
    SPOIL(s->launches[1].blocks[0].cluster = 9, "the blocks of a cluster is 9")                    \
    SPOIL(s->launches[1].blocks[0].most = 15, "the most blocks of a launch are no whole clusters") \
    SPOIL(s->launches[0].blocks[0].cluster = 3, "resident blocks come in clusters")                \
    SPOIL(s->launches[1].blocks[0].alone = -1, "the items of a single block is -1")                \
    SPOIL(s->launches[1].blocks[0].most = INT64_MAX,                                               \
          "the most blocks of a launch is 9223372036854775807")                                    \
    SPOIL(s->launches[0].blocks[1].items = ((program_extent){{0, -1}, 0}),                         \
          "a launch of resident blocks has more than one axis of them")                            \
    SPOIL(s->launches[0].blocks[2].items.plus = 2,                                                 \
          "a launch of resident blocks has more than one axis of them")                            \
    SPOIL(s->program.tagged = false, "the size of the arguments is not that of their parts")       \
    SPOIL(s->program.parameter_count = 1, "the size of the arguments is not that of their parts")

static void spoil(job *j, void *argument) {
    const int *which = argument;
    const kernel_file *good = file_of_case(j, *which, true);
    spoilt *s = job_alloc(j, sizeof *s);
    kernel_file back;
    const char *why;
#define RESTORE                                                                                    \
    s->file = *good;                                                                               \
    s->program = *good->program;                                                                   \
    for (int i = 0; i <= LAUNCH_ARRAYS; i++)                                                       \
        s->arrays[i] = good->program->arrays[i % good->program->array_count];                      \
    for (int i = 0; i <= LAUNCH_PARAMETERS; i++)                                                   \
        s->parameters[i] = good->program->parameters[i % good->program->parameter_count];          \
    for (int i = 0; i <= LAUNCH_SIZES && good->program->size_count > 0; i++)                       \
        s->sizes[i] = good->program->sizes[i % good->program->size_count];                         \
    for (int i = 0; i <= LAUNCH_TEMPORARIES && good->program->temporary_count > 0; i++)            \
        s->temporaries[i] = good->program->temporaries[i % good->program->temporary_count];        \
    for (int i = 0; i <= LAUNCH_TEMPORARIES; i++)                                                  \
        s->layers[i] = (program_layer){.name = "rows"};                                            \
    s->program.layers = s->layers;                                                                 \
    s->program.sizes = s->sizes;                                                                   \
    s->program.temporaries = s->temporaries;                                                       \
    for (int i = 0; i < 100; i++)                                                                  \
        s->launches[i] = good->program->launches[i % good->program->launch_count];                 \
    s->file.program = &s->program;                                                                 \
    s->program.arrays = s->arrays;                                                                 \
    s->program.parameters = s->parameters;                                                         \
    s->program.launches = s->launches;
#define SPOIL(change, says)                                                                        \
    RESTORE(void)(change);                                                                         \
    expect_unreadable(j, kernel_file_write(j, &s->file), "its content makes no sense: " says);
    RESTORE
    assert_true(kernel_file_read(j, kernel_file_write(j, &s->file), &back, &why));
    if (*which == LISTS_CASE) {
        SPOILS_OF_LISTS
    } else {
        SPOILS
    }
}

static void what_makes_no_sense_is_refused(void **state) {
    (void)state;
    int wave = 2, lists = LISTS_CASE;
    in_job(spoil, &wave);
    in_job(spoil, &lists);
}

/* A program of three ways. */
static program *make_ways(job *j, const kernel_file *good, program_launch ways[3]) {
    program *p = job_alloc(j, sizeof *p);
    *p = *good->program;
    p->ways = true;
    p->launches = ways;
    p->launch_count = 3;
    for (int i = 0; i < 3; i++) {
        ways[i] = good->program->launches[0];
        ways[i].steps = 4 >> i;
        ways[i].least[2] = i < 2 ? 40 - i : 0;
        ways[i].cooperative = i == 0;
    }
    p->arguments_bytes += PROGRAM_GRID_BYTES; /* of the barrier */
    return p;
}

static void check_ways(job *j, void *argument) {
    static const struct {
        int steps[3];
        bool cooperative[3];
        int layers, grids;
        const char *says; /* NULL: nothing is wrong */
    } cases[] = {
        {{4, 2, 1}, {true, false, false}, 0, 0, NULL},
        {{4, 2, 1}, {true, true, false}, 0, 0, NULL},
        {{4, 4, 1}, {true, false, false}, 0, 0, "a way makes more steps than the one before it"},
        {{4, 2, 2}, {true, false, false}, 0, 0, "a launch makes another number of steps"},
        {{4, 1, 1}, {true, false, false}, 0, 0, "a launch makes another number of steps"},
        {{4, 2, 1},
         {true, false, true},
         0,
         0,
         "a way is cooperative, and the one before it is not"},
        {{4, 2, 1}, {true, true, true}, 0, 0, "the last way is cooperative"},
        {{4, 2, 1}, {false, false, false}, 0, -1, NULL},
        {{4, 2, 1},
         {true, false, false},
         0,
         -1,
         "the size of the arguments is not that of their parts"},
        {{4, 2, 1}, {true, false, false}, 2, 2, "the program has ways, which it cannot"},
    };
    static program_layer layers[2] = {{.name = "a"}, {.name = "b"}};
    const kernel_file *good = file_of_case(j, 0, true);
    (void)argument;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        program_launch ways[3];
        kernel_file f = *good, back;
        const char *why;
        program *p = make_ways(j, good, ways);
        f.program = p;
        f.info.steps = 4;
        p->layers = layers;
        p->layer_count = cases[i].layers;
        p->arguments_bytes += (size_t)cases[i].grids * PROGRAM_GRID_BYTES;
        for (int w = 0; w < 3; w++) {
            ways[w].steps = cases[i].steps[w];
            ways[w].cooperative = cases[i].cooperative[w];
        }
        const blob bytes = kernel_file_write(j, &f);
        if (cases[i].says != NULL) {
            expect_unreadable(j, bytes,
                              job_print(j, "its content makes no sense: %s", cases[i].says));
            continue;
        }
        assert_true(kernel_file_read(j, bytes, &back, &why));
        expect_same_files(&f, &back);
    }
}

static void ways_come_back(void **state) {
    (void)state;
    in_job(check_ways, NULL);
}

/* ---- memory --------------------------------------------------------------------------------- */

static void read_bytes(job *j, void *argument) {
    const blob *bytes = argument;
    kernel_file back;
    const char *why;
    assert_true(kernel_file_read(j, *bytes, &back, &why));
    kernel_file_write(j, &back);
}

static void with_little_memory(job *j, void *argument) {
    (void)argument;
    blob bytes = kernel_file_write(j, file_of_case(j, 0, false));
    long n = 0;
    for (fault f = FAULT_MEMORY; f != FAULT_NONE; n++) {
        miser m = {.refused = n + 1, .for_good = true};
        const allocator memory = {resize_miserly, &m};
        job *inner;
        f = job_run(&memory, read_bytes, &bytes, &inner);
        assert_true(f == FAULT_NONE || f == FAULT_MEMORY);
        job_end(inner);
        assert_int_equal(m.held, 0);
    }
    assert_true(n > 3);
}

static void memory_may_run_out(void **state) {
    (void)state;
    in_job(with_little_memory, NULL);
}

/* ---- seeds ---------------------------------------------------------------------------------- */

static const digest seed_key = {{1, 2, 3}};

/* The first byte says whether the fuzzer seals the rest, which is then a payload. */
static blob seed(job *j, int index, bool sealed) {
    const blob payload = kernel_file_write(j, file_of_case(j, index, true));
    const blob rest = sealed ? sealed_bytes(j, &kernel_file_kind, &seed_key, payload) : payload;
    char *bytes = job_alloc(j, rest.size + 1);
    bytes[0] = sealed ? 'f' : 'p';
    memcpy(bytes + 1, rest.data, rest.size);
    return (blob){bytes, rest.size + 1};
}

static FILE *open_seed(job *j, const char *folder, int index, bool sealed, const char *mode) {
    FILE *file =
        fopen(job_print(j, "%s/%s%s", folder, name_of_case(index), sealed ? ".sealed" : ""), mode);
    assert_non_null(file);
    return file;
}

static void write_seeds(job *j, void *argument) {
    for (int i = 0; i < 2 * ALL_CASES; i++) {
        const blob bytes = seed(j, i / 2, i % 2 == 1);
        FILE *file = open_seed(j, argument, i / 2, i % 2 == 1, "wb");
        fwrite(bytes.data, 1, bytes.size, file);
        fclose(file);
    }
}

static void read_seeds(job *j, void *argument) {
    for (int i = 0; i < 2 * ALL_CASES; i++) {
        FILE *file = open_seed(j, argument, i / 2, i % 2 == 1, "rb");
        char *bytes = job_alloc(j, 4096);
        const size_t size = fread(bytes, 1, 4096, file);
        fclose(file);
        assert_true(size > 1 && size < 4096);
        assert_int_equal(bytes[0], i % 2 == 1 ? 'f' : 'p');
        blob rest = {bytes + 1, size - 1};
        const char *why = NULL;
        kernel_file back;
        if (i % 2 == 1)
            rest = sealed_open(j, rest, &kernel_file_kind, NULL, NULL, &why);
        if (why != NULL || !kernel_file_read(j, rest, &back, &why))
            fail_msg("%s: %s", name_of_case(i / 2), why);
    }
}

/* Else the fuzzer would begin with files that are refused at once. */
static void seeds_are_of_this_format(void **state) {
    (void)state;
    in_job(read_seeds, (void *)"tests/fuzz/corpus/kernel");
}

int main(int count, char **arguments) {
    if (count == 2) {
        in_job(write_seeds, arguments[1]);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_comes_back),
        cmocka_unit_test(other_lengths_are_refused),
        cmocka_unit_test(changed_bytes_do_no_harm),
        cmocka_unit_test(what_makes_no_sense_is_refused),
        cmocka_unit_test(ways_come_back),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(seeds_are_of_this_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
