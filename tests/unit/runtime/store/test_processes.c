/* One database for many processes at once, for threads, for processes that are killed, and where
   memory runs out. */
#include <pthread.h>
#include <signal.h>
#include <time.h>

#include "tests/unit/group.h"
#include "tests/unit/miser.h"
#include "tests/unit/processes.h"
#include "tests/unit/runtime/store/results_scene.h"

enum { PROCESSES = 8, ROUNDS = 25, KILLS = 40, MOST_KILLS = 1000 };

static scene s;
static result_place p;

static int enter(void **state) {
    p = place_of(64, 64, 64);
    return scratch_enter(state);
}

static int count_aside(void) {
    char *folder = scratch_path("data");
    const int count = count_files(folder, "results.db.damaged-");
    free(folder);
    return count;
}

/* ---- at once ------------------------------------------------------------------------------- */

/* Each on a device of its own, all at one size of all of them, every plan by two processes. */
static int store_many(void *argument) {
    const start *g = argument;
    result_place own = p;
    char plan[32], name[32];
    wait_at_gate(g);
    scene_open(&s, "data/results.db");
    sprintf(name, "GPU %d", g->index / 2);
    own.device.name = name;
    for (int round = 0; round < ROUNDS; round++) {
        sprintf(plan, "plan %d", round);
        CHECK(put(&s, &own, plan, 1 + round) == FAULT_NONE);
        sprintf(plan, "plan %d of %d", round, g->index);
        CHECK(put(&s, &p, plan, 1 + round) == FAULT_NONE);
        CHECK(finds(&s, &own, "plan 0"));
    }
    if (s.warnings != 0)
        fprintf(stderr, "%s\n", s.last);
    CHECK(s.warnings == 0);
    scene_close(&s);
    return 0;
}

static void test_many_processes(void **state) {
    (void)state;
    run_processes(PROCESSES, store_many, 0);
    scene_open(&s, "data/results.db");
    const results_facts f = examine(&s);
    assert_null(f.trouble);
    assert_int_equal(f.results, ROUNDS * PROCESSES / 2 + ROUNDS * PROCESSES);
    assert_int_equal(f.specs, 1);
    assert_int_equal(f.devices, 1 + PROCESSES / 2);
    assert_int_equal(count_rows(&s, (result_filter){.place = &p}), ROUNDS * PROCESSES);
    scene_close(&s);
}

/* As on a file system that several machines share. */
static void test_without_shared_memory(void **state) {
    (void)state;
    assert_string_equal(results_journal(0xef53), "PRAGMA journal_mode = WAL"); /* ext4 */
    assert_string_equal(results_journal(0x6969), "PRAGMA journal_mode = DELETE");
    assert_string_equal(results_journal(0xff534d42), "PRAGMA journal_mode = DELETE");
    assert_string_equal(results_journal((long)(int)0xff534d42), "PRAGMA journal_mode = DELETE");
    scene_open(&s, "data/results.db");
    assert_int_equal(put(&s, &p, "plan", 9), FAULT_NONE);
    scene_close(&s);
    char *path = scratch_path("data/results.db");
    run_sql(path, "PRAGMA journal_mode = DELETE");
    scene_open(&s, "data/results.db");
    assert_true(finds(&s, &p, "plan"));
    run_sql(path, "UPDATE result SET plan = 'other'");
    assert_true(finds(&s, &p, "other"));
    scene_close(&s);
    free(path);
}

/* All find it damaged; one sets it aside, and no result that any of them stores is lost. */
static int store_after_damage(void *argument) {
    const start *g = argument;
    char plan[32];
    wait_at_gate(g);
    unsetenv("SG_DATABASE");
    setenv("XDG_DATA_HOME", scratch_root, 1);
    scene_open_at(&s, NULL);
    for (int round = 0; round < 5; round++) {
        sprintf(plan, "plan %d of %d", round, g->index);
        CHECK(put(&s, &p, plan, 1) == FAULT_NONE);
    }
    scene_close(&s);
    return 0;
}

static void test_damage_met_by_many(void **state) {
    (void)state;
    char *folder = scratch_path("stencilgen"), *path = scratch_path("stencilgen/results.db");
    mkdir(folder, 0700);
    write_content(path, "no database, whatever SQLite makes of it", 40);
    run_processes(PROCESSES, store_after_damage, 0);
    assert_int_equal(count_files(folder, "results.db.damaged-"), 1);
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM result"), 5 * PROCESSES);
    free(folder);
    free(path);
}

static atomic_int thread_failures;

