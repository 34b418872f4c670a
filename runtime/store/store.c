/* Writing results and sweeps: each call is one short transaction. */
#include <assert.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "runtime/store/base.h"

typedef struct storing {
    results *r;
    const result_place *place;
    const char *size; /* of the place, as a text */
    digest spec, device;
    int64_t id; /* of the place, once it is there */
    const result *result;
    blob seconds;
    double median, spread;
    const char *options;
    int64_t candidates, sweep;
    const result_final *finals;
    blob *rounds; /* of each of them */
    int final_count;
    const result_drift *drift;
    int64_t before; /* sweeps of lower numbers are looked for */
} storing;

int64_t results_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void describe(job *j, storing *s) {
    const result_place *p = s->place;
    assert(result_place_flaw(p) == NULL);
    s->size = results_size_text(j, &p->size);
    s->spec = results_spec(p->family, p->model);
    s->device = results_device_key(&p->device);
}

/* ---- the place ----------------------------------------------------------------------------- */

/* STATEMENT_ADD_PLACE and STATEMENT_FIND_PLACE take the same. */
static void bind_place(sqlite3_stmt *to, const storing *s) {
    results_bind_digest(to, 1, &s->spec);
    results_bind_digest(to, 2, &s->device);
    results_bind_text(to, 3, s->place->generator);
    results_bind_text(to, 4, s->size);
    sqlite3_bind_int64(to, 5, s->place->steps);
}

static int add_spec(storing *s) {
    int code;
    sqlite3_stmt *to = results_statement(s->r, STATEMENT_ADD_SPEC, &code);
    if (code != SQLITE_OK)
        return code;
    results_bind_digest(to, 1, &s->spec);
    results_bind_text(to, 2, s->place->family);
    results_bind_text(to, 3, s->place->name);
    results_bind_text(to, 4, s->place->model);
    return results_step(to);
}

static int add_device(storing *s) {
    const result_device *d = &s->place->device;
    int code;
    sqlite3_stmt *to = results_statement(s->r, STATEMENT_ADD_DEVICE, &code);
    if (code != SQLITE_OK)
        return code;
    results_bind_digest(to, 1, &s->device);
    results_bind_text(to, 2, d->kind);
    results_bind_text(to, 3, d->name);
    results_bind_text(to, 4, d->arch);
    sqlite3_bind_int(to, 5, d->multiprocessors);
    sqlite3_bind_int64(to, 6, d->memory);
    return results_step(to);
}

