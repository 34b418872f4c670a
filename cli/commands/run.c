/* run: compute from files. Takes: a spec, files of arrays, a number of steps. Makes: the files of
   the written arrays, or a result that is printed. With --stop-on-nan it stops at the first NaN or
   infinite value that it finds. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/commands/run.h"

enum { BATCH_MILLISECONDS = 200, STEPS_UNLOOKED = 100 };

void steps_progress(const steps *s, int64_t steps) {
    static const char bar[] = "========================================";
    enum { WIDTH = sizeof bar - 1 };
    if (s->seconds < 1)
        return;
    const double share = (double)s->made / (double)steps;
    const int full = (int)(share * WIDTH);
    const int64_t made = s->made - s->begun;
    progress("[%.*s%*s] step %" PRId64 " of %" PRId64 ", %.0f s left", full, bar, WIDTH - full, "",
             s->made, steps, ceil(s->seconds / (double)made * (double)(steps - s->made)));
}

/* Permutes the grids by `final`. */
static void follow(arrays *a, const int *final) {
    const size_t count = (size_t)a->info.arrays;
    sg_grid *before = must_alloc(count, sizeof *before); /* freed, because batches are many */
    memcpy(before, a->grids, count * sizeof *before);
    for (size_t i = 0; i < count; i++)
        a->grids[i] = before[final[i]];
    free(before);
}

/* What one run has. */
typedef struct running {
    arrays *arrays;
    sg_kernel *kernel;
    point_files points;
    monitors monitors;
    run_snapshots shots;
} running;

/* ---- NaN and infinite values ----------------------------------------------------------------- */

/* Stops the run if a field has such values. */
static int look(const arrays *a, steps *s) {
    int item;
    const int code = arrays_find_nan(a, s->made > 0, &item);
    if (code != EXIT_DONE)
        return code;
    if (item < 0) {
        s->sound = s->made;
        return EXIT_DONE;
    }
    s->stopped_by = a->items[item].info.field;
    return steps_stopped(a, s);
}

int steps_stopped(const arrays *a, const steps *s) {
    if (s->made == 0)
        return complain(EXIT_WRONG, a->spec, "%s has NaN or infinite values before the first step",
                        s->stopped_by);
    if (!a->is_grid)
        return complain(EXIT_WRONG, a->spec, "%s has NaN or infinite values", s->stopped_by);
    if (s->sound + 1 == s->made)
        return complain(EXIT_WRONG, a->spec,
                        "%s has NaN or infinite values since step %" PRId64
                        ", after which the run ends",
                        s->stopped_by, s->made);
    return complain(EXIT_WRONG, a->spec,
                    "%s has NaN or infinite values since one of the steps %" PRId64 " to %" PRId64
                    "; the run ends after step %" PRId64,
                    s->stopped_by, s->sound + 1, s->made, s->made);
}

void steps_text(const steps *s, text *out) {
    if (s->stopped_by != NULL && s->made == 0)
        text_printf(out, "  stopped  %s has NaN or infinite values before the first step\n",
                    s->stopped_by);
    else if (s->stopped_by != NULL)
        text_printf(out,
                    "  stopped  %s has NaN or infinite values after step %" PRId64
                    ", and had none after step %" PRId64 "\n",
                    s->stopped_by, s->made, s->sound);
}

void steps_json(const steps *s, json *j) {
    if (s->stopped_by == NULL) {
        json_string(j, "stopped", NULL);
        return;
    }
    json_add(j, "stopped { field %s first_step %" PRId64 " last_step %" PRId64 " }", s->stopped_by,
             s->made > 0 ? s->sound + 1 : 0, s->made);
}

/* ---- steps ----------------------------------------------------------------------------------- */

int64_t steps_unlooked(int64_t fused) {
    return fused <= STEPS_UNLOOKED ? STEPS_UNLOOKED / fused * fused : STEPS_UNLOOKED;
}

