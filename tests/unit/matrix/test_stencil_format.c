/* Matrices that are stencils, on the host: the diagonals that are found, the rows that deviate,
   the round trip, and what is refused. */
#include <math.h>

#include "tests/unit/matrix/format_scene.h"
#include "tests/unit/matrix/stencils.h"

#include "matrix/layout.h"
#include "tests/unit/group.h"

static const grid_matrix grids[] = {
    {.nx = 1, .ny = 1, .nz = 1},
    {.nx = 2, .ny = 1, .nz = 1},
    {.nx = 5, .ny = 1, .nz = 1},
    {.nx = 31, .ny = 1, .nz = 1},
    {.nx = 32, .ny = 1, .nz = 1},
    {.nx = 33, .ny = 1, .nz = 1},
    {.nx = 1000, .ny = 1, .nz = 1},
    {.nx = 7, .ny = 5, .nz = 1},
    {.nx = 61, .ny = 43, .nz = 1},
    {.nx = 64, .ny = 32, .nz = 1},
    {.nx = 13, .ny = 11, .nz = 17},
    {.nx = 16, .ny = 16, .nz = 16},
    {.nx = 61, .ny = 43, .nz = 1, .spoiled = 9},
    {.nx = 19, .ny = 23, .nz = 9, .spoiled = 20},
    {.nx = 1000, .ny = 1, .nz = 1, .spoiled = 3},
    {.nx = 100, .ny = 31, .nz = 1, .periodic = true},
};
enum { GRIDS = sizeof grids / sizeof *grids };

/* ---- there and back ------------------------------------------------------------------------- */

static void there_and_back(job *j, void *argument) {
    const matrix m = grid_draw(j, argument);
    for (int widths = 0; widths < 4; widths++) {
        const storage s = {.format = FORMAT_STENCIL,
                           .index_bytes = widths & 1 ? 8 : 4,
                           .value_bytes = widths & 2 ? 8 : 4};
        packed_matrix p;
        matrix back;
        format_pack(j, &m, &s, &p);
        format_unpack(j, &p, &back);
        same_entries(&m, &back, "stencil");
        for (int64_t i = 0; i < m.entries; i++) /* also the sign of a zero */
            assert_int_equal(signbit(m.value[i]) != 0, signbit(back.value[i]) != 0);
        format_free(j, &p);
    }
}

static void every_grid_there_and_back(void **state) {
    (void)state;
    for (int i = 0; i < GRIDS; i++) {
        grid_matrix g = grids[i];
        run(there_and_back, &g);
    }
}

/* Matrices without a diagonal in common, of all kinds. */
static void drawn_there_and_back(job *j, void *argument) {
    static const diagonal given[] = {{-3, 1}, {0, 2}, {1, 1}};
    const matrix m = matrix_draw(j, argument);
    for (int i = 0; i < 2; i++) {
        const storage s = {.format = FORMAT_STENCIL,
                           .diagonals = i == 0 ? NULL : given,
                           .diagonal_count = i == 0 ? 0 : 3};
        packed_matrix p;
        matrix back;
        format_pack(j, &m, &s, &p);
        format_unpack(j, &p, &back);
        same_entries(&m, &back, "stencil");
        format_free(j, &p);
    }
}

static void every_matrix_there_and_back(void **state) {
    (void)state;
    for (int i = 0; i < DRAWN_MATRICES; i++) {
        drawn d = drawn_matrices[i];
        run(drawn_there_and_back, &d);
    }
}

/* ---- by hand --------------------------------------------------------------------------------- */

/* 40 rows: 2 on the diagonal and 1 above it. Row 3 lacks the latter, row 5 has a 9 as well, row 33
   a value that is not 2, row 35 nothing; the last cannot have what is above. */
