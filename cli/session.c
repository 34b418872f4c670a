/* One run of the command on one device. */
#include "cli/session.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/words.h"

/* More than the library takes, so that it refuses a longer spec, and an endless pipe is not read
   for ever. */
enum { MOST_BYTES = 1 << 20 };

static int refuse_zero(const char *path, const char *spec, const char *zero) {
    int line = 1;
    for (const char *at = spec; at < zero; at++)
        line += *at == '\n';
    return complain(EXIT_USAGE, job_print(command_memory(), "%s:%d", path, line),
                    "the file holds a byte 0; a spec is text, in UTF-8");
}

/* Reads a file once, because it may be a pipe, and a command asks the library several times about a
   spec. *out is NULL if nothing could be read: the library then says why, by the path alone. */
static int read_spec(const char *path, char **out) {
    *out = NULL;
    FILE *file = fopen(path, "rbe"); /* compilers do not inherit it */
    if (file == NULL)
        return EXIT_DONE;
    char *spec = must_alloc(MOST_BYTES, 1);
    const size_t length = fread(spec, 1, MOST_BYTES, file);
    const bool failed = ferror(file) != 0;
    fclose(file);
    const bool is_compiled = spec[0] == '\x1b'; /* which the library refuses */
    const char *zero = failed || is_compiled ? NULL : memchr(spec, '\0', length);
    const int code = zero != NULL ? refuse_zero(path, spec, zero) : EXIT_DONE;
    if (!failed && zero == NULL)
        *out = job_copy(command_memory(), spec, length);
    free(spec);
    return code;
}

int session_failed(const session *s, sg_status status) {
    return complain_library(s->context, status);
}

static int open_on(session *s, const options *o, const char *device) {
    *s = (session){.options = o, .device = {.struct_size = sizeof s->device}};
    const sg_options wanted = {.struct_size = sizeof wanted,
                               .device = device,
                               .database = o->database,
                               .log = warn_library};
    const sg_status status = sg_open(&s->context, &wanted);
    return status == SG_OK ? EXIT_DONE : session_failed(s, status);
}

int session_open(session *s, const options *o) {
    progress("opening the device");
    int code = open_on(s, o, o->device);
    const sg_status status = code == EXIT_DONE ? sg_device(s->context, &s->device) : SG_OK;
    if (status != SG_OK)
        code = session_failed(s, status);
    if (code != EXIT_DONE)
        session_close(s);
    return code;
}

int session_open_without_device(session *s, const options *o) {
    const int code = open_on(s, o, "none");
    if (code != EXIT_DONE)
        session_close(s);
    return code;
}

void session_close(session *s) {
    sg_close(s->context);
    s->context = NULL;
    s->text = NULL;
}

int session_count(session *s, const char *spec, int *out) {
    int code = read_spec(spec, &s->text);
    if (code != EXIT_DONE)
        return code;
    const sg_status status = sg_count_specs(s->context, spec, s->text, out);
    if (status == SG_OK)
        return EXIT_DONE;
    code = session_failed(s, status);
    return status == SG_ERROR_IO ? EXIT_USAGE : code; /* a spec is no data file */
}

sg_build_options session_build_options(const session *s, int index) {
    const options *o = s->options;
    sg_build_options build = {
        .struct_size = sizeof build,
        .text = s->text,
        .index = index,
        .schedule = o->schedule,
        .arch = o->arch,
        .gpu = o->gpu,
        .steps = o->steps,
    };
    for (int axis = 0; axis < o->size_count; axis++)
        build.size[axis] = o->size[axis];
    return build;
}

int session_judge_size(const session *s, const sg_kernel *kernel) {
    const int given = s->options->size_count;
    const sg_kernel_info info = facts_of(kernel);
    if (given == 0 || given == info.dims)
        return EXIT_DONE;
    return complain(EXIT_USAGE, NULL, "--size has %d extent%s, but %s has %d dimension%s", given,
                    given == 1 ? "" : "s", sg_kernel_text(kernel, SG_TEXT_NAME), info.dims,
                    info.dims == 1 ? "" : "s");
}

int session_judge_steps(const session *s, const char *spec, const sg_kernel *kernel) {
    bool goes_on = s->options->steps == 1;
    sg_array_info array = {.struct_size = sizeof array};
    const sg_kernel_info info = facts_of(kernel);
    for (int i = 0; i < info.arrays && !goes_on; i++)
        goes_on = sg_kernel_array(kernel, i, &array) == SG_OK && words_of(kernel)->is_grid &&
                  array.reads >= 0;
    if (goes_on)
        return EXIT_DONE;
    return complain(EXIT_USAGE, spec,
                    "--steps: %s reads nothing that it writes, so that a second step would be the "
                    "first again; run it on its output instead",
                    sg_kernel_text(kernel, SG_TEXT_NAME));
}

