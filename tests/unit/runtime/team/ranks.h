/* Ranks as threads of a test: each has a transport and a body, and what goes wrong is collected. */
#ifndef SG_TESTS_TEAM_RANKS_H
#define SG_TESTS_TEAM_RANKS_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>
#include <pthread.h>

#include "runtime/stencilgen.h"

enum { MOST_RANKS = 64 };

typedef struct rank {
    sg_context *context;
    sg_transport transport;
    double seconds; /* the time limit; 0: the usual one */
    sg_team *team;
    sg_status status;
    char error[600]; /* where status is not SG_OK */
    void *user;
    void (*body)(struct rank *);
    pthread_t thread;
} rank;

/* Notes a failure and tells whether the call was good. */
static inline int good(rank *r, sg_status status) {
    if (status != SG_OK && r->status == SG_OK) {
        r->status = status;
        snprintf(r->error, sizeof r->error, "%s", sg_error(r->context));
    }
    return status == SG_OK;
}

static inline void *be_rank(void *argument) {
    rank *r = argument;
    const sg_team_options how = {
        .struct_size = sizeof how, .transport = &r->transport, .seconds = r->seconds};
    if (good(r, sg_team_open(r->context, &how, &r->team)))
        r->body(r);
    sg_team_close(r->team);
    return NULL;
}

/* Runs `body` on so many ranks of a context. */
static inline void run_ranks(sg_context *c, rank *ranks, int count, double seconds, void *user,
                             void (*body)(rank *)) {
    sg_transport transports[MOST_RANKS];
    assert_int_equal(sg_local_transports(count, transports), SG_OK);
    for (int i = 0; i < count; i++) {
        ranks[i] = (rank){.context = c,
                          .transport = transports[i],
                          .seconds = seconds,
                          .user = user,
                          .body = body};
        assert_int_equal(pthread_create(&ranks[i].thread, NULL, be_rank, &ranks[i]), 0);
    }
    for (int i = 0; i < count; i++)
        pthread_join(ranks[i].thread, NULL);
}

static inline void expect_good(const rank *ranks, int count) {
    for (int i = 0; i < count; i++)
        if (ranks[i].status != SG_OK)
            fail_msg("rank %d: %s", i, ranks[i].error);
}

/* Rank `culprit` of so many is named by all others, which say `cause` too. */
static inline void expect_named(const rank *ranks, int count, int culprit, const char *cause) {
    char name[24];
    snprintf(name, sizeof name, "rank %d", culprit);
    for (int i = 0; i < count; i++) {
        if (i == culprit)
            continue;
        if (ranks[i].status == SG_OK)
            fail_msg("rank %d has not heard of it", i);
        if (strstr(ranks[i].error, name) == NULL || strstr(ranks[i].error, cause) == NULL)
            fail_msg("rank %d says '%s', not '%s' and '%s'", i, ranks[i].error, name, cause);
    }
}

static inline void expect_all(const rank *ranks, int count, sg_status status, const char *text) {
    for (int i = 0; i < count; i++)
        if (ranks[i].status != status || strstr(ranks[i].error, text) == NULL)
            fail_msg("rank %d: %d, '%s', not %d, '%s'", i, ranks[i].status, ranks[i].error, status,
                     text);
}

#endif
