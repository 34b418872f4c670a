/* Prints what a spec becomes, compiled by nothing. Takes: a spec, and a schedule or "". Makes:
   plan, model and source of each of its kernels on standard output. Unlike the command, it takes on
   the environment's locale, as a program that embeds the library may. */
#include <locale.h>
#include <stdio.h>

#include "runtime/stencilgen.h"

static int fail(const sg_context *context) {
    fprintf(stderr, "%s\n", sg_error(context));
    return 1;
}

int main(int count, char **arguments) {
    if (count != 3)
        return 2;
    setlocale(LC_ALL, "");
    const sg_options options = {.struct_size = sizeof options, .device = "cpu"};
    sg_context *context;
    int specs;
    if (sg_open(&context, &options) != SG_OK ||
        sg_count_specs(context, arguments[1], NULL, &specs) != SG_OK)
        return fail(context);
    for (int index = 0; index < specs; index++) {
        const sg_build_options build = {.struct_size = sizeof build,
                                        .index = index,
                                        .schedule = arguments[2][0] != '\0' ? arguments[2] : NULL,
                                        .source_only = 1};
        sg_kernel *kernel;
        if (sg_build(context, arguments[1], &build, &kernel) != SG_OK)
            return fail(context);
        printf("%s\n%s\n%s\n", sg_kernel_text(kernel, SG_TEXT_PLAN),
               sg_kernel_text(kernel, SG_TEXT_MODEL), sg_kernel_text(kernel, SG_TEXT_SOURCE));
        sg_release(kernel);
    }
    sg_close(context);
    return 0;
}
