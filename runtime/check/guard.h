/* The arrays of a check: random data to read, poison to write over, and guard zones around both.
   Takes: a kernel and a size. Makes: device arrays, their content on the host, and a count of what
   a launch changed that it should not have. */
#ifndef SG_RUNTIME_CHECK_GUARD_H
#define SG_RUNTIME_CHECK_GUARD_H

#include "base/dtype.h"
#include "base/sample.h"
#include "base/text.h"
#include "runtime/launch/launch.h"

/* Bytes of poison make NaNs, so that a read from beyond an array shows in the result. Guards of
   written arrays differ from the poison of their cells. */
enum { POISON_BYTE = 0xff, WRITTEN_GUARD_BYTE = 0xa5 };

typedef struct guarded_array {
    const char *name;
    dtype type;
    size_t element, bytes;        /* of a cell; of all */
    int64_t size[3];              /* unused axes 1 */
    bool written, rotates;        /* rotates: by several steps it is written in turn with others */
    unsigned char *memory;        /* on the device: a guard zone, the cells, a guard zone */
    const unsigned char *content; /* on the host: of the cells at first; NULL: poison */
    unsigned char *cells; /* on the host: what is read, or after guarded_fetch what was written */
} guarded_array;

typedef struct guarded {
    const sg_kernel *kernel;
    device *device;
    workers *workers;
    int64_t size[3], points; /* of a grid */
    size_t element;          /* likewise */
    size_t zone;             /* bytes of a guard zone */
    size_t temporary;        /* bytes of temporary memory, which is the array after the program's */
    int count;
    guarded_array arrays[LAUNCH_ARRAYS + 1];
} guarded;

/* Makes and fills the arrays of a grid, each that is read as its sample says (one for each of the
   program's arrays). On failure everything is freed, afterwards guarded_close does it. */
void guarded_open(job *, const sg_kernel *, const int64_t size[3], int64_t points,
                  const sample *samples, uint64_t seed, guarded *out);

/* The same for lists of the sizes of a call. contents[i], which outlive it, are what the program's
   arrays hold at first; NULL is poison, which the temporary memory holds as well. */
void guarded_open_lists(job *, const sg_kernel *, const int64_t *sizes, void *const *contents,
                        size_t temporary_bytes, guarded *out);
void guarded_close(void *guarded);

/* The grids for a launch, and its temporary memory. */
void guarded_grids(const guarded *, sg_grid *grids);
void *guarded_temporary(const guarded *);

/* Brings the written arrays, and the temporary memory, to the host. `final`: after several steps,
   as of sg_run, it says where what they wrote is, and all arrays that took part may have changed;
   NULL after a launch. */
void guarded_fetch(job *, guarded *, const int *final);

/* How many elements changed in guard zones and in arrays that are only read; describes the first
   in `first`, where that is still empty. */
int64_t guarded_verify(job *, const guarded *, text *first);

/* "(3,0,5)" of a cell's index in a dense array, only as many axes as the kernel has; "5" in a list.
 */
void guarded_place(const guarded *, int64_t index, text *to);

/* An element of a grid on the host as a double. */
static inline double guarded_value(const guarded *g, const void *cells, int64_t index) {
    return g->element == sizeof(float) ? (double)((const float *)cells)[index]
                                       : ((const double *)cells)[index];
}

/* Host memory outside the job: arrays are too large to be held until its end. It comes from the
   job's allocator, which takes it back. */
void *guarded_memory(job *, size_t bytes);
void guarded_memory_free(const allocator *, void *memory, size_t bytes);

#endif
