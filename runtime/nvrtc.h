/* NVRTC, found and opened while running. Takes: CUDA source. Makes: cubins and PTX.
   Needs no CUDA header. Search order: an explicit path; already loaded; CUDA_PATH and CUDA_HOME;
   the system loader; Python wheels (nvidia/…/lib); what setup.sh fetched beside the command. */
#ifndef SG_RUNTIME_NVRTC_H
#define SG_RUNTIME_NVRTC_H

#include "runtime/device.h"

typedef struct nvrtc nvrtc;

/* NULL, with *why a sentence that names the cure, where none is found. `path` may be NULL. */
nvrtc *nvrtc_open(job *, const char *path, const char **why);
void nvrtc_close(nvrtc *);

const char *nvrtc_path(const nvrtc *);    /* the library's file */
const char *nvrtc_version(const nvrtc *); /* "NVRTC 13.0" */
const char *nvrtc_reason(const nvrtc *);  /* which step of the search found it */

typedef struct nvrtc_result {
    blob binary;                              /* in the job */
    int registers, shared_bytes, local_bytes; /* of a cubin; −1 unknown */
    double seconds;
} nvrtc_result;

/* Fails with FAULT_COMPILER and the whole log. `arch` is "sm_90". Thread safe. */
nvrtc_result nvrtc_compile(nvrtc *, job *, const program *, const char *arch, bool ptx);

#endif
