/* Shared libraries that are found and opened while the program runs.
   Takes: names, needed symbols, an optional path. Makes: an open library that knows which step of
   the search found it. Search order: a path from the caller or the environment; already loaded;
   CUDA_PATH and CUDA_HOME; the system's loader; Python packages; what setup.sh fetched. */
#ifndef SG_RUNTIME_DEVICE_LOADER_H
#define SG_RUNTIME_DEVICE_LOADER_H

#include "base/job.h"

typedef struct library {
    void *handle;
    const char *path;   /* of its file; in the job */
    const char *reason; /* which step of the search found it; in the job */
} library;

typedef struct library_wanted {
    const char *title;          /* for messages: "NVRTC" */
    const char *variable;       /* of the environment: a path, or "none" to do without */
    const char *const *names;   /* best first, NULL at the end */
    const char *const *symbols; /* a library without one of these is passed over; NULL at the end */
    bool toolkit;               /* part of the CUDA toolkit: look in its folders too */
    const char *cure;           /* what to do where it is missing: "install …" */
} library_wanted;

/* A path, or else the variable where it is set, is the only place looked at: if that does not work
   the library counts as missing. False, with *why a sentence in the job, where it is.

   An opened library stays loaded: NVIDIA's keep threads and exit handlers of their own. */
bool library_open(job *, const library_wanted *, const char *path, library *out, const char **why);

void *library_symbol(const library *, const char *name);

/* The file that library_open would take, told from names alone: nothing is opened but what tells
   where the system's loader looks, and `out` has no handle. A guess: a library that turns out to be
   of no use is passed over only when it is opened. `conf` is loader_conf but for tests. False where
   nothing is found. */
bool library_find(job *, const library_wanted *, const char *path, const char *conf, library *out);

/* Opens `name` from the folder of a library if it is there, so that the library finds it when it
   opens it by its bare name. */
void library_preload_beside(job *, const library *, const char *name);

/* Where the system's loader looks, as far as its documentation tells (ld.so(8), ldconfig(8)): the
   folders of LD_LIBRARY_PATH, those that ld.so.conf lists, and the default ones.
   Takes: the path of ld.so.conf. Makes: folders, in order. Opens no library. */

extern const char loader_conf[]; /* "/etc/ld.so.conf" */

/* NULL at the end; in the job. A file that is missing or of another form lists nothing. */
const char *const *loader_folders(job *, const char *conf);

/* The paths that a pattern matches below `root`, which is taken literally. Likewise. */
const char *const *loader_matches(job *, const char *root, const char *pattern);

#endif
