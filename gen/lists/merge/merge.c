/* Programs of merges. Takes: a merge and a schedule. Makes: arrays, launches, temporary memory and
   the source; what `explain` says. */
#include "gen/lists/merge/merge.h"

/* ---- the program --------------------------------------------------------------------------- */

merge_arrays merge_places(const merge *g) {
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
    l->lists.early = plan->early > 0;
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
        .pattern = &g->pattern,
        .program = p,
        .schedule = &plan->schedule,
        .template_file = templates[plan->schedule.algorithm],
        .work = job_print(j, "at least %zu bytes of device memory an output", 2 * bytes),
        .constants = constants,
        .constant_count = sizeof constants / sizeof constants[0],
        .code = r->untold ? NULL : write_code(j, g),
    };
    const family_build facts = {
        .shape = describe(j, g),
        .reason = reason_of(plan),
        .textbook_operations =
            g->order == MERGE_OWN ? pattern_operations(j, &g->pattern, MERGE_ORDER) : 1,
    };
    return pattern_build(j, subject, r, &source, &facts);
}

family_build *merge_build(job *j, const subject *subject, const family_request *r) {
    const merge *g = subject->model;
    const merge_plan plan = merge_fit(j, subject, r);
    program *p = pattern_program(j, &g->pattern, PROGRAM_MERGE, r->gpu);
    add_arrays(p, g);
    add_launches(j, p, &plan);
    return write(j, subject, r, &plan, p);
}

/* ---- explain ------------------------------------------------------------------------------- */

void merge_explain(job *j, const subject *s, const family_request *r, family_explanation *out) {
    static const char *const notes[MERGE_ALGORITHMS] = {
        [MERGE_PATH] = "a search of log33 min(m, n) rounds every 32 tiles and a few steps from "
                       "there a tile, beside which the first tiles are merged, one of log2 T a "
                       "thread; every key loaded once and stored "
                       "once, by consecutive threads",
        [MERGE_ONE_LAUNCH] = "a search of log33 min(m, n) rounds a block and one of log33 wT for w "
                             "tiles, one of log2 T steps a thread; every key loaded once and "
                             "stored once, in one launch",
        [MERGE_CO_RANK] = "a search of log2 min(m, n) steps a thread in global memory, then a "
                          "comparison an output; neighbouring threads load and store apart",
        [MERGE_TILED] = "2 T keys loaded for every T outputs: half of what is loaded is used, the "
                        "rest is loaded again",
        [MERGE_CIRCULAR] = "T keys loaded for every T outputs: nothing is loaded twice",
    };
    pattern_explain(j, s, r, notes, out);
}
