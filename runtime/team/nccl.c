/* NCCL, found and opened while the program runs. Its interface, as far as it is used here, is
   declared anew so that the build needs no header of it (NCCL 2.7, the first with ncclSend, and
   later). */
#include "runtime/team/team.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "runtime/device/loader.h"

typedef struct unique_id {
    char internal[NCCL_ID_BYTES];
} unique_id;
typedef struct communicator communicator;
typedef int result;

enum { DONE = 0, UNDER_WAY = 7, BYTES = 0 /* ncclInt8 */ };

/* Member, symbol and arguments of each function; all but error_string return a result. */
#define NCCL_FUNCTIONS(F)                                                                          \
    F(version, ncclGetVersion, (int *))                                                            \
    F(error_string, ncclGetErrorString, (result))                                                  \
    F(new_id, ncclGetUniqueId, (unique_id *))                                                      \
    F(join, ncclCommInitRank, (communicator **, int ranks, unique_id, int rank))                   \
    F(end, ncclCommDestroy, (communicator *))                                                      \
    F(stop, ncclCommAbort, (communicator *))                                                       \
    F(rank, ncclCommUserRank, (const communicator *, int *))                                       \
    F(ranks, ncclCommCount, (const communicator *, int *))                                         \
    F(trouble, ncclCommGetAsyncError, (communicator *, result *))                                  \
    F(group_begin, ncclGroupStart, (void))                                                         \
    F(group_end, ncclGroupEnd, (void))                                                             \
    F(send, ncclSend, (const void *, size_t, int type, int rank, communicator *, void *stream))    \
    F(receive, ncclRecv, (void *, size_t, int type, int rank, communicator *, void *stream))

struct nccl {
    library library;
    device *device;
    communicator *with; /* NULL: has not joined */
    bool lent;          /* it is the caller's */
    const char *name;
#define MEMBER(member, symbol, arguments) result(*member) arguments;
    NCCL_FUNCTIONS(MEMBER)
#undef MEMBER
};

static const char *const names[] = {"libnccl.so.2", NULL};
#define SYMBOL(member, symbol, arguments) #symbol,
static const char *const symbols[] = {NCCL_FUNCTIONS(SYMBOL) NULL};
#undef SYMBOL

static const library_wanted wanted = {
    .title = "NCCL (libnccl.so.2)",
    .variable = "SG_NCCL",
    .names = names,
    .symbols = symbols,
    .toolkit = true,
    .cure = "install libnccl2, or the Python package nvidia-nccl-cu13",
};

