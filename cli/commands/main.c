/* stencilgen, the command. Takes: arguments. Makes: what the command they name makes; it uses the
   library through stencilgen.h alone, like any application. And the commands about this machine:
   doctor (what is used, and why, a finding a line) and cache (the compiled kernels kept on disk: a
   list of them, a word on each that is damaged, or an empty cache). */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/ranks.h"
#include "cli/session.h"

/* ---- doctor --------------------------------------------------------------------------------- */

typedef struct findings {
    text text;
    json json;
} findings;

static void add(void *user, const char *what, int usable, const char *text) {
    findings *f = user;
    add_wrapped(&f->text, phrase("%-4s %-16s ", usable ? "ok" : "-", what), 22, text);
    json_add(&f->json, "{ what %s usable %i text %s }", what, usable, text);
}

static int command_doctor(const options *o) {
    text json_text = new_text();
    findings f = {.text = new_text(), .json = {.out = &json_text}};
    const sg_options wanted = {
        .struct_size = sizeof wanted, .device = o->device, .database = o->database};
    json_begin(&f.json, o);
    json_add(&f.json, "findings [");
    int code = exit_code(sg_doctor(&wanted, add, &f));
    if (code == EXIT_DONE)
        code = exit_code(sg_team_doctor(&wanted, add, &f));
    bool usable;
    const char *mpi = ranks_describe_mpi(&usable);
    add(&f, "MPI", usable, mpi);
    if (code != EXIT_DONE)
        complain(code, NULL, "the diagnosis itself failed");
    json_add(&f.json, "]");
    return json_finish(&f.json, o, code, &f.text);
}

/* ---- cache ---------------------------------------------------------------------------------- */

typedef enum action { ACTION_LIST, ACTION_VERIFY, ACTION_CLEAR, ACTIONS } action;
static const char *const action_words[ACTIONS] = {"list", "verify", "clear"};

typedef struct report {
    action action;
    sg_cache_info info;
    text text, json_text;
    json json;
    int wrong;
} report;

/* False after an error. */
static bool find_action(const options *o, action *out) {
    if (o->spec_count != 1) {
        complain(EXIT_USAGE, NULL, "cache takes one word: list, verify or clear");
        return false;
    }
    for (int a = 0; a < ACTIONS; a++)
        if (strcmp(o->specs[0], action_words[a]) == 0) {
            *out = (action)a;
            return true;
        }
    const char *nearest = text_nearest(o->specs[0], action_words, ACTIONS);
    complain(EXIT_USAGE, NULL, "cache '%s': list, verify or clear is needed%s%s%s", o->specs[0],
             nearest != NULL ? "; did you mean " : "", nearest != NULL ? nearest : "",
             nearest != NULL ? "?" : "");
    return false;
}

static const char *count_of(int64_t entries, int64_t bytes) {
    return phrase("%" PRId64 " %s, %s", entries, entries == 1 ? "entry" : "entries",
                  in_bytes((double)bytes));
}

/* ---- list and verify ----------------------------------------------------------------------- */

static void add_line(text *out, const sg_cache_entry *e) {
    const time_t used = (time_t)e->used;
    struct tm local;
    char when[sizeof "2026-11-21 12:34 and more"] = "-";
    if (localtime_r(&used, &local) != NULL)
        strftime(when, sizeof when, "%Y-%m-%d %H:%M", &local);
    text_printf(out, "  %-16s  %8s  %s\n", when, in_bytes((double)e->bytes),
                e->text[0] != '\0' ? e->text : e->file);
    if (e->trouble != NULL)
        text_printf(out, "%*snot used: %s\n", 30, "", e->trouble);
}

static void add_entry(void *user, const sg_cache_entry *e) {
    report *r = user;
    if (r->action == ACTION_LIST)
        add_line(&r->text, e);
    if (r->action == ACTION_VERIFY && e->trouble != NULL)
        complain(EXIT_WRONG, phrase("%s/%s", r->info.folder, e->file), "%s", e->trouble);
    r->wrong += e->trouble != NULL;
    json_add(&r->json, "{ file %s text %s bytes %" PRId64 " used %" PRId64 " trouble %s }", e->file,
             e->text, e->bytes, e->used, e->trouble);
}

