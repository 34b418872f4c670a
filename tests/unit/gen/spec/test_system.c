/* system { … }: the models of its stages, the calls of a step, and its errors by text and line. */
#include "gen/model/system.h"
#include "tests/unit/gen/spec/load_spec.h"
#include "tests/unit/group.h"

#define SYSTEM(fields, stages)                                                                     \
    "return system { name = 'a', dims = 2,\n fields = { " fields " },\n stages = {\n" stages "\n}" \
    " }"
#define STAGE(keys, table) "{ " keys " update = function(f, p, at)\n return { " table " } end },\n"

/* ---- stages ---------------------------------------------------------------------------------- */

static const system_model *system_at(const loaded *l) {
    const subject *s = l->spec->subjects[0];
    assert_string_equal(s->family->name, "system");
    return s->family->grid.system(s);
}

static void expect_field(const model *m, int i, const char *name, field_use use, int levels) {
    assert_string_equal(m->fields[i].name, name);
    assert_int_equal(m->fields[i].use, use);
    assert_int_equal(m->fields[i].levels, levels);
}

static const char three[] =
    SYSTEM("p = { use = 'inout', levels = 2 }, c = 'in', s = 'scratch', e = 'out'",
           STAGE("", "s = f.p(1, 0) - f.p(-2, 0)")
               STAGE("boundary = { y = 'zero' }, times = 2,", "p = f.p(0, 3) + f.s(0, 0) * p.b")
                   STAGE("schedule = { method = 'naive' },",
                         "s = f.s(0, 0) + f.c(0, 0), e = f.p.prev(0, 0) * p.a")) "\n";

static void stages_are_models_of_their_fields(void **state) {
    (void)state;
    loaded l = load(SYSTEM("s = 'scratch', p = 'inout', c = 'in'",
                           STAGE("", "s = f.p(0, 0)") STAGE("", "p = f.s(1, 0)")));
    const system_model *s = system_at(&l);
    assert_int_equal(s->whole->field_count, 2);
    assert_int_equal(s->scratch_count, 1);
    assert_int_equal(s->stages[0].model->field_count, 2);
    expect_field(s->stages[0].model, 0, "p", USE_IN, 1);
    expect_field(s->stages[0].model, 1, "s", USE_OUT, 1);
    expect_field(s->stages[1].model, 0, "p", USE_INOUT, 1);
    expect_field(s->stages[1].model, 1, "s", USE_IN, 1);
    job_end(l.job);
}

static void stages_have_boundaries_and_parameters(void **state) {
    (void)state;
    loaded l = load(three);
    const system_model *s = system_at(&l);
    const model *second = s->stages[1].model, *third = s->stages[2].model;
    assert_int_equal(s->stage_count, 3);
    assert_int_equal(second->sides[0][0].kind, BOUNDARY_FIXED);
    assert_int_equal(second->sides[1][1].kind, BOUNDARY_ZERO);
    assert_int_equal(s->stages[1].times, 2);
    assert_false(s->stages[1].alone);
    assert_true(s->stages[2].alone);
    assert_int_equal(third->line, 8);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(s->stages[k].model->parameter_count, 2);
        assert_string_equal(s->stages[k].model->parameters[1].name, "b");
    }
    expect_field(third, 2, "p", USE_IN, 2);
    expect_field(third, 3, "s", USE_INOUT, 1);
    assert_int_equal(s->whole->low[0], 2);
    assert_int_equal(s->whole->high[1], 6); /* 3 in each of two rounds */
    job_end(l.job);
}

static void expect_call(const system_call *c, int stage, int count, const int *grids) {
    assert_int_equal(c->stage, stage);
    assert_int_equal(c->count, count);
    for (int i = 0; i < count; i++)
        assert_int_equal(c->grids[i], grids[i]);
}

/* Arrays: 0 c, 1 e, 2 p, 3 p.prev, 4 p.next; buffers 5 s, 6 p. */
static void a_step_is_calls(void **state) {
    (void)state;
    loaded l = load(three);
    const system_model *s = system_at(&l);
    const system_step *step = system_step_new(l.job, s, s->stages, s->stage_count);
    assert_int_equal(step->buffer_count, 2);
    assert_int_equal(step->call_count, 5);
    expect_call(&step->calls[0], -1, 1, (const int[]){5}); /* s: `fixed` leaves cells out */
    assert_false(step->calls[0].once);                     /* the third stage writes it, too */
    expect_call(&step->calls[1], 0, 2, (const int[]){2, 5});
    expect_call(&step->calls[2], 1, 3, (const int[]){2, 6, 5});
    expect_call(&step->calls[3], 1, 3, (const int[]){6, 4, 5});
    expect_call(&step->calls[4], 2, 6, (const int[]){0, 1, 4, 3, 5, 5}); /* s stays where it is */
    assert_false(step->in_place[4]); /* p.prev is read when p.next has been written */
    assert_int_equal(step->calls[4].high[1], 0);
    assert_int_equal(step->reach.low[0], 2);
    assert_int_equal(step->reach.high[1], 6); /* as far as one call after the other reads */
    assert_int_equal(step->calls[2].high[1], 3);
    assert_int_equal(step->arrays[2].high[1], 6);
    job_end(l.job);
}

