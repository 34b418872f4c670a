/* The emitted file: what it leaves out, its order, and its length. */
#include "tests/unit/gen/spec/load_spec.h"

#include "gen/families.h"
#include "gen/source/file.h"
#include "gen/source/trim.h"
#include "gen/stencil/plan.h"
#include "tests/unit/group.h"

/* The most lines that a file may have; they become fewer, but for speed. The goals are 450 for
   heat13, 220 for every naive kernel and 350 for the others. */
enum {
    MOST_HEAT13 =
        438, /* 425 before results were computed ahead of their branches: 1.04 times as fast */
    MOST_HEAT2D5 = 348,
    MOST_REDUCE_SUM = 305,
    MOST_SCAN = 445,
    MOST_NAIVE = 177,
    MOST_NAIVE_FIELDS = 218, /* two fields, periodic */
    MOST_NAIVE_PACKS = 219,
    MOST_PACKS_FIELDS = 260,
};

typedef struct trimming {
    const char *text, *arch, *out;
    const char *(*trim)(job *, const char *text, const char *arch);
} trimming;

static void trim_body(job *j, void *argument) {
    trimming *t = argument;
    t->out = t->trim(j, t->text, t->arch);
}

static const char *fold_text(job *j, const char *text, const char *arch) {
    constants c = fold_constants(j, arch);
    return fold(&c, text);
}

static const char *prune_text(job *j, const char *text, const char *arch) {
    (void)arch;
    return prune(j, text);
}

static void becomes(const char *(*trim)(job *, const char *, const char *), const char *arch,
                    const char *text, const char *expected) {
    trimming t = {text, arch, NULL, trim};
    job *j;
    assert_int_equal(job_run(&allocator_libc, trim_body, &t, &j), FAULT_NONE);
    assert_string_equal(t.out, expected);
    job_end(j);
}

static void folds(const char *text, const char *expected) {
    becomes(fold_text, "sm_90", text, expected);
}

/* No condition is left open, or closed that was not begun. */
static void refuses(const char *text, const char *error) {
    trimming t = {text, "sm_90", NULL, fold_text};
    job *j;
    assert_int_equal(job_run(&allocator_libc, trim_body, &t, &j), FAULT_USAGE);
    assert_string_equal(job_error(j), error);
    job_end(j);
}

static void prunes(const char *text, const char *expected) {
    becomes(prune_text, "", text, expected);
}

/* ---- folding --------------------------------------------------------------------------------- */

static void directives_are_decided(void **state) {
    (void)state;
    folds("#if __CUDA_ARCH__ >= 900\nint a;\n#else\nint b;\n#endif\n", "int a;\n");
    becomes(fold_text, "sm_80", "#if __CUDA_ARCH__ >= 900\nint a;\n#else\nint b;\n#endif\n",
            "int b;\n");
    folds("#define PLAN_A 2\n#if PLAN_A == 1\nint a;\n#elif PLAN_A == 2\nint b;\n#else\nint c;\n"
          "#endif\nint d = PLAN_A;\n",
          "int b;\nint d = 2;\n");
    folds("#if defined(SG_NONE)\n#if OTHER\nint a;\n#endif\n#endif\nint b;\n", "int b;\n");
    folds("#if OTHER\n#define SG_A\n#endif\n#if defined(SG_A)\nint a;\n#endif\n",
          "#if OTHER\n#define SG_A\n#endif\n#if defined(SG_A)\nint a;\n#endif\n");
    folds("#define KEPT 1\nint a = KEPT;\n", "#define KEPT 1\nint a = KEPT;\n");
    refuses("#ifndef A\n#define A 1\n#endif\n",
            "error: a template's #ifndef: conditions begin with #if");
    refuses("int a;\n#else\n", "error: a template's #else: conditions begin with #if");
}

static const char plan_text[] = "struct plan {\n    static constexpr int n = 4, m = n / 3;\n"
                                "    static constexpr bool yes = true;\n};\n";

static void folds_in(const char *body, const char *expected) {
    char text[1000], result[1000];
    snprintf(text, sizeof text, "%sint f(int x) {\n%s}\n", plan_text, body);
    snprintf(result, sizeof result, "%sint f(int x) {\n%s}\n", plan_text, expected);
    folds(text, result);
}

