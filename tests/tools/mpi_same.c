/* Processes of MPI that make random problems (unit/runtime/team/random_problem.h) together, and
   each also alone: the bytes must be the same. Arguments: the first seed, how many problems, and a
   folder for kernels that are compiled. Rank 0 prints how many were compared, any rank what
   differs. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <setjmp.h>

#include <cmocka.h>
#include <stencilgen/mpi.h>
#include <unistd.h>

#include "tests/unit/runtime/team/random_problem.h"

enum { PATIENCE = 120 };

/* One rank compiles first, and the others find the kernel. */
static sg_status build_in_turn(const problem *p, int rank, sg_kernel **out) {
    const sg_build_options how = {.struct_size = sizeof how,
                                  .text = p->spec,
                                  .schedule = p->schedule,
                                  .size = {p->size[0], p->size[1], p->size[2]},
                                  .steps = p->steps};
    sg_status status = rank == 0 ? sg_build(context, "test.lua", &how, out) : SG_OK;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank > 0)
        status = sg_build(context, "test.lua", &how, out);
    return status;
}

/* What one rank makes is in `alone`, by the roles that arrays have afterwards, and in s->after,
   where the cells that this rank makes in the team take its place. */
static bool make_both(shared *s, rank *r) {
    unsigned char *alone[MOST_ARRAYS];
    bool same = true;
    for (int i = 0; i < s->info.arrays; i++) {
        s->array[i].struct_size = sizeof s->array[i];
        sg_kernel_array(s->kernel, i, &s->array[i]);
        const int64_t points = points_of(s->problem->size);
        const size_t bytes = (size_t)points * s->array[i].element_size;
        s->before[i] = malloc(bytes);
        s->after[i] = malloc(bytes);
        alone[i] = aligned_alloc(64, (bytes + 63) / 64 * 64);
        fill(s->before[i], points, &s->array[i], (unsigned)i + 1);
        memcpy(alone[i], s->before[i], bytes);
    }
    run_alone(s, alone);
    for (int i = 0; i < s->info.arrays; i++)
        memcpy(s->after[i], alone[s->final[i]],
               (size_t)points_of(s->problem->size) * s->array[i].element_size);
    take_part(r);
    for (int i = 0; i < s->info.arrays; i++) {
        const sg_array_info *a = &s->array[i];
        const bool older = a->role == SG_WRITE && a->reads >= 0; /* as in same.h */
        same =
            same && (older || memcmp(s->after[i], alone[s->final[i]],
                                     (size_t)points_of(s->problem->size) * a->element_size) == 0);
    }
    for (int i = 0; i < s->info.arrays; i++)
        free(s->before[i]), free(s->after[i]), free(alone[i]);
    return same;
}

/* 1: compared, 0: such parts, or such a schedule, cannot be, −1: something is wrong. */
static int try_one(sg_team *team, int rank_number, const problem *p) {
    shared s = {.problem = p};
    rank r = {.context = context, .team = team, .user = &s};
    const sg_status status = build_in_turn(p, rank_number, &s.kernel);
    if (status != SG_OK) {
        if (status != SG_ERROR_PLAN)
            printf("rank %d: %s\n", rank_number, sg_error(context));
        return status == SG_ERROR_PLAN ? 0 : -1;
    }
    s.info.struct_size = sizeof s.info;
    sg_kernel_facts(s.kernel, &s.info);
    const bool same = make_both(&s, &r);
    sg_release(s.kernel);
    if (r.status != SG_OK && strstr(r.error, ") work") != NULL)
        return 0;
    if (r.status == SG_OK && same)
        return 1;
    printf("rank %d, schedule %s, %dx%dx%d ranks: %s: %s\n", rank_number, p->schedule, p->ranks[0],
           p->ranks[1], p->ranks[2], r.status != SG_OK ? r.error : "differs", p->spec);
    return -1;
}

static sg_team *open_ranks(int *rank_number, int *ranks, const char *cache) {
    static sg_transport transport;
    sg_team *team = NULL;
    const sg_options options = {
        .struct_size = sizeof options, .device = "cpu", .cache = cache, .database = "none"};
    const sg_team_options how = {
        .struct_size = sizeof how, .transport = &transport, .seconds = 60, .nccl = "none"};
    if (sg_mpi_transport(MPI_COMM_WORLD, &transport) != 0 || sg_open(&context, &options) != SG_OK ||
        sg_team_open(context, &how, &team) != SG_OK)
        MPI_Abort(MPI_COMM_WORLD, 4);
    *rank_number = transport.rank;
    *ranks = transport.ranks;
    return team;
}

int main(int count, char **words) {
    static random_problem r;
    int rank_number, ranks, compared = 0;
    bool good = true;
    if (count != 4)
        return 2;
    const int wanted = atoi(words[2]);
    alarm(PATIENCE);
    MPI_Init(NULL, NULL);
    sg_team *team = open_ranks(&rank_number, &ranks, words[3]);
    for (uint64_t seed = strtoull(words[1], NULL, 10); compared < wanted && good; seed++) {
        rp_new(&r, seed, ranks);
        const int how = try_one(team, rank_number, &r.problem);
        good = how >= 0;
        compared += how > 0;
    }
    if (rank_number == 0 && good)
        printf("%d problems on %d ranks\n", compared, ranks);
    fflush(stdout);
    if (!good)
        MPI_Abort(MPI_COMM_WORLD, 1);
    sg_team_close(team);
    sg_close(context);
    MPI_Finalize();
    return 0;
}
