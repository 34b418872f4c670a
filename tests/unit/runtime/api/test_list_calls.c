/* sg_reduce, sg_scan, sg_merge: each array and size goes where its name says, and what a kernel has
   not is refused. On a device that only records. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/launch/fake_device.h"

#define ONE_CELL                                                                                   \
    { {-1, -1}, 1 }

static unsigned char *at(int which) {
    return (unsigned char *)(uintptr_t)((size_t)(which + 1) << 24);
}

/* ---- programs ------------------------------------------------------------------------------ */

static program_array list(const char *name, const char *dtype, program_extent extent,
                          bool written) {
    const program_extent one = ONE_CELL;
    return (program_array){.name = name,
                           .dtype = dtype,
                           .element_bytes = strstr(dtype, "64") != NULL ? 8 : 4,
                           .written = written,
                           .lists.same_as = -1,
                           .lists.extent = {extent, one, one}};
}

static const program_extent first = {{0, -1}, 0}, second = {{1, -1}, 0}, both = {{0, 1}, 0},
                            one_more = {{1, -1}, 1}, one = ONE_CELL;

/* A kernel of a family with these arrays, sizes from the first and (where it is not -1) another,
   and temporary memory of 100 bytes and 4 for each of the first size. */
static sg_kernel *kernel_of(const char *family, program_array *arrays, int count, int other) {
    static program_temporary temporary = {
        .name = "room", .items = {{0, -1}, 0}, .per = 1, .bytes = 4, .fixed = 100, .fill = -1};
    static program_launch launch = {.entry = "kernel",
                                    .per_block = {1, 1, 1},
                                    .block = {1, 1, 1},
                                    .lists.blocks = {{ONE_CELL}, {ONE_CELL}, {ONE_CELL}}};
    static program_parameter parameter = {
        .name = "k", .dtype = "float", .has_value = true, .value = 2};
    static program_size sizes[2];
    sizes[0] = (program_size){"count", 0, 0};
    sizes[1] = (program_size){"other", other, 0};
    const program p = {.name = "test",
                       .kind = PROGRAM_LISTS,
                       .element_bytes = 4,
                       .arrays = arrays,
                       .array_count = count,
                       .lists.sizes = sizes,
                       .lists.size_count = other < 0 ? 1 : 2,
                       .parameters = &parameter,
                       .parameter_count = 1,
                       .lists.temporaries = &temporary,
                       .lists.temporary_count = 1,
                       .launches = &launch,
                       .launch_count = 1};
    sg_kernel *k = fake_kernel(&p);
    k->texts[SG_TEXT_FAMILY] = family;
    k->info.kind = strcmp(family, "reduce") == 0 ? SG_KIND_REDUCE
                   : strcmp(family, "scan") == 0 ? SG_KIND_SCAN
                                                 : SG_KIND_MERGE;
    return k;
}

/* Word n of what was launched last. */
static uint64_t word(const sg_kernel *k, int n) {
    const fake_device *d = fake_of(k);
    uint64_t value;
    assert_true(d->launch_count > 0);
    memcpy(&value, d->launches[d->launch_count - 1].arguments + 8 * n, sizeof value);
    return value;
}

static void expect_words(const sg_kernel *k, const uint64_t *words, int count) {
    for (int i = 0; i < count; i++)
        assert_int_equal(word(k, i), words[i]);
}

static void expect_error(const sg_kernel *k, sg_status status, const char *says) {
    assert_int_equal(status, SG_ERROR_USAGE);
    assert_string_equal(sg_error(k->context) + strlen("error: "), says);
}

#define ADDRESS(which) ((uintptr_t)at(which))

/* ---- reduce -------------------------------------------------------------------------------- */

