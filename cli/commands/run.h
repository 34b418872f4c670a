/* What run on one rank and on several share. */
#ifndef SG_CLI_COMMANDS_RUN_H
#define SG_CLI_COMMANDS_RUN_H

#include "cli/files/arrays.h"
#include "cli/ranks.h"

typedef struct steps {
    int64_t made;
    int64_t begun; /* made before this run, which a checkpoint says */
    double seconds;
    const char *stopped_by; /* the field with NaN or infinite values; NULL */
    int64_t sound;          /* after so many steps there were none */
} steps;

/* Shows on a terminal how far a run is and how long it will take, if it is long. */
void steps_progress(const steps *, int64_t steps);
/* How many steps are made before --stop-on-nan looks: a multiple of those that a launch fuses. */
int64_t steps_unlooked(int64_t fused);

/* Prints why a run stopped; its exit code. */
int steps_stopped(const arrays *, const steps *);
void steps_text(const steps *, text *out);
void steps_json(const steps *, json *);

/* run on these ranks (run_team.c). */
int run_team(session *, const char *spec, ranks *, json *, text *out);

#endif
