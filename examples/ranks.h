/* Ranks of a team as threads of this process, each with a GPU of its own where there are as many.
   Takes: the number of ranks, and the work of one. Needs: stencilgen.h and POSIX threads. */
#ifndef RANKS_H
#define RANKS_H

#include <pthread.h>

#include "example.h"

enum { MOST_RANKS = 64 };

typedef struct rank {
    const char *program, *device;
    int number, ranks;
    sg_context *context;
    sg_team *team;
    void *problem; /* what the ranks share */
    sg_status (*work)(struct rank *);
    sg_transport transport;
    sg_status status;
    char error[512]; /* where the status is not SG_OK */
    pthread_t thread;
} rank;

/* Tells the other ranks why this one has no team, so that none waits for it. */
static inline void stay_away(rank *r, const char *why) {
    r->transport.abandon(r->transport.user, why);
    r->transport.close(r->transport.user);
}

/* The function that a thread starts with. The text of an error is there only for the thread that
   met it. Closing the team, and the transport with it, ends the waiting of others for this rank. */
static inline void *rank_main(void *argument) {
    rank *r = (rank *)argument;
    const sg_options options = {.struct_size = sizeof options,
                                .device = r->device,
                                .device_index = sg_team_device(r->number)};
    const sg_team_options how = {.struct_size = sizeof how, .transport = &r->transport};
    r->status = sg_open(&r->context, &options);
    if (r->status != SG_OK)
        stay_away(r, sg_error(NULL));
    else if ((r->status = sg_team_open(r->context, &how, &r->team)) == SG_OK)
        r->status = r->work(r);
    if (r->status != SG_OK)
        snprintf(r->error, sizeof r->error, "%s", sg_error(r->context));
    sg_team_close(r->team);
    sg_close(r->context);
    return NULL;
}

/* Prints what a rank met. Most errors are the same on all ranks: then only the first says it. */
static inline void tell(const rank *ranks, int i) {
    const char *text = ranks[i].error[0] != '\0' ? ranks[i].error : "out of memory";
    for (int k = 0; k < i; k++)
        if (strcmp(ranks[k].error, ranks[i].error) == 0)
            return;
    fprintf(stderr, "%s: %s\n", ranks[i].program, text);
}

/* Runs all ranks at once and waits for them. Returns whether all went well, and prints why not. */
static inline int run_ranks(const char *program, const char *device, int count,
                            sg_status (*work)(rank *), void *problem) {
    static rank ranks[MOST_RANKS];
    sg_transport transports[MOST_RANKS];
    int good = 1, started[MOST_RANKS];
    if (sg_local_transports(count, transports) != SG_OK) {
        fprintf(stderr, "%s: no %d ranks can be joined\n", program, count);
        return 0;
    }
    for (int i = 0; i < count; i++) {
        const rank r = {.program = program,
                        .device = device,
                        .number = i,
                        .ranks = count,
                        .problem = problem,
                        .work = work,
                        .transport = transports[i]};
        ranks[i] = r;
        started[i] = pthread_create(&ranks[i].thread, NULL, rank_main, &ranks[i]) == 0;
        if (!started[i]) {
            ranks[i].status = SG_ERROR_MEMORY;
            snprintf(ranks[i].error, sizeof ranks[i].error, "rank %d got no thread", i);
            stay_away(&ranks[i], ranks[i].error);
        }
    }
    for (int i = 0; i < count; i++) {
        if (started[i])
            pthread_join(ranks[i].thread, NULL);
        if (ranks[i].status != SG_OK)
            tell(ranks, i);
        good = good && ranks[i].status == SG_OK;
    }
    return good;
}

#endif
