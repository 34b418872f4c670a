/* The report's page: it is HTML whatever texts hold, its numbers are those of the results, and the
   same results make the same bytes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/report/page.h"
#include "tests/unit/cli/html_reader.h"
#include "tests/unit/cli/tuned_result.h"
#include "tests/unit/group.h"

/* ---- results ------------------------------------------------------------------------------- */

static sg_result result_of(const char *plan, double median) {
    sg_result r = tuned_result(plan, median);
    r.device_name = "Fake <GPU> & \"co\" </script>";
    r.copy_seconds = 1e-4;
    return r;
}

static sg_result lost(const char *plan, const char *state, const char *reason) {
    sg_result r = result_of(plan, NAN);
    r.state = state, r.reason = reason, r.repeats = 0, r.spread = NAN;
    return r;
}

enum { TILES = 4, WALKS = 3, ROWS = TILES * WALKS + 2 };

/* Times go by the tile alone; its extents are of different lengths in digits. */
static void sweep(sg_result rows[ROWS], char plans[ROWS][64]) {
    static const int tiles[TILES] = {128, 32, 16, 64};
    int n = 0;
    for (int t = 0; t < TILES; t++)
        for (int w = 0; w < WALKS; w++, n++) {
            snprintf(plans[n], 64, "%s tile=%dx8 coarsen=z%d,y2 vec=4",
                     t % 2 ? "tiled" : "register", tiles[t], 4 << w);
            rows[n] = result_of(plans[n], 1e-3 / 3 * tiles[t] * (1 + 1e-9 * w));
            rows[n].evaluation = n + 1;
        }
    rows[n++] = lost("naive tile=8", "wrong", "u.next <b>at</b> \"(3)\" & 'more'\x01");
    rows[n++] = lost("naive tile=16", "not compiled", "");
}

static page page_of(const sg_result *rows, int count) {
    page p = {.spec = "a</title>&.lua",
              .name = rows[0].name,
              .shape = "3D <star>",
              .dtype = "float",
              .operations = 13,
              .bytes = 8,
              .source = "__global__ void k() { a < b && c > d; } // </code></script>'\"",
              .rows = rows,
              .count = count};
    page_look(&p);
    return p;
}

static char *written(const sg_result *rows, int count, const char *usual) {
    page p = page_of(rows, count);
    p.usual = usual;
    page_look(&p);
    text out = new_text();
    page_write(&p, &out);
    return out.data;
}

/* ---- HTML ---------------------------------------------------------------------------------- */

static int count_of(const char *text, const char *what) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, what)) != NULL; at += strlen(what))
        count++;
    return count;
}

static void expect_html(const char *string, const char *wanted) {
    text b = new_text();
    html_add(&b, "%s", string);
    assert_string_equal(b.data, wanted);
}

static void test_escaping(void **state) {
    (void)state;
    expect_html("", "");
    expect_html("</script>", "&lt;/script&gt;");
    expect_html("a && b \"c\" 'd'", "a &amp;&amp; b &quot;c&quot; &#39;d&#39;");
    expect_html("one\n\ttwo", "one\n\ttwo");
    expect_html("\x01\x7f\xc3\xa9", "\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9");
}

static void expect_page(const char *text) {
    char why[80] = "";
    if (!is_html(text, why))
        fail_msg("an element is not ended, or another one is, at %s", why);
    assert_int_equal(count_of(text, "<script"), 1);
    assert_int_equal(count_of(text, "</script"), 1);
    assert_int_equal(count_of(text, "</title>\n<style>"), 1);
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf\""));
    assert_null(strstr(text, "://"));
    assert_null(strstr(text, "src="));
}

static void test_what_is_no_page(void **state) {
    (void)state;
    char why[80];
    assert_true(is_html("<p>a<b>c</b></p>", why));
    assert_false(is_html("<p>a<b>c</p></b>", why));
    assert_false(is_html("<p>a", why));
    assert_false(is_html("<p>a < b</p>", why));
    assert_false(is_html("<p title=\"a\"b\">c</p", why));
}

