/* The database of tuning results inside. Takes: where it is. Makes: a connection to it, or why
   there is none. Needs: SQLite.

   All that a call does lies between results_enter and results_leave, which hold the lock. Within,
   nothing but job_fail leaves; what was opened then is closed by results_enter's undo. */
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
    STATEMENT_BEST,   /* plans that were right at a place, the fastest first */
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
extern const char *const results_statements[STATEMENTS];

/* What tells whether a file is still the one that it was. */
typedef struct file_mark {
    bool set;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified;
} file_mark;

struct results {
    const char *path, *folder; /* "" where there is none */
    const char *reason;
    const char *off; /* why there is none; NULL where there is */
    bool ours;       /* in stencilgen's own folder, where nothing else has a place */
    const logger *logger;
    int finding, storing; /* milliseconds to wait */

    pthread_mutex_t lock; /* of what follows */
    io_guard limit;       /* while it is held: SQLite writes */
    bool warned;          /* of rows that are not valid */
    sqlite3 *database;    /* NULL: not connected */
    bool storable;        /* it was looked through, and is of the current schema */
    file_mark file;       /* that it is connected to */
    file_mark refused;    /* that is of no use, and was warned of */
    int guard;            /* the open and locked folder; −1 */
    sqlite3_stmt *statements[STATEMENTS];
};

/* The pragma for a file system by its number (statfs): write-ahead logging, but a rollback journal
   where machines share files, such as the homes of a cluster: processes of several machines cannot
   share the memory that the former needs (https://www.sqlite.org/wal.html, 1). */
const char *results_journal(long file_system);

void results_enter(job *, results *);
void results_leave(job *, results *);

/* ---- schema.c ------------------------------------------------------------------------------ */

/* "sgre", for stencilgen's results, in the header of every such file (bytes 68 to 71). */
#define RESULTS_APPLICATION 1936159333

/* The version of the tables. 0 is an empty file; 1 was never in a release. */
#define RESULTS_VERSION 2

/* Makes the tables of an empty database. An SQLite code. */
int results_make_tables(sqlite3 *);

/* A number that a pragma or a query of one row gives. An SQLite code. */
int results_number(sqlite3 *, const char *query, int64_t *out);

/* ---- connect.c ----------------------------------------------------------------------------- */

typedef enum connection {
    CONNECTED,
    CONNECTION_ABSENT, /* there is no database */
    CONNECTION_REFUSED /* r->refused was set just now, or before */
} connection;

/* For lookups: creates and changes nothing. *why, where refused, says why in the job; NULL where
   that was said before of the same file. */
connection results_connect_to_find(job *, results *, const char **why);

/* For storing: sets a damaged file aside, makes what is missing. NULL, or why it cannot be. */
const char *results_connect_to_store(job *, results *);
void results_disconnect(results *);
void results_refuse(results *); /* the file that it is connected to, until that changes */

/* After an SQLite code that says that the file is not what it was, or what it ought to be: whether
   to connect again may help. */
bool results_may_reconnect(int code);

/* What the last failed call says, in the job: "database or disk is full". */
const char *results_trouble(job *, const results *, int code);

/* ---- statements ---------------------------------------------------------------------------- */

/* Ready to be bound; NULL where the database lacks what it is about, with the code in *code. */
sqlite3_stmt *results_statement(results *, statement_id, int *code);

/* The same with its values bound, a letter each: t a text, d a digest, b a blob, f a double (NULL
   unless finite), i an int64_t, c a count (an int64_t; NULL below 0). The values are not copied. */
sqlite3_stmt *results_bind(results *, statement_id, int *code, const char *kinds, ...);

/* Binds values likewise and runs a statement that gives no rows. An SQLite code. */
int results_run(results *, statement_id, const char *kinds, ...);

/* The number of a place; false where there is none, or with an SQLite code in *code. */
bool results_find_place(job *, results *, const result_place *, int64_t *out, int *code);

/* A connection that may be asked what is in it: as results_connect_to_find, but FAULT_IO where it
   is refused. False: there is no database. */
bool results_connect_to_list(job *, results *);

/* ---- rows.c -------------------------------------------------------------------------------- */

/* The row that a statement is at. False: it is not valid and to be passed over; of the first such
   row the log was told. */
bool results_read_row(job *, results *, sqlite3_stmt *, result_row *); /* of STATEMENT_LIST */
bool results_read_result(job *, results *, sqlite3_stmt *, result *);  /* of STATEMENT_BEST */
bool results_read_drift(job *, results *, sqlite3_stmt *, result_drift *);
bool results_read_place(job *, results *, sqlite3_stmt *, int64_t *id, result_size *,
                        int64_t *steps); /* of STATEMENT_PLACES */
bool results_read_generator(job *, results *, sqlite3_stmt *, const char **); /* …_OTHERS */

/* The key of a device. */
digest results_device_key(const result_device *);

const char *results_column_text(job *, sqlite3_stmt *, int column);

/* "512x512x512" to its numbers; false where it is no size. */
bool results_read_size(const char *, result_size *out);

#endif
