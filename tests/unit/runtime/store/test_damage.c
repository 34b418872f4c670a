/* Damaged databases: a lookup does without and warns once; storing sets the damaged file aside
   and begins a new one. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/store/results_user.h"

/* Two lookups find nothing and warn once; what is stored then begins a new database. */
static void expect_set_aside(const char *says) {
    assert_true(finds(&s, &p, NULL));
    expect_warning(&s, 1, says);
    assert_non_null(strstr(s.last, "are not used: "));
    assert_true(finds(&s, &p, NULL));
    assert_int_equal(s.warnings, 1);
    assert_int_equal(aside(), 0);
    result_rows rows;
    assert_int_equal(list(&s, (result_filter){0}, &rows), FAULT_IO);
    expect_error(&s, "tuning results cannot be read: ");
    assert_int_equal(put(&s, &p, "new", 5), FAULT_NONE);
    expect_warning(&s, 2, "was set aside as ");
    assert_non_null(strstr(s.last, "results.db.damaged-1 and a new one begun"));
    assert_int_equal(aside(), 1);
    assert_true(finds(&s, &p, "new"));
    assert_int_equal(count_rows(&s, (result_filter){0}), 1);
    assert_int_equal(s.warnings, 2);
}

/* ---- damage -------------------------------------------------------------------------------- */

static void test_garbage(void **state) {
    (void)state;
    fill();
    char *noise = malloc(3 * PAGE);
    for (int i = 0; i < 3 * PAGE; i++)
        noise[i] = (char)(i * 2654435761u >> 11);
    write_content(s.path, noise, 3 * PAGE);
    free(noise);
    expect_set_aside("it is no database");
}

static void test_a_few_bytes(void **state) {
    (void)state;
    fill();
    write_content(s.path, "SQLite", 6);
    expect_set_aside("it is no database");
}

static void test_cut_off(void **state) {
    (void)state;
    fill();
    assert_int_equal(truncate(s.path, 2 * PAGE), 0);
    expect_set_aside("malformed");
}

static void test_an_empty_file_is_a_new_one(void **state) {
    (void)state;
    fill();
    assert_int_equal(truncate(s.path, 0), 0);
    assert_true(finds(&s, &p, NULL));
    assert_int_equal(put(&s, &p, "new", 1), FAULT_NONE);
    assert_int_equal(s.warnings, 0);
    assert_int_equal(aside(), 0);
}

/* Pages in the middle: what a lookup comes across, or a look through all of it. */
static void test_pages_of_noise(void **state) {
    (void)state;
    fill();
    struct stat facts;
    assert_int_equal(stat(s.path, &facts), 0);
    const int file = open(s.path, O_WRONLY);
    unsigned char noise[PAGE];
    memset(noise, 0xa5, sizeof noise);
    for (off_t at = PAGE; at < facts.st_size; at += PAGE)
        assert_int_equal(pwrite(file, noise, PAGE, at), PAGE);
    close(file);
    expect_set_aside("malformed");
}

/* What SQLite finds when it looks through has a heading of its own. */
static void test_a_warning_is_one_line(void **state) {
    (void)state;
    fill();
    const int file = open(s.path, O_WRONLY);
    assert_int_equal(pwrite(file, "no page begins like this", 24, PAGE), 24);
    close(file);
    assert_int_equal(put(&s, &p, "new", 5), FAULT_NONE);
    assert_non_null(strstr(s.last, "is damaged (Page 2: "));
    assert_null(strchr(s.last, '\n'));
    assert_int_equal(aside(), 1);
}

static void test_tables_that_are_missing(void **state) {
    (void)state;
    fill();
    run_sql(s.path, "DROP TABLE result");
    assert_true(finds(&s, &p, NULL));
    assert_int_equal(s.warnings, 1);
    assert_int_equal(put(&s, &p, "new", 5), FAULT_NONE);
    expect_warning(&s, 2, "its tables are not what they were");
    assert_true(finds(&s, &p, "new"));
    assert_int_equal(aside(), 1);
}

/* While it is connected to: what is in memory may hide it for a while, and nothing is lost but what
   was damaged. */
static void test_damaged_while_open(void **state) {
    (void)state;
    fill();
    assert_int_equal(put(&s, &p, "before", 0.5), FAULT_NONE);
    const int file = open(s.path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(file, "none of it", 10), 10);
    close(file);
    assert_int_equal(put(&s, &p, "after", 0.25), FAULT_NONE);
    reopen();
    assert_int_equal(put(&s, &p, "later", 0.125), FAULT_NONE);
    assert_true(finds(&s, &p, "later"));
}

