/* The cache's folder. Takes: a cache. Makes: the open folder where it may be used, and the list of
   its files. Files that are neither entries nor unfinished are somebody else's and not seen. */
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
    atomic_bool warned; /* that the folder cannot be used */
};

/* One look into the folder: what it holds open is closed when it is over, however it ends. */
typedef struct cache_visit {
    cache *cache;
    int folder, file; /* −1: not open */
    DIR *listing;
} cache_visit;

/* Runs `body`, whose argument begins with a visit of this cache, as a job of its own, so that what
   it reads does not stay in the caller's memory. Hands out that job, for cache_visit_end; fails as
   the body does. */
job *cache_visit_run(job *, cache *, void (*body)(job *, void *), void *argument);
void cache_visit_end(job *, job *own);

/* Opens v->folder, which is made where there is none and `make` is set; where it is not set and
   there is none, v->folder stays −1. NULL, or why it cannot be used, valid for ever. */
const char *cache_folder_open(job *, cache_visit *, bool make);

/* The same, and why nothing can be stored. Makes nothing. */
const char *cache_folder_trouble(job *, cache_visit *);

/* A regular file of this user that nobody else may write to; else why it is not, valid for ever. */
const char *cache_file_trouble(const struct stat *);

typedef struct cache_file {
    const char *name;
    int64_t bytes;
    struct timespec used;
    bool entry; /* else it is unfinished */
    bool ours;  /* this user's, and no folder */
    bool stale; /* unfinished, and so old that nobody will finish it */
} cache_file;

typedef struct cache_files {
    cache_file *list; /* the one used last first */
    size_t count;
} cache_files;

/* False where the open folder cannot be read, with errno set. */
bool cache_folder_list(job *, cache_visit *, cache_files *out);

/* Removes a file of this user, whose name is the key of an entry that was asked for; 0, or errno.
   One that is gone already is removed. */
int cache_folder_remove(const cache_visit *, const char *name);

/* Whether a listed file was made by this library, by its content: names alone look like those of
   others who name files by a checksum. Only such a file may be removed without being asked for. */
bool cache_folder_made(const cache_visit *, const cache_file *);

/* What a file of the cache holds: a binary, and what it is. Takes: a title, a binary. Makes: the
   payload of a sealed file, and both again from one that is not trusted. */

extern const sealed_kind cache_entry_kind;

/* What the names of entries end with, after their key: ".cubin". */
extern const char *const cache_endings[BINARY_KINDS];

typedef struct cache_entry {
    const char *title; /* "heat13, cubin for sm_90" */
    binary binary;     /* its data lie in the payload */
} cache_entry;

blob cache_entry_write(job *, const cache_entry *);

/* NULL, or why the payload makes no sense. */
const char *cache_entry_read(job *, blob payload, cache_entry *out);

/* "heat13, cubin for sm_90, NVRTC 13.0" from the beginning of a payload, "" where it has none. */
const char *cache_entry_describe(job *, blob start);

#endif
