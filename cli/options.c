/* The command line: the tables of commands and options, and what each option sets. */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name, *arguments, *help;
} commands[COMMAND_COUNT] = {
    [COMMAND_BUILD] = {"", "SPEC.lua...", "write NAME.cu, compile, check, measure, report"},
    [COMMAND_RUN] = {"run", "SPEC.lua --input A.npy",
                     "compute on the arrays in files, at their size"},
    [COMMAND_BENCH] = {"bench", "SPEC.lua...", "check and measure, next to the textbook's methods"},
    [COMMAND_EXPLAIN] = {"explain", "SPEC.lua...",
                         "what each method would do, and which one is chosen"},
    [COMMAND_TUNE] = {"tune", "SPEC.lua...|export",
                      "measure schedules; later builds take the fastest"},
    [COMMAND_REPORT] = {"report", "SPEC.lua", "write NAME.html, a page about tuning results"},
    [COMMAND_DOCTOR] = {"doctor", "", "show which driver, NVRTC, compiler and files are used"},
    [COMMAND_CACHE] = {"cache", "list|verify|clear", "look after the compiled kernels on disk"},
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
    FOR_LIST = 1 << COMMAND_COUNT, /* tune --list, which measures nothing */
    FOR_EXPORT = FOR_LIST << 1,    /* tune export, which also plans nothing */
    FOR_KERNELS = FOR_BUILD | FOR_RUN | FOR_BENCH,
    FOR_SPECS = FOR_KERNELS | FOR_EXPLAIN | FOR_TUNE | FOR_LIST,
    FOR_PLACES = FOR_SPECS | FOR_REPORT,
    FOR_DEVICES = FOR_SPECS | FOR_DOCTOR,
    FOR_RESULTS = (FOR_DEVICES & ~FOR_LIST) | FOR_REPORT | FOR_EXPORT,
    FOR_JSON = FOR_DEVICES | FOR_CACHE | FOR_EXPORT,
    FOR_ALL = FOR_JSON | FOR_REPORT,
};

#define PLACE(member) offsetof(options, member), NULL
#define CALL(function) 0, function
#define SET(member, function) offsetof(options, member), function

