/* The command line. Takes: arguments. Makes: a command with its options, or an error. The parser,
   --help and the test of docs/command.md read one table of options. */
#ifndef SG_CLI_OPTIONS_H
#define SG_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"

typedef enum command {
    COMMAND_BUILD, /* no word: the main job */
    COMMAND_RUN,
    COMMAND_BENCH,
    COMMAND_EXPLAIN,
    COMMAND_TUNE,
    COMMAND_REPORT,
    COMMAND_DOCTOR,
    COMMAND_CACHE,
    COMMAND_COUNT
} command;

typedef enum emit { EMIT_SOURCE, EMIT_PTX, EMIT_CUBIN, EMIT_PLAN, EMIT_MODEL, EMIT_COUNT } emit;
extern const char *const emit_words[EMIT_COUNT];
extern const char *const emit_suffixes[EMIT_COUNT];

/* NAME=VALUE; the name may be NULL. */
typedef struct binding {
    char *name;
    char *value;
    double number;  /* of --set */
    bool is_values; /* of --values and --output-values */
    bool has_range; /* of an image to write: `low` is black and `high` white */
    double low, high;
} binding;

typedef struct bindings {
    binding *items;
    int count;
} bindings;

/* `name` may be NULL; both texts are copied. Valid until the next one is added. */
binding *bindings_add(bindings *, const char *name, size_t name_length, const char *value);

/* What is done after every N steps. */
typedef enum every { EVERY_SNAPSHOT, EVERY_MONITOR, EVERY_CHECKPOINT, EVERY_COUNT } every;
extern const char *const every_words[EVERY_COUNT];

typedef struct options {
    command command;
    char **specs; /* the arguments themselves; for cache: what to do */
    int spec_count;
    const char *given; /* the options that decide on results, as one line: ranks compare it */
    const char *spec;  /* the name of one in each file; NULL: all */
    const char *folder, *arch, *gpu, *device; /* NULL: not given; `report -o` names a file */
    const char *database;
    bool emit[EMIT_COUNT]; /* EMIT_SOURCE where not given */
    const char *schedule;  /* "register tile=32x8 …"; NULL: no constraint */
    const char *line, *format, *method, *tile, *coarsen, *vector, *time;
    bindings sets, inputs, outputs, initials, snapshots, points, monitors;
    const char *colours;
    double range[2]; /* of --range */
    int64_t slice;   /* of --slice z=K */
    bool range_given, slice_given;
    int64_t size[3]; /* 0: not given */
    int size_count;
    int64_t ranks[3]; /* of --ranks, x first; a lone number is how many there are; 0: not given */
    int rank_axes;
    int64_t launches, every; /* 0 where not given; see options_every */
    int64_t every_of[EVERY_COUNT];
    const char *checkpoint, *restart, *until;
    int64_t steps, evaluations; /* 1 and 0 where not given */
    uint64_t seed;              /* 0: not given, like the next */
    double budget, limit;       /* seconds */
    int search;                 /* an sg_search */
    bool local_rank;            /* a launcher started this process as one of several ranks */
    bool weak, list, plans, afresh, steps_given, json, stop_on_nan, convert, help, version;
} options;

/* After how many steps it is done: --every snapshot=N, else --every N; 0: neither is given. */
int64_t options_every(const options *, every);
/* Which of them the options ask for: a bit each. */
unsigned options_due(const options *);

/* False after an error on standard error. */
bool options_parse(options *, int count, char **arguments);

const char *command_name(command);
void options_help(text *);

/* ---- commands (cli/commands/) ---------------------------------------------------------------- */

/* Each returns the exit code. */
int command_build(const options *);      /* also bench, which only measures */
int command_bench_team(const options *); /* bench on several ranks */
int command_run(const options *);
int command_explain(const options *);
int command_tune(const options *);
int command_report(const options *);

/* ---- values of options ---------------------------------------------------------------------- */

/* A row of the table of options. A flag sets a bool at `place`, and a word a const char * there;
   the others have a function. */
typedef struct option {
    const char *name, *argument, *help; /* argument NULL: a flag */
    int commands;
    size_t place; /* of the member of the options that is set */
    bool (*set)(options *, const struct option *, const char *value);
} option;

/* Prints what is needed instead of this value. Returns false. */
bool option_misused(const char *what, const char *value, const char *needed);

/* Each sets members of the options by a word of the command line. False after an error on standard
   error. */
bool set_emit(options *, const option *, const char *value);
bool set_parameter(options *, const option *, const char *value);
bool set_once(options *, const option *, const char *value); /* a word; not a second time */
bool set_file(options *, const option *, const char *value); /* bindings */
bool set_monitor(options *, const option *, const char *value);
bool set_points(options *, const option *, const char *value);
bool set_initial(options *, const option *, const char *value);
bool set_snapshot(options *, const option *, const char *value);
bool set_range(options *, const option *, const char *value);
bool set_slice(options *, const option *, const char *value);
bool set_output(options *, const option *, const char *value); /* likewise, with a range */
bool set_size(options *, const option *, const char *value);
bool set_ranks(options *, const option *, const char *value);
bool set_seed(options *, const option *, const char *value);
bool set_count(options *, const option *, const char *value); /* an int64_t, from 1 */
bool set_every(options *, const option *, const char *value);
bool set_steps(options *, const option *, const char *value); /* likewise */
bool set_time(options *, const option *, const char *value);  /* seconds, a double */
bool set_search(options *, const option *, const char *value);
bool set_resume(options *, const option *, const char *unused);
bool set_device(options *, const option *, const char *value);

#endif