/* s->id stays 0 where there is none. */
static int find_place(storing *s) {
    int code;
    sqlite3_stmt *to = results_statement(s->r, STATEMENT_FIND_PLACE, &code);
    if (code != SQLITE_OK)
        return code;
    bind_place(to, s);
    code = sqlite3_step(to);
    if (code == SQLITE_ROW)
        s->id = sqlite3_column_int64(to, 0);
    sqlite3_reset(to);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

static int need_place(storing *s) {
    int code = find_place(s);
    if (code != SQLITE_OK || s->id != 0)
        return code;
    if ((code = add_spec(s)) != SQLITE_OK || (code = add_device(s)) != SQLITE_OK)
        return code;
    sqlite3_stmt *to = results_statement(s->r, STATEMENT_ADD_PLACE, &code);
    if (code != SQLITE_OK)
        return code;
    bind_place(to, s);
    code = results_step(to);
    if (code == SQLITE_OK)
        code = find_place(s);
    return code == SQLITE_OK && s->id == 0 ? SQLITE_CORRUPT : code;
}

/* ---- transactions -------------------------------------------------------------------------- */

static int try_transaction(storing *s, int (*body)(storing *)) {
    int code = results_run(s->r, STATEMENT_BEGIN);
    if (code == SQLITE_OK)
        code = body(s);
    if (code == SQLITE_OK)
        code = results_run(s->r, STATEMENT_COMMIT);
    if (code != SQLITE_OK && !sqlite3_get_autocommit(s->r->database))
        results_run(s->r, STATEMENT_ROLLBACK);
    return code;
}

/* Twice where the file was damaged or moved meanwhile: connecting anew sets that right. */
static void transact(job *j, storing *s, int (*body)(storing *)) {
    results *r = s->r;
    const char *why = NULL;
    for (int attempt = 0; attempt < 2; attempt++) {
        why = results_connect_to_store(j, r);
        if (why != NULL)
            break;
        s->id = 0;
        const int code = try_transaction(s, body);
        if (code == SQLITE_OK)
            return;
        why = results_trouble(j, r, code);
        if (!results_may_reconnect(code))
            break;
        results_disconnect(r);
    }
    job_fail(j, FAULT_IO, r->path[0] != '\0' ? r->path : NULL, 0,
             "tuning results cannot be kept: %s", why);
}

static void store(job *j, storing *s, int (*body)(storing *)) {
    results_enter(j, s->r);
    transact(j, s, body);
    results_leave(j, s->r);
}

/* ---- results ------------------------------------------------------------------------------- */

/* NULL where it is unknown: SQLite has no NaN. */
static void bind_number(sqlite3_stmt *to, int place, double value) {
    if (isfinite(value))
        sqlite3_bind_double(to, place, value);
}

static void bind_count(sqlite3_stmt *to, int place, int64_t value) {
    if (value >= 0)
        sqlite3_bind_int64(to, place, value);
}

static void bind_result(sqlite3_stmt *to, const storing *s) {
    const result *r = s->result;
    const double numbers[] = {s->median, s->spread, r->estimate, r->compile_seconds,
                              r->check_seconds};
    const double conditions[] = {r->occupancy,          r->clock_before,      r->clock_after,
                                 r->temperature_before, r->temperature_after, r->copy_seconds};
    sqlite3_bind_int64(to, 1, s->id);
    results_bind_text(to, 2, r->plan);
    results_bind_text(to, 3, result_state_words[r->state]);
    results_bind_text(to, 4, r->reason != NULL ? r->reason : "");
    if (s->seconds.size > 0)
        sqlite3_bind_blob64(to, 5, s->seconds.data, s->seconds.size, SQLITE_STATIC);
    else
        sqlite3_bind_zeroblob(to, 5, 0);
    for (int i = 0; i < 5; i++)
        bind_number(to, 6 + i, numbers[i]);
    sqlite3_bind_int(to, 11, r->driver);
    results_bind_text(to, 12, r->compiler != NULL ? r->compiler : "");
    bind_count(to, 13, r->registers);
    bind_count(to, 14, r->shared_bytes);
    bind_count(to, 15, r->local_bytes);
    for (int i = 0; i < 6; i++)
        bind_number(to, 16 + i, conditions[i]);
    if (r->sweep > 0)
        sqlite3_bind_int64(to, 22, r->sweep);
    sqlite3_bind_int(to, 23, r->evaluation);
    sqlite3_bind_int64(to, 24, r->taken > 0 ? r->taken : results_now());
}

static int add_result(storing *s) {
    int code = need_place(s);
    if (code != SQLITE_OK)
        return code;
    sqlite3_stmt *to = results_statement(s->r, STATEMENT_ADD_RESULT, &code);
    if (code != SQLITE_OK)
        return code;
    bind_result(to, s);
    return results_step(to);
}

/* The same bytes on every machine. */
static blob pack(job *j, const double *seconds, int count) {
    unsigned char *bytes = job_array(j, (size_t)count, 8);
    for (int i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &seconds[i], sizeof bits);
        for (int b = 0; b < 8; b++)
            bytes[8 * i + b] = (unsigned char)(bits >> 8 * b);
    }
    return (blob){bytes, 8 * (size_t)count};
}

/* What is valid to read is all that is written. */
static void refuse_flaws(job *j, const storing *s) {
    result kept = *s->result;
    kept.median = s->median, kept.spread = s->spread;
    kept.final = kept.settled = NAN, kept.final_count = 0;
    const char *flaw = result_flaw(&kept);
    if (flaw != NULL)
        job_fail(j, FAULT_IO, NULL, 0, "a result of '%s' cannot be kept: it has no valid %s",
                 s->place->name, flaw);
}

void results_store(job *j, results *r, const result_place *place, const result *of) {
    storing s = {.r = r, .place = place, .result = of, .median = NAN, .spread = NAN};
    describe(j, &s);
    s.seconds = pack(j, of->seconds, of->count);
    if (of->count > 0) {
        double *sorted = job_array(j, (size_t)of->count, sizeof *sorted);
        memcpy(sorted, of->seconds, (size_t)of->count * sizeof *sorted);
        s.median = results_median(sorted, of->count, &s.spread);
    }
    refuse_flaws(j, &s);
    store(j, &s, add_result);
}

/* ---- sweeps -------------------------------------------------------------------------------- */

/* The spec is called as it is called now. */
static int add_sweep(storing *s) {
    int code = need_place(s);
    if (code == SQLITE_OK)
        code = add_spec(s);
    if (code != SQLITE_OK)
        return code;
    sqlite3_stmt *to = results_statement(s->r, STATEMENT_ADD_SWEEP, &code);
    if (code != SQLITE_OK)
        return code;
    sqlite3_bind_int64(to, 1, s->id);
    results_bind_text(to, 2, s->options);
    sqlite3_bind_int64(to, 3, s->candidates);
    sqlite3_bind_int64(to, 4, results_now());
    code = results_step(to);
    s->sweep = sqlite3_last_insert_rowid(s->r->database);
    return code;
}

