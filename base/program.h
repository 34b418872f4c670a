/* A program: what the runtime must know of a generated source to compile and launch it.
   gen/source makes it, runtime/ uses it, and neither sees the other through it. */
#ifndef SG_BASE_PROGRAM_H
#define SG_BASE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRAM_AXES = 3 };

/* One device array of the argument list. */
typedef struct program_array {
    const char *name;  /* "u", "u.prev", "u.next", "c": what a caller knows it by */
    const char *field; /* "u" */
    bool written;      /* else only read */
    int reads;         /* written arrays of an inout field: index of the array holding its current
                          values; else −1 */
    int previous;      /* likewise of its previous time level; −1 */
    int low[PROGRAM_AXES], high[PROGRAM_AXES]; /* how far the taps of a read array reach below and
                                                  above a point, along grid axes */
} program_array;

typedef struct program_parameter {
    const char *name;
    bool has_value;
    double value; /* the default */
} program_parameter;

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
    bool barriers;                             /* the kernel has barriers, or is free of them */
    int vector; /* Arguments.aligned is set only where all rows start at a multiple of
                   this many elements */
} program_launch;

/* The kernels take one argument, a struct passed by value. Axes are kernel axes, strides count
   elements, and x has the stride 1:

     - int64 size[3], begin[3], end[3]: the grid and the box to update; where a box needs several
       launches, begin is that of this launch;
     - int32 inner_first[3], inner_end[3]: the blocks whose points all lie in the box and whose
       reads all lie in the grid, end excluded;
     - int32 aligned, unused: see program_launch.vector;
     - { void *data; int64 stride_y, stride_z; } grid[array_count];
     - parameter[max(1, parameter_count)], of the spec's dtype.

   It is padded at its end to a multiple of 8 bytes; program.arguments_bytes is its size. */
enum {
    PROGRAM_OFFSET_GRIDS = 104,
    PROGRAM_GRID_BYTES = 24,
};

typedef struct program {
    const char *name;   /* of the spec; an identifier */
    const char *source; /* NUL-terminated CUDA text */
    const char *target; /* "sm_90" */
    int dims;
    size_t element_bytes; /* 4: float, 8: double */
    program_array *arrays;
    int array_count;
    program_parameter *parameters;
    int parameter_count;
    program_launch *launches; /* in order, each after the one before */
    int launch_count;
    size_t arguments_bytes;
    double bytes_per_point; /* the fewest that must cross device memory */
} program;

/* The alignment that `aligned` needs: all data pointers and both strides of every array with
   extent, and begin[0], are multiples of `vector` elements (pointers: of vector·element_bytes). */

#endif
