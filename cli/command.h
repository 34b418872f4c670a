/* What all commands share: exit codes, errors, standard output, progress.
   Takes: the text to show. Makes: lines on standard error and standard output. */
#ifndef SG_CLI_COMMAND_H
#define SG_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/buffer.h"
#include "runtime/stencilgen.h"

enum { EXIT_DONE, EXIT_WRONG, EXIT_USAGE, EXIT_DATA, EXIT_DEVICE };

/* The exit code for a status of the library. */
int exit_code(sg_status);

/* Prints "file: error: text" on standard error ("stencilgen: error: text" where file is NULL) and
   returns `code`. */
int complain(int code, const char *file, const char *format, ...) CLI_PRINTF(3, 4);

/* Prints "file: warning: text" on standard error. */
void warn(const char *file, const char *format, ...) CLI_PRINTF(2, 3);

/* A log of sg_options: prints the library's warnings. */
void warn_library(void *unused, sg_log_level, const char *line);

/* Prints the library's last error and returns its exit code. */
int complain_library(const sg_context *, sg_status);

/* The first error printed since the last call, for the caller to free; NULL where there was none.
 */
char *complaint_take(void);

/* Writes to standard output at once. A closed pipe or a full disk is an error: it is printed, and
   the result is EXIT_DATA instead of EXIT_DONE. */
int say(const buffer *);

/* The first code that is not EXIT_DONE. */
int first_failure(int code, int later);

/* A line on standard error that the next one replaces; only on a terminal. NULL clears it. */
void progress(const char *format, ...) CLI_PRINTF(1, 2);
void progress_end(void);

/* The likely slip of the pen among `count` words, or NULL. */
const char *nearest_word(const char *word, const char *const *words, size_t count);

#endif
