/* Plans that were measured, as text: the *.plans files that the library ships (plans/), and a
   user's own. Takes: text. Makes: lines, and those of one GPU among them. docs/tuning.md describes
   the format. A damaged line is reported and skipped: no text makes reading fail, only a lack of
   memory. */
#ifndef SG_GEN_MODEL_PLANS_H
#define SG_GEN_MODEL_PLANS_H

#include "gen/model/gpu.h"

/* What a board is recognised by, besides its architecture: the name is for people. */
typedef struct plans_board {
    const char *name;    /* "H100" */
    const char *arch;    /* "sm_90"; "cpu": a processor */
    int multiprocessors; /* or cores */
    double memory_rate;  /* bytes a second; 0: not said */
    double memory;       /* bytes; 0: not said */
} plans_board;

/* The most numbers of a size, and the digits of a spec's key. */
enum { PLANS_NUMBERS = 8, PLANS_KEY = 64 };

typedef struct plans_line {
    const char *file; /* where it stands */
    int line;
    bool shipped; /* in a file of the library */
    const plans_board *board;
    const char *class; /* what specs must mean: "stencil 3D 13 points radius 2", or a family and the
                          key of one spec */
    const char *dtype; /* "any" */
    int64_t size[PLANS_NUMBERS];
    int size_count;
    bool up_to;    /* the line is for lists up to this size */
    int64_t steps; /* steps that were made at a time */
    double rate;   /* 10^9 updates or elements a second; 0: not known */
    const char *plan;
} plans_line;

typedef struct plans {
    plans_line *list;
    int count;
} plans;

/* `file`, `line` and why a line was skipped. */
typedef struct plans_listener {
    void (*damaged)(void *user, const char *file, int line, const char *why);
    void *user;
} plans_listener;

/* Adds the lines of a text, which need not end with NUL. Everything, also the texts, is in the
   job. */
void plans_read(job *, plans *, const char *file, const char *text, size_t length,
                const plans_listener *);

/* Adds the lines that the library ships. */
void plans_read_shipped(job *, plans *);

void plans_add(job *, plans *, const plans_line *);

/* Whether a GPU is such a board: of this architecture, with as many multiprocessors and, where the
   board says so, as much memory of the same rate, within 5 %. */
bool plans_board_is(const plans_board *, const gpu *);

/* The plans of a GPU: what is attached to it, else those that the library ships. */
plans plans_of(job *, const plans *, const gpu *);
const plans *plans_known(job *, const gpu *);

/* Whether the line is of this class and type. */
bool plans_line_is_of(const plans_line *, const char *class, dtype);

/* Whether its class is one spec's: a family and a key. */
bool plans_line_has_key(const plans_line *);

/* The first line of a class that serves a list of so many elements; NULL where there is none. */
const plans_line *plans_for_list(const plans *, const char *class, dtype, int64_t count);

/* The texts that the library ships; file NULL: the end. CMakeLists.txt makes the table. */
typedef struct plans_file {
    const char *file, *text;
} plans_file;
extern const plans_file plans_files[];

#endif
