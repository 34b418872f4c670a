/* stencilgen: from a short Lua spec to a CUDA kernel, while your program runs.
 *
 * A program opens a context, builds a kernel from a spec, and launches it on its own memory:
 *
 *     sg_context *context;
 *     sg_kernel *heat;
 *     if (sg_open(&context, NULL) != SG_OK ||
 *         sg_build(context, "heat13.lua", NULL, &heat) != SG_OK)
 *         complain(sg_error(context));
 *     sg_grid grids[2] = {{.data = u, .size = {nx, ny, nz}},
 *                         {.data = u_next, .size = {nx, ny, nz}}};
 *     sg_arguments arguments = {.struct_size = sizeof arguments, .grids = grids, .grid_count = 2};
 *     sg_launch(heat, &arguments, stream);
 *
 * Axes: x (index 0) varies fastest; an array of a 3D grid is (nz, ny, nx) in C order. Sizes and
 * strides count elements, never bytes. The library prints nothing, never exits, changes neither the
 * locale nor the handling of signals, and leaves the current CUDA context as it was.
 *
 * Errors: every function that can fail returns a status and leaves its results as they were; the
 * text is sg_error's (where an object or a place for a result is NULL there may be none). Structs
 * of options and results begin with struct_size, which the caller sets to their sizeof, and 0 is
 * the default for every member of the former.
 *
 * Threads: any thread may call any function with any context or kernel at any time, but for
 * sg_close and sg_release, which are the caller's last use of the object.
 */
#ifndef STENCILGEN_H
#define STENCILGEN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SG_VERSION "0.1.0"

#if defined(__GNUC__)
#define SG_API __attribute__((visibility("default")))
#else
#define SG_API
#endif

typedef enum sg_status {
    SG_OK,
    SG_ERROR_CHECK,    /* a kernel's result is wrong */
    SG_ERROR_USAGE,    /* an argument or an option */
    SG_ERROR_SPEC,     /* the spec; the text begins with file:line */
    SG_ERROR_PLAN,     /* the schedule cannot serve the spec; the text says why */
    SG_ERROR_DATA,     /* a data file or an array */
    SG_ERROR_IO,       /* a file cannot be read or written */
    SG_ERROR_DEVICE,   /* the driver or the device */
    SG_ERROR_COMPILER, /* NVRTC or the host compiler; the text holds its log */
    SG_ERROR_MEMORY    /* host memory */
} sg_status;

/* "SG_ERROR_SPEC". Valid for ever. */
SG_API const char *sg_status_name(sg_status);

/* The version of the library that runs, which may be newer than SG_VERSION of this header. */
SG_API const char *sg_version(void);

typedef struct sg_context sg_context;
typedef struct sg_kernel sg_kernel;
typedef struct sg_matrix sg_matrix;               /* sparse, on the host */
typedef struct sg_device_matrix sg_device_matrix; /* in a kernel's format, in device memory */
typedef struct sg_stream_handle *sg_stream; /* a CUstream or cudaStream_t; NULL: the default one */

/* ---- contexts ---------------------------------------------------------------------------- */

/* Host memory. Works like realloc: size 0 frees and returns NULL, `old_size` is what was asked for
 * `old` before (0 for NULL), NULL says that there is no memory. Called from several threads; must
 * not call the library. */
typedef void *(*sg_resize)(void *user, void *old, size_t old_size, size_t size);

typedef enum sg_log_level {
    SG_LOG_NOTE,   /* what was done and how long it took: "heat13: compiled in 161 ms" */
    SG_LOG_WARNING /* all is well but slower: the cache cannot be written, an entry is damaged */
} sg_log_level;

/* A line of text without its end, valid during the call. Called from several threads; must not call
 * the library. */
typedef void (*sg_log)(void *user, sg_log_level, const char *text);

typedef struct sg_options {
    size_t struct_size;
    const char *device; /* "cuda", "cpu", "none" (builds and compiles, but runs nothing), or "auto"
                           (also NULL): cuda where there is a GPU, else cpu */
    int device_index;   /* which GPU, as the driver counts */
    const char *nvrtc;  /* path of the NVRTC library; else SG_NVRTC, else searched for */
    int threads;        /* of the cpu device and of checks; 0: one a core */
    void *cuda_context; /* a CUcontext to work in, on its GPU; it is the caller's and outlives ours.
                           NULL: the GPU's primary one, which the CUDA runtime and PyTorch use too
                         */
    const char *cache;  /* folder of the binaries' cache, "none" to do without; NULL: SG_CACHE, else
                           stencilgen in XDG_CACHE_HOME, else in ~/.cache */
    int64_t cache_bytes; /* it is kept below this; 0: 512 MiB */
    sg_resize resize;    /* all host memory but what libraries below ours take; NULL: realloc */
    void *resize_user;
    sg_log log; /* NULL: nobody listens */
    void *log_user;
    const char *database; /* file of tuning results, "none" to do without; NULL: SG_DATABASE, else
                             stencilgen/results.db in XDG_DATA_HOME, else in ~/.local/share */
} sg_options;

/* Opens a device. Hands back a context also when it fails, to read the error from; NULL only when
 * there is no memory for one. `options` may be NULL; nothing of it is used after the call but
 * cuda_context, resize and log. */
