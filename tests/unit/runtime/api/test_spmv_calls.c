/* Matrices brought to the device for kernels of this test's own, and sg_spmv with them. */
#include "tests/unit/runtime/launch/lists_kernel.h"

#include <math.h>

#include "runtime/matrix/matrix.h"
#include "tests/unit/group.h"
#include "tests/unit/matrix/matrices.h"
#include "tests/unit/miser.h"

/* ---- a kernel -------------------------------------------------------------------------------- */

/* A thread a row; two vectors. A lone temporary, which it must have. */
static const char csr_text[] =
    "struct Arguments {\n"
    "    long long rows, columns, entries;\n"
    "    const int *offset, *column;\n"
    "    const double *value, *x;\n"
    "    double *y;\n"
    "    int *room;\n"
    "    double alpha, beta;\n"
    "};\n"
    "extern \"C\" __global__ void product(const __grid_constant__ Arguments p) {\n"
    "    const long long row = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (row >= p.rows)\n"
    "        return;\n"
    "    p.room[row] = 1;\n"
    "    for (int v = 0; v < 2; v++) {\n"
    "        double sum = 0;\n"
    "        for (int i = p.offset[row]; i < p.offset[row + 1]; i++)\n"
    "            sum += p.value[i] * p.x[v * p.columns + p.column[i]];\n"
    "        double *y = &p.y[v * p.rows + row];\n"
    "        *y = p.beta == 0 ? p.alpha * sum : p.alpha * sum + p.beta * *y;\n"
    "    }\n"
    "}\n";

enum { OFFSET, COLUMN, VALUE, X, Y, ARRAYS };

typedef struct csr {
    program program;
    program_array arrays[ARRAYS];
    program_size sizes[3];
    program_parameter parameters[2];
    program_temporary temporary;
    program_product product;
    program_launch launch;
} csr;

static program_array list(const char *name, const char *dtype, int bytes, program_extent x,
                          program_extent y) {
    return (program_array){.name = name,
                           .dtype = dtype,
                           .element_bytes = (size_t)bytes,
                           .lists.same_as = -1,
                           .lists.extent = {x, y, {{-1, -1}, 1}}};
}

static sg_kernel *csr_kernel(csr *c) {
    const program_extent one = {{-1, -1}, 1}, two = {{-1, -1}, 2};
    const program_extent rows = {{0, -1}, 0}, columns = {{1, -1}, 0}, entries = {{2, -1}, 0};
    *c = (csr){.program = {.name = "csr",
                           .source = csr_text,
                           .target = "sm_90",
                           .kind = PROGRAM_PRODUCT,
                           .dims = 1,
                           .element_bytes = 8,
                           .arrays = c->arrays,
                           .array_count = ARRAYS,
                           .parameters = c->parameters,
                           .parameter_count = 2,
                           .launches = &c->launch,
                           .launch_count = 1,
                           .arguments_bytes = 8 * (3 + ARRAYS + 1 + 2),
                           .lists.sizes = c->sizes,
                           .lists.size_count = 3,
                           .lists.temporaries = &c->temporary,
                           .lists.temporary_count = 1,
                           .lists.points = entries,
                           .lists.product = &c->product},
               .product = {.storage = {FORMAT_CSR, 4, 8, 32, 32, 1, 1, 64}},
               .arrays = {list("offset", "int32", 4, (program_extent){{0, -1}, 1}, one),
                          list("column", "int32", 4, entries, one),
                          list("value", "double", 8, entries, one),
                          list("x", "double", 8, columns, two), list("y", "double", 8, rows, two)},
               .sizes = {{"rows", Y, 0}, {"columns", X, 0}, {"entries", VALUE, 0}},
               .parameters = {{.name = "alpha", .dtype = "double", .has_value = true, .value = 1},
                              {.name = "beta", .dtype = "double", .has_value = true}},
               .temporary = {.name = "room", .items = rows, .per = 1, .bytes = 4, .fill = -1},
               .launch = {.entry = "product",
                          .per_block = {8, 1, 1},
                          .block = {8, 1, 1},
                          .lists.blocks = {{.items = rows}, {one}, {one}}}};
    c->arrays[Y].written = c->arrays[Y].lists.updated = true;
    sg_kernel *k = lists_kernel(&c->program);
    k->texts[SG_TEXT_FAMILY] = "spmv";
    k->info.kind = SG_KIND_PRODUCT;
    return k;
}

