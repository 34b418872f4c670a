/* The report of one kernel. Takes: what the stages found out. Makes: text for people, or JSON. */
#ifndef SG_CLI_REPORT_REPORT_H
#define SG_CLI_REPORT_REPORT_H

#include "cli/output.h"
#include "cli/report/beside.h"

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

#endif
