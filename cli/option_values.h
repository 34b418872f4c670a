/* What the values of options mean. Takes: a word of the command line. Makes: members of options;
   false after an error on standard error. */
#ifndef SG_CLI_OPTION_VALUES_H
#define SG_CLI_OPTION_VALUES_H

#include "cli/options.h"

/* Says what is needed instead of a value; always false. */
bool option_misused(const char *what, const char *value, const char *needed);

bool set_emit(options *, const char *value);
bool set_parameter(options *, const char *value);
bool set_input(options *, const char *value);
bool set_values(options *, const char *value);
bool set_output(options *, const char *value);
bool set_output_values(options *, const char *value);
bool set_size(options *, const char *value);
bool set_steps(options *, const char *value);
bool set_seed(options *, const char *value);
bool set_budget(options *, const char *value);
bool set_limit(options *, const char *value);
bool set_evaluations(options *, const char *value);
bool set_search(options *, const char *value);
bool set_resume(options *, const char *unused);
bool set_device(options *, const char *value);

#endif
