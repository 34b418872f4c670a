/* Plans files: what is read of a text, what is skipped and said to be, and whose plans they are. */
#include "gen/families.h"
#include "gen/model/plans.h"
#include "tests/unit/gen/model/models.h"
#include "tests/unit/group.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#define HEAD "gpu H100 sm_90 multiprocessors=132 memory=3352GB/s\n"
#define LINE "scan 4 bytes | any | ..32768 | 1.5 | persistent threads=256"

typedef struct heard {
    int count, line;
    char why[256];
} heard;

static void hear(void *user, const char *file, int line, const char *why) {
    heard *h = user;
    assert_string_equal(file, "a.plans");
    h->count++;
    h->line = line;
    snprintf(h->why, sizeof h->why, "%s", why);
}

static plans read_text(job *j, const char *text, size_t length, heard *h) {
    const plans_listener listener = {hear, h};
    plans out = {0};
    *h = (heard){0};
    plans_read(j, &out, "a.plans", text, length, &listener);
    return out;
}

/* ---- what is right --------------------------------------------------------------------------- */

static void fields_body(job *j) {
    static const char text[] = "\xef\xbb\xbf# a comment\r\n\r\n"
                               "gpu RTX 4090 sm_89a \t multiprocessors=128   memory=1008.5GB/s\r\n"
                               "  stencil 3D 13 points radius 2|float| 512x256x128 ,  10 "
                               "steps|2972.6| streamed tile=32x8 \r\n"
                               "gpu T4 sm_75 multiprocessors=40 memory=15GiB\n"
                               "scan 4 bytes | any | any | - | persistent threads=256\n"
                               "cpu A Processor @ 2 GHz cores=16\n"
                               "scan 8 bytes | double | ..100 | 0.25 | look-back";
    heard h;
    const plans p = read_text(j, text, sizeof text - 1, &h);
    assert_int_equal(h.count, 0);
    assert_int_equal(p.count, 3);
    const plans_line *l = p.list;
    assert_string_equal(l->board->name, "RTX 4090");
    assert_string_equal(l->board->arch, "sm_89");
    assert_int_equal(l->board->multiprocessors, 128);
    assert_true(l->board->memory_rate == 1008.5e9 && l->board->memory == 0);
    assert_string_equal(l->class, "stencil 3D 13 points radius 2");
    assert_string_equal(l->dtype, "float");
    assert_true(l->size_count == 3 && l->size[0] == 512 && l->size[1] == 256 && l->size[2] == 128);
    assert_true(l->steps == 10 && !l->up_to && l->rate == 2972.6 && l->line == 4);
    assert_string_equal(l->plan, "streamed tile=32x8");
    l++;
    assert_true(l->board->memory == 15.0 * 1024 * 1024 * 1024 && l->board->memory_rate == 0);
    assert_true(l->up_to && l->size[0] == INT64_MAX && l->rate == 0 && l->steps == 1);
    l++;
    assert_string_equal(l->board->name, "A Processor @ 2 GHz");
    assert_string_equal(l->board->arch, "cpu");
    assert_true(l->up_to && l->size[0] == 100 && l->rate == 0.25);
}

/* Whatever the user's locale writes between whole and part. */
static void test_fields(void **state) {
    (void)state;
    static const char *const locales[] = {"C", "de_DE.UTF-8", "de_DE", "fr_FR.UTF-8"};
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++)
        if (setlocale(LC_NUMERIC, locales[i]) != NULL)
            in_job(fields_body);
    setlocale(LC_NUMERIC, "C");
}

/* ---- what is damaged ------------------------------------------------------------------------- */

