/* Tuning results as lines of a plans file, which builds read by SG_PLANS (docs/tuning.md).
   Takes: results, those of a place after each other. Makes: text, the best plan of each place. */
#ifndef SG_CLI_REPORT_PLANS_H
#define SG_CLI_REPORT_PLANS_H

#include "cli/command.h"
#include "runtime/stencilgen.h"

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
