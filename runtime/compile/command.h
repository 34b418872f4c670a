/* Programs that the library runs. Takes: a command line. Makes: its exit code and what it printed.
   A program runs in a process group of its own, which sg_abandon ends; signals are for it as they
   usually are, and it gets no descriptor of the caller's. */
#ifndef SG_RUNTIME_COMPILE_COMMAND_H
#define SG_RUNTIME_COMPILE_COMMAND_H

#include "base/job.h"

typedef struct command_setting {
    const char *const *words; /* up to a NULL; the first is the program's path */
    const char *temporary;    /* its TMPDIR; NULL: the caller's */
    int held;                 /* a descriptor that it keeps open without knowing; −1: none */
} command_setting;

/* Runs a program, without a shell, until it ends; *printed is all that it wrote, in the job. Its
   exit code, 128 + the signal that ended it, or −1 with *error set where it could not start. */
int host_command(job *, const command_setting *, const char **printed, int *error);

/* ENOSPC, EDQUOT or EFBIG where a program that failed says that it could not write for want of
   room, or was ended by the process's file-size limit; else 0. */
int host_command_room(int code, const char *printed);

#endif
