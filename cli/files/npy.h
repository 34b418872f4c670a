/* NumPy's .npy files. Takes: bytes. Makes: the type and shape they declare, or the header of a new
   file. Versions 1.0, 2.0 and 3.0; the types of element.h, little endian; 1 to 3 dimensions, which
   may be without elements. */
#ifndef SG_CLI_FILES_NPY_H
#define SG_CLI_FILES_NPY_H

#include <stdio.h>

#include "cli/files/element.h"

enum { NPY_DIMS = 3 };

typedef struct npy {
    element type;
    int dims;
    int64_t size[NPY_DIMS]; /* x first, the reverse of the shape; unused axes 1 */
    bool fortran;           /* the first index varies fastest in the file */
    uint64_t data_offset;   /* where the elements begin */
    uint64_t data_bytes;
} npy;

/* Reads the header at the start of `bytes`; `count` may be more or less than the header. False with
   a sentence in `error` where it is not one that we take. */
bool npy_parse(const unsigned char *bytes, size_t count, npy *out, text *error);

/* Reads the header of a stream, which is left at the first element, and compares the size of the
   file, where it has one, with what the header declares. */
bool npy_read_header(FILE *, npy *out, text *error);

/* Reads all elements in C order, x fastest, and hands them on in pieces. False where the file is
   shorter or longer than its header says, or where `take` returns false (`error` is then its). */
bool npy_read_data(FILE *, const npy *, element_take take, void *user, text *error);

/* The header of a version 1.0 file in C order: a multiple of 64 bytes. */
void npy_header(text *out, element, int dims, const int64_t size[NPY_DIMS]);

#endif
