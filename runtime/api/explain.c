/* sg_explain and sg_candidates: what each method or algorithm would do with a spec, and what
   tuning would try. Only the facts of a device are used, and nothing is compiled. And
   sg_count_specs and sg_find_spec: the specs that a file returns. */
#include <string.h>

#include "gen/model/family.h"
#include "gen/space/space.h"
#include "gen/spec/spec.h"
#include "runtime/api/build.h"

typedef struct explaining {
    build_request request;
    sg_explanation *explanation;
} explaining;

/* The public struct comes first, so that a pointer to it is one to the whole. */
typedef struct explanation {
    sg_explanation shown;
    job *job;
} explanation;

static const sg_method_row *copy_rows(job *j, const family_explanation *from) {
    sg_method_row *rows = job_array(j, (size_t)from->row_count, sizeof *rows);
    for (int i = 0; i < from->row_count; i++) {
        const family_row *r = &from->rows[i];
        rows[i] = (sg_method_row){
            .method = r->name,
            .plan = r->plan,
            .refusal = r->refusal,
            .chosen = r->chosen,
            .textbook_tile = r->textbook_tile,
            .textbook_operations_per_byte = r->textbook_operations_per_byte,
            .textbook_limit = r->textbook_limit,
            .loads_bytes_per_point = r->loads_bytes_per_point,
            .operations_per_byte = r->operations_per_byte,
            .shared_bytes = r->shared_bytes,
            .threads = r->threads,
            .registers = r->registers,
            .estimated_seconds = r->seconds,
            .bound = r->bound,
            .note = r->note,
        };
    }
    return rows;
}

static void write_explanation(job *j, const build_request *r, sg_explanation *e) {
    const subject *s = r->subject;
    const family_request wanted = build_wanted(r);
    family_explanation x;
    s->family->explain(j, s, &wanted, &x);
    *e = (sg_explanation){
        .struct_size = sizeof *e,
        .name = s->name,
        .shape = x.shape,
        .dtype = dtype_words[s->dtype].name,
        .boundary = x.boundary,
        .reason = x.reason,
        .points = x.points,
        .textbook_operations = x.textbook_operations,
        .emitted_operations = x.emitted_operations,
        .emitted_multiplications = x.multiplications,
        .emitted_additions = x.additions,
        .emitted_others = x.others,
        .bytes_per_point = x.bytes_per_point,
        .arch = r->gpu->arch,
        .row_count = x.row_count,
        .rows = copy_rows(j, &x),
        .gpu = r->gpu->name,
        .memory = x.memory,
    };
}

static void explain(job *j, void *argument) {
    explaining *x = argument;
    build_request *r = &x->request;
    build_read(j, r);
    explanation *whole = job_alloc(j, sizeof *whole);
    whole->job = j;
    write_explanation(j, r, &whole->shown);
    memcpy(whole->shown.size, r->size, sizeof whole->shown.size);
    const char *found;
    whole->shown.tuned = tuned_plan(j, r, &found);
    whole->shown.found = whole->shown.tuned != NULL ? found : "";
    x->explanation = &whole->shown;
}

sg_status sg_explain(sg_context *context, const char *spec_path, const sg_build_options *options,
                     sg_explanation **out) {
    if (context == NULL || out == NULL)
        return SG_ERROR_USAGE;
    explaining x = {.request = {.context = context, .path = spec_path, .given = options}};
    job *kept;
    const sg_status status = context_run(context, explain, &x, &kept);
    if (status == SG_OK)
        *out = x.explanation;
    return status;
}

void sg_explanation_free(sg_explanation *e) {
    if (e != NULL)
        job_end(((explanation *)e)->job);
}

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
                           .kind = build_kind(r->subject->family),
                           .gpu = r->gpu->name};
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

/* ---- the specs of a file --------------------------------------------------------------------- */

typedef struct question {
    const char *path, *text, *name;
    int answer;
} question;

static void count_specs(job *j, void *argument) {
    question *q = argument;
    q->answer = build_load(j, &q->path, q->text, NULL)->count;
}

static void find_spec(job *j, void *argument) {
    question *q = argument;
    const spec *s = build_load(j, &q->path, q->text, NULL);
    q->answer = build_find_spec(j, s, q->path, q->name);
}

static sg_status ask(sg_context *context, void (*how)(job *, void *), question *q, int *out) {
    const sg_status status = context_run(context, how, q, NULL);
    if (status == SG_OK)
        *out = q->answer;
    return status;
}

sg_status sg_count_specs(sg_context *context, const char *spec_path, const char *text, int *out) {
    question q = {.path = spec_path, .text = text};
    return context == NULL || out == NULL ? SG_ERROR_USAGE : ask(context, count_specs, &q, out);
}

sg_status sg_find_spec(sg_context *context, const char *spec_path, const char *text,
                       const char *name, int *out) {
    question q = {.path = spec_path, .text = text, .name = name, .answer = -1};
    if (context == NULL || name == NULL || out == NULL)
        return SG_ERROR_USAGE;
    return ask(context, find_spec, &q, out);
}
