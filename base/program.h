/* A program: what the runtime must know of a generated source to compile and launch it.
   gen/source makes it, runtime/ uses it, and neither sees the other through it. */
#ifndef SG_BASE_PROGRAM_H
#define SG_BASE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/diagonal.h"

enum { PROGRAM_AXES = 3 };

/* What the arrays of a program are: the fields of one grid (a stencil), or lists, each with an
   extent of its own (the other families). */
typedef enum program_shape { PROGRAM_GRID, PROGRAM_LISTS } program_shape;

/* A number of lists: a size, or the sum of two, and a constant. */
typedef struct program_extent {
    int size[2]; /* indices into program.sizes, or −1 */
    int64_t plus;
} program_extent;

/* A size that a call of a program of lists has: "count", "rows". It is the extent of `array` along
   `axis`, less what that adds to it. */
typedef struct program_size {
    const char *name;
    int array, axis;
} program_size;

/* One device array of the argument list. */
typedef struct program_array {
    const char *name;  /* "u", "u.prev", "u.next", "c": what a caller knows it by */
    const char *field; /* "u"; of lists the name */
    const char *dtype; /* "float"; offsets and indices are "int32" or "int64" */
    size_t element_bytes;
    bool written; /* else only read */
    int reads;    /* written arrays of an inout field: index of the array holding its current
                     values; else −1 */
    int previous; /* likewise of its previous time level; −1 */
    int low[PROGRAM_AXES], high[PROGRAM_AXES]; /* how far the taps of a read array reach below and
                                                  above a point, along grid axes */

    /* Of lists, which are dense with x fastest. */
    program_extent extent[PROGRAM_AXES]; /* {−1, −1, 1} along unused axes */
    bool updated;                        /* written, and read before that */
    int same_as; /* of a written one: the index of an array that may be the very same memory; −1 */
} program_array;

/* Memory of a program of lists that lasts as long as a launch: count·bytes, where count is items
   over per, rounded up; and fixed bytes more. It begins at a multiple of PROGRAM_ALIGNMENT. */
typedef struct program_temporary {
    const char *name;
    program_extent items;
    int64_t per, bytes, fixed;
    int fill; /* every byte is set to this before the first launch; −1: none is */
} program_temporary;
enum { PROGRAM_ALIGNMENT = 256, PROGRAM_PITCH = 128 };

/* A grid of temporary memory between two launches of a program of grids: launch i updates all of
   layer i, the last one the box; launch i + 1 reads layer i and no array, the first reads no layer.
   It has a cell for each of the box and so many more below and above, along grid axes. Its rows
   begin at multiples of PROGRAM_PITCH bytes, the layer at one of PROGRAM_ALIGNMENT. */
typedef struct program_layer {
    const char *name;
    int low[PROGRAM_AXES], high[PROGRAM_AXES];
} program_layer;

typedef struct program_parameter {
    const char *name;
    const char *dtype; /* of lists; grids have the one of their cells */
    bool has_value;
    double value; /* the default */
} program_parameter;

/* What a launch of grids with a spare needs; see program.spare_count. */
typedef struct program_needs {
    int multiple;  /* the box ends at a multiple of this along the first kernel axis */
    int64_t width; /* cells of the box along it, at least; 0: nothing of what follows is needed */
    bool rows;     /* rows lie no more than PROGRAM_MOST_PITCH bytes apart */
    int low[PROGRAM_AXES],
        high[PROGRAM_AXES]; /* a grid that begins and ends further from the cells
                               that the box reaches than these are long; −1: any */
} program_needs;
enum { PROGRAM_MOST_PITCH = 0x40000000, PROGRAM_MOST_SIZE = 0x3fffffff };

/* One kernel launch. A kernel sees three axes; axis k of the kernel is axis axes[k] of the grid, or
   an axis of extent 1 where axes[k] is −1 (a method that walks y of a 2D grid sees x, −, y). A
   block updates per_block points along each kernel axis. */
