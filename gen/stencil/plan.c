/* One schedule made into a plan: its axes, and what its method makes of it, or the reason why there
   is none; and the facts of models. Takes: a model and a schedule whose entries that apply are set.
   Makes: a plan without its cost. */
#include "gen/stencil/method.h"

#include "gen/expr/expr.h"
#include "gen/source/emit.h"
#include "gen/stencil/plan.h"
#include <assert.h>
#include <math.h>
#include <string.h>

enum {
    MAX_BLOCK_EXTENT = 1 << 28,
    MAX_TILE_POINTS = 1 << 20, /* so that no thread makes more than a thousand in a row */
};

int plan_walk_axis(const plan *p) {
    return method_walk(plan_method(p), p->facts->model->dims);
}

void plan_set_walk(plan *p, int walk) {
    const int axis = plan_walk_axis(p);
    p->walk = walk;
    if (axis < 0)
        return;
    p->schedule.coarsen[axis] = walk;
    p->per_block[2] = walk;
}

/* ---- what is refused ----------------------------------------------------------------------- */

static const char *check_tile(job *j, const model *m, const schedule *s) {
    const method *of = methods[s->method];
    const int walk = method_walk(of, m->dims);
    for (int axis = 0; axis < AXES; axis++) {
        const bool tiled = axis < m->dims && (axis != walk || m->dims == 1);
        if (!tiled && s->tile[axis] > 1)
            return axis >= m->dims
                       ? job_print(j, "a grid of %d axes has no tile along %c", m->dims,
                                   axis_names[axis])
                       : job_print(j, "it walks %c: set coarsen=%c%d instead of a tile along it",
                                   axis_names[axis], axis_names[axis], s->tile[axis]);
        const bool rows = (of->keys & SCHEDULE_ROWS) != 0 && m->dims == 3 && axis == 1;
        if (axis != walk && !rows && s->coarsen[axis] > 1)
            return walk < 0 ? job_print(j, "it has no coarsening; %s",
                                        schedule_who_has(j, SCHEDULE_COARSEN))
                            : job_print(j, "it coarsens along %c alone", axis_names[walk]);
    }
    int64_t points = 1;
    for (int axis = 0; axis < m->dims; axis++) {
        points *= s->tile[axis] > 0 ? s->tile[axis] : 1;
        if (points > (of->serial ? MAX_BLOCK_EXTENT : MAX_TILE_POINTS))
            return job_print(j, "a tile has at most %d points",
                             of->serial ? MAX_BLOCK_EXTENT : MAX_TILE_POINTS);
    }
    for (int axis = 0; axis < m->dims; axis++)
        if ((int64_t)(s->tile[axis] + 1) * (s->coarsen[axis] + 1) > MAX_BLOCK_EXTENT)
            return job_print(j, "a block would make more than %d points along %c", MAX_BLOCK_EXTENT,
                             axis_names[axis]);
    return NULL;
}

bool plan_schedule_is_whole(const schedule *s, int dims) {
    const method *of = methods[s->method];
    if (s->method == 0 || s->vector < 1 || s->time < 1)
        return false;
    const int walk = method_walk(of, dims);
    bool whole = walk < 0 || s->coarsen[walk] > 0;
    for (int axis = 0; axis < dims; axis++)
        whole = whole && (s->tile[axis] > 0 || (axis == walk && dims > 1));
    return whole;
}

/* Refuses keys that the method does not have. */
static const char *check_keys(job *j, const schedule *s) {
    const method *of = methods[s->method];
    if (s->time > 1 && !of->fused)
        return job_print(j, "it makes one time step a launch, not %d", s->time);
    if (s->time < 2 && of->fused)
        return "it makes at least two steps a launch";
    if ((s->lane[0] > 1 || s->lane[1] > 1 || s->stages > 1) && (of->keys & SCHEDULE_LANE) == 0)
        return job_print(j, "it has no lane and no stages; %s", schedule_who_has(j, SCHEDULE_LANE));
    if (s->vector > 1 && (of->keys & SCHEDULE_VECTOR) == 0)
        return job_print(j, "it loads single elements; %s", schedule_who_has(j, SCHEDULE_VECTOR));
    return NULL;
}

