/* Files of arrays: .npy, and of grids also images (.pgm) and, to write, .vti.
   Takes: a path. Makes: type and shape, and the elements in pieces; or a whole file of them.
   What fails has been printed; results are exit codes. */
#ifndef SG_CLI_FILES_DATAFILE_H
#define SG_CLI_FILES_DATAFILE_H

#include "cli/command.h"
#include "cli/files/formats.h"

typedef enum datafile_kind { DATAFILE_NPY, DATAFILE_PGM, DATAFILE_VTI } datafile_kind;

/* By the extension of a path; .npy where it has none. */
datafile_kind datafile_kind_of(const char *path);

/* Refuses an extension that no kind has: a .png would else be a .npy file by another name. What is
   no regular file (a pipe, /dev/null) may have any name. Prints which there are. */
int datafile_judge_name(const char *path, bool reads);

typedef struct datafile {
    const char *path;
    FILE *file; /* NULL where it is not open */
    datafile_kind kind;
    npy npy;
    pgm pgm;
    int dims;
    int64_t size[3]; /* x first; unused axes 1 */
} datafile;

/* Opens a file to read, and its header. What begins like an image is one, whatever its name. */
int datafile_open(datafile *, const char *path);

/* An image holds any type of elements, another file the one of its header. */
bool datafile_holds(const datafile *, dtype);

/* Reads all elements, of a type that it holds, and closes the file. Where `take` returns false it
   has printed why, and its exit code is the one in *code. */
int datafile_read(datafile *, dtype, element_take take, void *user, const int *code);
void datafile_close(datafile *);

/* Elements of an array, `count` of them from the one of number `first` on, which is an exit code.
 */
typedef int (*datafile_give)(void *user, uint64_t first, size_t count, void *out);

typedef enum datafile_scale {
    DATAFILE_SCALE_IMAGE, /* 0 is black and maxval white, as in the image that was read */
    DATAFILE_SCALE_DATA,  /* the least finite element is black, and the greatest white */
    DATAFILE_SCALE_GIVEN
} datafile_scale;

typedef struct datafile_array {
    const char *name; /* an identifier */
    dtype type;
    int dims;
    int64_t size[3];
    int maxval; /* of an image */
    datafile_scale scale;
    pgm_scale given;
} datafile_array;

/* Whether a file of this kind can hold such an array; prints why not. */
int datafile_suits(const char *path, const datafile_array *);

/* What was written. */
typedef struct datafile_written {
    bool is_image;
    pgm_scale scale; /* of an image */
    values values;
} datafile_written;

/* Writes a file and ends its output, whose path it is. */
int datafile_write(output *, const char *path, const datafile_array *, datafile_give give,
                   void *user, datafile_written *);

/* The values alone. */
int datafile_look(const datafile_array *, datafile_give give, void *user, values *);

#endif
