/* report: the page of a spec's tuning results. Takes: options. Makes: NAME.html, or the file that
   -o names. It needs no device, so any machine can show the results of a GPU. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/page.h"

typedef struct reporting {
    session session; /* without a device */
    const char *spec;
    sg_kernel *kernel; /* of no particular size */
    sg_matrix *matrix; /* of --input; NULL */
    output_set outputs;
    page_results all;   /* of the spec, as it is now */
    page_drifts drifts; /* of the chosen place */
    int others;         /* how many belong to another spec of this name */
} reporting;

/* ---- which results ------------------------------------------------------------------------- */

/* Keeps results of the same meaning, under any name. */
static void keep_result(void *user, const sg_result *r) {
    reporting *p = user;
    if (r->kind == facts_of(p->kernel).kind &&
        strcmp(r->model, sg_kernel_text(p->kernel, SG_TEXT_MEANING)) == 0)
        page_keep(&p->all, r);
    else
        p->others += strcmp(r->name, sg_kernel_text(p->kernel, SG_TEXT_NAME)) == 0;
}

/* With --input only the results of that matrix count. */
static bool is_of_matrix(const reporting *p, const sg_result *r) {
    sg_matrix_info m = {.struct_size = sizeof m};
    if (p->matrix == NULL)
        return true;
    return sg_matrix_facts(p->matrix, &m) == SG_OK && result_is_of_matrix(r) &&
           r->size[0] == m.rows && r->size[1] == m.columns && r->size[2] == m.entries &&
           r->size[3] == m.longest_row && r->size[4] == m.empty_rows && r->size[5] == m.diagonals;
}

static bool is_wanted(const reporting *p, const sg_result *r) {
    const options *o = p->session.options;
    if (!is_of_matrix(p, r))
        return false;
    if (o->device != NULL && strcmp(o->device, "auto") != 0 && strcmp(o->device, r->device) != 0)
        return false;
    if (o->arch != NULL && strcmp(o->arch, r->arch) != 0)
        return false;
    if (o->steps_given && o->steps != r->steps)
        return false;
    if (o->size_count > 0 && o->size_count != r->size_count)
        return false;
    return o->size_count == 0 ||
           memcmp(o->size, r->size, (size_t)o->size_count * sizeof *o->size) == 0;
}

/* A result of the place that was measured last; places with a right result go first. */
static const sg_result *choose(const reporting *p) {
    const sg_result *best = NULL;
    for (int i = 0; i < p->all.count; i++) {
        const sg_result *r = &p->all.list[i];
        if (!is_wanted(p, r))
            continue;
        const bool better = best == NULL || page_is_right(r) > page_is_right(best) ||
                            (page_is_right(r) == page_is_right(best) && r->taken >= best->taken);
        if (better)
            best = r;
    }
    return best;
}

/* "cuda 512x512x512 (40), …": the places that have results. */
static void add_places(const reporting *p, text *out) {
    enum { MOST = 8 };
    int places = 0;
    for (int i = 0; i < p->all.count; i++) {
        const sg_result *r = &p->all.list[i];
        int same = 0, before = 0;
        for (int k = 0; k < p->all.count; k++)
            if (page_same_place(&p->all.list[k], r)) {
                same++;
                before += k < i;
            }
        if (before > 0 || ++places > MOST)
            continue;
        text_printf(out, "%s%s %s", places > 1 ? ", " : "", r->device, size_of_result(r));
        if (r->steps > 1)
            text_printf(out, ", %" PRId64 " steps", r->steps);
        text_printf(out, " (%d)", same);
    }
    if (places > MOST)
        text_printf(out, " and %d more", places - MOST);
}

