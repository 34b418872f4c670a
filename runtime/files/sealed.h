/* Records: values laid end to end in bytes that any machine reads alike (little-endian, lengths
   before texts). Takes: values. Makes: bytes, and the values again. Bytes that come from a file are
   not trusted: a reader that runs past their end, or meets what cannot be, is `bad` from then on
   and reads zeros, "" and no bytes; whoever reads looks at `bad` once, at the end, and must not
   allocate by a count before it has been compared with record_left. */
#ifndef SG_RUNTIME_FILES_SEALED_H
#define SG_RUNTIME_FILES_SEALED_H

#include "base/hash.h"
#include "base/job.h"
#include "base/text.h"

/* Writing appends to a text, which holds any bytes. */
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

/* Writing and reading by one function, so that the two cannot differ: a coder writes values to
   `out`, or, where that is NULL, reads them from `in`. */
typedef struct coder {
    job *job;
    text *out;
    record in;
} coder;

void code_int(coder *, int *, int least, int most); /* a value out of this range is bad */
void code_bool(coder *, bool *);
void code_long(coder *, int64_t *);
void code_size(coder *, size_t *, size_t most);
void code_double(coder *, double *);
void code_text(coder *, const char **);  /* may be NULL */
void code_words(coder *, const char **); /* NULL is bad, and read as "" */
void code_bytes(coder *, blob *);        /* in place */

/* Codes the length of a list. Returns the list, or, where it is to be read, memory of the job. */
void *code_list(coder *, void *list, int *count, int most, size_t size);

/* Sealed files: a payload behind a header (magic, version of the format, key, length, checksum), so
   that a whole and unchanged file of ours is known from all else. Takes: bytes. Makes: files that
   appear whole or not at all. */

typedef struct sealed_kind {
    char magic[8];
    uint32_t version;
    const char *title; /* for messages: "a kernel file of stencilgen" */
    bool secret;       /* its owner alone may read it; else whoever the umask lets */
} sealed_kind;

enum { SEALED_HEADER = 64 }; /* bytes before the payload */

/* The whole file, for sealed_open. A key of NULL is written as zeros. */
blob sealed_bytes(job *, const sealed_kind *, const digest *key, blob payload);

/* Writes a file by the rules of base/io.h, a secret kind by the private ones. `folder` is
   an open folder or AT_FDCWD, `name` a path from there. Returns NULL, or what went wrong ("cannot
   write …: No space left on device"), in the job; then no temporary file is left behind. */
const char *sealed_write(job *, int folder, const char *name, const sealed_kind *,
                         const digest *key, blob payload);

/* The payload, in the job and with a NUL behind it, of a file that is open for reading at its
   beginning and `size` bytes long. Without data and with *why set (in the job) where it is not
   whole and ours: "it is shorter than it says", "it is of format 2; …", … `key` may be NULL: any;
   *found gets the file's (may be NULL). Fails for memory alone. */
blob sealed_read(job *, int file, size_t size, const sealed_kind *, const digest *key,
                 digest *found, const char **why);

/* The same for bytes in memory: the payload in place. */
blob sealed_open(job *, blob whole, const sealed_kind *, const digest *key, digest *found,
                 const char **why);

/* Judges the header alone, and hands out as much of the payload as `start` holds, which is how a
   file of `size` bytes begins: to tell what a file says it is without reading all of it. */
blob sealed_glance(job *, blob start, size_t size, const sealed_kind *, const digest *key,
                   digest *found, const char **why);

#endif
