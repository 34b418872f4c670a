/* The mode selftest: the harness must see what is wrong. Each case is run well once, and then with
   one thing spoilt, which must be found and named. Also: the selection meets every pair. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/runner/cover.h"
#include "tests/runner/lists.h"
#include "tests/runner/scene.h"

/* ---- ways to spoil a launch
 * ----------------------------------------------------------------------- */

static image *written_image(scene *s) {
    return &s->images[s->at[s->subject->written[0]]];
}

static void flip(image *m, int64_t at) {
    m->after[(size_t)at * m->element + m->element - 2] ^= 0x20;
}

static void spoil_cell(scene *s, int *final) {
    (void) final;
    image *m = written_image(s);
    flip(m, image_index(m, s->place.end[0] - 1, s->place.begin[1], s->place.end[2] - 1));
}

/* Little more than rounding allows where terms have magnitudes of up to 1 together, whatever is
   left of them in the sum: ten times the bound. */
static void spoil_cell_a_little(scene *s, int *final) {
    (void) final;
    image *m = written_image(s);
    const int64_t at = image_index(m, s->place.begin[0], s->place.begin[1], s->place.begin[2]);
    if (m->element == sizeof(float))
        ((float *)m->after)[at] += 0x1p-17f;
    else
        ((double *)m->after)[at] += 0x1p-45;
}

static void spoil_not_a_number(scene *s, int *final) {
    (void) final;
    image *m = written_image(s);
    memset(m->after +
               (size_t)image_index(m, s->place.begin[0], s->place.begin[1], s->place.begin[2]) *
                   m->element,
           0xff, m->element);
}

static void spoil_guard_before(scene *s, int *final) {
    (void) final;
    flip(written_image(s), 0);
}

static void spoil_guard_behind(scene *s, int *final) {
    (void) final;
    flip(written_image(s), written_image(s)->count - 1);
}

static void spoil_padding(scene *s, int *final) {
    (void) final;
    flip(written_image(s), image_index(written_image(s), s->place.size[0], 0, 0));
}

static void spoil_outside_box(scene *s, int *final) {
    (void) final;
    flip(written_image(s), image_index(written_image(s), s->place.size[0] - 1, 0, 0));
}

static void spoil_read_array(scene *s, int *final) {
    (void) final;
    image *m = &s->images[s->at[s->subject->reads[0]]];
    flip(m, image_index(m, 0, 0, 0));
}

static void spoil_everything_late(scene *s, int *final) {
    (void) final;
    image *m = written_image(s);
    memcpy(m->after, m->before, (size_t)m->count * m->element); /* as if it had not run */
}

static void spoil_final(scene *s, int *final) {
    (void)s;
    const int swapped = final[0];
    final[0] = final[1];
    final[1] = swapped;
}

static void spoil_later_step(scene *s, int *final) {
    (void) final;
    if (s->at[0] != 0)
        spoil_cell_a_little(s, NULL);
}

/* Of several steps at once, after which the result may be in either grid. */
static image *final_image(scene *s, const int *final) {
    return &s->images[final[s->subject->reads[0]]];
}

static void spoil_result_a_little(scene *s, int *final) {
    image *m = final_image(s, final);
    const int64_t at = image_index(m, s->place.end[0] - 1, s->place.begin[1], s->place.begin[2]);
    if (m->element == sizeof(float))
        ((float *)m->after)[at] += 0x1p-15f;
    else
        ((double *)m->after)[at] += 0x1p-43;
}

static void spoil_by_the_step_before(scene *s, int *final) {
    image *m = final_image(s, final), *other = &s->images[1 - (m - s->images)];
    memcpy(m->after, other->after, (size_t)m->count * m->element);
}

static void spoil_result_outside_box(scene *s, int *final) {
    flip(final_image(s, final), image_index(final_image(s, final), 0, 0, 0));
}

static void spoil_guard_of_result(scene *s, int *final) {
    flip(final_image(s, final), 1);
}

static const struct {
    const char *name;
    void (*tamper)(scene *, int *final);
    int steps;
    bool inside; /* in a sub-box */
    const char *found;
    bool at_once; /* after all steps at once */
} spoils[] = {
    {"a cell", spoil_cell, 0, false, "instead of", false},
    {"a cell, slightly", spoil_cell_a_little, 0, false, "instead of", false},
    {"a cell, not a number", spoil_not_a_number, 0, false, "NaN instead of", false},
    {"a cell of a sub-box", spoil_cell, 0, true, "instead of", false},
    {"the guard before", spoil_guard_before, 0, false, "outside of its cells, element 0 of", false},
    {"the guard behind", spoil_guard_behind, 0, false, "outside of its cells", false},
    {"padding", spoil_padding, 0, false, "outside of its cells", false},
    {"a cell outside of the box", spoil_outside_box, 0, true, "which must not change", false},
    {"an array that is read", spoil_read_array, 0, false, "which must not change", false},
    {"all, by not running", spoil_everything_late, 0, false, "NaN instead of", false},
    {"the order of the grids", spoil_final, 2, false, "final says", false},
    {"the second step", spoil_later_step, 2, false, "instead of", false},
    {"what a step carries along", spoil_outside_box, 1, true, "which must not change", false},
    {"the result of seven steps", spoil_result_a_little, 7, false, "after several steps", true},
    {"the last of seven steps", spoil_by_the_step_before, 7, false, "after several steps", true},
    {"steps in a box", spoil_result_a_little, 6, true, "after several steps", true},
    {"what steps carry along", spoil_result_outside_box, 6, true, "in any step", true},
    {"the guard of several steps", spoil_guard_of_result, 3, false, "in any step", true},
};

