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

#define SG_VERSION "0.2.0"

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

/* ---- contexts -------------------------------------------------------------------------------- */

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

/* For handlers of signals that end the process: ends the C++ compilers that this process runs and
 * removes their temporary files. Async-signal-safe; takes up to a few seconds where a compiler does
 * not end. The handler must end the process after it: nothing is compiled any more. A process that
 * is killed without it leaves files that the next one removes. */
SG_API void sg_abandon(void);

typedef struct sg_device_info {
    size_t struct_size;
    const char *device;  /* "cuda", "cpu" or "none" */
    const char *name;    /* "NVIDIA H100 80GB HBM3"; "cpu, 4 cores"; "no device" */
    const char *arch;    /* "sm_90"; "cpu"; "none" */
    int multiprocessors; /* or cores used */
    int64_t memory;      /* bytes; 0 where unknown */
    int64_t l2_cache;    /* bytes; 0 where unknown */
    int driver;          /* CUDA version of the driver, 13000 for 13.0; 0 */
    double clock;        /* Hz, boosted; 0 where unknown */
    double memory_rate;  /* bytes a second that its memory moves at the peak; 0 where unknown */
} sg_device_info;

/* Strings are valid as long as the context. */
SG_API sg_status sg_device(sg_context *, sg_device_info *out);

/* ---- building -------------------------------------------------------------------------------- */

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
    int64_t size[3];  /* grid to plan for, of at most 2^48 points; 0: the device's default size */
    int source_only;  /* stop before compiling; the kernel cannot be launched */
    const sg_constant *constants;
    int constant_count;
    const sg_matrix *matrix; /* spmv: what `auto` is to choose format and algorithm for, and what
                                a format stencil is to have compiled in */
    int64_t steps;   /* of a stencil: how many steps sg_run will make at a time. With more than one,
                        `auto` may choose a kernel that makes several in a launch (see
                        sg_kernel_info.steps); 0: as 1, so that every launch is one step */
    const char *gpu; /* plan for this board, "H200", also where it is not at hand; NULL: the
                        device's own, or the usual one of `arch`. Known are T4, A100, RTX 3090, RTX
                        4090, L40S, H100, H200, B200 and RTX 5090; case and spaces do not count */
} sg_build_options;

/* How many specs a file returns. A path is read once by each call that takes one, so that it may be
 * a pipe's; several calls about one pipe need its text. */
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

/* Writes a launchable kernel to a file, which appears whole or not at all, where a link points if
 * the path is one; a file that it replaces hands on its mode. `device`: "cuda" has it
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
    SG_TEXT_FAMILY,   /* "stencil", "reduce", "scan", "merge", "spmv" */
    SG_TEXT_MEANING   /* SG_TEXT_MODEL without what no kernel depends on, such as the spec's name,
                         and without what a plan adds: tuning results are kept by it. "" of a kernel
                         from a file */
} sg_text;

/* Valid as long as the kernel; never NULL. */
SG_API const char *sg_kernel_text(const sg_kernel *, sg_text which);

/* What the arrays of a kernel mean, and so which calls take it beside sg_launch. Several families
 * may be of a kind. */
typedef enum sg_kind {
    SG_KIND_GRID,   /* the fields of one grid: sg_run */
    SG_KIND_LISTS,  /* lists, by their names; no call but sg_launch knows them */
    SG_KIND_REDUCE, /* lists, as those of the others: sg_reduce */
    SG_KIND_SCAN,   /* sg_scan */
    SG_KIND_MERGE,  /* sg_merge */
    SG_KIND_PRODUCT /* a sparse matrix and its vectors: sg_spmv */
} sg_kind;

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
    double textbook_operations; /* a point: n multiplications and n − 1 additions; 0 of an update
                                   that is not linear */
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
                                   512x512x512, the nearest", either with ", by the plans for the
                                   H100" of a plans file; "by the plans for the H100", "by the
                                   model", "by the model; results of stencilgen 0.0.9 are not used",
                                   "given by the schedule"; "" of a kernel from a file. Valid as
                                   long as the kernel */
    sg_kind kind;
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

/* ---- memory and launches --------------------------------------------------------------------- */

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
                                 every axis of the kernel counts, and an end of 0 is refused; a
                                 list has no box */
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

/* ---- diagnosing ------------------------------------------------------------------------------ */

/* One finding a call: what ("driver", "NVRTC", "host compiler", …), whether it is usable, the text
 * with its path and version and why it was picked, or the cure. */
typedef void (*sg_finding)(void *user, const char *what, int usable, const char *text);
SG_API sg_status sg_doctor(const sg_options *options, sg_finding finding, void *user);

#ifdef __cplusplus
}
#endif

/* The rest, by what it is for. */
#include "stencilgen/cache.h"
#include "stencilgen/checking.h"
#include "stencilgen/lists.h"
#include "stencilgen/matrix.h"
#include "stencilgen/tuning.h"

#endif
