/* Whole reads and writes with their signals blocked; then files that appear whole or not at all. */
#define _GNU_SOURCE /* O_PATH */

#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"

static const int held[] = {SIGXFSZ, SIGPIPE};
enum { HELD = sizeof held / sizeof held[0] };

io_guard io_guard_begin(void) {
    const int error = errno;
    io_guard g;
    sigset_t signals;
    sigemptyset(&signals);
    for (int i = 0; i < HELD; i++)
        sigaddset(&signals, held[i]);
    sigemptyset(&g.pending);
    sigpending(&g.pending);
    pthread_sigmask(SIG_BLOCK, &signals, &g.before);
    errno = error;
    return g;
}

static void take_away(int number) {
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    while (sigtimedwait(&one, NULL, &(struct timespec){0}) < 0 && errno == EINTR)
        ;
}

void io_guard_end(const io_guard *g) {
    const int error = errno;
    sigset_t now;
    sigemptyset(&now);
    sigpending(&now);
    for (int i = 0; i < HELD; i++)
        if (sigismember(&now, held[i]) == 1 && sigismember(&g->pending, held[i]) != 1)
            take_away(held[i]);
    pthread_sigmask(SIG_SETMASK, &g->before, NULL);
    errno = error;
}

int io_write_all(int file, const void *data, size_t size) {
    const io_guard guard = io_guard_begin();
    int error = 0;
    for (size_t done = 0; done < size && error == 0;) {
        const ssize_t written = write(file, (const char *)data + done, size - done);
        if (written >= 0)
            done += (size_t)written;
        else if (errno != EINTR)
            error = errno;
    }
    io_guard_end(&guard);
    return error;
}