/* Steps and samples, which are waited for at the end. */
static int make_batch(running *r, sg_arguments *arguments, int64_t count, int *final, steps *s) {
    arrays *a = r->arrays;
    const options *o = a->session->options;
    const double start = clock_seconds();
    int code = EXIT_DONE;
    for (int64_t left = count; left > 0 && code == EXIT_DONE && !r->monitors.ended;) {
        const int64_t now = steps_until_due(o, options_due(o) & 1u << EVERY_MONITOR, s->made, left);
        arguments->step = s->made;
        code = points_run(&r->points, arguments, now, final);
        if (code != EXIT_DONE)
            break;
        follow(a, final);
        s->made += now;
        left -= now;
        code = monitors_sample(&r->monitors, arguments, s->made);
    }
    if (code == EXIT_DONE)
        code = session_code(a->session, sg_synchronize(a->session->context, NULL));
    s->seconds += clock_seconds() - start;
    return code;
}

static int give(void *user, int item, uint64_t first, size_t count, const snapshot_room *to) {
    const arrays *a = user;
    const size_t element = dtype_words[a->items[item].type].bytes;
    const char *from = (const char *)a->grids[item].data + first * element;
    return session_code(a->session,
                        sg_capture_take(to->capture, to->at, from, count * element, NULL));
}

/* All steps at once, or in batches, between which the bar on a terminal moves. */
static int run_steps(running *r, sg_arguments *arguments, steps *s) {
    arrays *a = r->arrays;
    const options *o = a->session->options;
    const int64_t fused = facts_of(r->kernel).steps;
    const int64_t most = o->stop_on_nan ? steps_unlooked(fused) : o->steps;
    int64_t batch = isatty(STDERR_FILENO) && fused < most ? fused : most;
    int *final = new_array((size_t)a->info.arrays, sizeof *final);
    int code = o->stop_on_nan ? look(a, s) : EXIT_DONE;
    while (s->made < o->steps && code == EXIT_DONE && !r->monitors.ended) {
        const double before = s->seconds;
        const unsigned snapshots = options_due(o) & 1u << EVERY_SNAPSHOT;
        const int64_t count = steps_until_due(o, snapshots, s->made, batch);
        code = make_batch(r, arguments, count, final, s);
        if (code == EXIT_DONE && o->stop_on_nan)
            code = look(a, s);
        if (code == EXIT_DONE && run_snapshots_due(&r->shots, o, s->made))
            code = snapshots_take(r->shots.writer, s->made, give, a);
        steps_progress(s, o->steps);
        if ((s->seconds - before) * 1000 < BATCH_MILLISECONDS && batch <= most / 2)
            batch *= 2;
    }
    return code == EXIT_DONE ? monitors_read(&r->monitors) : code;
}

static int launch_once(running *r, sg_arguments *arguments, steps *s) {
    const session *of = r->arrays->session;
    const double start = clock_seconds();
    sg_status status = sg_launch(r->kernel, arguments, NULL);
    if (status == SG_OK)
        status = sg_synchronize(of->context, NULL);
    s->seconds = clock_seconds() - start;
    return session_code(of, status);
}

/* Allocates the temporary memory for the time of the launches. */
static int compute(running *r, const double *parameters, int count, steps *s) {
    const arrays *a = r->arrays;
    sg_arguments arguments = {.struct_size = sizeof arguments,
                              .grids = a->grids,
                              .grid_count = a->count,
                              .parameters = parameters,
                              .parameter_count = count};
    sg_context *context = a->session->context;
    sg_status status = sg_temporary_bytes(r->kernel, &arguments, &arguments.temporary_bytes);
    if (status == SG_OK && arguments.temporary_bytes > 0)
        status = sg_alloc(context, arguments.temporary_bytes, &arguments.temporary);
    int code = session_code(a->session, status);
    if (code == EXIT_DONE)
        code = (a->is_grid ? run_steps : launch_once)(r, &arguments, s);
    sg_free(context, arguments.temporary);
    return code;
}

