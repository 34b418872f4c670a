/* Conversion of matrices by kernels on the cpu device: for every matrix and width, each array
   equals that of the host's conversion, and what is not written stays as it was. */
#include "tests/unit/matrix/format_scene.h"
#include "tests/unit/matrix/stencils.h"
#include "tests/unit/runtime/matrix/cpu_context.h"

#include "matrix/layout.h"
#include "runtime/matrix/matrix.h"
#include "tests/unit/group.h"

/* ---- both ways ------------------------------------------------------------------------------- */

typedef struct scene {
    sg_context *context;
    storage storage;
    const matrix *matrix;
    const char *name;
} scene;

/* A list of the matrix in memory of the device, which is the host's. */
static packed_matrix csr_of(job *j, const scene *s) {
    storage as = s->storage;
    packed_matrix p;
    as.format = FORMAT_CSR;
    format_pack(j, s->matrix, &as, &p);
    return p;
}

static void compare(const scene *s, const packed_matrix *host, const packed_matrix *device) {
    assert_int_equal(host->array_count, device->array_count);
    assert_true(host->bytes == device->bytes && host->largest_index == device->largest_index);
    for (int i = 0; i < host->array_count; i++) {
        const packed_array *a = &host->arrays[i], *b = &device->arrays[i];
        assert_string_equal(a->name, b->name);
        if (a->kind != b->kind || a->extent[0] != b->extent[0] || a->extent[1] != b->extent[1])
            fail_msg("%s as %s: %s has %lld x %lld instead of %lld x %lld", s->name,
                     format_words[s->storage.format].name, a->name, (long long)b->extent[0],
                     (long long)b->extent[1], (long long)a->extent[0], (long long)a->extent[1]);
        if (memcmp(a->data, b->data, (size_t)layout_bytes(host, i)) != 0)
            fail_msg("%s as %s: %s differs", s->name, format_words[s->storage.format].name,
                     a->name);
    }
    if (host->storage.format != FORMAT_STENCIL)
        return;
    const stencil_rows a = stencil_deviations(host), b = stencil_deviations(device);
    assert_true(a.lacking == b.lacking && a.other == b.other && a.entries == b.entries &&
                a.longest == b.longest);
}

static void convert_both(job *j, void *argument) {
    const scene *s = argument;
    if (!convert_serves(&s->storage, s->matrix->rows, s->matrix->columns, s->matrix->entries))
        return;
    packed_matrix csr = csr_of(j, s), host;
    format_pack(j, s->matrix, &s->storage, &host);
    const device_csr from = {csr.rows,           csr.columns,        csr.entries,
                             csr.arrays[0].data, csr.arrays[1].data, csr.arrays[2].data};
    conversion *c = convert_measure(j, s->context, &from, &host.storage);
    convert_fill(j, c);
    compare(s, &host, &c->packed);
    convert_end(j, c);
    format_free(j, &csr);
    format_free(j, &host);
}

/* Of a matrix that would be too large as it. */
static void count_diagonals(job *j, void *argument) {
    const scene *s = argument;
    packed_matrix csr = csr_of(j, s);
    int64_t wanted;
    layout_diagonals(j, s->matrix, &wanted);
    const device_csr from = {csr.rows,           csr.columns,        csr.entries,
                             csr.arrays[0].data, csr.arrays[1].data, csr.arrays[2].data};
    conversion *c = convert_measure(j, s->context, &from, &s->storage);
    assert_int_equal(c->packed.arrays[0].extent[0], wanted);
    convert_end(j, c);
    format_free(j, &csr);
}

/* As the library runs it: with its memory, and its error for this thread. */
static void convert(const scene *s) {
    if (context_run(s->context, convert_both, (void *)s, NULL) != SG_OK)
        fail_msg("%s as %s: %s", s->name, format_words[s->storage.format].name,
                 sg_error(s->context));
}

/* ---- what is converted ----------------------------------------------------------------------- */

static const diagonal given[] = {{-3, 1}, {0, 2}, {1, 1}};

