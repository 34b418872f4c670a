/* Opening, and small functions of sizes, devices, keys and medians. */
#include "runtime/store/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/dtype.h"
#include "base/text.h"
#include "runtime/device/device.h"
#include "runtime/files/paths.h"
#include "runtime/store/base.h"

enum { FINDING_WAIT = 20, STORING_WAIT = 10000 }; /* milliseconds */

const char *const result_state_words[RESULT_STATES] = {
    [RESULT_RIGHT] = "right",     [RESULT_WRONG] = "wrong",
    [RESULT_REFUSED] = "refused", [RESULT_UNCOMPILED] = "not compiled",
    [RESULT_FAILED] = "failed",   [RESULT_HUNG] = "hung",
};

static void choose_path(job *j, results *r, const char *asked) {
    const user_place p = user_place_of(j, asked, "SG_DATABASE", "XDG_DATA_HOME", ".local/share");
    r->path = p.usual ? job_print(j, "%s/results.db", p.path) : p.path;
    r->reason = p.reason;
    r->off = p.off;
    r->ours = p.usual;
    const char *slash = strrchr(r->path, '/');
    r->folder = slash == NULL      ? ""
                : slash == r->path ? "/"
                                   : job_copy(j, r->path, (size_t)(slash - r->path));
}

const char *results_journal(long file_system) {
    static const long shared[] = {0x6969 /* NFS */,
                                  0xff534d42 /* CIFS */,
                                  0xfe534d42 /* SMB 2 */,
                                  0x517b /* SMB */,
                                  0x0bd00bd0 /* Lustre */,
                                  0x47504653 /* GPFS */,
                                  0x19830326 /* BeeGFS */,
                                  0x00c36400 /* Ceph */,
                                  0x5346414f /* AFS */,
                                  0x01021997 /* 9P */,
                                  0x65735546 /* FUSE: sshfs, Gluster and others */};
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
        if ((unsigned long)shared[i] == ((unsigned long)file_system & 0xffffffff))
            return "PRAGMA journal_mode = DELETE";
    return "PRAGMA journal_mode = WAL";
}

results *results_open(job *j, const char *path, const logger *l) {
    results *r = job_alloc(j, sizeof *r);
    r->logger = l;
    r->finding = FINDING_WAIT;
    r->storing = STORING_WAIT;
    r->guard = -1;
    choose_path(j, r, path);
    if (r->off == NULL && sqlite3_threadsafe() == 0)
        r->off = "SQLite was built for programs of one thread";
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

void results_close(results *r) {
    if (r == NULL)
        return;
    const io_guard limit = io_guard_begin(); /* the last one to leave writes the log back */
    results_disconnect(r);
    io_guard_end(&limit);
    pthread_mutex_destroy(&r->lock);
}

void results_wait(results *r, int finding, int storing) {
    r->finding = finding;
    r->storing = storing;
}

/* Wherever a call was interrupted, the next one finds no open transaction and no running
   statement. */
static void come_out(void *what) {
    results *r = what;
    if (r->guard >= 0)
        close(r->guard);
    r->guard = -1;
    for (int i = 0; i < STATEMENTS; i++)
        if (r->statements[i] != NULL) {
            sqlite3_reset(r->statements[i]);
            sqlite3_clear_bindings(r->statements[i]);
        }
    if (r->database != NULL && !sqlite3_get_autocommit(r->database))
        results_run(r, STATEMENT_ROLLBACK, "");
    const io_guard limit = r->limit;
    pthread_mutex_unlock(&r->lock);
    io_guard_end(&limit);
}

const char *results_path(const results *r) {
    return r->off == NULL ? r->path : "";
}

bool results_exist(const results *r) {
    struct stat facts;
    return r->off == NULL && lstat(r->path, &facts) == 0;
}

void results_enter(job *j, results *r) {
    pthread_mutex_lock(&r->lock);
    r->limit = io_guard_begin();
    job_defer(j, come_out, r);
}

void results_leave(job *j, results *r) {
    job_undo(j, r);
}

/* The processor's name from host_machine's line; on ARM, which has none, the numbers that
   identify it. */
static const char *processor(job *j) {
    const char *machine = host_machine(j);
    if (machine == NULL)
        return "unknown processor";
    const char *name = strstr(machine, "; model name");
    if (name == NULL || (name = strchr(name, ':')) == NULL)
        return job_copy(j, machine, strcspn(machine, "\n"));
    name += 1 + strspn(name + 1, " \t");
    return job_copy(j, name, strcspn(name, ";\n"));
}

result_device results_device(job *j, const device_facts *f) {
    const bool cpu = strcmp(f->device, "cpu") == 0;
    return (result_device){.kind = job_string(j, f->device),
                           .name = cpu ? processor(j) : job_string(j, f->name),
                           .arch = job_string(j, f->arch),
                           .multiprocessors = f->multiprocessors,
                           .memory = f->memory};
}

/* Drivers reserve a varying part of a device's memory, so whole GiB are compared. */
digest results_device_key(const result_device *d) {
    const int64_t gib = (d->memory + (1 << 29)) >> 30, number[2] = {d->multiprocessors, gib};
    unsigned char bytes[sizeof number];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)((uint64_t)number[i / 8] >> i % 8 * 8);
    const blob pieces[] = {
        digest_piece(d->kind), digest_piece(d->name), digest_piece(d->arch), {bytes, sizeof bytes}};
    return digest_of(pieces, sizeof pieces / sizeof *pieces);
}

