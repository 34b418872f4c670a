/* An allocator that refuses the n-th request for more memory, or it and all after, and knows how
   much is held. */
#ifndef TESTS_MISER_H
#define TESTS_MISER_H

#include "base/job.h"

typedef struct miser {
    long count, refused;
    bool for_good;
    long held;
} miser;

static inline void *resize_miserly(void *user, void *old, size_t old_size, size_t size) {
    miser *m = user;
    if (size > old_size || old == NULL) {
        m->count++;
        if (m->count == m->refused || (m->for_good && m->count > m->refused && m->refused > 0))
            return NULL;
    }
    m->held += (long)size - (long)old_size;
    return allocator_libc.resize(NULL, old, old_size, size);
}

#endif
