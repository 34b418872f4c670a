/* Products with sparse matrices: refusals, the choice, numbers, sources, determinism. The cases
   have the product of formats, algorithms, dtypes, matrices and sizes. */
#include "tests/unit/gen/lists/family_scene.h"

#include <math.h>

#include "gen/lists/spmv/spmv.h"
#include "tests/unit/group.h"

/* Every template, with schedules that make several blocks out of few entries. */
static const char *const schedules[] = {
    "csr thread threads=64",
    "csr warp lanes=4 threads=64",
    "csr warp lanes=32 threads=64",
    "csr runs run=1",
    "csr balanced threads=32 items=3",
    "csr balanced threads=128 items=4",
    "csr grouped threads=32 items=3 cut=7",
    "csr grouped threads=64 items=1 cut=1",
    "coo threads=32 items=3",
    "coo threads=96 items=8",
    "csc lanes=2 threads=64",
    "csc lanes=32 threads=32",
    "ell threads=64",
    "hyb threads=64 items=1",
    "jds threads=64",
    "dia threads=64",
    "dia threads=64 items=4",
    "bcsr warp rows=2 columns=2 threads=64",
    "bcsr warp rows=3 columns=3 threads=32",
    "bcsr warp rows=1 columns=16 threads=64",
    "bcsr thread rows=4 columns=2 threads=64",
    "bcsr thread rows=6 columns=7 threads=32",
    "pkt packet=64 threads=64 items=2",
    "pkt threads=256",
    "sell threads=64",
    "sell slice=4 sigma=4 threads=32",
    "sell slice=7 sigma=21 threads=32",
};
enum { SCHEDULES = sizeof schedules / sizeof *schedules };

static const char *spmv_text(const char *more) {
    static char text[256];
    snprintf(text, sizeof text, "return spmv { name = 's', %s }", more);
    return text;
}

/* ---- refusals ------------------------------------------------------------------------------ */

typedef struct attempt {
    const char *text, *schedule;
    const matrix *matrix;
    const char *reason, *plan, *source;
} attempt;

static void build_body(job *j, void *argument) {
    attempt *a = argument;
    const subject *s = spec_load(j, "test.lua", a->text, NULL)->subjects[0];
    const family_request r = {
        .schedule = a->schedule, .gpu = gpu_find("sm_75"), .size = {1, 1, 1}, .matrix = a->matrix};
    const family_build *b = s->family->build(j, s, &r);
    a->reason = b->reason;
    a->plan = b->plan;
    a->source = b->program->source;
}

static void assert_refused(const char *more, const char *schedule, const char *message) {
    attempt a = {.text = spmv_text(more), .schedule = schedule};
    job *j;
    assert_int_equal(job_run(&allocator_libc, build_body, &a, &j), FAULT_PLAN);
    assert_string_equal(job_error_text(j), message);
    job_end(j);
}

static void test_refusals(void **state) {
    (void)state;
    assert_refused("index = 'int64'", "jds",
                   "format jds: int64 indices are for csr, ell, sell, dia, stencil and bcsr's "
                   "thread; the others have int32");
    assert_refused("dtype = 'double', matrix = 'float'", "coo",
                   "format coo: a float matrix with double vectors is for csr, ell, sell, dia, "
                   "stencil and bcsr's thread; the others take one dtype");
    assert_refused("vectors = 2", "pkt",
                   "format pkt: several vectors are for csr, ell, sell, dia, stencil and bcsr's "
                   "thread; the others take one");
    assert_refused("vectors = 2", "bcsr warp",
                   "format bcsr: several vectors are for csr, ell, sell, dia, stencil and bcsr's "
                   "thread; the others take one");
    assert_refused("format = 'jds', algorithm = 'balanced'", NULL,
                   "format jds: the algorithm balanced is for csr");
    assert_refused("format = 'jds', algorithm = 'warp'", NULL,
                   "format jds: the algorithm warp is for csr and bcsr");
    assert_refused("format = 'ell', schedule = { slice = 32 }", NULL,
                   "format ell: it does without slice");
    assert_refused("schedule = { items = 4 }", "csr thread",
                   "format csr: the algorithm thread does without items");
    assert_refused("schedule = { slice = 32, sigma = 48 }", NULL,
                   "format sell: sigma must be a multiple of the slice of 32, not 48");
    assert_refused("dtype = 'double'", "bcsr warp rows=6 columns=6",
                   "format bcsr: the algorithm warp takes blocks of at most 32 elements");
    assert_refused("dtype = 'double'", "csr threads=1024 items=32",
                   "format csr: it needs 295424 bytes of shared memory a block, sm_75 has 65536; "
                   "take fewer threads or items");
    assert_refused("dtype = 'double'", "pkt packet=65535",
                   "format pkt: it needs 1048560 bytes of shared memory a block, sm_75 has 65536; "
                   "take fewer rows a packet");
}

static void assert_spec_refused(const char *more, const char *message) {
    attempt a = {.text = spmv_text(more)};
    job *j;
    assert_int_equal(job_run(&allocator_libc, build_body, &a, &j), FAULT_SPEC);
    assert_string_equal(job_error_text(j), message);
    job_end(j);
}

