/* NCCL, found and opened while the program runs: messages between GPUs, in the order of a stream.
 */
#ifndef SG_RUNTIME_TEAM_NCCL_H
#define SG_RUNTIME_TEAM_NCCL_H

#include "base/job.h"
#include "runtime/device/device.h"
#include "runtime/stencilgen.h"

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

#endif
