/* The table of what must end with the process, and running programs. Everything that sg_abandon
   calls may be called in a signal handler. */
#define _GNU_SOURCE /* syscall, memfd_create */

#include "runtime/compile/compilers.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
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
        p->parent = p->folder = -1;
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

/* ---- the handler ----------------------------------------------------------------------------- */

static void wait_a_moment(void) {
    nanosleep(&(struct timespec){.tv_nsec = MOMENT}, NULL);
}

/* What another thread is changing is complete in a moment. This thread changes nothing, because
   its signals were blocked. */
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

/* A compiler that gets SIGTERM removes its own temporary files. What remains of its group is
   killed. */
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
            scratch_clear(table[i].parent, table[i].folder, table[i].name);
    errno = error;
}

extern char **environ;

/* ---- spawning -------------------------------------------------------------------------------- */

/* The environment with another TMPDIR. A compiler looks for its assembler and linker in PATH. */
static char **environment(job *j, const char *temporary) {
    static const char name[] = "TMPDIR=";
    static char path[] = "PATH=" COMMAND_PATH;
    size_t count = 0, kept = 0;
    if (temporary == NULL)
        return environ;
    while (environ[count] != NULL)
        count++;
    char **all = job_array(j, count + 3, sizeof *all);
    if (getenv("PATH") == NULL)
        all[kept++] = path;
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], name, sizeof name - 1) != 0)
            all[kept++] = environ[i];
    all[kept++] = job_print(j, "%s%s", name, temporary);
    all[kept] = NULL;
    return all;
}

/* The child gets no blocked and no ignored signals of the application: compilers start programs
   of their own, wait for them, and must end when they are told to. */
static int set_attributes(posix_spawnattr_t *attributes) {
    static const int usual[] = {SIGCHLD, SIGINT, SIGPIPE, SIGTERM, SIGXFSZ};
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        sigaddset(&defaults, usual[i]);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &defaults);
    return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                    POSIX_SPAWN_SETSIGDEF);
}

int command_spawn(const char *const *words, char **variables, const int files[COMMAND_FILES],
                  pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = set_attributes(&attributes);
        if (error == 0 && files[0] < 0)
            error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
        for (int i = 0; i < COMMAND_FILES && error == 0; i++)
            if (files[i] >= 0)
                error = posix_spawn_file_actions_adddup2(&actions, files[i], i);
        if (error == 0)
            error = posix_spawn(child, words[0], &actions, &attributes, (char *const *)words,
                                variables != NULL ? variables : environ);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* ---- waiting --------------------------------------------------------------------------------- */

/* False: a handler that ends this process has taken the child over. The child's number stays its
   own until the place is entered again. If the application ignores SIGCHLD the status is lost,
   and the caller judges by the files. */
static bool wait_for(pending *place, pid_t child, int *status) {
    siginfo_t facts;
    pending_hold hold;
    *status = 0;
    while (waitid(P_PID, (id_t)child, &facts, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        ;
    if (!pending_enter(place, &hold))
        return false;
    while (waitpid(child, status, 0) < 0 && errno == EINTR)
        ;
    pending_end(place, &hold);
    return true;
}

static int run(const command_setting *c, char **variables, int output, int *error) {
    pending *place;
    pending_hold hold;
    pid_t child;
    int status;
    *error = EINTR;
    if (!pending_begin(&place, &hold))
        return -1;
    const int files[COMMAND_FILES] = {-1, output, output, c->held};
    *error = command_spawn(c->words, variables, files, &child);
    if (*error != 0) {
        pending_end(place, &hold);
        return -1;
    }
    if (place != NULL)
        place->child = child;
    pending_leave(place, &hold);
    if (!wait_for(place, child, &status)) {
        *error = EINTR;
        return -1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- what it printed ------------------------------------------------------------------------- */

static void close_file(void *what) {
    close(*(const int *)what);
}

static const char *read_output(job *j, int output) {
    enum { MOST = 1 << 22 };
    struct stat facts;
    if (fstat(output, &facts) != 0 || lseek(output, 0, SEEK_SET) != 0)
        return "";
    const size_t size = facts.st_size < MOST ? (size_t)facts.st_size : MOST;
    char *text = job_alloc(j, size + 1);
    return io_read_all(output, text, size) < 0 ? "" : text;
}

/* The output goes to memory, so that it can be read when the disk is full. */
int host_command(job *j, const command_setting *c, const char **printed, int *error) {
    char **variables = environment(j, c->temporary);
    int *output = job_alloc(j, sizeof *output);
    *printed = "";
    *output = memfd_create("stencilgen-output", MFD_CLOEXEC);
    if (*output < 0) {
        *error = errno;
        return -1;
    }
    job_defer(j, close_file, output);
    const int code = run(c, variables, *output, error);
    if (code >= 0)
        *printed = read_output(j, *output);
    job_undo(j, output);
    return code;
}

/* The messages are in the user's language, as the program prints them. */
int host_command_room(int code, const char *printed) {
    static const int errors[] = {ENOSPC, EDQUOT, EFBIG};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (code != 0 && strstr(printed, strerror(errors[i])) != NULL)
            return errors[i];
    const bool limited = code == 128 + SIGXFSZ || strstr(printed, strsignal(SIGXFSZ)) != NULL;
    return code != 0 && limited ? EFBIG : 0;
}
