/* Programs of scans, and their checks. Takes: a scan and a schedule; a call, and what a kernel made
   of it. Makes: arrays, launches, temporary memory and the source; random calls, and a verdict.
   Whole numbers, and operators that do not round, must be met exactly. Sums are compared with
   compensated float64 prefix sums (A. Neumaier, ZAMM 54, 1974), and each may be off by
   depth·u·Σ|x| of its prefix: N. Higham, Accuracy and Stability of Numerical Algorithms, section
   4.2, where depth is the longest way of an element through the plan's additions. In a product
   every multiplication counts. */
#include <math.h>
#include <string.h>

#include "gen/lists/draw.h"
#include "gen/lists/scan/scan.h"

/* ---- the program --------------------------------------------------------------------------- */

static void add_arrays(program *p, dtype type) {
    pattern_size(p, "count", SCAN_INPUT, 0);
    pattern_array(p, "input", type, extent_of(0, 0));
    program_array *output = pattern_array(p, "output", type, extent_of(0, 0));
    output->written = true;
    output->lists.same_as = SCAN_INPUT;
    p->lists.points = extent_of(0, 0);
}

/* One pass: a word for each tile, after one for the counter that tiles are drawn from; values of 8
   bytes also have two places a tile. */
static void add_look_back(job *j, program *p, const scan_plan *plan, size_t element) {
    const int tile = plan->threads * plan->items;
    pattern_temporary(p, (program_temporary){"published", extent_of(0, 0), tile, 8, 8, 0});
    if (element > 4)
        pattern_temporary(p, (program_temporary){"values", extent_of(0, 0), tile, 16, 0, -1});
    pattern_launch(j, p, "scan", extent_of(0, 0), tile, plan->threads, true)->shared_bytes =
        plan->shared_bytes;
}

/* Groups of 32 tiles, as the template has them, in words of 16 bytes. `published`: a counter, one
   word for each two tiles of the first group, one for each block, one for each tile. `groups`: two
   words for each group. */
static void add_persistent(job *j, program *p, const scan_plan *plan) {
    const int tile = plan->threads * plan->items;
    const int64_t most = (int64_t)plan->blocks * plan->gpu->multiprocessors;
    const int64_t fixed = 16 * (1 + 32 * 32 + most);
    pattern_temporary(p, (program_temporary){"published", extent_of(0, 0), tile, 16, fixed, -1});
    pattern_temporary(p, (program_temporary){"groups", extent_of(0, 0), 32 * tile, 32, 0, -1});
    p->lists.tagged = true;
    program_launch *l = pattern_launch(j, p, "scan", extent_of(0, 0), tile, plan->threads, true);
    l->shared_bytes = plan->shared_bytes;
    l->lists.blocks[0].most = most;
    l->lists.resident = true;
    l->early = program_may_begin_early(p->target);
}

/* Three phases: templates/scan/phases.cuh. */
static void add_phases(job *j, program *p, const scan_plan *plan, size_t element) {
    const program_extent items = extent_of(0, 0);
    const int tile = plan->threads * plan->items;
    pattern_temporary(p, (program_temporary){"sums", items, tile, (int64_t)element, 0, -1});
    pattern_launch(j, p, "tiles", items, tile, plan->threads, true);
    pattern_launch(j, p, "sums", extent_of(-1, 1), 1, plan->threads, true);
    pattern_launch(j, p, "add", items, tile, plan->threads, false);
    p->launches[0].shared_bytes = p->launches[1].shared_bytes = plan->shared_bytes;
}

/* A word for the counter of tiles and one for each tile, and what comes behind each. A block that
   finds no tile left ends, so there may be more of them than cores. */
static void add_runs(job *j, program *p, const scan_plan *plan, size_t element) {
    enum { MOST_BLOCKS = 1024 };
    const program_extent items = extent_of(0, 0);
    pattern_temporary(p, (program_temporary){"published", items, plan->run, 8, 8, 0});
    pattern_temporary(p, (program_temporary){"values", items, plan->run, (int64_t)element, 0, -1});
    pattern_launch(j, p, "scan", items, plan->run, 1, false)->lists.blocks[0].most = MOST_BLOCKS;
}

