/* Solves A x = b by the method of conjugate gradients. A is a symmetric positive definite matrix in
   a Matrix Market file or, without a file, the Laplacian of a square grid; b is in a .npy file, or
   all ones. The library stores the matrix in the format that suits it. Dot products are reductions;
   stencils that read no neighbour update x, r and p. The host judges the solution by the residual
   of the matrix itself. Makes: a line on how the matrix is stored, and one on the result. */
#include <math.h>

#include "example.h"
#include "npy.h"

/* M. Hestenes, E. Stiefel, Methods of Conjugate Gradients for Solving Linear Systems, J. Res. Nat.
   Bur. Standards 49 (1952) 409. One file may return several specs. */
static const char specs[] =
    "return {\n"
    "  spmv { name = 'product', dtype = 'double' },\n"
    "  reduce { name = 'dot', op = 'sum', dtype = 'double', inputs = 2,\n"
    "           map = function(a, b) return a * b end },\n"
    "  stencil {\n"
    "    name     = 'advance',\n"
    "    dims     = 1,\n"
    "    fields   = { x = 'inout', r = 'inout', p = 'in', q = 'in' },\n"
    "    dtype    = 'double',\n"
    "    boundary = 'zero',\n"
    "    update   = function(f, p)\n"
    "      return { x = f.x(0) + p.alpha * f.p(0), r = f.r(0) - p.alpha * f.q(0) }\n"
    "    end,\n"
    "  },\n"
    "  stencil {\n"
    "    name     = 'turn',\n"
    "    dims     = 1,\n"
    "    fields   = { p = 'inout', r = 'in' },\n"
    "    dtype    = 'double',\n"
    "    boundary = 'zero',\n"
    "    update   = function(f, p) return f.r(0) + p.beta * f.p(0) end,\n"
    "  },\n"
    "}\n";

enum { PRODUCT, DOT, ADVANCE, TURN, KERNELS };

/* A vector, and room for its next value. */
typedef struct vector {
    void *now, *next;
} vector;

typedef struct cg {
    const char *device, *path, *rhs;
    const char *where;          /* what is told of in an error */
    int64_t side, digits, most; /* of the grid; of the tolerance; iterations */
    sg_context *context;
    sg_kernel *kernels[KERNELS];
    sg_matrix *matrix;
    sg_matrix_info info;
    sg_device_matrix *stored;
    vector x, r, p, q;
    double *b, *solution; /* on the host */
    void *sum, *temporary;
    size_t temporary_bytes;
    int64_t n, iterations;
    double tolerance, norm; /* the norm is that of b */
    int right;
} cg;

/* ---- the matrix ------------------------------------------------------------------------------ */

/* Four at a point, −1 at its neighbours. Entries may be set in any order. */
static sg_status assemble(cg *s) {
    const int64_t m = s->side;
    TRY(sg_matrix_new(s->context, m * m, m * m, &s->matrix));
    for (int64_t y = 0; y < m; y++)
        for (int64_t x = 0; x < m; x++) {
            const int64_t row = y * m + x;
            TRY(sg_matrix_set(s->matrix, row, row, 4));
            if (x > 0)
                TRY(sg_matrix_set(s->matrix, row, row - 1, -1));
            if (x < m - 1)
                TRY(sg_matrix_set(s->matrix, row, row + 1, -1));
            if (y > 0)
                TRY(sg_matrix_set(s->matrix, row, row - m, -1));
            if (y < m - 1)
                TRY(sg_matrix_set(s->matrix, row, row + m, -1));
        }
    return SG_OK;
}

/* Sets `why` if the method cannot solve the system. */
static sg_status get_matrix(cg *s, const char **why) {
    const sg_options options = {.struct_size = sizeof options, .device = s->device};
    TRY(sg_open(&s->context, &options));
    TRY(s->path != NULL ? sg_matrix_read(s->context, s->path, &s->matrix) : assemble(s));
    s->where = s->path != NULL ? s->path : "the Laplacian";
    s->info.struct_size = sizeof s->info;
    TRY(sg_matrix_facts(s->matrix, &s->info));
    s->n = s->info.rows;
    if (s->info.rows != s->info.columns || !s->info.symmetric)
        *why = "the matrix is not symmetric";
    else if (s->n == 0)
        *why = "the matrix is empty";
    return SG_OK;
}

/* Reads the right-hand side; sets `why` if it is none. */
static sg_status get_rhs(cg *s, const char **why) {
    s->b = (double *)malloc((size_t)s->n * sizeof *s->b);
    if (s->b == NULL)
        return SG_ERROR_MEMORY;
    for (int64_t i = 0; i < s->n; i++)
        s->b[i] = 1;
    if (s->rhs != NULL && (*why = read_npy(s->rhs, s->n, s->b)) != NULL)
        s->where = s->rhs;
    s->norm = 0;
    for (int64_t i = 0; *why == NULL && i < s->n; i++)
        s->norm = hypot(s->norm, s->b[i]);
    return SG_OK;
}

/* ---- kernels and memory ---------------------------------------------------------------------- */

