/* The snapshots of run. Takes: --snapshot, --every, --slice, --colours and --range. Makes: files of
   fields while the run goes on, and their report. */
#ifndef SG_CLI_COMMANDS_SNAPSHOTS_H
#define SG_CLI_COMMANDS_SNAPSHOTS_H

#include "cli/files/arrays.h"
#include "cli/files/snapshot.h"

typedef struct run_snapshots {
    snapshot_files *files;
    int count;
    int image_count;   /* which come first */
    bool alone;        /* the writer has all files */
    snapshots *writer; /* of all files; of several ranks: of the images, and at rank 0 alone */
} run_snapshots;

/* Matches names with arrays, whose size is known, and starts the writer. `alone`: one rank has the
   whole arrays; else the ranks write their parts. `speaks`: rank 0 is here. An exit code, as of the
   others. */
int run_snapshots_begin(run_snapshots *, const arrays *, bool alone, bool speaks);
int run_snapshots_end(run_snapshots *);

/* After every --every steps of the run, counted from its first one. */
bool run_snapshots_due(const run_snapshots *, const options *, int64_t made);

/* Which files there are. */
void run_snapshots_report(const run_snapshots *, const arrays *, json *, text *out);

/* How many steps of a batch to make before something of these, a bit each, is to be done. */
int64_t steps_until_due(const options *, unsigned what, int64_t made, int64_t batch);

/* Whether a snapshot or the checkpoint would replace another file of the run: its spec, an input,
   an output, a checkpoint. The names of snapshots are judged already (cli/files/snapshot.h).
   EXIT_DONE; or EXIT_USAGE after an error. */
int keep_files(const arrays *);

#endif
