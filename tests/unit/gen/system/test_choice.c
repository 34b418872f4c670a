/* What divisions and functions cost, and which stages of a system share a launch because of that.
 */
#include "tests/unit/gen/spec/load_spec.h"

#include <math.h>

#include "gen/stencil/method.h"
#include "gen/stencil/plan.h"
#include "gen/system/system.h"
#include "tests/unit/group.h"

/* ---- what operations cost -------------------------------------------------------------------- */

typedef struct counting {
    const model *model;
    const plan_facts *facts;
} counting;

static void count_body(job *j, void *argument) {
    counting *c = argument;
    c->facts = plan_facts_new(j, c->model);
}

static const plan_facts *facts_of(const char *dtype, const char *update, plan_facts *out) {
    char text[512];
    loaded l;
    job *j;
    snprintf(text, sizeof text,
             "return stencil { name = 's', dims = 2, dtype = '%s', boundary = 'zero',\n"
             "  fields = { u = 'inout', c = 'in' }, parameters = { k = 3 },\n"
             "  update = function(f, p, at) return %s end }",
             dtype, update);
    counting c = {.model = load_model(&l, text)};
    assert_int_equal(job_run(&allocator_libc, count_body, &c, &j), FAULT_NONE);
    *out = *c.facts;
    job_end(j);
    job_end(l.job);
    return out;
}

static expr_work work_of(const char *dtype, const char *update, int pack) {
    plan_facts facts;
    return facts_of(dtype, update, &facts)->calls[0][pack];
}

static void expect_work(const char *dtype, const char *update, int pack, double units,
                        double others) {
    const expr_work w = work_of(dtype, update, pack);
    if (fabs(w.units - units) > 1e-12 || fabs(w.others - others) > 1e-12)
        fail_msg("%s in packs of %d: %g and %g", update, 1 << pack, w.units, w.others);
}

static void divisions_cost_what_they_are_made_of(void **state) {
    (void)state;
    expect_work("float", "f.u(0, 0) + 2 * f.u(1, 0) * f.c(0, 0)", 0, 0, 0);
    expect_work("float", "f.u(0, 0) / f.c(0, 0)", 0, 6, 5);
    expect_work("double", "f.u(0, 0) / f.c(0, 0)", 0, 10, 13);
    expect_work("float", "f.u(0, 0) / 4", 0, 0, 0); /* a product */
    expect_work("float", "f.u(0, 0) / 3", 0, 6, 5);
    expect_work("float", "sqrt(f.u(0, 0))", 0, 5, 6);
    expect_work("float", "where(lt(f.u(0, 0), 1), f.u(0, 0), 2)", 0, 1, 1);
    assert_true(work_of("double", "sin(f.u(0, 0))", 0).units > 8);
}

/* What neighbours along x have in common is made once in a pack. */
static void packs_share_divisions(void **state) {
    (void)state;
    static const char twice[] = "f.u(0, 0) / f.c(0, 0) + f.u(1, 0) / f.c(1, 0)";
    expect_work("float", twice, 0, 2 * 6, 2 * 5);
    expect_work("float", twice, 2, 5 * 6 / 4.0, 5 * 5 / 4.0);
    static const char far[] = "f.u(0, 0) / f.c(0, 0) + f.u(6, 0) / f.c(6, 0)";
    expect_work("float", far, 2, 2 * 6, 2 * 5);
    static const char rows[] = "f.u(0, 0) / f.c(0, 0) + f.u(1, 1) / f.c(1, 1)";
    expect_work("float", rows, 2, 2 * 6, 2 * 5);
    static const char others[] = "f.u(0, 0) / f.c(0, 0) + f.u(1, 0) / f.c(2, 0)";
    expect_work("float", others, 2, 2 * 6, 2 * 5);
    static const char of_others[] = "sqrt(f.u(0, 0) / f.c(0, 0)) + sqrt(f.u(1, 0) / f.c(1, 0))";
    expect_work("float", of_others, 2, 5 * (6 + 5) / 4.0, 5 * (5 + 6) / 4.0);
    static const char here[] = "f.u(0, 0) / (at.x + 5) + f.u(1, 0) / (at.x + 5)";
    expect_work("float", here, 2, 2 * 6, 2 * 5);
    expect_work("float", "f.u(0, 0) * sqrt(p.k)", 2, 0, 0); /* once a thread */
    plan_facts facts;
    assert_true(facts_of("float", "f.u(0, 0) * sqrt(p.k)", &facts)->uniform.units == 5);
    assert_true(facts.uniform.others == 6);
}

/* What rows have in common is made once in steps that are made together. */
static void steps_share_divisions(void **state) {
    (void)state;
    plan_facts facts;
    facts_of("float", "f.u(0, 0) / f.c(0, 0) + f.u(0, 1) / f.c(0, 1)", &facts);
    assert_true(fabs(facts.calls[0][0].units - 2 * 6) < 1e-12);
    assert_true(fabs(facts.calls[1][0].units - 3 * 6 / 2.0) < 1e-12);
    assert_true(fabs(facts.calls[2][0].units - 5 * 6 / 4.0) < 1e-12);
    assert_true(fabs(facts.calls[2][2].units - 5 * 6 / 4.0) < 1e-12);
    facts_of("float", "f.u(0, 0) / f.c(0, 0) + f.u(1, 1) / f.c(1, 1)", &facts);
    assert_true(fabs(facts.calls[2][0].units - 2 * 6) < 1e-12);
    assert_true(fabs(facts.calls[2][2].units - (16 + 16 - 9) * 6 / 16.0) < 1e-12);
    facts_of("float", "f.u(0, 0) / (at.y + 5) + f.u(0, 1) / (at.y + 5)", &facts);
    assert_true(fabs(facts.calls[2][0].units - 2 * 6) < 1e-12);
}

