/* The tables of the database and every statement that runs on them, so that all SQL is here. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "runtime/store/base.h"

/* A place is what is tuned: lookups walk the few places of a spec, however many plans were tried
   at each. Sizes are texts ("512x512x512"), times are milliseconds since 1970, timings (`seconds`)
   are doubles of 8 bytes, and NULL is what is unknown. Specs are found by the digest of their
   meaning.

   Lookups order plans by `settled`: the time of the comparison at the end of the plan's sweep
   (`final`) where the plan took part in it; else the median, but no less than the slowest `final`
   of its sweep. A row of `drift` is a kernel that was timed again: `seconds` where it took `first`.
 */
static const char tables[] =
    "CREATE TABLE spec ("
    " id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, family TEXT NOT NULL,"
    " name TEXT NOT NULL, model TEXT NOT NULL);"
    "CREATE TABLE device ("
    " id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, kind TEXT NOT NULL, name TEXT NOT NULL,"
    " arch TEXT NOT NULL, multiprocessors INTEGER NOT NULL, memory INTEGER NOT NULL);"
    "CREATE TABLE place ("
    " id INTEGER PRIMARY KEY, spec INTEGER NOT NULL REFERENCES spec,"
    " device INTEGER NOT NULL REFERENCES device, generator TEXT NOT NULL, size TEXT NOT NULL,"
    " steps INTEGER NOT NULL, UNIQUE (spec, device, generator, size, steps));"
    "CREATE TABLE sweep ("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, place INTEGER NOT NULL REFERENCES place,"
    " options TEXT NOT NULL, candidates INTEGER NOT NULL, begun INTEGER NOT NULL, ended INTEGER);"
    "CREATE INDEX sweep_place ON sweep (place);"
    "CREATE TABLE result ("
    " id INTEGER PRIMARY KEY, place INTEGER NOT NULL REFERENCES place, plan TEXT NOT NULL,"
    " state TEXT NOT NULL, reason TEXT NOT NULL, seconds BLOB NOT NULL, median REAL, spread REAL,"
    " estimate REAL, compile_seconds REAL, check_seconds REAL, driver INTEGER NOT NULL,"
    " compiler TEXT NOT NULL, registers INTEGER, shared_bytes INTEGER, local_bytes INTEGER,"
    " occupancy REAL, clock_before REAL, clock_after REAL, temperature_before REAL,"
    " temperature_after REAL, copy_seconds REAL, sweep INTEGER REFERENCES sweep,"
    " evaluation INTEGER NOT NULL, taken INTEGER NOT NULL, final REAL,"
    " final_seconds BLOB NOT NULL DEFAULT x'', settled REAL, UNIQUE (place, plan));"
    "CREATE INDEX result_best ON result (place, state, settled);"
    "CREATE INDEX result_sweep ON result (sweep);"
    "CREATE TABLE drift ("
    " id INTEGER PRIMARY KEY, sweep INTEGER NOT NULL REFERENCES sweep, plan TEXT NOT NULL,"
    " evaluation INTEGER NOT NULL, first REAL NOT NULL, seconds REAL NOT NULL, clock REAL,"
    " temperature REAL, taken INTEGER NOT NULL);"
    "CREATE INDEX drift_sweep ON drift (sweep);";

/* rows.c reads the columns by their places. */
#define COLUMNS_OF_RESULT                                                                          \
    "r.plan, r.state, r.reason, r.seconds, r.median, r.spread, r.estimate, r.compile_seconds,"     \
    " r.check_seconds, r.driver, r.compiler, r.registers, r.shared_bytes, r.local_bytes,"          \
    " r.occupancy, r.clock_before, r.clock_after, r.temperature_before, r.temperature_after,"      \
    " r.copy_seconds, r.sweep, r.evaluation, r.taken, r.final, r.final_seconds, r.settled"