SG_API sg_status sg_open(sg_context **out, const sg_options *options);

/* Closes a context; NULL is allowed. Kernels that are still held work until they are released. */
SG_API void sg_close(sg_context *);

/* The text of this thread's last error with this context, "file:line: error: …" where there is a
 * file; "" where there was none. Valid until this thread's next call with the context. */
SG_API const char *sg_error(const sg_context *);

typedef struct sg_device_info {
    size_t struct_size;
    const char *device;  /* "cuda", "cpu" or "none" */
    const char *name;    /* "NVIDIA H100 80GB HBM3"; "cpu, 4 cores"; "no device" */
    const char *arch;    /* "sm_90"; "cpu"; "none" */
    int multiprocessors; /* or cores used */
    int64_t memory;      /* bytes; 0 where unknown */
    int64_t l2_cache;    /* bytes; 0 where unknown */
    int driver;          /* CUDA version of the driver, 13000 for 13.0; 0 */
} sg_device_info;

/* Strings are valid as long as the context. */
SG_API sg_status sg_device(sg_context *, sg_device_info *out);

/* ---- building ------------------------------------------------------------------------------ */

/* A parameter of the spec that is to be a constant: compiled in, no longer asked for at launch. */
typedef struct sg_constant {
    const char *name;
    double value;
} sg_constant;

typedef struct sg_build_options {
    size_t struct_size;
    const char *text;     /* the spec itself; then spec_path only names it in messages */
    int index;            /* which of the file's specs, from 0 */
    const char *schedule; /* constraints over the spec's own: "register tile=32x8 coarsen=z16" */
    const char *arch; /* plan and compile for this architecture; NULL: the device's own, sm_90 on
                         the cpu device */
    int64_t size[3];  /* grid to plan for; 0: the default size of the device */
    int source_only;  /* stop before compiling; the kernel cannot be launched */
    const sg_constant *constants;
    int constant_count;
    const sg_matrix *matrix; /* spmv: what `auto` is to choose format and algorithm for, and what
                                a format stencil is to have compiled in */
    int64_t steps; /* of a stencil: how many steps sg_run will make at a time. With more than one,
                      `auto` may choose a kernel that makes several in a launch (see
                      sg_kernel_info.steps); 0: as 1, so that every launch is one step */
} sg_build_options;

/* How many specs a file returns. */
SG_API sg_status sg_count_specs(sg_context *, const char *spec_path, const char *text, int *out);

/* Spec to kernel: load, plan, write, compile, load. What was asked for before with the same spec
 * and options is at hand (a file is read again when it has changed), and a binary compiled before,
 * by any process, comes from the cache; threads that want the same one wait for the first. The
 * cpu device runs what was planned for any architecture; on a GPU, and without a device, a kernel
 * for another one is compiled but cannot be launched. `options` may be NULL. */
SG_API sg_status sg_build(sg_context *, const char *spec_path, const sg_build_options *options,
                          sg_kernel **out);

/* Ends the caller's hold; each successful sg_build and sg_load is one. NULL is allowed. Launches of
 * the kernel must be over. */
SG_API void sg_release(sg_kernel *);

/* Writes a launchable kernel to a file, which appears whole or not at all. `device`: "cuda" has it
 * compiled by NVRTC for its architecture, "cpu" is for machines with this one's processor, NULL is
 * the device of its context ("cuda" where that has none). */
SG_API sg_status sg_save(sg_kernel *, const char *path, const char *device);

/* Loads it again, without Lua, NVRTC or a compiler. The kernel is as it was built, but there is no
 * spec to sg_check it against. SG_ERROR_DATA where the file is damaged, written by another
 * version of the library, or compiled for something else than this context's device (a cubin also
 * runs on newer GPUs of its generation). The file holds code that will run, in
 * this process where the device is "cpu", whoever wrote it: load only files that you trust. */
SG_API sg_status sg_load(sg_context *, const char *path, sg_kernel **out);

typedef enum sg_text {
    SG_TEXT_NAME,     /* of the spec */
    SG_TEXT_SHAPE,    /* "3D star of radius 2, 13 points" */
    SG_TEXT_MODEL,    /* what is computed, canonical, a fact a line */
    SG_TEXT_PLAN,     /* "register tile=32x8 coarsen=z16 vec=1 time=1" */
    SG_TEXT_REASON,   /* why this plan */
    SG_TEXT_SOURCE,   /* the CUDA file */
    SG_TEXT_DTYPE,    /* "float" */
    SG_TEXT_BOUNDARY, /* "fixed", or one word an axis and side */
    SG_TEXT_ARCH,     /* "sm_90": what it was planned and written for */
    SG_TEXT_FAMILY    /* "stencil", "reduce", "scan", "merge", "spmv" */
} sg_text;

/* Valid as long as the kernel; never NULL. */
SG_API const char *sg_kernel_text(const sg_kernel *, sg_text which);

typedef enum sg_origin {
    SG_NOT_COMPILED, /* source_only */
    SG_COMPILED,     /* by this call */
    SG_FROM_CACHE,   /* the one on disk */
    SG_FROM_MEMORY,  /* another kernel of this context has the same binary */
    SG_FROM_FILE     /* sg_load */
} sg_origin;

