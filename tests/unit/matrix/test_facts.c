/* Facts of matrices, counted by hand; and the format that is chosen, with its reason. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/group.h"
#include "tests/unit/matrix/matrices.h"

static void run(void (*body)(job *, void *), void *argument) {
    job *j;
    if (job_run(&allocator_libc, body, argument, &j) != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static matrix_facts count_facts(job *j, const matrix *m) {
    const int64_t rows = m->rows, columns = m->columns;
    double *dense = job_array(j, (size_t)(rows * columns), sizeof *dense);
    bool *has = job_array(j, (size_t)(rows * columns), sizeof *has);
    bool *diagonal = job_array(j, (size_t)(rows + columns), sizeof *diagonal);
    int64_t *length = job_array(j, (size_t)rows, sizeof *length);
    matrix_facts f = {.symmetric = rows == columns, .shortest = rows > 0 ? INT64_MAX : 0};
    for (int64_t i = 0; i < m->entries; i++) {
        const int64_t r = m->row[i], c = m->column[i], away = r > c ? r - c : c - r;
        dense[r * columns + c] = m->value[i];
        has[r * columns + c] = true;
        length[r]++;
        f.diagonals += !diagonal[c - r + rows];
        diagonal[c - r + rows] = true;
        f.bandwidth = away > f.bandwidth ? away : f.bandwidth;
    }
    double sum = 0, squares = 0;
    for (int64_t r = 0; r < rows; r++) {
        sum += (double)length[r];
        f.shortest = length[r] < f.shortest ? length[r] : f.shortest;
        f.longest = length[r] > f.longest ? length[r] : f.longest;
        f.empty += length[r] == 0;
        for (int64_t c = 0; c < columns && f.symmetric; c++)
            f.symmetric = dense[r * columns + c] == dense[c * columns + r];
    }
    f.mean = rows > 0 ? sum / (double)rows : 0;
    for (int64_t r = 0; r < rows; r++)
        squares += ((double)length[r] - f.mean) * ((double)length[r] - f.mean);
    f.deviation = rows > 0 ? sqrt(squares / (double)rows) : 0;
    return f;
}

static void compare_facts(job *j, void *argument) {
    const drawn *d = argument;
    const matrix m = matrix_draw(j, d);
    const matrix_facts a = matrix_look(j, &m), b = count_facts(j, &m);
    if (a.shortest != b.shortest || a.longest != b.longest || a.empty != b.empty ||
        a.diagonals != b.diagonals || a.bandwidth != b.bandwidth || a.symmetric != b.symmetric ||
        fabs(a.mean - b.mean) > 1e-12 || fabs(a.deviation - b.deviation) > 1e-9)
        fail_msg("%s: %d to %d, %d empty, %d diagonals, bandwidth %d, symmetric %d, %g, %g",
                 d->name, (int)a.shortest, (int)a.longest, (int)a.empty, (int)a.diagonals,
                 (int)a.bandwidth, a.symmetric, a.mean, a.deviation);
}

static void facts_agree_with_counting(void **state) {
    (void)state;
    for (int i = 0; i < DRAWN_MATRICES; i++) {
        drawn d = drawn_matrices[i];
        run(compare_facts, &d);
    }
}

static void look_at_symmetry(job *j, void *argument) {
    (void)argument;
    static const int64_t row[] = {0, 0, 1, 2}, column[] = {0, 1, 0, 1};
    double value[] = {7, 2, 2, 0};
    const matrix m = {3, 3, 4, row, column, value};
    assert_true(matrix_look(j, &m).symmetric); /* the lone entry is 0 */
    value[3] = 1;
    assert_false(matrix_look(j, &m).symmetric);
    value[3] = NAN;
    assert_false(matrix_look(j, &m).symmetric);
    value[3] = 0;
    value[2] = -2;
    assert_false(matrix_look(j, &m).symmetric);
}

static void symmetry_is_of_values(void **state) {
    (void)state;
    run(look_at_symmetry, NULL);
}

/* ---- the choice ------------------------------------------------------------------------------ */

typedef struct choice {
    drawn drawn;
    format format;
    const char *why;
} choice;

static bool draw_even(int64_t m, int64_t n, int64_t r, int64_t c) { /* 7 to 9 a row, anywhere */
    (void)m;
    const int64_t step = n / (7 + r % 3);
    return (c + r * 13) % step == 0 && (c + r * 13) / step % (n / step) < 7 + r % 3;
}

static bool draw_tall_row(int64_t m, int64_t n, int64_t r, int64_t c) { /* one row stands out */
    (void)m;
    return r == 7 ? c < 700 : (c + r * 31) % n < 2 || (c + r * 17) % n == 5;
}

