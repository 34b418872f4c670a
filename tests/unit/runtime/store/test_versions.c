/* Migration of the database from one version of its tables to the next, also by several
   processes at a time. */
#include "tests/unit/group.h"
#include "tests/unit/processes.h"
#include "tests/unit/runtime/store/results_scene.h"

static scene s;
static result_place p;

static int enter(void **state) {
    p = place_of(64, 64, 64);
    return scratch_enter(state);
}

/* As version 1 of the tables was published; made by hand, so that no change of ours goes unseen. */
static const char first_version[] =
    "CREATE TABLE spec (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, family TEXT NOT NULL,"
    " name TEXT NOT NULL, model TEXT NOT NULL);"
    "CREATE TABLE device (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, kind TEXT NOT NULL,"
    " name TEXT NOT NULL, arch TEXT NOT NULL, multiprocessors INTEGER NOT NULL,"
    " memory INTEGER NOT NULL);"
    "CREATE TABLE place (id INTEGER PRIMARY KEY, spec INTEGER NOT NULL, device INTEGER NOT NULL,"
    " generator TEXT NOT NULL, size TEXT NOT NULL, steps INTEGER NOT NULL,"
    " UNIQUE (spec, device, generator, size, steps));"
    "CREATE TABLE sweep (id INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER NOT NULL,"
    " options TEXT NOT NULL, candidates INTEGER NOT NULL, begun INTEGER NOT NULL, ended INTEGER);"
    "CREATE TABLE result (id INTEGER PRIMARY KEY, place INTEGER NOT NULL, plan TEXT NOT NULL,"
    " state TEXT NOT NULL, reason TEXT NOT NULL, seconds BLOB NOT NULL, median REAL, spread REAL,"
    " estimate REAL, compile_seconds REAL, check_seconds REAL, driver INTEGER NOT NULL,"
    " compiler TEXT NOT NULL, registers INTEGER, shared_bytes INTEGER, local_bytes INTEGER,"
    " occupancy REAL, clock_before REAL, clock_after REAL, temperature_before REAL,"
    " temperature_after REAL, copy_seconds REAL, sweep INTEGER, evaluation INTEGER NOT NULL,"
    " taken INTEGER NOT NULL, UNIQUE (place, plan));"
    "INSERT INTO spec VALUES (7,"
    " x'2a84d9b9a0d6a4a5d0cd0d6d4fd0a1d7d7f3ab2c35b7a7b2c3a0f4b0e6e5d4c3', 'stencil', 'heat',"
    " 'u = 0.5*u(0) + 0.5*u(1)' || char(10));"
    "INSERT INTO device VALUES (3,"
    " x'0000000000000000000000000000000000000000000000000000000000000000', 'cuda', 'Fake GPU',"
    " 'sm_90', 132, 84825604096);"
    "INSERT INTO place VALUES (5, 7, 3, '0.1.0', '512x512x512', 1);"
    "INSERT INTO result VALUES (1, 5, 'naive', 'right', '', x'000000000000e03f', 0.5, 0, 0.4, "
    "0.25,"
    " NULL, 13000, 'NVRTC 13.0', 32, 0, 0, 0.5, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1700000000);"
    "INSERT INTO spec VALUES (8, x'08', 'stencil', 'warm', 'stencil warm: 1D star' || char(10) ||"
    " 'parameters k = 0.25, m, n = -1e-05' || char(10) || 'u = p.k*u(0)' || char(10));"
    "INSERT INTO spec VALUES (9, x'09', 'stencil', 'hot', 'stencil hot: 1D star' || char(10) ||"
    " 'parameters k = 0.5, m, n = 2' || char(10) || 'u = p.k*u(0)' || char(10));"
    "INSERT INTO device VALUES (4, x'04', 'cpu', 'Fake processor', 'cpu', 4, 0);"
    "INSERT INTO place VALUES (6, 8, 3, '0.1.0', '512x512x512', 1);"
    "INSERT INTO place VALUES (7, 9, 3, '0.1.0', '512x512x512', 1);"
    "INSERT INTO place VALUES (8, 9, 4, '0.1.0', '512x512x512', 1);"
    "INSERT INTO result VALUES (2, 6, 'of warm', 'right', '', x'000000000000e03f', 0.5, 0, NULL, "
    "NULL,"
    " NULL, 13000, '', 32, 0, 0, 0.5, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1700000000);"
    "INSERT INTO result VALUES (3, 7, 'of hot', 'right', '', x'000000000000e03f', 0.5, 0, NULL, "
    "NULL,"
    " NULL, 13000, '', 32, 0, 0, 0.5, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1700000000);"
    "INSERT INTO result VALUES (4, 8, 'of hot', 'right', '', x'000000000000e03f', 0.5, 0, 0.4, "
    "NULL,"
    " NULL, 0, '', 32, 0, 0, 0.5, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1700000000);"
    "PRAGMA application_id = 1936159333;"
    "PRAGMA user_version = 1;";

