/* The families' own calls: sg_reduce, sg_scan, sg_merge and how much memory they need.
   Takes: arguments by name. Makes: launches of kernels of that family, without allocating anything.
 */
#include "runtime/api/list_calls.h"

#include <string.h>

/* An array as a call names it. */
typedef struct named {
    const char *name;
    const void *data;
    int64_t extent;
} named;

/* Of the members of a struct, those that kernels have need not be those that the caller has given:
   sg_launch says which has no data. */
static bool connect(job *j, const sg_kernel *k, const char *call, const named *given, int count,
                    list_call *out) {
    const program *p = k->program;
    for (int g = 0; g < count; g++)
        if (given[g].data != NULL && sg_kernel_find_array(k, given[g].name) < 0)
            return context_refuse(j, "'%s' takes no '%s'", p->name, given[g].name);
    for (int i = 0; i < p->array_count; i++) {
        int g = 0;
        while (g < count && strcmp(given[g].name, p->arrays[i].name) != 0)
            g++;
        if (g == count)
            return context_refuse(j,
                                  "'%s' takes an array '%s' that %s does not know: use sg_launch",
                                  p->name, p->arrays[i].name, call);
        out->grids[i] = (sg_grid){.data = (void *)given[g].data, .size = {given[g].extent}};
    }
    out->arguments.struct_size = sizeof out->arguments;
    out->arguments.grids = out->grids;
    out->arguments.grid_count = p->array_count;
    return true;
}

bool list_call_is_of(job *j, const sg_kernel *k, sg_kind kind, const char *family, const char *call,
                     const void *given) {
    if (k->info.kind != kind)
        return context_refuse(j, "%s launches kernels of the family %s; '%s' is of %s", call,
                              family, k->program->name, sg_kernel_text(k, SG_TEXT_FAMILY));
    if (given == NULL)
        return context_refuse(j, "%s needs arguments", call);
    return true;
}

/* Sums of sizes that overflow come out wrong, but the sizes are refused before them. */
static int64_t sum(int64_t a, int64_t b) {
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* ---- the families -------------------------------------------------------------------------- */

static bool fill_reduce(job *j, const sg_kernel *k, const void *given, list_call *out) {
    sg_reduce_arguments a;
    if (!list_call_is_of(j, k, SG_KIND_REDUCE, "reduce", "sg_reduce", given) ||
        !context_read(j, &a, sizeof a, given, "sg_reduce_arguments"))
        return false;
    const int64_t results = sg_kernel_find_array(k, "offsets") >= 0 ? a.segments : 1;
    const named arrays[] = {{"input", a.input, a.count},
                            {"second", a.second, a.count},
                            {"offsets", a.offsets, sum(a.segments, 1)},
                            {"result", a.result, results},
                            {"index", a.index, results}};
    out->arguments = (sg_arguments){.parameters = a.parameters,
                                    .parameter_count = a.parameter_count,
                                    .temporary = a.temporary,
                                    .temporary_bytes = a.temporary_bytes};
    return connect(j, k, "sg_reduce", arrays, (int)(sizeof arrays / sizeof *arrays), out);
}

static bool fill_scan(job *j, const sg_kernel *k, const void *given, list_call *out) {
    sg_scan_arguments a;
    if (!list_call_is_of(j, k, SG_KIND_SCAN, "scan", "sg_scan", given) ||
        !context_read(j, &a, sizeof a, given, "sg_scan_arguments"))
        return false;
    const named arrays[] = {{"input", a.input, a.count}, {"output", a.output, a.count}};
    out->arguments = (sg_arguments){.parameters = a.parameters,
                                    .parameter_count = a.parameter_count,
                                    .temporary = a.temporary,
                                    .temporary_bytes = a.temporary_bytes};
    return connect(j, k, "sg_scan", arrays, (int)(sizeof arrays / sizeof *arrays), out);
}

static bool fill_merge(job *j, const sg_kernel *k, const void *given, list_call *out) {
    sg_merge_arguments a;
    if (!list_call_is_of(j, k, SG_KIND_MERGE, "merge", "sg_merge", given) ||
        !context_read(j, &a, sizeof a, given, "sg_merge_arguments"))
        return false;
    const int64_t both = sum(a.a_count, a.b_count);
    const named arrays[] = {{"a", a.a, a.a_count},
                            {"b", a.b, a.b_count},
                            {"a_values", a.a_values, a.a_count},
                            {"b_values", a.b_values, a.b_count},
                            {"output", a.output, both},
                            {"output_values", a.output_values, both}};
    out->arguments = (sg_arguments){.parameters = a.parameters,
                                    .parameter_count = a.parameter_count,
                                    .temporary = a.temporary,
                                    .temporary_bytes = a.temporary_bytes};
    return connect(j, k, "sg_merge", arrays, (int)(sizeof arrays / sizeof *arrays), out);
}

/* ---- the calls ----------------------------------------------------------------------------- */

typedef struct failure {
    fill_call *fill;
    const sg_kernel *kernel;
    const void *given;
} failure;

static void explain_failure(job *j, void *argument) {
    const failure *f = argument;
    list_call c;
    f->fill(j, f->kernel, f->given, &c);
}

/* The text of a refusal is put together only when there is one, as for sg_launch. */
static bool fill_in(fill_call *fill, const sg_kernel *k, const void *given, list_call *out,
                    sg_status *status) {
    failure f = {fill, k, given};
    *status = SG_ERROR_USAGE;
    if (k == NULL)
        return false;
    if (fill(NULL, k, given, out))
        return true;
    *status = context_run(k->context, explain_failure, &f, NULL);
    return false;
}

sg_status list_call_send(fill_call *fill, const sg_kernel *k, const void *given, sg_stream stream) {
    list_call c;
    sg_status status;
    return fill_in(fill, k, given, &c, &status) ? sg_launch(k, &c.arguments, stream) : status;
}

sg_status list_call_ask(fill_call *fill, const sg_kernel *k, const void *given, size_t *out) {
    list_call c;
    sg_status status;
    return fill_in(fill, k, given, &c, &status) ? sg_temporary_bytes(k, &c.arguments, out) : status;
}

sg_status sg_reduce(const sg_kernel *k, const sg_reduce_arguments *a, sg_stream stream) {
    return list_call_send(fill_reduce, k, a, stream);
}

sg_status sg_reduce_bytes(const sg_kernel *k, int64_t count, int64_t segments, size_t *out) {
    const sg_reduce_arguments a = {.struct_size = sizeof a, .count = count, .segments = segments};
    return list_call_ask(fill_reduce, k, &a, out);
}

sg_status sg_scan(const sg_kernel *k, const sg_scan_arguments *a, sg_stream stream) {
    return list_call_send(fill_scan, k, a, stream);
}

sg_status sg_scan_bytes(const sg_kernel *k, int64_t count, size_t *out) {
    const sg_scan_arguments a = {.struct_size = sizeof a, .count = count};
    return list_call_ask(fill_scan, k, &a, out);
}

sg_status sg_merge(const sg_kernel *k, const sg_merge_arguments *a, sg_stream stream) {
    return list_call_send(fill_merge, k, a, stream);
}

sg_status sg_merge_bytes(const sg_kernel *k, int64_t a_count, int64_t b_count, size_t *out) {
    const sg_merge_arguments a = {.struct_size = sizeof a, .a_count = a_count, .b_count = b_count};
    return list_call_ask(fill_merge, k, &a, out);
}
