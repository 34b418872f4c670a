/* The scratch folder: choosing its place, making it, its files, its mark, and the sweep of those
   that were left behind. */
#define _GNU_SOURCE /* fallocate, mkdtemp, realpath, flock, syscall */

#include "runtime/compile/scratch.h"

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
#include "runtime/compile/command.h"
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
    if (s->mark >= 0)
        close(s->mark);
    if (s->inside >= 0)
        close(s->inside);
    if (s->above >= 0)
        close(s->above);
    s->above = s->inside = s->mark = -1;
}

/* If a signal handler has the folder, the handler removes it. */
static void remove_folder(void *what) {
    scratch *s = what;
    pending_hold hold;
    if (!pending_enter(s->pending, &hold))
        return;
    scratch_clear(s->above, s->inside, &s->mark, s->name);
    pending_end(s->pending, &hold);
    close_all(s);
}

/* Errno, or 0: the folder exists, marked and locked. */
static int make_here(scratch *s, const char *above, char *path) {
    s->above = s->inside = s->mark = -1;
    s->above = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (s->above < 0 || mkdtemp(path) == NULL)
        return errno;
    strcpy(s->name, strrchr(path, '/') + 1);
    s->folder = path;
    s->inside = openat(s->above, s->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int error = s->inside < 0 ? errno : scratch_mark(s->inside, s->name, &s->mark);
    if (error != 0 && s->inside >= 0)
        scratch_clear(s->above, s->inside, &s->mark, s->name);
    else if (error != 0)
        unlinkat(s->above, s->name, AT_REMOVEDIR);
    return error;
}

/* The same with signals blocked; NULL with *error set. */
static scratch *make(job *j, const char *above, int *error) {
    scratch *s = job_alloc(j, sizeof *s);
    char *path = job_print(j, "%s/%sXXXXXX", strcmp(above, "/") == 0 ? "" : above, SCRATCH_PREFIX);
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
        s->pending->mark = s->mark;
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
    job_keep(j, s);
    remove_folder(s);
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

enum { STALE_SECONDS = 24 * 60 * 60, MARK_BYTES = 256, UNIQUE = 6 };

static bool is_unique_part(const char *text, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const char c = text[i];
        if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')))
            return false;
    }
    return true;
}

static bool is_folder_name(const char *name) {
    const size_t begin = sizeof SCRATCH_PREFIX - 1;
    return strncmp(name, SCRATCH_PREFIX, begin) == 0 && strlen(name) == begin + UNIQUE &&
           is_unique_part(name + begin, UNIQUE);
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
    int ours, others; /* entries; the mark is neither */
} survey;

static void look_at(int folder, const char *name, bool remove, survey *s) {
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, SCRATCH_MARK) == 0)
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

/* The mark is closed first: on NFS, removing an open file leaves another behind. */
void scratch_clear(int parent, int folder, int *mark, const char *name) {
    survey s = {.ours = 1};
    for (int i = 0; i < 4 && s.ours > 0; i++)
        if (!look_through(folder, true, &s))
            return;
    if (*mark >= 0)
        close(*mark);
    *mark = -1;
    unlinkat(folder, SCRATCH_MARK, 0);
    unlinkat(parent, name, AT_REMOVEDIR);
}

/* The boot's id: locks count on one machine until it is restarted. */
static void read_boot(char boot[64]) {
    const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t got = file >= 0 ? io_read_all(file, boot, 63) : 0;
    boot[got > 0 ? got : 0] = '\0';
    boot[strcspn(boot, "\n")] = '\0';
    if (file >= 0)
        close(file);
}

static int describe(char text[MARK_BYTES], const char *name) {
    return snprintf(text, MARK_BYTES,
                    "stencilgen 1: files of a moment; the folder is removed when nobody uses it\n"
                    "%s\n",
                    name);
}

/* It is complete only after it was locked, so a complete mark without a lock was left behind. */
int scratch_mark(int folder, const char *name, int *mark) {
    char text[MARK_BYTES], boot[64];
    int length = describe(text, name);
    read_boot(boot);
    length += snprintf(text + length, sizeof text - (size_t)length, "%s\n", boot);
    *mark = openat(folder, SCRATCH_MARK, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*mark < 0)
        return errno;
    flock(*mark, LOCK_EX | LOCK_NB); /* where there are no locks, age must do */
    return io_write_all(*mark, text, (size_t)length);
}

/* Whether the mark is ours, for this very name; *here: it was made on this machine since it
   booted. */
static bool is_marked(int mark, const char *name, bool *here) {
    char text[MARK_BYTES], expected[MARK_BYTES], boot[64];
    const ssize_t got = io_read_all(mark, text, sizeof text - 1);
    const size_t length = (size_t)describe(expected, name);
    if (got < (ssize_t)length || memcmp(text, expected, length) != 0)
        return false;
    text[got] = '\0';
    char *rest = text + length, *end = strchr(rest, '\n');
    if (end == NULL || end[1] != '\0')
        return false;
    *end = '\0';
    read_boot(boot);
    *here = boot[0] != '\0' && strcmp(rest, boot) == 0;
    return true;
}

static bool is_left_behind(int mark, bool here, const struct stat *folder) {
    if (flock(mark, LOCK_EX | LOCK_NB) == 0) {
        if (here)
            return true;
    } else if (errno == EWOULDBLOCK) {
        return false;
    }
    return time(NULL) - folder->st_mtime > STALE_SECONDS;
}

static void sweep_one(int parent, const char *name) {
    struct stat facts, of_mark;
    survey s;
    bool here = false;
    const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0)
        return;
    int mark = openat(folder, SCRATCH_MARK, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const bool ours = mark >= 0 && fstat(folder, &facts) == 0 && fstat(mark, &of_mark) == 0 &&
                      facts.st_uid == geteuid() && (facts.st_mode & 0777) == 0700 &&
                      S_ISREG(of_mark.st_mode) && of_mark.st_uid == geteuid() &&
                      of_mark.st_nlink == 1 && is_marked(mark, name, &here);
    if (ours && is_left_behind(mark, here, &facts) && look_through(folder, false, &s) &&
        s.others == 0)
        scratch_clear(parent, folder, &mark, name);
    if (mark >= 0)
        close(mark);
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
