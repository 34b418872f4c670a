/* Teams: ranks that run one grid together. A part of stencilgen.h.
 *
 * A rank is a process, or a thread of one. Each rank has a part of the grid in its own arrays, with
 * ghost cells round it where other parts begin:
 *
 *     sg_transport transport;                             // how ranks reach each other
 *     sg_mpi_transport(MPI_COMM_WORLD, &transport);       // stencilgen/mpi.h
 *     sg_team *team;
 *     sg_team_options how = {.struct_size = sizeof how, .transport = &transport};
 *     sg_team_open(context, &how, &team);
 *     sg_build_options options = {.struct_size = sizeof options, .size = {nx, ny, nz}};
 *     sg_team_build(team, "heat13.lua", &options, NULL, &kernel);
 *     sg_team_part part = {.struct_size = sizeof part, .global = {nx, ny, nz}};
 *     sg_team_arrange(team, kernel, &part);  // part.size: extents of this rank's arrays
 *     sg_team_run(team, kernel, &part, &arguments, 100, stream, final);
 *
 * All functions but sg_team_facts are collective: all ranks call them in the same order. If a call
 * fails on one rank, it fails on all, within the team's time limit, and the error names the rank
 * and its cause. After a failed sg_team_run the ranks may be at different steps: then only
 * sg_team_close is allowed. One thread at a time may use a team; ranks of one process may share a
 * context. */
#ifndef STENCILGEN_TEAM_H
#define STENCILGEN_TEAM_H

#include "../stencilgen.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- how ranks reach each other -------------------------------------------------------------- */

/* A message to or from a rank. */
typedef struct sg_message {
    int rank;
    void *data; /* of a message to send it is only read */
    size_t bytes;
} sg_message;

/* Room for the reason of a failure, with its NUL. */
enum { SG_WHY = 256 };

/* The application's own way to exchange messages. sg_local_transports and stencilgen/mpi.h fill
 * this struct too. The functions return 0, or something else after writing a sentence to `why`. */
typedef struct sg_transport {
    size_t struct_size;
    const char *name; /* "Open MPI 4.1.4", for people; valid until close */
    int rank, ranks;
    void *user;
    /* Sends and receives all of these messages, and returns when all are done. Messages between two
     * ranks arrive in the order of the lists. Fails if that takes longer than `seconds`, or if a
     * rank has abandoned the team, also where there are no messages; `why` is then what it said. */
    int (*exchange)(void *user, const sg_message *sends, int send_count, const sg_message *receives,
                    int receive_count, double seconds, char why[SG_WHY]);
    /* Makes pending and later exchanges of all other ranks fail with this text. */
    void (*abandon)(void *user, const char *text);
    void (*close)(void *user);
    int device_memory; /* messages may lie in device memory (CUDA-aware MPI), after the work on it
                          is done */
} sg_transport;

/* Transports between threads of this process, one for each rank: fills out[ranks]. Each is closed
 * by the sg_team_close of its rank, or by its own close. SG_ERROR_USAGE if there are fewer than 1
 * or more than 4096 ranks. */
SG_API sg_status sg_local_transports(int ranks, sg_transport *out);

/* The device_index of sg_options for a rank that is the `local`th of its machine, from 0: ranks
 * take the GPUs that this process sees in turns. −1: as its launcher says in the environment (Open
 * MPI, MPICH and what is like it, Slurm, PMI, torchrun). 0 where there is no GPU, or no launcher.
 */
SG_API int sg_team_device(int local);

/* What teams have here, as sg_doctor tells it: NCCL, which GPUs that this process sees reach each
 * other's memory, and whether NCCL would go over TCP between machines. `options` may be NULL. */
SG_API sg_status sg_team_doctor(const sg_options *options, sg_finding finding, void *user);

typedef struct sg_team sg_team;

typedef struct sg_team_options {
    size_t struct_size;
    const sg_transport *transport; /* copied; NULL: NCCL carries everything, and one of the next two
                                      is set */
    void *nccl_comm;               /* the application's ncclComm_t, which outlives the team */
    const void *nccl_unique_id;    /* the 128 bytes of an ncclUniqueId, the same on all ranks */
    int rank, ranks;               /* with nccl_unique_id */
    const char *nccl; /* path of the NCCL library, which is that of nccl_comm; "none": halos go by
                         the transport; NULL: SG_NCCL, else searched for */
    double seconds;   /* the time limit: how long a rank waits for another; 0: 120 */
    int timed; /* measure the time of exchanges on GPUs' streams, for sg_team_facts; not where
                  steps are captured in a graph */
} sg_team_options;

