/* Rows as they are read. SQLite gives any type in any column, and a file may come from anywhere: a
   row of other types than ours, or that results_valid.c finds fault with, is passed over, and the
   first of them is told to the log. Takes: a statement at a row. Makes: values, or nothing. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "runtime/store/base.h"
#include "runtime/store/results.h"

/* A row on its way; after the first column that cannot be, the others read nothing. */
typedef struct row {
    job *job;
    sqlite3_stmt *from;
    const char *flaw; /* the column's name; NULL */
} row;

static bool is_good(row *r, int column, bool good) {
    if (!good && r->flaw == NULL)
        r->flaw = sqlite3_column_name(r->from, column);
    return r->flaw == NULL;
}

/* ---- columns ------------------------------------------------------------------------------- */

static double number(row *r, int column) {
    const int type = sqlite3_column_type(r->from, column);
    if (type == SQLITE_NULL)
        return NAN;
    if (!is_good(r, column, type == SQLITE_FLOAT || type == SQLITE_INTEGER))
        return NAN;
    return sqlite3_column_double(r->from, column);
}

static int64_t whole(row *r, int column, int64_t most) {
    const bool integer = sqlite3_column_type(r->from, column) == SQLITE_INTEGER;
    const int64_t value = integer ? sqlite3_column_int64(r->from, column) : 0;
    return is_good(r, column, integer && value >= 0 && value <= most) ? value : 0;
}

static int64_t whole_or(row *r, int column, int64_t most, int64_t otherwise) {
    return sqlite3_column_type(r->from, column) == SQLITE_NULL ? otherwise : whole(r, column, most);
}

static const char *words(row *r, int column) {
    enum { MOST_BYTES = 1 << 26 };
    const bool is_text = sqlite3_column_type(r->from, column) == SQLITE_TEXT;
    const char *value = is_text ? (const char *)sqlite3_column_text(r->from, column) : NULL;
    const size_t length = value != NULL ? (size_t)sqlite3_column_bytes(r->from, column) : 0;
    if (!is_good(r, column,
                 value != NULL && length <= MOST_BYTES && memchr(value, '\0', length) == NULL))
        return "";
    return job_copy(r->job, value, length);
}

static const double *timings(row *r, int column, int *count) {
    const bool blob = sqlite3_column_type(r->from, column) == SQLITE_BLOB;
    const unsigned char *bytes = blob ? sqlite3_column_blob(r->from, column) : NULL;
    const int size = blob ? sqlite3_column_bytes(r->from, column) : 0;
    *count = 0;
    if (!is_good(r, column, blob && size % 8 == 0 && size / 8 <= RESULT_TIMINGS) || size == 0)
        return NULL;
    *count = size / 8;
    double *seconds = job_array(r->job, (size_t)*count, sizeof *seconds);
    for (int i = 0; i < *count; i++) {
        uint64_t bits = 0;
        for (int b = 0; b < 8; b++)
            bits |= (uint64_t)bytes[8 * i + b] << 8 * b;
        memcpy(&seconds[i], &bits, sizeof bits);
    }
    return seconds;
}

static result_state read_state(row *r, int column) {
    const char *word = words(r, column);
    int state = 0;
    while (state < RESULT_STATES && strcmp(word, result_state_words[state]) != 0)
        state++;
    is_good(r, column, state < RESULT_STATES);
    return (result_state)state;
}

/* ---- what rows are passed over ------------------------------------------------------------- */

