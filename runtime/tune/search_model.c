/* A Gaussian process over candidates. Takes: observations. Makes: means and spreads.
   The kernel is Matérn's of smoothness 5/2 over the logarithms of numbers, a constant, and a slope
   in the estimate; the posterior is brought forward an observation at a time, for all candidates at
   once (the Cholesky factor's next row is what the observed candidate already has). Rasmussen and
   Williams, Gaussian Processes for Machine Learning, 2.2, 4.2, 5.4.1. */
#include "runtime/tune/search.h"

#include <math.h>

/* Distances are in doublings of a number. A number that one has and the other does not, or another
   word, is as far as so many doublings. */
static const double other_word = 3, absent = 2;

/* Without estimates: what a candidate is thought to lose a doubling away from the usual one, in
   logarithms of seconds, since somebody chose that with care. */
static const double loss_of_distance = 0.05;

/* The spread of all times' common factor, and of the estimate's slope around 1. */
static const double spread_of_level = 1, spread_of_slope = 0.2;

/* What is learned, with what is expected of it before anything is measured: the spread of what the
   estimate misses (all there is to know where there is none), that of a measurement, and the
   doublings over which neighbours are alike, by axis. In logarithms, with the widths of the
   expectations. */
enum { SCALES = SEARCH_AXES, GRID = 5 };
typedef struct learned {
    double amplitude, noise, scale[SCALES];
} learned;
static const double amplitudes[GRID] = {0.05, 0.1, 0.2, 0.4, 0.8};
static const double noises[GRID] = {0.005, 0.01, 0.015, 0.02, 0.04};
static const double scales[GRID] = {1, 2, 4, 8, 16};
static const double usual_amplitude[2] = {0.1, 0.3}; /* with estimates, without */
static const double usual_noise = 0.02, usual_scale = 4;
static const double width_of_amplitude = 0.5, width_of_noise = 0.5, width_of_scale = 0.8;

enum { LEAST_LEARNED = 4, MOST_LEARNED = 64 }; /* observations that the scales are chosen by */

struct search_model {
    const search_candidates *of;
    int most, count;                   /* observations */
    int axes[SEARCH_AXES], axis_count; /* of the candidates', those that any two differ in */
    double *features;
    double *prior; /* the mean without observations, of all candidates */
    double slope_at;
    learned learned;
    double level; /* taken from all logarithms */
    double *mean, *variance;
    double *solved;          /* by candidate: `most` entries of L⁻¹k */
    double *right;           /* L⁻¹y */
    double *factor, *vector; /* room for choosing */
};

static double feature(const search_model *m, int candidate, int axis) {
    return m->features[(size_t)candidate * (size_t)m->axis_count + (size_t)axis];
}

/* In doublings, squared; values are at least 1, so that −1 stands for none. */
static double squared_distance(const search_model *m, int axis, int a, int b) {
    const double x = feature(m, a, axis), y = feature(m, b, axis);
    if (x == y)
        return 0;
    if (m->of->named[m->axes[axis]])
        return other_word * other_word;
    return x < 0 || y < 0 ? absent * absent : (x - y) * (x - y);
}

static double matern(const search_model *m, const learned *l, int a, int b) {
    double sum = 0;
    for (int axis = 0; axis < m->axis_count; axis++)
        sum += squared_distance(m, axis, a, b) / (l->scale[axis] * l->scale[axis]);
    const double r = sqrt(5 * sum);
    return (1 + r + r * r / 3) * exp(-r);
}

double search_model_likeness(const search_model *m, int a, int b) {
    return matern(m, &m->learned, a, b);
}

static double covariance(const search_model *m, const learned *l, int a, int b) {
    const double slope = m->of->estimates == NULL
                             ? 0
                             : spread_of_slope * spread_of_slope * (m->prior[a] - m->slope_at) *
                                   (m->prior[b] - m->slope_at);
    return spread_of_level * spread_of_level + slope +
           l->amplitude * l->amplitude * matern(m, l, a, b);
}

/* ---- before anything is measured ----------------------------------------------------------- */