nccl *nccl_open(job *j, device *d, const char *path, const char **why) {
    nccl *n = job_alloc(j, sizeof *n);
    if (!library_open(j, &wanted, path, &n->library, why))
        return NULL;
    /* A function's address is copied byte by byte: C has no cast from an object's. */
    void *address;
#define LOOK_UP(member, symbol, arguments)                                                         \
    address = library_symbol(&n->library, #symbol);                                                \
    memcpy(&n->member, &address, sizeof address);
    NCCL_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
    int version = 0;
    (void)n->version(&version);
    n->device = d;
    n->name = job_print(j, "NCCL %d.%d.%d", version / 10000, version / 100 % 100, version % 100);
    return n;
}

const char *nccl_name(const nccl *n) {
    return n->name;
}

const char *nccl_path(const nccl *n) {
    return n->library.path;
}

const char *nccl_reason(const nccl *n) {
    return n->library.reason;
}

/* ---- calls in the device's context ----------------------------------------------------------- */

typedef struct call {
    nccl *n;
    unique_id id;
    int rank, ranks;
    const sg_message *sends, *receives;
    int send_count, receive_count;
    void *stream;
    result code;
} call;

static void must(job *j, const nccl *n, result code, const char *doing) {
    if (code == DONE)
        return;
    /* Declared with the others as one that returns an int, but its result is a text. */
    const char *(*text)(result);
    memcpy(&text, &n->error_string, sizeof text);
    job_fail(j, FAULT_DEVICE, NULL, 0, "%s: %s failed: %s", n->name, doing, text(code));
}

static void make(job *j, call *c, void (*body)(void *), const char *doing) {
    c->n->device->ops->within(c->n->device, j, body, c);
    must(j, c->n, c->code, doing);
}

static void new_id(void *argument) {
    call *c = argument;
    c->code = c->n->new_id(&c->id);
}

static void join(void *argument) {
    call *c = argument;
    c->code = c->n->join(&c->n->with, c->ranks, c->id, c->rank);
}

static void look(void *argument) {
    call *c = argument;
    c->code = c->n->rank(c->n->with, &c->rank);
    if (c->code == DONE)
        c->code = c->n->ranks(c->n->with, &c->ranks);
}

static void move(void *argument) {
    call *c = argument;
    nccl *n = c->n;
    c->code = n->group_begin();
    for (int i = 0; i < c->send_count && c->code == DONE; i++)
        c->code = n->send(c->sends[i].data, c->sends[i].bytes, BYTES, c->sends[i].rank, n->with,
                          c->stream);
    for (int i = 0; i < c->receive_count && c->code == DONE; i++)
        c->code = n->receive(c->receives[i].data, c->receives[i].bytes, BYTES, c->receives[i].rank,
                             n->with, c->stream);
    const result ended = n->group_end();
    c->code = c->code == DONE ? ended : c->code;
}

static void end(void *argument) {
    nccl *n = ((call *)argument)->n;
    result trouble = DONE;
    if (n->trouble(n->with, &trouble) == DONE && trouble == DONE)
        (void)n->end(n->with);
    else
        (void)n->stop(n->with);
}

static void stop(void *argument) {
    nccl *n = ((call *)argument)->n;
    (void)n->stop(n->with);
}

void nccl_unique_id(job *j, nccl *n, unsigned char out[NCCL_ID_BYTES]) {
    call c = {.n = n};
    make(j, &c, new_id, "making an identity");
    memcpy(out, c.id.internal, NCCL_ID_BYTES);
}

void nccl_join(job *j, nccl *n, const unsigned char id[NCCL_ID_BYTES], int rank, int ranks) {
    call c = {.n = n, .rank = rank, .ranks = ranks};
    memcpy(c.id.internal, id, NCCL_ID_BYTES);
    make(j, &c, join, "joining the other ranks");
}

void nccl_adopt(job *j, nccl *n, void *with, int *rank, int *ranks) {
    call c = {.n = n};
    n->with = with;
    n->lent = true;
    make(j, &c, look, "looking at the given communicator");
    *rank = c.rank;
    *ranks = c.ranks;
}

void nccl_exchange(job *j, nccl *n, const sg_message *sends, int send_count,
                   const sg_message *receives, int receive_count, void *stream) {
    call c = {.n = n,
              .sends = sends,
              .receives = receives,
              .send_count = send_count,
              .receive_count = receive_count,
              .stream = stream};
    make(j, &c, move, "exchanging halos");
}

static void look_for_trouble(void *argument) {
    call *c = argument;
    result trouble = DONE;
    c->code = c->n->trouble(c->n->with, &trouble);
    if (c->code == DONE && trouble != UNDER_WAY)
        c->code = trouble;
}

void nccl_look(job *j, nccl *n) {
    call c = {.n = n};
    make(j, &c, look_for_trouble, "exchanging halos");
}

static void leave(nccl *n, void (*body)(void *)) {
    if (n == NULL || n->with == NULL || n->lent)
        return;
    call c = {.n = n};
    n->device->ops->within(n->device, NULL, body, &c);
    n->with = NULL;
}

void nccl_close(nccl *n) {
    leave(n, end);
}

void nccl_abort(nccl *n) {
    leave(n, stop);
}

bool nccl_is_lent(const nccl *n) {
    return n != NULL && n->lent;
}

/* ---- speech ---------------------------------------------------------------------------------- */

/* NCCL as the only way to speak: a team of the application's communicator, or of NCCL's identity,
   has no transport. Messages of host memory go by way of the GPU's. */
typedef struct speech {
    sg_team *team;
    const sg_message *sends, *receives;
    int send_count, receive_count;
    double seconds;
} speech;

/* Memory that is free once nobody sends from it or receives there. */
typedef struct room {
    sg_team *team;
    void *memory;
    bool under_way;
} room;

static void end_room(void *argument) {
    const room *r = argument;
    device *d = r->team->context->device;
    if (r->under_way) /* freeing it would wait for the other ranks: it goes with the team */
        r->team->left = r->memory;
    else
        d->ops->free(d, r->memory);
}

/* A rank that has failed sends nothing any more, so this looks at the clock. */
static void settle(job *j, const speech *s) {
    device *d = s->team->context->device;
    const double begun = clock_seconds();
    for (double now = begun; !d->ops->idle(d, j, NULL); now = clock_seconds()) {
        if (now - begun > s->seconds)
            job_fail(j, FAULT_DEVICE, NULL, 0, "the other ranks did not answer by NCCL within %g s",
                     s->seconds);
        if (now - begun < 0.002)
            continue;
        nccl_look(j, s->team->nccl);
        nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
    }
}

static void speak(job *j, void *argument) {
    const speech *s = argument;
    device *d = s->team->context->device;
    const size_t out = messages_bytes(s->sends, s->send_count);
    const size_t in = messages_bytes(s->receives, s->receive_count);
    room *r = job_alloc(j, sizeof *r);
    *r = (room){s->team, d->ops->alloc(d, j, out + in), false};
    job_defer(j, end_room, r);
    sg_message *sends = job_array(j, (size_t)s->send_count + 1, sizeof *sends);
    sg_message *receives = job_array(j, (size_t)s->receive_count + 1, sizeof *receives);
    unsigned char *at = r->memory;
    for (int i = 0; i < s->send_count; at += s->sends[i++].bytes) {
        sends[i] = (sg_message){s->sends[i].rank, at, s->sends[i].bytes};
        d->ops->upload(d, j, at, s->sends[i].data, s->sends[i].bytes);
    }
    for (int i = 0; i < s->receive_count; at += s->receives[i++].bytes)
        receives[i] = (sg_message){s->receives[i].rank, at, s->receives[i].bytes};
    r->under_way = true;
    nccl_exchange(j, s->team->nccl, sends, s->send_count, receives, s->receive_count, NULL);
    settle(j, s);
    r->under_way = false;
    for (int i = 0; i < s->receive_count; i++)
        d->ops->download(d, j, s->receives[i].data, receives[i].data, receives[i].bytes);
    job_undo(j, r);
}

int speak_by_nccl(void *user, const sg_message *sends, int send_count, const sg_message *receives,
                  int receive_count, double seconds, char why[SG_WHY]) {
    speech s = {user, sends, receives, send_count, receive_count, seconds};
    job *own = NULL;
    if (send_count + receive_count == 0)
        return 0;
    const fault f = job_run(&s.team->context->memory, speak, &s, &own);
    if (f != FAULT_NONE)
        snprintf(why, SG_WHY, "%s", own != NULL ? job_error_text(own) : "out of memory");
    job_end(own);
    return f == FAULT_NONE ? 0 : 1;
}
