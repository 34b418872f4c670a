/* The mode cubin: sources are compiled by NVRTC, for the architecture that the case names, for one
   in turn, or for all. Of the pairwise selection, those are compiled that have a line which none
   before them had. Spills are reported, not failed. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "tests/runner/subject.h"

const char *const cubin_archs[CUBIN_ARCHS] = {"sm_75", "sm_80", "sm_90", "sm_100", "sm_120"};

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

    /* The cases are looked at in their order, whichever thread is faster: the same are compiled in
       every run. */
    pthread_cond_t next;
    int turn;        /* the case to look at */
    long known;      /* cases whose source had no new line */
    uint64_t *lines; /* a table of hashes, 0 where it is free */
} compiling;

enum { LINES = 1 << 18 }; /* ten times what there are */

typedef struct compile_one {
    compiling *c;
    const test_case *test;
    int index;
    const char *arch;
} compile_one;

/* ---- lines that are new ---------------------------------------------------------------------- */

/* Whether it was not in the table, where it is afterwards. */
static bool put_line(compiling *c, uint64_t hash) {
    uint64_t *at = &c->lines[hash % LINES];
    while (*at != 0 && *at != hash)
        at = at + 1 < c->lines + LINES ? at + 1 : c->lines;
    const bool found = *at == hash;
    *at = hash;
    return !found;
}

/* The hash of a line up to its comment; 0 if it has no more. All numbers count as one. */
static uint64_t hash_line(const char *line, size_t length) {
    char kept[512];
    size_t n = 0;
    for (size_t i = 0; i < length && n < sizeof kept; i++) {
        if (strncmp(line + i, "//", 2) == 0)
            break;
        if (!isspace((unsigned char)line[i]) &&
            (n == 0 || kept[n - 1] != '0' || !isdigit((unsigned char)line[i])))
            kept[n++] = isdigit((unsigned char)line[i]) ? '0' : line[i];
    }
    return n > 0 ? checksum_of(kept, n, 0) | 1 : 0;
}

/* Instructions are written in strings: they are new for each architecture and type of elements. */
static bool has_new_line(compiling *c, const char *source, const char *arch) {
    bool found = false;
    uint64_t target = checksum_of(arch, strlen(arch), 0);
    for (const char *line = source; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        const uint64_t hash = hash_line(line, length);
        if (strncmp(line, "using Real =", 12) == 0)
            target = checksum_of(&hash, sizeof hash, target);
        if (hash != 0)
            found |= put_line(c, hash);
        if (hash != 0 && memchr(line, '"', length) != NULL)
            found |= put_line(c, checksum_of(&hash, sizeof hash, target) | 1);
        line += length + (line[length] == '\n');
    }
    return found;
}

/* Waits until every case before has been looked at. Without a source, the case only lets the next
   one have its turn. */
static bool take_turn(compiling *c, int index, const char *source, const char *arch) {
    bool found = true;
    pthread_mutex_lock(&c->lock);
    while (c->turn < index)
        pthread_cond_wait(&c->next, &c->lock);
    if (c->turn == index) {
        if (source != NULL && c->options->selection == SELECT_PAIRWISE)
            found = has_new_line(c, source, arch);
        c->known += !found;
        c->turn++;
        pthread_cond_broadcast(&c->next);
    }
    pthread_mutex_unlock(&c->lock);
    return found;
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* Older architectures have less shared memory: any method may refuse there for want of it. */
static const char less_shared[] = "bytes of shared memory a block";

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
    if (!take_turn(c, one->index, sg_kernel_text(s.kernel, SG_TEXT_SOURCE), one->arch)) {
        subject_release(&s);
        return;
    }
    sg_binary b = {.struct_size = sizeof b};
    const sg_status status = sg_kernel_binary(s.kernel, SG_BINARY_CUBIN, &b);
    if (status == SG_OK) {
        note(c, one, &b, name);
        report_pass(c->report, name);
    } else if (strstr(sg_error(c->context), "NVRTC") != NULL && c->missing) {
        report_skip(c->report, name, "there is no NVRTC");
    } else {
        report_fail(c->report, name, sg_error(c->context));
    }
    subject_release(&s);
}

static void compile_index(void *argument, int i) {
    compiling *c = argument;
    const test_case *t = &c->list->cases[i];
    const bool pairwise = c->options->selection == SELECT_PAIRWISE;
    const int count = !pairwise && t->arch == NULL && t->path != NULL ? CUBIN_ARCHS : 1;
    /* Properties ask the host's kernels; the product has their shapes and methods. */
    const bool skipped = t->huge || (pairwise && t->property != NULL);
    for (int a = 0; a < count && !skipped; a++) {
        compile_one one = {c, t, i, t->arch != NULL ? t->arch : cubin_archs[(i + a) % CUBIN_ARCHS]};
        job *own;
        if (job_run(&allocator_libc, compile_case, &one, &own) != FAULT_NONE)
            report_fail(c->report, t->name, job_error(own));
        job_end(own);
    }
    take_turn(c, i, NULL, NULL);
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
    compiling c = {.options = o,
                   .list = list,
                   .report = r,
                   .context = runner_context(o, r),
                   .lines = job_array(j, LINES, sizeof *c.lines)};
    if (c.context == NULL)
        return;
    c.missing = nvrtc_is_missing(c.context);
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.next, NULL);
    if (c.missing) {
        r->skipped += list->count;
        printf("there is no NVRTC: %s\n", sg_error(c.context));
    } else {
        run_parallel(o->threads, list->count, compile_index, &c);
    }
    sg_close(c.context);
    for (int a = 0; a < CUBIN_ARCHS; a++)
        printf("%s: %ld compiled\n", cubin_archs[a], c.compiled[a]);
    printf("%ld not compiled: every line of them is in those that are\n", c.known);
    printf(
        "%ld kernels refused, as their cases allow; %ld spill, the worst %d bytes a thread (%s); "
        "at most %d registers; %.1f s of NVRTC\n",
        r->refused, c.spilled, c.most_local, c.most_local_name != NULL ? c.most_local_name : "none",
        c.most_registers, c.seconds);
}
