/* The command line: the tables of commands and options, and what each option sets. */
#include "cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"

const char *const emit_words[EMIT_COUNT] = {"source", "ptx", "cubin", "plan", "model"};
const char *const emit_suffixes[EMIT_COUNT] = {".cu", ".ptx", ".cubin", ".plan", ".model"};

static const struct {
    const char *name, *arguments, *help;
} commands[COMMAND_COUNT] = {
    [COMMAND_BUILD] = {"", "SPEC.lua...", "write NAME.cu, compile, check, measure, report"},
    [COMMAND_RUN] = {"run", "SPEC.lua --input A.npy",
                     "compute from files of arrays; the size is theirs"},
    [COMMAND_BENCH] = {"bench", "SPEC.lua...",
                       "check and measure, stencils beside the textbook's; no files"},
    [COMMAND_EXPLAIN] = {"explain", "SPEC.lua...",
                         "what each method would do, and which one is chosen"},
    [COMMAND_TUNE] = {"tune", "SPEC.lua...|export",
                      "measure schedules; later builds take the fastest"},
    [COMMAND_REPORT] = {"report", "SPEC.lua", "a page, NAME.html, of what tuning found"},
    [COMMAND_DOCTOR] = {"doctor", "", "which driver, NVRTC, compiler, cache and database"},
    [COMMAND_CACHE] = {"cache", "list|verify|clear", "the compiled kernels kept on disk"},
};

enum {
    FOR_BUILD = 1 << COMMAND_BUILD,
    FOR_RUN = 1 << COMMAND_RUN,
    FOR_BENCH = 1 << COMMAND_BENCH,
    FOR_EXPLAIN = 1 << COMMAND_EXPLAIN,
    FOR_TUNE = 1 << COMMAND_TUNE,
    FOR_REPORT = 1 << COMMAND_REPORT,
    FOR_DOCTOR = 1 << COMMAND_DOCTOR,
    FOR_CACHE = 1 << COMMAND_CACHE,
    FOR_KERNELS = FOR_BUILD | FOR_RUN | FOR_BENCH,
    FOR_SPECS = FOR_KERNELS | FOR_EXPLAIN | FOR_TUNE,
    FOR_PLACES = FOR_SPECS | FOR_REPORT,
    FOR_DEVICES = FOR_SPECS | FOR_DOCTOR,
    FOR_JSON = FOR_DEVICES | FOR_CACHE,
    FOR_ALL = FOR_JSON | FOR_REPORT,
};

static char *copy(const char *text, size_t length) {
    buffer b = {0};
    buffer_add_bytes(&b, text, length);
    return b.data;
}

static bool usage(const char *what, const char *value, const char *needed) {
    complain(EXIT_USAGE, NULL, "%s '%s': %s", what, value, needed);
    return false;
}

/* A whole number from 0; false where it is none or too large. */
static bool whole_number(const char *text, const char **end, uint64_t *out) {
    errno = 0;
    char *stop;
    *out = strtoull(text, &stop, 10);
    *end = stop;
    return text[0] >= '0' && text[0] <= '9' && errno == 0;
}

static bool set_emit(options *o, const char *value) {
    memset(o->emit, 0, sizeof o->emit);
    for (const char *at = value;; at++) {
        const size_t length = strcspn(at, ",");
        int which = 0;
        while (which < EMIT_COUNT &&
               (strlen(emit_words[which]) != length || memcmp(emit_words[which], at, length) != 0))
            which++;
        if (which == EMIT_COUNT)
            return usage("--emit", value,
                         "a list without spaces of source, ptx, cubin, plan, model is needed");
        o->emit[which] = true;
        at += length;
        if (*at == '\0')
            return true;
    }
}

binding *bindings_add(bindings *list, const char *name, size_t name_length, const char *value) {
    binding *items = must_alloc((size_t)list->count + 1, sizeof *items);
    if (list->count > 0)
        memcpy(items, list->items, (size_t)list->count * sizeof *items);
    free(list->items);
    list->items = items;
    binding *added = &items[list->count++];
    added->name = name != NULL ? copy(name, name_length) : NULL;
    added->value = copy(value, strlen(value));
    return added;
}

