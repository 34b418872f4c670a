/* Programs of merges, and their checks. Takes: a merge and a schedule; a call, and what a kernel
   made of it. Makes: arrays, launches, temporary memory and the source; random calls, and a
   verdict: keys and values must be those of a sequential stable merge, bit by bit. */
#include <math.h>
#include <string.h>

#include "gen/lists/draw.h"
#include "gen/lists/merge/merge.h"

/* ---- the program --------------------------------------------------------------------------- */

/* The indices of the program's arrays; −1 where it has no values. */
typedef struct merge_arrays {
    int a, b, a_values, b_values, output, output_values, count;
} merge_arrays;

static merge_arrays merge_places(const merge *g) {
    if (g->has_values)
        return (merge_arrays){0, 1, 2, 3, 4, 5, 6};
    return (merge_arrays){0, 1, -1, -1, 2, -1, 3};
}

static void add_arrays(program *p, const merge *g) {
    const dtype keys = g->pattern.functions->dtype;
    pattern_size(p, "a_count", 0, 0);
    pattern_size(p, "b_count", 1, 0);
    pattern_array(p, "a", keys, extent_of(0, 0));
    pattern_array(p, "b", keys, extent_of(1, 0));
    if (g->has_values) {
        pattern_array(p, "a_values", g->values, extent_of(0, 0));
        pattern_array(p, "b_values", g->values, extent_of(1, 0));
    }
    pattern_array(p, "output", keys, extent_sum(0, 1))->written = true;
    if (g->has_values)
        pattern_array(p, "output_values", g->values, extent_sum(0, 1))->written = true;
    p->lists.points = extent_sum(0, 1);
}

static void add_launches(job *j, program *p, const merge_plan *plan) {
    const merge_algorithm algorithm = (merge_algorithm)plan->schedule.algorithm;
    const int tile = plan->threads * plan->items;
    if (algorithm == MERGE_PATH) { /* one more diagonal than there are tiles */
        const program_extent diagonals = {{0, 1}, tile};
        pattern_temporary(p, (program_temporary){"splits", extent_sum(0, 1), tile, 8, 8, -1});
        pattern_launch(j, p, "split", diagonals, tile * plan->split / plan->lanes, plan->split,
                       true)
            ->shared_bytes = 2 * sizeof(int64_t); /* the ends' co-ranks */
    }
    program_launch *l = pattern_launch(j, p, "merge", extent_sum(0, 1), tile * plan->rounds,
                                       plan->threads, algorithm != MERGE_CO_RANK);
    l->shared_bytes = plan->shared_bytes;
    l->lists.resident = plan->resident;
    l->early = plan->early > 0;
    l->lists.blocks[0].most = plan->most_blocks;
}

/* ---- the source ---------------------------------------------------------------------------- */

static const char *const templates[MERGE_ALGORITHMS] = {
    [MERGE_PATH] = "merge/merge_path.cu",   [MERGE_ONE_LAUNCH] = "merge/one_launch.cu",
    [MERGE_CO_RANK] = "merge/co_rank.cu",   [MERGE_TILED] = "merge/tiled.cu",
    [MERGE_CIRCULAR] = "merge/circular.cu",
};
static const char *const order_words[] = {"ascending", "descending", "the spec's own"};

/* NaN is greater than every number and equal to itself, so that this is a strict weak order. */
static void write_order(text *t, const merge *g) {
    const bool real = g->pattern.functions->dtype < DTYPE_REALS;
    if (g->order == MERGE_OWN) {
        pattern_write_function(t, &g->pattern, MERGE_ORDER, "bool", "before");
        return;
    }
    const char *low = g->order == MERGE_ASCENDING ? "a" : "b";
    const char *high = g->order == MERGE_ASCENDING ? "b" : "a";
    text_add(t, "__device__ __forceinline__ bool before(const Arguments &, Real a, Real b) {\n");
    if (real) /* two comparisons: less or unordered, except for a NaN that comes first */
        text_printf(t, "    return !(%s <= %s) && %s == %s; // NaN is the greatest\n}\n", high, low,
                    low, low);
    else
        text_printf(t, "    return %s < %s;\n}\n", low, high);
}

