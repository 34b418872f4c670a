/* Candidates: schedules that the constraints leave, tried once each. Takes: a search, and what a
   method thinks worth trying. Makes: plans with their costs. */
#include "gen/stencil/search.h"

#include "base/hash.h"

#include <math.h>
#include <string.h>

/* ---- schedules that were tried --------------------------------------------------------------- */

enum { FIRST_CAPACITY = 256 };

/* The struct has only numbers and no gaps. */
static uint32_t hash(const schedule *s) {
    return (uint32_t)checksum_of(s, sizeof *s, 0);
}

/* Where it is, or the free slot where it goes. There are twice as many slots as schedules. */
static int *find(const schedule_set *set, const schedule *s) {
    const uint32_t mask = 2 * (uint32_t)set->capacity - 1;
    uint32_t at = hash(s) & mask;
    while (set->slots[at] != 0 && memcmp(&set->list[set->slots[at] - 1], s, sizeof *s) != 0)
        at = (at + 1) & mask;
    return &set->slots[at];
}

static void grow(job *j, schedule_set *set) {
    const schedule *old = set->list;
    set->capacity = set->capacity > 0 ? 2 * set->capacity : FIRST_CAPACITY;
    set->list = job_array(j, (size_t)set->capacity, sizeof *set->list);
    set->slots = job_array(j, 2 * (size_t)set->capacity, sizeof *set->slots);
    for (int i = 0; i < set->count; i++) {
        set->list[i] = old[i];
        *find(set, &old[i]) = i + 1;
    }
}

/* False where it is there. */
static bool schedule_set_add(job *j, schedule_set *set, const schedule *s) {
    if (set->count == set->capacity)
        grow(j, set);
    int *slot = find(set, s);
    if (*slot != 0)
        return false;
    set->list[set->count++] = *s;
    *slot = set->count;
    return true;
}

/* ---- passes ---------------------------------------------------------------------------------- */

/* The grid that a pass writes and the next one reads: "pass_1", "pass_2". */
static const char *between(job *j, int pass) {
    return job_print(j, "pass_%d", pass);
}

passes *passes_new(job *j, const plan_facts *whole) {
    const model *m = whole->model;
    passes *p = job_alloc(j, sizeof *p);
    p->whole = whole;
    p->separable = m->separable != NULL ? m->separable : separable_new(j, m);
    const int count = p->separable->count;
    for (int k = 0; k < count; k++) {
        const char *from = k == 0 ? m->fields[0].name : between(j, k);
        const char *to = k + 1 == count ? m->fields[1].name : between(j, k + 1);
        p->facts[k] = plan_facts_new(j, separable_pass(j, m, p->separable, k, from, to));
    }
    return p;
}

/* Passes run one after the other, so times and traffic add up. */
static void add_estimate(plan_estimate *sum, const plan_estimate *e, double *longest) {
    sum->seconds += e->seconds;
    sum->bytes_per_point += e->bytes_per_point;
    sum->loads_per_point += e->loads_per_point;
    sum->shared_per_point += e->shared_per_point;
    sum->instructions_per_point += e->instructions_per_point;
    sum->registers = larger(sum->registers, e->registers);
    if (sum->blocks_resident == 0 || e->blocks_resident < sum->blocks_resident)
        sum->blocks_resident = e->blocks_resident;
    if (e->seconds > *longest) {
        *longest = e->seconds;
        sum->bound = e->bound;
    }
}

/* As plan_fit and plan_cost together; each pass is planned by the schedule. */
static plan *passes_fit(job *j, const passes *p, const schedule *s, const gpu *t,
                        const int64_t size[AXES], const char **refusal) {
    const int count = p->separable->count;
    *refusal = NULL;
    if (count == 0)
        *refusal = job_print(j, "passes=%d: %s", s->passes, p->separable->why);
    else if (count != s->passes)
        *refusal = job_print(j, "passes=%d: this filter has %d, one an axis", s->passes, count);
    if (*refusal != NULL)
        return NULL;
    plan *out = job_alloc(j, sizeof *out);
    plan_estimate sum = {.seconds = 0};
    double longest = 0;
    for (int k = 0; k < count; k++) {
        plan *one = plan_fit(j, p->facts[k], s, t, refusal);
        if (one == NULL)
            return NULL;
        plan_cost(one, size);
        add_estimate(&sum, &one->estimate, &longest);
        if (k == 0)
            *out = *one;
        one->is_pass = true;
        one->from = k == 0 ? 0 : k + 1; /* image, result, pass_1, … */
        one->to = k + 1 == count ? 1 : k + 2;
        out->pass[k] = one;
        out->shared_bytes =
            one->shared_bytes > out->shared_bytes ? one->shared_bytes : out->shared_bytes;
    }
    out->is_pass = false;
    out->facts = p->whole;
    out->schedule = *s;
    out->pass_count = count;
    out->estimate = sum;
    return out;
}

