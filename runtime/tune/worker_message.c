/* Messages to bytes and back. */
#include "runtime/tune/worker.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/launch/context.h"

enum { MOST_BYTES = 1 << 26, MOST_NUMBERS = 1 << 16 };

/* ---- the socket ---------------------------------------------------------------------------- */

/* A process that is gone is no reason for a signal to this one. */
static bool send_bytes(int socket, const char *bytes, size_t count) {
    while (count > 0) {
        const ssize_t sent = send(socket, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        count -= (size_t)sent;
    }
    return true;
}

bool worker_send(int socket, const text *message) {
    const uint64_t length = message->length;
    return send_bytes(socket, (const char *)&length, sizeof length) &&
           send_bytes(socket, message->data, message->length);
}

static worker_outcome receive_bytes(int socket, double end, void *out, size_t count) {
    for (char *to = out; count > 0;) {
        const double left = end - clock_seconds();
        struct pollfd one = {.fd = socket, .events = POLLIN};
        const int wait = isinf(end)   ? -1
                         : left <= 0  ? 0
                         : left > 1e6 ? 1000000000
                                      : (int)(1e3 * left) + 1;
        const int ready = poll(&one, 1, wait);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0)
            return WORKER_LATE;
        const ssize_t got = ready < 0 ? -1 : recv(socket, to, count, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return WORKER_CLOSED;
        to += got;
        count -= (size_t)got;
    }
    return WORKER_GOT;
}

worker_outcome worker_receive(job *j, int socket, double seconds, record *out) {
    const double end = seconds < 0 ? INFINITY : clock_seconds() + seconds;
    uint64_t length;
    worker_outcome o = receive_bytes(socket, end, &length, sizeof length);
    if (o != WORKER_GOT)
        return o;
    if (length > MOST_BYTES)
        return WORKER_CLOSED;
    void *bytes = job_alloc(j, (size_t)length + 1);
    o = receive_bytes(socket, end, bytes, (size_t)length);
    *out = record_of(bytes, (size_t)length);
    return o;
}

/* ---- to the worker ------------------------------------------------------------------------- */

static const size_t list_bytes = sizeof(int64_t); /* and of a double */
_Static_assert(sizeof(double) == sizeof(int64_t), "lists of one width");

bool worker_send_matrix(int socket, const matrix *m) {
    const void *const lists[] = {m->row, m->column, m->value};
    for (int i = 0; i < 3; i++)
        if (!send_bytes(socket, lists[i], (size_t)m->entries * list_bytes))
            return false;
    return true;
}

bool worker_receive_matrix(job *j, int socket, const worker_setup *s, matrix *out) {
    void *lists[3];
    for (int i = 0; i < 3; i++) {
        lists[i] = job_array(j, (size_t)s->entries, list_bytes);
        if (receive_bytes(socket, INFINITY, lists[i], (size_t)s->entries * list_bytes) !=
            WORKER_GOT)
            return false;
    }
    *out = (matrix){s->rows, s->columns, s->entries, lists[0], lists[1], lists[2]};
    return true;
}

static void put_matrix(text *t, const matrix *m) {
    record_put_int(t, m != NULL ? m->rows : -1);
    record_put_int(t, m != NULL ? m->columns : 0);
    record_put_int(t, m != NULL ? m->entries : 0);
}

void worker_put_setup(text *t, const trial_setting *s, const matrix *m) {
    const sg_context *c = s->context;
    const sg_build_options *b = &s->build;
    record_put_int(t, WORKER_SETUP);
    record_put_text(t, c->device->ops->name);
    record_put_text(t, c->given.nvrtc);
    record_put_text(t, c->given.cache);
    record_put_int(t, c->given.cache_bytes);
    record_put_int(t, c->given.device_index);
    record_put_int(t, c->threads);
    record_put_text(t, s->path);
    record_put_text(t, b->text);
    record_put_text(t, b->arch);
    record_put_text(t, b->gpu);
    record_put_int(t, b->index);
    record_put_int(t, b->steps);
    for (int axis = 0; axis < 3; axis++)
        record_put_int(t, b->size[axis]);
    record_put_int(t, b->constant_count);
    for (int i = 0; i < b->constant_count; i++) {
        record_put_text(t, b->constants[i].name);
        record_put_double(t, b->constants[i].value);
    }
    put_matrix(t, m);
}

void worker_get_setup(job *j, record *r, worker_setup *out) {
    sg_options *o = &out->options;
    sg_build_options *b = &out->setting.build;
    *out = (worker_setup){.options.struct_size = sizeof *o, .setting.build.struct_size = sizeof *b};
    o->device = record_text(r, j);
    o->nvrtc = record_text(r, j);
    o->cache = record_text(r, j);
    o->cache_bytes = record_int(r);
    o->device_index = record_small(r, 0, INT32_MAX);
    o->threads = record_small(r, 0, INT32_MAX);
    o->database = "none";
    out->setting.path = record_text(r, j);
    b->text = record_text(r, j);
    b->arch = record_text(r, j);
    b->gpu = record_text(r, j);
    b->index = record_small(r, 0, INT32_MAX);
    b->steps = record_int(r);
    for (int axis = 0; axis < 3; axis++)
        b->size[axis] = record_int(r);
    b->constant_count = record_small(r, 0, MOST_NUMBERS);
    sg_constant *list = job_array(j, (size_t)b->constant_count, sizeof *list);
    for (int i = 0; i < b->constant_count; i++) {
        list[i].name = record_text(r, j);
        list[i].value = record_double(r);
    }
    b->constants = list;
    out->rows = record_int(r);
    out->columns = record_int(r);
    out->entries = record_int(r);
}

void worker_put_trial(text *t, worker_word word, const trial_setting *s, const trial *r) {
    const int count = s->parameters != NULL ? r->info.parameters : 0;
    record_put_int(t, word);
    record_put_text(t, r->plan);
    record_put_int(t, count);
    for (int i = 0; i < count; i++)
        record_put_double(t, s->parameters[i]);
}

const double *worker_get_trial(job *j, record *r, trial *out) {
    *out = (trial){.plan = record_text(r, j)};
    const int count = record_small(r, 0, MOST_NUMBERS);
    double *list = count > 0 ? job_array(j, (size_t)count, sizeof *list) : NULL;
    for (int i = 0; i < count; i++)
        list[i] = record_double(r);
    return list;
}

/* ---- from it ------------------------------------------------------------------------------- */

void worker_put_result(text *t, const trial *r) {
    record_put_int(t, WORKER_RESULT);
    record_put_int(t, r->result.state);
    record_put_text(t, r->result.reason);
    record_put_double(t, r->result.check_seconds);
    record_put_double(t, r->result.copy_seconds);
    record_put_double(t, r->result.clock_before);
    record_put_double(t, r->result.clock_after);
    record_put_double(t, r->result.temperature_before);
    record_put_double(t, r->result.temperature_after);
    record_put_int(t, r->steps);
    record_put_int(t, r->result.count);
    for (int i = 0; i < r->result.count; i++)
        record_put_double(t, r->result.seconds[i]);
}

/* Seconds that a clock has measured, as result_flaw wants them. */
static void get_timings(job *j, record *r, result *to) {
    to->count = record_small(r, 0, RESULT_TIMINGS);
    if ((size_t)to->count > record_left(r) / list_bytes) {
        r->bad = true;
        to->count = 0;
    }
    double *list = job_array(j, (size_t)to->count, sizeof *list);
    for (int i = 0; i < to->count; i++)
        list[i] = record_double(r);
    to->seconds = to->count > 0 ? list : NULL;
}

bool worker_get_result(job *j, record *r, trial *out) {
    result to = out->result;
    to.state = (result_state)record_small(r, 0, RESULT_STATES - 1);
    to.reason = record_text(r, j);
    to.check_seconds = record_double(r);
    to.copy_seconds = record_double(r);
    to.clock_before = record_double(r);
    to.clock_after = record_double(r);
    to.temperature_before = record_double(r);
    to.temperature_after = record_double(r);
    const int64_t steps = record_int(r);
    get_timings(j, r, &to);
    if (!record_done(r) || steps < 0 || (to.count > 0) != (to.state == RESULT_RIGHT) ||
        result_flaw(&to) != NULL)
        return false;
    if (to.count > 0) {
        double *sorted = job_array(j, (size_t)to.count, sizeof *sorted);
        memcpy(sorted, to.seconds, (size_t)to.count * sizeof *sorted);
        to.median = results_median(sorted, to.count, &to.spread);
    }
    out->result = to;
    out->steps = steps;
    return true;
}
