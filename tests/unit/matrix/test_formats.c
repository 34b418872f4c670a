/* Storage formats: the arrays of a small matrix written by hand, the round trip of every matrix
   through every format, and sizes by the textbook's formulas. */
#include "tests/unit/group.h"
#include "tests/unit/matrix/format_scene.h"

/* ---- by hand --------------------------------------------------------------------------------- */

/*   1 . 2 . .
     . . . . .
     3 4 5 . 6
     . 7 . . .   */
static const int64_t hand_row[] = {0, 0, 2, 2, 2, 2, 3}, hand_column[] = {0, 2, 0, 1, 2, 4, 1};
static const double hand_value[] = {1, 2, 3, 4, 5, 6, 7};
static const matrix hand = {4, 5, 7, hand_row, hand_column, hand_value};

enum { MOST = 24 };
typedef struct wanted {
    format format;
    struct {
        const char *name;
        int64_t extent[2];
        double content[MOST];
    } arrays[PACKED_ARRAYS];
} wanted;

static const wanted by_hand[] = {
    {FORMAT_COO,
     {{"row", {7, 1}, {0, 0, 2, 2, 2, 2, 3}},
      {"column", {7, 1}, {0, 2, 0, 1, 2, 4, 1}},
      {"value", {7, 1}, {1, 2, 3, 4, 5, 6, 7}}}},
    {FORMAT_CSR,
     {{"offset", {5, 1}, {0, 2, 2, 6, 7}},
      {"column", {7, 1}, {0, 2, 0, 1, 2, 4, 1}},
      {"value", {7, 1}, {1, 2, 3, 4, 5, 6, 7}}}},
    {FORMAT_CSC,
     {{"offset", {6, 1}, {0, 2, 4, 6, 6, 7}},
      {"row", {7, 1}, {0, 2, 2, 3, 0, 2, 2}},
      {"value", {7, 1}, {1, 3, 4, 7, 2, 5, 6}}}},
    {FORMAT_ELL,
     {{"column", {4, 4}, {0, -1, 0, 1, 2, -1, 1, -1, -1, -1, 2, -1, -1, -1, 4, -1}},
      {"value", {4, 4}, {1, 0, 3, 7, 2, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6, 0}}}},
    {FORMAT_HYB, /* two rows of four have two entries, and one more */
     {{"column", {4, 2}, {0, -1, 0, 1, 2, -1, 1, -1}},
      {"value", {4, 2}, {1, 0, 3, 7, 2, 0, 4, 0}},
      {"tail_row", {2, 1}, {2, 2}},
      {"tail_column", {2, 1}, {2, 4}},
      {"tail_value", {2, 1}, {5, 6}}}},
    {FORMAT_JDS,
     {{"row", {4, 1}, {2, 0, 3, 1}},
      {"offset", {5, 1}, {0, 3, 5, 6, 7}},
      {"column", {7, 1}, {0, 0, 1, 1, 2, 2, 4}},
      {"value", {7, 1}, {3, 1, 7, 4, 2, 5, 6}}}},
    {FORMAT_DIA, /* (2,0) (3,1); (2,1); (0,0) (2,2); (0,2) (2,4) */
     {{"diagonal", {4, 1}, {-2, -1, 0, 2}},
      {"value", {4, 4}, {0, 0, 3, 7, 0, 0, 4, 0, 1, 0, 5, 0, 2, 0, 6, 0}}}},
    {FORMAT_BCSR, /* blocks of 2 x 2 */
     {{"offset", {3, 1}, {0, 2, 5}},
      {"column", {5, 1}, {0, 1, 0, 1, 2}},
      {"value", {4, 5}, {1, 0, 0, 0, 2, 0, 0, 0, 3, 4, 0, 7, 5, 0, 0, 0, 6, 0, 0, 0}}}},
    {FORMAT_SELL, /* slices of 2, windows of 4 */
     {{"offset", {3, 1}, {0, 8, 10}},
      {"row", {4, 1}, {2, 0, 3, 1}},
      {"column", {10, 1}, {0, 0, 1, 2, 2, -1, 4, -1, 1, -1}},
      {"value", {10, 1}, {3, 1, 4, 2, 5, 0, 6, 0, 7, 0}}}},
};

/* Rows of one length stay in order. */
static void pack_alike(job *j, void *argument) {
    (void)argument;
    static const int64_t row[] = {0, 1, 1, 2, 3, 3, 4}, column[] = {0, 0, 1, 2, 0, 3, 4};
    static const double value[] = {1, 2, 3, 4, 5, 6, 7};
    static const int64_t sorted[] = {1, 3, 0, 2, 4};
    const matrix m = {5, 5, 7, row, column, value};
    const format formats[] = {FORMAT_JDS, FORMAT_SELL};
    for (int f = 0; f < 2; f++) {
        const storage s = {.format = formats[f], .slice = 2, .sigma = 6};
        packed_matrix p;
        format_pack(j, &m, &s, &p);
        for (int i = 0; i < 5; i++)
            assert_int_equal(layout_index(&p, f, i), sorted[i]); /* the array row is the f-th */
        format_free(j, &p);
    }
}

