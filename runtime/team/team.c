/* Opening and closing a team, and what its ranks do together before they run: build and divide. */
#define _DEFAULT_SOURCE /* gethostname */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "runtime/device/cuda/driver.h"
#include "runtime/team/team.h"

static const double usual_seconds = 120;

/* ---- opening --------------------------------------------------------------------------------- */

/* What a rank tells the others first. */
typedef struct introduction {
    char version[32], device[16], host[64], bus[32];
    int32_t wants_nccl, has_network; /* more than TCP between machines */
    unsigned char id[NCCL_ID_BYTES]; /* of rank 0 */
} introduction;

typedef struct opening {
    sg_context *context;
    sg_team_options options;
    const sg_team_options *given;
    sg_transport transport; /* the caller's, from when it was read */
    sg_team *team;
} opening;

static void introduce(const sg_team *t, bool has_nccl, introduction *out) {
    const device_facts *facts = t->context->device->ops->facts(t->context->device);
    snprintf(out->version, sizeof out->version, "%s", SG_VERSION);
    snprintf(out->device, sizeof out->device, "%s", facts->device);
    snprintf(out->bus, sizeof out->bus, "%s", facts->bus != NULL ? facts->bus : "");
    if (gethostname(out->host, sizeof out->host) != 0)
        out->host[0] = '\0';
    out->host[sizeof out->host - 1] = '\0';
    const char *says;
    out->has_network = network_look(t->job, NETWORK_FOLDER, &says);
    out->wants_nccl = has_nccl;
}

static void compare(job *j, const introduction *all, int ranks) {
    for (int i = 1; i < ranks; i++) {
        if (strcmp(all[i].version, all[0].version) != 0)
            job_fail(j, FAULT_USAGE, NULL, 0,
                     "rank 0 has stencilgen %s, but rank %d has %s: all ranks need the same",
                     all[0].version, i, all[i].version);
        if (strcmp(all[i].device, all[0].device) != 0)
            job_fail(j, FAULT_USAGE, NULL, 0,
                     "rank 0 works on the %s device, but rank %d on %s: all ranks need the same",
                     all[0].device, i, all[i].device);
    }
}

/* Two ranks of one GPU, of which NCCL makes no communicator; −1: there are none. */
static int find_shared(const introduction *all, int ranks, int *other) {
    for (int i = 1; i < ranks; i++)
        for (int k = 0; k < i; k++)
            if (all[i].bus[0] != '\0' && strcmp(all[i].bus, all[k].bus) == 0 &&
                strcmp(all[i].host, all[k].host) == 0) {
                *other = k;
                return i;
            }
    return -1;
}

/* Whether all ranks are on GPUs of one machine that reach each other. A GPU that two ranks share
   may not make the exchange of one while that of the other waits for it: they have one stream where
   both take the default one. */
static bool reach_all(job *j, sg_team *t, const introduction *all) {
    enum { MOST_RANKS = 64 }; /* of one machine */
    const int ranks = t->transport.ranks;
    const char *wish = getenv("SG_TEAM_STORES");
    int other;
    const bool crowded = find_shared(all, ranks, &other) >= 0 &&
                         !(wish != NULL && strcmp(wish, "shared") == 0); /* for tests */
    int32_t *good = job_array(j, (size_t)ranks, sizeof *good), own;
    device_place *places = job_array(j, (size_t)ranks, sizeof *places);
    own = !(wish != NULL && strcmp(wish, "none") == 0) && !t->context->device->ops->host_memory;
    for (int i = 0; i < ranks; i++)
        if (strcmp(all[i].host, all[0].host) != 0)
            own = 0;
    if (ranks < 2 || ranks > MOST_RANKS || crowded)
        return false;
    team_gather(j, t, &own, sizeof own, good);
    for (int i = 0; i < ranks; i++)
        if (!good[i])
            return false;
    t->stores = stores_open(t->job, t->context, t->seconds);
    const device_place mine = stores_place(t->stores);
    team_gather(j, t, &mine, sizeof mine, places);
    own = stores_meet(t->stores, places, ranks);
    team_gather(j, t, &own, sizeof own, good);
    for (int i = 0; i < ranks; i++)
        own = own && good[i];
    if (!own) {
        stores_close(t->stores);
        t->stores = NULL;
    }
    return own;
}

/* Ranks of several machines, of which one has TCP alone. */
static void judge_network(job *j, const sg_team *t, const introduction *all) {
    bool several = false;
    int slow = -1;
    for (int i = 0; i < t->transport.ranks; i++) {
        several = several || strcmp(all[i].host, all[0].host) != 0;
        slow = slow < 0 && !all[i].has_network ? i : slow;
    }
    if (several && slow >= 0 && t->transport.rank == 0)
        logger_say(&t->context->logger, j, SG_LOG_WARNING,
                   "halos go by NCCL over TCP, which is slow: the machine of rank %d has no active "
                   "port of InfiniBand or RoCE",
                   slow);
}

