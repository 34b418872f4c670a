/* What can be said of a matrix. Takes: a matrix, and perhaps a kernel. Makes: sg_matrix_facts and
   sg_matrix_formats. */
#include "runtime/matrix/device_matrix.h"
#include "runtime/matrix/matrix.h"

typedef struct looking {
    const sg_matrix *matrix;
    sg_matrix_info *out;
} looking;

static void look(job *j, void *argument) {
    const looking *l = argument;
    context_expect(j, l->out, "sg_matrix_info");
    const matrix *m = matrix_view(j, l->matrix);
    const matrix_facts f = matrix_facts_of(j, l->matrix);
    const sg_matrix_info info = {
        .struct_size = sizeof info,
        .rows = m->rows,
        .columns = m->columns,
        .entries = m->entries,
        .shortest_row = f.shortest,
        .longest_row = f.longest,
        .empty_rows = f.empty,
        .mean_row = f.mean,
        .row_deviation = f.deviation,
        .diagonals = f.diagonals,
        .bandwidth = f.bandwidth,
        .symmetric = f.symmetric,
    };
    context_write(j, l->out, &info, sizeof info, "sg_matrix_info");
}

sg_status sg_matrix_facts(const sg_matrix *m, sg_matrix_info *out) {
    looking l = {m, out};
    return m == NULL || out == NULL ? SG_ERROR_USAGE : context_run(m->context, look, &l, NULL);
}

/* ---- formats ------------------------------------------------------------------------------- */

typedef struct listing {
    const sg_matrix *matrix;
    const sg_kernel *kernel; /* or NULL */
    int count;
    sg_format_info formats[FORMAT_COUNT];
} listing;

static void list_formats(job *j, void *argument) {
    listing *l = argument;
    const storage own =
        l->kernel != NULL ? device_matrix_storage(j, l->kernel) : (storage){.format = FORMAT_AUTO};
    const matrix *m = matrix_view(j, l->matrix);
    storage chosen = {.index_bytes = own.index_bytes, .value_bytes = own.value_bytes};
    const char *reason = format_choose(j, m, NULL, &chosen);
    for (int f = FORMAT_AUTO + 1; f < FORMAT_COUNT; f++) {
        /* Slices, blocks and packets are the kernel's in its own format, else the usual ones. */
        storage s = chosen;
        if (f == (int)own.format)
            s = own;
        else if (f != (int)chosen.format)
            s = (storage){.format = (format)f,
                          .index_bytes = chosen.index_bytes,
                          .value_bytes = chosen.value_bytes};
        packed_matrix p;
        format_measure(j, m, &s, &p);
        l->formats[l->count++] = (sg_format_info){
            .struct_size = sizeof *l->formats,
            .format = format_words[f].name,
            .formula = format_words[f].formula,
            .numbers = p.numbers,
            .bytes = p.bytes,
            .refusal = format_refusal(j, m, &p, FORMAT_LIMIT),
            .chosen = f == (int)chosen.format,
            .reason = f == (int)chosen.format ? reason : NULL,
        };
    }
}

sg_status sg_matrix_formats(const sg_matrix *m, const sg_kernel *k,
                            void (*format)(void *user, const sg_format_info *), void *user) {
    if (m == NULL || format == NULL)
        return SG_ERROR_USAGE;
    listing l = {.matrix = m, .kernel = k};
    job *kept;
    const sg_status status = context_run(m->context, list_formats, &l, &kept);
    if (status != SG_OK)
        return status;
    for (int i = 0; i < l.count; i++)
        format(user, &l.formats[i]);
    job_end(kept);
    return SG_OK;
}
