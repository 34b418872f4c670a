/* Where the folder is, making it, and its files. */
#define _GNU_SOURCE /* fallocate, mkdtemp, realpath */

#include "runtime/compile/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/io.h"
#include "runtime/compile/command.h"
#include "runtime/files/paths.h"

/* What a compilation takes: the source, the assembler's text, objects; and less than any takes. */
enum { ROOM = 4 << 20, LITTLE_ROOM = 64 << 10 };

/* ---- errors --------------------------------------------------------------------------------- */

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

/* ---- the folder ----------------------------------------------------------------------------- */

static void close_all(scratch *s) {
    if (s->mark >= 0)
        close(s->mark);
    if (s->inside >= 0)
        close(s->inside);
    if (s->above >= 0)
        close(s->above);
    s->above = s->inside = s->mark = -1;
}

/* Where a handler of signals has the folder, it removes it. */
static void remove_folder(void *what) {
    scratch *s = what;
    pending_hold hold;
    if (!pending_enter(s->pending, &hold))
        return;
    scratch_clear(s->above, s->inside, &s->mark, s->name);
    pending_end(s->pending, &hold);
    close_all(s);
}

/* Errno, or 0; then the folder is there, marked and locked. */
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

/* The same, with signals held back; NULL with *error set. */
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

/* ---- room ----------------------------------------------------------------------------------- */

/* Errno, or 0 where the folder takes a file of `size` bytes. The system is asked to set them aside;
   where it does not know how, they are written. */
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

/* ---- places --------------------------------------------------------------------------------- */

/* NULL where the cache's folder does not serve, for whatever reason: TMPDIR is left. */
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

/* What is loaded from there is code: whoever can replace it can have any code run. */
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

/* ---- files ---------------------------------------------------------------------------------- */

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