static int complain_of_none(const reporting *p) {
    const char *name = sg_kernel_text(p->kernel, SG_TEXT_NAME);
    text places = new_text();
    add_places(p, &places);
    if (p->all.count > 0)
        return complain(EXIT_USAGE, p->spec,
                        "there are no tuning results of %s for this size and device; there are "
                        "those of %s; choose with --size, --steps, --device and --arch",
                        name, places.data);
    return complain(
        EXIT_USAGE, p->spec,
        "there are no tuning results of %s%s; make some with stencilgen tune %s, or name another "
        "database with --database",
        name, p->others > 0 ? ", but of a spec of this name that computes something else" : "",
        p->spec);
}

/* Failures alone make no page. */
static int complain_of_failures(const reporting *p, const sg_result *one) {
    int count = 0;
    for (int i = 0; i < p->all.count; i++)
        count += page_same_place(&p->all.list[i], one);
    return complain(EXIT_USAGE, p->spec,
                    "no tuning result of %s at %s on %s was right, of %d; there is nothing to show "
                    "(%s: %s%s%s); tune again with --no-resume",
                    sg_kernel_text(p->kernel, SG_TEXT_NAME), size_of_result(one), one->device_name,
                    count, one->plan, one->state, one->reason[0] != '\0' ? ", " : "", one->reason);
}

static void keep_drift(void *user, const sg_drift *d) {
    page_keep_drift(&((reporting *)user)->drifts, d);
}

/* The drifts of all sweeps of the rows. */
static sg_status find_drifts(reporting *p, const page_results *rows) {
    for (int i = 0; i < rows->count; i++) {
        const int64_t sweep = rows->list[i].sweep;
        bool seen = sweep <= 0;
        for (int k = 0; k < i && !seen; k++)
            seen = rows->list[k].sweep == sweep;
        const sg_status status = seen ? SG_OK : sg_drifts(p->session.context, sweep, keep_drift, p);
        if (status != SG_OK)
            return status;
    }
    return SG_OK;
}

/* ---- what a build says --------------------------------------------------------------------- */

/* The cpu device runs plans for the default architecture. */
static sg_build_options options_for(const reporting *p, int index, const sg_result *r) {
    sg_build_options how = {
        .struct_size = sizeof how,
        .text = p->session.text,
        .index = index,
        .source_only = 1,
        .arch = strcmp(r->device, "cpu") == 0 ? NULL : r->arch,
        .matrix = p->matrix,
        .steps = r->steps,
    };
    enum { AXES = 3 };
    for (int axis = 0; axis < AXES && axis < r->size_count; axis++)
        how.size[axis] = r->size[axis];
    if (result_is_of_matrix(r)) { /* its entries */
        memset(how.size, 0, sizeof how.size);
        how.size[0] = r->size[2];
    }
    return how;
}

/* The plan of a build without results; NULL if there is none. */
static char *usual_plan(const reporting *p, const sg_build_options *how) {
    sg_space *space = NULL;
    char *usual = NULL;
    if (sg_candidates(p->session.context, p->spec, how, &space) == SG_OK && space->usual != NULL)
        usual = new_copy(space->usual);
    sg_space_free(space);
    return usual;
}

static int write_page(const reporting *p, const page *filled, const char *path, output *out) {
    text html = new_text(), said = new_text();
    page_write(filled, &html);
    if (!output_finish(out, html.data, html.length))
        return EXIT_DATA;
    text_printf(&said, "%s: %s of %s at %s on %s\n", path, counted(filled->count, "candidate"),
                sg_kernel_text(p->kernel, SG_TEXT_NAME), size_of_result(&filled->rows[0]),
                filled->rows[0].device_name);
    return say(&said);
}