/* The length of a name such as `u` or `u.prev` at the start of "u.prev=FILE", else 0. */
static size_t name_before_equals(const char *text) {
    const size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                       "0123456789_.");
    return text[length] == '=' && strchr("0123456789.", text[0]) == NULL ? length : 0;
}

static bool set_parameter(options *o, const char *value) {
    const size_t length = name_before_equals(value);
    if (length == 0)
        return usage("--set", value, "NAME=VALUE is needed");
    binding *set = bindings_add(&o->sets, value, length, value + length + 1);
    char *end;
    set->number = strtod(set->value, &end);
    if (end == set->value || *end != '\0' || !isfinite(set->number))
        return usage("--set", value, "a finite number is needed");
    return true;
}

static bool bind_file(bindings *list, const char *option, bool is_values, const char *value) {
    const size_t length = name_before_equals(value);
    const char *file = length > 0 ? value + length + 1 : value;
    if (*file == '\0')
        return usage(option, value, "a file is needed");
    bindings_add(list, length > 0 ? value : NULL, length, file)->is_values = is_values;
    return true;
}

static bool set_input(options *o, const char *value) {
    return bind_file(&o->inputs, "--input", false, value);
}

static bool set_values(options *o, const char *value) {
    return bind_file(&o->inputs, "--values", true, value);
}

static bool set_output(options *o, const char *value) {
    return bind_file(&o->outputs, "--output", false, value);
}

static bool set_output_values(options *o, const char *value) {
    return bind_file(&o->outputs, "--output-values", true, value);
}

static bool set_size(options *o, const char *value) {
    memset(o->size, 0, sizeof o->size);
    o->size_count = 0;
    for (const char *at = value;; at++) {
        uint64_t extent;
        if (o->size_count == 3 || !whole_number(at, &at, &extent) || extent == 0 ||
            extent > INT64_MAX)
            return usage("--size", value, "1 to 3 whole numbers from 1 are needed, as in 512x256");
        o->size[o->size_count++] = (int64_t)extent;
        if (*at == '\0')
            return true;
        if (*at != 'x')
            return usage("--size", value, "1 to 3 whole numbers from 1 are needed, as in 512x256");
    }
}

static bool set_steps(options *o, const char *value) {
    const char *end;
    uint64_t steps;
    if (!whole_number(value, &end, &steps) || *end != '\0' || steps == 0 || steps > INT64_MAX)
        return usage("--steps", value, "a whole number from 1 is needed");
    o->steps = (int64_t)steps;
    return true;
}

static bool set_seed(options *o, const char *value) {
    const char *end;
    if (!whole_number(value, &end, &o->seed) || *end != '\0' || o->seed == 0)
        return usage("--seed", value, "a whole number from 1 is needed");
    return true;
}

/* "60s", "5m", "1.5h"; seconds where there is no unit. */
static bool set_time(const char *option, const char *value, double *out) {
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}};
    char *end;
    const double number = strtod(value, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0] && end != value; i++)
        if (strcmp(end, units[i].unit) == 0 && number > 0 && isfinite(number)) {
            *out = number * units[i].seconds;
            return true;
        }
    return usage(option, value, "a time is needed, as in 60s, 5m or 1h");
}

static bool set_budget(options *o, const char *value) {
    return set_time("--budget", value, &o->budget);
}

static bool set_limit(options *o, const char *value) {
    return set_time("--limit", value, &o->limit);
}

static bool set_evaluations(options *o, const char *value) {
    const char *end;
    uint64_t count;
    if (!whole_number(value, &end, &count) || *end != '\0' || count == 0 || count > INT32_MAX)
        return usage("--evaluations", value, "a whole number from 1 is needed");
    o->evaluations = (int)count;
    return true;
}

static bool set_search(options *o, const char *value) {
    static const char *const words[] = {[SG_SEARCH_GUIDED] = "guided",
                                        [SG_SEARCH_EXHAUSTIVE] = "exhaustive",
                                        [SG_SEARCH_RANDOM] = "random"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(value, words[i]) == 0) {
            o->search = (int)i;
            return true;
        }
    return usage("--search", value, "guided, exhaustive or random is needed");
}

static bool set_device(options *o, const char *value) {
    o->device = value;
    return strcmp(value, "auto") == 0 || strcmp(value, "cuda") == 0 || strcmp(value, "cpu") == 0 ||
           usage("--device", value, "auto, cuda or cpu is needed");
}

