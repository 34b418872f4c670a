/* The program of a spec's points. Takes: a model with sets (gen/model/model.h). Makes: CUDA that
   records a field at points, and adds what sets inject to the cells round them. */
#ifndef SG_GEN_POINTS_POINTS_H
#define SG_GEN_POINTS_POINTS_H

#include "base/program.h"
#include "gen/model/model.h"

/* The launches; there is no POINTS_INJECT where no set injects. A block has POINTS_THREADS items:
   points, or cells that some point touches. */
enum { POINTS_SAMPLE, POINTS_INJECT, POINTS_THREADS = 128 };

/* The kernels take one struct: this, then a program's array (data, stride_y, stride_z: 24 bytes)
   for each of the program's, then the parameters as in a program of grids. */
typedef struct points_arguments {
    int64_t count;        /* items of the launch */
    int64_t points;       /* of the set */
    const int64_t *base;  /* [dims][points]: the cell below the point along each axis */
    const void *weight;   /* [dims][2][points], Real: of that cell and of the next one */
    const int64_t *begin; /* [cells + 1], of POINTS_INJECT: a cell's entries */
    const int64_t *entry; /* point·2^dims + corner; bit k of a corner: the next cell along axis k */
    void *row;            /* [points], Real: the samples of a step, read or written */
    int32_t set, target;  /* which output of model.injected; which array */
} points_arguments;

/* Its arrays are those that a set may read or write, by the names of the kernel's: "u", "u.prev".
   The first are the model's own. */
program *points_program(job *, const model *, const char *target);

#endif