/* ---- the source ---------------------------------------------------------------------------- */

static const char *const templates[SCAN_ALGORITHMS] = {
    [SCAN_LOOK_BACK] = "scan/look_back.cu",     [SCAN_PERSISTENT] = "scan/persistent.cu",
    [SCAN_KOGGE_STONE] = "scan/kogge_stone.cu", [SCAN_DOUBLE_BUFFER] = "scan/double_buffer.cu",
    [SCAN_BRENT_KUNG] = "scan/brent_kung.cu",   [SCAN_RUNS] = "scan/runs.cu",
};

/* identity, prepare and combine; an element as it is used; and what comes before the first
   element. */
static const char *write_code(job *j, const scan *s, dtype type) {
    text t = text_new(j);
    if (s->op.id == OPERATOR_OWN)
        text_add(&t, "#define PATTERN_OWN_OPERATOR 1\n");
    operator_write(&t, &s->pattern, type, &s->op, "identity");
    if (s->mapped)
        pattern_write_function(&t, &s->pattern, SCAN_MAP, "Real", "map");
    text_printf(&t,
                "__device__ __forceinline__ Real prepared([[maybe_unused]] const Arguments "
                "&arguments, Real x) { return %s; }\n",
                operator_prepared(j, &s->op, s->mapped ? "map(arguments, x, x)" : "x"));
    if (s->initial)
        pattern_write_function(&t, &s->pattern, SCAN_INIT, "Real", "given");
    text_printf(&t,
                "__device__ __forceinline__ Real initial([[maybe_unused]] const Arguments "
                "&arguments) { return %s; }\n",
                s->initial
                    ? operator_prepared(j, &s->op, "given(arguments, identity(), identity())")
                    : "identity()");
    return t.data;
}

void scan_print(const subject *subject, model_detail detail, text *t) {
    const scan *s = subject->model;
    const dtype type = subject->dtype;
    text_printf(t, "%s scan of %s by %s\n", s->exclusive ? "exclusive" : "inclusive",
                dtype_words[pattern_storage(&s->pattern)].name, operator_name(&s->op));
    if (s->deterministic)
        text_add(t, "the same bits on every run\n");
    if (s->op.id == OPERATOR_OWN) {
        text_add(t, "identity = ");
        operator_write_value(t, type, s->op.identity);
        text_add(t, "\n");
    }
    model_print_functions(s->pattern.functions, detail, t);
}

static const char *reason_of(job *j, const scan_plan *plan) {
    static const char once[] = "it reads and writes every element once";
    const bool runs = plan->schedule.algorithm == SCAN_RUNS;
    if (plan->asked || (runs && plan->gpu->processor == NULL)) /* by run=N, on a GPU */
        return "it is asked for";
    return !runs ? once : job_print(j, "%s: %s", gpu_processor_words(j, plan->gpu), once);
}

