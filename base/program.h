/* A program: what the runtime must know of a generated source to compile and launch it.
   gen/source makes it, runtime/ uses it, and neither sees the other through it. */
#ifndef SG_BASE_PROGRAM_H
#define SG_BASE_PROGRAM_H

#include "base/program_launch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the arrays of a program mean to its callers; sg_kind of the library. It says which member
   of the unions below counts: `grid` of PROGRAM_GRID, `lists` of all others. */
typedef enum program_kind {
    PROGRAM_GRID,  /* the fields of one grid */
    PROGRAM_LISTS, /* lists, each with an extent of its own, as those of the kinds that follow */
    PROGRAM_REDUCE,
    PROGRAM_SCAN,
    PROGRAM_MERGE,
    PROGRAM_PRODUCT /* a sparse matrix, x and y */
} program_kind;

/* A diagonal of a matrix that holds one value. */
typedef struct diagonal {
    int64_t offset; /* column − row */
    double value;   /* finite; of a matrix of floats a float */
} diagonal;

enum { MOST_DIAGONALS = 31 }; /* a bit each, and one for rows that have other entries */

/* A size that a call of lists has: "count", "rows". It is the extent of `array` along `axis`, less
   what that extent adds to it. */
typedef struct program_size {
    const char *name;
    int array, axis;
} program_size;

/* One device array of the argument list. */
typedef struct program_array {
    const char *name;     /* "u", "u.prev", "u.next", "c": what a caller knows it by */
    const char *dtype;    /* "float"; offsets and indices are "int32" or "int64" */
    size_t element_bytes; /* of grids, 0: the program's */
    bool written;         /* else only read */
    union {
        struct {
            const char *field; /* "u" */
            int reads;     /* of a written array of an inout field: the index of the array with its
                              current values; else −1 */
            int previous;  /* likewise of its previous time level; −1 */
            bool in_place; /* of a written array: it may be the very same memory as the oldest level
                              of its field, of which a point is read where it is written alone */
            int low[PROGRAM_AXES], high[PROGRAM_AXES]; /* how far the taps of a read array reach
                                                  below and above a point, along grid axes */
        } grid;
        struct {                                 /* dense, x fastest */
            program_extent extent[PROGRAM_AXES]; /* {−1, −1, 1} along unused axes */
            bool updated;                        /* written, and read before that */
            int same_as; /* of a written one: the array that may be the very same memory; −1 */
        } lists;
    };
} program_array;

/* Memory that a program of lists uses during a launch: count·bytes, where count is items over per,
   rounded up; and fixed bytes more. It begins at a multiple of PROGRAM_ALIGNMENT. */
typedef struct program_temporary {
    const char *name;
    program_extent items;
    int64_t per, bytes, fixed;
    int fill; /* every byte is set to this before the first launch; −1: none is */
} program_temporary;
enum { PROGRAM_ALIGNMENT = 256, PROGRAM_PITCH = 128 };

/* A grid of temporary memory between two launches of a program of grids. Launch i updates all of
   layer i, and the last launch updates the box. Launch i + 1 reads layer i and no array; the first
   reads no layer. A layer has the cells of the box and so many more below and above, along grid
   axes. Its rows begin at multiples of PROGRAM_PITCH bytes, the layer at one of PROGRAM_ALIGNMENT.
 */
typedef struct program_layer {
    const char *name;
    int low[PROGRAM_AXES], high[PROGRAM_AXES];
} program_layer;

/* One launch of a step of a system; see "Calls". */
typedef struct program_call {
    int launch;       /* −1: the layer grids[0] − array_count is filled with zeros */
    bool once;        /* of a fill: a run of several steps needs it before the first step alone */
    const int *grids; /* for each grid of the kernel: an array, or array_count + a layer; −1: none,
                         of those that the kernel does not have */
    int count;
    int low[PROGRAM_AXES],
        high[PROGRAM_AXES]; /* cells that it makes round a box, along grid axes */
} program_call;

typedef struct program_parameter {
    const char *name;
    const char *dtype; /* of grids that of their cells */
    bool has_value;
    double value; /* the default */
} program_parameter;

/* How the matrix of a product is stored: the members of struct storage in matrix/format.h. */
enum program_storage {
    STORAGE_FORMAT, /* an enum format, not 0 */
    STORAGE_INDEX_BYTES,
    STORAGE_VALUE_BYTES,
    STORAGE_SLICE,
    STORAGE_SIGMA,
    STORAGE_BLOCK_ROWS,
    STORAGE_BLOCK_COLS,
    STORAGE_PACKET,
    PROGRAM_STORAGE
};

/* Of PROGRAM_PRODUCT. The arrays of the matrix come first, before x (columns, vectors) and y (rows,
   vectors). */
