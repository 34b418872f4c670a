/* The log, and the cache of binaries on disk. */
#ifndef SG_RUNTIME_CACHE_CACHE_H
#define SG_RUNTIME_CACHE_CACHE_H

#include "base/job.h"
#include "runtime/device/device.h"
#include "runtime/stencilgen.h"

typedef struct logger {
    sg_log call; /* NULL: nobody listens */
    void *user;
} logger;

/* Tells the caller's log; a NULL logger is allowed. Fails only for want of memory. */
void logger_say(const logger *, job *, sg_log_level, const char *format, ...) SG_PRINTF(4, 5);

/* The cache is never a reason to fail: whatever is wrong with it is logged, and the kernel is
   compiled. Its functions fail only for want of memory. Any number of processes and threads may
   share a folder.

   An entry is a sealed file named after its key. Binaries are code, so an entry is loaded only
   if it belongs to this user and only this user may write to it and to the folder. Its
   modification time is its last use. Storing removes the least recently used entries beyond the
   cap, and unfinished files that were left behind. */

typedef struct cache cache;

/* Opens nothing yet; needs no closing. `folder` and `most_bytes` as in sg_options; the logger
   must live as long. Never NULL: a cache without a folder finds and stores nothing. A negative
   most_bytes is FAULT_USAGE. */
cache *cache_open(job *, const char *folder, int64_t most_bytes, const logger *);

/* Why this folder, "given by SG_CACHE"; "" if there is none. Valid as long as the cache. */
const char *cache_reason(const cache *);

/* The folder, usable or not; NULL if there is none. Valid as long as the cache. */
const char *cache_place(const cache *);

/* False: there is no good entry of this kind. The binary is in the job, aligned for any type and
   followed by a NUL. */
bool cache_find(job *, cache *, const digest *key, binary_kind, binary *out);

/* `title` describes it: "heat13, cubin for sm_90". */
void cache_store(job *, cache *, const digest *key, const char *title, const binary *);

/* Removes an entry that turned out to be useless; `why` ends the sentence in the log. */
void cache_drop(job *, cache *, const digest *key, const char *why);

/* The calls sg_cache_facts, sg_cache_list and sg_cache_clear. The texts of cache_facts live as
   long as the cache. cache_clear may fail with FAULT_IO. */
void cache_facts(job *, cache *, sg_cache_info *out);
void cache_list(job *, cache *, bool verify, void (*entry)(void *user, const sg_cache_entry *),
                void *user);
void cache_clear(job *, cache *, int64_t *entries, int64_t *bytes);

#endif
