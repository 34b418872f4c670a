/* The steps of `run`. */
#include "cli/files/steps.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/clock.h"
#include "cli/files/product.h"

enum { BATCH_MILLISECONDS = 200, STEPS_UNLOOKED = 100 };

static void show_progress(int64_t done, int64_t steps) {
    static const char bar[] = "========================================";
    enum { WIDTH = sizeof bar - 1 };
    const int full = (int)((double)done / (double)steps * WIDTH);
    progress("[%.*s%*s] step %" PRId64 " of %" PRId64, full, bar, WIDTH - full, "", done, steps);
}

/* The grids change places as the arrays did. */
static void follow(arrays *a, const int *final) {
    const size_t count = (size_t)a->info.arrays;
    sg_grid *before = must_alloc(count, sizeof *before);
    memcpy(before, a->grids, count * sizeof *before);
    for (size_t i = 0; i < count; i++)
        a->grids[i] = before[final[i]];
    free(before);
}

/* ---- NaN and infinite values ---------------------------------------------------------------- */

/* Stops the run where a field has such values. */
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
    if (s->made == 0)
        return complain(EXIT_WRONG, a->spec, "%s has NaN or infinite values before the first step",
                        s->stopped_by);
    if (!a->is_grid)
        return complain(EXIT_WRONG, a->spec, "%s has NaN or infinite values", s->stopped_by);
    return complain(EXIT_WRONG, a->spec,
                    "%s has NaN or infinite values since one of the steps %" PRId64 " to %" PRId64
                    "; the run ends after step %" PRId64,
                    s->stopped_by, s->sound + 1, s->made, s->made);
}

void steps_text(const steps *s, buffer *out) {
    if (s->stopped_by != NULL && s->made == 0)
        buffer_printf(out, "  stopped  %s has NaN or infinite values before the first step\n",
                      s->stopped_by);
    else if (s->stopped_by != NULL)
        buffer_printf(out,
                      "  stopped  %s has NaN or infinite values after step %" PRId64
                      ", and had none after step %" PRId64 "\n",
                      s->stopped_by, s->made, s->sound);
}

void steps_json(const steps *s, json *j) {
    if (s->stopped_by == NULL) {
        json_null(j, "stopped");
        return;
    }
    json_object(j, "stopped");
    json_string(j, "field", s->stopped_by);
    json_integer(j, "first_step", s->made > 0 ? s->sound + 1 : 0);
    json_integer(j, "last_step", s->made);
    json_end_object(j);
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* How many steps may be made at once: a multiple of those that a launch fuses. */
static int64_t most_steps(const arrays *a, const sg_kernel *kernel) {
    sg_kernel_info info = {.struct_size = sizeof info};
    const options *o = a->session->options;
    if (!o->stop_on_nan)
        return o->steps;
    sg_kernel_facts(kernel, &info);
    return info.steps > 1 && info.steps <= STEPS_UNLOOKED ? STEPS_UNLOOKED / info.steps * info.steps
                                                          : STEPS_UNLOOKED;
}

static int make_batch(arrays *a, const sg_kernel *kernel, sg_arguments *arguments, int64_t count,
                      int *final, steps *s) {
    const double start = clock_now();
    sg_status status = sg_run(kernel, arguments, count, NULL, final);
    if (status == SG_OK)
        status = sg_synchronize(a->session->context, NULL);
    s->seconds += clock_now() - start;
    if (status != SG_OK)
        return session_failed(a->session, status);
    follow(a, final);
    s->made += count;
    return EXIT_DONE;
}

/* All steps at once, or in batches: on a terminal the bar moves between them. */
static int run_steps(arrays *a, const sg_kernel *kernel, sg_arguments *arguments, steps *s) {
    const options *o = a->session->options;
    const int64_t most = most_steps(a, kernel);
    int64_t batch = isatty(STDERR_FILENO) ? 1 : most;
    int *final = must_alloc((size_t)a->info.arrays, sizeof *final);
    int code = o->stop_on_nan ? look(a, s) : EXIT_DONE;
    while (s->made < o->steps && code == EXIT_DONE) {
        const double before = s->seconds;
        const int64_t left = o->steps - s->made;
        code = make_batch(a, kernel, arguments, left < batch ? left : batch, final, s);
        if (code == EXIT_DONE && o->stop_on_nan)
            code = look(a, s);
        show_progress(s->made, o->steps);
        if ((s->seconds - before) * 1000 < BATCH_MILLISECONDS && batch <= most / 2)
            batch *= 2;
    }
    free(final);
    return code;
}

static int launch_once(arrays *a, const sg_kernel *kernel, const sg_arguments *arguments,
                       steps *s) {
    sg_context *context = a->session->context;
    const double start = clock_now();
    sg_status status = sg_launch(kernel, arguments, NULL);
    if (status == SG_OK)
        status = sg_synchronize(context, NULL);
    s->seconds = clock_now() - start;
    return status == SG_OK ? EXIT_DONE : session_failed(a->session, status);
}

/* In temporary memory that is needed only meanwhile. */
static int compute(arrays *a, sg_kernel *kernel, const double *parameters, int count, steps *s) {
    sg_arguments arguments = {.struct_size = sizeof arguments,
                              .grids = a->grids,
                              .grid_count = a->count,
                              .parameters = parameters,
                              .parameter_count = count};
    sg_context *context = a->session->context;
    sg_status status = sg_temporary_bytes(kernel, &arguments, &arguments.temporary_bytes);
    if (status == SG_OK && arguments.temporary_bytes > 0)
        status = sg_alloc(context, arguments.temporary_bytes, &arguments.temporary);
    int code;
    if (status != SG_OK)
        code = session_failed(a->session, status);
    else if (a->is_grid)
        code = run_steps(a, kernel, &arguments, s);
    else
        code = launch_once(a, kernel, &arguments, s);
    sg_free(context, arguments.temporary);
    return code;
}

int steps_compute(arrays *a, sg_kernel *kernel, const double *parameters, int count, steps *s) {
    *s = (steps){0};
    const int code = arrays_is(a, SG_KIND_PRODUCT) ? product_run(a, kernel, parameters, &s->seconds)
                                                   : compute(a, kernel, parameters, count, s);
    if (a->is_grid || code != EXIT_DONE)
        return code;
    s->made = 1;
    return a->session->options->stop_on_nan ? look(a, s) : EXIT_DONE;
}
