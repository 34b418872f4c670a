/* The report of a sweep, for people and as JSON. */
#include "cli/report/report.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/words.h"

enum { WIDTH = 100, INDENT = 11, MOST_ROWS = 12 };

static bool is_right(const sg_evaluation *e) {
    return strcmp(e->state, "right") == 0;
}

/* Seconds: of the finals for a finalist, else of its trial. */
static double time_of(const sg_evaluation *e) {
    return isnan(e->final_seconds) ? e->seconds : e->final_seconds;
}

/* How many times as fast as the usual plan the best one is; NAN if either is unknown. */
static double gain_of(const sg_tuning *t) {
    if (t->best < 0 || t->usual < 0 || !is_right(&t->evaluations[t->usual]))
        return NAN;
    return time_of(&t->evaluations[t->usual]) / time_of(&t->evaluations[t->best]);
}

void tune_report_line(const sg_evaluation *e, text *out) {
    text time = new_text();
    if (is_right(e))
        add_seconds(&time, e->seconds);
    else
        text_add(&time, e->state);
    text_printf(out, "%12s  %s", time.data, e->plan);
    if (!is_right(e))
        text_printf(out, ": %.*s", (int)strcspn(e->reason, "\n"), e->reason);
}

/* ---- why the losers lost ------------------------------------------------------------------- */

/* What makes a candidate slower than the best, as far as its figures show. */
static void add_why(const sg_evaluation *e, const sg_evaluation *best, text *out) {
    const size_t begin = out->length;
    if (e->local_bytes > best->local_bytes && e->local_bytes > 0)
        text_printf(out, ", spills %lld bytes", (long long)e->local_bytes);
    if (e->occupancy < 0.8 * best->occupancy)
        text_printf(out, ", fewer threads at a time");
    if (e->registers > best->registers && e->registers > 0)
        text_printf(out, ", more registers");
    if (e->shared_bytes > 2 * best->shared_bytes && e->shared_bytes > 0)
        text_printf(out, ", more shared memory");
    if (out->length > begin) /* what was added begins with a comma */
        memmove(out->data + begin, out->data + begin + 1, out->length-- - begin);
}

static void add_number(text *out, int width, double number, const char *format) {
    text line = new_text();
    if (!isnan(number) && number >= 0)
        text_printf(&line, format, number);
    text_printf(out, "%*s", width, number >= 0 ? line.data : "-");
}

static void add_row(const sg_tuning *t, int which, text *out) {
    const sg_evaluation *e = &t->evaluations[which], *best = &t->evaluations[t->best];
    text time = new_text(), final = new_text();
    add_seconds(&time, e->seconds);
    if (!isnan(e->final_seconds))
        add_seconds(&final, e->final_seconds);
    text_printf(out, "%c%10s ", which == t->usual ? '*' : ' ', time.data);
    if (t->finalists > 0)
        text_printf(out, "%10s ", final.data);
    text_printf(out, "%6.2f ", time_of(e) / time_of(best));
    add_number(out, 5, e->registers, "%.0f");
    add_number(out, 6, (double)e->local_bytes, "%.0f");
    add_number(out, 6, e->occupancy, "%.2f");
    text_printf(out, "  %s", e->plan);
    text why = new_text();
    if (which != t->best)
        add_why(e, best, &why);
    if (why.length > 0)
        text_printf(out, ":%s", why.data);
    text_add(out, "\n");
}

typedef struct rank {
    double seconds;
    int which;
    bool final;
} rank;

/* Finalists were faster than all others. */
static int by_time(const void *a, const void *b) {
    const rank *x = a, *y = b;
    if (x->final != y->final)
        return x->final ? -1 : 1;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    return (x->which > y->which) - (x->which < y->which);
}