static const char *write_code(job *j, const merge *g) {
    static const char *const arrays[][2] = {
        {"const Value", "a"}, {"const Value", "b"}, {"Value", "output"}};
    text t = text_new(j);
    write_order(&t, g);
    text_printf(&t, "using Value = %s;\n",
                g->has_values ? dtype_words[g->values].c_name : "unsigned");
    for (int i = 0; i < 3; i++) {
        text_printf(&t,
                    "__device__ __forceinline__ %s *values_of_%s([[maybe_unused]] const Arguments "
                    "&arguments) {\n    return ",
                    arrays[i][0], arrays[i][1]);
        if (g->has_values)
            text_printf(&t, "arguments.%s_values;\n}\n", arrays[i][1]);
        else
            text_add(&t, "nullptr;\n}\n");
    }
    return t.data;
}

static const char *describe(job *j, const merge *g) {
    return job_print(j, "merge of %s%s%s, %s", dtype_words[g->pattern.functions->dtype].name,
                     g->has_values ? " with values of " : "",
                     g->has_values ? dtype_words[g->values].name : "", order_words[g->order]);
}

static const char *reason_of(const merge_plan *p) {
    if (p->asked)
        return "it is asked for";
    if (p->schedule.algorithm == MERGE_ONE_LAUNCH)
        return "for so few outputs launches and searches count, and one-launch has the fewest";
    return "merge-path loads every key once, and consecutive threads store consecutive outputs";
}

void merge_print(const subject *s, model_detail detail, text *out) {
    const merge *g = s->model;
    text_printf(out, "%s\n", describe(out->job, g));
    model_print_functions(g->pattern.functions, detail, out);
}

static family_build *write(job *j, const subject *subject, const family_request *r,
                           const merge_plan *plan, program *p) {
    const merge *g = subject->model;
    const pattern_constant constants[] = {
        {"threads", plan->threads}, {"items", plan->items},
        {"rounds", plan->rounds},   {"lanes", plan->lanes},
        {"stages", plan->stages},   {"blocks", plan->blocks},
        {"split", plan->split},     {"early", plan->early},
        {"values", g->has_values},  {"shared_bytes", (int64_t)plan->shared_bytes},
    };
    const size_t bytes = p->element_bytes + (g->has_values ? dtype_words[g->values].bytes : 0);
    pattern_source source = {
        .program = p,
        .schedule = &plan->schedule,
        .template_file = templates[plan->schedule.algorithm],
        .work = job_print(j, "at least %zu bytes of device memory an output", 2 * bytes),
        .constants = constants,
        .constant_count = sizeof constants / sizeof constants[0],
        .narrow = g->values,
        .code = r->untold ? NULL : write_code(j, g),
        .facts.shape = describe(j, g),
        .facts.reason = reason_of(plan),
        .facts.textbook_operations =
            g->order == MERGE_OWN ? pattern_operations(j, &g->pattern, MERGE_ORDER) : 1,
    };
    return pattern_build(j, subject, r, &source);
}

family_build *merge_build(job *j, const subject *subject, const family_request *r) {
    const merge *g = subject->model;
    const merge_plan plan = merge_fit(j, subject, r);
    program *p = pattern_program(j, &g->pattern, PROGRAM_MERGE, r->gpu);
    add_arrays(p, g);
    add_launches(j, p, &plan);
    return write(j, subject, r, &plan, p);
}

/* ---- the order ----------------------------------------------------------------------------- */

typedef struct ordering {
    const merge *merge;
    dtype dtype;
    pattern_machine *own;
} ordering;

static ordering ordering_new(job *j, const subject *s, const double *parameters) {
    const merge *g = s->model;
    ordering o = {.merge = g, .dtype = s->dtype};
    if (g->order == MERGE_OWN)
        o.own = pattern_machine_new(j, &g->pattern, MERGE_ORDER, parameters);
    return o;
}

