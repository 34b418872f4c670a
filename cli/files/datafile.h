/* Files of arrays: .npy; for grids also images (.pgm), and .vti files, which are only written.
   Takes: a path. Makes: type and shape, and the elements in pieces; or a whole file of them.
   Functions print their errors; results are exit codes. */
#ifndef SG_CLI_FILES_DATAFILE_H
#define SG_CLI_FILES_DATAFILE_H

#include "cli/command.h"
#include "cli/files/formats.h"

typedef enum datafile_kind { DATAFILE_NPY, DATAFILE_PGM, DATAFILE_VTI } datafile_kind;

/* By the extension of a path; without one it is .npy. */
datafile_kind datafile_kind_of(const char *path);

/* Refuses unknown extensions, and prints the known ones: a .png would otherwise be a .npy file by
   another name. Pipes and devices may have any name. */
int datafile_judge_name(const char *path, bool reads);

typedef struct datafile {
    const char *path;
    FILE *file; /* NULL: not open */
    datafile_kind kind;
    npy npy;
    pgm pgm;
    int dims;
    int64_t size[3]; /* x first; unused axes 1 */
} datafile;

/* Opens a file and reads its header. A file that begins like an image is one, under any name. */
int datafile_open(datafile *, const char *path);

/* An image serves any type of elements; other files serve the type of their header. */
bool datafile_holds(const datafile *, dtype);

/* Reads all elements as a type that the file holds, and closes the file. If `take` returns false,
   it has printed why, and *code is its exit code. */
int datafile_read(datafile *, dtype, element_take take, void *user, const int *code);
void datafile_close(datafile *);

/* Fills `out` with `count` elements of an array from number `first` on. Returns an exit code. */
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

/* What stands before and behind the elements in such a file, which lie between them as in memory, x
   fastest: for files whose parts are written separately. Not of an image. */
void datafile_frame(const char *path, const datafile_array *, text *head, text *tail);

/* What datafile_write has written. */
typedef struct datafile_written {
    bool is_image;
    pgm_scale scale; /* of an image */
    values values;
} datafile_written;

/* Writes an array and ends the output; `path` is the output's. */
int datafile_write(output *, const char *path, const datafile_array *, datafile_give give,
                   void *user, datafile_written *);

/* Looks at the values without writing them. */
int datafile_look(const datafile_array *, datafile_give give, void *user, values *);

#endif