/* Other numbers of each format than the usual ones. */
static const storage storages[] = {
    {.format = FORMAT_SELL},
    {.format = FORMAT_SELL, .slice = 1, .sigma = 1},
    {.format = FORMAT_SELL, .slice = 4, .sigma = 12},
    {.format = FORMAT_SELL, .slice = 64, .sigma = 2048},
    {.format = FORMAT_ELL},
    {.format = FORMAT_DIA},
    {.format = FORMAT_BCSR, .block_rows = 1, .block_cols = 1},
    {.format = FORMAT_BCSR, .block_rows = 3, .block_cols = 2},
    {.format = FORMAT_BCSR, .block_rows = 16, .block_cols = 16},
    {.format = FORMAT_STENCIL},
    {.format = FORMAT_STENCIL, .diagonals = given, .diagonal_count = 3},
};
enum { STORAGES = sizeof storages / sizeof *storages };

typedef struct many {
    sg_context *context;
    int widths; /* bit 0: wide indices; value_bytes is 2 << widths / 2 */
    int which;
} many;

static void with_widths(const many *w, const matrix *m, const char *name) {
    for (int i = 0; i < STORAGES; i++) {
        scene s = {w->context, storages[i], m, name};
        s.storage.index_bytes = w->widths & 1 ? 8 : 4;
        s.storage.value_bytes = (size_t)2 << w->widths / 2;
        s.storage.bfloat16 = w->widths == 1;
        convert(&s);
    }
}

static void drawn_one(job *j, void *argument) {
    const many *w = argument;
    const matrix m = matrix_draw(j, &drawn_matrices[w->which]);
    with_widths(w, &m, drawn_matrices[w->which].name);
}

static const grid_matrix grids[] = {
    {.nx = 1000, .ny = 1, .nz = 1, .spoiled = 3},
    {.nx = 61, .ny = 43, .nz = 1, .spoiled = 9},
    {.nx = 64, .ny = 32, .nz = 1},
    {.nx = 13, .ny = 11, .nz = 17, .spoiled = 20},
    {.nx = 100, .ny = 31, .nz = 1, .periodic = true},
};

static void grid_one(job *j, void *argument) {
    const many *w = argument;
    const matrix m = grid_draw(j, &grids[w->which]);
    with_widths(w, &m, "a grid");
}

static void convert_all(sg_context *c, int widths) {
    for (int i = 0; i < DRAWN_MATRICES; i++) {
        many w = {c, widths, i};
        run(drawn_one, &w);
    }
    for (int i = 0; i < (int)(sizeof grids / sizeof *grids); i++) {
        many w = {c, widths, i};
        run(grid_one, &w);
    }
}

static void all_arrays_are_the_same(void **state) {
    sg_context *c = *state;
    convert_all(c, 2);
    convert_all(c, 5);
    convert_all(c, 0);
    convert_all(c, 1);
}

/* ---- large ones ------------------------------------------------------------------------------ */

/* Rows of drawn lengths, one of which has an entry in every fourth column, and stretches of empty
   ones that are longer than what a warp looks at: several tiles of sums, and several stretches a
   row. */
static void large_one(job *j, void *argument) {
    enum { ROWS = 12000, COLUMNS = 3000, MOST = 100000 };
    const many *w = argument;
    int64_t *row = job_array(j, MOST, sizeof *row), *column = job_array(j, MOST, sizeof *column);
    double *value = job_array(j, MOST, sizeof *value);
    int64_t n = 0;
    for (int64_t r = 0; r < ROWS; r++) {
        const int64_t length = r == 7777           ? COLUMNS / 4
                               : r / 3000 % 3 == 1 ? 0
                                                   : (int64_t)(scramble(3, (uint64_t)r) % 9);
        for (int64_t k = 0; k < length; k++, n++) {
            row[n] = r;
            column[n] = k * COLUMNS / length;
            value[n] = (double)(scramble(4, (uint64_t)n) % 50) - 25;
        }
    }
    const matrix m = {ROWS, COLUMNS, n, row, column, value};
    for (int i = 0; i < STORAGES; i++) {
        scene s = {w->context, storages[i], &m, "many rows"};
        s.storage.index_bytes = 4;
        s.storage.value_bytes = 4;
        if (s.storage.format != FORMAT_DIA)
            convert(&s);
        else if (context_run(w->context, count_diagonals, &s, NULL) != SG_OK)
            fail_msg("%s", sg_error(w->context));
    }
}

static void many_rows_too(void **state) {
    many w = {*state, 0, 0};
    run(large_one, &w);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(all_arrays_are_the_same),
    cmocka_unit_test(many_rows_too),
};

TEST_GROUP(convert, open_context, close_context)
