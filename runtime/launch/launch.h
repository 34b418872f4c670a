/* Launches: a caller's arguments are checked and completed, and sent as launches. Nothing here
   allocates. */
#ifndef SG_RUNTIME_LAUNCH_LAUNCH_H
#define SG_RUNTIME_LAUNCH_LAUNCH_H

#include "runtime/launch/context.h"

/* The limits of a program, asserted by builds. */
enum {
    LAUNCH_ARRAYS = 64,
    LAUNCH_PARAMETERS = 64,
    LAUNCH_SIZES = 16,
    LAUNCH_TEMPORARIES = 64,
    LAUNCH_BYTES = 4096
};

/* The most bytes that an array may span, so far below 2^63 that no sum of two with a tile's
   overhang overflows. */
#define LAUNCH_MOST_BYTES (INT64_C(1) << 61)

/* CUDA's limits on the blocks of a launch. */
extern const int64_t launch_most_blocks[PROGRAM_AXES];

typedef struct launch_grid {
    unsigned char *data; /* cell (0,0,0) */
    int64_t stride[3];   /* in elements */
    uintptr_t low, high; /* the bytes it spans, high excluded */
} launch_grid;

typedef struct launch {
    int64_t size[3], begin[3], end[3]; /* in grid axes, unused ones 1, 0 and 1 */
    bool empty;                        /* nothing to do */
    bool whole;                        /* the box is the grid */
    launch_grid grids[LAUNCH_ARRAYS];
    double parameters[LAUNCH_PARAMETERS];
    int64_t origin[3], global[3], step; /* positions, in grid axes: see sg_arguments */
    int places[LAUNCH_ARRAYS];          /* of each array of the kernel among the caller's */
    int32_t steps;                      /* of a launch */
    unsigned char *exchange; /* the words that blocks exchange; NULL: none given, or none needed */
    bool cleared;            /* layers that are cleared once in a run have been */
    bool seconds;            /* there is memory for the layers of ways ... */
    launch_grid second[LAUNCH_ARRAYS]; /* ... which swap places with arrays: by written array */

    /* Of lists, whose grids have only data, low and high. */
    int64_t sizes[LAUNCH_SIZES];

    /* Temporaries of lists, layers of grids. */
    struct {
        unsigned char *data;
        size_t bytes; /* without the padding to PROGRAM_ALIGNMENT */
    } temporaries[LAUNCH_TEMPORARIES];
} launch;

/* Named arrays and parameters in the kernel's order, and where the caller has them. */
typedef struct launch_names {
    sg_grid grids[LAUNCH_ARRAYS];
    double parameters[LAUNCH_PARAMETERS];
    int places[LAUNCH_ARRAYS];
} launch_names;

/* Puts what the caller named into `grids` and `parameters`, which then point into `out`. Refuses
   unknown, missing and double names. */
bool names_read(job *, const program *, sg_arguments *, launch_names *out);

/* Where arrays ended up, by the caller's numbers instead of the kernel's. */
void names_final(const program *, const launch *, const int *final, int *out);

/* Reads the caller's struct; refuses a wrong number of grids. *out may point into `names`. */
bool launch_read(job *, const sg_kernel *, const sg_arguments *given, launch_names *names,
                 sg_arguments *out);

/* What arguments are checked for: a launch of sg_launch; a single step of sg_run; or several, after
   each of which inout arrays swap roles, so that each of them is written. */
typedef enum launch_use { USE_LAUNCH, USE_STEP, USE_STEPS } launch_use;

/* Checks and completes the arguments. Refuses as context_refuse does. */
bool launch_check(job *, const sg_kernel *, const sg_arguments *, launch_use, launch *out);

/* The temporary memory for arguments that launch_read has read, by their sizes and box alone. */
bool launch_measure(job *, const program *, const sg_arguments *, launch *out, size_t *bytes);

/* Sets the addresses of out->temporaries, which were measured, in the caller's temporary memory. */
bool launch_place(job *, const program *, const sg_arguments *, size_t needed, launch *out);

/* Sends what sg_launch launches. FAULT_NONE, or FAULT_DEVICE with the device's code. */
fault launch_send(const sg_kernel *, const launch *, void *stream, int *code);

/* Sends one way of a program (base/program.h) for the launch's steps; `together`: cooperatively. */
fault launch_send_way(const sg_kernel *, const launch *, int way, bool together, void *stream,
                      int *code);

