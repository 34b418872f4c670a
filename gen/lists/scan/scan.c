/* Programs of scans. Takes: a scan and a schedule. Makes: arrays, launches, temporary memory and
   the source; what `explain` says. */
#include "gen/lists/scan/scan.h"

#include <string.h>

/* ---- the program --------------------------------------------------------------------------- */

static void add_arrays(job *j, program *p, dtype type) {
    p->lists.size_count = 1;
    p->lists.sizes = job_array(j, 1, sizeof *p->lists.sizes);
    p->lists.sizes[0] = (program_size){"count", SCAN_INPUT, 0};
    p->array_count = 2;
    p->arrays = job_array(j, 2, sizeof *p->arrays);
    p->arrays[SCAN_INPUT] = pattern_array("input", dtype_words[type].name, extent_of(0, 0));
    p->arrays[SCAN_OUTPUT] = pattern_array("output", dtype_words[type].name, extent_of(0, 0));
    p->arrays[SCAN_OUTPUT].written = true;
    p->arrays[SCAN_OUTPUT].lists.same_as = SCAN_INPUT;
    p->lists.points = extent_of(0, 0);
}

/* One pass: a word for each tile, after one for the counter that tiles are drawn from; values of 8
   bytes also have two places a tile. */
static void add_look_back(job *j, program *p, const scan_plan *plan, size_t element) {
    const int tile = plan->threads * plan->items;
    p->lists.temporary_count = element == 4 ? 1 : 2;
    p->lists.temporaries = job_array(j, 2, sizeof *p->lists.temporaries);
    p->lists.temporaries[0] = (program_temporary){"published", extent_of(0, 0), tile, 8, 8, 0};
    p->lists.temporaries[1] = (program_temporary){"values", extent_of(0, 0), tile, 16, 0, -1};
    p->launch_count = 1;
    p->launches = job_array(j, 1, sizeof *p->launches);
    p->launches[0] = pattern_launch(j, p, "scan", extent_of(0, 0), tile, plan->threads, true);
    p->launches[0].shared_bytes = plan->shared_bytes;
}

/* Groups of 32 tiles, as the template has them, in words of 16 bytes. `published`: a counter, one
   word for each two tiles of the first group, one for each block, one for each tile. `groups`: two
   words for each group. */
static void add_persistent(job *j, program *p, const scan_plan *plan, const gpu *t) {
    const int tile = plan->threads * plan->items;
    const int64_t most = (int64_t)plan->blocks * t->multiprocessors;
    p->lists.temporary_count = 2;
    p->lists.temporaries = job_array(j, 2, sizeof *p->lists.temporaries);
    p->lists.temporaries[0] =
        (program_temporary){"published", extent_of(0, 0), tile, 16, 16 * (1 + 32 * 32 + most), -1};
    p->lists.temporaries[1] = (program_temporary){"groups", extent_of(0, 0), 32 * tile, 32, 0, -1};
    p->lists.tagged = true;
    p->launch_count = 1;
    p->launches = job_array(j, 1, sizeof *p->launches);
    p->launches[0] = pattern_launch(j, p, "scan", extent_of(0, 0), tile, plan->threads, true);
    p->launches[0].shared_bytes = plan->shared_bytes;
    p->launches[0].lists.blocks[0].most = most;
    p->launches[0].lists.resident = true;
    p->launches[0].lists.early = pattern_may_begin_early(p);
}

/* Three phases: templates/scan/phases.cuh. */
static void add_phases(job *j, program *p, const scan_plan *plan, size_t element) {
    const int tile = plan->threads * plan->items;
    p->lists.temporary_count = 1;
    p->lists.temporaries = job_array(j, 1, sizeof *p->lists.temporaries);
    p->lists.temporaries[0] =
        (program_temporary){"sums", extent_of(0, 0), tile, (int64_t)element, 0, -1};
    p->launch_count = 3;
    p->launches = job_array(j, 3, sizeof *p->launches);
    p->launches[0] = pattern_launch(j, p, "tiles", extent_of(0, 0), tile, plan->threads, true);
    p->launches[1] = pattern_launch(j, p, "sums", extent_of(-1, 1), 1, plan->threads, true);
    p->launches[2] = pattern_launch(j, p, "add", extent_of(0, 0), tile, plan->threads, false);
    p->launches[0].shared_bytes = p->launches[1].shared_bytes = plan->shared_bytes;
}

/* ---- the source ---------------------------------------------------------------------------- */

