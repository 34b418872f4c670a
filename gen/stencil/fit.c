/* One schedule made into a plan: axes, threads, shared memory; or the reason why it cannot be.
   Takes: a model and a schedule whose entries that apply are set. Makes: a plan without its cost.
 */
#include "gen/model/limits.h"
#include "gen/stencil/plan.h"

#include <assert.h>
#include <string.h>

enum {
    MAX_PACK_ROWS = 48,       /* windows that a thread can hold in registers */
    MAX_WINDOW = 16,          /* points of a thread in 1D register tiling */
    CONSTANT_BYTES = 1 << 16, /* of a module */
    MAX_BLOCK_EXTENT = 1 << 28,
    MAX_TILE_POINTS = 1 << 20, /* so that no thread makes more than a thousand in a row */
};

int plan_walk_axis(method m, int dims) {
    if (m == METHOD_STREAMED || m == METHOD_TEMPORAL)
        return dims > 1 ? dims - 1 : -1;
    return m == METHOD_COARSENED || m == METHOD_REGISTER ? dims - 1 : -1;
}

static const char *check_applies(job *j, const model *m, const schedule *s, template_id template) {
    const int walk = plan_walk_axis(s->method, m->dims);
    if (s->method == METHOD_STREAMED && walk < 0)
        return "it walks the last of several axes; a grid of one axis is streamed by the method "
               "naive with vec";
    for (int axis = 0; axis < AXES; axis++) {
        const bool tiled = axis < m->dims && (axis != walk || m->dims == 1);
        if (!tiled && s->tile[axis] > 1)
            return axis >= m->dims
                       ? job_print(j, "a grid of %d axes has no tile along %c", m->dims,
                                   axis_names[axis])
                       : job_print(j, "it walks %c: set coarsen=%c%d instead of a tile along it",
                                   axis_names[axis], axis_names[axis], s->tile[axis]);
        const bool rows = s->method == METHOD_STREAMED && m->dims == 3 && axis == 1;
        if (axis != walk && !rows && s->coarsen[axis] > 1)
            return walk < 0 ? job_print(j, "it has no coarsening; the methods coarsened and "
                                           "register have")
                            : job_print(j, "it coarsens along %c alone", axis_names[walk]);
    }
    int64_t points = 1;
    for (int axis = 0; axis < m->dims; axis++) {
        points *= s->tile[axis] > 0 ? s->tile[axis] : 1;
        if (points > MAX_TILE_POINTS)
            return job_print(j, "a tile has at most %d points", MAX_TILE_POINTS);
    }
    for (int axis = 0; axis < m->dims; axis++)
        if ((int64_t)(s->tile[axis] + 1) * (s->coarsen[axis] + 1) > MAX_BLOCK_EXTENT)
            return job_print(j, "a block would make more than %d points along %c", MAX_BLOCK_EXTENT,
                             axis_names[axis]);
    if (plan_is_fused(template))
        return NULL;
    if (s->time > 1)
        return job_print(j, "it makes one time step a pass, not %d", s->time);
    if (s->lane[0] > 1 || s->lane[1] > 1 || s->stages > 1)
        return "it has no lane and no stages; the method temporal has";
    if (s->vector > 1 && s->method != METHOD_NAIVE && s->method != METHOD_STREAMED)
        return "it loads single elements; the methods naive and streamed take vec";
    return NULL;
}

static const char *check_vector(job *j, const model *m, const schedule *s) {
    const int bytes = (int)dtype_words[m->dtype].bytes * s->vector;
    if ((s->vector & (s->vector - 1)) != 0 || bytes > MAX_PACK_BYTES)
        return job_print(j, "vec=%d: packs have a power of two elements and at most %d bytes",
                         s->vector, MAX_PACK_BYTES);
    if (s->tile[0] % s->vector != 0)
        return job_print(j, "tile=%d: x must be a multiple of vec=%d", s->tile[0], s->vector);
    return NULL;
}