/* By stores where that can be, else joins NCCL where every rank has it, and a GPU of its own. */
static void meet(job *j, sg_team *t, const char *path) {
    const int ranks = t->transport.ranks;
    sg_context *c = t->context;
    introduction *all = job_array(j, (size_t)ranks, sizeof *all), mine = {.wants_nccl = 0};
    const char *why = NULL;
    nccl *n =
        ranks > 1 && !c->device->ops->host_memory ? nccl_open(t->job, c->device, path, &why) : NULL;
    introduce(t, n != NULL, &mine);
    if (n != NULL && t->transport.rank == 0)
        nccl_unique_id(j, n, mine.id);
    team_gather(j, t, &mine, sizeof mine, all);
    compare(j, all, ranks);
    int other = 0, missing = -1;
    const int shared = find_shared(all, ranks, &other);
    for (int i = 0; i < ranks; i++)
        missing = all[i].wants_nccl ? missing : i;
    if (reach_all(j, t, all))
        return;
    if (shared >= 0)
        logger_say(&c->logger, j, SG_LOG_WARNING,
                   "ranks %d and %d share a GPU, so halos go through host memory", other, shared);
    else if (why != NULL)
        logger_say(&c->logger, j, SG_LOG_WARNING, "halos go through host memory: %s", why);
    if (n == NULL || missing >= 0 || shared >= 0)
        return;
    t->nccl = n;
    nccl_join(j, n, all[0].id, t->transport.rank, ranks);
    judge_network(j, t, all);
}

/* A team that has no transport but the application's communicator, or NCCL's identity. */
static void open_nccl(job *j, sg_team *t, const sg_team_options *o) {
    const char *why = NULL;
    int rank = o->rank, ranks = o->ranks;
    device *d = t->context->device;
    if (d->ops->host_memory)
        context_refuse(j, "NCCL needs a GPU, and this is the %s device: give a transport",
                       d->ops->name);
    nccl *n = nccl_open(t->job, d, o->nccl, &why);
    if (n == NULL)
        job_fail(j, FAULT_DEVICE, NULL, 0, "%s", why);
    t->nccl = n;
    if (o->nccl_comm != NULL)
        nccl_adopt(j, n, o->nccl_comm, &rank, &ranks);
    else if (ranks < 1 || rank < 0 || rank >= ranks)
        context_refuse(j, "there is no rank %d of %d", rank, ranks);
    else
        nccl_join(j, n, o->nccl_unique_id, rank, ranks);
    t->transport = (sg_transport){.struct_size = sizeof t->transport,
                                  .name = nccl_name(n),
                                  .rank = rank,
                                  .ranks = ranks,
                                  .user = t,
                                  .exchange = speak_by_nccl};
    introduction *all = job_array(j, (size_t)ranks, sizeof *all), mine = {.wants_nccl = 1};
    introduce(t, true, &mine);
    team_gather(j, t, &mine, sizeof mine, all);
    compare(j, all, ranks);
}

static void name_engine(sg_team *t) {
    const device *d = t->context->device;
    const char *name = t->transport.name;
    if (t->stores != NULL)
        t->engine = "stores into each other's memory";
    else if (t->nccl != NULL)
        t->engine = nccl_name(t->nccl);
    else if (d->ops->host_memory || t->transport.ranks == 1)
        t->engine = job_print(t->job, "%s", name);
    else
        t->engine =
            job_print(t->job, "%s%s", name,
                      t->transport.device_memory ? " of device memory" : " through host memory");
}

static void end_team(void *argument) {
    sg_team *t = argument;
    device *d = t->context->device;
    const bool stuck = t->broken[0] != '\0' && nccl_is_lent(t->nccl);
    stores_close(t->stores);
    nccl_close(t->nccl);
    times_close(t);
    if (t->side != NULL)
        d->ops->stream_close(d, t->side);
    if (stuck) /* freeing would wait for what the application's communicator may wait for for ever
                */
        return;
    d->ops->free(d, t->left);
    team_free(t, &t->outgoing);
    team_free(t, &t->incoming);
    team_free(t, &t->slabs);
}

static void close_transport(const sg_transport *t) {
    if (t->close != NULL)
        t->close(t->user);
}

static team_hiding read_hiding(void) {
    const char *wish = getenv("SG_TEAM_HIDE");
    return wish == NULL                ? HIDES_WHERE_IT_PAYS
           : strcmp(wish, "all") == 0  ? HIDES_ALL
           : strcmp(wish, "none") == 0 ? HIDES_NONE
                                       : HIDES_WHERE_IT_PAYS;
}