int session_build(session *s, const char *spec, const sg_build_options *build, sg_kernel **out) {
    const sg_status status = sg_build(s->context, spec, build, out);
    return status == SG_OK ? EXIT_DONE : session_failed(s, status);
}

static const binding *find_set(const bindings *sets, const char *name) {
    for (int i = 0; i < sets->count; i++)
        if (strcmp(sets->items[i].name, name) == 0)
            return &sets->items[i];
    return NULL;
}

static int unknown_parameter(const char *spec, const sg_kernel *kernel, int count,
                             const char *name) {
    const char **names = new_array((size_t)count, sizeof *names);
    text known = new_text();
    for (int i = 0; i < count; i++) {
        sg_parameter_info info = {.struct_size = sizeof info};
        sg_kernel_parameter(kernel, i, &info);
        names[i] = info.name;
        text_printf(&known, "%s%s", i > 0 ? ", " : "", info.name);
    }
    const char *nearest = text_nearest(name, names, (size_t)count);
    const int code = complain(EXIT_USAGE, spec, "%s has no parameter '%s'%s%s%s",
                              sg_kernel_text(kernel, SG_TEXT_NAME), name,
                              nearest != NULL ? "; did you mean "
                              : count > 0     ? "; it has "
                                              : "; it has none",
                              nearest != NULL ? nearest : known.data, nearest != NULL ? "?" : "");
    return code;
}

static int fill_parameter(const session *s, const char *spec, const sg_kernel *kernel, int index,
                          bool all, double *value) {
    sg_parameter_info info = {.struct_size = sizeof info};
    const sg_status status = sg_kernel_parameter(kernel, index, &info);
    if (status != SG_OK)
        return session_failed(s, status);
    const binding *set = find_set(&s->options->sets, info.name);
    if (set != NULL)
        *value = set->number;
    else if (info.has_default)
        *value = info.value;
    else if (all)
        return complain(EXIT_USAGE, spec,
                        "parameter %s of %s has no value; give it one with --set "
                        "%s=VALUE",
                        info.name, sg_kernel_text(kernel, SG_TEXT_NAME), info.name);
    else
        *value = 0.25 + 0.75 * fmod((index + 1) * 0.6180339887498949, 1);
    return EXIT_DONE;
}

int session_parameters(session *s, const char *spec, const sg_kernel *kernel, bool all,
                       double **out, int *count) {
    const sg_kernel_info info = facts_of(kernel);
    *out = NULL;
    *count = info.parameters;
    for (int i = 0; i < s->options->sets.count; i++) {
        const char *name = s->options->sets.items[i].name;
        if (sg_kernel_find_parameter(kernel, name) < 0)
            return unknown_parameter(spec, kernel, info.parameters, name);
    }
    if (info.parameters == 0 || (s->options->sets.count == 0 && !all))
        return EXIT_DONE;
    double *values = new_array((size_t)info.parameters, sizeof *values);
    int code = EXIT_DONE;
    for (int i = 0; i < info.parameters && code == EXIT_DONE; i++)
        code = fill_parameter(s, spec, kernel, i, all, &values[i]);
    *out = values;
    return code;
}

/* Whether --size fits, by a plan for the default size: planning is cheap compared with compiling.
 */
static int judge_size(session *s, const char *spec, const sg_build_options *build) {
    sg_build_options plain = *build;
    memset(plain.size, 0, sizeof plain.size);
    plain.source_only = 1;
    sg_kernel *kernel;
    int code = session_build(s, spec, &plain, &kernel);
    if (code != EXIT_DONE)
        return code;
    code = session_judge_size(s, kernel);
    sg_release(kernel);
    return code;
}

int session_plan(session *s, const char *spec, const sg_build_options *build, sg_kernel **out,
                 double **parameters) {
    sg_build_options source = *build;
    int count, code = EXIT_DONE;
    *out = NULL;
    source.source_only = 1;
    if (s->options->size_count > 0)
        code = judge_size(s, spec, build);
    if (code == EXIT_DONE)
        code = session_build(s, spec, &source, out);
    if (code != EXIT_DONE)
        return code;
    code = session_judge_steps(s, spec, *out);
    if (code == EXIT_DONE)
        return session_parameters(s, spec, *out, false, parameters, &count);
    sg_release(*out);
    *out = NULL;
    return code;
}

void session_parameters_json(const session *s, const sg_kernel *kernel, json *j) {
    const sg_kernel_info kernel_info = facts_of(kernel);
    json_object(j, "parameters");
    for (int i = 0; i < kernel_info.parameters; i++) {
        sg_parameter_info info = {.struct_size = sizeof info};
        sg_kernel_parameter(kernel, i, &info);
        const binding *set = find_set(&s->options->sets, info.name);
        json_number(j, info.name, set != NULL ? set->number : info.has_default ? info.value : NAN);
    }
    json_end_object(j);
}

