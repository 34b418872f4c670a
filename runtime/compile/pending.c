/* The table, and the handler's side of it. All that sg_abandon calls is safe in a handler. */
#define _DEFAULT_SOURCE /* syscall */
#include "runtime/compile/pending.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/compile/scratch_mark.h"
#include "runtime/stencilgen.h"

/* BUSY: its thread is changing it. TAKEN: a handler has it, for good. */
enum { FREE, BUSY, LIVE, TAKEN };
enum { PLACES = 64, MOMENT = 5000000 /* nanoseconds */, PATIENCE = 400 /* moments */ };

static pending table[PLACES];
static _Atomic pid_t ended; /* the process that is being ended */

static void hold(pending_hold *h) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &h->before);
}

static void let_go(const pending_hold *h) {
    pthread_sigmask(SIG_SETMASK, &h->before, NULL);
}

bool pending_begin(pending **out, pending_hold *h) {
    *out = NULL;
    hold(h);
    for (int i = 0; i < PLACES && *out == NULL; i++) {
        int expected = FREE;
        if (atomic_compare_exchange_strong(&table[i].state, &expected, BUSY))
            *out = &table[i];
    }
    pending *p = *out;
    if (p != NULL) {
        p->owner = getpid();
        p->child = 0;
        p->parent = p->folder = p->mark = -1;
    }
    if (atomic_load(&ended) != getpid())
        return true;
    pending_end(p, h);
    return false;
}

bool pending_enter(pending *p, pending_hold *h) {
    hold(h);
    int expected = LIVE;
    if (p == NULL || atomic_compare_exchange_strong(&p->state, &expected, BUSY))
        return true;
    let_go(h);
    return false;
}

void pending_leave(pending *p, const pending_hold *h) {
    if (p != NULL)
        atomic_store(&p->state, LIVE);
    let_go(h);
}

void pending_end(pending *p, const pending_hold *h) {
    if (p != NULL)
        atomic_store(&p->state, FREE);
    let_go(h);
}

/* ---- the handler ---------------------------------------------------------------------------- */

static void wait_a_moment(void) {
    nanosleep(&(struct timespec){.tv_nsec = MOMENT}, NULL);
}

/* What another thread is changing is whole in a moment. This thread changes nothing: signals were
   held back. */
static bool take(pending *p) {
    for (int i = 0; i < PATIENCE; i++) {
        int state = LIVE;
        if (atomic_compare_exchange_strong(&p->state, &state, TAKEN))
            return p->owner == getpid();
        if (state != BUSY)
            return false;
        wait_a_moment();
    }
    return false;
}

static bool has_ended(pid_t child) {
    siginfo_t facts = {.si_pid = 0};
    const int code = waitid(P_PID, (id_t)child, &facts, WEXITED | WNOHANG | WNOWAIT);
    return code == 0 ? facts.si_pid == child : errno != EINTR;
}

/* A compiler that is asked to end removes its own temporary files. What is left of its group after
   that is killed. */
static void end_child(pid_t child) {
    for (int i = 0; i < PATIENCE && !has_ended(child); i++)
        wait_a_moment();
    kill(-child, SIGKILL);
    waitpid(child, NULL, 0);
}

void sg_abandon(void) {
    const int error = errno;
    bool taken[PLACES];
    atomic_store(&ended, getpid());
    for (int i = 0; i < PLACES; i++)
        if ((taken[i] = take(&table[i])) && table[i].child > 0)
            kill(-table[i].child, SIGTERM);
    for (int i = 0; i < PLACES; i++)
        if (taken[i] && table[i].child > 0)
            end_child(table[i].child);
    for (int i = 0; i < PLACES; i++)
        if (taken[i] && table[i].folder >= 0)
            scratch_clear(table[i].parent, table[i].folder, &table[i].mark, table[i].name);
    errno = error;
}
