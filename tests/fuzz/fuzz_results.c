/* Databases of tuning results. The bytes change the rows of a small one that a sweep on the cpu
   device has left, in tables that take any value, or the bytes of the file itself; then all that
   reads a database reads it: lists, export, the report's page, builds, and a sweep that goes on.
   What they are told is what results may be. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "cli/report/page.h"
#include "cli/report/report.h"
#include "runtime/store/results.h"

static const char heat[] =
    "return stencil { name = 'heat', shape = star(1, 1),"
    " coefficients = { 0.5, 0.25, 0.25 },"
    " tune = { method = { 'naive' }, tile = { { x = 64 }, { x = 128 } }, vector = { 1 } } }";

enum { SIZE = 5000 };

static char folder[] = "/tmp/sg-fuzz-results-XXXXXX";
static char path[64], other_path[64];
static sqlite3 *database;
static sg_context *context;
static uint8_t *whole;
static size_t whole_size;

/* ---- the database -------------------------------------------------------------------------- */

static void run(const char *sql) {
    DEMAND(sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK);
}

typedef struct table {
    const char *name;
    int count;
    const char *columns[32];
} table;

static const table tables[] = {
    {"spec", 4, {"hash", "family", "name", "model"}},
    {"device", 6, {"key", "kind", "name", "arch", "multiprocessors", "memory"}},
    {"place", 6, {"id", "spec", "device", "generator", "size", "steps"}},
    {"sweep", 6, {"id", "place", "options", "candidates", "begun", "ended"}},
    {"result",
     28,
     {"place",
      "plan",
      "state",
      "reason",
      "seconds",
      "median",
      "spread",
      "estimate",
      "compile_seconds",
      "check_seconds",
      "driver",
      "compiler",
      "registers",
      "shared_bytes",
      "local_bytes",
      "occupancy",
      "clock_before",
      "clock_after",
      "temperature_before",
      "temperature_after",
      "copy_seconds",
      "sweep",
      "evaluation",
      "taken",
      "final",
      "final_seconds",
      "settled",
      "id"}},
    {"drift",
     8,
     {"sweep", "plan", "evaluation", "first", "seconds", "clock", "temperature", "taken"}},
};
enum { TABLES = sizeof tables / sizeof *tables };

static sg_context *open_context(const char *device, const char *at) {
    sg_context *c;
    const sg_options options = {.struct_size = sizeof options,
                                .device = device,
                                .threads = 1,
                                .cache = folder,
                                .database = at};
    DEMAND(sg_open(&c, &options) == SG_OK);
    return c;
}

static int stop_after_two(void *user, const sg_tune_progress *p) {
    (void)user;
    return p->last != NULL && p->evaluations == 2;
}

static int stop_at_once(void *user, const sg_tune_progress *p) {
    (void)user;
    (void)p;
    return 1;
}

static void sweep(int (*progress)(void *, const sg_tune_progress *), int steps) {
    const sg_build_options build = {
        .struct_size = sizeof build, .text = heat, .size = {SIZE}, .steps = steps};
    const sg_tune_options options = {.struct_size = sizeof options,
                                     .build = &build,
                                     .search = SG_SEARCH_EXHAUSTIVE,
                                     .progress = progress};
    sg_tuning *t = NULL;
    if (sg_tune(context, "spec", &options, &t) == SG_OK) {
        DEMAND(t->evaluation_count <= t->candidate_count + 1 && t->resumed <= t->evaluation_count);
        for (int i = 0; i < t->evaluation_count; i++)
            DEMAND(isnan(t->evaluations[i].seconds) || result_is_time(t->evaluations[i].seconds));
    }
    sg_tuning_free(t);
}

static void read_whole(void) {
    FILE *file = fopen(path, "rb");
    DEMAND(file != NULL && fseek(file, 0, SEEK_END) == 0);
    whole_size = (size_t)ftell(file);
    whole = malloc(whole_size);
    DEMAND(whole != NULL && fseek(file, 0, SEEK_SET) == 0);
    DEMAND(fread(whole, 1, whole_size, file) == whole_size);
    fclose(file);
}

static void remove_all(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    DEMAND(system(command) == 0);
}

/* Each table loses its constraints, and leaves a copy of its rows. */
static void loosen(void) {
    char sql[512];
    for (int i = 0; i < TABLES; i++) {
        const char *name = tables[i].name;
        snprintf(sql, sizeof sql,
                 "CREATE TABLE kept_%s AS SELECT * FROM %s; DROP TABLE %s;"
                 "CREATE TABLE %s AS SELECT * FROM kept_%s",
                 name, name, name, name, name);
        run(sql);
    }
}

