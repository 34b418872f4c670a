/* What `run` records while steps are made. Points and monitors: the sets of sg_run_points, whose
   series come from files row by row, files of traces, and samples. Snapshots: fields as files that
   a thread of its own writes. What fails has been printed; results are exit codes. */
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

/* ---- snapshots ------------------------------------------------------------------------------- */

/* Takes: patterns of names, and elements after so many steps. Makes: the files, each whole or not
   at all. The run waits only if two snapshots are still to be written. */

enum { SNAPSHOT_NAME = 4096 };

/* One --snapshot. */
typedef struct snapshot_files {
    const char *pattern; /* "u-%06d.png" */
    int item;            /* of the arrays */
    bool is_image, is_png;
    bool has_pieces;      /* .pvti: of several ranks */
    datafile_array array; /* what a file holds: the field, or a slice of it */
    uint64_t first;       /* the element of the field with which it begins */
    bool has_scale;       /* of an image; else that of the first one's values */
    pgm_scale scale;
    unsigned char colours[COLOURS][3];
    int64_t written; /* files, after snapshots_end */
    int64_t last;    /* the step of the last one */

    text head, tail; /* before and behind the elements; not of .png */
} snapshot_files;

/* Whether a pattern has one %d or %06d and nothing else that begins with %, and the kind of file
   that it names is known; prints why not. EXIT_DONE, or EXIT_USAGE. */
int snapshot_judge(const char *pattern);
bool snapshot_is_png(const char *path);

/* The name of the file after so many steps. */
void snapshot_name(const char *pattern, int64_t step, char out[SNAPSHOT_NAME]);

/* Sets head and tail. */
void snapshot_frame(snapshot_files *);

/* Looks whether a file can be made, that of the first step at which there is one: a file that
   cannot be made costs no computation. EXIT_DONE, or an exit code after an error. */
int snapshot_try(const snapshot_files *, int64_t step);

typedef struct snapshots snapshots;

/* Of files whose head and tail are set: starts the thread. With a context, elements come from its
   device while the run goes on. `files` stays the caller's. EXIT_DONE; or an exit code after an
   error. */
int snapshots_begin(snapshots **out, sg_context *, snapshot_files *files, int count);

/* Where elements go: to `memory` at once, or with a capture, of which it is byte `at`, from the
   device to there. */
typedef struct snapshot_room {
    unsigned char *memory;
    sg_capture *capture; /* NULL: none */
    size_t at;
} snapshot_room;

/* Gives `count` elements of an item from number `first` on. Returns an exit code. */
typedef int (*snapshot_give)(void *user, int item, uint64_t first, size_t count,
                             const snapshot_room *);

/* Hands on what is to be written after this step. An exit code, also of a file before. */
int snapshots_take(snapshots *, int64_t step, snapshot_give give, void *user);

/* Waits until all is written, and ends the thread. An exit code; NULL is none. */
int snapshots_end(snapshots *);

#endif
