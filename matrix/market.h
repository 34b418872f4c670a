/* Matrix Market files (R. Boisvert, R. Pozo, K. Remington, The Matrix Market Exchange Formats,
   NISTIR 5935, 1996). Takes: a stream, or sorted entries. Makes: an assembled matrix, or a file.
   Numbers are read and written exactly, whatever the locale. */
#ifndef SG_MATRIX_MARKET_H
#define SG_MATRIX_MARKET_H

#include <stdio.h>

#include "matrix/assembly.h"

/* Coordinate and array; real, double, integer and pattern (each entry is 1); general, symmetric,
   skew-symmetric and hermitian, which for real numbers is symmetric. Of the latter three the other
   half is added, without the diagonal; entries of the upper half are taken too. Entries at one
   place are added up; zeros are entries in a coordinate file, and not in an array. A pattern's
   entry may have a value, which is ignored. Blank lines and comments may stand anywhere after the
   first line, and every line may begin with spaces.

   `out` is begun here and settled; the caller frees it, also where reading fails: with FAULT_DATA
   at `name` and a line, with FAULT_IO where the stream cannot be read. Memory grows with what has
   been read, not with what the header promises. */
void market_read(job *, FILE *, const char *name, assembly *out);

/* Coordinate, real, general. The file appears whole or not at all: it is written under a temporary
   name in the same folder, brought to the disk and renamed. A regular file or a link is replaced,
   and nothing else is. FAULT_IO where that cannot be. */
void market_write(job *, const matrix *, const char *path);

/* A number as the files have it, all of the text: decimal, "inf", "nan". False where it is none;
   where it is too large, *large is set. `plain` is the locale "C". */
bool market_number(const char *token, void *plain, double *out, bool *large);

#endif
