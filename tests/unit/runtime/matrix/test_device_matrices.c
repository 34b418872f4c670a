/* Matrices that lie in device memory, on the cpu device, where that is the host's: what is chosen
   for them, what they become and what is said of them is what would be of the same entries on the
   host; and csr that is none is refused. */
#include "tests/unit/matrix/format_scene.h"
#include "tests/unit/matrix/stencils.h"
#include "tests/unit/runtime/matrix/cpu_context.h"

#include "runtime/matrix/matrix.h"
#include "tests/unit/group.h"

/* ---- one matrix in both places --------------------------------------------------------------- */

typedef struct both {
    sg_context *context;
    sg_matrix *here, *there;
    packed_matrix csr; /* what `there` points to */
} both;

static void must(const both *b, sg_status status) {
    if (status != SG_OK)
        fail_msg("%s", sg_error(b->context));
}

static void open_both(job *j, both *b, const matrix *m, bool wide) {
    const storage s = {
        .format = FORMAT_CSR, .index_bytes = wide ? 8 : 4, .value_bytes = wide ? 8 : 4};
    format_pack(j, m, &s, &b->csr);
    const sg_csr given = {.struct_size = sizeof given,
                          .rows = m->rows,
                          .columns = m->columns,
                          .entries = m->entries,
                          .offsets = b->csr.arrays[0].data,
                          .column = b->csr.arrays[1].data,
                          .value = b->csr.arrays[2].data,
                          .index = wide ? "int64" : "int32",
                          .dtype = wide ? "double" : "float"};
    must(b, sg_matrix_from(b->context, m->rows, m->columns, m->entries, m->row, m->column, m->value,
                           &b->here));
    must(b, sg_matrix_from_device(b->context, &given, &b->there));
}

static void close_both(job *j, both *b) {
    sg_matrix_free(b->here);
    sg_matrix_free(b->there);
    format_free(j, &b->csr);
}

/* ---- facts and entries ----------------------------------------------------------------------- */

static void same_facts(const both *b) {
    sg_matrix_info here = {.struct_size = sizeof here}, there = {.struct_size = sizeof there};
    must(b, sg_matrix_facts(b->here, &here));
    must(b, sg_matrix_facts(b->there, &there));
    assert_float_equal(here.row_deviation, there.row_deviation, 1e-9 * (1 + here.row_deviation));
    here.row_deviation = there.row_deviation = 0;
    assert_memory_equal(&here, &there, sizeof here);
}

static void same_lists(job *j, const both *b, int64_t entries) {
    int64_t *row[2], *column[2];
    double *value[2];
    for (int i = 0; i < 2; i++) {
        row[i] = job_array(j, (size_t)entries, sizeof *row[i]);
        column[i] = job_array(j, (size_t)entries, sizeof *column[i]);
        value[i] = job_array(j, (size_t)entries, sizeof *value[i]);
        must(b, sg_matrix_entries(i == 0 ? b->here : b->there, row[i], column[i], value[i]));
    }
    assert_memory_equal(row[0], row[1], (size_t)entries * sizeof *row[0]);
    assert_memory_equal(column[0], column[1], (size_t)entries * sizeof *column[0]);
    assert_memory_equal(value[0], value[1], (size_t)entries * sizeof *value[0]);
}

/* ---- kernels --------------------------------------------------------------------------------- */

static sg_kernel *build(const both *b, const sg_matrix *m, bool wide, const char *format) {
    char text[160];
    snprintf(text, sizeof text,
             "return spmv { name = 'p', dtype = '%s', index = '%s', format = '%s' }",
             wide ? "double" : "float", wide ? "int64" : "int32", format);
    const sg_build_options o = {
        .struct_size = sizeof o, .text = text, .source_only = 1, .matrix = m};
    sg_kernel *k;
    must(b, sg_build(b->context, "p", &o, &k));
    return k;
}

static size_t element_bytes(const sg_device_matrix *m, const char *array) {
    static const char *const words[] = {"group", "pattern", "place"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i], array) == 0)
            return sizeof(uint32_t);
    return (size_t)
        m->storage[strstr(array, "value") != NULL ? STORAGE_VALUE_BYTES : STORAGE_INDEX_BYTES];
}

