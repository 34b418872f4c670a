/* The cache of binaries on disk. A part of stencilgen.h. */
#ifndef STENCILGEN_CACHE_H
#define STENCILGEN_CACHE_H

#include "../stencilgen.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sg_cache_info {
    size_t struct_size;
    const char *folder;  /* "" if there is no cache; valid as long as the context */
    const char *trouble; /* why the cache is not used or not written to; NULL: it is. Valid until
                            the thread's next call */
    int64_t entries, bytes, most_bytes;
} sg_cache_info;
SG_API sg_status sg_cache_facts(sg_context *, sg_cache_info *out);

typedef struct sg_cache_entry {
    const char *file;    /* its name in the folder */
    const char *text;    /* "heat13, cubin for sm_90, NVRTC 13.0"; "" if it cannot be read */
    int64_t bytes;       /* of the file */
    int64_t used;        /* the last use, in seconds since 1970 */
    const char *trouble; /* why the entry will not be used; NULL: it will */
} sg_cache_entry;

/* Calls `entry` for every entry, the most recently used first. `verify` compares their content with
 * the checksums. The strings are valid during the call of `entry`. */
SG_API sg_status sg_cache_list(sg_context *, int verify,
                               void (*entry)(void *user, const sg_cache_entry *), void *user);

/* Removes every entry and returns their number and bytes (either may be NULL). */
SG_API sg_status sg_cache_clear(sg_context *, int64_t *entries, int64_t *bytes);

#ifdef __cplusplus
}
#endif

#endif
