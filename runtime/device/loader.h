/* Shared libraries that are found and opened while the program runs. Search order: a path from
   the caller or the environment; already loaded; CUDA_PATH and CUDA_HOME; the system's loader;
   Python packages; what setup.sh fetched. */
#ifndef SG_RUNTIME_DEVICE_LOADER_H
#define SG_RUNTIME_DEVICE_LOADER_H

#include "base/job.h"

typedef struct library {
    void *handle;
    const char *path;   /* of its file; in the job */
    const char *reason; /* the step of the search that found it; in the job */
} library;

typedef struct library_wanted {
    const char *title;          /* for messages: "NVRTC" */
    const char *variable;       /* environment variable: a path, or "none" to do without */
    const char *const *names;   /* best first, NULL at the end */
    const char *const *symbols; /* required; NULL at the end */
    bool toolkit;               /* part of the CUDA toolkit: its folders are searched too */
    const char *cure;           /* what to do if it is missing: "install …" */
} library_wanted;

/* Opens the library. A path, else the variable, is the only place that is searched if it is given.
   False, with *why a sentence in the job, if no library is usable.

   An opened library stays loaded, because NVIDIA's keep threads and exit handlers of their own. */
bool library_open(job *, const library_wanted *, const char *path, library *out, const char **why);

void *library_symbol(const library *, const char *name);

/* The file that library_open would probably take, by names alone: no library is opened and `out`
   has no handle. (An unusable library is found out only by opening it.) `conf` is loader_conf
   except in tests. False: nothing was found. */
bool library_find(job *, const library_wanted *, const char *path, const char *conf, library *out);

/* Opens `name` from a library's folder if it is there, so that the library finds it by its bare
   name. */
void library_preload_beside(job *, const library *, const char *name);

/* Where the system's loader searches, by its documentation (ld.so(8), ldconfig(8)):
   LD_LIBRARY_PATH, the folders of ld.so.conf, the default ones. In order, NULL at the end, in
   the job. A missing or malformed file lists nothing. */

extern const char loader_conf[]; /* "/etc/ld.so.conf" */

const char *const *loader_folders(job *, const char *conf);

/* The paths that match a pattern below `root`, which is taken literally; also NULL-terminated. */
const char *const *loader_matches(job *, const char *root, const char *pattern);

#endif
