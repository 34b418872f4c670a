/* tune. A sweep fills the database of tuning results and reports each kernel: Ctrl-C ends it after
   the current trial, a second Ctrl-C ends the command. --list shows the candidates of specs. export
   writes the results of former sweeps as JSON for other tuners or as a plans file. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/report/report.h"

/* ---- the list ------------------------------------------------------------------------------ */

typedef struct place {
    double estimate;
    int index;
} place;

/* The least estimate first; without estimates in the list's order. */
static int compare(const void *a, const void *b) {
    const place *x = a, *y = b;
    if (x->estimate != y->estimate)
        return x->estimate < y->estimate ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Returns whether there are estimates. */
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
        text_printf(out, "%c %s%s\n", order[i].index == s->usual_index ? '*' : ' ',
                    any ? phrase("%9s  ", in_seconds(c->estimated_seconds)) : "", c->plan);
    }
    return any;
}

static void add_space(const sg_space *s, text *out) {
    const words *w = words_of_kind(s->kind);
    text_printf(out, "%s: %s, %s, for %s (%s), %s", s->name,
                counted(s->candidate_count, "candidate"), s->dtype, s->gpu, s->arch,
                size_text(w, s->size, s->dims));
    if (s->steps > 1)
        text_printf(out, ", %" PRId64 " steps", s->steps);
    text_add(out, "\n\n");
    if (add_candidates(s, out))
        text_printf(out, "\n  times are what the model expects on %s", s->gpu);
    text_printf(out, "\n* what a build takes by the model%s%s\n",
                s->usual_index < 0 ? ", which tune leaves out: " : "",
                s->usual_index < 0 ? s->usual : "");
    for (int i = 0; i < s->note_count; i++)
        add_wrapped(out, phrase("  no candidate has %s: ", s->notes[i].value), 4, s->notes[i].why);
    for (int i = 0; i < s->without_count; i++)
        text_printf(out, "  %s is tried without %s, which it does not have\n", s->without[i].name,
                    s->without[i].keys);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void json_candidate(const sg_space *s, const sg_candidate *c, json *j) {
    const double estimate = c->estimated_seconds > 0 ? c->estimated_seconds : (double)NAN;
    json_add(j, "{ plan %s estimated_seconds %g threads %d shared_bytes %zu values {", c->plan,
             estimate, c->threads, c->shared_bytes);
    for (int a = 0; a < s->axis_count; a++)
        if (c->values[a] != 0 && s->axes[a].words != NULL)
            json_string(j, s->axes[a].name, s->axes[a].words[c->values[a]]);
        else if (c->values[a] != 0)
            json_literal(j, s->axes[a].name, phrase("%d", c->values[a]));
    json_add(j, "} }");
}

static void json_space(const sg_space *s, json *j) {
    json_add(j, "family %s name %s dtype %s arch %s gpu %s", s->family, s->name, s->dtype, s->arch,
             s->gpu);
    json_integers(j, "size", s->size, s->dims);
    json_add(j, "steps %" PRId64 " usual %s axes [", s->steps, s->usual);
    for (int a = 0; a < s->axis_count; a++)
        json_string(j, NULL, s->axes[a].name);
    json_add(j, "] count %d candidates [", s->candidate_count);
    for (int i = 0; i < s->candidate_count; i++)
        json_candidate(s, &s->candidates[i], j);
    json_add(j, "] notes [");
    for (int i = 0; i < s->note_count; i++)
        json_add(j, "{ value %s why %s }", s->notes[i].value, s->notes[i].why);
    json_add(j, "] without [");
    for (int i = 0; i < s->without_count; i++)
        json_add(j, "{ name %s keys %s }", s->without[i].name, s->without[i].keys);
    json_add(j, "]");
}

/* ---- --list ----------------------------------------------------------------------------- */

static int list_one(session *s, const char *spec, int index, json *j, void *unused) {
    (void)unused;
    sg_build_options how = session_build_options(s, index);
    sg_space *space = NULL;
    sg_matrix *matrix = NULL;
    int code = session_matrix(s, spec, &how, &matrix);
    if (code == EXIT_DONE)
        code = session_code(s, sg_candidates(s->context, spec, &how, &space));
    if (code == EXIT_DONE && s->options->json) {
        json_space(space, j);
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

/* --size chooses results by all of their extents. */
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
    return complain_library(context, status);
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

/* ---- sweeps: signals ------------------------------------------------------------------------ */

static volatile sig_atomic_t asked_to_stop; /* the signal */

static const int stops[] = {SIGINT, SIGTERM};
enum { STOPS = sizeof stops / sizeof stops[0] };
static struct sigaction before[STOPS]; /* these clean up and end the command */

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

/* Shows how near the sweep is to its end: the last trial, or the end of the budget. */
static void show_bar(const sg_tune_progress *p, text *line) {
    enum { CELLS = 20 };
    const int left = p->most_evaluations - p->evaluations, made = p->evaluations - p->resumed;
    double share = (double)p->evaluations / p->most_evaluations;
    double seconds = made > 0 ? p->seconds * left / made : NAN;
    if (p->budget > 0 && p->seconds / p->budget > share) {
        share = p->seconds / p->budget;
        seconds = fmax(p->budget - p->seconds, 0);
    }
    line->length = 0;
    text_printf(line, "%s [", p->name);
    for (int i = 0; i < CELLS; i++)
        text_add(line, i < share * CELLS ? "#" : ".");
    text_printf(line, "] %d tried, %d left", p->evaluations, left);
    if (!isnan(seconds))
        text_printf(line, ", %.0f s", ceil(seconds));
    if (p->best != NULL)
        text_printf(line, "; best %s", in_seconds(p->best_seconds));
    if (p->best != NULL && p->usual_seconds > 0)
        text_printf(line, ", %.2f times the default", p->usual_seconds / p->best_seconds);
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
                                     .evaluations =
                                         o->evaluations < INT_MAX ? (int)o->evaluations : INT_MAX,
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
    int code = first_failure(session_code(s, status), state.code);
    if (code == EXIT_DONE && *out != NULL && (*out)->best < 0 && asked_to_stop == 0)
        code = complain(EXIT_DEVICE, spec, "none of %s could be measured",
                        counted((*out)->evaluation_count, "candidate"));
    return code;
}

static int tune_one(session *s, const char *spec, int index, json *j, void *unused) {
    (void)unused;
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
    if (tuning != NULL && s->options->json) {
        tune_report_json(tuning, j);
    } else if (tuning != NULL) {
        text out = new_text();
        tune_report_text(tuning, &out);
        code = first_failure(code, say(&out));
    }
    s->stopped = asked_to_stop != 0;
    sg_release(kernel);
    sg_tuning_free(tuning);
    sg_matrix_free(matrix);
    return code;
}

static int command_tune_sweep(const options *o) {
    const int code = session_each(o, true, tune_one, NULL);
    progress_end();
    if (asked_to_stop != 0)
        raise(asked_to_stop); /* the parent sees that the signal ended the command */
    return code;
}

int command_tune(const options *o) {
    if (o->list)
        return session_each(o, false, list_one, NULL);
    return strcmp(o->specs[0], "export") == 0 ? command_tune_export(o) : command_tune_sweep(o);
}
