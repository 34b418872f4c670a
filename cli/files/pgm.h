/* Grey images of the Netpbm family. Takes: bytes of a .pgm file, plain (P2) or raw (P5), of one or
   two bytes a sample. Makes: elements from 0 to maxval, x fastest, the top row first; and a raw
   file of such elements. The format: https://netpbm.sourceforge.net/doc/pgm.html. */
#ifndef SG_CLI_FILES_PGM_H
#define SG_CLI_FILES_PGM_H

#include <stdio.h>

#include "cli/files/element.h"

enum { PGM_MAXVAL = 65535 };

typedef struct pgm {
    bool plain;
    int64_t width, height; /* from 1 */
    int maxval;            /* 1 to 65535: white */
} pgm;

/* Reads the header of a stream, which is left at the first sample. False with a sentence in `error`
   where it is none, or where a raw file, of a known size, has another number of samples. */
bool pgm_read_header(FILE *, pgm *out, text *error);

/* Reads all samples as elements of the type and hands them on in pieces. False where there are too
   few, too many, or one that is no number up to maxval, or where `take` returns false (`error` is
   then its). */
bool pgm_read_data(FILE *, const pgm *, element, element_take take, void *user, text *error);

/* The header of a raw file. */
void pgm_header(text *out, const pgm *);

/* What is black, and what is white. */
typedef struct pgm_scale {
    double low, high;
} pgm_scale;

/* Elements as raw samples: `low` becomes 0 and `high` maxval, rounded to nearest; what lies below,
   and NaN, becomes 0, and what lies above maxval. Returns how many bytes they are; `out` has room
   for two a sample. */
size_t pgm_samples(element, const void *from, size_t count, int maxval, const pgm_scale *,
                   unsigned char *out);

#endif
