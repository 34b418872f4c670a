/* The ranks of a command: threads of this process, by --ranks, or the processes of an MPI job.
   Takes: options and the environment. Makes: teams, and their failures as one. */
#ifndef SG_CLI_RANKS_H
#define SG_CLI_RANKS_H

#include "cli/session.h"

typedef struct ranks {
    int count;                /* of all */
    int here;                 /* of this process */
    int grid[3];              /* of --ranks with several axes; all 0: chosen */
    const char *given;        /* the options that must be the same everywhere */
    sg_transport *transports; /* of those here */
    void *module;             /* the way to MPI; NULL: the ranks are threads */
    bool ended;               /* the transports are closed */
    bool speaks;              /* rank 0 is here, and so the reports are printed here */
} ranks;

/* Whether the options or the environment ask for several ranks. */
bool ranks_wanted(const options *);

/* "Open MPI 4.1.4, messages of host memory, /usr/lib/libstencilgen_mpi.so"; not usable: why. */
const char *ranks_describe_mpi(bool *usable);

/* In an MPI job this comes before the device is opened. */
int ranks_open(ranks *, const options *);
/* A failure here, in the words of `complaint`, becomes that of all processes of an MPI job. */
void ranks_close(ranks *, int code, const char *complaint);

/* A rank while it runs, in a thread of its own: only what belongs to it may be used, and nothing of
   cli/command.h. */
typedef struct rank {
    const ranks *of;
    int number; /* of all */
    sg_context *context;
    sg_team *team;
    void *user;
    sg_status status;
    char error[1024]; /* without "error: " */
    void (*body)(struct rank *);
    const sg_transport *transport;
    bool opens_context; /* and closes it */
} rank;

/* Notes the first failure; whether there is none. */
bool rank_good(rank *, sg_status);

/* Fails with a text of its own; EXIT_DATA. */
void rank_fail(rank *, const char *text);

/* All ranks fail if one has; whether they go on. */
bool rank_agreed(rank *);

/* Opens a team and calls body on each rank here. Prints what failed first, where rank 0 is. */
int ranks_run(ranks *, session *, void (*body)(rank *), void *user);

/* "not hidden", or, of exchanges of which some time was hidden, "1.2 ms of it not hidden". */
const char *ranks_unhidden(double waited, double hidden);

/* "2x2 ranks, NCCL 2.28.3": for reports; known after ranks_run. */
extern char ranks_engine[128];

#endif