typedef struct sg_kernel_info {
    size_t struct_size;
    int dims;
    int points;          /* of the shape */
    int radius;          /* the furthest tap */
    size_t element_size; /* 4 or 8 */
    int launchable;
    int arrays, parameters;     /* see sg_kernel_array, sg_kernel_parameter */
    double textbook_operations; /* a point: n multiplications and n − 1 additions */
    double emitted_operations;  /* a point, as written in the source */
    double bytes_per_point;     /* the fewest that must cross device memory */
    int threads;                /* a block */
    size_t shared_bytes;        /* a block */
    int registers, local_bytes; /* a thread, by the driver; −1 on the cpu device */
    int blocks_resident;        /* a multiprocessor, by the driver; −1 on the cpu device */
    double compile_seconds;     /* of the binary in use, when it was compiled */
    int64_t size[3];            /* planned for */
    double occupancy;           /* resident threads over the most a multiprocessor holds; −1 on
                                   the cpu device */
    sg_origin origin;           /* of the binary in use, when the kernel was first built */
    const char *compiler;       /* of the binary in use: "NVRTC 13.0", "g++ 12.2.0"; "" where there
                                   is none; valid as long as the kernel */
    int steps;                  /* of time that one sg_launch makes; 1 but for kernels of a stencil
                                   that fuse several */
    const char *found;          /* how the plan was found: "measured at this size", "measured at
                                   512x512x512, the nearest", "by the model", "given by the
                                   schedule"; "" of a kernel from a file. Valid as long as the
                                   kernel */
} sg_kernel_info;
SG_API sg_status sg_kernel_facts(const sg_kernel *, sg_kernel_info *out);

typedef enum sg_role { SG_READ, SG_WRITE } sg_role;
typedef struct sg_array_info {
    size_t struct_size;
    const char *name;  /* "u", "u.prev", "u.next" */
    const char *field; /* "u" */
    sg_role role;
    int reads;    /* a written array whose field is also read: index of the array of its current
                     values; else −1 */
    int previous; /* likewise of its previous time level, else −1 */
    int low[3], high[3]; /* how far reads reach below and above a point along each axis: the ghost
                            cells that a box at the edge of the grid lacks */
    const char *dtype;   /* "float", "int64" */
    size_t element_size;
    int updated; /* written, and read before that: its content counts */
    int same_as; /* index of an array that may be the same memory as this written one; −1 */
} sg_array_info;

/* The arrays of a launch, in the order of sg_arguments.grids. */
SG_API sg_status sg_kernel_array(const sg_kernel *, int index, sg_array_info *out);

/* The index of the array, or of the parameter, of this name; −1 where the kernel has none. */
SG_API int sg_kernel_find_array(const sg_kernel *, const char *name);
SG_API int sg_kernel_find_parameter(const sg_kernel *, const char *name);

typedef struct sg_parameter_info {
    size_t struct_size;
    const char *name;
    int has_default;
    double value; /* the default */
} sg_parameter_info;
SG_API sg_status sg_kernel_parameter(const sg_kernel *, int index, sg_parameter_info *out);

typedef enum sg_binary_kind { SG_BINARY_CUBIN, SG_BINARY_PTX } sg_binary_kind;
typedef struct sg_binary {
    size_t struct_size;
    const void *data; /* PTX is NUL-terminated, not counted in size */
    size_t size;
    int registers, shared_bytes, local_bytes; /* of a cubin, as the assembler reports; −1 unknown */
    double seconds;                           /* NVRTC's time, when it was compiled */
    const char *compiler;                     /* "NVRTC 13.0" */
    sg_origin origin;                         /* when it was first asked for */
} sg_binary;

/* Compiles the kernel's source with NVRTC for its architecture; needs no GPU. The data belong to
 * the kernel. SG_ERROR_COMPILER, with the cure in the text, where there is no NVRTC. */
SG_API sg_status sg_kernel_binary(sg_kernel *, sg_binary_kind, sg_binary *out);

/* ---- memory and launches ------------------------------------------------------------------- */

SG_API sg_status sg_alloc(sg_context *, size_t bytes, void **out);
SG_API void sg_free(sg_context *, void *memory); /* NULL is allowed */
/* Ordered with the default stream; a stream that does not wait for it is the caller's to
 * synchronise. */
SG_API sg_status sg_upload(sg_context *, void *to, const void *from, size_t bytes);
SG_API sg_status sg_download(sg_context *, void *to, const void *from, size_t bytes);

/* An array of a launch: a field of a stencil's grid, or a list of another family, whose arrays have
 * extents of their own (docs/api.md has the table) and are dense. */
typedef struct sg_grid {
    void *data;      /* cell (0,0,0), device memory */
    int64_t size[3]; /* extents; those of unused axes 0 or 1; the same for all grids of a stencil */
    int64_t stride[3]; /* elements from a cell to the next along an axis; [0] is 1; 0: dense */
} sg_grid;

