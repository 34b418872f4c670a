/* Heat in an insulated block, by a team of MPI processes: each has a part of the grid, on a GPU by
   its place on its machine. A cosine decays at a known rate; the total heat, found by
   sg_team_reduce, stays. Makes: four lines, by rank 0.
   mpicc heat_team.c $(pkg-config --cflags --libs stencilgen) -lm
   mpirun -n 4 ./a.out --size 256x256x256     (srun alike; without either it is a team of one) */
#include <float.h>
#include <math.h>

#include "example.h"

#include <stencilgen/mpi.h>

/* du/dt = a Δu in explicit steps, k = a dt/h². Behind a wall the next cell is as warm as the one
   before it, so that no heat passes. */
static const char spec[] = "return stencil {\n"
                           "  name         = 'insulated',\n"
                           "  coefficients = identity() + param 'k' * laplacian { dims = 3 },\n"
                           "  dtype        = 'double',\n"
                           "  boundary     = 'clamp',\n"
                           "}\n";

static const double pi = 3.14159265358979323846;
static const double k = 0.1; /* stable up to 1/6 */

typedef struct heat {
    const char *device;
    int64_t size[3], steps; /* of the whole grid */
    sg_transport transport;
    sg_context *context;
    sg_team *team;
    sg_kernel *kernel;
    sg_team_part part;
    sg_grid grids[2]; /* this time and the next: own cells and ghost cells round them */
    double *u;        /* the same on the host */
    int right;
} heat;

static int64_t count(const int64_t size[3]) {
    return size[0] * size[1] * size[2];
}

/* Where a cell of the whole grid lies in this rank's arrays. */
static int64_t place(const sg_team_part *p, int64_t x, int64_t y, int64_t z) {
    const int64_t at[3] = {x - p->begin[0] + p->low[0], y - p->begin[1] + p->low[1],
                           z - p->begin[2] + p->low[2]};
    return (at[2] * p->size[1] + at[1]) * p->size[0] + at[0];
}

/* cos π(x+½)/nx, and for y and z alike, keeps its form between insulated walls. A step shrinks it
   by 1 - k Σ (2 - 2 cos π/n). The other 20 degrees stay. */
static double mode(const heat *s, int64_t x, int64_t y, int64_t z) {
    const int64_t at[3] = {x, y, z};
    double product = 1;
    for (int axis = 0; axis < 3; axis++)
        product *= cos(pi * ((double)at[axis] + 0.5) / (double)s->size[axis]);
    return product;
}

static double temperature(const heat *s, int64_t step, int64_t x, int64_t y, int64_t z) {
    double lost = 0;
    for (int axis = 0; axis < 3; axis++)
        lost += k * (2 - 2 * cos(pi / (double)s->size[axis]));
    return 20 + 10 * exp((double)step * log1p(-lost)) * mode(s, x, y, z);
}

/* Fills own cells (fill = 1), or compares them; sums[0] is their heat, sums[1] the largest error.
 */
static void visit(const heat *s, int fill, double sums[2]) {
    const sg_team_part *p = &s->part;
    for (int64_t z = p->begin[2]; z < p->end[2]; z++)
        for (int64_t y = p->begin[1]; y < p->end[1]; y++)
            for (int64_t x = p->begin[0]; x < p->end[0]; x++) {
                double *u = &s->u[place(p, x, y, z)];
                const double exact = temperature(s, fill ? 0 : s->steps, x, y, z);
                if (fill)
                    *u = exact;
                sums[0] += *u;
                sums[1] = fmax(sums[1], fabs(*u - exact)); /* skips a NaN, which sums[0] has */
            }
}

/* Adds up the heat of all ranks, and finds the largest error of all. */
static sg_status combine(const heat *s, const double mine[2], double all[2]) {
    TRY(sg_team_reduce(s->team, SG_COMBINE_SUM, &mine[0], 1, &all[0]));
    return sg_team_reduce(s->team, SG_COMBINE_MAX, &mine[1], 1, &all[1]);
}

/* A rank that cannot open its device tells the others, so that none waits for it. */
static sg_status join(heat *s) {
    const sg_options options = {.struct_size = sizeof options,
                                .device = s->device,
                                .device_index = sg_team_device(-1)}; /* as the launcher says */
    const sg_team_options how = {.struct_size = sizeof how, .transport = &s->transport};
    const sg_status status = sg_open(&s->context, &options);
    if (status == SG_OK)
        return sg_team_open(s->context, &how, &s->team);
    s->transport.abandon(s->transport.user, sg_error(NULL));
    s->transport.close(s->transport.user);
    return status;
}

