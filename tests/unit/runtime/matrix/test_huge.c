/* A matrix of more than 2^31 entries, whose offsets need 64 bits, in the memory of a GPU:
   products in the formats that take such matrices, every row of y compared. Skipped without a
   GPU of 70 GB. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#include "runtime/stencilgen.h"
#include "tests/unit/group.h"

enum { LENGTH = 16, STRIP = 4096, COLUMNS = LENGTH * STRIP }; /* each entry in a strip of its own */
enum { ROWS = 1 << 20, PIECES = 129, FACTORS = 5 };           /* rows of a piece */
#define ENTRIES ((int64_t)ROWS * LENGTH)                      /* of a piece */
#define LEAST_MEMORY (INT64_C(70) << 30)

_Static_assert(PIECES *ENTRIES > INT32_MAX, "offsets need 64 bits");
_Static_assert((INT64_C(1) << 31) / ENTRIES % FACTORS != 0, "another factor 2^31 entries later");

typedef struct scene {
    sg_context *context;
    sg_matrix *matrix;
    void *offsets, *column, *value, *x, *y;
    float *sums, *found; /* of a piece with the factor 1; y */
} scene;

static scene all;

static void must(sg_status status) {
    if (status != SG_OK)
        fail_msg("%s", sg_error(all.context));
}

static void *memory(size_t bytes) {
    void *p = malloc(bytes);
    assert_non_null(p);
    return p;
}

static uint32_t drawn(uint32_t n) {
    n = (n ^ n >> 16) * UINT32_C(0x45d9f3b);
    n = (n ^ n >> 16) * UINT32_C(0x45d9f3b);
    return n ^ n >> 16;
}

/* Whole numbers, of which all sums are exact. */
static float small(uint32_t n) {
    return (float)((int)(drawn(n) % 15) - 7);
}

static void *place(size_t bytes) {
    void *there = NULL;
    must(sg_alloc(all.context, bytes, &there));
    return there;
}

static void make_vector(void) {
    float *x = memory(COLUMNS * sizeof *x);
    for (uint32_t i = 0; i < COLUMNS; i++)
        x[i] = small(i);
    all.x = place(COLUMNS * sizeof *x);
    must(sg_upload(all.context, all.x, x, COLUMNS * sizeof *x));
    free(x);
}

static void make_piece(int64_t *column, float *value) {
    for (uint32_t i = 0; i < ENTRIES; i++) {
        column[i] = i % LENGTH * STRIP + drawn(i) % STRIP;
        value[i] = small(i + 1);
    }
    for (int64_t row = 0; row < ROWS; row++) {
        float sum = 0;
        for (int64_t i = row * LENGTH; i < (row + 1) * LENGTH; i++)
            sum += value[i] * small((uint32_t)column[i]);
        all.sums[row] = sum;
    }
}

static float factor(int64_t piece) {
    return (float)(1 + piece % FACTORS);
}

static void upload_pieces(const int64_t *column, const float *value) {
    int64_t *offsets = memory((ROWS + 1) * sizeof *offsets);
    float *scaled = memory((size_t)ENTRIES * sizeof *scaled);
    for (int64_t f = 0; f < FACTORS; f++) {
        for (int64_t i = 0; i < ENTRIES; i++)
            scaled[i] = value[i] * factor(f);
        for (int64_t p = f; p < PIECES; p += FACTORS) {
            for (int64_t row = 0; row <= ROWS; row++)
                offsets[row] = p * ENTRIES + row * LENGTH;
            must(sg_upload(all.context, (int64_t *)all.offsets + p * ROWS, offsets,
                           (ROWS + 1) * sizeof *offsets));
            must(sg_upload(all.context, (int64_t *)all.column + p * ENTRIES, column,
                           (size_t)ENTRIES * sizeof *column));
            must(sg_upload(all.context, (float *)all.value + p * ENTRIES, scaled,
                           (size_t)ENTRIES * sizeof *scaled));
        }
    }
    free(scaled);
    free(offsets);
}

