/* The written model compared with what was measured. Takes: rates. Makes: factors. */
#include "gen/stencil/search.h"

#include "gen/model/plans.h"
#include "gen/stencil/method.h"

#include <math.h>
#include <string.h>

/* Doubts: how much longer than by the corrected model a plan is thought to take that was not
   measured itself. Of many such plans the planner takes the one that the model is most wrong about.
   `size`: the plan was measured at another size; less where that is nearly the same. `parts`: the
   walked axis is cut into e times as many parts, or more; the model is worst at what runs in the
   last wave. `schedule`: the schedule was not measured at all. Of one step a launch the model is
   hardly wrong, and it compares those plans with methods that were not measured. */
static const struct doubts {
    double size, parts, schedule;
} fused_doubts = {1.08, 1.25, 1.2}, one_step_doubts = {1, 1, 1.05};

static const struct doubts *doubts_of(const plan *p) {
    return plan_method(p)->fused ? &fused_doubts : &one_step_doubts;
}

/* How far sizes are apart, by the logarithm of their ratio, from which on a doubt counts in full.
 */
static const double other_size = 0.1;

/* More than any distance: rows of x that begin at any element, and rows that begin at whole packs,
   say little of each other; nor do grids that the second-level cache keeps, and others. */
static const double another_kind = 1000;

typedef struct known {
    schedule schedule; /* without its walk */
    int walk;          /* 0: it has none, or not an open one */
    double parts;      /* that blocks cut the walked axis into */
    int64_t size[AXES];
    double apart; /* from the size that is planned for */
    double factor;
} known;

struct plan_measured {
    known *all;
    int count;
    const char *board;
    int64_t size[AXES]; /* that is planned for */
};

/* The schedule without how far blocks walk, where the planner chooses that. */
static schedule without_walk(const schedule *s, int dims, const int64_t size[AXES], double *parts) {
    schedule out = *s;
    const method *of = methods[s->method];
    const int axis = method_walk(of, dims);
    *parts = 1;
    if (axis >= 0 && of->walks_open) {
        *parts = fmax((double)size[axis] / s->coarsen[axis], 1);
        out.coarsen[axis] = 0;
    }
    return out;
}

/* The classes of plans (gen/model/plans.h) that a stencil is of: dimensions, points and radius
   together tell stars from boxes, and cells of 16 bits make another class, as do weights of which
   no two are alike: sums share nothing then. */
typedef struct classes {
    const char *points;  /* NULL where rates say nothing of it: several fields, or not linear */
    const char *weights; /* NULL where some are alike */
} classes;

static classes classes_of(job *j, const plan_facts *f) {
    const model *m = f->model;
    classes c = {NULL, NULL};
    if (!f->linear || m->field_count != 1)
        return c;
    c.points = job_print(j, "stencil %dD %d points radius %d%s", m->dims, m->points, m->radius,
                         model_is_narrow(m) ? " in 16 bits" : "");
    if (!model_is_narrow(m) && f->emitted.multiplications >= m->points)
        c.weights = job_print(j, "stencil %dD %d weights radius %d", m->dims, m->points, m->radius);
    return c;
}

/* Whether there are lines of the class. */
static bool has_lines(const plans *all, const char *class, dtype type) {
    bool any = false;
    for (int i = 0; i < all->count && class != NULL; i++)
        any = any || plans_line_is_of(&all->list[i], class, type);
    return any;
}

/* By the logarithms of ratios. */
static double size_distance(const plan *p, const int64_t a[AXES], const int64_t b[AXES]) {
    static const double half = 0.5;
    const model *m = p->facts->model;
    const bool alike = plan_rows_are_packs(m, a) == plan_rows_are_packs(m, b) &&
                       fabs(plan_in_cache(p, a) - plan_in_cache(p, b)) < half;
    double sum = alike ? 0 : another_kind;
    for (int axis = 0; axis < AXES; axis++)
        sum += fabs(log((double)b[axis] / (double)a[axis]));
    return sum;
}

/* A rate counts where its plan can still be made. */
static bool note(job *j, const plans_line *r, const plan_facts *f, const gpu *t,
                 const int64_t wanted[AXES], known *out) {
    schedule s = {.method = 0};
    schedule_parse(j, r->plan, "a plan", &s);
    if (!plan_schedule_is_whole(&s, f->model->dims))
        return false;
    const char *refusal;
    plan *p = plan_fit(j, f, &s, t, &refusal);
    if (p == NULL || p->form->unrated)
        return false;
    for (int axis = 0; axis < AXES; axis++)
        out->size[axis] = axis < r->size_count ? r->size[axis] : 1;
    const int64_t *size = out->size;
    /* Rates are of fixed sides. Beyond periodic ones, rows that are no packs go another way. */
    if (f->model->sides[0][0].kind == BOUNDARY_PERIODIC && !plan_rows_are_packs(f->model, size))
        return false;
    out->schedule = without_walk(&p->schedule, f->model->dims, size, &out->parts); /* complete */
    const int axis = plan_walk_axis(p);
    out->walk = 0;
    if (plan_method(p)->walks_open && axis >= 0) { /* no further than the end of the grid */
        out->walk = s.coarsen[axis] < size[axis] ? s.coarsen[axis] : (int)size[axis];
        plan_set_walk(p, out->walk);
    }
    plan_cost(p, size);
    out->apart = size_distance(p, size, wanted);
    const double updates = (double)size[0] * (double)size[1] * (double)size[2] * s.time;
    const double edges = p->estimate.edges > 0 ? p->estimate.edges : 1;
    out->factor = updates / (r->rate * 1e9) / (p->estimate.seconds / edges);
    job_drop(j, p, sizeof *p);
    return true;
}

