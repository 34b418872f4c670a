/* What the files that arrange a system's launches share: lines of schedules, and one arrangement in
   the making. Takes: a system and a request. */
#ifndef SG_GEN_SYSTEM_ARRANGING_H
#define SG_GEN_SYSTEM_ARRANGING_H

#include "gen/system/system.h"

/* A part of a line: "2-3: naive tile=128x1". */
typedef struct part {
    int first, last; /* stages, from 0 */
    const char *schedule;
} part;

bool arranging_has_parts(const char *line);
/* The parts of a line that has some; returns how many. */
int arranging_read_parts(job *, const char *line, part out[SYSTEM_STAGES]);

typedef struct arranging {
    job *job;
    const system_model *system;
    const family_request *request;
    const char *line; /* of the request; NULL: none */
    arrangement *out;
} arranging;

arrangement *arrangement_new(job *, const system_model *);

/* Plans a launch of these stages under the constraints of a line, and adds it. */
void arranging_add(arranging *, const system_stage *, const char *line);

/* Launches of a single step. */
arrangement *arrange_single(job *, const system_model *, const family_request *);

#endif