static void *use_from_thread(void *number) {
    char plan[32];
    for (int round = 0; round < ROUNDS; round++) {
        job *j = NULL;
        result r = results_blank(plan, RESULT_RIGHT, "");
        const double seconds = 1 + round;
        r.seconds = &seconds;
        r.count = 1;
        sprintf(plan, "plan %d of %d", round, *(const int *)number);
        errand e = {.scene = &s, .place = &p, .result = &r};
        if (job_run(&allocator_libc, store_body, &e, &j) != FAULT_NONE)
            atomic_fetch_add(&thread_failures, 1);
        job_end(j);
        if (job_run(&allocator_libc, find_body, &e, &j) != FAULT_NONE || e.match.plan == NULL)
            atomic_fetch_add(&thread_failures, 1);
        job_end(j);
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    pthread_t threads[4];
    int numbers[4];
    scene_open(&s, "data/results.db");
    for (int i = 0; i < 4; i++) {
        numbers[i] = i;
        assert_int_equal(pthread_create(&threads[i], NULL, use_from_thread, &numbers[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(atomic_load(&thread_failures), 0);
    assert_int_equal(count_rows(&s, (result_filter){0}), 4 * ROUNDS);
    assert_int_equal(s.warnings, 0);
    scene_close(&s);
}

/* ---- killed -------------------------------------------------------------------------------- */

/* Says in a pipe what it has stored, after it is stored. */
static int store_for_ever(void *argument) {
    const int *to = argument;
    scene_open(&s, "data/results.db");
    for (int round = 0;; round++) {
        char plan[32];
        sprintf(plan, "plan %d of %d", round, (int)getpid());
        CHECK(put(&s, &p, plan, 1) == FAULT_NONE);
        CHECK(write(to[1], plan, sizeof plan) == sizeof plan);
    }
}

static bool is_there(const char *plan) {
    char *path = scratch_path("data/results.db"), query[128];
    sprintf(query, "SELECT count(*) FROM result WHERE plan = '%s'", plan);
    const bool there = ask_sql(path, query) == 1;
    free(path);
    return there;
}

static void test_killed_while_writing(void **state) {
    (void)state;
    int pipes[2], stored = 0;
    int kills = 0;
    for (; kills < KILLS || (stored < KILLS && kills < MOST_KILLS); kills++) {
        char plan[32], last[32] = "";
        assert_int_equal(pipe(pipes), 0);
        const pid_t child = start_child(store_for_ever, pipes);
        close(pipes[1]);
        /* Later and later, so that a slow machine's child gets as far as to store something. */
        const long moment = (4000000 + (long)((unsigned)kills * 2654435761u >> 10 & 0xFFFFFF)) *
                            (1 + kills / KILLS);
        nanosleep(&(struct timespec){.tv_nsec = moment}, NULL);
        kill(child, SIGKILL);
        assert_int_equal(wait_for(child), 128 + SIGKILL);
        while (read(pipes[0], plan, sizeof plan) == sizeof plan) {
            memcpy(last, plan, sizeof last);
            stored++;
        }
        close(pipes[0]);
        if (last[0] != '\0')
            assert_true(is_there(last));
    }
    assert_true(stored >= KILLS);
    scene_open(&s, "data/results.db");
    assert_true(finds(&s, &p, NULL) == false);
    const size_t rows = count_rows(&s, (result_filter){0});
    assert_true(rows >= (size_t)stored && rows <= (size_t)(stored + kills));
    assert_int_equal(put(&s, &p, "at last", 0.5), FAULT_NONE);
    assert_true(finds(&s, &p, "at last"));
    assert_int_equal(s.warnings, 0);
    assert_int_equal(count_aside(), 0);
    scene_close(&s);
}

/* ---- memory -------------------------------------------------------------------------------- */

static void all_calls(job *j, void *argument) {
    errand *e = argument;
    const logger nobody = {0};
    results *r = results_open(j, e->options, &nobody);
    job_defer(j, (void (*)(void *))results_close, r);
    e->place = &p;
    const double seconds[] = {3, 1, 2};
    result of = results_blank("plan", RESULT_RIGHT, "");
    of.seconds = seconds, of.count = 3;
    of.sweep = results_begin(j, r, &p, "all", 3);
    results_store(j, r, &p, &of);
    results_unfinished(j, r, &p, "all", INT64_MAX);
    results_end(j, r, of.sweep);
    result_place near = p;
    near.size.number[0] = 70;
    results_find(j, r, &near, NULL, NULL, &e->match);
    near.generator = "1.0";
    results_find(j, r, &near, NULL, NULL, &e->match);
    e->rows = results_list(j, r, &(result_filter){.place = &p});
    results_examine(j, r, &e->facts);
    job_keep(j, r);
    results_close(r);
}

static void test_memory_runs_out(void **state) {
    (void)state;
    char *path = scratch_path("data/results.db");
    long at = 0;
    for (bool through = false; !through;) {
        miser m = {.refused = ++at, .for_good = at % 2 == 0};
        const allocator memory = {resize_miserly, &m};
        errand e = {.options = path};
        job *j;
        const fault f = job_run(&memory, all_calls, &e, &j);
        through = f == FAULT_NONE;
        if (!through && f != FAULT_MEMORY)
            fail_msg("request %ld: %s", at, job_error(j));
        if (through)
            assert_int_equal(e.rows.count, 1);
        job_end(j);
        assert_int_equal(m.held, 0);
        assert_true(through || m.count >= m.refused);
    }
    assert_true(at > 2); /* the allocator is in use */
    assert_int_equal(ask_sql(path, "SELECT count(*) FROM result"), 1);
    free(path);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter, scratch_leave)
static const struct CMUnitTest tests[] = {
    IN_FOLDER(test_many_processes),        IN_FOLDER(test_damage_met_by_many),
    IN_FOLDER(test_without_shared_memory), IN_FOLDER(test_threads),
    IN_FOLDER(test_killed_while_writing),  IN_FOLDER(test_memory_runs_out),
};

TEST_GROUP(processes, NULL, NULL)
