/* Writing Matrix Market files: a file reads back as the same matrix in every locale, appears
   whole or not at all, and memory may run out while it is written or read. */
#include "tests/unit/scratch_folder.h"

#include <locale.h>
#include <math.h>
#include <sys/resource.h>

#include "tests/unit/group.h"
#include "tests/unit/matrix/market_scene.h"
#include "tests/unit/miser.h"

typedef struct writing {
    matrix m;
    const char *path;
} writing;

static void write_it(job *j, void *argument) {
    const writing *w = argument;
    market_write(j, &w->m, w->path);
}

static fault write_matrix(const allocator *memory, const matrix *m, const char *path, job **j) {
    writing w = {*m, path};
    return job_run(memory, write_it, &w, j);
}

static const int64_t some_row[] = {0, 0, 1, 2, 2, 2, 2, 4, 4};
static const int64_t some_column[] = {0, 2, 1, 0, 1, 2, 3, 0, 3};
static const double some_value[] = {0.30000000000000004,
                                    -1e300,
                                    4.9406564584124654e-324,
                                    1.0 / 3,
                                    0,
                                    123456789012345,
                                    -0.0,
                                    INFINITY,
                                    -INFINITY};
static const matrix some = {5, 4, 9, some_row, some_column, some_value};

static void same_file(const char *path, const matrix *m) {
    reading r = {.file = fopen(path, "rb")};
    job *j;
    assert_non_null(r.file);
    if (job_run(&allocator_libc, read_it, &r, &j) != FAULT_NONE)
        fail_msg("%s", job_error(j));
    fclose(r.file);
    const matrix back = assembly_matrix(&r.out);
    assert_true(back.rows == m->rows && back.columns == m->columns && back.entries == m->entries);
    if (m->entries > 0) {
        assert_memory_equal(back.row, m->row, (size_t)m->entries * sizeof *m->row);
        assert_memory_equal(back.column, m->column, (size_t)m->entries * sizeof *m->column);
        assert_memory_equal(back.value, m->value, (size_t)m->entries * sizeof *m->value);
    }
    assembly_free(&r.out);
    job_end(j);
}

static void files_are_written(void **state) {
    (void)state;
    char *path = scratch_path("a.mtx"), *folder = scratch_path("no/a.mtx");
    const matrix empty = {7, 0, 0, NULL, NULL, NULL};
    const char *locales[] = {"C", "comma"};
    job *j;
    for (int i = 0; i < 2; i++) {
        setlocale(LC_ALL, locales[i]);
        assert_int_equal(write_matrix(&allocator_libc, &some, path, &j), FAULT_NONE);
        job_end(j);
        same_file(path, &some);
        assert_int_equal(write_matrix(&allocator_libc, &empty, path, &j), FAULT_NONE);
        job_end(j);
        same_file(path, &empty);
    }
    setlocale(LC_ALL, "C");
    assert_int_equal(count_files(scratch_root, ""), 1);
    assert_int_equal(write_matrix(&allocator_libc, &some, folder, &j), FAULT_IO);
    assert_non_null(
        strstr(job_error(j), "no/a.mtx: error: cannot write: No such file or directory"));
    job_end(j);
    assert_int_equal(write_matrix(&allocator_libc, &some, scratch_root, &j), FAULT_IO);
    assert_non_null(strstr(job_error(j), "cannot write: it is no regular file"));
    job_end(j);
    free(path);
    free(folder);
}

static void links_and_modes_are_kept(void **state) {
    (void)state;
    char *path = scratch_path("a.mtx"), *link = scratch_path("link.mtx");
    struct stat facts;
    job *j;
    assert_int_equal(symlink("a.mtx", link), 0);
    for (int i = 0; i < 2; i++) { /* the first time it dangles */
        assert_int_equal(write_matrix(&allocator_libc, &some, link, &j), FAULT_NONE);
        job_end(j);
        same_file(path, &some);
        assert_int_equal(lstat(link, &facts), 0);
        assert_true(S_ISLNK(facts.st_mode));
        assert_int_equal(stat(path, &facts), 0);
        assert_true(i == 0 || (facts.st_mode & 0777) == 0600);
        assert_int_equal(chmod(path, 0600), 0);
    }
    assert_int_equal(write_matrix(&allocator_libc, &some, "/dev/null", &j), FAULT_NONE);
    job_end(j);
    assert_int_equal(count_files(scratch_root, ""), 2);
    free(path);
    free(link);
}

static int write_beyond_limit(void *path) {
    const struct rlimit limit = {20, 20};
    job *j;
    CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    CHECK(write_matrix(&allocator_libc, &some, path, &j) == FAULT_IO);
    CHECK(strstr(job_error(j), "cannot write: File too large") != NULL);
    job_end(j);
    return 0;
}

static void what_fails_leaves_the_old_file(void **state) {
    (void)state;
    char *path = scratch_path("a.mtx");
    job *j;
    assert_int_equal(write_matrix(&allocator_libc, &some, path, &j), FAULT_NONE);
    job_end(j);
    assert_int_equal(in_child(write_beyond_limit, path), 0);
    same_file(path, &some);
    assert_int_equal(count_files(scratch_root, ""), 1);
    free(path);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void memory_may_run_out(void **state) {
    (void)state;
    char *path = scratch_path("a.mtx");
    static char bytes[1 << 16];
    size_t size = (size_t)sprintf(bytes, "%s100 100 3000\n", BANNER);
    for (int i = 0; i < 3000; i++)
        size += (size_t)sprintf(bytes + size, "%d %d %d\n", 100 - i % 100, i / 30 + 1, i);
    for (long refused = 1;; refused++) {
        miser pocket = {.refused = refused};
        const allocator memory = {resize_miserly, &pocket};
        reading r;
        job *j;
        const fault read = read_bytes(&memory, bytes, size, &r, &j);
        job_end(j);
        assembly_free(&r.out);
        assert_int_equal(pocket.held, 0);
        const long taken = pocket.count;
        const fault wrote = write_matrix(&memory, &some, path, &j);
        job_end(j);
        assert_int_equal(pocket.held, 0);
        assert_true(read == FAULT_NONE || read == FAULT_MEMORY);
        assert_true(wrote == FAULT_NONE || wrote == FAULT_MEMORY);
        assert_int_equal(count_files(scratch_root, ".stencilgen-"), 0); /* no temporary stays */
        if (read == FAULT_NONE && wrote == FAULT_NONE && pocket.count < refused)
            break;
        assert_true(refused < 1000 && taken > 0);
    }
    free(path);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(files_are_written, scratch_enter, scratch_leave),
    cmocka_unit_test_setup_teardown(links_and_modes_are_kept, scratch_enter, scratch_leave),
    cmocka_unit_test_setup_teardown(what_fails_leaves_the_old_file, scratch_enter, scratch_leave),
    cmocka_unit_test_setup_teardown(memory_may_run_out, scratch_enter, scratch_leave),
};

TEST_GROUP(market_write, NULL, NULL)
