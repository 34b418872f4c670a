/* One cache for many processes at once, and for processes that are killed. */
#include <signal.h>
#include <time.h>

#include "base/io.h"
#include "tests/unit/group.h"
#include "tests/unit/processes.h"
#include "tests/unit/runtime/cache/cache_scene.h"

enum { PROCESSES = 32, SHARED = 8, ROUNDS = 40 };

static scene s;

/* The size of a numbered binary, the same in all processes. */
static size_t size_of(int number) {
    return 500 + (size_t)(number * 3701 % 20000);
}

/* ---- at once ------------------------------------------------------------------------------- */

static int use_number(int number, int *found) {
    const answer a = get(&s, number, size_of(number));
    CHECK(a != WRONG);
    *found += a == RIGHT;
    CHECK(a == RIGHT || put(&s, number, size_of(number)));
    CHECK(get(&s, number, size_of(number)) == RIGHT);
    return 0;
}

static int use_cache(void *argument) {
    const start *g = argument;
    wait_at_gate(g);
    scene_open(&s, "new/cache", 0);
    int found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        CHECK(use_number((g->index * 7 + round) % SHARED, &found) == 0);
        CHECK(use_number(1000 + g->index, &found) == 0);
    }
    CHECK(found >= 2 * ROUNDS - SHARED - 1);
    CHECK(s.warnings == 0);
    scene_close(&s);
    return 0;
}

static void test_one_empty_cache(void **state) {
    (void)state;
    run_processes(PROCESSES, use_cache, 0);
    scene_open(&s, "new/cache", 0);
    for (int number = 0; number < SHARED; number++)
        assert_int_equal(get(&s, number, size_of(number)), RIGHT);
    const tally t = list(&s, true);
    assert_int_equal(t.entries, SHARED + PROCESSES);
    assert_int_equal(t.troubled, 0);
    assert_int_equal(count_files(s.folder, ""), t.entries);
    scene_close(&s);
}

/* Others keep everything in motion: what is found is right, and what is not is stored again. */
static int overfill_cache(void *argument) {
    const start *g = argument;
    wait_at_gate(g);
    scene_open(&s, "cache", g->number);
    for (int round = 0; round < ROUNDS; round++) {
        const int number = (g->index * 5 + round * 3) % 100;
        CHECK(get(&s, number, size_of(number)) != WRONG);
        CHECK(put(&s, number, size_of(number)));
        if (round % 8 == 0)
            CHECK(list(&s, true).troubled == 0);
    }
    CHECK(s.warnings == 0);
    scene_close(&s);
    return 0;
}

static void test_eviction_by_many(void **state) {
    (void)state;
    enum { MOST = 200000 };
    run_processes(PROCESSES, overfill_cache, MOST);
    scene_open(&s, "cache", MOST);
    assert_true(put(&s, 0, size_of(0)));
    const sg_cache_info info = facts(&s);
    assert_true(info.bytes <= MOST);
    assert_true(info.bytes > MOST / 2); /* nobody took away for another once more */
    assert_int_equal(list(&s, true).troubled, 0);
    assert_int_equal(count_files(s.folder, ""), info.entries);
    scene_close(&s);
}

/* Some clear and some damage what others store. */
static int disturb_cache(void *argument) {
    const start *g = argument;
    wait_at_gate(g);
    scene_open(&s, "cache", 0);
    for (int round = 0; round < ROUNDS; round++) {
        const int number = (g->index + round) % SHARED;
        char *path = entry_path(&s, number);
        if (g->index % 4 == 0)
            unlink(path);
        else if (g->index % 4 == 1)
            close(open(path, O_WRONLY | O_TRUNC));
        free(path);
        CHECK(get(&s, number, size_of(number)) != WRONG);
        CHECK(put(&s, number, size_of(number)));
    }
    scene_close(&s);
    return 0;
}

static void test_disturbed_cache(void **state) {
    (void)state;
    run_processes(PROCESSES, disturb_cache, 0);
    scene_open(&s, "cache", 0);
    for (int number = 0; number < SHARED; number++)
        assert_true(put(&s, number, size_of(number)) && get(&s, number, size_of(number)) == RIGHT);
    assert_int_equal(count_files(s.folder, whole_file_prefix), 0);
    scene_close(&s);
}

/* ---- killed -------------------------------------------------------------------------------- */

static size_t large_size(int number) {
    return 300000 + (size_t)number;
}

static int store_for_ever(void *unused) {
    (void)unused;
    scene_open(&s, "cache", 0);
    for (int round = 0;; round++)
        put(&s, round % SHARED, large_size(round % SHARED));
    return 0;
}

/* Nanoseconds up to a few of the stores that go on meanwhile; the same in every run. */
static long moment(int round) {
    return 200000 + (long)((unsigned)round * 2654435761u >> 10 & 0x3FFFFF);
}

static void make_all_old(const char *folder) {
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;)
        if (strncmp(e->d_name, whole_file_prefix, strlen(whole_file_prefix)) == 0) {
            char *path = malloc(strlen(folder) + strlen(e->d_name) + 2);
            sprintf(path, "%s/%s", folder, e->d_name);
            make_old(path, 3700);
            free(path);
        }
    closedir(d);
}

static void test_killed_while_writing(void **state) {
    (void)state;
    enum { KILLS = 100, MOST_KILLS = 2000, LEFTOVERS = 5 };
    scene_open(&s, "cache", 0);
    int kills = 0;
    for (; kills < KILLS ||
           (count_files(s.folder, whole_file_prefix) < LEFTOVERS && kills < MOST_KILLS);
         kills++) {
        const pid_t child = start_child(store_for_ever, NULL);
        nanosleep(&(struct timespec){.tv_nsec = moment(kills)}, NULL);
        kill(child, SIGKILL);
        assert_int_equal(wait_for(child), 128 + SIGKILL);
        for (int number = 0; number < SHARED; number++)
            assert_int_not_equal(get(&s, number, large_size(number)), WRONG);
    }
    assert_int_equal(s.warnings, 0);
    assert_int_equal(list(&s, true).troubled, 0);
    /* Some died in the middle. What they left goes when it is old, and not before. */
    const int left = count_files(s.folder, whole_file_prefix);
    assert_true(left >= LEFTOVERS);
    assert_true(put(&s, 0, large_size(0)));
    assert_int_equal(count_files(s.folder, whole_file_prefix), left);
    make_all_old(s.folder);
    assert_true(put(&s, 0, large_size(0)));
    assert_int_equal(count_files(s.folder, whole_file_prefix), 0);
    assert_int_equal(get(&s, 0, large_size(0)), RIGHT);
    scene_close(&s);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, scratch_enter, scratch_leave)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(test_one_empty_cache),
    IN_FOLDER(test_eviction_by_many),
    IN_FOLDER(test_disturbed_cache),
    IN_FOLDER(test_killed_while_writing),
};

TEST_GROUP(processes, NULL, NULL)
