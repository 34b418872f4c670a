/* One run of the command on one device. */
#include "cli/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int session_failed(const session *s, sg_status status, buffer *error) {
    if (error != NULL)
        buffer_add(error, s->context != NULL ? sg_error(s->context) : "error: out of memory");
    return complain_library(s->context, status);
}

int session_open(session *s, const options *o) {
    *s = (session){.options = o, .device = {.struct_size = sizeof s->device}};
    const sg_options wanted = {.struct_size = sizeof wanted, .device = o->device};
    progress("opening the device");
    sg_status status = sg_open(&s->context, &wanted);
    if (status == SG_OK)
        status = sg_device(s->context, &s->device);
    if (status == SG_OK)
        return EXIT_DONE;
    const int code = session_failed(s, status, NULL);
    session_close(s);
    return code;
}

void session_close(session *s) {
    sg_close(s->context);
    s->context = NULL;
}

/* A spec that cannot be read is bad usage, unlike a data file. */
static int spec_failed(const session *s, sg_status status, buffer *error) {
    const int code = session_failed(s, status, error);
    return status == SG_ERROR_IO ? EXIT_USAGE : code;
}

int session_count(session *s, const char *spec, int *out) {
    const sg_status status = sg_count_specs(s->context, spec, NULL, out);
    return status == SG_OK ? EXIT_DONE : spec_failed(s, status, NULL);
}

sg_build_options session_build_options(const session *s, int index) {
    const options *o = s->options;
    sg_build_options build = {
        .struct_size = sizeof build,
        .index = index,
        .schedule = o->schedule.length > 0 ? o->schedule.data : NULL,
        .arch = o->arch,
    };
    for (int axis = 0; axis < o->size_count; axis++)
        build.size[axis] = o->size[axis];
    return build;
}

/* Planning is cheap beside compiling, so a plain build answers this. */
static int find_dimensions(session *s, const char *spec, const sg_build_options *build,
                           buffer *error, int *dims) {
    const int given = s->options->size_count;
    sg_build_options plain = {.struct_size = sizeof plain, .index = build->index, .source_only = 1};
    sg_kernel *kernel;
    const sg_status status = sg_build(s->context, spec, &plain, &kernel);
    if (status != SG_OK)
        return spec_failed(s, status, error);
    sg_kernel_info info = {.struct_size = sizeof info};
    sg_kernel_facts(kernel, &info);
    *dims = info.dims;
    int code = EXIT_DONE;
    if (given > 0 && info.dims != given) {
        code = complain(EXIT_USAGE, NULL, "--size has %d extent%s, but %s has %d dimension%s",
                        given, given == 1 ? "" : "s", sg_kernel_text(kernel, SG_TEXT_NAME),
                        info.dims, info.dims == 1 ? "" : "s");
        if (error != NULL)
            buffer_add(error, "error: --size does not have an extent for each dimension");
    }
    sg_release(kernel);
    return code;
}

int session_dimensions(session *s, const char *spec, const sg_build_options *build, int *out) {
    return find_dimensions(s, spec, build, NULL, out);
}

int session_build(session *s, const char *spec, const sg_build_options *build, sg_kernel **out,
                  buffer *error) {
    int dims;
    if (s->options->size_count > 0) {
        const int code = find_dimensions(s, spec, build, error, &dims);
        if (code != EXIT_DONE)
            return code;
    }
    const sg_status status = sg_build(s->context, spec, build, out);
    return status == SG_OK ? EXIT_DONE : spec_failed(s, status, error);
}

static const binding *find_set(const bindings *sets, const char *name) {
    const binding *found = NULL; /* the last one counts */
    for (int i = 0; i < sets->count; i++)
        if (strcmp(sets->items[i].name, name) == 0)
            found = &sets->items[i];
    return found;
}

static int unknown_parameter(const char *spec, const sg_kernel *kernel, int count,
                             const char *name) {
    const char **names = must_alloc((size_t)count, sizeof *names);
    buffer known = {0};
    for (int i = 0; i < count; i++) {
        sg_parameter_info info = {.struct_size = sizeof info};
        sg_kernel_parameter(kernel, i, &info);
        names[i] = info.name;
        buffer_printf(&known, "%s%s", i > 0 ? ", " : "", info.name);
    }
    const char *nearest = nearest_word(name, names, (size_t)count);
    const int code =
        complain(EXIT_USAGE, spec, "%s has no parameter '%s'%s%s%s",
                 sg_kernel_text(kernel, SG_TEXT_NAME), name,
                 nearest != NULL ? "; did you mean "
                 : count > 0     ? "; it has "
                                 : "; it has none",
                 nearest != NULL ? nearest : buffer_text(&known), nearest != NULL ? "?" : "");
    buffer_free(&known);
    free(names);
    return code;
}

static int fill_parameter(const session *s, const char *spec, const sg_kernel *kernel, int index,
                          bool all, double *value) {
    sg_parameter_info info = {.struct_size = sizeof info};
    const sg_status status = sg_kernel_parameter(kernel, index, &info);
    if (status != SG_OK)
        return session_failed(s, status, NULL);
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
    sg_kernel_info info = {.struct_size = sizeof info};
    sg_kernel_facts(kernel, &info);
    *out = NULL;
    *count = info.parameters;
    for (int i = 0; i < s->options->sets.count; i++) {
        const char *name = s->options->sets.items[i].name;
        int known = 0;
        sg_parameter_info parameter = {.struct_size = sizeof parameter};
        while (known < info.parameters &&
               (sg_kernel_parameter(kernel, known, &parameter) != SG_OK ||
                strcmp(parameter.name, name) != 0))
            known++;
        if (known == info.parameters)
            return unknown_parameter(spec, kernel, info.parameters, name);
    }
    if (info.parameters == 0 || (s->options->sets.count == 0 && !all))
        return EXIT_DONE;
    double *values = must_alloc((size_t)info.parameters, sizeof *values);
    int code = EXIT_DONE;
    for (int i = 0; i < info.parameters && code == EXIT_DONE; i++)
        code = fill_parameter(s, spec, kernel, i, all, &values[i]);
    if (code == EXIT_DONE)
        *out = values;
    else
        free(values);
    return code;
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
