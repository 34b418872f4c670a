/* The arrays of `run`. Takes: a kernel, --input and --output. Makes: device memory filled from .npy
   files, and .npy files from device memory. What fails has been printed; results are exit codes. */
#ifndef SG_CLI_ARRAYS_H
#define SG_CLI_ARRAYS_H

#include <stdio.h>

#include "cli/npy.h"
#include "cli/session.h"

typedef struct array {
    sg_array_info info;
    const char *input; /* the file to read; NULL */
    int same_as; /* a previous level without a file: the array of the current one; else −1 */
    FILE *file;
    npy header;
} array;

typedef struct arrays {
    session *session;
    const char *spec;
    sg_kernel_info info;
    const char *name, *dtype; /* of the kernel; live as long as `plan` */
    sg_kernel *plan;          /* built without a binary, to know the arrays */
    array *items;
    sg_grid *grids; /* one for each item */
    int64_t size[3];
} arrays;

/* Matches the inputs with the arrays, opens the files and compares their shapes. */
int arrays_open(arrays *, session *, const char *spec);
/* Allocates all arrays and reads the inputs. */
int arrays_load(arrays *);
/* Writes the outputs; adds "FIELD": "FILE" to the open object of `j`, and files to `text`. */
int arrays_save(arrays *, json *j, buffer *text);
void arrays_close(arrays *);

#endif
