/* NVRTC, found and opened while running. Takes: CUDA source. Makes: cubins and PTX.
   Needs no CUDA header. Search order: an explicit path; already loaded; CUDA_PATH and CUDA_HOME;
   the system loader; Python wheels (nvidia/…/lib); what setup.sh fetched beside the command. */
#ifndef SG_RUNTIME_COMPILE_NVRTC_H
#define SG_RUNTIME_COMPILE_NVRTC_H

#include "runtime/device/binary.h"

/* Makes BINARY_CUBIN and BINARY_PTX. In the job, to be closed before it ends; costs nothing until
   it is used: NVRTC is opened by the first compilation. `path` may be NULL. */
compiler *nvrtc_compiler(job *, const char *path);

/* For who wants to know what would be used: NULL, with *why a sentence that names the cure, where
   there is none. */
typedef struct nvrtc nvrtc;
nvrtc *nvrtc_open(job *, const char *path, const char **why);
void nvrtc_close(nvrtc *);

const char *nvrtc_path(const nvrtc *);    /* the library's file */
const char *nvrtc_version(const nvrtc *); /* "NVRTC 13.0" */
const char *nvrtc_reason(const nvrtc *);  /* which step of the search found it */

#endif