/* Whether a line is a rate of one size, whose axes all have points. */
static bool is_rate(const plans_line *l, const model *m) {
    bool points = l->size_count == m->dims && l->steps == 1 && !l->up_to && l->rate > 0;
    for (int i = 0; i < l->size_count; i++)
        points = points && l->size[i] > 0;
    return points;
}

plan_measured *plan_measured_new(job *j, const plan_facts *f, const gpu *t,
                                 const int64_t size[AXES]) {
    plan_measured *known_here = job_alloc(j, sizeof *known_here);
    memcpy(known_here->size, size, sizeof known_here->size);
    const classes c = classes_of(j, f);
    if (c.points == NULL || t->processor != NULL)
        return known_here;
    const plans *all = plans_known(j, t);
    const bool own = has_lines(all, c.weights, f->model->dtype); /* of several steps, instead */
    known_here->all = job_array(j, (size_t)all->count, sizeof *known_here->all);
    for (int i = 0; i < all->count; i++) {
        const plans_line *l = &all->list[i];
        const bool of_weights = own && plans_line_is_of(l, c.weights, f->model->dtype);
        known *out = &known_here->all[known_here->count];
        if ((!of_weights && !plans_line_is_of(l, c.points, f->model->dtype)) ||
            !is_rate(l, f->model) || !note(j, l, f, t, size, out) ||
            (own && !of_weights && methods[out->schedule.method]->fused))
            continue;
        if (known_here->count++ == 0)
            known_here->board = l->board->name;
    }
    return known_here;
}

int plan_measured_count(const plan_measured *m) {
    return m->count;
}

int plan_measured_walk(const plan_measured *m, int number, const plan *p) {
    double parts;
    const known *k = &m->all[number];
    const schedule s = without_walk(&p->schedule, p->facts->model->dims, m->size, &parts);
    return memcmp(&k->schedule, &s, sizeof s) == 0 && memcmp(k->size, m->size, sizeof k->size) == 0
               ? k->walk
               : 0;
}

const char *plan_measured_board(const plan_measured *m) {
    return m->board;
}

static double parts_distance(const known *k, double parts) {
    return fabs(log(parts / k->parts));
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

/* How much is left of a factor at another size: of plans of several steps nothing from a tenth or
   ten times the points on. 47 plans of stars and pipelines of 2^20 to 2^25 points on an H200: the
   model is wrong by 1.18 (rms), and with factors and doubts of 512³ and 8192² by 1.35. */
static double left_of(const plan *p, double apart) {
    static const double far = 2.3;
    return plan_method(p)->fused ? fmax(1 - apart / far, 0) : 1;
}

/* The mean factor of a method's measurements of the nearest size. */
static double usual_factor(const plan_measured *m, const plan *p) {
    double least = INFINITY, logs = 0;
    int count = 0;
    for (int i = 0; i < m->count; i++) {
        const known *k = &m->all[i];
        if (k->schedule.method != p->schedule.method || k->apart > least)
            continue;
        if (k->apart < least)
            logs = count = 0;
        least = k->apart;
        logs += log(k->factor);
        count++;
    }
    if (least >= another_kind && !plan_method(p)->fused)
        return 1; /* else all of a method would pay for what rows of any beginning cost it */
    return count == 0 ? 1 : pow(doubts_of(p)->schedule * exp(logs / count), left_of(p, least));
}

double plan_measured_factor(const plan_measured *m, const plan *p) {
    double parts;
    const schedule s = without_walk(&p->schedule, p->facts->model->dims, m->size, &parts);
    const known *nearest = NULL;
    double least = INFINITY;
    for (int i = 0; i < m->count; i++) {
        const known *k = &m->all[i];
        if (memcmp(&k->schedule, &s, sizeof s) != 0)
            continue;
        const double distance = k->apart + parts_distance(k, parts);
        if (distance >= least)
            continue;
        nearest = k;
        least = distance;
    }
    if (least >= another_kind)
        return usual_factor(m, p);
    const double other_parts = parts_distance(nearest, parts);
    /* The model is often wrong about one walk alone, whose last wave it mistakes. That a walk was
       faster than it says does not promise that another walk will be. */
    const double factor =
        other_parts > 0 ? fmax(nearest->factor, mean_factor(m, nearest)) : nearest->factor;
    return pow(factor * pow(doubts_of(p)->size, fmin(least / other_size, 1)) *
                   pow(doubts_of(p)->parts, fmin(other_parts, 1)),
               left_of(p, nearest->apart));
}
