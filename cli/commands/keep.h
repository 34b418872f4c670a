/* What a run must not replace. Takes: its options and arrays. Makes: an error before the work. */
#ifndef SG_CLI_COMMANDS_KEEP_H
#define SG_CLI_COMMANDS_KEEP_H

#include "cli/files/arrays.h"

/* Whether a snapshot or the checkpoint would replace another file of the run: its spec, an input,
   an output, a checkpoint. The names of snapshots are judged already (cli/files/snapshot.h).
   EXIT_DONE; or EXIT_USAGE after an error. */
int keep_files(const arrays *);

#endif