static void a_constant_is_put_into_all_stages(void **state) {
    (void)state;
    const spec_assignment b = {"b", 0.5};
    const spec_constants constants = {&b, 1, 0, NULL};
    loaded l = {.path = "test.lua", .text = three, .constants = &constants};
    l.fault = job_run(&allocator_libc, load_body, &l, &l.job);
    assert_int_equal(l.fault, FAULT_NONE);
    const system_model *s = system_at(&l);
    assert_int_equal(s->whole->parameter_count, 1);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(s->stages[k].model->parameter_count, 1);
        assert_string_equal(s->stages[k].model->parameters[0].name, "a");
    }
    job_end(l.job);
}

/* ---- errors ---------------------------------------------------------------------------------- */

typedef struct bad_system {
    const char *text;
    int line;
    const char *message;
} bad_system;

#define ONE "u = f.u(1, 0)"

static const bad_system bad[] = {
    {SYSTEM("u = 'inout', s = 'scratch'", STAGE("", "u = f.s(0, 0)") STAGE("", "s = f.u(0, 0)")), 5,
     "scratch field 's' is read before a stage has written it: in each step it holds nothing until "
     "then; put the stage that writes it first, or make it inout, which keeps its values"},
    {SYSTEM("u = 'inout', v = 'inout'", STAGE("", ONE)), 1,
     "field 'v' is inout, but no stage writes it: return it from a stage, or make it in"},
    {SYSTEM("u = 'inout', e = 'out'", STAGE("", ONE)), 1,
     "field 'e' is out, but no stage writes it: return it from a stage, or make it in"},
    {SYSTEM("u = 'inout', s = 'scratch'", STAGE("", ONE ", s = f.u(0, 0)")), 1,
     "scratch field 's' is never read: leave it out, or make it out"},
    {SYSTEM("u = 'inout', e = 'out'", STAGE("", ONE ", e = f.u(0, 0)") STAGE("", "e = f.u(0, 0)")),
     6,
     "field 'e' is out, and an earlier stage writes it too: make it inout, or compute it in a "
     "scratch field"},
    {SYSTEM("u = 'inout'", ""), 1, "stages: the list is empty; a system has at least one stage"},
    {"return system { name = 'a', fields = { u = 'inout' } }", 1,
     "stages are missing: a list such as { { update = function(f, p) ... end } }"},
    {SYSTEM("u = 'inout'", STAGE("times = 0,", ONE)), 1,
     "stages[1].times: expected a whole number from 1 to 256, got the number 0"},
    {SYSTEM("u = 'inout'", STAGE("times = 1.5,", ONE)), 1,
     "stages[1].times: expected a whole number from 1 to 256, got the number 1.5"},
    {SYSTEM("u = 'inout'", "{ update = function(f) end }"), 4, "update returns nothing"},
    {SYSTEM("u = 'inout'", STAGE("", "")), 4,
     "the table that update returns is empty: a stage writes at least one field"},
    {SYSTEM("u = 'inout'", "{ update = function(f) return f.u(0, 0) end }"), 4,
     "a stage's update returns a table of the fields that it writes, such as { u = ... }; got an "
     "expression"},
    {SYSTEM("u = 'inout', c = 'in'", STAGE("", ONE ", c = f.u(0, 0)")), 4,
     "the table that update returns: field 'c' is only read (in) and cannot be written"},
    {SYSTEM("u = 'inout'", STAGE("", "uu = f.u(0, 0)")), 4,
     "unknown key 'uu' in the table that update returns; did you mean 'u'?"},
    {SYSTEM("u = 'inout'", STAGE("", "u = f.w(0, 0)")), 5, "unknown field 'w'; known: u"},
    {SYSTEM("u = 'inout'", STAGE("updat = 1,", ONE)), 1,
     "unknown key 'updat' in stages[1]; did you mean 'update'?"},
    {SYSTEM("u = 'inout'", "{ times = 2 }"), 1,
     "stages[1]: update is missing: a function that returns the fields that the stage writes"},
    {SYSTEM("u = 'inout'", "7"), 1,
     "stages[1]: expected a table such as { update = function(f, p) ... end }, got the number 7"},
    {SYSTEM("s = 'scratch', c = 'in'", STAGE("", "s = f.c(0, 0)") STAGE("", "s = f.s(1, 0)")), 1,
     "fields: none keeps a result; at least one is \"out\" or \"inout\""},
    {SYSTEM("u = 'inout', s = { use = 'scratch', levels = 2 }", STAGE("", ONE)), 1,
     "unknown key 'levels' in fields.s, a scratch field; known: use, boundary"},
    {SYSTEM("u = 'inout', e = 'out'", STAGE("", ONE ", e = f.u(0, 0)") STAGE("", "u = f.e(0, 0)")),
     7, "field 'e' is only written (out) and cannot be read"},
    {"return system { name = 'a', stages = {}, fuse = 1, fields = { u = 'inout' } }", 1,
     "fuse: expected true or false, got the number 1"},
    {"return system { name = 'a', fields = { u = 'inout' },\n stages = { { update = function(f)\n"
     " return { u = 1 } end } } }",
     1, "no stage reads a field, so the system needs the key dims"},
};

static void errors_say_where_and_what_to_do(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        expect_error(bad[i].text, bad[i].line, bad[i].message);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(stages_are_models_of_their_fields),
    cmocka_unit_test(stages_have_boundaries_and_parameters),
    cmocka_unit_test(a_step_is_calls),
    cmocka_unit_test(a_constant_is_put_into_all_stages),
    cmocka_unit_test(errors_say_where_and_what_to_do),
};

TEST_GROUP(system, NULL, NULL)
