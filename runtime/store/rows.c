/* Rows, and what makes a valid result. SQLite gives any type in any column, and a file may come
   from anywhere: a row with other types than ours or with a flaw is skipped, and the first is
   logged. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "runtime/store/base.h"
#include "runtime/store/results.h"

/* Whoever exceeds these limits is wrong: a measurement, a worker in which a wild kernel ran, or
   a foreign database. */

/* ---- texts ----------------------------------------------------------------------------------- */

enum { MOST_PLAN = 4096, MOST_LINE = 4096, MOST_MODEL = 1 << 24 };

/* Plans are ASCII: they are read again as schedules. */
static bool is_plan(const char *text) {
    const size_t length = text != NULL ? strlen(text) : 0;
    for (size_t i = 0; i < length; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return length > 0 && length <= MOST_PLAN;
}

/* No control characters, and not too long; "" is one. */
static bool is_line(const char *text) {
    const size_t length = text != NULL ? strlen(text) : SIZE_MAX;
    for (size_t i = 0; length <= MOST_LINE && i < length; i++)
        if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
            return false;
    return length <= MOST_LINE;
}

static bool is_name(const char *text) {
    return is_line(text) && text[0] != '\0';
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Kernels take more than a picosecond, and nobody waits for thirty years. Quotients and powers
   of such times stay within a double. */
#define LEAST_SECONDS 1e-12
#define MOST_SECONDS 1e9
#define MOST_SPREAD (MOST_SECONDS / LEAST_SECONDS)
#define LAST_MOMENT 253402300799999 /* the end of the year 9999 */

/* NAN, which is "unknown", is in every range. */
static bool within(double value, double least, double most) {
    return !(value < least || value > most);
}

static bool is_clock(double megahertz) {
    return within(megahertz, 0, 1e6);
}

static bool is_temperature(double degrees) {
    return within(degrees, -273.15, 1e4);
}

/* Seconds of something that may take no time, or of something unknown. */
static bool is_span(double seconds) {
    return within(seconds, 0, MOST_SECONDS);
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

static bool is_size(const result_size *s) {
    bool good = s->count >= 1 && s->count <= RESULT_NUMBERS;
    for (int i = 0; good && i < s->count; i++)
        good = s->number[i] >= 0;
    return good;
}

/* ---- what is valid
 * -------------------------------------------------------------------------------- */

typedef struct demand {
    bool met;
    const char *name;
} demand;

static const char *first_unmet(const demand *list, size_t count) {
    size_t i = 0;
    while (i < count && list[i].met)
        i++;
    return i < count ? list[i].name : NULL;
}

/* Only what was right is timed, and only what was timed takes part in anything. */
const char *result_flaw(const result *r) {
    const bool right = r->state == RESULT_RIGHT, timed = !isnan(r->median);
    const demand all[] = {
        {is_plan(r->plan), "plan"},
        {(int)r->state >= 0 && (int)r->state < RESULT_STATES, "state"},
        {r->reason != NULL && strlen(r->reason) <= RESULT_REASON, "reason"},
        {is_line(r->compiler), "compiler"},
        {are_times(r->seconds, r->count), "seconds"},
        {are_times(r->final_seconds, r->final_count), "final_seconds"},
        {!timed || result_is_time(r->median), "median"},
        {within(r->spread, 0, MOST_SPREAD), "spread"},
        {within(r->estimate, 0, 1e30), "estimate"}, /* a model may expect anything */
        {is_span(r->compile_seconds), "compile_seconds"},
        {is_span(r->check_seconds), "check_seconds"},
        {within(r->occupancy, 0, 1), "occupancy"},
        {is_clock(r->clock_before), "clock_before"},
        {is_temperature(r->temperature_before), "temperature_before"},
        {is_clock(r->clock_after), "clock_after"},
        {is_temperature(r->temperature_after), "temperature_after"},
        {is_span(r->copy_seconds), "copy_seconds"},
        {isnan(r->final) || result_is_time(r->final), "final"},
        {isnan(r->settled) || result_is_time(r->settled), "settled"},
        {r->driver >= 0, "driver"},
        {r->sweep >= 0, "sweep"},
        {r->evaluation >= 0, "evaluation"},
        {is_moment(r->taken), "taken"},
        {right || (r->count == 0 && !timed), "median"},
        {timed || (isnan(r->final) && isnan(r->settled)), "settled"},
    };
    return first_unmet(all, sizeof all / sizeof *all);
}

const char *result_place_flaw(const result_place *p) {
    const demand all[] = {
        {is_name(p->family), "family"},
        {is_name(p->name), "name"},
        {p->model != NULL && strlen(p->model) <= MOST_MODEL, "model"},
        {is_name(p->generator), "generator"},
        {is_name(p->device.kind), "kind"},
        {is_line(p->device.name), "name of the device"},
        {is_line(p->device.arch), "arch"},
        {p->device.multiprocessors >= 0, "multiprocessors"},
        {p->device.memory >= 0, "memory"},
        {is_size(&p->size), "size"},
        {p->steps >= 1, "steps"},
    };
    return first_unmet(all, sizeof all / sizeof *all);
}

static const char *drift_flaw(const sg_drift *d) {
    const demand all[] = {
        {is_plan(d->plan), "plan"},
        {d->evaluation >= 0, "evaluation"},
        {result_is_time(d->first_seconds), "first"},
        {result_is_time(d->seconds), "seconds"},
        {is_moment(d->taken), "taken"},
        {is_clock(d->clock), "clock"},
        {is_temperature(d->temperature), "temperature"},
    };
    return first_unmet(all, sizeof all / sizeof *all);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A row being read; after the first bad column the others read nothing. */
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

/* ---- columns --------------------------------------------------------------------------------- */

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

/* ---- what rows are passed over --------------------------------------------------------------- */

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

/* ---- rows ------------------------------------------------------------------------------------ */

/* The spec's key follows from its meaning, whatever the row says. */
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

bool results_read_drift(job *j, results *of, sqlite3_stmt *from, sg_drift *out) {
    row r = {.job = j, .from = from};
    *out = (sg_drift){.struct_size = sizeof *out,
                      .plan = words(&r, 0),
                      .evaluation = (int)whole(&r, 1, INT_MAX),
                      .first_seconds = number(&r, 2),
                      .seconds = number(&r, 3),
                      .clock = number(&r, 4),
                      .temperature = number(&r, 5),
                      .taken = whole(&r, 6, INT64_MAX)};
    return judge(of, &r, drift_flaw(out));
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
    return judge(of, &r, is_line(*out) && **out != '\0' ? NULL : "generator");
}