static const option table[] = {
    {"-o", "DIR", "write files into DIR (default: here); for report: the file to write",
     FOR_BUILD | FOR_RUN | FOR_REPORT, PLACE(folder)},
    {"--spec", "NAME", "of the specs that a file returns, take the one of this name alone",
     FOR_PLACES, PLACE(spec)},
    {"--emit", "LIST", "files to write: source,ptx,cubin,plan,model (default: source)", FOR_BUILD,
     CALL(set_emit)},
    {"--arch", "sm_90", "plan and compile for this architecture (default: the device's)",
     FOR_PLACES, PLACE(arch)},
    {"--gpu", "h200",
     "plan for this board: T4, A100, RTX3090, RTX4090, L40S, H100,\n"
     "H200, B200, RTX5090 (default: the device's own)",
     FOR_SPECS, PLACE(gpu)},
    {"--method", "NAME",
     "method of a stencil, or algorithm of a list or matrix; explain\n"
     "lists them (default: auto)",
     FOR_SPECS, PLACE(method)},
    {"--format", "NAME",
     "format of a matrix: auto, coo, csr, csc, ell, hyb, jds, dia,\n"
     "bcsr, pkt, sell or stencil",
     FOR_SPECS, PLACE(format)},
    {"--schedule", "LINE", "a whole schedule, as reports print it: 'csr warp threads=256'",
     FOR_SPECS, PLACE(line)},
    {"--tile", "32x8", "points of a tile, x first", FOR_SPECS, PLACE(tile)},
    {"--coarsen", "z16", "tiles that a block works through along an axis", FOR_SPECS,
     PLACE(coarsen)},
    {"--vector", "4", "points along x that a thread loads at once", FOR_SPECS, PLACE(vector)},
    {"--time", "1", "time steps fused into one launch", FOR_SPECS, PLACE(time)},
    {"--steps", "N",
     "make N updates, each from the one before (default: 1); a launch\n"
     "may fuse several",
     FOR_PLACES, SET(steps, set_steps)},
    {"--set", "NAME=VALUE", "the value of a parameter", FOR_KERNELS | FOR_TUNE,
     CALL(set_parameter)},
    {"--size", "512x512x512",
     "the grid, x first, or the number of elements (default: 512^3,\n"
     "8192^2 or 2^26 on a GPU; 128^3, 1024^2 or 2^20 on the cpu\n"
     "device); for report: a size that was tuned (default: the last)",
     FOR_PLACES | FOR_EXPORT, CALL(set_size)},
    {"--seed", "N",
     "seed of the check's random data (default: a fresh one); for tune:\n"
     "of the random search (default: 1)",
     FOR_BUILD | FOR_TUNE, CALL(set_seed)},
    {"--device", "NAME", "auto, cuda or cpu (default: auto, cuda where there is a GPU)",
     FOR_DEVICES | FOR_REPORT, SET(device, set_device)},
    {"--database", "FILE",
     "file of the tuning results that builds use, tune fills, and\n"
     "report and export show; or none (default: SG_DATABASE, else\n"
     "the user's)",
     FOR_RESULTS, PLACE(database)},
    {"--budget", "60s", "for tune: begin no trial after this time (also 5m, 1h)", FOR_TUNE,
     SET(budget, set_time)},
    {"--evaluations", "40",
     "for tune: at most so many trials (default: 40, or what fits the\n"
     "budget)",
     FOR_TUNE, SET(evaluations, set_count)},
    {"--search", "NAME",
     "for tune: guided (by the model and the measurements so far; the\n"
     "default), random, or exhaustive",
     FOR_TUNE, CALL(set_search)},
    {"--limit", "120s", "for tune: end a trial that takes longer", FOR_TUNE, SET(limit, set_time)},
    {"--resume", NULL, "for tune: continue a sweep that was stopped (the default)", FOR_TUNE,
     CALL(set_resume)},
    {"--no-resume", NULL, "for tune: start the sweep anew", FOR_TUNE, PLACE(afresh)},
    {"--list", NULL, "for tune: list the schedules, measure none", FOR_TUNE | FOR_LIST,
     PLACE(list)},
    {"--plans", NULL, "for tune export: write a plans file, for SG_PLANS", FOR_EXPORT,
     PLACE(plans)},
    {"--json", NULL, "report in JSON (docs/json.md)", FOR_JSON, PLACE(json)},
    {"--input", "[NAME=]FILE",
     "read an array from a .npy file or a .pgm image; without NAME: the\n"
     "next array that has no file; for spmv also the matrix, .mtx;\n"
     "NAME.prev is a previous time level (default: the current one)",
     FOR_RUN | FOR_EXPLAIN | FOR_TUNE | FOR_LIST | FOR_REPORT, SET(inputs, set_file)},
    {"--init", "NAME=EXPRESSION",
     "for run: begin with a field that an expression of x, y, z, nx, ny,\n"
     "nz gives, as u=where(lt(hypot(x-9, y-9), 4), 1, 0), on the grid of\n"
     "--size; fields without --init and --input begin as 0",
     FOR_RUN, CALL(set_initial)},
    {"--convert", NULL,
     "for run: round the numbers of .npy files to the types of the\n"
     "arrays; without it, another type is an error",
     FOR_RUN, PLACE(convert)},
    {"--values", "[NAME=]FILE", "read the values of a merge's keys", FOR_RUN,
     SET(inputs, set_file)},
    {"--output", "[NAME=]FILE",
     "write an array to a .npy file, or a grid to .vti, .pgm, or, with\n"
     "ranks, .pvti; with u.pgm:0..0.4, 0 is black and 0.4 white\n"
     "(default: NAME.npy for each written array; reduce prints instead)",
     FOR_RUN, SET(outputs, set_output)},
    {"--output-values", "FILE", "write the values of merged keys", FOR_RUN, SET(outputs, set_file)},
    {"--points", "NAME=POSITIONS:FILE",
     "for run: the points NAME of the spec. POSITIONS is a .npy file of\n"
     "n x dims float64 (cells, x first); FILE has steps x n samples:\n"
     "those that are injected, or it is written with what is recorded",
     FOR_RUN, CALL(set_points)},
    {"--monitor", "NAME[=FILE]",
     "for run: sample the monitor NAME of the spec every N steps, which\n"
     "--every gives; FILE.npy gets the samples, in float64",
     FOR_RUN, CALL(set_monitor)},
    {"--until", "'NAME<NUMBER'",
     "for run: end once a sample of a monitor is so (<, <=, > or >=); a\n"
     "few more steps may be made before it is seen",
     FOR_RUN, SET(until, set_once)},
    {"--ranks", "2x2",
     "divide the grid among so many ranks, x first; one number: in the\n"
     "best way. Ranks are GPUs, or threads on the cpu device; under\n"
     "mpirun and srun they are the processes; explain estimates",
     FOR_RUN | FOR_BENCH | FOR_EXPLAIN, CALL(set_ranks)},
    {"--launches", "N",
     "with ranks: launches between two exchanges of ghost cells, which\n"
     "become as much wider (default: chosen)",
     FOR_RUN | FOR_BENCH | FOR_EXPLAIN, SET(launches, set_count)},
    {"--weak", NULL, "for bench with ranks: --size is that of one rank's part", FOR_BENCH,
     PLACE(weak)},
    {"--checkpoint", "FILE",
     "for run: write the state of the run to FILE every N steps, which\n"
     "--every gives; FILE always holds a whole state",
     FOR_RUN, SET(checkpoint, set_once)},
    {"--snapshot", "NAME=FILE",
     "for run: write a field every N steps, which --every gives, while\n"
     "the next ones are made, to u-%06d.png, .pgm, .vti or .npy; %06d\n"
     "is the number of steps made",
     FOR_RUN, CALL(set_snapshot)},
    {"--slice", "z=K", "for images of 3D fields: the plane (default: the middle)", FOR_RUN,
     CALL(set_slice)},
    {"--colours", "NAME",
     "for .png snapshots: viridis (default), plasma, magma, inferno or\n"
     "grey",
     FOR_RUN, PLACE(colours)},
    {"--range", "LOW:HIGH",
     "for images: the values of the first and the last colour (default:\n"
     "the least and the greatest of the first image)",
     FOR_RUN, CALL(set_range)},
    {"--every", "[WHAT=]N",
     "see --checkpoint, --snapshot and --monitor; for one of them alone:\n"
     "--every checkpoint=5000, snapshot=N, monitor=N",
     FOR_RUN, SET(every, set_every)},
    {"--restart", "FILE",
     "for run: go on from the state of a checkpoint, on any number of\n"
     "ranks, until --steps are made in all",
     FOR_RUN, SET(restart, set_once)},
    {"--stop-on-nan", NULL,
     "for run: look for NaN and infinite values at least every 100\n"
     "steps; if there are any, write the outputs and end with exit code 1",
     FOR_RUN, PLACE(stop_on_nan)},
    {"--help", NULL, "show this", FOR_ALL, PLACE(help)},
    {"--version", NULL, "show the version", FOR_ALL, PLACE(version)},
};
enum { OPTIONS = sizeof table / sizeof table[0] };

