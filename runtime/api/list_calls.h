/* Calls by the names of a family. Takes: a caller's struct. Makes: the arguments of a launch, and
   the launch. Nothing here allocates. */
#ifndef SG_RUNTIME_API_LIST_CALLS_H
#define SG_RUNTIME_API_LIST_CALLS_H

#include "runtime/launch/launch.h"

typedef struct list_call {
    sg_grid grids[LAUNCH_ARRAYS];
    double parameters[LAUNCH_PARAMETERS]; /* for those who need a place */
    sg_arguments arguments;
} list_call;

/* A family's way from a caller's struct to the arguments of a launch; refuses as context_refuse
   does. */
typedef bool fill_call(job *, const sg_kernel *, const void *given, list_call *out);

/* Whether the kernel is of the call's kind, and there are arguments. `family`: whose kernels are.
 */
bool list_call_is_of(job *, const sg_kernel *, sg_kind, const char *family, const char *call,
                     const void *given);

/* sg_launch and sg_temporary_bytes with what is filled in. */
sg_status list_call_send(fill_call *, const sg_kernel *, const void *given, sg_stream);
sg_status list_call_ask(fill_call *, const sg_kernel *, const void *given, size_t *out);

#endif
