/* Files that appear whole or not at all. */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"

struct output {
    char *path;      /* as the user said it, for messages */
    char *final;     /* where it goes, links followed */
    char *temporary; /* NULL where the file is written as it stands */
    int file;
};

/* The unfinished file, for the handler of signals that end the command. */
static char *volatile unfinished;

static void clean_and_die(int number) {
    if (unfinished != NULL)
        unlink(unfinished);
    sg_abandon();
    signal(number, SIG_DFL);
    raise(number);
}

static void let_the_write_fail(int number) {
    (void)number;
}

void output_guard_signals(void) {
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
    static const int fails[] = {SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct sigaction now;
        /* nohup and background jobs ignore some of them; they stay ignored. */
        if (sigaction(ends[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(ends[i], &(struct sigaction){.sa_handler = clean_and_die}, NULL);
    }
    /* A handler rather than SIG_IGN: programs that we start do not inherit it. */
    for (size_t i = 0; i < sizeof fails / sizeof fails[0]; i++)
        sigaction(fails[i], &(struct sigaction){.sa_handler = let_the_write_fail}, NULL);
}

static bool fail(const char *path, const char *what) {
    complain(EXIT_DATA, path, "%s: %s", what, strerror(errno));
    return false;
}

static char *copy(const char *text) {
    buffer b = {0};
    buffer_add(&b, text);
    return b.data;
}

static void release(output *o) {
    free(o->path);
    free(o->final);
    free(o->temporary);
    free(o);
}

/* The temporary lies in the same folder, so that the move cannot cross file systems. */
static bool open_temporary(output *o) {
    buffer name = {0};
    buffer_printf(&name, "%s.XXXXXX", o->final);
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    o->file = mkstemp(name.data);
    const int error = errno;
    o->temporary = name.data;
    if (o->file >= 0)
        unfinished = o->temporary;
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = error;
    if (o->file < 0)
        return false;
    const mode_t mask = umask(0);
    umask(mask);
    struct stat old;
    const mode_t mode = stat(o->final, &old) == 0 ? old.st_mode & 0777 : 0666 & ~mask;
    return fchmod(o->file, mode) == 0;
}

output *output_begin(const char *path) {
    output *o = must_alloc(1, sizeof *o);
    struct stat status;
    const bool exists = stat(path, &status) == 0;
    o->path = copy(path);
    if (exists && S_ISDIR(status.st_mode)) {
        errno = EISDIR;
        fail(path, "cannot write");
        release(o);
        return NULL;
    }
    if (exists && !S_ISREG(status.st_mode)) {
        o->file = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        char *resolved = exists ? realpath(path, NULL) : NULL;
        o->final = resolved != NULL ? resolved : copy(path);
        if (!open_temporary(o) && o->file >= 0) {
            fail(path, "cannot write");
            output_drop(o);
            return NULL;
        }
    }
    if (o->file < 0) {
        fail(path, "cannot write");
        release(o);
        return NULL;
    }
    return o;
}

bool output_write(output *o, const void *bytes, size_t count) {
    const char *at = bytes;
    while (count > 0) {
        const ssize_t wrote = write(o->file, at, count);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return fail(o->path, "cannot write");
        at += wrote;
        count -= (size_t)wrote;
    }
    return true;
}

void output_drop(output *o) {
    if (o == NULL)
        return;
    if (o->file >= 0)
        close(o->file);
    if (o->temporary != NULL)
        unlink(o->temporary);
    unfinished = NULL;
    release(o);
}

bool output_commit(output *o) {
    bool good = o->temporary == NULL || fsync(o->file) == 0 || fail(o->path, "cannot write");
    /* Some file systems say only here that the data did not arrive: before the old file is gone. */
    good = (close(o->file) == 0 || fail(o->path, "cannot write")) && good;
    o->file = -1;
    if (good && o->temporary != NULL && rename(o->temporary, o->final) != 0)
        good = fail(o->path, "cannot write");
    if (!good) {
        output_drop(o);
        return false;
    }
    unfinished = NULL;
    release(o);
    return true;
}

bool output_file(const char *path, const void *bytes, size_t count) {
    output *o = output_begin(path);
    if (o == NULL)
        return false;
    if (!output_write(o, bytes, count)) {
        output_drop(o);
        return false;
    }
    return output_commit(o);
}

bool output_folder(const char *folder) {
    struct stat status;
    if (mkdir(folder, 0777) == 0 || (stat(folder, &status) == 0 && S_ISDIR(status.st_mode)))
        return true;
    return fail(folder, "cannot make the folder");
}

char *output_path(const char *folder, const char *name, const char *suffix) {
    buffer path = {0};
    if (folder != NULL)
        buffer_printf(&path, "%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/");
    buffer_printf(&path, "%s%s", name, suffix);
    return path.data;
}
