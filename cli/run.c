/* run: compute from files. Takes: a spec, files of arrays, a number of steps. Makes: the files of
   the arrays written, or a result that is printed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/clock.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/product.h"
#include "cli/words.h"

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

/* All steps at once, or on a terminal in batches between which the bar moves. */
static int run_steps(arrays *a, const sg_kernel *kernel, sg_arguments *arguments, double *seconds) {
    enum { BATCH_MILLISECONDS = 200 };
    const int64_t steps = a->session->options->steps;
    int64_t batch = isatty(STDERR_FILENO) ? 1 : steps;
    int *final = must_alloc((size_t)a->info.arrays, sizeof *final);
    sg_status status = SG_OK;
    const double start = clock_now();
    for (int64_t done = 0; done < steps && status == SG_OK;) {
        const double before = clock_now();
        const int64_t count = steps - done < batch ? steps - done : batch;
        status = sg_run(kernel, arguments, count, NULL, final);
        if (status == SG_OK)
            status = sg_synchronize(a->session->context, NULL);
        if (status == SG_OK)
            follow(a, final);
        done += count;
        show_progress(done, steps);
        if ((clock_now() - before) * 1000 < BATCH_MILLISECONDS && batch <= steps / 2)
            batch *= 2;
    }
    *seconds = clock_now() - start;
    free(final);
    return status == SG_OK ? EXIT_DONE : session_failed(a->session, status);
}

static int launch_once(arrays *a, const sg_kernel *kernel, const sg_arguments *arguments,
                       double *seconds) {
    sg_context *context = a->session->context;
    const double start = clock_now();
    sg_status status = sg_launch(kernel, arguments, NULL);
    if (status == SG_OK)
        status = sg_synchronize(context, NULL);
    *seconds = clock_now() - start;
    return status == SG_OK ? EXIT_DONE : session_failed(a->session, status);
}

/* In temporary memory that is needed only meanwhile. */
static int compute(arrays *a, sg_kernel *kernel, const double *parameters, int count,
                   double *seconds) {
    if (arrays_is(a, "spmv"))
        return product_run(a, kernel, parameters, seconds);
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
        code = run_steps(a, kernel, &arguments, seconds);
    else
        code = launch_once(a, kernel, &arguments, seconds);
    sg_free(context, arguments.temporary);
    return code;
}

static int load_and_compute(arrays *a, sg_kernel *kernel, double *seconds) {
    double *parameters;
    int count;
    int code = session_parameters(a->session, a->spec, kernel, true, &parameters, &count);
    if (code == EXIT_DONE && arrays_is(a, "spmv"))
        code = product_judge(a, kernel, parameters);
    if (code == EXIT_DONE)
        code = arrays_load(a);
    if (code == EXIT_DONE)
        code = compute(a, kernel, parameters, count, seconds);
    free(parameters);
    return code;
}

static void json_begin(json *j, const session *s) {
    json_object(j, NULL);
    json_string(j, "stencilgen", SG_VERSION);
    json_string(j, "command", command_name(s->options->command));
    session_json(s, j);
    json_string(j, "spec", s->options->specs[0]);
}

static void json_finish(json *j, int code) {
    char *error = complaint_take();
    json_string(j, "error", error);
    json_integer(j, "exit", code);
    json_end_object(j);
    free(error);
}

static void describe_json(const arrays *a, const sg_kernel *kernel, double seconds, json *j) {
    json_string(j, "family", sg_kernel_text(kernel, SG_TEXT_FAMILY));
    json_string(j, "name", a->name);
    json_string(j, "plan", sg_kernel_text(kernel, SG_TEXT_PLAN));
    if (a->matrix != NULL)
        product_json(a, j);
    json_array(j, "size");
    for (int axis = 0; axis < (a->is_grid ? a->info.dims : 1); axis++)
        json_integer(j, NULL, a->size[axis]);
    json_end_array(j);
    json_integer(j, "steps", a->session->options->steps);
    json_number(j, "seconds", seconds);
}

static void describe(const arrays *a, const sg_kernel *kernel, double seconds, buffer *out) {
    const int64_t steps = a->session->options->steps;
    buffer_printf(out, "%s: ", a->name);
    if (a->is_grid) {
        buffer_printf(out, "%" PRId64 " step%s of ", steps, steps == 1 ? "" : "s");
        buffer_size(out, a->size, a->info.dims);
    } else {
        buffer_printf(out, "%" PRId64 " %s", a->size[0], words_of(kernel)->points);
    }
    buffer_add(out, " in ");
    buffer_seconds(out, seconds);
    buffer_printf(out, " on the %s device\n  plan     %s\n", a->session->device.device,
                  sg_kernel_text(kernel, SG_TEXT_PLAN));
    if (a->matrix != NULL)
        product_text(a, out);
}

static int finish(arrays *a, const sg_kernel *kernel, double seconds, json *j, buffer *out) {
    describe_json(a, kernel, seconds, j);
    describe(a, kernel, seconds, out);
    json_object(j, "results");
    int code = arrays_is(a, "reduce") ? arrays_print(a, j, out) : EXIT_DONE;
    json_end_object(j);
    json_object(j, "outputs");
    if (code == EXIT_DONE)
        code = arrays_save(a, j, out);
    json_end_object(j);
    return code;
}

static int run_spec(session *s, const char *spec, json *j, buffer *out) {
    arrays a;
    sg_kernel *kernel = NULL;
    double seconds = 0;
    int code = arrays_open(&a, s, spec);
    if (code == EXIT_DONE) {
        sg_build_options how = session_build_options(s, 0);
        memcpy(how.size, a.size, sizeof how.size);
        if (how.size[0] == 0)
            how.size[0] = 1; /* 0 is the default */
        how.matrix = a.matrix;
        progress("%s: building", spec);
        code = session_build(s, spec, &how, &kernel);
    }
    if (code == EXIT_DONE)
        code = load_and_compute(&a, kernel, &seconds);
    if (code == EXIT_DONE)
        code = finish(&a, kernel, seconds, j, out);
    sg_release(kernel);
    arrays_close(&a);
    return code;
}

int command_run(const options *o) {
    session s;
    int count = 0;
    if (o->folder != NULL && !output_folder(o->folder))
        return EXIT_DATA;
    int code = session_open(&s, o);
    if (code != EXIT_DONE)
        return code;
    buffer text = {0}, json_text = {0};
    json j = {.out = &json_text};
    json_begin(&j, &s);
    code = session_count(&s, o->specs[0], &count);
    if (code == EXIT_DONE && count != 1)
        code =
            complain(EXIT_USAGE, o->specs[0], "run takes one spec, but the file returns %d", count);
    if (code == EXIT_DONE)
        code = run_spec(&s, o->specs[0], &j, &text);
    json_finish(&j, code);
    if (o->json || code == EXIT_DONE)
        code = first_failure(code, say(o->json ? &json_text : &text));
    buffer_free(&text);
    buffer_free(&json_text);
    session_close(&s);
    progress_end();
    return code;
}
