/* A team over MPI. An application includes this header and compiles it with its own MPI, since MPI
 * has no binary interface that a library could rely on; libstencilgen_mpi.so, which the command
 * loads, is this header compiled.
 *
 *     sg_transport transport;
 *     if (sg_mpi_transport(MPI_COMM_WORLD, &transport) != 0) ...
 *     sg_team_options how = {.struct_size = sizeof how, .transport = &transport};
 *     sg_team_open(context, &how, &team);     // closes the transport with the team
 *
 * Needs MPI 3.0. The thread that calls the library is the one that may call MPI: the main thread,
 * or any thread after MPI_Init_thread with MPI_THREAD_SERIALIZED. Errors of MPI itself end the
 * program where the communicator's error handler says so, as it does by default. */
#ifndef STENCILGEN_MPI_H
#define STENCILGEN_MPI_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(OPEN_MPI) && OPEN_MPI
#include <mpi-ext.h>
#endif

#include "../stencilgen.h"

enum { SG_MPI_DATA = 1, SG_MPI_NOTICE = 2, SG_MPI_PIECE = 1 << 30 };

typedef struct sg_mpi_state {
    MPI_Comm
        comm; /* a duplicate, so that no message of the application is mistaken for one of ours */
    MPI_Request *requests;
    int room;
    int rank, ranks;
    int told; /* all ranks hear that the team is abandoned: by this rank, or by another */
    char notice[SG_WHY];
} sg_mpi_state;

/* The words in which a rank says for whom it has waited in vain. */
#define SG_MPI_LATE "rank %d did not answer within"

/* The rank that such words name; -1: they are others. */
static int sg_mpi_named(const char *why) {
    int rank = -1, end = 0;
    return sscanf(why, SG_MPI_LATE "%n", &rank, &end) == 1 && end > 0 ? rank : -1;
}

/* Whether a rank has abandoned the team; `why` is then what it said. */
static int sg_mpi_hears(sg_mpi_state *s, char why[SG_WHY], int *source) {
    int there = 0;
    MPI_Status about;
    MPI_Iprobe(MPI_ANY_SOURCE, SG_MPI_NOTICE, s->comm, &there, &about);
    if (!there)
        return 0;
    memset(why, 0, SG_WHY);
    *source = about.MPI_SOURCE;
    MPI_Recv(why, SG_WHY - 1, MPI_CHAR, *source, SG_MPI_NOTICE, s->comm, MPI_STATUS_IGNORE);
    return 1;
}

static void sg_mpi_pause(void) { /* other processes may want the core */
    const struct timespec pause = {0, 50000};
    nanosleep(&pause, NULL);
}

/* Begins a message in pieces of at most 1 GiB, since MPI counts in int. */
static void sg_mpi_begin(sg_mpi_state *s, const sg_message *m, int receives, int *count) {
    size_t left = m->bytes;
    char *at = (char *)m->data;
    do {
        const int now = left < SG_MPI_PIECE ? (int)left : SG_MPI_PIECE;
        if (*count == s->room) {
            s->room = 2 * s->room + 64;
            s->requests =
                (MPI_Request *)realloc(s->requests, (size_t)s->room * sizeof(MPI_Request));
            if (s->requests == NULL)
                MPI_Abort(s->comm, 4);
        }
        if (receives)
            MPI_Irecv(at, now, MPI_BYTE, m->rank, SG_MPI_DATA, s->comm, &s->requests[(*count)++]);
        else
            MPI_Isend(at, now, MPI_BYTE, m->rank, SG_MPI_DATA, s->comm, &s->requests[(*count)++]);
        at += now;
        left -= (size_t)now;
    } while (left > 0);
}

/* Takes unfinished requests back. Returns the rank of the first, by the messages that they were
 * begun for; -1: all are done. */
static int sg_mpi_take_back(sg_mpi_state *s, const sg_message *messages, int message_count,
                            int *next) {
    int late = -1;
    for (int i = 0; i < message_count; i++)
        for (size_t at = 0; at == 0 || at < messages[i].bytes; at += SG_MPI_PIECE) {
            MPI_Request *request = &s->requests[(*next)++];
            int over = 0;
            MPI_Test(request, &over, MPI_STATUS_IGNORE);
            if (over)
                continue;
            late = late < 0 ? messages[i].rank : late;
            MPI_Cancel(request);
            MPI_Request_free(request);
        }
    return late;
}

static void sg_mpi_abandon(void *user, const char *text) {
    sg_mpi_state *s = (sg_mpi_state *)user;
    if (s->told)
        return;
    s->told = 1;
    snprintf(s->notice, sizeof s->notice, "%s", text);
    for (int i = 0; i < s->ranks; i++)
        if (i != s->rank) { /* short: sent without waiting for the receiver */
            MPI_Request request;
            MPI_Isend(s->notice, (int)strlen(s->notice), MPI_CHAR, i, SG_MPI_NOTICE, s->comm,
                      &request);
            MPI_Request_free(&request);
        }
}

