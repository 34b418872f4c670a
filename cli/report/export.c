/* tune export: T4 objects, whose times are milliseconds as in Kernel Tuner's files, and plans
   files: a head for each device, a comment for each spec, a line for each place. */
#include "cli/report/export.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "cli/words.h"

/* "2026-11-21T12:34:56.789Z", ISO 8601. */
static void add_time(json *j, const char *key, int64_t milliseconds) {
    const time_t seconds = (time_t)(milliseconds / 1000);
    struct tm utc;
    char when[sizeof "2026-11-21T12:34:56 and more"] = "";
    text b = new_text();
    if (gmtime_r(&seconds, &utc) != NULL)
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &utc);
    text_printf(&b, "%s.%03dZ", when, (int)(milliseconds % 1000));
    json_string(j, key, b.data);
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

/* "32x8" as key_x and key_y, so that other tuners see numbers; false where it is no such list. */
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
    for (size_t i = 0; i < count; i++) {
        text name = new_text();
        text_printf(&name, "%s_%c", key, axes[i]);
        add_value(j, name.data, string + part[i], part[i + 1] - 1 - part[i]);
    }
    return true;
}

static void add_word(json *j, const char *word, size_t length, const char *bare) {
    const char *equals = memchr(word, '=', length);
    if (equals == NULL) {
        add_value(j, bare, word, length);
        return;
    }
    text key = new_text();
    text_add_bytes(&key, word, (size_t)(equals - word));
    const size_t rest = length - (size_t)(equals + 1 - word);
    if (!add_numbers(j, key.data, equals + 1, rest))
        add_value(j, key.data, equals + 1, rest);
}

