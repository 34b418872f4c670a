/* Paths: where a user's files are kept, whether others could change them, and what identifies a
   file. */
#ifndef SG_RUNTIME_FILES_PATHS_H
#define SG_RUNTIME_FILES_PATHS_H

#include <sys/stat.h>

#include "base/job.h"

/* A variable of the environment; NULL if it is unset or empty, or if the process has more rights
   than its user, so that the variable cannot be trusted. */
const char *user_variable(const char *name);

/* The absolute path: a program may change its working folder later. */
const char *user_absolute(job *, const char *path);

/* Makes the folder and those above it, for this user alone. Errno, or 0. */
int user_folder_make(job *, const char *folder);

/* Where a user wants something kept: at `asked` (may be NULL), else where the variable `own`
   says, else in stencilgen's folder by `xdg` and `below`. All texts are in the job. */
typedef struct user_place {
    const char *path;   /* "" where there is none */
    const char *reason; /* "given by SG_CACHE"; "" where there is none */
    const char *off;    /* why there is none: NULL where there is one */
    bool asked_off;     /* by "none" */
    bool usual;         /* `path` is stencilgen's folder */
} user_place;
user_place user_place_of(job *, const char *asked, const char *own, const char *xdg,
                         const char *below);

/* Why this user cannot write to a folder, or make it; NULL where they can. */
const char *user_folder_trouble(job *, const char *folder);

/* Why a file or folder may have any content, valid for ever: it belongs to neither this user nor,
   if `root_too` is set, root; or others may write to it. NULL: it is this user's alone. */
const char *file_danger(const struct stat *, bool root_too);

/* Why others could replace what this user puts into a folder; NULL: only this user and root can.
   This user or root must own the folder and all above it, and others may write only where the
   sticky bit protects what is not theirs. The path is absolute and without links. */
const char *user_folder_danger(job *, const char *folder);

/* A line that tells a file from every other and from its own earlier versions: "/usr/bin/x,
   inode 5, 123 bytes, changed 1700000000.000000001", with the path without links. The disk's
   number is left out because it differs from one boot, or container, to the next. NULL: there is
   no such file. */
const char *file_identity(job *, const char *path);

/* The path without links, in the job; NULL, with errno set, where there is no such file. */
const char *file_real(job *, const char *path);

/* Whether this process has mapped a version of the file that has been replaced since. */
bool file_was_replaced(job *, const char *path);

/* The first `most` bytes, NUL-terminated, in the job; NULL where they cannot be read. */
const char *file_text(job *, const char *path, size_t most);

#endif
