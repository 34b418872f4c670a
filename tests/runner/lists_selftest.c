/* Self-tests of lists: what a launch leaves is spoilt, a kernel is judged by another spec, its
   source is edited before it is compiled; each must be found. Those of a family that cannot be
   judged yet are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gen/families.h"
#include "tests/runner/lists.h"

/* ---- ways to spoil a launch ------------------------------------------------------------------ */

static int written_array(const list_scene *s) {
    int i = 0;
    while (!s->subject->program->arrays[i].written)
        i++;
    return i;
}

/* The lowest bit of a whole number; of others one that no rounding changes. */
static void spoil_element(list_scene *s) {
    const int i = written_array(s);
    const program_array *a = &s->subject->program->arrays[i];
    const size_t count = s->images[i].inner / a->element_bytes;
    unsigned char *element = list_scene_written(s, i) + count / 2 * a->element_bytes;
    if (dtype_find(a->dtype) >= DTYPE_REALS)
        element[0] ^= 1;
    else
        element[a->element_bytes - 1] ^= 0x40;
}

static void spoil_last_element(list_scene *s) {
    const int i = written_array(s);
    list_scene_written(s, i)[s->images[i].inner - 1] ^= 0x40;
}

static void spoil_guard_before(list_scene *s) {
    list_scene_written(s, written_array(s))[-1] ^= 1;
}

static void spoil_guard_behind(list_scene *s) {
    const int i = written_array(s);
    list_scene_written(s, i)[s->images[i].inner] ^= 1;
}

static void spoil_read_array(list_scene *s) {
    list_scene_written(s, 0)[0] ^= 1;
}

static void spoil_temporary_guard(list_scene *s) {
    s->temporary.after[s->temporary.origin + s->temporary.inner] ^= 1;
}

static void spoil_everything(list_scene *s) {
    list_image *m = &s->images[written_array(s)];
    memcpy(m->after, m->before, m->bytes); /* as if it had not run */
}

static void spoil_second_launch(list_scene *s) {
    if (s->first[written_array(s)] != NULL)
        spoil_element(s);
}

static const struct {
    const char *name;
    void (*tamper)(list_scene *);
    const char *found;
} spoils[] = {
    {"an element", spoil_element, "instead of"},
    {"the last element", spoil_last_element, "instead of"},
    {"the guard before", spoil_guard_before, "byte -1 of its"},
    {"the guard behind", spoil_guard_behind, "outside of it"},
    {"an array that is read", spoil_read_array, "though it is only read"},
    {"the guard behind the temporary memory", spoil_temporary_guard, "the temporary memory"},
    {"all, by not running", spoil_everything, "instead of"},
    {"a second launch", spoil_second_launch, "instead of"},
};

/* Kernels of one spec judged as another says, and kernels whose source is edited by sed. The first
   of a family is right as it stands, and is what launches are spoilt of. */
static const struct {
    int family;
    const char *name, *spec, *judge, *edit;
} mistakes[] = {
    {FAMILY_REDUCE, "reduce", "reduce { name = 'taken', op = 'sum', dtype = 'int32' }", NULL, NULL},
    {FAMILY_REDUCE, "reduce, another operator",
     "reduce { name = 'taken', op = 'sum', dtype = 'int32' }",
     "reduce { name = 'taken', op = 'max', dtype = 'int32' }", NULL},
    {FAMILY_REDUCE, "reduce without barriers",
     "reduce { name = 'taken', op = 'sum', dtype = 'int32', algorithm = 'coalesced' }", NULL,
     "s/__syncthreads();//"},
    {FAMILY_REDUCE, "reduce, a branch of the map",
     "reduce { name = 'taken', op = 'sum', dtype = 'int32', "
     "map = function(a) return where(eq(a, 7), 2, 1) end }",
     "reduce { name = 'taken', op = 'sum', dtype = 'int32', "
     "map = function(a) return where(eq(a, 7), 3, 1) end }",
     NULL},
    {FAMILY_SCAN, "scan", "scan { name = 'taken', op = 'sum', dtype = 'int32' }", NULL, NULL},
    {FAMILY_SCAN, "scan, another operator", "scan { name = 'taken', op = 'sum', dtype = 'int32' }",
     "scan { name = 'taken', op = 'max', dtype = 'int32' }", NULL},
    {FAMILY_SCAN, "scan, another kind", "scan { name = 'taken', op = 'sum', dtype = 'int32' }",
     "scan { name = 'taken', op = 'sum', dtype = 'int32', kind = 'exclusive' }", NULL},
    {FAMILY_SCAN, "scan without barriers",
     "scan { name = 'taken', op = 'sum', dtype = 'int32', algorithm = 'kogge-stone' }", NULL,
     "s/__syncthreads();//"},
    {FAMILY_MERGE, "merge", "merge { name = 'taken', keys = 'int32' }", NULL, NULL},
    {FAMILY_MERGE, "merge, another order", "merge { name = 'taken', keys = 'int32' }",
     "merge { name = 'taken', keys = 'int32', order = 'descending' }", NULL},
    {FAMILY_SPMV, "spmv", "spmv { name = 'taken', format = 'csr', dtype = 'float' }", NULL, NULL},
    {FAMILY_SPMV, "spmv without barriers",
     "spmv { name = 'taken', format = 'coo', dtype = 'double' }", NULL, "s/__syncthreads();//"},
};

