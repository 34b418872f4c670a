/* A rank's part of an array that lies in one file. Takes: an open file, a box. Makes: its cells in
   a local array, or from there in the file. Safe in any thread: nothing is printed. */
#ifndef SG_CLI_FILES_PART_FILE_H
#define SG_CLI_FILES_PART_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/stencilgen.h"

/* The whole array in C order, x fastest. */
typedef struct part_file {
    int file;
    const char *path; /* for messages */
    uint64_t offset;  /* where it begins */
    size_t element;   /* bytes */
} part_file;

/* Between the file and the rank's own cells in a local array of part->size. False with a sentence
   in `why`. */
bool part_read(const part_file *, const sg_team_part *part, void *local, char *why, size_t room);
bool part_write(const part_file *, const sg_team_part *part, const void *local, char *why,
                size_t room);

#endif
