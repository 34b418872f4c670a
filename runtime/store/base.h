/* Inside the tuning results. A call works between results_enter and results_leave, which hold
   the lock. In between only job_fail leaves, and the undo of results_enter closes what was
   opened. */
#ifndef SG_RUNTIME_STORE_BASE_H
#define SG_RUNTIME_STORE_BASE_H

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/io.h"
#include "runtime/store/results.h"

/* Each is a row of the table in schema.c. */
typedef enum statement_id {
    STATEMENT_BEGIN,
    STATEMENT_COMMIT,
    STATEMENT_ROLLBACK,
    STATEMENT_PLACES, /* of a spec, a device and a generator */
    STATEMENT_BEST,   /* right plans at a place, the fastest first */
    STATEMENT_OTHERS, /* generators that know the spec on the device too */
    STATEMENT_ADD_SPEC,
    STATEMENT_ADD_DEVICE,
    STATEMENT_ADD_PLACE,
    STATEMENT_FIND_PLACE,
    STATEMENT_ADD_RESULT,
    STATEMENT_ADD_SWEEP,
    STATEMENT_UNFINISHED,
    STATEMENT_END_SWEEP,
    STATEMENT_NO_FINALS, /* of a sweep */
    STATEMENT_ADD_FINAL,
    STATEMENT_SETTLE, /* what took no part in them */
    STATEMENT_ADD_DRIFT,
    STATEMENT_DRIFTS,
    STATEMENT_LIST,
    STATEMENT_COUNT,
    STATEMENTS
} statement_id;

struct results {
    const char *path, *folder; /* "" where there is none */
    const char *reason;
    const char *off; /* why there is none; NULL where there is */
    bool ours;       /* in stencilgen's own folder */
    const logger *logger;
    int finding, storing; /* milliseconds to wait */

    pthread_mutex_t lock; /* of what follows */
    io_guard limit;       /* while it is held: SQLite writes */
    bool warned;          /* of rows that are not valid */
    sqlite3 *database;    /* NULL: not connected */
    bool storable;        /* it was checked, and has its tables */
    struct stat file;     /* that it is connected to; all 0: none */
    struct stat refused;  /* that is of no use, and was warned of; likewise */
    int guard;            /* the open and locked folder; −1 */
    sqlite3_stmt *statements[STATEMENTS];
};

/* The pragma for a file system by its number (statfs): write-ahead logging, but a rollback
   journal on file systems that machines share, where processes cannot share the memory that the
   log needs (https://www.sqlite.org/wal.html, 1). */
const char *results_journal(long file_system);

void results_enter(job *, results *);
void results_leave(job *, results *);

/* ---- schema.c -------------------------------------------------------------------------------- */

/* "sgre", for stencilgen's results, in the header of every such file (bytes 68 to 71). */
#define RESULTS_APPLICATION 1936159333

/* The version of the tables. 0 is an empty file; 1 was never in a release. */
#define RESULTS_VERSION 2

/* Makes the tables of an empty database. An SQLite code. */
int results_make_tables(sqlite3 *);

/* The number of a pragma or of a query of one row. An SQLite code. */
int results_number(sqlite3 *, const char *query, int64_t *out);

/* ---- connect.c ------------------------------------------------------------------------------- */

typedef enum connection {
    CONNECTED,
    CONNECTION_ABSENT, /* there is no database */
    CONNECTION_REFUSED /* r->refused was set just now, or before */
} connection;

/* For lookups: creates and changes nothing. *why says why it is refused; NULL if that was said
   before of this file. */
connection results_connect_to_find(job *, results *, const char **why);

/* For storing: sets a damaged file aside and makes what is missing. NULL, or why it cannot be
   used. */
const char *results_connect_to_store(job *, results *);
void results_disconnect(results *);
void results_refuse(results *); /* refuses the connected file until it changes */

/* Whether connecting again may help after an SQLite code that says that the file is not what it
   was. */
bool results_may_reconnect(int code);

/* What the last failed call says: "database or disk is full". */
const char *results_trouble(job *, const results *, int code);
extern const char results_read_only[]; /* what SQLite calls an attempt to write, and more */

/* ---- statements ------------------------------------------------------------------------------ */

/* A statement with its values bound, a letter each: t a text, d a digest, b a blob, f a double
   (NULL unless finite), i an int64_t, c a count (an int64_t; NULL below 0). The values are not
   copied. NULL, with the code in *code: the database lacks its table. */
sqlite3_stmt *results_bind(results *, statement_id, int *code, const char *kinds, ...);

/* Goes to the next row, if *code is that of a statement that is ready. False: there is none, or
 *code says why. */
bool results_next(sqlite3_stmt *, int *code);

/* Binds values likewise and runs a statement that gives no rows. An SQLite code. */
int results_run(results *, statement_id, const char *kinds, ...);

/* The number of a place; false: there is none, or an SQLite code in *code. */
bool results_find_place(job *, results *, const result_place *, int64_t *out, int *code);

/* ---- rows.c ---------------------------------------------------------------------------------- */

/* Reads the current row of a statement. False: it is not valid and must be skipped; the first
   such row is logged. */
bool results_read_row(job *, results *, sqlite3_stmt *, result_row *); /* of STATEMENT_LIST */
bool results_read_result(job *, results *, sqlite3_stmt *, result *);  /* of STATEMENT_BEST */
bool results_read_drift(job *, results *, sqlite3_stmt *, sg_drift *);
bool results_read_place(job *, results *, sqlite3_stmt *, int64_t *id, result_size *,
                        int64_t *steps); /* of STATEMENT_PLACES */
bool results_read_generator(job *, results *, sqlite3_stmt *, const char **); /* …_OTHERS */

/* The key of a device. */
digest results_device_key(const result_device *);

const char *results_column_text(job *, sqlite3_stmt *, int column);

/* Parses "512x512x512"; false: it is no size. */
bool results_read_size(const char *, result_size *out);

#endif