static family_build *write(job *j, const subject *subject, const family_request *r,
                           const scan_plan *plan, program *p) {
    const scan *s = subject->model;
    const dtype type = subject->dtype;
    const bool persistent = plan->schedule.algorithm == SCAN_PERSISTENT;
    const bool one_pass = persistent || plan->schedule.algorithm == SCAN_RUNS ||
                          plan->schedule.algorithm == SCAN_LOOK_BACK;
    const pattern_constant constants[] = {
        {"threads", plan->threads},
        {"items", plan->items},
        {"runs", plan->runs},
        {"exclusive", s->exclusive},
        {"in_order", s->deterministic && !operator_is_exact(&s->op, type)},
        {"shared_bytes", (int64_t)plan->shared_bytes},
        {"whole", s->op.id != OPERATOR_OWN && type >= DTYPE_REALS},
        {"prepares", s->mapped || strcmp(operator_prepared(j, &s->op, "x"), "x") != 0},
        {"stages", plan->stages}, /* of persistent alone */
        {"blocks", plan->blocks},
        {"ahead", plan->ahead},
        {"draw", plan->draw},
    };
    const bool runs = plan->schedule.algorithm == SCAN_RUNS;
    const pattern_constant of_runs[] = {{"threads", 1},
                                        {"run", plan->run},
                                        {"exclusive", s->exclusive},
                                        {"ordered", !operator_commutes(&s->op)},
                                        {"places", 0}};
    const double map = s->mapped ? pattern_operations(j, &s->pattern, SCAN_MAP) : 0;
    const double op = operator_operations(j, &s->pattern, &s->op);
    pattern_source source = {
        .program = p,
        .schedule = &plan->schedule,
        .template_file = templates[plan->schedule.algorithm],
        .work = job_print(j, "%d bytes of device memory an element; at least %d",
                          (one_pass ? 2 : 4) * (int)p->element_bytes, 2 * (int)p->element_bytes),
        .constants = runs ? of_runs : constants,
        .constant_count = runs         ? 5
                          : persistent ? 12
                                       : 8,
        .code = r->untold ? NULL : write_code(j, s, type),
        .facts.shape = job_print(j, "%s scan by %s", s->exclusive ? "exclusive" : "inclusive",
                                 operator_name(&s->op)),
        .facts.reason = reason_of(j, plan),
        .facts.board = plan->board,
        .facts.textbook_operations = op + map,
        .facts.emitted_operations = map + op * (one_pass ? 2 : 3),
    };
    return pattern_build(j, subject, r, &source);
}

family_build *scan_build(job *j, const subject *subject, const family_request *r) {
    const scan *s = subject->model;
    const scan_plan plan = scan_fit(j, subject, r);
    const size_t element = dtype_words[subject->dtype].bytes;
    program *p = pattern_program(j, &s->pattern, PROGRAM_SCAN, r->gpu);
    add_arrays(p, pattern_storage(&s->pattern));
    if (plan.schedule.algorithm == SCAN_PERSISTENT)
        add_persistent(j, p, &plan);
    else if (plan.schedule.algorithm == SCAN_LOOK_BACK)
        add_look_back(j, p, &plan, element);
    else if (plan.schedule.algorithm == SCAN_RUNS)
        add_runs(j, p, &plan, element);
    else
        add_phases(j, p, &plan, element);
    return write(j, subject, r, &plan, p);
}

/* ---- data ---------------------------------------------------------------------------------- */

void scan_draw(job *j, const subject *subject, const program *p, const int64_t size[AXES], int kind,
               const double *given, uint64_t seed, family_call *out) {
    const scan *s = subject->model;
    sample numbers[2];
    draw_call(j, p, given, &seed, out);
    reach_operands(j, &s->pattern, s->op.id == OPERATOR_OWN ? SCAN_OP : -1,
                   s->mapped ? SCAN_MAP : -1, out->parameters, numbers);
    out->sizes[0] = size[0];
    draw_input(j, subject->dtype, p, SCAN_INPUT, s->op.id, kind, &numbers[0], &seed, out);
}

/* ---- prefixes ------------------------------------------------------------------------------ */

enum { BLOCK = 1024, WHOLE = OPERATOR_OWN + 1 };

/* What the elements so far come to, and how far off a right kernel may be. */
typedef struct prefix {
    const scan *scan;
    dtype dtype;
    int real; /* of reals the operator; of whole numbers WHOLE */
    pattern_machine *op, *map;
    double depth, op_operations, map_operations, unit;
    int64_t count;
    pattern_value last;         /* element */
    pattern_value value, block; /* of own operators: before the block of elements, and in it */
    double sum, rest, special;  /* of sums: finite elements, compensated; and the others */
    long double product;
    double level, low, high; /* of products: log2 of it, and the ends of that */
    double magnitude;        /* of sums Σ|x|, else the largest seen */
    double map_error;        /* likewise */
    bool undecidable;
} prefix;