const char *command_name(command c) {
    return commands[c].name[0] != '\0' ? commands[c].name : "build";
}

void options_help(text *out) {
    enum { COLUMN = 28 };
    for (int c = 0; c < COMMAND_COUNT; c++) {
        const char *line = phrase("stencilgen %s%s%s", commands[c].name,
                                  commands[c].name[0] != '\0' ? " " : "", commands[c].arguments);
        text_printf(out, "%s %-39s %s\n", c == 0 ? "usage:" : "      ", line, commands[c].help);
    }
    text_add(out, "\noptions:\n");
    for (int i = 0; i < OPTIONS; i++) {
        const char *line = phrase("  %s%s%s", table[i].name, table[i].argument != NULL ? " " : "",
                                  table[i].argument != NULL ? table[i].argument : "");
        if (strlen(line) >= COLUMN) { /* its help begins below it */
            text_printf(out, "%s\n", line);
            line = "";
        }
        for (const char *help = table[i].help; help != NULL; line = "") {
            const size_t length = strcspn(help, "\n");
            text_printf(out, "%-*s%.*s\n", COLUMN, line, (int)length, help);
            help = help[length] == '\n' ? help + length + 1 : NULL;
        }
    }
    text_add(out, "\nexit codes: 0 done and checked; 1 a check failed; 2 bad usage or bad spec; "
                  "3 bad data file\nor output file; 4 device or compiler failure\n");
}

