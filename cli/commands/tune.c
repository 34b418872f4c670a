/* tune. A sweep fills the database of tuning results and reports each kernel: Ctrl-C ends it after
   the current trial, a second Ctrl-C ends the command. --list shows the candidates of specs. export
   writes the results of former sweeps as JSON for other tuners or as a plans file. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/commands.h"
#include "cli/report/export.h"
#include "cli/report/report.h"
#include "cli/session.h"
#include "cli/words.h"

enum { WIDTH = 100, NOTE_INDENT = 4 };

/* ---- the list ----------------------------------------------------------------------------------
 */

typedef struct place {
    double estimate;
    int index;
} place;

/* The least estimate first; in the list's order where there are none. */
static int compare(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->estimate != y->estimate)
        return x->estimate < y->estimate ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Whether there are estimates. */
static bool add_candidates(const sg_space *s, text *out) {
    place *order = new_array((size_t)s->candidate_count, sizeof *order);
    bool any = false;
    for (int i = 0; i < s->candidate_count; i++) {
        order[i] = (place){s->candidates[i].estimated_seconds, i};
        any = any || order[i].estimate > 0;
    }
    qsort(order, (size_t)s->candidate_count, sizeof *order, compare);
    for (int i = 0; i < s->candidate_count; i++) {
        const sg_candidate *c = &s->candidates[order[i].index];
        text time = new_text();
        if (any)
            add_seconds(&time, c->estimated_seconds);
        text_printf(out, "%c ", order[i].index == s->usual_index ? '*' : ' ');
        if (any)
            text_printf(out, "%9s  ", time.data);
        text_printf(out, "%s\n", c->plan);
    }
    return any;
}

