/* A launch of a program, and the arguments of its kernel. Names in quotation marks are paragraphs
   of base/program.h, which includes this. */
#ifndef SG_BASE_PROGRAM_LAUNCH_H
#define SG_BASE_PROGRAM_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRAM_AXES = 3 };

/* A number of items: a size of the call, or the sum of two, and a constant. */
typedef struct program_extent {
    int size[2]; /* indices into the program's sizes, or −1 */
    int64_t plus;
} program_extent;

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

#endif
