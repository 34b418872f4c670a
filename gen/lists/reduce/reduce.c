/* Programs of reductions. Takes: a reduction and a schedule. Makes: arrays, launches, temporary
   memory and the source. */
#include "gen/lists/reduce/reduce.h"

/* "argmin", "sum", "own". */
static const char *name_of(const reduce *r) {
    if (r->places)
        return r->op.id == OPERATOR_MIN ? "argmin" : "argmax";
    return operator_name(&r->op);
}

/* ---- the program --------------------------------------------------------------------------- */

reduce_arrays reduce_arrays_of(const reduce *r) {
    reduce_arrays a = {.second = -1, .offsets = -1, .index = -1};
    int count = 0;
    a.input = count++;
    if (r->inputs == 2)
        a.second = count++;
    if (r->segmented)
        a.offsets = count++;
    a.result = count++;
    if (r->places)
        a.index = count++;
    a.count = count;
    return a;
}

static void add_arrays(program *p, const reduce *r, dtype type) {
    const reduce_arrays at = reduce_arrays_of(r);
    const program_extent results = r->segmented ? extent_of(REDUCE_SEGMENTS, 0) : extent_of(-1, 1);
    pattern_size(p, "count", at.input, 0);
    const dtype held = pattern_storage(&r->pattern);
    pattern_array(p, "input", held, extent_of(REDUCE_COUNT, 0));
    if (r->inputs == 2)
        pattern_array(p, "second", held, extent_of(REDUCE_COUNT, 0));
    if (r->segmented) {
        pattern_size(p, "segments", at.offsets, 0);
        pattern_array(p, "offsets", DTYPE_INT64, extent_of(REDUCE_SEGMENTS, 1));
    }
    pattern_array(p, "result", type, results)->written = true;
    if (r->places)
        pattern_array(p, "index", DTYPE_INT64, results)->written = true;
    p->lists.points = extent_of(REDUCE_COUNT, 0);
}

static void add_one_pass(job *j, program *p, const reduce *r, const reduce_plan *plan) {
    const program_extent items = extent_of(r->segmented ? REDUCE_SEGMENTS : REDUCE_COUNT, 0);
    const int tile = plan->threads * plan->share;
    program_launch *l =
        pattern_launch(j, p, "reduce", items, r->segmented ? 1 : tile, plan->threads, true);
    l->lists.blocks[0].least = !r->segmented;
    l->lists.blocks[0].most = plan->blocks;
    l->lists.blocks[0].alone = plan->alone;
    l->lists.blocks[0].cluster = plan->cluster;
    l->shared_bytes = plan->shared_bytes;
    l->early = program_may_begin_early(p->target);
    if (r->segmented)
        return;
    /* each 8 bytes of an item take 16, a marked word of templates/arch/marked_words.cuh */
    const int64_t words = plan->item_bytes > 8 ? 2 : 1;
    pattern_temporary(p,
                      (program_temporary){"partials", items, 1, 0, 16 * words * plan->blocks, -1});
    p->lists.tagged = true;
}

/* An empty input has a block too, which gives the identity. */
static void add_textbook(job *j, program *p, const reduce_plan *plan) {
    const program_extent items = extent_of(REDUCE_COUNT, 0);
    const int tile = plan->threads * plan->items;
    const int64_t row = plan->pitch * (int64_t)plan->item_bytes;
    program_launch *tiles = pattern_launch(j, p, "tiles", items, tile, plan->threads, true);
    tiles->lists.blocks[0].least = true;
    tiles->shared_bytes = plan->shared_bytes;
    pattern_launch(j, p, "partials", extent_of(-1, 1), 1, plan->threads, true)->shared_bytes =
        (size_t)plan->threads / 32 * plan->item_bytes;
    pattern_temporary(p, (program_temporary){"partials", items, tile, row, row, -1});
}

