/* The candidates of tuning, for callers. Takes: a spec, options. Makes: sg_candidates.
   Needs: gen/space; no device is used but for its facts, and nothing is compiled. */
#include <string.h>

#include "gen/space/space.h"
#include "runtime/api/build.h"

/* The public struct comes first, so that a pointer to it is one to the whole. */
typedef struct listed {
    sg_space shown;
    job *job;
} listed;

typedef struct listing {
    build_request request;
    sg_space *space;
} listing;

static void copy_axes(job *j, const space *from, sg_space *to) {
    sg_axis *axes = job_array(j, (size_t)from->axis_count, sizeof *axes);
    for (int a = 0; a < from->axis_count; a++)
        axes[a] = (sg_axis){from->axes[a].name, from->axes[a].words, from->axes[a].word_count};
    to->axes = axes;
    to->axis_count = from->axis_count;
}

static void copy_candidates(job *j, const space *from, sg_space *to) {
    sg_candidate *list = job_array(j, (size_t)from->count, sizeof *list);
    for (int i = 0; i < from->count; i++) {
        const space_candidate *c = &from->candidates[i];
        list[i] = (sg_candidate){.plan = c->plan,
                                 .estimated_seconds = c->estimate,
                                 .values = c->values,
                                 .threads = c->threads,
                                 .shared_bytes = c->shared_bytes};
    }
    to->candidates = list;
    to->candidate_count = from->count;
}

static void copy_notes(job *j, const space *from, sg_space *to) {
    sg_space_note *notes = job_array(j, (size_t)from->note_count, sizeof *notes);
    for (int i = 0; i < from->note_count; i++)
        notes[i] = (sg_space_note){from->notes[i].value, from->notes[i].why};
    to->notes = notes;
    to->note_count = from->note_count;
}

static void copy_without(job *j, const space *from, sg_space *to) {
    sg_space_without *list = job_array(j, (size_t)from->without_count, sizeof *list);
    for (int i = 0; i < from->without_count; i++)
        list[i] = (sg_space_without){from->without[i].name, from->without[i].keys};
    to->without = list;
    to->without_count = from->without_count;
}

static void list(job *j, void *argument) {
    listing *l = argument;
    build_request *r = &l->request;
    build_read(j, r);
    build_judge_matrix(j, r);
    const family_request wanted = build_wanted(r);
    const space *made = space_make(j, r->subject, &wanted);
    listed *whole = job_alloc(j, sizeof *whole);
    whole->job = j;
    l->space = &whole->shown;
    *l->space = (sg_space){.struct_size = sizeof *l->space,
                           .family = r->subject->family->name,
                           .name = r->subject->name,
                           .dtype = dtype_words[r->subject->dtype].name,
                           .arch = r->gpu->arch,
                           .dims = r->subject->family->dims(r->subject),
                           .steps = wanted.steps,
                           .usual = made->usual,
                           .usual_index = made->usual_index,
                           .kind = build_kind(r->subject->family)};
    memcpy(l->space->size, wanted.size, sizeof l->space->size);
    copy_axes(j, made, l->space);
    copy_candidates(j, made, l->space);
    copy_notes(j, made, l->space);
    copy_without(j, made, l->space);
}

sg_status sg_candidates(sg_context *context, const char *spec_path, const sg_build_options *options,
                        sg_space **out) {
    if (context == NULL || out == NULL)
        return SG_ERROR_USAGE;
    listing l = {.request = {.context = context, .path = spec_path, .given = options}};
    job *kept;
    const sg_status status = context_run(context, list, &l, &kept);
    if (status == SG_OK)
        *out = l.space;
    return status;
}

void sg_space_free(sg_space *space) {
    if (space != NULL)
        job_end(((listed *)space)->job);
}