static void make_first_version(void) {
    char *folder = scratch_path("data"), *path = scratch_path("data/results.db");
    mkdir(folder, 0700);
    run_sql(path, first_version);
    chmod(path, 0600);
    /* The keys themselves are as they are computed now, which a published version will fix. */
    char fix[512], hex[2][DIGEST_TEXT];
    const digest keys[2] = {results_spec(p.family, p.model), results_device_key(&p.device)};
    for (int i = 0; i < 2; i++)
        digest_print(&keys[i], hex[i]);
    sprintf(fix,
            "UPDATE spec SET hash = x'%s' WHERE id = 7; UPDATE device SET key = x'%s' WHERE id = 3",
            hex[0], hex[1]);
    run_sql(path, fix);
    free(folder);
    free(path);
}

static void test_the_first_version(void **state) {
    (void)state;
    make_first_version();
    scene_open(&s, "data/results.db");
    const result_match m = find(&s, &p);
    assert_string_equal(m.plan, "naive");
    assert_string_equal(m.found, "nearest 512x512x512");
    assert_true(m.median == 0.5);
    result_rows rows;
    assert_int_equal(list(&s, (result_filter){0}, &rows), FAULT_NONE);
    assert_int_equal(rows.count, 4);
    assert_int_equal(rows.list[0].result.count, 1);
    assert_true(rows.list[0].result.seconds[0] == 0.5);
    assert_int_equal(rows.list[0].result.registers, 32);
    assert_true(rows.list[0].result.estimate == 0.4);
    assert_true(rows.list[0].result.settled == 0.5);
    assert_true(isnan(rows.list[0].result.final));
    assert_int_equal(rows.list[0].result.final_count, 0);
    assert_true(isnan(rows.list[3].result.estimate)); /* it was of a GPU, and this is none */
    assert_int_equal(put(&s, &p, "new", 1), FAULT_NONE);
    assert_true(finds(&s, &p, "new"));
    assert_int_equal(count_rows(&s, (result_filter){0}), 5);
    /* Specs are known without their names and the values of parameters; of two that mean the same
       the first is found. */
    result_place q = p;
    q.model = "1D star\nparameters k, m, n\nu = p.k*u(0)\n";
    assert_true(finds(&s, &q, "of warm"));
    q.model = "stencil hot: 1D star\nparameters k = 0.5, m, n = 2\nu = p.k*u(0)\n";
    assert_true(finds(&s, &q, NULL));
    assert_int_equal(ask_sql(s.path, "PRAGMA user_version"), results_schema_version());
    assert_int_equal(s.warnings, 0);
    scene_close(&s);
}

/* A database that cannot be written is left as it is, with a warning. */
static int find_in_old(void *unused) {
    (void)unused;
    CHECK(geteuid() != 0 || (setgid(65534) == 0 && setuid(65534) == 0));
    scene_open(&s, "data/results.db");
    CHECK(finds(&s, &p, NULL));
    CHECK(s.warnings == 1);
    CHECK(strstr(s.last, "it cannot be brought up to date: ") != NULL);
    CHECK(finds(&s, &p, NULL));
    CHECK(s.warnings == 1);
    scene_close(&s);
    return 0;
}

