/* What the ranks of a run have: the work that they share, and the arrays of each. Takes: files and
   expressions. Makes: a rank's part of the arrays on its device, and of the files. Code of a rank
   uses nothing of cli/command.h. */
#ifndef SG_CLI_COMMANDS_RUN_LOCAL_H
#define SG_CLI_COMMANDS_RUN_LOCAL_H

#include "cli/commands/run.h"
#include "cli/files/arrays.h"
#include "cli/files/records.h"
#include "cli/files/snapshot.h"
#include "cli/ranks.h"

/* ---- snapshots ------------------------------------------------------------------------------- */

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

/* ---- one rank -------------------------------------------------------------------------------- */

enum { MOST_PATH = 4096, MOST_OUTPUTS = 64, MOST_MONITORS = 16 };

typedef struct summary {
    bool any;
    double minimum, maximum;
    int64_t nan, infinite;
} summary;

/* A rank's file of its own cells. */
typedef struct piece {
    output *file;
    char path[MOST_PATH];
    bool open;
} piece;

typedef struct work {
    const options *options;
    const char *spec;
    arrays *arrays;
    sg_build_options how;
    double *parameters;
    int parameter_count;
    checkpoint from; /* of --restart; steps −1: none */
    unsigned due;    /* what is done after every N steps, a bit each */
    run_snapshots shots;
    point_files points; /* traces are written, and samples kept, by rank 0 */
    monitors monitors;
    piece *pieces; /* of each rank here: one for each output, and one for snapshots */
    int piece_count;

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
    size_t cells; /* of an array */
    unsigned char *host;
    sg_grid grids[CHECKPOINT_ARRAYS];
    void *temporary;
    sg_team_points *points; /* NULL: none */
    sg_kernel *maps[MOST_MONITORS];
    sg_team_monitor *monitors[MOST_MONITORS];
    bool ended; /* the condition of --until holds */
    int64_t made, sound;
    double seconds;
} local;

/* The bytes of an array. */
size_t local_bytes(const local *, int index);

/* Collective, as the rest: allocates the arrays, fills them, and gives them back. */
bool local_allocate(local *);
bool local_load_all(local *);
void local_release(local *);

/* Writes the rank's part of an array to a file, in which the whole begins at `offset`; `widens`: as
   floats, where its cells have 16 bits. */
void local_store(local *, const char *path, uint64_t offset, int index, bool widens);

/* Files of parts (run_pieces.c): made ready, by the command; and written, for output number `which`
   or, as the last, for a snapshot. Rank 0 has begun `index`, the .pvti file of this path.
   local_end_pieces ends all these files: they are in their places, or, where some rank failed, the
   folder is as it was. */
void pieces_make(work *, const ranks *, const arrays *);
bool local_write_pieces(local *, int which, const char *path, const datafile_array *about, int item,
                        output *index);
bool local_end_pieces(local *, int first, int count, output **indexes, int index_count);

/* Writes the snapshots of the steps made so far (run_frames.c). */
bool local_take_snapshots(local *);

/* Points and monitors (run_records.c): opening and closing them; steps with points; a sample of
   each monitor. */
bool local_open_records(local *);
void local_close_records(local *);
sg_status local_run(local *, sg_arguments *, int64_t count, int *final);
bool local_sample(local *, sg_arguments *);

/* What they have recorded, in a checkpoint: at rank 0, and back from that of --restart. */
void records_describe(const work *, checkpoint *);
bool records_write(const work *, const checkpoint *, const char *path);
int records_resume(work *);

/* A path that rank 0 knows (NULL: it has failed), on all ranks. */
bool local_share_path(rank *, const char *path, char out[MOST_PATH]);

/* Adds what another array holds. */
void summary_join(summary *, const summary *);

/* What all ranks' own cells of an array hold. */
bool local_summarise(local *, int index, summary *out);

/* Looks at the newest of each written field; the item with NaN or infinite values, or −1. */
int local_find_nan(local *);

#endif