static void damaged_body(job *j) {
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"scan 4 bytes", "it has no bars, and begins with neither gpu nor cpu"},
        {"scan 4 bytes | any | 5 | 1.5",
         "it takes five fields: class | dtype | size | rate | plan"},
        {"scan 4 bytes | any | 5 | 1.5 |",
         "it takes five fields: class | dtype | size | rate | plan"},
        {"| any | 5 | 1.5 | a", "it takes five fields: class | dtype | size | rate | plan"},
        {"a | any | 5 | 1.5 | a | b", "it has more than five fields"},
        {"a | half | 5 | 1.5 | b", "'half' is no dtype"},
        {"a | any | | 1.5 | b", "'' is no size"},
        {"a | any | 5x | 1.5 | b", "'5x' is no size"},
        {"a | any | x5 | 1.5 | b", "'x5' is no size"},
        {"a | any | -5 | 1.5 | b", "'-5' is no size"},
        {"a | any | ..5x5 | 1.5 | b", "'..5x5' is no size"},
        {"a | any | 1x2x3x4x5x6x7x8x9 | 1.5 | b", "'1x2x3x4x5x6x7x8x9' is no size"},
        {"a | any | 9999999999999999999 | 1.5 | b", "'9999999999999999999' is no size"},
        {"a | any | 5, 0 steps | 1.5 | b", "'5, 0 steps' is no size"},
        {"a | any | 5, ten steps | 1.5 | b", "'5, ten steps' is no size"},
        {"a | any | 5, 10 | 1.5 | b", "'5, 10' is no size"},
        {"a | any | 5 | 1,5 | b", "'1,5' is no rate"},
        {"a | any | 5 | 0 | b", "'0' is no rate"},
        {"a | any | 5 | -1 | b", "'-1' is no rate"},
        {"a | any | 5 | 1e9 | b", "'1e9' is no rate"},
        {"a | any | 5 | inf | b", "'inf' is no rate"},
        {"a | any | 5 | 1.5.5 | b", "'1.5.5' is no rate"},
        {"a | any | 5 | 1234567890123456 | b", "'1234567890123456' is no rate"},
        {"a | any | 5 | 1.5 | b\x01", "it holds a control character"},
        {"a | any\r | 5 | 1.5 | b", "it holds a control character"},
        {"gpu", "it has no bars, and begins with neither gpu nor cpu"},
        {"gpu sm_90 multiprocessors=132 memory=3352GB/s", "a gpu has a name"},
        {"gpu a sm_90 multiprocessors=132",
         "a gpu ends with its memory, memory=3352GB/s or memory=80GiB"},
        {"gpu a sm_90 multiprocessors=132 memory=3352",
         "a gpu ends with its memory, memory=3352GB/s or memory=80GiB"},
        {"gpu a sm_90 multiprocessors=132 memory=0GiB",
         "a gpu ends with its memory, memory=3352GB/s or memory=80GiB"},
        {"gpu a sm_90 multiprocessors=0 memory=80GiB",
         "a gpu has multiprocessors=132 before its memory"},
        {"gpu a sm_90 multiprocessors=99999999 memory=80GiB",
         "a gpu has multiprocessors=132 before its memory"},
        {"gpu a sm_x multiprocessors=1 memory=80GiB",
         "a gpu has its architecture, sm_90, before its multiprocessors"},
        {"cpu a", "a cpu ends with its cores=16"},
        {"cpu cores=16", "a cpu has a name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        heard h;
        const char *text = job_print(j, HEAD LINE "\n%s\n" HEAD LINE "\n", cases[i].line);
        const plans p = read_text(j, text, strlen(text), &h);
        if (h.count != 1 || h.line != 3 || strcmp(h.why, cases[i].why) != 0 || p.count != 2)
            fail_msg("%s: %d in line %d, %s", cases[i].line, h.count, h.line, h.why);
    }
}

static void test_damaged(void **state) {
    (void)state;
    in_job(damaged_body);
}

/* Lines of no board, because there was none or it is damaged, are not those of the one before. */
static void no_board_body(job *j) {
    heard h;
    static const char none[] = LINE, damaged[] = HEAD "gpu what\n" LINE;
    assert_int_equal(read_text(j, none, sizeof none - 1, &h).count, 0);
    assert_string_equal(h.why, "no line before it says of which gpu or cpu it is");
    assert_int_equal(read_text(j, damaged, sizeof damaged - 1, &h).count, 0);
    assert_int_equal(h.count, 2);
    static const char zero[] =
        HEAD "a | any | 5 | 1.5 | b\0c\n" LINE; /* a file may hold any byte */
    assert_int_equal(read_text(j, zero, sizeof zero - 1, &h).count, 1);
    assert_string_equal(h.why, "it holds a control character");
    assert_int_equal(read_text(j, "", 0, &h).count, 0);
    assert_int_equal(h.count, 0);
}

static void test_no_board(void **state) {
    (void)state;
    in_job(no_board_body);
}