static void test_removed_while_open(void **state) {
    (void)state;
    fill();
    assert_int_equal(put(&s, &p, "before", 1), FAULT_NONE);
    char command[4200];
    sprintf(command, "rm -r %s/stencilgen", scratch_root);
    assert_int_equal(system(command), 0);
    assert_true(finds(&s, &p, NULL));
    assert_int_equal(put(&s, &p, "after", 1), FAULT_NONE);
    assert_int_equal(count_rows(&s, (result_filter){0}), 1);
    assert_int_equal(s.warnings, 0);
}

static void test_set_aside_twice(void **state) {
    (void)state;
    for (int i = 1; i <= 2; i++) {
        fill();
        write_content(s.path, "noise", 5);
        assert_int_equal(put(&s, &p, "new", 5), FAULT_NONE);
        assert_int_equal(aside(), i);
        reopen();
    }
}

/* Whatever lies where the damaged one would go is somebody's. */
static void test_setting_aside_replaces_nothing(void **state) {
    (void)state;
    static const char *const taken[] = {"stencilgen/results.db.damaged-1-wal",
                                        "stencilgen/results.db.damaged-2-journal",
                                        "stencilgen/results.db.damaged-3"};
    static content kept;
    fill();
    for (int i = 0; i < 3; i++) {
        char *path = scratch_path(taken[i]);
        write_content(path, "precious", 8);
        free(path);
    }
    char *log = scratch_path("stencilgen/results.db-shm");
    write_content(s.path, "SQLite", 6);
    write_content(log, "notes", 5);
    assert_int_equal(put(&s, &p, "new", 5), FAULT_NONE);
    assert_non_null(strstr(s.last, "results.db.damaged-4 and a new one begun"));
    for (int i = 0; i < 3; i++) {
        char *path = scratch_path(taken[i]);
        read_content(path, &kept);
        assert_true(kept.size == 8 && memcmp(kept.bytes, "precious", 8) == 0);
        free(path);
    }
    free(log);
    log = scratch_path("stencilgen/results.db.damaged-4-shm");
    read_content(log, &kept);
    assert_true(kept.size == 5 && memcmp(kept.bytes, "notes", 5) == 0);
    free(log);
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* A database of one row that somebody has changed: lists and lookups do without it, and say so once
   for each context. */
static void expect_passed_over(const char *change, const char *says) {
    reopen();
    run_sql(s.path, "DELETE FROM result; DELETE FROM place; DELETE FROM device");
    assert_int_equal(put(&s, &p, "plan", 1), FAULT_NONE);
    assert_int_equal(count_rows(&s, (result_filter){0}), 1);
    run_sql(s.path, change);
    for (int i = 0; i < 2; i++)
        if (count_rows(&s, (result_filter){0}) != 0)
            fail_msg("%s: it is listed", change);
    find(&s, &p);
    expect_warning(&s, 1, s.path);
    expect_warning(&s, 1, says);
}

static void test_rows_that_are_not_valid(void **state) {
    (void)state;
    static const struct {
        const char *change, *says;
    } cases[] = {
        {"UPDATE result SET plan = ''", "no valid plan"},
        {"UPDATE result SET plan = x'6162'", "no valid plan"},
        {"UPDATE result SET plan = 'na' || char(10) || 'ive'", "no valid plan"},
        {"UPDATE result SET plan = 'naive' || char(0) || 'more'", "no valid plan"},
        {"UPDATE result SET plan = printf('%.5000c', 'n')", "no valid plan"},
        {"UPDATE result SET state = 'fast'", "no valid state"},
        {"UPDATE result SET state = 'hung'", "no valid median"},
        {"UPDATE result SET reason = x''", "no valid reason"},
        {"UPDATE result SET reason = printf('%.2000000c', 'r')", "no valid reason"},
        {"UPDATE result SET seconds = 'text'", "no valid seconds"},
        {"UPDATE result SET seconds = x'00'", "no valid seconds"},
        {"UPDATE result SET seconds = zeroblob(8)", "no valid seconds"},
        {"UPDATE result SET seconds = zeroblob(8000000)", "no valid seconds"},
        {"UPDATE result SET seconds = x'000000000000f87f'", "no valid seconds"}, /* NaN */
        {"UPDATE result SET median = 1e300", "no valid median"},
        {"UPDATE result SET median = 1e-300", "no valid median"},
        {"UPDATE result SET median = 9e999", "no valid median"},
        {"UPDATE result SET median = -1", "no valid median"},
        {"UPDATE result SET median = 0", "no valid median"},
        {"UPDATE result SET median = 'soon'", "no valid median"},
        {"UPDATE result SET median = NULL", "no valid settled"},
        {"UPDATE result SET spread = -0.5", "no valid spread"},
        {"UPDATE result SET occupancy = 7", "no valid occupancy"},
        {"UPDATE result SET settled = 1e10", "no valid settled"},
        {"UPDATE result SET final = 'x'", "no valid final"},
        {"UPDATE result SET final_seconds = zeroblob(16)", "no valid final_seconds"},
        {"UPDATE result SET registers = -3", "no valid registers"},
        {"UPDATE result SET registers = 99999999999", "no valid registers"},
        {"UPDATE result SET evaluation = 3000000000", "no valid evaluation"},
        {"UPDATE result SET driver = 'new'", "no valid driver"},
        {"UPDATE result SET taken = -1", "no valid taken"},
        {"UPDATE result SET taken = 9223372036854775807", "no valid taken"},
        {"UPDATE result SET sweep = -1", "no valid sweep"},
        {"UPDATE result SET temperature_after = -1000", "no valid temperature_after"},
        {"UPDATE place SET steps = 0", "no valid steps"},
        {"UPDATE place SET size = 'large'", "no valid size"},
        {"UPDATE place SET size = '1x2x3x4x5x6x7x8x9'", "no valid size"},
        {"UPDATE place SET generator = 'a' || char(27) || '[2J'", "no valid generator"},
        {"UPDATE device SET multiprocessors = -1", "no valid multiprocessors"},
        {"UPDATE device SET multiprocessors = 1, memory = 1.5", "no valid memory"},
        {"UPDATE device SET memory = 1, name = x'00'", "no valid name"},
    };
    assert_int_equal(put(&s, &p, "plan", 1), FAULT_NONE);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_passed_over(cases[i].change, cases[i].says);
}

static void count_drifts_body(job *j, void *argument) {
    errand *e = argument;
    e->sweep = (int64_t)results_drifts(j, e->scene->results, 1).count;
}

static void test_drifts_that_are_not_valid(void **state) {
    (void)state;
    assert_int_equal(put(&s, &p, "plan", 1), FAULT_NONE);
    run_sql(s.path, "INSERT INTO drift VALUES (1, 1, 'a', 8, 1, 1.1, NULL, 60, 5),"
                    " (2, 1, 'a', 8, 0, 1.1, NULL, NULL, 5), (3, 1, 'a', 8, 1, 1e300, NULL, 1, 5),"
                    " (4, 1, 'a', -8, 1, 1.1, NULL, 1, 5), (5, 1, 'a', 8, 1, 'x', NULL, 1, 5),"
                    " (6, 1, x'61', 8, 1, 1, NULL, 1, 5), (7, 1, 'a', 8, 1, 1, -1, 1, 5)");
    errand e = {.scene = &s};
    assert_int_equal(run_errand(count_drifts_body, &e), FAULT_NONE);
    assert_int_equal(e.sweep, 1);
    expect_warning(&s, 1, "passed over");
}

/* What could not be read again is not written. */
static void test_what_is_not_kept(void **state) {
    (void)state;
    assert_int_equal(put(&s, &p, "plan", 0), FAULT_IO);
    expect_error(&s, "a result of 'heat' cannot be kept: it has no valid seconds");
    assert_int_equal(put(&s, &p, "", 1), FAULT_IO);
    assert_int_equal(put(&s, &p, "plan", INFINITY), FAULT_IO);
    assert_int_equal(count_rows(&s, (result_filter){0}), 0);
}

/* Rows of nonsense are no reason to fail. */
static void test_rows_of_nonsense(void **state) {
    (void)state;
    fill();
    run_sql(
        s.path,
        "UPDATE result SET state = x'00ff', plan = plan || x'80', seconds = 'text', median = 'x';"
        "UPDATE place SET size = '1x2x3x4x5x6x7x8x9', steps = 'many'");
    assert_true(finds(&s, &p, NULL));
    result_rows rows;
    run_sql(s.path, "DELETE FROM result WHERE id > 1");
    assert_int_equal(list(&s, (result_filter){0}, &rows), FAULT_NONE);
    assert_int_equal(rows.count, 0);
    run_sql(s.path, "UPDATE place SET size = '64x99999999999999999999x1'");
    assert_true(finds(&s, &p, NULL));
    run_sql(s.path, "UPDATE place SET size = '64x', steps = -5");
    assert_true(finds(&s, &p, NULL));
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, leave)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(test_garbage),
    IN_FOLDER(test_a_few_bytes),
    IN_FOLDER(test_cut_off),
    IN_FOLDER(test_an_empty_file_is_a_new_one),
    IN_FOLDER(test_pages_of_noise),
    IN_FOLDER(test_a_warning_is_one_line),
    IN_FOLDER(test_tables_that_are_missing),
    IN_FOLDER(test_damaged_while_open),
    IN_FOLDER(test_removed_while_open),
    IN_FOLDER(test_set_aside_twice),
    IN_FOLDER(test_setting_aside_replaces_nothing),
    IN_FOLDER(test_rows_of_nonsense),
    IN_FOLDER(test_rows_that_are_not_valid),
    IN_FOLDER(test_drifts_that_are_not_valid),
    IN_FOLDER(test_what_is_not_kept),
};

TEST_GROUP(damage, NULL, NULL)