static void add_to_sum(prefix *p, double x) {
    if (!isfinite(x)) {
        p->special += x;
        return;
    }
    const double total = p->sum + x;
    p->rest += fabs(p->sum) >= fabs(x) ? (p->sum - total) + x : (x - total) + p->sum;
    p->sum = total;
    p->magnitude += fabs(x);
    p->undecidable |= p->magnitude > dtype_words[p->dtype].largest / 2;
}

static void add_to_product(prefix *p, double x) {
    p->product *= x;
    if (isfinite(x) && x != 0) {
        p->level += log2(fabs(x));
        p->low = fmin(p->low, p->level);
        p->high = fmax(p->high, p->level);
    }
    /* Another grouping might overflow, or fall below the normal numbers. */
    p->undecidable |= p->high - p->low > (p->dtype == DTYPE_FLOAT ? 120 : 1000);
}

static void add_to_own(prefix *p, pattern_value x) {
    const pattern_operator *o = &p->scan->op;
    if (p->count % BLOCK == 0) {
        if (p->count > 0)
            p->value = operator_combine(p->dtype, o, p->op, p->value, p->block);
        p->block = x;
    } else {
        p->block = operator_combine(p->dtype, o, p->op, p->block, x);
    }
    p->magnitude = fmax(p->magnitude, fmax(fabs(x.real), fabs(p->block.real)));
    p->undecidable |= !isfinite(x.real) || !isfinite(p->block.real);
}

/* Kernels begin with neighbours: a fold alone would not show which sides of conditions they
   take. */
static void count_sides(prefix *p, pattern_value x) {
    if (p->op != NULL && p->count % 2 == 1)
        operator_combine(p->dtype, &p->scan->op, p->op, p->last, x);
    p->last = x;
}

static void add(prefix *p, pattern_value x, double error) {
    count_sides(p, x);
    if (p->real == OPERATOR_SUM) {
        add_to_sum(p, x.real);
        p->map_error += error;
    } else if (p->real == OPERATOR_PRODUCT) {
        add_to_product(p, x.real);
        p->map_error += x.real != 0 ? error / fabs(x.real) : 0;
    } else if (p->real == OPERATOR_OWN) {
        add_to_own(p, x);
        p->map_error = fmax(p->map_error, error);
    } else {
        p->value = operator_combine(p->dtype, &p->scan->op, p->op, p->value, x);
        p->map_error = fmax(p->map_error, error);
    }
    p->count++;
}

static void add_element(prefix *p, pattern_value x) {
    double error = 0;
    if (p->map != NULL) {
        const pattern_value from = x;
        x = pattern_apply(p->map, (const pattern_value[]){x, x});
        if (p->dtype < DTYPE_REALS && isfinite(x.real))
            error = 8 * p->map_operations * p->unit * fmax(1, fmax(fabs(x.real), fabs(from.real)));
    }
    add(p, operator_prepare(&p->scan->op, p->dtype, x), error);
}

static pattern_value value_of(const prefix *p) {
    if (p->real == OPERATOR_SUM)
        return (pattern_value){.real = p->special != 0 ? p->special : p->sum + p->rest};
    if (p->real == OPERATOR_PRODUCT)
        return (pattern_value){.real = (double)p->product};
    if (p->real == OPERATOR_OWN && p->count > 0)
        return operator_combine(p->dtype, &p->scan->op, p->op, p->value, p->block);
    return p->value;
}

static double bound_of(const prefix *p, double value) {
    if (p->real == OPERATOR_SUM)
        return 1.01 * p->depth * p->unit * p->magnitude + p->map_error + p->unit * fabs(value);
    if (p->real == OPERATOR_PRODUCT)
        return fabs(value) * (1.01 * ((double)p->count + p->depth) * p->unit + 2 * p->map_error);
    if (p->real == OPERATOR_OWN) /* if the operator does not magnify its operands */
        return 8 * p->op_operations * p->unit * p->magnitude *
                   (p->depth + BLOCK + (double)(p->count / BLOCK) + 2) +
               8 * p->map_error;
    return p->map_error;
}

