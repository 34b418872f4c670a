/* The report of a sweep, for people and as JSON. */
#include "cli/report/report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 11, MOST_ROWS = 12 };

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
    text_printf(out, "%12s  %s", is_right(e) ? in_seconds(e->seconds) : e->state, e->plan);
    if (!is_right(e))
        text_printf(out, ": %.*s", (int)strcspn(e->reason, "\n"), e->reason);
}

/* ---- why the losers lost ------------------------------------------------------------------- */

/* What makes a candidate slower than the best, as far as its figures show. */
static void add_why(const sg_evaluation *e, const sg_evaluation *best, text *out) {
    if (e->local_bytes > best->local_bytes && e->local_bytes > 0)
        text_printf(out, ", spills %lld bytes", (long long)e->local_bytes);
    if (e->occupancy < 0.8 * best->occupancy)
        text_printf(out, ", fewer threads at a time");
    if (e->registers > best->registers && e->registers > 0)
        text_printf(out, ", more registers");
    if (e->shared_bytes > 2 * best->shared_bytes && e->shared_bytes > 0)
        text_printf(out, ", more shared memory");
}

/* "-" where it is unknown. */
static const char *known(double number, int decimals) {
    return number >= 0 ? phrase("%.*f", decimals, number) : "-";
}

static void add_row(const sg_tuning *t, int which, text *out) {
    const sg_evaluation *e = &t->evaluations[which], *best = &t->evaluations[t->best];
    text_printf(out, "%c%10s ", which == t->usual ? '*' : ' ', in_seconds(e->seconds));
    if (t->finalists > 0)
        text_printf(out, "%10s ", isnan(e->final_seconds) ? "" : in_seconds(e->final_seconds));
    text_printf(out, "%6.2f %5s%6s%6s  %s", time_of(e) / time_of(best), known(e->registers, 0),
                known((double)e->local_bytes, 0), known(e->occupancy, 2), e->plan);
    text why = new_text();
    if (which != t->best)
        add_why(e, best, &why);
    if (why.length > 0)
        text_printf(out, ":%s", why.data + 1); /* after a comma */
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
        add_wrapped(out, "  ", 4,
                    phrase("%d %s, the first: %s: %.*s", count, e->state, e->plan,
                           (int)strcspn(e->reason, "\n"), e->reason));
    }
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void add_head(const sg_tuning *t, text *out) {
    const words *w = words_of_kind(t->kind);
    text_printf(out, "%s: %s", t->name, size_text(w, t->size, t->dims));
    if (t->steps > 1)
        text_printf(out, ", %" PRId64 " steps", t->steps);
    /* The plan that a build takes is tried even if the spec's `tune` leaves it out. */
    const bool more = t->evaluation_count > t->candidate_count;
    text_printf(out, ", %d of %s%s for %s (%s) in %s", t->evaluation_count - more,
                counted(t->candidate_count, "candidate"), more ? " and the default" : "", t->gpu,
                t->arch, in_seconds(t->seconds));
    if (t->resumed > 0)
        text_printf(out, ", %d of them before", t->resumed);
    text_add(out, "\n");
}

static void add_plan(const char *title, const sg_evaluation *e, text *out) {
    text_printf(out, "  %-8s %s\n%*s%s", title, e->plan, INDENT, "",
                is_right(e) ? in_seconds(time_of(e)) : e->state);
}

/* The finals and the drift. */
static void add_again(const sg_tuning *t, text *out) {
    if (t->finalists > 0)
        text_printf(out,
                    "  finals   the fastest %d, closer than times vary, timed in turns %s: "
                    "the best won\n",
                    t->finalists, counted(t->rounds, "time"));
    double clock[2] = {INFINITY, -INFINITY}, temperature[2] = {INFINITY, -INFINITY};
    for (int i = 0; i < t->drift_count; i++) {
        clock[0] = fmin(clock[0], t->drifts[i].clock); /* fmin and fmax pass over NAN */
        clock[1] = fmax(clock[1], t->drifts[i].clock);
        temperature[0] = fmin(temperature[0], t->drifts[i].temperature);
        temperature[1] = fmax(temperature[1], t->drifts[i].temperature);
    }
    text_printf(out, "  drift    %.1f %% at most, of a kernel timed again %s%s%s\n", 100 * t->drift,
                counted(t->drift_count, "time"), in_range(", at ", "MHz", clock[0], clock[1]),
                in_range(", ", "degrees", temperature[0], temperature[1]));
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
        text_add(out, t->database[0] != '\0' ? "not finished: the same command goes on\n"
                                             : "not finished\n");
}

static void json_evaluation(const sg_evaluation *e, json *j) {
    json_add(j, "{ plan %s state %s", e->plan, e->state);
    json_string(j, "reason", is_right(e) ? NULL : e->reason);
    json_add(j,
             "seconds %g spread %g estimated_seconds %g registers %+d local_bytes %+" PRId64
             " shared_bytes %+" PRId64 " threads %+d occupancy %g resumed %i final_seconds %g }",
             e->seconds, e->spread, e->estimated_seconds, e->registers, e->local_bytes,
             e->shared_bytes, e->threads, e->occupancy, e->resumed, e->final_seconds);
}

static void json_drift(const sg_drift *d, json *j) {
    json_add(j,
             "{ plan %s evaluation %d first_seconds %g seconds %g clock %g temperature %g "
             "taken %" PRId64 " }",
             d->plan, d->evaluation, d->first_seconds, d->seconds, d->clock, d->temperature,
             d->taken);
}

void tune_report_json(const sg_tuning *t, json *j) {
    const sg_evaluation *best = t->best >= 0 ? &t->evaluations[t->best] : NULL;
    const sg_evaluation *usual = t->usual >= 0 ? &t->evaluations[t->usual] : NULL;
    json_add(j, "family %s name %s arch %s gpu %s", t->family, t->name, t->arch, t->gpu);
    json_integers(j, "size", t->size, t->dims);
    json_add(j,
             "steps %" PRId64 " candidates %d best %s best_seconds %g usual %s usual_seconds %g "
             "gain %g wrong %d resumed %d finished %i seconds %g finalists %d rounds %d drift %g "
             "drifts [",
             t->steps, t->candidate_count, best != NULL ? best->plan : NULL,
             best != NULL ? time_of(best) : (double)NAN, usual != NULL ? usual->plan : NULL,
             usual != NULL ? time_of(usual) : (double)NAN, gain_of(t), t->wrong, t->resumed,
             t->finished, t->seconds, t->finalists, t->rounds, t->drift);
    for (int i = 0; i < t->drift_count; i++)
        json_drift(&t->drifts[i], j);
    json_add(j, "] taken %s database %s evaluations [", t->taken[0] != '\0' ? t->taken : NULL,
             t->database[0] != '\0' ? t->database : NULL);
    for (int i = 0; i < t->evaluation_count; i++)
        json_evaluation(&t->evaluations[i], j);
    json_add(j, "]");
}
