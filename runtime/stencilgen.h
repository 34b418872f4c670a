/* stencilgen: from a short Lua spec to a CUDA kernel, while your program runs.
 *
 * A program opens a context, builds a kernel from a spec, and launches it on its own memory:
 *
 *     sg_context *context;
 *     sg_kernel *heat;
 *     if (sg_open(&context, NULL) != SG_OK ||
 *         sg_build(context, "heat13.lua", NULL, &heat) != SG_OK)
 *         complain(sg_error(context));
 *     sg_array arrays[2] = {{"u", {.data = u, .size = {nx, ny, nz}}},
 *                           {"u.next", {.data = u_next, .size = {nx, ny, nz}}}};
 *     sg_arguments arguments = {
 *         .struct_size = sizeof arguments, .arrays = arrays, .array_count = 2};
 *     sg_launch(heat, &arguments, stream);
 *
 * Axes: x (index 0) varies fastest; an array of a 3D grid is (nz, ny, nx) in C order. Sizes and
 * strides count elements, never bytes. The library prints nothing and never exits. It changes
 * neither the locale nor the handling of signals, and leaves the current CUDA context as it was.
 *
 * Errors: a function that can fail returns a status. If it fails, it leaves its results as they
 * were, and sg_error has the text (there may be none if an object or a place for a result is NULL).
 * Structs of options and results begin with struct_size, which the caller sets to their sizeof. In
 * structs of options, 0 is the default of every member.
 *
 * Threads: any thread may call any function with any context or kernel at any time, except sg_close
 * and sg_release, which are the caller's last use of the object.
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

/* Host memory. Works like realloc: size 0 frees and returns NULL; `old_size` is the size that `old`
 * was asked for with (0 for NULL); a result of NULL means that there is no memory. The function is
 * called from several threads and must not call the library. */
typedef void *(*sg_resize)(void *user, void *old, size_t old_size, size_t size);

typedef enum sg_log_level {
    SG_LOG_NOTE,   /* what was done and how long it took: "heat13: compiled in 161 ms" */
    SG_LOG_WARNING /* something works, but slower: the cache cannot be written, an entry is damaged
                    */
} sg_log_level;

/* Takes a line of text without a line feed, valid during the call. The function is called from
 * several threads and must not call the library. */
typedef void (*sg_log)(void *user, sg_log_level, const char *text);

typedef struct sg_options {
    size_t struct_size;
    const char *device; /* "cuda", "cpu", "none" (builds and compiles, but runs nothing), or "auto"
                           (also NULL): cuda if there is a GPU, else cpu */
    int device_index;   /* which GPU, as the driver counts */
    const char *nvrtc;  /* path of the NVRTC library; NULL: SG_NVRTC, else searched for */
    int threads;        /* of the cpu device and of checks; 0: one for each core */
    void *
        cuda_context; /* the caller's CUcontext to work in, which must outlive the sg_context. NULL:
                         the GPU's primary context, which the CUDA runtime and PyTorch use too */
    const char *cache;   /* folder of the cache of binaries, or "none"; NULL: SG_CACHE, else
                            stencilgen in XDG_CACHE_HOME, else in ~/.cache */
    int64_t cache_bytes; /* the cache stays below this; 0: 512 MiB */
    sg_resize resize;    /* all host memory but that of libraries below this one; NULL: realloc */
    void *resize_user;
    sg_log log; /* NULL: nobody listens */
    void *log_user;
    const char *database; /* file of tuning results, or "none"; NULL: SG_DATABASE, else
                             stencilgen/results.db in XDG_DATA_HOME, else in ~/.local/share */
} sg_options;

/* Opens a device. A call that fails also hands back a context, to read the error from; *out is NULL
 * only if there is no memory for one. `options` may be NULL. After the call only its cuda_context,
 * resize and log are used. */
SG_API sg_status sg_open(sg_context **out, const sg_options *options);

/* Closes a context; NULL is allowed. Kernels that are still held work until they are released. */
SG_API void sg_close(sg_context *);

/* The text of this thread's last error with this context: "file:line: error: …" if the error is
 * about a file; "" if there was no error. Valid until this thread's next call with the context. */
SG_API const char *sg_error(const sg_context *);

/* For handlers of signals that end the process: ends the C++ compilers that this process runs and
 * removes their temporary files. The function is async-signal-safe, and takes up to a few seconds
 * if a compiler does not end. The handler must then end the process: nothing can be compiled any
 * more. A process that is killed without this call leaves files that the next process removes. */
SG_API void sg_abandon(void);

