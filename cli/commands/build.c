/* build and bench. Takes: specs. Makes: their files (build), and a report of each kernel: built,
   checked, measured. */
#include <stdlib.h>
#include <string.h>

#include "cli/ranks.h"
#include "cli/report/report.h"

/* A measurement of many steps has at most so many launches. */
enum { LAUNCHES_TIMED = 64 };

typedef struct work {
    session *session;
    bindings written; /* names of kernels whose files were written, with their specs */
    output_set outputs;
} work;

static const char *name_of(const report *r) {
    return sg_kernel_text(r->kernel, SG_TEXT_NAME);
}

/* ---- files --------------------------------------------------------------------------------- */

/* Two specs with the same name would write the same file. */
static bool claim_name(work *w, report *r) {
    const char *name = name_of(r);
    for (int i = 0; i < w->written.count; i++)
        if (strcmp(w->written.items[i].name, name) == 0) {
            r->code = complain(EXIT_USAGE, r->spec,
                               "two specs are named %s (the other is in %s); their files would "
                               "replace each other",
                               name, w->written.items[i].value);
            return false;
        }
    bindings_add(&w->written, name, strlen(name), r->spec);
    return true;
}

/* Opens the files before the work, so that no work is lost. */
static bool open_files(work *w, report *r) {
    for (int which = 0; which < EMIT_COUNT && r->code == EXIT_DONE; which++) {
        if (!w->session->options->emit[which])
            continue;
        emitted *e = &r->files[which];
        e->path = output_path(w->session->options->folder, name_of(r), emit_suffixes[which]);
        r->code = output_begin(&e->open, &w->outputs, e->path);
    }
    return r->code == EXIT_DONE;
}

static bool write_file(report *r, emit which, const void *bytes, size_t count) {
    emitted *e = &r->files[which];
    output *out = e->open;
    e->open = NULL;
    e->written = output_finish(out, bytes, count);
    if (!e->written)
        r->code = first_failure(r->code, EXIT_DATA);
    return e->written;
}

static void write_texts(work *w, report *r) {
    static const struct {
        emit which;
        sg_text text;
    } texts[] = {
        {EMIT_SOURCE, SG_TEXT_SOURCE}, {EMIT_PLAN, SG_TEXT_PLAN}, {EMIT_MODEL, SG_TEXT_MODEL}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (!w->session->options->emit[texts[i].which])
            continue;
        text b = new_text();
        text_add(&b, sg_kernel_text(r->kernel, texts[i].text));
        if (b.length > 0 && b.data[b.length - 1] != '\n')
            text_add(&b, "\n");
        if (!write_file(r, texts[i].which, b.data, b.length))
            return;
    }
}

/* ---- binaries ------------------------------------------------------------------------------ */

static void note_nvrtc(void *user, const char *what, int usable, const char *text) {
    (void)text;
    if (strcmp(what, "NVRTC") == 0 && usable)
        *(bool *)user = true;
}

/* Without NVRTC the report has a line, unless a binary was asked for. A source that NVRTC refuses
   is a failure. */
static void judge_no_binary(work *w, report *r, sg_status status, bool wanted) {
    const options *o = w->session->options;
    const sg_options same = {.struct_size = sizeof same, .device = o->device};
    const char *text = sg_error(w->session->context);
    if (strncmp(text, "error: ", 7) == 0)
        text += 7;
    r->no_binary = new_copy(text);
    bool has_nvrtc = false;
    if (!wanted && status == SG_ERROR_COMPILER)
        sg_doctor(&same, note_nvrtc, &has_nvrtc);
    if (!wanted && status == SG_ERROR_COMPILER && !has_nvrtc)
        return;
    r->code = first_failure(r->code, complain(exit_code(status), r->spec, "%s", r->no_binary));
}

static void make_binaries(work *w, report *r) {
    const options *o = w->session->options;
    sg_binary ptx = {.struct_size = sizeof ptx};
    r->binary.struct_size = sizeof r->binary;
    progress("%s: compiling with NVRTC", name_of(r));
    const sg_status status = sg_kernel_binary(r->kernel, SG_BINARY_CUBIN, &r->binary);
    r->has_binary = status == SG_OK;
    if (!r->has_binary) {
        judge_no_binary(w, r, status, o->emit[EMIT_CUBIN] || o->emit[EMIT_PTX]);
        return;
    }
    if (o->emit[EMIT_CUBIN])
        write_file(r, EMIT_CUBIN, r->binary.data, r->binary.size);
    if (!o->emit[EMIT_PTX])
        return;
    const int code = session_code(w->session, sg_kernel_binary(r->kernel, SG_BINARY_PTX, &ptx));
    r->code = first_failure(r->code, code);
    if (code == EXIT_DONE)
        write_file(r, EMIT_PTX, ptx.data, ptx.size);
}

/* ---- the textbook's kernels ----------------------------------------------------------------- */

