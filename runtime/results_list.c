/* Reading all that was measured, and what there is at all. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "runtime/results_base.h"

/* ---- rows ---------------------------------------------------------------------------------- */

static double number(sqlite3_stmt *s, int column) {
    return sqlite3_column_type(s, column) == SQLITE_NULL ? NAN : sqlite3_column_double(s, column);
}

static int64_t count_or_unknown(sqlite3_stmt *s, int column) {
    return sqlite3_column_type(s, column) == SQLITE_NULL ? -1 : sqlite3_column_int64(s, column);
}

static const double *unpack(job *j, sqlite3_stmt *s, int column, int *count) {
    const unsigned char *bytes = sqlite3_column_blob(s, column);
    *count = sqlite3_column_bytes(s, column) / 8;
    double *seconds = job_array(j, (size_t)*count, sizeof *seconds);
    for (int i = 0; i < *count; i++) {
        uint64_t bits = 0;
        for (int b = 0; b < 8; b++)
            bits |= (uint64_t)bytes[8 * i + b] << 8 * b;
        memcpy(&seconds[i], &bits, sizeof bits);
    }
    return *count > 0 ? seconds : NULL;
}

/* A word that no version of ours writes is no reason to trust the row. */
static result_state read_state(sqlite3_stmt *s, int column) {
    const char *word = (const char *)sqlite3_column_text(s, column);
    for (int state = 0; word != NULL && state < RESULT_STATES; state++)
        if (strcmp(word, result_state_words[state]) == 0)
            return (result_state)state;
    return RESULT_FAILED;
}

/* The columns of STATEMENT_LIST. */
enum { COLUMN_PLACE = 0, COLUMN_RESULT = 12 };

static void read_place(job *j, sqlite3_stmt *s, result_row *row) {
    const void *hash = sqlite3_column_blob(s, 3);
    if (hash != NULL && sqlite3_column_bytes(s, 3) == sizeof row->spec.bytes)
        memcpy(row->spec.bytes, hash, sizeof row->spec.bytes);
    row->place = (result_place){
        .family = results_column_text(j, s, 0),
        .name = results_column_text(j, s, 1),
        .model = results_column_text(j, s, 2),
        .generator = results_column_text(j, s, 4),
        .device = {.kind = results_column_text(j, s, 5),
                   .name = results_column_text(j, s, 6),
                   .arch = results_column_text(j, s, 7),
                   .multiprocessors = sqlite3_column_int(s, 8),
                   .memory = sqlite3_column_int64(s, 9)},
        .steps = sqlite3_column_int64(s, 11),
    };
    results_read_size(results_column_text(j, s, 10), &row->place.size);
}

static void read_result(job *j, sqlite3_stmt *s, result *out) {
    const int at = COLUMN_RESULT;
    *out = (result){
        .plan = results_column_text(j, s, at),
        .state = read_state(s, at + 1),
        .reason = results_column_text(j, s, at + 2),
        .median = number(s, at + 4),
        .spread = number(s, at + 5),
        .estimate = number(s, at + 6),
        .compile_seconds = number(s, at + 7),
        .check_seconds = number(s, at + 8),
        .driver = sqlite3_column_int(s, at + 9),
        .compiler = results_column_text(j, s, at + 10),
        .registers = (int)count_or_unknown(s, at + 11),
        .shared_bytes = count_or_unknown(s, at + 12),
        .local_bytes = count_or_unknown(s, at + 13),
        .occupancy = number(s, at + 14),
        .clock_before = number(s, at + 15),
        .clock_after = number(s, at + 16),
        .temperature_before = number(s, at + 17),
        .temperature_after = number(s, at + 18),
        .copy_seconds = number(s, at + 19),
        .sweep = sqlite3_column_int64(s, at + 20),
        .evaluation = sqlite3_column_int(s, at + 21),
        .taken = sqlite3_column_int64(s, at + 22),
        .final = number(s, at + 23),
        .settled = number(s, at + 25),
    };
    out->seconds = unpack(j, s, at + 3, &out->count);
    out->final_seconds = unpack(j, s, at + 24, &out->final_count);
}

/* A list with room for one more: twice as many, whenever their number is a power of two. */
static void *grow(job *j, void *list, size_t count, size_t element) {
    if ((count & (count - 1)) != 0)
        return list;
    void *larger = job_array(j, count > 0 ? 2 * count : 1, element);
    if (count > 0)
        memcpy(larger, list, count * element);
    return larger;
}

static result_row *add_row(job *j, result_rows *rows) {
    rows->list = grow(j, rows->list, rows->count, sizeof *rows->list);
    return &rows->list[rows->count++];
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
        result_row *row = add_row(j, rows);
        read_place(j, s, row);
        read_result(j, s, &row->result);
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
        result_drift *list = grow(j, out->list, out->count, sizeof *list);
        out->list = list;
        list[out->count++] = (result_drift){.plan = results_column_text(j, s, 0),
                                            .evaluation = sqlite3_column_int(s, 1),
                                            .first = sqlite3_column_double(s, 2),
                                            .seconds = sqlite3_column_double(s, 3),
                                            .clock = number(s, 4),
                                            .temperature = number(s, 5),
                                            .taken = sqlite3_column_int64(s, 6)};
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