static void reduces(void **state) {
    (void)state;
    program_array arrays[] = {list("input", "float", first, false),
                              list("result", "float", one, true)};
    sg_kernel *k = kernel_of("reduce", arrays, 2, -1);
    size_t bytes;
    assert_int_equal(sg_reduce_bytes(k, 1000, 0, &bytes), SG_OK);
    assert_int_equal(bytes, 4352);
    const double parameter = 7;
    sg_reduce_arguments a = {.struct_size = sizeof a,
                             .input = at(0),
                             .count = 1000,
                             .result = at(1),
                             .parameters = &parameter,
                             .parameter_count = 1,
                             .temporary = at(2),
                             .temporary_bytes = 4352};
    assert_int_equal(sg_reduce(k, &a, (sg_stream)(void *)at(9)), SG_OK);
    expect_words(k, (uint64_t[]){1000, ADDRESS(0), ADDRESS(1), ADDRESS(2), 0x40e00000}, 5);
    assert_ptr_equal(fake_of(k)->launches[0].stream, at(9));
    a.index = (int64_t *)(void *)at(3);
    expect_error(k, sg_reduce(k, &a, NULL), "'test' takes no 'index'");
    a.index = NULL;
    a.second = at(3);
    expect_error(k, sg_reduce(k, &a, NULL), "'test' takes no 'second'");
    a.second = NULL;
    a.offsets = (const int64_t *)(const void *)at(3);
    expect_error(k, sg_reduce(k, &a, NULL), "'test' takes no 'offsets'");
    a.offsets = NULL;
    a.input = NULL;
    expect_error(k, sg_reduce(k, &a, NULL), "'input' has no data");
    a.count = 0;
    assert_int_equal(sg_reduce(k, &a, NULL), SG_OK);
    a.count = -1;
    expect_error(k, sg_reduce(k, &a, NULL), "'input': size -1 along x is negative");
    a.struct_size = 0;
    expect_error(k, sg_reduce(k, &a, NULL),
                 "struct_size of sg_reduce_arguments is 0; set it to "
                 "sizeof(sg_reduce_arguments)");
    expect_error(k, sg_reduce(k, NULL, NULL), "sg_reduce needs arguments");
    expect_error(k, sg_reduce_bytes(k, 5, 0, NULL),
                 "sg_temporary_bytes needs a place for its result");
    assert_int_equal(sg_reduce(NULL, &a, NULL), SG_ERROR_USAGE);
    assert_int_equal(sg_reduce_bytes(NULL, 5, 0, &bytes), SG_ERROR_USAGE);
    fake_end(k);
}

static void reduces_segments_with_all_arrays(void **state) {
    (void)state;
    program_array arrays[] = {
        list("input", "float", first, false), list("second", "float", first, false),
        list("offsets", "int64", one_more, false), list("result", "float", second, true),
        list("index", "int64", second, true)};
    sg_kernel *k = kernel_of("reduce", arrays, 5, 2);
    sg_reduce_arguments a = {.struct_size = sizeof a,
                             .input = at(0),
                             .second = at(1),
                             .count = 50,
                             .offsets = (const int64_t *)(const void *)at(2),
                             .segments = 6,
                             .result = at(3),
                             .index = (int64_t *)(void *)at(4),
                             .temporary = at(5),
                             .temporary_bytes = 512};
    assert_int_equal(sg_reduce(k, &a, NULL), SG_OK);
    expect_words(k,
                 (uint64_t[]){50, 6, ADDRESS(0), ADDRESS(1), ADDRESS(2), ADDRESS(3), ADDRESS(4),
                              ADDRESS(5), 0x40000000},
                 9);
    a.segments = -1;
    expect_error(k, sg_reduce(k, &a, NULL), "'offsets' has size 0 along x, but needs at least 1");
    a.segments = INT64_MAX;
    expect_error(k, sg_reduce(k, &a, NULL),
                 "'offsets': size -9223372036854775808 along x is negative");
    a.segments = 0;
    assert_int_equal(sg_reduce(k, &a, NULL), SG_OK);
    size_t bytes;
    assert_int_equal(sg_reduce_bytes(k, 39, 10, &bytes), SG_OK);
    assert_int_equal(bytes, 256);
    assert_int_equal(sg_reduce_bytes(k, 40, 10, &bytes), SG_OK);
    assert_int_equal(bytes, 512);
    fake_end(k);
}

/* ---- scan ---------------------------------------------------------------------------------- */

