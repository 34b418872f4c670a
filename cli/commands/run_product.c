/* run with a matrix: a product from files. Takes: the arrays of a run, which have a matrix. Makes:
   y, and what is told of how the matrix was stored. */
#include <inttypes.h>

#include "base/clock.h"
#include "cli/commands/run.h"

/* A parameter of the kernel, by its name. */
static double value_of(const sg_kernel *kernel, const double *parameters, const char *name,
                       double otherwise) {
    const int index = sg_kernel_find_parameter(kernel, name);
    return index >= 0 && parameters != NULL ? parameters[index] : otherwise;
}

/* With beta, the product reads y. */
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
    const int code = session_code(a->session, status);
    sg_free(context, arguments->temporary);
    return code;
}

int product_run(arrays *a, const sg_kernel *kernel, const double *parameters, double *seconds) {
    const int x = arrays_find(a, "x"), y = arrays_find(a, "y");
    sg_device_matrix *matrix = NULL;
    sg_status status = sg_matrix_upload(a->matrix, kernel, &matrix);
    a->conversion.struct_size = sizeof a->conversion;
    if (status == SG_OK)
        status = sg_conversion_facts(matrix, &a->conversion);
    int code = session_code(a->session, status);
    sg_spmv_arguments arguments = {.struct_size = sizeof arguments,
                                   .matrix = matrix,
                                   .x = a->grids[x].data,
                                   .y = a->grids[y].data,
                                   .vectors = a->grids[x].size[1],
                                   .alpha = value_of(kernel, parameters, "alpha", 1),
                                   .beta = value_of(kernel, parameters, "beta", 0)};
    if (code == EXIT_DONE && arguments.vectors > 0) /* 0 would mean 1 */
        code = multiply(a, kernel, &arguments, seconds);
    sg_device_matrix_free(matrix);
    return code;
}

void product_json(const arrays *a, json *j) {
    json_add(j,
             "matrix { file %s rows %" PRId64 " columns %" PRId64 " entries %" PRId64
             " converted_by %s convert_seconds %g upload_seconds %g compile_seconds %g }",
             a->matrix_path, a->matrix_info.rows, a->matrix_info.columns, a->matrix_info.entries,
             a->conversion.on_device ? "kernels" : "host", a->conversion.convert_seconds,
             a->conversion.upload_seconds, a->conversion.compile_seconds);
}

void product_text(const arrays *a, text *out) {
    text_printf(out,
                "  matrix   %s: %s, %s, %s\n"
                "  stored   as %s, converted by %s in %s, brought to the device in %s\n",
                a->matrix_path, counted(a->matrix_info.rows, "row"),
                counted(a->matrix_info.columns, "column"), counted(a->matrix_info.entries, "entry"),
                a->conversion.format, a->conversion.on_device ? "kernels" : "the host",
                in_seconds(a->conversion.convert_seconds),
                in_seconds(a->conversion.upload_seconds));
}