/* A thread a block. Segments need no second launch. */
static void add_runs(job *j, program *p, const reduce *r, const reduce_plan *plan) {
    if (r->segmented) {
        pattern_launch(j, p, "segments", extent_of(REDUCE_SEGMENTS, 0), 1, 1, false)
            ->lists.blocks[0]
            .most = plan->blocks;
        return;
    }
    const program_extent items = extent_of(REDUCE_COUNT, 0);
    const int64_t item = (int64_t)plan->item_bytes;
    pattern_launch(j, p, "runs", items, plan->run, 1, false)->lists.blocks[0].least = true;
    pattern_launch(j, p, "partials", extent_of(-1, 1), 1, 1, false);
    pattern_temporary(p, (program_temporary){"partials", items, plan->run, item, item, -1});
}

/* ---- the source ---------------------------------------------------------------------------- */

static const char *template_of(const reduce *r, const reduce_plan *plan) {
    static const char *const templates[REDUCE_ALGORITHMS] = {
        [REDUCE_ONE_PASS] = "reduce/one_pass.cu",   [REDUCE_INTERLEAVED] = "reduce/interleaved.cu",
        [REDUCE_COALESCED] = "reduce/coalesced.cu", [REDUCE_SHARED] = "reduce/shared.cu",
        [REDUCE_COARSENED] = "reduce/coarsened.cu", [REDUCE_RUNS] = "reduce/runs.cu",
    };
    if (r->segmented)
        return plan->schedule.algorithm == REDUCE_RUNS ? "reduce/segment_runs.cu"
                                                       : "reduce/segments.cu";
    return templates[plan->schedule.algorithm];
}

static const char *write_code(job *j, const reduce *r, dtype type) {
    text t = text_new(j);
    operator_write(&t, &r->pattern, type, &r->op, r->places ? "identity" : "none");
    if (r->mapped)
        pattern_write_function(&t, &r->pattern, REDUCE_MAP, "Real", "map");
    const char *second = r->inputs == 2 ? "y" : "x";
    const char *made = r->mapped ? job_print(j, "map(arguments, x, %s)", second) : "x";
    text_printf(&t,
                "__device__ __forceinline__ Real element([[maybe_unused]] const Arguments "
                "&arguments, Real x%s) {\n    return %s;\n}\n",
                r->inputs == 2 ? ", [[maybe_unused]] Real y" : "",
                operator_prepared(j, &r->op, made));
    return t.data;
}

void reduce_print(const subject *s, model_detail detail, text *t) {
    const reduce *r = s->model;
    const dtype type = s->dtype;
    text_printf(t, "%s of %s%s%s\n", name_of(r), r->inputs == 2 ? "two lists of " : "",
                dtype_words[pattern_storage(&r->pattern)].name,
                r->segmented ? ", by segments" : "");
    if (r->op.id == OPERATOR_OWN) {
        text_add(t, "identity = ");
        operator_write_value(t, type, r->op.identity);
        text_add(t, r->op.own_commutes ? ", commutative\n" : "\n");
    }
    model_print_functions(r->pattern.functions, detail, t);
}

/* How templates/arch/warps.cuh joins the items of all lanes by one instruction; 0: it cannot. */
static int lanes_of(const reduce *r, dtype type) {
    static const int ways[OPERATOR_COUNT] = {
        [OPERATOR_SUM] = 1, [OPERATOR_MIN] = 2, [OPERATOR_MAX] = 3,
        [OPERATOR_AND] = 4, [OPERATOR_OR] = 5,  [OPERATOR_XOR] = 6,
    };
    const bool word = type >= DTYPE_REALS && dtype_words[type].bytes == 4;
    return word && !r->places && r->op.id != OPERATOR_OWN ? ways[r->op.id] : 0;
}

/* Whether the list that is planned for is taken at once: a round of the threads of all blocks. */
static bool is_at_once(const reduce *r, const reduce_plan *plan, int64_t count) {
    const int64_t round = (int64_t)plan->blocks * plan->threads * plan->items;
    return operator_commutes(&r->op) && round < (int64_t)1 << 30 && count <= round;
}

