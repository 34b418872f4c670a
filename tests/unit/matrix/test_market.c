/* Matrix Market files: good ones, bad ones with the line of their fault, and three real ones,
   which survive the round trip through every format. */
#include "tests/unit/scratch_folder.h"

#include <locale.h>
#include <math.h>

#include "matrix/layout.h"
#include "tests/unit/group.h"
#include "tests/unit/matrix/market_scene.h"

/* Entries as text: "2x3: (0,1) 5; (1,0) -2". */
static char *print(const matrix *m) {
    char *out = NULL;
    size_t size;
    FILE *file = open_memstream(&out, &size);
    fprintf(file, "%lldx%lld:", (long long)m->rows, (long long)m->columns);
    for (int64_t i = 0; i < m->entries; i++)
        fprintf(file, " %lld,%lld %.17g;", (long long)m->row[i], (long long)m->column[i],
                m->value[i]);
    fclose(file);
    return out;
}

static void gives(const char *bytes, size_t size, const char *wanted) {
    reading r;
    job *j;
    if (read_bytes(&allocator_libc, bytes, size, &r, &j) != FAULT_NONE)
        fail_msg("%s\n%s", bytes, job_error(j));
    const matrix m = assembly_matrix(&r.out);
    char *printed = print(&m);
    assert_string_equal(printed, wanted);
    free(printed);
    assembly_free(&r.out);
    job_end(j);
}

/* ---- good files ------------------------------------------------------------------------------ */

