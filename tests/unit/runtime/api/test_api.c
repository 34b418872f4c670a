/* Building on the cpu device as a program does it: the facts of a kernel, its binaries, and the
   texts of errors. */
#include "tests/unit/group.h"
#include "tests/unit/runtime/api/api.h"

/* ---- facts --------------------------------------------------------------------------------- */

static void a_kernel_tells_of_itself(void **state) {
    (void)state;
    sg_kernel *k = build(HEAT7, NULL);
    assert_string_equal(sg_kernel_text(k, SG_TEXT_NAME), "heat7");
    assert_string_equal(sg_kernel_text(k, SG_TEXT_SHAPE), "3D star of radius 1, 7 points");
    assert_string_equal(sg_kernel_text(k, SG_TEXT_DTYPE), "float");
    assert_string_equal(sg_kernel_text(k, SG_TEXT_BOUNDARY), "fixed");
    assert_string_equal(sg_kernel_text(k, SG_TEXT_ARCH), "sm_90");
    assert_non_null(strstr(sg_kernel_text(k, SG_TEXT_SOURCE), "extern \"C\""));
    assert_true(strlen(sg_kernel_text(k, SG_TEXT_PLAN)) > 0);
    assert_true(strlen(sg_kernel_text(k, SG_TEXT_REASON)) > 0);
    assert_true(strlen(sg_kernel_text(k, SG_TEXT_MODEL)) > 0);
    assert_string_equal(sg_kernel_text(k, (sg_text)99), "");
    assert_string_equal(sg_kernel_text(NULL, SG_TEXT_NAME), "");

    sg_kernel_info info = {.struct_size = sizeof info};
    expect_ok(sg_kernel_facts(k, &info));
    assert_int_equal(info.dims, 3);
    assert_int_equal(info.points, 7);
    assert_int_equal(info.radius, 1);
    assert_int_equal(info.element_size, 4);
    assert_int_equal(info.launchable, 1);
    assert_int_equal(info.arrays, 2);
    assert_int_equal(info.parameters, 0);
    assert_true(info.textbook_operations == 13);
    assert_true(info.emitted_operations > 0 && info.emitted_operations <= 13);
    assert_true(info.bytes_per_point == 8);
    assert_true(info.threads > 0 && info.threads <= 1024);
    assert_true(info.compile_seconds > 0);
    assert_int_equal(info.registers, -1);
    assert_true(info.occupancy == -1);
    assert_int_equal(info.origin, SG_COMPILED);
    assert_non_null(strstr(info.compiler, "++ "));
    assert_int_equal(info.size[0], 128);
    assert_int_equal(info.size[2], 128);
    sg_release(k);
    sg_release(NULL);
}

static void arrays_and_parameters_are_listed(void **state) {
    (void)state;
    sg_kernel *k = build(SLOPE1, NULL);
    static const sg_array_info expected[] = {
        {.name = "d", .field = "d", .role = SG_WRITE, .reads = -1, .previous = -1},
        {.name = "u", .field = "u", .role = SG_READ, .reads = -1, .previous = -1},
        {.name = "u.next", .field = "u", .role = SG_WRITE, .reads = 1, .previous = -1}};
    for (int i = 0; i < 3; i++) {
        sg_array_info a = {.struct_size = sizeof a};
        expect_ok(sg_kernel_array(k, i, &a));
        assert_string_equal(a.name, expected[i].name);
        assert_string_equal(a.field, expected[i].field);
        assert_int_equal(a.role, expected[i].role);
        assert_int_equal(a.reads, expected[i].reads);
        assert_int_equal(a.previous, expected[i].previous);
    }
    sg_array_info a = {.struct_size = sizeof a};
    assert_int_equal(sg_kernel_array(k, 3, &a), SG_ERROR_USAGE);
    assert_string_equal(sg_error(context), "error: 'slope' has 3 arrays; there is none of index 3");
    assert_int_equal(sg_kernel_find_array(k, "d"), 0);
    assert_int_equal(sg_kernel_find_array(k, "u.next"), 2);
    assert_int_equal(sg_kernel_find_array(k, "u.prev"), -1);
    assert_int_equal(sg_kernel_find_array(NULL, "u"), -1);
    assert_int_equal(sg_kernel_find_parameter(k, "h"), 0);
    assert_int_equal(sg_kernel_find_parameter(k, "k"), 1);
    assert_int_equal(sg_kernel_find_parameter(k, "u"), -1);
    assert_int_equal(sg_kernel_find_parameter(k, NULL), -1);
    sg_parameter_info p = {.struct_size = sizeof p};
    expect_ok(sg_kernel_parameter(k, 0, &p));
    assert_string_equal(p.name, "h");
    assert_int_equal(p.has_default, 0);
    expect_ok(sg_kernel_parameter(k, 1, &p));
    assert_string_equal(p.name, "k");
    assert_int_equal(p.has_default, 1);
    assert_true(p.value == 0.25);
    assert_int_equal(sg_kernel_parameter(k, -1, &p), SG_ERROR_USAGE);
    sg_release(k);
}