digest results_spec(const char *family, const char *model) {
    const blob pieces[] = {digest_piece(family), digest_piece(model)};
    return digest_of(pieces, sizeof pieces / sizeof *pieces);
}

double results_distance(const result_size *a, const result_size *b) {
    if (a->count != b->count)
        return INFINITY;
    double sum = 0;
    for (int i = 0; i < a->count; i++) {
        const double x = a->number[i] > 1 ? (double)a->number[i] : 1;
        const double y = b->number[i] > 1 ? (double)b->number[i] : 1;
        sum += fabs(log(x / y));
    }
    return sum;
}

const char *results_size_text(job *j, const result_size *s) {
    text t = text_new(j);
    for (int i = 0; i < s->count; i++)
        text_printf(&t, "%s%lld", i > 0 ? "x" : "", (long long)s->number[i]);
    return t.data;
}

bool results_read_size(const char *at, result_size *out) {
    *out = (result_size){0};
    while (out->count < RESULT_NUMBERS && *at >= '0' && *at <= '9') {
        int64_t value = 0;
        for (; *at >= '0' && *at <= '9'; at++)
            if (__builtin_mul_overflow(value, 10, &value) ||
                __builtin_add_overflow(value, *at - '0', &value))
                return false;
        out->number[out->count++] = value;
        if (*at == '\0')
            return true;
        if (*at++ != 'x')
            return false;
    }
    return false;
}

result results_blank(const char *plan, result_state state, const char *reason) {
    return (result){.plan = plan,
                    .state = state,
                    .reason = reason,
                    .median = NAN,
                    .spread = NAN,
                    .estimate = NAN,
                    .compile_seconds = NAN,
                    .check_seconds = NAN,
                    .compiler = "",
                    .registers = -1,
                    .shared_bytes = -1,
                    .local_bytes = -1,
                    .occupancy = NAN,
                    .clock_before = NAN,
                    .clock_after = NAN,
                    .temperature_before = NAN,
                    .temperature_after = NAN,
                    .copy_seconds = NAN,
                    .final = NAN,
                    .settled = NAN};
}

/* Of the sorted numbers, the one that a share of them lies below, between neighbours in proportion
   (Hyndman and Fan, Sample quantiles in statistical packages, 1996, definition 7). */
static double quantile(const double *sorted, int count, double share) {
    const double at = share * (count - 1);
    const int below = (int)at;
    const int above = below + 1 < count ? below + 1 : below;
    return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}

double results_median(job *j, const double *seconds, int count, double *spread) {
    double *sorted = job_array(j, (size_t)count + 1, sizeof *sorted), unused;
    spread = spread != NULL ? spread : &unused;
    *spread = NAN;
    if (count == 0)
        return NAN;
    memcpy(sorted, seconds, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, dtype_compare);
    const double median = quantile(sorted, count, 0.5);
    *spread = (quantile(sorted, count, 0.75) - quantile(sorted, count, 0.25)) / median;
    return median;
}
