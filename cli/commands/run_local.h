/* What the ranks of a run have: the work that they share, and the arrays of each. Takes: files and
   expressions. Makes: a rank's part of the arrays on its device, and of the files. Code of a rank
   uses nothing of cli/command.h. */
#ifndef SG_CLI_COMMANDS_RUN_LOCAL_H
#define SG_CLI_COMMANDS_RUN_LOCAL_H

#include "cli/commands/checkpoint.h"
#include "cli/commands/run.h"
#include "cli/commands/snapshots.h"
#include "cli/ranks.h"

enum { MOST_PATH = 4096, MOST_OUTPUTS = 64 };

typedef struct summary {
    bool any;
    double minimum, maximum;
    int64_t nan, infinite;
} summary;

typedef struct work {
    const options *options;
    const char *spec;
    arrays *arrays;
    sg_build_options how;
    double *parameters;
    int parameter_count;
    checkpoint from; /* of --restart; steps −1: none */
    run_snapshots shots;

    /* By rank 0. */
    sg_kernel *kernel;
    sg_team_part part;
    steps steps;
    sg_team_info team;
    summary summaries[MOST_OUTPUTS];
} work;

/* A rank's arrays. */
typedef struct local {
    rank *rank;
    work *work;
    sg_kernel *kernel;
    sg_team_part part;
    size_t bytes; /* of an array */
    unsigned char *host;
    sg_grid grids[CHECKPOINT_ARRAYS];
    void *temporary;
    int64_t made, sound;
    double seconds;
} local;

/* Collective, as the rest: allocates the arrays, fills them, and gives them back. */
bool local_allocate(local *);
bool local_load_all(local *);
void local_release(local *);

/* Writes the rank's part of an array to a file, in which the whole begins at `offset`. */
void local_store(local *, const char *path, uint64_t offset, int index);

/* Writes the snapshots of the steps made so far (run_frames.c). */
bool local_take_snapshots(local *);

/* A path that rank 0 knows (NULL: it has failed), on all ranks. */
bool local_share_path(rank *, const char *path, char out[MOST_PATH]);

/* What all ranks' own cells of an array hold. */
bool local_summarise(local *, int index, summary *out);

/* Looks at the newest of each written field; the item with NaN or infinite values, or −1. */
int local_find_nan(local *);

#endif
