/* tune export: that it keeps to T4, and that its numbers are the database's. The rules below are
   those of https://github.com/odgaard/TuningSchema (T4/results-schema.json, 1.0.0) and of
   https://github.com/AutoTuningAssociation/autotuning_methodology (schemas/T4.json, 1.1.0): the
   keys they name, with their types and words, and which must be there. Needs: STENCILGEN. */
#include "cli/report/report.h"
#include "tests/unit/cli/json_reader.h"
#include "tests/unit/cli/tuned_result.h"
#include "tests/unit/group.h"
#include "tests/unit/runtime/store/results_scene.h"

/* ---- the rules ----------------------------------------------------------------------------- */

enum {
    STRING = 1 << JSON_STRING,
    NUMBER = 1 << JSON_NUMBER,
    ARRAY = 1 << JSON_ARRAY,
    OBJECT = 1 << JSON_OBJECT,
    REQUIRED = 1 << 16
};

typedef struct rule {
    const char *key;
    int types;
    const char *words; /* the only ones, each between spaces; NULL: any */
    int items;         /* types of an array's items; 0: any */
} rule;

static const rule root_rules[] = {{"schema_version", STRING | REQUIRED, NULL, 0},
                                  {"metadata", OBJECT, NULL, 0},
                                  {"results", ARRAY | REQUIRED, NULL, OBJECT},
                                  {0}};
static const rule metadata_rules[] = {
    {"compute_api", STRING, " OpenCL CUDA Vulkan ", 0},
    {"platform", STRING, NULL, 0},
    {"device", STRING, NULL, 0},
    {"autotuner", STRING, NULL, 0},
    {"autotuner_version", STRING, NULL, 0},
    {"timestamp", STRING, NULL, 0},
    {"timeunit", STRING, " nanoseconds microseconds milliseconds seconds ", 0},
    {0}};
static const rule result_rules[] = {{"timestamp", STRING, NULL, 0},
                                    {"configuration", OBJECT | REQUIRED, NULL, 0},
                                    {"objectives", ARRAY, NULL, STRING},
                                    {"times", OBJECT | REQUIRED, NULL, 0},
                                    {"invalidity", STRING | REQUIRED,
                                     " timeout compile runtime correctness constraints correct ",
                                     0},
                                    {"correctness", NUMBER | REQUIRED, NULL, 0},
                                    {"measurements", ARRAY, NULL, OBJECT},
                                    {"stencilgen", OBJECT, NULL, 0},
                                    {0}};
static const rule times_rules[] = {
    {"compilation_time", NUMBER, NULL, 0}, {"runtimes", ARRAY, NULL, NUMBER},
    {"framework", NUMBER, NULL, 0},        {"search_algorithm", NUMBER, NULL, 0},
    {"validation", NUMBER, NULL, 0},       {0}};
/* The older of the two takes numbers alone as values. */
static const rule measurement_rules[] = {
    {"name", STRING, NULL, 0}, {"value", NUMBER, NULL, 0}, {"unit", STRING, NULL, 0}, {0}};

static bool keeps_rule(const value *v, const rule *r, char *why) {
    if (v == NULL) {
        sprintf(why, "there is no %s", r->key);
        return (r->types & REQUIRED) == 0;
    }
    sprintf(why, "%s is of the wrong type, or no word of its list", r->key);
    if ((1 << v->type & r->types) == 0)
        return false;
    char word[256];
    if (r->words != NULL) {
        snprintf(word, sizeof word, " %s ", v->text);
        if (strstr(r->words, word) == NULL)
            return false;
    }
    for (const value *item = v->first; r->items != 0 && item != NULL; item = item->next)
        if ((1 << item->type & r->items) == 0)
            return false;
    return true;
}

static bool keeps_rules(const value *v, const rule *rules, char *why) {
    for (const rule *r = rules; r->key != NULL; r++)
        if (!keeps_rule(get(v, r->key), r, why))
            return false;
    /* T4 allows other keys, but we write none: an unknown key is a mistake of ours. */
    for (const value *c = v->first; c != NULL; c = c->next) {
        const rule *r = rules;
        while (r->key != NULL && strcmp(r->key, c->key) != 0)
            r++;
        sprintf(why, "nobody knows the key %.100s", c->key);
        if (r->key == NULL)
            return false;
    }
    return true;
}

static bool is_version(const char *t) {
    int a, b, c, end = 0;
    return sscanf(t, "%d.%d.%d%n", &a, &b, &c, &end) == 3 && t[end] == '\0';
}

static bool is_t4(const value *v, char *why) {
    if (!keeps_rules(v, root_rules, why) ||
        (get(v, "metadata") != NULL && !keeps_rules(get(v, "metadata"), metadata_rules, why)))
        return false;
    sprintf(why, "the version");
    if (!is_version(get(v, "schema_version")->text))
        return false;
    for (const value *r = get(v, "results")->first; r != NULL; r = r->next) {
        if (!keeps_rules(r, result_rules, why) || !keeps_rules(get(r, "times"), times_rules, why))
            return false;
        const double correct = get(r, "correctness")->number;
        sprintf(why, "correctness is neither 0 nor 1");
        if (correct != 0 && correct != 1)
            return false;
        for (const value *m = get(r, "measurements")->first; m != NULL; m = m->next)
            if (!keeps_rules(m, measurement_rules, why))
                return false;
    }
    return true;
}

