/* Reports: of one kernel, of a sweep, and of results for other programs. Takes: what was found out.
   Makes: text for people, or JSON, which docs/json.md describes. */
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
    const char *path; /* NULL: not asked for */
    output *open;     /* until it is written; NULL */
    bool written;
} emitted;

typedef struct report report;
struct report {
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
    report *here; /* the same spec planned for the processor, where the kernel is for a GPU that is
                     not there: it is the one to measure; NULL: there is none */
    int code;
};

/* Takes over what the check's result only points to, which other checks write over. */
void report_keep_check(report *);

void report_text(const report *, const session *, text *out);
/* The members of an object that is open, here and below. */
void report_json(const report *, const session *, json *out);
void report_free(report *);

/* ---- sweeps -------------------------------------------------------------------------------- */

/* What a sweep found: a table for people, and JSON. */
void tune_report_text(const sg_tuning *, text *out);
void tune_report_json(const sg_tuning *, json *out);

/* "1.23 ms", or the state and its reason: one trial in a line, without its end. */
void tune_report_line(const sg_evaluation *, text *out);

/* ---- tune export ----------------------------------------------------------------------------- */

/* T4 is the JSON that Kernel Tuner and KTT write and the tools of the autotuning methodology read:
   https://github.com/odgaard/TuningSchema/blob/T4/results-schema.json (version 1.0.0) and
   https://github.com/AutoTuningAssociation/autotuning_methodology,
   src/autotuning_methodology/schemas/T4.json (version 1.1.0, with metadata).
   The key `stencilgen` holds what T4 has no word for. */
typedef struct t4 {
    json *out;
    int count;
    bool gpu;              /* all results so far are of GPUs */
    bool one_device;       /* all are of the same one */
    const char *device;    /* its name */
    int64_t first;         /* the earliest of them, in milliseconds since 1970 */
    const char *generator; /* the version that made the last */
} t4;

void t4_begin(t4 *, json *out);
void t4_result(t4 *, const sg_result *);
void t4_end(t4 *);

/* Lines of a plans file, which builds read by SG_PLANS (docs/tuning.md): the best plan of each
   place. The results of a place come one after another. */
typedef struct plans {
    text *out;
    const char *head, *name;    /* of the last device and spec that were written */
    const char *device, *place; /* of the results at hand */
    const char *spec, *line;    /* the best of these; NULL: there was none */
    double best;                /* its seconds */
} plans;

void plans_begin(plans *, text *out);
void plans_result(plans *, const sg_result *);
void plans_end(plans *);

#endif