/* A flag sets a bool and a word a const char *, both at `place`; the others have a function. */
typedef struct option {
    const char *name, *argument, *help; /* argument NULL: a flag */
    int commands;
    size_t place;
    bool (*set)(options *, const char *value);
} option;

#define PLACE(member) offsetof(options, member), NULL
#define CALL(function) 0, function

static const option table[] = {
    {"-o", "DIR", "write files into DIR (default: here); of report the file itself",
     FOR_BUILD | FOR_RUN | FOR_REPORT, PLACE(folder)},
    {"--emit", "LIST", "files to write: source,ptx,cubin,plan,model (default: source)", FOR_BUILD,
     CALL(set_emit)},
    {"--arch", "sm_90", "plan and compile for this architecture (default: the device's)",
     FOR_PLACES, PLACE(arch)},
    {"--method", "NAME",
     "auto, naive, tiled, coarsened, register, constant, cached-halo,\n"
     "streamed, temporal, resident; of lists and matrices the\n"
     "algorithm, of which explain tells",
     FOR_SPECS, PLACE(method)},
    {"--format", "NAME",
     "of a matrix: auto, coo, csr, csc, ell, hyb, jds, dia, bcsr, pkt,\n"
     "sell or stencil",
     FOR_SPECS, PLACE(format)},
    {"--schedule", "LINE", "a whole schedule, as reports print it: 'csr warp threads=256'",
     FOR_SPECS, PLACE(line)},
    {"--tile", "32x8", "points of a tile, x first", FOR_SPECS, PLACE(tile)},
    {"--coarsen", "z16", "tiles that a block works through along an axis", FOR_SPECS,
     PLACE(coarsen)},
    {"--vector", "4", "points along x that a thread loads at once", FOR_SPECS, PLACE(vector)},
    {"--time", "1", "time steps fused into one pass", FOR_SPECS, PLACE(time)},
    {"--steps", "N",
     "updates, each from the one before (default: 1): run makes them;\n"
     "with more than one several may be fused into a launch",
     FOR_PLACES, CALL(set_steps)},
    {"--set", "NAME=VALUE", "the value of a parameter", FOR_KERNELS | FOR_TUNE,
     CALL(set_parameter)},
    {"--size", "512x512x512",
     "the grid, x first, or the elements (default: 512^3, 8192^2 or\n"
     "2^26 on a GPU; 128^3, 1024^2 or 2^20 on the cpu device); of\n"
     "report one that was tuned (default: the last)",
     FOR_PLACES, CALL(set_size)},
    {"--seed", "N",
     "of the check's random data (default: a fresh one); of tune's\n"
     "random search (default: 1)",
     FOR_BUILD | FOR_TUNE, CALL(set_seed)},
    {"--device", "NAME", "auto, cuda or cpu (default: auto, cuda where there is a GPU)",
     FOR_DEVICES | FOR_REPORT, CALL(set_device)},
    {"--database", "FILE", "of report: tuning results (default: the user's)", FOR_REPORT,
     PLACE(database)},
    {"--budget", "60s", "of tune: begin no trial after this time (also 5m, 1h)", FOR_TUNE,
     CALL(set_budget)},
    {"--evaluations", "40", "of tune: trials at most (default: 40, or as many as fit the budget)",
     FOR_TUNE, CALL(set_evaluations)},
    {"--search", "NAME",
     "of tune: guided (by the model and what was measured; the\n"
     "default), random, or exhaustive",
     FOR_TUNE, CALL(set_search)},
    {"--limit", "120s", "of tune: end a trial that takes longer", FOR_TUNE, CALL(set_limit)},
    {"--no-resume", NULL, "of tune: do not go on with a sweep that was stopped", FOR_TUNE,
     PLACE(afresh)},
    {"--list", NULL, "of tune: list the schedules, measure none", FOR_TUNE, PLACE(list)},
    {"--json", NULL, "report in JSON, see docs/json.md", FOR_JSON, PLACE(json)},
    {"--input", "[NAME=]FILE",
     "an array to read, .npy or an image, .pgm; without NAME the next\n"
     "one that has no file; of spmv also the matrix, .mtx; NAME.prev is\n"
     "a previous time level (default: the current one)",
     FOR_RUN | FOR_EXPLAIN | FOR_TUNE | FOR_REPORT, CALL(set_input)},
    {"--values", "[NAME=]FILE", "likewise the values of a merge's keys", FOR_RUN, CALL(set_values)},
    {"--output", "[NAME=]FILE",
     "where to write an array: .npy, of a grid also .vti or .pgm\n"
     "(default: NAME.npy for each written one; reduce prints instead)",
     FOR_RUN, CALL(set_output)},
    {"--output-values", "FILE", "likewise the values of merged keys", FOR_RUN,
     CALL(set_output_values)},
    {"--help", NULL, "show this", FOR_ALL, PLACE(help)},
    {"--version", NULL, "show the version", FOR_ALL, PLACE(version)},
};
enum { OPTIONS = sizeof table / sizeof table[0] };