/* The kernel's axes: a walked axis comes last; a 2D grid that is walked along y is (x, −, y). */
static void lay_axes(const model *m, plan *p) {
    for (int k = 0; k < AXES; k++)
        p->axes[k] = k < m->dims ? k : -1;
    if (plan_walk_axis(p->schedule.method, m->dims) == 1 ||
        (p->template_id == TEMPLATE_RESIDENT &&
         m->dims == 2)) { /* its columns lie along the last */
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
        to->staged = p->template_id == TEMPLATE_SUMS || p->template_id == TEMPLATE_WINDOW ||
                     (plan_stages(p) && reach > 0);
        p->kernel_array[i] = p->array_count++;
    }
}

static template_id choose_template(const plan_facts *f, const schedule *s) {
    switch (s->method) {
    case METHOD_TILED:
        return TEMPLATE_TILED;
    case METHOD_CONSTANT:
        return TEMPLATE_CONSTANT;
    case METHOD_CACHED_HALO:
        return TEMPLATE_CACHED_HALO;
    case METHOD_COARSENED:
        return f->model->dims == 1 ? TEMPLATE_TILED : TEMPLATE_COARSENED;
    case METHOD_REGISTER:
        if (f->model->dims == 1)
            return TEMPLATE_WINDOW;
        return f->column_or_plane ? TEMPLATE_REGISTER : TEMPLATE_SUMS;
    case METHOD_STREAMED:
        return plan_streams_sums(f) ? TEMPLATE_STREAMED_SUMS : TEMPLATE_STREAMED;
    case METHOD_TEMPORAL:
        return f->model->dims == 1   ? TEMPLATE_LINE
               : f->model->dims == 2 ? TEMPLATE_PIPELINE
                                     : TEMPLATE_LEVELS;
    case METHOD_RESIDENT:
        return TEMPLATE_RESIDENT;
    default:
        return s->vector > 1 ? TEMPLATE_PACKS : TEMPLATE_NAIVE;
    }
}

/* Tile and walk along kernel axes. In 1D a window of registers takes a divisor of the coarsening.
 */
static void lay_tile(const model *m, plan *p) {
    const schedule *s = &p->schedule;
    const int walk_axis = plan_walk_axis(s->method, m->dims);
    const int coarsen = walk_axis < 0 ? 1 : s->coarsen[walk_axis];
    for (int k = 0; k < AXES; k++)
        p->tile[k] =
            p->axes[k] < 0 || (p->axes[k] == walk_axis && m->dims > 1) ? 1 : s->tile[p->axes[k]];
    p->walk = coarsen;
    if (m->dims == 1 && walk_axis == 0) {
        p->walk = p->template_id == TEMPLATE_WINDOW ? MAX_WINDOW : 1;
        while (coarsen % p->walk != 0)
            p->walk--;
        p->tile[0] *= coarsen / p->walk;
    }
    for (int k = 0; k < AXES; k++)
        p->per_block[k] = p->tile[k];
    if (p->template_id == TEMPLATE_WINDOW)
        p->per_block[0] *= p->walk;
    else
        p->per_block[2] *= p->walk;
}

/* A thread a point (or pack) while the block has room; then each thread makes several. */
static void lay_threads(const model *m, plan *p, int most) {
    int points[AXES] = {p->tile[0] / p->schedule.vector, p->tile[1], p->tile[2]};
    if (m->dims == 1 && p->schedule.method != METHOD_NAIVE && p->schedule.coarsen[0] > 1)
        points[0] = p->schedule.tile[0];
    int room = most;
    for (int k = 0; k < AXES; k++) {
        const int limit = k == 2 && room > 64 ? 64 : room; /* a block's z has at most 64 threads */
        p->block[k] = points[k] < limit ? points[k] : limit;
        room /= p->block[k];
    }
}

static int padded(int64_t i) {
    return (int)(i + (i >> 5));
}