static sg_status prepare_vectors(cg *s) {
    void **const all[] = {&s->x.now, &s->x.next, &s->r.now, &s->r.next,
                          &s->p.now, &s->p.next, &s->q.now};
    const size_t bytes = (size_t)s->n * sizeof(double);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        TRY(sg_alloc(s->context, bytes, all[i]));
    s->solution = (double *)calloc((size_t)s->n, sizeof(double));
    if (s->solution == NULL)
        return SG_ERROR_MEMORY;
    /* x begins at 0. p begins with numbers, because no element may be a NaN. */
    TRY(sg_upload(s->context, s->p.now, s->solution, bytes));
    return sg_upload(s->context, s->x.now, s->solution, bytes);
}

/* All launches run one after another, so they may share temporary memory. */
static sg_status prepare(cg *s) {
    size_t dot_bytes;
    for (int i = 0; i < KERNELS; i++) {
        const sg_build_options build = {.struct_size = sizeof build,
                                        .text = specs,
                                        .index = i,
                                        .size = {s->n},
                                        .matrix = i == PRODUCT ? s->matrix : NULL};
        TRY(sg_build(s->context, "cg.lua", &build, &s->kernels[i]));
    }
    TRY(sg_matrix_upload(s->matrix, s->kernels[PRODUCT], &s->stored));
    TRY(sg_spmv_bytes(s->kernels[PRODUCT], s->stored, 1, &s->temporary_bytes));
    TRY(sg_reduce_bytes(s->kernels[DOT], s->n, 0, &dot_bytes));
    if (dot_bytes > s->temporary_bytes)
        s->temporary_bytes = dot_bytes;
    TRY(sg_alloc(s->context, s->temporary_bytes + 1,
                 &s->temporary)); /* the kernels may need none */
    TRY(sg_alloc(s->context, sizeof(double), &s->sum));
    return prepare_vectors(s);
}

/* ---- the steps ------------------------------------------------------------------------------- */

static sg_status dot(const cg *s, const void *a, const void *b, double *out) {
    const sg_reduce_arguments arguments = {.struct_size = sizeof arguments,
                                           .input = a,
                                           .second = b,
                                           .count = s->n,
                                           .result = s->sum,
                                           .temporary = s->temporary,
                                           .temporary_bytes = s->temporary_bytes};
    TRY(sg_reduce(s->kernels[DOT], &arguments, NULL));
    return sg_download(s->context, out, s->sum, sizeof *out);
}

/* y = alpha A x + beta y */
static sg_status multiply(const cg *s, double alpha, const void *x, double beta, void *y) {
    const sg_spmv_arguments arguments = {.struct_size = sizeof arguments,
                                         .matrix = s->stored,
                                         .x = x,
                                         .y = y,
                                         .vectors = 1,
                                         .alpha = alpha,
                                         .beta = beta,
                                         .temporary = s->temporary,
                                         .temporary_bytes = s->temporary_bytes};
    return sg_spmv(s->kernels[PRODUCT], &arguments, NULL);
}

/* Runs an update of vectors, whose sizes are filled in. */
static sg_status update(const cg *s, int kernel, double parameter, sg_array *arrays, int count) {
    for (int i = 0; i < count; i++)
        arrays[i].grid.size[0] = s->n;
    const sg_arguments arguments = {.struct_size = sizeof arguments,
                                    .parameters = &parameter,
                                    .parameter_count = 1,
                                    .arrays = arrays,
                                    .array_count = count};
    return sg_launch(s->kernels[kernel], &arguments, NULL);
}

static void swap(vector *v) {
    void *const next = v->next;
    v->next = v->now;
    v->now = next;
}

/* x += alpha p, r -= alpha q in one pass over memory */
static sg_status advance(cg *s, double alpha) {
    sg_array arrays[] = {
        {"x", {.data = s->x.now}},       {"x.next", {.data = s->x.next}}, {"r", {.data = s->r.now}},
        {"r.next", {.data = s->r.next}}, {"p", {.data = s->p.now}},       {"q", {.data = s->q.now}},
    };
    TRY(update(s, ADVANCE, alpha, arrays, 6));
    swap(&s->x);
    swap(&s->r);
    return SG_OK;
}

/* p = r + beta p */
static sg_status turn(cg *s, double beta) {
    sg_array arrays[] = {
        {"p", {.data = s->p.now}}, {"p.next", {.data = s->p.next}}, {"r", {.data = s->r.now}}};
    TRY(update(s, TURN, beta, arrays, 3));
    swap(&s->p);
    return SG_OK;
}

/* ---- the method ------------------------------------------------------------------------------ */

/* r = b − A x, computed anew, because the updated r drifts away from it by rounding. */
static sg_status find_residual(cg *s, double *square) {
    TRY(sg_upload(s->context, s->r.now, s->b, (size_t)s->n * sizeof(double)));
    TRY(multiply(s, -1, s->x.now, 1, s->r.now));
    return dot(s, s->r.now, s->r.now, square);
}