static void test_spec_errors(void **state) {
    (void)state;
    assert_spec_refused("matrix = 'double'",
                        "a matrix of double needs vectors of double: dtype = \"double\"");
    assert_spec_refused("vectors = 17",
                        "vectors: expected a whole number from 1 to 16, got the number 17");
    assert_spec_refused(
        "format = 'crs'",
        "format: expected one of auto, coo, csr, csc, ell, hyb, jds, dia, bcsr, pkt, "
        "sell, stencil, got the string 'crs'");
    assert_spec_refused("dtype = 'int32'", "dtype: expected one of float, double, got the string "
                                           "'int32'");
}

/* ---- choosing ------------------------------------------------------------------------------ */

/* `rows` rows of `length` entries each, the first columns; the last row has `last`. */
static matrix rows_of(int64_t rows, int64_t columns, int64_t length, int64_t last) {
    const int64_t entries = (rows - 1) * length + last;
    int64_t *row = calloc((size_t)entries, sizeof *row);
    int64_t *column = calloc((size_t)entries, sizeof *column);
    double *value = calloc((size_t)entries, sizeof *value);
    int64_t k = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < (r == rows - 1 ? last : length); c++, k++) {
            row[k] = r;
            column[k] = c;
            value[k] = 1;
        }
    return (matrix){rows, columns, entries, row, column, value};
}

static void free_matrix(const matrix *m) {
    free((void *)m->row);
    free((void *)m->column);
    free((void *)m->value);
}

static job *build_for(attempt *a, fault expected) {
    job *j;
    assert_int_equal(job_run(&allocator_libc, build_body, a, &j), expected);
    return j;
}

static void test_choice(void **state) {
    (void)state;
    const matrix even = rows_of(20000, 1000, 5, 5), full = rows_of(100000, 100000, 1, 100000);
    attempt a = {.text = spmv_text("dtype = 'double'")};
    job *j = build_for(&a, FAULT_NONE);
    assert_string_equal(a.plan, "csr balanced threads=128 items=7 run=4 abreast=1 taper=1 cache=2");
    job_end(j);
    a.matrix = &even;
    j = build_for(&a, FAULT_NONE);
    assert_string_equal(a.plan,
                        "bcsr thread rows=5 columns=5 threads=128 items=1 passes=1 cache=2");
    assert_true(strncmp(a.reason, "bcsr: ", 6) == 0);
    job_end(j);
    a.schedule = "csr";
    j = build_for(&a, FAULT_NONE);
    assert_string_equal(a.plan, "csr thread threads=256"); /* 5 entries a row */
    job_end(j);
    a.schedule = "csr items=5"; /* groups of rows alike, none longer than the usual cut */
    j = build_for(&a, FAULT_NONE);
    assert_string_equal(a.plan, "csr grouped threads=256 items=5 cut=1 cache=2");
    job_end(j);
    a.schedule = "csr run=1";
    j = build_for(&a, FAULT_NONE);
    assert_string_equal(a.plan, "csr balanced threads=128 items=4 run=1 abreast=1 taper=1 cache=2");
    job_end(j);
    a.schedule = "csr warp";
    j = build_for(&a, FAULT_NONE);
    assert_string_equal(a.plan, "csr warp lanes=8 threads=256");
    job_end(j);
    a.schedule = "slice=8";
    j = build_for(&a, FAULT_NONE);
    assert_string_equal(a.plan, "sell slice=8 sigma=256 threads=128 items=5 cache=3");
    job_end(j);

    /* The full row does not count for its group, but for the entries of a tile. */
    a = (attempt){.text = spmv_text("dtype = 'double'"), .schedule = "csr", .matrix = &full};
    j = build_for(&a, FAULT_NONE);
    assert_string_equal(a.plan, "csr grouped threads=256 items=3 cut=512 cache=2");
    job_end(j);
    a.schedule = "csr cut=50 items=2";
    j = build_for(&a, FAULT_NONE);
    assert_string_equal(a.plan, "csr grouped threads=256 items=2 cut=50 cache=2");
    job_end(j);
    a.schedule = "csr balanced";
    j = build_for(&a, FAULT_NONE);
    assert_string_equal(a.plan, "csr balanced threads=128 items=4 run=1 abreast=1 taper=1 cache=2");
    job_end(j);

    a = (attempt){.text = spmv_text("dtype = 'double', format = 'ell'"), .matrix = &full};
    j = build_for(&a, FAULT_PLAN);
    assert_string_equal(job_error_text(j),
                        "format ell: ell would need 120000000000 bytes, more than 16 times the "
                        "2799992 of csr and more than 1073741824");
    job_end(j);
    a = (attempt){.text = spmv_text("dtype = 'double'"), .matrix = &full};
    j = build_for(&a, FAULT_NONE);
    assert_string_equal(a.plan, "csr grouped threads=256 items=3 cut=512 cache=2");
    job_end(j);
    free_matrix(&even);
    free_matrix(&full);
}

/* Entries of x that rows far from each other in length, or all of them, have in common, and an x
   that is too large for the caches. */
