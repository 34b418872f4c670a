/* The monitors of `run`. Takes: a kernel, --monitor, --until, --every. Makes: samples while steps
   run, files of them, and the end of a run. What fails has been printed; results are exit codes. */
#ifndef SG_CLI_FILES_MONITORS_H
#define SG_CLI_FILES_MONITORS_H

#include "cli/files/arrays.h"

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

/* How many of the steps that are left may be made before the next sample. */
int64_t monitors_ahead(const monitors *, int64_t made, int64_t left);

/* Samples if the steps made are a multiple of --every. Samples are read several at a time, so that
   the device is seldom waited for; monitors_read reads the rest. */
int monitors_sample(monitors *, const sg_arguments *, int64_t made);
int monitors_read(monitors *);

/* Ends the files; adds `monitors` and `until`. */
int monitors_save(monitors *, json *, text *out);
void monitors_close(monitors *);

#endif
