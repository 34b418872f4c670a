/* What the caller may want to know though nothing failed. Takes: the caller's callback, a text.
   Makes: a call of it, or nothing where nobody listens. */
#ifndef SG_RUNTIME_CACHE_CACHE_H
#define SG_RUNTIME_CACHE_CACHE_H

#include "base/job.h"
#include "runtime/device/device.h"
#include "runtime/stencilgen.h"

typedef struct logger {
    sg_log call; /* or NULL */
    void *user;
} logger;

/* `logger` may be NULL: nobody listens. Fails for memory alone. */
void logger_say(const logger *, job *, sg_log_level, const char *format, ...) SG_PRINTF(4, 5);

/* The cache of binaries on disk. Takes: a folder, keys. Makes: binaries that some process compiled
   before. Whatever is wrong with it, the answer is to compile: its functions fail for memory alone,
   and say in the log what they met. Any number of processes and threads may use one folder.

   An entry is a sealed file named after its key. It is loaded only if it belongs to this user, who
   alone may write to it and to the folder, since binaries are code. Its time of modification is
   when it was last used; storing removes the least recently used entries beyond the cap, and
   unfinished files that were left behind. */

typedef struct cache cache;

/* In the job's memory, and with nothing to close; `folder` and `most_bytes` as in sg_options, the
   logger is used as long as the cache. Touches nothing but the environment. Never NULL: a cache
   without a folder finds nothing and stores nothing. Also fails with FAULT_USAGE where most_bytes
   is negative. */
cache *cache_open(job *, const char *folder, int64_t most_bytes, const logger *);

/* "given by SG_CACHE": why this folder; "" where there is none. Valid as long as the cache. */
const char *cache_reason(const cache *);

/* The folder, as long as the cache, whether or not it can be used; NULL where there is none. */
const char *cache_place(const cache *);

/* False where there is no good entry of this kind. The binary is in the job, aligned for any type
   and with a NUL behind it. */
bool cache_find(job *, cache *, const digest *key, binary_kind, binary *out);

/* `title` says what it is: "heat13, cubin for sm_90". */
void cache_store(job *, cache *, const digest *key, const char *title, const binary *);

/* Forgets an entry that turned out to be of no use; `why` ends the sentence in the log. */
void cache_drop(job *, cache *, const digest *key, const char *why);

/* As sg_cache_facts, sg_cache_list and sg_cache_clear have it; the texts of cache_facts live as
   long as the cache. cache_clear may fail with FAULT_IO. */
void cache_facts(job *, cache *, sg_cache_info *out);
void cache_list(job *, cache *, bool verify, void (*entry)(void *user, const sg_cache_entry *),
                void *user);
void cache_clear(job *, cache *, int64_t *entries, int64_t *bytes);

#endif
