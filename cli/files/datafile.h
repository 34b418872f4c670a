/* Files of arrays: .npy of NumPy; for grids also the grey images of Netpbm (.pgm), and .vti files,
   which are only written. Takes: a path, or bytes. Makes: types, shapes and elements in pieces;
   text that reads back exactly; or a whole file. */
#ifndef SG_CLI_FILES_DATAFILE_H
#define SG_CLI_FILES_DATAFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/dtype.h"
#include "cli/command.h"

/* ---- elements -------------------------------------------------------------------------------- */

/* An element is one of base/dtype.h, as it lies in memory, and need not be aligned. */
typedef struct element_word {
    const char *numpy; /* "float32" */
    const char *code;  /* in .npy headers, after the byte order: "f4" */
    const char *vtk;   /* "Float32" */
} element_word;
extern const element_word element_words[DTYPE_COUNT];

/* Writes one element. Whole types round to nearest and stay in range; NaN becomes 0. */
void element_put(dtype, double value, void *to);

/* The shortest decimal that reads back as the same element; nan, inf and -inf. */
const char *element_text(dtype, const void *from);
/* The same as a JSON number, or as the strings "nan", "inf" and "-inf". */
void element_json(json *, const char *key, dtype, const void *from);

/* Takes a piece of an array; `offset` and `count` are bytes, and whole elements. */
typedef bool (*element_take)(void *user, uint64_t offset, const void *bytes, size_t count);

/* ---- values ---------------------------------------------------------------------------------- */

/* A summary of an array: the least and the greatest finite element, and how many elements are
   not finite. */
typedef struct values {
    dtype type;
    bool any;                             /* whether any element is finite */
    unsigned char minimum[8], maximum[8]; /* elements, if any is */
    int64_t nan, infinite;
} values;

void values_add(values *, const void *elements, size_t count);

/* "minimum 0.02, maximum 0.4, 0 NaN, 0 infinite" */
const char *values_text(const values *);
/* Adds keys to the open object. */
void values_json(const values *, json *);

/* ---- .npy ------------------------------------------------------------------------------------ */

/* Versions 1.0, 2.0 and 3.0; little endian; 1 to 4 dimensions, which may be without elements. */
enum { NPY_DIMS = 4 };

typedef struct npy {
    dtype type;
    int dims;
    int64_t size[NPY_DIMS]; /* x first, the reverse of the shape; unused axes 1 */
    bool fortran;           /* the first index varies fastest in the file */
    uint64_t data_offset;   /* where the elements begin */
    uint64_t data_bytes;
    bool is_part; /* data_offset and data_bytes are those of a part, and more may follow */
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
void npy_header(text *out, dtype, int dims, const int64_t size[NPY_DIMS]);

/* ---- .pgm ------------------------------------------------------------------------------------ */

/* A file is plain (P2) or raw (P5), of one or two bytes a sample. Elements go from 0 to maxval, x
   fastest, the top row first. The format: https://netpbm.sourceforge.net/doc/pgm.html. */
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
bool pgm_read_data(FILE *, const pgm *, dtype, element_take take, void *user, text *error);

/* The header of a raw file. */
void pgm_header(text *out, const pgm *);

/* The values of black and of white. */
typedef struct pgm_scale {
    double low, high;
} pgm_scale;

/* Elements as raw samples: `low` becomes 0 and `high` maxval, rounded to nearest; what lies below,
   and NaN, becomes 0, and what lies above maxval. Returns how many bytes they are; `out` has room
   for two a sample. */
size_t pgm_samples(dtype, const void *from, size_t count, int maxval, const pgm_scale *,
                   unsigned char *out);

/* ---- files ----------------------------------------------------------------------------------- */

/* Functions print their errors; results are exit codes. */

/* A .pvti file names the .vti files of a grid's parts, which ranks write. */
typedef enum datafile_kind {
    DATAFILE_NPY,
    DATAFILE_PGM,
    DATAFILE_VTI,
    DATAFILE_PVTI
} datafile_kind;

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
    int64_t size[NPY_DIMS]; /* x first; unused axes 1 */
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
    int parts;  /* as many such arrays, one behind the other; 0: one, without that dimension */
    int maxval; /* of an image */
    datafile_scale scale;
    pgm_scale given;
} datafile_array;

/* Of all elements: in memory, and in such a file. A file of VTK has no 16 bits: elements of them
   are floats there. */
uint64_t datafile_bytes(const datafile_array *);
uint64_t datafile_file_bytes(const char *path, const datafile_array *);
bool datafile_widens(const char *path, const datafile_array *);

/* Elements of 16 bits as floats. */
void datafile_widen(dtype, const void *elements, size_t count, float *out);

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

/* ---- VTK ------------------------------------------------------------------------------------- */

/* XML image data for ParaView: the text before and behind the elements, which are appended as they
   lie in memory, x fastest. Numbers of 16 bits, which VTK does not have, are floats.
   https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html */

enum { VTI_HEAD = 2048 };

/* Of the whole grid, whose cells are VTK's points. Its name needs no quoting in XML, extents are
   from 1. */
void vti_head(text *out, const datafile_array *);
extern const char vti_tail[];

/* A part: cells of the grid, end excluded. */
typedef struct vti_box {
    int64_t begin[3], end[3];
} vti_box;

/* Of a part, in which they are VTK's cells: pieces of points would have to overlap. Returns its
   length; uses none of the command's memory. */
size_t vti_piece_head(char out[VTI_HEAD], const datafile_array *whole, const vti_box *);

/* "wave_3.vti" of "wave.pvti". False where that is longer than `room`. */
bool vti_piece_path(const char *path, int number, char *out, size_t room);

/* The .pvti file of this path; the pieces lie in the same folder. */
void vti_index(text *out, const char *path, const datafile_array *whole, const vti_box *boxes,
               int count);

/* ---- images ---------------------------------------------------------------------------------- */

/* PNG, by libpng where the command was built with it. Safe in any thread. */

enum { COLOURS = 256 };

/* Red, green and blue of 0, the lowest value, to 255. False: there is no such map. */
bool colours_of(const char *map, unsigned char out[COLOURS][3]);

/* The name of map `index`; NULL behind the last one. */
const char *colours_name(int index);

enum { PICTURE_MOST = 0x7fffffff }; /* pixels along a side */

/* Why there are no PNG files; NULL: there are. */
const char *picture_missing(void);

/* False ends the image; the function itself knows why. */
typedef bool (*picture_put)(void *user, const void *bytes, size_t count);

/* The samples are numbers of colours, the top row first. False if `put` has ended it, or there is
   too little memory. */
bool picture_write(int64_t width, int64_t height, const unsigned char *samples,
                   unsigned char colours[COLOURS][3], picture_put put, void *user);

#endif
