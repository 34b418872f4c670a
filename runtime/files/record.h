/* Records: values laid end to end in bytes that any machine reads alike (little-endian, lengths
   before texts). Takes: values. Makes: bytes, and the values again. Bytes that come from a file are
   not trusted: a reader that runs past their end, or meets what cannot be, is `bad` from then on
   and reads zeros, "" and no bytes; whoever reads looks at `bad` once, at the end, and must not
   allocate by a count before it has been compared with record_left. */
#ifndef SG_RUNTIME_FILES_RECORD_H
#define SG_RUNTIME_FILES_RECORD_H

#include "base/text.h"
#include "runtime/files/digest.h"

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

#endif
