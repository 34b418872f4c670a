/* What values of options mean. */
#include "cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const emit_words[EMIT_COUNT] = {"source", "ptx", "cubin", "plan", "model"};
const char *const emit_suffixes[EMIT_COUNT] = {".cu", ".ptx", ".cubin", ".plan", ".model"};

bool option_misused(const char *what, const char *value, const char *needed) {
    complain(EXIT_USAGE, NULL, "%s '%s': %s", what, value, needed);
    return false;
}

/* A whole number from 0; false if there is none or it is too large. */
static bool whole_number(const char *text, const char **end, uint64_t *out) {
    errno = 0;
    char *stop;
    *out = strtoull(text, &stop, 10);
    *end = stop;
    return text[0] >= '0' && text[0] <= '9' && errno == 0;
}

bool set_emit(options *o, const option *option, const char *value) {
    (void)option;
    memset(o->emit, 0, sizeof o->emit);
    for (const char *at = value;; at++) {
        const size_t length = strcspn(at, ",");
        int which = 0;
        while (which < EMIT_COUNT &&
               (strlen(emit_words[which]) != length || memcmp(emit_words[which], at, length) != 0))
            which++;
        if (which == EMIT_COUNT)
            return option_misused(
                "--emit", value,
                "a list without spaces of source, ptx, cubin, plan, model is needed");
        o->emit[which] = true;
        at += length;
        if (*at == '\0')
            return true;
    }
}

binding *bindings_add(bindings *list, const char *name, size_t name_length, const char *value) {
    list->items = longer_list(list->items, list->count, sizeof *list->items);
    binding *added = &list->items[list->count++];
    added->name = name != NULL ? job_copy(command_memory(), name, name_length) : NULL;
    added->value = new_copy(value);
    return added;
}

/* The length of a name such as `u` or `u.prev` at the start of "u.prev=FILE", else 0. */
static size_t name_before_equals(const char *text) {
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789_.[]");
    return text[length] == '=' && strchr("0123456789.[]", text[0]) == NULL ? length : 0;
}

static bool finite_number(const char *text, double *out) {
    char *end;
    *out = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*out);
}

bool set_parameter(options *o, const option *option, const char *value) {
    (void)option;
    const size_t length = name_before_equals(value);
    if (length == 0)
        return option_misused("--set", value, "NAME=VALUE is needed");
    for (int i = 0; i < o->sets.count; i++) {
        const char *name = o->sets.items[i].name;
        if (strlen(name) == length && strncmp(name, value, length) == 0)
            return option_misused("--set", value, "this parameter has a value already");
    }
    binding *set = bindings_add(&o->sets, value, length, value + length + 1);
    return finite_number(set->value, &set->number) ||
           option_misused("--set", value, "a finite number is needed");
}

static bool add_binding(bindings *to, const option *option, const char *value, const char *needed) {
    const size_t length = name_before_equals(value);
    if (length == 0 || value[length + 1] == '\0')
        return option_misused(option->name, value, needed);
    bindings_add(to, value, length, value + length + 1);
    return true;
}

bool set_initial(options *o, const option *option, const char *value) {
    return add_binding(&o->initials, option, value, "NAME=EXPRESSION is needed");
}

bool set_snapshot(options *o, const option *option, const char *value) {
    return add_binding(&o->snapshots, option, value, "NAME=FILE is needed, as in u=u-%06d.png");
}

bool set_range(options *o, const option *option, const char *value) {
    const size_t length = strcspn(value, ":");
    binding *b = bindings_add(&(bindings){0}, value, length, value + length + (value[length] != 0));
    o->range_given = finite_number(b->name, &o->range[0]) &&
                     finite_number(b->value, &o->range[1]) && o->range[0] < o->range[1];
    return o->range_given ||
           option_misused(option->name, value, "two numbers are needed, as in 0:0.4");
}

bool set_slice(options *o, const option *option, const char *value) {
    const char *end = value;
    uint64_t plane = 0;
    o->slice_given = strncmp(value, "z=", 2) == 0 && whole_number(value + 2, &end, &plane) &&
                     *end == '\0' && plane <= INT64_MAX;
    o->slice = (int64_t)plane;
    return o->slice_given || option_misused(option->name, value, "a plane is needed, as in z=64");
}

static void *place_of(options *o, const option *option) {
    return (char *)o + option->place;
}

bool set_once(options *o, const option *option, const char *value) {
    const char **place = place_of(o, option);
    if (value[0] == '\0')
        return option_misused(option->name, value, "a word is needed");
    if (*place != NULL)
        return option_misused(option->name, value,
                              phrase("the option is there already, with '%s'", *place));
    *place = value;
    return true;
}

bool set_file(options *o, const option *option, const char *value) {
    const size_t length = name_before_equals(value);
    const char *file = length > 0 ? value + length + 1 : value;
    if (*file == '\0')
        return option_misused(option->name, value, "a file is needed");
    bindings_add(place_of(o, option), length > 0 ? value : NULL, length, file)->is_values =
        strstr(option->name, "values") != NULL;
    return true;
}

/* Cuts a range off, "u.pgm:0..0.4". */
static bool take_range(binding *b) {
    static const char suffix[] = ".pgm:";
    char *colon = strrchr(b->value, ':');
    if (colon == NULL || colon - b->value < (ptrdiff_t)sizeof suffix - 2 ||
        strncmp(colon - (sizeof suffix - 2), suffix, sizeof suffix - 1) != 0)
        return true;
    char *dots = strstr(colon, "..");
    bool good = dots != NULL;
    if (good) {
        *dots = '\0'; /* else the first number of "0..1" would be read as "0." */
        good = finite_number(colon + 1, &b->low) && finite_number(dots + 2, &b->high) &&
               b->low < b->high;
        *dots = '.';
    }
    if (!good)
        return option_misused("--output", b->value,
                              "what is black and what is white are needed after the colon, the "
                              "lesser first, as in u.pgm:0..0.4");
    *colon = '\0';
    b->has_range = true;
    return true;
}

