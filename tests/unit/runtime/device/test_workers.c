/* The pool of threads: every index once, callers of all kinds, no index left over. */
#include "base/workers.h"
#include "tests/unit/group.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST = 100000 };

typedef struct tally {
    workers *pool, *other;
    int64_t count;
    int *seen;        /* how often each index came */
    int *worker_busy; /* whether a worker is in the body */
    _Atomic int64_t calls, out_of_range, overlaps;
} tally;

static void count_index(void *argument, int64_t index, int worker) {
    tally *t = argument;
    if (index < 0 || index >= t->count || worker < 0 || worker >= workers_count(t->pool))
        t->out_of_range++;
    else
        t->seen[index]++;
    if (t->worker_busy[worker]++ != 0)
        t->overlaps++;
    t->calls++;
    t->worker_busy[worker]--;
}

static void check_run(workers *w, int64_t count) {
    tally t = {.pool = w, .count = count};
    t.seen = calloc((size_t)count + 1, sizeof t.seen[0]);
    t.worker_busy = calloc((size_t)workers_count(w), sizeof t.worker_busy[0]);
    workers_run(w, count, count_index, &t);
    assert_int_equal(t.calls, count);
    assert_int_equal(t.out_of_range, 0);
    assert_int_equal(t.overlaps, 0);
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(t.seen[i], 1);
    free(t.seen);
    free(t.worker_busy);
}

static void test_counts(void **state) {
    (void)state;
    const int threads[] = {1, 2, 3, 8};
    const int64_t counts[] = {0, 1, 2, 3, 7, 1000, MOST};
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        workers *w = workers_open(&allocator_libc, threads[i]);
        assert_non_null(w);
        assert_int_equal(workers_count(w), threads[i]);
        for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++)
            check_run(w, counts[k]);
        workers_close(w);
    }
}

static void test_default_and_null(void **state) {
    (void)state;
    workers *w = workers_open(&allocator_libc, 0);
    assert_non_null(w);
    assert_true(workers_count(w) >= 1);
    check_run(w, 100);
    workers_close(w);
    workers_close(NULL);
}

/* Runs so short that workers often wake when all is done. */
static void test_many_short_runs(void **state) {
    (void)state;
    workers *w = workers_open(&allocator_libc, 4);
    for (int i = 0; i < 5000; i++)
        check_run(w, 1 + i % 5);
    workers_close(w);
}

typedef struct meeting {
    pthread_mutex_t lock;
    pthread_cond_t met;
    int present;
} meeting;

static void meet(void *argument, int64_t index, int worker) {
    (void)index;
    (void)worker;
    meeting *m = argument;
    pthread_mutex_lock(&m->lock);
    m->present++;
    pthread_cond_broadcast(&m->met);
    while (m->present < 3)
        pthread_cond_wait(&m->met, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

/* Three bodies that wait for each other end only where three threads run them. */
static void test_runs_at_once(void **state) {
    (void)state;
    workers *w = workers_open(&allocator_libc, 3);
    meeting m = {.lock = PTHREAD_MUTEX_INITIALIZER, .met = PTHREAD_COND_INITIALIZER};
    workers_run(w, 3, meet, &m);
    assert_int_equal(m.present, 3);
    workers_close(w);
}

static void inner(void *argument, int64_t index, int worker) {
    tally *t = argument;
    (void)index;
    if (worker < 0 || worker >= workers_count(t->pool))
        t->out_of_range++;
    t->calls++;
}

static void nest(void *argument, int64_t index, int worker) {
    tally *t = argument;
    (void)index;
    (void)worker;
    workers_run(t->pool, 10, inner, t);
}

static void nest_through_other(void *argument, int64_t index, int worker) {
    tally *t = argument;
    (void)index;
    (void)worker;
    workers_run(t->other, 2, nest, t);
}

static void test_nested(void **state) {
    (void)state;
    tally t = {.pool = workers_open(&allocator_libc, 3), .other = workers_open(&allocator_libc, 1)};
    workers_run(t.pool, 20, nest, &t);
    assert_int_equal(t.calls, 200);
    t.calls = 0;
    workers_run(t.pool, 20, nest_through_other, &t);
    assert_int_equal(t.calls, 400);
    assert_int_equal(t.out_of_range, 0);
    workers_close(t.pool);
    workers_close(t.other);
}

static void *caller(void *argument) {
    tally *t = argument;
    for (int i = 0; i < 200; i++)
        workers_run(t->pool, 50, inner, t);
    return NULL;
}

static void test_several_callers(void **state) {
    (void)state;
    tally t = {.pool = workers_open(&allocator_libc, 3)};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, caller, &t), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(t.calls, 4 * 200 * 50);
    assert_int_equal(t.out_of_range, 0);
    workers_close(t.pool);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_counts),          cmocka_unit_test(test_default_and_null),
    cmocka_unit_test(test_many_short_runs), cmocka_unit_test(test_runs_at_once),
    cmocka_unit_test(test_nested),          cmocka_unit_test(test_several_callers),
};

TEST_GROUP(workers, NULL, NULL)
