/* Reading a kernel file that is not trusted: numbers within limits, names that are names, and the
   program, of which every index, extent and count is checked before a launch relies on it.
   Takes: a record. Makes: its content, or the reason why it cannot be. */
#ifndef SG_RUNTIME_API_KERNEL_READER_H
#define SG_RUNTIME_API_KERNEL_READER_H

#include "base/program.h"
#include "runtime/files/record.h"
#include "runtime/stencilgen.h"

/* More than any GPU has, or any schedule asks for. */
enum {
    MOST_NAME = 127,
    MOST_LAUNCHES = 64,
    MOST_THREADS = 1024,
    MOST_SHARED_BYTES = 1 << 20,
    MOST_PER_BLOCK = 1 << 28,
    MOST_REACH = 1 << 16,
    MOST_VECTOR = 64,
    MOST_CLUSTER = 8,           /* blocks that every GPU with clusters has in one */
    MOST_STEPS = 1 << 16,       /* of a launch */
    MOST_FILE_NUMBER = 1 << 30, /* of an extent, a temporary, the storage of a matrix */
};

typedef struct reader {
    job *job;
    record record;
    const char *why; /* what cannot be; NULL so far */
} reader;

/* From the first finding on everything reads as the least that it may be, or as "". */
void reader_refuse(reader *, const char *format, ...) SG_PRINTF(2, 3);
void reader_require(reader *, bool holds, const char *what);
int reader_int(reader *, int least, int most, const char *what);
void reader_axes(reader *, int *out, int least, int most, const char *what);
bool reader_truth(reader *, const char *what);
double reader_double(reader *, double least, double most, const char *what);
const char *reader_text(reader *, const char *what);
const char *reader_name(reader *, const char *what); /* fit for messages and binaries */

/* The texts are those of kernel_file, and the kind is its info's. */
program *kernel_read_program(reader *, const char *const *texts);

#endif