static const char *check_vector(job *j, const model *m, const schedule *s) {
    const bool fused = methods[s->method]->fused; /* between steps it moves numbers, not cells */
    const int bytes = (int)(fused ? dtype_words[m->dtype].bytes : model_cell_bytes(m)) * s->vector;
    if ((s->vector & (s->vector - 1)) != 0 || bytes > MAX_PACK_BYTES)
        return job_print(j, "vec=%d: packs have a power of two elements and at most %d bytes",
                         s->vector, MAX_PACK_BYTES);
    if (s->tile[0] % s->vector != 0 && !fused)
        return job_print(j, "tile=%d: x must be a multiple of vec=%d", s->tile[0], s->vector);
    return NULL;
}

static const char *check_cells(const model *m, const form *of) {
    if (model_is_narrow(m) && !of->narrow)
        return "it moves cells as they are, and cells of half and bfloat16 are converted";
    return NULL;
}

static const char *check_chain(const model *m, const method *of) {
    return of->chains == (m->chain != NULL) ? NULL
           : of->chains
               ? "it makes several stages of a system in one launch, and this is one update"
               : "it makes one update, and not stages one after the other";
}

/* ---- axes ---------------------------------------------------------------------------------- */

/* The kernel's axes: a walked axis comes last; a 2D grid that is walked along y is (x, −, y). */
static void lay_axes(plan *p) {
    const model *m = p->facts->model;
    const method *of = plan_method(p);
    const int last = of->last != NULL ? of->last(m->dims) : method_walk(of, m->dims);
    for (int k = 0; k < AXES; k++)
        p->axes[k] = k < m->dims ? k : -1;
    if (last == 1) {
        p->axes[1] = -1;
        p->axes[2] = 1;
    }
    for (int k = 0; k < AXES; k++) {
        p->low[k] = p->axes[k] < 0 ? 0 : m->low[p->axes[k]];
        p->high[k] = p->axes[k] < 0 ? 0 : m->high[p->axes[k]];
    }
    for (int i = 0; i < m->array_count; i++) {
        const model_array *from = &m->arrays[i];
        p->kernel_array[i] = -1;
        if (!from->used)
            continue;
        plan_array *to = &p->arrays[p->array_count];
        to->array = i;
        int reach = 0;
        for (int k = 0; k < AXES; k++) {
            to->low[k] = p->axes[k] < 0 ? 0 : from->low[p->axes[k]];
            to->high[k] = p->axes[k] < 0 ? 0 : from->high[p->axes[k]];
            reach += to->low[k] + to->high[k];
        }
        to->staged = p->form->staged_all || (p->form->staged && reach > 0);
        p->kernel_array[i] = p->array_count++;
    }
}

/* Tile and walk along kernel axes. */
static void lay_tile(plan *p) {
    const schedule *s = &p->schedule;
    const int dims = p->facts->model->dims, walk = plan_walk_axis(p);
    for (int k = 0; k < AXES; k++)
        p->tile[k] = p->axes[k] < 0 || (p->axes[k] == walk && dims > 1) ? 1 : s->tile[p->axes[k]];
    p->walk = walk < 0 ? 1 : s->coarsen[walk];
    for (int k = 0; k < AXES; k++)
        p->per_block[k] = p->tile[k];
    if (dims > 1) {
        p->per_block[2] *= p->walk;
    } else if (walk ==
               0) { /* the walk widens the tile; a method may take a part of it for itself */
        p->per_block[0] = p->tile[0] *= p->walk;
        p->walk = 1;
    }
}

plan *plan_fit(job *j, const plan_facts *f, const schedule *s, const gpu *t, const char **refusal) {
    const model *m = f->model;
    const method *of = methods[s->method];
    plan *p = job_alloc(j, sizeof *p);
    p->facts = f;
    p->schedule = *s;
    p->gpu = t;
    *refusal = check_chain(m, of);
    if (*refusal == NULL && of->refuse != NULL)
        *refusal = of->refuse(j, f, s);
    if (*refusal == NULL)
        *refusal = check_tile(j, m, s);
    if (*refusal == NULL)
        *refusal = check_keys(j, s);
    if (*refusal != NULL)
        return NULL;
    p->form = of->only != NULL ? of->only : of->form(f, s);
    if (of->fused && m->positions != 0 && !p->form->positions) {
        *refusal = "its steps do not know positions, for which the update asks (at)";
        return NULL;
    }
    *refusal = check_cells(m, p->form);
    if (*refusal == NULL) /* of cells that it does not serve a method may try packs of any width */
        *refusal = check_vector(j, m, s);
    if (*refusal != NULL)
        return NULL;
    lay_axes(p);
    if (!of->fused)
        lay_tile(p);
    *refusal = (p->form->fit != NULL ? p->form->fit : block_fit)(j, p);
    return *refusal == NULL ? p : NULL;
}

