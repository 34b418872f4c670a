/* A private folder for what must be a file for a moment. Takes: bytes. Makes: files that only this
   user can read, and that are gone again when the job fails or scratch_close is called, and when
   sg_abandon is. What a killed process left behind is removed by the next that opens a folder at
   the same place (runtime/compile/scratch.h says how it is known). */
#ifndef SG_RUNTIME_COMPILE_SCRATCH_H
#define SG_RUNTIME_COMPILE_SCRATCH_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/job.h"
#include "runtime/compile/command.h"

/* Where: in the cache's folder, which nobody else writes to, where there is one and it can be used;
   else in TMPDIR, else /tmp. */
typedef struct scratch_place {
    const char *cache; /* NULL: none */
    atomic_bool swept;
} scratch_place;

typedef struct scratch {
    const char *folder;      /* an absolute path without links */
    const char *parent;      /* TMPDIR as the user has it; NULL: the folder is in the cache's */
    int above, inside, mark; /* open: the folder above, the folder, its mark */
    char name[PENDING_NAME]; /* in the folder above */
    pending *pending;
} scratch;

/* Fails with FAULT_IO, and says what is wrong with TMPDIR. */
scratch *scratch_open(job *, scratch_place *);
void scratch_close(job *, scratch *); /* removes the folder with its files */

/* A path of one of the names in cpu_scratch_mark.h. */
const char *scratch_at(job *, const scratch *, const char *name);

/* Makes a new file of the pieces laid end to end. Fails with FAULT_IO. */
typedef struct scratch_piece {
    const void *data;
    size_t size;
} scratch_piece;
void scratch_write(job *, const scratch *, const char *name, const scratch_piece *pieces,
                   int count);

/* A whole file, NUL-terminated behind its size. */
void *scratch_read(job *, const scratch *, const char *name, size_t *size);

/* After a program has failed, with that exit code (host_command's) and text: fails with FAULT_IO
   where the reason is that the folder has no room left. */
void scratch_demand_room(job *, const scratch *, int code, const char *printed);

/* What tells a scratch folder from all others, and removing one. Takes: open folders. A scratch
   folder has a name of our own, belongs to this user alone, and holds a mark: a file that says the
   folder's name, so that no copy and no renamed folder passes for one. The mark is locked for as
   long as anybody uses the folder: a process of ours, or a compiler that outlived it. */

/* How names of such folders begin; six characters follow. */
#define SCRATCH_PREFIX "stencilgen-scratch-"

/* The files that this library makes in such a folder. */
#define SCRATCH_MARK "stencilgen-scratch"
#define SCRATCH_SOURCE "kernel.cpp"
#define SCRATCH_OBJECT "kernel.so"
#define SCRATCH_ROOM "room"

/* Marks a folder that was made just now. Hands out the open and locked mark, to be closed with the
   folder. Errno, or 0. */
int scratch_mark(int folder, const char *name, int *mark);

/* Removes the files that this library and its compilers make, closes *mark, and removes the folder
   unless something else is in it. Safe in a handler of signals. */
void scratch_clear(int parent, int folder, int *mark, const char *name);

/* Removes such folders that nobody uses any more: those that nobody holds locked, and where locks
   say nothing (another machine's, or a file system without locks) those a day old. One that holds
   anything else stays as it is. */
void scratch_sweep(const char *parent);

#endif