static const char *const templates[SCAN_ALGORITHMS] = {
    [SCAN_LOOK_BACK] = "scan/look_back.cu",     [SCAN_PERSISTENT] = "scan/persistent.cu",
    [SCAN_KOGGE_STONE] = "scan/kogge_stone.cu", [SCAN_DOUBLE_BUFFER] = "scan/double_buffer.cu",
    [SCAN_BRENT_KUNG] = "scan/brent_kung.cu",
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
                "__device__ __forceinline__ Real element([[maybe_unused]] const Arguments "
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
                dtype_words[type].name, operator_name(&s->op));
    if (s->deterministic)
        text_add(t, "the same bits on every run\n");
    if (s->op.id == OPERATOR_OWN) {
        text_add(t, "identity = ");
        operator_write_value(t, type, s->op.identity);
        text_add(t, "\n");
    }
    model_print_functions(s->pattern.functions, detail, t);
}

static family_build *write(job *j, const subject *subject, const family_request *r,
                           const scan_plan *plan, program *p) {
    const scan *s = subject->model;
    const dtype type = subject->dtype;
    const bool persistent = plan->schedule.algorithm == SCAN_PERSISTENT;
    const bool one_pass = persistent || plan->schedule.algorithm == SCAN_LOOK_BACK;
    const pattern_constant constants[] = {
        {"threads", plan->threads},
        {"items", plan->items},
        {"runs", plan->runs},
        {"exclusive", s->exclusive},
        {"in_order", s->deterministic && !operator_is_exact(&s->op, type)},
        {"shared_bytes", (int64_t)plan->shared_bytes},
        {"stages", plan->stages}, /* of persistent alone */
        {"blocks", plan->blocks},
        {"ahead", plan->ahead},
        {"draw", plan->draw},
    };
    pattern_source source = {
        .pattern = &s->pattern,
        .program = p,
        .schedule = &plan->schedule,
        .template_file = templates[plan->schedule.algorithm],
        .work = job_print(j, "%d bytes of device memory an element; at least %d",
                          (one_pass ? 2 : 4) * (int)p->element_bytes, 2 * (int)p->element_bytes),
        .constants = constants,
        .constant_count = persistent ? 10 : 6,
        .code = r->untold ? NULL : write_code(j, s, type),
    };
    const double map = s->mapped ? pattern_operations(j, &s->pattern, SCAN_MAP) : 0;
    const double op = operator_operations(j, &s->pattern, &s->op);
    const family_build facts = {
        .shape = job_print(j, "%s scan by %s", s->exclusive ? "exclusive" : "inclusive",
                           operator_name(&s->op)),
        .reason = plan->asked ? "it is asked for" : "it reads and writes every element once",
        .board = plan->board,
        .textbook_operations = op + map,
        .emitted_operations = map + op * (one_pass ? 2 : 3),
    };
    return pattern_build(j, subject, r, &source, &facts);
}

family_build *scan_build(job *j, const subject *subject, const family_request *r) {
    const scan *s = subject->model;
    const scan_plan plan = scan_fit(j, subject, r);
    const size_t element = dtype_words[subject->dtype].bytes;
    program *p = pattern_program(j, &s->pattern, PROGRAM_SCAN, r->gpu);
    add_arrays(j, p, subject->dtype);
    if (plan.schedule.algorithm == SCAN_PERSISTENT)
        add_persistent(j, p, &plan, r->gpu);
    else if (plan.schedule.algorithm == SCAN_LOOK_BACK)
        add_look_back(j, p, &plan, element);
    else
        add_phases(j, p, &plan, element);
    return write(j, subject, r, &plan, p);
}

/* ---- explain ------------------------------------------------------------------------------- */

void scan_explain(job *j, const subject *s, const family_request *r, family_explanation *out) {
    static const char *const notes[SCAN_ALGORITHMS] = {
        [SCAN_LOOK_BACK] = "about 2 N operations for a tile of N; every element crosses memory "
                           "twice: once read, once written",
        [SCAN_PERSISTENT] = "about 2 N operations for a tile of N; every element crosses memory "
                            "twice; no memory is set before the launch",
        [SCAN_KOGGE_STONE] = "N log2 N - (N - 1) operations in log2 N steps of two barriers for a "
                             "section of N; every element crosses memory four times",
        [SCAN_DOUBLE_BUFFER] = "N log2 N - (N - 1) operations in log2 N steps of one barrier for "
                               "a section of N; every element crosses memory four times",
        [SCAN_BRENT_KUNG] = "2 N - 2 - log2 N operations in 2 log2 N - 1 steps for a section of "
                            "N; every element crosses memory four times",
    };
    pattern_explain(j, s, r, notes, out);
}
