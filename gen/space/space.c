/* The space of candidates: what all families have in common.
   Takes: a subject and a request. Makes: candidates, each once, and notes on what `tune` asked for
   in vain. */
#include "gen/space/space.h"

#include "base/hash.h"

#include <string.h>

/* ---- the values of tune -------------------------------------------------------------------- */

/* The index, among a key's values, of the one that a combination has. */
static int value_of(const space_builder *b, int which, int key) {
    for (int k = 0; k < key; k++)
        which /= b->allowed_count[k];
    return b->allowed[key][which % b->allowed_count[key]];
}

static int key_count(const space_builder *b) {
    return b->tuning != NULL ? b->tuning->key_count : 0;
}

const char *space_combination(const space_builder *b, int which, unsigned lacking) {
    text t = text_new(b->job);
    for (int k = 0; k < key_count(b); k++)
        if ((lacking >> k & 1) == 0)
            text_printf(&t, "%s%s", t.length > 0 ? " " : "",
                        b->tuning->keys[k].values[value_of(b, which, k)]);
    return t.data;
}

bool space_is_first(const space_builder *b, int which, unsigned lacking) {
    for (int k = 0; k < key_count(b); k++)
        if ((lacking >> k & 1) != 0 && value_of(b, which, k) != b->allowed[k][0])
            return false;
    return true;
}

bool space_has_several(const space_builder *b, const char *key) {
    for (int k = 0; k < key_count(b); k++)
        if (strcmp(b->tuning->keys[k].name, key) == 0)
            return b->tuning->keys[k].count > 1;
    return false;
}

/* Leaves out what the spec's schedule or the caller has fixed otherwise. */
static void allow_values(space_builder *b) {
    b->combinations = 1;
    for (int k = 0; k < key_count(b); k++) {
        const tuning_key *key = &b->tuning->keys[k];
        for (int v = 0; v < key->count; v++)
            if (b->subject->family->space_agrees(b, key->values[v]))
                b->allowed[k][b->allowed_count[k]++] = v;
            else
                b->why[k][v] = "the schedule asks for another";
        if (b->allowed_count[k] == 0)
            job_fail(b->job, FAULT_PLAN, b->subject->file, b->subject->line,
                     "tune.%s has no value that agrees with the schedule", key->name);
        b->combinations *= b->allowed_count[k];
    }
}

/* ---- candidates ---------------------------------------------------------------------------- */

static uint32_t hash(const char *plan) {
    return (uint32_t)checksum_of(plan, strlen(plan), 0);
}

static int *find(const space_builder *b, const char *plan) {
    const uint32_t mask = 2 * (uint32_t)b->capacity - 1;
    uint32_t at = hash(plan) & mask;
    while (b->slots[at] != 0 && strcmp(b->space->candidates[b->slots[at] - 1].plan, plan) != 0)
        at = (at + 1) & mask;
    return &b->slots[at];
}

static void grow(space_builder *b) {
    enum { FIRST_CAPACITY = 256 };
    const space_candidate *old = b->space->candidates;
    b->capacity = b->capacity > 0 ? 2 * b->capacity : FIRST_CAPACITY;
    b->space->candidates = job_array(b->job, (size_t)b->capacity, sizeof *old);
    b->slots = job_array(b->job, 2 * (size_t)b->capacity, sizeof *b->slots);
    for (int i = 0; i < b->space->count; i++) {
        b->space->candidates[i] = old[i];
        *find(b, old[i].plan) = i + 1;
    }
}

/* Notes, once for each method, what it is tried without. */
static void note_lacking(space_builder *b) {
    space *s = b->space;
    text keys = text_new(b->job);
    for (int i = 0; i < s->without_count; i++)
        if (strcmp(s->without[i].name, b->trying) == 0)
            return;
    for (int k = 0; k < key_count(b); k++)
        if ((b->lacking >> k & 1) != 0)
            text_printf(&keys, "%s%s", keys.length > 0 ? ", " : "", b->tuning->keys[k].name);
    s->without = job_grow(b->job, s->without, (size_t)s->without_count, sizeof *s->without);
    s->without[s->without_count++] = (space_without){b->trying, keys.data};
}