const char *command_name(command c) {
    return commands[c].name[0] != '\0' ? commands[c].name : "build";
}

void options_help(buffer *out) {
    enum { COLUMN = 28 };
    for (int c = 0; c < COMMAND_COUNT; c++) {
        buffer line = {0};
        buffer_printf(&line, "stencilgen %s%s%s", commands[c].name,
                      commands[c].name[0] != '\0' ? " " : "", commands[c].arguments);
        buffer_printf(out, "%s %-39s %s\n", c == 0 ? "usage:" : "      ", line.data,
                      commands[c].help);
        buffer_free(&line);
    }
    buffer_add(out, "\noptions:\n");
    for (int i = 0; i < OPTIONS; i++) {
        buffer line = {0};
        buffer_printf(&line, "  %s%s%s", table[i].name, table[i].argument != NULL ? " " : "",
                      table[i].argument != NULL ? table[i].argument : "");
        for (const char *help = table[i].help; help != NULL;) {
            const size_t length = strcspn(help, "\n");
            buffer_printf(out, "%-*s%.*s\n", COLUMN, buffer_text(&line), (int)length, help);
            help = help[length] == '\n' ? help + length + 1 : NULL;
            buffer_free(&line);
        }
        buffer_free(&line);
    }
    buffer_add(out, "\nexit codes: 0 done and checked; 1 a check failed; 2 bad usage or bad spec; "
                    "3 bad data file\nor output file; 4 device or compiler failure\n");
}

