/* Which GPU a rank takes: by its number on its machine, as the launcher says, in turns over the
 * GPUs that are seen. */
#include "tests/unit/fake/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/team/team.h"
#include "tests/unit/group.h"

static const char *const launchers[] = {
    "OMPI_COMM_WORLD_LOCAL_RANK", /* Open MPI */
    "MPI_LOCALRANKID",            /* MPICH and what is like it */
    "MV2_COMM_WORLD_LOCAL_RANK",  /* MVAPICH2 */
    "PALS_LOCAL_RANKID",
    "SLURM_LOCALID",
    "PMI_LOCAL_RANK",
    "LOCAL_RANK", /* torchrun */
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

static int clear(void **state) {
    for (int i = 0; i < LAUNCHERS; i++)
        unsetenv(launchers[i]);
    return reset(state);
}

static void in_turns(void **unused) {
    (void)unused;
    for (int i = 0; i < 7; i++)
        assert_int_equal(sg_team_device(i), i % 2);
    fake->device_count = 3;
    assert_int_equal(sg_team_device(5), 2);
    fake->device_count = 1; /* as where each process sees one GPU only */
    assert_int_equal(sg_team_device(5), 0);
}

static void by_the_launcher(void **unused) {
    (void)unused;
    fake->device_count = 4;
    assert_int_equal(sg_team_device(-1), 0); /* there is none */
    for (int i = 0; i < LAUNCHERS; i++) {
        setenv(launchers[i], "3", 1);
        assert_int_equal(sg_team_device(-1), 3);
        setenv(launchers[i], "6", 1);
        assert_int_equal(sg_team_device(-1), 2);
        assert_int_equal(sg_team_device(1), 1); /* a number given comes before */
        fake->device_count = 1;
        assert_int_equal(sg_team_device(-1), 0);
        fake->device_count = 4;
        unsetenv(launchers[i]);
    }
}

/* What is no number is passed over. */
static void nonsense(void **unused) {
    static const char *const wrong[] = {"", "x", "1x", "-1", "99999999999"};
    (void)unused;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("OMPI_COMM_WORLD_LOCAL_RANK", wrong[i], 1);
        unsetenv("SLURM_LOCALID");
        assert_int_equal(sg_team_device(-1), 0);
        setenv("SLURM_LOCALID", "1", 1);
        assert_int_equal(sg_team_device(-1), 1);
    }
    /* The launcher of MPI comes before the batch system that it runs in. */
    setenv("OMPI_COMM_WORLD_LOCAL_RANK", "0", 1);
    assert_int_equal(sg_team_device(-1), 0);
}

static void without_gpus(void **unused) {
    (void)unused;
    setenv("LOCAL_RANK", "1", 1);
    fake->device_count = 0;
    assert_int_equal(sg_team_device(-1), 0);
    assert_int_equal(sg_team_device(3), 0);
    fake->device_count = 2;
    fake->fail = "cuDeviceGetCount";
    fake->code = UNKNOWN;
    assert_int_equal(sg_team_device(3), 0);
    fake->fail = "cuInit";
    assert_int_equal(sg_team_device(3), 0);
    fake->fail = NULL;
    assert_int_equal(sg_team_device(3), 1);
    setenv("SG_CUDA_DRIVER", "none", 1);
    assert_int_equal(sg_team_device(-1), 0);
    assert_int_equal(sg_team_device(3), 0);
    setenv("SG_CUDA_DRIVER", FAKE_CUDA, 1);
}

#define PLACE_TEST(function) cmocka_unit_test_setup_teardown(function, clear, settled)

/* ---- what sg_team_doctor tells --------------------------------------------------------------- */

typedef struct told {
    int count, usable[4];
    char what[4][32], text[4][400];
} told;

static void note(void *user, const char *what, int usable, const char *words) {
    told *t = user;
    assert_true(t->count < 4);
    t->usable[t->count] = usable;
    snprintf(t->what[t->count], sizeof t->what[0], "%s", what);
    snprintf(t->text[t->count++], sizeof t->text[0], "%s", words);
}

static void doctor(void **unused) {
    told t = {0};
    (void)unused;
    setenv("SG_NCCL", "none", 1);
    assert_int_equal(sg_team_doctor(NULL, note, &t), SG_OK);
    assert_int_equal(t.count, 3);
    assert_string_equal(t.what[2], "network of a team");
    assert_string_equal(t.what[0], "NCCL");
    assert_false(t.usable[0]);
    assert_non_null(strstr(t.text[0], "switched off by SG_NCCL"));
    assert_string_equal(t.what[1], "GPUs of a team");
    assert_true(t.usable[1]);
    assert_non_null(strstr(t.text[1], "all 2 reach each other"));
    fake->device_count = 1;
    t.count = 0;
    assert_int_equal(sg_team_doctor(NULL, note, &t), SG_OK);
    assert_false(t.usable[1]);
    assert_non_null(strstr(t.text[1], "there is one GPU"));
    assert_int_equal(sg_team_doctor(NULL, NULL, &t), SG_ERROR_USAGE);
    unsetenv("SG_NCCL");
}

/* ---- networks -------------------------------------------------------------------------------- */

static void put(const char *folder, const char *name, const char *line) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", line);
    fclose(file);
}

static void look(job *j, void *argument) {
    const char *folder = argument, *says = NULL;
    char port[200];
    assert_false(network_look(j, folder, &says)); /* it does not exist */
    assert_non_null(strstr(says, "over TCP"));
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(port, sizeof port, "mkdir -p %s/mlx5_0/ports/1 %s/mlx5_1/ports/2", folder, folder);
    assert_int_equal(system(port), 0);
    assert_false(network_look(j, folder, &says)); /* a port without a state */
    snprintf(port, sizeof port, "%s/mlx5_0/ports/1", folder);
    put(port, "state", "1: DOWN");
    assert_false(network_look(j, folder, &says));
    put(port, "state", "4: ACTIVE");
    put(port, "rate", "400 Gb/sec (4X NDR)");
    put(port, "link_layer", "InfiniBand");
    assert_true(network_look(j, folder, &says));
    assert_non_null(strstr(says, "mlx5_0 port 1 (InfiniBand, 400 Gb/sec (4X NDR))"));
    setenv("NCCL_IB_DISABLE", "1", 1);
    assert_false(network_look(j, folder, &says));
    assert_non_null(strstr(says, "NCCL_IB_DISABLE switches InfiniBand off"));
    setenv("NCCL_IB_DISABLE", "0", 1);
    assert_true(network_look(j, folder, &says));
    unsetenv("NCCL_IB_DISABLE");
    setenv("NCCL_NET", "Socket", 1);
    assert_false(network_look(j, folder, &says));
    unsetenv("NCCL_NET");
    setenv("NCCL_NET_PLUGIN", "ofi", 1);
    assert_true(network_look(j, folder, &says));
    unsetenv("NCCL_NET_PLUGIN");
    snprintf(port, sizeof port, "rm -r %s", folder);
    assert_int_equal(system(port), 0);
}

static void network(void **unused) {
    char folder[] = "/tmp/sg-network-XXXXXX";
    job *own;
    (void)unused;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(job_run(&allocator_libc, look, folder, &own), FAULT_NONE);
    job_end(own);
}

static const struct CMUnitTest tests[] = {
    PLACE_TEST(in_turns), PLACE_TEST(by_the_launcher), PLACE_TEST(nonsense),
    PLACE_TEST(doctor),   PLACE_TEST(without_gpus),    PLACE_TEST(network),
};

TEST_GROUP(place, set_up, NULL)
