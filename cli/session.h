/* One run of the command on one device. Takes: options. Makes: an open context and built kernels.
   What fails has been printed; the int results are exit codes. */
#ifndef SG_CLI_SESSION_H
#define SG_CLI_SESSION_H

#include "cli/command.h"
#include "cli/json.h"
#include "cli/options.h"

typedef struct session {
    const options *options;
    sg_context *context;
    sg_device_info device;
    char *text; /* of the spec that was counted last; NULL: it could not be read */
} session;

int session_open(session *, const options *);
int session_open_without_device(session *, const options *); /* for what runs nothing */
void session_close(session *);

/* Reads the spec, once: what follows is about the text that was found. */
int session_count(session *, const char *spec, int *out);

/* The options of a build of the spec's number `index`, as the command line says. */
sg_build_options session_build_options(const session *, int index);

/* Whether --size, where it is given, has an extent for each dimension of the kernel. */
int session_judge_size(const session *, const sg_kernel *);

/* Whether --steps makes sense for the kernel: a further step reads what the one before wrote. */
int session_judge_steps(const session *, const char *spec, const sg_kernel *);

/* Plans the spec and writes its source, without compiling it; judges --size, --steps and --set by
   it. *parameters are as session_parameters finds them. *out is NULL after an error of --steps. */
int session_plan(session *, const char *spec, const sg_build_options *, sg_kernel **out,
                 double **parameters);

int session_build(session *, const char *spec, const sg_build_options *, sg_kernel **out);

/* The values of all parameters from --set and the spec. Those that have
   none are an error where `all` is set, and else spread over [0.25, 1). *out is NULL where the
   spec's own values serve. */
int session_parameters(session *, const char *spec, const sg_kernel *, bool all, double **out,
                       int *count);

/* `parameters`: those of --set, else the spec's; null where there is neither. */
void session_parameters_json(const session *, const sg_kernel *, json *);

/* Whether the command line's --input can be of this kernel, where it is to be one matrix: of
   commands that read no arrays. */
int session_judge_input(const options *, const char *spec, const sg_kernel *);

/* The matrix of --input, which decides what formats serve. *out, and the size in `how`, are left as
   they are where there is none. */
int session_matrix(session *, const char *spec, sg_build_options *how, sg_matrix **out);

/* Prints the library's error. */
int session_failed(const session *, sg_status);

/* Begins the object that a command reports, and ends it. */
void json_begin(json *, const options *);
void json_finish(json *, int code);

void session_json(const session *, json *);

/* A command that may report in JSON: opens a session, calls `body`, which adds to the JSON what is
   the command's own and hands back its exit code, and prints the JSON where that is wanted. The
   command's exit code. */
typedef int session_body(session *, json *, void *user);
int session_report(const options *, session_body *, void *user);

/* The same of a command that tells something of each of its specs: calls `one` for every spec of
   every file, which adds an object to the JSON's "kernels" unless it fails. */
typedef int each_call(session *, const char *spec, int index, json *);
int session_each(const options *, each_call *one);

#endif