static const char *const good[][2] = {
    {BANNER "2 3 3\n1 1 1.5\n2 3 -2e1\n1 2 .25\n", "2x3: 0,0 1.5; 0,1 0.25; 1,2 -20;"},
    {"%%matrixmarket MATRIX Coordinate Double GENERAL\r\n% a comment\r\n\r\n 2\t2 1 \r\n\r\n1 2 "
     "3\r\n",
     "2x2: 0,1 3;"},
    {BANNER "%\n%%\n\n  \n1 1 1\n% between\n\n1 1 7", "1x1: 0,0 7;"}, /* no newline at the end */
    {BANNER "2 2 4\n1 1 1\n1 1 2\n2 2 0\n1 1 4\n\n% behind\n", "2x2: 0,0 7; 1,1 0;"},
    {BANNER "0 0 0\n", "0x0:"},
    {BANNER "0 7 0\n", "0x7:"},
    {BANNER "7 0 0\n", "7x0:"},
    {BANNER "3 3 0", "3x3:"},
    {BANNER "1 1 1\n+1 01 +1.e+1\n", "1x1: 0,0 10;"},
    {"%%MatrixMarket matrix coordinate integer general\n2 2 3\n1 1 -7\n2 1 +9007199254740993\n2 2 "
     "-9223372036854775808\n",
     "2x2: 0,0 -7; 1,0 9007199254740992; 1,1 -9.2233720368547758e+18;"},
    {"%%MatrixMarket matrix coordinate pattern general\n2 2 2\n2 1\n1 2\n", "2x2: 0,1 1; 1,0 1;"},
    /* Values of a pattern's entries, on some lines or on all, are passed over. */
    {"%%MatrixMarket matrix coordinate pattern general\n2 3 3\n2 1 5\n1 2\n 2 3 -1e999\n",
     "2x3: 0,1 1; 1,0 1; 1,2 1;"},
    {"%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1 0\n3 3 2.5\n",
     "3x3: 0,1 1; 1,0 1; 2,2 1;"},
    /* Lines of any kind may begin with spaces. */
    {"  %%MatrixMarket matrix coordinate real general\n  % a comment\n\t%another\n   2 2 2\n"
     " %\n 1 1 4\n  % two words\n\t2 2 5\n % the end\n",
     "2x2: 0,0 4; 1,1 5;"},
    {"%%MatrixMarket matrix array real general\n  % a\n  2 1\n  3\n % b\n  4\n",
     "2x1: 0,0 3; 1,0 4;"},
    {"%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 5\n3 1 2\n3 2 4\n",
     "3x3: 0,0 5; 0,2 2; 1,2 4; 2,0 2; 2,1 4;"},
    {"%%MatrixMarket matrix coordinate real hermitian\n2 2 2\n2 2 5\n2 1 2\n",
     "2x2: 0,1 2; 1,0 2; 1,1 5;"},
    {"%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n2 2\n2 1\n",
     "2x2: 0,1 1; 1,0 1; 1,1 1;"},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 5\n3 2 -4\n",
     "3x3: 0,1 -5; 1,0 5; 1,2 4; 2,1 -4;"},
    {"%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n2 1 5\n2 1 6\n",
     "2x2: 0,1 11; 1,0 11;"},
    {"%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n0\n6\n",
     "2x3: 0,0 1; 0,1 3; 1,0 2; 1,1 4; 1,2 6;"},
    {"%%MatrixMarket matrix array integer symmetric\n3 3\n1\n2\n3\n4\n5\n6\n",
     "3x3: 0,0 1; 0,1 2; 0,2 3; 1,0 2; 1,1 4; 1,2 5; 2,0 3; 2,1 5; 2,2 6;"},
    {"%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n",
     "3x3: 0,1 -1; 0,2 -2; 1,0 1; 1,2 -3; 2,0 2; 2,1 3;"},
    {"%%MatrixMarket matrix array real skew-symmetric\n1 1\n", "1x1:"},
    {"%%MatrixMarket matrix array real general\n0 5\n", "0x5:"},
    {BANNER "1 3 3\n1 1 1e-400\n1 2 4.9406564584124654e-324\n1 3 0.1\n",
     "1x3: 0,0 0; 0,1 4.9406564584124654e-324; 0,2 0.10000000000000001;"},
    {BANNER "1 4 4\n1 1 1.5D+00\n1 2 -2d1\n1 3 25.D-02\n1 4 .5D1\n",
     "1x4: 0,0 1.5; 0,1 -20; 0,2 0.25; 0,3 5;"},
    {"\xEF\xBB\xBF" BANNER "1 1 1\n1 1 7\n", "1x1: 0,0 7;"},
    {BANNER "1 3 3\n1 1 inf\n1 2 -Infinity\n1 3 NaN\n", "1x3: 0,0 inf; 0,1 -inf; 0,2 nan;"},
    {BANNER "2305843009213693952 2305843009213693952 1\n2305843009213693952 1 1\n",
     "2305843009213693952x2305843009213693952: 2305843009213693951,0 1;"},
    /* Halfway between two doubles, and a little more: only exact reading tells them apart. */
    {BANNER "1 2 2\n1 1 1.00000000000000011102230246251565404236316680908203125\n"
            "1 2 1.00000000000000011102230246251565404236316680908203126\n",
     "1x2: 0,0 1; 0,1 1.0000000000000002;"},
};

static void good_files_are_read(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        gives(good[i][0], strlen(good[i][0]), good[i][1]);
}

static void locales_do_not_count(void **state) {
    (void)state;
    if (setlocale(LC_ALL, "comma") == NULL)
        skip();
    gives(BANNER "1 1 1\n1 1 2.5\n", strlen(BANNER "1 1 1\n1 1 2.5\n"), "1x1: 0,0 2,5;");
    setlocale(LC_ALL, "C");
}

static void long_comments_are_read(void **state) {
    (void)state;
    static char bytes[1 << 20];
    memset(bytes, 'x', sizeof bytes);
    memcpy(bytes, BANNER "%", sizeof BANNER);
    static const char tail[] = "\n1 1 1\n1 1 3\n";
    memcpy(bytes + sizeof bytes - strlen(tail), tail, strlen(tail));
    gives(bytes, sizeof bytes, "1x1: 0,0 3;");
    bytes[strlen(BANNER)] = ' '; /* and where they begin with spaces */
    bytes[strlen(BANNER) + 1] = '%';
    gives(bytes, sizeof bytes, "1x1: 0,0 3;");
}

/* ---- bad files ------------------------------------------------------------------------------- */

