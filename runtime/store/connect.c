/* From a file to a connection: what may be used, what is set aside, what is made.

   Whoever opens the database holds the folder's lock shared, and whoever makes, changes or sets
   aside the file as such holds it alone. So no process opens a file and then meets the log (-wal)
   of the one that took its place, which would damage both
   (https://www.sqlite.org/howtocorrupt.html, 1.4 and 4.3); and of several that find the same file
   damaged one sets it aside, and the others find a new one. Once open, SQLite itself notices that a
   file was moved before it writes. Where a file system knows no such locks, the short moments that
   they guard are unguarded. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "runtime/files/paths.h"
#include "runtime/store/base.h"

/* ---- files ----------------------------------------------------------------------------------- */

static bool same_file(const struct stat *a, const struct stat *b) {
    return a->st_ino != 0 && a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool unchanged(const struct stat *a, const struct stat *b) {
    return same_file(a, b) && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* What others may write to could have any content; a link may lead anywhere. A file of the system's
   administrator is fine: one may serve all users of a machine. */
static const char *judge_file(const struct stat *f) {
    if (S_ISLNK(f->st_mode))
        return "it is a symbolic link";
    if (S_ISDIR(f->st_mode))
        return "it is a folder";
    if (!S_ISREG(f->st_mode))
        return "it is no regular file";
    return file_danger(f, true);
}

/* Whether the file was made by some version of this library. What was not, only has a place in the
   library's own folder; elsewhere it may be a file that somebody named by mistake. */
static bool was_ours(const results *r) {
    unsigned char head[72];
    const int file = open(r->path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const ssize_t got = file >= 0 ? read(file, head, sizeof head) : -1;
    if (file >= 0)
        close(file);
    uint32_t application = 0;
    for (int i = 68; i < 72; i++)
        application = application << 8 | head[i];
    return got == sizeof head && memcmp(head, "SQLite format 3", 16) == 0 &&
           application == RESULTS_APPLICATION;
}

/* ---- the folder's lock ----------------------------------------------------------------------- */

static void unguard(results *r) {
    if (r->guard >= 0)
        close(r->guard);
    r->guard = -1;
}

/* False where others hold it all the time. */
static bool guard(results *r, int how, int milliseconds) {
    const double end = clock_seconds() + 1e-3 * milliseconds;
    r->guard = open(r->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r->guard < 0)
        return true; /* what is wrong with the folder shows when the file is opened */
    while (flock(r->guard, how | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return true; /* this file system has no locks */
        if (clock_seconds() > end) {
            unguard(r);
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return true;
}

/* ---- connections ----------------------------------------------------------------------------- */

void results_disconnect(results *r) {
    for (sqlite3_stmt *s;
         r->database != NULL && (s = sqlite3_next_stmt(r->database, NULL)) != NULL;)
        sqlite3_finalize(s);
    memset(r->statements, 0, sizeof r->statements);
    sqlite3_close(r->database);
    r->database = NULL;
    r->storable = false;
    r->file = (struct stat){0};
}

static const char locked[] = "another process keeps it locked";
const char results_read_only[] = "it or its folder is read-only, so the file cannot be written";

const char *results_trouble(job *j, const results *r, int code) {
    const int kind = code & 0xff;
    if (kind == SQLITE_BUSY || kind == SQLITE_LOCKED)
        return locked;
    if (kind == SQLITE_NOTADB)
        return "it is no database";
    if (kind == SQLITE_READONLY && code != SQLITE_READONLY_DBMOVED)
        return results_read_only;
    const int error = r->database != NULL ? sqlite3_system_errno(r->database) : 0;
    const bool system = error != 0 && (kind == SQLITE_CANTOPEN || kind == SQLITE_IOERR);
    return job_print(j, "%s%s%s", sqlite3_errstr(kind), system ? ": " : "",
                     system ? strerror(error) : "");
}

static bool is_damage(int code) {
    return (code & 0xff) == SQLITE_CORRUPT || (code & 0xff) == SQLITE_NOTADB;
}

bool results_may_reconnect(int code) {
    return is_damage(code) || code == SQLITE_READONLY_DBMOVED || code == SQLITE_ERROR ||
           code == SQLITE_SCHEMA;
}

/* Nothing that is in a file may run: our tables have no triggers and no views. */
static void be_careful(sqlite3 *database) {
    sqlite3_extended_result_codes(database, 1);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
}

static int open_database(results *r, const char *name, int flags, int wait) {
    results_disconnect(r);
    const int code = sqlite3_open_v2(name, &r->database, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (code != SQLITE_OK)
        return code;
    be_careful(r->database);
    return sqlite3_busy_timeout(r->database, wait);
}

/* Where nobody can write to the folder, SQLite cannot share its log with others there, and reads
   only what it is told will not change. What the log may hold is then unknown. */
static const char *immutable_name(job *j, const results *r) {
    text t = text_new(j);
    text_add(&t, "file:");
    for (const char *c = r->path; *c != '\0'; c++)
        if (strchr("%?#", *c) != NULL)
            text_printf(&t, "%%%02x", (unsigned char)*c);
        else
            text_add_bytes(&t, c, 1);
    text_add(&t, "?immutable=1");
    return t.data;
}

typedef struct identity {
    int64_t application, version, tables;
} identity;

static int identify(sqlite3 *database, identity *out) {
    *out = (identity){0};
    int code = results_number(database, "PRAGMA application_id", &out->application);
    if (code == SQLITE_OK)
        code = results_number(database, "PRAGMA user_version", &out->version);
    if (code == SQLITE_OK) /* the first to look at the log */
        code = results_number(database, "SELECT count(*) FROM sqlite_schema", &out->tables);
    return code;
}

/* NULL where it is ours and of this version; *empty where nothing was ever written to it. */
static const char *judge_content(job *j, const identity *i, bool *empty) {
    *empty = i->application == 0 && i->version == 0 && i->tables == 0;
    if (*empty)
        return NULL;
    if (i->application != RESULTS_APPLICATION)
        return "it is another program's database";
    if (i->version != RESULTS_VERSION)
        return job_print(j,
                         "%s version of stencilgen made it (version %lld of its tables; this is "
                         "stencilgen " SG_VERSION ", which knows %d)",
                         i->version > RESULTS_VERSION ? "a newer" : "an older",
                         (long long)i->version, RESULTS_VERSION);
    return NULL;
}

/* ---- to find --------------------------------------------------------------------------------- */

static connection refuse(results *r, const struct stat *facts) {
    results_disconnect(r);
    r->refused = *facts;
    return CONNECTION_REFUSED;
}

static int open_to_find(job *j, results *r, identity *out) {
    int code = open_database(r, r->path, SQLITE_OPEN_READWRITE, r->finding);
    if (code == SQLITE_OK)
        code = identify(r->database, out);
    const int kind = code & 0xff;
    if ((kind != SQLITE_CANTOPEN && kind != SQLITE_READONLY) ||
        access(job_print(j, "%s-wal", r->path), F_OK) == 0)
        return code;
    code =
        open_database(r, immutable_name(j, r), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, r->finding);
    return code == SQLITE_OK ? identify(r->database, out) : code;
}

connection results_connect_to_find(job *j, results *r, const char **why) {
    struct stat facts;
    *why = NULL;
    if (r->off != NULL || lstat(r->path, &facts) != 0 || facts.st_size == 0) {
        results_disconnect(r);
        return CONNECTION_ABSENT;
    }
    if (r->database != NULL && same_file(&r->file, &facts)) {
        sqlite3_busy_timeout(r->database, r->finding);
        return CONNECTED;
    }
    if (unchanged(&r->refused, &facts))
        return CONNECTION_REFUSED;
    results_disconnect(r);
    *why = judge_file(&facts);
    if (*why != NULL)
        return refuse(r, &facts);
    if (!guard(r, LOCK_SH, r->finding)) {
        *why = locked;
        return CONNECTION_REFUSED;
    }
    identity i;
    bool empty = false;
    const int code = open_to_find(j, r, &i);
    unguard(r);
    *why = code != SQLITE_OK ? results_trouble(j, r, code) : judge_content(j, &i, &empty);
    if (*why != NULL && (code & 0xff) == SQLITE_BUSY) {
        results_disconnect(r);
        return CONNECTION_REFUSED; /* but not for good */
    }
    if (*why != NULL)
        return refuse(r, &facts);
    if (empty) {
        results_disconnect(r);
        return CONNECTION_ABSENT;
    }
    r->file = facts;
    return CONNECTED;
}

void results_refuse(results *r) {
    struct stat facts;
    if (lstat(r->path, &facts) == 0)
        refuse(r, &facts);
    else
        results_disconnect(r);
}

/* ---- to store -------------------------------------------------------------------------------- */

/* SQLite's files of a database; the database itself comes last, since a new one may only be begun
   when the log of the old one is gone. */
static const char *const parts[] = {"-wal", "-shm", "-journal", ""};
enum { PARTS = sizeof parts / sizeof parts[0] };

/* A name under which there is none of these files, so that moving them there replaces nothing. */
static const char *free_name(job *j, const results *r) {
    struct stat facts;
    for (int n = 1;; n++) {
        const char *name = job_print(j, "%s.damaged-%d", r->path, n);
        bool taken = false;
        for (int i = 0; i < PARTS && !taken; i++)
            taken = lstat(job_print(j, "%s%s", name, parts[i]), &facts) == 0;
        if (!taken)
            return name;
    }
}

/* Under the guard. All of it is moved and nothing removed, so that nothing is lost that somebody
   may want to save. */
static const char *set_aside(job *j, results *r, const char *damage) {
    results_disconnect(r);
    const char *name = free_name(j, r);
    for (int i = 0; i < PARTS; i++) {
        const char *from = job_print(j, "%s%s", r->path, parts[i]);
        const char *to = job_print(j, "%s%s", name, parts[i]);
        if (rename(from, to) != 0 && !(errno == ENOENT && parts[i][0] != '\0'))
            return job_print(j, "%s, and %s cannot be set aside: %s", damage, from,
                             strerror(errno));
    }
    logger_say(r->logger, j, SG_LOG_WARNING,
               "the database of tuning results %s is damaged (%s); it was set aside as %s and a "
               "new one begun",
               r->path, damage, name);
    return NULL;
}

static int prepare_all(results *r) {
    int code = SQLITE_OK;
    for (int i = 0; i < STATEMENTS && code == SQLITE_OK; i++)
        results_bind(r, (statement_id)i, &code, "");
    return code;
}

/* SQLite puts a heading above what it found, "*** in database main ***"; a log is told one line. */
static const char *last_line(const char *found) {
    const char *end = strrchr(found, '\n');
    return end != NULL && end[1] != '\0' ? end + 1 : found;
}

/* NULL, or what is damaged. */
static const char *look_through(job *j, results *r) {
    sqlite3_stmt *s = NULL;
    const char *found = NULL;
    int code = sqlite3_prepare_v2(r->database, "PRAGMA quick_check(1)", -1, &s, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_step(s);
    if (code == SQLITE_ROW && strcmp((const char *)sqlite3_column_text(s, 0), "ok") != 0)
        found = last_line(results_column_text(j, s, 0));
    if (code != SQLITE_ROW && is_damage(code))
        found = results_trouble(j, r, code);
    sqlite3_finalize(s);
    return found;
}

/* A file that nobody but this user may read, whatever the umask. */
static const char *make_file(const results *r) {
    const int file = open(r->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return errno == EEXIST ? NULL : strerror(errno);
    close(file);
    return NULL;
}

/* A commit is not forced to the disk: a process that is killed loses nothing by that, and a power
   failure the last results, but not the database. */
static int make_ready(results *r, bool *damaged) {
    struct statfs where;
    const long file_system = statfs(r->path, &where) == 0 ? (long)where.f_type : 0;
    int64_t unused;
    int code = results_number(r->database, results_journal(file_system), &unused);
    if (code == SQLITE_OK)
        code = sqlite3_exec(r->database, "PRAGMA synchronous = NORMAL", NULL, NULL, NULL);
    if (code == SQLITE_OK)
        code = results_make_tables(r->database);
    if (code != SQLITE_OK)
        return code;
    code = prepare_all(r);
    *damaged |= code == SQLITE_ERROR; /* a table or a column is missing */
    return code;
}

/* Opens what is there; *damage where that is to be set aside. NULL, or why it cannot be used. */
static const char *open_to_store(job *j, results *r, const char **damage) {
    struct stat facts;
    const char *why = NULL;
    if (lstat(r->path, &facts) != 0)
        why = errno == ENOENT ? make_file(r) : strerror(errno);
    if (why == NULL && lstat(r->path, &facts) != 0)
        why = strerror(errno);
    if (why == NULL)
        why = judge_file(&facts);
    if (why != NULL)
        return why;
    identity i;
    bool empty, damaged = false;
    int code = open_database(r, r->path, SQLITE_OPEN_READWRITE, r->storing);
    if (code == SQLITE_OK)
        code = identify(r->database, &i);
    if (code == SQLITE_OK && (why = judge_content(j, &i, &empty)) != NULL)
        return why;
    if (code == SQLITE_OK && !empty && (*damage = look_through(j, r)) != NULL)
        return NULL;
    if (code == SQLITE_OK && sqlite3_db_readonly(r->database, "main") == 1)
        return results_read_only;
    if (code == SQLITE_OK)
        code = make_ready(r, &damaged);
    if (is_damage(code) || damaged)
        *damage = damaged ? "its tables are not what they were" : results_trouble(j, r, code);
    else if (code != SQLITE_OK)
        return results_trouble(j, r, code);
    r->file = facts;
    r->storable = *damage == NULL;
    return NULL;
}

static const char *open_or_begin(job *j, results *r) {
    for (int attempt = 0;; attempt++) {
        const char *damage = NULL, *why = open_to_store(j, r, &damage);
        if (why != NULL || damage == NULL)
            return why;
        results_disconnect(r);
        if (attempt > 0 || (!r->ours && !was_ours(r)))
            return damage;
        why = set_aside(j, r, damage);
        if (why != NULL)
            return why;
    }
}

const char *results_connect_to_store(job *j, results *r) {
    struct stat facts;
    if (r->off != NULL)
        return r->off;
    if (r->storable && lstat(r->path, &facts) == 0 && same_file(&r->file, &facts)) {
        sqlite3_busy_timeout(r->database, r->storing);
        return NULL;
    }
    results_disconnect(r);
    const int error = user_folder_make(j, r->folder);
    if (error != 0)
        return strerror(error);
    if (!guard(r, LOCK_EX, r->storing))
        return locked;
    const char *why = open_or_begin(j, r);
    unguard(r);
    if (why != NULL)
        results_disconnect(r);
    r->refused = (struct stat){0};
    return why;
}