/* Opens a team of ranks whose contexts are on the same kind of device. SG_ERROR_USAGE if versions
 * of the library, or devices, differ. A call that fails closes the transport. */
SG_API sg_status sg_team_open(sg_context *, const sg_team_options *, sg_team **out);

/* Closes a team, and the transport if the team was opened with one, also after a failure; NULL is
 * allowed. Ranks do not wait for each other. */
SG_API void sg_team_close(sg_team *);

typedef struct sg_team_info {
    size_t struct_size;
    int rank, ranks;
    const char *engine; /* what carries halos: "NCCL 2.28.3", "Open MPI 4.1.4 through host memory";
                           valid as long as the team */
    double seconds;     /* the time limit */
    int64_t exchanges;  /* of halos, by this rank */
    int64_t bytes;      /* that this rank sent in them */
    double exchange_seconds; /* in which this rank waited for them, not hidden; −1: they run on
                                GPUs' streams, and the team is not `timed` */
    double hidden_seconds;   /* of exchanges while computing went on; −1: as above */
} sg_team_info;
SG_API sg_status sg_team_facts(const sg_team *, sg_team_info *out);

/* ---- kernels and parts ----------------------------------------------------------------------- */

/* sg_build on every rank, for its share of a grid of options->size (0: the default size on each
 * rank). `ranks` as in sg_team_part; NULL: chosen. The kernel is the same on all ranks; specs,
 * options or versions that differ are an error. Where parts are too thin for the ghost cells of
 * options->steps at a time, the kernel is planned for fewer, and a warning says so; SG_ERROR_PLAN
 * if they are too thin for one step. */
SG_API sg_status sg_team_build(sg_team *, const char *spec_path, const sg_build_options *options,
                               const int *ranks, sg_kernel **out);

typedef struct sg_team_part {
    size_t struct_size;
    int64_t global[3]; /* given: extents of the whole grid, x first; unused axes 0 or 1 */
    int ranks[3]; /* the process grid, x first; all 0: that of sg_team_build, else chosen, by least
                     surface and with x cut last */
    int launches; /* between two exchanges of ghost cells, which are as much wider; 0: chosen */

    /* The rest is the result. */
    int place[3]; /* of this rank in the process grid; rank = (z·ranks[1] + y)·ranks[0] + x */
    int64_t begin[3], end[3]; /* cells of the whole grid that are this rank's, end excluded */
    int64_t low[3],
        high[3];     /* ghost cells before and behind them; 0 at the ends of the whole grid */
    int64_t size[3]; /* of this rank's arrays: low + (end − begin) + high */
    int64_t steps;   /* that a launch makes: fewer than the kernel can, where parts are too thin */
} sg_team_part;

/* Divides a grid. Parts differ by at most one cell along an axis. SG_ERROR_PLAN if a part would
 * have fewer cells than the ghost cells of its neighbour, for a single step; the text names a
 * process grid that works. SG_ERROR_USAGE if sg_team_build was given another process grid. */
SG_API sg_status sg_team_arrange(sg_team *, const sg_kernel *, sg_team_part *part);

/* What carries ghost cells, for an estimate. */
typedef enum sg_link {
    SG_LINK_STORES,  /* stores into each other's memory over NVLink */
    SG_LINK_NCCL,    /* NCCL over NVLink */
    SG_LINK_NETWORK, /* NCCL over a network of 400 Gb/s a GPU */
    SG_LINK_HOST     /* MPI through host memory */
} sg_link;

/* By the model of docs/scaling.md, for a part with as many neighbours as one can have. Seconds are
 * a step's, bytes and messages an exchange's, of which there is one in part->steps × part->launches
 * steps. */
typedef struct sg_team_forecast {
    size_t struct_size;
    double latency, rate; /* of the link: seconds, bytes a second */
    int64_t bytes;        /* that the rank sends in an exchange */
    int messages;
    double alone_seconds;    /* of the whole grid on one rank */
    double interior_seconds; /* without exchanges */
    double exchange_seconds; /* of exchanges, hidden or not */
    double seconds;          /* of all */
    int hidden;              /* exchanges are hidden behind the interior, as far as it is longer */
} sg_team_forecast;

/* What a team of so many ranks would do with a grid of options->size, without such a team: nothing
 * is compiled. Given in `part` are `ranks` and `launches`, as for sg_team_arrange; it is filled as
 * there, for a rank in the middle. */
SG_API sg_status sg_team_estimate(sg_context *, const char *spec_path,
                                  const sg_build_options *options, int ranks, sg_link link,
                                  sg_team_part *part, sg_team_forecast *out);

/* ---- work ------------------------------------------------------------------------------------ */