static void begin(job *j, prefix *p, const subject *subject, const double *parameters,
                  double depth) {
    const scan *s = subject->model;
    *p = (prefix){.scan = s, .dtype = subject->dtype, .depth = depth, .product = 1};
    p->real = p->dtype < DTYPE_REALS ? s->op.id : WHOLE;
    p->unit = dtype_words[p->dtype].epsilon;
    p->op_operations = operator_operations(j, &s->pattern, &s->op);
    if (s->op.id == OPERATOR_OWN)
        p->op = pattern_machine_new(j, &s->pattern, SCAN_OP, parameters);
    if (s->mapped) {
        p->map = pattern_machine_new(j, &s->pattern, SCAN_MAP, parameters);
        p->map_operations = pattern_operations(j, &s->pattern, SCAN_MAP);
    }
    p->value = operator_identity(&s->op, p->dtype);
    if (!s->initial)
        return;
    pattern_machine *init = pattern_machine_new(j, &s->pattern, SCAN_INIT, parameters);
    const pattern_value operands[2] = {p->value, p->value};
    const pattern_value first = operator_prepare(&s->op, p->dtype, pattern_apply(init, operands));
    if (p->real == OPERATOR_OWN) { /* the value is no element of a block */
        p->value = first;
        p->magnitude = fabs(first.real);
    } else {
        add(p, first, 0);
    }
}

/* ---- the verdict --------------------------------------------------------------------------- */

/* Storing a result of a narrow type rounds once more, perhaps to an infinity. */
static void judge_stored(job *j, const prefix *p, dtype held, int64_t at, double got,
                         family_verdict *out) {
    const dtype_word *w = &dtype_words[held];
    const double wanted = value_of(p).real, bound = bound_of(p, wanted);
    const double stored = bound + fmax(w->epsilon * (fabs(wanted) + bound), w->smallest / 2);
    const bool beyond = fabs(wanted) + stored > w->largest;
    verdict_real(j, out, "output", at, held, got, wanted, stored,
                 p->undecidable || (beyond && isinf(got) && (got > 0) == (wanted > 0)));
}

static void judge_one(job *j, const prefix *p, int64_t at, pattern_value got, family_verdict *out) {
    const pattern_value wanted = value_of(p);
    const dtype held = pattern_storage(&p->scan->pattern);
    if (dtype_is_narrow(held)) {
        judge_stored(j, p, held, at, got.real, out);
        return;
    }
    if (p->dtype >= DTYPE_REALS)
        verdict_whole(j, out, "output", at, p->dtype, got, wanted);
    else
        verdict_real(j, out, "output", at, p->dtype, got.real, wanted.real,
                     bound_of(p, wanted.real), p->undecidable);
}

void scan_judge(job *j, const subject *subject, const program *program, const family_call *before,
                const family_call *after, family_verdict *out) {
    const scan *s = subject->model;
    const int64_t count = before->sizes[0];
    const dtype held = pattern_storage(&s->pattern);
    prefix p;
    *out = (family_verdict){0};
    begin(j, &p, subject, before->parameters, scan_depth(program, count));
    for (int64_t i = 0; i < count; i++) {
        const pattern_value x = pattern_get(held, before->arrays[SCAN_INPUT], i);
        const pattern_value got = pattern_get(held, after->arrays[SCAN_OUTPUT], i);
        if (!s->exclusive)
            add_element(&p, x);
        judge_one(j, &p, i, got, out);
        if (s->exclusive)
            add_element(&p, x);
    }
    out->greatest_error /= out->largest > 0 ? out->largest : 1;
    pattern_judge(j, p.op, &out->unjudged);
    pattern_judge(j, p.map, &out->unjudged);
}