/* ---- running them
 * --------------------------------------------------------------------------------- */

typedef struct trial {
    const options *options;
    report *report;
    const test_subject *subject;
    int spoil; /* −1: none */
    const char *name, *found;
} trial;

/* Small where something is spoilt. A mistake must be met by cells that are drawn as it needs them:
   of 21 × 13 cells one run in some hundred had none that are equal. */
static place make_place(const trial *t) {
    place p = {.size = {21, 13, 9}, .layout = {.pad = {3, 2}}};
    if (t->spoil < 0)
        memcpy(p.size, (int64_t[3]){201, 103, 9}, sizeof p.size);
    const bool inside = t->spoil >= 0 && spoils[t->spoil].inside;
    for (int axis = 0; axis < AXES; axis++) {
        if (axis >= t->subject->model->dims)
            p.size[axis] = 1;
        p.begin[axis] = inside && p.size[axis] > 4 ? 2 : 0;
        p.end[axis] = p.size[axis] - p.begin[axis];
    }
    p.steps = t->spoil >= 0 ? spoils[t->spoil].steps : 0;
    return p;
}

static void run_trial(job *j, void *argument) {
    const trial *t = argument;
    const place p = make_place(t);
    scene s;
    scene_open(j, t->subject, &p, t->options->data_seed, &s);
    if (t->spoil >= 0)
        *(spoils[t->spoil].at_once ? &s.tamper_steps : &s.tamper) = spoils[t->spoil].tamper;
    scene_run(j, &s);
    if (t->found == NULL && s.wrong.length > 0)
        report_fail(t->report, t->name, job_print(j, "it should be right: %s", s.wrong.data));
    else if (t->found != NULL && strstr(s.wrong.data, t->found) == NULL)
        report_fail(t->report, t->name,
                    job_print(j, "the harness does not see it; it says '%s'", s.wrong.data));
    else
        report_pass(t->report, t->name);
    job_keep(j, &s);
    scene_close(&s);
}

static void try_one(trial *t) {
    job *own;
    if (job_run(&allocator_libc, run_trial, t, &own) != FAULT_NONE)
        report_fail(t->report, t->name, job_error(own));
    job_end(own);
}

/* A kernel of one spec judged by the model of another: as if the generator had got it wrong. */
typedef struct mistake {
    const char *name, *from, *to;
} mistake;

/* Of branches that random numbers alone would not take. */
static const char branching_spec[] =
    "return stencil { name = 'branching', fields = { u = 'inout', m = 'in' }, dtype = 'float',\n"
    "  update = function(f) return where(eq(f.m(0, 0), 1), 2 * f.u(1, 0),\n"
    "    where(le(f.u(0, 0), 7), f.u(0, 0), where(eq(f.u(0, 1), f.u(1, 0)), 3, 4))) end }";

static const mistake branch_mistakes[] = {
    {"a branch by equality", "2 * f.u", "3 * f.u"},
    {"a branch beyond a threshold", "3, 4)", "3, 5)"},
    {"a branch of equal cells", "3, 4)", "2, 4)"},
    {"a threshold that belongs to the other side", "le(", "lt("},
};

static const mistake mistakes[] = {
    {"another boundary", "'zero'", "'clamp'"},
    {"another boundary on one side", "'zero'", "{ x = 'zero', y = { 'zero', 'mirror' } }"},
    {"no boundary", "'zero'", "'fixed'"},
    {"taps taken for each other", "1/8, 3/16", "3/16, 1/8"},
    {"a coefficient off by a part in 2^16", "1/8", "8193/65536"},
};

static const char mistaken_spec[] =
    "return stencil { name = 'taken', shape = star(2, 1), dtype = 'float', boundary = 'zero',\n"
    "  coefficients = { 1/2, 1/8, 3/16, 1/32, 5/32 } }";

static const char *replace(job *j, const char *in, const char *from, const char *to) {
    const char *at = strstr(in, from);
    return job_print(j, "%.*s%s%s", (int)(at - in), in, to, at + strlen(from));
}