static void rows_of_one_length_stay_in_order(void **state) {
    (void)state;
    run(pack_alike, NULL);
}

static double number(const packed_matrix *p, int array, int64_t at) {
    return p->arrays[array].kind == PACKED_VALUE ? layout_value(p, array, at)
                                                 : (double)layout_index(p, array, at);
}

static void pack_by_hand(job *j, void *argument) {
    (void)argument;
    for (size_t i = 0; i < sizeof by_hand / sizeof by_hand[0]; i++) {
        const wanted *w = &by_hand[i];
        const storage s = {
            .format = w->format, .slice = 2, .sigma = 4, .block_rows = 2, .block_cols = 2};
        packed_matrix p;
        format_pack(j, &hand, &s, &p);
        for (int a = 0; a < p.array_count; a++) {
            assert_non_null(w->arrays[a].name);
            assert_string_equal(p.arrays[a].name, w->arrays[a].name);
            for (int axis = 0; axis < 2; axis++)
                assert_int_equal(p.arrays[a].extent[axis], w->arrays[a].extent[axis]);
            for (int64_t k = 0; k < p.arrays[a].extent[0] * p.arrays[a].extent[1]; k++)
                if (number(&p, a, k) != w->arrays[a].content[k])
                    fail_msg("%s: %s[%d] is %g", format_words[w->format].name, w->arrays[a].name,
                             (int)k, number(&p, a, k));
        }
        assert_true(p.array_count == PACKED_ARRAYS || w->arrays[p.array_count].name == NULL);
        format_free(j, &p);
    }
}

static void arrays_by_hand(void **state) {
    (void)state;
    run(pack_by_hand, NULL);
}

/* ---- there and back -------------------------------------------------------------------------- */

static const storage numbers[] = {
    {.slice = 32, .sigma = 64, .block_rows = 2, .block_cols = 3, .packet = 40},
    {.slice = 1, .sigma = 7, .block_rows = 1, .block_cols = 1, .packet = 1},
    {.slice = 3, .sigma = 3, .block_rows = 5, .block_cols = 2, .packet = 65535},
    {.slice = 0},
};

static void there_and_back(job *j, void *argument) {
    const drawn *d = argument;
    const matrix m = matrix_draw(j, d);
    for (format f = FORMAT_COO; f < FORMAT_COUNT; f++)
        for (size_t widths = 0; widths < 6; widths++)
            for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
                storage s = numbers[n];
                s.format = f;
                s.index_bytes = widths & 1 ? 8 : 4;
                s.value_bytes = (size_t)2 << widths / 2;
                packed_matrix p, measured;
                matrix back;
                format_measure(j, &m, &s, &measured);
                format_pack(j, &m, &s, &p);
                assert_int_equal(p.bytes, measured.bytes);
                assert_int_equal(p.array_count, measured.array_count);
                for (int a = 0; a < p.array_count; a++) {
                    assert_non_null(p.arrays[a].data);
                    assert_null(measured.arrays[a].data);
                    assert_int_equal(p.arrays[a].extent[0], measured.arrays[a].extent[0]);
                    assert_int_equal(p.arrays[a].extent[1], measured.arrays[a].extent[1]);
                }
                format_unpack(j, &p, &back);
                same_entries(&m, &back, format_words[f].name);
                format_free(j, &p);
            }
}