/* ---- how far blocks walk --------------------------------------------------------------------- */

enum { LEAST_WALK = 16, MOST_WAVES = 6, FEW_PARTS = 6 };

static void try_walk(search *s, const plan *fitting, int walk) {
    plan *p = job_alloc(s->job, sizeof *p);
    *p = *fitting;
    plan_set_walk(p, walk);
    plan_cost(p, s->size);
    search_keep(s, p);
}

static void try_parts(search *s, const plan *fitting, int axis, double parts) {
    const double walk = ceil((double)s->size[axis] / parts);
    try_walk(s, fitting, walk > 65536 ? 65536 : walk < LEAST_WALK ? LEAST_WALK : (int)walk);
}

/* How far blocks walk decides how many waves of blocks there are. Tried are a few parts of the
   walked axis, as many parts as fill the multiprocessors once, twice …, and what was measured.
   `fitting` itself is not kept. */
static void try_walks(search *s, plan *fitting, int axis) {
    double columns = 1;
    for (int k = 0; k < LANE_AXES; k++)
        if (fitting->axes[k] >= 0 && fitting->axes[k] != axis)
            columns *= ceil((double)s->size[fitting->axes[k]] / fitting->per_block[k]);
    const double wave = (double)s->gpu->multiprocessors * plan_resident(fitting);
    for (int parts = 1; parts <= FEW_PARTS; parts++)
        try_parts(s, fitting, axis, parts);
    for (int waves = 1; waves <= MOST_WAVES; waves++) {
        const double parts = floor(waves * wave / columns);
        if (parts > FEW_PARTS)
            try_parts(s, fitting, axis, parts);
    }
    for (int i = 0; i < plan_measured_count(s->measured); i++) {
        const int walk = plan_measured_walk(s->measured, i, fitting);
        if (walk > 0)
            try_walk(s, fitting, walk);
    }
    job_drop(s->job, fitting, sizeof *fitting);
}

/* Whether a schedule leaves open how far blocks walk. */
static bool walks_openly(const search *s, const schedule *of) {
    const int axis = method_walk(methods[s->method], s->facts->model->dims);
    return axis >= 0 && of->coarsen[axis] == 0;
}

static void try_plan(search *s, const schedule *candidate) {
    const char *refusal;
    plan *p = plan_fit(s->job, s->facts, candidate, s->gpu, &refusal);
    if (p == NULL) {
        search_refuse(s, refusal);
    } else if (walks_openly(s, candidate)) {
        try_walks(s, p, method_walk(methods[s->method], s->facts->model->dims));
    } else {
        plan_cost(p, s->size);
        search_keep(s, p);
    }
}

/* ---- one step a launch ----------------------------------------------------------------------- */

static void try_schedule(search *s, const schedule *candidate) {
    if (!schedule_set_add(s->job, &s->tried, candidate))
        return;
    const char *refusal;
    if (candidate->passes <= 1) {
        try_plan(s, candidate);
        return;
    }
    plan *p = passes_fit(s->job, s->passes, candidate, s->gpu, s->size, &refusal);
    if (p == NULL)
        search_refuse(s, refusal);
    else
        search_keep(s, p);
}

/* A filter that is not separable has no passes. */
static void try_passes(search *s, schedule *candidate) {
    const int wanted = s->wanted->passes, all = s->passes->separable->count;
    if (wanted <= 1) {
        candidate->passes = all > 0;
        try_schedule(s, candidate);
    }
    candidate->passes = wanted > 0 ? wanted : all;
    if (candidate->passes > 1 && !walks_openly(s, candidate))
        try_schedule(s, candidate);
}

/* One combination for a tile; `rows` is the coarsening along y. */
static void try_block(search *s, const int tile[AXES], int vector, int coarsen, int rows) {
    const int dims = s->facts->model->dims, walk = method_walk(methods[s->method], dims);
    schedule candidate = *s->wanted;
    candidate.method = s->method;
    for (int axis = 0; axis < AXES; axis++) {
        const bool applies = axis < dims && (axis != walk || dims == 1);
        if (applies && candidate.tile[axis] == 0)
            candidate.tile[axis] = tile[axis];
        else if (!applies && candidate.tile[axis] == 1)
            candidate.tile[axis] = 0;
        if (axis != walk && candidate.coarsen[axis] == 1)
            candidate.coarsen[axis] = 0;
    }
    /* A line that gives the walk alone means one row a thread: plans of one row print so. */
    if (rows > 1 && s->wanted->coarsen[1] == 0 && s->wanted->coarsen[walk] == 0)
        candidate.coarsen[1] = rows;
    if (walk >= 0 && candidate.coarsen[walk] == 0)
        candidate.coarsen[walk] = coarsen;
    if (candidate.vector == 0)
        candidate.vector = vector;
    if (candidate.time == 0)
        candidate.time = 1;
    try_passes(s, &candidate);
}

