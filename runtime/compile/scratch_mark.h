/* What tells a scratch folder from all others, and removing one. Takes: open folders. A scratch
   folder has a name of our own, belongs to this user alone, and holds a mark: a file that says the
   folder's name, so that no copy and no renamed folder passes for one. The mark is locked for as
   long as anybody uses the folder: a process of ours, or a compiler that outlived it. */
#ifndef SG_RUNTIME_COMPILE_SCRATCH_MARK_H
#define SG_RUNTIME_COMPILE_SCRATCH_MARK_H

#include <stdbool.h>

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
