/* The scratch folder: choosing its place, making it, its files, and the sweep of those
   that were left behind. */
#define _GNU_SOURCE /* fallocate, mkdtemp, realpath, flock, syscall */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "runtime/compile/compilers.h"
#include "runtime/files/paths.h"

/* ROOM is what a compilation takes (source, assembler's text, objects), LITTLE_ROOM less than
   any takes. */
enum { ROOM = 4 << 20, LITTLE_ROOM = 64 << 10 };

static bool is_want_of_room(int error) {
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

static const char *cure_of(int error) {
    return error == EFBIG ? "raise the file-size limit (ulimit -f)"
                          : "make room there, or let TMPDIR name another folder";
}

static noreturn void fail_for_room(job *j, const char *folder, int error) {
    job_fail(j, FAULT_IO, folder, 0,
             "there is no room for temporary files in this folder (TMPDIR): %s; %s",
             strerror(error), cure_of(error));
}

static noreturn void cannot(job *j, const scratch *s, const char *what, const char *name,
                            int error) {
    if (is_want_of_room(error))
        fail_for_room(j, s->parent != NULL ? s->parent : s->folder, error);
    job_fail(j, FAULT_IO, scratch_at(j, s, name), 0, "cannot %s this file: %s", what,
             strerror(error));
}

static void close_all(scratch *s) {
    if (s->inside >= 0)
        close(s->inside);
    if (s->above >= 0)
        close(s->above);
    s->above = s->inside = -1;
}

/* If a signal handler has the folder, the handler removes it. */
static void remove_folder(void *what) {
    scratch *s = what;
    pending_hold hold;
    if (!pending_enter(s->pending, &hold))
        return;
    scratch_clear(s->above, s->inside, s->name);
    pending_end(s->pending, &hold);
    close_all(s);
}

/* Errno, or 0: the folder exists and, where there are locks, is locked. It has no file before that.
 */
static int make_here(scratch *s, const char *above, char *path) {
    s->above = s->inside = -1;
    s->above = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->above < 0 || mkdtemp(path) == NULL)
        return errno;
    strcpy(s->name, strrchr(path, '/') + 1);
    s->folder = path;
    s->inside = openat(s->above, s->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int error = s->inside < 0 ? errno : 0;
    if (error != 0)
        unlinkat(s->above, s->name, AT_REMOVEDIR);
    else
        flock(s->inside, LOCK_EX); /* others hold it for a moment only */
    return error;
}

/* The same with signals blocked; NULL with *error set. */
static scratch *make(job *j, const char *above, int *error) {
    scratch *s = job_alloc(j, sizeof *s);
    char begin[SCRATCH_BEGIN + 1];
    scratch_begin(begin);
    char *path = job_print(j, "%s/%sXXXXXX", strcmp(above, "/") == 0 ? "" : above, begin);
    pending_hold hold;
    *error = EINTR;
    if (!pending_begin(&s->pending, &hold))
        return NULL;
    *error = make_here(s, above, path);
    if (*error != 0) {
        pending_end(s->pending, &hold);
        close_all(s);
        return NULL;
    }
    if (s->pending != NULL) {
        s->pending->parent = s->above;
        s->pending->folder = s->inside;
        strcpy(s->pending->name, s->name);
    }
    pending_leave(s->pending, &hold);
    job_defer(j, remove_folder, s);
    return s;
}

/* Errno, or 0: the folder has room for a file of `size` bytes. The file is allocated or, if the
   file system cannot do that, written. */
static int try_room(const scratch *s, size_t size) {
    static const char nothing[1 << 12];
    unlinkat(s->inside, SCRATCH_ROOM, 0);
    const int file =
        openat(s->inside, SCRATCH_ROOM, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return errno;
    const io_guard guard = io_guard_begin();
    int error = fallocate(file, 0, 0, (off_t)size) == 0 ? 0 : errno;
    io_guard_end(&guard);
    if (error == EOPNOTSUPP || error == ENOSYS) {
        error = 0;
        for (size_t done = 0; done < size && error == 0; done += sizeof nothing)
            error = io_write_all(file, nothing, sizeof nothing);
    }
    close(file);
    unlinkat(s->inside, SCRATCH_ROOM, 0);
    return error;
}

void scratch_demand_room(job *j, const scratch *s, int code, const char *printed) {
    int error = try_room(s, LITTLE_ROOM);
    if (!is_want_of_room(error))
        error = host_command_room(code, printed);
    if (is_want_of_room(error))
        fail_for_room(j, s->parent != NULL ? s->parent : s->folder, error);
}

/* NULL: the cache's folder cannot be used, and TMPDIR is next. */
static scratch *open_in_cache(job *j, const scratch_place *place) {
    struct statvfs system;
    int error;
    if (place == NULL || place->cache == NULL || user_folder_make(j, place->cache) != 0)
        return NULL;
    const char *above = file_real(j, place->cache);
    if (above == NULL || user_folder_danger(j, above) != NULL || statvfs(above, &system) != 0 ||
        (system.f_flag & ST_NOEXEC) != 0)
        return NULL;
    scratch *s = make(j, above, &error);
    if (s == NULL || try_room(s, ROOM) == 0)
        return s;
    scratch_close(j, s);
    return NULL;
}

static const char *temporary_folder(void) {
    const char *named = user_variable("TMPDIR");
    return named != NULL ? named : "/tmp";
}

/* The files there are code: who can replace them can run any code. */
static scratch *open_in_tmpdir(job *j) {
    const char *parent = temporary_folder();
    const char *above = file_real(j, user_absolute(j, parent));
    int error = errno;
    const char *danger = above != NULL ? user_folder_danger(j, above) : NULL;
    if (danger != NULL)
        job_fail(
            j, FAULT_IO, parent, 0,
            "compiled code is not put into this folder (TMPDIR), where others could replace it: "
            "%s; let TMPDIR name a folder that you alone may write to, or /tmp",
            danger);
    scratch *s = above != NULL ? make(j, above, &error) : NULL;
    if (s == NULL && is_want_of_room(error))
        fail_for_room(j, parent, error);
    if (s == NULL)
        job_fail(j, FAULT_IO, parent, 0,
                 "cannot make a temporary folder here: %s; TMPDIR names another place",
                 strerror(error));
    s->parent = parent;
    return s;
}

scratch *scratch_open(job *j, scratch_place *place) {
    if (place != NULL && !atomic_exchange(&place->swept, true)) {
        if (place->cache != NULL)
            scratch_sweep(place->cache);
        scratch_sweep(user_absolute(j, temporary_folder()));
    }
    scratch *s = open_in_cache(j, place);
    return s != NULL ? s : open_in_tmpdir(j);
}

void scratch_close(job *j, scratch *s) {
    job_undo(j, s);
}

const char *scratch_at(job *j, const scratch *s, const char *name) {
    return job_print(j, "%s/%s", s->folder, name);
}

void scratch_write(job *j, const scratch *s, const char *name, const scratch_piece *pieces,
                   int count) {
    const int file =
        openat(s->inside, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        cannot(j, s, "make", name, errno);
    int error = 0;
    for (int i = 0; i < count && error == 0; i++)
        error = io_write_all(file, pieces[i].data, pieces[i].size);
    if (close(file) != 0 && error == 0 && errno != EINTR)
        error = errno;
    if (error != 0)
        cannot(j, s, "write", name, error);
}

static void close_file(void *what) {
    close(*(const int *)what);
}

void *scratch_read(job *j, const scratch *s, const char *name, size_t *size) {
    struct stat facts;
    int file = openat(s->inside, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        cannot(j, s, "open", name, errno);
    int *held = job_alloc(j, sizeof *held);
    *held = file;
    job_defer(j, close_file, held);
    if (fstat(file, &facts) != 0)
        cannot(j, s, "read", name, errno);
    char *data = job_alloc(j, (size_t)facts.st_size + 1);
    const ssize_t got = io_read_all(file, data, (size_t)facts.st_size);
    if (got < 0)
        cannot(j, s, "read", name, errno);
    data[got] = '\0';
    *size = (size_t)got;
    close(file);
    job_keep(j, held);
    return data;
}

enum { STALE_SECONDS = 24 * 60 * 60, UNIQUE = 6 };

static const char unknown[] = "unknown-";

/* By the boot's id: locks count on one machine until it is restarted. */
void scratch_begin(char begin[SCRATCH_BEGIN + 1]) {
    char id[SCRATCH_BEGIN - sizeof SCRATCH_PREFIX + 1] = "";
    const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t got = file >= 0 ? io_read_all(file, id, sizeof id - 1) : 0;
    if (file >= 0)
        close(file);
    snprintf(begin, SCRATCH_BEGIN + 1, "%s%s-", SCRATCH_PREFIX,
             got == sizeof id - 1 ? id : unknown);
}

static bool is_unique_part(const char *text, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char c = text[i];
        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')))
            return false;
    }
    return true;
}

static bool is_folder_name(const char *name) {
    const size_t prefix = sizeof SCRATCH_PREFIX - 1;
    return strncmp(name, SCRATCH_PREFIX, prefix) == 0 && strlen(name) == SCRATCH_BEGIN + UNIQUE &&
           name[SCRATCH_BEGIN - 1] == '-' && is_unique_part(name + SCRATCH_BEGIN, UNIQUE);
}

/* The temporary files of compilers, whose TMPDIR the folder is: of GCC ("ccA1b2C3.s"), of Clang
   ("kernel-0a1b2c.o") and of LLVM's linker ("kernel.so.tmp0a1b2c3"). */
static bool is_of_compiler(const char *name) {
    static const struct {
        const char *begin;
        size_t unique;
        bool dot;
    } kinds[] = {{"cc", 6, true}, {"kernel-", 6, true}, {SCRATCH_OBJECT ".tmp", 7, false}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const size_t begin = strlen(kinds[i].begin), end = begin + kinds[i].unique;
        if (strncmp(name, kinds[i].begin, begin) == 0 && strlen(name) >= end &&
            is_unique_part(name + begin, kinds[i].unique) &&
            name[end] == (kinds[i].dot ? '.' : '\0'))
            return true;
    }
    return false;
}

static bool is_ours(const char *name) {
    static const char *const names[] = {SCRATCH_SOURCE, SCRATCH_OBJECT, SCRATCH_ROOM};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return is_of_compiler(name);
}

typedef struct survey {
    int ours, others; /* entries */
} survey;

static void look_at(int folder, const char *name, bool remove, survey *s) {
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return;
    if (!is_ours(name))
        s->others++;
    else if (!remove || unlinkat(folder, name, 0) == 0)
        s->ours++;
    else
        s->others++; /* a folder of that name, say */
}

/* By the system call, because readdir may allocate, which a signal handler must not. False: the
   folder cannot be read. */
static bool look_through(int folder, bool remove, survey *s) {
    enum { LENGTH_AT = 16, NAME_AT = 19 }; /* of struct linux_dirent64 */
    char entries[4096];
    *s = (survey){0};
    if (lseek(folder, 0, SEEK_SET) != 0)
        return false;
    for (;;) {
        const long got = syscall(SYS_getdents64, folder, entries, sizeof entries);
        if (got <= 0)
            return got == 0;
        for (long at = 0; at < got;) {
            uint16_t length;
            memcpy(&length, entries + at + LENGTH_AT, sizeof length);
            look_at(folder, entries + at + NAME_AT, remove, s);
            at += length;
        }
    }
}

void scratch_clear(int parent, int folder, const char *name) {
    survey s = {.ours = 1};
    for (int i = 0; i < 4 && s.ours > 0; i++)
        if (!look_through(folder, true, &s))
            return;
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* Whether no process uses the folder. One that is empty may be about to be locked. */
static bool is_left_behind(int folder, const char *name, const struct stat *facts, int files) {
    char begin[SCRATCH_BEGIN + 1];
    scratch_begin(begin);
    const bool here = strncmp(name, begin, SCRATCH_BEGIN) == 0 && strstr(begin, unknown) == NULL;
    const bool locked = flock(folder, LOCK_EX | LOCK_NB) == 0;
    if (locked && here && files > 0)
        return true;
    return (locked || errno != EWOULDBLOCK) && time(NULL) - facts->st_mtime > STALE_SECONDS;
}

static void sweep_one(int parent, const char *name) {
    struct stat facts;
    survey s;
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return;
    if (fstat(folder, &facts) == 0 && facts.st_uid == geteuid() && (facts.st_mode & 0777) == 0700 &&
        look_through(folder, false, &s) && s.others == 0 &&
        is_left_behind(folder, name, &facts, s.ours))
        scratch_clear(parent, folder, name);
    close(folder);
}

void scratch_sweep(const char *parent) {
    DIR *listing = opendir(parent);
    if (listing == NULL)
        return;
    for (const struct dirent *e; (e = readdir(listing)) != NULL;)
        if (is_folder_name(e->d_name))
            sweep_one(dirfd(listing), e->d_name);
    closedir(listing);
}