static void same_arrays(const both *b, const sg_kernel *k) {
    sg_device_matrix *here, *there;
    must(b, sg_matrix_upload(b->here, k, &here));
    must(b, sg_matrix_upload(b->there, k, &there));
    sg_conversion_info info = {.struct_size = sizeof info};
    must(b, sg_conversion_facts(there, &info));
    assert_true(here->rows == there->rows && here->columns == there->columns);
    assert_int_equal(here->array_count, there->array_count);
    assert_int_equal(here->diagonal_count, there->diagonal_count);
    for (int i = 0; i < here->array_count; i++) {
        assert_string_equal(here->arrays[i].name, there->arrays[i].name);
        assert_memory_equal(here->arrays[i].extent, there->arrays[i].extent,
                            sizeof here->arrays[i].extent);
        assert_memory_equal(here->arrays[i].data, there->arrays[i].data,
                            (size_t)(here->arrays[i].extent[0] * here->arrays[i].extent[1]) *
                                element_bytes(here, here->arrays[i].name));
    }
    assert_true(here->info.bytes == info.bytes && (!info.on_device || info.upload_seconds == 0));
    sg_device_matrix_free(here);
    sg_device_matrix_free(there);
}

static void same_choice(const both *b, bool wide) {
    sg_kernel *here = build(b, b->here, wide, "auto"), *there = build(b, b->there, wide, "auto");
    assert_string_equal(sg_kernel_text(here, SG_TEXT_REASON),
                        sg_kernel_text(there, SG_TEXT_REASON));
    assert_string_equal(sg_kernel_text(here, SG_TEXT_SOURCE),
                        sg_kernel_text(there, SG_TEXT_SOURCE));
    same_arrays(b, there);
    sg_release(here);
    sg_release(there);
}

typedef struct scene {
    sg_context *context;
    int which;
    bool wide;
} scene;

static const grid_matrix grids[] = {
    {.nx = 61, .ny = 43, .nz = 1, .spoiled = 9},
    {.nx = 64, .ny = 64, .nz = 1},
    {.nx = 13, .ny = 11, .nz = 17},
};
enum { GRIDS = sizeof grids / sizeof *grids };

static void look_at_one(job *j, void *argument) {
    const scene *s = argument;
    const matrix m = s->which < GRIDS ? grid_draw(j, &grids[s->which])
                                      : matrix_draw(j, &drawn_matrices[s->which - GRIDS]);
    both b = {.context = s->context};
    open_both(j, &b, &m, s->wide);
    same_facts(&b);
    same_lists(j, &b, m.entries);
    same_choice(&b, s->wide);
    close_both(j, &b);
}

static void they_are_as_on_the_host(void **state) {
    for (int i = 0; i < GRIDS + DRAWN_MATRICES; i++) {
        scene s = {*state, i, i % 2 == 1};
        run(look_at_one, &s);
    }
}

/* Formats without kernels, and widths that are not the matrix's, are the host's work. */
static void convert_elsewhere(job *j, void *argument) {
    static const char *const formats[] = {"csr", "coo", "hyb", "pkt"};
    both b = {.context = argument};
    const matrix m = grid_draw(j, &grids[1]);
    open_both(j, &b, &m, false);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        sg_kernel *k = build(&b, b.there, false, formats[i]);
        same_arrays(&b, k);
        sg_release(k);
    }
    sg_kernel *wide = build(&b, b.there, true, "auto");
    same_arrays(&b, wide);
    sg_release(wide);
    close_both(j, &b);
}

static void other_formats_too(void **state) {
    run(convert_elsewhere, *state);
}

/* ---- refusals -------------------------------------------------------------------------------- */

typedef struct wrong {
    int offset[4], column[5];
    const char *part;
} wrong;