static void restore(void) {
    char sql[256];
    for (int i = 0; i < TABLES; i++) {
        snprintf(sql, sizeof sql, "DELETE FROM %s; INSERT INTO %s SELECT * FROM kept_%s",
                 tables[i].name, tables[i].name, tables[i].name);
        run(sql);
    }
}

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerInitialize(int *count, char ***arguments) {
    (void)count;
    (void)arguments;
    DEMAND(mkdtemp(folder) != NULL);
    atexit(remove_all);
    snprintf(path, sizeof path, "%s/results.db", folder);
    snprintf(other_path, sizeof other_path, "%s/other.db", folder);
    context = open_context("cpu", path);
    sweep(stop_after_two, 1);
    sweep(stop_at_once, 8);
    DEMAND(sqlite3_open(path, &database) == SQLITE_OK);
    run("PRAGMA synchronous = OFF; PRAGMA wal_checkpoint(TRUNCATE);"
        "INSERT INTO drift VALUES (1, 1, 'naive', 2, 1e-5, 1.1e-5, 1700, 60, 1790000000000)");
    run("PRAGMA wal_checkpoint(TRUNCATE)");
    read_whole();
    loosen();
    return 0;
}

/* ---- the input ----------------------------------------------------------------------------- */

typedef struct input {
    const uint8_t *at, *end;
} input;

static unsigned take(input *i) {
    return i->at < i->end ? *i->at++ : 0;
}

static uint64_t take_bits(input *i) {
    uint64_t bits = 0;
    for (int b = 0; b < 8; b++)
        bits = bits << 8 | take(i);
    return bits;
}

static size_t take_length(input *i) {
    const size_t wanted = take(i), left = (size_t)(i->end - i->at);
    return wanted < left ? wanted : left;
}

static void bind(sqlite3_stmt *s, input *i) {
    static const double numbers[] = {0,     -1,     1e-13, 1e-12,    1e-3, 1,      1e9,
                                     1.1e9, 1e-300, 1e300, INFINITY, NAN,  5e-324, -0.0};
    static const int64_t wholes[] = {0,         -1,        1,         INT32_MAX, (int64_t)1 << 31,
                                     INT64_MAX, INT64_MIN, INT32_MIN, 65536,     253402300800000};
    static const char *const words[] = {
        "right",   "wrong", "refused", "not compiled", "failed",      "hung", "cuda", "cpu",
        "stencil", "spmv",  "5000",    "5000x1",       "1x2x3x4x5x6", "x",    "",     "0.1.0"};
    uint64_t bits;
    double number;
    switch (take(i) % 8) {
    case 0:
        break;
    case 1:
        sqlite3_bind_int64(s, 1, (int8_t)take(i));
        break;
    case 2:
        sqlite3_bind_int64(s, 1, (int64_t)take_bits(i));
        break;
    case 3:
        bits = take_bits(i);
        memcpy(&number, &bits, sizeof number);
        sqlite3_bind_double(s, 1, number);
        break;
    case 4: {
        const size_t length = take_length(i);
        sqlite3_bind_text(s, 1, (const char *)i->at, (int)length, SQLITE_TRANSIENT);
        i->at += length;
        break;
    }
    case 5: {
        const size_t length = take_length(i);
        sqlite3_bind_blob(s, 1, i->at, (int)length, SQLITE_TRANSIENT);
        i->at += length;
        break;
    }
    case 6:
        sqlite3_bind_double(s, 1, numbers[take(i) % (sizeof numbers / sizeof *numbers)]);
        break;
    default: {
        const unsigned which = take(i);
        if (which % 2 == 0)
            sqlite3_bind_int64(s, 1, wholes[which / 2 % (sizeof wholes / sizeof *wholes)]);
        else
            sqlite3_bind_text(s, 1, words[which / 2 % (sizeof words / sizeof *words)], -1,
                              SQLITE_STATIC);
    }
    }
}

/* One column of one row, or of all. */
static void change(input *i, const table *t) {
    char sql[256];
    sqlite3_stmt *s;
    snprintf(sql, sizeof sql, "UPDATE %s SET %s = ?1 WHERE rowid = ?2 OR ?2 = 0", t->name,
             t->columns[take(i) % (unsigned)t->count]);
    DEMAND(sqlite3_prepare_v2(database, sql, -1, &s, NULL) == SQLITE_OK);
    sqlite3_bind_int(s, 2, (int)(take(i) % 4));
    bind(s, i);
    sqlite3_step(s);
    sqlite3_finalize(s);
}

/* Twice as many rows, or one less. */
static void multiply(input *i) {
    enum { MOST_DOUBLINGS = 4 };
    static const char *const how[] = {"INSERT INTO %s SELECT * FROM %s",
                                      "DELETE FROM %s WHERE rowid = (SELECT max(rowid) FROM %s)"};
    const table *t = &tables[take(i) % TABLES];
    const unsigned times = 1 + take(i) % MOST_DOUBLINGS, which = take(i) % 2;
    char sql[256];
    snprintf(sql, sizeof sql, how[which], t->name, t->name);
    for (unsigned k = 0; k < times; k++)
        run(sql);
}

