/* What all commands share: memory, exit codes, errors, standard output, progress, numbers for
   people and the files that the command writes. */
#ifndef SG_CLI_COMMAND_H
#define SG_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "base/io.h"
#include "base/text.h"
#include "runtime/stencilgen.h"

enum { EXIT_DONE, EXIT_WRONG, EXIT_USAGE, EXIT_DATA, EXIT_DEVICE };

/* ---- memory -------------------------------------------------------------------------------- */

/* The command is one job. Its memory lives until the job ends, so nobody frees it. Running out of
   memory ends the command with exit code 4, so nobody tests for NULL. */
job *command_memory(void);
text new_text(void);
char *new_copy(const char *string);            /* NULL of NULL */
void *new_array(size_t count, size_t element); /* zeroed */

/* A list of `count` elements with room for one more: the same list or a longer copy. A list begins
   as NULL and grows only by this function. */
void *longer_list(void *list, int count, size_t element);

/* Ends the job; the next use begins another. */
void forget_everything(void);

/* Zeroed memory for large pieces of files. Never NULL; freed with free(). */
void *must_alloc(size_t count, size_t element);

/* ---- errors and output --------------------------------------------------------------------- */

/* The exit code for a status of the library. */
int exit_code(sg_status);

/* Prints "file: error: text" on standard error ("stencilgen: error: text" where file is NULL) and
   returns `code`. */
int complain(int code, const char *file, const char *format, ...) SG_PRINTF(3, 4);

/* Prints "file: warning: text" on standard error. */
void warn(const char *file, const char *format, ...) SG_PRINTF(2, 3);

/* A log of sg_options: prints the library's warnings. */
void warn_library(void *unused, sg_log_level, const char *line);

/* Prints the library's last error and returns its exit code. */
int complain_library(const sg_context *, sg_status);

/* The first error printed since the last call; NULL where there was none. */
const char *complaint_take(void);

/* Writes to standard output at once. A closed pipe or a full disk is printed as an error, and the
   result is EXIT_DATA. */
int say(const text *);

/* The first code that is not EXIT_DONE. */
int first_failure(int code, int later);

/* A line on standard error that the next one replaces; only on a terminal. */
void progress(const char *format, ...) SG_PRINTF(1, 2);
void progress_end(void);

/* ---- text for people ----------------------------------------------------------------------- */

/* Breaks `string` between words so that no line is longer than `width` columns. The first line
   begins at column `indent`, and the others are indented by as much. */
void add_wrapped(text *, const char *string, int indent, int width);

/* "12.3 ms", "1.36 GB" (powers of 1000), "128x128x128". */
void add_seconds(text *, double seconds);
void add_bytes(text *, double bytes);
void add_extents(text *, const int64_t *size, int dims);

/* ---- files --------------------------------------------------------------------------------- */

/* Files appear whole or not at all, by the rules of base/io.h. Errors name the file. */
typedef struct output output;

/* All outputs of one call of the command: no two of them may be one file, and none a spec's. */
typedef struct output_set {
    char *const *specs; /* their paths */
    int spec_count;
    whole_place *places;
    int count;
} output_set;

/* Call it before long work: EXIT_DONE means that the file can be made. Several may be open. */
int output_begin(output **, output_set *, const char *path);
bool output_write(output *, const void *bytes, size_t count);
bool output_commit(output *); /* ends it, also where it fails */
void output_drop(output *);   /* leaves nothing behind; NULL is none */

/* The last two steps at once. */
bool output_finish(output *, const void *bytes, size_t count);

/* Makes `folder` where there is none (its parent must exist). False after an error. */
bool output_folder(const char *folder);

/* "folder/name.suffix"; folder NULL is here. */
char *output_path(const char *folder, const char *name, const char *suffix);

/* Signals that end the command, and exit(), remove the unfinished files first. Writing to a closed
   pipe or beyond a limit fails the write instead of ending the command. */
void output_guard_signals(void);

#endif