/* Ranks may wait for ranks that wait themselves. Each that waits tells the others for whom: the one
 * that says nothing is late. */
static void sg_mpi_find_late(sg_mpi_state *s, int late, int own, double seconds, char why[SG_WHY]) {
    const double until = MPI_Wtime() + (seconds < 10 ? seconds / 10 : 1);
    int *waits = (int *)malloc((size_t)s->ranks * sizeof *waits), source = 0;
    if (waits == NULL)
        return;
    for (int i = 0; i < s->ranks; i++)
        waits[i] = -1;
    if (own >= 0) {
        snprintf(why, SG_WHY, SG_MPI_LATE " %g s", own, seconds);
        sg_mpi_abandon(s, why);
        waits[s->rank] = own;
    }
    while (MPI_Wtime() < until) {
        if (!sg_mpi_hears(s, why, &source)) {
            sg_mpi_pause();
        } else if (sg_mpi_named(why) >= 0) {
            waits[source] = sg_mpi_named(why);
        } else { /* the cause itself */
            free(waits);
            return;
        }
    }
    for (int i = 0; i < s->ranks && late >= 0 && late < s->ranks && waits[late] >= 0; i++)
        late = waits[late];
    snprintf(why, SG_WHY, SG_MPI_LATE " %g s", late, seconds);
    free(waits);
}

static int sg_mpi_exchange(void *user, const sg_message *sends, int send_count,
                           const sg_message *receives, int receive_count, double seconds,
                           char why[SG_WHY]) {
    sg_mpi_state *s = (sg_mpi_state *)user;
    const double begun = MPI_Wtime();
    int count = 0, done = 0, turns = 0, next = 0, heard = 0, source = 0;
    for (int i = 0; i < receive_count; i++)
        sg_mpi_begin(s, &receives[i], 1, &count);
    for (int i = 0; i < send_count; i++)
        sg_mpi_begin(s, &sends[i], 0, &count);
    while (1) {
        if (count > 0)
            MPI_Testall(count, s->requests, &done, MPI_STATUSES_IGNORE);
        if (count > 0 && done)
            return 0;
        heard = turns++ % 64 == 0 && sg_mpi_hears(s, why, &source);
        if (heard)
            break;
        if (count == 0)
            return 0;
        const double now = MPI_Wtime() - begun;
        if (now > seconds)
            break;
        if (now > 0.001)
            sg_mpi_pause();
    }
    const int from = sg_mpi_take_back(s, receives, receive_count, &next);
    const int to = sg_mpi_take_back(s, sends, send_count, &next);
    const int own = from >= 0 ? from : to;
    if (!heard && own < 0) /* the last came at the last moment */
        return 0;
    const int late = heard ? sg_mpi_named(why) : own;
    if (late >= 0)
        sg_mpi_find_late(s, late, own, seconds, why);
    s->told = 1; /* who has told this rank has told all */
    return 1;
}

/* Leaves the duplicate of the communicator to MPI_Finalize: freeing it would wait for all ranks. */
static void sg_mpi_close(void *user) {
    sg_mpi_state *s = (sg_mpi_state *)user;
    free(s->requests);
    if (s->notice[0] == '\0') /* else MPI may still send it */
        free(s);
}

/* The library's name and version, cut at its first comma or line. */
static inline const char *sg_mpi_name(void) {
    static char name[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(name, &length);
    name[strcspn(name, ",\n")] = '\0';
    return name;
}

/* Whether messages may lie in device memory. */
static inline int sg_mpi_takes_device_memory(void) {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support();
#else
    return 0;
#endif
}

/* Returns 0, or 1 if there is no memory. Collective. */
static inline int sg_mpi_transport(MPI_Comm comm, sg_transport *out) {
    sg_mpi_state *s = (sg_mpi_state *)calloc(1, sizeof *s);
    if (s == NULL)
        return 1;
    MPI_Comm_dup(comm, &s->comm);
    MPI_Comm_rank(s->comm, &s->rank);
    MPI_Comm_size(s->comm, &s->ranks);
    memset(out, 0, sizeof *out);
    out->struct_size = sizeof *out;
    out->name = sg_mpi_name();
    out->rank = s->rank;
    out->ranks = s->ranks;
    out->user = s;
    out->exchange = sg_mpi_exchange;
    out->abandon = sg_mpi_abandon;
    out->close = sg_mpi_close;
    out->device_memory = sg_mpi_takes_device_memory();
    return 0;
}

#endif