/* Returns false. */
static bool unknown(const char *kind, const char *word, const char *const *names, size_t count) {
    const char *nearest = text_nearest(word, names, count);
    complain(EXIT_USAGE, NULL, "unknown %s '%s'%s%s%s", kind, word,
             nearest != NULL ? "; did you mean " : "; see stencilgen --help",
             nearest != NULL ? nearest : "", nearest != NULL ? "?" : "");
    return false;
}

static bool apply(options *o, const option *option, const char *value) {
    if (option->set != NULL)
        return option->set(o, option, value);
    void *place = (char *)o + option->place;
    if (option->argument == NULL)
        *(bool *)place = true;
    else
        *(const char **)place = value;
    return value == NULL || value[0] != '\0' ||
           option_misused(option->name, value, "a word is needed");
}

/* The option at the start of `argument`, whose name has `length` bytes; NULL after an error. */
static const option *find_option(const char *argument, size_t length) {
    const char *names[OPTIONS];
    for (int i = 0; i < OPTIONS; i++) {
        names[i] = table[i].name;
        if (strlen(names[i]) == length && memcmp(names[i], argument, length) == 0)
            return &table[i];
    }
    unknown("option", phrase("%.*s", (int)length, argument), names, OPTIONS);
    return NULL;
}

/* Processes of a job may use devices and databases of their own, and one of them may report in
   JSON; all else must be the same for them. */
static void note_given(text *given, const option *option, const char *value) {
    static const char *const own[] = {"--device", "--database", "--json"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(option->name, own[i]) == 0)
            return;
    text_printf(given, "%s%s%s%s", given->length > 0 ? " " : "", option->name,
                value != NULL ? " " : "", value != NULL ? value : "");
}

/* Takes the option at arguments[*at], and its value, which may be the next argument. */
static bool take_option(options *o, text *given, bool *used, int count, char **arguments, int *at) {
    const char *argument = strcmp(arguments[*at], "-h") == 0 ? "--help" : arguments[*at];
    const size_t length = argument[1] == '-' ? strcspn(argument, "=") : 2;
    const option *option = find_option(argument, length);
    if (option == NULL)
        return false;
    const char *rest = argument + length;
    const char *value = *rest == '\0' ? NULL : *rest == '=' ? rest + 1 : rest;
    if (option->argument == NULL && value != NULL)
        return option_misused(option->name, value, "this option takes no value");
    if (option->argument != NULL && value == NULL && *at + 1 == count) {
        complain(EXIT_USAGE, NULL, "%s needs a value: %s %s", option->name, option->name,
                 option->argument);
        return false;
    }
    if (option->argument != NULL && value == NULL)
        value = arguments[++*at];
    used[option - table] = true;
    note_given(given, option, value);
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
    if (access(phrase("%s.lua", word), F_OK) == 0) {
        complain(EXIT_USAGE, NULL, "unknown command '%s'; did you mean %s.lua?", word, word);
        return false;
    }
    return unknown("command", word, names + 1, COMMAND_COUNT - 1);
}

