/* Kernel files whose bytes are whole and whose content makes no sense: each is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>

#include "runtime/launch/launch.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/kernel_file_cases.h"

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
    SPOIL(s->program.spare_count = 99, "the number of spares is 99")                               \
    SPOIL(s->launches[0].spare = 99, "a spare is 99")                                              \
    SPOIL(s->program.arch_begin = 10, "a place in the source is none")                             \
    SPOIL(s->program.arch_end = 11, "a place in the source is none")                               \
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
    SPOIL(s->file.info.kind = (sg_kind)6, "the kernel's kind is 6")                                \
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

/* As it was, with room behind each list for what a count that is too large lets in. */
static void restore(spoilt *s, const kernel_file *good) {
    const program *p = good->program;
    s->file = *good;
    s->program = *p;
    for (int i = 0; i <= LAUNCH_ARRAYS; i++)
        s->arrays[i] = p->arrays[i % p->array_count];
    for (int i = 0; i <= LAUNCH_PARAMETERS; i++)
        s->parameters[i] = p->parameters[i % p->parameter_count];
    for (int i = 0; i <= LAUNCH_SIZES && p->size_count > 0; i++)
        s->sizes[i] = p->sizes[i % p->size_count];
    for (int i = 0; i <= LAUNCH_TEMPORARIES && p->temporary_count > 0; i++)
        s->temporaries[i] = p->temporaries[i % p->temporary_count];
    for (int i = 0; i <= LAUNCH_TEMPORARIES; i++)
        s->layers[i] = (program_layer){.name = "rows"};
    for (int i = 0; i < 100; i++)
        s->launches[i] = p->launches[i % p->launch_count];
    s->file.program = &s->program;
    s->program.arrays = s->arrays;
    s->program.parameters = s->parameters;
    s->program.sizes = s->sizes;
    s->program.temporaries = s->temporaries;
    s->program.layers = s->layers;
    s->program.launches = s->launches;
}

static void refused(job *j, const spoilt *s, const char *says) {
    expect_unreadable(j, kernel_file_write(j, &s->file),
                      job_print(j, "its content makes no sense: %s", says));
}

static void spoil(job *j, void *argument) {
    const int *which = argument;
    const kernel_file *good = file_of_case(j, *which, true);
    spoilt *s = job_alloc(j, sizeof *s);
    kernel_file back;
    const char *why;
    restore(s, good);
    assert_true(kernel_file_read(j, kernel_file_write(j, &s->file), &back, &why));
/* What happens to each stands in functions: a hundred copies of it take compilers minutes. */
#define SPOIL(change, says)                                                                        \
    restore(s, good);                                                                              \
    (void)(change);                                                                                \
    refused(j, s, says);
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

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_makes_no_sense_is_refused),
};

TEST_GROUP(kernel_file_content, NULL, NULL)
