/* What tests of Matrix Market files share: reading as a job, from a stream. */
#ifndef TESTS_MARKET_SCENE_H
#define TESTS_MARKET_SCENE_H

#include "matrix/format.h"

typedef struct reading {
    FILE *file;
    assembly out;
} reading;

static inline void read_it(job *j, void *argument) {
    reading *r = argument;
    market_read(j, r->file, "a.mtx", &r->out);
}

/* The job, for its error; the caller frees the matrix. */
static inline fault read_bytes(const allocator *memory, const char *bytes, size_t size, reading *r,
                               job **j) {
    r->out = (assembly){.memory = *memory};
    r->file = size > 0 ? fmemopen((void *)(uintptr_t)bytes, size, "rb") : fopen("/dev/null", "rb");
    assert_non_null(r->file);
    const fault found = job_run(memory, read_it, r, j);
    fclose(r->file);
    return found;
}

#define BANNER "%%MatrixMarket matrix coordinate real general\n"

#endif