/* Rows of a thread: single points cost as many instructions as packs, and need less room. */
static int most_rows(const search *s, int vector) {
    const bool has = (methods[s->method]->keys & SCHEDULE_ROWS) != 0 && s->facts->model->dims == 3;
    return !has ? 1 : vector == 1 ? 4 : 2;
}

/* `rows`: of a thread; 0: those that the method takes. */
static void try_tiles(search *s, const search_tiles tiles, const int *coarsen, const int *vectors,
                      int rows) {
    for (int t = 0; t < SEARCH_TILES && tiles[t][0] != 0; t++)
        for (int v = 0; vectors[v] != 0; v++)
            for (int k = 0; k == 0 || coarsen[k] != 0; k++) {
                const int most = rows > 0 ? rows : most_rows(s, vectors[v]);
                for (int each = larger(rows, 1); each <= most; each *= 2)
                    try_block(s, tiles[t], vectors[v], coarsen[k], each);
                if (coarsen[k] == 0)
                    break;
            }
}

void search_blocks(search *s, const search_tiles *tiles, const int *coarsen, const int *vectors) {
    try_tiles(s, tiles[s->facts->model->dims - 1], coarsen, vectors, 0);
}

void search_rows(search *s, const search_tiles tiles, const int *coarsen, const int *vectors,
                 int rows) {
    try_tiles(s, tiles, coarsen, vectors, rows);
}

/* The tiles for packs of `vector` points: no higher than the grid, but for the rows of a thread. */
static void fit_tiles(const search *s, int vector, search_tiles tiles) {
    enum { MOST_WIDE = 128, LEAST_THREADS = 128, MOST_HEIGHTS = 8, ROWS = 4 };
    const int packs = (int)((s->size[0] - 1) / vector + 1);
    const int parts = (packs - 1) / MOST_WIDE + 1, wide = (packs - 1) / parts + 1;
    const int highest = s->size[1] < LEAST_THREADS ? round_up((int)s->size[1], ROWS) : MAX_THREADS;
    const int most = s->facts->model->dims == 3 ? MOST_HEIGHTS * most_rows(s, vector) / ROWS : 2;
    for (int k = 0; 1 << k <= most; k++) {
        const int high = smaller(larger(LEAST_THREADS / wide, 1) << k, highest);
        tiles[k][0] = wide * vector;
        tiles[k][1] = high;
        tiles[k][2] = larger(LEAST_THREADS / (wide * high), 1); /* where no axis is walked */
    }
}

void search_short(search *s, const int *coarsen, const int *vectors) {
    enum { LONG = 1024 };
    const int dims = s->facts->model->dims;
    if (dims == 1 || s->size[0] > LONG)
        return;
    for (int v = 0; vectors[v] != 0; v++) {
        search_tiles tiles[AXES] = {{{0}}};
        const int one[] = {vectors[v], 0};
        fit_tiles(s, vectors[v], tiles[dims - 1]);
        search_blocks(s, tiles, coarsen, one);
    }
}

/* ---- several steps a launch ------------------------------------------------------------------ */

int search_given(int wanted, int choice) {
    return wanted != 0 ? wanted : choice;
}

int search_widest(const search *s) {
    return MAX_PACK_BYTES / (int)model_cell_bytes(s->facts->model);
}

int search_widest_numbers(const search *s) {
    return MAX_PACK_BYTES / (int)dtype_words[s->facts->model->dtype].bytes;
}

void search_fused(search *s, schedule candidate) {
    const int dims = s->facts->model->dims, axis = method_walk(methods[s->method], dims);
    candidate.method = s->method;
    for (int k = 0; k < AXES; k++) {
        if (candidate.tile[k] == 1 && (k >= dims || k == axis))
            candidate.tile[k] = 0;
        if (candidate.coarsen[k] == 1 && k != axis)
            candidate.coarsen[k] = 0;
    }
    if (candidate.passes > 1) {
        search_refuse(s, "it has no passes; convolutions have");
        return;
    }
    candidate.passes = 0;
    if (!schedule_set_add(s->job, &s->tried, &candidate))
        return;
    try_plan(s, &candidate);
}

bool search_leave(search *s, schedule *candidate, int k, int width, int halo) {
    if (candidate->tile[k] != 0)
        return true;
    candidate->tile[k] = width - halo;
    if (width > halo)
        return true;
    search_refuse(s, job_print(s->job, "the halo of %d steps takes all %d points along %c",
                               candidate->time, width, axis_names[k]));
    return false;
}

bool search_is_useful(const search *s, int time) {
    return s->wanted->time != 0 || s->steps <= 1 || time <= s->steps;
}
