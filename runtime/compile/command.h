/* Programs that the library runs. Takes: a command line. Makes: its exit code and what it printed.
   A program runs in a process group of its own, which sg_abandon ends; signals are for it as they
   usually are, and it gets no descriptor of the caller's. */
#ifndef SG_RUNTIME_COMPILE_COMMAND_H
#define SG_RUNTIME_COMPILE_COMMAND_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/job.h"

typedef struct command_setting {
    const char *const *words; /* up to a NULL; the first is the program's path */
    const char *temporary;    /* its TMPDIR; NULL: the caller's */
    int held;                 /* a descriptor that it keeps open without knowing; −1: none */
} command_setting;

/* Starts a program in a process group of its own, so that Ctrl-C does not reach it. files[i]
   becomes its descriptor i, unless it is negative; a negative files[0] becomes /dev/null.
   `variables` may be NULL: the caller's. Errno, or 0. */
enum { COMMAND_FILES = 4 };
int command_spawn(const char *const *words, char **variables, const int files[COMMAND_FILES],
                  pid_t *child);

/* Runs a program, without a shell, until it ends; *printed is all that it wrote, in the job. Its
   exit code, 128 + the signal that ended it, or −1 with *error set where it could not start. */
int host_command(job *, const command_setting *, const char **printed, int *error);

/* ENOSPC, EDQUOT or EFBIG where a program that failed says that it could not write for want of
   room, or was ended by the process's file-size limit; else 0. */
int host_command_room(int code, const char *printed);

/* What must not outlive a process that a signal ends: programs that it runs, and scratch folders.
   Takes: their numbers. Makes: sg_abandon, which a handler of signals calls. The table is the
   process's, because signals are. More than it has places for are not lost: a sweep removes such
   folders later (runtime/compile/scratch.h).

   A place is changed between pending_begin or pending_enter and pending_leave or pending_end.
   Meanwhile all signals of the thread are held back, and a handler in another thread waits. */

enum { PENDING_NAME = 64 };

typedef struct pending {
    atomic_int state;
    pid_t owner; /* the process: a child of fork has a copy of the table */
    pid_t child; /* a running program, the first of its process group; 0: none */
    int parent;  /* the open folder above a scratch folder; −1: none */
    int folder;  /* the scratch folder */
    int mark;    /* its open mark */
    char name[PENDING_NAME];
} pending;

typedef struct pending_hold {
    sigset_t before;
} pending_hold;

/* An empty place; NULL where the table is full. False, and nothing is held, where the process is
   being ended. */
bool pending_begin(pending **, pending_hold *);
/* False, and nothing is held, where a handler has taken the place over. NULL is allowed. */
bool pending_enter(pending *, pending_hold *);
void pending_leave(pending *, const pending_hold *);
void pending_end(pending *, const pending_hold *); /* the place is another's from then on */

#endif