/* A processor runs the threads of a block one after another, without vectors; the factor is that of
   most methods on the cpu device. */
static const double one_by_one = 16;

void plan_cost(plan *p, const int64_t size[AXES]) {
    (p->form->cost != NULL ? p->form->cost : block_cost)(p, size);
    if (p->gpu->processor == NULL || plan_method(p)->serial)
        return;
    p->estimate.seconds *= one_by_one;
    p->estimate.bound = "threads one by one";
}

const char *plan_take_shared(job *j, plan *p, int64_t bytes) {
    if (bytes > p->gpu->shared_per_block)
        return job_print(j, "it needs %lld bytes of shared memory a block, and %s has %d",
                         (long long)bytes, p->gpu->arch, p->gpu->shared_per_block);
    p->shared_bytes = (size_t)bytes;
    return NULL;
}

/* ---- facts of plans ------------------------------------------------------------------------ */

int plan_resident_by_registers(const plan *p) {
    const int threads = round_up(plan_threads(p), WARP);
    const int by_registers =
        REGISTERS_PER_MULTIPROCESSOR / (threads * round_up(p->estimate.registers, 8));
    const int by_threads = p->gpu->threads_per_multiprocessor / threads;
    const int64_t blocks =
        block_least(block_least(by_registers, by_threads), p->gpu->blocks_per_multiprocessor);
    return blocks > 0 ? (int)blocks : 1;
}

int plan_resident(const plan *p) {
    enum { RESERVED = 1024 }; /* bytes of shared memory that the driver takes of every block */
    const int by_registers = plan_resident_by_registers(p);
    if (p->shared_bytes == 0)
        return by_registers;
    const int by_shared = p->gpu->shared_per_multiprocessor / ((int)p->shared_bytes + RESERVED);
    const int64_t blocks = block_least(by_registers, by_shared);
    return blocks > 0 ? (int)blocks : 1;
}

double plan_blocks(const plan *p, const int64_t size[AXES], double *covered) {
    double blocks = 1;
    *covered = 1;
    for (int k = 0; k < AXES; k++) {
        const double n = p->axes[k] < 0 ? 1 : (double)size[p->axes[k]];
        const double count = ceil(n / p->per_block[k]);
        *covered *= count * p->per_block[k] / n;
        blocks *= count;
    }
    return blocks;
}

expr_count plan_emitted(const plan *p) {
    expr_count sum = p->facts->emitted;
    for (int k = 0; k < p->pass_count; k++) {
        const expr_count one = p->pass[k]->facts->emitted;
        if (k == 0)
            sum = (expr_count){0, 0, 0};
        sum.additions += one.additions;
        sum.multiplications += one.multiplications;
        sum.others += one.others;
    }
    return sum;
}

/* ---- facts of models ------------------------------------------------------------------------- */

/* Whether a tap leaves both its point's column along `axis` and its plane. */
static bool leaves(const expr_node *tap, int axis) {
    if (tap->d[axis] == 0)
        return false;
    for (int other = 0; other < AXES; other++)
        if (other != axis && tap->d[other] != 0)
            return true;
    return false;
}

/* Notes a tap of the point `by` further along x. */
static void note_row(plan_row *rows, int *count, const expr_node *tap, int by) {
    const int x = tap->d[0] + by;
    plan_row *r = rows, *const end = rows + *count;
    while (r < end && (r->array != tap->index || r->dy != tap->d[1] || r->dz != tap->d[2]))
        r++;
    if (r == end) {
        *r = (plan_row){.array = tap->index, .dy = tap->d[1], .dz = tap->d[2]};
        ++*count;
    }
    r->low = larger(r->low, -x);
    r->high = larger(r->high, x);
}

