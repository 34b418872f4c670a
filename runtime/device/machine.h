/* What processor this is, for binaries that run on it alone. Makes: one line of text. */
#ifndef SG_RUNTIME_DEVICE_MACHINE_H
#define SG_RUNTIME_DEVICE_MACHINE_H

#include "base/job.h"

/* "x86_64; vendor_id: …; model: …; flags: …", in the job: the same on machines of one processor
   model with the same features alone. NULL where the system does not tell. */
const char *host_machine(job *);

/* The same from another file and for another kind of machine, for tests. */
const char *machine_text(job *, const char *cpuinfo, const char *kind);

#endif