static void choices_are_decided(void **state) {
    (void)state;
    folds_in("    if constexpr (plan::n > 3 && plan::yes) {\n        x = 1;\n    } else {\n"
             "        x = 2;\n    }\n    return x;\n",
             "    x = 1;\n    return x;\n");
    folds_in(
        "    if constexpr (!plan::yes)\n        x = 1;\n    else\n        x = 2;\n    return x;\n",
        "    x = 2;\n    return x;\n");
    folds_in("    if constexpr (plan::m != 1)\n        x = 1;\n    return x;\n", "    return x;\n");
    /* Nothing goes on behind a return. */
    folds_in("    if constexpr (plan::yes)\n        return 1;\n    return x;\n", "    return 1;\n");
    /* What is not known stays, and what is inside of it is decided. */
    folds_in("    if constexpr (other) {\n        if constexpr (plan::yes)\n            x = 1;\n"
             "    } else if constexpr (!plan::yes) {\n        x = 2;\n    }\n    return x;\n",
             "    if constexpr (other) {\n        x = 1;\n    }\n    return x;\n");
    folds_in("    if constexpr (other)\n        x = 1;\n    else if constexpr (plan::yes)\n"
             "        x = 2;\n    return x;\n",
             "    if constexpr (other)\n        x = 1;\n    else x = 2;\n    return x;\n");
}

static void what_is_declared_anew_is_not_known(void **state) {
    (void)state;
    static const char text[] = "constexpr bool packs = true;\n"
                               "template <bool packs> int f() {\n    if constexpr (packs)\n"
                               "        return 1;\n    return 2;\n}\n";
    folds(text, text);
}

/* A constant of the declaration, and what it decides. */
static void expressions_are_decided(void **state) {
    (void)state;
    folds_in("    x = plan::yes ? 1 : g(x);\n    return x;\n", "    x = 1;\n    return x;\n");
    folds_in("    const bool few = plan::n < 3;\n    if (few && x > 2)\n        x = 1;\n"
             "    return plan::yes && x > 3;\n",
             "    return x > 3;\n");
    folds_in("    if (plan::n > 3)\n        x = 1;\n    else if (x > 2)\n        x = 2;\n"
             "    return x;\n",
             "    x = 1;\n    return x;\n");
    folds_in("    static_assert(plan::n == 4, \"\");\n    return x;\n", "    return x;\n");
    /* What calls something stays, and so does what is declared by the name of a constant. */
    folds_in("    if (g(x) && !plan::yes)\n        x = 1;\n    return x;\n",
             "    if (g(x) && !plan::yes)\n        x = 1;\n    return x;\n");
    static const char shadows[] = "constexpr bool few = true;\nint f(int few) {\n"
                                  "    return few ? 1 : 2;\n}\n";
    folds(shadows, shadows);
}

static void loops_of_one_turn_are_their_bodies(void **state) {
    (void)state;
    folds_in("#pragma unroll\n    for (int i = 0; i < plan::m; ++i)\n        a[i] = b[x + i];\n"
             "    return x;\n",
             "    a[0] = b[x];\n    return x;\n");
    folds_in("#pragma unroll\n    for (int i = 1; i < plan::m; ++i)\n        a[i] = x;\n"
             "    return x;\n",
             "    return x;\n");
    folds_in("    for (int i = 0; i < plan::n; ++i)\n        a[i] = x;\n    return x;\n",
             "    for (int i = 0; i < plan::n; ++i)\n        a[i] = x;\n    return x;\n");
    /* Brackets that keep names apart stay. */
    static const char named[] = "    int y = 1;\n    for (int i = 0; i < plan::m; ++i) {\n"
                                "        int y = x;\n        a[i] = y;\n    }\n    return y;\n";
    folds_in(named, named);
}