typedef struct sg_arguments {
    size_t struct_size;
    const sg_grid *grids; /* one for each array of the kernel, in its order */
    int grid_count;
    const double *parameters; /* one for each of the kernel's, in its order; NULL: defaults */
    int parameter_count;
    int64_t begin[3], end[3]; /* the box of cells to update, end excluded; all 0: every cell, else
                                 every axis of the kernel counts; a list has no box */
    void *temporary;          /* device memory for the launch to work in, aligned to 256 bytes; two
                                 launches at a time need two of them */
    size_t temporary_bytes;   /* at least what sg_temporary_bytes says; its content is nobody's */
} sg_arguments;

/* The temporary memory that a launch with these arguments needs; only sizes are looked at. Most
 * kernels need none. Of a kernel that sg_run can make many steps with in one launch, it is what
 * that needs; without it sg_run works too, in several launches. */
SG_API sg_status sg_temporary_bytes(const sg_kernel *, const sg_arguments *, size_t *out);

/* One update of the box; of a kernel that fuses several steps (see sg_kernel_info.steps) so many,
 * of the whole grid. Asynchronous on `stream` (the cpu device computes before it returns), and
 * allocates nothing. SG_ERROR_USAGE where such a kernel is given a box, or a grid smaller than it
 * can fuse its steps on: sg_run takes any. The bytes from the lowest to the highest cell of a
 * written array must not overlap those of any other array, and its strides must not let two cells
 * share memory. */
SG_API sg_status sg_launch(const sg_kernel *, const sg_arguments *, sg_stream stream);

/* `steps` updates, any number, each reading what the one before wrote. The arrays of an inout field
 * swap roles after each launch, and so do its previous levels; a kernel that fuses steps makes as
 * many in a launch as it can, and single ones where there is a box or a small grid. `final` (may be
 * NULL; grid_count entries) tells for each array of the arguments which of the caller's grids holds
 * its content at the end: final[i] is an index into arguments.grids. Cells that are not updated
 * keep their value: the written arrays are first set to the current ones where the box is not the
 * whole grid. */
SG_API sg_status sg_run(const sg_kernel *, const sg_arguments *, int64_t steps, sg_stream stream,
                        int *final);

/* Waits for all work on a stream. */
SG_API sg_status sg_synchronize(sg_context *, sg_stream stream);

/* ---- lists: reduce, scan, merge -------------------------------------------------------------- */

/* sg_launch by the names of a family, with the same rules and errors. Elements are of the kernel's
 * dtype. Where `temporary` is too small the launch is refused; sg_reduce_bytes and its like say
 * what is enough, which never depends on the data. */

typedef struct sg_reduce_arguments {
    size_t struct_size;
    const void *input, *second; /* `second`: of a spec whose map takes two, such as a dot product */
    int64_t count;              /* elements of each */
    const int64_t *offsets; /* of a segmented spec: segment s is [offsets[s], offsets[s + 1]); not
                               decreasing, from 0 on, up to count */
    int64_t segments;
    void *result;             /* one element; segmented: one a segment */
    int64_t *index;           /* of argmin and argmax: where it is; −1 in an empty input */
    const double *parameters; /* NULL: defaults */
    int parameter_count;
    void *temporary;
    size_t temporary_bytes;
} sg_reduce_arguments;
SG_API sg_status sg_reduce(const sg_kernel *, const sg_reduce_arguments *, sg_stream stream);
SG_API sg_status sg_reduce_bytes(const sg_kernel *, int64_t count, int64_t segments, size_t *out);

typedef struct sg_scan_arguments {
    size_t struct_size;
    const void *input;
    void *output; /* may be the input */
    int64_t count;
    const double *parameters;
    int parameter_count;
    void *temporary;
    size_t temporary_bytes;
} sg_scan_arguments;
SG_API sg_status sg_scan(const sg_kernel *, const sg_scan_arguments *, sg_stream stream);
SG_API sg_status sg_scan_bytes(const sg_kernel *, int64_t count, size_t *out);

typedef struct sg_merge_arguments {
    size_t struct_size;
    const void *a, *b; /* sorted by the spec's order */
    int64_t a_count, b_count;
    void *output;                    /* a_count + b_count keys; equal ones of a before those of b */
    const void *a_values, *b_values; /* of a spec with values: one a key */
    void *output_values;
    const double *parameters;
    int parameter_count;
    void *temporary;
    size_t temporary_bytes;
} sg_merge_arguments;
SG_API sg_status sg_merge(const sg_kernel *, const sg_merge_arguments *, sg_stream stream);
SG_API sg_status sg_merge_bytes(const sg_kernel *, int64_t a_count, int64_t b_count, size_t *out);

/* ---- sparse matrices ------------------------------------------------------------------------- */

/* A matrix of doubles on the host, in which entries can be set and added to (a dictionary of keys),
 * also between uses. Rows and columns count from 0; there may be up to 2^61 of each. While a thread
 * changes a matrix, no other may use it; several may use it at a time. */
SG_API sg_status sg_matrix_new(sg_context *, int64_t rows, int64_t columns, sg_matrix **out);
/* The same from lists of entries, which are copied; those at one place are added up. */
SG_API sg_status sg_matrix_from(sg_context *, int64_t rows, int64_t columns, int64_t entries,
                                const int64_t *row, const int64_t *column, const double *value,
                                sg_matrix **out);

