/* What run on one rank and on several share: its steps, and checkpoints. A checkpoint is
   the state of a run in one file. A head of text, HEAD bytes long, says what the run is and how far
   it came; the arrays that steps change follow, whole and in C order. */
#ifndef SG_CLI_COMMANDS_RUN_H
#define SG_CLI_COMMANDS_RUN_H

#include "cli/files/arrays.h"
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
uint64_t checkpoint_bytes(const checkpoint *);
/* False: it has too many names. */
bool checkpoint_head(const checkpoint *, char head[CHECKPOINT_HEAD]);

/* Reads the head of a file and compares its length. An exit code, after an error. */
int checkpoint_read(const char *path, checkpoint *out);
/* Whether it is one of this kernel's. */
int checkpoint_judge(const char *path, const checkpoint *, const arrays *, const sg_kernel *);

/* Where array number `index` of it begins. */
uint64_t checkpoint_offset(const checkpoint *, int index);
/* And record number `index`; the number of the one of this name, −1: there is none. */
uint64_t checkpoint_record_offset(const checkpoint *, int index);
int checkpoint_find(const checkpoint *, bool is_monitor, const char *name);

#endif
