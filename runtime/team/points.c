/* Points of a team. Each rank adds to its own cells what points add there, and records its own
   cells. A point between two parts is recorded cell by cell; rank 0, where traces end, weighs the
   cells in the order of one rank, so the bytes are those of one rank. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/points/points.h"
#include "runtime/team/team.h"

/* A cell of a point between parts, in the order in which a point's cells are added. */
typedef struct term {
    int64_t point, item; /* item: of the rank's rows */
    int corner, rank;
    double weight;
} term;

/* A set that records, as rank 0 knows it. */
typedef struct trace {
    const point_set *set;
    int64_t *items;       /* by rank */
    int64_t **codes;      /* by rank: the point and the corner of each item */
    unsigned char **rows; /* by rank: the samples of many steps */
    term *terms;
    size_t term_count;
} trace;

struct sg_team_points {
    job *job;
    sg_team *team;
    sg_context *context;
    const sg_kernel *kernel;
    sg_team_part part;
    sg_point_sets *sets;
    trace *traces; /* by set; of sets that inject empty */
};

enum { CODES = 16 }; /* corners and one more, of a point's number */

/* ---- opening --------------------------------------------------------------------------------- */

typedef struct opening {
    sg_team_points *made, **out;
    const sg_points *sets;
    int count;
} opening;

static void open_own(job *j, void *argument) {
    const opening *o = argument;
    sg_team_points *p = o->made;
    points_ground g = {.is_part = true, .gathers = p->team->transport.rank == 0};
    if (p->kernel == NULL || p->part.struct_size == 0)
        context_refuse(j, "sg_team_points_open needs a kernel and its part");
    run_check_points(j, p->kernel, &p->part);
    for (int axis = 0; axis < PROGRAM_AXES; axis++) {
        g.global[axis] = p->part.global[axis];
        g.size[axis] = p->part.size[axis];
        g.origin[axis] = p->part.begin[axis] - p->part.low[axis];
        g.begin[axis] = p->part.low[axis];
        g.end[axis] = p->part.low[axis] + p->part.end[axis] - p->part.begin[axis];
    }
    context_must(j, p->context, points_open_at(p->kernel, &g, o->sets, o->count, &p->sets));
}

/* Which items each rank has comes to rank 0. */
static void collect_items(job *j, sg_team_points *p, trace *t) {
    sg_team *team = p->team;
    const int ranks = team->transport.ranks, rank = team->transport.rank;
    const int64_t items = t->set->items;
    int64_t *mine = job_array(j, (size_t)items + 1, sizeof *mine);
    for (int64_t i = 0; i < items; i++)
        mine[i] = t->set->from[i] * CODES + t->set->corner[i] + 1;
    t->items = job_array(p->job, (size_t)ranks, sizeof *t->items);
    team_gather(j, team, &items, sizeof items, t->items);
    const sg_message send = {0, mine, (size_t)items * sizeof *mine};
    if (rank > 0) {
        team_exchange(j, team, &send, items > 0, NULL, 0);
        return;
    }
    sg_message *receives = job_array(j, (size_t)ranks, sizeof *receives);
    int count = 0;
    t->codes = job_array(p->job, (size_t)ranks, sizeof *t->codes);
    t->rows = job_array(p->job, (size_t)ranks, sizeof *t->rows);
    for (int i = 0; i < ranks; i++) {
        const size_t bytes = (size_t)t->items[i] * sizeof **t->codes;
        t->codes[i] = job_alloc(p->job, bytes + 1);
        t->rows[i] = i > 0 ? job_alloc(p->job, (size_t)(t->items[i] * p->sets->rows) *
                                                       p->kernel->program->element_bytes +
                                                   1)
                           : t->set->local;
        if (i == 0)
            memcpy(t->codes[0], mine, bytes);
        else if (bytes > 0)
            receives[count++] = (sg_message){i, t->codes[i], bytes};
    }
    team_exchange(j, team, NULL, 0, receives, count);
}

static int compare_terms(const void *a, const void *b) {
    const term *x = a, *y = b;
    return x->point != y->point ? (x->point > y->point) - (x->point < y->point)
                                : x->corner - y->corner;
}

/* The points that several ranks share, at rank 0. */
static void find_terms(job *j, sg_team_points *p, trace *t) {
    const size_t element = p->kernel->program->element_bytes;
    places all;
    places_find(j, &t->set->given, p->kernel->program->dims, p->part.global, element, &all);
    for (int rank = 0; rank < p->team->transport.ranks; rank++)
        for (int64_t i = 0; i < t->items[rank]; i++)
            t->term_count += t->codes[rank][i] % CODES != 0;
    t->terms = job_array(p->job, t->term_count + 1, sizeof *t->terms);
    size_t count = 0;
    for (int rank = 0; rank < p->team->transport.ranks; rank++)
        for (int64_t i = 0; i < t->items[rank]; i++) {
            const int64_t point = t->codes[rank][i] / CODES;
            const int corner = (int)(t->codes[rank][i] % CODES) - 1;
            if (corner >= 0)
                t->terms[count++] =
                    (term){point, i, corner, rank, places_weight(&all, element, point, corner)};
        }
    qsort(t->terms, count, sizeof *t->terms, compare_terms);
}

static void give_back(void *what) {
    sg_points_close(((sg_team_points *)what)->sets);
}