static int steps_compute(running *r, const double *parameters, int count, steps *s) {
    arrays *a = r->arrays;
    *s = (steps){0};
    const int code = arrays_is(a, SG_KIND_PRODUCT)
                         ? product_run(a, r->kernel, parameters, &s->seconds)
                         : compute(r, parameters, count, s);
    if (a->is_grid || code != EXIT_DONE)
        return code;
    s->made = 1;
    return a->session->options->stop_on_nan ? look(a, s) : EXIT_DONE;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int load_and_compute(running *r, steps *made, json *j) {
    arrays *a = r->arrays;
    const sg_kernel *kernel = r->kernel;
    double *parameters;
    int count;
    int code = session_parameters(a->session, a->spec, kernel, VALUES_NEEDED, &parameters, &count);
    if (code == EXIT_DONE)
        session_parameters_json(a->session, kernel, j);
    if (code == EXIT_DONE && arrays_is(a, SG_KIND_PRODUCT))
        code = product_judge(a, kernel, parameters);
    if (code == EXIT_DONE)
        code = arrays_load(a, kernel);
    if (code == EXIT_DONE)
        code = steps_compute(r, parameters, count, made);
    return code;
}

static void describe_json(const arrays *a, const sg_kernel *kernel, const steps *made, json *j) {
    json_add(j, "family %s name %s plan %s", sg_kernel_text(kernel, SG_TEXT_FAMILY), a->name,
             sg_kernel_text(kernel, SG_TEXT_PLAN));
    if (a->matrix != NULL)
        product_json(a, j);
    json_integers(j, "size", a->size, (a->is_grid ? a->info.dims : 1));
    json_add(j, "steps %" PRId64 " seconds %g", made->made, made->seconds);
    steps_json(made, j);
}

static void describe(const arrays *a, const sg_kernel *kernel, const steps *made, text *out) {
    const char *what = a->is_grid ? phrase("%s of %s", counted(made->made, "step"),
                                           in_extents(a->size, a->info.dims))
                                  : points_text(words_of(kernel), a->size[0]);
    text_printf(out, "%s: %s in %s on the %s device\n  plan     %s\n", a->name, what,
                in_seconds(made->seconds), a->session->device.device,
                sg_kernel_text(kernel, SG_TEXT_PLAN));
    if (a->matrix != NULL)
        product_text(a, out);
    steps_text(made, out);
}

static int finish(running *r, const steps *made, json *j, text *out) {
    arrays *a = r->arrays;
    describe_json(a, r->kernel, made, j);
    describe(a, r->kernel, made, out);
    int extras = points_save(&r->points, made->made, j, out);
    extras = first_failure(extras, monitors_save(&r->monitors, j, out));
    json_add(j, "results {");
    int code = arrays_is(a, SG_KIND_REDUCE) ? arrays_print(a, j, out) : EXIT_DONE;
    json_add(j, "}");
    return first_failure(extras, code == EXIT_DONE ? arrays_save(a, false, j, out) : code);
}

/* The most steps that are made without a break. */
static int64_t steps_between(const options *o, int64_t most) {
    const unsigned due = options_due(o);
    for (int i = 0; i < EVERY_COUNT; i++)
        if ((due >> i & 1) != 0 && options_every(o, (every)i) < most)
            most = options_every(o, (every)i);
    return most;
}

/* Files of parts are those of ranks. */
static int refuse_pieces(const arrays *a) {
    const bindings *shots = &a->session->options->snapshots;
    for (int i = 0; i < a->output_count + shots->count; i++) {
        const char *path =
            i < a->output_count ? a->outputs[i].path : shots->items[i - a->output_count].value;
        if (datafile_kind_of(path) == DATAFILE_PVTI)
            return complain(EXIT_USAGE, path,
                            "ranks write .pvti files, one piece each: add --ranks, or give a .vti "
                            "file");
    }
    return EXIT_DONE;
}

static int run_spec(session *s, const char *spec, json *j, text *out) {
    arrays a;
    running r = {.arrays = &a};
    steps made = {0};
    sg_build_options how = session_build_options(s, s->first);
    int code = arrays_open(&a, s, spec, true);
    if (code == EXIT_DONE)
        code = refuse_pieces(&a);
    if (code == EXIT_DONE)
        code = run_snapshots_begin(&r.shots, &a, true, true);
    if (code == EXIT_DONE)
        code = keep_files(&a);
    if (code == EXIT_DONE) {
        memcpy(how.size, a.size, sizeof how.size);
        if (how.size[0] == 0)
            how.size[0] = 1; /* 0 is the default */
        how.matrix = a.matrix;
        how.steps = steps_between(s->options, how.steps);
        progress("%s: building", spec);
        code = session_build(s, spec, &how, &r.kernel);
    }
    if (code == EXIT_DONE)
        code = points_open(&r.points, &a, r.kernel);
    if (code == EXIT_DONE)
        code = monitors_open(&r.monitors, &a, r.kernel, &how);
    if (code == EXIT_DONE)
        code = load_and_compute(&r, &made, j);
    code = first_failure(code, run_snapshots_end(&r.shots));
    if (code == EXIT_DONE || made.stopped_by != NULL) { /* users may want to see why it stopped */
        code = first_failure(code, finish(&r, &made, j, out));
        run_snapshots_report(&r.shots, &a, j, out);
    }
    points_close(&r.points);
    monitors_close(&r.monitors);
    sg_release(r.kernel);
    arrays_close(&a);
    return code;
}

static int run_on(const options *o, ranks *r, const char **complaint) {
    session s;
    int count = 0;
    if (o->folder != NULL && r->speaks && !output_folder(o->folder))
        return EXIT_DATA;
    int code = session_open(&s, o);
    if (code != EXIT_DONE) {
        *complaint = complaint_take();
        return code;
    }
    text line = new_text(), json_text = new_text();
    json j = {.out = &json_text};
    json_begin(&j, o);
    session_json(&s, &j);
    json_string(&j, "spec", o->specs[0]);
    code = session_count(&s, o->specs[0], &count);
    if (code == EXIT_DONE && count != 1)
        code = complain(EXIT_USAGE, o->specs[0],
                        "run takes one spec, but the file returns %d; choose one with --spec NAME",
                        count);
    if (code == EXIT_DONE)
        code = (r->transports != NULL ? run_team(&s, o->specs[0], r, &j, &line)
                                      : run_spec(&s, o->specs[0], &j, &line));
    *complaint = complaint_take();
    json_string(&j, "error", *complaint);
    if (r->speaks)
        code = json_finish(&j, o, code, code == EXIT_DONE || code == EXIT_WRONG ? &line : NULL);
    session_close(&s);
    return code;
}

/* What is wrong with options that need each other, or exclude each other; NULL. */
static const char *wrong_together(const options *o) {
    const unsigned due = options_due(o);
    bool lacks[EVERY_COUNT];
    for (int i = 0; i < EVERY_COUNT; i++) {
        lacks[i] = (due >> i & 1) != 0 && options_every(o, (every)i) == 0;
        if (o->every_of[i] > 0 && (due >> i & 1) == 0)
            return phrase("--every %s=N: there is no --%s", every_words[i], every_words[i]);
    }
    if (o->every > 0 && due == 0)
        return phrase("--every %" PRId64 ": nothing is done every so many steps; add --snapshot, "
                      "--monitor, --until or --checkpoint",
                      o->every);
    if (lacks[EVERY_CHECKPOINT])
        return "--checkpoint FILE needs --every N";
    if (lacks[EVERY_MONITOR])
        return "--monitor and --until need --every N";
    if (lacks[EVERY_SNAPSHOT])
        return "--snapshot NAME=FILE needs --every N";
    if (o->snapshots.count == 0 && (o->slice_given || o->range_given || o->colours != NULL))
        return "--slice, --range and --colours are of --snapshot";
    return NULL;
}

int command_run(const options *o) {
    const char *complaint, *wrong = wrong_together(o);
    ranks alone = {.count = 1, .speaks = true};
    if (wrong != NULL)
        return complain(EXIT_USAGE, NULL, "%s", wrong);
    return ranks_wanted(o) || o->checkpoint != NULL || o->restart != NULL
               ? ranks_call(run_on, o)
               : run_on(o, &alone, &complaint);
}
