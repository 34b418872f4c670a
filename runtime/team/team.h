/* Inside a team. Everything that ranks say to each other goes through team_exchange. Halos between
   GPUs go by stores or by NCCL, on a stream, where one of them can be used. */
#ifndef SG_RUNTIME_TEAM_TEAM_H
#define SG_RUNTIME_TEAM_TEAM_H

#include "base/job.h"
#include "runtime/device/device.h"
#include "runtime/launch/launch.h"
#include "runtime/stencilgen.h"

static inline int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* ---- NCCL ------------------------------------------------------------------------------------ */

typedef struct nccl nccl;

enum { NCCL_ID_BYTES = 128 };

/* Opens the library in the job. `path` as in sg_team_options.nccl. NULL, with *why a sentence in
   the job: there is none. */
nccl *nccl_open(job *, device *, const char *path, const char **why);

/* A new ncclUniqueId, for rank 0 to share. */
void nccl_unique_id(job *, nccl *, unsigned char out[NCCL_ID_BYTES]);

/* Joins the communicator; collective. */
void nccl_join(job *, nccl *, const unsigned char id[NCCL_ID_BYTES], int rank, int ranks);
/* Works on the caller's ncclComm_t, of which it finds rank and ranks. */
void nccl_adopt(job *, nccl *, void *communicator, int *rank, int *ranks);
void nccl_close(nccl *); /* NULL is allowed */

/* Ends what is under way, for which other ranks may never come; nothing can be sent afterwards. Not
   on a communicator of the caller's. NULL is allowed. */
void nccl_abort(nccl *);
bool nccl_is_lent(const nccl *); /* of a communicator of the application's; NULL is allowed */

/* "NCCL 2.28.3"; its file, and the step of the search that found it. */
const char *nccl_name(const nccl *);
const char *nccl_path(const nccl *);
const char *nccl_reason(const nccl *);

/* All of these messages, in device memory, on the stream. */
void nccl_exchange(job *, nccl *, const sg_message *sends, int send_count,
                   const sg_message *receives, int receive_count, void *stream);

/* Fails if NCCL has found something wrong since. */
void nccl_look(job *, nccl *);

/* ---- stores into other GPUs ------------------------------------------------------------------ */

struct face;
typedef struct stores stores;

/* What a rank tells the others of an array of a run. */
typedef struct stores_array {
    device_place place;
    int64_t stride[3];
} stores_array;

/* Loads the kernel and makes this rank's words, in which neighbours tell how far they are. */
stores *stores_open(job *, sg_context *, double seconds);
device_place stores_place(const stores *); /* of its words */
/* Opens the words of all ranks, by rank; false: this rank does not reach some. */
bool stores_meet(stores *, const device_place *words, int ranks);
void stores_close(stores *); /* NULL is allowed */

/* Before a run: the arrays of all ranks, by rank, of which the launch has this rank's. False: some
   cannot be reached. */
bool stores_prepare(stores *, const launch *, const stores_array *all, int ranks, int arrays);

/* Where this rank's arrays of an earlier run are kept, in the same memory still; −1: nowhere. Asks
   nothing that a stream that is captured would mind. */
int stores_find(const stores *, const launch *, int arrays);
/* Takes the arrays of all ranks of that run again. */
void stores_recall(stores *, int which);

/* Sends the faces of these arrays of the launch, and waits for the neighbours', on the stream.
   `origins`: the number that each array's buffer had in stores_prepare. `asks`: neighbours may
   still write or read their ghost cells, so they are asked first. `crowded`: blocks of a launch
   that runs at the same time leave no room on a multiprocessor, so it is to take few of them. */
void stores_exchange(job *, stores *, const sg_kernel *, const struct face *sends, int send_count,
                     const struct face *receives, int receive_count, const launch *,
                     const int *arrays, const int *origins, int count, bool asks, bool crowded,
                     void *stream);

/* Fails if a neighbour did not answer; the stream is idle. */
void stores_look(job *, stores *);

/* ---- teams ----------------------------------------------------------------------------------- */

/* Memory for messages, kept from one run to the next. */
struct team_buffer {
    unsigned char *device, *host; /* host: NULL where messages may lie where the device has them */
    size_t room;
};

