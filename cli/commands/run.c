/* run: compute from files. Takes: a spec, files of arrays, a number of steps. Makes: the files of
   the arrays written, or a result that is printed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/files/steps.h"
#include "cli/words.h"

static int load_and_compute(arrays *a, sg_kernel *kernel, steps *made, json *j) {
    double *parameters;
    int count;
    int code = session_parameters(a->session, a->spec, kernel, true, &parameters, &count);
    if (code == EXIT_DONE)
        session_parameters_json(a->session, kernel, j);
    if (code == EXIT_DONE && arrays_is(a, SG_KIND_PRODUCT))
        code = product_judge(a, kernel, parameters);
    if (code == EXIT_DONE)
        code = arrays_load(a);
    if (code == EXIT_DONE)
        code = steps_compute(a, kernel, parameters, count, made);
    return code;
}

static void describe_json(const arrays *a, const sg_kernel *kernel, const steps *made, json *j) {
    json_string(j, "family", sg_kernel_text(kernel, SG_TEXT_FAMILY));
    json_string(j, "name", a->name);
    json_string(j, "plan", sg_kernel_text(kernel, SG_TEXT_PLAN));
    if (a->matrix != NULL)
        product_json(a, j);
    json_integers(j, "size", a->size, (a->is_grid ? a->info.dims : 1));
    json_integer(j, "steps", made->made);
    json_number(j, "seconds", made->seconds);
    steps_json(made, j);
}

static void describe(const arrays *a, const sg_kernel *kernel, const steps *made, text *out) {
    text_printf(out, "%s: ", a->name);
    if (a->is_grid) {
        text_printf(out, "%" PRId64 " step%s of ", made->made, made->made == 1 ? "" : "s");
        add_extents(out, a->size, a->info.dims);
    } else {
        text_printf(out, "%" PRId64 " %s", a->size[0], words_of(kernel)->points);
    }
    text_add(out, " in ");
    add_seconds(out, made->seconds);
    text_printf(out, " on the %s device\n  plan     %s\n", a->session->device.device,
                sg_kernel_text(kernel, SG_TEXT_PLAN));
    if (a->matrix != NULL)
        product_text(a, out);
    steps_text(made, out);
}

static int finish(arrays *a, const sg_kernel *kernel, const steps *made, json *j, text *out) {
    describe_json(a, kernel, made, j);
    describe(a, kernel, made, out);
    json_object(j, "results");
    int code = arrays_is(a, SG_KIND_REDUCE) ? arrays_print(a, j, out) : EXIT_DONE;
    json_end_object(j);
    return code == EXIT_DONE ? arrays_save(a, j, out) : code;
}

static int run_spec(session *s, const char *spec, json *j, text *out) {
    arrays a;
    sg_kernel *kernel = NULL;
    steps made = {0};
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
        code = load_and_compute(&a, kernel, &made, j);
    if (code == EXIT_DONE || made.stopped_by != NULL) /* what there is then may be looked at */
        code = first_failure(code, finish(&a, kernel, &made, j, out));
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
    text line = new_text(), json_text = new_text();
    json j = {.out = &json_text};
    json_begin(&j, o);
    session_json(&s, &j);
    json_string(&j, "spec", o->specs[0]);
    code = session_count(&s, o->specs[0], &count);
    if (code == EXIT_DONE && count != 1)
        code =
            complain(EXIT_USAGE, o->specs[0], "run takes one spec, but the file returns %d", count);
    if (code == EXIT_DONE)
        code = run_spec(&s, o->specs[0], &j, &line);
    json_string(&j, "error", complaint_take());
    json_finish(&j, code);
    if (o->json || code == EXIT_DONE || code == EXIT_WRONG)
        code = first_failure(code, say(o->json ? &json_text : &line));
    session_close(&s);
    progress_end();
    return code;
}
