/* run of spmv. */
#include "cli/product.h"

#include <inttypes.h>

#include "cli/clock.h"

/* A parameter of the kernel, by its name. */
static double value_of(const sg_kernel *kernel, const double *parameters, const char *name,
                       double otherwise) {
    const int index = sg_kernel_find_parameter(kernel, name);
    return index >= 0 && parameters != NULL ? parameters[index] : otherwise;
}

int product_judge(const arrays *a, const sg_kernel *kernel, const double *parameters) {
    const int y = arrays_find(a, "y");
    if (value_of(kernel, parameters, "beta", 0) == 0 || a->items[y].input != NULL)
        return EXIT_DONE;
    return complain(EXIT_USAGE, a->spec,
                    "beta is not 0, so %s reads y; give it with --input y=FILE.npy", a->name);
}

int product_run(arrays *a, const sg_kernel *kernel, const double *parameters, double *seconds) {
    (void)kernel;
    (void)parameters;
    *seconds = 0;
    return arrays_read_matrix(a);
}

void product_json(const arrays *a, json *j) {
    json_object(j, "matrix");
    json_string(j, "file", a->matrix_path);
    json_integer(j, "rows", a->matrix_info.rows);
    json_integer(j, "columns", a->matrix_info.columns);
    json_integer(j, "entries", a->matrix_info.entries);
    json_end_object(j);
}

void product_text(const arrays *a, buffer *out) {
    buffer_printf(
        out, "  matrix   %s: %" PRId64 " rows, %" PRId64 " columns, %" PRId64 " entries\n",
        a->matrix_path, a->matrix_info.rows, a->matrix_info.columns, a->matrix_info.entries);
}
