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

/* Calls `command` with the ranks, before it opens a device. Its failure, in the words of
 *complaint, becomes that of all processes of an MPI job. */
typedef int ranks_command(const options *, ranks *, const char **complaint);
int ranks_call(ranks_command *command, const options *);

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

/* The own cells of a part, row by row: where row y of plane z begins, both counted from the part's
   own first ones, in the rank's array and in an array of the whole grid. */
static inline size_t part_row(const sg_team_part *p, int64_t y, int64_t z) {
    return (size_t)(((p->low[2] + z) * p->size[1] + p->low[1] + y) * p->size[0] + p->low[0]);
}

static inline uint64_t part_row_of_whole(const sg_team_part *p, int64_t y, int64_t z) {
    return (uint64_t)(((p->begin[2] + z) * p->global[1] + p->begin[1] + y) * p->global[0] +
                      p->begin[0]);
}

/* How many own cells there are along an axis. */
static inline int64_t part_own(const sg_team_part *p, int axis) {
    return p->end[axis] - p->begin[axis];
}

/* "not hidden", or, of exchanges of which some time was hidden, "1.2 ms of it not hidden". */
const char *ranks_unhidden(double waited, double hidden);

/* "2x2 ranks, NCCL 2.28.3": for reports; known after ranks_run. */
extern char ranks_engine[128];

#endif