static void unknown_option(const char *name) {
    const char *names[OPTIONS];
    for (int i = 0; i < OPTIONS; i++)
        names[i] = table[i].name;
    const char *nearest = nearest_word(name, names, OPTIONS);
    complain(EXIT_USAGE, NULL, "unknown option '%s'%s%s%s", name,
             nearest != NULL ? "; did you mean " : "; see stencilgen --help",
             nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
}

static bool apply(options *o, const option *option, const char *value) {
    if (option->set != NULL)
        return option->set(o, value);
    void *place = (char *)o + option->place;
    if (option->argument == NULL)
        *(bool *)place = true;
    else
        *(const char **)place = value;
    return value == NULL || value[0] != '\0' || usage(option->name, value, "a word is needed");
}

/* The option at the start of `argument`, whose name has `length` bytes; NULL after an error. */
static const option *find_option(const char *argument, size_t length) {
    for (int i = 0; i < OPTIONS; i++)
        if (strlen(table[i].name) == length && memcmp(table[i].name, argument, length) == 0)
            return &table[i];
    char *name = copy(argument, length);
    unknown_option(name);
    free(name);
    return NULL;
}

/* Takes the option at arguments[*at], and its value, which may be the next argument. */
static bool take_option(options *o, bool *used, int count, char **arguments, int *at) {
    const char *argument = strcmp(arguments[*at], "-h") == 0 ? "--help" : arguments[*at];
    const size_t length = argument[1] == '-' ? strcspn(argument, "=") : 2;
    const option *option = find_option(argument, length);
    if (option == NULL)
        return false;
    const char *rest = argument + length;
    const char *value = *rest == '\0' ? NULL : *rest == '=' ? rest + 1 : rest;
    if (option->argument == NULL && value != NULL)
        return usage(option->name, value, "this option takes no value");
    if (option->argument != NULL && value == NULL && *at + 1 == count) {
        complain(EXIT_USAGE, NULL, "%s needs a value: %s %s", option->name, option->name,
                 option->argument);
        return false;
    }
    if (option->argument != NULL && value == NULL)
        value = arguments[++*at];
    used[option - table] = true;
    return apply(o, option, value);
}

/* The first word is a command, or the first spec. */
static bool find_command(options *o) {
    if (o->spec_count == 0)
        return true;
    const char *word = o->specs[0];
    const char *names[COMMAND_COUNT];
    for (int c = 0; c < COMMAND_COUNT; c++)
        names[c] = commands[c].name;
    for (int c = 1; c < COMMAND_COUNT; c++)
        if (strcmp(word, names[c]) == 0) {
            o->command = (command)c;
            o->specs++;
            o->spec_count--;
            return true;
        }
    if (strpbrk(word, "./") != NULL)
        return true;
    const char *nearest = nearest_word(word, names + 1, COMMAND_COUNT - 1);
    complain(EXIT_USAGE, NULL, "unknown command '%s'%s%s%s", word,
             nearest != NULL ? "; did you mean " : "; see stencilgen --help",
             nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
    return false;
}

static bool check_use(const options *o, const bool *used) {
    for (int i = 0; i < OPTIONS; i++)
        if (used[i] && (table[i].commands & 1 << o->command) == 0) {
            complain(EXIT_USAGE, NULL, "%s is no option of %s; see stencilgen --help",
                     table[i].name, command_name(o->command));
            return false;
        }
    if (o->help || o->version)
        return true;
    if (o->command == COMMAND_CACHE)
        return true; /* it judges its word itself */
    const bool takes_specs = o->command != COMMAND_DOCTOR;
    if (takes_specs && o->spec_count == 0) {
        complain(EXIT_USAGE, NULL, "no spec is given; see stencilgen --help");
        return false;
    }
    if (!takes_specs && o->spec_count > 0)
        return usage(command_name(o->command), o->specs[0], "this command takes no argument");
    if ((o->command == COMMAND_RUN || o->command == COMMAND_REPORT) && o->spec_count > 1)
        return usage(command_name(o->command), o->specs[1], "one spec at a time");
    return true;
}

/* A schedule is a line of words, so none of them may hold a space. */
static bool put_schedule_together(options *o) {
    const struct {
        const char *option, *key, *value;
    } words[] = {{"--format", "", o->format},     {"--method", "", o->method},
                 {"--tile", "tile=", o->tile},    {"--coarsen", "coarsen=", o->coarsen},
                 {"--vector", "vec=", o->vector}, {"--time", "time=", o->time}};
    if (o->line != NULL)
        buffer_add(&o->schedule, o->line);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (words[i].value == NULL)
            continue;
        if (strpbrk(words[i].value, " \t\n=") != NULL)
            return usage(words[i].option, words[i].value, "one word is needed");
        buffer_printf(&o->schedule, "%s%s%s", o->schedule.length > 0 ? " " : "", words[i].key,
                      words[i].value);
    }
    return true;
}

bool options_parse(options *o, int count, char **arguments) {
    bool used[OPTIONS] = {false};
    *o = (options){.steps = 1, .specs = arguments};
    o->emit[EMIT_SOURCE] = true;
    bool only_words = false, first_is_spec = false;
    /* Words move to the front of the array, over arguments already taken. */
    for (int at = 0; at < count; at++) {
        if (!only_words && strcmp(arguments[at], "--") == 0) {
            only_words = true;
        } else if (only_words || arguments[at][0] != '-' || arguments[at][1] == '\0') {
            first_is_spec |= only_words && o->spec_count == 0;
            o->specs[o->spec_count++] = arguments[at];
        } else if (!take_option(o, used, count, arguments, &at)) {
            return false;
        }
    }
    if ((!first_is_spec && !find_command(o)) || !check_use(o, used))
        return false;
    return put_schedule_together(o);
}

void bindings_free(bindings *list) {
    for (int i = 0; i < list->count; i++) {
        free(list->items[i].name);
        free(list->items[i].value);
    }
    free(list->items);
}

void options_free(options *o) {
    bindings_free(&o->sets);
    bindings_free(&o->inputs);
    bindings_free(&o->outputs);
    buffer_free(&o->schedule);
}