static void test_the_first_version_read_only(void **state) {
    (void)state;
    make_first_version();
    char *folder = scratch_path("data"), *path = scratch_path("data/results.db");
    chmod(path, 0444);
    chmod(folder, 0555);
    assert_int_equal(in_child(find_in_old, NULL), 0);
    assert_int_equal(ask_sql(path, "PRAGMA user_version"), 1);
    chmod(folder, 0700);
    free(folder);
    free(path);
}

static const char *const three[] = {"CREATE TABLE t (a)", "INSERT INTO t VALUES (1)",
                                    "ALTER TABLE t ADD COLUMN b; UPDATE t SET b = a + 1", NULL};

static int migrate_file(const char *path, const char *const *migrations) {
    sqlite3 *database;
    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    sqlite3_busy_timeout(database, 10000);
    const int code = results_migrate(database, migrations);
    assert_true(sqlite3_get_autocommit(database));
    sqlite3_close(database);
    return code;
}

static void test_from_each_version(void **state) {
    (void)state;
    const char *part[4] = {NULL};
    for (int from = 0; from <= 3; from++) {
        char name[32];
        sprintf(name, "from-%d.db", from);
        char *path = scratch_path(name);
        for (int i = 0; i < 4; i++)
            part[i] = i < from ? three[i] : NULL;
        assert_int_equal(migrate_file(path, part), SQLITE_OK);
        assert_int_equal(migrate_file(path, three), SQLITE_OK);
        assert_int_equal(migrate_file(path, three), SQLITE_OK);
        assert_int_equal(ask_sql(path, "SELECT a + b FROM t"), 3);
        assert_int_equal(ask_sql(path, "SELECT count(*) FROM t"), 1);
        assert_int_equal(ask_sql(path, "PRAGMA user_version"), 3);
        assert_int_equal(ask_sql(path, "PRAGMA application_id"), RESULTS_APPLICATION);
        part[0] = three[0], part[1] = NULL;
        assert_int_equal(migrate_file(path, part), SQLITE_MISMATCH); /* from a newer one */
        assert_int_equal(ask_sql(path, "PRAGMA user_version"), 3);
        free(path);
    }
}

/* All of it or nothing. */
static void test_a_migration_that_fails(void **state) {
    (void)state;
    const char *const broken[] = {three[0], three[1], "DROP TABLE t; NONSENSE", NULL};
    const char *const first[] = {three[0], three[1], NULL};
    char *path = scratch_path("broken.db");
    assert_int_equal(migrate_file(path, first), SQLITE_OK);
    assert_int_equal(migrate_file(path, broken), SQLITE_ERROR);
    assert_int_equal(ask_sql(path, "PRAGMA user_version"), 2);
    assert_int_equal(ask_sql(path, "SELECT a FROM t"), 1);
    free(path);
}

static int migrate_too(void *argument) {
    wait_at_gate(argument);
    char *path = scratch_path("many.db");
    const int code = migrate_file(path, three);
    free(path);
    return code;
}

static void test_migrated_by_many(void **state) {
    (void)state;
    char *path = scratch_path("many.db");
    run_processes(8, migrate_too, 0);
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM t"), 1);
    free(path);
}

/* An older database is left to itself by lookups, and kept up to date by whoever stores. */
static void test_lookups_change_no_version(void **state) {
    (void)state;
    scene_open(&s, "data/results.db");
    put(&s, &p, "plan", 1);
    scene_close(&s);
    char *path = scratch_path("data/results.db");
    run_sql(path, "PRAGMA user_version = 0");
    scene_open(&s, "data/results.db");
    assert_true(finds(&s, &p, NULL));
    expect_warning(&s, 1, "an older version of stencilgen made it");
    assert_int_equal(ask_sql(path, "PRAGMA user_version"), 0);
    scene_close(&s);
    free(path);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, scratch_leave)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(test_the_first_version), IN_FOLDER(test_the_first_version_read_only),
    IN_FOLDER(test_from_each_version), IN_FOLDER(test_a_migration_that_fails),
    IN_FOLDER(test_migrated_by_many),  IN_FOLDER(test_lookups_change_no_version),
};

TEST_GROUP(versions, NULL, NULL)