bool set_output(options *o, const option *option, const char *value) {
    return set_file(o, option, value) && take_range(&o->outputs.items[o->outputs.count - 1]);
}

bool set_monitor(options *o, const option *option, const char *value) {
    const size_t length = name_before_equals(value);
    const bool has_file = length > 0 && value[length + 1] != '\0';
    if (!has_file && strchr(value, '=') != NULL)
        return option_misused(option->name, value, "NAME or NAME=FILE.npy is needed");
    bindings_add(&o->monitors, value, has_file ? length : strlen(value),
                 has_file ? value + length + 1 : "");
    return true;
}

bool set_points(options *o, const option *option, const char *value) {
    const size_t length = name_before_equals(value);
    const char *colon = strrchr(value, ':');
    if (length == 0 || colon == NULL || colon <= value + length + 1 || colon[1] == '\0')
        return option_misused(option->name, value, "NAME=POSITIONS.npy:FILE.npy is needed");
    bindings_add(&o->points, value, length, value + length + 1);
    return true;
}

/* "512x256": 1 to 3 numbers from 1 to `most`, x first. */
static bool take_extents(const option *option, const char *value, uint64_t most, int64_t out[3],
                         int *count) {
    bool good = true;
    memset(out, 0, 3 * sizeof *out);
    *count = 0;
    for (const char *at = value; good; at++) {
        uint64_t extent = 0;
        good = *count < 3 && whole_number(at, &at, &extent) && extent > 0 && extent <= most &&
               (*at == 'x' || *at == '\0');
        if (good)
            out[(*count)++] = (int64_t)extent;
        if (good && *at == '\0')
            return true;
    }
    return option_misused(option->name, value,
                          "1 to 3 whole numbers from 1 are needed, as in 512x256");
}

bool set_size(options *o, const option *option, const char *value) {
    return take_extents(option, value, INT64_MAX, o->size, &o->size_count);
}

bool set_ranks(options *o, const option *option, const char *value) {
    return take_extents(option, value, 1 << 20, o->ranks, &o->rank_axes);
}

static bool from_one(const option *option, const char *value, uint64_t most, uint64_t *out) {
    const char *end;
    return (whole_number(value, &end, out) && *end == '\0' && *out > 0 && *out <= most) ||
           option_misused(option->name, value, "a whole number from 1 is needed");
}

bool set_count(options *o, const option *option, const char *value) {
    uint64_t count = 0;
    const bool good = from_one(option, value, INT64_MAX, &count);
    *(int64_t *)place_of(o, option) = (int64_t)count;
    return good;
}

const char *const every_words[EVERY_COUNT] = {"snapshot", "monitor", "checkpoint"};

int64_t options_every(const options *o, every what) {
    return o->every_of[what] > 0 ? o->every_of[what] : o->every;
}

unsigned options_due(const options *o) {
    const bool monitors = o->monitors.count > 0 || o->until != NULL;
    return (unsigned)(o->snapshots.count > 0) << EVERY_SNAPSHOT |
           (unsigned)monitors << EVERY_MONITOR |
           (unsigned)(o->checkpoint != NULL) << EVERY_CHECKPOINT;
}

bool set_every(options *o, const option *option, const char *value) {
    const char *number = strchr(value, '=');
    if (number == NULL)
        return set_count(o, option, value);
    for (int i = 0; i < EVERY_COUNT; i++) {
        const size_t length = strlen(every_words[i]);
        uint64_t count = 0;
        if (length != (size_t)(number - value) || strncmp(value, every_words[i], length) != 0)
            continue;
        if (!from_one(option, number + 1, INT64_MAX, &count))
            return false;
        o->every_of[i] = (int64_t)count;
        return true;
    }
    return option_misused(option->name, value, "give N, or snapshot=N, monitor=N or checkpoint=N");
}

bool set_steps(options *o, const option *option, const char *value) {
    o->steps_given = true;
    return set_count(o, option, value);
}

bool set_seed(options *o, const option *option, const char *value) {
    return from_one(option, value, UINT64_MAX, &o->seed);
}

/* "60s", "5m", "1.5h"; seconds where there is no unit. */
bool set_time(options *o, const option *option, const char *value) {
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
    char *end;
    const double number = strtod(value, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0] && end != value; i++)
        if (strcmp(end, units[i].unit) == 0 && number > 0 && isfinite(number)) {
            *(double *)place_of(o, option) = number * units[i].seconds;
            return true;
        }
    return option_misused(option->name, value, "a time is needed, as in 60s, 5m or 1h");
}

bool set_search(options *o, const option *option, const char *value) {
    (void)option;
    static const char *const words[] = {[SG_SEARCH_GUIDED] = "guided",
                                        [SG_SEARCH_EXHAUSTIVE] = "exhaustive",
                                        [SG_SEARCH_RANDOM] = "random"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(value, words[i]) == 0) {
            o->search = (int)i;
            return true;
        }
    return option_misused("--search", value, "guided, exhaustive or random is needed");
}

bool set_resume(options *o, const option *option, const char *unused) {
    (void)option;
    (void)unused;
    o->afresh = false;
    return true;
}

bool set_device(options *o, const option *option, const char *value) {
    (void)option;
    o->device = value;
    return strcmp(value, "auto") == 0 || strcmp(value, "cuda") == 0 || strcmp(value, "cpu") == 0 ||
           option_misused("--device", value, "auto, cuda or cpu is needed");
}