static void add_space(const sg_space *s, text *out) {
    const words *w = words_of_kind(s->kind);
    text_printf(out, "%s: %d candidate%s, %s, for %s, ", s->name, s->candidate_count,
                s->candidate_count == 1 ? "" : "s", s->dtype, s->arch);
    add_extents(out, s->size, s->dims);
    if (!w->is_grid)
        text_printf(out, " %s", w->points);
    if (s->steps > 1)
        text_printf(out, ", %lld steps", (long long)s->steps);
    text_add(out, "\n\n");
    if (add_candidates(s, out))
        text_printf(out, "\n  times are what the model expects on %s", s->arch);
    text_printf(out, "\n* what a build takes by the model%s%s\n",
                s->usual_index < 0 ? ", which tune leaves out: " : "",
                s->usual_index < 0 ? s->usual : "");
    for (int i = 0; i < s->note_count; i++) {
        text_printf(out, "  no candidate has %s: ", s->notes[i].value);
        add_wrapped(out, s->notes[i].why, NOTE_INDENT, WIDTH);
        text_add(out, "\n");
    }
    for (int i = 0; i < s->without_count; i++)
        text_printf(out, "  %s is tried without %s, which it does not have\n", s->without[i].name,
                    s->without[i].keys);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void json_axes(const sg_space *s, json *j) {
    json_array(j, "axes");
    for (int a = 0; a < s->axis_count; a++)
        json_string(j, NULL, s->axes[a].name);
    json_end_array(j);
}

static void json_candidate(const sg_space *s, const sg_candidate *c, json *j) {
    json_object(j, NULL);
    json_string(j, "plan", c->plan);
    if (c->estimated_seconds > 0)
        json_number(j, "estimated_seconds", c->estimated_seconds);
    else
        json_null(j, "estimated_seconds");
    json_integer(j, "threads", c->threads);
    json_integer(j, "shared_bytes", (int64_t)c->shared_bytes);
    json_object(j, "values");
    for (int a = 0; a < s->axis_count; a++)
        if (c->values[a] != 0 && s->axes[a].words != NULL)
            json_string(j, s->axes[a].name, s->axes[a].words[c->values[a]]);
        else if (c->values[a] != 0)
            json_integer(j, s->axes[a].name, c->values[a]);
    json_end_object(j);
    json_end_object(j);
}

static void json_space(const sg_space *s, const char *spec, int index, json *j) {
    json_object(j, NULL);
    json_string(j, "spec", spec);
    json_integer(j, "index", index);
    json_string(j, "family", s->family);
    json_string(j, "name", s->name);
    json_string(j, "dtype", s->dtype);
    json_string(j, "arch", s->arch);
    json_integers(j, "size", s->size, s->dims);
    json_integer(j, "steps", s->steps);
    json_string(j, "usual", s->usual);
    json_axes(s, j);
    json_integer(j, "count", s->candidate_count);
    json_array(j, "candidates");
    for (int i = 0; i < s->candidate_count; i++)
        json_candidate(s, &s->candidates[i], j);
    json_end_array(j);
    json_array(j, "notes");
    for (int i = 0; i < s->note_count; i++) {
        json_object(j, NULL);
        json_string(j, "value", s->notes[i].value);
        json_string(j, "why", s->notes[i].why);
        json_end_object(j);
    }
    json_end_array(j);
    json_array(j, "without");
    for (int i = 0; i < s->without_count; i++) {
        json_object(j, NULL);
        json_string(j, "name", s->without[i].name);
        json_string(j, "keys", s->without[i].keys);
        json_end_object(j);
    }
    json_end_array(j);
    json_null(j, "error");
    json_integer(j, "exit", EXIT_DONE);
    json_end_object(j);
}

/* ---- --list ----------------------------------------------------------------------------- */

static int list_one(session *s, const char *spec, int index, json *j) {
    sg_build_options how = session_build_options(s, index);
    sg_space *space = NULL;
    sg_matrix *matrix = NULL;
    int code = session_matrix(s, spec, &how, &matrix);
    if (code == EXIT_DONE) {
        const sg_status status = sg_candidates(s->context, spec, &how, &space);
        code = status == SG_OK ? EXIT_DONE : session_failed(s, status);
    }
    if (code == EXIT_DONE && s->options->json) {
        json_space(space, spec, index, j);
    } else if (code == EXIT_DONE) {
        text out = new_text();
        add_space(space, &out);
        code = say(&out);
    }
    sg_space_free(space);
    sg_matrix_free(matrix);
    return code;
}

/* ---- export -------------------------------------------------------------------------------- */

typedef struct export {
    const options *options;
    t4 t4;
    plans plans;
}
export;

/* An axis that --size does not give is not asked about. */
static void add_result(void *user, const sg_result *r) {
    export *e = user;
    const options *o = e->options;
    if (o->size_count > 0 && o->size_count != r->size_count)
        return;
    for (int i = 0; i < o->size_count; i++)
        if (o->size[i] != r->size[i])
            return;
    if (o->plans)
        plans_result(&e->plans, r);
    else
        t4_result(&e->t4, r);
}

static int export_results(sg_context *context, export *e) {
    const options *o = e->options;
    sg_status status = SG_OK;
    if (o->spec_count == 1)
        status = sg_results(context, NULL, add_result, e);
    for (int i = 1; i < o->spec_count && status == SG_OK; i++)
        status = sg_results(context, o->specs[i], add_result, e);
    return status == SG_OK ? EXIT_DONE : complain_library(context, status);
}

static int command_tune_export(const options *o) {
    session s;
    int code = session_open_without_device(&s, o);
    if (code != EXIT_DONE)
        return code;
    text out = new_text();
    json j = {.out = &out};
    export e = {.options = o};
    if (o->plans)
        plans_begin(&e.plans, &out);
    else
        t4_begin(&e.t4, &j);
    code = export_results(s.context, &e);
    if (o->plans)
        plans_end(&e.plans);
    else
        t4_end(&e.t4);
    if (code == EXIT_DONE) /* half a file would look like a whole one */
        code = say(&out);
    session_close(&s);
    return code;
}

/* ---- sweeps: signals
 * ------------------------------------------------------------------------------- */

static volatile sig_atomic_t asked_to_stop; /* the signal */

static const int stops[] = {SIGINT, SIGTERM};
enum { STOPS = sizeof stops / sizeof stops[0] };
static struct sigaction before[STOPS]; /* which clean up and end the command */

static void listen_no_more(void) {
    for (int i = 0; i < STOPS; i++)
        sigaction(stops[i], &before[i], NULL);
}

static void ask_to_stop(int number) {
    asked_to_stop = number;
    listen_no_more();
}

static void listen_for_signals(void) {
    for (int i = 0; i < STOPS; i++)
        sigaction(stops[i], NULL, &before[i]);
    for (int i = 0; i < STOPS; i++)
        if (before[i].sa_handler != SIG_IGN)
            sigaction(stops[i], &(struct sigaction){.sa_handler = ask_to_stop}, NULL);
}

/* ---- progress ------------------------------------------------------------------------------ */

/* "[######..............]" */
static void add_bar(text *out, double share) {
    enum { CELLS = 20 };
    text_add(out, "[");
    for (int i = 0; i < CELLS; i++)
        text_add(out, i < share * CELLS ? "#" : ".");
    text_add(out, "]");
}

/* What is nearer of the two ends; a guess by the trials so far. */
static void show_bar(const sg_tune_progress *p, text *line) {
    const int left = p->most_evaluations - p->evaluations, made = p->evaluations - p->resumed;
    double share = (double)p->evaluations / p->most_evaluations;
    double seconds = made > 0 ? p->seconds * left / made : NAN;
    if (p->budget > 0 && p->seconds / p->budget > share) {
        share = p->seconds / p->budget;
        seconds = fmax(p->budget - p->seconds, 0);
    }
    line->length = 0;
    text_printf(line, "%s ", p->name);
    add_bar(line, share);
    text_printf(line, " %d tried, %d left", p->evaluations, left);
    if (!isnan(seconds)) {
        text_add(line, ", ");
        text_printf(line, "%.0f s", ceil(seconds));
    }
    if (p->best != NULL) {
        text_add(line, "; best ");
        add_seconds(line, p->best_seconds);
        if (p->usual_seconds > 0)
            text_printf(line, ", %.2f times the default", p->usual_seconds / p->best_seconds);
    }
    if (p->building > 0)
        text_printf(line, "; building %d", p->building);
    if (p->round > 0)
        text_printf(line, "; the best %d in turns, %d of %d", p->finalists, p->round, p->rounds);
    progress("%s", line->data);
}

typedef struct sweeping {
    bool lines; /* say each trial on standard output */
    text line;  /* written again and again */
    int code;
} sweeping;

static int on_progress(void *user, const sg_tune_progress *p) {
    sweeping *s = user;
    if (p->last != NULL && s->lines) {
        s->line.length = 0;
        text_printf(&s->line, "%s %d/%d ", p->name, p->evaluations, p->most_evaluations);
        tune_report_line(p->last, &s->line);
        text_add(&s->line, "\n");
        s->code = first_failure(s->code, say(&s->line));
    }
    show_bar(p, &s->line);
    return asked_to_stop != 0 || s->code != EXIT_DONE;
}

/* ---- one kernel ---------------------------------------------------------------------------- */

static int sweep(session *s, const char *spec, const sg_build_options *how,
                 const double *parameters, sg_tuning **out) {
    const options *o = s->options;
    sweeping state = {.lines = !o->json && !isatty(STDOUT_FILENO), .line = new_text()};
    const sg_tune_options options = {.struct_size = sizeof options,
                                     .build = how,
                                     .search = (sg_search)o->search,
                                     .seed = o->seed,
                                     .budget = o->budget,
                                     .evaluations = o->evaluations,
                                     .afresh = o->afresh,
                                     .parameters = parameters,
                                     .worker = "/proc/self/exe",
                                     .limit = o->limit,
                                     .progress = on_progress,
                                     .user = &state};
    listen_for_signals();
    const sg_status status = sg_tune(s->context, spec, &options, out);
    listen_no_more();
    progress_end();
    int code = status == SG_OK ? EXIT_DONE : session_failed(s, status);
    code = first_failure(code, state.code);
    if (code == EXIT_DONE && *out != NULL && (*out)->best < 0 && asked_to_stop == 0)
        code = complain(EXIT_DEVICE, spec, "none of %d candidates could be measured",
                        (*out)->evaluation_count);
    return code;
}

static int say_report(const session *s, const sg_tuning *t) {
    text out = new_text();
    if (!s->options->json)
        tune_report_text(t, &out);
    const int code = say(&out);
    return code;
}

static void json_kernel(json *j, const char *spec, int index, const sg_tuning *t, int code) {
    json_object(j, NULL);
    json_string(j, "spec", spec);
    json_integer(j, "index", index);
    if (t != NULL)
        tune_report_json(t, j);
    json_string(j, "error", complaint_take());
    json_integer(j, "exit", code);
    json_end_object(j);
}

static int tune_one(session *s, const char *spec, int index, json *j) {
    sg_build_options how = session_build_options(s, index);
    double *parameters = NULL;
    sg_kernel *kernel = NULL;
    sg_tuning *tuning = NULL;
    sg_matrix *matrix = NULL;
    int code = session_matrix(s, spec, &how, &matrix);
    if (code == EXIT_DONE)
        code = session_plan(s, spec, &how, &kernel, &parameters);
    if (code == EXIT_DONE)
        code = sweep(s, spec, &how, parameters, &tuning);
    if (tuning != NULL)
        code = first_failure(code, say_report(s, tuning));
    json_kernel(j, spec, index, tuning, code);
    sg_release(kernel);
    sg_tuning_free(tuning);
    sg_matrix_free(matrix);
    return code;
}

static int tune_spec(session *s, const char *spec, json *j) {
    int count = 0;
    int code = session_count(s, spec, &count);
    if (code != EXIT_DONE)
        json_kernel(j, spec, 0, NULL, code);
    for (int index = 0; index < count && asked_to_stop == 0; index++)
        code = first_failure(code, tune_one(s, spec, index, j));
    return code;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static int tune_all(session *s, json *j, void *unused) {
    (void)unused;
    int code = EXIT_DONE;
    session_json(s, j);
    json_array(j, "kernels");
    for (int i = 0; i < s->options->spec_count && asked_to_stop == 0; i++)
        code = first_failure(code, tune_spec(s, s->options->specs[i], j));
    json_end_array(j);
    return code;
}

static int command_tune_sweep(const options *o) {
    const int code = session_report(o, tune_all, NULL);
    progress_end();
    if (asked_to_stop != 0)
        raise(asked_to_stop); /* whoever sent it sees that it ended the command */
    return code;
}

int command_tune(const options *o) {
    if (o->list)
        return session_each(o, list_one);
    return strcmp(o->specs[0], "export") == 0 ? command_tune_export(o) : command_tune_sweep(o);
}