/* Distinct pairs of array and offset, without the offset along the last axis. */
static int count_plane_taps(const model *m, job *j, const bool *live) {
    enum { SPAN = 2 * MAX_REACH + 1 };
    bool *seen = job_array(j, (size_t)m->array_count * SPAN * SPAN, sizeof *seen);
    int count = 0;
    for (int i = 0; i < m->pool->count; i++) {
        const expr_node *n = expr_get(m->pool, i);
        if (!live[i] || n->op != EXPR_TAP)
            continue;
        const int dx = m->dims > 1 ? n->d[0] : 0, dy = m->dims > 2 ? n->d[1] : 0;
        bool *cell = &seen[(n->index * SPAN + dy + MAX_REACH) * SPAN + dx + MAX_REACH];
        count += !*cell;
        *cell = true;
    }
    return count;
}

/* Each call is inlined, and compilers take seconds for a hundred calls: more are refused. */
static void limit_calls(const model *m, job *j, const expr_id *roots) {
    enum { MOST_CALLS = 200 };
    const bool *live = expr_live(m->pool, j, roots, m->output_count);
    int calls = 0;
    for (int i = 0; i < m->pool->count; i++) {
        const expr_op op = expr_get(m->pool, i)->op;
        calls += live[i] && op >= EXPR_EXP && op <= EXPR_POW;
    }
    if (calls > MOST_CALLS)
        job_fail(
            j, FAULT_SPEC, m->file, m->line,
            "the update calls exp, log, sin, cos, tanh and pow %d times for a point; at most %d "
            "can be compiled in reasonable time",
            calls, MOST_CALLS);
}

/* Negations, which the operations of an arranged model take with their operands. */
static int count_signs(const model *m, const bool *live) {
    int signs = 0;
    for (int i = 0; i < m->pool->count; i++)
        signs += live[i] && expr_get(m->pool, i)->op == EXPR_NEGATE;
    return signs;
}

static expr_count count_chain(const model_chain *chain) {
    expr_count sum = {0, 0, 0};
    for (int i = 0; i < chain->stage_count; i++) {
        const expr_count *one = &chain->stages[i].facts->emitted;
        sum.additions += one->additions;
        sum.multiplications += one->multiplications;
        sum.others += one->others;
    }
    return sum;
}

/* Whether a way of its own away from the edges saves next to nothing: nothing there but the
   selections in `Places`, which no division or function reads. */
static bool is_joined(const plan_facts *f, const interior *in) {
    enum { FEW = 8 }; /* instructions */
    for (expr_id i = 0; i < f->model->pool->count; i++)
        if (in->side[i] != EXPR_NONE && in->place[i] == 0)
            return false;
    return f->calls[0][0].units + f->calls[0][0].others < FEW;
}

/* Operations, of all points and of those away from the edges. */
static void count_work(plan_facts *f, job *j) {
    const model *m = f->model;
    const bool *live = expr_live(m->pool, j, f->roots, m->output_count);
    const interior *in = interior_find(j, m, f->roots, m->output_count);
    const bool *inside =
        in != NULL ? interior_live(j, m->pool, in, f->roots, m->output_count) : live;
    for (int i = 0; in != NULL && i < m->pool->count; i++)
        f->selections += inside[i] && in->side[i] != EXPR_NONE;
    f->emitted = expr_count_live(m->pool, live);
    f->inside = expr_count_live(m->pool, inside);
    if (m->chain != NULL)
        f->emitted = f->inside = count_chain(m->chain);
    if (m->arranged) {
        f->emitted.additions -= count_signs(m, live);
        f->inside.additions -= count_signs(m, inside);
    }
    f->uniform = calls_uniform(j, m, inside);
    f->quotients = emit_count_quotients(j, m, inside);
    for (int i = 0; i < 3; i++) {
        calls_count(j, m, inside, 1 << i, f->calls[i]);
        if (m->arranged)
            calls_sharing(j, m, inside, 1 << i, f->shared[i]);
    }
    f->two_ways = in != NULL && !is_joined(f, in);
    f->ends_of_x = f->two_ways && (in->margin[0][0] > 0 || in->margin[0][1] > 0);
}

/* Sums and products of a point, of the live nodes. */
static void count_shared(const model *m, job *j, const bool *live, double out[CALL_PACKS]) {
    const expr_count c = expr_count_live(m->pool, live);
    calls_sharing(j, m, live, 1, out);
    for (int k = 0; k < CALL_PACKS; k++)
        out[k] *= c.additions - count_signs(m, live) + c.multiplications / 2;
}

/* The rows that a step still reads, `by` further along x. */
static void note_carried(plan_facts *f, const bool *live, int by) {
    const expr_pool *pool = f->carried->model->pool;
    for (int i = 0; i < pool->count; i++)
        if (live[i] && expr_get(pool, i)->op == EXPR_TAP)
            note_row(f->carried_rows, &f->carried_row_count, expr_get(pool, i), by);
}

