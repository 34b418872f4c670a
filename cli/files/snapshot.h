/* Snapshots: fields as files that a thread of its own writes while a run goes on. Takes: patterns
   of names, and elements after so many steps. Makes: the files, each whole or not at all. The run
   waits only if two snapshots are still to be written. */
#ifndef SG_CLI_FILES_SNAPSHOT_H
#define SG_CLI_FILES_SNAPSHOT_H

#include "cli/files/datafile.h"

enum { SNAPSHOT_NAME = 4096 };

/* One --snapshot. */
typedef struct snapshot_files {
    const char *pattern; /* "u-%06d.png" */
    int item;            /* of the arrays */
    bool is_image, is_png;
    bool has_pieces;      /* .pvti: of several ranks */
    datafile_array array; /* what a file holds: the field, or a slice of it */
    uint64_t first;       /* the element of the field with which it begins */
    bool has_scale;       /* of an image; else that of the first one's values */
    pgm_scale scale;
    unsigned char colours[COLOURS][3];
    int64_t written; /* files, after snapshots_end */
    int64_t last;    /* the step of the last one */

    text head, tail; /* before and behind the elements; not of .png */
} snapshot_files;

/* Whether a pattern has one %d or %06d and nothing else that begins with %, and the kind of file
   that it names is known; prints why not. EXIT_DONE, or EXIT_USAGE. */
int snapshot_judge(const char *pattern);
bool snapshot_is_png(const char *path);

/* The name of the file after so many steps. */
void snapshot_name(const char *pattern, int64_t step, char out[SNAPSHOT_NAME]);

/* Sets head and tail. */
void snapshot_frame(snapshot_files *);

/* Looks whether a file can be made, that of the first step at which there is one: a file that
   cannot be made costs no computation. EXIT_DONE, or an exit code after an error. */
int snapshot_try(const snapshot_files *, int64_t step);

typedef struct snapshots snapshots;

/* Of files whose head and tail are set: starts the thread. With a context, elements come from its
   device while the run goes on. `files` stays the caller's. EXIT_DONE; or an exit code after an
   error. */
int snapshots_begin(snapshots **out, sg_context *, snapshot_files *files, int count);

/* Where elements go: to `memory` at once, or with a capture, of which it is byte `at`, from the
   device to there. */
typedef struct snapshot_room {
    unsigned char *memory;
    sg_capture *capture; /* NULL: none */
    size_t at;
} snapshot_room;

/* Gives `count` elements of an item from number `first` on. Returns an exit code. */
typedef int (*snapshot_give)(void *user, int item, uint64_t first, size_t count,
                             const snapshot_room *);

/* Hands on what is to be written after this step. An exit code, also of a file before. */
int snapshots_take(snapshots *, int64_t step, snapshot_give give, void *user);

/* Waits until all is written, and ends the thread. An exit code; NULL is none. */
int snapshots_end(snapshots *);

#endif