typedef struct program_product {
    int storage[PROGRAM_STORAGE];
    const diagonal *diagonals; /* that the source has compiled in, by ascending offset; the matrix
                                  is stored as what deviates from them */
    int diagonal_count;        /* 0 where none are */
} program_product;

typedef struct program {
    program_kind kind;
    const char *name;            /* of the spec; an identifier */
    const char *source;          /* NUL-terminated CUDA text */
    size_t arch_begin, arch_end; /* the bytes of it that are the operations of the target's
                                    hardware: a device of another kind replaces them by its own */
    const char *target;          /* "sm_90" */
    int dims;                    /* of lists 1 */
    size_t element_bytes;        /* of the dtype of the arithmetic; 4: float, 8: double. Arrays may
                                    hold 16 bits */
    program_array *arrays;
    int array_count;
    program_parameter *parameters;
    int parameter_count;
    program_launch *launches; /* in order, each after the one before; ways: one of them */
    int launch_count;
    size_t arguments_bytes;
    union {
        struct {
            double bytes_per_point;                    /* see program_bytes_per_point */
            int low[PROGRAM_AXES], high[PROGRAM_AXES]; /* how far a point's shape reaches */
            bool periodic[PROGRAM_AXES];               /* both ends of the axis */
            int turned[PROGRAM_AXES]; /* cells that the part at an end of the axis needs, as mirrors
                                         turn reads back into it; 0: neither end mirrors */
            bool uncut[PROGRAM_AXES]; /* no team can divide the axis: some calls, or maps of
                                         monitors, read across its ends and others do not */
            bool positions;           /* points ask where they lie, and for the step */
            bool corners;          /* a point reads others that differ from it along several axes */
            program_layer *layers; /* one fewer than launches; ways: see there; calls: any number,
                                      each with the cells of the grid */
            int layer_count;
            program_call *calls;      /* see "Calls" */
            int call_count;           /* 0: the launches are made in order */
            int call_grids;           /* the most grids of a call's kernel */
            bool ways;                /* see "Ways" */
            int map_count;            /* the most maps of a launch */
            int spare_count;          /* so many launches at the end are spares; see "Spares" */
            const char *spare_source; /* as `source`, with their kernels; NULL: there are none */
            size_t spare_arch_begin, spare_arch_end;
        } grid;
        struct {
            program_size *sizes;
            int size_count;
            program_temporary *temporaries;
            int temporary_count;
            bool tagged;           /* see "Tags" */
            program_extent points; /* what a call is said to have: elements, entries of a matrix */
            program_product *product; /* NULL but of PROGRAM_PRODUCT */
        } lists;
    };
} program;

/* Tags. The arguments of a tagged program end with a uint64 that is never 0 and that no call before
   had. Blocks mark with it what they publish in temporary memory, so no memory has to be set before
   the launch. A call of several launches has one tag. A CUDA graph, or whatever else captures
   launches and replays them, replays the tag too, and in between anything may have happened to any
   part of the temporary memory, or nothing at all. A replay must not take what the call before left
   for its own. So a launch erases what it marked, or marks with the tag and the moment at which it
   runs (templates/arch/marked_words.cuh). */

/* Ways. The launches of a program with `ways` are alternatives. Each alone updates all outputs from
   all arrays, by as many time steps as its `steps` says. The first makes the most steps, the last
   one step.

   A field that keeps its previous level ends with two new ones after several steps. The older one
   goes to a layer: there is one for each array that is written and has a previous level, in the
   order of the arrays, with the cells of the grid. Only sg_run and teams take such ways, where they
   have the memory. Afterwards the current and the next array swap places, and so do the previous
   one and the layer. Without such fields there are no layers.

   A way of more than one step updates a whole grid, no part of it, with at least `least` cells
   along each axis. That may take several launches, in any order: of boxes that together are the
   grid, and begin at multiples of per_block[k] along kernel axis k, but anywhere along the last.
   Arguments.begin is the place of a launch's first block. A way leaves what that many single steps
   would leave. Several ways may have the same entry, with blocks of other threads. The last way
   takes any grid and any box.

   A cooperative way takes each Arguments.steps from 1 on. Up to its `steps` it is launched as any
   other and exchanges nothing. With more, all its blocks are resident, and it goes in rounds of at
   most `steps` each. The first round reads the arrays, and the last writes the outputs. The words
   are zero when the launch begins. */

/* Calls. A program with calls is a system: one step of it makes them in order. Each call launches
   one of the program's own launches for the whole grid, on grids of its own choice: arrays, and
   layers between the calls. No call writes a grid that it reads. With several calls a step updates
   the whole grid and no box of it, except for a team's part: a grid with cells of other parts round
   the box. There a call makes as many of those as later calls read. `low` and `high` of the program
   and of its arrays are then what a step reads with all of its calls, and layers have the cells of
   the grid. With ways too, call i is launch i, and each makes all of its steps alone; the last
   makes one step, and no layers are used. */

