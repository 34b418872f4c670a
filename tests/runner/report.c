/* Counting and printing of outcomes, and threads. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/runner/runner.h"

static const char *const mode_words[MODE_COUNT] = {"run",        "golden",   "cubin",
                                                   "properties", "selftest", "sources"};

void report_pass(report *r, const char *name) {
    pthread_mutex_lock(&r->lock);
    r->passed++;
    if (r->options->verbose)
        printf("passed: %s\n", name);
    pthread_mutex_unlock(&r->lock);
}

void report_skip(report *r, const char *name, const char *why) {
    pthread_mutex_lock(&r->lock);
    r->skipped++;
    printf("skipped: %s: %s\n", name, why);
    pthread_mutex_unlock(&r->lock);
}

void report_refusal(report *r, const char *name, const char *why) {
    pthread_mutex_lock(&r->lock);
    r->refused++;
    if (r->options->verbose)
        printf("refused, as it may be: %s: %s\n", name, why);
    pthread_mutex_unlock(&r->lock);
}

void report_cells(report *r, int64_t judged, int64_t undecidable) {
    pthread_mutex_lock(&r->lock);
    r->cells += judged;
    r->undecidable += undecidable;
    pthread_mutex_unlock(&r->lock);
}

void report_fail(report *r, const char *name, const char *what) {
    const options *o = r->options;
    pthread_mutex_lock(&r->lock);
    r->failed++;
    printf("failed: %s: %s\n    again: SG_SEED=%llu run_cases --mode %s --device %s --full "
           "--every-place%s --filter '%s'\n",
           name, what, (unsigned long long)o->data_seed, mode_words[o->mode], o->device,
           o->huge ? " --huge" : "", name);
    fflush(stdout);
    pthread_mutex_unlock(&r->lock);
}

/* ---- crashes
 * ------------------------------------------------------------------------------------- */

/* What each thread is at, for a crash, which may come on a thread of the device. */
enum { THREADS = 256 };
static const char *_Atomic current[THREADS];
static atomic_int thread_count;
static _Thread_local int thread_index = -1;

void report_begin(const char *name) {
    if (thread_index < 0)
        thread_index = atomic_fetch_add(&thread_count, 1) % THREADS;
    current[thread_index] = name;
}

static void say(const char *words) {
    const ssize_t written = write(STDOUT_FILENO, words, strlen(words));
    (void)written;
}

static void say_current(void) {
    say("\nfailed: a crash in one of:\n");
    for (int i = 0; i < THREADS; i++)
        if (current[i] != NULL) {
            say("    ");
            say(current[i]);
            say("\n");
        }
}

#if defined(SG_SANITIZE)
void __sanitizer_set_death_callback(void (*)(void));

void report_watch_crashes(void) {
    __sanitizer_set_death_callback(say_current);
}
#else
static void on_crash(int signal) {
    say_current();
    raise(signal); /* with its default action by now */
}

void report_watch_crashes(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    const struct sigaction action = {.sa_handler = on_crash, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
}
#endif

/* ---- threads
 * ------------------------------------------------------------------------------------- */

typedef struct parallel {
    atomic_int next;
    int count;
    void (*body)(void *argument, int i);
    void *argument;
} parallel;

static void *work(void *argument) {
    parallel *p = argument;
    for (int i; (i = atomic_fetch_add(&p->next, 1)) < p->count;)
        p->body(p->argument, i);
    return NULL;
}

void run_parallel(int threads, int count, void (*body)(void *argument, int i), void *argument) {
    enum { MOST = 256 };
    parallel p = {.count = count, .body = body, .argument = argument};
    pthread_t started[MOST];
    int running = 0;
    while (running + 1 < threads && running + 1 < count && running < MOST &&
           pthread_create(&started[running], NULL, work, &p) == 0)
        running++;
    work(&p);
    for (int i = 0; i < running; i++)
        pthread_join(started[i], NULL);
}

sg_context *runner_context(const options *o, report *r) {
    const sg_options wanted = {.struct_size = sizeof wanted, .device = o->device};
    sg_context *c;
    if (sg_open(&c, &wanted) == SG_OK)
        return c;
    report_skip(r, "all", c != NULL ? sg_error(c) : "out of memory");
    sg_close(c);
    return NULL;
}