/* A matrix in device memory, as compressed rows. */
typedef struct sg_csr {
    size_t struct_size;
    int64_t rows, columns, entries;
    const void *offsets; /* rows + 1: row r has the entries offsets[r] to offsets[r + 1] − 1 */
    const void *column;  /* of each entry; ascending within a row, and none twice */
    const void *value;
    const char *index; /* dtype of offsets and columns: "int32" (also NULL) or "int64" */
    const char *dtype; /* of values: "double" (also NULL) or "float" */
} sg_csr;
/* The same of what lies in device memory already. Nothing is copied: the lists stay the caller's,
 * and as they are for as long as the matrix is used; entries of such a matrix cannot be set or
 * asked for one by one. Kernels look at all of it: SG_ERROR_DATA, with a row, where it is not what
 * sg_csr says. */
SG_API sg_status sg_matrix_from_device(sg_context *, const sg_csr *, sg_matrix **out);
/* From a Matrix Market file: coordinate or array; real, integer or pattern (each entry is 1);
 * general, symmetric, skew-symmetric or hermitian. SG_ERROR_DATA begins with file:line. */
SG_API sg_status sg_matrix_read(sg_context *, const char *path, sg_matrix **out);
/* Coordinate, real, general, exactly; the file appears whole or not at all. */
SG_API sg_status sg_matrix_write(const sg_matrix *, const char *path);
SG_API void sg_matrix_free(sg_matrix *); /* NULL is allowed */

/* SG_ERROR_USAGE where the matrix has no such row or column. An entry may be 0. */
SG_API sg_status sg_matrix_set(sg_matrix *, int64_t row, int64_t column, double value);
SG_API sg_status sg_matrix_add(sg_matrix *, int64_t row, int64_t column, double value);
/* 0 where there is no entry. */
SG_API sg_status sg_matrix_get(const sg_matrix *, int64_t row, int64_t column, double *out);
/* Every entry, by row and then by column, into lists as long as sg_matrix_facts says. A list may be
 * NULL where it is not wanted. */
SG_API sg_status sg_matrix_entries(const sg_matrix *, int64_t *row, int64_t *column, double *value);

typedef struct sg_matrix_info {
    size_t struct_size;
    int64_t rows, columns, entries;
    int64_t shortest_row, longest_row, empty_rows;
    double mean_row, row_deviation; /* entries of a row */
    int64_t diagonals;              /* that hold an entry */
    int64_t bandwidth; /* the largest |column − row| of an entry; 0 without entries */
    int symmetric;     /* a(i,j) = a(j,i) for all */
} sg_matrix_info;
SG_API sg_status sg_matrix_facts(const sg_matrix *, sg_matrix_info *out);

typedef struct sg_format_info {
    size_t struct_size;
    const char *format;  /* "csr" */
    const char *formula; /* the textbook's, in numbers stored: "2·nnz + M + 1" */
    double numbers;      /* its value for the matrix */
    int64_t bytes;       /* as it would be stored; −1 where it overflows */
    const char *refusal; /* why it is not offered: too large, or it cannot hold the matrix; NULL */
    int chosen;          /* the one that `auto` picks */
    const char *reason;  /* and why; NULL otherwise */
} sg_format_info;
/* Tells of every format with the kernel's widths, or with NULL for double values and 32-bit
 * indices. The strings are valid during the call of `format`. */
SG_API sg_status sg_matrix_formats(const sg_matrix *, const sg_kernel *,
                                   void (*format)(void *user, const sg_format_info *), void *user);

/* The matrix in the format, dtype and index width of an spmv kernel of the same context, in device
 * memory, for all kernels that store matrices alike. SG_ERROR_PLAN with the bytes in the text where
 * the format would need more than 16 times those of CSR and more than 1 GiB, and where 32 bits
 * cannot hold an index; nothing is allocated then; and where the kernel has a stencil compiled in
 * that more than half of the matrix's rows deviate from. SG_ERROR_DATA where a value is too large
 * for a float. */
SG_API sg_status sg_matrix_upload(const sg_matrix *, const sg_kernel *, sg_device_matrix **out);
SG_API void sg_device_matrix_free(sg_device_matrix *); /* NULL is allowed */

/* How a matrix came to the device. Large ones go there as csr and are converted there by kernels,
 * to stencil, dia, ell, sell and bcsr; others are converted by the host. The kernels are compiled
 * when they are first needed, which no other figure has in it. */
typedef struct sg_conversion_info {
    size_t struct_size;
    const char *format;    /* "sell"; valid for ever */
    int64_t bytes;         /* of its arrays */
    int on_device;         /* converted by kernels */
    double upload_seconds; /* of the host's arrays, made narrow where they are to be; 0: it lay
                              there */
    double
        convert_seconds; /* from csr to the format, both where it was converted; with allocating */
    double compile_seconds; /* until kernels were at hand; 0 where they were, or were not needed */
} sg_conversion_info;
SG_API sg_status sg_conversion_facts(const sg_device_matrix *, sg_conversion_info *out);

/* y = alpha·A·x + beta·y. With beta = 0 y is not read. What x holds in a column without entries
 * does not reach y, be it a NaN. A factor that the kernel has compiled in is the kernel's. */
