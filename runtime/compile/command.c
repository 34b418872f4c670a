/* Spawning, waiting, and reading what was printed. */
#define _GNU_SOURCE /* memfd_create */
#include "runtime/compile/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "runtime/compile/pending.h"

extern char **environ;

/* ---- spawning ------------------------------------------------------------------------------- */

/* The environment with another TMPDIR. */
static char **environment(job *j, const char *temporary) {
    static const char name[] = "TMPDIR=";
    size_t count = 0, kept = 0;
    if (temporary == NULL)
        return environ;
    while (environ[count] != NULL)
        count++;
    char **all = job_array(j, count + 2, sizeof *all);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], name, sizeof name - 1) != 0)
            all[kept++] = environ[i];
    all[kept++] = job_print(j, "%s%s", name, temporary);
    all[kept] = NULL;
    return all;
}

/* The child gets no signal mask and no ignored signals of the application's: compilers start
   programs of their own and wait for them, and must end when they are told to. */
static int set_attributes(posix_spawnattr_t *attributes) {
    static const int usual[] = {SIGCHLD, SIGPIPE, SIGTERM, SIGXFSZ};
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

static int set_files(posix_spawn_file_actions_t *files, int output, int held) {
    int error = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(files, output, STDOUT_FILENO);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(files, output, STDERR_FILENO);
    if (error == 0 && held >= 0)
        error = posix_spawn_file_actions_adddup2(files, held, STDERR_FILENO + 1);
    return error;
}

static int spawn(const command_setting *c, char **variables, int output, pid_t *child) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = set_attributes(&attributes);
        if (error == 0)
            error = set_files(&files, output, c->held);
        if (error == 0)
            error = posix_spawn(child, c->words[0], &files, &attributes, (char *const *)c->words,
                                variables);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return error;
}

/* ---- waiting -------------------------------------------------------------------------------- */

/* False where a handler that ends this process has taken the child over. Its number stays its own
   until the place is entered again. An application that ignores SIGCHLD has taken the status: the
   caller then judges by the files. */
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
    *error = spawn(c, variables, output, &child);
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

/* ---- what it printed ------------------------------------------------------------------------ */

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

/* What it prints goes to memory, so that it can be read where no disk has room. */
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
    job_keep(j, output);
    close(*output);
    return code;
}

/* In the user's language, as the program says it. */
int host_command_room(int code, const char *printed) {
    static const int errors[] = {ENOSPC, EDQUOT, EFBIG};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (code != 0 && strstr(printed, strerror(errors[i])) != NULL)
            return errors[i];
    const bool limited = code == 128 + SIGXFSZ || strstr(printed, strsignal(SIGXFSZ)) != NULL;
    return code != 0 && limited ? EFBIG : 0;
}