static bool draw_alike(int64_t m, int64_t n, int64_t r, int64_t c) { /* one in 50 columns */
    (void)m, (void)n;
    return (c + 7 * r) % 50 == 0;
}

static bool draw_one(int64_t m, int64_t n, int64_t r, int64_t c) { /* in each row */
    (void)m;
    return c == r * 7 % n;
}

static bool draw_corner(int64_t m, int64_t n, int64_t r, int64_t c) {
    return r == m - 1 && c == n - 1;
}

static bool draw_blocks(int64_t m, int64_t n, int64_t r, int64_t c) { /* dense ones of 3 x 3 */
    (void)m, (void)n;
    return scramble((uint64_t)(r / 3), (uint64_t)(c / 3)) % 9 == 0;
}

static bool draw_wide_blocks(int64_t m, int64_t n, int64_t r, int64_t c) { /* dense ones of 5 x 5 */
    (void)m, (void)n;
    return scramble((uint64_t)(r / 5), (uint64_t)(c / 5)) % 9 == 0;
}

static const choice choices[] = {
    {{"banded", 210, 210, draw_band},
     FORMAT_DIA,
     "dia: 6 diagonals hold all 1251 entries; 10.1 kB, compared with 15.9 kB of csr"},
    {{"diagonal", 67, 67, draw_diagonal}, FORMAT_DIA, "dia: 1 diagonal holds all 67 entries; "},
    {{"grid", 900, 900, draw_grid}, FORMAT_DIA, "dia: 5 diagonals hold all "},
    {{"even", 1500, 1500, draw_even}, FORMAT_SELL, "sell: slices of rows of like length pad "},
    {{"alike", 1500, 1500, draw_alike},
     FORMAT_ELL,
     "ell: rows of up to 30 entries pad 45000 to 45000; "},
    {{"one a row", 1500, 1500, draw_one},
     FORMAT_ELL,
     "ell: rows of up to 1 entry pad 1500 to 1500; "},
    {{"one", 1, 1, draw_corner}, FORMAT_DIA, "dia: 1 diagonal holds the entry; "},
    {{"blocks", 900, 900, draw_blocks}, FORMAT_BCSR, "bcsr: "},
    {{"wide blocks", 900, 900, draw_wide_blocks},
     FORMAT_BCSR,
     "bcsr: 3634 blocks of 5 by 5 hold all 90850 "},
    {{"tall row", 1500, 1500, draw_tall_row}, FORMAT_CSR, "csr: rows have up to 70"},
    {{"power law", 300, 300, draw_power}, FORMAT_CSR, "csr: rows have up to "},
    {{"full row", 400, 400, draw_full_row}, FORMAT_CSR, "csr: rows have up to 400 entries where "},
    {{"empty", 10, 10, draw_none}, FORMAT_CSR, "csr: there are no entries"},
    {{"0x0", 0, 0, draw_none}, FORMAT_CSR, "csr: there are no entries"},
};

static void choose(job *j, void *argument) {
    const choice *c = argument;
    const matrix m = matrix_draw(j, &c->drawn);
    const matrix_facts facts = matrix_look(j, &m);
    storage s = {0}, without = {0};
    const char *why = format_choose(j, &m, &facts, &s);
    if (s.format != c->format || strstr(why, c->why) != why)
        fail_msg("%s: %s", c->drawn.name, why);
    assert_string_equal(format_choose(j, &m, NULL, &without), why);
    assert_int_equal(without.format, s.format);
    assert_true(s.index_bytes == 4 && s.value_bytes == 8 && s.slice == 32 && s.sigma == 1024);
}

static void formats_are_chosen(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
        choice c = choices[i];
        run(choose, &c);
    }
}

/* 8000 rows of 16 entries at random, and one of `longest`: padding costs under 10 % of the bytes.
 */
static void stand_out(job *j, void *argument) {
    enum { ROWS = 8000, EACH = 16 };
    const int64_t longest = *(const int64_t *)argument, count = (ROWS - 1) * EACH + longest;
    int64_t *row = job_array(j, (size_t)count, sizeof *row);
    int64_t *column = job_array(j, (size_t)count, sizeof *column);
    double *value = job_array(j, (size_t)count, sizeof *value);
    int64_t at = 0;
    for (int64_t r = 0; r < ROWS; r++) {
        const int64_t length = r == 99 ? longest : EACH, step = ROWS / length;
        for (int64_t k = 0; k < length; k++, at++) {
            row[at] = r;
            column[at] = k * step + (int64_t)(scramble((uint64_t)r, (uint64_t)k) % (uint64_t)step);
            value[at] = 1;
        }
    }
    const matrix m = {ROWS, ROWS, count, row, column, value};
    storage s = {0};
    format_choose(j, &m, NULL, &s);
    assert_int_equal(s.format, longest > 256 ? FORMAT_CSR : FORMAT_SELL);
}