static void test_a_page(void **state) {
    (void)state;
    sg_result rows[ROWS];
    char plans[ROWS][64];
    sweep(rows, plans);
    char *text = written(rows, ROWS, "register tile=128x8 coarsen=z4,y2 vec=4");
    expect_page(text);
    static const char *const sections[] = {"roofline", "progress", "candidates", "source"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        char id[64];
        snprintf(id, sizeof id, "<section id=\"%s\"", sections[i]);
        if (strstr(text, id) == NULL)
            fail_msg("there is no %s", sections[i]);
    }
    assert_non_null(strstr(text, ">copy</text>"));
    assert_non_null(strstr(text, "u.next &lt;b&gt;at&lt;/b&gt; &quot;(3)&quot; &amp; &#39;more"));
    assert_non_null(strstr(text, "a &lt; b &amp;&amp; c &gt; d;"));
    assert_non_null(strstr(text, "<b>8×</b><span>speed over the default plan"));
    assert_non_null(strstr(text, "1 candidate computed wrong values"));
    assert_non_null(strstr(text, "12 right, 1 wrong, 1 not compiled"));
    char *again = written(rows, ROWS, "register tile=128x8 coarsen=z4,y2 vec=4");
    assert_string_equal(text, again);
}

/* Every right result stands in the table, to the bit, the fastest first. */
static void test_numbers(void **state) {
    (void)state;
    sg_result rows[ROWS];
    char plans[ROWS][64];
    sweep(rows, plans);
    char *text = written(rows, ROWS, NULL);
    double last = 0;
    int found = 0;
    for (const char *at = text; (at = strstr(at, "data-seconds=\"")) != NULL; found++) {
        const double shown = strtod(at += strlen("data-seconds=\""), NULL);
        bool known = false;
        for (int i = 0; i < ROWS; i++)
            known |= rows[i].median == shown;
        assert_true(known);
        assert_true(shown > last);
        last = shown;
    }
    assert_int_equal(found, TILES * WALKS);
    assert_int_equal(count_of(text, "data-registers=\"64\""), TILES * WALKS);
    assert_int_equal(count_of(text, "data-local="), 0);
}

static void test_little_is_known(void **state) {
    (void)state;
    sg_result rows[2] = {result_of("naive", 1e-3), lost("tiled", "hung", "")};
    rows[0].copy_seconds = NAN, rows[0].spread = NAN, rows[0].compiler = "";
    char *text = written(rows, 2, NULL);
    expect_page(text);
    assert_null(strstr(text, "id=\"roofline\""));
    assert_null(strstr(text, ">copy</text>"));
    text = written(rows, 1, NULL);
    expect_page(text);
    sg_result empty[2] = {result_of("naive", 1e-6), result_of("naive", 1e-6)};
    empty[0].size[1] = empty[1].size[1] = empty[1].size[2] = 0, empty[0].copy_seconds = 0;
    text = written(empty, 2, NULL);
    expect_page(text);
    text = written(rows + 1, 1, NULL);
    expect_page(text);
    assert_non_null(strstr(text, "No candidate was right"));
}

/* The best plan's method comes first, and those beyond the marks share one. */
static void test_kinds(void **state) {
    (void)state;
    static const char *const plans[] = {"a", "b", "c", "d", "e", "f", "g", "b n=2"};
    sg_result rows[8];
    for (int i = 0; i < 8; i++)
        rows[i] = result_of(plans[i], i == 6 ? 0.5 : 1 + i);
    page p = page_of(rows, 8);
    static const int wanted[] = {1, 2, 3, 4, 5, 5, 0, 2};
    assert_memory_equal(p.kinds, wanted, sizeof wanted);
    assert_int_equal(p.kind_count, CHART_KINDS);
    assert_string_equal(p.kind_names[0], "g");
    assert_string_equal(p.kind_names[5], "others");
}

static void test_matrices(void **state) {
    (void)state;
    sg_result r = result_of("ell threads=64", 1e-3);
    const int64_t size[6] = {2000, 1000, 5000, 7, 0, 3};
    r.kind = SG_KIND_PRODUCT, r.size_count = 6;
    memcpy(r.size, size, sizeof size);
    assert_string_equal(size_of_result(&r), "2000x1000 with 5000 entries");
    assert_true(result_points(&r) == 5000);
}

