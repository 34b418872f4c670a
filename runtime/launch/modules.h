/* The binaries that a context has compiled and loaded, each once however many kernels have it.
   Takes: a program. Makes: a binary, loaded where it is to be launched, that kernels hold; who
   wants one that is just being made waits for it. */
#ifndef SG_RUNTIME_LAUNCH_MODULES_H
#define SG_RUNTIME_LAUNCH_MODULES_H

#include <pthread.h>

#include "base/program.h"
#include "runtime/device/binary.h"
#include "runtime/device/device.h"
#include "runtime/files/digest.h"
#include "runtime/stencilgen.h"

typedef struct loaded loaded;
struct loaded {
    loaded *next;
    digest key;
    int holds;
    job *own; /* holds all of it; NULL while it is being made */
    binary binary;
    module *module; /* NULL where it was not to be loaded */
    function_facts facts;
};

typedef struct modules {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    loaded *list;
} modules;

void modules_open(modules *);
void modules_close(modules *); /* when every one has been let go */

/* The binary of a program for the context's device, or NVRTC's where it has none. `load`: it will
   be launched. *origin tells where it came from. Fails as compiling and loading do. */
loaded *modules_hold(job *, sg_context *, const program *, bool load, sg_origin *origin);
/* The same for a binary that is at hand, which is never compiled. The key is of all that the
   program and the binary are; nothing of either is used after the call. */
loaded *modules_hold_binary(job *, sg_context *, const program *, const binary *,
                            const digest *key);

void modules_let_go(sg_context *, loaded *); /* NULL is allowed */

#endif
