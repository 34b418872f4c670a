/* What fuzz targets share: libFuzzer's entry, demands that end the process where they do not hold,
   and bytes as a file. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* Unlike assert, it stays in whatever the build. */
#define DEMAND(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A regular file in memory that holds the bytes, read from its start. It is the same one each time,
   so that a target opens no file for each input; there is also a path to it. */
static inline int file_of(const uint8_t *bytes, size_t count) {
    static int file = -1;
    if (file < 0)
        file = memfd_create("fuzz", MFD_CLOEXEC);
    DEMAND(file >= 0 && ftruncate(file, 0) == 0);
    DEMAND(pwrite(file, bytes, count, 0) == (ssize_t)count && lseek(file, 0, SEEK_SET) == 0);
    return file;
}

#endif
