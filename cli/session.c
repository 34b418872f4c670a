/* One run of the command on one device. */
#include "cli/session.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int session_code(const session *s, sg_status status) {
    return complain_library(s->context, status);
}

static int open_on(session *s, const options *o, const char *device) {
    *s = (session){.options = o, .device = {.struct_size = sizeof s->device}};
    const sg_options wanted = {.struct_size = sizeof wanted,
                               .device = device,
                               .device_index = o->local_rank ? sg_team_device(-1) : 0,
                               .database = o->database,
                               .log = warn_library};
    return session_code(s, sg_open(&s->context, &wanted));
}

int session_open(session *s, const options *o) {
    progress("opening the device");
    int code = open_on(s, o, o->device);
    if (code == EXIT_DONE)
        code = session_code(s, sg_device(s->context, &s->device));
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
    s->first = 0;
    if (code != EXIT_DONE)
        return code;
    const char *name = s->options->spec;
    const sg_status status = name != NULL ? sg_find_spec(s->context, spec, s->text, name, &s->first)
                                          : sg_count_specs(s->context, spec, s->text, out);
    if (name != NULL)
        *out = 1;
    code = session_code(s, status);
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

sg_build_options session_plain_options(const session *s, int index) {
    sg_build_options build = session_build_options(s, index);
    memset(build.size, 0, sizeof build.size);
    build.source_only = 1;
    return build;
}

int session_judge_size(const session *s, const sg_kernel *kernel) {
    const int given = s->options->size_count;
    const sg_kernel_info info = facts_of(kernel);
    const int64_t *size = s->options->size;
    bool fits = given == 0 || given == info.dims;
    if (s->options->restart != NULL) /* a checkpoint has all axes, also those that are not there */
        fits = (info.dims > 1 || size[1] == 1) && (info.dims > 2 || size[2] == 1);
    if (fits)
        return EXIT_DONE;
    return complain(EXIT_USAGE, NULL, "--size has %s, but %s has %s", counted(given, "extent"),
                    sg_kernel_text(kernel, SG_TEXT_NAME), counted(info.dims, "dimension"));
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
    return session_code(s, sg_build(s->context, spec, build, out));
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
    return complain(EXIT_USAGE, spec, "%s has no parameter '%s'%s%s%s",
                    sg_kernel_text(kernel, SG_TEXT_NAME), name,
                    nearest != NULL ? "; did you mean "
                    : count > 0     ? "; it has "
                                    : "; it has none",
                    nearest != NULL ? nearest : known.data, nearest != NULL ? "?" : "");
}

static int fill_parameter(const session *s, const char *spec, const sg_kernel *kernel, int index,
                          parameter_values which, double *value) {
    sg_parameter_info info = {.struct_size = sizeof info};
    sg_kernel_parameter(kernel, index, &info);
    const binding *set = find_set(&s->options->sets, info.name);
    if (set != NULL)
        *value = set->number;
    else if (info.has_default)
        *value = info.value;
    else if (which == VALUES_NEEDED)
        return complain(EXIT_USAGE, spec,
                        "parameter %s of %s has no value; give it one with --set "
                        "%s=VALUE",
                        info.name, sg_kernel_text(kernel, SG_TEXT_NAME), info.name);
    else
        *value = 0.25 + 0.75 * fmod((index + 1) * 0.6180339887498949, 1);
    return EXIT_DONE;
}

int session_parameters(session *s, const char *spec, const sg_kernel *kernel,
                       parameter_values which, double **out, int *count) {
    const sg_kernel_info info = facts_of(kernel);
    *out = NULL;
    *count = info.parameters;
    for (int i = 0; i < s->options->sets.count; i++) {
        const char *name = s->options->sets.items[i].name;
        if (sg_kernel_find_parameter(kernel, name) < 0)
            return unknown_parameter(spec, kernel, info.parameters, name);
    }
    if (info.parameters == 0 || (s->options->sets.count == 0 && which == VALUES_SET))
        return EXIT_DONE;
    double *values = new_array((size_t)info.parameters, sizeof *values);
    int code = EXIT_DONE;
    for (int i = 0; i < info.parameters && code == EXIT_DONE; i++)
        code = fill_parameter(s, spec, kernel, i, which, &values[i]);
    *out = values;
    return code;
}

static int judge_size(session *s, const char *spec, const sg_build_options *build) {
    sg_build_options plain = session_plain_options(s, build->index);
    sg_kernel *kernel;
    plain.matrix = build->matrix;
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
        return session_parameters(s, spec, *out, VALUES_SET, parameters, &count);
    sg_release(*out);
    *out = NULL;
    return code;
}

void session_parameters_json(const session *s, const sg_kernel *kernel, json *j) {
    const sg_kernel_info kernel_info = facts_of(kernel);
    json_add(j, "parameters {");
    for (int i = 0; i < kernel_info.parameters; i++) {
        sg_parameter_info info = {.struct_size = sizeof info};
        sg_kernel_parameter(kernel, i, &info);
        const binding *set = find_set(&s->options->sets, info.name);
        json_number(j, info.name, set != NULL ? set->number : info.has_default ? info.value : NAN);
    }
    json_add(j, "}");
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
    const sg_build_options plain = session_plain_options(s, how->index);
    sg_kernel *kernel;
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
    int code = judge_input(s, spec, how);
    if (code == EXIT_DONE)
        code = session_code(s, sg_matrix_read(s->context, inputs->items[0].value, out));
    if (code != EXIT_DONE)
        return code;
    sg_matrix_info facts = {.struct_size = sizeof facts};
    how->matrix = *out;
    if (sg_matrix_facts(*out, &facts) == SG_OK)
        how->size[0] = facts.entries; /* 0 of none is the default */
    return EXIT_DONE;
}

void json_begin(json *j, const options *o) {
    json_add(j, "{ stencilgen %s command %s", SG_VERSION, command_name(o->command));
}

int json_finish(json *j, const options *o, int code, const text *said) {
    json_add(j, "exit %d }", code);
    if (o->json)
        said = j->out;
    return said != NULL ? first_failure(code, say(said)) : code;
}

void session_json(const session *s, json *j) {
    const sg_device_info *d = &s->device;
    json_add(j,
             "device { kind %s name %s arch %s multiprocessors %d memory_bytes %" PRId64
             " l2_cache_bytes %" PRId64 " driver %d }",
             d->device, d->name, d->arch, d->multiprocessors, d->memory, d->l2_cache, d->driver);
}

/* A file that cannot be read has one object, for its error. */
static int each_of_file(session *s, const char *spec, each_call *one, json *j, void *user) {
    int count = 0;
    int code = session_count(s, spec, &count);
    const int first = s->first, end = first + (code == EXIT_DONE ? count : 1);
    for (int index = first; index < end && !s->stopped; index++) {
        json_add(j, "{ spec %s index %d", spec, index);
        const int now = code == EXIT_DONE || index > first ? one(s, spec, index, j, user) : code;
        json_add(j, "error %s exit %d }", complaint_take(), now);
        code = first_failure(code, now);
    }
    return code;
}

int session_each(const options *o, bool with_device, each_call *one, void *user) {
    session s;
    int code = session_open(&s, o);
    if (code != EXIT_DONE)
        return code;
    text line = new_text();
    json j = {.out = &line};
    json_begin(&j, o);
    if (with_device)
        session_json(&s, &j);
    json_add(&j, "kernels [");
    for (int i = 0; i < o->spec_count && !s.stopped; i++)
        code = first_failure(code, each_of_file(&s, o->specs[i], one, &j, user));
    json_add(&j, "]");
    code = json_finish(&j, o, code, NULL);
    session_close(&s);
    return code;
}

/* ---- what reports call things ---------------------------------------------------------------- */

static const words table[] = {
    [SG_KIND_GRID] = {true, "points", "a point", "a step", {"method", "variant"}},
    [SG_KIND_LISTS] = {false, "elements", "an element", "a call", {"algorithm", "variant"}},
    [SG_KIND_REDUCE] = {false, "elements", "an element", "a call", {"algorithm", "variant"}},
    [SG_KIND_SCAN] = {false, "elements", "an element", "a call", {"algorithm", "variant"}},
    [SG_KIND_MERGE] = {false, "keys", "a key", "a call", {"algorithm", "variant"}},
    [SG_KIND_PRODUCT] = {false, "entries", "an entry", "a product", {"format", "algorithm"}},
};

const words *words_of_kind(sg_kind kind) {
    const size_t count = sizeof table / sizeof table[0];
    return &table[(size_t)kind < count ? kind : SG_KIND_LISTS];
}

sg_kernel_info facts_of(const sg_kernel *kernel) {
    sg_kernel_info info = {.struct_size = sizeof info};
    sg_kernel_facts(kernel, &info);
    return info;
}

const words *words_of(const sg_kernel *kernel) {
    return words_of_kind(facts_of(kernel).kind);
}

enum { MATRIX_ENTRIES = 2, MATRIX_SIZES = 6 };

bool result_is_of_matrix(const sg_result *r) {
    return r->size_count == MATRIX_SIZES;
}

double result_points(const sg_result *r) {
    double points = r->steps > 1 ? (double)r->steps : 1;
    if (result_is_of_matrix(r))
        return points * (double)r->size[MATRIX_ENTRIES];
    for (int i = 0; i < r->size_count; i++)
        points *= (double)r->size[i];
    return points;
}

const char *points_text(const words *w, int64_t count) {
    return count == 1 ? phrase("1%s", strchr(w->point, ' '))
                      : phrase("%" PRId64 " %s", count, w->points);
}

const char *size_text(const words *w, const int64_t *size, int dims) {
    return w->is_grid  ? in_extents(size, dims)
           : dims == 1 ? points_text(w, *size)
                       : phrase("%s %s", in_extents(size, dims), w->points);
}

const char *size_of_result(const sg_result *r) {
    if (!result_is_of_matrix(r))
        return in_extents(r->size, r->size_count);
    return phrase("%" PRId64 "x%" PRId64 " with %s", r->size[0], r->size[1],
                  counted(r->size[MATRIX_ENTRIES], "entry"));
}