typedef struct program_launch {
    const char *entry; /* extern "C" name of the kernel in the source */
    int axes[PROGRAM_AXES];
    int per_block[PROGRAM_AXES];
    int block[PROGRAM_AXES];                   /* threads */
    int low[PROGRAM_AXES], high[PROGRAM_AXES]; /* how far a block's reads reach below and above its
                                                  points, along kernel axes */
    size_t shared_bytes;                       /* dynamic shared memory */
    bool barriers;                             /* the kernel has barriers or warp operations */
    int vector; /* Arguments.aligned is set only where all rows start at a multiple of
                   this many elements */
    int steps;  /* time steps that it makes; 1 but for a way, see program.ways */
    int64_t least[PROGRAM_AXES]; /* of a way: a grid with fewer cells along a kernel axis cannot
                                    take it */
    bool cooperative; /* of a way: one launch can make more than `steps`, see program.ways */

    /* Of lists: blocks along each axis, (items − 1)/per_block + 1 but at least 1 where `least` is
       set, at most `most` (0: no limit, which the items must keep below CUDA's); up to `alone`
       items are one block's. Where blocks come in clusters there are whole ones: `most` is a number
       of those, and one cluster takes the place of the one block. */
    struct {
        program_extent items;
        bool least;
        int64_t most, alone;
        int cluster; /* blocks of one, as the kernel says too; 0 and 1: there are none */
    } blocks[PROGRAM_AXES];
    int spare; /* the launch that takes its place where a call has not what it needs; 0: it
                  needs nothing */
    program_needs needs; /* beside Arguments.aligned */
    bool resident; /* of lists: there are no more blocks along the first axis than the device runs
                      at a time. Those of a tagged program may wait for each other in whatever order
                      they begin; those of a launch with fewer than that and than `most` wait only
                      for blocks of lower numbers. Along the other axes there is one */
    bool early;    /* of lists: where the device can, it begins once all blocks of the launch before
                      have begun, if those say so, or ended; before the first that is what the stream
                      has. Each of its blocks waits itself for that launch's end, and what it
                      wrote, before it ends at the latest, and before it lets another begin */
} program_launch;

/* The kernels take one argument, a struct passed by value. For lists it has 8 bytes for each of:
   int64 size[size_count], void *array[array_count], void *temporary[temporary_count],
   parameter[max(1, parameter_count)], each of its dtype at the beginning of its 8 bytes, and where
   the program is tagged the tag.

   For grids axes are kernel axes, strides count elements, and x has the stride 1:

     - int64 size[3], begin[3], end[3]: the grid and the box to update; where a box needs several
       launches, begin is that of this launch;
     - int32 inner_first[3], inner_end[3]: the blocks whose points all lie in the box and whose
       reads all lie in the grid, end excluded;
     - int32 aligned: see program_launch.vector;
     - int32 steps: the time steps that this launch makes, at PROGRAM_OFFSET_STEPS;
     - { void *data; int64 stride_y, stride_z; } grid[array_count + layer_count], and one more where
       a launch is cooperative: the data of the last are the words that its blocks exchange,
       program_exchange_bytes of them;
     - parameter[max(1, parameter_count)], of the spec's dtype.

   To a launch that reads a layer, the layer is the grid, and its first cell is (0, 0, 0). What a
   launch does not touch has no data.

   It is padded at its end to a multiple of 8 bytes; program.arguments_bytes is its size. */
enum {
    PROGRAM_OFFSET_STEPS = 100,
    PROGRAM_OFFSET_GRIDS = 104,
    PROGRAM_GRID_BYTES = 24,
};

/* What `storage` of a program says; the members of struct storage in matrix/format.h. */
enum program_storage {
    STORAGE_FORMAT, /* an enum format; 0: there is no matrix */
    STORAGE_INDEX_BYTES,
    STORAGE_VALUE_BYTES,
    STORAGE_SLICE,
    STORAGE_SIGMA,
    STORAGE_BLOCK_ROWS,
    STORAGE_BLOCK_COLS,
    STORAGE_PACKET,
    PROGRAM_STORAGE
};

typedef struct program {
    const char *name;   /* of the spec; an identifier */
    const char *source; /* NUL-terminated CUDA text */
    size_t arch_begin,
        arch_end;             /* the bytes of it that are the operations of the target's hardware:
                                 a device of another kind puts its own in their place */
    const char *target;       /* "sm_90" */
    const char *spare_source; /* likewise, with the kernels of the spares; NULL: there are none */
    size_t spare_arch_begin, spare_arch_end;
    program_shape shape;
    int dims;
    size_t element_bytes; /* of grids; 4: float, 8: double */
    program_array *arrays;
    int array_count;
    program_parameter *parameters;
    int parameter_count;
    program_launch *launches; /* in order, each after the one before; ways: one of them */
    int launch_count;
    int spare_count;       /* of grids: so many at the end are spares, see below */
    bool ways;             /* of grids: see below */
    program_layer *layers; /* of grids: one fewer than launches; ways: none */
    int layer_count;
    size_t arguments_bytes;
    double bytes_per_point; /* the fewest that must cross device memory; of lists 0: every array
                               counts once */

    /* Of lists. */
    program_size *sizes;
    int size_count;
    program_temporary *temporaries;
    int temporary_count;
    bool tagged;           /* see below */
    program_extent points; /* what a call is said to have: elements, or the entries of a matrix */

    /* Of a product with a sparse matrix: how the matrix is stored, whose arrays come first, before
       x (columns, vectors) and y (rows, vectors). By enum program_storage; elsewhere all 0. */
    int storage[PROGRAM_STORAGE];
    const diagonal *diagonals; /* that the source has compiled in, by ascending offset; a matrix is
                                  stored beside them */
    int diagonal_count;        /* 0 where none are */
} program;

