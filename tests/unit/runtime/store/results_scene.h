/* A database of tuning results with a log, and results to put into it and to look up. Children of a
   test may use what does not assert in cmocka's way. */
#ifndef TESTS_RESULTS_SCENE_H
#define TESTS_RESULTS_SCENE_H

#include <math.h>

#include "runtime/store/base.h"
#include "runtime/store/results.h"
#include "tests/unit/scratch_folder.h"

typedef struct scene {
    job *job;
    results *results;
    logger logger;
    char *path; /* in the scratch folder */
    int warnings;
    char last[4096];  /* warning */
    char error[4096]; /* of the last errand that failed */
} scene;

static inline void hear(void *user, sg_log_level level, const char *text) {
    scene *s = user;
    if (level != SG_LOG_WARNING)
        return;
    s->warnings++;
    snprintf(s->last, sizeof s->last, "%s", text);
}

static inline void open_body(job *j, void *argument) {
    scene *s = argument;
    s->results = results_open(j, s->path, &s->logger);
}

/* `path` as in sg_options; it is the scene's to free. */
static inline void scene_open_at(scene *s, char *path) {
    *s = (scene){.path = path};
    s->logger = (logger){.call = hear, .user = s};
    if (job_run(&allocator_libc, open_body, s, &s->job) != FAULT_NONE)
        abort();
}

static inline void scene_open(scene *s, const char *name) {
    scene_open_at(s, scratch_path(name));
}

static inline void scene_close(scene *s) {
    results_close(s->results);
    job_end(s->job);
    free(s->path);
}

/* Around a test: a folder of its own, with a database where a user's would lie. */
static inline int scene_enter(scene *s, void **state) {
    if (scratch_enter(state) != 0)
        return -1;
    scene_open(s, "data/stencilgen/results.db");
    return 0;
}

static inline int scene_leave(scene *s, void **state) {
    scene_close(s);
    return scratch_leave(state);
}

static inline void same_number(double a, double b) {
    assert_true(a == b || (isnan(a) && isnan(b)));
}

static inline void expect_warning(const scene *s, int count, const char *says) {
    assert_int_equal(s->warnings, count);
    if (strstr(s->last, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", s->last, says);
}

static inline void expect_error(const scene *s, const char *says) {
    if (strstr(s->error, says) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", s->error, says);
}

/* ---- places -------------------------------------------------------------------------------- */

static inline result_place place_of(int64_t x, int64_t y, int64_t z) {
    return (result_place){.family = "stencil",
                          .name = "heat",
                          .model = "u = 0.5*u(0) + 0.5*u(1)\n",
                          .generator = "0.1.0",
                          .device = {.kind = "cuda",
                                     .name = "Fake GPU",
                                     .arch = "sm_90",
                                     .multiprocessors = 132,
                                     .memory = (int64_t)79 << 30},
                          .size = {.count = z > 0   ? 3
                                            : y > 0 ? 2
                                                    : 1,
                                   .number = {x, y, z}},
                          .steps = 1};
}

/* ---- errands ------------------------------------------------------------------------------- */

typedef struct errand {
    scene *scene;
    const result_place *place;
    const result *result;
    const char *options;
    int64_t sweep;
    bool (*fits)(void *, const char *);
    result_filter filter;
    result_match match;
    result_rows rows;
    results_facts facts;
} errand;

/* What comes out lives until the next errand of the scene. */
static inline fault run_errand(void (*body)(job *, void *), errand *e) {
    static job *last;
    job_end(last);
    last = NULL;
    const fault f = job_run(&allocator_libc, body, e, &last);
    if (f != FAULT_NONE)
        snprintf(e->scene->error, sizeof e->scene->error, "%s", job_error(last));
    return f;
}

static inline void store_body(job *j, void *argument) {
    const errand *e = argument;
    results_store(j, e->scene->results, e->place, e->result);
}

static inline fault store(scene *s, const result_place *p, const result *r) {
    return run_errand(store_body, &(errand){.scene = s, .place = p, .result = r});
}

/* A plan that was right in `seconds`. */
static inline fault put(scene *s, const result_place *p, const char *plan, double seconds) {
    result r = results_blank(plan, RESULT_RIGHT, "");
    r.seconds = &seconds;
    r.count = 1;
    return store(s, p, &r);
}

static inline void find_body(job *j, void *argument) {
    errand *e = argument;
    results_find(j, e->scene->results, e->place, e->fits, e->scene, &e->match);
}

static inline result_match find_fitting(scene *s, const result_place *p,
                                        bool (*fits)(void *, const char *)) {
    errand e = {.scene = s, .place = p, .fits = fits};
    if (run_errand(find_body, &e) != FAULT_NONE)
        abort();
    return e.match;
}

static inline result_match find(scene *s, const result_place *p) {
    return find_fitting(s, p, NULL);
}

static inline bool finds(scene *s, const result_place *p, const char *plan) {
    const result_match m = find(s, p);
    return plan == NULL ? m.plan == NULL : m.plan != NULL && strcmp(m.plan, plan) == 0;
}

static inline void list_body(job *j, void *argument) {
    errand *e = argument;
    e->rows = results_list(j, e->scene->results, &e->filter);
}

static inline fault list(scene *s, result_filter filter, result_rows *out) {
    errand e = {.scene = s, .filter = filter};
    const fault f = run_errand(list_body, &e);
    *out = e.rows;
    return f;
}

static inline size_t count_rows(scene *s, result_filter filter) {
    result_rows rows;
    return list(s, filter, &rows) == FAULT_NONE ? rows.count : (size_t)-1;
}

static inline void begin_body(job *j, void *argument) {
    errand *e = argument;
    e->sweep = results_begin(j, e->scene->results, e->place, e->options, 10);
}

static inline void unfinished_body(job *j, void *argument) {
    errand *e = argument;
    e->sweep = results_unfinished(j, e->scene->results, e->place, e->options, INT64_MAX);
}

static inline void end_body(job *j, void *argument) {
    const errand *e = argument;
    results_end(j, e->scene->results, e->sweep);
}

/* The sweep that the body begins, or finds. */
static inline int64_t sweep_of(scene *s, void (*body)(job *, void *), const result_place *p,
                               const char *options) {
    errand e = {.scene = s, .place = p, .options = options};
    return run_errand(body, &e) == FAULT_NONE ? e.sweep : -1;
}

static inline void examine_body(job *j, void *argument) {
    errand *e = argument;
    results_examine(j, e->scene->results, &e->facts);
}

static inline results_facts examine(scene *s) {
    errand e = {.scene = s};
    if (run_errand(examine_body, &e) != FAULT_NONE)
        abort();
    return e.facts;
}

/* ---- the database itself ------------------------------------------------------------------- */

/* Runs SQL on a file, which need not be there. */
static inline void run_sql(const char *path, const char *texts) {
    sqlite3 *database;
    char *error = NULL;
    if (sqlite3_open(path, &database) != SQLITE_OK ||
        sqlite3_exec(database, texts, NULL, NULL, &error) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", texts, error != NULL ? error : "not opened");
        abort();
    }
    sqlite3_close(database);
}

static inline int64_t ask_sql(const char *path, const char *query) {
    sqlite3 *database;
    int64_t number = -1;
    if (sqlite3_open(path, &database) != SQLITE_OK ||
        results_number(database, query, &number) != SQLITE_OK)
        number = -1;
    sqlite3_close(database);
    return number;
}

#endif
