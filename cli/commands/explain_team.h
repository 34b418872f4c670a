/* What explain says of ranks. Takes: a spec and --ranks. Makes: estimates, by the library's model.
 */
#ifndef SG_CLI_EXPLAIN_TEAM_H
#define SG_CLI_EXPLAIN_TEAM_H

#include "cli/session.h"

/* Adds to the report, or to the JSON if it is asked for. */
int explain_team(session *, const char *spec, const sg_build_options *, int dims, json *,
                 text *out);

#endif
