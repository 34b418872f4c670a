/* Schedules of the textbook's shapes of tiles, and a well-shaped naive one. D. Kirk, W. Hwu, I. El
   Hajj, Programming Massively Parallel Processors, chapter on stencils. */
#include "cli/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 11, PLAN_WIDTH = 46 };

static const char *const schedules[BESIDE_COUNT][3] = {
    {"naive tile=256 vec=1", "naive tile=32x8 vec=1", "naive tile=32x4x4 vec=1"},
    {"tiled tile=256", "tiled tile=32x32", "tiled tile=8x8x8"},
    {"coarsened tile=256 coarsen=x4", "coarsened tile=256 coarsen=y64",
     "coarsened tile=32x32 coarsen=z32"},
    {"register tile=256 coarsen=x4", "register tile=256 coarsen=y64",
     "register tile=32x32 coarsen=z32"},
};

void beside_check_size(const sg_kernel_info *info, int64_t out[3]) {
    static const int64_t most[3][3] = {{100003, 1, 1}, {523, 211, 1}, {131, 67, 45}};
    for (int axis = 0; axis < 3; axis++) {
        const int64_t here = axis < info->dims ? most[info->dims - 1][axis] : 1;
        out[axis] = info->size[axis] < here ? info->size[axis] : here;
    }
}

static int exercise(session *s, sg_kernel *kernel, const sg_kernel_info *own,
                    const double *parameters, beside *out) {
    sg_check_options check = {
        .struct_size = sizeof check, .parameters = parameters, .seed = s->options->seed};
    sg_check_result checked = {.struct_size = sizeof checked};
    sg_speed_options how = {.struct_size = sizeof how, .parameters = parameters};
    beside_check_size(own, check.size);
    sg_status status = sg_check(kernel, &check, &checked);
    if (status != SG_OK)
        return session_failed(s, status);
    memcpy(how.size, own->size, sizeof how.size);
    out->speed.struct_size = sizeof out->speed;
    status = sg_measure(kernel, &how, &out->speed);
    out->measured = status == SG_OK;
    return out->measured ? EXIT_DONE : session_failed(s, status);
}

static int measure(session *s, const char *spec, int index, const sg_kernel_info *own,
                   const double *parameters, beside *out) {
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
    if (status != SG_OK)
        return session_failed(s, status);
    out->plan = new_copy(sg_kernel_text(kernel, SG_TEXT_PLAN));
    const int code = exercise(s, kernel, own, parameters, out);
    sg_release(kernel);
    return code;
}

int beside_measure(session *s, const char *spec, int index, const sg_kernel_info *own,
                   const double *parameters, beside out[BESIDE_COUNT]) {
    int code = EXIT_DONE;
    for (int i = 0; i < BESIDE_COUNT; i++) {
        out[i] = (beside){.schedule = schedules[i][own->dims - 1]};
        progress("%s: measuring %s", spec, out[i].schedule);
        code = first_failure(code, measure(s, spec, index, own, parameters, &out[i]));
    }
    return code;
}

void beside_text(const beside rows[BESIDE_COUNT], double points, text *out) {
    for (int i = 0; i < BESIDE_COUNT && rows[i].schedule != NULL; i++) {
        const beside *r = &rows[i];
        text_printf(out, "%-*s%-*s ", INDENT, i == 0 ? "  beside" : "", PLAN_WIDTH,
                    r->plan != NULL ? r->plan : r->schedule);
        if (r->measured) {
            add_seconds(out, r->speed.seconds);
            text_printf(out, " a step, %.2f of a copy; %.2f times as long\n", r->speed.of_copy,
                        points / r->speed.points);
        } else {
            text_printf(out, "%s\n", r->refusal != NULL ? r->refusal : "failed");
        }
    }
}

void beside_json(const beside rows[BESIDE_COUNT], json *j) {
    json_array(j, "beside");
    for (int i = 0; i < BESIDE_COUNT && rows[i].schedule != NULL; i++) {
        const beside *r = &rows[i];
        json_object(j, NULL);
        json_string(j, "schedule", r->schedule);
        json_string(j, "plan", r->plan);
        json_string(j, "refusal", r->refusal);
        json_number(j, "seconds", r->measured ? r->speed.seconds : NAN);
        json_number(j, "points_per_second", r->measured ? r->speed.points : NAN);
        json_number(j, "copy_bytes_per_second", r->measured ? r->speed.copy_bytes : NAN);
        json_number(j, "of_copy", r->measured ? r->speed.of_copy : NAN);
        json_end_object(j);
    }
    json_end_array(j);
}
