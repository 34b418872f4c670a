/* The page of `report`: it is HTML whatever its texts hold, its numbers are those of the
   results, it finds the parameters that matter and how much they explain, and the same results
   make the same bytes. */
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

static page page_of(const sg_result *rows, int count, const page_results *all) {
    page p = {.spec = "a</title>&.lua",
              .name = rows[0].name,
              .shape = "3D <star>",
              .dtype = "float",
              .operations = 13,
              .bytes = 8,
              .source = "__global__ void k() { a < b && c > d; } // </code></script>'\"",
              .rows = rows,
              .count = count,
              .all = all};
    page_look(&p);
    return p;
}

static page_results keep(const sg_result *rows, int count) {
    page_results all = {0};
    for (int i = 0; i < count; i++)
        page_keep(&all, &rows[i]);
    return all;
}

static char *written(const sg_result *rows, int count, const char *usual) {
    page_results all = keep(rows, count);
    page p = page_of(rows, count, &all);
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
    html_text(&b, string);
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
    static const char *const sections[] = {"roofline", "progress", "parameters", "candidates",
                                           "source"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        char id[64];
        snprintf(id, sizeof id, "<section id=\"%s\"", sections[i]);
        if (strstr(text, id) == NULL)
            fail_msg("there is no %s", sections[i]);
    }
    assert_null(strstr(text, "id=\"scaling\"")); /* one size alone */
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

/* ---- parameters ---------------------------------------------------------------------------- */

static const page_axis *axis(const page *p, const char *name) {
    const page_axis *a = page_axis_named(&p->axes, name);
    if (a == NULL)
        fail_msg("there is no parameter %s", name);
    return a;
}

static void test_parameters(void **state) {
    (void)state;
    sg_result rows[ROWS];
    char plans[ROWS][64];
    sweep(rows, plans);
    page p = page_of(rows, ROWS, &(page_results){0});
    assert_int_equal(p.axes.count, 10); /* method, tile and coarsen with 3 each, vec */
    const page_axis *x = axis(&p, "tile.x");
    static const char *const values[] = {"8", "16", "32", "64", "128"};
    assert_int_equal(x->count, 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(x->values[i], values[i]);
    assert_string_equal(x->values[x->of[0]], "128");
    assert_string_equal(axis(&p, "tile.y")->values[axis(&p, "tile.y")->of[ROWS - 1]], "1");
    assert_string_equal(axis(&p, "coarsen.z")->values[0], "4");
    assert_string_equal(axis(&p, "coarsen.z")->values[2], "16");
    assert_string_equal(axis(&p, "coarsen.y")->values[0], "2");
    assert_int_equal(axis(&p, "coarsen.y")->of[ROWS - 1], -1);
    assert_true(axis(&p, "tile")->whole && !x->whole);
    assert_int_equal(x->rows, TILES * WALKS);
    assert_true(x->explained > 0.999 && x->explained <= 1);
    assert_true(axis(&p, "coarsen.z")->explained == 0);
    assert_true(axis(&p, "vec")->explained == 0);
}

/* By hand: logs 0, 2 and 4, 6 in two groups: 16 between, 4 within by 2 degrees of freedom, of 20.
 */
static void test_what_is_explained(void **state) {
    (void)state;
    const sg_result rows[] = {result_of("a n=1", 1), result_of("a n=1", exp(2)),
                              result_of("a n=2", exp(4)), result_of("a n=2", exp(6))};
    page p = page_of(rows, 4, &(page_results){0});
    assert_true(fabs(axis(&p, "n")->explained - 14.0 / 20) < 1e-12);
}

static void test_words_of_lists(void **state) {
    (void)state;
    sg_result rows[] = {result_of("csr warp threads=256", 1), result_of("ell threads=64", 2)};
    rows[0].kind = rows[1].kind = SG_KIND_PRODUCT;
    page p = page_of(rows, 2, &(page_results){0});
    assert_string_equal(axis(&p, "format")->values[0], "csr");
    assert_string_equal(axis(&p, "algorithm")->values[0], "warp");
    assert_string_equal(axis(&p, "threads")->values[0], "64");
}

/* The best plan's method comes first, and those beyond the marks share one. */
static void test_kinds(void **state) {
    (void)state;
    static const char *const plans[] = {"a", "b", "c", "d", "e", "f", "g", "b n=2"};
    sg_result rows[8];
    for (int i = 0; i < 8; i++)
        rows[i] = result_of(plans[i], i == 6 ? 0.5 : 1 + i);
    page p = page_of(rows, 8, &(page_results){0});
    static const int wanted[] = {2, 1, 3, 4, 5, 5, 0, 1};
    assert_memory_equal(p.kinds, wanted, sizeof wanted);
    assert_int_equal(p.kind_count, PAGE_KINDS);
    assert_string_equal(p.kind_names[0], "g");
    assert_string_equal(p.kind_names[5], "others");
}

/* ---- sizes --------------------------------------------------------------------------------- */

static void test_sizes(void **state) {
    (void)state;
    sg_result rows[] = {result_of("naive", 1e-3), result_of("naive", 4e-3),
                        result_of("tiled", 2e-3), result_of("naive", 1e-6),
                        result_of("naive", 1e-6)};
    rows[1].size[0] = rows[2].size[0] = 1024;
    rows[3].steps = 8, rows[3].size[0] = 64;
    rows[4].device_name = "Another", rows[4].size[0] = 32;
    page_results all = keep(rows, 5);
    page p = page_of(rows, 1, &all);
    text out = new_text();
    page_write_scaling(&p, &out);
    assert_non_null(out.data);
    assert_int_equal(count_of(out.data, "<g class=\"m"), 2);
    assert_non_null(strstr(out.data, "512x256x128: 16.8 G points a second; naive: 1 ms"));
    assert_non_null(strstr(out.data, "1024x256x128: 16.8 G points a second; tiled: 2 ms"));
}

static void test_matrices(void **state) {
    (void)state;
    sg_result r = result_of("ell threads=64", 1e-3);
    const int64_t size[6] = {2000, 1000, 5000, 7, 0, 3};
    r.kind = SG_KIND_PRODUCT, r.size_count = 6;
    memcpy(r.size, size, sizeof size);
    text b = new_text();
    page_add_size(&b, &r);
    assert_string_equal(b.data, "2000x1000 with 5000 entries");
    assert_true(page_points(&r) == 5000);
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
    text b = new_text();
    svg_rate(&b, 999.9e9);
    svg_rate(&b, 1500);
    svg_rate(&b, 12);
    assert_string_equal(b.data, "1 T1.5 k12");
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
        svg_begin(&s, &out, "", "", CHART_HEIGHT);
        s.x = svg_scale_of(least, most, i % 2);
        s.y = s.x;
        assert_true(isfinite(s.x.from) && isfinite(s.x.to) && s.x.from < s.x.to);
        svg_frame(&s, svg_plain, add_seconds, "", "");
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

static const struct CMUnitTest tests[] = {cmocka_unit_test(test_escaping),
                                          cmocka_unit_test(test_what_is_no_page),
                                          cmocka_unit_test(test_a_page),
                                          cmocka_unit_test(test_numbers),
                                          cmocka_unit_test(test_parameters),
                                          cmocka_unit_test(test_what_is_explained),
                                          cmocka_unit_test(test_kinds),
                                          cmocka_unit_test(test_words_of_lists),
                                          cmocka_unit_test(test_sizes),
                                          cmocka_unit_test(test_matrices),
                                          cmocka_unit_test(test_scales),
                                          cmocka_unit_test(test_little_is_known),
                                          cmocka_unit_test(test_scales_of_anything),
                                          cmocka_unit_test(test_times_of_any_size)};

TEST_GROUP(page, NULL, NULL)
