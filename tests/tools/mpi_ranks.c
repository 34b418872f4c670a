/* Processes of MPI that make a team of an application's own, of which rank 1 does what the argument
   says: "works", "hangs" longer than the time limit, "fails" at a call of its own, "refuses" the
   team, or "differs" in the steps that it makes. Each rank prints a line: what the others' numbers
   add up to, or its error. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <stencilgen/mpi.h>

enum { PATIENCE = 20 };

/* Steps of a grid of 40x40. */
static sg_status make_steps(sg_context *context, sg_team *team, int64_t steps) {
    sg_kernel *kernel = NULL;
    const sg_build_options how = {.struct_size = sizeof how,
                                  .text =
                                      "return stencil { name = 'heat', shape = star(2, 1), "
                                      "coefficients = identity() + 0.05 * laplacian { dims = 2, "
                                      "accuracy = 2 }, boundary = 'periodic' }",
                                  .schedule = "naive",
                                  .size = {40, 40}};
    sg_team_part part = {.struct_size = sizeof part, .global = {40, 40, 1}};
    sg_grid grids[2] = {{.data = NULL}};
    const sg_arguments a = {.struct_size = sizeof a, .grids = grids, .grid_count = 2};
    sg_status status = sg_team_build(team, "heat.lua", &how, NULL, &kernel);
    if (status == SG_OK)
        status = sg_team_arrange(team, kernel, &part);
    for (int i = 0; status == SG_OK && i < 2; i++) {
        const size_t bytes = (size_t)(part.size[0] * part.size[1]) * sizeof(float);
        for (int axis = 0; axis < 3; axis++)
            grids[i].size[axis] = part.size[axis];
        status = sg_alloc(context, bytes, &grids[i].data);
        if (status == SG_OK)
            memset(grids[i].data, 0, bytes);
    }
    if (status == SG_OK)
        status = sg_team_run(team, kernel, &part, &a, steps, NULL, NULL);
    for (int i = 0; i < 2; i++)
        sg_free(context, grids[i].data);
    sg_release(kernel);
    return status;
}

static sg_status add_up(sg_team *team, int rank, const char *what, double *sum) {
    const double mine = rank + 1;
    if (rank == 1 && strcmp(what, "hangs") == 0)
        sleep(5);
    if (rank == 1 && strcmp(what, "fails") == 0) {
        const sg_status status = sg_team_run(team, NULL, NULL, NULL, 1, NULL, NULL);
        if (status != SG_OK)
            return status;
    }
    return sg_team_reduce(team, SG_COMBINE_SUM, &mine, 1, sum);
}

int main(int count, char **words) {
    const char *what = count > 1 ? words[1] : "works";
    sg_transport transport;
    sg_context *context = NULL;
    sg_team *team = NULL;
    double sum = 0;
    alarm(PATIENCE);
    MPI_Init(NULL, NULL);
    if (sg_mpi_transport(MPI_COMM_WORLD, &transport) != 0)
        return 4;
    const int rank = transport.rank;
    const sg_options options = {.struct_size = sizeof options, .device = "cpu"};
    if (rank == 1 && strcmp(what, "refuses") == 0)
        transport.ranks = 1; /* of which it cannot be number 1 */
    const sg_team_options how = {
        .struct_size = sizeof how, .transport = &transport, .seconds = 2, .nccl = "none"};
    sg_status status = sg_open(&context, &options);
    if (status == SG_OK)
        status = sg_team_open(context, &how, &team);
    if (status == SG_OK && strcmp(what, "differs") == 0)
        status = make_steps(context, team, rank == 1 ? 4 : 3);
    if (status == SG_OK)
        status = add_up(team, rank, what, &sum);
    if (status == SG_OK)
        printf("%d has %g\n", rank, sum);
    else
        printf("%d fails: %s\n", rank, sg_error(context));
    fflush(stdout);
    sg_team_close(team);
    sg_close(context);
    MPI_Finalize();
    return 0;
}