int session_judge_input(const options *o, const char *spec, const sg_kernel *kernel) {
    const char *command = command_name(o->command);
    const sg_kernel_info info = facts_of(kernel);
    if (o->inputs.count == 0)
        return EXIT_DONE;
    if (info.kind != SG_KIND_PRODUCT)
        return complain(EXIT_USAGE, spec, "--input of %s is the matrix of an spmv, but %s is %s",
                        command, sg_kernel_text(kernel, SG_TEXT_NAME),
                        sg_kernel_text(kernel, SG_TEXT_FAMILY));
    if (o->inputs.count > 1)
        return complain(EXIT_USAGE, spec, "%s takes one --input, the matrix of an spmv", command);
    const char *name = o->inputs.items[0].name;
    if (name != NULL && strcmp(name, "A") != 0)
        return complain(EXIT_USAGE, spec, "--input '%s': %s takes the matrix A alone", name,
                        command);
    if (o->size_count > 0)
        return complain(EXIT_USAGE, spec,
                        "--size: the matrix of --input has a size; leave one of them out");
    return EXIT_DONE;
}

/* Judges the kernel of a plan without the matrix. A spec without such a plan is a product, or
   planning it with the matrix says what is wrong. */
static int judge_input(session *s, const char *spec, const sg_build_options *how) {
    sg_build_options plain = *how;
    sg_kernel *kernel;
    plain.source_only = 1;
    memset(plain.size, 0, sizeof plain.size);
    if (sg_build(s->context, spec, &plain, &kernel) != SG_OK)
        return EXIT_DONE;
    const int code = session_judge_input(s->options, spec, kernel);
    sg_release(kernel);
    return code;
}

int session_matrix(session *s, const char *spec, sg_build_options *how, sg_matrix **out) {
    const bindings *inputs = &s->options->inputs;
    if (inputs->count == 0)
        return EXIT_DONE;
    const int code = judge_input(s, spec, how);
    if (code != EXIT_DONE)
        return code;
    const sg_status status = sg_matrix_read(s->context, inputs->items[0].value, out);
    if (status != SG_OK)
        return session_failed(s, status);
    sg_matrix_info facts = {.struct_size = sizeof facts};
    how->matrix = *out;
    if (sg_matrix_facts(*out, &facts) == SG_OK)
        how->size[0] = facts.entries; /* 0 of none is the default */
    return EXIT_DONE;
}

void json_begin(json *j, const options *o) {
    json_object(j, NULL);
    json_string(j, "stencilgen", SG_VERSION);
    json_string(j, "command", command_name(o->command));
}

void json_finish(json *j, int code) {
    json_integer(j, "exit", code);
    json_end_object(j);
}

void session_json(const session *s, json *j) {
    const sg_device_info *d = &s->device;
    json_object(j, "device");
    json_string(j, "kind", d->device);
    json_string(j, "name", d->name);
    json_string(j, "arch", d->arch);
    json_integer(j, "multiprocessors", d->multiprocessors);
    json_integer(j, "memory_bytes", d->memory);
    json_integer(j, "l2_cache_bytes", d->l2_cache);
    json_integer(j, "driver", d->driver);
    json_end_object(j);
}

/* An object for a spec that failed, with what was printed of it. */
static void json_failure(json *j, const char *spec, int index, int code) {
    json_object(j, NULL);
    json_string(j, "spec", spec);
    json_integer(j, "index", index);
    json_string(j, "error", complaint_take());
    json_integer(j, "exit", code);
    json_end_object(j);
}

static int each_of_file(session *s, const char *spec, each_call *one, json *j) {
    int count = 0;
    int code = session_count(s, spec, &count);
    if (code != EXIT_DONE)
        json_failure(j, spec, 0, code);
    for (int index = 0; index < count; index++) {
        const int now = one(s, spec, index, j);
        if (now != EXIT_DONE)
            json_failure(j, spec, index, now);
        code = first_failure(code, now);
    }
    return code;
}

int session_report(const options *o, session_body *body, void *user) {
    session s;
    int code = session_open(&s, o);
    if (code != EXIT_DONE)
        return code;
    text line = new_text();
    json j = {.out = &line};
    json_begin(&j, o);
    code = body(&s, &j, user);
    json_finish(&j, code);
    if (o->json)
        code = first_failure(code, say(&line));
    session_close(&s);
    return code;
}

static int each(session *s, json *j, void *user) {
    each_call *const *one = user;
    int code = EXIT_DONE;
    json_array(j, "kernels");
    for (int i = 0; i < s->options->spec_count; i++)
        code = first_failure(code, each_of_file(s, s->options->specs[i], *one, j));
    json_end_array(j);
    return code;
}

int session_each(const options *o, each_call *one) {
    return session_report(o, each, &one);
}