/* The fastest rows, and the usual one. */
static void add_rows(const sg_tuning *t, text *out) {
    rank *order = new_array((size_t)t->evaluation_count + 1, sizeof *order);
    int count = 0;
    for (int i = 0; i < t->evaluation_count; i++)
        if (is_right(&t->evaluations[i]))
            order[count++] =
                (rank){time_of(&t->evaluations[i]), i, !isnan(t->evaluations[i].final_seconds)};
    qsort(order, (size_t)count, sizeof *order, by_time);
    text_printf(out, "\n%11s ", "time");
    if (t->finalists > 0)
        text_printf(out, "%10s ", "final");
    text_printf(out, "%6s %5s%6s%6s\n", "/best", "regs", "local", "occ.");
    for (int i = 0; i < count; i++)
        if (i < MOST_ROWS || order[i].which == t->usual)
            add_row(t, order[i].which, out);
    if (count > MOST_ROWS)
        text_printf(out, "  and %d slower ones; stencilgen tune export has all\n",
                    count - MOST_ROWS);
    text_add(out, "* what a build takes by the model\n");
}

/* Each state of failure, with its first plan. */
static void add_failures(const sg_tuning *t, text *out) {
    for (int i = 0; i < t->evaluation_count; i++) {
        const sg_evaluation *e = &t->evaluations[i];
        int count = 0;
        bool seen = is_right(e);
        for (int k = 0; k < i && !seen; k++)
            seen = strcmp(t->evaluations[k].state, e->state) == 0;
        for (int k = i; k < t->evaluation_count && !seen; k++)
            count += strcmp(t->evaluations[k].state, e->state) == 0;
        if (seen)
            continue;
        text line = new_text();
        text_printf(&line, "%d %s, the first: %s: %.*s", count, e->state, e->plan,
                    (int)strcspn(e->reason, "\n"), e->reason);
        text_add(out, "  ");
        add_wrapped(out, line.data, 4, WIDTH);
        text_add(out, "\n");
    }
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void add_head(const sg_tuning *t, text *out) {
    const words *w = words_of_kind(t->kind);
    text_printf(out, "%s: ", t->name);
    add_extents(out, t->size, t->dims);
    if (!w->is_grid)
        text_printf(out, " %s", w->points);
    if (t->steps > 1)
        text_printf(out, ", %lld steps", (long long)t->steps);
    text_printf(out, ", %d of %d candidates for %s in ", t->evaluation_count, t->candidate_count,
                t->arch);
    add_seconds(out, t->seconds);
    if (t->resumed > 0)
        text_printf(out, ", %d of them before", t->resumed);
    text_add(out, "\n");
}

static void add_plan(const char *title, const sg_evaluation *e, text *out) {
    text_printf(out, "  %-8s %s\n%*s", title, e->plan, INDENT, "");
    if (is_right(e))
        add_seconds(out, time_of(e));
    else
        text_add(out, e->state);
}

static void add_range(const double range[2], const char *before, const char *unit, text *out) {
    if (isfinite(range[0]) && range[0] == range[1])
        text_printf(out, "%s %.0f %s", before, range[0], unit);
    else if (isfinite(range[0]))
        text_printf(out, "%s %.0f to %.0f %s", before, range[0], range[1], unit);
}

/* The finals and the drift. */
static void add_again(const sg_tuning *t, text *out) {
    if (t->finalists > 0)
        text_printf(out,
                    "  finals   the fastest %d, closer than times vary, timed in turns %d times: "
                    "the best won\n",
                    t->finalists, t->rounds);
    text_printf(out, "  drift    %.1f %% at most, of a kernel timed again %d time%s",
                100 * t->drift, t->drift_count, t->drift_count == 1 ? "" : "s");
    double clock[2] = {INFINITY, -INFINITY}, temperature[2] = {INFINITY, -INFINITY};
    for (int i = 0; i < t->drift_count; i++) {
        clock[0] = fmin(clock[0], t->drifts[i].clock); /* fmin and fmax pass over NAN */
        clock[1] = fmax(clock[1], t->drifts[i].clock);
        temperature[0] = fmin(temperature[0], t->drifts[i].temperature);
        temperature[1] = fmax(temperature[1], t->drifts[i].temperature);
    }
    add_range(clock, ", at", "MHz", out);
    add_range(temperature, ",", "degrees", out);
    text_add(out, "\n");
}

static void add_kept(const sg_tuning *t, text *out) {
    const bool best = t->best >= 0 && strcmp(t->taken, t->evaluations[t->best].plan) == 0;
    text_printf(out, "  kept in  %s%s\n", t->database,
                best ? ": builds of this size take the best" : "");
    if (!best && t->taken[0] != '\0')
        text_printf(out, "%*sbuilds of this size take %s, which was faster\n", INDENT, "",
                    t->taken);
}

void tune_report_text(const sg_tuning *t, text *out) {
    const double gain = gain_of(t);
    add_head(t, out);
    if (t->best >= 0) {
        const sg_evaluation *e = &t->evaluations[t->best];
        add_plan("best", e, out);
        text_printf(out, ", quartiles %.1f %% apart\n", 100 * e->spread);
    }
    if (t->usual >= 0) {
        add_plan("default", &t->evaluations[t->usual], out);
        text_add(out, "\n");
    }
    if (!isnan(gain))
        text_printf(out, "  gain     %.2f times as fast as the default\n", gain);
    add_again(t, out);
    if (t->database[0] != '\0')
        add_kept(t, out);
    else
        text_add(out, "  kept in  nothing: there is no database, and builds will not know of it\n");
    if (t->best >= 0)
        add_rows(t, out);
    add_failures(t, out);
    if (!t->finished)
        text_add(out, "not finished: the same command goes on\n");
}

static void json_evaluation(const sg_evaluation *e, json *j) {
    json_object(j, NULL);
    json_string(j, "plan", e->plan);
    json_string(j, "state", e->state);
    json_string(j, "reason", is_right(e) ? NULL : e->reason);
    json_number(j, "seconds", e->seconds);
    json_number(j, "spread", e->spread);
    json_number(j, "estimated_seconds", e->estimated_seconds);
    json_known(j, "registers", e->registers);
    json_known(j, "local_bytes", e->local_bytes);
    json_known(j, "shared_bytes", e->shared_bytes);
    json_known(j, "threads", e->threads);
    json_number(j, "occupancy", e->occupancy);
    json_bool(j, "resumed", e->resumed != 0);
    json_number(j, "final_seconds", e->final_seconds);
    json_end_object(j);
}

static void json_drifts(const sg_tuning *t, json *j) {
    json_array(j, "drifts");
    for (int i = 0; i < t->drift_count; i++) {
        const sg_drift *d = &t->drifts[i];
        json_object(j, NULL);
        json_string(j, "plan", d->plan);
        json_integer(j, "evaluation", d->evaluation);
        json_number(j, "first_seconds", d->first_seconds);
        json_number(j, "seconds", d->seconds);
        json_number(j, "clock", d->clock);
        json_number(j, "temperature", d->temperature);
        json_integer(j, "taken", d->taken);
        json_end_object(j);
    }
    json_end_array(j);
}

void tune_report_json(const sg_tuning *t, json *j) {
    json_string(j, "family", t->family);
    json_string(j, "name", t->name);
    json_string(j, "arch", t->arch);
    json_integers(j, "size", t->size, t->dims);
    json_integer(j, "steps", t->steps);
    json_integer(j, "candidates", t->candidate_count);
    json_string(j, "best", t->best >= 0 ? t->evaluations[t->best].plan : NULL);
    json_number(j, "best_seconds", t->best >= 0 ? time_of(&t->evaluations[t->best]) : NAN);
    json_string(j, "usual", t->usual >= 0 ? t->evaluations[t->usual].plan : NULL);
    json_number(j, "usual_seconds", t->usual >= 0 ? time_of(&t->evaluations[t->usual]) : NAN);
    json_number(j, "gain", gain_of(t));
    json_integer(j, "wrong", t->wrong);
    json_integer(j, "resumed", t->resumed);
    json_bool(j, "finished", t->finished != 0);
    json_number(j, "seconds", t->seconds);
    json_integer(j, "finalists", t->finalists);
    json_integer(j, "rounds", t->rounds);
    json_number(j, "drift", t->drift);
    json_drifts(t, j);
    json_string(j, "taken", t->taken[0] != '\0' ? t->taken : NULL);
    json_string(j, "database", t->database[0] != '\0' ? t->database : NULL);
    json_array(j, "evaluations");
    for (int i = 0; i < t->evaluation_count; i++)
        json_evaluation(&t->evaluations[i], j);
    json_end_array(j);
}