static void recursions_of_one_turn_are_functions(void **state) {
    (void)state;
    char text[1000], result[1000];
    snprintf(text, sizeof text,
             "%stemplate <int k = 0> int f(int x) {\n    if constexpr (k < plan::m) {\n"
             "        a[k] = x;\n        f<k + 1>(x);\n    }\n}\n",
             plan_text);
    snprintf(result, sizeof result, "%sint f(int x) {\n    a[0] = x;\n}\n", plan_text);
    folds(text, result);
    /* What calls deduce stays a parameter. */
    snprintf(text, sizeof text,
             "%stemplate <int k = 0, int n>\nint f(int (&x)[n]) {\n"
             "    if constexpr (k < plan::m) {\n        a[k] = x[n];\n        f<k + 1>(x);\n"
             "    }\n}\n",
             plan_text);
    snprintf(result, sizeof result,
             "%stemplate <int n>\nint f(int (&x)[n]) {\n    a[0] = x[n];\n}\n", plan_text);
    folds(text, result);
}

/* ---- pruning --------------------------------------------------------------------------------- */

static void what_no_kernel_reaches_is_left_out(void **state) {
    (void)state;
    prunes("// Of a.\nint a() {\n    return 1;\n}\n\n// Of b.\nint b() {\n    return a();\n}\n\n"
           "// Nobody calls it.\nint c() {\n    return b();\n}\n\n"
           "extern \"C\" void k() {\n    b();\n}\n",
           "// Of a.\nint a() {\n    return 1;\n}\n\n// Of b.\nint b() {\n    return a();\n}\n\n"
           "extern \"C\" void k() {\n    b();\n}\n");
}

static void members_are_left_out_too(void **state) {
    (void)state;
    prunes("struct S {\n    static constexpr int a = 1, b = 2;\n    int data;\n"
           "    int f() const {\n        return g();\n    }\n    int g() const {\n"
           "        return a;\n    }\n\n    // Nobody's.\n    int h() const {\n        return b;\n"
           "    }\n};\nextern \"C\" void k(S s) {\n    s.f();\n}\n",
           "struct S {\n    static constexpr int a = 1;\n    int data;\n"
           "    int f() const {\n        return g();\n    }\n    int g() const {\n"
           "        return a;\n    }\n};\nextern \"C\" void k(S s) {\n    s.f();\n}\n");
    /* What is behind a dot is no use of a function. */
    prunes("int put() {\n    return 1;\n}\nextern \"C\" void k(S s) {\n    s.put = 1;\n}\n",
           "extern \"C\" void k(S s) {\n    s.put = 1;\n}\n");
}

/* Within a struct a name means its member. */
static void members_hide_what_is_outside(void **state) {
    (void)state;
    prunes("int put() {\n    return 1;\n}\nstruct S {\n    int f() const {\n"
           "        return put();\n    }\n    int put() const {\n        return 2;\n    }\n};\n"
           "extern \"C\" void k(S s) {\n    s.f();\n}\n",
           "struct S {\n    int f() const {\n        return put();\n    }\n"
           "    int put() const {\n        return 2;\n    }\n};\n"
           "extern \"C\" void k(S s) {\n    s.f();\n}\n");
}

static void headings_go_with_what_they_head(void **state) {
    (void)state;
    prunes("// ---- one ----\n\nint a;\n\n// ---- two ----\n\nint b;\n\n"
           "extern \"C\" void k() {\n    b = 1;\n}\n",
           "// ---- two ----\n\nint b;\n\nextern \"C\" void k() {\n    b = 1;\n}\n");
}

static void namespaces_have_names_of_their_own(void **state) {
    (void)state;
    prunes("int shared;\nnamespace a {\nint own;\nint other;\nextern \"C\" void k() {\n"
           "    own = shared;\n}\n} // namespace a\nnamespace b {\nint own;\nint other;\n"
           "extern \"C\" void l() {\n    other = 1;\n}\n} // namespace b\n",
           "int shared;\nnamespace a {\nint own;\nextern \"C\" void k() {\n"
           "    own = shared;\n}\n} // namespace a\nnamespace b {\nint other;\n"
           "extern \"C\" void l() {\n    other = 1;\n}\n} // namespace b\n");
}

