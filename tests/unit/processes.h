/* Processes that all begin to do the same at once. */
#ifndef TESTS_PROCESSES_H
#define TESTS_PROCESSES_H

#include "tests/unit/scratch_folder.h"

enum { MOST_PROCESSES = 32 };

/* Children wait at the gate until all are there. */
typedef struct start {
    int gate[2];
    int index;
    int64_t number; /* the test's */
} start;

static inline void wait_at_gate(const start *g) {
    char byte;
    close(g->gate[1]);
    while (read(g->gate[0], &byte, 1) > 0)
        continue;
}

/* Each runs the body with a start, and must end with 0. */
static inline void run_processes(int count, int (*body)(void *), int64_t number) {
    start g = {.number = number};
    pid_t children[MOST_PROCESSES];
    assert_in_range(count, 1, MOST_PROCESSES);
    assert_int_equal(pipe(g.gate), 0);
    for (g.index = 0; g.index < count; g.index++)
        children[g.index] = start_child(body, &g);
    close(g.gate[0]);
    close(g.gate[1]);
    int failed = 0;
    for (int i = 0; i < count; i++)
        failed += wait_for(children[i]) != 0;
    assert_int_equal(failed, 0);
}

#endif
