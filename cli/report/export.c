/* tune export: T4 objects, whose times are milliseconds as in Kernel Tuner's files, and plans
   files: a head for each device, a comment for each spec, a line for each place. */
#include "cli/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

/* "2026-11-21T12:34:56.789Z", ISO 8601. */
static const char *time_of(int64_t milliseconds) {
    const time_t seconds = (time_t)(milliseconds / 1000);
    struct tm utc;
    char when[sizeof "2026-11-21T12:34:56 and more"] = "";
    if (gmtime_r(&seconds, &utc) != NULL)
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &utc);
    return phrase("%s.%03dZ", when, (int)(milliseconds % 1000));
}

/* ---- what was tried ------------------------------------------------------------------------ */

static bool is_whole(const char *text, size_t length) {
    return length > 0 && length < 18 && strspn(text, "0123456789") >= length;
}

static void add_value(json *j, const char *key, const char *string, size_t length) {
    const char *value = job_copy(command_memory(), string, length);
    if (is_whole(string, length))
        json_literal(j, key, value);
    else
        json_string(j, key, value);
}

/* "32x8" as key_x and key_y, so that other tuners see numbers; false for other values. */
static bool add_numbers(json *j, const char *key, const char *string, size_t length) {
    static const char axes[] = "xyz";
    size_t part[4] = {0}, count = 0;
    for (size_t at = 0; at <= length; at++) {
        if (at < length && string[at] != 'x')
            continue;
        if (count == 3 || !is_whole(string + part[count], at - part[count]))
            return false;
        part[++count] = at + 1;
    }
    if (count < 2)
        return false;
    for (size_t i = 0; i < count; i++)
        add_value(j, phrase("%s_%c", key, axes[i]), string + part[i], part[i + 1] - 1 - part[i]);
    return true;
}

static void add_word(json *j, const char *word, size_t length, const char *bare) {
    const char *equals = memchr(word, '=', length);
    if (equals == NULL) {
        add_value(j, bare, word, length);
        return;
    }
    const char *key = phrase("%.*s", (int)(equals - word), word);
    const size_t rest = length - (size_t)(equals + 1 - word);
    if (!add_numbers(j, key, equals + 1, rest))
        add_value(j, key, equals + 1, rest);
}

/* The plan's words by the keys that schedules have in specs. */
static void add_configuration(json *j, const sg_result *r) {
    const char *const *bare = words_of_kind(r->kind)->way;
    int count = 0;
    json_add(j, "configuration {");
    for (const char *at = r->plan; *at != '\0';) {
        const size_t length = strcspn(at, " ");
        const bool named = memchr(at, '=', length) != NULL;
        if (length > 0 && (named || count < 2))
            add_word(j, at, length, bare[named ? 0 : count++]);
        at += length + (at[length] == ' ');
    }
    json_add(j, "}");
}

/* ---- what came of it ----------------------------------------------------------------------- */

static const struct {
    const char *state, *invalidity;
} states[] = {{"right", "correct"},        {"wrong", "correctness"}, {"refused", "constraints"},
              {"not compiled", "compile"}, {"failed", "runtime"},    {"hung", "timeout"}};

static const char *invalidity_of(const sg_result *r) {
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        if (strcmp(states[i].state, r->state) == 0)
            return states[i].invalidity;
    return "runtime";
}

static void add_times(json *j, const sg_result *r) {
    json_add(j, "times {");
    if (isfinite(r->compile_seconds))
        json_add(j, "compilation_time %g", 1e3 * r->compile_seconds);
    json_add(j, "runtimes [");
    for (int i = 0; i < r->repeats; i++)
        json_add(j, "%g", 1e3 * r->seconds[i]);
    json_add(j, "]");
    if (isfinite(r->check_seconds))
        json_add(j, "validation %g", 1e3 * r->check_seconds);
    json_add(j, "}");
}

static double known(int64_t count) {
    return count < 0 ? (double)NAN : (double)count;
}

static void add_measurements(json *j, const sg_result *r) {
    const struct {
        const char *name, *unit;
        double value;
    } list[] = {
        {"time", "ms", 1e3 * r->median},
        {"time_spread", "", r->spread},
        {"final_time", "ms", r->final_seconds > 0 ? 1e3 * r->final_seconds : (double)NAN},
        {"estimated_time", "ms", 1e3 * r->estimated_seconds},
        {"copy_time", "ms", 1e3 * r->copy_seconds},
        {"registers", "", known(r->registers)},
        {"shared_memory", "bytes", known(r->shared_bytes)},
        {"local_memory", "bytes", known(r->local_bytes)},
        {"occupancy", "", r->occupancy},
        {"clock_before", "MHz", r->clock_before},
        {"clock_after", "MHz", r->clock_after},
        {"temperature_before", "C", r->temperature_before},
        {"temperature_after", "C", r->temperature_after},
    };
    json_add(j, "measurements [");
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        if (isfinite(list[i].value))
            json_add(j, "{ name %s value %g unit %s }", list[i].name, list[i].value, list[i].unit);
    json_add(j, "]");
}

/* ---- what T4 has no word for --------------------------------------------------------------- */