static void add_head(report *r) {
    const sg_cache_info *i = &r->info;
    if (i->folder[0] == '\0') {
        text_printf(&r->text, "there is no cache: %s\n", i->trouble);
        return;
    }
    text_printf(&r->text, "%s: %s of at most %s", i->folder, count_of(i->entries, i->bytes),
                in_bytes((double)i->most_bytes));
    if (i->trouble != NULL)
        text_printf(&r->text, "\n  nothing is stored there: %s", i->trouble);
    text_add(&r->text, "\n");
}

static sg_status list(sg_context *context, report *r) {
    add_head(r);
    json_add(&r->json, "folder %s trouble %s bytes %" PRId64 " most_bytes %" PRId64 " entries [",
             r->info.folder, r->info.trouble, r->info.bytes, r->info.most_bytes);
    const sg_status status = sg_cache_list(context, r->action == ACTION_VERIFY, add_entry, r);
    json_add(&r->json, "]");
    if (status == SG_OK && r->action == ACTION_VERIFY && r->wrong == 0 && r->info.entries > 0)
        text_add(&r->text, "all of them are whole\n");
    return status;
}

/* ---- clear --------------------------------------------------------------------------------- */

static sg_status clear(sg_context *context, report *r) {
    int64_t entries = 0, bytes = 0;
    const sg_status status = sg_cache_clear(context, &entries, &bytes);
    json_add(&r->json, "folder %s removed %" PRId64 " removed_bytes %" PRId64, r->info.folder,
             entries, bytes);
    if (status == SG_OK && r->info.folder[0] == '\0')
        text_printf(&r->text, "there is no cache: %s\n", r->info.trouble);
    else if (status == SG_OK)
        text_printf(&r->text, "%s: %s removed\n", r->info.folder, count_of(entries, bytes));
    return status;
}

/* ---- the command --------------------------------------------------------------------------- */

static int run_action(sg_context *context, report *r) {
    sg_status status = sg_cache_facts(context, &r->info);
    if (status == SG_OK)
        status = r->action == ACTION_CLEAR ? clear(context, r) : list(context, r);
    const int code = complain_library(context, status);
    return code == EXIT_DONE && r->action == ACTION_VERIFY && r->wrong > 0 ? EXIT_WRONG : code;
}

static int command_cache(const options *o) {
    report r = {.text = new_text(),
                .json_text = new_text(),
                .info = {.struct_size = sizeof r.info},
                .json = {.out = NULL}};
    if (!find_action(o, &r.action))
        return EXIT_USAGE;
    session s;
    int code = session_open_without_device(&s, o);
    if (code != EXIT_DONE)
        return code;
    r.json.out = &r.json_text;
    json_begin(&r.json, o);
    json_string(&r.json, "action", action_words[r.action]);
    code = run_action(s.context, &r);
    code = json_finish(&r.json, o, code, &r.text);
    session_close(&s);
    return code;
}

/* ---- main ------------------------------------------------------------------------------------ */

/* A file opened while a standard stream is closed would take its number, and get its text. Reading
   from or writing to these replacements fails, as on the closed stream. */
static void occupy_standard_streams(void) {
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        while (fcntl(file, F_GETFD) < 0 &&
               open("/dev/null", file == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
            _exit(EXIT_DEVICE);
}

static int run(const options *o) {
    static int (*const commands[COMMAND_COUNT])(const options *) = {
        [COMMAND_BUILD] = command_build,   [COMMAND_RUN] = command_run,
        [COMMAND_BENCH] = command_build,   [COMMAND_EXPLAIN] = command_explain,
        [COMMAND_TUNE] = command_tune,     [COMMAND_REPORT] = command_report,
        [COMMAND_DOCTOR] = command_doctor, [COMMAND_CACHE] = command_cache,
    };
    text out = new_text();
    if (!o->help && !o->version)
        return commands[o->command](o);
    if (o->help)
        options_help(&out);
    else
        text_add(&out, "stencilgen " SG_VERSION "\n");
    return say(&out);
}

int main(int count, char **arguments) {
    options o;
    if (count == 2 && strcmp(arguments[1], "tune-worker") == 0)
        return sg_tune_worker(); /* asked by tune through a socket, by nobody else */
    occupy_standard_streams();
    output_guard_signals();
    const int code = options_parse(&o, count - 1, arguments + 1) ? run(&o) : EXIT_USAGE;
    progress_end();
    forget_everything();
    return code;
}