static void boundaries_are_named(void **state) {
    (void)state;
    const sg_build_options options = {
        .struct_size = sizeof options, .text = BLUR2, .source_only = 1};
    sg_kernel *k;
    expect_ok(sg_build(context, "blur.lua", &options, &k));
    assert_string_equal(sg_kernel_text(k, SG_TEXT_BOUNDARY), "x periodic, y mirror/zero");
    sg_release(k);
}

static void source_alone_cannot_be_launched(void **state) {
    (void)state;
    const sg_build_options options = {
        .struct_size = sizeof options, .text = HEAT7, .arch = "sm_80", .source_only = 1};
    sg_kernel *k;
    expect_ok(sg_build(context, NULL, &options, &k));
    assert_string_equal(sg_kernel_text(k, SG_TEXT_ARCH), "sm_80");
    sg_kernel_info info = {.struct_size = sizeof info};
    expect_ok(sg_kernel_facts(k, &info));
    assert_int_equal(info.launchable, 0);
    const sg_arguments arguments = {.struct_size = sizeof arguments};
    assert_int_equal(sg_launch(k, &arguments, NULL), SG_ERROR_USAGE);
    assert_string_equal(sg_error(context),
                        "error: 'heat7' cannot be launched: only its source was asked for");
    sg_check_result result = {.struct_size = sizeof result};
    assert_int_equal(sg_check(k, NULL, &result), SG_ERROR_USAGE);
    sg_release(k);
}

static void a_context_without_a_device_still_writes_sources(void **state) {
    (void)state;
    sg_context *c;
    const sg_options broken = {.struct_size = sizeof broken, .device = "abacus"};
    assert_int_equal(sg_open(&c, &broken), SG_ERROR_USAGE);
    const sg_build_options options = {
        .struct_size = sizeof options, .text = HEAT7, .source_only = 1};
    sg_kernel *k;
    assert_int_equal(sg_build(c, NULL, &options, &k), SG_OK);
    sg_kernel_info info = {.struct_size = sizeof info};
    assert_int_equal(sg_kernel_facts(k, &info), SG_OK);
    assert_int_equal(info.size[0], 512);
    sg_release(k);
    sg_build_options whole = options;
    whole.source_only = 0;
    sg_kernel *const before = k;
    assert_int_equal(sg_build(c, NULL, &whole, &k), SG_ERROR_USAGE);
    assert_ptr_equal(k, before);
    sg_close(c);
}

