/* The commands. Each takes its options and returns the exit code. */
#ifndef SG_CLI_COMMANDS_COMMANDS_H
#define SG_CLI_COMMANDS_COMMANDS_H

#include "cli/options.h"

int command_build(const options *); /* also bench, which only measures */
int command_run(const options *);
int command_explain(const options *);
int command_tune(const options *);
int command_report(const options *);
int command_doctor(const options *);
int command_cache(const options *);

#endif