static const char *const results_statements[STATEMENTS] = {
    [STATEMENT_BEGIN] = "BEGIN IMMEDIATE",
    [STATEMENT_COMMIT] = "COMMIT",
    [STATEMENT_ROLLBACK] = "ROLLBACK",
    [STATEMENT_PLACES] = "SELECT id, size, steps FROM place"
                         " WHERE spec = (SELECT id FROM spec WHERE hash = ?1)"
                         " AND device = (SELECT id FROM device WHERE key = ?2) AND generator = ?3",
    [STATEMENT_BEST] = "SELECT " COLUMNS_OF_RESULT " FROM result r"
                       " WHERE r.place = ?1 AND r.state = ?2 AND r.settled IS NOT NULL"
                       " ORDER BY r.settled, r.final IS NULL, r.median, r.plan",
    [STATEMENT_OTHERS] = "SELECT DISTINCT generator FROM place"
                         " WHERE spec = (SELECT id FROM spec WHERE hash = ?1)"
                         " AND device = (SELECT id FROM device WHERE key = ?2)"
                         " AND generator <> ?3 ORDER BY generator",
    /* Of the same key the texts are the same, but for the spec's name. */
    [STATEMENT_ADD_SPEC] = "INSERT INTO spec (hash, family, name, model) VALUES (?1, ?2, ?3, ?4)"
                           " ON CONFLICT DO UPDATE SET name = excluded.name",
    [STATEMENT_ADD_DEVICE] = "INSERT INTO device (key, kind, name, arch, multiprocessors, memory)"
                             " VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
    [STATEMENT_ADD_PLACE] = "INSERT INTO place (spec, device, generator, size, steps)"
                            " SELECT spec.id, device.id, ?3, ?4, ?5 FROM spec, device"
                            " WHERE spec.hash = ?1 AND device.key = ?2 ON CONFLICT DO NOTHING",
    [STATEMENT_FIND_PLACE] = "SELECT id FROM place"
                             " WHERE spec = (SELECT id FROM spec WHERE hash = ?1)"
                             " AND device = (SELECT id FROM device WHERE key = ?2)"
                             " AND generator = ?3 AND size = ?4 AND steps = ?5",
    [STATEMENT_ADD_RESULT] =
        "REPLACE INTO result (place, plan, state, reason, seconds, median, spread, estimate,"
        " compile_seconds, check_seconds, driver, compiler, registers, shared_bytes, local_bytes,"
        " occupancy, clock_before, clock_after, temperature_before, temperature_after,"
        " copy_seconds, sweep, evaluation, taken, settled) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
        " ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?6)",
    [STATEMENT_ADD_SWEEP] =
        "INSERT INTO sweep (place, options, candidates, begun) VALUES (?1, ?2, ?3, ?4)",
    [STATEMENT_UNFINISHED] = "SELECT id FROM sweep"
                             " WHERE place = ?1 AND options = ?2 AND ended IS NULL"
                             " AND id > 0 AND id < ?3 ORDER BY id DESC LIMIT 1",
    [STATEMENT_END_SWEEP] = "UPDATE sweep SET ended = ?2 WHERE id = ?1",
    [STATEMENT_NO_FINALS] = "UPDATE result SET final = NULL, final_seconds = x'', settled = median"
                            " WHERE sweep = ?1",
    [STATEMENT_ADD_FINAL] = "UPDATE result SET final = ?3, final_seconds = ?4, settled = ?3"
                            " WHERE sweep = ?1 AND plan = ?2",
    [STATEMENT_SETTLE] = "UPDATE result SET settled = max(median, ?2)"
                         " WHERE sweep = ?1 AND final IS NULL AND median IS NOT NULL",
    [STATEMENT_ADD_DRIFT] = "INSERT INTO drift (sweep, plan, evaluation, first, seconds, clock,"
                            " temperature, taken) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [STATEMENT_DRIFTS] = "SELECT plan, evaluation, first, seconds, clock, temperature, taken"
                         " FROM drift WHERE sweep = ?1 ORDER BY id",
    [STATEMENT_LIST] = "SELECT s.family, s.name, s.model, p.generator, d.kind, d.name, d.arch,"
                       " d.multiprocessors, d.memory, p.size, p.steps, " COLUMNS_OF_RESULT
                       " FROM result r JOIN place p ON p.id = r.place JOIN spec s ON s.id = p.spec"
                       " JOIN device d ON d.id = p.device"
                       " WHERE (?1 IS NULL OR p.id = ?1) AND (?2 IS NULL OR s.name = ?2)"
                       " AND (?3 IS NULL OR r.sweep = ?3) ORDER BY p.id, r.taken, r.id",
    [STATEMENT_COUNT] = "SELECT (SELECT count(*) FROM result), (SELECT count(*) FROM spec),"
                        " (SELECT count(*) FROM device)",
};

