/* Builds a kernel from a spec in a string, runs it on the cpu device, and checks a value. */
#include <stdio.h>
#include <stencilgen.h>
#include <string.h>

static const char spec[] = "return stencil { name = 'sum', shape = star(1, 1), boundary = 'zero',"
                           "                 coefficients = { 1, 10, 100 } }";

static int failed(const sg_context *context, sg_status status) {
    fprintf(stderr, "%s: %s\n", sg_status_name(status), sg_error(context));
    return 1;
}

static int compute(sg_context *context) {
    enum { SIZE = 5 };
    float u[SIZE] = {1, 2, 3, 4, 5}, next[SIZE] = {0};
    const sg_build_options options = {.struct_size = sizeof options, .text = spec};
    sg_kernel *kernel = NULL;
    sg_status status = sg_build(context, "sum.lua", &options, &kernel);
    if (status != SG_OK)
        return failed(context, status);
    const sg_grid grids[] = {{.data = u, .size = {SIZE}}, {.data = next, .size = {SIZE}}};
    const sg_arguments arguments = {
        .struct_size = sizeof arguments, .grids = grids, .grid_count = 2};
    status = sg_launch(kernel, &arguments, NULL);
    if (status == SG_OK)
        status = sg_synchronize(context, NULL);
    sg_release(kernel);
    if (status != SG_OK)
        return failed(context, status);
    printf("sum of (2, 3, 4) is %g, of (4, 5) %g\n", (double)next[2], (double)next[4]);
    return next[2] != 423 || next[4] != 45;
}

int main(void) {
    const sg_options options = {.struct_size = sizeof options, .device = "cpu"};
    sg_context *context = NULL;
    const sg_status status = sg_open(&context, &options);
    const int code = status != SG_OK ? failed(context, status) : compute(context);
    sg_close(context);
    printf("stencilgen %s, compiled against %s\n", sg_version(), SG_VERSION);
    return code != 0 || strcmp(sg_version(), SG_VERSION) != 0;
}
