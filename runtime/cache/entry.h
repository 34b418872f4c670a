/* What a file of the cache holds: a binary, and what it is. Takes: a title, a binary. Makes: the
   payload of a sealed file, and both again from one that is not trusted. */
#ifndef SG_RUNTIME_CACHE_ENTRY_H
#define SG_RUNTIME_CACHE_ENTRY_H

#include "runtime/device/binary.h"
#include "runtime/files/sealed.h"

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