/* NaN is the greatest, as in the kernel. */
static bool less(dtype type, pattern_value a, pattern_value b) {
    if (type >= DTYPE_REALS)
        return a.whole < b.whole;
    return a.real < b.real || (isnan(b.real) && !isnan(a.real));
}

static bool comes_before(const ordering *o, pattern_value a, pattern_value b) {
    switch (o->merge->order) {
    case MERGE_ASCENDING:
        return less(o->dtype, a, b);
    case MERGE_DESCENDING:
        return less(o->dtype, b, a);
    default: {
        const pattern_value truth = pattern_apply(o->own, (const pattern_value[]){a, b});
        return o->dtype < DTYPE_REALS ? truth.real != 0 : truth.whole != 0;
    }
    }
}

/* ---- data ---------------------------------------------------------------------------------- */

/* From sorted runs of `width` to runs of twice that. It ends whatever the order is. */
static void merge_runs(const ordering *o, const void *from, void *to, int64_t count,
                       int64_t width) {
    for (int64_t begin = 0; begin < count; begin += 2 * width) {
        const int64_t middle = begin + width < count ? begin + width : count;
        const int64_t end = middle + width < count ? middle + width : count;
        int64_t a = begin, b = middle;
        for (int64_t k = begin; k < end; k++) {
            const bool second =
                a >= middle || (b < end && comes_before(o, pattern_get(o->dtype, from, b),
                                                        pattern_get(o->dtype, from, a)));
            pattern_set(o->dtype, to, k, pattern_get(o->dtype, from, second ? b++ : a++));
        }
    }
}

static void sort(job *j, const ordering *o, void *list, int64_t count) {
    const size_t bytes = dtype_words[o->dtype].bytes;
    void *from = list, *to = job_array(j, (size_t)count + 1, bytes);
    for (int64_t width = 1; width < count; width *= 2) {
        merge_runs(o, from, to, count, width);
        void *const made = to;
        to = from;
        from = made;
    }
    if (from != list)
        memcpy(list, from, (size_t)count * bytes);
}

/* Values say where they come from; those of 16 bits by their bits, NaN among them. */
static void number(dtype type, void *values, int64_t first, int64_t count) {
    for (int64_t i = 0; i < count && dtype_is_narrow(type); i++)
        ((uint16_t *)values)[i] = (uint16_t)(first + i);
    if (dtype_is_narrow(type))
        return;
    for (int64_t i = 0; i < count; i++) {
        const int64_t n = (first + i) % (1 << 24); /* which a float holds */
        pattern_set(type, values, i,
                    type < DTYPE_REALS ? (pattern_value){.real = (double)n}
                                       : (pattern_value){.whole = n});
    }
}

/* Both lists are sorted by the order. In "sorted" all of a comes before b, in "reversed" after. */
void merge_draw(job *j, const subject *s, const program *p, const int64_t size[AXES], int kind,
                const double *given, uint64_t seed, family_call *out) {
    const merge *g = s->model;
    const merge_arrays at = merge_places(g);
    draw_call(j, p, given, &seed, out);
    sample keys[2];
    reach_operands(j, &g->pattern, g->order == MERGE_OWN ? MERGE_ORDER : -1, -1, out->parameters,
                   keys);
    const ordering o = ordering_new(j, s, out->parameters);
    const size_t bytes = dtype_words[s->dtype].bytes;
    const bool both_given = size[1] != 1;
    const int64_t a = both_given ? size[0] : size[0] / 4 + draw_below(&seed, size[0] / 2 + 1);
    const int64_t b = both_given ? size[1] : size[0] - a, count = a + b;
    out->sizes[0] = a;
    out->sizes[1] = b;
    draw_array(j, p, at.a, out);
    draw_array(j, p, at.b, out);
    char *both = job_array(j, (size_t)count + 1, bytes);
    const bool apart = kind == DRAW_SORTED || kind == DRAW_REVERSED;
    draw_list(j, s->dtype, apart ? DRAW_RANDOM : kind, &keys[0], &seed, both, count);
    if (apart)
        sort(j, &o, both, count);
    const bool b_first = kind == DRAW_REVERSED;
    memcpy(out->arrays[at.a], both + (b_first ? (size_t)b * bytes : 0), (size_t)a * bytes);
    memcpy(out->arrays[at.b], both + (b_first ? 0 : (size_t)a * bytes), (size_t)b * bytes);
    sort(j, &o, out->arrays[at.a], a);
    sort(j, &o, out->arrays[at.b], b);
    if (g->has_values) {
        draw_array(j, p, at.a_values, out);
        draw_array(j, p, at.b_values, out);
        number(g->values, out->arrays[at.a_values], 0, a);
        number(g->values, out->arrays[at.b_values], a, b);
    }
}

