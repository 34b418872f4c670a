/* Reading: the plan to use, from the same place or the nearest; all results; and how many there
   are. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "runtime/files/paths.h"
#include "runtime/store/base.h"

typedef struct candidate {
    int64_t place, steps;
    result_size size;
    double distance;
} candidate;

typedef struct finding {
    results *r;
    const result_place *place;
    digest spec, device;
    bool (*fits)(void *user, const char *plan);
    void *user;
    int64_t here; /* the place itself; 0: nothing was tuned there */
    candidate *list;
    size_t count;
    result_match *match;
} finding;

/* ---- places ---------------------------------------------------------------------------------- */

static sqlite3_stmt *bind_key(const finding *f, statement_id which, int *code) {
    return results_bind(f->r, which, code, "ddt", &f->spec, &f->device, f->place->generator);
}

/* A kernel of single steps and one that fuses several are different things to ask for. */
static bool same_kind(int64_t a, int64_t b) {
    return (a > 1) == (b > 1);
}

static int read_places(job *j, finding *f) {
    int code;
    sqlite3_stmt *s = bind_key(f, STATEMENT_PLACES, &code);
    while (results_next(s, &code)) {
        candidate c = {0};
        if (!results_read_place(j, f->r, s, &c.place, &c.size, &c.steps) ||
            !same_kind(c.steps, f->place->steps))
            continue;
        c.distance = results_distance(&c.size, &f->place->size) +
                     fabs(log((double)c.steps / (double)f->place->steps));
        if (!isfinite(c.distance) || c.place == f->here)
            continue;
        f->list = job_grow(j, f->list, f->count, sizeof *f->list);
        f->list[f->count++] = c;
    }
    return code;
}