/* ---- what is fused --------------------------------------------------------------------------- */

typedef struct arrangement_of {
    const loaded *loaded;
    const char *gpu, *schedule;
    int launches;
    double seconds;
    bool rest_sums; /* single steps next to launches of several are partial sums */
} arrangement_of;

static void arrange_body(job *j, void *argument) {
    arrangement_of *a = argument;
    const subject *s = a->loaded->spec->subjects[0];
    const family_request r = {
        .gpu = gpu_find(a->gpu), .size = {8192, 8192, 1}, .steps = 1, .schedule = a->schedule};
    const arrangement *made = system_arrange(j, s->family->grid.system(s), &r);
    a->launches = made->count;
    a->seconds = made->seconds;
    a->rest_sums = made->single != NULL && made->single->plans[0]->form->sums;
}

static arrangement_of arrange(const loaded *l, const char *gpu, const char *schedule) {
    arrangement_of a = {.loaded = l, .gpu = gpu, .schedule = schedule};
    job *j;
    if (job_run(&allocator_libc, arrange_body, &a, &j) != FAULT_NONE)
        fail_msg("%s", job_error(j));
    job_end(j);
    return a;
}

static char *text_of(const char *name) {
    const char *source = getenv("SOURCE"); /* set by CTest; else the working folder */
    static char text[8192];
    char path[4096];
    snprintf(path, sizeof path, "%s/specs/%s.lua", source != NULL ? source : ".", name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

/* Shallow water with other fluxes: fused, the second stage's four corners make them for nine cells,
   or for some more than four where rows share them. */
static arrangement_of arrange_fluxes(const char *gpu, const char *fluxes, const char *schedule) {
    char text[8192], rest[8192], *flux, *end;
    snprintf(text, sizeof text, "%s", text_of("shallow"));
    flux = strstr(text, "  local speed");
    assert_non_null(flux);
    end = strstr(flux, "end\n");
    snprintf(rest, sizeof rest, "%s", end);
    snprintf(flux, sizeof text - (size_t)(flux - text), "%s%s", fluxes, rest);
    loaded l = load(text);
    assert_int_equal(l.fault, FAULT_NONE);
    const arrangement_of made = arrange(&l, gpu, schedule);
    job_end(l.job);
    return made;
}

/* Rows and packs share the functions of a stage that is put into the next, and strips make each
   once, so one launch is faster than two. Quotients by one number are products. */
static void functions_are_shared(void **state) {
    (void)state;
    static const char *const gpus[] = {"H200", "H100"};
    static const char *const others[] = {"1-2: streamed", "1-2: naive", "1-2: chained vec=1 lane=2",
                                         "1: streamed | 2: streamed"};
    static const char quotients[] =
        "  return along, along * along / h + g / 2 * h * h, along * across / h\n";
    static const char functions[] = "  return along / sqrt(h), along * along / h + g / 2 * h * h, "
                                    "exp(along) * tanh(across / (h + 2))\n";
    for (int i = 0; i < 2; i++) {
        const arrangement_of best = arrange_fluxes(gpus[i], functions, NULL);
        assert_int_equal(arrange_fluxes(gpus[i], quotients, NULL).launches, 1);
        assert_int_equal(best.launches, 1);
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            assert_true(best.seconds <
                        1.0001 * arrange_fluxes(gpus[i], functions, others[k]).seconds);
        assert_true(1.2 * best.seconds < arrange_fluxes(gpus[i], functions, "1-2: naive").seconds);
    }
}

static void cheap_stages_share_a_launch(void **state) {
    (void)state;
    static const char *const names[] = {"acoustic", "shallow"};
    for (int i = 0; i < 2; i++) {
        loaded l = load(text_of(names[i]));
        assert_int_equal(l.fault, FAULT_NONE);
        assert_int_equal(arrange(&l, "H200", NULL).launches, 1);
        assert_int_equal(arrange(&l, "H100", NULL).launches, 1);
        job_end(l.job);
    }
}

/* Sums of one linear stage would be added in another order than the chain's, where a run's steps
   are no multiple of a launch's. */
static void the_rest_of_a_chain_has_its_bytes(void **state) {
    (void)state;
    static const char text[] =
        "return system { name = 's', dims = 2, boundary = 'zero', fields = { u = 'inout' }, stages "
        "= { { update = function(f) return { u = 0.3 * f.u(0, 0) + 0.21 * f.u(1, 1) + 0.13 * "
        "f.u(-1, -1) + 0.11 * f.u(0, 1) } end } } }";
    loaded l = load(text);
    assert_int_equal(l.fault, FAULT_NONE);
    assert_false(arrange(&l, "H100", "1: chained vec=1 lane=2 time=3").rest_sums);
    job_end(l.job);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(divisions_cost_what_they_are_made_of),
    cmocka_unit_test(packs_share_divisions),
    cmocka_unit_test(steps_share_divisions),
    cmocka_unit_test(functions_are_shared),
    cmocka_unit_test(cheap_stages_share_a_launch),
    cmocka_unit_test(the_rest_of_a_chain_has_its_bytes),
};

TEST_GROUP(choice, NULL, NULL)
