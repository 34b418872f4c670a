/* Messages to bytes and back, and the socket. */
#include "runtime/tune/trial.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "runtime/launch/context.h"

enum { MOST_BYTES = 1 << 26, MOST_NUMBERS = 1 << 16 };

/* MSG_NOSIGNAL: a process that is gone must not cause a signal. */
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

/* What a worker opens and tries. `rows` is −1 where there is no matrix. */
static void code_setup(coder *c, worker_setup *s) {
    sg_options *o = &s->options;
    sg_build_options *b = &s->setting.build;
    code_text(c, &o->device);
    code_text(c, &o->nvrtc);
    code_text(c, &o->cache);
    code_long(c, &o->cache_bytes);
    code_int(c, &o->device_index, 0, INT32_MAX);
    code_int(c, &o->threads, 0, INT32_MAX);
    code_text(c, &s->setting.path);
    code_text(c, &b->text);
    code_text(c, &b->arch);
    code_text(c, &b->gpu);
    code_int(c, &b->index, 0, INT32_MAX);
    code_long(c, &b->steps);
    for (int axis = 0; axis < 3; axis++)
        code_long(c, &b->size[axis]);
    sg_constant *list = code_list(c, (sg_constant *)b->constants, &b->constant_count, MOST_NUMBERS,
                                  sizeof *b->constants);
    for (int i = 0; i < b->constant_count; i++) {
        code_text(c, &list[i].name);
        code_double(c, &list[i].value);
    }
    b->constants = list;
    code_long(c, &s->rows);
    code_long(c, &s->columns);
    code_long(c, &s->entries);
}

void worker_put_setup(text *t, const trial_setting *s, const matrix *m) {
    const sg_context *c = s->context;
    worker_setup setup = {.options = {.device = c->device->ops->name,
                                      .nvrtc = c->given.nvrtc,
                                      .cache = c->given.cache,
                                      .cache_bytes = c->given.cache_bytes,
                                      .device_index = c->given.device_index,
                                      .threads = c->threads},
                          .setting = *s,
                          .rows = m != NULL ? m->rows : -1,
                          .columns = m != NULL ? m->columns : 0,
                          .entries = m != NULL ? m->entries : 0};
    record_put_int(t, WORKER_SETUP);
    code_setup(&(coder){.out = t}, &setup);
}

void worker_get_setup(job *j, record *r, worker_setup *out) {
    coder c = {.job = j, .in = *r};
    *out = (worker_setup){.options = {.struct_size = sizeof out->options, .database = "none"},
                          .setting.build.struct_size = sizeof out->setting.build};
    code_setup(&c, out);
    *r = c.in;
}

static void code_trial(coder *c, const char **plan, const double **parameters, int count) {
    code_text(c, plan);
    double *list = code_list(c, (double *)*parameters, &count, MOST_NUMBERS, sizeof **parameters);
    for (int i = 0; i < count; i++)
        code_double(c, &list[i]);
    *parameters = count > 0 ? list : NULL;
}

void worker_put_trial(text *t, worker_word word, const trial_setting *s, const trial *r) {
    const char *plan = r->plan;
    const double *parameters = s->parameters;
    record_put_int(t, word);
    code_trial(&(coder){.out = t}, &plan, &parameters, parameters != NULL ? r->info.parameters : 0);
}

const double *worker_get_trial(job *j, record *r, trial *out) {
    coder c = {.job = j, .in = *r};
    const double *parameters = NULL;
    *out = (trial){0};
    code_trial(&c, &out->plan, &parameters, 0);
    *r = c.in;
    return parameters;
}

static void code_result(coder *c, result *r, int64_t *steps) {
    int state = r->state;
    code_int(c, &state, 0, RESULT_STATES - 1);
    r->state = (result_state)state;
    code_text(c, &r->reason);
    code_double(c, &r->check_seconds);
    code_double(c, &r->copy_seconds);
    code_double(c, &r->clock_before);
    code_double(c, &r->clock_after);
    code_double(c, &r->temperature_before);
    code_double(c, &r->temperature_after);
    code_long(c, steps);
    double *list =
        code_list(c, (double *)r->seconds, &r->count, RESULT_TIMINGS, sizeof *r->seconds);
    for (int i = 0; i < r->count; i++)
        code_double(c, &list[i]);
    r->seconds = r->count > 0 ? list : NULL;
}

void worker_put_result(text *t, const trial *r) {
    result copy = r->result;
    int64_t steps = r->steps;
    record_put_int(t, WORKER_RESULT);
    code_result(&(coder){.out = t}, &copy, &steps);
}

bool worker_get_result(job *j, record *r, trial *out) {
    coder c = {.job = j, .in = *r};
    result to = out->result;
    int64_t steps = 0;
    code_result(&c, &to, &steps);
    if (!record_done(&c.in) || steps < 0 || (to.count > 0) != (to.state == RESULT_RIGHT) ||
        result_flaw(&to) != NULL)
        return false;
    to.median = results_median(j, to.seconds, to.count, &to.spread);
    out->result = to;
    out->steps = steps;
    return true;
}