static void expect_t4(const value *v) {
    char why[512];
    if (!is_t4(v, why))
        fail_msg("no T4: %s", why);
}

/* ---- results ------------------------------------------------------------------------------- */

static const double seconds[] = {2e-3, 1e-3, 4e-3};

static sg_result some_result(void) {
    sg_result r = tuned_result("register tile=32x8 coarsen=z16 vec=4 time=1", 2e-3);
    r.seconds = seconds, r.repeats = 3, r.spread = 0.75;
    return r;
}

static value *write_and_read(const sg_result *results, int count) {
    text line = new_text();
    json j = {.out = &line};
    t4 t;
    t4_begin(&t, &j);
    for (int i = 0; i < count; i++)
        t4_result(&t, &results[i]);
    t4_end(&t);
    value *v = read_json(line.data);
    return v;
}

static void expect_text(const value *v, const char *key, const char *text) {
    const value *c = get(v, key);
    assert_non_null(c);
    assert_int_equal(c->type, JSON_STRING);
    assert_string_equal(c->text, text);
}

static void expect_number(const value *v, const char *key, double number) {
    const value *c = get(v, key);
    assert_non_null(c);
    assert_int_equal(c->type, JSON_NUMBER);
    if (fabs(c->number - number) > 1e-12 * fabs(number))
        fail_msg("%s is %g instead of %g", key, c->number, number);
}

static const value *measurement(const value *result, const char *name) {
    const value *m = get(result, "measurements")->first;
    while (m != NULL && strcmp(get(m, "name")->text, name) != 0)
        m = m->next;
    return m;
}

static void test_a_result(void **state) {
    (void)state;
    const sg_result result = some_result();
    value *v = write_and_read(&result, 1);
    expect_t4(v);
    const value *r = at(get(v, "results"), 0), *c = get(r, "configuration");
    expect_text(r, "timestamp", "2023-11-14T22:13:20.123Z");
    assert_int_equal(c->count, 6);
    expect_text(c, "method", "register");
    expect_number(c, "tile_x", 32);
    expect_number(c, "tile_y", 8);
    expect_text(c, "coarsen", "z16");
    expect_number(c, "vec", 4);
    expect_number(c, "time", 1);
    expect_text(r, "invalidity", "correct");
    expect_number(r, "correctness", 1);
    expect_number(get(r, "times"), "compilation_time", 500);
    assert_int_equal(get(get(r, "times"), "runtimes")->count, 3);
    assert_true(fabs(at(get(get(r, "times"), "runtimes"), 2)->number - 4) < 1e-12);
    assert_null(get(get(r, "times"), "validation"));
    expect_number(measurement(r, "time"), "value", 2);
    expect_text(measurement(r, "time"), "unit", "ms");
    expect_number(measurement(r, "registers"), "value", 64);
    assert_null(measurement(r, "local_memory"));
    assert_null(measurement(r, "estimated_time"));
    const value *own = get(r, "stencilgen");
    expect_text(own, "plan", result.plan);
    expect_text(own, "arch", "sm_90");
    assert_int_equal(get(own, "size")->count, 3);
    const value *m = get(v, "metadata");
    expect_text(m, "device", "Fake GPU");
    expect_text(m, "compute_api", "CUDA");
    expect_text(m, "timeunit", "milliseconds");
    free_json(v);
}

static void test_states(void **state) {
    (void)state;
    static const char *const wanted[RESULT_STATES] = {"correct", "correctness", "constraints",
                                                      "compile", "runtime",     "timeout"};
    sg_result results[RESULT_STATES];
    for (int i = 0; i < RESULT_STATES; i++) {
        results[i] = some_result();
        results[i].state = result_state_words[i];
        if (i != RESULT_RIGHT) {
            results[i].reason = "\"because\"\n";
            results[i].repeats = 0;
            results[i].median = results[i].spread = NAN;
        }
    }
    results[1].device = "cpu", results[1].device_name = "A processor";
    value *v = write_and_read(results, RESULT_STATES);
    expect_t4(v);
    for (int i = 0; i < RESULT_STATES; i++) {
        const value *r = at(get(v, "results"), i);
        expect_text(r, "invalidity", wanted[i]);
        expect_number(r, "correctness", i == RESULT_RIGHT);
        assert_int_equal(measurement(r, "time") != NULL, i == RESULT_RIGHT);
    }
    expect_text(get(at(get(v, "results"), 2), "stencilgen"), "reason", "\"because\"\n");
    assert_null(get(get(v, "metadata"), "device"));
    assert_null(get(get(v, "metadata"), "compute_api"));
    free_json(v);
}

