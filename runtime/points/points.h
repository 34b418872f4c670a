/* Points of a run. Takes: a kernel with sets, positions, samples. Makes: tables in device memory,
   and steps with launches of the points' kernels in between. */
#ifndef SG_RUNTIME_POINTS_POINTS_H
#define SG_RUNTIME_POINTS_POINTS_H

#include "gen/points/points.h"
#include "runtime/launch/launch.h"

/* What kernels read of a set, on the host (gen/points/points.h). */
typedef struct places {
    int dims;
    int64_t points;
    int64_t *base; /* [dims][points] */
    void *weight;  /* [dims][2][points] */

    /* Of a set that injects: */
    int64_t cells;  /* that some point touches */
    int64_t *begin; /* [cells + 1] */
    int64_t *entry; /* [begin[cells]] */
} places;

/* Fails with FAULT_DATA and the number of a point that is outside of the grid. */
void places_find(job *, const sg_points *, int dims, const int64_t size[3], size_t element,
                 places *out);

/* Sorts what each point adds by cell, and for a cell by point. */
void places_sort(job *, const int64_t size[3], size_t element, places *);

/* A set in a run. */
typedef struct point_set {
    const kernel_set *about;
    sg_points given;
    points_arguments arguments; /* tables in device memory; `row` is that of a step */
    size_t row;                 /* bytes */
    unsigned char *samples;     /* device memory for sg_point_sets.rows rows */
    unsigned char *staged;      /* the same on the host, for callbacks; else NULL */
} point_set;

struct sg_point_sets {
    job *job;
    const sg_kernel *kernel;
    loaded *loaded;
    int64_t size[3];
    int64_t rows;    /* steps between two exchanges of samples with the host */
    point_set *sets; /* as the kernel's, those that inject first */
    int count;
};

#endif