/* Iterates until the updated residual is small enough. `square` is r·r. */
static sg_status descend(cg *s, double square, double enough, const char **why) {
    TRY(turn(s, 0)); /* p = r */
    while (square > enough && s->iterations < s->most) {
        double curvature, before = square;
        TRY(multiply(s, 1, s->p.now, 0, s->q.now));
        TRY(dot(s, s->p.now, s->q.now, &curvature));
        if (!(curvature > 0)) {
            *why = "the matrix is not positive definite";
            return SG_OK;
        }
        TRY(advance(s, square / curvature));
        TRY(dot(s, s->r.now, s->r.now, &square));
        TRY(turn(s, square / before));
        s->iterations++;
    }
    return SG_OK;
}

static sg_status solve(cg *s, const char **why) {
    const double half = s->tolerance / 2 * s->norm; /* the other half is left to rounding */
    double square = 0;
    TRY(prepare(s));
    TRY(find_residual(s, &square));
    while (square > half * half && s->iterations < s->most && *why == NULL) {
        TRY(descend(s, square, half * half / 4, why));
        TRY(find_residual(s, &square));
    }
    return sg_download(s->context, s->solution, s->x.now, (size_t)s->n * sizeof(double));
}

/* ‖b − A x‖/‖b‖ from the entries of the matrix. */
static sg_status judge(cg *s) {
    const size_t entries = (size_t)s->info.entries + 1;
    int64_t *row = (int64_t *)malloc(entries * sizeof *row);
    int64_t *column = (int64_t *)malloc(entries * sizeof *column);
    double *value = (double *)malloc(entries * sizeof *value), square = 0;
    double *residual = s->b;
    sg_status status = row != NULL && column != NULL && value != NULL ? SG_OK : SG_ERROR_MEMORY;
    if (status == SG_OK)
        status = sg_matrix_entries(s->matrix, row, column, value);
    for (int64_t i = 0; status == SG_OK && i < s->info.entries; i++)
        residual[row[i]] -= value[i] * s->solution[column[i]];
    for (int64_t i = 0; i < s->n; i++)
        square += residual[i] * residual[i];
    free(row);
    free(column);
    free(value);
    TRY(status);
    const double relative = s->norm > 0 ? sqrt(square) / s->norm : sqrt(square);
    s->right = relative <= s->tolerance;
    printf("%lld iterations; residual |b - Ax|/|b|, from the matrix itself: %.3e, at most %.0e: "
           "%s\n",
           (long long)s->iterations, relative, s->tolerance, s->right ? "right" : "not converged");
    return SG_OK;
}

static sg_status run(cg *s, const char **why) {
    TRY(get_matrix(s, why));
    if (*why != NULL)
        return SG_OK;
    TRY(get_rhs(s, why));
    if (*why != NULL)
        return SG_OK;
    TRY(solve(s, why));
    printf("%s: %lld rows, %lld entries, computed as %s\n", s->path != NULL ? s->path : "Laplacian",
           (long long)s->n, (long long)s->info.entries,
           sg_kernel_text(s->kernels[PRODUCT], SG_TEXT_PLAN));
    return *why == NULL ? judge(s) : SG_OK;
}

static void end(cg *s) {
    void *const all[] = {s->x.now,  s->x.next, s->r.now, s->r.next,   s->p.now,
                         s->p.next, s->q.now,  s->sum,   s->temporary};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        sg_free(s->context, all[i]);
    for (int i = 0; i < KERNELS; i++)
        sg_release(s->kernels[i]);
    sg_device_matrix_free(s->stored);
    sg_matrix_free(s->matrix);
    sg_close(s->context);
    free(s->b);
    free(s->solution);
}

int main(int argc, char **argv) {
    cg s = {.device = "auto", .side = 64, .digits = 8, .most = 100000};
    const option options[] = {
        {.name = "--device", .text = &s.device},
        {.name = "--matrix", .text = &s.path},
        {.name = "--rhs", .text = &s.rhs},
        {.name = "--size", .numbers = &s.side, .count = 1, .least = 1, .most = 4096},
        {.name = "--digits", .numbers = &s.digits, .count = 1, .least = 1, .most = 14},
        {.name = "--steps", .numbers = &s.most, .count = 1, .least = 0, .most = 1000000000}};
    read_options(
        argc, argv,
        "usage: cg [--device auto|cuda|cpu] [--matrix FILE.mtx] [--rhs FILE.npy] [--size 64]\n"
        "          [--digits 8] [--steps 100000]\n"
        "--rhs: the vector b, otherwise ones; --size: of the grid without --matrix; "
        "--digits: of\nthe residual; --steps: iterations at most",
        options, sizeof options / sizeof options[0]);
    s.tolerance = pow(10, -(double)s.digits);
    const char *why = NULL;
    const sg_status status = run(&s, &why);
    if (status == SG_OK && why != NULL)
        fprintf(stderr, "cg: %s: %s\n", s.where, why);
    const int code =
        status == SG_OK && why != NULL ? 2 : conclude("cg", s.context, status, s.right);
    end(&s);
    return code;
}
