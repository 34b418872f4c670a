/* Reports: of one kernel, and of a sweep. Takes: what was found out. Makes: text for people, or
   JSON, which docs/json.md describes. */
#ifndef SG_CLI_REPORT_REPORT_H
#define SG_CLI_REPORT_REPORT_H

#include "cli/command.h"
#include "cli/session.h"

/* ---- the report of one kernel ---------------------------------------------------------------- */

/* A stencil's kernel by one of the textbook's methods, which `bench` compares with the spec's. */
enum { TEXTBOOK_PLANS = 4 };

typedef struct textbook_row {
    const char *schedule; /* asked for; NULL: nothing was */
    char *plan;           /* NULL where it could not be made */
    char *refusal;        /* why not; NULL */
    bool measured;
    sg_speed speed; /* of single steps */
} textbook_row;

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
    textbook_row textbook[TEXTBOOK_PLANS]; /* of bench, where no schedule was asked for */
    const char *error;                     /* what failed first, as printed; NULL */
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