void space_add(space_builder *b, int which, const space_candidate *c) {
    for (int k = 0; k < key_count(b); k++)
        if ((b->lacking >> k & 1) == 0)
            b->served[k][value_of(b, which, k)] = true;
    if (b->lacking != 0)
        note_lacking(b);
    if (b->space->count == b->capacity)
        grow(b);
    int *slot = find(b, c->plan);
    if (*slot != 0)
        return;
    b->space->candidates[b->space->count++] = *c;
    *slot = b->space->count;
}

void space_refuse(space_builder *b, int which, const char *why) {
    if (b->refusal == NULL)
        b->refusal = why;
    for (int k = 0; k < key_count(b); k++) {
        const char **first = &b->why[k][value_of(b, which, k)];
        if (*first == NULL && (b->lacking >> k & 1) == 0)
            *first = why;
    }
}

int space_axis_add(space *s, const char *name, const char *const *words, int word_count) {
    s->axes[s->axis_count] = (space_axis){name, words, word_count};
    return s->axis_count++;
}

int space_find(const space *s, const char *plan) {
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->candidates[i].plan, plan) == 0)
            return i;
    return -1;
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* Leaves out axes along which no candidate has a value. */
static void drop_axes(space *s) {
    int kept = 0;
    for (int a = 0; a < s->axis_count; a++) {
        bool used = false;
        for (int i = 0; i < s->count && !used; i++)
            used = s->candidates[i].values[a] != 0;
        if (!used)
            continue;
        s->axes[kept] = s->axes[a];
        for (int i = 0; i < s->count; i++)
            s->candidates[i].values[kept] = s->candidates[i].values[a];
        kept++;
    }
    for (int i = 0; i < s->count; i++)
        for (int a = kept; a < s->axis_count; a++)
            s->candidates[i].values[a] = 0;
    s->axis_count = kept;
}

static void write_notes(space_builder *b) {
    int all = 0;
    for (int k = 0; k < key_count(b); k++)
        all += b->tuning->keys[k].count;
    b->space->notes = job_array(b->job, (size_t)all, sizeof *b->space->notes);
    for (int k = 0; k < key_count(b); k++)
        for (int v = 0; v < b->tuning->keys[k].count; v++)
            if (!b->served[k][v])
                b->space->notes[b->space->note_count++] =
                    (space_note){b->tuning->keys[k].values[v],
                                 b->why[k][v] != NULL ? b->why[k][v] : "no candidate has it"};
}

space *space_make(job *j, const subject *s, const family_request *r) {
    space_builder *b = job_alloc(j, sizeof *b);
    family_request *request = job_alloc(j, sizeof *request);
    *request = *r;
    if (r->matrix != NULL)
        request->notes = s->family->lists.notes_new(j);
    *b = (space_builder){.job = j, .subject = s, .request = request};
    b->tuning = s->expressions->tuning;
    b->space = job_alloc(j, sizeof *b->space);
    allow_values(b);
    s->family->space_fill(b);
    if (b->space->count == 0)
        job_fail(j, FAULT_PLAN, s->file, s->line, "no candidate is left to tune: %s",
                 b->refusal != NULL ? b->refusal : "nothing meets the constraints");
    drop_axes(b->space);
    write_notes(b);
    b->space->usual_index = space_find(b->space, b->space->usual);
    return b->space;
}

/* ---- plans that were found elsewhere --------------------------------------------------------- */

/* It compares values as `tune` does, and then plans. A text that is no schedule at all ends a job
   of its own. */
typedef struct attempt {
    const subject *subject;
    const family_request *request;
    const char *plan;
    bool accepted;
} attempt;

static void try_plan(job *j, void *argument) {
    attempt *a = argument;
    const subject *s = a->subject;
    const space_builder b = {.job = j, .subject = s, .request = a->request};
    family_request r = *a->request;
    r.schedule = a->plan;
    a->accepted =
        s->family->space_agrees(&b, a->plan) && strcmp(s->family->plan(j, s, &r), a->plan) == 0;
}

bool plan_accepted(job *j, const subject *s, const family_request *r, const char *plan) {
    attempt a = {.subject = s, .request = r, .plan = plan};
    fault f;
    job_inner_end(j, job_inner(j, try_plan, &a, &f));
    return f == FAULT_NONE && a.accepted;
}

bool plan_given(job *j, const subject *s, const family_request *r, const char *plan) {
    text line = text_new(j);
    s->family->wanted(j, s, r->schedule, &line);
    return strcmp(line.data, plan) == 0;
}