/* Whether exchanges are hidden: where it pays, wherever it can be done, or never. */
typedef enum team_hiding { HIDES_WHERE_IT_PAYS, HIDES_ALL, HIDES_NONE } team_hiding;

/* The process grid that sg_team_build was given for a kernel, which the digest of its source names
   on all ranks. */
typedef struct team_division {
    digest source;
    int ranks[3];
} team_division;

/* What all ranks give alike to a run. */
typedef struct alike {
    uint64_t kernel, part, parameters, points;
    int64_t count, step;
} alike;

struct sg_team {
    sg_context *context;
    job *job;               /* holds the team itself */
    sg_transport transport; /* ops of NCCL where the caller gave none */
    stores *stores;         /* halos go by stores into other GPUs' memory; NULL: they do not */
    nccl *nccl;             /* halos go by NCCL; both NULL: they go by the transport */
    double seconds;
    const char *engine;
    char broken[SG_WHY]; /* why nothing works any more; "" */
    int64_t exchanges, bytes;
    double exchange_seconds; /* by the transport */
    struct times *times;     /* of exchanges by stores and NCCL; NULL: not measured */

    struct team_buffer outgoing, incoming, slabs;
    team_hiding hiding;
    team_division *divisions;
    size_t division_count;
    void *left; /* device memory of a speech by NCCL that was not over; freed with the team */
    void *side; /* a stream of high priority, for stores and NCCL; else NULL */

    alike known[16]; /* that were compared, the oldest replaced first: the same on all ranks */
    int known_count, known_next;
};

digest team_digest(const sg_kernel *);
/* NULL: there is none. */
team_division *team_find(const sg_team *, const digest *source);

/* Makes a buffer so large at least; for `messages` also in host memory, where they go through it.
 */
void team_make_room(job *, sg_team *, struct team_buffer *, size_t bytes, bool messages);
/* Frees what a buffer holds. */
void team_free(sg_team *, struct team_buffer *);

/* ---- speaking (speak.c) ---------------------------------------------------------------------- */

/* Messages in host memory. Fails the job, and breaks the team, where an exchange fails. */
void team_exchange(job *, sg_team *, const sg_message *sends, int send_count,
                   const sg_message *receives, int receive_count);

/* Collects `bytes` of every rank in `all`, by rank (Bruck et al., "Efficient algorithms for
   all-to-all communications", 1997: log2 of the ranks exchanges). */
void team_gather(job *, sg_team *, const void *mine, size_t bytes, void *all);

/* Runs `body` as a job on each rank, and then fails on all if it failed on one. */
void team_together(job *, sg_team *, void (*body)(job *, void *), void *argument);

/* Runs a public call as a job of the team's context; refuses if the team has failed before. */
sg_status team_run(sg_team *, void (*body)(job *, void *), void *argument);

/* Waits for the work on a stream, on which halos may be under way: no longer than the time limit,
   and not where another rank has failed. Fails the job, and breaks the team, if it is not done. */
void team_settle(job *, sg_team *, void *stream);

/* Tells all others why this rank gives up. */
void transport_abandon(const sg_transport *, const char *why);
void team_abandon(sg_team *, const char *why);

/* The exchange of a transport whose user is the team (nccl.c). */
int speak_by_nccl(void *user, const sg_message *sends, int send_count, const sg_message *receives,
                  int receive_count, double seconds, char why[SG_WHY]);

/* ---- times of exchanges (costs.c) ------------------------------------------------------------ */

typedef struct times times;

void times_open(sg_team *); /* memory of the team's job */
void times_close(sg_team *);

/* The next exchange is hidden behind the work that is on this stream by now. */
void times_hide(job *, sg_team *, void *stream);

/* Before and after all that an exchange puts on a stream. */
void times_begin(job *, sg_team *, void *stream);
void times_end(job *, sg_team *, void *stream);

/* Seconds of exchanges that computing waited for, and of those that were hidden; −1: not measured.
 */
void times_tell(job *, const sg_team *, double *waited, double *hidden);

/* ---- networks (doctor.c) --------------------------------------------------------------------- */

#define NETWORK_FOLDER "/sys/class/infiniband"

/* Whether NCCL has more than TCP between this machine and others, by the ports in the folder, and a
   sentence of it. */
bool network_look(job *, const char *folder, const char **says);