static int value_of(const search_candidates *c, int candidate, int axis) {
    return c->values[(size_t)candidate * (size_t)c->axis_count + (size_t)axis];
}

static void find_axes(search_model *m) {
    const search_candidates *c = m->of;
    for (int axis = 0; axis < c->axis_count; axis++) {
        bool differs = false;
        for (int i = 1; i < c->count && !differs; i++)
            differs = value_of(c, i, axis) != value_of(c, 0, axis);
        if (differs)
            m->axes[m->axis_count++] = axis;
    }
}

static void write_features(search_model *m) {
    double *to = m->features;
    for (int i = 0; i < m->of->count; i++)
        for (int a = 0; a < m->axis_count; a++) {
            const int value = value_of(m->of, i, m->axes[a]);
            *to++ = m->of->named[m->axes[a]] ? value : value > 0 ? log2(value) : -1;
        }
}

static void prior_by_distance(search_model *m) {
    const int usual = m->of->first;
    for (int i = 0; i < m->of->count && usual >= 0; i++) {
        double sum = 0;
        for (int axis = 0; axis < m->axis_count; axis++)
            sum += squared_distance(m, axis, i, usual);
        m->prior[i] = loss_of_distance * sqrt(sum);
    }
}

/* The mean of those there are stands for an estimate that is missing. */
static void prior_by_estimates(search_model *m) {
    double sum = 0;
    int known = 0;
    for (int i = 0; i < m->of->count; i++)
        if (m->of->estimates[i] > 0) {
            sum += log(m->of->estimates[i]);
            known++;
        }
    m->slope_at = known > 0 ? sum / known : 0;
    for (int i = 0; i < m->of->count; i++)
        m->prior[i] = m->of->estimates[i] > 0 ? log(m->of->estimates[i]) : m->slope_at;
}

search_model *search_model_new(job *j, const search_candidates *c, int most) {
    const size_t count = (size_t)c->count;
    search_model *m = job_alloc(j, sizeof *m);
    m->of = c;
    m->most = most;
    find_axes(m);
    m->features = job_array(j, count * (size_t)m->axis_count, sizeof *m->features);
    m->prior = job_array(j, count, sizeof *m->prior);
    m->mean = job_array(j, count, sizeof *m->mean);
    m->variance = job_array(j, count, sizeof *m->variance);
    m->solved = job_array(j, count * (size_t)most, sizeof *m->solved);
    m->right = job_array(j, (size_t)most, sizeof *m->right);
    m->factor = job_array(j, MOST_LEARNED, MOST_LEARNED * sizeof *m->factor);
    m->vector = job_array(j, MOST_LEARNED, sizeof *m->vector);
    write_features(m);
    if (c->estimates != NULL)
        prior_by_estimates(m);
    else
        prior_by_distance(m);
    search_model_fit(m, NULL, NULL, 0);
    return m;
}

/* ---- the posterior ------------------------------------------------------------------------- */

static double *solved_of(const search_model *m, int candidate) {
    return &m->solved[(size_t)candidate * (size_t)m->most];
}

/* `miss` is by how much the observation is more than the prior and the level. */
static void observe(search_model *m, int candidate, double miss, double noise) {
    const int n = m->count++;
    const double *own = solved_of(m, candidate);
    double diagonal = covariance(m, &m->learned, candidate, candidate) + noise * noise;
    for (int i = 0; i < n; i++) {
        diagonal -= own[i] * own[i];
        miss -= own[i] * m->right[i];
    }
    diagonal = sqrt(fmax(diagonal, 1e-12));
    m->right[n] = miss / diagonal;
    for (int c = 0; c < m->of->count; c++) {
        double *row = solved_of(m, c);
        double k = covariance(m, &m->learned, c, candidate);
        for (int i = 0; i < n; i++)
            k -= row[i] * own[i];
        row[n] = c == candidate ? (diagonal * diagonal - noise * noise) / diagonal : k / diagonal;
        m->mean[c] += row[n] * m->right[n];
        m->variance[c] -= row[n] * row[n];
    }
}

