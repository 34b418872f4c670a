/* Marks, the names that are ours, and the sweep. */
#define _DEFAULT_SOURCE /* flock, syscall */

#include "runtime/compile/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

enum { STALE_SECONDS = 24 * 60 * 60, MARK_BYTES = 256, UNIQUE = 6 };

/* ---- names ---------------------------------------------------------------------------------- */

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

/* What compilers make beside what they are told to, since the folder is their TMPDIR: files of GCC
   ("ccA1b2C3.s"), of Clang ("kernel-0a1b2c.o") and of LLVM's linker ("kernel.so.tmp0a1b2c3"). */
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

/* ---- removing ------------------------------------------------------------------------------- */

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

/* By the system's own call, since readdir may allocate, which no handler of signals may. False
   where the folder cannot be read. */
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

/* The mark is closed before it is removed: an open file leaves another behind on NFS. */
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

/* ---- marks ---------------------------------------------------------------------------------- */

/* Locks count on one machine, until it starts again. */
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

/* Complete only after it was locked: who finds it complete and not locked finds it left behind. */
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

/* Whether the mark is one of ours for this very name; *here: made on this machine since it was
   started. */
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

/* ---- the sweep ------------------------------------------------------------------------------ */

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