/* Check and send, failing through the job. */
void launch_once(job *, const sg_kernel *, const sg_arguments *, void *stream);
noreturn void launch_fail(job *, const sg_kernel *, int code);

/* Layers are grids of temporary memory between the launches of a program of grids
   (base/program.h). */

/* Measures the layers for the box of `out` in out->temporaries, without addresses; *bytes is
   their sum. */
bool layers_measure(job *, const program *, launch *out, size_t *bytes);

/* The bytes for an update of a whole grid. */
size_t layers_bytes(job *, const program *, const int64_t size[3]);

/* The layers of ways as grids, where there is memory for them. */
void layers_seconds(const program *, launch *);

/* What a launch sees as its grid: size and box in grid axes, then its arrays and layers from the
   cell (0, 0, 0) on. Those that it does not touch have no data and strides 0. */
typedef struct layer_view {
    int64_t size[3], begin[3], end[3];
    int64_t first[3]; /* where its cell (0, 0, 0) lies in the whole grid */
    int count;
    launch_grid grids[LAUNCH_ARRAYS + LAUNCH_TEMPORARIES];
} layer_view;

/* Of a launch of the program, or of one of its calls. */
void layers_view(const program *, const launch *, int which, layer_view *out);
void layers_view_call(const program *, const launch *, const program_call *, layer_view *out);

/* Programs of lists. */

/* Checks all but the parameters. Sets `empty` if no launch has a block. */
bool lists_check(job *, const program *, const sg_arguments *, launch *out);

/* By the extents alone: finds the sizes and measures the temporaries; *bytes is their sum. */
bool lists_measure(job *, const program *, const sg_grid *grids, launch *out, size_t *bytes);

fault lists_send(const sg_kernel *, const launch *, void *stream, int *code);

/* An array's extent along an axis (at least 0), and its elements, for sizes that lists_check
   accepted. */
int64_t lists_extent(const program_extent *, const int64_t *sizes);
int64_t lists_elements(const program_array *, const int64_t *sizes);

/* Several time steps of sg_run, for a launch whose arguments were checked as rotating. */

/* Fails the job if sg_run cannot make these steps. */
void steps_allow(job *, const program *, int64_t count);

/* One launch of some of the steps that are left. */
typedef struct leap {
    int way;
    int64_t steps;
    bool together; /* with words between blocks */
} leap;

/* The longest way that a whole grid of this size can take and that does not go too far; a
   cooperative way goes as far as it is told, in one launch if blocks can exchange words
   (`together`). Ways that leave levels in layers are taken where there are layers (`seconds`). And
   a single step, which any grid and any box can take. */
leap steps_choose(const program *, const int64_t size[PROGRAM_AXES], int64_t left, bool together,
                  bool seconds);
leap steps_single(const program *);

/* Whether a later one of so many steps of a whole grid reads the results of step `step`, from 0 on,
   before they are rounded to what memory has: a launch of many rounds rounds them as launches of
   one do. */
bool steps_stay(const program *, const int64_t size[PROGRAM_AXES], int64_t count, int64_t step);

fault steps_send(const sg_kernel *, launch *, const leap *, void *stream, int *code);

/* Arrays swap roles as after a step, in the launch and in `final`. */
void steps_rotate(const program *, launch *, int *final);

/* The same after several steps whose older level lies in a layer: it is copied to its array. */
void steps_settle(job *, const sg_kernel *, launch *, int *final, void *stream);

/* Copies cells and nothing between them, on the stream: the longest runs of cells that are dense in
   both arrays, as rows along the next axis, and along the one after it if the strides permit. Rows
   with negative strides are copied one at a time. `low` and `high` are not looked at. */
void launch_copy(job *, const sg_kernel *, size_t element, const int64_t size[3],
                 const launch_grid *from, const launch_grid *to, void *stream);

/* Makes the steps; fails the job if a launch fails. `final` as in sg_run. The launch's grids are
   those of the next step afterwards. */
void steps_make(job *, const sg_kernel *, launch *, int64_t count, void *stream,
                int final[LAUNCH_ARRAYS]);

/* Whether one launch can make many steps of a grid of this size, given memory for the exchange. */
bool steps_together(const sg_kernel *, const int64_t size[PROGRAM_AXES]);

/* The temporary memory for updates of a whole grid, with that of the exchange if it is used. */
size_t steps_bytes(job *, const sg_kernel *, const int64_t size[PROGRAM_AXES]);

#endif