static bool check_options(const options *o, const bool *used) {
    const bool tunes = o->command == COMMAND_TUNE, lists = tunes && o->list;
    const bool exports = tunes && o->spec_count > 0 && strcmp(o->specs[0], "export") == 0;
    const int use = exports ? FOR_EXPORT : lists ? FOR_LIST : 1 << o->command;
    for (int i = 0; i < OPTIONS; i++)
        if (used[i] && (table[i].commands & use) == 0) {
            complain(EXIT_USAGE, NULL, "%s is no option of %s%s; see stencilgen --help",
                     table[i].name, command_name(o->command),
                     exports ? " export"
                     : lists ? " --list"
                             : "");
            return false;
        }
    return true;
}

static bool check_use(const options *o, const bool *used) {
    if (!check_options(o, used))
        return false;
    if (o->help || o->version)
        return true;
    if (o->command == COMMAND_CACHE)
        return true; /* the command judges its own word */
    if (o->plans && o->json) {
        complain(EXIT_USAGE, NULL,
                 "--plans writes a plans file, and --json JSON; give one of them");
        return false;
    }
    const bool takes_specs = o->command != COMMAND_DOCTOR;
    if (takes_specs && o->spec_count == 0) {
        complain(EXIT_USAGE, NULL, "no spec is given; see stencilgen --help");
        return false;
    }
    if (!takes_specs && o->spec_count > 0)
        return option_misused(command_name(o->command), o->specs[0],
                              "this command takes no argument");
    const bool runs = o->command == COMMAND_RUN;
    if ((runs || o->command == COMMAND_REPORT) && o->spec_count > 1)
        return option_misused(command_name(o->command), o->specs[1],
                              runs ? "one spec at a time; files of arrays follow --input"
                                   : "one spec at a time");
    return true;
}

/* A schedule is a line of words, so no word may hold a space. */
static bool put_schedule_together(options *o) {
    const struct {
        const char *option, *key, *value;
    } words[] = {{"--format", "", o->format},     {"--method", "", o->method},
                 {"--tile", "tile=", o->tile},    {"--coarsen", "coarsen=", o->coarsen},
                 {"--vector", "vec=", o->vector}, {"--time", "time=", o->time}};
    text all = new_text();
    text_add(&all, o->line != NULL ? o->line : "");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (words[i].value == NULL)
            continue;
        if (strpbrk(words[i].value, " \t\n=") != NULL)
            return option_misused(words[i].option, words[i].value, "one word is needed");
        text_printf(&all, "%s%s%s", all.length > 0 ? " " : "", words[i].key, words[i].value);
    }
    o->schedule = all.length > 0 ? all.data : NULL;
    return true;
}

bool options_parse(options *o, int count, char **arguments) {
    bool used[OPTIONS] = {false};
    *o = (options){.steps = 1, .specs = arguments};
    o->emit[EMIT_SOURCE] = true;
    bool only_words = false, first_is_spec = false;
    text given = new_text();
    /* Words move to the front of the array, over arguments already taken. */
    for (int at = 0; at < count; at++) {
        if (!only_words && strcmp(arguments[at], "--") == 0) {
            only_words = true;
        } else if (only_words || arguments[at][0] != '-' || arguments[at][1] == '\0') {
            first_is_spec |= only_words && o->spec_count == 0;
            o->specs[o->spec_count++] = arguments[at];
        } else if (!take_option(o, &given, used, count, arguments, &at)) {
            return false;
        }
    }
    o->given = given.length > 0 ? given.data : "";
    if ((!first_is_spec && !find_command(o)) || !check_use(o, used))
        return false;
    return put_schedule_together(o);
}