static int open_scene(void **unused) {
    const sg_options options = {.struct_size = sizeof options, .device = "cuda"};
    sg_device_info facts = {.struct_size = sizeof facts};
    (void)unused;
    if (sg_open(&all.context, &options) != SG_OK || sg_device(all.context, &facts) != SG_OK ||
        facts.memory < LEAST_MEMORY) {
        sg_close(all.context);
        all.context = NULL;
        return 0;
    }
    int64_t *column = memory((size_t)ENTRIES * sizeof *column);
    float *value = memory((size_t)ENTRIES * sizeof *value);
    all.sums = memory(ROWS * sizeof *all.sums);
    all.found = memory((size_t)PIECES * ROWS * sizeof *all.found);
    all.offsets = place(((size_t)PIECES * ROWS + 1) * sizeof(int64_t));
    all.column = place(PIECES * (size_t)ENTRIES * sizeof(int64_t));
    all.value = place(PIECES * (size_t)ENTRIES * sizeof(float));
    all.y = place((size_t)PIECES * ROWS * sizeof(float));
    make_vector();
    make_piece(column, value);
    upload_pieces(column, value);
    free(value);
    free(column);
    const sg_csr lists = {.struct_size = sizeof lists,
                          .rows = (int64_t)PIECES * ROWS,
                          .columns = COLUMNS,
                          .entries = PIECES * ENTRIES,
                          .offsets = all.offsets,
                          .column = all.column,
                          .value = all.value,
                          .index = "int64",
                          .dtype = "float"};
    must(sg_matrix_from_device(all.context, &lists, &all.matrix));
    return 0;
}

static int close_scene(void **unused) {
    void *const lists[] = {all.offsets, all.column, all.value, all.x, all.y};
    (void)unused;
    sg_matrix_free(all.matrix);
    for (size_t i = 0; i < sizeof lists / sizeof *lists && all.context != NULL; i++)
        sg_free(all.context, lists[i]);
    free(all.sums);
    free(all.found);
    sg_close(all.context);
    return 0;
}

static void compare(const char *schedule, size_t bytes) {
    must(sg_download(all.context, all.found, all.y, bytes));
    for (int64_t p = 0; p < PIECES; p++)
        for (int64_t row = 0; row < ROWS; row++)
            if (!(all.found[p * ROWS + row] == factor(p) * all.sums[row]))
                fail_msg("%s: row %lld is %g instead of %g", schedule, (long long)(p * ROWS + row),
                         (double)all.found[p * ROWS + row], (double)(factor(p) * all.sums[row]));
}

static void multiply(const char *schedule) {
    const char *const spec =
        "return spmv { name = 'huge', dtype = 'float', index = 'int64', format = 'auto' }";
    const sg_build_options options = {
        .struct_size = sizeof options, .text = spec, .schedule = schedule, .matrix = all.matrix};
    const size_t bytes = (size_t)PIECES * ROWS * sizeof *all.found;
    sg_spmv_arguments a = {.struct_size = sizeof a, .x = all.x, .y = all.y, .alpha = 1};
    sg_kernel *kernel;
    sg_device_matrix *stored;
    if (all.context == NULL)
        skip();
    must(sg_build(all.context, "huge.lua", &options, &kernel));
    must(sg_matrix_upload(all.matrix, kernel, &stored));
    must(sg_spmv_bytes(kernel, stored, 1, &a.temporary_bytes));
    must(sg_alloc(all.context, a.temporary_bytes > 0 ? a.temporary_bytes : 1, &a.temporary));
    a.matrix = stored;
    memset(all.found, 0xff, bytes); /* NaN */
    must(sg_upload(all.context, all.y, all.found, bytes));
    must(sg_spmv(kernel, &a, NULL));
    must(sg_synchronize(all.context, NULL));
    compare(sg_kernel_text(kernel, SG_TEXT_PLAN), bytes);
    sg_free(all.context, a.temporary);
    sg_device_matrix_free(stored);
    sg_release(kernel);
}

static void by_balanced_rows(void **unused) {
    (void)unused;
    multiply("csr balanced");
}

static void by_grouped_rows(void **unused) {
    (void)unused;
    multiply("csr grouped items=8 cut=1024");
}

static void by_other_rows(void **unused) {
    (void)unused;
    multiply("csr thread");
    multiply("csr warp");
}

static void by_what_is_chosen(void **unused) {
    (void)unused;
    multiply(NULL);
}

static void by_formats_that_are_converted_to(void **unused) {
    (void)unused;
    multiply("ell");
    multiply("sell");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(by_balanced_rows),
    cmocka_unit_test(by_grouped_rows),
    cmocka_unit_test(by_other_rows),
    cmocka_unit_test(by_what_is_chosen),
    cmocka_unit_test(by_formats_that_are_converted_to),
};

TEST_GROUP(huge, open_scene, close_scene)
