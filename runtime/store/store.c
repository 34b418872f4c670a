/* Writing results and sweeps: each call is one short transaction. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "runtime/store/base.h"

/* What a call stores. */
typedef struct storing {
    results *r;
    const result_place *place;
    const char *size; /* of the place, as a text */
    digest spec, device;
    int64_t id;    /* of the place in the database */
    int64_t sweep; /* that is stored to, that was added or that was found */
    const result *result;
    blob seconds;
    double median, spread;
    const char *options;
    int64_t candidates, before;
    const result_final *finals;
    blob *rounds; /* of each of them */
    int final_count;
    const sg_drift *drift;
} storing;

int64_t results_now(void) {
    const struct timespec now = clock_date();
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void describe(job *j, storing *s) {
    const result_place *p = s->place;
    assert(result_place_flaw(p) == NULL);
    s->size = results_size_text(j, &p->size);
    s->spec = results_spec(p->family, p->model);
    s->device = results_device_key(&p->device);
}

/* *out stays as it is where the statement gives no row. */
static int ask(sqlite3_stmt *s, int code, int64_t *out) {
    while (results_next(s, &code))
        *out = sqlite3_column_int64(s, 0);
    return code;
}

static int find_place(storing *s) {
    int code;
    sqlite3_stmt *of = results_bind(s->r, STATEMENT_FIND_PLACE, &code, "ddtti", &s->spec,
                                    &s->device, s->place->generator, s->size, s->place->steps);
    return ask(of, code, &s->id);
}

static int add_spec(storing *s) {
    return results_run(s->r, STATEMENT_ADD_SPEC, "dttt", &s->spec, s->place->family, s->place->name,
                       s->place->model);
}

static int need_place(storing *s) {
    const result_device *d = &s->place->device;
    int code = find_place(s);
    if (code != SQLITE_OK || s->id != 0)
        return code;
    code = add_spec(s);
    if (code == SQLITE_OK)
        code = results_run(s->r, STATEMENT_ADD_DEVICE, "dtttii", &s->device, d->kind, d->name,
                           d->arch, (int64_t)d->multiprocessors, d->memory);
    if (code == SQLITE_OK)
        code = results_run(s->r, STATEMENT_ADD_PLACE, "ddtti", &s->spec, &s->device,
                           s->place->generator, s->size, s->place->steps);
    if (code == SQLITE_OK)
        code = find_place(s);
    return code == SQLITE_OK && s->id == 0 ? SQLITE_CORRUPT : code;
}

static int try_transaction(storing *s, int (*body)(storing *)) {
    int code = results_run(s->r, STATEMENT_BEGIN, "");
    if (code == SQLITE_OK)
        code = body(s);
    if (code == SQLITE_OK)
        code = results_run(s->r, STATEMENT_COMMIT, "");
    if (code != SQLITE_OK && !sqlite3_get_autocommit(s->r->database))
        results_run(s->r, STATEMENT_ROLLBACK, "");
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

static int add_result(storing *s) {
    const result *r = s->result;
    const int code = need_place(s);
    if (code != SQLITE_OK)
        return code;
    return results_run(s->r, STATEMENT_ADD_RESULT, "itttbfffffitcccffffffcii", s->id, r->plan,
                       result_state_words[r->state], r->reason != NULL ? r->reason : "",
                       &s->seconds, s->median, s->spread, r->estimate, r->compile_seconds,
                       r->check_seconds, (int64_t)r->driver, r->compiler != NULL ? r->compiler : "",
                       (int64_t)r->registers, r->shared_bytes, r->local_bytes, r->occupancy,
                       r->clock_before, r->clock_after, r->temperature_before, r->temperature_after,
                       r->copy_seconds, r->sweep > 0 ? r->sweep : -1, (int64_t)r->evaluation,
                       r->taken > 0 ? r->taken : results_now());
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
    storing s = {.r = r, .place = place, .result = of};
    describe(j, &s);
    s.seconds = pack(j, of->seconds, of->count);
    s.median = results_median(j, of->seconds, of->count, &s.spread);
    refuse_flaws(j, &s);
    store(j, &s, add_result);
}

/* The spec gets the name that it has now. */
static int add_sweep(storing *s) {
    int code = need_place(s);
    if (code == SQLITE_OK)
        code = add_spec(s);
    if (code == SQLITE_OK)
        code = results_run(s->r, STATEMENT_ADD_SWEEP, "itii", s->id, s->options, s->candidates,
                           results_now());
    s->sweep = sqlite3_last_insert_rowid(s->r->database);
    return code;
}

static int end_sweep(storing *s) {
    return results_run(s->r, STATEMENT_END_SWEEP, "ii", s->sweep, results_now());
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

static int add_finals(storing *s) {
    int code = results_run(s->r, STATEMENT_NO_FINALS, "i", s->sweep);
    double slowest = 0;
    for (int i = 0; i < s->final_count && code == SQLITE_OK; i++) {
        slowest = fmax(slowest, s->finals[i].seconds);
        code = results_run(s->r, STATEMENT_ADD_FINAL, "itfb", s->sweep, s->finals[i].plan,
                           s->finals[i].seconds, &s->rounds[i]);
    }
    return code == SQLITE_OK ? results_run(s->r, STATEMENT_SETTLE, "if", s->sweep, slowest) : code;
}

void results_finals(job *j, results *r, int64_t sweep, const result_final *list, int count) {
    storing s = {.r = r, .sweep = sweep, .finals = list, .final_count = count};
    s.rounds = job_array(j, (size_t)count, sizeof *s.rounds);
    for (int i = 0; i < count; i++)
        s.rounds[i] = pack(j, list[i].rounds, list[i].count);
    store(j, &s, add_finals);
}

static int add_drift(storing *s) {
    const sg_drift *d = s->drift;
    return results_run(s->r, STATEMENT_ADD_DRIFT, "itiffffi", s->sweep, d->plan,
                       (int64_t)d->evaluation, d->first_seconds, d->seconds, d->clock,
                       d->temperature, d->taken > 0 ? d->taken : results_now());
}

void results_add_drift(job *j, results *r, int64_t sweep, const sg_drift *d) {
    storing s = {.r = r, .sweep = sweep, .drift = d};
    store(j, &s, add_drift);
}

static int last_unfinished(storing *s) {
    int code = find_place(s);
    s->sweep = 0;
    if (code != SQLITE_OK || s->id == 0)
        return code;
    sqlite3_stmt *of =
        results_bind(s->r, STATEMENT_UNFINISHED, &code, "iti", s->id, s->options, s->before);
    return ask(of, code, &s->sweep);
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