/* Tags. The arguments of a tagged program end with a uint64 that is never 0 and that no call before
   had: blocks mark with it what they publish in temporary memory, and so need no memory that is
   set to anything before the launch. A call of several launches has one tag. What captures launches
   and replays them, as a CUDA graph does, replays the tag too; in between anything may have
   happened to any part of the temporary memory, by others or by other calls, or nothing at all. So
   that a replay never takes what the call before left for its own, a launch erases what it marked,
   or marks with the tag and the moment at which it runs (templates/arch/marked_words.cuh). */

/* Ways. The launches of a program with `ways` are alternatives: each alone updates all outputs from
   all arrays, by so many time steps as its `steps` says, from the first, which makes the most, to
   the last, which makes one. There are no layers, and no field has a previous level.

   A way of more than one step updates a whole grid with at least `least` cells along each axis, no
   part of it; Arguments.begin is still the place of the launch's first block, for a grid of more
   blocks than one launch may have, so that block b of the grid along axis k is
   blockIdx + begin[k]/per_block[k]. What it leaves is what that many single steps would leave.
   Several ways may have the same entry, with blocks of other threads. The last way takes any grid
   and any box.

   A cooperative way takes each Arguments.steps from 1 on. Up to its `steps` it is launched as any
   other and exchanges nothing. With more, all its blocks are resident, and it goes in rounds of at
   most `steps` each, ceil(Arguments.steps / steps) of them: the first reads the arrays and writes
   the outputs, and for each further one the arrays that an output reads and the output itself swap
   places. The words are zero when the launch begins. */

/* Spares. The kernel of a launch may serve most calls alone: those with aligned rows, a box and a
   grid not too small. Any other call takes the spare in its place, which is the same launch
   (blocks, threads, shared memory, arguments, results) of another kernel, out of a source of its
   own. */

/* The launches that are no spares. */
static inline int program_own_launches(const program *p) {
    return p->launch_count - p->spare_count;
}

/* The time steps of one sg_launch. */
static inline int program_steps(const program *p) {
    return p->ways ? p->launches[0].steps : 1;
}

/* Whether the grids of the arguments end with the words': cooperative ways come first. */
static inline bool program_has_exchange(const program *p) {
    return p->ways && p->launches[0].cooperative;
}

/* How many grids the arguments of a program of grids hold. */
static inline int program_grid_count(const program *p) {
    return p->array_count + p->layer_count + program_has_exchange(p);
}

/* The bytes of a cooperative way's words: for each 4 bytes of a cell of each output one of 8, for
   rounds of odd and of even number. SIZE_MAX where they are more than that. */
static inline size_t program_exchange_bytes(const program *p, const int64_t size[PROGRAM_AXES]) {
    size_t bytes = 0;
    for (int i = 0; i < p->array_count; i++)
        bytes += p->arrays[i].written ? 4 * p->element_bytes : 0;
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        if (bytes > SIZE_MAX / (size_t)size[axis])
            return SIZE_MAX;
        bytes *= (size_t)size[axis];
    }
    return bytes;
}

/* Whether a grid of this size, along grid axes, can take the way, if all of it is updated. */
static inline bool program_way_fits(const program_launch *l, const int64_t size[PROGRAM_AXES]) {
    for (int k = 0; k < PROGRAM_AXES; k++)
        if (l->axes[k] >= 0 && size[l->axes[k]] < l->least[k])
            return false;
    return true;
}

/* The launch that facts are told of where there are several: the first way; else the first of those
   with the most shared memory, which does most of the work. */
static inline int program_main_launch(const program *p) {
    int main = 0;
    for (int i = 1; i < program_own_launches(p) && !p->ways; i++)
        if (p->launches[i].shared_bytes > p->launches[main].shared_bytes)
            main = i;
    return main;
}

/* Its value; `sizes` are those of a call. */
static inline int64_t program_extent_of(const program_extent *e, const int64_t *sizes) {
    return e->plus + (e->size[0] < 0 ? 0 : sizes[e->size[0]]) +
           (e->size[1] < 0 ? 0 : sizes[e->size[1]]);
}

/* The blocks of a launch of lists along an axis, but for those that are too many to be resident. */
static inline int64_t program_blocks(const program_launch *l, int axis, const int64_t *sizes) {
    const int64_t items = program_extent_of(&l->blocks[axis].items, sizes);
    const int64_t most = l->blocks[axis].most;
    const int64_t cluster = l->blocks[axis].cluster > 1 ? l->blocks[axis].cluster : 1;
    if (items <= 0)
        return l->blocks[axis].least ? cluster : 0;
    if (items <= l->blocks[axis].alone)
        return cluster;
    const int64_t needed = (items - 1) / l->per_block[axis] + 1;
    const int64_t blocks = ((needed - 1) / cluster + 1) * cluster;
    return most > 0 && blocks > most ? most : blocks;
}

/* The alignment that `aligned` needs: all data pointers and both strides of every array with
   extent, and begin[0], are multiples of `vector` elements (pointers: of vector·element_bytes). */

#endif
