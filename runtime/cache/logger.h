/* What the caller may want to know though nothing failed. Takes: the caller's callback, a text.
   Makes: a call of it, or nothing where nobody listens. */
#ifndef SG_RUNTIME_CACHE_LOGGER_H
#define SG_RUNTIME_CACHE_LOGGER_H

#include "base/job.h"
#include "runtime/stencilgen.h"

typedef struct logger {
    sg_log call; /* or NULL */
    void *user;
} logger;

/* `logger` may be NULL: nobody listens. Fails for memory alone. */
void logger_say(const logger *, job *, sg_log_level, const char *format, ...) SG_PRINTF(4, 5);

#endif
