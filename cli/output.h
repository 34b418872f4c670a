/* Files that appear whole or not at all: written beside their place, then moved into it.
   Takes: a path and bytes. Makes: the file, or an error on standard error that names it. */
#ifndef SG_CLI_OUTPUT_H
#define SG_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct output output;

/* NULL after an error. One output is open at a time. What is no regular file (a pipe, a terminal)
   is written as it stands. */
output *output_begin(const char *path);
bool output_write(output *, const void *bytes, size_t count);
bool output_commit(output *); /* frees it, also where it fails */
void output_drop(output *);   /* leaves nothing behind */

/* The three steps at once. */
bool output_file(const char *path, const void *bytes, size_t count);

/* Makes `folder` where there is none (its parent must exist). False after an error. */
bool output_folder(const char *folder);

/* "folder/name.suffix"; folder NULL is here. The caller frees it. */
char *output_path(const char *folder, const char *name, const char *suffix);

/* A signal that ends the command takes the unfinished file away first; writing to a closed pipe or
   beyond a limit is an error of the write. */
void output_guard_signals(void);

#endif