/* A value that is computed for the points before and after a thread's, too. */
static void count_neighbours(plan_facts *f, job *j, int value) {
    const carried *c = f->carried;
    const bool *live = expr_live(c->model->pool, j, &c->value[value], 1);
    double alone[CALL_PACKS];
    expr_work calls[CALL_PACKS] = {{0, 0}};
    count_shared(c->model, j, live, alone);
    calls_count(j, c->model, live, 1, calls);
    for (int k = 0; k < CALL_PACKS; k++) {
        const double share = carried_outside(c, value) / (double)(1 << k);
        f->carried_operations[k] += share * alone[0];
        f->carried_calls[k].units += share * calls[0].units;
        f->carried_calls[k].others += share * calls[0].others;
    }
    for (int i = 0; i < c->neighbour_count; i++)
        if (c->neighbours[i].value == value)
            note_carried(f, live, c->neighbours[i].by);
}

static void count_carried(plan_facts *f, job *j) {
    const carried *c = f->carried = carried_find(j, f->model, f->roots, f->model->dims - 1);
    if (c == NULL)
        return;
    count_shared(c->model, j, c->live, f->apart_operations);
    count_shared(c->model, j, c->steady, f->carried_operations);
    calls_count(j, c->model, c->steady, 1, f->carried_calls);
    f->carried_rows = job_array(j, (size_t)c->model->pool->count, sizeof *f->carried_rows);
    note_carried(f, c->steady, 0);
    for (int i = 0; i < c->count; i++)
        if (carried_outside(c, i) > 0)
            count_neighbours(f, j, i);
}

/* Operations of a point besides those of its sum, away from where conditions on its place count. */
static double count_point(const scaled_sum *s, job *j) {
    const model *m = s->point;
    expr_id root;
    optimise(j, m->pool, m->dtype, &m->outputs[0].value, 1, &root);
    const interior *in = interior_find(j, m, &root, 1);
    const bool *live =
        in != NULL ? interior_live(j, m->pool, in, &root, 1) : expr_live(m->pool, j, &root, 1);
    const expr_count c = expr_count_live(m->pool, live);
    return c.additions + c.multiplications + c.others;
}

plan_facts *plan_facts_new(job *j, const model *m) {
    plan_facts *f = job_alloc(j, sizeof *f);
    f->model = m;
    f->linear = true;
    f->column_or_plane = true;
    expr_id roots[MAX_FIELDS];
    for (int o = 0; o < m->output_count; o++) {
        linear_form form;
        f->linear = f->linear && model_linear(m, o, &form);
        roots[o] = m->outputs[o].value;
    }
    if (m->arranged)
        memcpy(f->roots, roots, (size_t)m->output_count * sizeof *roots);
    else
        optimise(j, m->pool, m->dtype, roots, m->output_count, f->roots);
    if (m->pool->limit != NULL)
        job_fail(j, FAULT_SPEC, m->file, m->line, "%s", m->pool->limit);
    limit_calls(m, j, f->roots);
    count_work(f, j);
    count_carried(f, j);
    f->runs = f->linear ? runs_new(j, m) : NULL;
    if (f->linear && m->output_count == 1)
        f->sum_operations = sums_operations(j, m);
    f->scaled = f->linear && model_is_narrow(m) ? NULL : scaled_sum_new(j, m);
    if (f->scaled != NULL && !f->linear)
        f->sum_operations = sums_operations(j, f->scaled->sum) + count_point(f->scaled, j);
    f->nodes = m->pool->count;
    const bool *live = f->live = expr_live(m->pool, j, roots, m->output_count);
    f->plane_taps = count_plane_taps(m, j, live);
    f->rows = job_array(j, (size_t)m->pool->count, sizeof *f->rows);
    for (int i = 0; i < m->pool->count; i++) {
        const expr_node *n = expr_get(m->pool, i);
        if (!live[i] || n->op != EXPR_TAP)
            continue;
        f->taps[n->index]++;
        f->all_taps++;
        if (leaves(n, m->dims - 1))
            f->column_or_plane = false;
        f->corners |= n->d[0] != 0 && n->d[1] != 0;
        note_row(f->rows, &f->row_count, n, 0);
    }
    return f;
}
