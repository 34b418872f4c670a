/* Lists: the arrays and the temporary memory of a program of lists in one place, with guard cells
   around each. Takes: a subject, a place, a seed. Makes: one or two launches, and what is wrong
   with what they leave. */
#ifndef TESTS_RUNNER_LISTS_H
#define TESTS_RUNNER_LISTS_H

#include "tests/runner/subject.h"

/* Memory of the device, of which `inner` bytes from `origin` on are an array's. */
typedef struct list_image {
    size_t bytes, origin, inner;
    unsigned char *before, *after; /* of a launch, on the host */
    void *device;
} list_image;

typedef struct list_scene list_scene;
struct list_scene {
    const test_subject *subject;
    const subject *judge; /* whose data and verdict it is; the subject's own, but for self-tests */
    place place;
    family_call call;       /* as drawn */
    int at[SUBJECT_ARRAYS]; /* which image each array is in: its own, or that of another */
    list_image images[SUBJECT_ARRAYS], temporary;
    unsigned char *first[SUBJECT_ARRAYS]; /* what a first launch wrote */
    void (*tamper)(list_scene *);         /* after a launch, before it is judged; or NULL */
    family_verdict verdict;
    text wrong; /* the first thing found wrong, "" */
};

/* Draws and uploads. What is to be written, the temporary memory and all around hold bits that
   nothing else does. Fails where the family does not know the kind of data. */
void list_scene_open(job *, const test_subject *, const subject *judge, const place *,
                     uint64_t seed, list_scene *out);
void list_scene_close(void *scene);

/* Launches, and judges all of the memory. */
void list_scene_run(job *, list_scene *);

/* The written array as the last launch left it. */
static inline unsigned char *list_scene_written(const list_scene *s, int array) {
    return s->images[s->at[array]].after + s->images[s->at[array]].origin;
}

/* A place of a case, reported. */
void lists_run(job *, const options *, const test_subject *, const place *, uint64_t seed,
               const char *name, report *);

/* The property agreement: all algorithms of the family on the same data, each judged; what they
   write of whole numbers has the same bits. */
void lists_agree(job *, const options *, sg_context *, const test_case *, report *);

/* Self-tests. */
void lists_selftest(job *, const options *, sg_context *, report *);

#endif