static void scans(void **state) {
    (void)state;
    program_array arrays[] = {list("input", "float", first, false),
                              list("output", "float", first, true)};
    arrays[1].lists.same_as = 0;
    sg_kernel *k = kernel_of("scan", arrays, 2, -1);
    size_t bytes;
    assert_int_equal(sg_scan_bytes(k, 1000, &bytes), SG_OK);
    assert_int_equal(bytes, 4352);
    sg_scan_arguments a = {.struct_size = sizeof a,
                           .input = at(0),
                           .output = at(1),
                           .count = 1000,
                           .temporary = at(2),
                           .temporary_bytes = bytes};
    assert_int_equal(sg_scan(k, &a, NULL), SG_OK);
    expect_words(k, (uint64_t[]){1000, ADDRESS(0), ADDRESS(1), ADDRESS(2), 0x40000000}, 5);
    a.output = at(0);
    assert_int_equal(sg_scan(k, &a, NULL), SG_OK);
    expect_words(k, (uint64_t[]){1000, ADDRESS(0), ADDRESS(0)}, 3);
    a.output = at(0) + 4;
    expect_error(k, sg_scan(k, &a, NULL), "'output' is written and overlaps 'input' in memory");
    a.output = NULL;
    expect_error(k, sg_scan(k, &a, NULL), "'output' has no data");
    expect_error(k, sg_scan(k, NULL, NULL), "sg_scan needs arguments");
    expect_error(k, sg_reduce_bytes(k, 3, 0, &bytes),
                 "sg_reduce launches kernels of the family reduce; 'test' is of scan");
    expect_error(k, sg_merge_bytes(k, 3, 0, &bytes),
                 "sg_merge launches kernels of the family merge; 'test' is of scan");
    assert_int_equal(sg_scan(NULL, &a, NULL), SG_ERROR_USAGE);
    fake_end(k);
}

/* ---- merge --------------------------------------------------------------------------------- */

static void merges(void **state) {
    (void)state;
    program_array arrays[] = {
        list("a", "float", first, false),        list("b", "float", second, false),
        list("a_values", "int64", first, false), list("b_values", "int64", second, false),
        list("output", "float", both, true),     list("output_values", "int64", both, true),
        list("later", "float", one, false),
    };
    sg_kernel *k = kernel_of("merge", arrays, 6, 1);
    sg_merge_arguments a = {.struct_size = sizeof a,
                            .a = at(0),
                            .b = at(1),
                            .a_count = 10,
                            .b_count = 20,
                            .output = at(4),
                            .a_values = at(2),
                            .b_values = at(3),
                            .output_values = at(5),
                            .temporary = at(6),
                            .temporary_bytes = 256};
    assert_int_equal(sg_merge(k, &a, NULL), SG_OK);
    expect_words(k,
                 (uint64_t[]){10, 20, ADDRESS(0), ADDRESS(1), ADDRESS(2), ADDRESS(3), ADDRESS(4),
                              ADDRESS(5), ADDRESS(6), 0x40000000},
                 10);
    size_t bytes;
    assert_int_equal(sg_merge_bytes(k, 1000, 5, &bytes), SG_OK);
    assert_int_equal(bytes, 4352);
    a.a_count = a.b_count = INT64_MAX;
    expect_error(k, sg_merge(k, &a, NULL), "'a': its extent along x is out of range");
    expect_error(k, sg_scan(k, NULL, NULL),
                 "sg_scan launches kernels of the family scan; 'test' is of merge");
    expect_error(k, sg_scan_bytes(k, 1, &bytes),
                 "sg_scan launches kernels of the family scan; 'test' is of merge");
    fake_end(k);
    k = kernel_of("merge", arrays, 2, 1); /* without values */
    a.a_count = a.b_count = 3;
    expect_error(k, sg_merge(k, &a, NULL), "'test' takes no 'a_values'");
    fake_end(k);
    k = kernel_of("merge", arrays, 7, 1);
    expect_error(k, sg_merge(k, &a, NULL),
                 "'test' takes an array 'later' that sg_merge does not know: use sg_launch");
    fake_end(k);
}

/* ---- arrays -------------------------------------------------------------------------------- */

static void arrays_tell_of_themselves(void **state) {
    (void)state;
    program_array arrays[] = {list("input", "float", first, false),
                              list("output", "int64", first, true)};
    arrays[1].lists.same_as = 0;
    arrays[1].lists.updated = true;
    sg_kernel *k = kernel_of("scan", arrays, 2, -1);
    sg_array_info info = {.struct_size = sizeof info};
    assert_int_equal(sg_kernel_array(k, 0, &info), SG_OK);
    assert_string_equal(info.dtype, "float");
    assert_true(info.element_size == 4 && !info.updated && info.same_as == -1);
    assert_int_equal(sg_kernel_array(k, 1, &info), SG_OK);
    assert_string_equal(info.dtype, "int64");
    assert_true(info.element_size == 8 && info.updated && info.same_as == 0);
    fake_end(k);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reduces),
    cmocka_unit_test(reduces_segments_with_all_arrays),
    cmocka_unit_test(scans),
    cmocka_unit_test(merges),
    cmocka_unit_test(arrays_tell_of_themselves),
};

TEST_GROUP(list_calls, NULL, NULL)
