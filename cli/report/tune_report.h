/* What a sweep found, for people and for programs. docs/json.md describes the latter.
   Takes: an sg_tuning. Makes: a table, or JSON. */
#ifndef SG_CLI_REPORT_TUNE_REPORT_H
#define SG_CLI_REPORT_TUNE_REPORT_H

#include "cli/json.h"
#include "runtime/stencilgen.h"

void tune_report_text(const sg_tuning *, text *out);

/* The members of an object that is open. */
void tune_report_json(const sg_tuning *, json *out);

/* "1.23 ms", or the state and its reason: one trial in a line, without its end. */
void tune_report_line(const sg_evaluation *, text *out);

/* How many times as fast as the usual plan the best one is; NAN where one of them is not known. */
double tune_report_gain(const sg_tuning *);

#endif
