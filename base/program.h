/* A program: what the runtime must know of a generated source to compile and launch it.
   gen/source makes it, runtime/ uses it, and neither sees the other through it. */
#ifndef SG_BASE_PROGRAM_H
#define SG_BASE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRAM_AXES = 3 };

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

/* A number of items: a size of the call, or the sum of two, and a constant. */
typedef struct program_extent {
    int size[2]; /* indices into the program's sizes, or −1 */
    int64_t plus;
} program_extent;

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

/* What a launch of grids with a spare needs; see "Spares". */
typedef struct program_needs {
    int multiple;  /* the box ends at a multiple of this along the first kernel axis */
    int cells;     /* the grid has a multiple of this many along it */
    int64_t width; /* cells of the box along it, at least; 0: nothing of what follows is needed */
    bool rows;     /* rows lie no more than PROGRAM_MOST_PITCH bytes apart */
    int low[PROGRAM_AXES], high[PROGRAM_AXES]; /* the grid begins and ends further than this from
                                                  the cells that the box reaches; −1: anywhere */
} program_needs;
enum { PROGRAM_MOST_PITCH = 0x40000000, PROGRAM_MOST_SIZE = 0x3fffffff };

/* What a kernel fetches of a grid at a time by bulk copies: a box of so many cells along kernel
   axes. What of it lies outside of the grid is zeros. */
typedef struct program_map {
    int grid; /* of the arguments */
    int box[PROGRAM_AXES];
    int every, first; /* every > 0: the map has each `every`-th row of all planes, one after the
                         other, from row `first` on, which begins at the multiple of 16 bytes
                         before its first cell. So boxes can lie in rows that begin anywhere */
} program_map;
enum { PROGRAM_MAP_BYTES = 128, PROGRAM_MAP_ALIGNMENT = 64, PROGRAM_MOST_MAPS = 24 };

/* How many blocks a launch of lists has along an axis: (items − 1)/per_block + 1, or none without
   items. */
typedef struct program_block_rule {
    program_extent items;
    bool least;    /* there is a block also where there are no items */
    int64_t most;  /* blocks; 0: no limit, and the items must keep to CUDA's */
    int64_t alone; /* up to so many items are one block's, or one cluster's */
    int cluster;   /* blocks of a cluster: blocks come in whole clusters, `most` is a multiple of
                      this, and the kernel says the same number; 0 and 1: there are none */
} program_block_rule;

/* One kernel launch. A kernel sees three axes. A block updates per_block points or items along each
   of them. */
typedef struct program_launch {
    const char *entry; /* extern "C" name of the kernel in the source */
    int per_block[PROGRAM_AXES];
    int block[PROGRAM_AXES]; /* threads */
    size_t shared_bytes;     /* dynamic shared memory */
    bool barriers;           /* the kernel has barriers or warp operations */
    bool abreast; /* Of a grid: its blocks fill the multiprocessors from beginning to end and
                     walk abreast. What is needed soon comes before it in its stream, since
                     little finds room next to it. Also of what is to run at the same time: both
                     leave shared memory all there is, or one would wait for the other. */
    bool early; /* Where the device can, the launch begins once all blocks of the launch before have
                   ended, or have said that it may; before the first launch that is what the stream
                   has. Its blocks wait themselves for the end of that launch, and so for what it
                   wrote: each that needs it, and one at least, before it ends. So the launch does
                   not end before that one. */
    union {
        struct {
            int axes[PROGRAM_AXES]; /* the grid axis that a kernel axis is; −1: one of extent 1 (a
                                       method that walks y of a 2D grid sees x, −, y) */
            int low[PROGRAM_AXES], high[PROGRAM_AXES]; /* how far a block's reads reach below and
                                                  above its points, along kernel axes */
            int vector; /* Arguments.aligned is set only where all rows start at a multiple of this
                           many elements */
            int lane;   /* Blocks begin at multiples of so many cells of the whole grid along the
                           second kernel axis, of which a thread adds up the rows in an order of
                           their own: so a cell has the same bits in every box. Up to 1: blocks
                           begin where the box does. */
            int steps;  /* time steps that it makes; 1 but for a way, see "Ways" */
            int64_t least[PROGRAM_AXES]; /* of a way: a grid with fewer cells along a kernel axis
                                            cannot take it */
            bool cooperative;            /* of a way: one launch can make more than `steps` */
            int spare;           /* the launch that takes its place where a call has not what it
                                    needs; 0: it needs nothing */
            program_needs needs; /* in addition to Arguments.aligned */
            program_map maps[PROGRAM_MOST_MAPS]; /* of a launch with a spare, which takes its place
                                                    where the device cannot describe them, and of a
                                                    spare: see "Spares" */
            int map_count;
        } grid;
        struct {
            program_block_rule blocks[PROGRAM_AXES];
            bool resident; /* No more blocks along the first axis than the device runs at a time,
                              and one along the others. Blocks of a tagged program may wait for each
                              other, in whatever order they begin. Blocks of a launch with fewer
                              than that and than `most` wait only for blocks of lower numbers. */
        } lists;
    };
} program_launch;

/* The kernels take one argument, a struct passed by value. For lists it has 8 bytes for each of:
   int64 size[size_count], void *array[array_count], void *temporary[temporary_count],
   parameter[max(1, parameter_count)], each of its dtype at the beginning of its 8 bytes, and where
   the program is tagged the tag.

   For grids axes are kernel axes, strides count elements, and x has the stride 1:

     - int64 size[3], begin[3], end[3]: the grid and the box to update; where a box needs several
       launches, begin is that of this launch;
     - int32 inner_first[3], inner_end[3]: the blocks whose points all lie in the box and whose
       reads all lie in the grid, end excluded; of a launch with a lane, inner_first[1] are the
       first rows of the first block that lie before the box;
     - int32 aligned: see program_launch.vector, and of spares with maps "Spares";
     - int32 steps: the time steps that this launch makes, at PROGRAM_OFFSET_STEPS;
     - { void *data; int64 stride_y, stride_z; } grid[array_count + layer_count], and one more where
       a launch is cooperative: the data of the last are the words that its blocks exchange,
       program_exchange_bytes of them; of a program of calls grid[call_grids];
     - parameter[max(1, parameter_count)], of the spec's dtype.

   To a launch that reads a layer, the layer is the grid, and its first cell is (0, 0, 0). What a
   launch does not touch has no data.

     - where the program has positions, from the next multiple of 8 bytes on: int64 origin[3],
       global[3], step: the place of the grid's cell (0, 0, 0) in the whole grid, the whole grid's
       size, and the number of the launch's first step.

   Up to here it is padded at its end to a multiple of 8 bytes.

     - where some launch has maps, from the next multiple of PROGRAM_MAP_ALIGNMENT bytes on: for
   each map of the launch what the device makes of it, PROGRAM_MAP_BYTES bytes (of a GPU, a
       CUtensorMap of three axes).

   program.arguments_bytes is its size. */
enum {
    PROGRAM_OFFSET_STEPS = 100,
    PROGRAM_OFFSET_GRIDS = 104,
    PROGRAM_GRID_BYTES = 24,
    PROGRAM_POSITION_BYTES = 7 * 8,
};

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