typedef struct sg_spmv_arguments {
    size_t struct_size;
    const sg_device_matrix *matrix;
    const void *x;   /* columns of A, for each of the vectors; one after another */
    void *y;         /* rows of A, likewise */
    int64_t vectors; /* 0: 1 */
    double alpha, beta;
    void *temporary;
    size_t temporary_bytes;
} sg_spmv_arguments;
SG_API sg_status sg_spmv(const sg_kernel *, const sg_spmv_arguments *, sg_stream stream);
SG_API sg_status sg_spmv_bytes(const sg_kernel *, const sg_device_matrix *, int64_t vectors,
                               size_t *out);

/* ---- checking and measuring ---------------------------------------------------------------- */

typedef struct sg_check_options {
    size_t struct_size;
    int64_t size[3]; /* 0: the size planned for; of several steps, less where that is large */
    const double
        *parameters;     /* one for each; NULL: defaults, and a drawn value where there is none */
    uint64_t seed;       /* of the random data; 0: a fresh one */
    int64_t most_points; /* judge all points up to this many, else shell and sample; 0: 2^28 */
    int64_t steps; /* check what so many steps of sg_run leave; 0: one sg_launch, which may make
                      several too */
} sg_check_options;

typedef struct sg_check_result {
    size_t struct_size;
    int64_t points;        /* of the grid */
    int64_t judged;        /* compared with the reference */
    int64_t wrong;         /* beyond the bound, or in a guard cell */
    int64_t undecidable;   /* judged, but no bound could be had */
    double greatest_error; /* max |kernel − reference| / max |reference| */
    double of_bound;       /* max |kernel − reference| / the rounding bound; at most 1 is right */
    uint64_t seed;
    const char *first_wrong; /* "u.next at (3,0,5): 1.5 instead of 2.5", or ""; valid until the
                                thread's next call */
    int64_t steps;           /* made by the kernel, and by the reference */
    int64_t size[3];         /* of the grid, or of a call of lists */
} sg_check_result;

/* A launch, or several steps, on fresh random data in [-1, 1), outputs poisoned beforehand, guard
 * cells before and behind every array, compared with a float64 evaluation of the spec on the host,
 * step by step. What rounding may do in one step is carried on to the next. SG_ERROR_CHECK
 * where it is wrong; *out is filled then too. `options` may be NULL. */
SG_API sg_status sg_check(sg_kernel *, const sg_check_options *options, sg_check_result *out);

typedef struct sg_speed_options {
    size_t struct_size;
    int64_t size[3]; /* 0: the size planned for */
    const double *parameters;
    int repeats;   /* 0: enough for about half a second, 5 to 100 */
    int64_t steps; /* time sg_run of so many steps; 0: sg_launch */
} sg_speed_options;

typedef struct sg_speed {
    size_t struct_size;
    int64_t size[3];
    int repeats;
    double seconds; /* median of one launch, or of one run of the steps asked for */
    double fastest, slowest;
    double points; /* updated a second, in each step anew */
    double bytes;  /* a second: bytes_per_point for each of these points. Where several steps are
                      made between reading the grid and writing it, more than what moves */
    double copy_bytes; /* a second of a device copy of as many bytes as one step must move, read and
                          written, same run */
    double of_copy;    /* bytes / copy_bytes; more than 1 is out of reach of single steps */
    int64_t steps;     /* that a launch, or a run, makes */
} sg_speed;

/* Times launches, or runs of several steps, on random data beside a plain copy. */
SG_API sg_status sg_measure(sg_kernel *, const sg_speed_options *options, sg_speed *out);

/* ---- explaining ---------------------------------------------------------------------------- */

typedef struct sg_method_row {
    const char *method;
    const char *plan;     /* NULL where the method refuses */
    const char *refusal;  /* why; NULL otherwise */
    int chosen;           /* the one that `auto` picks */
    double textbook_tile; /* width T of the textbook's cubic input tile; 0: no tile (naive) */
    double textbook_operations_per_byte; /* by the textbook's count, at that tile */
    double textbook_limit;               /* towards which it goes as T grows */
    double loads_bytes_per_point;        /* by this plan: bytes loaded from global memory a point */
    double operations_per_byte;          /* textbook operations by those bytes */
    size_t shared_bytes;                 /* a block */
    int threads;                         /* a block */
    int registers;                       /* a thread, estimated */
    double estimated_seconds;
    const char *bound; /* what limits it by the model */
    const char *note;  /* of the other families: the textbook's count of its work; NULL */
} sg_method_row;

typedef struct sg_explanation {
    size_t struct_size;
    const char *name, *shape, *dtype, *boundary, *reason;
    int points;
    double textbook_operations, emitted_operations;
    double emitted_multiplications, emitted_additions, emitted_others;
    double bytes_per_point;
    int64_t size[3];
    const char *arch;
    int row_count;
    const sg_method_row *rows;
} sg_explanation;

/* What each method would do with a spec, and which one is chosen. Free with sg_explanation_free. */
SG_API sg_status sg_explain(sg_context *, const char *spec_path, const sg_build_options *options,
                            sg_explanation **out);
SG_API void sg_explanation_free(sg_explanation *);

/* ---- the candidates of tuning -------------------------------------------------------------- */

