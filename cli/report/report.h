/* Reports: of one kernel, and of a sweep. Takes: what was found out. Makes: text for people, or
   JSON, which docs/json.md describes. */
#ifndef SG_CLI_REPORT_REPORT_H
#define SG_CLI_REPORT_REPORT_H

#include "cli/output.h"
#include "cli/session.h"

/* ---- beside --------------------------------------------------------------------------------- */

/* A stencil's kernels by the textbook's methods, beside the one that `bench` measures.
   Takes: a spec and its size. Makes: a line for each: checked and measured, or why not. */
enum { BESIDE_COUNT = 4 };

typedef struct beside {
    const char *schedule; /* asked for; NULL: nothing was */
    char *plan;           /* NULL where it could not be made */
    char *refusal;        /* why not; NULL */
    bool measured;
    sg_speed speed; /* of single steps */
} beside;

/* `own` is the spec's kernel, whose size they take. Returns the exit code: a refused schedule is no
   failure, a wrong kernel is one. */
int beside_measure(session *, const char *spec, int index, const sg_kernel_info *own,
                   const double *parameters, beside out[BESIDE_COUNT]);

/* Where a check of a single step is to be quick: a grid of this size at most. */
void beside_check_size(const sg_kernel_info *, int64_t out[3]);

/* `points`: updated a second by the kernel that they stand beside. */
void beside_text(const beside rows[BESIDE_COUNT], double points, text *out);
void beside_json(const beside rows[BESIDE_COUNT], json *);

/* ---- the report ----------------------------------------------------------------------------- */

typedef struct emitted {
    char *path;   /* NULL: not asked for */
    output *open; /* until it is written; NULL */
    bool written;
} emitted;

typedef struct report {
    const char *spec;
    int index;
    sg_kernel *kernel; /* its texts; NULL where there is no source */
    sg_kernel *built;  /* for the device; NULL where it could not be compiled */
    sg_kernel_info info;
    emitted files[EMIT_COUNT];
    bool has_binary;
    sg_binary binary;
    const char *no_binary; /* NULL, or why not, and the cure */
    bool checked;
    sg_check_result check;
    bool measured;
    sg_speed speed;
    beside beside[BESIDE_COUNT]; /* of bench, where no schedule was asked for */
    const char *error;           /* what failed first, as printed; NULL */
    int code;
} report;

/* Takes over what the check's result only points to, which other checks write over. */
void report_keep_check(report *);

void report_text(const report *, const session *, text *out);
void report_json(const report *, const session *, json *out);
void report_free(report *);

/* ---- sweeps -------------------------------------------------------------------------------- */

/* What a sweep found: a table for people, and JSON. */
void tune_report_text(const sg_tuning *, text *out);

/* The members of an object that is open. */
void tune_report_json(const sg_tuning *, json *out);

/* "1.23 ms", or the state and its reason: one trial in a line, without its end. */
void tune_report_line(const sg_evaluation *, text *out);

#endif