typedef struct sg_device_info {
    size_t struct_size;
    const char *device;  /* "cuda", "cpu" or "none" */
    const char *name;    /* "NVIDIA H100 80GB HBM3"; "cpu, 4 cores"; "no device" */
    const char *arch;    /* "sm_90"; "cpu"; "none" */
    int multiprocessors; /* or cores used */
    int64_t memory;      /* bytes; 0: unknown, here and below */
    int64_t l2_cache;    /* bytes */
    int driver;          /* CUDA version of the driver, 13000 for 13.0 */
    double clock;        /* Hz, boosted */
    double memory_rate;  /* peak bytes a second of the device's memory */
} sg_device_info;

/* The strings are valid as long as the context. */
SG_API sg_status sg_device(sg_context *, sg_device_info *out);

/* ---- building -------------------------------------------------------------------------------- */

/* A parameter by its name. Of sg_build_options: compiled in as a constant, so that launches do not
 * take it. Of sg_arguments: its value in this launch. */
typedef struct sg_constant {
    const char *name;
    double value;
} sg_constant;

typedef struct sg_build_options {
    size_t struct_size;
    const char *text;     /* the spec itself; spec_path then only names it in messages */
    int index;            /* which of the file's specs, from 0; `name` chooses one by name */
    const char *schedule; /* constraints over the spec's: "register tile=32x8 coarsen=z16" */
    const char *arch; /* plan and compile for this architecture; NULL: the device's own; on the cpu
                         device the plan is for the processor, in text for sm_90 */
    int64_t size[3];  /* the grid to plan for, at most 2^48 points; 0: the device's default size */
    int source_only;  /* stop before compiling; the kernel cannot be launched */
    const sg_constant *constants;
    int constant_count;
    const sg_matrix *matrix; /* spmv: the matrix for which `auto` chooses format and algorithm, and
                                which the format `stencil` compiles in */
    int64_t steps;   /* of a stencil: how many steps sg_run will make at a time. With more than one,
                        `auto` may choose a kernel that makes several in a launch (see
                        sg_kernel_info.steps); 0: as 1, so that every launch is one step. A spec with
                        points is always planned for single steps */
    const char *gpu; /* plan for this board, "H200", also without it; NULL: the device's own, or
                        the usual one of `arch`; on the cpu device the processor. Known are T4,
                        A100, RTX 3090, RTX 4090, L40S, H100, H200, B200 and RTX 5090; case and
                        spaces do not count */
    const char *monitor; /* build the map of this monitor of the spec (stencilgen/monitors.h) in
                            place of its update; NULL: the update */
    const char *name;    /* of the file's specs the one of this name, in place of `index`; NULL: by
                            `index` */
} sg_build_options;

/* How many specs a file returns. Each call that takes a path reads the file once, so it may be a
 * pipe. Several calls about one pipe need its text. */
SG_API sg_status sg_count_specs(sg_context *, const char *spec_path, const char *text, int *out);

/* The index of the spec of this name. SG_ERROR_USAGE, with the names that the file has, if none has
 * it. */
SG_API sg_status sg_find_spec(sg_context *, const char *spec_path, const char *text,
                              const char *name, int *out);

/* Spec to kernel: load, plan, write, compile, load. A repeated call with the same spec and options
 * is fast: the context remembers its kernels (a changed file is read again), and the cache has the
 * binaries that any process compiled. Threads that want the same kernel wait for the first of them.
 * The cpu device runs kernels planned for any architecture. A GPU, or a context without a device,
 * compiles a kernel for another architecture but cannot launch it. `options` may be NULL. */
SG_API sg_status sg_build(sg_context *, const char *spec_path, const sg_build_options *options,
                          sg_kernel **out);

/* Releases the kernel of one successful sg_build or sg_load; NULL is allowed. Launches of the
 * kernel must be over. */
SG_API void sg_release(sg_kernel *);

/* Writes a launchable kernel to a file, which appears whole or not at all. A link is followed; a
 * replaced file keeps its mode. `device` "cuda": NVRTC compiles the kernel for its architecture;
 * "cpu": the file is for machines with this one's processor; NULL: the device of the kernel's
 * context ("cuda" if the context has none). */
SG_API sg_status sg_save(sg_kernel *, const char *path, const char *device);

/* Loads a kernel file, without Lua, NVRTC or a compiler. The kernel is as it was built, but
 * sg_check has no spec to compare it with. SG_ERROR_DATA if the file is damaged, was written by
 * another version of the library, or was compiled for another device (a cubin also runs on newer
 * GPUs of its generation). The file holds code that will run, on the device "cpu" in this process:
 * load only files that you trust. */
SG_API sg_status sg_load(sg_context *, const char *path, sg_kernel **out);