static void add_rest(json *j, const sg_result *r) {
    json_add(j,
             "stencilgen { name %s family %s key %s generator %s device %s device_name %s arch %s "
             "multiprocessors %d memory_bytes %" PRId64 " driver %d compiler %s",
             r->name, r->family, r->key, r->generator, r->device, r->device_name, r->arch,
             r->multiprocessors, r->memory, r->driver, r->compiler);
    json_integers(j, "size", r->size, r->size_count);
    json_add(j, "steps %" PRId64 " plan %s state %s reason %s sweep %" PRId64 " evaluation %d }",
             r->steps, r->plan, r->state, r->reason, r->sweep, r->evaluation);
}

/* ---- the object ---------------------------------------------------------------------------- */

void t4_begin(t4 *t, json *out) {
    *t = (t4){.out = out, .gpu = true, .one_device = true};
    json_add(out, "{ schema_version %s results [", "1.1.0");
}

static void remember(t4 *t, const sg_result *r) {
    if (t->count++ == 0) {
        t->device = new_copy(r->device_name);
        t->first = r->taken;
    }
    t->gpu &= strcmp(r->device, "cuda") == 0;
    t->one_device &= strcmp(t->device, r->device_name) == 0;
    if (r->taken < t->first)
        t->first = r->taken;
    t->generator = new_copy(r->generator);
}

void t4_result(t4 *t, const sg_result *r) {
    json *j = t->out;
    const char *invalidity = invalidity_of(r);
    remember(t, r);
    json_add(j, "{ timestamp %s", time_of(r->taken));
    add_configuration(j, r);
    json_add(j, "objectives [ %s ]", "time");
    add_times(j, r);
    json_add(j, "invalidity %s correctness %d", invalidity, strcmp(invalidity, "correct") == 0);
    add_measurements(j, r);
    add_rest(j, r);
    json_add(j, "}");
}

/* The metadata come last, when it is known whether there is one device. T4 has no word for a
   processor. */
void t4_end(t4 *t) {
    json *j = t->out;
    json_add(j, "] metadata { autotuner %s autotuner_version %s timeunit %s", "stencilgen",
             t->count > 0 ? t->generator : SG_VERSION, "milliseconds");
    if (t->count > 0)
        json_add(j, "timestamp %s", time_of(t->first));
    if (t->count > 0 && t->gpu)
        json_add(j, "compute_api %s", "CUDA");
    if (t->count > 0 && t->one_device)
        json_add(j, "device %s", t->device);
    json_add(j, "} }");
}

/* ---- plans files --------------------------------------------------------------------------- */

/* A driver's name of a device, without characters that have a meaning in the file. */
static const char *name_in_file(const char *name) {
    char *out = new_copy(*name != '\0' ? name : "unknown");
    for (char *at = out; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == '|')
            *at = ' ';
    return out;
}

static const char *device_line(const sg_result *r) {
    static const double gib = 1073741824.0;
    const char *name = name_in_file(r->device_name);
    return strcmp(r->device, "cpu") == 0
               ? phrase("cpu %s cores=%d\n", name, r->multiprocessors)
               : phrase("gpu %s %s multiprocessors=%d memory=%.1fGiB\n", name, r->arch,
                        r->multiprocessors, (double)r->memory / gib);
}

/* "family key | any | 512x512, 10 steps". */
static const char *place_of(const sg_result *r) {
    return phrase("%s %s | any | %s%s", r->family, r->key, in_extents(r->size, r->size_count),
                  r->steps > 1 ? phrase(", %" PRId64 " steps", r->steps) : "");
}

/* 10^9 points a second, at most 15 digits without an exponent; else "-", not known. */
static const char *rate_in_file(double rate) {
    return rate >= 1e-4 && rate < 1e9 ? phrase("%.*f", rate < 100 ? 6 : 1, rate) : "-";
}

static void write_best(plans *p) {
    if (p->line == NULL)
        return;
    if (strcmp(p->head, p->device) != 0) {
        text_printf(p->out, "%s%s", p->head[0] != '\0' ? "\n" : "", p->device);
        p->head = p->device;
        p->name = "";
    }
    if (strcmp(p->name, p->spec) != 0)
        text_printf(p->out, "\n# %s\n", p->spec);
    p->name = p->spec;
    text_add(p->out, p->line);
}

void plans_begin(plans *p, text *out) {
    *p = (plans){.out = out, .head = "", .name = "", .device = "", .place = ""};
}

/* Plans of another version of the library may mean other kernels: no build takes them. */
void plans_result(plans *p, const sg_result *r) {
    if (strcmp(r->state, "right") != 0 || strcmp(r->generator, sg_version()) != 0)
        return;
    const char *device = device_line(r), *place = place_of(r);
    if (strcmp(p->device, device) != 0 || strcmp(p->place, place) != 0) {
        write_best(p);
        p->device = device;
        p->place = place;
        p->line = NULL;
    }
    if (p->line == NULL || r->settled_seconds < p->best) {
        p->best = r->settled_seconds;
        p->spec = new_copy(r->name);
        p->line = phrase("%s | %s | %s\n", place,
                         rate_in_file(result_points(r) / r->settled_seconds / 1e9), r->plan);
    }
}

void plans_end(plans *p) {
    write_best(p);
}