static void test_numbers(void **state) {
    (void)state;
    const matrix wide = rows_of(32, 9000, 8192, 8192), two = rows_of(1000, 8000000, 2, 2);
    int64_t *column = (int64_t *)two.column;
    attempt a = {.text = spmv_text("dtype = 'double'"), .schedule = "csr", .matrix = &wide};
    job *j = build_for(&a, FAULT_NONE);
    assert_string_equal(a.plan,
                        "csr balanced threads=1024 items=4 run=1 abreast=32 taper=1 cache=2");
    job_end(j);
    for (int64_t i = 0; i < two.entries; i++) /* spread over x in the same way */
        column[i] = i % 2 == 0 ? i : 6000000 + i;
    a = (attempt){.text = a.text, .schedule = "ell", .matrix = &two};
    j = build_for(&a, FAULT_NONE);
    assert_string_equal(a.plan, "ell threads=128 items=1 passes=2 cache=3");
    job_end(j);
    for (int64_t i = 0; i < two.entries; i++) /* or each near its own place */
        column[i] = (i - i % 2) * 4000 + i % 2;
    j = build_for(&a, FAULT_NONE);
    assert_string_equal(a.plan, "ell threads=128 items=2 passes=1 cache=3");
    job_end(j);
    free_matrix(&wide);
    free_matrix(&two);
}

/* A plan's line gives the same source, whatever matrix it was made for. */
static void test_sources(void **state) {
    (void)state;
    static const char *const lines[] = {"csr warp", "csr balanced", "csc", "bcsr",
                                        "pkt",      "sell",         "ell"};
    const matrix even = rows_of(20000, 1000, 5, 5);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        attempt a = {.text = spmv_text("dtype = 'double'"), .schedule = lines[i], .matrix = &even};
        job *first = build_for(&a, FAULT_NONE);
        attempt b = {.text = a.text, .schedule = a.plan};
        job *second = build_for(&b, FAULT_NONE);
        assert_string_equal(a.plan, b.plan);
        assert_string_equal(a.source, b.source);
        job_end(first);
        job_end(second);
    }
    free_matrix(&even);
}

/* The family's words are those of the matrix layer. */
static void test_words(void **state) {
    (void)state;
    assert_int_equal(spmv_words.format_count, FORMAT_COUNT);
    for (int f = 0; f < FORMAT_COUNT; f++) {
        assert_string_equal(spmv_words.formats[f].name, format_words[f].name);
    }
}

/* ---- the same bits on every run ------------------------------------------------------------ */

/* What a launch makes of y. */
static void launch_for(scene *s, const family_call *call, void *y, size_t bytes) {
    const program *p = s->made->program;
    sg_grid grids[SCENE_ARRAYS] = {{0}};
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        const size_t size = (size_t)program_elements(p, i, call->sizes) * a->element_bytes;
        expect_ok(sg_alloc(context, size + 1, &grids[i].data));
        expect_ok(sg_upload(context, grids[i].data, call->arrays[i], size));
        for (int axis = 0; axis < 3; axis++)
            grids[i].size[axis] = program_extent_of(&a->lists.extent[axis], call->sizes);
    }
    sg_arguments arguments = {.struct_size = sizeof arguments,
                              .grids = grids,
                              .grid_count = p->array_count,
                              .parameters = call->parameters,
                              .parameter_count = p->parameter_count};
    expect_ok(sg_temporary_bytes(s->kernel, &arguments, &arguments.temporary_bytes));
    expect_ok(sg_alloc(context, arguments.temporary_bytes + 1, &arguments.temporary));
    expect_ok(sg_launch(s->kernel, &arguments, NULL));
    expect_ok(sg_download(context, y, grids[p->array_count - 1].data, bytes));
    for (int i = 0; i < p->array_count; i++)
        sg_free(context, grids[i].data);
    sg_free(context, arguments.temporary);
}

static void test_determinism(void **state) {
    (void)state;
    for (int i = 0; i < SCHEDULES; i++) {
        scene s;
        scene_open(&s, spmv_text("dtype = 'float'"), schedules[i]);
        family_call call;
        const int64_t size[AXES] = {5000, 1, 1};
        s.subject->family->lists.draw(s.job, s.subject, s.made->program, size, 5, NULL, 9, &call);
        const program *p = s.made->program;
        const int y = p->array_count - 1;
        const size_t bytes = (size_t)program_elements(p, y, call.sizes) * sizeof(float);
        unsigned char *first = NULL;
        for (int run = 0; run < 3; run++) {
            unsigned char *result = malloc(bytes);
            launch_for(&s, &call, result, bytes);
            if (run > 0)
                assert_memory_equal(result, first, bytes);
            if (run > 0)
                free(result);
            else
                first = result;
        }
        free(first);
        scene_close(&s);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_refusals),    cmocka_unit_test(test_spec_errors),
    cmocka_unit_test(test_choice),      cmocka_unit_test(test_numbers),
    cmocka_unit_test(test_sources),     cmocka_unit_test(test_words),
    cmocka_unit_test(test_determinism),
};

TEST_GROUP(spmv, open_cpu, close_context)