ssize_t io_read_all(int file, void *data, size_t size) {
    size_t done = 0;
    while (done < size) {
        const ssize_t got = read(file, (char *)data + done, size - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

const char whole_file_prefix[] = ".stencilgen-";

/* ---- the place ------------------------------------------------------------------------------- */

/* A folder may be writable without being readable. */
static int open_folder(int from, const char *path) {
    const int folder = openat(from, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder >= 0 || errno != EACCES ? folder
                                          : openat(from, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Opens the folder of `path`, which is cut there, and keeps the name in it. */
static int enter(whole_file *w, int from, char *path) {
    char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    if (*name == '\0')
        return slash != NULL ? EISDIR : ENOENT;
    if (strlen(name) >= sizeof w->place.name)
        return ENAMETOOLONG;
    strcpy(w->place.name, name);
    const char *parent = slash == NULL ? "." : slash == path ? "/" : path;
    if (slash != NULL && slash != path)
        *slash = '\0';
    const int folder = open_folder(from, parent);
    const int error = errno;
    if (w->folder >= 0)
        close(w->folder);
    w->folder = folder;
    return folder >= 0 ? 0 : error;
}

/* Follows links by hand, because the system follows none that dangles. */
static int find_place(whole_file *w, int from, const char *path, bool follow) {
    enum { MOST_LINKS = 40 };
    char at[PATH_MAX];
    if (strlen(path) >= sizeof at)
        return ENAMETOOLONG;
    strcpy(at, path);
    for (int links = 0; links <= MOST_LINKS; links++) {
        const int error = enter(w, links == 0 ? from : w->folder, at);
        if (error != 0 || !follow)
            return error;
        const ssize_t length = readlinkat(w->folder, w->place.name, at, sizeof at);
        if (length < 0) /* EINVAL: it is no link */
            return errno == EINVAL || errno == ENOENT ? 0 : errno;
        if ((size_t)length == sizeof at)
            return ENAMETOOLONG;
        at[length] = '\0';
    }
    return ELOOP;
}

bool whole_place_same(const whole_place *a, const whole_place *b) {
    if (!a->regular || !b->regular)
        return false;
    if (a->existed && b->existed && a->device == b->device && a->inode == b->inode)
        return true;
    return a->folder_device == b->folder_device && a->folder_inode == b->folder_inode &&
           strcmp(a->name, b->name) == 0;
}

/* ---- what is there --------------------------------------------------------------------------- */

/* Whether the system lets this process write there: it may refuse also to follow the link. */
static int probe(int folder, const char *path, bool exists) {
    const int file = openat(folder, path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file >= 0)
        close(file);
    return file >= 0 || (!exists && errno == ENOENT) ? 0 : errno;
}

/* In a folder such as /tmp only its owner may replace a file. */
static bool is_kept(const struct stat *folder, const struct stat *file) {
    const uid_t user = geteuid();
    return (folder->st_mode & S_ISVTX) != 0 && user != 0 && user != folder->st_uid &&
           user != file->st_uid;
}

/* Compares what lies at the place with what the path led to, `there`; NULL: nothing. */
static int judge_place(whole_file *w, const struct stat *there, whole_rule rule) {
    struct stat folder, file;
    if (fstat(w->folder, &folder) != 0)
        return errno;
    w->place.folder_device = folder.st_dev;
    w->place.folder_inode = folder.st_ino;
    w->place.existed = fstatat(w->folder, w->place.name, &file, AT_SYMLINK_NOFOLLOW) == 0;
    if (!w->place.existed && errno != ENOENT)
        return errno;
    /* A link in /proc may show the name of a file that has none any more. */
    if ((there != NULL) != w->place.existed)
        return ENOENT;
    if (there == NULL)
        return 0;
    if (rule == WHOLE_FILE_USUAL && (there->st_dev != file.st_dev || there->st_ino != file.st_ino))
        return ENOENT;
    w->place.device = file.st_dev;
    w->place.inode = file.st_ino;
    return is_kept(&folder, &file) ? EPERM : 0;
}

/* ---- the temporary file ---------------------------------------------------------------------- */

/* Where the group cannot be kept, the new one gets no more than everybody had. */
static int keep_mode(const whole_file *w, const struct stat *old) {
    struct stat now;
    mode_t mode = old->st_mode & 0777;
    if (fstat(w->file, &now) != 0)
        return errno;
    const bool other_group = now.st_gid != old->st_gid;
    if ((now.st_uid != old->st_uid || other_group) &&
        fchown(w->file, old->st_uid, old->st_gid) != 0 && other_group &&
        fchown(w->file, (uid_t)-1, old->st_gid) != 0)
        mode &= ~(mode_t)0070 | (mode & 0007) << 3;
    return (now.st_mode & 0777) == mode || fchmod(w->file, mode) == 0 ? 0 : errno;
}

/* The names of processes, threads and moments differ; a name that is taken for all that, by a file
   left behind, is passed over. The kernel applies the umask: to set it is not for a library. */
static int make_temporary(whole_file *w, const struct stat *old, whole_rule rule) {
    enum { TRIES = 100 };
    const mode_t mode = rule == WHOLE_FILE_PRIVATE ? 0600
                        : old != NULL              ? old->st_mode & 0777
                                                   : 0666;
    const struct timespec now = clock_date();
    for (int i = 0; i < TRIES && w->file < 0; i++) {
        snprintf(w->temporary, sizeof w->temporary, "%s%ld-%llx-%lx", whole_file_prefix,
                 (long)getpid(), (unsigned long long)(uintptr_t)w, now.tv_nsec + i);
        w->file = openat(w->folder, w->temporary,
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (w->file < 0 && errno != EEXIST)
            break;
    }
    if (w->file < 0) {
        const int error = errno;
        w->temporary[0] = '\0';
        return error;
    }
    return old != NULL && rule == WHOLE_FILE_USUAL ? keep_mode(w, old) : 0;
}

/* ---- the steps ------------------------------------------------------------------------------- */

static int begin_regular(whole_file *w, int folder, const char *path, const struct stat *there,
                         whole_rule rule) {
    int error = rule == WHOLE_FILE_USUAL ? probe(folder, path, there != NULL) : 0;
    if (error == 0)
        error = find_place(w, folder, path, rule == WHOLE_FILE_USUAL);
    if (error == 0)
        error = judge_place(w, there, rule);
    return error == 0 ? make_temporary(w, there, rule) : error;
}

/* What is no regular file is opened when there is something to write: to open a pipe is to wait for
   its reader. */
static int begin_other(whole_file *w, int folder, const char *path, mode_t kind, whole_rule rule) {
    if (S_ISDIR(kind))
        return EISDIR;
    if (rule == WHOLE_FILE_PRIVATE || (!S_ISFIFO(kind) && !S_ISCHR(kind)))
        return ENXIO;
    const int error = find_place(w, folder, path, false);
    if (error != 0)
        return error;
    return faccessat(w->folder, w->place.name, W_OK, AT_EACCESS) == 0 ? 0 : errno;
}

static int try_begin(whole_file *w, int folder, const char *path, whole_rule rule) {
    struct stat there;
    *w = (whole_file){.folder = -1, .file = -1};
    const bool follow = rule == WHOLE_FILE_USUAL;
    const bool exists = fstatat(folder, path, &there, follow ? 0 : AT_SYMLINK_NOFOLLOW) == 0;
    if (!exists && errno != ENOENT)
        return errno;
    w->place.regular = !exists || S_ISREG(there.st_mode) || (!follow && S_ISLNK(there.st_mode));
    const int error = w->place.regular
                          ? begin_regular(w, folder, path, exists ? &there : NULL, rule)
                          : begin_other(w, folder, path, there.st_mode, rule);
    if (error != 0)
        whole_file_drop(w);
    return error;
}

/* Another process may put a file there, or take it away, between two looks. */
int whole_file_begin(whole_file *w, int folder, const char *path, whole_rule rule) {
    enum { TRIES = 20 };
    int error = ENOENT;
    for (int i = 0; i < TRIES && error == ENOENT; i++)
        error = try_begin(w, folder, path, rule);
    return error;
}

int whole_file_write(whole_file *w, const void *bytes, size_t count) {
    if (w->file < 0 && !w->place.regular)
        w->file = openat(w->folder, w->place.name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    return w->file >= 0 ? io_write_all(w->file, bytes, count) : errno;
}

/* Some file systems say only when a file is closed that its data did not arrive. */
static int close_file(whole_file *w) {
    const int file = w->file;
    w->file = -1;
    return file < 0 || close(file) == 0 || errno == EINTR ? 0 : errno;
}

/* Some file systems know no fsync; they have no better to offer. */
static int finish_file(whole_file *w) {
    int error = 0;
    if (w->place.regular && fsync(w->file) != 0 && errno != EINVAL)
        error = errno;
    const int closing = close_file(w);
    return error == 0 ? closing : error;
}

/* To sync the folder makes the new name last; by then the file is there, and it is too late to
   fail. */
static int rename_file(whole_file *w) {
    if (!w->place.regular)
        return 0;
    if (renameat(w->folder, w->temporary, w->folder, w->place.name) != 0)
        return errno;
    w->temporary[0] = '\0';
    w->placed = true;
    fsync(w->folder);
    return 0;
}

int whole_file_commit(whole_file *w) {
    int error = finish_file(w);
    if (error == 0)
        error = rename_file(w);
    whole_file_drop(w);
    return error;
}

/* The old file gets a second name, so that there is one under its own at any moment. */
static void set_aside(whole_file *w) {
    char name[WHOLE_FILE_TEMPORARY];
    if (snprintf(name, sizeof name, "%s.old", w->temporary) < (int)sizeof name &&
        linkat(w->folder, w->place.name, w->folder, name, 0) == 0)
        memcpy(w->aside, name, sizeof name);
}

int whole_file_place(whole_file *w) {
    int error = finish_file(w);
    if (error == 0 && w->place.regular)
        set_aside(w);
    if (error == 0)
        error = rename_file(w);
    return error;
}

void whole_file_settle(whole_file *w, bool keep) {
    if (!keep && w->aside[0] != '\0' && w->placed &&
        renameat(w->folder, w->aside, w->folder, w->place.name) == 0)
        w->aside[0] = '\0';
    else if (!keep && w->placed)
        unlinkat(w->folder, w->place.name, 0);
    whole_file_drop(w);
}

void whole_file_drop(whole_file *w) {
    close_file(w);
    if (w->temporary[0] != '\0')
        unlinkat(w->folder, w->temporary, 0);
    if (w->aside[0] != '\0')
        unlinkat(w->folder, w->aside, 0);
    w->temporary[0] = w->aside[0] = '\0';
    w->placed = false;
    if (w->folder >= 0)
        close(w->folder);
    w->folder = -1;
}

const char *whole_file_error(int error) {
    return error == EISDIR || error == ENXIO ? "it is no regular file" : strerror(error);
}