static void try_mistakes(job *j, const options *o, sg_context *c, report *r, const char *spec,
                         const mistake *list, size_t count) {
    test_case right = {.name = "selftest/mistakes", .spec = spec};
    test_subject s;
    if (!subject_build(j, o, c, &right, 1, false, r, &s))
        return;
    trial t = {o, r, &s, -1, right.name, NULL};
    try_one(&t);
    for (size_t i = 0; i < count; i++) {
        test_case wrong = right;
        wrong.spec = replace(j, spec, list[i].from, list[i].to);
        subject_judge_by(j, &s, subject_load(j, o, &wrong)->expressions);
        t.name = job_print(j, "selftest/%s", list[i].name);
        t.found = "instead of";
        try_one(&t);
    }
    subject_release(&s);
}

static void try_spoils(job *j, const options *o, sg_context *c, report *r, const char *dtype) {
    test_case good = {
        .name = job_print(j, "selftest/%s", dtype),
        .spec = job_print(j,
                          "return stencil { name = 'good', shape = star(2, 1), dtype = '%s', "
                          "boundary = 'periodic', coefficients = { 1/2, 1/8, 3/16, 1/32, 5/32 } }",
                          dtype)};
    test_subject s;
    if (!subject_build(j, o, c, &good, 1, false, r, &s))
        return;
    trial t = {o, r, &s, -1, good.name, NULL};
    try_one(&t);
    for (size_t i = 0; i < sizeof spoils / sizeof spoils[0]; i++) {
        t.spoil = (int)i;
        t.found = spoils[i].found;
        t.name = job_print(j, "%s/%s", good.name, spoils[i].name);
        try_one(&t);
    }
    subject_release(&s);
}

/* ---- the selection
 * -------------------------------------------------------------------------------- */

/* Value 3 of dimension 1 wants 1 of dimension 2, and 0 of the first refuses 1 of the last: of all
   pairs these alone are in no row. */
static bool is_refused(int d, int v, int e, int w) {
    return (d == 1 && v == 3 && e == 2 && w != 1) || (d == 0 && v == 0 && e == 4 && w == 1);
}

enum { SELECTED = 5, MOST_SELECTED = 400 };
typedef int selected_row[COVER_DIMENSIONS];

/* Rows that are not refused; with `refusing` false none are. */
static int select_rows(cover *c, bool refusing, selected_row *rows) {
    int count = 0;
    while (count < MOST_SELECTED && cover_missing(c, rows[count], SELECTED)) {
        const int *row = rows[count];
        cover_fill(c, rows[count], SELECTED);
        if (refusing && (is_refused(1, row[1], 2, row[2]) || is_refused(0, row[0], 4, row[4])))
            cover_refuse(c);
        else
            count++;
    }
    return count;
}

static void check_selection(job *j, report *r, uint64_t seed, bool refusing) {
    static const int counts[SELECTED] = {17, 6, 5, 8, 2};
    selected_row rows[MOST_SELECTED + 1];
    const int count = select_rows(cover_new(j, counts, SELECTED, seed), refusing, rows);
    long missing = 0;
    for (int d = 0; d < SELECTED; d++)
        for (int e = d + 1; e < SELECTED; e++)
            for (int v = 0; v < counts[d]; v++)
                for (int w = 0; w < counts[e]; w++) {
                    bool met = refusing && is_refused(d, v, e, w);
                    for (int i = 0; i < count; i++)
                        met = met || (rows[i][d] == v && rows[i][e] == w);
                    missing += !met;
                }
    const char *name = job_print(j, "selftest/selection %d%s", (int)seed,
                                 refusing ? ", where some is refused" : "");
    if (missing > 0)
        report_fail(r, name, job_print(j, "%ld pairs are not met by %d rows", missing, count));
    else if (count > 17 * 8 * 5 / 4)
        report_fail(r, name, job_print(j, "it takes %d rows", count));
    else
        report_pass(r, name);
}

static void check_cover(job *j, report *r) {
    for (uint64_t seed = 1; seed <= 3; seed++) {
        check_selection(j, r, seed, false);
        check_selection(j, r, seed, true);
    }
}

void mode_selftest(job *j, const options *o, const case_list *list, report *r) {
    (void)list;
    sg_context *c = runner_context(o, r);
    if (c == NULL)
        return;
    check_cover(j, r);
    try_spoils(j, o, c, r, "float");
    try_spoils(j, o, c, r, "double");
    try_mistakes(j, o, c, r, mistaken_spec, mistakes, sizeof mistakes / sizeof *mistakes);
    try_mistakes(j, o, c, r, branching_spec, branch_mistakes,
                 sizeof branch_mistakes / sizeof *branch_mistakes);
    lists_selftest(j, o, c, r);
    sg_close(c);
}
