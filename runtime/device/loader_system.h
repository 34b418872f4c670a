/* Where the system's loader looks, as far as its documentation tells (ld.so(8), ldconfig(8)): the
   folders of LD_LIBRARY_PATH, those that ld.so.conf lists, and the default ones.
   Takes: the path of ld.so.conf. Makes: folders, in order. Opens no library. */
#ifndef SG_RUNTIME_DEVICE_LOADER_SYSTEM_H
#define SG_RUNTIME_DEVICE_LOADER_SYSTEM_H

#include "base/job.h"

extern const char loader_conf[]; /* "/etc/ld.so.conf" */

/* NULL at the end; in the job. A file that is missing or of another form lists nothing. */
const char *const *loader_folders(job *, const char *conf);

/* The paths that a pattern matches below `root`, which is taken literally. Likewise. */
const char *const *loader_matches(job *, const char *root, const char *pattern);

#endif