/* Whether so many blocks work on it that all threads of the last one wait, for at most one block's
   result each. */
static bool waits_each_alone(const reduce *r, const reduce_plan *plan, int64_t count) {
    const int64_t of_a_warp = 32 * 4;
    const int64_t wanted = count / ((int64_t)plan->threads * (plan->share > 0 ? plan->share : 1));
    const int64_t blocks = wanted < plan->blocks ? wanted : plan->blocks;
    return plan->cluster <= 1 && !r->places && blocks - 1 > of_a_warp &&
           plan->blocks - 1 <= plan->threads;
}

static const char *reason_of(job *j, const reduce *r, const reduce_plan *plan) {
    const bool runs = plan->schedule.algorithm == REDUCE_RUNS;
    if (plan->asked || (runs && plan->gpu->processor == NULL)) /* by run=N, on a GPU */
        return "it is asked for";
    if (runs)
        return job_print(j, "%s: a core joins elements in vectors, and reads each once",
                         gpu_processor_words(j, plan->gpu));
    return r->segmented ? "segments are reduced by one-pass and runs alone"
                        : "one-pass reads every element once, in packs of 16 bytes, in one launch";
}

static family_build *write(job *j, const subject *subject, const family_request *request,
                           const reduce_plan *plan, program *p) {
    const reduce *r = subject->model;
    const int64_t count = request->size[0];
    const pattern_constant constants[] = {
        {"threads", plan->threads},
        {"items", plan->items},
        {"inputs", r->inputs},
        {"places", r->places},
        {"least", r->op.id == OPERATOR_MIN}, /* of places: argmin */
        {"ordered", !operator_commutes(&r->op)},
        {"pitch", plan->pitch},
        {"shared_bytes", (int64_t)plan->shared_bytes},
        {"block_mean", 8 * (int64_t)plan->threads}, /* from this mean length on a block a segment */
        {"lanes", lanes_of(r, subject->dtype)},
        {"blocks", plan->blocks},
        {"share", plan->share},
        {"resident", plan->resident},
        {"at_once", is_at_once(r, plan, count)},
        {"each_alone", waits_each_alone(r, plan, count)},
        {"run", plan->run}, /* of runs alone */
    };
    pattern_source source = {
        .program = p,
        .schedule = &plan->schedule,
        .template_file = template_of(r, plan),
        .work = job_print(j, "at least %d bytes of device memory an element",
                          r->inputs * (int)dtype_words[pattern_storage(&r->pattern)].bytes),
        .constants = constants,
        .constant_count = sizeof constants / sizeof constants[0] - (plan->run == 0),
        .code = request->untold ? NULL : write_code(j, r, subject->dtype),
        .facts.shape = job_print(j, "%s%s", name_of(r), r->segmented ? " by segments" : ""),
        .facts.reason = reason_of(j, r, plan),
        .facts.textbook_operations =
            operator_operations(j, &r->pattern, &r->op) +
            (r->mapped ? pattern_operations(j, &r->pattern, REDUCE_MAP) : 0),
    };
    return pattern_build(j, subject, request, &source);
}

family_build *reduce_build(job *j, const subject *subject, const family_request *request) {
    const reduce *r = subject->model;
    const reduce_plan plan = reduce_fit(j, subject, request);
    program *p = pattern_program(j, &r->pattern, PROGRAM_REDUCE, request->gpu);
    add_arrays(p, r, subject->dtype);
    if (plan.schedule.algorithm == REDUCE_ONE_PASS)
        add_one_pass(j, p, r, &plan);
    else if (plan.schedule.algorithm == REDUCE_RUNS)
        add_runs(j, p, r, &plan);
    else
        add_textbook(j, p, &plan);
    return write(j, subject, request, &plan, p);
}