static void every_matrix_there_and_back(void **state) {
    (void)state;
    for (int i = 0; i < DRAWN_MATRICES; i++) {
        drawn d = drawn_matrices[i];
        run(there_and_back, &d);
    }
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* The numbers that the formulas speak of, counted on the dense matrix. */
typedef struct counted {
    bool *has;
    int64_t *length;
    int64_t m, n, nnz, longest;
} counted;

static counted count(job *j, const matrix *m) {
    counted c = {.m = m->rows, .n = m->columns, .nnz = m->entries};
    c.has = job_array(j, (size_t)(c.m * c.n), sizeof *c.has);
    c.length = job_array(j, (size_t)c.m, sizeof *c.length);
    for (int64_t i = 0; i < m->entries; i++) {
        c.has[m->row[i] * c.n + m->column[i]] = true;
        const int64_t length = ++c.length[m->row[i]];
        c.longest = length > c.longest ? length : c.longest;
    }
    return c;
}

static int64_t count_diagonals(const counted *c) {
    int64_t diagonals = 0;
    for (int64_t d = 1 - c->m; d < c->n; d++) {
        bool any = false;
        for (int64_t r = 0; r < c->m; r++)
            any |= r + d >= 0 && r + d < c->n && c->has[r * c->n + r + d];
        diagonals += any;
    }
    return diagonals;
}

static int64_t count_blocks(const counted *c, int64_t br, int64_t bc) {
    int64_t blocks = 0;
    for (int64_t r0 = 0; r0 < c->m; r0 += br)
        for (int64_t c0 = 0; c0 < c->n; c0 += bc) {
            bool any = false;
            for (int64_t r = r0; r < c->m && r < r0 + br; r++)
                for (int64_t k = c0; k < c->n && k < c0 + bc; k++)
                    any |= c->has[r * c->n + k];
            blocks += any;
        }
    return blocks;
}

/* The longest of each slice, when each window of sigma rows is sorted by length. */
static int64_t count_slices(job *j, const counted *c, int64_t slice, int64_t sigma) {
    int64_t *sorted = job_array(j, (size_t)c->m, sizeof *sorted), places = 0;
    for (int64_t first = 0; first < c->m; first += sigma) {
        const int64_t end = first + sigma < c->m ? first + sigma : c->m;
        for (int64_t i = first; i < end; i++) {
            int64_t at = i;
            for (; at > first && sorted[at - 1] < c->length[i]; at--)
                sorted[at] = sorted[at - 1];
            sorted[at] = c->length[i];
        }
        for (int64_t i = first; i < end; i += slice)
            places += slice * sorted[i];
    }
    return places;
}

static void wants(const packed_matrix *p, int64_t indices, int64_t values) {
    const int64_t bytes =
        indices * (int64_t)p->storage.index_bytes + values * (int64_t)p->storage.value_bytes;
    if (p->bytes != bytes || p->numbers != (double)(indices + values))
        fail_msg("%s needs %lld bytes, not %lld", format_words[p->storage.format].name,
                 (long long)bytes, (long long)p->bytes);
}

static void sizes(job *j, void *argument) {
    const drawn *d = argument;
    const matrix m = matrix_draw(j, d);
    const counted c = count(j, &m);
    packed_matrix p[FORMAT_COUNT];
    for (format f = FORMAT_COO; f < FORMAT_COUNT; f++) {
        const storage s = {.format = f,
                           .index_bytes = 8,
                           .value_bytes = 4,
                           .slice = 4,
                           .sigma = 24,
                           .block_rows = 3,
                           .block_cols = 2,
                           .packet = 64};
        format_measure(j, &m, &s, &p[f]);
    }
    wants(&p[FORMAT_COO], 2 * c.nnz, c.nnz);
    wants(&p[FORMAT_CSR], c.nnz + c.m + 1, c.nnz);
    wants(&p[FORMAT_CSC], c.nnz + c.n + 1, c.nnz);
    wants(&p[FORMAT_ELL], c.m * c.longest, c.m * c.longest);
    wants(&p[FORMAT_JDS], c.nnz + c.m + c.longest + 1, c.nnz);
    const int64_t diagonals = count_diagonals(&c);
    wants(&p[FORMAT_DIA], diagonals, diagonals * c.m);
    const int64_t blocks = count_blocks(&c, 3, 2);
    wants(&p[FORMAT_BCSR], blocks + (c.m + 2) / 3 + 1, 6 * blocks);
    const int64_t places = count_slices(j, &c, 4, 24);
    wants(&p[FORMAT_SELL], places + c.m + (c.m + 3) / 4 + 1, places);
    int64_t width = 0, tail = 0;
    for (int64_t k = 1; k <= c.longest; k++) {
        int64_t rows = 0;
        for (int64_t r = 0; r < c.m; r++)
            rows += c.length[r] >= k;
        if (3 * rows >= c.m)
            width = k;
    }
    for (int64_t r = 0; r < c.m; r++)
        tail += c.length[r] > width ? c.length[r] - width : 0;
    wants(&p[FORMAT_HYB], c.m * width + 2 * tail, c.m * width + tail);
}

static void sizes_are_the_textbooks(void **state) {
    (void)state;
    for (int i = 0; i < DRAWN_MATRICES; i++) {
        drawn d = drawn_matrices[i];
        run(sizes, &d);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(arrays_by_hand),
    cmocka_unit_test(rows_of_one_length_stay_in_order),
    cmocka_unit_test(every_matrix_there_and_back),
    cmocka_unit_test(sizes_are_the_textbooks),
};

TEST_GROUP(formats, NULL, NULL)