/* One thing that candidates differ in. */
typedef struct sg_axis {
    const char *name; /* "tile.x", "coarsen.z", "threads"; "method", "algorithm", "format" */
    const char *const *words; /* of the last three, what values stand for; NULL: they are numbers */
    int word_count;
} sg_axis;

typedef struct sg_candidate {
    const char *plan;         /* complete: `schedule` of sg_build_options makes it */
    double estimated_seconds; /* a step, by the planner's model; 0: none */
    const int *values;        /* by the space's axes; 0: does not apply */
    int threads;              /* a block */
    size_t shared_bytes;      /* a block */
} sg_candidate;

typedef struct sg_space_note {
    const char *value, *why; /* a value of the spec's `tune` that no candidate has: "coarsen=z7" */
} sg_space_note;

typedef struct sg_space {
    size_t struct_size;
    const char *family, *name, *dtype, *arch;
    int dims;
    int64_t size[3], steps; /* planned for */
    const char *usual;      /* the plan that a build makes, without regard to `tune` */
    int usual_index;        /* of the candidates; -1: not among them */
    int axis_count;
    const sg_axis *axes;
    int candidate_count;
    const sg_candidate *candidates;
    int note_count;
    const sg_space_note *notes;
} sg_space;

/* Every schedule of a spec that is worth trying for the options' size, steps and architecture,
 * under its schedule and theirs, and the values of its `tune`; the same list each time. Compiles
 * nothing. SG_ERROR_PLAN where none is left. Free with sg_space_free. */
SG_API sg_status sg_candidates(sg_context *, const char *spec_path, const sg_build_options *options,
                               sg_space **out);
SG_API void sg_space_free(sg_space *);

/* ---- tuning -------------------------------------------------------------------------------- */

typedef enum sg_search {
    SG_SEARCH_GUIDED,     /* by the planner's model, and what is learnt from what was measured */
    SG_SEARCH_EXHAUSTIVE, /* in the order of sg_candidates */
    SG_SEARCH_RANDOM
} sg_search;

/* One candidate's trial. NAN, or -1 of a whole number, is what is not known. */
typedef struct sg_evaluation {
    size_t struct_size;       /* set by the library */
    const char *plan;         /* as SG_TEXT_PLAN */
    const char *state;        /* "right", "wrong", "refused", "not compiled", "failed", "hung" */
    const char *reason;       /* for any but right */
    double seconds, spread;   /* median of its timings; the distance of the quartiles over it. Of
                                 one run of `steps` steps, or of one launch; where launches make
                                 several steps by the spec's own schedule, of one step */
    double estimated_seconds; /* the same by the planner's model */
    int registers, threads;   /* a thread; a block */
    int64_t shared_bytes;     /* a block */
    int64_t local_bytes;      /* a thread */
    double occupancy;
    int resumed; /* taken over from the sweep that goes on here */
} sg_evaluation;

/* How far a sweep is. The strings and `last` are valid during the call. */
typedef struct sg_tune_progress {
    size_t struct_size; /* set by the library */
    const char *name;   /* of the spec */
    int candidates, evaluations, most_evaluations;
    double seconds, budget;    /* since the call began; 0: there is none */
    int building;              /* candidates that are about to be built; 0 otherwise */
    const sg_evaluation *last; /* that has just ended; NULL where none has since the last call */
    const char *best;          /* the fastest right plan; NULL */
    double best_seconds;
    double usual_seconds; /* of the plan that builds took before; NAN */
} sg_tune_progress;

typedef struct sg_tune_options {
    size_t struct_size;
    const sg_build_options *build; /* the spec, size, steps, schedule, matrix …; NULL: defaults */
    sg_search search;
    uint64_t seed;   /* of a random search; 0: 1 */
    double budget;   /* seconds, after which no trial begins; 0: none */
    int evaluations; /* the most, those of a resumed sweep included; 0: 40, with a budget or an
                        exhaustive search all */
    int afresh;      /* do not resume a sweep that was interrupted */
    const double *parameters; /* one for each of the kernel's; NULL: as sg_check has them */
    /* Called by the caller's thread before and after every trial; other than 0 ends the sweep,
       which may be resumed. May be NULL. */
    int (*progress)(void *user, const sg_tune_progress *);
    void *user;
    const char *worker; /* a program that calls sg_tune_worker when its only argument is
                           "tune-worker". Candidates are launched in that process, so that one that
                           crashes or does not end is a result like others. NULL: in this one. Not
                           used with a matrix, nor in a CUDA context of the caller's */
    double limit;       /* seconds that a trial may take there before it is ended; 0: 120 */
} sg_tune_options;

typedef struct sg_tuning {
    size_t struct_size;
    const char *family, *name, *arch;
    int dims;
    int64_t size[3], steps;
    int candidate_count;
    int evaluation_count;
    const sg_evaluation *evaluations; /* in the order made */
    int best;                         /* the fastest right one of them; -1: none */
    int usual;      /* the plan that a build takes by the planner's model, which is tried also where
                       the spec's `tune` leaves it out; -1: not tried */
    int wrong;      /* how many gave wrong results: defects of the library */
    int resumed;    /* how many are of the sweep that was resumed */
    int finished;   /* the sweep ended by itself; else it was stopped, and may be resumed */
    double seconds; /* of this call */
    double drift;   /* the most by which a kernel that was timed again and again differed from its
                       first time, 0.01 is 1 % */
    const char *database; /* where the results are kept; "" : nowhere */
} sg_tuning;

