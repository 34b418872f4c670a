/* Processes that all do the same to one database, at once. */
#ifndef TESTS_RESULTS_PROCESSES_H
#define TESTS_RESULTS_PROCESSES_H

#include "tests/unit/results_scene.h"

enum { PROCESSES = 8 };

/* Children wait here until all are there. */
typedef struct start {
    int gate[2];
    int index;
} start;

static inline void run_processes(int (*body)(void *)) {
    start g;
    pid_t children[PROCESSES];
    assert_int_equal(pipe(g.gate), 0);
    for (g.index = 0; g.index < PROCESSES; g.index++)
        children[g.index] = start_child(body, &g);
    close(g.gate[0]);
    close(g.gate[1]);
    int failed = 0;
    for (int i = 0; i < PROCESSES; i++)
        failed += wait_for(children[i]) != 0;
    assert_int_equal(failed, 0);
}

static inline void wait_at_gate(const start *g) {
    char byte;
    close(g->gate[1]);
    while (read(g->gate[0], &byte, 1) > 0)
        continue;
}

#endif
