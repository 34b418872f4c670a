/* The written model beside what was measured. Takes: the table of measurements. Makes: factors. */
#include "gen/stencil/measured.h"

#include "gen/stencil/method.h"
#include "gen/stencil/schedule.h"

#include <math.h>
#include <string.h>

/* How much longer than by the corrected model a plan is thought to take that was not measured,
   since of many such the planner takes the one that the model is most wrong about: one of another
   size than was measured; besides, with the walked axis in e times as many parts or more, since the
   model is worst at what runs in the last wave; and one whose schedule was not measured at all. Of
   one step a launch the model is hardly wrong, and other methods, which were not measured, are
   compared by it. */
static const struct doubts {
    double size, parts, schedule;
} fused_doubts = {1.08, 1.25, 1.2}, one_step_doubts = {1, 1, 1.03};

static const struct doubts *doubts_of(const plan *p) {
    return plan_method(p)->fused ? &fused_doubts : &one_step_doubts;
}

/* Farther than any: rows of x that begin at any element, and those that begin at whole packs, say
   little of each other. */
static const double otherwise_aligned = 1000;

typedef struct known {
    schedule schedule; /* without its walk */
    double parts;      /* that blocks cut the walked axis into */
    const int64_t *size;
    double factor;
} known;

struct plan_measured {
    known *all;
    int count;
};

/* The schedule without how far blocks walk, where that is the planner's to choose. */
static schedule without_walk(const schedule *s, int dims, const int64_t size[AXES], double *parts) {
    schedule out = *s;
    const method *of = methods[s->method];
    const int axis = of->walk(dims);
    *parts = 1;
    if (axis >= 0 && of->walks_open) {
        *parts = fmax((double)size[axis] / s->coarsen[axis], 1);
        out.coarsen[axis] = 0;
    }
    return out;
}

static bool is_of(const measured_rate *r, const plan_facts *f, const gpu *t) {
    const model *m = f->model;
    return f->linear && m->field_count == 1 && r->dims == m->dims && r->points == m->points &&
           r->radius == m->radius && r->dtype == m->dtype && strcmp(r->arch, t->arch) == 0 &&
           gpu_same_board(gpu_find(t->arch), t);
}

/* A measurement counts where its plan can still be made. */
static bool note(job *j, const measured_rate *r, const plan_facts *f, const gpu *t, known *out) {
    schedule s = {.method = 0};
    schedule_parse(j, r->schedule, "a measurement", &s);
    const char *refusal;
    plan *p = plan_fit(j, f, &s, t, &refusal);
    if (p == NULL)
        return false;
    out->schedule = without_walk(&p->schedule, r->dims, r->size, &out->parts); /* complete */
    out->size = r->size;
    const int axis = plan_walk_axis(p);
    if (plan_method(p)->walks_open && axis >= 0) /* no further than to the end of the grid */
        plan_set_walk(p, s.coarsen[axis] < r->size[axis] ? s.coarsen[axis] : (int)r->size[axis]);
    plan_cost(p, r->size);
    const double updates = (double)r->size[0] * (double)r->size[1] * (double)r->size[2] * s.time;
    out->factor = updates / (r->rate * 1e9) / p->estimate.seconds;
    return true;
}

plan_measured *plan_measured_new(job *j, const plan_facts *f, const gpu *t) {
    plan_measured *known_here = job_alloc(j, sizeof *known_here);
    known_here->all = job_array(j, (size_t)measured_rate_count, sizeof *known_here->all);
    for (int i = 0; i < measured_rate_count; i++)
        known_here->count += is_of(&measured_rates[i], f, t) &&
                             note(j, &measured_rates[i], f, t, &known_here->all[known_here->count]);
    return known_here;
}

int plan_measured_count(const plan_measured *m) {
    return m->count;
}

/* By the logarithms of ratios. */
static double parts_distance(const known *k, double parts) {
    return fabs(log(parts / k->parts));
}
static double size_distance(const known *k, const int64_t size[AXES]) {
    double sum = (k->size[0] % 4 == 0) == (size[0] % 4 == 0) ? 0 : otherwise_aligned;
    for (int axis = 0; axis < AXES; axis++)
        sum += fabs(log((double)size[axis] / (double)k->size[axis]));
    return sum;
}

/* The mean factor of a schedule's measurements of a size, whatever its walk. */
static double mean_factor(const plan_measured *m, const known *of) {
    double logs = 0;
    int count = 0;
    for (int i = 0; i < m->count; i++) {
        const known *k = &m->all[i];
        if (memcmp(&k->schedule, &of->schedule, sizeof k->schedule) == 0 &&
            memcmp(k->size, of->size, AXES * sizeof *k->size) == 0) {
            logs += log(k->factor);
            count++;
        }
    }
    return exp(logs / count);
}

/* The mean factor of a method's measurements of the nearest size. */
static double usual_factor(const plan_measured *m, const plan *p, const int64_t size[AXES]) {
    double least = INFINITY, logs = 0;
    int count = 0;
    for (int i = 0; i < m->count; i++) {
        const known *k = &m->all[i];
        if (k->schedule.method != p->schedule.method || size_distance(k, size) > least)
            continue;
        if (size_distance(k, size) < least)
            logs = count = 0;
        least = size_distance(k, size);
        logs += log(k->factor);
        count++;
    }
    return count > 0 ? doubts_of(p)->schedule * exp(logs / count) : 1;
}

double plan_measured_factor(const plan_measured *m, const plan *p, const int64_t size[AXES]) {
    double parts;
    const schedule s = without_walk(&p->schedule, p->facts->model->dims, size, &parts);
    const known *nearest = NULL;
    double least = INFINITY;
    for (int i = 0; i < m->count; i++) {
        const known *k = &m->all[i];
        const double distance = size_distance(k, size) + parts_distance(k, parts);
        if (memcmp(&k->schedule, &s, sizeof s) != 0 || distance >= least)
            continue;
        nearest = k;
        least = distance;
    }
    if (least >= otherwise_aligned)
        return usual_factor(m, p, size);
    const double other_parts = parts_distance(nearest, parts);
    /* The model is often wrong about one walk alone, whose last wave it mistakes: that a walk was
       faster than it says is no promise that another one will be. */
    const double factor =
        other_parts > 0 ? fmax(nearest->factor, mean_factor(m, nearest)) : nearest->factor;
    return factor * (least > 0 ? doubts_of(p)->size : 1) *
           pow(doubts_of(p)->parts, fmin(other_parts, 1));
}
