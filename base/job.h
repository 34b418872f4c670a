/* A job: the memory and the error of one piece of work, such as one build.
   Takes: an allocator. Makes: memory that lives until the job ends, and one error.
   Failing unwinds to job_run, so that no caller in between tests for it; what is not memory
   of the job (a file, a loaded module) is guarded by job_defer. */
#ifndef SG_BASE_JOB_H
#define SG_BASE_JOB_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

#if defined(__GNUC__)
#define SG_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define SG_PRINTF(text, first)
#endif

/* What went wrong. The public sg_status has the same values in the same order. */
typedef enum fault {
    FAULT_NONE,
    FAULT_CHECK,    /* a kernel's result is wrong */
    FAULT_USAGE,    /* an argument or an option of the caller */
    FAULT_SPEC,     /* the spec */
    FAULT_PLAN,     /* the schedule cannot serve the spec */
    FAULT_DATA,     /* a data file or array */
    FAULT_IO,       /* a file cannot be read or written */
    FAULT_DEVICE,   /* the driver or the device */
    FAULT_COMPILER, /* NVRTC or the host compiler */
    FAULT_MEMORY,   /* host memory */
} fault;

/* Works like realloc; size 0 frees. `old_size` is what was asked for `old` before (0 for NULL). */
typedef struct allocator {
    void *(*resize)(void *user, void *old, size_t old_size, size_t size);
    void *user;
} allocator;

extern const allocator allocator_libc;

typedef struct job job;

/* Runs `body` and returns what it failed with, or FAULT_NONE. On failure the deferred undos have
   been called, newest first. `*out` is the job, to read its error and results from; the caller ends
   it with job_end. NULL in `*out` (with FAULT_MEMORY) when not even the job could be had. */
fault job_run(const allocator *memory, void (*body)(job *, void *), void *argument, job **out);

/* Frees the job and all its memory; NULL is allowed. Deferred undos of a job that succeeded are
   dropped without being called. */
void job_end(job *);

/* Zeroed memory, aligned for any type, that lives as long as the job. Never NULL. */
void *job_alloc(job *, size_t size);
void *job_array(job *, size_t count, size_t element); /* the same, overflow checked */
/* Takes back what was allocated with this size: the next allocation of the same size has it. For
   what is tried thousands of times, and of one size. */
void job_drop(job *, void *memory, size_t size);
/* The list with room for one element more than `count`: copied to twice the room whenever `count`
   is a power of two. */
void *job_grow(job *, void *list, size_t count, size_t element);
char *job_copy(job *, const char *text, size_t length); /* NUL-terminated copy */
char *job_string(job *, const char *text);              /* of all of it; NULL: NULL */
char *job_print(job *, const char *format, ...) SG_PRINTF(2, 3);

/* Calls undo(what) if the job fails later on, unless job_keep(what) comes first; job_undo(what)
   calls it at once instead. An undo must not fail the job itself. */
void job_defer(job *, void (*undo)(void *), void *what);
void job_keep(job *, void *what);
void job_undo(job *, void *what);

/* Ends the work with an error. file may be NULL and line 0 where there is none. */
noreturn void job_fail(job *, fault, const char *file, int line, const char *format, ...)
    SG_PRINTF(5, 6);
noreturn void job_vfail(job *, fault, const char *file, int line, const char *format, va_list)
    SG_PRINTF(5, 0);

/* Ends a job that failed, and fails with its error; NULL is one that there was no memory for. */
noreturn void job_fail_as(job *, job *failed);

/* Runs `body` as a job within this one, so that its failure is an answer, *out; for want of memory
   this one fails too. The inner job ends by job_inner_end, or when this one fails. */
job *job_inner(job *, void (*body)(job *, void *), void *argument, fault *out);
void job_inner_end(job *, job *inner);

/* While `escape` is set, failing calls escape(data) instead of unwinding to job_run; it must not
   return, and whoever set it ends with job_rethrow once back on its own ground. This is how an
   error crosses an interpreter's frames. */
void job_set_escape(job *, void (*escape)(void *data), void *data);
bool job_failed(const job *);
noreturn void job_rethrow(job *);

/* The error: file (or NULL), line (or 0), text; and "file:line: error: text" as a whole. */
const char *job_error_file(const job *);
int job_error_line(const job *);
const char *job_error_text(const job *);
const char *job_error(const job *);

/* A whole error as a part of another one: without "error: " at its beginning. */
const char *job_error_inside(const char *error);

const allocator *job_allocator(const job *);

#endif