static const wrong wrongs[] = {
    {{1, 2, 4, 5}, {0, 1, 2, 0, 1}, "row 0 of a matrix in device memory: offsets"},
    {{0, 4, 2, 5}, {0, 1, 2, 0, 1}, "row 1 of a matrix in device memory: offsets"},
    {{0, 2, 4, 4}, {0, 1, 2, 0, 1}, "row 2 of a matrix in device memory: offsets"},
    {{0, 2, 9, 5}, {0, 1, 2, 0, 1}, "row 1 of a matrix in device memory: offsets"},
    {{0, 2, 4, 5}, {0, 1, 2, 0, 1}, "row 1 of a matrix in device memory: columns"},
    {{0, 2, 4, 5}, {1, 1, 0, 2, 1}, "row 0 of a matrix in device memory: columns"},
    {{0, 2, 4, 5}, {0, 1, 0, 2, 3}, "row 2 of a matrix in device memory: columns"},
    {{0, 2, 4, 5}, {-1, 1, 0, 2, 1}, "row 0 of a matrix in device memory: columns"},
};

static void expect(sg_context *c, sg_status status, sg_status wanted, const char *part) {
    assert_int_equal(status, wanted);
    if (strstr(sg_error(c), part) == NULL)
        fail_msg("'%s' is not in '%s'", part, sg_error(c));
}

static void what_is_no_csr_is_refused(void **state) {
    static const float value[5] = {1, 2, 3, 4, 5};
    sg_context *c = *state;
    sg_csr given = {.struct_size = sizeof given,
                    .rows = 3,
                    .columns = 3,
                    .entries = 5,
                    .value = value,
                    .dtype = "float"};
    sg_matrix *m = NULL;
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        given.offsets = wrongs[i].offset;
        given.column = wrongs[i].column;
        expect(c, sg_matrix_from_device(c, &given, &m), SG_ERROR_DATA, wrongs[i].part);
    }
    given.dtype = "half";
    expect(c, sg_matrix_from_device(c, &given, &m), SG_ERROR_USAGE,
           "values of a matrix are 'half'");
    given.dtype = "float";
    given.entries = INT64_MAX;
    expect(c, sg_matrix_from_device(c, &given, &m), SG_ERROR_USAGE,
           "a matrix of 9223372036854775807 entries; there must be 0 to 2^61");
    given.entries = 5;
    given.offsets = NULL;
    expect(c, sg_matrix_from_device(c, &given, &m), SG_ERROR_USAGE, "needs offsets");
    given.rows = -1;
    expect(c, sg_matrix_from_device(c, &given, &m), SG_ERROR_USAGE, "-1 rows");
    given.rows = 0;
    expect(c, sg_matrix_from_device(c, &given, &m), SG_ERROR_USAGE, "5 entries, but 0 rows");
    given.struct_size = 2;
    expect(c, sg_matrix_from_device(c, &given, &m), SG_ERROR_USAGE, "struct_size");
    assert_int_equal(sg_matrix_from_device(c, NULL, &m), SG_ERROR_USAGE);
    assert_null(m);
}

static void entries_are_their_owners(void **state) {
    static const int offset[] = {0, 1, 2}, column[] = {0, 1};
    static const double value[] = {1, 2};
    sg_context *c = *state;
    const sg_csr given = {.struct_size = sizeof given,
                          .rows = 2,
                          .columns = 2,
                          .entries = 2,
                          .offsets = offset,
                          .column = column,
                          .value = value};
    sg_matrix *m;
    double found;
    assert_int_equal(sg_matrix_from_device(c, &given, &m), SG_OK);
    expect(c, sg_matrix_set(m, 0, 0, 1), SG_ERROR_USAGE, "lies in device memory");
    expect(c, sg_matrix_add(m, 0, 0, 1), SG_ERROR_USAGE, "lies in device memory");
    expect(c, sg_matrix_get(m, 0, 0, &found), SG_ERROR_USAGE, "lies in device memory");
    sg_matrix_free(m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(they_are_as_on_the_host),
    cmocka_unit_test(other_formats_too),
    cmocka_unit_test(what_is_no_csr_is_refused),
    cmocka_unit_test(entries_are_their_owners),
};

TEST_GROUP(device_matrices, open_context, close_context)
