/* The arrays of a check: random data to read, poison to write over, and guard zones around both.
   Takes: a kernel and a size. Makes: device arrays, their content on the host, and a count of what
   a launch changed that it should not have. */
#ifndef SG_RUNTIME_CHECK_GUARD_H
#define SG_RUNTIME_CHECK_GUARD_H

#include "base/dtype.h"
#include "base/program.h"
#include "base/random.h"
#include "base/text.h"
#include "gen/model/model.h"
#include "gen/reference/reference.h"
#include "runtime/launch/kernel.h"
#include "runtime/launch/launch.h"

/* Bytes of poison make NaNs, so that a read from beyond an array shows in the result. Guards of
   written arrays differ from the poison of their cells. */
enum { POISON_BYTE = 0xff, WRITTEN_GUARD_BYTE = 0xa5 };

typedef struct guarded_array {
    const char *name;
    dtype type;
    size_t element, bytes;        /* of a cell; of all */
    int64_t size[3];              /* unused axes 1 */
    bool written, rotates;        /* rotates: by several steps it is written in turn with others */
    unsigned char *memory;        /* on the device: a guard zone, the cells, a guard zone */
    const unsigned char *content; /* on the host: of the cells at first; NULL: poison */
    unsigned char *cells; /* on the host: what is read, or after guarded_fetch what was written */
} guarded_array;

typedef struct guarded {
    const sg_kernel *kernel;
    device *device;
    workers *workers;
    int64_t size[3], points; /* of a grid */
    size_t element;          /* likewise */
    size_t zone;             /* bytes of a guard zone */
    size_t temporary;        /* bytes of temporary memory, which is the array after the program's */
    int count;
    guarded_array arrays[LAUNCH_ARRAYS + 1];
} guarded;

/* Makes and fills the arrays of a grid, each that is read as its sample says (one for each of the
   program's arrays). On failure everything is freed, afterwards guarded_close does it. */
void guarded_open(job *, const sg_kernel *, const int64_t size[3], int64_t points,
                  const sample *samples, uint64_t seed, guarded *out);

/* The same for lists of the sizes of a call. contents[i], which outlive it, are what the program's
   arrays hold at first; NULL is poison, which the temporary memory holds as well. */
void guarded_open_lists(job *, const sg_kernel *, const int64_t *sizes, void *const *contents,
                        size_t temporary_bytes, guarded *out);
void guarded_close(void *guarded);

/* The grids for a launch, and its temporary memory. */
void guarded_grids(const guarded *, sg_grid *grids);
void *guarded_temporary(const guarded *);

/* Brings the written arrays, and the temporary memory, to the host. `final`: after several steps,
   as of sg_run, it says where what they wrote is, and all arrays that took part may have changed;
   NULL after a launch. */
void guarded_fetch(job *, guarded *, const int *final);

/* How many elements changed in guard zones and in arrays that are only read; describes the first
   in `first`, where that is still empty. */
int64_t guarded_verify(job *, const guarded *, text *first);

/* "(3,0,5)" of a cell's index in a dense array, only as many axes as the kernel has; "5" in a list.
 */
void guarded_place(const guarded *, int64_t index, text *to);

/* An element of a grid on the host as a double. */
static inline double guarded_value(const guarded *g, const void *cells, int64_t index) {
    return g->element == sizeof(float) ? (double)((const float *)cells)[index]
                                       : ((const double *)cells)[index];
}

/* Host memory outside the job: arrays are too large to be held until its end. It comes from the
   job's allocator, which takes it back. */
void *guarded_memory(job *, size_t bytes);
void guarded_memory_free(const allocator *, void *memory, size_t bytes);

/* Which cells of a grid a check judges. Takes: a grid, its kernel's blocks, and how many cells may
   be judged. Makes: pieces, each a few cells in a line, which cover every cell of the grid once and
   say whether theirs are judged.

   On a grid that is too large to be judged whole these are:
   - the shell: all cells so near to a face that the shape reaches beyond it;
   - the first block, the last block and both sides of a seam between two others, along each axis
   and in every combination: what a kernel does at the borders of its blocks;
   - segments of rows, drawn at random, each with the same probability `share`. A fault that spoils
     cells of k segments is missed with the probability (1 − share)^k at most: of a fault that comes
     back in every block, in a lane or a row of it, next to nothing is left. */

typedef struct cells {
    int64_t size[PROGRAM_AXES];
    int dims;
    bool all;                                        /* cells are judged */
    int segment;                                     /* cells in one, of a row */
    int64_t segments;                                /* of a row */
    int64_t shell[PROGRAM_AXES], near[PROGRAM_AXES]; /* how deep the shell and the blocks' parts */
    int64_t seam[PROGRAM_AXES];                      /* 0: there is one block */
    double share;
    uint64_t seed;
} cells;

typedef struct cells_piece {
    int64_t at[PROGRAM_AXES];
    int along; /* which axis its cells lie */
    int count; /* may be 0 */
    bool judged;
} cells_piece;

/* `radius`: how far the shape reaches, in all steps of a launch. */
void cells_choose(cells *, const program *, const int64_t size[PROGRAM_AXES], int radius,
                  int64_t most, uint64_t seed);

int64_t cells_pieces(const cells *);
int cells_longest(const cells *); /* cells that a piece has at most */
void cells_get(const cells *, int64_t piece, cells_piece *out);

/* The sides of a spec's conditions in a check: data that reach them, and those that hardly any cell
   took. Takes: a kernel with its subject, counts. Makes: samples for its arrays; the list of an
   sg_check_result. */

/* The program's array that holds a field: the one written, the current or the previous one; −1. */
int check_array(const program *, const char *field, bool written, bool previous);

/* What the reference evaluates, of a grid kernel that has a spec. */
const model *check_model(const sg_kernel *);

/* What each of a grid kernel's arrays is filled from. */
const sample *check_samples(job *, const sg_kernel *, const double *parameters);

/* Makes these sides the result's. They are valid until the thread's next call. */
void check_unjudged(job *, const sg_kernel *, const condition_sides *, sg_check_result *);

/* Checks of several steps. Takes: a check's arrays. Makes: what the reference says that the last of
   the steps reads; default sizes that a host can follow. */

typedef struct check_steps {
    reference_steps march;
    allocator memory;
    void *grids;
    size_t bytes;
    void **scratch; /* one for each worker */
} check_steps;

/* How many steps a check of a kernel makes, where `wanted` (0: one launch) were asked for. */
int64_t check_steps_count(job *, const sg_kernel *, int64_t wanted);

/* Makes a size that nobody asked for small enough that all cells can be followed over several
   steps, where the kernel can fuse them on a grid so small. */
void check_steps_size(const sg_kernel *, int64_t steps, int64_t size[3], int64_t *points);

/* Launches: as sg_launch where `wanted` is 0, else as sg_run; brings the results to the host. */
void check_steps_launch(job *, guarded *, const double *parameters, int64_t wanted);

/* Makes so many steps of the whole grid by the reference; `arrays`, of the model, become what the
   next step reads, in memory that lives until check_steps_close, which is called if the job fails.
 */
void check_steps_march(job *, check_steps *, const guarded *, const reference *,
                       reference_array *arrays, int64_t steps);
void check_steps_close(void *check_steps);

#endif
