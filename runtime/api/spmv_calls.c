/* Products with a sparse matrix. Takes: a kernel, a matrix in its format on the device, and
   vectors. Makes: sg_spmv and sg_spmv_bytes. */
#include <string.h>

#include "runtime/api/list_calls.h"
#include "runtime/matrix/device_matrix.h"

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
static bool connect(job *j, const sg_kernel *k, const sg_spmv_arguments *a, list_call *out) {
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
        !connect(j, k, &a, out))
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
