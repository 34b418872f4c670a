/* Tuning results for other programs. Takes: results, one after another. Makes: one JSON object in
   the T4 format of autotuning results, or a plans file. */
#ifndef SG_CLI_REPORT_EXPORT_H
#define SG_CLI_REPORT_EXPORT_H

#include "cli/json.h"

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
    text head, name;    /* of the last device and spec that were written */
    text device, place; /* of the results at hand */
    text spec, line;    /* the best of these; empty: there was none */
    double best;        /* its seconds */
} plans;

void plans_begin(plans *, text *out);
void plans_result(plans *, const sg_result *);
void plans_end(plans *);

#endif
