/* The names of statuses, and the version. */
#include "runtime/stencilgen.h"

#define NAME(status) [status] = #status
static const char *const names[] = {
    NAME(SG_OK),           NAME(SG_ERROR_CHECK),  NAME(SG_ERROR_USAGE),
    NAME(SG_ERROR_SPEC),   NAME(SG_ERROR_PLAN),   NAME(SG_ERROR_DATA),
    NAME(SG_ERROR_IO),     NAME(SG_ERROR_DEVICE), NAME(SG_ERROR_COMPILER),
    NAME(SG_ERROR_MEMORY),
};

const char *sg_status_name(sg_status status) {
    const unsigned which = (unsigned)status;
    return which < sizeof names / sizeof *names ? names[which] : "an unknown sg_status";
}

const char *sg_version(void) {
    return SG_VERSION;
}
