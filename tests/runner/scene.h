/* A scene: a kernel's arrays in one place, with guard cells around them and in their padding.
   Takes: a subject, a place, a seed. Makes: device arrays and images of their whole memory on the
   host, before and after a launch; verdicts on what changed. */
#ifndef TESTS_RUNNER_SCENE_H
#define TESTS_RUNNER_SCENE_H

#include "tests/runner/subject.h"

typedef struct image {
    dtype type; /* of its cells */
    size_t element;
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
    image images[SUBJECT_ARRAYS];
    reference_place where;  /* in a whole grid that is larger; the step is the next */
    int at[SUBJECT_ARRAYS]; /* which image plays each of the kernel's arrays */
    /* After a launch, before it is judged; or after all steps at once. NULL. */
    void (*tamper)(scene *, int *final), (*tamper_steps)(scene *, int *final);
    int64_t judged, undecidable;
    void *temporary; /* of the launch at hand, with its guards */
    text wrong;      /* the first thing found wrong, "" */
};

/* Arrays of random data to read, of NaNs to be written, and a pattern of NaNs around both. */
void scene_open(job *, const test_subject *, const place *, uint64_t seed, scene *out);
void scene_close(void *scene);

/* Runs the place: one launch, or several steps one by one and then at once. Of a kernel that makes
   several steps a launch, single steps are no other than its first. What is wrong is in
   scene.wrong. */
void scene_run(job *, scene *);

/* One sg_launch (`steps` 0) or so many steps of sg_run, into `after`, not judged. False where the
   launch may be refused, and was, because it would make several steps. */
bool scene_launch(job *, scene *, int64_t steps, int *final);

static inline double image_value(const unsigned char *bytes, dtype type, int64_t i) {
    return dtype_value(type, bytes + (size_t)i * dtype_words[type].bytes);
}

static inline int64_t image_index(const image *m, int64_t x, int64_t y, int64_t z) {
    return m->origin + x + y * m->stride[1] + z * m->stride[2];
}

/* Whether a kernel's value is within what the reference allows. */
bool value_is_right(dtype, double actual, double expected, double bound);

/* What is wrong first: an element of an image. */
void scene_say(scene *, int image, int64_t index, double actual, double expected, const char *why);

/* Whether a place says nothing because the reference could judge less than half of its cells: data
   are to be tame enough for that. Of a few cells it is chance, which some seeds are bound to have.
 */
bool scene_is_unjudged(const scene *, int64_t judged, int64_t undecidable);

/* Compares the images after so many steps at once, which began with all images as they were at the
   start, with as many steps of the reference; `final` is sg_run's, or NULL after one sg_launch. */
void scene_judge_steps(job *, scene *, int64_t steps, const int *final);

/* Compares the images after one step with what is expected of it; `run`: by sg_run, which also
   brings the cells that are not updated to the new level. */
void scene_judge(job *, scene *, bool run);

#endif
