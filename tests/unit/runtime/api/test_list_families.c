/* The families' calls with kernels of specs, as a program makes them: what comes out is right, and
   the arrays have the names and the order that docs/api.md gives them. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

enum { N = 5000 };

/* Temporary memory as large as a call says. */
static void *take(size_t bytes) {
    void *memory = NULL;
    expect_ok(sg_alloc(context, bytes, &memory));
    return memory;
}

static void expect_arrays(const sg_kernel *k, const char *const *names, int count) {
    sg_array_info info = {.struct_size = sizeof info};
    for (int i = 0; i < count; i++) {
        expect_ok(sg_kernel_array(k, i, &info));
        assert_string_equal(info.name, names[i]);
    }
    assert_int_equal(sg_kernel_array(k, count, &info), SG_ERROR_USAGE);
}

static void reduces_two_inputs(void **state) {
    (void)state;
    sg_kernel *k = build("return reduce { name = 'dot', op = 'sum', dtype = 'double', inputs = 2,\n"
                         "  map = function(x, y) return x * y end }",
                         NULL);
    expect_arrays(k, (const char *const[]){"input", "second", "result"}, 3);
    double x[N], y[N], result = -1;
    for (int i = 0; i < N; i++) {
        x[i] = i;
        y[i] = 2;
    }
    sg_reduce_arguments a = {
        .struct_size = sizeof a, .input = x, .second = y, .count = N, .result = &result};
    expect_ok(sg_reduce_bytes(k, N, 0, &a.temporary_bytes));
    a.temporary = take(a.temporary_bytes);
    expect_ok(sg_reduce(k, &a, NULL));
    assert_true(result == (double)N * (N - 1));
    a.count = 0;
    a.input = a.second = NULL;
    expect_ok(sg_reduce(k, &a, NULL));
    assert_true(result == 0);
    sg_free(context, a.temporary);
    sg_release(k);
}

static void reduces_segments(void **state) {
    (void)state;
    sg_kernel *k =
        build("return reduce { name = 'lowest', op = 'argmin', dtype = 'int32', segmented = true }",
              NULL);
    expect_arrays(k, (const char *const[]){"input", "offsets", "result", "index"}, 4);
    const int32_t list[] = {5, 3, 4, 3, 9, -7, -7};
    const int64_t offsets[] = {0, 4, 4, 7};
    int32_t result[3] = {0};
    int64_t index[3] = {0};
    sg_reduce_arguments a = {.struct_size = sizeof a,
                             .input = list,
                             .count = 7,
                             .offsets = offsets,
                             .segments = 3,
                             .result = result,
                             .index = index};
    expect_ok(sg_reduce_bytes(k, 7, 3, &a.temporary_bytes));
    a.temporary = take(a.temporary_bytes);
    expect_ok(sg_reduce(k, &a, NULL));
    assert_true(result[0] == 3 && result[1] == INT32_MAX && result[2] == -7);
    assert_int_equal(index[1], -1);
    assert_true(index[0] == 1 && index[2] == 5);
    sg_free(context, a.temporary);
    sg_release(k);
}

static void kinds_are_told(void **state) {
    static const struct {
        const char *spec, *family;
        sg_kind kind;
    } rows[] = {
        {"return stencil { name = 'h', shape = star(2, 1), coefficients = { 1, 2, 3, 4, 5 } }",
         "stencil", SG_KIND_GRID},
        {"return reduce { name = 'r', op = 'sum' }", "reduce", SG_KIND_REDUCE},
        {"return scan { name = 's', op = 'sum' }", "scan", SG_KIND_SCAN},
        {"return merge { name = 'm' }", "merge", SG_KIND_MERGE},
        {"return spmv { name = 'p' }", "spmv", SG_KIND_PRODUCT},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sg_kernel *k = build(rows[i].spec, NULL);
        sg_kernel_info info = {.struct_size = sizeof info};
        expect_ok(sg_kernel_facts(k, &info));
        assert_string_equal(sg_kernel_text(k, SG_TEXT_FAMILY), rows[i].family);
        assert_int_equal(info.kind, rows[i].kind);
        sg_release(k);
    }
}

static void scans_in_place(void **state) {
    (void)state;
    sg_kernel *k = build("return scan { name = 'sums', op = 'sum', dtype = 'int64' }", NULL);
    expect_arrays(k, (const char *const[]){"input", "output"}, 2);
    assert_string_equal(sg_kernel_text(k, SG_TEXT_FAMILY), "scan");
    int64_t list[N];
    for (int i = 0; i < N; i++)
        list[i] = i;
    sg_scan_arguments a = {.struct_size = sizeof a, .input = list, .output = list, .count = N};
    expect_ok(sg_scan_bytes(k, N, &a.temporary_bytes));
    a.temporary = take(a.temporary_bytes);
    expect_ok(sg_scan(k, &a, NULL));
    for (int64_t i = 0; i < N; i++)
        assert_int_equal(list[i], i * (i + 1) / 2);
    a.count = 0;
    expect_ok(sg_scan(k, &a, NULL));
    sg_free(context, a.temporary);
    sg_release(k);
}

static void merges_pairs(void **state) {
    (void)state;
    sg_kernel *k =
        build("return merge { name = 'pairs', keys = 'int32', values = 'double' }", NULL);
    expect_arrays(
        k, (const char *const[]){"a", "b", "a_values", "b_values", "output", "output_values"}, 6);
    static int32_t left[N], right[2 * N], keys[3 * N];
    static double left_values[N], right_values[2 * N], values[3 * N];
    for (int i = 0; i < N; i++) {
        left[i] = 2 * i;
        left_values[i] = i;
    }
    for (int i = 0; i < 2 * N; i++) {
        right[i] = i;
        right_values[i] = -1 - i;
    }
    sg_merge_arguments a = {.struct_size = sizeof a,
                            .a = left,
                            .b = right,
                            .a_count = N,
                            .b_count = 2 * N,
                            .output = keys,
                            .a_values = left_values,
                            .b_values = right_values,
                            .output_values = values};
    expect_ok(sg_merge_bytes(k, N, 2 * N, &a.temporary_bytes));
    a.temporary = take(a.temporary_bytes);
    expect_ok(sg_merge(k, &a, NULL));
    for (int i = 0, at = 0; i < 2 * N; i++) { /* an even key comes from both, from a first */
        if (i % 2 == 0) {
            assert_int_equal(keys[at], i);
            assert_true(values[at++] == i / 2);
        }
        assert_int_equal(keys[at], i);
        assert_true(values[at++] == -1 - i);
    }
    sg_free(context, a.temporary);
    sg_release(k);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reduces_two_inputs), cmocka_unit_test(reduces_segments),
    cmocka_unit_test(kinds_are_told),     cmocka_unit_test(scans_in_place),
    cmocka_unit_test(merges_pairs),
};

TEST_GROUP(list_families, open_cpu, close_context)
