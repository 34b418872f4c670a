/* The modes golden and sources. Golden: the plan.h of cases is what tests/golden/NAME.h says.
   Sources: prints a hash of each source, so that two runs can be compared. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runner/subject.h"

typedef struct golden_one {
    const options *options;
    const test_case *test;
    report *report;
} golden_one;

static const family_build *generate(job *j, const golden_one *g) {
    return subject_generate(j, g->test, subject_load(j, g->options, g->test), g->test->arch, NULL);
}

static char *read_file(job *j, const char *path) {
    FILE *f = fopen(path, "rb");
    if (f == NULL)
        return NULL;
    text t = text_new(j);
    char piece[4096];
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;)
        text_add_bytes(&t, piece, n);
    fclose(f);
    return t.data;
}

static void write_file(job *j, const char *path, const char *content) {
    FILE *f = fopen(path, "wb");
    const bool written = f != NULL && fputs(content, f) >= 0;
    if (f == NULL || fclose(f) != 0 || !written)
        job_fail(j, FAULT_IO, path, 0, "it cannot be written: %s", strerror(errno));
}

/* The first line that differs. */
static const char *describe_difference(job *j, const char *path, const char *expected,
                                       const char *actual) {
    int line = 1;
    const char *e = expected, *a = actual;
    for (size_t i = 0; expected[i] == actual[i]; i++)
        if (expected[i] == '\n') {
            line++;
            e = expected + i + 1;
            a = actual + i + 1;
        }
    return job_print(j, "%s:%d: '%.*s' instead of '%.*s'; if that is meant to be, --update", path,
                     line, (int)strcspn(a, "\n"), a, (int)strcspn(e, "\n"), e);
}

static void compare_header(job *j, void *argument) {
    const golden_one *g = argument;
    const char *slash = strrchr(g->test->name, '/');
    const char *path = job_print(j, "%s/tests/golden/%s.h", g->options->root,
                                 slash != NULL ? slash + 1 : g->test->name);
    const char *actual = generate(j, g)->header;
    if (g->options->update)
        write_file(j, path, actual);
    const char *expected = read_file(j, path);
    if (expected == NULL)
        report_fail(g->report, g->test->name, job_print(j, "there is no %s; --update", path));
    else if (strcmp(expected, actual) != 0)
        report_fail(g->report, g->test->name, describe_difference(j, path, expected, actual));
    else
        report_pass(g->report, g->test->name);
}

void mode_golden(job *j, const options *o, const case_list *list, report *r) {
    (void)j;
    for (int i = 0; i < list->count; i++) {
        golden_one g = {o, &list->cases[i], r};
        job *own;
        if (g.test->golden && job_run(&allocator_libc, compare_header, &g, &own) != FAULT_NONE)
            report_fail(r, g.test->name, job_error(own));
        if (g.test->golden)
            job_end(own);
    }
}

/* ---- sources --------------------------------------------------------------------------------- */

/* Whether each launch that may begin before the one ahead of it has ended waits for that itself. */
static bool waits(const program *p) {
    const int own = program_own_launches(p);
    for (int i = 0; i < p->launch_count; i++) {
        const char *source = i < own ? p->source : program_spare_source(p);
        if (p->launches[i].early && strstr(source, "griddepcontrol.wait") == NULL)
            return false;
    }
    return true;
}

static void print_source(job *j, void *argument) {
    const golden_one *g = argument;
    const program *p = generate(j, g)->program;
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (const char *c = p->source; *c != '\0'; c++)
        h = (h ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    printf("%016llx %zu %s\n", (unsigned long long)h, strlen(p->source), g->test->name);
    if (waits(p))
        report_pass(g->report, g->test->name);
    else
        report_fail(g->report, g->test->name, "a launch begins early and does not wait");
}

void mode_sources(job *j, const options *o, const case_list *list, report *r) {
    (void)j;
    for (int i = 0; i < list->count; i++) {
        golden_one g = {o, &list->cases[i], r};
        job *own;
        const fault f = job_run(&allocator_libc, print_source, &g, &own);
        if (f == FAULT_PLAN || f == FAULT_SPEC || f == FAULT_USAGE)
            printf("%s %s\n", job_error_text(own), g.test->name);
        else if (f != FAULT_NONE)
            report_fail(r, g.test->name, job_error(own));
        job_end(own);
    }
}
