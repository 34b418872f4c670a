/* Inside the cache: its folder, the files in it, and what an entry's file holds. Files that are
   neither entries nor unfinished entries are ignored. */
#ifndef SG_RUNTIME_CACHE_FOLDER_H
#define SG_RUNTIME_CACHE_FOLDER_H

#include <dirent.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "runtime/cache/cache.h"
#include "runtime/device/device.h"
#include "runtime/files/paths.h"
#include "runtime/files/sealed.h"

struct cache {
    user_place place;
    int64_t most_bytes;
    const logger *logger;
    atomic_bool warned; /* about the folder */
};

/* What one call has open; closed when the call ends, however it ends. */
typedef struct cache_visit {
    cache *cache;
    int folder, file; /* −1: not open */
    DIR *listing;
} cache_visit;

/* Runs `body`, whose argument begins with a cache_visit, as a job of its own, so that what it
   reads does not stay in the caller's memory. Returns that job, for cache_visit_end; fails as
   the body does. */
job *cache_visit_run(job *, cache *, void (*body)(job *, void *), void *argument);
void cache_visit_end(job *, job *own);

/* Opens v->folder; if it does not exist, makes it where `make` is set and else leaves v->folder
   −1. NULL, or why it cannot be used, valid for ever. */
const char *cache_folder_open(job *, cache_visit *, bool make);

/* Opens a file as v->file, without waiting. NULL, or why it cannot be trusted, valid for ever: it
   must be a regular file that only this user may write to, and not too large. *gone: there is none.
 */
const char *cache_file_open(cache_visit *, const char *name, size_t *size, bool *gone);
extern const char cache_linked[]; /* "it is a symbolic link" */

typedef struct cache_file {
    const char *name;
    int64_t bytes;
    struct timespec used;
    bool entry; /* else unfinished */
    bool ours;  /* this user's, and not a folder */
    bool stale; /* unfinished and so old that nobody will finish it */
} cache_file;

typedef struct cache_files {
    cache_file *list; /* the last used first */
    size_t count;
} cache_files;

/* False, with errno set: the folder cannot be read. */
bool cache_folder_list(job *, cache_visit *, cache_files *out);

/* Removes a file of this user. 0, also if it is gone already, or errno. */
int cache_folder_remove(const cache_visit *, const char *name);

/* Whether this library made a listed file, by its content: others name files by checksums too.
   Only such a file may be removed unasked. */
bool cache_folder_made(const cache_visit *, const cache_file *);

/* An entry's payload. */

extern const sealed_kind cache_entry_kind;

/* The ending of an entry's name, after its key: ".cubin". */
extern const char *const cache_endings[BINARY_KINDS];

typedef struct cache_entry {
    const char *title; /* "heat13, cubin for sm_90" */
    binary binary;     /* its data are in the payload */
} cache_entry;

blob cache_entry_write(job *, const cache_entry *);

/* NULL, or why it makes no sense. */
const char *cache_entry_read(job *, blob payload, cache_entry *out);

/* The same for an open file of so many bytes, of which all is read; its key and the kind in its
   name are judged too. */
const char *cache_entry_load(job *, const cache_visit *, const char *name, size_t size,
                             const digest *key, cache_entry *out);

/* "heat13, cubin for sm_90, NVRTC 13.0", from the beginning of a payload; "" if there is none. */
const char *cache_entry_describe(job *, blob start);

#endif
