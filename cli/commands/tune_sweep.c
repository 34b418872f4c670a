/* tune: sweeps. Takes: specs. Makes: rows in the database of tuning results, and a report for each
   kernel. Ctrl-C ends a sweep after the trial at hand; a second one ends the command. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands/commands.h"
#include "cli/report/report.h"
#include "cli/session.h"

/* ---- signals ------------------------------------------------------------------------------- */

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

/* What the command line says of the kernel, judged by its source. */
static int judge(session *s, const char *spec, const sg_build_options *how, double **parameters) {
    sg_build_options source = *how;
    sg_kernel *kernel;
    int count, dims, code = EXIT_DONE;
    source.source_only = 1;
    if (s->options->size_count > 0)
        code = session_dimensions(s, spec, how, &dims);
    if (code == EXIT_DONE)
        code = session_build(s, spec, &source, &kernel);
    if (code != EXIT_DONE)
        return code;
    code = session_judge_steps(s, spec, kernel);
    if (code == EXIT_DONE)
        code = session_parameters(s, spec, kernel, false, parameters, &count);
    sg_release(kernel);
    return code;
}

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
    sg_tuning *tuning = NULL;
    sg_matrix *matrix = NULL;
    int code = session_matrix(s, spec, &how, &matrix);
    if (code == EXIT_DONE)
        code = judge(s, spec, &how, &parameters);
    if (code == EXIT_DONE)
        code = sweep(s, spec, &how, parameters, &tuning);
    if (tuning != NULL)
        code = first_failure(code, say_report(s, tuning));
    json_kernel(j, spec, index, tuning, code);
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

int command_tune_sweep(const options *o) {
    const int code = session_report(o, tune_all, NULL);
    progress_end();
    if (asked_to_stop != 0)
        raise(asked_to_stop); /* whoever sent it sees that it ended the command */
    return code;
}