/* What only the families know: classes, and schedules. */
static void flaws_body(job *j) {
#define KEY "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
    static const struct {
        const char *class, *plan, *why;
    } cases[] = {
        {"stencil 3D 13 points radius 2", "streamed tile=32x8", NULL},
        {"stencil 3D 13 points radius 2 in 16 bits", "bulk tile=192x32", NULL},
        {"stencil 3D 27 weights radius 1", "temporal tile=60x44", NULL},
        {"stencil " KEY, "naive tile=32x8", NULL},
        {"merge " KEY, "merge-path threads=256", NULL},
        {"scan 4 bytes", "persistent threads=256", NULL},
        {"merge 4 bytes", "merge-path threads=256", "there is no class 'merge 4 bytes'"},
        {"stencil 3D 13 points", "naive", "there is no class 'stencil 3D 13 points'"},
        {"stencil xD 13 points radius 2", "naive",
         "there is no class 'stencil xD 13 points radius 2'"},
        {"stencil 3D 27 weights radius 1 in 16 bits", "naive",
         "there is no class 'stencil 3D 27 weights radius 1 in 16 bits'"},
        {"stencil 3D 13 points radius 2 in 17 bits", "naive",
         "there is no class 'stencil 3D 13 points radius 2 in 17 bits'"},
        {"scan 4 bytes and", "persistent", "there is no class 'scan 4 bytes and'"},
        {"sort " KEY, "naive", "there is no class 'sort " KEY "'"},
        {"stencil 0123", "naive", "there is no class 'stencil 0123'"},
        {"scan 4 bytes", "persistant", ""},
        {"scan 4 bytes", "persistent threads=99999999999999999999", ""},
        {"stencil 3D 13 points radius 2", "naive tile=axb", ""},
        {"stencil 3D 13 points radius 2", "threads=3", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const plans_line l = {.class = cases[i].class, .plan = cases[i].plan};
        const char *why = plans_line_flaw(j, &l);
        if ((why == NULL) != (cases[i].why == NULL))
            fail_msg("%s | %s: %s", l.class, l.plan, why != NULL ? why : "no flaw");
        if (why != NULL && cases[i].why[0] != '\0')
            assert_string_equal(why, cases[i].why);
    }
}

static void test_flaws(void **state) {
    (void)state;
    in_job(flaws_body);
}

/* ---- whose they are -------------------------------------------------------------------------- */

/* By facts, not by names. */
static void boards_body(job *j) {
    (void)j;
    const plans_board rate = {"x", "sm_90", 132, 3352e9, 0},
                      size = {"x", "sm_90", 132, 0, 80 * 1073741824.0},
                      processor = {"H100", "cpu", 132, 0, 0};
    gpu g = *gpu_find("H100");
    assert_true(plans_board_is(&rate, &g) && plans_board_is(&size, &g));
    assert_false(plans_board_is(&processor, &g));
    assert_false(plans_board_is(&rate, gpu_find("H200")) ||
                 plans_board_is(&size, gpu_find("H200")));
    g.arch = "sm_90a";
    g.name = "NVIDIA H100 80GB HBM3";
    g.memory_rate *= 1.03;
    g.memory *= 0.98;
    assert_true(plans_board_is(&rate, &g) && plans_board_is(&size, &g));
    g.memory_rate *= 1.03;
    assert_false(plans_board_is(&rate, &g));
    g.multiprocessors = 114;
    assert_false(plans_board_is(&size, &g));
    g.multiprocessors = 132;
    g.arch = "sm_100";
    assert_false(plans_board_is(&size, &g));
}

static void test_boards(void **state) {
    (void)state;
    in_job(boards_body);
}

/* What is attached to a GPU goes before, and instead of, what the library ships; all of which is
   right. */
static void shipped_body(job *j) {
    heard h = {0};
    const plans_listener listener = {hear, &h};
    for (const plans_file *f = plans_files; f->file != NULL; f++) {
        plans all = {0};
        plans_read(j, &all, "a.plans", f->text, strlen(f->text), &listener);
        if (h.count > 0)
            fail_msg("%s:%d: %s", f->file, h.line, h.why);
        assert_true(all.count > 0);
        for (int i = 0; i < all.count; i++)
            if (plans_line_flaw(j, &all.list[i]) != NULL)
                fail_msg("%s:%d: %s", f->file, all.list[i].line, plans_line_flaw(j, &all.list[i]));
    }
    gpu g = *gpu_find("H100");
    assert_true(plans_known(j, &g)->count > 300);
    assert_true(plans_known(j, gpu_find("H200"))->count > 150);
    assert_int_equal(plans_known(j, gpu_find("A100"))->count, 0);
    const plans none = {0};
    g.plans = &none;
    assert_int_equal(plans_known(j, &g)->count, 0);
}

static void test_shipped(void **state) {
    (void)state;
    in_job(shipped_body);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_fields), cmocka_unit_test(test_damaged), cmocka_unit_test(test_no_board),
    cmocka_unit_test(test_flaws),  cmocka_unit_test(test_boards),  cmocka_unit_test(test_shipped),
};

TEST_GROUP(plans, NULL, NULL)