/* Merges draw how long each list is; here neither is empty. */
enum { SEED = 3 };

/* ---- running them ---------------------------------------------------------------------------- */

typedef struct trial {
    const options *options;
    report *report;
    sg_context *context;
    const char *name, *spec, *judge;
    void (*tamper)(list_scene *);
    const char *found; /* NULL: it must be right */
} trial;

static const subject *load(job *j, const trial *t, const char *spec) {
    const test_case c = {.name = t->name, .spec = job_print(j, "return %s", spec)};
    return subject_load(j, t->options, &c);
}

static void run_trial(job *j, void *argument) {
    const trial *t = argument;
    const test_case c = {.name = t->name, .spec = job_print(j, "return %s", t->spec)};
    test_subject k;
    if (!subject_build(j, t->options, t->context, &c, 1, false, t->report, &k))
        return;
    const place p = {.size = {3001, k.facts.dims > 1 ? 1999 : 1, 1},
                     .layout = {.offset = 3, .vary = true},
                     .again = true};
    list_scene s;
    list_scene_open(j, &k, t->judge != NULL ? load(j, t, t->judge) : k.subject, &p, SEED, &s);
    s.tamper = t->tamper;
    list_scene_run(j, &s);
    if (t->found == NULL && s.wrong.length > 0)
        report_fail(t->report, t->name, job_print(j, "it should be right: %s", s.wrong.data));
    else if (t->found != NULL && (s.wrong.length == 0 || strstr(s.wrong.data, t->found) == NULL))
        report_fail(t->report, t->name,
                    job_print(j, "the harness does not see it; it says '%s'", s.wrong.data));
    else
        report_pass(t->report, t->name);
    job_keep(j, &s);
    list_scene_close(&s);
    subject_release(&k);
}

static void try_one(trial *t) {
    job *own;
    if (job_run(&allocator_libc, run_trial, t, &own) != FAULT_NONE)
        report_fail(t->report, t->name, job_error(own));
    job_end(own);
}

/* A compiler that edits the file before it compiles it: kernel.cpp of its arguments. */
static const char *editing_compiler(job *j, const char *folder, const char *edit) {
    const char *path = job_print(j, "%s/c++", folder);
    FILE *f = fopen(path, "w");
    if (f == NULL)
        job_fail(j, FAULT_IO, path, 0, "it cannot be written");
    fprintf(
        f,
        "#!/bin/sh\nfor one; do\n  case $one in *kernel.cpp) sed -i '%s' \"$one\" ;; esac\ndone\n"
        "exec c++ \"$@\"\n",
        edit);
    fclose(f);
    chmod(path, 0700);
    return path;
}

/* In a context of its own, whose compiler is such a one. */
static void try_edited(job *j, trial *t, const char *edit) {
    const char *usual = getenv("SG_CXX"), *parent = getenv("TMPDIR");
    const char *before = usual != NULL ? job_print(j, "%s", usual) : NULL;
    char *folder = job_print(j, "%s/run_cases-XXXXXX", parent != NULL ? parent : "/tmp");
    sg_context *shared = t->context;
    if (mkdtemp(folder) == NULL)
        job_fail(j, FAULT_IO, folder, 0, "it cannot be made");
    const char *program = editing_compiler(j, folder, edit);
    setenv("SG_CXX", program, 1);
    t->context = runner_context(t->options, t->report);
    t->found = "";
    if (t->context != NULL)
        try_one(t);
    sg_close(t->context);
    t->context = shared;
    if (before != NULL)
        setenv("SG_CXX", before, 1);
    else
        unsetenv("SG_CXX");
    unlink(program);
    rmdir(folder);
}

void lists_selftest(job *j, const options *o, sg_context *c, report *r) {
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        trial t = {.options = o, .report = r, .context = c, .judge = mistakes[i].judge};
        t.name = job_print(j, "selftest/%s", mistakes[i].name);
        t.spec = mistakes[i].spec;
        if (families[mistakes[i].family].kind == PROGRAM_GRID)
            continue;
        if (mistakes[i].edit != NULL) {
            if (strcmp(o->device, "cpu") == 0)
                try_edited(j, &t, mistakes[i].edit);
            continue;
        }
        t.found = t.judge != NULL ? "instead of" : NULL;
        try_one(&t);
        for (size_t k = 0; k < sizeof spoils / sizeof spoils[0] && t.judge == NULL; k++) {
            t.name = job_print(j, "selftest/%s/%s", mistakes[i].name, spoils[k].name);
            t.tamper = spoils[k].tamper;
            t.found = spoils[k].found;
            try_one(&t);
        }
    }
}
