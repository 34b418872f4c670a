/* One schedule made into a plan: its axes, and what its method makes of it, or the reason why there
   is none. Takes: the facts of a model and a schedule whose entries that apply are set. Makes: a
   plan without its cost. */
#include "gen/stencil/method.h"

#include "gen/stencil/plan.h"
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
    *refusal = check_chain(m, of);
    if (*refusal == NULL && of->refuse != NULL)
        *refusal = of->refuse(j, f, s);
    if (*refusal == NULL)
        *refusal = check_tile(j, m, s);
    if (*refusal == NULL)
        *refusal = check_keys(j, s);
    if (*refusal != NULL)
        return NULL;
    const form *form = of->only != NULL ? of->only : of->form(f, s);
    if (of->fused && m->positions != 0 && !form->positions) {
        *refusal = "its steps do not know positions, for which the update asks (at)";
        return NULL;
    }
    *refusal = check_cells(m, form);
    if (*refusal == NULL) /* of cells that it does not serve a method may try packs of any width */
        *refusal = check_vector(j, m, s);
    if (*refusal != NULL)
        return NULL;
    plan *p = job_alloc(j, sizeof *p);
    p->facts = f;
    p->schedule = *s;
    p->gpu = t;
    p->form = form;
    lay_axes(p);
    if (!of->fused)
        lay_tile(p);
    *refusal = (form->fit != NULL ? form->fit : block_fit)(j, p);
    if (*refusal == NULL)
        return p;
    job_drop(j, p, sizeof *p);
    return NULL;
}

/* A processor runs the threads of a block one after another, without vectors; the factor is that of
   most methods on the cpu device. */
static const double one_by_one = 16;

void plan_cost(plan *p, const int64_t size[AXES]) {
    if (p->form->at_size != NULL)
        p->form->at_size(p, size);
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
    const int by_registers = plan_resident_by_registers(p);
    if (p->shared_bytes == 0)
        return by_registers;
    const int64_t blocks = block_least(by_registers, gpu_blocks_with(p->gpu, p->shared_bytes));
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