/* Spares. Some kernels serve only calls with aligned rows, and with a box and a grid that are not
   too small. Any other call takes the spare in their place: the same launch (blocks, arguments,
   results) of another kernel, from a source of its own, which may have other threads and shared
   memory. The maps of a spare are lines. Its Arguments.aligned says whether the box is large enough
   for them and the device could describe them all; where not, the kernel does without. */

static inline bool program_is_grid(const program *p) {
    return p->kind == PROGRAM_GRID;
}

static inline bool program_has_ways(const program *p) {
    return program_is_grid(p) && p->grid.ways;
}

/* Whether launches read the array beyond a cell's own place. */
static inline bool program_reaches(const program_array *a) {
    bool reaches = false;
    for (int axis = 0; axis < PROGRAM_AXES; axis++)
        reaches |= a->grid.low[axis] > 0 || a->grid.high[axis] > 0;
    return reaches;
}

/* The oldest level of the field of a written array, whose memory is written next; −1: none. */
static inline int program_oldest(const program_array *written) {
    return written->grid.previous >= 0 ? written->grid.previous : written->grid.reads;
}

/* The launches that are no spares. */
static inline int program_own_launches(const program *p) {
    return p->launch_count - (program_is_grid(p) ? p->grid.spare_count : 0);
}

/* The source of the spares; NULL where there are none. */
static inline const char *program_spare_source(const program *p) {
    return program_is_grid(p) ? p->grid.spare_source : NULL;
}

/* The fewest bytes a point that must cross device memory; of lists 0: every array counts once. */
static inline double program_bytes_per_point(const program *p) {
    return program_is_grid(p) ? p->grid.bytes_per_point : 0;
}

/* The time steps of one sg_launch; with program_has_seconds, of one launch of sg_run. */
static inline int program_steps(const program *p) {
    return program_has_ways(p) ? p->launches[0].grid.steps : 1;
}

/* Whether ways of several steps leave a level in each layer; see "Ways". */
static inline bool program_has_seconds(const program *p) {
    return program_has_ways(p) && p->grid.layer_count > 0;
}

/* Whether the grids of the arguments end with the words': cooperative ways come first. */
static inline bool program_has_exchange(const program *p) {
    return program_has_ways(p) && p->launches[0].grid.cooperative;
}

/* How many grids the arguments of a program of grids hold. */
static inline int program_grid_count(const program *p) {
    return p->grid.call_count > 0 ? p->grid.call_grids
                                  : p->array_count + p->grid.layer_count + program_has_exchange(p);
}

/* The bytes of a cell of a grid of the arguments: of an array, or of a layer. All arrays of a
   program of calls have the same type of cells, and its layers hold their values. */
size_t program_grid_bytes(const program *p, int grid);

static inline size_t program_layer_bytes(const program *p) {
    return program_grid_bytes(p, p->array_count);
}

/* Where the maps begin in an argument struct of so many bytes without them. */
size_t program_maps_offset(const program *p, size_t plain);

/* The size of the argument struct, once all of its parts are known. */
size_t program_arguments_bytes(const program *p);

/* Whether kernels for this target, as "sm_90", can wait for the launch before theirs themselves
   (templates/arch/launches.cuh). */
bool program_may_begin_early(const char *target);

/* The bytes of a cooperative way's words: for each 4 bytes of a cell of each output, and of its
   previous level, one of 8, for rounds of odd and of even number. SIZE_MAX where they are more than
   that. */
size_t program_exchange_bytes(const program *p, const int64_t size[PROGRAM_AXES]);

/* Whether a grid of this size, along grid axes, can take the way, if all of it is updated. */
bool program_way_fits(const program_launch *l, const int64_t size[PROGRAM_AXES]);

/* The launch whose facts are told where there are several: the first way; else the first of those
   with the most shared memory, which does most of the work. */
int program_main_launch(const program *p);

/* The value of an extent; `sizes` are those of a call. */
static inline int64_t program_extent_of(const program_extent *e, const int64_t *sizes) {
    return e->plus + (e->size[0] < 0 ? 0 : sizes[e->size[0]]) +
           (e->size[1] < 0 ? 0 : sizes[e->size[1]]);
}

/* Elements of an array of a call of lists, all axes together. */
int64_t program_elements(const program *p, int array, const int64_t *sizes);

/* The blocks of a launch of lists along an axis; of resident ones there may be fewer. */
int64_t program_blocks(const program_launch *l, int axis, const int64_t *sizes);

/* The alignment that `aligned` needs: all data pointers and both strides of every array with
   extent, and begin[0], are multiples of `vector` elements (pointers: of vector·element_bytes). */

#endif