static void assertions_go_with_what_they_speak_of(void **state) {
    (void)state;
    prunes("constexpr int a = 1;\nconstexpr int b = 2;\nstatic_assert(a > 0, \"\");\n"
           "static_assert(b > 0, \"\");\nextern \"C\" void k() {\n    f(b);\n}\n",
           "constexpr int b = 2;\nstatic_assert(b > 0, \"\");\n"
           "extern \"C\" void k() {\n    f(b);\n}\n");
}

static void templates_have_commas_of_their_own(void **state) {
    (void)state;
    static const char text[] =
        "template <int axis> struct S {\n"
        "    static constexpr int a = E<axis, 0>::k, b = E<axis, 1>::k;\n};\n"
        "extern \"C\" void k() {\n    f(S<0>::a, S<0>::b);\n}\n";
    prunes(text, text);
}

/* ---- layout ---------------------------------------------------------------------------------- */

static const char *laid_text(job *j, const char *text, const char *arch) {
    (void)arch;
    return lay_out(j, text);
}

static void lies(const char *text, const char *expected) {
    becomes(laid_text, "", text, expected);
}

static void what_fits_stands_on_one_line(void **state) {
    (void)state;
    lies("template <class T>\n__device__ T f(int a,\n             int b) {\n    return a +\n"
         "           b;\n}\n",
         "template <class T> __device__ T f(int a, int b) { return a + b; }\n");
    static const char *const stay[] = {
        "__device__ void f() {\n    if (a)\n        b();\n    for (;;)\n        c();\n}\n",
        "__device__ void f() {\n    a(); // why\n}\n",
        "    a = b + // why\n        c;\n",
        "#pragma unroll\n    for (;;) {\n        a();\n    }\n",
        "struct s {\n    int a;\n};\n",
    };
    for (size_t i = 0; i < sizeof stay / sizeof *stay; i++)
        lies(stay[i], stay[i]);
}

static void short_declarations_stand_together(void **state) {
    (void)state;
    lies("int a; // why\n\n// b\nint b;\n\n// c\nvoid c() {\n    b();\n    a();\n}\n\nint d;\n",
         "int a; // why\n// b\nint b;\n\n// c\nvoid c() {\n    b();\n    a();\n}\n\nint d;\n");
}

/* ---- whole files ----------------------------------------------------------------------------- */

typedef struct emitting {
    const char *path, *arch, *schedule;
    const char *text, *spare;
} emitting;

static void emit_body(job *j, void *argument) {
    emitting *e = argument;
    const subject *s = spec_load(j, e->path, NULL, NULL)->subjects[0];
    family_request r = {.schedule = e->schedule, .gpu = gpu_find(e->arch), .steps = 1};
    model_default_size(s->family->dims(s), true, r.size);
    if (s->family != &families[FAMILY_STENCIL])
        r.size[0] = 1 << 26;
    const program *p = s->family->build(j, s, &r)->program;
    e->text = p->source;
    e->spare = p->grid.spare_source;
}

static job *emit(emitting *e) {
    job *j;
    if (job_run(&allocator_libc, emit_body, e, &j) != FAULT_NONE)
        fail_msg("%s", job_error(j));
    return j;
}

static int lines(const char *text) {
    int count = 0;
    for (; *text != '\0'; text++)
        count += *text == '\n';
    return count;
}

static void files_are_short(void **state) {
    (void)state;
    static const struct {
        const char *path, *schedule;
        int most;
    } files[] = {
        {"specs/heat13.lua", NULL, MOST_HEAT13},
        {"specs/heat2d5.lua", NULL, MOST_HEAT2D5},
        {"specs/reduce_sum.lua", NULL, MOST_REDUCE_SUM},
        {"specs/scan.lua", NULL, MOST_SCAN},
        {"specs/heat13.lua", "naive vec=1", MOST_NAIVE},
        {"specs/heat2d5.lua", "naive vec=1", MOST_NAIVE},
        {"specs/heat1d5.lua", "naive vec=1", MOST_NAIVE},
        {"specs/grayscott.lua", "naive vec=1", MOST_NAIVE_FIELDS},
        {"specs/heat13.lua", "naive vec=4", MOST_NAIVE_PACKS},
        {"specs/heat2d5.lua", "naive vec=4", MOST_NAIVE_PACKS},
        {"specs/heat1d7.lua", "naive vec=4", MOST_NAIVE_PACKS},
        {"specs/grayscott.lua", "naive vec=4", MOST_PACKS_FIELDS},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        emitting e = {.path = files[i].path, .arch = "sm_90", .schedule = files[i].schedule};
        job *j = emit(&e);
        if (lines(e.text) > files[i].most)
            fail_msg("%s: %d lines, more than %d", e.path, lines(e.text), files[i].most);
        job_end(j);
    }
}

