/* Points of a run. Takes: a kernel with sets, positions, samples. Makes: tables in device memory,
   and steps with launches of the points' kernels in between. */
#ifndef SG_RUNTIME_POINTS_POINTS_H
#define SG_RUNTIME_POINTS_POINTS_H

#include "gen/points/points.h"
#include "runtime/launch/launch.h"

/* Where local arrays lie in the whole grid, and which of their cells are a rank's own. Without a
   team both grids are one. */
typedef struct points_ground {
    int64_t global[PROGRAM_AXES];                   /* cells of the whole grid */
    int64_t size[PROGRAM_AXES];                     /* of the local arrays */
    int64_t origin[PROGRAM_AXES];                   /* the place of their first cell */
    int64_t begin[PROGRAM_AXES], end[PROGRAM_AXES]; /* own cells, in the local arrays */
    bool is_part;
    bool gathers; /* traces end here: of a team, at rank 0 */
} points_ground;

/* What kernels read of a set, on the host (gen/points/points.h). */
typedef struct places {
    int dims;
    int64_t points;
    int64_t *base; /* [dims][points], in the local arrays */
    void *weight;  /* [dims][2][points] */
    int64_t *from; /* [points]: of a part, the number in the whole set; else NULL */
    int *corner; /* [points]: of a part that records: the corner alone whose value this is, or −1 */

    /* Of a set that injects: */
    int64_t cells;  /* that some point touches */
    int64_t *begin; /* [cells + 1] */
    int64_t *entry; /* [begin[cells]] */
} places;

/* All points, in the whole grid. Fails with FAULT_DATA and the number of a point that is outside of
   it. */
void places_find(job *, const sg_points *, int dims, const int64_t size[3], size_t element,
                 places *out);

/* The weight of a corner, as kernels multiply it. */
double places_weight(const places *, size_t element, int64_t point, int corner);

/* Keeps what a part has to do with, in local coordinates: points that inject into own cells; points
   that are recorded from own cells alone, and otherwise each own cell of a point by itself, so that
   the rank where traces end can weigh them as one rank would. */
void places_keep(job *, const points_ground *, size_t element, bool injects, places *);

/* Sorts what each point adds by own cell, and for a cell by point. */
void places_sort(job *, const points_ground *, size_t element, places *);

/* A set in a run. */
typedef struct point_set {
    const kernel_set *about;
    sg_points given;
    points_arguments arguments; /* tables in device memory; `row` is that of a step */
    int64_t items;              /* samples of a step here; of the whole: given.count */
    size_t row;                 /* their bytes */
    size_t given_row;           /* bytes of a step of the whole set */
    unsigned char *samples;     /* device memory for sg_point_sets.rows rows */
    unsigned char *staged; /* as many rows of the whole set on the host, for callbacks; or NULL */
    unsigned char *local;  /* of a part: rows of what is here, on the host; else NULL */
    int64_t *from;         /* as of places */
    int *corner;
} point_set;

struct sg_point_sets {
    job *job;
    const sg_kernel *kernel;
    loaded *loaded;
    points_ground ground;
    int64_t rows;    /* steps between two exchanges of samples with the host */
    point_set *sets; /* as the kernel's, those that inject first */
    int count;
    int array[LAUNCH_ARRAYS]; /* of the kernel, by the index of the points' program */
};

/* sg_points_open for local arrays. */
sg_status points_open_at(const sg_kernel *, const points_ground *, const sg_points *sets, int count,
                         sg_point_sets **out);

/* Steps `first` and on: their series come to the device; the sets' launches after one of them,
   whose samples are row `row`; and traces of a part come to `local` once the stream is idle. */
void points_bring(job *, const sg_point_sets *, int64_t first, int64_t steps);
void points_send(job *, const sg_point_sets *, const launch *, int64_t row, void *stream);
void points_take(job *, const sg_point_sets *, int64_t steps);

/* Hands traces of the whole set on, which are in `staged`, or where the caller wants them. */
unsigned char *points_traces(const point_set *, int64_t first);
void points_hand_on(job *, const point_set *, int64_t first, int64_t steps);

#endif