static bool judge(results *of, const row *r, const char *flaw) {
    const char *column = r->flaw != NULL ? r->flaw : flaw;
    if (column == NULL)
        return true;
    if (!of->warned)
        logger_say(of->logger, r->job, SG_LOG_WARNING,
                   "the database of tuning results %s has rows that are not valid, which are "
                   "passed over; the first has no valid %s",
                   of->path, column);
    of->warned = true;
    return false;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* The spec's key is that of its meaning, whatever the row says. */
static void read_place(row *r, result_row *out) {
    out->place = (result_place){
        .family = words(r, 0),
        .name = words(r, 1),
        .model = words(r, 2),
        .generator = words(r, 3),
        .device = {.kind = words(r, 4),
                   .name = words(r, 5),
                   .arch = words(r, 6),
                   .multiprocessors = (int)whole(r, 7, INT_MAX),
                   .memory = whole(r, 8, INT64_MAX)},
        .steps = whole(r, 10, INT64_MAX),
    };
    is_good(r, 9, results_read_size(words(r, 9), &out->place.size));
    out->spec = results_spec(out->place.family, out->place.model);
}

static void read_result(row *r, int at, result *out) {
    *out = (result){
        .plan = words(r, at),
        .state = read_state(r, at + 1),
        .reason = words(r, at + 2),
        .median = number(r, at + 4),
        .spread = number(r, at + 5),
        .estimate = number(r, at + 6),
        .compile_seconds = number(r, at + 7),
        .check_seconds = number(r, at + 8),
        .driver = (int)whole(r, at + 9, INT_MAX),
        .compiler = words(r, at + 10),
        .registers = (int)whole_or(r, at + 11, INT_MAX, -1),
        .shared_bytes = whole_or(r, at + 12, INT64_MAX, -1),
        .local_bytes = whole_or(r, at + 13, INT64_MAX, -1),
        .occupancy = number(r, at + 14),
        .clock_before = number(r, at + 15),
        .clock_after = number(r, at + 16),
        .temperature_before = number(r, at + 17),
        .temperature_after = number(r, at + 18),
        .copy_seconds = number(r, at + 19),
        .sweep = whole_or(r, at + 20, INT64_MAX, 0),
        .evaluation = (int)whole(r, at + 21, INT_MAX),
        .taken = whole(r, at + 22, INT64_MAX),
        .final = number(r, at + 23),
        .settled = number(r, at + 25),
    };
    out->seconds = timings(r, at + 3, &out->count);
    out->final_seconds = timings(r, at + 24, &out->final_count);
}

bool results_read_row(job *j, results *of, sqlite3_stmt *from, result_row *out) {
    enum { RESULT = 11 }; /* its first column */
    row r = {.job = j, .from = from};
    *out = (result_row){0};
    read_place(&r, out);
    read_result(&r, RESULT, &out->result);
    const char *flaw = result_place_flaw(&out->place);
    return judge(of, &r, flaw != NULL ? flaw : result_flaw(&out->result));
}

bool results_read_result(job *j, results *of, sqlite3_stmt *from, result *out) {
    row r = {.job = j, .from = from};
    read_result(&r, 0, out);
    return judge(of, &r, result_flaw(out));
}

bool results_read_drift(job *j, results *of, sqlite3_stmt *from, result_drift *out) {
    row r = {.job = j, .from = from};
    *out = (result_drift){.plan = words(&r, 0),
                          .evaluation = (int)whole(&r, 1, INT_MAX),
                          .first = number(&r, 2),
                          .seconds = number(&r, 3),
                          .clock = number(&r, 4),
                          .temperature = number(&r, 5),
                          .taken = whole(&r, 6, INT64_MAX)};
    return judge(of, &r, result_drift_flaw(out));
}

bool results_read_place(job *j, results *of, sqlite3_stmt *from, int64_t *id, result_size *size,
                        int64_t *steps) {
    row r = {.job = j, .from = from};
    *id = whole(&r, 0, INT64_MAX);
    is_good(&r, 1, results_read_size(words(&r, 1), size));
    *steps = whole(&r, 2, INT64_MAX);
    return judge(of, &r, *steps < 1 ? "steps" : NULL);
}

bool results_read_generator(job *j, results *of, sqlite3_stmt *from, const char **out) {
    row r = {.job = j, .from = from};
    *out = words(&r, 0);
    return judge(of, &r, result_is_line(*out) && **out != '\0' ? NULL : "generator");
}

/* What results may be at all. Whoever says more is wrong: a measurement, a worker in whose memory a
   wild kernel ran, or a database that came from elsewhere. */

/* ---- texts --------------------------------------------------------------------------------- */

enum { MOST_PLAN = 4096, MOST_LINE = 4096, MOST_MODEL = 1 << 24 };

/* Plans are ASCII: they are read again as schedules. */
static bool is_plan(const char *text) {
    const size_t length = text != NULL ? strlen(text) : 0;
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return length > 0 && length <= MOST_PLAN;
}

bool result_is_line(const char *text) {
    const size_t length = text != NULL ? strlen(text) : SIZE_MAX;
    for (size_t i = 0; length <= MOST_LINE && i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    return length <= MOST_LINE;
}

static bool is_name(const char *text) {
    return result_is_line(text) && text[0] != '\0';
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* Kernels take more than a picosecond, and nobody waits for thirty years. Quotients and powers of
   such times stay far from what a double can hold. */
#define LEAST_SECONDS 1e-12
#define MOST_SECONDS 1e9
#define MOST_SPREAD (MOST_SECONDS / LEAST_SECONDS)
#define LAST_MOMENT 253402300799999 /* the end of the year 9999 */

typedef struct range {
    const char *name;
    size_t place;
    double least, most;
} range;

/* NAN, which is "unknown", is in all of them. */
static bool all_within(const void *of, const range *ranges, size_t count, const char **flaw) {
    for (size_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, (const char *)of + ranges[i].place, sizeof value);
        if (value < ranges[i].least || value > ranges[i].most) {
            *flaw = ranges[i].name;
            return false;
        }
    }
    return true;
}

bool result_is_time(double seconds) {
    return seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS;
}

static bool are_times(const double *seconds, int count) {
    if (count < 0 || count > RESULT_TIMINGS || (count > 0 && seconds == NULL))
        return false;
    for (int i = 0; i < count; i++)
        if (!result_is_time(seconds[i]))
            return false;
    return true;
}

static bool is_moment(int64_t milliseconds) {
    return milliseconds >= 0 && milliseconds <= LAST_MOMENT;
}

#define SENSORS(type, clock, temperature)                                                          \
    {#clock, offsetof(type, clock), 0, 1e6}, {                                                     \
#temperature, offsetof(type, temperature), -273.15, 1e4                                    \
    }

/* ---- the rows ------------------------------------------------------------------------------ */

static const range of_result[] = {
    {"median", offsetof(result, median), LEAST_SECONDS, MOST_SECONDS},
    {"spread", offsetof(result, spread), 0, MOST_SPREAD},
    {"estimate", offsetof(result, estimate), 0, 1e30}, /* a model may expect anything */
    {"compile_seconds", offsetof(result, compile_seconds), 0, MOST_SECONDS},
    {"check_seconds", offsetof(result, check_seconds), 0, MOST_SECONDS},
    {"occupancy", offsetof(result, occupancy), 0, 1},
    SENSORS(result, clock_before, temperature_before),
    SENSORS(result, clock_after, temperature_after),
    {"copy_seconds", offsetof(result, copy_seconds), 0, MOST_SECONDS},
    {"final", offsetof(result, final), LEAST_SECONDS, MOST_SECONDS},
    {"settled", offsetof(result, settled), LEAST_SECONDS, MOST_SECONDS},
};

/* Only what was right is timed, and only what was timed takes part in anything. */
static const char *contradiction(const result *r) {
    if (r->state != RESULT_RIGHT && (r->count > 0 || !isnan(r->median)))
        return "median";
    if (isnan(r->median) && (!isnan(r->final) || !isnan(r->settled)))
        return "settled";
    return NULL;
}

const char *result_flaw(const result *r) {
    const char *flaw = NULL;
    if (!is_plan(r->plan))
        return "plan";
    if ((int)r->state < 0 || (int)r->state >= RESULT_STATES)
        return "state";
    if (r->reason == NULL || strlen(r->reason) > RESULT_REASON)
        return "reason";
    if (!result_is_line(r->compiler))
        return "compiler";
    if (!are_times(r->seconds, r->count))
        return "seconds";
    if (!are_times(r->final_seconds, r->final_count))
        return "final_seconds";
    if (!all_within(r, of_result, sizeof of_result / sizeof *of_result, &flaw))
        return flaw;
    if (r->driver < 0)
        return "driver";
    if (r->sweep < 0)
        return "sweep";
    if (r->evaluation < 0)
        return "evaluation";
    return !is_moment(r->taken) ? "taken" : contradiction(r);
}

const char *result_place_flaw(const result_place *p) {
    if (!is_name(p->family))
        return "family";
    if (!is_name(p->name))
        return "name";
    if (p->model == NULL || strlen(p->model) > MOST_MODEL)
        return "model";
    if (!is_name(p->generator))
        return "generator";
    if (!is_name(p->device.kind))
        return "kind";
    if (!result_is_line(p->device.name))
        return "name of the device";
    if (!result_is_line(p->device.arch))
        return "arch";
    if (p->device.multiprocessors < 0)
        return "multiprocessors";
    if (p->device.memory < 0)
        return "memory";
    if (p->size.count < 1 || p->size.count > RESULT_NUMBERS)
        return "size";
    for (int i = 0; i < p->size.count; i++)
        if (p->size.number[i] < 0)
            return "size";
    return p->steps < 1 ? "steps" : NULL;
}

static const range of_drift[] = {SENSORS(result_drift, clock, temperature)};

const char *result_drift_flaw(const result_drift *d) {
    const char *flaw = NULL;
    if (!is_plan(d->plan))
        return "plan";
    if (d->evaluation < 0)
        return "evaluation";
    if (!result_is_time(d->first))
        return "first";
    if (!result_is_time(d->seconds))
        return "seconds";
    if (!is_moment(d->taken))
        return "taken";
    all_within(d, of_drift, sizeof of_drift / sizeof *of_drift, &flaw);
    return flaw;
}