static int end_sweep(storing *s) {
    int code;
    sqlite3_stmt *to = results_statement(s->r, STATEMENT_END_SWEEP, &code);
    if (code != SQLITE_OK)
        return code;
    sqlite3_bind_int64(to, 1, s->sweep);
    sqlite3_bind_int64(to, 2, results_now());
    return results_step(to);
}

int64_t results_begin(job *j, results *r, const result_place *place, const char *options,
                      int64_t candidates) {
    storing s = {.r = r, .place = place, .options = options, .candidates = candidates};
    describe(j, &s);
    store(j, &s, add_sweep);
    return s.sweep;
}

void results_end(job *j, results *r, int64_t sweep) {
    storing s = {.r = r, .sweep = sweep};
    store(j, &s, end_sweep);
}

/* STATEMENT_NO_FINALS and STATEMENT_SETTLE. */
static int run_on_sweep(storing *s, statement_id which, double seconds) {
    int code;
    sqlite3_stmt *to = results_statement(s->r, which, &code);
    if (code != SQLITE_OK)
        return code;
    sqlite3_bind_int64(to, 1, s->sweep);
    if (which == STATEMENT_SETTLE)
        sqlite3_bind_double(to, 2, seconds);
    return results_step(to);
}

static int add_final(storing *s, int which) {
    int code;
    sqlite3_stmt *to = results_statement(s->r, STATEMENT_ADD_FINAL, &code);
    if (code != SQLITE_OK)
        return code;
    sqlite3_bind_int64(to, 1, s->sweep);
    results_bind_text(to, 2, s->finals[which].plan);
    sqlite3_bind_double(to, 3, s->finals[which].seconds);
    sqlite3_bind_blob64(to, 4, s->rounds[which].data, s->rounds[which].size, SQLITE_STATIC);
    return results_step(to);
}

static int add_finals(storing *s) {
    int code = run_on_sweep(s, STATEMENT_NO_FINALS, 0);
    double slowest = 0;
    for (int i = 0; i < s->final_count && code == SQLITE_OK; i++) {
        slowest = fmax(slowest, s->finals[i].seconds);
        code = add_final(s, i);
    }
    return code == SQLITE_OK ? run_on_sweep(s, STATEMENT_SETTLE, slowest) : code;
}

void results_finals(job *j, results *r, int64_t sweep, const result_final *list, int count) {
    storing s = {.r = r, .sweep = sweep, .finals = list, .final_count = count};
    s.rounds = job_array(j, (size_t)count, sizeof *s.rounds);
    for (int i = 0; i < count; i++)
        s.rounds[i] = pack(j, list[i].rounds, list[i].count);
    store(j, &s, add_finals);
}

static int add_drift(storing *s) {
    const result_drift *d = s->drift;
    int code;
    sqlite3_stmt *to = results_statement(s->r, STATEMENT_ADD_DRIFT, &code);
    if (code != SQLITE_OK)
        return code;
    sqlite3_bind_int64(to, 1, s->sweep);
    results_bind_text(to, 2, d->plan);
    sqlite3_bind_int(to, 3, d->evaluation);
    sqlite3_bind_double(to, 4, d->first);
    sqlite3_bind_double(to, 5, d->seconds);
    bind_number(to, 6, d->clock);
    bind_number(to, 7, d->temperature);
    sqlite3_bind_int64(to, 8, d->taken > 0 ? d->taken : results_now());
    return results_step(to);
}

void results_add_drift(job *j, results *r, int64_t sweep, const result_drift *d) {
    storing s = {.r = r, .sweep = sweep, .drift = d};
    store(j, &s, add_drift);
}

static int last_unfinished(storing *s) {
    int code = find_place(s);
    s->sweep = 0;
    if (code != SQLITE_OK || s->id == 0)
        return code;
    sqlite3_stmt *to = results_statement(s->r, STATEMENT_UNFINISHED, &code);
    if (code != SQLITE_OK)
        return code;
    sqlite3_bind_int64(to, 1, s->id);
    results_bind_text(to, 2, s->options);
    sqlite3_bind_int64(to, 3, s->before);
    code = sqlite3_step(to);
    if (code == SQLITE_ROW)
        s->sweep = sqlite3_column_int64(to, 0);
    sqlite3_reset(to);
    return code == SQLITE_ROW || code == SQLITE_DONE ? SQLITE_OK : code;
}

int64_t results_unfinished(job *j, results *r, const result_place *place, const char *options,
                           int64_t before) {
    storing s = {.r = r, .place = place, .options = options, .before = before};
    describe(j, &s);
    store(j, &s, last_unfinished);
    return s.sweep;
}

bool results_find_place(job *j, results *r, const result_place *place, int64_t *out, int *code) {
    storing s = {.r = r, .place = place};
    describe(j, &s);
    *code = find_place(&s);
    *out = s.id;
    return s.id != 0;
}
