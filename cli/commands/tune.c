/* tune: what it does beside listing candidates. Takes: options. Makes: the results of former
   sweeps, as JSON for other tuners or as a plans file. */
#include <string.h>

#include "cli/commands/commands.h"
#include "cli/report/plans.h"
#include "cli/report/t4.h"
#include "cli/session.h"

/* ---- export -------------------------------------------------------------------------------- */

typedef struct export {
    const options *options;
    t4 t4;
    plans plans;
}
export;

/* An axis that --size does not give is not asked about. */
static void add_result(void *user, const sg_result *r) {
    export *e = user;
    const options *o = e->options;
    if (o->size_count > 0 && o->size_count != r->size_count)
        return;
    for (int i = 0; i < o->size_count; i++)
        if (o->size[i] != r->size[i])
            return;
    if (o->plans)
        plans_result(&e->plans, r);
    else
        t4_result(&e->t4, r);
}

static int export_results(sg_context *context, export *e) {
    const options *o = e->options;
    sg_status status = SG_OK;
    if (o->spec_count == 1)
        status = sg_results(context, NULL, add_result, e);
    for (int i = 1; i < o->spec_count && status == SG_OK; i++)
        status = sg_results(context, o->specs[i], add_result, e);
    return status == SG_OK ? EXIT_DONE : complain_library(context, status);
}

static int command_tune_export(const options *o) {
    const sg_options wanted = {
        .struct_size = sizeof wanted, .device = "none", .database = o->database};
    sg_context *context;
    const sg_status status = sg_open(&context, &wanted);
    int code = status == SG_OK ? EXIT_DONE : complain_library(context, status);
    buffer text = {0};
    json j = {.out = &text};
    export e = {.options = o, .plans = {.out = &text}};
    if (code == EXIT_DONE && !o->plans)
        t4_begin(&e.t4, &j);
    if (code == EXIT_DONE) {
        code = export_results(context, &e);
        if (o->plans)
            plans_end(&e.plans);
        else
            t4_end(&e.t4);
    }
    if (code == EXIT_DONE) /* half a file would look like a whole one */
        code = say(&text);
    buffer_free(&text);
    sg_close(context);
    return code;
}

/* ---- the command --------------------------------------------------------------------------- */

int command_tune(const options *o) {
    if (o->list)
        return command_tune_list(o);
    if (strcmp(o->specs[0], "export") == 0)
        return command_tune_export(o);
    return command_tune_sweep(o);
}