/* What a rank does by itself; the others learn of it by sg_team_agree. */
static sg_status get_memory(heat *s) {
    const size_t bytes = (size_t)count(s->part.size) * sizeof(double);
    s->u = (double *)calloc(1, bytes);
    if (s->u == NULL)
        return SG_ERROR_MEMORY;
    for (int i = 0; i < 2; i++) {
        memcpy(s->grids[i].size, s->part.size, sizeof s->part.size);
        TRY(sg_alloc(s->context, bytes, &s->grids[i].data));
    }
    return SG_OK;
}

static sg_status prepare(heat *s) {
    sg_build_options build = {.struct_size = sizeof build, .text = spec, .steps = s->steps};
    memcpy(build.size, s->size, sizeof build.size);
    TRY(sg_team_build(s->team, "insulated.lua", &build, NULL, &s->kernel));
    s->part.struct_size = sizeof s->part;
    memcpy(s->part.global, s->size, sizeof s->size);
    TRY(sg_team_arrange(s->team, s->kernel, &s->part));
    const sg_status status = get_memory(s);
    const char *why = status == SG_OK ? NULL : "there is no memory for this rank's part";
    const sg_status agreed = sg_team_agree(s->team, why);
    return status != SG_OK ? status : agreed;
}

static sg_status simulate(heat *s) {
    double first[2] = {0, 0}, last[2] = {0, 0}, before[2], after[2];
    TRY(join(s));
    TRY(prepare(s));
    const size_t bytes = (size_t)count(s->part.size) * sizeof(double);
    visit(s, 1, first);
    TRY(sg_upload(s->context, s->grids[0].data, s->u, bytes));
    const sg_arguments arguments = {.struct_size = sizeof arguments,
                                    .grids = s->grids,
                                    .grid_count = 2,
                                    .parameters = &k,
                                    .parameter_count = 1};
    int final[2];
    TRY(sg_team_run(s->team, s->kernel, &s->part, &arguments, s->steps, NULL, final));
    TRY(sg_team_wait(s->team, NULL));
    TRY(sg_download(s->context, s->u, s->grids[final[0]].data, bytes));
    visit(s, 0, last);
    TRY(combine(s, first, before));
    TRY(combine(s, last, after));

    /* A step rounds at most 16 times; the weights of a step are positive and their sum is 1. */
    const double points = (double)count(s->size);
    const double allowed = 30 * (double)(16 * s->steps + 16) * DBL_EPSILON / 2;
    const double gained = (after[0] - before[0]) / points;
    s->right = after[1] <= allowed && fabs(gained) <= allowed + 30 * 1e-12;
    sg_team_info about = {.struct_size = sizeof about};
    TRY(sg_team_facts(s->team, &about));
    if (about.rank == 0)
        printf("%lldx%lldx%lld cells on %d rank%s (%dx%dx%d), %lld steps\n"
               "halos by %s: %lld exchanges, %lld bytes sent by rank 0\n"
               "mean temperature: %.12f, %.1e more than before\n"
               "furthest cell from the exact solution: %.1e, rounding allows %.1e\n",
               (long long)s->size[0], (long long)s->size[1], (long long)s->size[2], about.ranks,
               about.ranks == 1 ? "" : "s", s->part.ranks[0], s->part.ranks[1], s->part.ranks[2],
               (long long)s->steps, about.engine, (long long)about.exchanges,
               (long long)about.bytes, after[0] / points, gained, after[1], allowed);
    return SG_OK;
}

int main(int argc, char **argv) {
    heat s = {.device = "auto", .size = {64, 64, 64}, .steps = 200};
    const option options[] = {
        {.name = "--device", .text = &s.device},
        {.name = "--size", .numbers = s.size, .count = 3, .least = 2, .most = 65536},
        {.name = "--steps", .numbers = &s.steps, .count = 1, .least = 0, .most = 1000000000}};
    read_options(argc, argv,
                 "usage: heat_team [--device auto|cuda|cpu] [--size 64x64x64] [--steps 200]\n"
                 "under mpirun or srun: one process for each rank",
                 options, 3);
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS || sg_mpi_transport(MPI_COMM_WORLD, &s.transport)) {
        fprintf(stderr, "heat_team: MPI does not work here\n");
        return 1;
    }
    const sg_status status = simulate(&s);
    const int code = conclude("heat_team", s.context, status, s.right);
    for (int i = 0; i < 2; i++)
        sg_free(s.context, s.grids[i].data);
    sg_release(s.kernel);
    sg_team_close(s.team);
    sg_close(s.context);
    free(s.u);
    MPI_Finalize();
    return code;
}