/* Schedules with the shapes of tiles of the textbook, and a naive one with wide rows. D. Kirk, W.
   Hwu, I. El Hajj, Programming Massively Parallel Processors, chapter on stencils. */
static const char *const schedules[TEXTBOOK_PLANS][3] = {
    {"naive tile=256 vec=1", "naive tile=32x8 vec=1", "naive tile=32x4x4 vec=1"},
    {"tiled tile=256", "tiled tile=32x32", "tiled tile=8x8x8"},
    {"coarsened tile=256 coarsen=x4", "coarsened tile=256 coarsen=y64",
     "coarsened tile=32x32 coarsen=z32"},
    {"register tile=256 coarsen=x4", "register tile=256 coarsen=y64",
     "register tile=32x32 coarsen=z32"},
};

/* The largest grid that a quick check of one step takes. */
static void quick_size(const sg_kernel_info *info, int64_t out[3]) {
    static const int64_t most[3][3] = {{100003, 1, 1}, {523, 211, 1}, {131, 67, 45}};
    for (int axis = 0; axis < 3; axis++) {
        const int64_t here = axis < info->dims ? most[info->dims - 1][axis] : 1;
        out[axis] = info->size[axis] < here ? info->size[axis] : here;
    }
}

static int exercise_textbook(session *s, sg_kernel *kernel, const sg_kernel_info *own,
                             const double *parameters, textbook_row *out) {
    sg_check_options check = {
        .struct_size = sizeof check, .parameters = parameters, .seed = s->options->seed};
    sg_check_result checked = {.struct_size = sizeof checked};
    sg_speed_options how = {.struct_size = sizeof how, .parameters = parameters};
    quick_size(own, check.size);
    int code = session_code(s, sg_check(kernel, &check, &checked));
    if (code != EXIT_DONE)
        return code;
    memcpy(how.size, own->size, sizeof how.size);
    out->speed.struct_size = sizeof out->speed;
    code = session_code(s, sg_measure(kernel, &how, &out->speed));
    out->measured = code == EXIT_DONE;
    return code;
}

static int measure_one(session *s, const char *spec, int index, const sg_kernel_info *own,
                       const double *parameters, textbook_row *out) {
    sg_build_options build = session_build_options(s, index);
    sg_kernel *kernel;
    build.schedule = out->schedule;
    build.steps = 1;
    memcpy(build.size, own->size, sizeof build.size);
    const sg_status status = sg_build(s->context, spec, &build, &kernel);
    if (status == SG_ERROR_PLAN) {
        const char *text = sg_error(s->context), *reason = strstr(text, "error: ");
        out->refusal = new_copy(reason != NULL ? reason + strlen("error: ") : text);
        return EXIT_DONE;
    }
    int code = session_code(s, status);
    if (code != EXIT_DONE)
        return code;
    out->plan = new_copy(sg_kernel_text(kernel, SG_TEXT_PLAN));
    code = exercise_textbook(s, kernel, own, parameters, out);
    sg_release(kernel);
    return code;
}

/* `own` is the spec's kernel, whose size they take. A refused schedule is no failure. */
static int measure_textbook(session *s, const char *spec, int index, const sg_kernel_info *own,
                            const double *parameters, textbook_row out[TEXTBOOK_PLANS]) {
    int code = EXIT_DONE;
    for (int i = 0; i < TEXTBOOK_PLANS; i++) {
        out[i] = (textbook_row){.schedule = schedules[i][own->dims - 1]};
        progress("%s: measuring %s", spec, out[i].schedule);
        code = first_failure(code, measure_one(s, spec, index, own, parameters, &out[i]));
    }
    return code;
}

/* ---- checking and measuring ---------------------------------------------------------------- */

static void check(work *w, report *r, const double *parameters) {
    sg_check_options how = {
        .struct_size = sizeof how, .parameters = parameters, .seed = w->session->options->seed};
    if (r->info.steps > 1)
        how.steps = 2 * r->info.steps + 1; /* a shorter launch makes the remainder */
    else if (w->session->options->command == COMMAND_BENCH)
        quick_size(&r->info, how.size);
    r->check.struct_size = sizeof r->check;
    progress("%s: checking", name_of(r));
    const sg_status status = sg_check(r->built, &how, &r->check);
    r->checked = status == SG_OK || status == SG_ERROR_CHECK;
    report_keep_check(r);
    r->code = first_failure(r->code, session_code(w->session, status));
}

static void measure(work *w, report *r, const double *parameters) {
    sg_speed_options how = {.struct_size = sizeof how, .parameters = parameters};
    const int64_t most = (int64_t)LAUNCHES_TIMED * r->info.steps,
                  steps = w->session->options->steps;
    if (steps > 1)
        how.steps = steps < most ? steps : most;
    r->speed.struct_size = sizeof r->speed;
    progress("%s: measuring", name_of(r));
    const int code = session_code(w->session, sg_measure(r->built, &how, &r->speed));
    r->measured = code == EXIT_DONE;
    r->code = first_failure(r->code, code);
}