static void rows_that_stand_out_are_not_for_sell(void **state) {
    (void)state;
    int64_t longest[] = {256, 262};
    run(stand_out, &longest[0]);
    run(stand_out, &longest[1]);
}

static void complete(job *j, void *argument) {
    (void)argument;
    storage s = {.value_bytes = 4};
    assert_non_null(strstr(format_choose(j, NULL, NULL, &s), "csr: "));
    assert_true(s.format == FORMAT_CSR && s.index_bytes == 4 && s.packet == 2048);
    s = (storage){.format = FORMAT_SELL, .sigma = 48, .block_rows = 3, .packet = 9};
    assert_string_equal(format_choose(j, NULL, NULL, &s), "it was asked for");
    assert_true(s.slice == 16 && s.sigma == 48 && s.block_cols == 3 && s.packet == 9);
    const drawn blocks = {"blocks", 90, 90, draw_blocks};
    const matrix m = matrix_draw(j, &blocks);
    s = (storage){.format = FORMAT_BCSR};
    format_choose(j, &m, NULL, &s);
    assert_true(s.block_rows == 3 && s.block_cols == 3);
}

static void what_is_left_out_is_set(void **state) {
    (void)state;
    run(complete, NULL);
}

/* Rows of 14 to 16 entries: anywhere in x, or neighbours. */
static void lie_apart(job *j, void *argument) {
    enum { ROWS = 2048, COLUMNS = 300000, MOST = 16 };
    const bool anywhere = *(const bool *)argument;
    int64_t *row = job_array(j, ROWS * MOST, sizeof *row);
    int64_t *column = job_array(j, ROWS * MOST, sizeof *column);
    int64_t count = 0;
    for (int64_t r = 0; r < ROWS; r++)
        for (int64_t k = 0, length = MOST - r % 3, step = COLUMNS / length; k < length; k++) {
            const uint64_t drawn_place = scramble((uint64_t)r, (uint64_t)k) % (uint64_t)step;
            row[count] = r;
            column[count++] = anywhere ? k * step + (int64_t)drawn_place : r * 100 + k;
        }
    const matrix m = {ROWS, COLUMNS, count, row, column, job_array(j, (size_t)count, 8)};
    storage s = {0};
    const char *why = format_choose(j, &m, NULL, &s);
    assert_int_equal(s.format, anywhere ? FORMAT_CSR : FORMAT_SELL);
    assert_non_null(strstr(why, anywhere ? "csr: rows are alike, but read x all over" : "sell: "));
}

static void rows_all_over_x_are_not_padded(void **state) {
    (void)state;
    bool anywhere[] = {true, false};
    run(lie_apart, &anywhere[0]);
    run(lie_apart, &anywhere[1]);
}

/* Groups of four rows: each row but one has two entries, that one as many as are asked for. */
typedef struct groups {
    int64_t rows, other;
    bool alike;
} groups;

static void look_at_groups(job *j, void *argument) {
    const groups *g = argument;
    enum { EACH = 2, GROUP = 4, LONGEST = 50 };
    const int64_t most = g->rows * EACH + g->other;
    int64_t *row = job_array(j, (size_t)most, sizeof *row);
    int64_t *column = job_array(j, (size_t)most, sizeof *column);
    int64_t count = 0;
    for (int64_t r = 0; r < g->rows; r++)
        for (int64_t c = 0; c < (r == g->rows / 2 ? g->other : EACH); c++) {
            row[count] = r;
            column[count++] = c;
        }
    const matrix m = {g->rows, 1000, count, row, column, job_array(j, (size_t)most, 8)};
    if (matrix_groups_alike(j, &m, GROUP, LONGEST) != g->alike)
        fail_msg("%lld rows, one of %lld entries", (long long)g->rows, (long long)g->other);
}

static void groups_are_alike_up_to_twice_the_mean(void **state) {
    (void)state;
    groups cases[] = {
        {8, 2, true},
        {8, 10, true},
        {400, 10, true},
        {400, 11, false},
        {400, 50, false},
        {400, 51, true} /* does not count */,
        {3, 2, false} /* no group */,
        {0, 0, false},
        {7, 2, true} /* one whole group */,
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        run(look_at_groups, &cases[i]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(groups_are_alike_up_to_twice_the_mean),
    cmocka_unit_test(rows_all_over_x_are_not_padded),
    cmocka_unit_test(facts_agree_with_counting),
    cmocka_unit_test(symmetry_is_of_values),
    cmocka_unit_test(formats_are_chosen),
    cmocka_unit_test(rows_that_stand_out_are_not_for_sell),
    cmocka_unit_test(what_is_left_out_is_set),
};

TEST_GROUP(facts, NULL, NULL)
