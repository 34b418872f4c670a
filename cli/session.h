/* One run of the command on one device. Takes: options. Makes: an open context and built kernels.
   Functions print their errors; int results are exit codes. */
#ifndef SG_CLI_SESSION_H
#define SG_CLI_SESSION_H

#include "cli/command.h"
#include "cli/options.h"

typedef struct session {
    const options *options;
    sg_context *context;
    sg_device_info device;
    char *text;   /* of the spec that session_count read last; NULL: it could not be read */
    int first;    /* of --spec: the index of the only spec of the file; else 0 */
    bool stopped; /* session_each makes no further call */
} session;

int session_open(session *, const options *);
int session_open_without_device(session *, const options *); /* for commands that run nothing */
void session_close(session *);

/* Reads the spec. Later calls are about the text that was read. */
int session_count(session *, const char *spec, int *out);

/* The command line's options for a build of the file's spec number `index`; and the same to plan
   for the default size alone, which is cheap compared with compiling. */
sg_build_options session_build_options(const session *, int index);
sg_build_options session_plain_options(const session *, int index);

/* Whether --size, if given, has an extent for each dimension of the kernel. */
int session_judge_size(const session *, const sg_kernel *);

/* Whether --steps makes sense for the kernel: a second step must read what the first wrote. */
int session_judge_steps(const session *, const char *spec, const sg_kernel *);

/* Plans the spec and writes its source, without compiling it, and judges --size, --steps and --set.
 *parameters are those of session_parameters. *out is NULL after an error of --steps. */
int session_plan(session *, const char *spec, const sg_build_options *, sg_kernel **out,
                 double **parameters);

int session_build(session *, const char *spec, const sg_build_options *, sg_kernel **out);

/* The values of all parameters from --set and the spec. Parameters without a value are an error for
   VALUES_NEEDED; else they are spread over [0.25, 1). For VALUES_SET *out is NULL where nothing is
   set, and the library takes its own. */
typedef enum parameter_values { VALUES_SET, VALUES_NEEDED, VALUES_SPREAD } parameter_values;
int session_parameters(session *, const char *spec, const sg_kernel *, parameter_values,
                       double **out, int *count);

/* `parameters`: the values of --set, else the spec's, else null. */
void session_parameters_json(const session *, const sg_kernel *, json *);

/* Whether --input suits the kernel, in commands that read one matrix and no arrays. */
int session_judge_input(const options *, const char *spec, const sg_kernel *);

/* Reads the matrix of --input into *out and sets the size in `how` to its entries. Both stay as
   they are without --input. */
int session_matrix(session *, const char *spec, sg_build_options *how, sg_matrix **out);

/* EXIT_DONE, or prints the library's error and returns its exit code. */
int session_code(const session *, sg_status);

/* Begins the object that a command reports; json_finish ends it and says it, or without --json the
   text, unless that is NULL. Returns the exit code. */
void json_begin(json *, const options *);
int json_finish(json *, const options *, int code, const text *);

void session_json(const session *, json *); /* the device */

/* A command that reports each spec by itself: calls `one` for every spec of every file. `one` adds
   members to the spec's object in "kernels" and returns the exit code. */
typedef int each_call(session *, const char *spec, int index, json *, void *user);
int session_each(const options *, bool with_device, each_call *one, void *user);

/* ---- what reports call things ---------------------------------------------------------------- */

typedef struct words {
    bool is_grid;       /* has a shape, a boundary and steps */
    const char *points; /* "elements" */
    const char *point;  /* "an element" */
    const char *step;   /* "a step": what is timed */
    const char *way[2]; /* what words of a plan without a value mean: "format", "algorithm" */
} words;

const char *points_text(const words *, int64_t count); /* "1 element", "2 elements" */
/* "512x512" of a grid, "100 elements" of a list. */
const char *size_text(const words *, const int64_t *size, int dims);
sg_kernel_info facts_of(const sg_kernel *);
const words *words_of(const sg_kernel *);
const words *words_of_kind(sg_kind); /* of lists, if the kind is not known */

/* Whether the size is a matrix's: rows, columns, entries, longest row, empty rows, diagonals. */
bool result_is_of_matrix(const sg_result *);
/* The points of a grid, the elements of a list, the entries of a matrix: in all steps of a run. */
double result_points(const sg_result *);
/* "512x512x512", "2000x1000 with 5000 entries". */
const char *size_of_result(const sg_result *);

/* explain_team.c: what explain says of ranks, by the library's model. Adds to the report, or to the
   JSON if it is asked for. */
int explain_team(session *, const char *spec, const sg_build_options *, int dims, json *,
                 text *out);

#endif