/* bench checks only stencils, on grids of a modest size. */
static void exercise(work *w, report *r, const double *parameters) {
    const bool is_bench = w->session->options->command == COMMAND_BENCH;
    const bool is_grid = words_of(r->built)->is_grid;
    if (is_grid || !is_bench)
        check(w, r, parameters);
    if (r->here != NULL || ((is_grid || !is_bench) && (!r->checked || r->check.wrong > 0)))
        return;
    measure(w, r, parameters);
    if (r->measured && is_grid && is_bench && w->session->options->schedule == NULL)
        r->code = first_failure(r->code, measure_textbook(w->session, r->spec, r->index, &r->info,
                                                          parameters, r->textbook));
}

/* ---- one kernel ---------------------------------------------------------------------------- */

static void compile(work *w, report *r, const char *arch) {
    sg_build_options how = session_build_options(w->session, r->index);
    how.arch = arch;
    const bool is_cpu = strcmp(w->session->device.device, "cpu") == 0;
    if (r->code != EXIT_DONE && !r->has_binary && !is_cpu)
        return; /* NVRTC would refuse the source a second time */
    progress("%s: compiling for the device", name_of(r));
    const int code = session_build(w->session, r->spec, &how, &r->built);
    r->code = first_failure(r->code, code);
    if (code == EXIT_DONE)
        r->info = facts_of(r->built);
}

/* Whether a file for a GPU is written although the plan is for the processor, as no GPU and no
   schedule was named. */
static bool targets_absent_gpu(const work *w) {
    const options *o = w->session->options;
    return o->command == COMMAND_BUILD && o->arch == NULL && o->gpu == NULL &&
           o->schedule == NULL && strcmp(w->session->device.device, "cpu") == 0;
}

/* Plans for the device. Where that is the processor, what is emitted is planned for the usual GPU,
   and the processor's plan becomes r->here. */
static void plan(work *w, report *r, const char **arch, double **parameters) {
    static const char usual[] = "sm_90";
    sg_build_options how = session_build_options(w->session, r->index);
    *arch = how.arch;
    r->code = session_plan(w->session, r->spec, &how, &r->kernel, parameters);
    if (r->code != EXIT_DONE || !targets_absent_gpu(w))
        return;
    sg_kernel *own = r->kernel;
    how.arch = *arch = usual;
    r->code = session_plan(w->session, r->spec, &how, &r->kernel, parameters);
    if (r->code != EXIT_DONE ||
        strcmp(sg_kernel_text(own, SG_TEXT_PLAN), sg_kernel_text(r->kernel, SG_TEXT_PLAN)) == 0) {
        sg_release(own);
        return;
    }
    r->here = must_alloc(1, sizeof *r->here);
    *r->here = (report){.spec = r->spec, .index = r->index, .kernel = own, .info = facts_of(own)};
}

/* The kernel for the processor, where the file is for a GPU. */
static void run_here(work *w, report *r, const double *parameters) {
    report *here = r->here;
    if (here == NULL || !r->checked)
        return;
    compile(w, here, NULL);
    if (here->built != NULL && here->info.launchable)
        exercise(w, here, parameters);
    r->code = first_failure(r->code, here->code);
}

/* Writes the source before compiling it, which may take long or fail. */
static void build_kernel(work *w, report *r) {
    double *parameters = NULL;
    const char *arch;
    progress("%s: planning", r->spec);
    plan(w, r, &arch, &parameters);
    if (r->kernel != NULL)
        r->info = facts_of(r->kernel);
    if (r->code == EXIT_DONE && w->session->options->command == COMMAND_BUILD && claim_name(w, r) &&
        open_files(w, r)) {
        write_texts(w, r);
        if (r->code == EXIT_DONE)
            make_binaries(w, r);
    }
    if (r->kernel != NULL && r->code != EXIT_DATA && r->code != EXIT_USAGE)
        compile(w, r, arch);
    if (r->built != NULL && r->info.launchable)
        exercise(w, r, parameters);
    run_here(w, r, parameters);
}

static int build_one(session *s, const char *spec, int index, json *j, void *user) {
    work *w = user;
    report r = {.spec = spec, .index = index};
    w->session = s;
    build_kernel(w, &r);
    int code = r.code;
    if (s->options->json) {
        report_json(&r, s, j);
    } else if (r.kernel != NULL) {
        text out = new_text();
        report_text(&r, s, &out);
        code = first_failure(code, say(&out));
    }
    report_free(&r);
    return code;
}

int command_build(const options *o) {
    work w = {.outputs = {.specs = o->specs, .spec_count = o->spec_count}};
    if (o->command == COMMAND_BENCH && ranks_wanted(o))
        return command_bench_team(o);
    if (o->folder != NULL && !output_folder(o->folder))
        return EXIT_DATA;
    return session_each(o, true, build_one, &w);
}