/* ---- parts (parts.c) ------------------------------------------------------------------------- */

/* The most steps that a launch makes of the whole grid, if it makes no more than `most`. */
int64_t parts_steps(const program *, const int64_t global[3], int64_t most);

/* The ghost cells that last for so many steps. */
void parts_widths(const program *, int64_t depth, int64_t low[3], int64_t high[3]);

/* "2x2" */
const char *parts_text(job *, const program *, const int grid[3]);

/* Sets part->ranks and part->steps, by part->global and part->launches: the wanted process grid, or
   the best one if wanted is NULL or all 0, and the most steps a launch for which its parts are
   thick enough. Shorter launches of several steps make the same bytes; a kernel of such launches
   makes none of one step, unless `planned`: the kernel will be built again for what is chosen.
   Cells of 16 bits are rounded after each launch, so that shorter ones make other bytes: there are
   none, unless `planned`. Fails with FAULT_PLAN where parts are too thin. */
void parts_choose(job *, const program *, int ranks, const int *wanted, bool planned,
                  sg_team_part *part);

/* Whether launches write cells of 16 bits, so that the steps of each say what is rounded. */
bool parts_narrow(const program *);

/* The steps whose ghost cells these parts are thick enough for. */
int64_t parts_most_steps(const program *, const sg_team_part *);

/* Completes a part for a rank, for ghost cells of `low` and `high` where another part begins. */
void parts_place(const program *, int rank, const int64_t low[3], const int64_t high[3],
                 sg_team_part *);

/* Cells of the local arrays that go to a neighbour, or come from there. */
typedef struct face {
    int rank;
    int direction; /* to the neighbour: 0 to 26, x first, 13 is here */
    int64_t begin[3], size[3];
    int64_t there[3]; /* of what is sent: where it begins in the neighbour's local arrays */
} face;

enum { PART_FACES = 26 };

/* The faces to send, or to receive, in the order of the messages; `corners`: also edges and
   corners. `low` and `high` are the widths of ghost cells where parts meet. Returns how many there
   are. */
int parts_faces(const program *, const sg_team_part *, const int64_t low[3], const int64_t high[3],
                bool corners, bool send, face out[PART_FACES]);

/* ---- the model (costs.c) --------------------------------------------------------------------- */

/* What an exchange costs: seconds, and bytes a second; and whether it can be hidden, where slabs
   are made in their place, and where they are made apart. */
typedef struct team_link {
    double latency, rate;
    bool hides_in_place, hides_apart;
} team_link;

const team_link *model_link(sg_link);
const team_link *model_link_of(const sg_team *);

/* Bytes a second that launches of one step move: of the team's device; and where a step of the part
   takes so many seconds. */
double model_rate_of(const sg_team *);
double model_rate(const program *, const sg_team_part *, double seconds);

/* How many launches of one step to make between two exchanges. */
int parts_launches(const team_link *, double rate, const program *, const sg_team_part *);

/* Whether hiding an exchange gains more than slabs that are made apart cost, which have a share of
   the part's cells. */
bool model_hides(const team_link *, double launch_seconds, double share, int slabs, double bytes);

/* ---- halos (halo.c) -------------------------------------------------------------------------- */

typedef struct halo {
    sg_team *team;
    const sg_kernel *kernel;
    face sends[PART_FACES], receives[PART_FACES];
    int send_count, receive_count;
    alike given;   /* to the run */
    bool compares; /* in the next exchange by the transport */
    bool crowded;  /* see stores_exchange */
} halo;

/* The bytes of the faces' cells of these arrays. */
size_t faces_bytes(const program *, const face *, int face_count, const int *arrays, int count);

/* Makes room for exchanges of these arrays at a time. */
void halo_prepare(job *, const halo *, const int *arrays, int count);

/* Where other ranks find the arrays of a run, before its first exchange; and compares what they
   were given. For stores alone. Collective. */
void halo_show(job *, const halo *, const launch *);

/* Compares what neighbours were given for a run without an exchange. For the transport alone. */
void halo_compare(job *, const halo *);

/* Exchanges the ghost cells of these arrays of the launch, whose buffers are those of the run's
   beginning by `final`. `written`: a launch may have written ghost cells since the last exchange.
   Asynchronous on `stream` by stores and NCCL; else the stream's work is waited for. */
