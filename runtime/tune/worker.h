/* Trials in a process of their own, which may be ended. Takes: the program that runs there, and
   trials that are built. Makes: their results, as trial_measure does.

   A kernel that never ends keeps the process that launched it from doing anything else, and cannot
   be called back; but the system takes all that a process had when it is killed, and a driver of
   GPUs then ends its kernels too. So this process builds, which warms the cache on disk, but only
   the worker launches. It is started when it is first needed, and again after it was ended. */
#ifndef SG_RUNTIME_TUNE_WORKER_H
#define SG_RUNTIME_TUNE_WORKER_H

#include "runtime/tune/trial.h"

typedef struct worker worker;

/* Nothing is started yet. All in the job, which outlives it. `limit`: seconds for one trial. */
worker *worker_new(job *, const char *program, double limit, const trial_setting *);
void worker_close(worker *); /* ends the process; NULL is allowed */

/* As trial_measure and trial_again; fails where the program cannot be run. False, with *why in the
   trial, where it can make no trial at all: a GPU may be for one process alone. */
bool worker_measure(job *, worker *, trial *, const char **why);
retiming worker_again(job *, worker *, const trial *);

#endif