/* The order of equally distant places is fixed. */
static int nearer_first(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* For a matrix, what distinguishes it. */
static const char *say_size(job *j, const result_size *s) {
    enum { OF_MATRIX = 6 };
    if (s->count != OF_MATRIX)
        return results_size_text(j, s);
    return job_print(j, "%lldx%lld with %s", (long long)s->number[0], (long long)s->number[1],
                     text_count(j, s->number[2], "entry"));
}

static void take(job *j, finding *f, const candidate *c, const char *plan, double median) {
    const bool exact = c->distance == 0;
    text found = text_new(j);
    text_printf(&found, exact ? "exact" : "nearest %s", say_size(j, &c->size));
    if (!exact && c->steps != f->place->steps)
        text_printf(&found, ", %lld steps", (long long)c->steps);
    *f->match = (result_match){.how = exact ? RESULT_EXACT : RESULT_NEAREST,
                               .plan = plan,
                               .found = found.data,
                               .size = c->size,
                               .steps = c->steps,
                               .distance = c->distance,
                               .median = median};
}

/* The fastest that fits; none is no error. */
static int read_plans(job *j, finding *f, const candidate *c) {
    int code;
    sqlite3_stmt *s =
        results_bind(f->r, STATEMENT_BEST, &code, "it", c->place, result_state_words[RESULT_RIGHT]);
    while (f->match->plan == NULL && results_next(s, &code)) {
        result found;
        if (results_read_result(j, f->r, s, &found) &&
            (f->fits == NULL || f->fits(f->user, found.plan)))
            take(j, f, c, found.plan, found.settled);
    }
    return code;
}

/* Results of another version belong to other kernels. */
static int note_others(job *j, finding *f) {
    int code;
    sqlite3_stmt *s = bind_key(f, STATEMENT_OTHERS, &code);
    text names = text_new(j);
    while (results_next(s, &code)) {
        const char *name;
        if (results_read_generator(j, f->r, s, &name))
            text_printf(&names, "%s%s", names.length > 0 ? ", " : "", name);
    }
    if (names.length > 0)
        f->match->note = job_print(j, "results of stencilgen %s are not used", names.data);
    return code;
}

/* The most common case needs no list of places. */
static int look_here(job *j, finding *f) {
    candidate c = {.steps = f->place->steps, .size = f->place->size};
    int code;
    if (!results_find_place(j, f->r, f->place, &f->here, &code))
        return code;
    c.place = f->here;
    return read_plans(j, f, &c);
}

static int look(job *j, finding *f) {
    int code = look_here(j, f);
    if (code == SQLITE_OK && f->match->plan == NULL)
        code = read_places(j, f);
    if (f->count > 1)
        qsort(f->list, f->count, sizeof *f->list, nearer_first);
    for (size_t i = 0; i < f->count && code == SQLITE_OK && f->match->plan == NULL; i++)
        code = read_plans(j, f, &f->list[i]);
    if (code == SQLITE_OK && f->match->plan == NULL)
        code = note_others(j, f);
    return code;
}

/* ---- the call -------------------------------------------------------------------------------- */

static void go_without(job *j, const results *r, const char *why) {
    logger_say(r->logger, j, SG_LOG_WARNING, "the tuning results in %s are not used: %s", r->path,
               why);
}

static void find(job *j, finding *f) {
    results *r = f->r;
    const char *why;
    const connection c = results_connect_to_find(j, r, &why);
    if (c == CONNECTION_REFUSED && why != NULL)
        go_without(j, r, why);
    if (c != CONNECTED)
        return;
    const int code = look(j, f);
    if (code == SQLITE_OK)
        return;
    *f->match = (result_match){.found = "none"};
    go_without(j, r, results_trouble(j, r, code));
    if (results_may_reconnect(code))
        results_refuse(r);
}

void results_find(job *j, results *r, const result_place *place,
                  bool (*fits)(void *user, const char *plan), void *user, result_match *out) {
    *out = (result_match){.found = "none"};
    if (r->off != NULL)
        return;
    finding f = {.r = r,
                 .place = place,
                 .spec = results_spec(place->family, place->model),
                 .device = results_device_key(&place->device),
                 .fits = fits,
                 .user = user,
                 .match = out};
    results_enter(j, r);
    find(j, &f);
    results_leave(j, r);
}

/* ---- listing --------------------------------------------------------------------------------- */

static int read_rows(job *j, results *r, const void *filter, void *out) {
    const result_filter *f = filter;
    result_rows *rows = out;
    result_row row;
    int code;
    int64_t place = -1;
    if (f->place != NULL && !results_find_place(j, r, f->place, &place, &code))
        return code;
    sqlite3_stmt *s = results_bind(r, STATEMENT_LIST, &code, "ctc", place, f->name,
                                   f->sweep > 0 ? f->sweep : (int64_t)-1);
    while (results_next(s, &code))
        if (results_read_row(j, r, s, &row)) {
            rows->list = job_grow(j, rows->list, rows->count, sizeof *rows->list);
            rows->list[rows->count++] = row;
        }
    return code;
}

static int read_drifts(job *j, results *r, const void *sweep, void *out) {
    result_drifts *all = out;
    sg_drift drift;
    int code;
    sqlite3_stmt *s = results_bind(r, STATEMENT_DRIFTS, &code, "i", *(const int64_t *)sweep);
    while (results_next(s, &code))
        if (results_read_drift(j, r, s, &drift)) {
            all->list = job_grow(j, all->list, all->count, sizeof *all->list);
            all->list[all->count++] = drift;
        }
    return code;
}

static void list(job *j, results *r, int (*read)(job *, results *, const void *, void *),
                 const void *what, void *out) {
    if (r->off != NULL)
        return;
    const char *why;
    results_enter(j, r);
    r->refused = (struct stat){0}; /* whoever asks wants to know why */
    if (results_connect_to_find(j, r, &why) == CONNECTED) {
        const int code = read(j, r, what, out);
        why = code != SQLITE_OK ? results_trouble(j, r, code) : NULL;
    }
    if (why != NULL)
        job_fail(j, FAULT_IO, r->path, 0, "tuning results cannot be read: %s", why);
    results_leave(j, r);
}

result_rows results_list(job *j, results *r, const result_filter *f) {
    result_rows rows = {0};
    list(j, r, read_rows, f, &rows);
    return rows;
}

result_drifts results_drifts(job *j, results *r, int64_t sweep) {
    result_drifts out = {0};
    list(j, r, read_drifts, &sweep, &out);
    return out;
}

/* ---- what there is --------------------------------------------------------------------------- */

static void count_all(job *j, results *r, results_facts *out) {
    int code;
    sqlite3_stmt *s = results_bind(r, STATEMENT_COUNT, &code, "");
    while (results_next(s, &code)) {
        out->results = sqlite3_column_int64(s, 0);
        out->specs = sqlite3_column_int64(s, 1);
        out->devices = sqlite3_column_int64(s, 2);
    }
    if (code != SQLITE_OK)
        out->trouble = results_trouble(j, r, code);
}

void results_examine(job *j, results *r, results_facts *out) {
    struct stat facts;
    *out = (results_facts){.path = r->path, .reason = r->reason, .trouble = r->off};
    if (r->off != NULL)
        return;
    results_enter(j, r);
    const char *why;
    r->refused = (struct stat){0};
    const connection c = results_connect_to_find(j, r, &why);
    out->exists = c != CONNECTION_ABSENT;
    out->trouble = c == CONNECTION_REFUSED ? why : NULL;
    if (c == CONNECTED)
        count_all(j, r, out);
    if (out->exists && lstat(r->path, &facts) == 0)
        out->bytes = facts.st_size;
    if (out->trouble == NULL && c == CONNECTED && sqlite3_db_readonly(r->database, "main") == 1)
        out->trouble = results_read_only;
    if (out->trouble == NULL)
        out->trouble = user_folder_trouble(j, r->folder);
    results_leave(j, r);
}
