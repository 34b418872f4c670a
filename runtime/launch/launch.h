/* Launches inside. Takes: a caller's arguments. Makes: checked arguments, and launches of them.
   Nothing here allocates. */
#ifndef SG_RUNTIME_LAUNCH_LAUNCH_H
#define SG_RUNTIME_LAUNCH_LAUNCH_H

#include "runtime/launch/kernel.h"

/* The most that a program may ask for; building asserts it. */
enum {
    LAUNCH_ARRAYS = 64,
    LAUNCH_PARAMETERS = 64,
    LAUNCH_SIZES = 16,
    LAUNCH_TEMPORARIES = 16,
    LAUNCH_BYTES = 4096
};

/* Bytes of device memory that an array may span: far enough below 2^63 that no sum of two with a
   tile's overhang overflows. */
#define LAUNCH_MOST_BYTES (INT64_C(1) << 61)

/* What CUDA allows of a launch's blocks along each axis. */
extern const int64_t launch_most_blocks[PROGRAM_AXES];

typedef struct launch_grid {
    unsigned char *data; /* cell (0,0,0) */
    int64_t stride[3];   /* in elements */
    uintptr_t low, high; /* the bytes it spans, high excluded */
} launch_grid;

typedef struct launch {
    int64_t size[3], begin[3], end[3]; /* in grid axes, unused ones 1, 0 and 1 */
    bool empty;                        /* there is nothing to do */
    bool whole;                        /* the box is the grid */
    launch_grid grids[LAUNCH_ARRAYS];
    double parameters[LAUNCH_PARAMETERS];
    int32_t steps;           /* that a launch makes */
    unsigned char *exchange; /* memory of words between blocks; NULL: none given, or needed */

    /* Of lists, whose grids have only data and what they span. */
    int64_t sizes[LAUNCH_SIZES];

    /* Of lists the temporaries, of grids the layers. */
    struct {
        unsigned char *data;
        size_t bytes; /* that are its own; the next begins at a multiple of PROGRAM_ALIGNMENT */
    } temporaries[LAUNCH_TEMPORARIES];
} launch;

/* Reads the caller's struct; refuses where it has not a grid for each array. */
bool launch_read(job *, const sg_kernel *, const sg_arguments *given, sg_arguments *out);

/* Checks the arguments and completes them, for a launch that makes the steps of sg_launch.
   `rotating`: arrays of inout fields will swap roles, so that each of them is written in turn, and
   steps are made as the arguments allow. Refuses as context_refuse does. */
bool launch_check(job *, const sg_kernel *, const sg_arguments *, bool rotating, launch *out);

/* The bytes of temporary memory for arguments that launch_read has read; looks at sizes and the box
   alone. */
bool launch_measure(job *, const program *, const sg_arguments *, launch *out, size_t *bytes);

/* Sets the addresses of out->temporaries, which were measured, in the caller's temporary memory. */
bool launch_place(job *, const program *, const sg_arguments *, size_t needed, launch *out);

/* Launches what sg_launch does. FAULT_NONE, or FAULT_DEVICE with the device's code. */
fault launch_send(const sg_kernel *, const launch *, void *stream, int *code);

/* Likewise one way of a program (base/program.h), for the launch's steps; `together`: all its
   blocks at once. */
fault launch_send_way(const sg_kernel *, const launch *, int way, bool together, void *stream,
                      int *code);

/* Both, failing through the job. */
void launch_once(job *, const sg_kernel *, const sg_arguments *, void *stream);
noreturn void launch_fail(job *, const sg_kernel *, int code);

/* Layers: grids of temporary memory between the launches of a program of grids (base/program.h).
   Takes: checked arguments. Makes: what each launch sees as its grid. Nothing here allocates. */

/* What the layers take for the box of `out`, in out->temporaries, whose addresses are not set;
   their sum is *bytes. Refuses as context_refuse does. */
bool layers_measure(job *, const program *, launch *out, size_t *bytes);

/* The bytes for an update of a whole grid. */
size_t layers_bytes(job *, const program *, const int64_t size[3]);

/* A launch's grid and box, in grid axes, and its arrays and then layers from the cell (0, 0, 0) on;
   those it does not touch have no data and strides 0. */
typedef struct layer_view {
    int64_t size[3], begin[3], end[3];
    int count;
    launch_grid grids[LAUNCH_ARRAYS + LAUNCH_TEMPORARIES];
} layer_view;
void layers_view(const program *, const launch *, int which, layer_view *out);

/* Launches of programs of lists, without allocating anything.
   Takes: a caller's arguments. Makes: a launch whose sizes, arrays, temporary memory and blocks are
   right, and its fills and kernels in order. */

/* Checks all but the parameters. Sets `empty` where no launch has a block. */
bool lists_check(job *, const program *, const sg_arguments *, launch *out);

/* Looks at the extents alone: finds the sizes and what each temporary takes, whose sum is *bytes;
   their addresses are not set. Nothing is needed where nothing is launched. */
bool lists_measure(job *, const program *, const sg_grid *grids, launch *out, size_t *bytes);

fault lists_send(const sg_kernel *, const launch *, void *stream, int *code);

/* The extent of an array along an axis, and the elements of all axes: those of a call whose sizes
   passed lists_check. Below 0 counts as 0. */
int64_t lists_extent(const program_extent *, const int64_t *sizes);
int64_t lists_elements(const program_array *, const int64_t *sizes);

/* Several steps of time. Takes: a launch whose arguments were checked as rotating. Makes: the
   launches of the program's ways that together make so many steps. Nothing here allocates. */

/* Refuses, failing the job, what sg_run cannot make. */
void steps_allow(job *, const program *, int64_t count);

/* Makes them; failing the job where a launch fails. `final`: as of sg_run. The launch's grids are
   afterwards those of a further step. */
void steps_make(job *, const sg_kernel *, launch *, int64_t count, void *stream,
                int final[LAUNCH_ARRAYS]);

/* Whether the program can make many steps of a grid of this size in one launch, given memory for
   the exchange. */
bool steps_together(const sg_kernel *, const int64_t size[PROGRAM_AXES]);

/* The bytes of temporary memory for an update of a whole grid, with that for the exchange where it
   is of use. */
size_t steps_bytes(job *, const sg_kernel *, const int64_t size[PROGRAM_AXES]);

#endif
