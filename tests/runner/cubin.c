/* The mode cubin: sources are compiled by NVRTC, for the architecture that the case names, for one
   in turn, or for all. Of the pairwise selection, those are compiled that have among them all that
   the others have (parts.h); a shard has a part of these. Spills are reported, not failed. */
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "tests/runner/parts.h"
#include "tests/runner/subject.h"

const char *const cubin_archs[CUBIN_ARCHS] = {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"};

enum { CANDIDATES = 8 };

typedef struct compiling {
    const options *options;
    const case_list *list;
    report *report;
    sg_context *context;
    pthread_mutex_t lock;
    long spilled, compiled[CUBIN_ARCHS];
    int most_local, most_registers;
    const char *most_local_name;
    double seconds;
    bool missing; /* NVRTC */
    long known;   /* cases that have nothing of their own */

    parts *parts; /* of each case, or NULL: every case is compiled, for all architectures */
    bool *chosen; /* or NULL: parts are still being found */
} compiling;

typedef struct compile_one {
    compiling *c;
    const test_case *test;
    int index;
    const char *arch;
} compile_one;

/* ---- compiling ------------------------------------------------------------------------------- */

/* Older architectures have less shared memory: any method may refuse there for want of it. */
static const char less_shared[] = "bytes of shared memory";

static void note(compiling *c, const compile_one *one, const sg_binary *b, const char *name) {
    pthread_mutex_lock(&c->lock);
    for (int a = 0; a < CUBIN_ARCHS; a++)
        c->compiled[a] += strcmp(one->arch, cubin_archs[a]) == 0;
    c->seconds += b->seconds;
    c->spilled += b->local_bytes > 0;
    if (b->registers > c->most_registers)
        c->most_registers = b->registers;
    if (b->local_bytes > c->most_local) {
        c->most_local = b->local_bytes;
        c->most_local_name = job_print(c->list->job, "%s", name);
    }
    pthread_mutex_unlock(&c->lock);
    if (b->local_bytes > 0 && c->options->verbose)
        printf("spills: %s: %d bytes of local memory, %d registers\n", name, b->local_bytes,
               b->registers);
}

static void keep_parts(job *j, compiling *c, int index, const char *source, const char *arch) {
    const parts found = parts_of(j, source, arch);
    pthread_mutex_lock(&c->lock);
    parts *kept = &c->parts[index];
    kept->hashes = job_array(c->list->job, found.count, sizeof *kept->hashes);
    memcpy(kept->hashes, found.hashes, found.count * sizeof *kept->hashes);
    kept->count = found.count;
    kept->bytes = found.bytes;
    pthread_mutex_unlock(&c->lock);
}

static void make_cubin(compiling *c, const compile_one *one, const test_subject *s,
                       const char *name) {
    sg_binary b = {.struct_size = sizeof b};
    const sg_status status = sg_kernel_binary(s->kernel, SG_BINARY_CUBIN, &b);
    if (status == SG_OK) {
        note(c, one, &b, name);
        report_pass(c->report, name);
    } else if (strstr(sg_error(c->context), "NVRTC") != NULL && c->missing) {
        report_skip(c->report, name, "there is no NVRTC");
    } else {
        report_fail(c->report, name, sg_error(c->context));
    }
}

static void compile_case(job *j, void *argument) {
    const compile_one *one = argument;
    compiling *c = one->c;
    test_case t = *one->test;
    t.arch = one->arch;
    const char *name = t.name = job_print(j, "%s for %s", t.name, t.arch);
    const char **refusals = job_array(j, (size_t)t.refusal_count + 1, sizeof *refusals);
    for (int i = 0; i < t.refusal_count; i++)
        refusals[i] = t.refusals[i];
    refusals[t.refusal_count++] = less_shared;
    t.refusals = refusals;
    test_subject s;
    if (!subject_build(j, c->options, c->context, &t, 1, true, c->report, &s))
        return;
    if (c->parts != NULL && c->chosen == NULL)
        keep_parts(j, c, one->index, sg_kernel_text(s.kernel, SG_TEXT_SOURCE), one->arch);
    else
        make_cubin(c, one, &s, name);
    subject_release(&s);
}

/* Of what is drawn, a case in so many, by other digits of the seed than options_take goes by. */
static bool is_candidate(const options *o, int i) {
    const uint64_t parts = o->shard == DRAWN ? CANDIDATES : 1;
    return random_bits(2, (uint64_t)i) % parts == o->data_seed / 64 % parts;
}

static void compile_index(void *argument, int i) {
    compiling *c = argument;
    const test_case *t = &c->list->cases[i];
    const int count = c->parts == NULL && t->arch == NULL && t->path != NULL ? CUBIN_ARCHS : 1;
    /* Properties ask the host's kernels; the product has their shapes and methods. */
    const bool skipped = t->huge || (c->parts != NULL && t->property != NULL) ||
                         (c->chosen != NULL ? !c->chosen[i] : !is_candidate(c->options, i));
    for (int a = 0; a < count && !skipped; a++) {
        compile_one one = {c, t, i, t->arch != NULL ? t->arch : cubin_archs[(i + a) % CUBIN_ARCHS]};
        job *own;
        if (job_run(&allocator_libc, compile_case, &one, &own) != FAULT_NONE)
            report_fail(c->report, t->name, job_error(own));
        job_end(own);
    }
}

/* Which of the cases to compile. */
static void choose(job *j, compiling *c) {
    const int count = c->list->count;
    c->parts = job_array(j, (size_t)count + 1, sizeof *c->parts);
    run_parallel(c->options->threads, count, compile_index, c);
    c->chosen = parts_cover(j, c->parts, count);
    for (int i = 0; i < count; i++) {
        c->known += c->parts[i].count > 0 && !c->chosen[i];
        c->chosen[i] = c->chosen[i] && options_take(c->options, i);
    }
}

/* Whether NVRTC can be had, by compiling the first case. */
static bool nvrtc_is_missing(sg_context *context) {
    static const char spec[] = "return stencil { name = 'probe', shape = star(1, 1), "
                               "coefficients = { 1, 1, 1 } }";
    const sg_build_options b = {.struct_size = sizeof b, .text = spec, .source_only = 1};
    sg_kernel *k;
    sg_binary binary = {.struct_size = sizeof binary};
    if (sg_build(context, NULL, &b, &k) != SG_OK)
        return false;
    const bool missing = sg_kernel_binary(k, SG_BINARY_CUBIN, &binary) != SG_OK &&
                         strstr(sg_error(context), "probe") == NULL;
    sg_release(k);
    return missing;
}

void mode_cubin(job *j, const options *o, const case_list *list, report *r) {
    compiling c = {.options = o, .list = list, .report = r, .context = runner_context(o, r)};
    if (c.context == NULL)
        return;
    c.missing = nvrtc_is_missing(c.context);
    pthread_mutex_init(&c.lock, NULL);
    if (c.missing) {
        r->skipped += list->count;
        printf("there is no NVRTC: %s\n", sg_error(c.context));
    } else {
        if (o->selection == SELECT_PAIRWISE)
            choose(j, &c);
        run_parallel(o->threads, list->count, compile_index, &c);
    }
    sg_close(c.context);
    for (int a = 0; a < CUBIN_ARCHS; a++)
        printf("%s: %ld compiled\n", cubin_archs[a], c.compiled[a]);
    printf("%ld not compiled: all that they have is in those that are\n", c.known);
    printf(
        "%ld kernels refused, as their cases allow; %ld spill, the worst %d bytes a thread (%s); "
        "at most %d registers; %.1f s of NVRTC\n",
        r->refused, c.spilled, c.most_local, c.most_local_name != NULL ? c.most_local_name : "none",
        c.most_registers, c.seconds);
}
