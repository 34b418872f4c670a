/* run of spmv. */
#include "cli/files/product.h"

#include <inttypes.h>

#include "base/clock.h"

/* A parameter of the kernel, by its name. */
static double value_of(const sg_kernel *kernel, const double *parameters, const char *name,
                       double otherwise) {
    const int index = sg_kernel_find_parameter(kernel, name);
    return index >= 0 && parameters != NULL ? parameters[index] : otherwise;
}

int product_plan(session *s, const char *spec, const sg_build_options *how, sg_kernel **out) {
    sg_build_options any = *how;
    sg_matrix *one = NULL;
    sg_status status = sg_matrix_new(s->context, 1, 1, &one);
    if (status == SG_OK)
        status = sg_matrix_set(one, 0, 0, 1);
    any.matrix = one;
    const int code =
        status == SG_OK ? session_build(s, spec, &any, out) : session_failed(s, status);
    sg_matrix_free(one);
    return code;
}

int product_judge(const arrays *a, const sg_kernel *kernel, const double *parameters) {
    const int y = arrays_find(a, "y");
    if (value_of(kernel, parameters, "beta", 0) == 0 || a->items[y].input != NULL)
        return EXIT_DONE;
    return complain(EXIT_USAGE, a->spec,
                    "beta is not 0, so %s reads y; give it with --input y=FILE.npy", a->name);
}

static int multiply(arrays *a, const sg_kernel *kernel, sg_spmv_arguments *arguments,
                    double *seconds) {
    sg_context *context = a->session->context;
    sg_status status =
        sg_spmv_bytes(kernel, arguments->matrix, arguments->vectors, &arguments->temporary_bytes);
    if (status == SG_OK && arguments->temporary_bytes > 0)
        status = sg_alloc(context, arguments->temporary_bytes, &arguments->temporary);
    const double start = clock_seconds();
    if (status == SG_OK)
        status = sg_spmv(kernel, arguments, NULL);
    if (status == SG_OK)
        status = sg_synchronize(context, NULL);
    *seconds = clock_seconds() - start;
    const int code = status == SG_OK ? EXIT_DONE : session_failed(a->session, status);
    sg_free(context, arguments->temporary);
    return code;
}

int product_run(arrays *a, const sg_kernel *kernel, const double *parameters, double *seconds) {
    const int x = arrays_find(a, "x"), y = arrays_find(a, "y");
    sg_device_matrix *matrix;
    sg_status status = sg_matrix_upload(a->matrix, kernel, &matrix);
    if (status != SG_OK)
        return session_failed(a->session, status);
    a->conversion.struct_size = sizeof a->conversion;
    status = sg_conversion_facts(matrix, &a->conversion);
    if (status != SG_OK) {
        sg_device_matrix_free(matrix);
        return session_failed(a->session, status);
    }
    sg_spmv_arguments arguments = {.struct_size = sizeof arguments,
                                   .matrix = matrix,
                                   .x = a->grids[x].data,
                                   .y = a->grids[y].data,
                                   .vectors = a->grids[x].size[1],
                                   .alpha = value_of(kernel, parameters, "alpha", 1),
                                   .beta = value_of(kernel, parameters, "beta", 0)};
    /* A product of no vectors is none, which 0 would not say. */
    const int code = arguments.vectors > 0 ? multiply(a, kernel, &arguments, seconds) : EXIT_DONE;
    sg_device_matrix_free(matrix);
    return code;
}

void product_json(const arrays *a, json *j) {
    json_object(j, "matrix");
    json_string(j, "file", a->matrix_path);
    json_integer(j, "rows", a->matrix_info.rows);
    json_integer(j, "columns", a->matrix_info.columns);
    json_integer(j, "entries", a->matrix_info.entries);
    json_string(j, "converted_by", a->conversion.on_device ? "kernels" : "host");
    json_number(j, "convert_seconds", a->conversion.convert_seconds);
    json_number(j, "upload_seconds", a->conversion.upload_seconds);
    json_number(j, "compile_seconds", a->conversion.compile_seconds);
    json_end_object(j);
}

void product_text(const arrays *a, text *out) {
    text_printf(out, "  matrix   %s: %" PRId64 " rows, %" PRId64 " columns, %" PRId64 " entries\n",
                a->matrix_path, a->matrix_info.rows, a->matrix_info.columns,
                a->matrix_info.entries);
    text_printf(out, "  stored   as %s, converted by %s in ", a->conversion.format,
                a->conversion.on_device ? "kernels" : "the host");
    add_seconds(out, a->conversion.convert_seconds);
    text_printf(out, ", brought to the device in ");
    add_seconds(out, a->conversion.upload_seconds);
    text_printf(out, "\n");
}
