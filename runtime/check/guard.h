/* Inside checks: guarded arrays, the cells that are judged, the sides of conditions, several steps.

   A guarded array has random data or poison, and guard zones around it. */
#ifndef SG_RUNTIME_CHECK_GUARD_H
#define SG_RUNTIME_CHECK_GUARD_H

#include "base/dtype.h"
#include "base/program.h"
#include "base/random.h"
#include "base/text.h"
#include "gen/model/model.h"
#include "gen/reference/reference.h"
#include "runtime/launch/launch.h"

/* Poison bytes make NaNs, so that a read beyond an array shows in the result. Guards of written
   arrays differ from the poison of their cells. */
enum { POISON_BYTE = 0xff, WRITTEN_GUARD_BYTE = 0xa5 };

typedef struct guarded_array {
    const char *name;
    dtype type;
    size_t element, bytes;        /* of a cell; of all */
    int64_t size[3];              /* unused axes 1 */
    bool written, rotates;        /* rotates: several steps write it in turn with others */
    unsigned char *memory;        /* on the device: guard zone, cells, guard zone */
    const unsigned char *content; /* on the host: the cells at first; NULL: poison */
    unsigned char *cells; /* on the host: what is read or, after guarded_fetch, what was written */
} guarded_array;

typedef struct guarded {
    const sg_kernel *kernel;
    device *device;
    workers *workers;
    int64_t size[3], points; /* of a grid */
    size_t zone;             /* bytes of a guard zone */
    int64_t step;            /* the number of a launch's first step */
    size_t temporary;        /* bytes of temporary memory, the array after the program's */
    int count;
    guarded_array arrays[LAUNCH_ARRAYS + 1];
} guarded;

/* Makes the arrays of a grid and fills those that are read by their samples, one for each array
   of the program. Frees everything on failure; afterwards guarded_close does. */
void guarded_open(job *, const sg_kernel *, const int64_t size[3], int64_t points,
                  const sample *samples, uint64_t seed, guarded *out);

/* The same for lists of a call's sizes. contents[i], which must live as long, is what the array
   holds at first; NULL is poison, and so is the temporary memory. */
void guarded_open_lists(job *, const sg_kernel *, const int64_t *sizes, void *const *contents,
                        size_t temporary_bytes, guarded *out);
void guarded_close(void *guarded);

/* What a launch on these arrays is given; `grids` has room for all. */
sg_arguments guarded_arguments(const guarded *, const double *parameters, sg_grid *grids);

/* Downloads the written arrays and the temporary memory. `final` is sg_run's after several
   steps, when all arrays that took part may have changed; NULL after a launch. */
void guarded_fetch(job *, guarded *, const int *final);

/* The elements that changed in guard zones and in arrays that are only read; describes the first
   in `first` if that is empty. */
int64_t guarded_verify(job *, const guarded *, text *first);

/* "(3,0,5)", a cell's index in a dense array of the kernel's axes; "5" in a list. */
void guarded_place(const guarded *, int64_t index, text *to);

/* A cell of an array on the host. */
static inline const unsigned char *guarded_cell(const guarded_array *a, int64_t index) {
    return a->cells + (size_t)index * a->element;
}

/* Host memory of the job's allocator, outside the job: arrays are too large to be kept until its
   end. */
void *guarded_memory(job *, size_t bytes);
void guarded_memory_free(const allocator *, void *memory, size_t bytes);

/* The cells of a grid that a check judges, in pieces: a few cells in a line each, which cover every
   cell once. On a grid that is too large to be judged whole these are:

   - the shell: all cells so near to a face that the shape reaches beyond it;

   - the first block, the last block and both sides of a seam between two others, along each axis
   and in every combination, which is what a kernel does at the borders of its blocks;

   - segments of rows, each drawn with the probability `share`. A fault in the cells of k
   segments is missed with the probability (1 − share)^k at most, which is next to nothing for a
   fault that recurs in every block, lane or row. */

typedef struct cells {
    int64_t size[PROGRAM_AXES];
    int dims;
    bool all;                                        /* all cells are judged */
    int segment;                                     /* cells in one, of a row */
    int64_t segments;                                /* of a row */
    int64_t shell[PROGRAM_AXES], near[PROGRAM_AXES]; /* how deep the shell and the blocks' parts */
    int64_t seam[PROGRAM_AXES];                      /* 0: there is one block */
    double share;
    uint64_t seed;
} cells;

typedef struct cells_piece {
    int64_t at[PROGRAM_AXES];
    int along; /* the axis of its cells */
    int count; /* may be 0 */
    bool judged;
} cells_piece;

/* `radius`: the reach of the shape over all steps of a launch. */
void cells_choose(cells *, const program *, const int64_t size[PROGRAM_AXES], int radius,
                  int64_t most, uint64_t seed);

int64_t cells_pieces(const cells *);
int cells_longest(const cells *); /* the most cells of a piece */
void cells_get(const cells *, int64_t piece, cells_piece *out);

/* Samples that reach both sides of a spec's conditions, and the sides that hardly any cell took. */

/* The program's array of a field: the written, the current or the previous one; −1: none. */
int check_array(const program *, const char *field, bool written, bool previous);

/* The model of a grid kernel with a spec, which the reference evaluates. */
const model *check_model(const sg_kernel *);

/* The stages of a system's kernel; NULL of others. */
const struct system_model *check_system(const sg_kernel *);

/* The sample of each array of a grid kernel. */
const sample *check_samples(job *, const sg_kernel *, const double *parameters);

/* Writes these sides to the result; valid until the thread's next call. */
void check_unjudged(job *, const sg_kernel *, const condition_sides *, sg_check_result *);

/* Checks of several steps. */

typedef struct check_steps {
    reference_steps march;
    allocator memory;
    void *grids;
    size_t bytes;
    void **scratch; /* one for each worker */
} check_steps;

/* The steps of a check, if the caller wanted `wanted` (0: one launch). */
int64_t check_steps_count(job *, const sg_kernel *, int64_t wanted);

/* Reduces a default size so that the host can follow all cells over several steps, if the kernel
   can fuse them on so small a grid. */
void check_steps_size(const sg_kernel *, int64_t steps, int64_t size[3], int64_t *points);

/* Launches as sg_launch does if `wanted` is 0, else as sg_run does; downloads the results. */
void check_steps_launch(job *, guarded *, const double *parameters, int64_t wanted);

/* Makes the steps of the whole grid by the reference; `arrays`, the model's, become what the
   next step reads. Their memory lives until check_steps_close, which is called if the job fails. */
void check_steps_march(job *, check_steps *, const guarded *, const reference *,
                       reference_array *arrays, int64_t steps);
void check_steps_close(void *check_steps);

#endif
