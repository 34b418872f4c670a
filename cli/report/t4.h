/* Results for other tuners, in the T4 format of autotuning results: JSON as Kernel Tuner and KTT
   write it and the autotuning methodology's tools read it, described by
   https://github.com/odgaard/TuningSchema/blob/T4/results-schema.json (version 1.0.0) and
   https://github.com/AutoTuningAssociation/autotuning_methodology,
   src/autotuning_methodology/schemas/T4.json (version 1.1.0, with metadata).
   Takes: results, one after another. Makes: one JSON object. What T4 has no word for stands under
   the key `stencilgen`. */
#ifndef SG_CLI_REPORT_T4_H
#define SG_CLI_REPORT_T4_H

#include <stdbool.h>

#include "cli/json.h"
#include "runtime/stencilgen.h"

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

#endif