static int make_page(const reporting *p, int index, const page_results *rows, const char *path,
                     output *out) {
    const char *slash = strrchr(p->spec, '/');
    sg_build_options how = options_for(p, index, &rows->list[0]);
    char *usual = usual_plan(p, &how), *trouble = NULL;
    page filled = {.spec = slash != NULL ? slash + 1 : p->spec,
                   .name = sg_kernel_text(p->kernel, SG_TEXT_NAME),
                   .shape = sg_kernel_text(p->kernel, SG_TEXT_SHAPE),
                   .dtype = sg_kernel_text(p->kernel, SG_TEXT_DTYPE),
                   .usual = usual,
                   .rows = rows->list,
                   .count = rows->count,
                   .drifts = &p->drifts};
    page_look(&filled);
    sg_kernel *best = NULL;
    if (filled.best >= 0) {
        how.schedule = rows->list[filled.best].plan;
        if (sg_build(p->session.context, p->spec, &how, &best) != SG_OK)
            trouble = new_copy(sg_error(p->session.context));
    }
    const sg_kernel_info info = facts_of(best != NULL ? best : p->kernel);
    filled.operations = info.textbook_operations;
    filled.bytes = info.bytes_per_point;
    filled.source = best != NULL ? sg_kernel_text(best, SG_TEXT_SOURCE) : NULL;
    filled.source_trouble = trouble;
    const int code = write_page(p, &filled, path, out);
    sg_release(best);
    return code;
}

/* ---- one spec ------------------------------------------------------------------------------ */

static int report_kernel(reporting *p, int index) {
    int code = session_code(&p->session, sg_results(p->session.context, NULL, keep_result, p));
    if (code != EXIT_DONE)
        return code;
    const sg_result *chosen = choose(p);
    if (chosen == NULL)
        return complain_of_none(p);
    if (!page_is_right(chosen))
        return complain_of_failures(p, chosen);
    page_results rows = {0};
    for (int i = 0; i < p->all.count; i++)
        if (page_same_place(&p->all.list[i], chosen))
            page_keep(&rows, &p->all.list[i]);
    const char *path = p->session.options->folder != NULL
                           ? p->session.options->folder
                           : output_path(NULL, sg_kernel_text(p->kernel, SG_TEXT_NAME), ".html");
    output *out = NULL;
    code = session_code(&p->session, find_drifts(p, &rows));
    if (code == EXIT_DONE)
        code = output_begin(&out, &p->outputs, path);
    if (code == EXIT_DONE)
        code = make_page(p, index, &rows, path, out);
    return code;
}

/* Reads the matrix once for all specs of the file. */
static int read_matrix(reporting *p) {
    const bindings *inputs = &p->session.options->inputs;
    if (inputs->count == 0 || p->matrix != NULL)
        return EXIT_DONE;
    return session_code(&p->session,
                        sg_matrix_read(p->session.context, inputs->items[0].value, &p->matrix));
}

static int report_spec(reporting *p, int index) {
    const sg_build_options how = {
        .struct_size = sizeof how, .text = p->session.text, .index = index, .source_only = 1};
    const sg_status status = sg_build(p->session.context, p->spec, &how, &p->kernel);
    int code = session_code(&p->session, status);
    if (code == EXIT_DONE)
        code = session_judge_input(p->session.options, p->spec, p->kernel);
    if (code == EXIT_DONE)
        code = read_matrix(p);
    if (code == EXIT_DONE)
        code = report_kernel(p, index);
    sg_release(p->kernel);
    p->kernel = NULL;
    p->all = (page_results){0};
    p->drifts = (page_drifts){0};
    p->others = 0;
    return status == SG_ERROR_IO ? EXIT_USAGE : code; /* a spec is no data file */
}

int command_report(const options *o) {
    reporting p = {.spec = o->specs[0],
                   .outputs = {.specs = o->specs, .spec_count = o->spec_count}};
    int count = 0;
    int code = session_open_without_device(&p.session, o);
    if (code != EXIT_DONE)
        return code;
    code = session_count(&p.session, p.spec, &count);
    if (code == EXIT_DONE && count > 1 && o->folder != NULL)
        code = complain(EXIT_USAGE, p.spec,
                        "-o names one file, but this one has %d specs; without it each has its "
                        "NAME.html",
                        count);
    const bool whole = code == EXIT_DONE;
    for (int i = 0; i < count && whole; i++)
        code = first_failure(code, report_spec(&p, p.session.first + i));
    sg_matrix_free(p.matrix);
    session_close(&p.session);
    return code;
}