/* sg_run of the whole grid, on arrays of part.size. The caller fills the cells that are its own, in
 * all arrays that are read; ghost cells are filled here, and hold anything afterwards. The result
 * is that of one rank that makes the same launches, byte for byte. `arguments` has no box, and of
 * positions the step alone: origin and sizes are the part's. Steps, `step` and parameters are the
 * same on all ranks; SG_ERROR_USAGE, before the first step, if they differ. The call
 * is asynchronous on `stream` where stores or NCCL carry the halos; then it can be captured in a
 * CUDA graph once it has run before with the same part, and all ranks replay it equally often. */
SG_API sg_status sg_team_run(sg_team *, const sg_kernel *, const sg_team_part *,
                             const sg_arguments *arguments, int64_t steps, sg_stream stream,
                             int *final);

/* ---- points ---------------------------------------------------------------------------------- */

struct sg_points; /* of points.h */

/* The points of a team's run: each rank adds to its own cells, and records them. */
typedef struct sg_team_points sg_team_points;

/* sg_points_open for a part. Every rank gives all points, with positions in the whole grid, and the
 * series of sets that inject; traces end at rank 0, and what other ranks give for them is not used.
 * The part is for single steps with an exchange after each: `launches` 0 or 1. */
SG_API sg_status sg_team_points_open(sg_team *, const sg_kernel *, const sg_team_part *,
                                     const struct sg_points *sets, int count, sg_team_points **out);

/* sg_team_run with points. Series and traces have the bytes of one rank, also of points whose cells
 * lie on several ranks. Returns when the traces are written. */
SG_API sg_status sg_team_run_points(sg_team_points *, const sg_arguments *arguments, int64_t steps,
                                    sg_stream stream, int *final);

/* Not collective; NULL is allowed. Before sg_team_close. */
SG_API void sg_team_points_close(sg_team_points *);

/* ---- monitors -------------------------------------------------------------------------------- */

/* A monitor of the whole grid. */
typedef struct sg_team_monitor sg_team_monitor;

/* sg_monitor_open for a part; `map` was built by each rank with sg_build_options.monitor. */
SG_API sg_status sg_team_monitor_open(sg_team *, const sg_kernel *, const sg_kernel *map,
                                      const sg_team_part *, sg_team_monitor **out);

/* sg_monitor_sample: the ghost cells that the map reads are filled first. `arguments` are as of
 * sg_team_run. */
SG_API sg_status sg_team_monitor_sample(sg_team_monitor *, const sg_arguments *arguments,
                                        sg_stream stream);

/* sg_monitor_read: each rank reduces its own cells, and the results are combined in the order of
 * the ranks. So all ranks and all runs on as many ranks have the same bits; a sum on another number
 * of ranks may round differently. */
SG_API sg_status sg_team_monitor_read(sg_team_monitor *, int64_t *steps, double *values, int most,
                                      int *count);

/* Not collective; NULL is allowed. Before sg_team_close. */
SG_API void sg_team_monitor_close(sg_team_monitor *);

typedef enum sg_combine { SG_COMBINE_SUM, SG_COMBINE_MIN, SG_COMBINE_MAX } sg_combine;

/* Combines `count` numbers in host memory, place by place, in the order of the ranks, so that all
 * ranks have the same bits. */
SG_API sg_status sg_team_reduce(sg_team *, sg_combine, const double *mine, int count, double *out);

/* Collects `bytes` of every rank in `all`, by rank. */
SG_API sg_status sg_team_gather(sg_team *, const void *mine, size_t bytes, void *all);

/* Hands out a whole array that lies in host memory of one rank: `whole`, of the extents
 * part->global, x fastest, which the other ranks do not give. Every rank gets its own cells in
 * `mine`, an array of part->size in host memory, whose ghost cells stay as they are. `element` is
 * the bytes of a cell, at most 65536. Ranks with files of their own need no such rank. */
SG_API sg_status sg_team_put(sg_team *, const sg_team_part *, int rank, size_t element,
                             const void *whole, void *mine);

/* The reverse: the own cells of all ranks in `whole`, on that rank. */
SG_API sg_status sg_team_get(sg_team *, const sg_team_part *, int rank, size_t element,
                             const void *mine, void *whole);

/* Waits for all work on the stream. With NCCL it fails if the work is not done within the team's
 * time limit, or if another rank has failed: so run no more steps at a time than take as long. */
SG_API sg_status sg_team_wait(sg_team *, sg_stream stream);

/* Agreement on anything that each rank did by itself: fails on all ranks if one of them gives
 * a text, which names the trouble on that rank (NULL: there is none). Also a barrier. */
SG_API sg_status sg_team_agree(sg_team *, const char *trouble);

#ifdef __cplusplus
}
#endif

#endif
