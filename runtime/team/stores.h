/* Halos by stores into other GPUs' memory (stores.cu): for ranks on GPUs of one machine that reach
   each other. */
#ifndef SG_RUNTIME_TEAM_STORES_H
#define SG_RUNTIME_TEAM_STORES_H

#include "runtime/launch/launch.h"

struct face;
typedef struct stores stores;

/* What a rank tells the others of its words, and of the arrays of a run. */
typedef struct stores_array {
    device_place place;
    int64_t stride[3];
} stores_array;

/* Collective, over places that were gathered. NULL: this rank does not reach the others. */
stores *stores_open(job *, sg_context *, double seconds);
device_place stores_place(const stores *);
/* Whether this rank reaches all words. */
bool stores_meet(stores *, const device_place *words, int ranks);
void stores_close(stores *); /* NULL is allowed */

/* Before a run: the arrays of all ranks, by rank. False: some cannot be reached. */
bool stores_prepare(job *, stores *, const stores_array *all, int ranks, int arrays);

/* Sends the faces of these arrays (numbers of the run's beginning in `which`, with the rows of the
   launch's), and waits for the neighbours', on the stream. `asks`: the launch before wrote ghost
   cells, or nothing is known of it. */
void stores_exchange(job *, stores *, const sg_kernel *, const struct face *sends, int send_count,
                     const struct face *receives, int receive_count, const launch *,
                     const int *arrays, const int *origins, int count, bool asks, void *stream);

/* Fails if a neighbour did not answer; the stream is idle. */
void stores_look(job *, stores *);

#endif