static void change_rows(input *i) {
    enum { MOST_CHANGES = 64 };
    int doublings = 0;
    run("BEGIN");
    restore();
    for (int k = 0; k < MOST_CHANGES && i->at < i->end; k++) {
        const unsigned what = take(i) % (TABLES + 1);
        if (what < TABLES)
            change(i, &tables[what]);
        else if (doublings++ < 2)
            multiply(i);
    }
    run("COMMIT");
}

/* ---- what reads it ------------------------------------------------------------------------- */

typedef struct reading {
    sg_context *context;
    t4 t4;
    page_results all;
    page_drifts drifts;
    int64_t last_sweep;
} reading;

static void note_drift(void *user, const sg_drift *d) {
    reading *r = user;
    DEMAND(result_is_time(d->first_seconds) && result_is_time(d->seconds));
    page_keep_drift(&r->drifts, d);
}

static void note(void *user, const sg_result *f) {
    reading *r = user;
    DEMAND(f->plan[0] != '\0' && f->repeats >= 0 && f->size_count >= 1 && f->size_count <= 8);
    DEMAND(isnan(f->median) || result_is_time(f->median));
    DEMAND(isnan(f->final_seconds) || result_is_time(f->final_seconds));
    DEMAND(f->steps >= 1 && f->taken >= 0 && f->evaluation >= 0 && f->sweep >= 0);
    for (int i = 0; i < f->repeats; i++)
        DEMAND(result_is_time(f->seconds[i]));
    t4_result(&r->t4, f);
    page_keep(&r->all, f);
    if (f->sweep > 0 && f->sweep != r->last_sweep)
        sg_drifts(r->context, r->last_sweep = f->sweep, note_drift, r);
}

static void write_page(const reading *r) {
    page_results rows = {0};
    text out = new_text();
    for (int i = 0; i < r->all.count; i++)
        if (page_same_place(&r->all.list[i], &r->all.list[0]))
            page_keep(&rows, &r->all.list[i]);
    page p = {.spec = "heat.lua",
              .name = "heat",
              .shape = "1D star",
              .dtype = "float",
              .operations = 5,
              .bytes = 8,
              .usual = "naive",
              .rows = rows.list,
              .count = rows.count,
              .drifts = &r->drifts};
    page_look(&p);
    page_write(&p, &out);
    DEMAND(strstr(out.data, "=\"nan") == NULL);
    DEMAND(strstr(out.data, "=\"inf") == NULL);
}

/* sg_results holds no lock while it tells, so that drifts may be asked for meanwhile. */
static void read_all(sg_context *c) {
    text line = new_text();
    json j = {.out = &line};
    reading r = {.context = c};
    t4_begin(&r.t4, &j);
    const sg_status status = sg_results(c, NULL, note, &r);
    DEMAND(status == SG_OK || status == SG_ERROR_IO);
    t4_end(&r.t4);
    if (r.all.count > 0)
        write_page(&r);
}

static void build(sg_context *c, int64_t size, int64_t steps) {
    const sg_build_options options = {.struct_size = sizeof options,
                                      .text = heat,
                                      .size = {size},
                                      .steps = steps,
                                      .source_only = 1};
    sg_kernel *k;
    DEMAND(sg_build(c, "spec", &options, &k) == SG_OK);
    sg_release(k);
}

/* ---- the bytes of the file ----------------------------------------------------------------- */

static void change_file(input *i) {
    uint8_t *bytes = malloc(whole_size);
    DEMAND(bytes != NULL);
    memcpy(bytes, whole, whole_size);
    while (i->at < i->end) {
        const size_t at = (size_t)take(i) << 8 | take(i), length = 1 + take(i) % 8;
        for (size_t k = 0; k < length; k++)
            bytes[(at + k) % whole_size] = (uint8_t)take(i);
    }
    FILE *file = fopen(other_path, "wb");
    DEMAND(file != NULL && fwrite(bytes, 1, whole_size, file) == whole_size);
    fclose(file);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    input i = {bytes, bytes + count};
    if (take(&i) % 8 == 7) {
        change_file(&i);
        sg_context *other = open_context("none", other_path);
        read_all(other);
        sg_close(other);
        return 0;
    }
    change_rows(&i);
    read_all(context);
    forget_everything();
    build(context, SIZE, 1);
    build(context, SIZE + 1, 1);
    build(context, SIZE, 8);
    sweep(stop_at_once, 1);
    return 0;
}