static const char *const bad[][2] = {
    {"", "a.mtx:1: error: the file is empty"},
    {"1 1 1\n1 1 1\n", "a.mtx:1: error: not a Matrix Market file"},
    {"%MatrixMarket matrix coordinate real general\n1 1 0\n",
     "a.mtx:1: error: not a Matrix Market"},
    {"%%MatrixMarket matrix coordinate real\n1 1 0\n", "a.mtx:1: error: not a Matrix Market file"},
    {"%%MatrixMarket matrix coordinate real general more\n1 1 0\n", "a.mtx:1: error: not a Matrix"},
    {"%%MatrixMarket vector coordinate real general\n1 1 0\n",
     "a.mtx:1: error: the object 'vector' is not supported; matrix is"},
    {"%%MatrixMarket matrix list real general\n1 1 0\n",
     "a.mtx:1: error: the format 'list' is unknown; known are coordinate, array"},
    {"%%MatrixMarket matrix coordinate quad general\n1 1 0\n",
     "a.mtx:1: error: the field 'quad' is unknown; known are real, double, integer, pattern, "
     "complex"},
    {"%%MatrixMarket matrix coordinate real diagonal\n1 1 0\n",
     "a.mtx:1: error: the symmetry 'diagonal' is unknown"},
    {"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n",
     "a.mtx:1: error: complex matrices are not supported; real, integer and pattern are"},
    {"%%MatrixMarket matrix array Complex hermitian\n1 1\n1 0\n",
     "a.mtx:1: error: complex matrices are not supported"},
    {"%%MatrixMarket matrix array pattern general\n1 1\n1\n",
     "a.mtx:1: error: an array has values"},
    {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n1 1 0\n",
     "a.mtx:1: error: a pattern"},
    {BANNER, "a.mtx:1: error: the file ends before its size line"},
    {BANNER "% only\n\n", "a.mtx:3: error: the file ends before its size line"},
    {BANNER "1 1\n", "a.mtx:2: error: the size line must have rows, columns and entries"},
    {BANNER "1 1 0 0\n", "a.mtx:2: error: the size line must have rows, columns and"},
    {"%%MatrixMarket matrix array real general\n1 1 1\n1\n",
     "a.mtx:2: error: the size line must have rows and columns"},
    {BANNER "% c\n1 x 0\n", "a.mtx:3: error: the number of columns 'x' is not a whole number"},
    {BANNER "1.0 1 0\n", "a.mtx:2: error: the number of rows '1.0' is not a whole number"},
    {BANNER "-1 1 0\n", "a.mtx:2: error: the number of rows is negative"},
    {BANNER "1 1 -5\n", "a.mtx:2: error: the number of entries is negative"},
    {BANNER "1 99999999999999999999 0\n",
     "a.mtx:2: error: the number of columns 99999999999999999999 does not fit into 64 bits"},
    {BANNER "9223372036854775808 1 0\n", "does not fit into 64 bits"},
    {BANNER "9223372036854775807 1 0\n", "a.mtx:2: error: the number of rows is more than 2^61"},
    {"%%MatrixMarket matrix coordinate real symmetric\n2 3 0\n",
     "a.mtx:2: error: a symmetric matrix of 2 x 3; it must be square"},
    {"%%MatrixMarket matrix array real skew-symmetric\n3 2\n",
     "a.mtx:2: error: a skew-symmetric matrix of 3 x 2"},
    {"%%MatrixMarket matrix array real general\n9999999999 9999999999\n1\n",
     "a.mtx:2: error: an array of 9999999999 x 9999999999 values is more than can be counted"},
    {"%%MatrixMarket matrix array real symmetric\n9999999999 9999999999\n1\n",
     "a.mtx:2: error: an array of 9999999999 x 9999999999 values is more than can be counted"},
    {BANNER "2 2 3\n1 1 1\n2 2 2\n",
     "a.mtx:4: error: the file ends after 2 of the 3 entries that line 2 promises"},
    {BANNER "5 5 1000000000000000000\n1 1 1\n",
     "a.mtx:3: error: the file ends after 1 of the 1000000000000000000 entries that line 2"},
    {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n",
     "a.mtx:5: error: the file ends after 3 of the 4 values that line 2 promises"},
    {BANNER "2 2 1\n1 1 1\n% fine\n2 2 2\n",
     "a.mtx:5: error: there are more than the 1 entry that line 2 promises"},
    {"%%MatrixMarket matrix array real general\n1 1\n1\n2\n",
     "a.mtx:4: error: there are more than the 1 value that line 2 promises"},
    {BANNER "2 2 1\n0 1 1\n", "a.mtx:3: error: row 0 is not in 1 to 2"},
    {BANNER "2 2 1\n3 1 1\n", "a.mtx:3: error: row 3 is not in 1 to 2"},
    {BANNER "2 2 1\n1 0 1\n", "a.mtx:3: error: column 0 is not in 1 to 2"},
    {BANNER "2 2 1\n1 -1 1\n", "a.mtx:3: error: column -1 is not in 1 to 2"},
    {BANNER "2 2 1\n1 3 1\n", "a.mtx:3: error: column 3 is not in 1 to 2"},
    {BANNER "0 0 1\n1 1 1\n", "a.mtx:3: error: row 1 is not in 1 to 0"},
    {BANNER "2 2 1\n1.5 1 1\n", "a.mtx:3: error: row '1.5' is not a whole number"},
    {BANNER "2 2 1\n99999999999999999999999 1 1\n",
     "a.mtx:3: error: row 99999999999999999999999 does not fit into 64 bits"},
    {BANNER "2 2 1\n1 1\n", "a.mtx:3: error: a line must have a row, a column and a value"},
    {BANNER "2 2 1\n1 1 1 1\n", "a.mtx:3: error: a line must have a row, a column and a value"},
    {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1\n",
     "a.mtx:3: error: a line must have a row and a column"},
    {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 1 1\n",
     "a.mtx:3: error: a line must have a row and a column"},
    {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 one\n",
     "a.mtx:3: error: 'one' is not a number"},
    {BANNER "2 2 1\n % 1 1 1\n", "a.mtx:3: error: the file ends after 0 of the 1 entry"},
    {"%%MatrixMarket matrix array real general\n2 1\n1 2\n",
     "a.mtx:3: error: a line must have one value"},
    {BANNER "2 2 1\n1 1 1,5\n", "a.mtx:3: error: '1,5' is not a number"},
    {BANNER "2 2 1\n1 1 0x10\n", "a.mtx:3: error: '0x10' is not a number"},
    {BANNER "2 2 1\n1 1 nan(5)\n", "a.mtx:3: error: 'nan(5)' is not a number"},
    {BANNER "2 2 1\n1 1 five\n", "a.mtx:3: error: 'five' is not a number"},
    {BANNER "2 2 1\n1 1 1.5D\n", "a.mtx:3: error: '1.5D' is not a number"},
    {BANNER "2 2 1\n1 1 D5\n", "a.mtx:3: error: 'D5' is not a number"},
    {BANNER "2 2 1\n1 1 1d5d5\n", "a.mtx:3: error: '1d5d5' is not a number"},
    {BANNER "2 2 1\n1 1 1D999\n", "a.mtx:3: error: 1D999 is too large for a double"},
    {BANNER "2 2 1\n1 1 \001\377\n", "a.mtx:3: error: '\?\?' is not a number"},
    {BANNER "2 2 1\n1 1 1e999\n", "a.mtx:3: error: 1e999 is too large for a double"},
    {BANNER "2 2 1\n1 1 -1e999\n", "a.mtx:3: error: -1e999 is too large for a double"},
    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n",
     "a.mtx:3: error: the value '1.5' is not a whole number"},
    {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 9223372036854775808\n",
     "a.mtx:3: error: the value 9223372036854775808 does not fit into 64 bits"},
    {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n\n1 1 0\n",
     "a.mtx:4: error: an entry on the diagonal of a skew-symmetric matrix"},
};

