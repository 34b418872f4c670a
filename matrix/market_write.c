/* The writer of Matrix Market files. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "matrix/market.h"

enum { PIECE = 1 << 16 }; /* bytes written at once */

/* A temporary file that is removed unless it is finished. */
typedef struct writer {
    job *job;
    const char *path, *temporary;
    int file;
    uint64_t written;
    locale_t plain;
    text text;
} writer;

static void drop(void *what) {
    const writer *w = what;
    close(w->file);
    unlink(w->temporary);
}

static void drop_locale(void *plain) {
    freelocale((locale_t)plain);
}

static noreturn void cannot_write(const writer *w, const char *why) {
    job_fail(w->job, FAULT_IO, w->path, 0, "cannot write: %s", why);
}

/* A device such as /dev/null must not be replaced: renaming would take it away from everybody. A
   temporary's name is made of the process, the thread and the time; a name that is taken all the
   same is skipped. */
static void open_temporary(writer *w) {
    enum { TRIES = 100 };
    struct stat facts;
    struct timespec now;
    if (lstat(w->path, &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISLNK(facts.st_mode))
        cannot_write(w, "it is no regular file");
    clock_gettime(CLOCK_REALTIME, &now);
    for (int i = 0; i < TRIES; i++) {
        w->temporary = job_print(w->job, "%s.%ld-%llx-%lx", w->path, (long)getpid(),
                                 (unsigned long long)(uintptr_t)w, now.tv_nsec + i);
        w->file = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (w->file >= 0 || errno != EEXIST)
            break;
    }
    if (w->file < 0)
        cannot_write(w, strerror(errno));
    job_defer(w->job, drop, w);
}

/* Beyond this limit a write would raise a signal that ends the process. */
static bool beyond_limit(uint64_t size) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           size > limit.rlim_cur;
}

static void write_text(writer *w) {
    w->written += w->text.length;
    if (beyond_limit(w->written))
        cannot_write(w, strerror(EFBIG));
    for (size_t done = 0; done < w->text.length;) {
        const ssize_t count = write(w->file, w->text.data + done, w->text.length - done);
        if (count < 0 && errno != EINTR)
            cannot_write(w, strerror(errno));
        done += count > 0 ? (size_t)count : 0;
    }
    w->text.length = 0;
}

/* Writes 15 digits where they read back as the same number, else 17. */
static void add_number(writer *w, double value) {
    const size_t start = w->text.length;
    double back = 0;
    bool large;
    text_number(&w->text, value, 15);
    if (isfinite(value) &&
        (!market_number(w->text.data + start, (void *)w->plain, &back, &large) || back != value)) {
        w->text.length = start;
        text_number(&w->text, value, 17);
    }
}

static void write_entries(writer *w, const matrix *m) {
    text_printf(&w->text, "%%%%MatrixMarket matrix coordinate real general\n%lld %lld %lld\n",
                (long long)m->rows, (long long)m->columns, (long long)m->entries);
    for (int64_t i = 0; i < m->entries; i++) {
        text_printf(&w->text, "%lld %lld ", (long long)m->row[i] + 1, (long long)m->column[i] + 1);
        add_number(w, m->value[i]);
        text_add(&w->text, "\n");
        if (w->text.length >= PIECE)
            write_text(w);
    }
    write_text(w);
}

void market_write(job *j, const matrix *m, const char *path) {
    writer *w = job_alloc(j, sizeof *w);
    *w = (writer){.job = j, .path = path, .file = -1, .text = text_new(j)};
    w->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (w->plain == (locale_t)0)
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
    job_defer(j, drop_locale, (void *)w->plain);
    open_temporary(w);
    write_entries(w, m);
    /* Some file systems have no fsync. Nothing better can be done there. */
    if ((fsync(w->file) != 0 && errno != EINVAL) || rename(w->temporary, path) != 0)
        cannot_write(w, strerror(errno));
    job_keep(j, w);
    close(w->file);
    job_keep(j, (void *)w->plain);
    drop_locale((void *)w->plain);
}
