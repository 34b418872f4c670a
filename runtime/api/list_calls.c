/* The families' own calls: sg_reduce, sg_scan, sg_merge and how much memory they need.
   Takes: arguments by name. Makes: launches of kernels of that family, without allocating anything.
 */
#include <string.h>

#include "runtime/launch/launch.h"
#include "runtime/matrix/matrix.h"

typedef struct list_call {
    sg_grid grids[LAUNCH_ARRAYS];
    double parameters[LAUNCH_PARAMETERS]; /* for those who need a place */
    sg_arguments arguments;
} list_call;

/* A family's way from a caller's struct to the arguments of a launch; refuses as context_refuse
   does. */
typedef bool fill_call(job *, const sg_kernel *, const void *given, list_call *out);

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

static bool list_call_is_of(job *j, const sg_kernel *k, sg_kind kind, const char *family,
                            const char *call, const void *given) {
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

static sg_status list_call_send(fill_call *fill, const sg_kernel *k, const void *given,
                                sg_stream stream) {
    list_call c;
    sg_status status;
    return fill_in(fill, k, given, &c, &status) ? sg_launch(k, &c.arguments, stream) : status;
}

static sg_status list_call_ask(fill_call *fill, const sg_kernel *k, const void *given,
                               size_t *out) {
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

/* Products with a sparse matrix. Takes: a kernel, a matrix in its format on the device, and
   vectors. Makes: sg_spmv and sg_spmv_bytes. */

/* Bit by bit: two matrices of which one diagonal's value differs are stored otherwise. */
static bool same_diagonals(const program_product *p, const sg_device_matrix *m) {
    return p->diagonal_count == m->diagonal_count &&
           (p->diagonal_count == 0 ||
            memcmp(p->diagonals, m->diagonals, (size_t)p->diagonal_count * sizeof *p->diagonals) ==
                0);
}

static bool has_format(job *j, const sg_kernel *k, const sg_device_matrix *m) {
    const program *p = k->program;
    if (m == NULL)
        return context_refuse(j, "'%s' needs a matrix", p->name);
    if (m->context != k->context)
        return context_refuse(j, "the matrix and '%s' are of different contexts", p->name);
    if (memcmp(m->storage, p->lists.product->storage, sizeof m->storage) != 0)
        return context_refuse(
            j,
            "the matrix was brought to the device for another kernel, as %s; '%s' "
            "wants it as %s with widths, slices, blocks and packets of its own",
            format_words[m->storage[STORAGE_FORMAT]].name, p->name,
            format_words[p->lists.product->storage[STORAGE_FORMAT]].name);
    if (!same_diagonals(p->lists.product, m))
        return context_refuse(j,
                              "the matrix was brought to the device for another kernel, which has "
                              "other diagonals compiled in than '%s'",
                              p->name);
    return true;
}

/* The matrix's arrays come first, then x and y. */
static bool connect_product(job *j, const sg_kernel *k, const sg_spmv_arguments *a,
                            list_call *out) {
    const program *p = k->program;
    const sg_device_matrix *m = a->matrix;
    const int64_t vectors = a->vectors == 0 ? 1 : a->vectors;
    if (vectors < 0)
        return context_refuse(j, "%lld vectors", (long long)vectors);
    for (int i = 0; i < p->array_count; i++) {
        const char *name = p->arrays[i].name;
        if (i < m->array_count && strcmp(name, m->arrays[i].name) == 0)
            out->grids[i] = (sg_grid){.data = m->arrays[i].data,
                                      .size = {m->arrays[i].extent[0], m->arrays[i].extent[1]}};
        else if (i == m->array_count && strcmp(name, "x") == 0)
            out->grids[i] = (sg_grid){.data = (void *)a->x, .size = {m->columns, vectors}};
        else if (i == m->array_count + 1 && strcmp(name, "y") == 0)
            out->grids[i] = (sg_grid){.data = a->y, .size = {m->rows, vectors}};
        else
            return context_refuse(j, "'%s' takes an array '%s' that sg_spmv does not know", p->name,
                                  name);
    }
    return true;
}

/* Factors that are compiled in are no parameters; of those the kernel's count. */
static bool fill_spmv(job *j, const sg_kernel *k, const void *given, list_call *out) {
    const program *p = k->program;
    sg_spmv_arguments a;
    if (!list_call_is_of(j, k, SG_KIND_PRODUCT, "spmv", "sg_spmv", given) ||
        !context_read(j, &a, sizeof a, given, "sg_spmv_arguments") || !has_format(j, k, a.matrix) ||
        !connect_product(j, k, &a, out))
        return false;
    for (int i = 0; i < p->parameter_count; i++) {
        const bool beta = strcmp(p->parameters[i].name, "beta") == 0;
        if (!beta && strcmp(p->parameters[i].name, "alpha") != 0)
            return context_refuse(j, "'%s' has a parameter '%s' that sg_spmv does not know",
                                  p->name, p->parameters[i].name);
        out->parameters[i] = beta ? a.beta : a.alpha;
    }
    out->arguments = (sg_arguments){.struct_size = sizeof out->arguments,
                                    .grids = out->grids,
                                    .grid_count = p->array_count,
                                    .parameters = out->parameters,
                                    .parameter_count = p->parameter_count,
                                    .temporary = a.temporary,
                                    .temporary_bytes = a.temporary_bytes};
    return true;
}

sg_status sg_spmv(const sg_kernel *k, const sg_spmv_arguments *a, sg_stream stream) {
    return list_call_send(fill_spmv, k, a, stream);
}

sg_status sg_spmv_bytes(const sg_kernel *k, const sg_device_matrix *m, int64_t vectors,
                        size_t *out) {
    const sg_spmv_arguments a = {.struct_size = sizeof a, .matrix = m, .vectors = vectors};
    return list_call_ask(fill_spmv, k, &a, out);
}