static void pack_by_hand(job *j, void *argument) {
    (void)argument;
    enum { ROWS = 40 };
    int64_t row[2 * ROWS], column[2 * ROWS], n = 0;
    double value[2 * ROWS];
    for (int64_t r = 0; r < ROWS; r++) {
        if (r == 35)
            continue;
        row[n] = column[n] = r;
        value[n++] = r == 33 ? 2.5 : 2;
        if (r != 3 && r != ROWS - 1)
            row[n] = r, column[n] = r + 1, value[n++] = 1;
        if (r == 5)
            row[n] = r, column[n] = 30, value[n++] = 9;
    }
    const matrix m = {ROWS, ROWS, n, row, column, value};
    const storage s = {.format = FORMAT_STENCIL};
    packed_matrix p;
    format_pack(j, &m, &s, &p);
    assert_int_equal(p.storage.diagonal_count, 2);
    assert_true(p.storage.diagonals[0].offset == 0 && p.storage.diagonals[0].value == 2);
    assert_true(p.storage.diagonals[1].offset == 1 && p.storage.diagonals[1].value == 1);
    static const int64_t extents[] = {2, 32, 2, 3, 5, 5};
    for (int a = 0; a < p.array_count; a++)
        assert_int_equal(p.arrays[a].extent[0], extents[a]);
    assert_int_equal(p.arrays[1].extent[1], 2);
    const uint32_t *group = p.arrays[0].data, *pattern = p.arrays[1].data;
    assert_true(group[0] == 1 && group[1] == 2);
    for (int r = 0; r < 64; r++) {
        const uint32_t wanted = r == 5 || r == 33 || r >= ROWS ? STENCIL_OTHER
                                : r == 3 || r == ROWS - 1      ? 1
                                : r == 35                      ? 0
                                                               : 3;
        assert_int_equal(pattern[r], wanted);
    }
    static const int64_t others[] = {5, 33}, offsets[] = {0, 3, 5}, columns[] = {5, 6, 30, 33, 34};
    static const double values[] = {2, 1, 9, 2.5, 1};
    for (int i = 0; i < 5; i++) {
        assert_true(i >= 2 || layout_index(&p, 2, i) == others[i]);
        assert_true(i >= 3 || layout_index(&p, 3, i) == offsets[i]);
        assert_true(layout_index(&p, 4, i) == columns[i] && layout_value(&p, 5, i) == values[i]);
    }
    const stencil_rows rows = stencil_deviations(&p);
    assert_true(rows.lacking == 3 && rows.other == 2 && rows.entries == 5 && rows.longest == 3);
    format_free(j, &p);
}

static void arrays_by_hand(void **state) {
    (void)state;
    run(pack_by_hand, NULL);
}

/* A grid of powers of two has few patterns, however many rows it has. */
static void count_patterns(job *j, void *argument) {
    (void)argument;
    const grid_matrix g = {.nx = 64, .ny = 64, .nz = 64};
    const matrix m = grid_draw(j, &g);
    const storage s = {.format = FORMAT_STENCIL};
    packed_matrix p;
    format_measure(j, &m, &s, &p);
    assert_int_equal(p.arrays[1].extent[1], 18); /* two places along x, three along y and z */
    const stencil_rows rows = stencil_deviations(&p);
    assert_int_equal(rows.other, 0);
    assert_int_equal(rows.lacking, 64 * 64 * 64 - 62 * 62 * 62);
}

static void patterns_are_stored_once(void **state) {
    (void)state;
    run(count_patterns, NULL);
}

/* ---- finding --------------------------------------------------------------------------------- */

/* What most rows have, counted on all of them. */
static void find(job *j, void *argument) {
    const grid_matrix *g = argument;
    const matrix m = grid_draw(j, g);
    const diagonal *found;
    const int count = stencil_find(j, &m, DTYPE_DOUBLE, &found);
    const int dims = (g->nx > 1) + (g->ny > 1) + (g->nz > 1);
    assert_int_equal(count, 2 * dims + 1);
    for (int d = 0; d < count; d++) {
        int64_t rows = 0;
        for (int64_t i = 0; i < m.entries; i++)
            rows += m.column[i] - m.row[i] == found[d].offset && m.value[i] == found[d].value;
        assert_true(2 * rows > m.rows);
        assert_true(d == 0 || found[d].offset > found[d - 1].offset);
    }
}

static void diagonals_are_found(void **state) {
    (void)state;
    for (int i = 2; i < GRIDS; i++) {
        grid_matrix g = grids[i];
        run(find, &g);
    }
}

