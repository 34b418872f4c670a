/* Strategies of the search. Takes: candidates and what was measured. Makes: what to measure next.
 */
#include "runtime/tune/search.h"

#include <assert.h>
#include <math.h>

#include "base/random.h"
#include "gen/space/space.h"

const char *const search_words[SEARCH_KINDS] = {"guided", "exhaustive", "random"};

enum { MOST_OBSERVED = 256, FASTEST_KEPT = 160, MOST_AHEAD = 64 };

typedef enum state { FREE, ASKED, TOLD, INVALID } state;

struct search {
    search_kind kind;
    const search_candidates *of;
    int *order; /* of exhaustive and random */
    int next;   /* in it */
    state *states;
    double *logs; /* of seconds, where told */
    int *told;    /* candidates in the order of their telling, invalid ones included */
    int told_count, best;
    search_model *model; /* of guided */
    bool stale;          /* the model does not know what was told last */
    int *observed;       /* room for what the model is fitted to */
    double *observed_logs;
};

/* Fisher and Yates. */
static void shuffle(int *order, int count, uint64_t seed) {
    for (int i = count - 1; i > 0; i--) {
        const int other = (int)(random_next(&seed) % (uint64_t)(i + 1));
        const int kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
}

search *search_new(job *j, search_kind kind, const search_candidates *c, uint64_t seed) {
    const size_t count = (size_t)c->count;
    search *s = job_alloc(j, sizeof *s);
    assert(c->axis_count <= SEARCH_AXES);
    s->kind = kind;
    s->of = c;
    s->best = -1;
    s->states = job_array(j, count, sizeof *s->states);
    s->logs = job_array(j, count, sizeof *s->logs);
    s->told = job_array(j, count, sizeof *s->told);
    s->order = job_array(j, count, sizeof *s->order);
    for (int i = 0; i < c->count; i++)
        s->order[i] = i;
    if (kind == SEARCH_RANDOM)
        shuffle(s->order, c->count, seed);
    if (kind == SEARCH_GUIDED) {
        const int most = c->count < MOST_OBSERVED ? c->count : MOST_OBSERVED;
        s->model = search_model_new(j, c, most + MOST_AHEAD);
        s->observed = job_array(j, count, sizeof *s->observed);
        s->observed_logs = job_array(j, count, sizeof *s->observed_logs);
    }
    return s;
}

/* ---- what was told ------------------------------------------------------------------------- */

static void tell(search *s, int candidate, state now) {
    assert(candidate >= 0 && candidate < s->of->count);
    if (s->states[candidate] != TOLD && s->states[candidate] != INVALID)
        s->told[s->told_count++] = candidate;
    s->states[candidate] = now;
    s->stale = true;
    s->best = -1;
    for (int i = 0; i < s->told_count; i++)
        if (s->states[s->told[i]] == TOLD &&
            (s->best < 0 || s->logs[s->told[i]] < s->logs[s->best]))
            s->best = s->told[i];
}

void search_tell(search *s, int candidate, double seconds) {
    if (!(seconds > 0) || !isfinite(seconds)) {
        search_tell_invalid(s, candidate);
        return;
    }
    s->logs[candidate] = log(seconds);
    tell(s, candidate, TOLD);
}

void search_tell_invalid(search *s, int candidate) {
    tell(s, candidate, INVALID);
}

int search_best(const search *s) {
    return s->best;
}

int search_told(const search *s) {
    return s->told_count;
}

/* ---- guided -------------------------------------------------------------------------------- */

/* Whether so many valid ones were faster that the model can do without this one. */
static bool is_slow(const search *s, int candidate) {
    int faster = 0;
    for (int i = 0; i < s->told_count; i++)
        faster += s->states[s->told[i]] == TOLD && s->logs[s->told[i]] < s->logs[candidate];
    return faster >= FASTEST_KEPT;
}

/* Fits the model to what was told; of very many, to the fastest and the latest. */
static void refresh(search *s) {
    int count = 0, valid = 0;
    if (!s->stale)
        return;
    for (int i = 0; i < s->told_count; i++)
        valid += s->states[s->told[i]] == TOLD;
    int seen = 0;
    for (int i = 0; i < s->told_count; i++) {
        const int c = s->told[i];
        if (s->states[c] != TOLD)
            continue;
        seen++;
        const bool late = valid - seen < MOST_OBSERVED - FASTEST_KEPT;
        if (valid > MOST_OBSERVED && !late && is_slow(s, c))
            continue;
        s->observed[count] = c;
        s->observed_logs[count++] = s->logs[c];
    }
    search_model_fit(s->model, s->observed, s->observed_logs,
                     count < MOST_OBSERVED ? count : MOST_OBSERVED);
    for (int c = 0, ahead = 0; c < s->of->count && ahead < MOST_AHEAD; c++)
        if (s->states[c] == ASKED) {
            search_model_suppose(s->model, c);
            ahead++;
        }
    s->stale = false;
}

/* How likely a candidate is to be valid: as its neighbours were, and as those with the same word
   along each axis that has words were; each a mean with one valid one at hand before any was told
   (Nadaraya and Watson's; Laplace's), taken as independent of each other. */
static double chance(const search *s, int candidate) {
    const search_candidates *c = s->of;
    const int *own = &c->values[(size_t)candidate * (size_t)c->axis_count];
    double valid = 1, all = 1, product = 1;
    for (int i = 0; i < s->told_count; i++) {
        const double like = search_model_likeness(s->model, candidate, s->told[i]);
        all += like;
        valid += s->states[s->told[i]] == TOLD ? like : 0;
    }
    for (int axis = 0; axis < c->axis_count; axis++) {
        double good = 1, tried = 1;
        for (int i = 0; i < s->told_count && c->named[axis]; i++) {
            const int other = s->told[i];
            if (c->values[(size_t)other * (size_t)c->axis_count + (size_t)axis] != own[axis])
                continue;
            tried++;
            good += s->states[other] == TOLD;
        }
        product *= good / tried;
    }
    return product * valid / all;
}

/* The expected improvement on the best, in logarithms of seconds; Jones et al., equation 15. */
static double improvement(const search *s, int candidate, double best) {
    const double spread = search_model_spread(s->model, candidate) + 1e-9;
    const double gain = best - search_model_mean(s->model, candidate), z = gain / spread;
    return gain * erfc(-z / sqrt(2)) / 2 +
           spread * exp(-z * z / 2) / sqrt(2 * 3.14159265358979323846);
}

/* Before anything is known: the one whose estimate is least, and whose neighbours were not invalid.
 */
static int least_expected(const search *s) {
    double least = INFINITY;
    int which = -1;
    for (int c = 0; c < s->of->count; c++) {
        if (s->states[c] != FREE)
            continue;
        const double expected = search_model_mean(s->model, c) - log(chance(s, c));
        if (which < 0 || expected < least) {
            least = expected;
            which = c;
        }
    }
    return which;
}

static bool any_invalid(const search *s) {
    for (int i = 0; i < s->told_count; i++)
        if (s->states[s->told[i]] == INVALID)
            return true;
    return false;
}

static int most_promising(const search *s) {
    const bool invalid = any_invalid(s);
    double best = INFINITY, most = -1;
    int which = -1;
    if (s->best < 0)
        return least_expected(s);
    best = s->logs[s->best];
    for (int c = 0; c < s->of->count; c++) {
        if (s->states[c] != FREE)
            continue;
        const double promise = improvement(s, c, best) * (invalid ? chance(s, c) : 1);
        if (which < 0 || promise > most) { /* also where rounding leaves no number */
            most = isnan(promise) ? 0 : promise;
            which = c;
        }
    }
    return which;
}

static int next_guided(search *s) {
    const int first = s->of->first;
    refresh(s);
    const int next = first >= 0 && s->states[first] == FREE ? first : most_promising(s);
    if (next >= 0)
        search_model_suppose(s->model, next);
    return next;
}

double search_expected(search *s, int candidate) {
    if (s->states[candidate] == TOLD)
        return exp(s->logs[candidate]);
    if (s->model == NULL || s->best < 0)
        return 0;
    refresh(s);
    return exp(search_model_mean(s->model, candidate));
}

/* ---- asking -------------------------------------------------------------------------------- */

static int next_in_order(search *s) {
    while (s->next < s->of->count && s->states[s->order[s->next]] != FREE)
        s->next++;
    return s->next < s->of->count ? s->order[s->next] : -1;
}

/* A quarter of what is known, by recorded sweeps (docs/notebook.md). */
int search_at_once(const search *s, int most) {
    const int few = s->kind == SEARCH_GUIDED ? 1 + s->told_count / 4 : most;
    return few < most ? few : most;
}

int search_ask(search *s, int wanted, int *out) {
    int count = 0;
    while (count < wanted) {
        const int next = s->kind == SEARCH_GUIDED ? next_guided(s) : next_in_order(s);
        if (next < 0)
            break;
        s->states[next] = ASKED;
        out[count++] = next;
    }
    return count;
}

void search_return(search *s, int candidate) {
    assert(s->states[candidate] == ASKED);
    s->states[candidate] = FREE;
    s->stale = true;
    s->next = 0; /* of exhaustive and random: those before are not free */
}

/* A space as a search takes it. Needs both sides: gen/space and runtime/search. */

static_assert((int)SPACE_AXES <= (int)SEARCH_AXES, "a search has room for a space's axes");

search_candidates *search_candidates_of(job *j, const space *s) {
    const size_t count = (size_t)s->count, axes = (size_t)s->axis_count;
    search_candidates *out = job_alloc(j, sizeof *out);
    int *values = job_array(j, count * axes, sizeof *values);
    bool *named = job_array(j, axes, sizeof *named), any = false;
    double *estimates = job_array(j, count, sizeof *estimates);
    for (size_t a = 0; a < axes; a++)
        named[a] = s->axes[a].words != NULL;
    for (size_t i = 0; i < count; i++) {
        for (size_t a = 0; a < axes; a++)
            values[i * axes + a] = s->candidates[i].values[a];
        estimates[i] = s->candidates[i].estimate;
        any = any || estimates[i] > 0;
    }
    *out = (search_candidates){s->count, s->axis_count,          values,
                               named,    any ? estimates : NULL, s->usual_index};
    return out;
}
