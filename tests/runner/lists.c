/* Memory, launches and verdicts of lists.h. */
#include "tests/runner/lists.h"

#include <string.h>

#include "base/random.h"

enum {
    GUARD = 4096, /* bytes, so that the memory between two of them begins as the device's does */
    OFFSETS = 17, /* arrays begin 0 to 16 elements off */
};

static void need(job *j, const list_scene *s, sg_status status) {
    if (status != SG_OK)
        job_fail(j, FAULT_DEVICE, NULL, 0, "%s", sg_error(s->subject->context));
}

static const program_array *array_of(const list_scene *s, int i) {
    return &s->subject->program->arrays[i];
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* Every element other bits; real ones are NaNs. */
static void fill_pattern(const char *dtype, size_t element, list_image *m, uint64_t seed) {
    const bool is_float = strcmp(dtype, "float") == 0, is_double = strcmp(dtype, "double") == 0;
    for (size_t i = 0; i < m->bytes / element; i++) {
        uint64_t bits = random_bits(seed, i);
        if (is_float)
            bits = 0x7fc00000u | (bits & 0x3fffff);
        else if (is_double)
            bits = UINT64_C(0x7ff8000000000000) | bits >> 14;
        memcpy(m->before + i * element, &bits, element);
    }
}

static void make_image(job *j, const list_scene *s, list_image *m, size_t inner, size_t offset) {
    const size_t guard = s->place.layout.bare ? 0 : GUARD;
    m->inner = inner;
    m->origin = guard + offset;
    m->bytes = m->origin + inner + guard;
    m->before = job_alloc(j, m->bytes + 1);
    m->after = job_alloc(j, m->bytes + 1);
    need(j, s, sg_alloc(s->subject->context, m->bytes, &m->device));
}

static void upload(job *j, const list_scene *s, const list_image *m) {
    need(j, s, sg_upload(s->subject->context, m->device, m->before, m->bytes));
}

/* Whether an array is to be in the memory of another. */
static bool shares(const list_scene *s, int i) {
    const program_array *a = array_of(s, i);
    return s->place.in_place && a->lists.same_as >= 0 &&
           program_elements(s->subject->program, i, s->call.sizes) ==
               program_elements(s->subject->program, a->lists.same_as, s->call.sizes);
}

static void open_array(job *j, list_scene *s, int i, uint64_t seed) {
    const program_array *a = array_of(s, i);
    const size_t count = (size_t)program_elements(s->subject->program, i, s->call.sizes);
    const int64_t offset = (s->place.layout.offset + (s->place.layout.vary ? 5 * i : 0)) % OFFSETS;
    list_image *m = &s->images[i];
    s->at[i] = shares(s, i) ? a->lists.same_as : i;
    if (s->at[i] != i)
        return;
    make_image(j, s, m, count * a->element_bytes, (size_t)offset * a->element_bytes);
    fill_pattern(a->dtype, a->element_bytes, m, random_stream(seed, (uint64_t)i));
    if (s->call.arrays[i] != NULL)
        memcpy(m->before + m->origin, s->call.arrays[i], m->inner);
    else if (count > 0 && (!a->written || a->lists.updated))
        job_fail(j, FAULT_USAGE, NULL, 0, "its family draws nothing for '%s'", a->name);
    upload(j, s, m);
}

static void describe(const list_scene *s, sg_grid *grids, sg_arguments *out) {
    const program *p = s->subject->program;
    for (int i = 0; i < p->array_count; i++) {
        const list_image *m = &s->images[s->at[i]];
        grids[i] = (sg_grid){.data = (char *)m->device + m->origin};
        for (int axis = 0; axis < PROGRAM_AXES; axis++) {
            const int64_t extent =
                program_extent_of(&p->arrays[i].lists.extent[axis], s->call.sizes);
            grids[i].size[axis] = extent > 0 ? extent : 0;
        }
    }
    *out = (sg_arguments){.struct_size = sizeof *out,
                          .grids = grids,
                          .grid_count = p->array_count,
                          .parameters = s->call.parameters,
                          .parameter_count = p->parameter_count};
}

static void open_temporary(job *j, list_scene *s, uint64_t seed) {
    sg_grid grids[SUBJECT_ARRAYS];
    sg_arguments a;
    size_t bytes;
    describe(s, grids, &a);
    need(j, s, sg_temporary_bytes(s->subject->kernel, &a, &bytes));
    make_image(j, s, &s->temporary, bytes, 0);
    fill_pattern("", 1, &s->temporary, seed);
    upload(j, s, &s->temporary);
}

static int find_kind(job *j, const family *f, const char *name) {
    if (name == NULL)
        return 0;
    for (int i = 0; f->kind != PROGRAM_GRID && f->lists.kinds[i] != NULL; i++)
        if (strcmp(f->lists.kinds[i], name) == 0)
            return i;
    job_fail(j, FAULT_USAGE, NULL, 0, "%s knows no data of the kind '%s'", f->name, name);
}

/* Those of the case; whether there are some. */
static bool set_parameters(list_scene *s) {
    const test_case *t = s->subject->test;
    for (int i = 0; i < s->subject->program->parameter_count; i++)
        for (int k = 0; k < t->parameter_count; k++)
            if (strcmp(t->parameters[k].name, s->subject->program->parameters[i].name) == 0)
                s->call.parameters[i] = t->parameters[k].number;
    return t->parameter_count > 0;
}

void list_scene_open(job *j, const test_subject *k, const subject *judge, const place *p,
                     uint64_t seed, list_scene *s) {
    *s = (list_scene){.subject = k, .judge = judge, .place = *p, .wrong = text_new(j)};
    job_defer(j, list_scene_close, s);
    const family *f = judge->family;
    const int kind = find_kind(j, f, p->kind);
    f->lists.draw(j, judge, k->program, p->size, kind, NULL, random_stream(seed, 0), &s->call);
    if (set_parameters(s)) { /* which decide what is drawn */
        const double *given = s->call.parameters;
        f->lists.draw(j, judge, k->program, p->size, kind, given, random_stream(seed, 0), &s->call);
    }
    for (int i = 0; i < k->program->array_count; i++)
        open_array(j, s, i, random_stream(seed, 1));
    open_temporary(j, s, random_stream(seed, 2));
}

void list_scene_close(void *argument) {
    list_scene *s = argument;
    for (int i = 0; i < SUBJECT_ARRAYS; i++)
        sg_free(s->subject->context, s->images[i].device);
    sg_free(s->subject->context, s->temporary.device);
}

/* ---- launches -------------------------------------------------------------------------------- */

static void launch(job *j, list_scene *s) {
    const test_subject *k = s->subject;
    const list_image *t = &s->temporary;
    sg_grid grids[SUBJECT_ARRAYS];
    sg_arguments a;
    describe(s, grids, &a);
    a.temporary = (char *)t->device + t->origin;
    a.temporary_bytes = t->inner;
    need(j, s, sg_launch(k->kernel, &a, NULL));
    need(j, s, sg_synchronize(k->context, NULL));
    for (int i = 0; i < k->program->array_count; i++)
        if (s->at[i] == i)
            need(j, s,
                 sg_download(k->context, s->images[i].after, s->images[i].device,
                             s->images[i].bytes));
    need(j, s, sg_download(k->context, t->after, t->device, t->bytes));
    if (s->tamper != NULL)
        s->tamper(s);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* Of the bytes from `begin` on, which must be as they were, the first that is not; or `end`. */
static size_t first_changed(const list_image *m, size_t begin, size_t end) {
    size_t i = begin;
    if (memcmp(m->before + begin, m->after + begin, end - begin) == 0)
        return end;
    while (m->before[i] == m->after[i])
        i++;
    return i;
}

/* Bytes that must be as they were: all, or all around the inner ones. */
static void check_kept(list_scene *s, const list_image *m, const char *name, bool written) {
    const size_t inner_end = m->origin + m->inner;
    size_t i = first_changed(m, 0, written ? m->origin : m->bytes);
    if (written && i == m->origin)
        i = first_changed(m, inner_end, m->bytes);
    if (i == m->bytes || s->wrong.length > 0)
        return;
    const bool inside = i >= m->origin && i < inner_end;
    text_printf(&s->wrong, "%s: byte %lld of its %zu has changed%s", name,
                (long long)i - (long long)m->origin, m->inner,
                inside ? ", though it is only read" : ", outside of it");
}

static void check_memory(list_scene *s) {
    const program *p = s->subject->program;
    bool written[SUBJECT_ARRAYS] = {false};
    for (int i = 0; i < p->array_count; i++)
        written[s->at[i]] |= p->arrays[i].written;
    for (int i = 0; i < p->array_count; i++)
        if (s->at[i] == i)
            check_kept(s, &s->images[i], p->arrays[i].name, written[i]);
    check_kept(s, &s->temporary, "the temporary memory", true);
}

static void judge(job *j, list_scene *s) {
    const program *p = s->subject->program;
    void *arrays[SUBJECT_ARRAYS] = {NULL};
    int64_t elements = 0;
    for (int i = 0; i < p->array_count; i++)
        if (p->arrays[i].written) {
            arrays[i] = list_scene_written(s, i);
            elements += program_elements(p, i, s->call.sizes);
        }
    const family_call after = {s->call.sizes, s->call.parameters, arrays};
    s->verdict = (family_verdict){0};
    s->judge->family->lists.judge(j, s->judge, p, &s->call, &after, &s->verdict);
    if (s->wrong.length > 0)
        return;
    if (s->verdict.wrong > 0)
        text_printf(&s->wrong, "%lld wrong, %s", (long long)s->verdict.wrong,
                    s->verdict.first_wrong);
    else if (s->verdict.judged + s->verdict.undecidable == 0 && elements > 0)
        text_add(&s->wrong, "its family judges nothing");
}

/* The bits of whole arrays; sums of another order differ in their last ones. */
static void compare_launches(list_scene *s) {
    const program *p = s->subject->program;
    for (int i = 0; i < p->array_count && s->wrong.length == 0; i++)
        if (p->arrays[i].written &&
            memcmp(s->first[i], list_scene_written(s, i), s->images[s->at[i]].inner) != 0)
            text_printf(&s->wrong, "%s: a second launch makes other bits", p->arrays[i].name);
}

void list_scene_run(job *j, list_scene *s) {
    const program *p = s->subject->program;
    launch(j, s);
    check_memory(s);
    judge(j, s);
    if (!s->place.again || s->wrong.length > 0)
        return;
    for (int i = 0; i < p->array_count; i++)
        if (p->arrays[i].written) {
            const list_image *m = &s->images[s->at[i]];
            s->first[i] = job_alloc(j, m->inner + 1);
            memcpy(s->first[i], list_scene_written(s, i), m->inner);
            upload(j, s, m);
        }
    launch(j, s);
    check_memory(s);
    judge(j, s);
    if (s->subject->test->deterministic)
        compare_launches(s);
}

void lists_run(job *j, const options *o, const test_subject *k, const place *p, uint64_t seed,
               const char *name, report *r) {
    if (k->test->huge && (!o->huge || strcmp(o->device, "cpu") == 0)) {
        report_skip(r, name, "it takes a GPU and --huge");
        return;
    }
    list_scene *const s = job_alloc(j, sizeof *s);
    list_scene_open(j, k, k->subject, p, seed, s);
    list_scene_run(j, s);
    report_cells(r, s->verdict.judged, s->verdict.undecidable);
    if (s->wrong.length > 0)
        report_fail(r, name,
                    job_print(j, "%s\n    plan: %s", s->wrong.data,
                              sg_kernel_text(k->kernel, SG_TEXT_PLAN)));
    else
        report_pass(r, name);
    job_keep(j, s);
    list_scene_close(s);
}