static void test_plans_of_lists(void **state) {
    (void)state;
    sg_result results[] = {some_result(), some_result(), some_result()};
    results[0].family = "spmv", results[0].kind = SG_KIND_PRODUCT,
    results[0].plan = "csr warp threads=256";
    results[1].family = "scan", results[1].kind = SG_KIND_SCAN,
    results[1].plan = "look-back threads=128 items=16";
    results[2].plan = "tiled tile=1x2x3 walk=32x coarsen=";
    value *v = write_and_read(results, 3);
    expect_t4(v);
    const value *c = get(at(get(v, "results"), 0), "configuration");
    expect_text(c, "format", "csr");
    expect_text(c, "algorithm", "warp");
    expect_number(c, "threads", 256);
    c = get(at(get(v, "results"), 1), "configuration");
    expect_text(c, "algorithm", "look-back");
    expect_number(c, "items", 16);
    c = get(at(get(v, "results"), 2), "configuration");
    expect_number(c, "tile_z", 3);
    expect_text(c, "walk", "32x");
    expect_text(c, "coarsen", "");
    free_json(v);
}

/* That the rules above see something. */
static void test_what_is_no_t4(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "{}",
        "{\"schema_version\": \"1.1\", \"results\": []}",
        "{\"schema_version\": \"1.1.0\"}",
        "{\"schema_version\": \"1.1.0\", \"results\": [{}]}",
        "{\"schema_version\": \"1.1.0\", \"results\": [], \"more\": 1}",
        "{\"schema_version\": \"1.1.0\", \"results\": [], \"metadata\": {\"timeunit\": \"days\"}}",
        "{\"schema_version\": \"1.1.0\", \"results\": [{\"configuration\": {}, \"times\": {},"
        " \"invalidity\": \"slow\", \"correctness\": 1, \"measurements\": []}]}",
        "{\"schema_version\": \"1.1.0\", \"results\": [{\"configuration\": {}, \"times\": {},"
        " \"invalidity\": \"correct\", \"correctness\": 2, \"measurements\": []}]}",
        "{\"schema_version\": \"1.1.0\", \"results\": [{\"configuration\": {}, \"times\":"
        " {\"runtimes\": [\"1\"]}, \"invalidity\": \"correct\", \"correctness\": 1,"
        " \"measurements\": []}]}"};
    char why[512];
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        value *v = read_json(wrong[i]);
        if (is_t4(v, why))
            fail_msg("%s is no T4", wrong[i]);
        free_json(v);
    }
}

/* ---- the command --------------------------------------------------------------------------- */

static scene s;

/* What `stencilgen tune export` with these words writes; *code is how it ended. */
static value *export(const char *words, int *code) {
    const char *command = getenv("STENCILGEN");
    static char line[8192], text[1 << 20];
    snprintf(line, sizeof line, "SG_DATABASE='%s' '%s' tune export %s 2>/dev/null", s.path, command,
             words);
    FILE *out = popen(line, "r");
    assert_non_null(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    *code = pclose(out) >> 8;
    return *code == 0 ? read_json(text) : NULL;
}

static void expect_count(const char *words, int count) {
    int code;
    value *v = export(words, &code);
    assert_int_equal(code, 0);
    expect_t4(v);
    assert_int_equal(get(v, "results")->count, count);
    free_json(v);
}

static void test_command(void **state) {
    (void)state;
    if (getenv("STENCILGEN") == NULL)
        skip();
    scene_open(&s, "results.db");
    expect_count("", 0);
    assert_int_equal(count_files(scratch_root, ""), 0);
    const result_place p = place_of(64, 32, 16), q = place_of(64, 32, 0);
    result r = results_blank("naive", RESULT_RIGHT, "");
    r.seconds = seconds, r.count = 3;
    assert_int_equal(store(&s, &p, &r), FAULT_NONE);
    r.plan = "tiled tile=32x4";
    assert_int_equal(store(&s, &q, &r), FAULT_NONE);
    r = results_blank("tiled tile=64x4", RESULT_HUNG, "it ran for 10 s");
    assert_int_equal(store(&s, &q, &r), FAULT_NONE);
    expect_count("", 3);
    expect_count("heat", 3);
    expect_count("wave heat", 3);
    expect_count("wave", 0);
    expect_count("--size 64x32", 2);
    expect_count("heat --size 64x32x16", 1);
    int code;
    value *v = export("", &code);
    const value *first = at(get(v, "results"), 0);
    expect_number(measurement(first, "time"), "value", 2);
    expect_text(get(first, "stencilgen"), "name", "heat");
    free_json(v);
    scene_close(&s); /* its log goes into the file */
    scene_open(&s, "results.db");
    write_content(s.path, "noise", 5);
    assert_null(export("", &code));
    assert_int_equal(code, 3);
    scene_close(&s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_a_result),
    cmocka_unit_test(test_states),
    cmocka_unit_test(test_plans_of_lists),
    cmocka_unit_test(test_what_is_no_t4),
    cmocka_unit_test_setup_teardown(test_command, scratch_enter, scratch_leave),
};

TEST_GROUP(t4, NULL, NULL)