static void open_points(job *j, void *argument) {
    opening *o = argument;
    sg_team_points *p = job_alloc(j, sizeof *p);
    *p = *o->made;
    p->job = j;
    o->made = p;
    job_defer(j, give_back, p);
    team_together(j, p->team, open_own, o);
    p->traces = job_array(j, (size_t)p->sets->count, sizeof *p->traces);
    for (int i = 0; i < p->sets->count; i++) {
        p->traces[i].set = &p->sets->sets[i];
        if (p->sets->sets[i].about->injects >= 0)
            continue;
        collect_items(j, p, &p->traces[i]);
        if (p->team->transport.rank == 0)
            find_terms(j, p, &p->traces[i]);
    }
    job_keep(j, p);
    *o->out = p;
}

sg_status sg_team_points_open(sg_team *team, const sg_kernel *kernel, const sg_team_part *part,
                              const sg_points *sets, int count, sg_team_points **out) {
    if (team == NULL || out == NULL)
        return SG_ERROR_USAGE;
    sg_team_points made = {.team = team, .context = team->context, .kernel = kernel};
    if (part != NULL)
        made.part = *part;
    return context_make(team->context, open_points, &(opening){&made, out, sets, count});
}

void sg_team_points_close(sg_team_points *p) {
    if (p == NULL)
        return;
    give_back(p);
    context_unmake(p->context, p->job);
}

/* ---- running --------------------------------------------------------------------------------- */

/* A point's cells are weighed as its kernel would. */
static void weigh(const trace *t, size_t element, int64_t step, unsigned char *out) {
    float single = 0;
    double precise = 0;
    for (size_t i = 0; i < t->term_count; i++) {
        const term *m = &t->terms[i];
        const unsigned char *from =
            t->rows[m->rank] + (size_t)(step * t->items[m->rank] + m->item) * element;
        unsigned char *to = out + (size_t)m->point * element;
        const bool first = i == 0 || t->terms[i - 1].point != m->point;
        if (element == sizeof(double)) {
            double value;
            memcpy(&value, from, sizeof value);
            precise = fma(m->weight, value, first ? 0 : precise);
            memcpy(to, &precise, sizeof precise);
        } else {
            float value;
            memcpy(&value, from, sizeof value);
            single = fmaf((float)m->weight, value, first ? 0 : single);
            memcpy(to, &single, sizeof single);
        }
    }
}

/* The rows of a set at rank 0, from those of all ranks. */
static void put_together(const sg_team_points *p, const trace *t, int64_t first, int64_t steps) {
    const size_t element = p->kernel->program->element_bytes;
    unsigned char *out = points_traces(t->set, first);
    for (int64_t step = 0; step < steps; step++, out += t->set->given_row) {
        for (int rank = 0; rank < p->team->transport.ranks; rank++)
            for (int64_t i = 0; i < t->items[rank]; i++)
                if (t->codes[rank][i] % CODES == 0)
                    memcpy(out + (size_t)(t->codes[rank][i] / CODES) * element,
                           t->rows[rank] + (size_t)(step * t->items[rank] + i) * element, element);
        weigh(t, element, step, out);
    }
}

static void fetch(job *j, const sg_team_points *p, const trace *t, int64_t first, int64_t steps) {
    sg_team *team = p->team;
    const int ranks = team->transport.ranks;
    const size_t element = p->kernel->program->element_bytes;
    if (team->transport.rank > 0) {
        const sg_message send = {0, t->set->local, (size_t)steps * t->set->row};
        team_exchange(j, team, &send, t->set->row > 0, NULL, 0);
        return;
    }
    sg_message *receives = job_array(j, (size_t)ranks, sizeof *receives);
    int count = 0;
    for (int i = 1; i < ranks; i++)
        if (t->items[i] > 0)
            receives[count++] =
                (sg_message){i, t->rows[i], (size_t)(steps * t->items[i]) * element};
    team_exchange(j, team, NULL, 0, receives, count);
    put_together(p, t, first, steps);
    points_hand_on(j, t->set, first, steps);
}

void run_before_step(job *j, const run *r, int64_t done) {
    const sg_point_sets *s = r->points->sets;
    const int64_t left = r->count - done;
    if (done == 0) /* an earlier run may wait for ranks that have failed */
        team_settle(j, r->team, r->stream);
    if (done % s->rows == 0)
        points_bring(j, s, r->launch.step, left < s->rows ? left : s->rows);
}

void run_after_step(job *j, const run *r, int64_t done) {
    const sg_team_points *p = r->points;
    const int64_t rows = p->sets->rows, steps = (done - 1) % rows + 1;
    points_send(j, p->sets, &r->launch, steps - 1, r->stream);
    if (steps < rows && done < r->count)
        return;
    team_settle(j, p->team, r->stream);
    points_take(j, p->sets, steps);
    for (int i = 0; i < p->sets->count; i++)
        if (p->traces[i].set->about->injects < 0)
            fetch(j, p, &p->traces[i], r->launch.step - steps, steps);
}

void run_check_points(job *j, const sg_kernel *k, const sg_team_part *part) {
    if (k->points != NULL && (part->launches > 1 || part->steps > 1))
        context_refuse(j,
                       "'%s' has points, which act after each step: leave launches out, and take "
                       "a schedule of single steps",
                       k->program->name);
}

sg_status sg_team_run_points(sg_team_points *p, const sg_arguments *arguments, int64_t steps,
                             sg_stream stream, int *final) {
    if (p == NULL)
        return SG_ERROR_USAGE;
    return run_team_steps(&(run){.team = p->team,
                                 .kernel = p->kernel,
                                 .given = &p->part,
                                 .arguments = arguments,
                                 .count = steps,
                                 .stream = stream,
                                 .out = final,
                                 .points = p});
}
