/* What can be told of a file from outside. Takes: paths. Makes: its content where it is small, and
   a line that tells it from every other file and from its own former and later versions. */
#ifndef SG_RUNTIME_FILES_FILE_FACTS_H
#define SG_RUNTIME_FILES_FILE_FACTS_H

#include "base/job.h"

/* "/usr/bin/x, inode 5, 123 bytes, changed 1700000000.000000001": the path without links, in the
   job. Without the number of the disk, which differs from one start of a machine or a container to
   the next. NULL where there is no such file. */
const char *file_identity(job *, const char *path);

/* Whether this process has mapped (a library) what was there before the file that is there now. */
bool file_was_replaced(job *, const char *path);

/* The first `most` bytes, NUL-terminated, in the job; NULL where they cannot be read. */
const char *file_text(job *, const char *path, size_t most);

#endif
