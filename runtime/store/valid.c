/* What results may be at all. Whoever says more is wrong: a measurement, a worker in whose memory a
   wild kernel ran, or a database that came from elsewhere. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "runtime/store/results.h"

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
