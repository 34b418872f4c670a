/* A private folder for what must be a file for a moment, and programs run on such files.
   Takes: bytes, command lines. Makes: files under TMPDIR or /tmp that only this user can read, and
   that are gone again when the job fails or scratch_close is called. */
#ifndef SG_RUNTIME_CPU_SCRATCH_H
#define SG_RUNTIME_CPU_SCRATCH_H

#include "base/job.h"

typedef struct scratch {
    const char *folder;
} scratch;

/* Removes such folders of this user that a killed process left behind a day ago or earlier. */
void scratch_sweep(void);

scratch *scratch_open(job *);
void scratch_close(job *, scratch *); /* removes the folder with its files */

const char *scratch_path(job *, const scratch *, const char *name);

/* Makes a new file of the pieces laid end to end. Fails with FAULT_IO. */
typedef struct scratch_piece {
    const void *data;
    size_t size;
} scratch_piece;
void scratch_write(job *, const char *path, const scratch_piece *pieces, int count);

/* A whole file, NUL-terminated behind its size. */
void *scratch_read(job *, const char *path, size_t *size);

/* Runs a program, without a shell, until it ends; what it prints goes to the file `output`. Returns
   its exit code, 128 + the signal that ended it, or −1 with *error set where it could not start. */
int scratch_spawn(const char *const *command, const char *output, int *error);

#endif