/* The plan's words by the keys that schedules have in specs. */
static void add_configuration(json *j, const sg_result *r) {
    const char *const *bare = words_of_kind(r->kind)->way;
    int count = 0;
    json_object(j, "configuration");
    for (const char *at = r->plan; *at != '\0';) {
        const size_t length = strcspn(at, " ");
        const bool named = memchr(at, '=', length) != NULL;
        if (length > 0 && (named || count < 2))
            add_word(j, at, length, bare[named ? 0 : count++]);
        at += length + (at[length] == ' ');
    }
    json_end_object(j);
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

static void add_milliseconds(json *j, const char *key, double seconds) {
    if (isfinite(seconds))
        json_number(j, key, 1e3 * seconds);
}

static void add_times(json *j, const sg_result *r) {
    json_object(j, "times");
    add_milliseconds(j, "compilation_time", r->compile_seconds);
    json_array(j, "runtimes");
    for (int i = 0; i < r->repeats; i++)
        json_number(j, NULL, 1e3 * r->seconds[i]);
    json_end_array(j);
    add_milliseconds(j, "validation", r->check_seconds);
    json_end_object(j);
}

static void add_measurement(json *j, const char *name, double value, const char *unit) {
    if (!isfinite(value))
        return;
    json_object(j, NULL);
    json_string(j, "name", name);
    json_number(j, "value", value);
    json_string(j, "unit", unit);
    json_end_object(j);
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
    json_array(j, "measurements");
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        add_measurement(j, list[i].name, list[i].value, list[i].unit);
    json_end_array(j);
}

/* ---- what T4 has no word for --------------------------------------------------------------- */

static void add_rest(json *j, const sg_result *r) {
    json_object(j, "stencilgen");
    json_string(j, "name", r->name);
    json_string(j, "family", r->family);
    json_string(j, "key", r->key);
    json_string(j, "generator", r->generator);
    json_string(j, "device", r->device);
    json_string(j, "device_name", r->device_name);
    json_string(j, "arch", r->arch);
    json_integer(j, "multiprocessors", r->multiprocessors);
    json_integer(j, "memory_bytes", r->memory);
    json_integer(j, "driver", r->driver);
    json_string(j, "compiler", r->compiler);
    json_integers(j, "size", r->size, r->size_count);
    json_integer(j, "steps", r->steps);
    json_string(j, "plan", r->plan);
    json_string(j, "state", r->state);
    json_string(j, "reason", r->reason);
    json_integer(j, "sweep", r->sweep);
    json_integer(j, "evaluation", r->evaluation);
    json_end_object(j);
}

/* ---- the object ---------------------------------------------------------------------------- */

void t4_begin(t4 *t, json *out) {
    *t = (t4){.out = out, .gpu = true, .one_device = true};
    json_object(out, NULL);
    json_string(out, "schema_version", "1.1.0");
    json_array(out, "results");
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
    json_object(j, NULL);
    add_time(j, "timestamp", r->taken);
    add_configuration(j, r);
    json_array(j, "objectives");
    json_string(j, NULL, "time");
    json_end_array(j);
    add_times(j, r);
    json_string(j, "invalidity", invalidity);
    json_integer(j, "correctness", strcmp(invalidity, "correct") == 0);
    add_measurements(j, r);
    add_rest(j, r);
    json_end_object(j);
}

/* At the end, when it is known whether all are of one device. T4 has no word for a processor. */
void t4_end(t4 *t) {
    json *j = t->out;
    json_end_array(j);
    json_object(j, "metadata");
    json_string(j, "autotuner", "stencilgen");
    json_string(j, "autotuner_version", t->count > 0 ? t->generator : SG_VERSION);
    json_string(j, "timeunit", "milliseconds");
    if (t->count > 0) {
        add_time(j, "timestamp", t->first);
        if (t->gpu)
            json_string(j, "compute_api", "CUDA");
        if (t->one_device)
            json_string(j, "device", t->device);
    }
    json_end_object(j);
    json_end_object(j);
}

/* ---- plans files --------------------------------------------------------------------------- */

static void set(text *t, const char *to) {
    *t = new_text();
    text_add(t, to);
}

/* A driver's name of a device, without characters that have a meaning in the file. */
static void add_name(text *out, const char *name) {
    for (const char *at = name; *at != '\0'; at++)
        text_add_bytes(out, (unsigned char)*at < ' ' || *at == '|' ? " " : at, 1);
    if (*name == '\0')
        text_add(out, "unknown");
}

static void add_device(text *out, const sg_result *r) {
    static const double gib = 1073741824.0;
    const bool processor = strcmp(r->device, "cpu") == 0;
    text_add(out, processor ? "cpu " : "gpu ");
    add_name(out, r->device_name);
    if (processor) {
        text_printf(out, " cores=%d\n", r->multiprocessors);
        return;
    }
    text_printf(out, " %s multiprocessors=%d memory=%.1fGiB\n", r->arch, r->multiprocessors,
                (double)r->memory / gib);
}

static void add_size(text *out, const sg_result *r) {
    add_extents(out, r->size, r->size_count);
    if (r->steps > 1)
        text_printf(out, ", %" PRId64 " steps", r->steps);
}

/* 10^9 points a second, at most 15 digits without an exponent; else "-", not known. */
static void add_rate(text *out, double rate) {
    if (rate >= 1e-4 && rate < 1e9)
        text_printf(out, "%.*f", rate < 100 ? 6 : 1, rate);
    else
        text_add(out, "-");
}

static void write_best(plans *p) {
    if (p->line.length == 0)
        return;
    if (strcmp(p->head.data, p->device.data) != 0) {
        text_printf(p->out, "%s%s", p->head.length > 0 ? "\n" : "", p->device.data);
        set(&p->head, p->device.data);
        p->name = new_text();
    }
    if (strcmp(p->name.data, p->spec.data) != 0)
        text_printf(p->out, "\n# %s\n", p->spec.data);
    set(&p->name, p->spec.data);
    text_add(p->out, p->line.data);
}

static void begin_place(plans *p, text *place, const sg_result *r) {
    write_best(p);
    set(&p->place, place->data);
    p->device = new_text();
    add_device(&p->device, r);
    p->line = new_text();
}

void plans_begin(plans *p, text *out) {
    const text none = new_text();
    *p = (plans){out, none, none, none, none, none, none, 0};
}

/* Plans of another version of the library may mean other kernels: no build takes them. */
void plans_result(plans *p, const sg_result *r) {
    if (strcmp(r->state, "right") != 0 || strcmp(r->generator, sg_version()) != 0)
        return;
    text place = new_text();
    add_device(&place, r);
    text_printf(&place, "%s %s | any | ", r->family, r->key);
    add_size(&place, r);
    if (strcmp(p->place.data, place.data) != 0)
        begin_place(p, &place, r);
    if (p->line.length == 0 || r->settled_seconds < p->best) {
        p->best = r->settled_seconds;
        p->line = new_text();
        p->spec = new_text();
        text_add(&p->spec, r->name);
        text_add(&p->line, strchr(place.data, '\n') + 1);
        text_add(&p->line, " | ");
        add_rate(&p->line, result_points(r) / r->settled_seconds / 1e9);
        text_printf(&p->line, " | %s\n", r->plan);
    }
}

void plans_end(plans *p) {
    write_best(p);
}