static void refused(const char *bytes, size_t size, const char *wanted) {
    reading r;
    job *j;
    assert_int_equal(read_bytes(&allocator_libc, bytes, size, &r, &j), FAULT_DATA);
    if (strstr(job_error(j), wanted) == NULL)
        fail_msg("'%s' is not in '%s'", wanted, job_error(j));
    assembly_free(&r.out);
    job_end(j);
}

static void bad_files_are_refused_by_line(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        refused(bad[i][0], strlen(bad[i][0]), bad[i][1]);
    static const char zero[] = BANNER "2 2 1\n1 1 1\0 2\n";
    refused(zero, sizeof zero - 1, "a.mtx:3: error: a zero byte; this is not a text file");
    static char line[1 << 18];
    memset(line, '1', sizeof line);
    memcpy(line, BANNER, strlen(BANNER));
    refused(line, sizeof line, "a.mtx:2: error: a line of more than 65536 characters");
}

static void streams_that_cannot_be_read_are_told(void **state) {
    (void)state;
    reading r = {.file = fopen("/tmp", "rb")};
    job *j;
    assert_non_null(r.file);
    assert_int_equal(job_run(&allocator_libc, read_it, &r, &j), FAULT_IO);
    assert_string_equal(job_error(j), "a.mtx: error: cannot read: Is a directory");
    assembly_free(&r.out);
    job_end(j);
    fclose(r.file);
}

