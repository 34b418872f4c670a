/* What all commands share: memory, exit codes, errors, standard output, progress, numbers for
   people, JSON, and the files that the command writes. */
#ifndef SG_CLI_COMMAND_H
#define SG_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
void warn(const char *file, const char *warning);

/* A log of sg_options: prints the library's warnings. */
void warn_library(void *unused, sg_log_level, const char *line);

/* EXIT_DONE, or prints the library's last error and returns its exit code. */
int complain_library(const sg_context *, sg_status);

/* The first error printed since the last call; NULL where there was none. */
const char *complaint_take(void);

/* From now on errors and warnings are kept for complaint_take, but not printed: another process
   speaks. */
void complain_silently(void);

/* Writes to standard output at once. A closed pipe or a full disk is printed as an error, and the
   result is EXIT_DATA. */
int say(const text *);

/* The first code that is not EXIT_DONE. */
int first_failure(int code, int later);

/* A line on standard error that the next one replaces; only on a terminal. */
void progress(const char *format, ...) SG_PRINTF(1, 2);
void progress_end(void);

/* ---- text for people ----------------------------------------------------------------------- */

/* Adds `begin` (NULL: `indent` spaces) and `string`, broken between words so that no line is longer
   than 100 columns, and ends the line. Further lines are indented by `indent`. */
void add_wrapped(text *, const char *begin, int indent, const char *string);

/* A text in the command's memory. */
const char *phrase(const char *format, ...) SG_PRINTF(1, 2);
const char *counted(int64_t count, const char *noun); /* as text_count */

/* "12.3 ms", "1.36 GB" (powers of 1000), "128x128x128". */
const char *in_seconds(double seconds);
const char *in_bytes(double bytes);
const char *in_extents(const int64_t *size, int dims);
/* "at 1700 to 1755 MHz", after `before`; "" where the numbers are not known. */
const char *in_range(const char *before, const char *unit, double least, double most);

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Indented, in valid UTF-8, with the same numbers under every locale. */
typedef struct json {
    text *out;
    int depth;
    bool follows; /* this object or array has an element already */
} json;

/* Adds members by a template: "name %s launch { steps %d seconds %g }". A member is a key and a
   value: %s is a string, null for NULL; %d, with any length, is a whole number, and %+d null where
   it is negative; %g is a number, null where it is not finite; %i is true or false. Brackets that
   one call opens another one may close. Elements of arrays have no keys. */
void json_add(json *, const char *members, ...) SG_PRINTF(2, 3);

/* A member whose key is known only while the program runs; in an array it is NULL. */
void json_open(json *, const char *key, char bracket);
void json_string(json *, const char *key, const char *value);
void json_number(json *, const char *key, double value);
void json_literal(json *, const char *key, const char *number); /* as it is written */
void json_integers(json *, const char *key, const int64_t *list, int count);

/* ---- files --------------------------------------------------------------------------------- */

/* Files appear whole or not at all, by the rules of base/io.h. Errors name the file. */
typedef struct output output;

/* All outputs of one call of the command: no two of them may be one file, and none a spec's or one
   that is kept. */
typedef struct output_set {
    char *const *specs; /* their paths */
    int spec_count;
    const char **kept; /* see output_keep */
    int kept_count;
    whole_place *places;
    int count;
} output_set;

/* No output of the set replaces this file: EXIT_USAGE if one would, and later ones fail. The path
   must live as long as the set. */
int output_keep(output_set *, const char *path);

/* Call it before long work: EXIT_DONE means that the file can be made. Several may be open. */
int output_begin(output **, output_set *, const char *path);
bool output_write(output *, const void *bytes, size_t count);
bool output_commit(output *); /* ends it, also where it fails */
void output_drop(output *);   /* leaves nothing behind; NULL is none */

/* For parts that others write: stretches the file to `bytes`, with a tail behind them, and says
   where it is until it is committed. NULL after an error, and for what is no file. */
const char *output_stretch(output *, uint64_t bytes, const void *tail, size_t tail_bytes);

/* Bytes that were written, from `offset` on. */
bool output_read(const output *, uint64_t offset, void *to, size_t count);

/* For a thread that writes files while the command goes on: the same without the command's memory
   and messages. A spare output may be opened and closed again and again; its path must live until
   then. errno, or 0. */
output *output_spare(void);
int output_open(output *, const char *path);
int output_add(output *, const void *bytes, size_t count);
int output_close(output *, bool keep); /* else it leaves nothing behind */

/* For files that appear together: all are put in their places; when each is there, or one is not,
   settling ends them, and without `keep` things are as they were. */
int output_place(output *); /* errno, or 0 */
const char *output_name(const output *);
void output_settle(output *, bool keep);

/* The last two steps at once. */
bool output_finish(output *, const void *bytes, size_t count);

/* Makes `folder` where there is none (its parent must exist). False after an error. */
bool output_folder(const char *folder);

/* "folder/name.suffix"; folder NULL is here. */
const char *output_path(const char *folder, const char *name, const char *suffix);

/* Signals that end the command, and exit(), remove the unfinished files first. Writing to a closed
   pipe or beyond a limit fails the write instead of ending the command. */
void output_guard_signals(void);

#endif
