/* The private folder, its files, and programs run on them. */
#include "runtime/cpu_scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { STALE_SECONDS = 24 * 60 * 60 };
static const char prefix[] = "stencilgen-";

static const char *parent_folder(void) {
    const char *parent = getenv("TMPDIR");
    return parent != NULL && parent[0] != '\0' ? parent : "/tmp";
}

static void empty_folder(DIR *folder) {
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        unlinkat(dirfd(folder), entry->d_name, 0);
}

static void remove_folder(void *what) {
    const scratch *s = what;
    DIR *folder = opendir(s->folder);
    if (folder != NULL) {
        empty_folder(folder);
        closedir(folder);
    }
    rmdir(s->folder);
}

/* Nothing takes a day that happens in such a folder; making a file in it renews its time. */
static bool is_stale(int file) {
    struct stat facts;
    return fstat(file, &facts) == 0 && facts.st_uid == geteuid() &&
           time(NULL) - facts.st_mtime > STALE_SECONDS;
}

void scratch_sweep(void) {
    DIR *parent = opendir(parent_folder());
    if (parent == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(parent)) != NULL;) {
        if (strncmp(entry->d_name, prefix, sizeof prefix - 1) != 0 ||
            strlen(entry->d_name) != sizeof prefix - 1 + 6)
            continue;
        const int file =
            openat(dirfd(parent), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        DIR *folder = file >= 0 && is_stale(file) ? fdopendir(file) : NULL;
        if (folder != NULL) {
            empty_folder(folder);
            unlinkat(dirfd(parent), entry->d_name, AT_REMOVEDIR);
            closedir(folder);
        } else if (file >= 0) {
            close(file);
        }
    }
    closedir(parent);
}

scratch *scratch_open(job *j) {
    const char *parent = parent_folder();
    scratch *s = job_alloc(j, sizeof *s);
    char *folder = job_print(j, "%s/%sXXXXXX", parent, prefix);
    if (mkdtemp(folder) == NULL)
        job_fail(j, FAULT_IO, parent, 0,
                 "cannot make a temporary folder here: %s; TMPDIR names another place",
                 strerror(errno));
    s->folder = folder;
    job_defer(j, remove_folder, s);
    return s;
}

void scratch_close(job *j, scratch *s) {
    remove_folder(s);
    job_keep(j, s);
}

const char *scratch_path(job *j, const scratch *s, const char *name) {
    return job_print(j, "%s/%s", s->folder, name);
}

/* Errno of the first failure, or 0. */
static int write_all(int file, const char *data, size_t size) {
    while (size > 0) {
        const ssize_t written = write(file, data, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        data += written;
        size -= (size_t)written;
    }
    return 0;
}

void scratch_write(job *j, const char *path, const scratch_piece *pieces, int count) {
    const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (file < 0)
        job_fail(j, FAULT_IO, path, 0, "cannot make this file: %s", strerror(errno));
    int error = 0;
    for (int i = 0; i < count && error == 0; i++)
        error = write_all(file, pieces[i].data, pieces[i].size);
    if (close(file) != 0 && error == 0 && errno != EINTR)
        error = errno;
    if (error != 0)
        job_fail(j, FAULT_IO, path, 0, "cannot write this file: %s", strerror(error));
}

/* Errno, or 0. Fills `data` as far as the file goes and shortens *size where it ends early. */
static int read_all(int file, char *data, size_t *size) {
    size_t done = 0;
    while (done < *size) {
        const ssize_t got = read(file, data + done, *size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    *size = done;
    return 0;
}

static void close_file(void *what) {
    close(*(const int *)what);
}

void *scratch_read(job *j, const char *path, size_t *size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        job_fail(j, FAULT_IO, path, 0, "cannot open this file: %s", strerror(errno));
    int *held = job_alloc(j, sizeof *held);
    *held = file;
    job_defer(j, close_file, held);
    struct stat facts;
    if (fstat(file, &facts) != 0)
        job_fail(j, FAULT_IO, path, 0, "cannot read this file: %s", strerror(errno));
    *size = (size_t)facts.st_size;
    char *data = job_alloc(j, *size + 1);
    const int error = read_all(file, data, size);
    if (error != 0)
        job_fail(j, FAULT_IO, path, 0, "cannot read this file: %s", strerror(error));
    close(file);
    job_keep(j, held);
    return data;
}

/* The child gets no signal mask or ignored signals of the application's: compilers start programs
   of their own and wait for them. */
static int spawn(const char *const *command, const char *output, pid_t *child) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error != 0) {
        posix_spawn_file_actions_destroy(&files);
        return error;
    }
    sigset_t none, usual;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGCHLD);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    error = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (error == 0)
        error =
            posix_spawn_file_actions_addopen(&files, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (error == 0)
        error = posix_spawn_file_actions_adddup2(&files, 1, 2);
    if (error == 0)
        error =
            posix_spawn(child, command[0], &files, &attributes, (char *const *)command, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

int scratch_spawn(const char *const *command, const char *output, int *error) {
    pid_t child;
    *error = spawn(command, output, &child);
    if (*error != 0)
        return -1;
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        /* An application that ignores SIGCHLD has taken the status: the caller judges by the
           files. waitpid has waited all the same. */
        if (errno != EINTR)
            return 0;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