int results_number(sqlite3 *database, const char *query, int64_t *out) {
    sqlite3_stmt *s;
    int code = sqlite3_prepare_v2(database, query, -1, &s, NULL);
    if (code != SQLITE_OK)
        return code;
    code = sqlite3_step(s);
    if (code == SQLITE_ROW)
        *out = sqlite3_column_int64(s, 0);
    const int end = sqlite3_finalize(s);
    return code == SQLITE_ROW ? SQLITE_OK : end != SQLITE_OK ? end : SQLITE_CORRUPT;
}

static int run(sqlite3 *database, const char *texts) {
    return sqlite3_exec(database, texts, NULL, NULL, NULL);
}

#define DIGITS(number) #number
#define NUMBER(macro) DIGITS(macro)

/* In a transaction: of several processes that meet an empty file, one makes the tables. */
int results_make_tables(sqlite3 *database) {
    int64_t version = 0;
    int code = run(database, results_statements[STATEMENT_BEGIN]);
    if (code != SQLITE_OK)
        return code;
    code = results_number(database, "PRAGMA user_version", &version);
    if (code == SQLITE_OK && version == 0) {
        code = run(database, tables);
        if (code == SQLITE_OK)
            code = run(database,
                       "PRAGMA user_version = " NUMBER(
                           RESULTS_VERSION) ";"
                                            "PRAGMA application_id = " NUMBER(RESULTS_APPLICATION));
    }
    if (code == SQLITE_OK)
        code = run(database, results_statements[STATEMENT_COMMIT]);
    if (code != SQLITE_OK && !sqlite3_get_autocommit(database))
        run(database, results_statements[STATEMENT_ROLLBACK]);
    return code;
}

static void bind(sqlite3_stmt *s, const char *kinds, va_list values) {
    for (int i = 1; *kinds != '\0'; i++)
        switch (*kinds++) {
        case 't':
            sqlite3_bind_text(s, i, va_arg(values, const char *), -1, SQLITE_STATIC);
            break;
        case 'd':
            sqlite3_bind_blob(s, i, va_arg(values, const digest *)->bytes, sizeof(digest),
                              SQLITE_STATIC);
            break;
        case 'b': {
            const blob *b = va_arg(values, const blob *);
            sqlite3_bind_blob64(s, i, b->size > 0 ? b->data : "", b->size, SQLITE_STATIC);
            break;
        }
        case 'f': {
            const double value = va_arg(values, double);
            if (isfinite(value)) /* SQLite has no NaN */
                sqlite3_bind_double(s, i, value);
            break;
        }
        default: {
            const int64_t value = va_arg(values, int64_t);
            if (kinds[-1] == 'i' || value >= 0)
                sqlite3_bind_int64(s, i, value);
        }
        }
}

static sqlite3_stmt *ready(results *r, statement_id which, int *code, const char *kinds,
                           va_list values) {
    sqlite3_stmt **s = &r->statements[which];
    *code = SQLITE_OK;
    if (*s != NULL) {
        sqlite3_reset(*s);
        sqlite3_clear_bindings(*s);
    } else {
        *code = sqlite3_prepare_v3(r->database, results_statements[which], -1,
                                   SQLITE_PREPARE_PERSISTENT, s, NULL);
    }
    if (*code == SQLITE_OK)
        bind(*s, kinds, values);
    return *s;
}

sqlite3_stmt *results_bind(results *r, statement_id which, int *code, const char *kinds, ...) {
    va_list values;
    va_start(values, kinds);
    sqlite3_stmt *s = ready(r, which, code, kinds, values);
    va_end(values);
    return s;
}

bool results_next(sqlite3_stmt *s, int *code) {
    if (*code != SQLITE_OK)
        return false;
    *code = sqlite3_step(s);
    const bool found = *code == SQLITE_ROW;
    if (!found)
        sqlite3_reset(s);
    if (found || *code == SQLITE_DONE)
        *code = SQLITE_OK;
    return found;
}

int results_run(results *r, statement_id which, const char *kinds, ...) {
    int code;
    va_list values;
    va_start(values, kinds);
    sqlite3_stmt *s = ready(r, which, &code, kinds, values);
    va_end(values);
    while (results_next(s, &code))
        ;
    return code;
}

const char *results_column_text(job *j, sqlite3_stmt *s, int column) {
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text == NULL ? "" : job_string(j, text);
}