/* Measures candidates of a spec on the context's device: each is built, several at a time, checked
 * against the reference on poisoned memory, and then timed, alone. What comes of each is kept in
 * the database of tuning results at once, and later builds take the fastest. A sweep that was
 * interrupted, by the callback or by the end of the process, goes on where it was. SG_ERROR_CHECK
 * where a candidate was wrong; the sweep went on, and *out is set then too. `options` may be NULL.
 * Free with sg_tuning_free. */
SG_API sg_status sg_tune(sg_context *, const char *spec_path, const sg_tune_options *options,
                         sg_tuning **out);
SG_API void sg_tuning_free(sg_tuning *); /* NULL is allowed */

/* What a worker does: makes the trials that its parent asks for through standard input, a socket,
 * until that closes. Returns the exit code. */
SG_API int sg_tune_worker(void);

/* ---- the cache ----------------------------------------------------------------------------- */

typedef struct sg_cache_info {
    size_t struct_size;
    const char *folder;  /* "" where there is none; valid as long as the context */
    const char *trouble; /* why it is not used, or not written to; NULL where it is. Valid until the
                            thread's next call */
    int64_t entries, bytes, most_bytes;
} sg_cache_info;
SG_API sg_status sg_cache_facts(sg_context *, sg_cache_info *out);

typedef struct sg_cache_entry {
    const char *file;    /* its name in the folder */
    const char *text;    /* "heat13, cubin for sm_90, NVRTC 13.0"; "" where it cannot be read */
    int64_t bytes;       /* of the file */
    int64_t used;        /* when last, in seconds since 1970 */
    const char *trouble; /* what is wrong with it, so that it will not be used; NULL: nothing */
} sg_cache_entry;

/* Tells of every entry, the one used last first. `verify`: their content is read and compared with
 * its checksum. The strings are valid during the call of `entry`. */
SG_API sg_status sg_cache_list(sg_context *, int verify,
                               void (*entry)(void *user, const sg_cache_entry *), void *user);

/* Removes every entry; says how many and their bytes (either may be NULL). */
SG_API sg_status sg_cache_clear(sg_context *, int64_t *entries, int64_t *bytes);

/* ---- tuning results ------------------------------------------------------------------------ */

/* What came of one plan of a spec at one size on one device. NAN, or −1 of a whole number, is what
 * is not known. Times are seconds, of one launch or of one sg_run of `steps` steps. */
typedef struct sg_result {
    size_t struct_size;             /* set by the library */
    const char *name, *family;      /* of the spec: "heat13", "stencil" */
    const char *model;              /* what it computes, as SG_TEXT_MODEL, without a plan's part */
    const char *key;                /* 64 hexadecimal digits, the same for all specs that mean so */
    const char *generator;          /* version of the library */
    const char *device;             /* "cuda", "cpu" */
    const char *device_name, *arch; /* of the cpu device the processor's name, and "cpu" */
    int multiprocessors;            /* or cores used */
    int64_t memory;                 /* bytes of the device */
    int driver;                     /* CUDA version, 13000; 0 */
    const char *compiler;           /* "NVRTC 13.0" */
    int64_t size[8];                /* numbers in the family's order; see docs/api.md */
    int size_count;
    int64_t steps;            /* made at a time */
    const char *plan;         /* as SG_TEXT_PLAN */
    const char *state;        /* "right", "wrong", "refused", "not compiled", "failed", "hung" */
    const char *reason;       /* for any but right */
    const double *seconds;    /* every timing, in the order taken; NULL where there is none */
    int repeats;              /* how many */
    double median, spread;    /* of them; the distance of the quartiles over the median */
    double estimated_seconds; /* by the planner's model */
    double compile_seconds, check_seconds;
    int registers;        /* a thread */
    int64_t shared_bytes; /* a block */
    int64_t local_bytes;  /* a thread */
    double occupancy;
    double clock_before, clock_after;             /* MHz */
    double temperature_before, temperature_after; /* degrees Celsius */
    double copy_seconds;                          /* of a copy of the same bytes in the same run */
    int64_t sweep;                                /* which it belongs to; 0: none */
    int evaluation;                               /* which of the sweep, from 1; 0 */
    int64_t taken;                                /* when, in milliseconds since 1970 */
} sg_result;

/* Tells of every result in the database, or of those of the specs of this name. SG_ERROR_IO where
 * there is a database that cannot be read. The strings are valid during the call of `result`. */
SG_API sg_status sg_results(sg_context *, const char *name,
                            void (*result)(void *user, const sg_result *), void *user);

/* ---- diagnosing ---------------------------------------------------------------------------- */

/* One finding a call: what ("driver", "NVRTC", "host compiler", …), whether it is usable, the text
 * with its path and version and why it was picked, or the cure. */
typedef void (*sg_finding)(void *user, const char *what, int usable, const char *text);
SG_API sg_status sg_doctor(const sg_options *options, sg_finding finding, void *user);

#ifdef __cplusplus
}
#endif

#endif