void search_model_suppose(search_model *m, int candidate) {
    if (m->count < m->most)
        observe(m, candidate, m->mean[candidate], m->learned.noise);
}

double search_model_mean(const search_model *m, int candidate) {
    return m->level + m->prior[candidate] + m->mean[candidate];
}

double search_model_spread(const search_model *m, int candidate) {
    return sqrt(fmax(m->variance[candidate], 0));
}

/* ---- what is learned ----------------------------------------------------------------------- */

typedef struct sample {
    const int *candidates;
    const double *misses;
    int count;
} sample;

static double surprise(double value, double usual, double width) {
    const double off = log(value / usual) / width;
    return off * off / 2;
}

/* The negative logarithm of how likely the sample is, and what is learned. */
static double unlikeliness(search_model *m, const learned *l, const sample *s) {
    const bool blind = m->of->estimates == NULL;
    double sum = surprise(l->amplitude, usual_amplitude[blind], width_of_amplitude) +
                 surprise(l->noise, usual_noise, width_of_noise);
    for (int a = 0; a < m->axis_count; a++)
        sum += surprise(l->scale[a], usual_scale, width_of_scale);
    for (int i = 0; i < s->count; i++) {
        double *row = &m->factor[(size_t)i * MOST_LEARNED];
        double miss = s->misses[i];
        double diagonal =
            covariance(m, l, s->candidates[i], s->candidates[i]) + l->noise * l->noise;
        for (int k = 0; k < i; k++) {
            const double *other = &m->factor[(size_t)k * MOST_LEARNED];
            double value = covariance(m, l, s->candidates[i], s->candidates[k]);
            for (int n = 0; n < k; n++)
                value -= row[n] * other[n];
            row[k] = value / other[k];
            diagonal -= row[k] * row[k];
            miss -= row[k] * m->vector[k];
        }
        row[i] = sqrt(fmax(diagonal, 1e-12));
        m->vector[i] = miss / row[i];
        sum += m->vector[i] * m->vector[i] / 2 + log(row[i]);
    }
    return sum;
}

/* One number of what is learned, of those of the grid. */
static void choose(search_model *m, learned *l, double *number, const double *grid, const sample *s,
                   double *least) {
    double chosen = *number;
    for (int g = 0; g < GRID; g++) {
        *number = grid[g];
        const double now = unlikeliness(m, l, s);
        if (now < *least) {
            *least = now;
            chosen = grid[g];
        }
    }
    *number = chosen;
}

static void learn(search_model *m, const sample *s) {
    enum { ROUNDS = 2 };
    learned *l = &m->learned;
    l->amplitude = usual_amplitude[m->of->estimates == NULL];
    l->noise = usual_noise;
    for (int a = 0; a < SCALES; a++)
        l->scale[a] = usual_scale;
    if (s->count < LEAST_LEARNED)
        return;
    double least = unlikeliness(m, l, s);
    for (int round = 0; round < ROUNDS; round++) {
        choose(m, l, &l->amplitude, amplitudes, s, &least);
        choose(m, l, &l->noise, noises, s, &least);
        for (int a = 0; a < m->axis_count; a++)
            choose(m, l, &l->scale[a], scales, s, &least);
    }
}

void search_model_fit(search_model *m, const int *candidates, const double *logs, int count) {
    double misses[MOST_LEARNED];
    m->level = 0;
    for (int i = 0; i < count; i++)
        m->level += (logs[i] - m->prior[candidates[i]]) / count;
    /* the last ones: what the search looks at is near the best */
    const int from = count > MOST_LEARNED ? count - MOST_LEARNED : 0;
    for (int i = from; i < count; i++)
        misses[i - from] = logs[i] - m->prior[candidates[i]] - m->level;
    learn(m, &(sample){candidates != NULL ? candidates + from : NULL, misses, count - from});
    m->count = 0;
    for (int c = 0; c < m->of->count; c++) {
        m->mean[c] = 0;
        m->variance[c] = covariance(m, &m->learned, c, c);
    }
    for (int i = 0; i < count; i++)
        observe(m, candidates[i], logs[i] - m->prior[candidates[i]] - m->level, m->learned.noise);
}