static void find_none(job *j, void *argument) {
    (void)argument;
    const diagonal *found;
    const drawn band = {"", 200, 200, draw_band}; /* its values differ */
    const matrix m = matrix_draw(j, &band);
    assert_int_equal(stencil_find(j, &m, DTYPE_DOUBLE, &found), 0);
    enum { WIDE = 32, ROWS = 100 };
    int64_t row[WIDE * ROWS], column[WIDE * ROWS];
    double value[WIDE * ROWS];
    for (int i = 0; i < WIDE * ROWS; i++) {
        row[i] = i / WIDE;
        column[i] = row[i] + i % WIDE;
        value[i] = 1;
    }
    matrix wide = {ROWS, ROWS + WIDE, WIDE * ROWS, row, column, value};
    assert_int_equal(stencil_find(j, &wide, DTYPE_DOUBLE, &found), 0);
    for (int i = 0; i < WIDE * ROWS; i++) /* of 31 rows out of 32 values a diagonal has one */
        value[i] = i % WIDE == 3 ? NAN : 1;
    assert_int_equal(stencil_find(j, &wide, DTYPE_DOUBLE, &found), WIDE - 1);
    for (int i = 0; i < WIDE * ROWS; i++) /* values that are one as floats */
        value[i] = i % WIDE == 3 ? NAN : 1 + 1e-12 * i;
    assert_int_equal(stencil_find(j, &wide, DTYPE_DOUBLE, &found), 0);
    assert_int_equal(stencil_find(j, &wide, DTYPE_FLOAT, &found), WIDE - 1);
    wide = (matrix){0, 0, 0, row, column, value};
    assert_int_equal(stencil_find(j, &wide, DTYPE_DOUBLE, &found), 0);
}

static void what_is_no_stencil_is_not_found(void **state) {
    (void)state;
    run(find_none, NULL);
}

/* ---- the choice, and refusals ---------------------------------------------------------------- */

static void choose(job *j, void *argument) {
    (void)argument;
    grid_matrix g = {.nx = 60, .ny = 60, .nz = 1, .spoiled = 100};
    matrix m = grid_draw(j, &g);
    storage s = {0};
    const char *why = format_choose(j, &m, NULL, &s);
    assert_int_equal(s.format, FORMAT_STENCIL);
    assert_int_equal(s.diagonal_count, 5);
    assert_non_null(strstr(why, "stencil: 5 diagonals of one value each are compiled in; of 3600 "
                                "rows 2"));
    g.spoiled = 5; /* too many others */
    m = grid_draw(j, &g);
    s = (storage){0};
    format_choose(j, &m, NULL, &s);
    assert_int_equal(s.format, FORMAT_DIA);
    g = (grid_matrix){.nx = 2, .ny = 2, .nz = 1}; /* less work by any other way */
    m = grid_draw(j, &g);
    s = (storage){0};
    format_choose(j, &m, NULL, &s);
    assert_int_not_equal(s.format, FORMAT_STENCIL);
}

static void grids_are_stencils(void **state) {
    (void)state;
    run(choose, NULL);
}

static void refuse(job *j, void *argument) {
    (void)argument;
    static const diagonal other[] = {{-1, -1}, {0, 4}, {1, -1}};
    const grid_matrix g = {.nx = 50, .ny = 1, .nz = 1};
    const matrix m = grid_draw(j, &g); /* 3 on the diagonal */
    storage s = {.format = FORMAT_STENCIL, .diagonals = other, .diagonal_count = 3};
    packed_matrix p;
    format_measure(j, &m, &s, &p);
    assert_string_equal(format_refusal(j, &m, &p, FORMAT_LIMIT),
                        "50 of the matrix's 50 rows have other entries than those of the stencil, "
                        "whose 3 diagonals are compiled in");
    assert_null(format_refusal(j, &m, &p, INT64_MAX));
    const drawn band = {"", 200, 200, draw_band};
    const matrix none = matrix_draw(j, &band);
    s = (storage){.format = FORMAT_STENCIL};
    format_measure(j, &none, &s, &p);
    assert_non_null(strstr(format_refusal(j, &none, &p, FORMAT_LIMIT), "the matrix is no stencil"));
}

static void other_matrices_are_refused(void **state) {
    (void)state;
    run(refuse, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_grid_there_and_back),
    cmocka_unit_test(every_matrix_there_and_back),
    cmocka_unit_test(arrays_by_hand),
    cmocka_unit_test(patterns_are_stored_once),
    cmocka_unit_test(diagonals_are_found),
    cmocka_unit_test(what_is_no_stencil_is_not_found),
    cmocka_unit_test(grids_are_stencils),
    cmocka_unit_test(other_matrices_are_refused),
};

TEST_GROUP(stencil_format, NULL, NULL)
