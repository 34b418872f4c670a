/* The points and monitors of `run`. Takes: a kernel, --points, --monitor. Makes: the sets of
   sg_run_points, whose series come from files row by row, files of traces, and samples. What fails
   has been printed; results are exit codes. */
#ifndef SG_CLI_FILES_RECORDS_H
#define SG_CLI_FILES_RECORDS_H

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

/* ---- monitors -------------------------------------------------------------------------------- */

typedef struct monitored {
    const char *name, *op;
    const char *path; /* NULL: it is only printed */
    output *file;
    sg_kernel *map;
    sg_monitor *monitor;
    int64_t *steps; /* of the samples */
    double *values;
    int count, waiting;
} monitored;

typedef struct monitors {
    arrays *arrays;
    monitored *list;
    int count;
    int until;          /* which one --until asks; −1: there is no such option */
    char relation;      /* '<', '>', 'l' for <=, 'g' for >= */
    double limit;       /* of --until */
    bool ended;         /* the condition holds … */
    int64_t ended_step; /* … since this sample */
} monitors;

/* Finds what the options name, and opens files where it `writes`; how the map of one is built, if
   the kernel is built by `how`; and whether the condition of --until holds for a sample of its
   monitor. */
int monitors_prepare(monitors *, arrays *, const sg_kernel *, bool writes);
sg_build_options monitors_map(const monitored *, const sg_build_options *how);
bool monitors_hold(const monitors *, double value);

/* Builds and opens what the options name; `how` is how the kernel was built. */
int monitors_open(monitors *, arrays *, const sg_kernel *, const sg_build_options *how);

/* Samples if the steps made are a multiple of --every. Samples are read several at a time, so that
   the device is seldom waited for; monitors_read reads the rest. */
int monitors_sample(monitors *, const sg_arguments *, int64_t made);
int monitors_read(monitors *);

/* Ends the files; adds `monitors` and `until`. */
int monitors_save(monitors *, json *, text *out);
void monitors_close(monitors *);

#endif
