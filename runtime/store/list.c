/* Reading all that was measured, and what there is at all. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "runtime/store/base.h"

/* ---- lists --------------------------------------------------------------------------------- */

/* A list with room for one more: twice as many, whenever their number is a power of two. */
static void *grow(job *j, void *list, size_t count, size_t element) {
    if ((count & (count - 1)) != 0)
        return list;
    void *larger = job_array(j, count > 0 ? 2 * count : 1, element);
    if (count > 0)
        memcpy(larger, list, count * element);
    return larger;
}

/* ---- listing ------------------------------------------------------------------------------- */

bool results_connect_to_list(job *j, results *r) {
    const char *why;
    r->refused = (file_mark){0}; /* whoever asks wants to know why */
    switch (results_connect_to_find(j, r, &why)) {
    case CONNECTED:
        return true;
    case CONNECTION_ABSENT:
        return false;
    case CONNECTION_REFUSED:
        break;
    }
    job_fail(j, FAULT_IO, r->path, 0, "tuning results cannot be read: %s", why);
}

static noreturn void fail_to_read(job *j, const results *r, int code) {
    job_fail(j, FAULT_IO, r->path, 0, "tuning results cannot be read: %s",
             results_trouble(j, r, code));
}

static int read_rows(job *j, results *r, const result_filter *f, result_rows *rows) {
    int code;
    int64_t place = 0;
    if (f->place != NULL && !results_find_place(j, r, f->place, &place, &code))
        return code;
    sqlite3_stmt *s = results_statement(r, STATEMENT_LIST, &code);
    if (code != SQLITE_OK)
        return code;
    if (f->place != NULL)
        sqlite3_bind_int64(s, 1, place);
    if (f->name != NULL)
        results_bind_text(s, 2, f->name);
    if (f->sweep > 0)
        sqlite3_bind_int64(s, 3, f->sweep);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        result_row row;
        if (!results_read_row(j, r, s, &row))
            continue;
        rows->list = grow(j, rows->list, rows->count, sizeof *rows->list);
        rows->list[rows->count++] = row;
    }
    sqlite3_reset(s);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

result_rows results_list(job *j, results *r, const result_filter *f) {
    result_rows rows = {0};
    if (r->off != NULL)
        return rows;
    results_enter(j, r);
    const int code = results_connect_to_list(j, r) ? read_rows(j, r, f, &rows) : SQLITE_OK;
    if (code != SQLITE_OK)
        fail_to_read(j, r, code);
    results_leave(j, r);
    return rows;
}

static int read_drifts(job *j, results *r, int64_t sweep, result_drifts *out) {
    int code;
    sqlite3_stmt *s = results_statement(r, STATEMENT_DRIFTS, &code);
    if (code != SQLITE_OK)
        return code;
    sqlite3_bind_int64(s, 1, sweep);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        result_drift drift;
        if (!results_read_drift(j, r, s, &drift))
            continue;
        out->list = grow(j, out->list, out->count, sizeof *out->list);
        out->list[out->count++] = drift;
    }
    sqlite3_reset(s);
    return code == SQLITE_DONE ? SQLITE_OK : code;
}

result_drifts results_drifts(job *j, results *r, int64_t sweep) {
    result_drifts out = {0};
    if (r->off != NULL)
        return out;
    results_enter(j, r);
    const int code = results_connect_to_list(j, r) ? read_drifts(j, r, sweep, &out) : SQLITE_OK;
    if (code != SQLITE_OK)
        fail_to_read(j, r, code);
    results_leave(j, r);
    return out;
}

/* ---- what there is ------------------------------------------------------------------------- */

static void count_all(job *j, results *r, results_facts *out) {
    int code;
    sqlite3_stmt *s = results_statement(r, STATEMENT_COUNT, &code);
    if (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        out->results = sqlite3_column_int64(s, 0);
        out->specs = sqlite3_column_int64(s, 1);
        out->devices = sqlite3_column_int64(s, 2);
        sqlite3_reset(s);
    } else {
        out->trouble = results_trouble(j, r, code);
    }
}

/* Why a file that is not there cannot be made: the nearest folder above it that is says so. */
static const char *judge_parent(job *j, const char *folder) {
    char *path = job_copy(j, folder, strlen(folder));
    for (;;) {
        if (faccessat(AT_FDCWD, job_print(j, "%s/.", path), W_OK | X_OK, AT_EACCESS) == 0)
            return NULL;
        char *slash = strrchr(path, '/');
        if (errno != ENOENT || slash == NULL || path[1] == '\0')
            return strerror(errno);
        slash[slash == path] = '\0'; /* of the root, the slash is the name */
    }
}

void results_examine(job *j, results *r, results_facts *out) {
    struct stat facts;
    *out = (results_facts){.path = r->path, .reason = r->reason, .trouble = r->off};
    if (r->off != NULL)
        return;
    results_enter(j, r);
    const char *why;
    r->refused = (file_mark){0};
    const connection c = results_connect_to_find(j, r, &why);
    out->exists = c != CONNECTION_ABSENT;
    out->trouble = c == CONNECTION_REFUSED ? why : NULL;
    if (c == CONNECTED)
        count_all(j, r, out);
    if (out->exists && lstat(r->path, &facts) == 0)
        out->bytes = facts.st_size;
    if (out->trouble == NULL && c == CONNECTED && sqlite3_db_readonly(r->database, "main") == 1)
        out->trouble = "it is read-only";
    if (out->trouble == NULL)
        out->trouble = judge_parent(j, r->folder);
    results_leave(j, r);
}
