/* A scene: a kernel's arrays in one place, with guard cells around them and in their padding.
   Takes: a subject, a place, a seed. Makes: device arrays and images of their whole memory on the
   host, before and after a launch; verdicts on what changed. */
#ifndef TESTS_RUNNER_SCENE_H
#define TESTS_RUNNER_SCENE_H

#include "tests/runner/subject.h"

typedef struct image {
    int64_t stride[AXES];
    int64_t count, origin;         /* elements of its memory; which of them is cell (0,0,0) */
    unsigned char *before, *after; /* of a launch */
    unsigned char *start;          /* before the first one */
    void *device;
} image;

typedef struct scene scene;
struct scene {
    const test_subject *subject;
    place place;
    size_t element;
    image images[SUBJECT_ARRAYS];
    int at[SUBJECT_ARRAYS];              /* which image plays each of the kernel's arrays */
    void (*tamper)(scene *, int *final); /* after a launch, before it is judged; or NULL */
    int64_t judged, undecidable;
    void *temporary; /* of the launch at hand, with its guards */
    text wrong;      /* the first thing found wrong, "" */
};

/* Arrays of random data to read, of NaNs to be written, and a pattern of NaNs around both. */
void scene_open(job *, const test_subject *, const place *, uint64_t seed, scene *out);
void scene_close(void *scene);

/* Runs the place: one launch, or several steps one by one and then at once. What is wrong is in
   scene.wrong. */
void scene_run(job *, scene *);

/* One sg_launch or one step of sg_run, into `after`, not judged. */
void scene_launch(job *, scene *, int64_t steps, int *final);

static inline double image_value(const unsigned char *bytes, size_t element, int64_t i) {
    return element == sizeof(float) ? (double)((const float *)bytes)[i]
                                    : ((const double *)bytes)[i];
}

static inline int64_t image_index(const image *m, int64_t x, int64_t y, int64_t z) {
    return m->origin + x + y * m->stride[1] + z * m->stride[2];
}

/* Whether a kernel's value is within what the reference allows. */
bool value_is_right(dtype, double actual, double expected, double bound);

/* Compares the images after one step with what is expected of it; `run`: by sg_run, which also
   brings the cells that are not updated to the new level. */
void scene_judge(job *, scene *, bool run);

/* Of several steps at once, from the start on; `final` as sg_run says it, NULL after an sg_launch.
 */
void scene_judge_steps(job *, scene *, int64_t steps, const int *final);

#endif