void halo_exchange(job *, const halo *, const launch *, const int *arrays, int count,
                   const int *final, bool written, void *stream);

/* The same in two calls, for cells that lie elsewhere: halo_send takes those of face f and array a
   from sources[f * count + a], a place in dense arrays, and halo_take brings what has come to the
   ghost cells. Not by stores. */
void halo_send(job *, const halo *, const launch *, const int *arrays, int count,
               const launch_grid *sources, void *stream);
void halo_take(job *, const halo *, const launch *, const int *arrays, int count, void *stream);

/* ---- runs (run.c, hidden.c, speak.c) --------------------------------------------------------- */

/* A piece of a part that is as wide as the part along all axes but one, and the memory that its
   launches write: arrays, and the layers between launches. */
typedef struct slab {
    int axis;
    int64_t begin, end; /* along it, in the local arrays; none: there is no such slab */
    int64_t first,
        after; /* of these the cells that are sent: a box of a step of several launches */
    launch_grid written[LAUNCH_ARRAYS];
    unsigned char *layers[LAUNCH_TEMPORARIES];
} slab;

/* A call of sg_team_run. */
typedef struct run {
    sg_team *team;
    const sg_kernel *kernel;
    const sg_team_part *given;
    const sg_arguments *arguments;
    int64_t count;
    void *stream;
    int *out;
    sg_team_points *points; /* NULL: none */

    sg_team_part part;
    launch launch;
    halo halo;
    int64_t depth; /* steps for which filled ghost cells last */
    int64_t fresh; /* steps for which they still do */
    bool written;  /* launches have written ghost cells since they were filled, or none are known */
    bool beside;   /* an exchange on the side stream may be under way, for which none has waited */
    int final[LAUNCH_ARRAYS];

    slab slabs[2 * PROGRAM_AXES]; /* that are made apart */
    int slab_count;
    bool slabs_cleared; /* their layers that are cleared once in a run have been */
} run;

/* The arrays whose ghost cells are to be filled: at first all that are read there, later those that
   changed. With several steps between exchanges a step also reads others' own points there. */
int run_stale(const run *, bool first, int out[LAUNCH_ARRAYS]);
void run_fill(job *, run *, bool first, void *stream);
void run_send(job *, const run *, launch *, const leap *, void *stream);

sg_status run_team_steps(run *);

alike alike_of(const run *);
/* Fails where ranks were given what is not alike. */
void alike_compare(job *, const sg_kernel *, int rank, const alike *mine, int other,
                   const alike *theirs);
/* Asks all ranks, if this was not compared before. Collective. */
void alike_agree(job *, run *);

/* Reads the part and the arguments of a call, and finds what its exchanges move: with `corners` the
   corners too. */
void run_open(job *, run *, bool corners);

/* The points of a run (points.c): before a step, of which so many are done, and after it. A part
   must be for single steps with an exchange each. */
void run_before_step(job *, const run *, int64_t done);
void run_after_step(job *, const run *, int64_t done);
void run_check_points(job *, const sg_kernel *, const sg_team_part *);

/* Finds the slabs that are made apart, if hiding the exchange pays, and their memory. */
void hidden_prepare(job *, run *);

/* Whether launches can make their slabs before the rest, in their place: a filter in passes, or a
   step of several launches, has results between them that both would write, and neighbours know of
   no layers. */
bool hidden_can(const program *);

/* Whether this one does, and gains by it, before the exchange that follows each; the box of the
   run's launch is what all of it makes. */
bool hidden_in_place(const run *, const leap *);

/* Whether slabs are made apart, of launches that cannot make them in their place. */
bool hidden_apart(const run *);

/* The launches of such a step: those of a system, and the passes of a filter. */
int hidden_launches(const program *);

/* The cells of all these slabs. */
int64_t hidden_cells(run *);

/* What steps of a part take, of which slabs apart have so many cells, with f->bytes an exchange. */
void model_forecast(const team_link *, const run *, int64_t cells, double step_seconds,
                    sg_team_forecast *f);

/* Makes a launch, and hides the exchange that the next one needs. False: it needs none, or that
   cannot be hidden. */
bool hidden_make(job *, run *, const leap *by, const leap *next);

size_t messages_bytes(const sg_message *, int count);

#endif
