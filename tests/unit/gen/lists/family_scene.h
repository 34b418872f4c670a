/* What tests of the families on lists share: a spec with its subject and its kernel on the cpu
   device, and launches of calls in memory of any alignment, between guards and over poison, with
   the verdict of the family. Takes: the text of a spec. Makes: verdicts. */
#ifndef TESTS_FAMILY_SCENE_H
#define TESTS_FAMILY_SCENE_H

#include "gen/families.h"
#include "gen/lists/draw.h"
#include "gen/spec/spec.h"
#include "tests/unit/runtime/api/api.h"

typedef struct scene {
    const char *text, *schedule;
    job *job;
    const subject *subject;
    const family_build *made;
    sg_kernel *kernel;
} scene;

static void scene_body(job *j, void *argument) {
    scene *s = argument;
    s->subject = spec_load(j, "test.lua", s->text, NULL)->subjects[0];
    const family_request request = {
        .schedule = s->schedule, .gpu = gpu_find("sm_90"), .size = {1 << 20, 1, 1}};
    s->made = s->subject->family->build(j, s->subject, &request);
}

static inline void scene_open(scene *s, const char *text, const char *schedule) {
    *s = (scene){.text = text, .schedule = schedule};
    if (job_run(&allocator_libc, scene_body, s, &s->job) != FAULT_NONE)
        fail_msg("%s\n%s", text, job_error(s->job));
    s->kernel = build(text, schedule);
    assert_non_null(s->kernel);
}

static inline void scene_close(scene *s) {
    sg_release(s->kernel);
    job_end(s->job);
}

enum { SCENE_GUARD = 256, SCENE_POISON = 0xA5, SCENE_ARRAYS = 16 };

typedef struct scene_memory {
    unsigned char *base, *data; /* `data` is so many elements beyond a multiple of 256 bytes */
    size_t bytes;
} scene_memory;

static inline scene_memory scene_alloc(size_t bytes, size_t shift) {
    scene_memory m = {.bytes = bytes};
    const size_t all = bytes + 4 * SCENE_GUARD + shift;
    void *memory;
    expect_ok(sg_alloc(context, all, &memory));
    m.base = memory;
    memset(m.base, SCENE_POISON, all);
    const uintptr_t at = ((uintptr_t)m.base + 2 * SCENE_GUARD - 1) / SCENE_GUARD * SCENE_GUARD;
    m.data = (unsigned char *)at + shift;
    return m;
}

static inline void scene_check_guards(const scene_memory *m) {
    for (int i = 0; i < SCENE_GUARD; i++) {
        assert_int_equal(m->data[-1 - i], SCENE_POISON);
        assert_int_equal(m->data[m->bytes + (size_t)i], SCENE_POISON);
    }
    sg_free(context, m->base);
}

/* Launches and judges. `offset` elements beyond an alignment; `in_place`: written arrays are those
   that they may be. The arrays of `call` stay as they are. */
static inline family_verdict scene_run(scene *s, const family_call *call, int offset,
                                       bool in_place) {
    const program *p = s->made->program;
    scene_memory memory[SCENE_ARRAYS];
    sg_grid grids[SCENE_ARRAYS] = {{0}};
    void *results[SCENE_ARRAYS] = {NULL};
    for (int i = 0; i < p->array_count; i++) {
        const program_array *a = &p->arrays[i];
        const size_t bytes = (size_t)program_elements(p, i, call->sizes) * a->element_bytes;
        if (in_place && a->lists.same_as >= 0)
            memory[i] = memory[a->lists.same_as];
        else
            memory[i] = scene_alloc(bytes, (size_t)offset * a->element_bytes);
        if (call->arrays[i] != NULL)
            memcpy(memory[i].data, call->arrays[i], bytes);
        grids[i].data = memory[i].data;
        for (int axis = 0; axis < 3; axis++)
            grids[i].size[axis] = program_extent_of(&a->lists.extent[axis], call->sizes);
        results[i] = a->written ? memory[i].data : NULL;
    }
    sg_arguments arguments = {.struct_size = sizeof arguments,
                              .grids = grids,
                              .grid_count = p->array_count,
                              .parameters = p->parameter_count > 0 ? call->parameters : NULL,
                              .parameter_count = p->parameter_count};
    expect_ok(sg_temporary_bytes(s->kernel, &arguments, &arguments.temporary_bytes));
    scene_memory temporary = scene_alloc(arguments.temporary_bytes, 0);
    arguments.temporary = temporary.data;
    expect_ok(sg_launch(s->kernel, &arguments, NULL));
    expect_ok(sg_synchronize(context, NULL));
    scene_check_guards(&temporary);

    family_verdict verdict;
    const family_call after = {call->sizes, call->parameters, results};
    s->subject->family->lists.judge(s->job, s->subject, p, call, &after, &verdict);
    for (int i = 0; i < p->array_count; i++) {
        if (in_place && p->arrays[i].lists.same_as >= 0)
            continue;
        if (!p->arrays[i].written && !in_place && call->arrays[i] != NULL)
            assert_memory_equal(memory[i].data, call->arrays[i], memory[i].bytes);
        scene_check_guards(&memory[i]);
    }
    return verdict;
}

/* The same for data that are drawn; nothing may be wrong. */
static inline family_verdict scene_draw(scene *s, int64_t x, int64_t y, int kind, int offset,
                                        bool in_place, uint64_t seed) {
    family_call call;
    const int64_t size[AXES] = {x, y, 1};
    s->subject->family->lists.draw(s->job, s->subject, s->made->program, size, kind, NULL, seed,
                                   &call);
    const family_verdict v = scene_run(s, &call, offset, in_place);
    if (v.wrong != 0)
        fail_msg("%s\n%s, %lld and %lld, kind %d, offset %d%s: %lld of %lld wrong; %s", s->text,
                 s->made->plan, (long long)x, (long long)y, kind, offset,
                 in_place ? ", in place" : "", (long long)v.wrong, (long long)v.judged,
                 v.first_wrong);
    return v;
}

/* Random ones, of which every result can be judged. */
static inline void scene_expect(scene *s, int64_t x, int64_t y, int offset, bool in_place,
                                uint64_t seed) {
    assert_int_equal(scene_draw(s, x, y, 0, offset, in_place, seed).undecidable, 0);
}

#endif
