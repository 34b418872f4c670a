/* Sealed files: a payload behind a header (magic, version of the format, key, length, checksum), so
   that a whole and unchanged file of ours is known from all else. Takes: bytes. Makes: files that
   appear whole or not at all. */
#ifndef SG_RUNTIME_FILES_SEALED_H
#define SG_RUNTIME_FILES_SEALED_H

#include "base/job.h"
#include "runtime/files/digest.h"

typedef struct sealed_kind {
    char magic[8];
    uint32_t version;
    const char *title; /* for messages: "a kernel file of stencilgen" */
    bool secret;       /* its owner alone may read it; else whoever the umask lets */
} sealed_kind;

enum { SEALED_HEADER = 64 }; /* bytes before the payload */

/* The whole file, for sealed_open. A key of NULL is written as zeros. */
blob sealed_bytes(job *, const sealed_kind *, const digest *key, blob payload);

/* Writes a file by the rules of base/whole_file.h, a secret kind by the private ones. `folder` is
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