static void the_device_none_runs_nothing(void **state) {
    (void)state;
    sg_context *c;
    const sg_options options = {.struct_size = sizeof options, .device = "none"};
    static const char says[] = "the context was opened with the device none, which runs nothing";
    assert_int_equal(sg_open(&c, &options), SG_OK);
    sg_device_info device = {.struct_size = sizeof device};
    assert_int_equal(sg_device(c, &device), SG_OK);
    assert_string_equal(device.device, "none");
    assert_string_equal(device.name, "no device");
    assert_string_equal(device.arch, "none");
    void *memory = &c;
    assert_int_equal(sg_alloc(c, 8, &memory), SG_ERROR_USAGE);
    assert_non_null(strstr(sg_error(c), says));

    sg_build_options how = {.struct_size = sizeof how, .text = HEAT7, .source_only = 1};
    sg_kernel_info info = {.struct_size = sizeof info};
    sg_kernel *k;
    assert_int_equal(sg_build(c, NULL, &how, &k), SG_OK);
    assert_int_equal(sg_kernel_facts(k, &info), SG_OK);
    assert_int_equal(info.size[0], 512);
    assert_string_equal(info.compiler, "");
    sg_release(k);

    how.source_only = 0;
    how.arch = "sm_80";
    const sg_status status = sg_build(c, NULL, &how, &k);
    if (status == SG_ERROR_COMPILER) { /* no NVRTC here: the text holds the cure */
        assert_non_null(strstr(sg_error(c), "NVRTC"));
        sg_close(c);
        skip();
    }
    assert_int_equal(status, SG_OK);
    assert_int_equal(sg_kernel_facts(k, &info), SG_OK);
    assert_int_equal(info.launchable, 0);
    assert_int_equal(info.origin, SG_COMPILED);
    assert_memory_equal(info.compiler, "NVRTC ", 6);
    assert_true(info.compile_seconds > 0);
    const sg_arguments arguments = {.struct_size = sizeof arguments};
    assert_int_equal(sg_launch(k, &arguments, NULL), SG_ERROR_USAGE);
    assert_non_null(strstr(sg_error(c), says));
    sg_release(k);
    sg_close(c);
}

static void a_cuda_context_is_for_cuda(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu", "none"};
    for (int i = 0; i < 2; i++) {
        sg_context *c;
        const sg_options options = {
            .struct_size = sizeof options, .device = devices[i], .cuda_context = &c};
        assert_int_equal(sg_open(&c, &options), SG_ERROR_USAGE);
        assert_non_null(strstr(sg_error(c), "a CUDA context is of no use to the device"));
        assert_non_null(strstr(sg_error(c), devices[i]));
        sg_close(c);
    }
    /* Nor does "auto" go on to another device where the context's cannot be used. */
    setenv("SG_CUDA_DRIVER", "none", 1);
    sg_context *c;
    const sg_options options = {.struct_size = sizeof options, .cuda_context = &c};
    assert_int_equal(sg_open(&c, &options), SG_ERROR_DEVICE);
    assert_non_null(strstr(sg_error(c), "switched off by SG_CUDA_DRIVER"));
    sg_close(c);
    unsetenv("SG_CUDA_DRIVER");
}

/* ---- errors of building -------------------------------------------------------------------- */

