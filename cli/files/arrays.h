/* The arrays of `run`. Takes: a kernel, --input, --values and --output. Makes: device memory filled
   from files, and files from device memory; the fields of a grid and lists alike.
   What fails has been printed; results are exit codes. */
#ifndef SG_CLI_FILES_ARRAYS_H
#define SG_CLI_FILES_ARRAYS_H

#include "cli/files/datafile.h"
#include "cli/session.h"

/* ---- initial fields from expressions: safe in any thread, nothing is printed ----------------- */

typedef struct initial {
    const char *name; /* of the array, for errors: "--init u" */
    const char *expression;
    dtype type;
    int64_t size[3]; /* of the grid; unused axes 1 */
    int64_t begin[3], end[3];
} initial;

/* The elements of a box, dense, x fastest. False ends the work. */
typedef bool (*initial_take)(void *user, const int64_t begin[3], const int64_t end[3],
                             const unsigned char *elements);

/* Hands on all cells in pieces, which follow each other in a dense array of the box. SG_OK also
   where `take` ends it. */
sg_status initial_each(sg_context *, const initial *, initial_take take, void *user);

/* ---- the arrays ------------------------------------------------------------------------------ */

typedef struct array {
    sg_array_info info;
    dtype type;
    const char *input; /* the file to read; NULL */
    const char *init;  /* the expression of --init; NULL */
    int copies;     /* a previous level without a file: the array of the current one; else −1 */
    int parts;      /* the input has as many components, of which this is one; 0: it is the array */
    bool is_values; /* of a merge: given by --values and --output-values */
    datafile file;
    int dims;
} array;

/* Whether the command line says what it begins with. */
static inline bool array_is_given(const array *a) {
    return a->input != NULL || a->init != NULL;
}

static inline bool array_is_written(const array *a) {
    return a->info.role == SG_WRITE;
}

/* An output: a file, and the item that is written to it. */
typedef struct array_output {
    int item;          /* or the first of several components, … */
    const char *whole; /* … which the file holds under this name; NULL */
    int parts;         /* how many; */
    int *part;         /* the item of each */
    const char *path;
    bool has_range; /* of an image */
    pgm_scale range;
    output *file; /* NULL: not open */
    bool saved;
    datafile_written written;
} array_output;

typedef struct arrays {
    session *session;
    const char *spec;
    sg_kernel_info info;
    const char *name; /* of the kernel; lives as long as `plan` */
    bool is_grid;     /* else lists */
    sg_kernel *plan;  /* built without a binary, to know the arrays */
    array *items;     /* those of the kernel; for spmv without the matrix's */
    int count;
    sg_grid *grids; /* one for each item */
    array_output *outputs;
    int output_count;
    output_set output_set;
    int64_t size[3];         /* to plan for: the grid, or the elements */
    const char *matrix_path; /* of spmv */
    sg_matrix *matrix;
    sg_matrix_info matrix_info;
    sg_conversion_info conversion; /* how it came to the device */
    bool has_image;                /* an input is one */
    int maxval;                    /* of the first image read; 255 */
} arrays;

/* Matches the files with the arrays, opens the inputs, finds all extents, and opens the outputs,
   unless another process writes them. */
int arrays_open(arrays *, session *, const char *spec, bool with_outputs);
/* The array in whose memory the kernel's array of that number lies: its own, or that of another
   level of its field, where new values may be written in place. */
int arrays_place(const arrays *, const sg_kernel *, int index);

/* Frees the memory of so many grids, some of which have the same. */
void grids_free(sg_context *, const sg_grid *, int count);

/* Allocates all arrays, as the kernel can have them, and reads the inputs. */
int arrays_load(arrays *, const sg_kernel *);
/* Writes the outputs, or ends those whose elements ranks have written and summarised; adds
   `outputs`, `values` and `not_written` to `j`, and the same to `text`. */
int arrays_save(arrays *, bool has_elements, json *j, text *out);
/* For ranks that write the elements: writes what stands before and behind them, and says where the
   file is until arrays_save, and where in it the elements begin. NULL after an error. */
const char *arrays_frame(const arrays *, array_output *, uint64_t *offset);
/* Prints the results of a reduction that no --output names. */
int arrays_print(arrays *, json *j, text *out);
void arrays_close(arrays *);

/* The item of this name, or −1. */
int arrays_find(const arrays *, const char *name);
bool arrays_is(const arrays *, sg_kind);

/* Whether what the item holds after a step is a part of the run's state: what steps change, and
   results that no step reads, which nothing else has if a restart has no step left to make. */
bool arrays_remains(const arrays *, int item);

/* The bytes of an element. */
static inline size_t arrays_cell(const arrays *a, int item) {
    return dtype_words[a->items[item].type].bytes;
}

/* Describes an item for a file. */
void arrays_describe(const arrays *, int item, datafile_array *out);

/* Downloads elements of an item, for datafile_write and datafile_look. */
typedef struct array_reading {
    const arrays *arrays;
    int item;
    const char *whole; /* all components of this name, of which the item is the first; NULL */
} array_reading;
int arrays_download(void *reading, uint64_t first, size_t count, void *out);

/* Looks for NaN and infinite values among the newest of the written fields; *item is the first that
   has some, or −1. Before the first step only those have values that are also read. */
int arrays_find_nan(const arrays *, bool began, int *item);

/* The item that an output of this name shows: a field, or its previous level; or −1. */
int arrays_find_output(const arrays *, const char *name);

/* Parts of arrays_open and arrays_close. */
int arrays_match(arrays *);   /* files with arrays */
int arrays_measure(arrays *); /* opens the inputs; all extents */
int arrays_read_matrix(arrays *);
int arrays_match_outputs(arrays *);
int arrays_open_outputs(arrays *);
void arrays_close_outputs(arrays *);

/* The name of a component, "f[2].prev" of "f.prev", and back; number 0: the name is of none. */
const char *components_name(const char *whole, int number);
const char *components_title(const char *name, int *number);
/* Of an input that holds all components of a grid of so many dimensions, leaves that of the item.
 */
int components_cut(array *, int dims);
/* Downloads elements of all components. */
int components_download(const array_reading *, uint64_t first, size_t count, void *out);

/* What files may be given for, or written from: "c, u, u.prev"; "nothing". */
const char *arrays_names(const arrays *, bool reads);
/* Prints which names there are. */
int arrays_unknown(const arrays *, const char *option, const char *name, bool reads);

#endif