static void open_team(job *j, void *argument) {
    opening *o = argument;
    sg_transport *transport = &o->transport;
    context_read(j, &o->options, sizeof o->options, o->given, "sg_team_options");
    if (o->options.transport != NULL)
        context_read(j, transport, sizeof *transport, o->options.transport, "sg_transport");
    context_device(j, o->context);
    sg_team *t = job_alloc(j, sizeof *t);
    t->job = j;
    t->context = o->context;
    t->seconds = o->options.seconds > 0 ? o->options.seconds : usual_seconds;
    if (o->options.transport != NULL) {
        if (transport->exchange == NULL || transport->rank < 0 ||
            transport->rank >= transport->ranks)
            context_refuse(j, "a transport needs a way to exchange, and a rank below its ranks");
        t->transport = *transport;
        t->transport.name = job_print(j, "%s", transport->name != NULL ? transport->name : "");
    } else if (o->options.nccl_comm == NULL && o->options.nccl_unique_id == NULL) {
        context_refuse(j, "a team needs a transport, an ncclComm_t or an ncclUniqueId");
    }
    job_defer(j, end_team, t);
    if (o->options.transport != NULL)
        meet(j, t, o->options.nccl);
    else
        open_nccl(j, t, &o->options);
    name_engine(t);
    t->hiding = read_hiding();
    if (o->options.timed != 0 && (t->nccl != NULL || t->stores != NULL))
        times_open(t);
    t->side = t->nccl != NULL || t->stores != NULL
                  ? t->context->device->ops->stream_open(t->context->device, j)
                  : NULL;
    job_keep(j, t);
    o->team = t;
}

sg_status sg_team_open(sg_context *context, const sg_team_options *options, sg_team **out) {
    opening o = {.context = context, .given = options};
    if (context == NULL || out == NULL)
        return SG_ERROR_USAGE;
    const sg_status status = context_make(context, open_team, &o);
    if (status == SG_OK) {
        *out = o.team;
    } else { /* the others do not wait for this rank */
        transport_abandon(&o.transport, sg_error(context));
        close_transport(&o.transport);
    }
    return status;
}

void team_free(sg_team *t, struct team_buffer *b) {
    const allocator *memory = &t->context->memory;
    if (b->device != NULL)
        t->context->device->ops->free(t->context->device, b->device);
    if (b->host != NULL)
        memory->resize(memory->user, b->host, b->room, 0);
    *b = (struct team_buffer){0};
}

void sg_team_close(sg_team *t) {
    if (t == NULL)
        return;
    end_team(t);
    close_transport(&t->transport);
    context_unmake(t->context, t->job);
}

typedef struct asking {
    const sg_team *team;
    sg_team_info *out;
} asking;

static void tell(job *j, void *argument) {
    const asking *a = argument;
    const sg_team *t = a->team;
    sg_team_info info = {.rank = t->transport.rank,
                         .ranks = t->transport.ranks,
                         .engine = t->engine,
                         .seconds = t->seconds,
                         .exchanges = t->exchanges,
                         .bytes = t->bytes};
    times_tell(j, t, &info.exchange_seconds, &info.hidden_seconds);
    context_write(j, a->out, &info, sizeof info, "sg_team_info");
}

sg_status sg_team_facts(const sg_team *team, sg_team_info *out) {
    asking a = {team, out};
    return team == NULL ? SG_ERROR_USAGE : context_run(team->context, tell, &a, NULL);
}

/* ---- which GPU ------------------------------------------------------------------------------- */

/* Where a launcher has put this process, by the variables that it sets; 0: there is none. */
static int local_rank(void) {
    static const char *const names[] = {
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "MPI_LOCALRANKID",
        "MV2_COMM_WORLD_LOCAL_RANK",
        "PALS_LOCAL_RANKID",
        "SLURM_LOCALID",
        "PMI_LOCAL_RANK",
        "LOCAL_RANK",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        char *end;
        const long number = value != NULL ? strtol(value, &end, 10) : -1;
        if (number >= 0 && number <= INT32_MAX && *value != '\0' && *end == '\0')
            return (int)number;
    }
    return 0;
}

static void count_gpus(job *j, void *argument) {
    int *count = argument;
    cuda_driver driver;
    const char *why;
    if (!cuda_driver_open(j, &driver, &why) || driver.init(0) != CU_OK ||
        driver.device_count(count) != CU_OK)
        *count = 0;
}

int sg_team_device(int local) {
    int count = 0;
    job *own;
    if (job_run(&allocator_libc, count_gpus, &count, &own) != FAULT_NONE)
        count = 0;
    job_end(own);
    return count > 0 ? (local < 0 ? local_rank() : local) % count : 0;
}