typedef enum sg_text {
    SG_TEXT_NAME,     /* of the spec */
    SG_TEXT_SHAPE,    /* "3D star of radius 2, 13 points" */
    SG_TEXT_MODEL,    /* what is computed, in canonical form, one fact in each line */
    SG_TEXT_PLAN,     /* "register tile=32x8 coarsen=z16 vec=1 time=1" */
    SG_TEXT_REASON,   /* why this plan */
    SG_TEXT_SOURCE,   /* the CUDA file */
    SG_TEXT_DTYPE,    /* "float" */
    SG_TEXT_BOUNDARY, /* "fixed", or one word for each axis and side */
    SG_TEXT_ARCH,     /* "sm_90": the architecture that the kernel was planned for */
    SG_TEXT_FAMILY,   /* "stencil", "system", "reduce", "scan", "merge", "spmv" */
    SG_TEXT_MEANING, /* SG_TEXT_MODEL without the spec's name and other facts that no kernel depends
                       on: tuning results are found by it. "" for a kernel from a file */
    SG_TEXT_POINTS   /* the CUDA file of the spec's points; "" if there are none */
} sg_text;

/* Valid as long as the kernel; never NULL. */
SG_API const char *sg_kernel_text(const sg_kernel *, sg_text which);

/* What the arrays of a kernel mean, and which call besides sg_launch takes the kernel. Several
 * families may have the same kind. */
typedef enum sg_kind {
    SG_KIND_GRID,   /* the fields of one grid: sg_run */
    SG_KIND_LISTS,  /* lists that only sg_launch takes */
    SG_KIND_REDUCE, /* lists: sg_reduce */
    SG_KIND_SCAN,   /* lists: sg_scan */
    SG_KIND_MERGE,  /* lists: sg_merge */
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
    size_t element_size; /* of the arithmetic: 4 or 8; sg_array_info has that of each array */
    int launchable;
    int arrays, parameters;     /* see sg_kernel_array, sg_kernel_parameter */
    double textbook_operations; /* a point: n multiplications and n − 1 additions; 0 if the update
                                   is not linear */
    double emitted_operations;  /* a point, as written in the source */
    double bytes_per_point;     /* the fewest that must cross device memory */
    int threads;                /* of a block */
    size_t shared_bytes;        /* of a block */
    int registers, local_bytes; /* of a thread, by the driver; −1 on the cpu device */
    int blocks_resident;        /* on a multiprocessor, by the driver; −1 on the cpu device */
    double compile_seconds;     /* of the binary in use, when it was compiled */
    int64_t size[3];            /* planned for */
    double occupancy;           /* resident threads over the most a multiprocessor holds; −1 on
                                   the cpu device */
    sg_origin origin;           /* of the binary in use, when the kernel was first built */
    const char *compiler;       /* of the binary in use: "NVRTC 13.0", "g++ 12.2.0"; "" if there is
                                   no binary; valid as long as the kernel */
    int steps;                  /* time steps that one sg_launch makes; more than 1 for stencil
                                   kernels that fuse steps. Those of a field that keeps its previous
                                   level are made by sg_run alone */
    const char *found;          /* how the plan was found: "measured at this size", "measured at
                                   512x512x512, the nearest", both followed by ", by the plans for
                                   the H100" if a plans file has it; "by the plans for the H100", "by
                                   the model", "by the model; results of stencilgen 0.0.9 are not
                                   used", "given by the schedule"; "" for a kernel from a file. Valid
                                   as long as the kernel */
    sg_kind kind;
    int point_sets; /* see sg_kernel_points */
    int monitors;   /* see sg_kernel_monitor */
} sg_kernel_info;
SG_API sg_status sg_kernel_facts(const sg_kernel *, sg_kernel_info *out);

typedef enum sg_role { SG_READ, SG_WRITE } sg_role;
typedef struct sg_array_info {
    size_t struct_size;
    const char *name;  /* "u", "u.prev", "u.next" */
    const char *field; /* "u" */
    sg_role role;
    int reads;    /* of a written array whose field is also read: the index of the array with the
                     field's current values; else −1 */
    int previous; /* the index of the array with its previous time level; −1 */
    int low[3], high[3]; /* how far reads reach below and above a point along each axis: a box at
                            the edge of the grid needs as many ghost cells */
    const char *dtype;   /* "float", "int64", "half" */
    size_t element_size;
    int updated; /* the kernel reads the array before it writes it, so its content matters */
    int same_as; /* index of an array that may share the memory of this written one; −1. Of a grid
                    the field's oldest level, which a point alone reads */
} sg_array_info;

/* The arrays of a launch, in the order of sg_arguments.grids. */
SG_API sg_status sg_kernel_array(const sg_kernel *, int index, sg_array_info *out);

/* The index of the array, or of the parameter, of this name; −1 if the kernel has none. */
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
    const void *data; /* PTX ends with a NUL that `size` does not count */
    size_t size;
    int registers, shared_bytes, local_bytes; /* of a cubin, as the assembler reports; −1 unknown */
    double seconds;                           /* NVRTC's time when it compiled the binary */
    const char *compiler;                     /* "NVRTC 13.0" */
    sg_origin origin;                         /* when the binary was first asked for */
} sg_binary;

