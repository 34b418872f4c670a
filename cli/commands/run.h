/* What the files of run share: steps, checkpoints and snapshots; and the ranks of a run, with the
   work that they share and the arrays of each. Code of a rank uses nothing of cli/command.h. */
#ifndef SG_CLI_COMMANDS_RUN_H
#define SG_CLI_COMMANDS_RUN_H

#include "cli/files/arrays.h"
#include "cli/files/records.h"
#include "cli/ranks.h"

typedef struct steps {
    int64_t made;
    int64_t begun; /* made before this run, which a checkpoint says */
    double seconds;
    const char *stopped_by; /* the field with NaN or infinite values; NULL */
    int64_t sound;          /* after so many steps there were none */
} steps;

/* Shows on a terminal how far a run is and how long it will take, if it is long. */
void steps_progress(const steps *, int64_t steps);
/* How many steps are made before --stop-on-nan looks: a multiple of those that a launch fuses. */
int64_t steps_unlooked(int64_t fused);

/* Prints why a run stopped; its exit code. */
int steps_stopped(const arrays *, const steps *);
void steps_text(const steps *, text *out);
void steps_json(const steps *, json *);

/* Products with a matrix (run_product.c). The first asks whether they have all that they read. */
int product_judge(const arrays *, const sg_kernel *, const double *parameters);
int product_run(arrays *, const sg_kernel *, const double *parameters, double *seconds);
void product_json(const arrays *, json *);
void product_text(const arrays *, text *out);

/* run on these ranks (run_team.c). */
int run_team(session *, const char *spec, ranks *, json *, text *out);

/* ---- checkpoints ----------------------------------------------------------------------------- */

/* The state of a run in one file. A head of text, HEAD bytes long, says what the run is and how far
   it came; the arrays that steps change follow, whole and in C order, then records, and then
   checksums. */

/* What a run has recorded so far, behind the arrays: rows of traces, or samples of a monitor (their
   steps, then their values, of 8 bytes each). */
enum { CHECKPOINT_RECORDS = 32 };
typedef struct checkpoint_record {
    char name[72];
    bool is_monitor;
    int64_t rows, row; /* row: bytes */
} checkpoint_record;

enum { CHECKPOINT_HEAD = 8192, CHECKPOINT_LINE = 1024, CHECKPOINT_ARRAYS = 64 };

typedef struct checkpoint {
    char meaning[72];           /* of the spec and its parameters' names, as a digest */
    char plan[CHECKPOINT_LINE]; /* the schedule, so that a restart makes the same launches */
    int64_t steps;              /* made */
    int64_t size[3];
    size_t element; /* of arrays of the dtype */
    int count;
    char names[CHECKPOINT_ARRAYS][72];
    size_t bytes[CHECKPOINT_ARRAYS]; /* of a cell of each */
    int record_count;
    checkpoint_record records[CHECKPOINT_RECORDS];
} checkpoint;

/* Describes the state of a run after so many steps. */
void checkpoint_describe(const arrays *, const sg_kernel *, int64_t steps, checkpoint *out);
/* Of the file, and where its checksums begin. */
uint64_t checkpoint_bytes(const checkpoint *);
uint64_t checkpoint_end(const checkpoint *);
/* False: it has too many names. */
bool checkpoint_head(const checkpoint *, char head[CHECKPOINT_HEAD]);

/* Whether it is one of this kernel's. */
int checkpoint_judge(const char *path, const checkpoint *, const arrays *, const sg_kernel *);

/* What --restart says: the steps made, the size, and the schedule where no option has it. Without
   the option *out stays as it is. */
int checkpoint_begin(options *, checkpoint *out);
/* A checkpoint that cannot be written costs no computation. */
int checkpoint_try(const char *path);

/* Where array number `index` of it begins. */
uint64_t checkpoint_offset(const checkpoint *, int index);
/* And record number `index`; the number of the one of this name, −1: there is none. */
uint64_t checkpoint_record_offset(const checkpoint *, int index);
int checkpoint_find(const checkpoint *, bool is_monitor, const char *name);

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
   an output, a checkpoint. The names of snapshots are judged already (cli/files/records.h).
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

/* Files that several ranks write (run_files.c). One that they share: rank 0 makes it; and when all
   have written to `shared`, it is in its place or, where some rank failed, dropped. */
typedef struct shared_file {
    const char *path, *what; /* "a snapshot", for messages */
    output *file;            /* at rank 0 */
    char shared[MOST_PATH];  /* where it is until then */
} shared_file;

bool local_share_file(local *, shared_file *, const void *head, size_t head_bytes, uint64_t end,
                      const text *tail);
bool local_end_file(local *, shared_file *, bool good);

/* Files of parts: judged and made ready, by the command; and written, for output number `which`
   or, as the last, for a snapshot. Rank 0 has begun `index`, the .pvti file of this path.
   local_end_pieces ends all these files: they are in their places, or, where some rank failed, the
   folder is as it was. */
int pieces_judge(const arrays *); /* two outputs, or an output and a snapshot, may be one file */
void pieces_make(work *, const ranks *, const arrays *);
bool local_write_pieces(local *, int which, const char *path, const datafile_array *about, int item,
                        output *index);
bool local_end_pieces(local *, int first, int count, output **indexes, int index_count);

/* Writes the snapshots of the steps made so far (run_files.c). */
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

/* The checksums of a checkpoint, which lie at `end`. Collective: rank 0 writes those of a file that
   is complete otherwise, and alone knows where it ends; and whether those of --restart are right.
 */
void sums_write(local *, const char *path, uint64_t end);
bool sums_compare(local *);

/* A path that rank 0 knows (NULL: it has failed), on all ranks. */
bool local_share_path(rank *, const char *path, char out[MOST_PATH]);

/* Adds what another array holds. */
void summary_join(summary *, const summary *);

/* What all ranks' own cells of an array hold. */
bool local_summarise(local *, int index, summary *out);

/* Looks at the newest of each written field; the item with NaN or infinite values, or −1. */
int local_find_nan(local *);

#endif