/* ---- the verdict --------------------------------------------------------------------------- */

static bool is_sorted(const ordering *o, const void *list, int64_t count) {
    for (int64_t i = 1; i < count; i++)
        if (comes_before(o, pattern_get(o->dtype, list, i), pattern_get(o->dtype, list, i - 1)))
            return false;
    return true;
}

/* Compares an element of an output with the element of an input that belongs there; true where they
   are the same bits. */
static bool judge_one(job *j, const char *name, dtype type, const void *got, int64_t at,
                      const void *list, int64_t from, family_verdict *out) {
    const size_t bytes = dtype_words[type].bytes;
    if (memcmp((const char *)got + (size_t)at * bytes, (const char *)list + (size_t)from * bytes,
               bytes) == 0)
        return true;
    verdict_wrong(j, out, name, at, type, pattern_get(type, got, at),
                  pattern_get(type, list, from));
    return false;
}

static bool has_nan(dtype type, const void *list, int64_t count) {
    for (int64_t i = 0; i < count && type < DTYPE_REALS; i++)
        if (isnan(pattern_get(type, list, i).real))
            return true;
    return false;
}

void merge_judge(job *j, const subject *s, const program *p, const family_call *before,
                 const family_call *after, family_verdict *out) {
    (void)p;
    const merge *g = s->model;
    const merge_arrays at = merge_places(g);
    const ordering o = ordering_new(j, s, before->parameters);
    const int64_t a_count = before->sizes[0], b_count = before->sizes[1];
    void *const *lists = before->arrays;
    *out = (family_verdict){.judged = a_count + b_count};
    if (!is_sorted(&o, lists[at.a], a_count) || !is_sorted(&o, lists[at.b], b_count)) {
        out->undecidable = out->judged; /* the kernel promises only to stay inside the lists */
        return;
    }
    int64_t a = 0, b = 0;
    for (int64_t k = 0; k < a_count + b_count; k++) {
        const bool from_b =
            a >= a_count || (b < b_count && comes_before(&o, pattern_get(s->dtype, lists[at.b], b),
                                                         pattern_get(s->dtype, lists[at.a], a)));
        const int64_t from = from_b ? b++ : a++;
        const bool right = judge_one(j, "output", s->dtype, after->arrays[at.output], k,
                                     lists[from_b ? at.b : at.a], from, out);
        if (right && g->has_values)
            judge_one(j, "output_values", g->values, after->arrays[at.output_values], k,
                      lists[from_b ? at.b_values : at.a_values], from, out);
    }
    /* With NaN the spec's own order need not be an order, and neighbours say nothing. */
    if (g->order == MERGE_OWN && out->wrong > 0 &&
        (has_nan(s->dtype, lists[at.a], a_count) || has_nan(s->dtype, lists[at.b], b_count)))
        *out = (family_verdict){.judged = out->judged, .undecidable = out->wrong};
    if (out->wrong > 0)
        out->greatest_error = out->of_bound = INFINITY;
    pattern_judge(j, o.own, &out->unjudged);
}
