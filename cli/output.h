/* The files that the command writes, by the rules of base/io.h: whole or not at all.
   Takes: paths and bytes. Makes: the files, or errors on standard error that name them. */
#ifndef SG_CLI_OUTPUT_H
#define SG_CLI_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/io.h"

typedef struct output output;

/* All outputs of one call of the command: no two of them may be one file. */
typedef struct output_set {
    whole_place *places;
    int count;
} output_set;

/* Before long work: after EXIT_DONE the file can be made. Several may be open at a time. */
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

/* A signal that ends the command takes the unfinished files away first, and so does exit(); writing
   to a closed pipe or beyond a limit is an error of the write. */
void output_guard_signals(void);

#endif
