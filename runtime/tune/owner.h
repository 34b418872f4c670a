/* Who is at a sweep: at most one, which is alive. Takes: a database's path, a sweep's number.
   Makes: a lock that the system takes back when its holder ends, however it does.

   The lock is one byte, that of the sweep's number, of an empty file beside the database,
   "results.db-sweeps". It belongs to an open file (F_OFD_SETLK), so that it holds between threads
   of one process too, between containers that share a home, and on network file systems between
   machines. Numbers of processes would say less: in another container they are others. */
#ifndef SG_RUNTIME_TUNE_OWNER_H
#define SG_RUNTIME_TUNE_OWNER_H

#include <stdint.h>

#include "base/job.h"

typedef enum ownership {
    OWNERSHIP_TAKEN,
    OWNERSHIP_BUSY,   /* somebody else is at the sweep */
    OWNERSHIP_UNKNOWN /* this file system has no such locks; whoever comes first is believed */
} ownership;

/* *file is to be closed when the sweep is left; −1 where it is not taken. */
ownership sweep_owner_take(job *, const char *database, int64_t sweep, int *file);

#endif
