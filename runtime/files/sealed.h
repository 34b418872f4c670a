/* Records and sealed files.

   A record is values end to end in bytes that every machine reads alike (little-endian, lengths
   before texts). A reader does not trust its bytes: after the first value that is cut short or
   out of range, the record is `bad`, and all later values read as 0, "" and no bytes. Readers
   test `bad` once, at the end. Compare a count with record_left before allocating by it. */
#ifndef SG_RUNTIME_FILES_SEALED_H
#define SG_RUNTIME_FILES_SEALED_H

#include "base/hash.h"
#include "base/job.h"
#include "base/text.h"

/* Writing appends to a text, which may hold any bytes. */
void record_put_int(text *, int64_t);
void record_put_double(text *, double);     /* its bits */
void record_put_text(text *, const char *); /* NULL is kept apart from "" */
void record_put_bytes(text *, const void *, size_t);

typedef struct record {
    const unsigned char *at, *end;
    bool bad;
} record;

record record_of(const void *data, size_t size);
int64_t record_int(record *);
int record_small(record *, int least, int most); /* an int64 in this range, else bad */
double record_double(record *);
const char *record_text(record *, job *); /* copied to the job; no NUL inside; may be NULL */
blob record_bytes(record *);              /* in place */
size_t record_left(const record *);       /* bytes */
bool record_done(const record *);         /* all was read, and nothing was bad */

/* One function writes and reads a struct, so that the two cannot differ: a coder writes values
   to `out`, or, if `out` is NULL, reads them from `in`. */
typedef struct coder {
    job *job;
    text *out;
    record in;
} coder;

void code_int(coder *, int *, int least,
              int most); /* reading a value outside of the range is bad */
void code_bool(coder *, bool *);
void code_long(coder *, int64_t *);
void code_size(coder *, size_t *, size_t most);
void code_double(coder *, double *);
void code_text(coder *, const char **);  /* NULL is allowed */
void code_words(coder *, const char **); /* NULL is bad and reads as "" */
void code_bytes(coder *, blob *);        /* in place */

/* Codes the length of a list. Returns the list or, when reading, new memory of the job. */
void *code_list(coder *, void *list, int *count, int most, size_t size);

/* A sealed file is a payload behind a header (magic, version, key, length, checksum), which
   tells a whole and unchanged file of ours from anything else. */

typedef struct sealed_kind {
    char magic[8];
    uint32_t version;
    const char *title; /* for messages: "a kernel file of stencilgen" */
    bool secret;       /* only its owner may read it; else the umask decides */
} sealed_kind;

enum { SEALED_HEADER = 64 }; /* bytes before the payload */

/* The whole file in memory. A NULL key is written as zeros. */
blob sealed_bytes(job *, const sealed_kind *, const digest *key, blob payload);

/* Writes a file by the rules of base/io.h, privately if the kind is secret. `name` is a path
   from `folder`, an open folder or AT_FDCWD. Returns NULL or what went wrong ("cannot write …:
   No space left on device"); no temporary file remains then. */
const char *sealed_write(job *, int folder, const char *name, const sealed_kind *,
                         const digest *key, blob payload);

/* The payload of an open file of `size` bytes, in the job and followed by a NUL. If the file is
   not whole and ours, there is no data and *why says why: "it is shorter than it says". A NULL
   `key` accepts any key; *found (may be NULL) gets the file's. Fails only for want of memory. */
blob sealed_read(job *, int file, size_t size, const sealed_kind *, const digest *key,
                 digest *found, const char **why);

/* The same for a file in memory; the payload stays in place. */
blob sealed_open(job *, blob whole, const sealed_kind *, const digest *key, digest *found,
                 const char **why);

/* Checks the header alone and returns the part of the payload that `start`, the first bytes of a
   file of `size` bytes, holds: to describe a file without reading all of it. */
blob sealed_glance(job *, blob start, size_t size, const sealed_kind *, const digest *key,
                   digest *found, const char **why);

#endif