static void errors_say_what_and_where(void **state) {
    (void)state;
    static const struct {
        sg_build_options options;
        sg_status status;
        const char *says;
    } cases[] = {
        {{.text = "return 1\n+"}, SG_ERROR_SPEC, "test.lua:2: error: "},
        {{.text = HEAT7, .index = 1},
         SG_ERROR_USAGE,
         "error: test.lua returns 1 spec; there is none of index 1"},
        {{.text = HEAT7, .arch = "sm_12"},
         SG_ERROR_USAGE,
         "error: unknown architecture 'sm_12'; known are T4 (sm_75)"},
        {{.text = HEAT7, .schedule = "tilde"}, SG_ERROR_USAGE, "error: schedule: "},
        {{.text = HEAT7, .size = {4, -1, 0}}, SG_ERROR_USAGE, "error: size -1 along y is negative"},
        {{.text = HEAT7, .size = {INT64_MAX, 1, 1}}, SG_ERROR_USAGE, "more than 2^48 points"},
        {{.text = HEAT7, .size = {1 << 17, 1 << 17, 1 << 17}},
         SG_ERROR_USAGE,
         "error: the grid has more than 2^48 points, which is too large"},
        {{.text = "return merge { name = 'm', keys = 'int64' }", .size = {INT64_MAX}},
         SG_ERROR_USAGE,
         "more than 2^48 points"},
        {{.text = "return reduce { name = 'r', dtype = 'double' }", .size = {INT64_C(1) << 62}},
         SG_ERROR_USAGE,
         "more than 2^48 points"},
        {{.text = SHIFT2, .size = {4, 4, 4}},
         SG_ERROR_USAGE,
         "error: size 4 along z, but 'shift' has 2 dimensions"},
        {{.text = HEAT7, .schedule = "tiled tile=1024x1024x64"}, SG_ERROR_PLAN, "method tiled"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sg_build_options options = cases[i].options;
        sg_kernel *k = (sg_kernel *)&options;
        options.struct_size = sizeof options;
        assert_int_equal(sg_build(context, "test.lua", &options, &k), cases[i].status);
        assert_ptr_equal(k, &options);
        if (strstr(sg_error(context), cases[i].says) == NULL)
            print_error("'%s' lacks '%s'\n", sg_error(context), cases[i].says);
        assert_non_null(strstr(sg_error(context), cases[i].says));
    }
    sg_kernel *k;
    assert_int_equal(sg_build(context, "/nowhere/at/all.lua", NULL, &k), SG_ERROR_IO);
    assert_non_null(strstr(sg_error(context), "/nowhere/at/all.lua"));
    assert_int_equal(sg_build(context, NULL, NULL, &k), SG_ERROR_USAGE);
}

static void specs_are_counted(void **state) {
    (void)state;
    int count = -1;
    expect_ok(sg_count_specs(context, "test.lua", HEAT7, &count));
    assert_int_equal(count, 1);
    const char two[] = "local s = stencil { name = 'a', shape = star(1, 1), dtype = 'float',\n"
                       "  boundary = 'zero', coefficients = { 0, 1, 1 } }\n"
                       "local t = stencil { name = 'b', shape = star(1, 1), dtype = 'float',\n"
                       "  boundary = 'zero', coefficients = { 0, 1, 2 } }\n"
                       "return { s, t }";
    expect_ok(sg_count_specs(context, NULL, two, &count));
    assert_int_equal(count, 2);
    const sg_build_options options = {
        .struct_size = sizeof options, .text = two, .index = 1, .source_only = 1};
    sg_kernel *k;
    expect_ok(sg_build(context, NULL, &options, &k));
    assert_string_equal(sg_kernel_text(k, SG_TEXT_NAME), "b");
    sg_release(k);
    assert_int_equal(sg_count_specs(context, NULL, "return", &count), SG_ERROR_SPEC);
    int index = -1;
    expect_ok(sg_find_spec(context, "two.lua", two, "b", &index));
    assert_int_equal(index, 1);
    assert_int_equal(sg_find_spec(context, "two.lua", two, "c", &index), SG_ERROR_USAGE);
    assert_string_equal(sg_error(context), "error: two.lua returns no spec named 'c'; it has a, b");
    assert_int_equal(sg_find_spec(context, "two.lua", two, NULL, &index), SG_ERROR_USAGE);
    assert_int_equal(index, 1);
}

static void specs_are_built_by_name(void **state) {
    (void)state;
    const char *two = "local k = param 'k'\n"
                      "local a = { 1 - 2 * k, k, k }\n"
                      "local b = { 1 - 4 * k, 2 * k, 2 * k }\n"
                      "return { stencil { name = 'a', shape = star(1, 1), coefficients = a },\n"
                      "  stencil { name = 'b', shape = star(1, 1), coefficients = b } }";
    const sg_constant k = {"k", 0.25};
    sg_build_options options = {.struct_size = sizeof options, .text = two, .source_only = 1};
    sg_kernel *first, *second, *again, *other;
    options.name = "a";
    expect_ok(sg_build(context, "two.lua", &options, &first));
    options.name = "b";
    expect_ok(sg_build(context, "two.lua", &options, &second));
    assert_string_equal(sg_kernel_text(first, SG_TEXT_NAME), "a");
    assert_string_equal(sg_kernel_text(second, SG_TEXT_NAME), "b");
    expect_ok(sg_build(context, "two.lua", &options, &again)); /* the context remembers it */
    assert_ptr_equal(second, again);
    options.constants = &k; /* they are those of the spec that is named */
    options.constant_count = 1;
    expect_ok(sg_build(context, "two.lua", &options, &other));
    assert_non_null(strstr(sg_kernel_text(other, SG_TEXT_MODEL), "0.5*u(1)"));
    sg_explanation *told;
    expect_ok(sg_explain(context, "two.lua", &options, &told));
    assert_string_equal(told->name, "b");
    sg_explanation_free(told);
    sg_release(first);
    sg_release(second);
    sg_release(again);
    sg_release(other);
    options.name = "c";
    assert_int_equal(sg_build(context, "two.lua", &options, &other), SG_ERROR_USAGE);
    assert_string_equal(sg_error(context), "error: two.lua returns no spec named 'c'; it has a, b");
    options = (sg_build_options){.struct_size = offsetof(sg_build_options, name),
                                 .text = two,
                                 .source_only = 1,
                                 .name = "b"}; /* an older program's */
    expect_ok(sg_build(context, "two.lua", &options, &other));
    assert_string_equal(sg_kernel_text(other, SG_TEXT_NAME), "a");
    sg_release(other);
}

/* ---- binaries ------------------------------------------------------------------------------ */

static void binaries_are_kept(void **state) {
    (void)state;
    sg_kernel *k = build(HEAT7, NULL);
    sg_binary cubin = {.struct_size = sizeof cubin}, again = cubin, ptx = cubin;
    const sg_status status = sg_kernel_binary(k, SG_BINARY_CUBIN, &cubin);
    if (status == SG_ERROR_COMPILER) { /* no NVRTC here: the text holds the cure */
        assert_non_null(strstr(sg_error(context), "NVRTC"));
        sg_release(k);
        skip();
    }
    expect_ok(status);
    assert_true(cubin.size > 0 && memcmp(cubin.data, "\177ELF", 4) == 0);
    assert_true(cubin.registers > 0 && cubin.seconds > 0);
    assert_memory_equal(cubin.compiler, "NVRTC ", 6);
    expect_ok(sg_kernel_binary(k, SG_BINARY_CUBIN, &again));
    assert_ptr_equal(again.data, cubin.data);
    expect_ok(sg_kernel_binary(k, SG_BINARY_PTX, &ptx));
    assert_non_null(strstr(ptx.data, ".target sm_90"));
    assert_int_equal(strlen(ptx.data), ptx.size);
    assert_int_equal(sg_kernel_binary(k, (sg_binary_kind)7, &ptx), SG_ERROR_USAGE);
    sg_release(k);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_kernel_tells_of_itself),
    cmocka_unit_test(arrays_and_parameters_are_listed),
    cmocka_unit_test(boundaries_are_named),
    cmocka_unit_test(source_alone_cannot_be_launched),
    cmocka_unit_test(a_context_without_a_device_still_writes_sources),
    cmocka_unit_test(the_device_none_runs_nothing),
    cmocka_unit_test(a_cuda_context_is_for_cuda),
    cmocka_unit_test(errors_say_what_and_where),
    cmocka_unit_test(specs_are_counted),
    cmocka_unit_test(specs_are_built_by_name),
    cmocka_unit_test(binaries_are_kept),
};

TEST_GROUP(api, open_cpu, close_context)
