/* The writer of Matrix Market files. */
#include <fcntl.h>
#include <locale.h>
#include <math.h>

#include "base/text.h"
#include "base/whole_file.h"
#include "matrix/market.h"

enum { PIECE = 1 << 16 }; /* bytes written at once */

/* A temporary file that is removed unless it is finished. */
typedef struct writer {
    job *job;
    const char *path;
    whole_file file;
    locale_t plain;
    text text;
} writer;

static void drop(void *what) {
    whole_file_drop(&((writer *)what)->file);
}

static void drop_locale(void *plain) {
    freelocale((locale_t)plain);
}

static noreturn void cannot_write(const writer *w, int error) {
    job_fail(w->job, FAULT_IO, w->path, 0, "cannot write: %s", whole_file_error(error));
}

static void write_text(writer *w) {
    const int error = whole_file_write(&w->file, w->text.data, w->text.length);
    if (error != 0)
        cannot_write(w, error);
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
    *w = (writer){.job = j, .path = path, .text = text_new(j)};
    w->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (w->plain == (locale_t)0)
        job_fail(j, FAULT_MEMORY, NULL, 0, "out of memory");
    job_defer(j, drop_locale, (void *)w->plain);
    int error = whole_file_begin(&w->file, AT_FDCWD, path, WHOLE_FILE_USUAL);
    if (error != 0)
        cannot_write(w, error);
    job_defer(j, drop, w);
    write_entries(w, m);
    error = whole_file_commit(&w->file);
    if (error != 0)
        cannot_write(w, error);
    job_keep(j, w);
    job_keep(j, (void *)w->plain);
    drop_locale((void *)w->plain);
}