/* ---- the builder --------------------------------------------------------------------------- */

static void test_scales(void **state) {
    (void)state;
    const svg_scale line = {.from = 2, .to = 4, .low = 10, .high = 110};
    assert_true(svg_at(&line, 3) == 60);
    const svg_scale power = {.from = 1, .to = 100, .low = 100, .high = 0, .logarithmic = true};
    assert_true(fabs(svg_at(&power, 10) - 50) < 1e-9);
    for (int logarithmic = 0; logarithmic < 2; logarithmic++) {
        const svg_scale one = svg_scale_of(5, 5, logarithmic);
        assert_true(one.from < 5 && one.to > 5 && one.from > (logarithmic ? 0 : -10));
    }
    assert_string_equal(svg_rate(999.9e9), "1 T");
    assert_string_equal(svg_rate(1500), "1.5 k");
    assert_string_equal(svg_rate(12), "12");
}

/* Loops over ticks end, and places are near the chart, whatever the numbers. */
static void test_scales_of_anything(void **state) {
    (void)state;
    static const double numbers[] = {
        -INFINITY, -1.7e308, -1e300, -1,        -5e-324, 0,   5e-324, 1e-310,
        1e-300,    1e-12,    1,      1 + 1e-16, 2,       1e9, 1e300,  1e300 * (1 + 1e-15),
        1.7e308,   INFINITY, NAN};
    enum { NUMBERS = sizeof numbers / sizeof *numbers };
    for (int i = 0; i < NUMBERS * NUMBERS * 2; i++) {
        const double least = numbers[i / 2 / NUMBERS], most = numbers[i / 2 % NUMBERS];
        text out = new_text();
        svg s;
        svg_begin(&s, &out, "", "");
        s.x = svg_scale_of(least, most, i % 2);
        s.y = s.x;
        assert_true(isfinite(s.x.from) && isfinite(s.x.to) && s.x.from < s.x.to);
        svg_frame(&s, svg_plain, in_seconds, "", "");
        for (int k = 0; k < NUMBERS; k++) {
            const double at = svg_at(&s.x, numbers[k]);
            assert_true(at >= -CHART_WIDTH && at <= 3 * CHART_WIDTH);
        }
        svg_end(&s);
        assert_true(count_of(out.data, "class=\"grid\"") <= 32);
    }
}

/* Results of a database that has not been checked. */
static void test_times_of_any_size(void **state) {
    (void)state;
    static const double times[][3] = {{1e300, 1e-3, 1e-3},
                                      {1e300, 1e300, 1e300},
                                      {1e-300, 1e-300, 1e-300},
                                      {1e-300, 1, 1e300},
                                      {0, 1e-3, 1},
                                      {0, 0, 0},
                                      {5e-324, 1, 1},
                                      {-1, 1, 2},
                                      {1e-3, 1e-3, 1e-3},
                                      {NAN, INFINITY, 1}};
    static const char *const plans[3] = {"tiled tile=32x8 coarsen=z4", "tiled tile=64x8 coarsen=z8",
                                         "tiled tile=32x8 coarsen=z8"};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        sg_result rows[3];
        for (int k = 0; k < 3; k++)
            rows[k] = result_of(plans[k], times[i][k]);
        rows[2].size[0] = 1024; /* a size of its own */
        for (int count = 1; count <= 3; count++) {
            char *text = written(rows, count, plans[0]);
            expect_page(text);
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_escaping),
    cmocka_unit_test(test_what_is_no_page),
    cmocka_unit_test(test_a_page),
    cmocka_unit_test(test_numbers),
    cmocka_unit_test(test_kinds),
    cmocka_unit_test(test_matrices),
    cmocka_unit_test(test_scales),
    cmocka_unit_test(test_little_is_known),
    cmocka_unit_test(test_scales_of_anything),
    cmocka_unit_test(test_times_of_any_size),
};

TEST_GROUP(page, NULL, NULL)
