/* Halos by stores into other GPUs' memory (stores.cu): for ranks on GPUs of one machine that reach
   each other. */
#ifndef SG_RUNTIME_TEAM_STORES_H
#define SG_RUNTIME_TEAM_STORES_H

#include "runtime/launch/launch.h"

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
   still write or read their ghost cells, so they are asked first. */
void stores_exchange(job *, stores *, const sg_kernel *, const struct face *sends, int send_count,
                     const struct face *receives, int receive_count, const launch *,
                     const int *arrays, const int *origins, int count, bool asks, void *stream);

/* Fails if a neighbour did not answer; the stream is idle. */
void stores_look(job *, stores *);

#endif
