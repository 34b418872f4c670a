/* The pool of threads. Workers sleep until a run is posted; they and the caller draw indices from
   one counter until it is past the count. A worker that wakes too late finds the run closed, so
   that the caller never waits for one that has not begun. */
#define _GNU_SOURCE /* sched_getaffinity */

#include "base/workers.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

typedef struct run {
    void (*body)(void *argument, int64_t index, int worker);
    void *argument;
    int64_t count;
} run;

typedef struct worker {
    workers *pool;
    pthread_t thread;
    int number;
} worker;

struct workers {
    pthread_mutex_t callers; /* held for the length of a run: one at a time */

    pthread_mutex_t lock; /* guards what follows, down to `next` */
    pthread_cond_t posted, idle;
    run run;
    uint64_t generation; /* of runs */
    bool open;           /* the run may still be joined */
    bool closing;
    int busy; /* workers in the run, the caller not counted */

    _Atomic int64_t next;

    allocator memory;
    size_t bytes; /* of this struct */
    int count;
    worker worker[]; /* [0] is the caller's place and has no thread */
};

/* The runs that this thread is in the middle of, innermost first, so that a body may call
   workers_run itself. */
typedef struct inside {
    const workers *pool;
    int number;
    const struct inside *outer;
} inside;
static _Thread_local const inside *innermost;

static void draw(workers *w, const run *r, int number) {
    const inside here = {.pool = w, .number = number, .outer = innermost};
    innermost = &here;
    for (;;) {
        const int64_t i = atomic_fetch_add_explicit(&w->next, 1, memory_order_relaxed);
        if (i >= r->count)
            break;
        r->body(r->argument, i, number);
    }
    innermost = here.outer;
}

static void *work(void *argument) {
    const worker *self = argument;
    workers *w = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&w->lock);
    while (!w->closing) {
        if (!w->open || w->generation == seen) {
            pthread_cond_wait(&w->posted, &w->lock);
            continue;
        }
        seen = w->generation;
        const run r = w->run;
        w->busy++;
        pthread_mutex_unlock(&w->lock);
        draw(w, &r, self->number);
        pthread_mutex_lock(&w->lock);
        if (--w->busy == 0)
            pthread_cond_signal(&w->idle);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

static int cores(void) {
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
#endif
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

/* Signals are the application's: none is to be handled on a thread it does not know of. */
static void start_threads(workers *w, int wanted) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (w->count < wanted) {
        worker *next = &w->worker[w->count];
        *next = (worker){.pool = w, .number = w->count};
        if (pthread_create(&next->thread, NULL, work, next) != 0)
            break;
        w->count++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

workers *workers_open(const allocator *memory, int threads) {
    const int wanted = threads > 0 ? threads : cores();
    const size_t bytes = sizeof(workers) + (size_t)wanted * sizeof(worker);
    workers *w = memory->resize(memory->user, NULL, 0, bytes);
    if (w == NULL)
        return NULL;
    memset(w, 0, bytes);
    w->memory = *memory;
    w->bytes = bytes;
    pthread_mutex_init(&w->callers, NULL);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->posted, NULL);
    pthread_cond_init(&w->idle, NULL);
    w->count = 1;
    start_threads(w, wanted);
    if (w->count < wanted) {
        workers_close(w);
        return NULL;
    }
    return w;
}

void workers_close(workers *w) {
    if (w == NULL)
        return;
    pthread_mutex_lock(&w->lock);
    w->closing = true;
    pthread_cond_broadcast(&w->posted);
    pthread_mutex_unlock(&w->lock);
    for (int i = 1; i < w->count; i++)
        pthread_join(w->worker[i].thread, NULL);
    pthread_cond_destroy(&w->idle);
    pthread_cond_destroy(&w->posted);
    pthread_mutex_destroy(&w->lock);
    pthread_mutex_destroy(&w->callers);
    const allocator memory = w->memory;
    memory.resize(memory.user, w, w->bytes, 0);
}

int workers_count(const workers *w) {
    return w->count;
}

static void post(workers *w, const run *r) {
    pthread_mutex_lock(&w->lock);
    atomic_store_explicit(&w->next, 0, memory_order_relaxed);
    w->run = *r;
    w->generation++;
    w->open = true;
    pthread_cond_broadcast(&w->posted);
    pthread_mutex_unlock(&w->lock);
}

static void wait_for_the_rest(workers *w) {
    pthread_mutex_lock(&w->lock);
    w->open = false;
    while (w->busy > 0)
        pthread_cond_wait(&w->idle, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

void workers_run(workers *w, int64_t count, void (*body)(void *, int64_t, int), void *argument) {
    for (const inside *at = innermost; at != NULL; at = at->outer)
        if (at->pool == w) {
            for (int64_t i = 0; i < count; i++)
                body(argument, i, at->number);
            return;
        }
    const run r = {.body = body, .argument = argument, .count = count};
    pthread_mutex_lock(&w->callers);
    if (count > 1 && w->count > 1) {
        post(w, &r);
        draw(w, &r, 0);
        wait_for_the_rest(w);
    } else {
        atomic_store_explicit(&w->next, 0, memory_order_relaxed);
        draw(w, &r, 0);
    }
    pthread_mutex_unlock(&w->callers);
}
