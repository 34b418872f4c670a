/* The points of `run`. Takes: a kernel, --points. Makes: the sets of sg_run_points, whose series
   come from files row by row, and files of traces. What fails has been printed; results are exit
   codes. */
#ifndef SG_CLI_FILES_POINTS_H
#define SG_CLI_FILES_POINTS_H

#include "cli/files/arrays.h"

typedef struct point_file {
    const char *name, *positions_path, *path; /* path: of the series, or of the traces */
    bool injects;
    dtype type;
    int64_t count;
    size_t row;  /* bytes */
    size_t head; /* bytes before the first row of traces */
    double *positions;
    datafile series;
    output *traces; /* NULL: it injects, or it is over */
    int code;       /* why a callback failed; printed */
} point_file;

typedef struct point_files {
    arrays *arrays;
    const sg_kernel *kernel;
    point_file *files;
    int count;
    sg_point_sets *sets; /* NULL: the spec has none */
} point_files;

/* Matches --points with the sets of the kernel, reads positions, opens series, and traces where it
   `writes`; and opens the sets for a run of one rank. */
int points_prepare(point_files *, arrays *, const sg_kernel *, bool writes);
int points_open(point_files *, arrays *, const sg_kernel *);

/* The sets as the library takes them, one for each file. Their callbacks may be called by ranks. */
void points_sets(const point_files *, sg_points *sets);

/* sg_run or, with points, sg_run_points. */
int points_run(const point_files *, const sg_arguments *, int64_t steps, int *final);

/* Ends the traces after so many steps: those that were not made are NaN. Adds `points`. */
int points_save(point_files *, int64_t made, json *, text *out);
void points_close(point_files *);

#endif