/* Places the staged arrays one after the other. Returns the bytes, which may be too many. */
static int64_t lay_shared(const model *m, plan *p) {
    const int planes = p->low[2] + 1 + p->high[2];
    int64_t elements = 0;
    for (int i = 0; i < p->array_count; i++) {
        plan_array *a = &p->arrays[i];
        if (!a->staged)
            continue;
        const int64_t width = (int64_t)p->tile[0] + a->low[0] + a->high[0];
        const int64_t height = (int64_t)p->tile[1] + a->low[1] + a->high[1];
        a->shared = elements < INT32_MAX ? (int)elements : 0;
        if (p->template_id == TEMPLATE_WINDOW)
            elements += padded((int64_t)p->per_block[0] + a->low[0] + a->high[0]) + 1;
        else if (p->template_id == TEMPLATE_CACHED_HALO)
            elements += (int64_t)p->tile[0] * p->tile[1] * p->tile[2];
        else if (p->template_id == TEMPLATE_TILED)
            elements += width * height * ((int64_t)p->tile[2] + a->low[2] + a->high[2]);
        else
            elements += width * height * (p->template_id == TEMPLATE_COARSENED ? planes : 1);
    }
    if (p->template_id == TEMPLATE_WINDOW) {
        p->results = (int)elements;
        p->result_pitch = padded(p->per_block[0]) + 1;
        elements += (int64_t)p->result_pitch * m->output_count;
    }
    return elements * (int64_t)dtype_words[m->dtype].bytes;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Few rows are held as whole packs. Of many the compiler lets go what no tap reads, but all else
   stays in use from the first point to the last; what does not fit spills. */
static int64_t packs_registers(const plan_facts *f, int vector, int64_t words) {
    enum { FEW = 60 };
    int64_t whole = 0, read = 0;
    for (int r = 0; r < f->row_count; r++) {
        whole += round_up(f->rows[r].low, vector) + vector + round_up(f->rows[r].high, vector);
        read += f->rows[r].low + vector + f->rows[r].high;
    }
    const int64_t few = least(words * whole, FEW);
    const int64_t held = words * read > few ? words * read : few;
    return least(40 + (held > 28 ? held - 28 : 0) + 8 * (words - 1), MAX_REGISTERS);
}

/* Registers of a thread, from what the assembler gave such kernels on sm_90: a base for addresses
   and indices, what the method holds, and what the expression has in flight. */
static int64_t registers(const plan_facts *f, const plan *p) {
    const model *m = f->model;
    const int64_t words = (int64_t)dtype_words[m->dtype].bytes / 4;
    const int64_t columns = (int64_t)((p->tile[0] + p->block[0] - 1) / p->block[0]) *
                            ((p->tile[1] + p->block[1] - 1) / p->block[1]);
    const int64_t depth = p->low[2] + 1 + p->high[2], points = least(f->all_taps, 36);
    int64_t held = 0;
    switch (p->template_id) {
    case TEMPLATE_PACKS:
        return packs_registers(f, p->schedule.vector, words);
    case TEMPLATE_TILED:
        return 28 + 4 * words;
    case TEMPLATE_CONSTANT:
        return 36 + 4 * words;
    case TEMPLATE_CACHED_HALO:
        return 32 + words * points;
    case TEMPLATE_COARSENED:
        return 28 + words * points * 19 / 20;
    case TEMPLATE_REGISTER:
        for (int i = 0; i < p->array_count; i++)
            held += p->arrays[i].staged ? columns * (words * depth + 2) : 0;
        return 36 + held + 2 * columns * m->output_count;
    case TEMPLATE_SUMS:
        return 30 + columns * m->output_count * (words * depth + 2);
    case TEMPLATE_WINDOW:
        for (int i = 0; i < p->array_count; i++)
            held += p->walk + p->arrays[i].low[0] + p->arrays[i].high[0];
        return 26 + words * held;
    default:
        return 22 + words * points * 13 / 10;
    }
}

int plan_resident_by_registers(const plan *p) {
    const int threads = round_up(plan_threads(p), 32);
    const int by_registers =
        REGISTERS_PER_MULTIPROCESSOR / (threads * round_up(p->estimate.registers, 8));
    const int by_threads = p->target->threads_per_multiprocessor / threads;
    const int64_t blocks =
        least(least(by_registers, by_threads), p->target->blocks_per_multiprocessor);
    return blocks > 0 ? (int)blocks : 1;
}

int plan_resident(const plan *p) {
    enum { RESERVED = 1024 }; /* bytes of shared memory that the driver takes of every block */
    const int by_registers = plan_resident_by_registers(p);
    if (p->shared_bytes == 0)
        return by_registers;
    const int by_shared = p->target->shared_per_multiprocessor / ((int)p->shared_bytes + RESERVED);
    const int64_t blocks = least(by_registers, by_shared);
    return blocks > 0 ? (int)blocks : 1;
}

/* Constant memory holds the numbers of a linear update. */
static const char *check_constant(job *j, const plan_facts *f, template_id template) {
    if (template != TEMPLATE_CONSTANT)
        return NULL;
    if (!f->linear)
        return "constant memory holds the weights of linear updates, and this one is not linear";
    const int64_t bytes = f->runs->weight_count * (int64_t)dtype_words[f->model->dtype].bytes +
                          f->runs->count * (int64_t)RUN_BYTES;
    if (bytes > CONSTANT_BYTES)
        return job_print(j, "its %d weights take %lld bytes of constant memory, which has %d",
                         f->runs->weight_count, (long long)bytes, CONSTANT_BYTES);
    return NULL;
}

plan *plan_fit(job *j, const plan_facts *f, const schedule *s, const target *t,
               const char **refusal) {
    const model *m = f->model;
    plan *p = job_alloc(j, sizeof *p);
    p->facts = f;
    p->schedule = *s;
    p->target = t;
    p->template_id = choose_template(f, s);
    *refusal = check_applies(j, m, s, p->template_id);
    if (*refusal == NULL && plan_is_fused(p->template_id)) {
        lay_axes(m, p);
        *refusal = plan_fit_fused(j, p);
        return *refusal == NULL ? p : NULL;
    }
    if (*refusal == NULL)
        *refusal = check_vector(j, m, s);
    if (*refusal != NULL)
        return NULL;
    if (p->template_id == TEMPLATE_SUMS && !f->linear) {
        *refusal = "one plane in shared memory serves a shape off its column and plane only where "
                   "partial sums can be kept, that is for linear updates";
        return NULL;
    }
    *refusal = check_constant(j, f, p->template_id);
    if (*refusal != NULL)
        return NULL;
    lay_axes(m, p);
    lay_tile(m, p);
    if (s->method == METHOD_STREAMED) {
        *refusal = plan_fit_streamed(j, p);
        return *refusal == NULL ? p : NULL;
    }
    int64_t need = 0;
    for (int most = MAX_THREADS; most >= 128; most /= 2) {
        lay_threads(m, p, most);
        need = registers(f, p);
        if (need * round_up(plan_threads(p), 32) <= REGISTERS_PER_MULTIPROCESSOR)
            break;
    }
    if (need > MAX_REGISTERS && s->method != METHOD_NAIVE) {
        *refusal = job_print(j,
                             "a thread would need about %lld registers and has %d; take a "
                             "smaller tile or less coarsening",
                             (long long)need, MAX_REGISTERS);
        return NULL;
    }
    p->estimate.registers = need < MAX_REGISTERS ? (int)need : MAX_REGISTERS;
    p->blocks = plan_resident_by_registers(p); /* the ways near the edges are to spill instead */
    const int64_t shared = lay_shared(m, p);
    if (shared > t->shared_per_block) {
        *refusal = job_print(j, "it needs %lld bytes of shared memory a block, and %s has %d",
                             (long long)shared, t->arch, t->shared_per_block);
        return NULL;
    }
    p->shared_bytes = (size_t)shared;
    if (s->vector > 1 && f->row_count > MAX_PACK_ROWS) {
        *refusal =
            job_print(j, "vec=%d: the shape has more rows than a thread can hold", s->vector);
        return NULL;
    }
    return p;
}
