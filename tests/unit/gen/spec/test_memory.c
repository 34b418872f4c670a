/* Specs where memory runs out at each allocation in turn: an error, no crash, nothing leaked. */
#include <stdlib.h>

#include "tests/unit/gen/spec/load_spec.h"
#include "tests/unit/group.h"
#include "tests/unit/miser.h"

static const char good_spec[] =
    "local k = param 'k'\n"
    "local t = {}\n"
    "for key, value in pairs { b = 1, a = 2 } do table.insert(t, key .. tostring(value / 3)) end\n"
    "local name = table.concat(t, ' ')\n"
    "local lap = identity() + k * laplacian { dims = 2 }\n"
    "return { stencil { name = 'one', coefficients = lap, boundary = { x = constant(2) } },\n"
    "  stencil { name = 'two', fields = { u = 'inout', v = { use = 'inout', levels = 2 } },\n"
    "    parameters = { k = 2 }, schedule = { tile = { x = 2 } },\n"
    "    update = function(f, p)\n"
    "      local sum = 0\n"
    "      for i = 1, 40 do sum = sum + i * f.u(i % 8, 0) end\n"
    "      return { u = sum, v = where(lt(f.v(0, 0), p.k), apply(lap, f.u), f.v.prev(0, 0)) }\n"
    "    end } }";

static const char bad_spec[] = "local t = {}\nt.a.b = 3";

/* What the load ends with if nothing is refused, and how many requests it makes. */
static long requests(const char *text, fault expected) {
    miser m = {0, 0, false, 0};
    const allocator memory = {resize_miserly, &m};
    loaded l = load_with(&memory, "test.lua", text);
    assert_int_equal(l.fault, expected);
    job_end(l.job);
    assert_int_equal(m.held, 0);
    return m.count;
}

static void refuse_each(const char *text, fault expected, bool for_good) {
    const long count = requests(text, expected);
    int failures = 0;
    assert_true(count > 50);
    for (long n = 1; n <= count; n++) {
        miser m = {0, n, for_good, 0};
        const allocator memory = {resize_miserly, &m};
        loaded l = load_with(&memory, "test.lua", text);
        /* Lua may find the memory at a second try, after collecting garbage. */
        assert_true(l.fault == FAULT_MEMORY || (!for_good && l.fault == expected));
        failures += l.fault == FAULT_MEMORY;
        job_end(l.job);
        assert_int_equal(m.held, 0);
    }
    assert_true(failures >= (for_good ? count : 3));
}

static void test_refused_once(void **state) {
    (void)state;
    refuse_each(good_spec, FAULT_NONE, false);
    refuse_each(bad_spec, FAULT_SPEC, false);
}

static void test_refused_for_good(void **state) {
    (void)state;
    refuse_each(good_spec, FAULT_NONE, true);
    refuse_each(bad_spec, FAULT_SPEC, true);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_refused_once),
    cmocka_unit_test(test_refused_for_good),
};

TEST_GROUP(memory, NULL, NULL)