/* ---- real files ------------------------------------------------------------------------------ */

typedef struct known {
    const char *path;
    int64_t rows, entries, longest;
    bool symmetric;
    double sum;
} known;

static void look(job *j, void *argument) {
    const known *k = argument;
    reading r = {.file = fopen(k->path, "rb")};
    assert_non_null(r.file);
    market_read(j, r.file, k->path, &r.out);
    fclose(r.file);
    const matrix m = assembly_matrix(&r.out);
    const matrix_facts f = matrix_look(j, &m);
    double sum = 0;
    for (int64_t i = 0; i < m.entries; i++)
        sum += m.value[i];
    assert_true(m.rows == k->rows && m.columns == k->rows);
    assert_int_equal(m.entries, k->entries);
    assert_int_equal(f.longest, k->longest);
    assert_true(f.symmetric == k->symmetric);
    if (fabs(sum - k->sum) > 1e-9 * fabs(k->sum))
        fail_msg("%s adds up to %.17g", k->path, sum);
    for (format at = FORMAT_COO; at < FORMAT_COUNT; at++) {
        const storage s = {.format = at};
        packed_matrix p;
        matrix back;
        format_measure(j, &m, &s, &p);
        if (format_refusal(j, &m, &p, FORMAT_LIMIT) != NULL || p.bytes > 100000000)
            continue;
        format_pack(j, &m, &s, &p);
        format_unpack(j, &p, &back);
        assert_int_equal(back.entries, m.entries);
        assert_memory_equal(back.row, m.row, (size_t)m.entries * sizeof *m.row);
        assert_memory_equal(back.column, m.column, (size_t)m.entries * sizeof *m.column);
        assert_memory_equal(back.value, m.value, (size_t)m.entries * sizeof *m.value);
        format_free(j, &p);
    }
    assembly_free(&r.out);
}

static void real_matrices_are_read(void **state) {
    (void)state;
    known all[] = {{"tests/data/mtx/1138_bus.mtx", 1138, 4054, 18, true, 1460.0402678998553},
                   {"tests/data/mtx/arrow.mtx", 46500, 139498, 46500, false, 185998},
                   {"tests/data/mtx/rajat01.mtx", 6833, 43250, 1442, false, 43250}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        job *j;
        if (job_run(&allocator_libc, look, &all[i], &j) != FAULT_NONE)
            fail_msg("%s", job_error(j));
        job_end(j);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(good_files_are_read),
    cmocka_unit_test(locales_do_not_count),
    cmocka_unit_test(long_comments_are_read),
    cmocka_unit_test(bad_files_are_refused_by_line),
    cmocka_unit_test(streams_that_cannot_be_read_are_told),
    cmocka_unit_test(real_matrices_are_read),
};

TEST_GROUP(market, NULL, NULL)