static void must(const sg_kernel *k, sg_status status) {
    if (status != SG_OK)
        fail_msg("%s", sg_error(k->context));
}

static void expect_error(const sg_kernel *k, sg_status status, sg_status wanted, const char *part) {
    assert_int_equal(status, wanted);
    if (strstr(sg_error(k->context), part) == NULL)
        fail_msg("'%s' is not in '%s'", part, sg_error(k->context));
}

/* Rows 5, columns 3; the second row and the third column have no entry. */
static const int64_t some_row[] = {4, 0, 2, 3, 0, 4}, some_column[] = {0, 0, 1, 1, 1, 0};
static const double some_value[] = {1, 2, 3, 4, 5, 6};

static sg_matrix *some_matrix(const sg_kernel *k) {
    sg_matrix *m = NULL;
    must(k, sg_matrix_from(k->context, 5, 3, 6, some_row, some_column, some_value, &m));
    return m;
}

/* ---- products -------------------------------------------------------------------------------- */

static void products_are_right(void **state) {
    (void)state;
    csr program;
    sg_kernel *k = csr_kernel(&program);
    sg_matrix *m = some_matrix(k);
    sg_device_matrix *on_device = NULL;
    must(k, sg_matrix_upload(m, k, &on_device));
    sg_matrix_free(m);
    const double x[] = {1, 10, NAN, -1, 100, INFINITY};
    double y[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    static const double wanted[] = {105, 2, 63, 84, 19, 1002, 7, 608, 809, -4};
    _Alignas(256) char room[256];
    sg_spmv_arguments a = {.struct_size = sizeof a,
                           .matrix = on_device,
                           .x = x,
                           .y = y,
                           .vectors = 2,
                           .alpha = 2,
                           .beta = 1,
                           .temporary = room};
    must(k, sg_spmv_bytes(k, on_device, 2, &a.temporary_bytes));
    assert_int_equal(a.temporary_bytes, 256);
    must(k, sg_spmv(k, &a, NULL));
    must(k, sg_synchronize(k->context, NULL));
    for (int i = 0; i < 10; i++)
        assert_true(y[i] == wanted[i]);
    y[3] = NAN;
    a.beta = 0;
    a.alpha = 1;
    must(k, sg_spmv(k, &a, NULL));
    assert_true(y[0] == 52 && y[1] == 0 && y[3] == 40 && y[9] == -7);
    sg_device_matrix_free(on_device);
    lists_end(k);
}

static void wrong_products_are_refused(void **state) {
    (void)state;
    csr program, other_program;
    sg_kernel *k = csr_kernel(&program), *other = csr_kernel(&other_program);
    sg_matrix *m = some_matrix(k);
    sg_device_matrix *on_device = NULL, *none = NULL;
    must(k, sg_matrix_upload(m, k, &on_device));
    double x[6] = {0}, y[10];
    _Alignas(256) char room[256];
    const sg_spmv_arguments good = {.struct_size = sizeof good,
                                    .matrix = on_device,
                                    .x = x,
                                    .y = y,
                                    .vectors = 2,
                                    .alpha = 1,
                                    .temporary = room,
                                    .temporary_bytes = sizeof room};
    must(k, sg_spmv(k, &good, NULL));
    sg_spmv_arguments a = good;
    a.vectors = 0;
    expect_error(k, sg_spmv(k, &a, NULL), SG_ERROR_USAGE, "size 1 along y instead of 2");
    a.vectors = -1;
    expect_error(k, sg_spmv(k, &a, NULL), SG_ERROR_USAGE, "-1 vectors");
    a = good;
    a.matrix = NULL;
    expect_error(k, sg_spmv(k, &a, NULL), SG_ERROR_USAGE, "'csr' needs a matrix");
    a = good;
    a.x = NULL;
    expect_error(k, sg_spmv(k, &a, NULL), SG_ERROR_USAGE, "'x' has no data");
    a = good;
    a.x = y;
    expect_error(k, sg_spmv(k, &a, NULL), SG_ERROR_USAGE, "overlap");
    a = good;
    a.temporary_bytes = 255;
    expect_error(k, sg_spmv(k, &a, NULL), SG_ERROR_USAGE, "temporary");
    a = good;
    a.struct_size = 0;
    expect_error(k, sg_spmv(k, &a, NULL), SG_ERROR_USAGE, "struct_size of sg_spmv_arguments");
    expect_error(k, sg_spmv(k, NULL, NULL), SG_ERROR_USAGE, "sg_spmv needs arguments");
    assert_int_equal(sg_spmv(NULL, &good, NULL), SG_ERROR_USAGE);
    expect_error(other, sg_spmv(other, &good, NULL), SG_ERROR_USAGE, "different contexts");
    expect_error(other, sg_matrix_upload(m, other, &none), SG_ERROR_USAGE, "different contexts");
    program.product.storage[STORAGE_VALUE_BYTES] = 4;
    expect_error(k, sg_spmv(k, &good, NULL), SG_ERROR_USAGE,
                 "for another kernel, as csr; 'csr' wants it as csr with widths");
    program.program.kind = PROGRAM_SCAN;
    expect_error(k, sg_matrix_upload(m, k, &none), SG_ERROR_USAGE, "multiplies with no matrix");
    k->texts[SG_TEXT_FAMILY] = "scan";
    k->info.kind = SG_KIND_SCAN;
    expect_error(k, sg_spmv(k, &good, NULL), SG_ERROR_USAGE,
                 "sg_spmv launches kernels of the family spmv; 'csr' is of scan");
    assert_null(none);
    sg_matrix_free(m);
    sg_device_matrix_free(on_device);
    lists_end(other);
    lists_end(k);
}

/* ---- formats --------------------------------------------------------------------------------- */

typedef struct comparing {
    const drawn *drawn;
    const storage *storage;
    const sg_device_matrix *found;
} comparing;

static void compare(job *j, void *argument) {
    const comparing *c = argument;
    const matrix m = matrix_draw(j, c->drawn);
    packed_matrix p;
    format_pack(j, &m, c->storage, &p);
    assert_int_equal(p.array_count, c->found->array_count);
    for (int i = 0; i < p.array_count; i++) {
        const size_t element = p.arrays[i].kind == PACKED_INDEX   ? p.storage.index_bytes
                               : p.arrays[i].kind == PACKED_VALUE ? p.storage.value_bytes
                                                                  : 4;
        assert_string_equal(p.arrays[i].name, c->found->arrays[i].name);
        assert_memory_equal(p.arrays[i].extent, c->found->arrays[i].extent, 16);
        assert_memory_equal(p.arrays[i].data, c->found->arrays[i].data, /* the device is the host */
                            (size_t)(p.arrays[i].extent[0] * p.arrays[i].extent[1]) * element);
    }
    format_free(j, &p);
}

static sg_matrix *drawn_matrix(const sg_kernel *k, const drawn *d) {
    sg_matrix *out = NULL;
    must(k, sg_matrix_new(k->context, d->rows, d->columns, &out));
    for (int64_t r = 0; r < d->rows; r++)
        for (int64_t c = 0; c < d->columns; c++)
            if (d->entry(d->rows, d->columns, r, c))
                must(k,
                     sg_matrix_set(out, r, c,
                                   1 + (float)(scramble((uint64_t)r, (uint64_t)c) % 1024) / 256));
    return out;
}

static void every_format_reaches_the_device(void **state) {
    (void)state;
    csr program;
    sg_kernel *k = csr_kernel(&program);
    for (int i = 0; i < DRAWN_MATRICES; i++) {
        sg_matrix *m = drawn_matrix(k, &drawn_matrices[i]);
        for (format f = FORMAT_COO; f < FORMAT_STENCIL; f++) /* which these matrices are not */
            for (int wide = 0; wide < 2; wide++) {
                const storage s = {.format = f,
                                   .index_bytes = wide ? 8 : 4,
                                   .value_bytes = wide ? 4 : 8,
                                   .slice = 8,
                                   .sigma = 64,
                                   .block_rows = 2,
                                   .block_cols = 3,
                                   .packet = 100};
                const int numbers[PROGRAM_STORAGE] = {
                    (int)f, (int)s.index_bytes, (int)s.value_bytes, 8, 64, 2, 3, 100};
                memcpy(program.product.storage, numbers, sizeof numbers);
                sg_device_matrix *on_device = NULL;
                must(k, sg_matrix_upload(m, k, &on_device));
                comparing c = {&drawn_matrices[i], &s, on_device};
                job *j;
                assert_int_equal(job_run(&allocator_libc, compare, &c, &j), FAULT_NONE);
                job_end(j);
                sg_device_matrix_free(on_device);
            }
        sg_matrix_free(m);
    }
    lists_end(k);
}

static void too_large_formats_are_refused(void **state) {
    (void)state;
    csr program;
    sg_kernel *k = csr_kernel(&program);
    sg_matrix *m = NULL;
    sg_device_matrix *none = NULL;
    must(k, sg_matrix_new(k->context, 20000, 20000, &m));
    for (int i = 0; i < 20000; i++)
        must(k, sg_matrix_set(m, 7, i, 1));
    program.product.storage[STORAGE_FORMAT] = FORMAT_ELL;
    expect_error(k, sg_matrix_upload(m, k, &none), SG_ERROR_PLAN,
                 "ell would need 4800000000 bytes, more than 16 times the 320004 of csr and more "
                 "than 1073741824");
    must(k, sg_matrix_set(m, 8, 9, 1e300));
    program.product.storage[STORAGE_FORMAT] = FORMAT_CSR;
    program.product.storage[STORAGE_VALUE_BYTES] = 4;
    expect_error(k, sg_matrix_upload(m, k, &none), SG_ERROR_DATA,
                 "row 8, column 9 (from 0) is too large for a float");
    program.product.storage[STORAGE_SLICE] = 5; /* as a file might have it */
    expect_error(k, sg_matrix_upload(m, k, &none), SG_ERROR_USAGE, "no multiple of the slice");
    sg_matrix_free(m);
    must(k, sg_matrix_new(k->context, INT64_C(1) << 31, 2, &m));
    program.product.storage[STORAGE_SLICE] = 32;
    program.product.storage[STORAGE_FORMAT] = FORMAT_COO;
    must(k, sg_matrix_set(m, INT32_MAX, 0, 1));
    must(k, sg_matrix_upload(m, k, &none));
    sg_device_matrix_free(none);
    none = NULL;
    sg_matrix_free(m);
    must(k, sg_matrix_new(k->context, (INT64_C(1) << 31) + 1, 2, &m));
    expect_error(k, sg_matrix_upload(m, k, &none), SG_ERROR_PLAN, "which 32 bits cannot hold");
    assert_null(none);
    sg_matrix_free(m);
    lists_end(k);
}

/* The context's memory becomes a miser's while a matrix goes to the device, so that what was taken
   before is given back to where it came from. */
static void memory_may_run_out(void **state) {
    (void)state;
    csr program;
    sg_kernel *k = csr_kernel(&program);
    sg_matrix *m = drawn_matrix(k, &drawn_matrices[9]);
    must(k, sg_matrix_entries(m, NULL, NULL, NULL)); /* settled with the old memory */
    const allocator before = k->context->memory;
    for (format f = FORMAT_COO; f < FORMAT_STENCIL; f++) {
        program.product.storage[STORAGE_FORMAT] = (int)f;
        for (long refused = 1;; refused++) {
            miser pocket = {.refused = refused};
            sg_device_matrix *on_device = NULL;
            k->context->memory = (allocator){resize_miserly, &pocket};
            const sg_status status = sg_matrix_upload(m, k, &on_device);
            k->context->memory = before;
            assert_true((status == SG_OK) == (on_device != NULL));
            sg_device_matrix_free(on_device);
            assert_int_equal(pocket.held, 0);
            if (status == SG_OK)
                break;
            assert_int_equal(status, SG_ERROR_MEMORY);
            assert_true(refused < 1000);
        }
    }
    sg_matrix_free(m);
    lists_end(k);
}

static void device_matrices_hold_their_context(void **state) {
    (void)state;
    csr program;
    sg_kernel *k = csr_kernel(&program);
    sg_matrix *m = some_matrix(k);
    sg_device_matrix *on_device = NULL;
    must(k, sg_matrix_upload(m, k, &on_device));
    lists_end(k);
    sg_device_matrix_free(on_device);
    sg_matrix_free(m);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(products_are_right),
    cmocka_unit_test(wrong_products_are_refused),
    cmocka_unit_test(every_format_reaches_the_device),
    cmocka_unit_test(too_large_formats_are_refused),
    cmocka_unit_test(memory_may_run_out),
    cmocka_unit_test(device_matrices_hold_their_context),
};

TEST_GROUP(spmv_calls, NULL, NULL)