/* Compiles the kernel's source with NVRTC for its architecture; needs no GPU. The data belong to
 * the kernel. SG_ERROR_COMPILER if there is no NVRTC; the text says what to do. */
SG_API sg_status sg_kernel_binary(sg_kernel *, sg_binary_kind, sg_binary *out);

/* ---- launches -------------------------------------------------------------------------------- */

/* An array of a launch: a field of a stencil's grid, or a list of another family. Lists are dense
 * and have extents of their own (docs/api.md has the table). */
typedef struct sg_grid {
    void *data;      /* cell (0,0,0), device memory */
    int64_t size[3]; /* extents; those of unused axes 0 or 1; the same for all grids of a stencil */
    int64_t stride[3]; /* elements from a cell to the next along an axis; [0] is 1; 0: dense */
} sg_grid;

/* An array by its name: "u", "u.prev", "u.next"; or "f", all components of a field f together. */
typedef struct sg_array {
    const char *name;
    sg_grid grid;
} sg_array;

typedef struct sg_arguments {
    size_t struct_size;
    const sg_grid *grids; /* one for each array of the kernel, in its order; or NULL and `arrays` */
    int grid_count;
    const double *parameters; /* one for each of the kernel's, in its order; NULL: defaults */
    int parameter_count;
    int64_t begin[3], end[3]; /* the box of cells to update, end excluded; all 0: every cell. A box
                                 needs an end above 0 along every axis of the kernel; lists have no
                                 box */
    void *temporary;          /* device memory for the launch to work in, aligned to 256 bytes; two
                                 launches at a time need two of them */
    size_t temporary_bytes;   /* at least what sg_temporary_bytes says */
    /* Where the spec asks for positions: the place of cell (0,0,0) in the whole grid, which may be
       below 0 where ghost cells come first; the cells of the whole grid (0: the grid's own size);
       and the number of the first step, from which sg_run counts on. */
    int64_t origin[3], global[3], step;
    const sg_array *arrays; /* instead of grids: every array of the kernel once, in any order */
    int array_count;
    const sg_constant *values; /* instead of parameters: in any order; those left out have their
                                  defaults */
    int value_count;
} sg_arguments;

/* The temporary memory that a launch with these arguments needs; only sizes matter. Most kernels
 * need none. Some kernels make many steps of sg_run in one launch if they have this memory; without
 * it sg_run makes several launches. */
SG_API sg_status sg_temporary_bytes(const sg_kernel *, const sg_arguments *, size_t *out);

/* One update of the box. A kernel that fuses steps makes sg_kernel_info.steps updates of the whole
 * grid instead; SG_ERROR_USAGE if it is given a box, or a grid too small for fused steps, or if a
 * field keeps its previous level (sg_run takes all three). The call is asynchronous on `stream`
 * (the cpu device computes before it returns) and allocates nothing. The bytes from the lowest to
 * the highest cell of a written array must not overlap those of any other array, and its strides
 * must not let two cells share memory. A written array may be the very grid that its same_as names.
 */
SG_API sg_status sg_launch(const sg_kernel *, const sg_arguments *, sg_stream stream);

/* Any number of updates, each of which reads what the one before wrote. The arrays of an inout
 * field swap roles after each launch, and so do its previous levels. A kernel that fuses steps
 * makes as many in a launch as it can, and single steps in a box or on a small grid. `final` (may
 * be NULL; one entry for each array) says where each array ends up: grids[final[i]], or
 * arrays[final[i]], holds the content of array i of the call. Cells outside the box keep their
 * values: the written arrays are first set to the current ones. A kernel of a spec with points is
 * run by sg_run_points. */
SG_API sg_status sg_run(const sg_kernel *, const sg_arguments *, int64_t steps, sg_stream stream,
                        int *final);

/* Waits for all work on a stream. */
SG_API sg_status sg_synchronize(sg_context *, sg_stream stream);

/* ---- diagnosing ------------------------------------------------------------------------------ */

/* Called once for each finding: what it is about ("driver", "NVRTC", "host compiler", …), whether
 * that is usable, and a text with path, version and the reason why it was picked, or with the cure.
 */
typedef void (*sg_finding)(void *user, const char *what, int usable, const char *text);
SG_API sg_status sg_doctor(const sg_options *options, sg_finding finding, void *user);

#ifdef __cplusplus
}
#endif

/* The rest of the library, by subject. */
#include "stencilgen/cache.h"
#include "stencilgen/checking.h"
#include "stencilgen/lists.h"
#include "stencilgen/matrix.h"
#include "stencilgen/memory.h"
#include "stencilgen/monitors.h"
#include "stencilgen/points.h"
#include "stencilgen/team.h"
#include "stencilgen/tuning.h"

#endif