/* What it computes, how to launch it, the plan, the update, the kernel. */
static void files_have_an_order(void **state) {
    (void)state;
    static const char *const order[] = {"// heat13: ",   "// spec ",      "// To launch it",
                                        "struct plan {", "update_point(", "__global__"};
    emitting e = {.path = "specs/heat13.lua", .arch = "sm_90"};
    job *j = emit(&e);
    const char *at = e.text;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const char *found = strstr(at, order[i]);
        if (found == NULL)
            fail_msg("'%s' does not come next", order[i]);
        at = found;
    }
    job_end(j);
}

static void absent(const emitting *e, const char *text, const char *what) {
    if (strstr(text, what) != NULL)
        fail_msg("%s has '%s'", e->path, what);
}

/* No boundary that it has not, no rows that are no packs, no point by point, no other hardware. */
static void files_have_only_what_the_plan_needs(void **state) {
    (void)state;
    static const char *const others[] = {
        "mirror",    "periodic", "resolve", "read_anywhere", "update_small", "unsigned makes",
        "read_wide", "Boundary", "SG_",     "PLAN_",         "__CUDA_ARCH__"};
    emitting e = {.path = "specs/heat13.lua", .arch = "sm_90"};
    job *j = emit(&e);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        absent(&e, e.text, others[i]);
    assert_non_null(strstr(e.spare, "update_small"));
    absent(&e, e.spare, "mirror");
    job_end(j);
}

/* Pruning once more leaves out nothing. */
static void nothing_is_left_to_leave_out(void **state) {
    (void)state;
    static const char *const specs[] = {
        "specs/heat13.lua",        "specs/heat1d3.lua", "specs/wave2d.lua", "specs/blur_wide.lua",
        "specs/reduce_argmin.lua", "specs/scan.lua",    "specs/merge.lua"};
    static const char *const archs[] = {"sm_75", "sm_90", "sm_120"};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        for (size_t a = 0; a < sizeof archs / sizeof *archs; a++) {
            emitting e = {.path = specs[i], .arch = archs[a]};
            job *j = emit(&e);
            const char *body = strstr(e.text, "\n\n") + 2;
            trimming t = {body, NULL, NULL, prune_text};
            job *own;
            assert_int_equal(job_run(&allocator_libc, trim_body, &t, &own), FAULT_NONE);
            assert_string_equal(t.out, body);
            job_end(own);
            job_end(j);
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(directives_are_decided),
    cmocka_unit_test(choices_are_decided),
    cmocka_unit_test(what_is_declared_anew_is_not_known),
    cmocka_unit_test(expressions_are_decided),
    cmocka_unit_test(loops_of_one_turn_are_their_bodies),
    cmocka_unit_test(recursions_of_one_turn_are_functions),
    cmocka_unit_test(what_no_kernel_reaches_is_left_out),
    cmocka_unit_test(members_are_left_out_too),
    cmocka_unit_test(members_hide_what_is_outside),
    cmocka_unit_test(headings_go_with_what_they_head),
    cmocka_unit_test(namespaces_have_names_of_their_own),
    cmocka_unit_test(assertions_go_with_what_they_speak_of),
    cmocka_unit_test(templates_have_commas_of_their_own),
    cmocka_unit_test(what_fits_stands_on_one_line),
    cmocka_unit_test(short_declarations_stand_together),
    cmocka_unit_test(files_are_short),
    cmocka_unit_test(files_have_an_order),
    cmocka_unit_test(files_have_only_what_the_plan_needs),
    cmocka_unit_test(nothing_is_left_to_leave_out),
};

TEST_GROUP(source, NULL, NULL)
